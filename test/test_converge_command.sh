#!/bin/sh
# test_converge_command.sh - drives carom converge from outside; see converge_command.py.
set -eu
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$CAROM_SOURCE/test/converge_command.py"
