#!/bin/sh
# A new law is three files, a new joint at most five, a new shape at most six: see kinds_toys.py.
exec python3 "$CAROM_SOURCE/test/kinds_toys.py"
