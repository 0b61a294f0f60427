#!/bin/sh
# test_plot_command.sh - drives carom plot and carom run --report from outside; see plot_*.py.
set -eu
export PYTHONDONTWRITEBYTECODE=1
failed=0
for part in command report; do
    echo "$part:"
    python3 "$CAROM_SOURCE/test/plot_$part.py" || failed=1
done
exit $failed
