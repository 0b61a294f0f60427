#!/bin/sh
# The checks of a release, without its builds; see release_parts.py.
set -eu
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$CAROM_SOURCE/test/release_parts.py"
