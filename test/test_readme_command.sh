#!/bin/sh
# test_readme_command.sh - plays README's shell blocks and the demo; see readme_command.py.
set -eu
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$CAROM_SOURCE/test/readme_command.py"
