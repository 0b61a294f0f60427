#!/bin/sh
# test_spread_command.sh - drives carom spread from outside; see spread_command.py.
set -eu
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$CAROM_SOURCE/test/spread_command.py"
