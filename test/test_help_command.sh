#!/bin/sh
# test_help_command.sh - what the command says of itself; see help_command.py.
set -eu
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$CAROM_SOURCE/test/help_command.py"
