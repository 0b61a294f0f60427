#!/bin/sh
# test_scenes_solved.sh - every step of the bundled scenes is solved; see scenes_solved.py.
set -eu
[ -z "${CAROM_SANITIZE:-}" ] || { echo "skipped: not with sanitizers, which the tests of the parts run with"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$CAROM_SOURCE/test/scenes_solved.py"
