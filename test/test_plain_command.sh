#!/bin/sh
# test_plain_command.sh - text of others never steers the terminal; see plain_command.py.
set -eu
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$CAROM_SOURCE/test/plain_command.py"
