#!/bin/sh
# test_resolve_command.sh - drives carom resolve from outside; see resolve_command.py and resolve_refusals.py.
set -eu
export PYTHONDONTWRITEBYTECODE=1
failed=0
for part in command refusals; do
    echo "$part:"
    python3 "$CAROM_SOURCE/test/resolve_$part.py" || failed=1
done
exit $failed
