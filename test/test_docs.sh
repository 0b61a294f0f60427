#!/bin/sh
# The examples of the documentation print what they say.
[ -z "${CAROM_SANITIZE:-}" ] || { echo "skipped: not with sanitizers, which the tests of each verb run with"; exit 77; }
exec python3 "$CAROM_SOURCE/scripts/examples.py"
