#!/bin/sh
# test_resume_command.sh - drives carom run --resume and scenes by name from outside; see run_resume.py.
set -eu
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$CAROM_SOURCE/test/run_resume.py"
