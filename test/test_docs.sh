#!/bin/sh
# The examples of the documentation print what they say.
exec python3 "$CAROM_SOURCE/scripts/examples.py"
