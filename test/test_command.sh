#!/bin/sh
# test_command.sh - drives the carom command from outside; see command_*.py.
set -eu
export PYTHONDONTWRITEBYTECODE=1
failed=0
for part in answers refusals surface; do
    echo "$part:"
    python3 "$CAROM_SOURCE/test/command_$part.py" || failed=1
done
exit $failed
