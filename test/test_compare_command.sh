#!/bin/sh
# test_compare_command.sh - drives carom compare from outside; see compare_command.py.
set -eu
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$CAROM_SOURCE/test/compare_command.py"
