#!/bin/sh
# test_growth_command.sh - no input costs much more than its size; see growth_command.py.
set -eu
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$CAROM_SOURCE/test/growth_command.py"
