#!/bin/sh
# test_fit_command.sh - drives carom fit and carom predict from outside; see fit_command.py.
set -eu
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$CAROM_SOURCE/test/fit_command.py"
