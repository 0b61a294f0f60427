#!/bin/sh
# test_models_command.sh - drives carom import, info and run with models of others; see models_command.py. Skipped
# where carom was built without expat.
set -eu
export PYTHONDONTWRITEBYTECODE=1
if "$CAROM_COMMAND" info "$CAROM_SOURCE/examples/models/bounce.sdf" 2>&1 | grep -q 'without expat'; then
    echo "skipped, no expat"
    exit 77
fi
python3 "$CAROM_SOURCE/test/models_command.py"
