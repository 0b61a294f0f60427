#!/bin/sh
# test_fit_motion_command.sh - drives carom fit motion from outside; see fit_motion_command.py.
set -eu
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$CAROM_SOURCE/test/fit_motion_command.py"
