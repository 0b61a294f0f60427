#!/bin/sh
# test_view_command.sh - drives carom view and carom export from outside; see view_command.py.
set -eu
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$CAROM_SOURCE/test/view_command.py"
