#!/bin/sh
# test_audit_command.sh - drives carom audit from outside; see audit_command.py.
set -eu
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$CAROM_SOURCE/test/audit_command.py"
