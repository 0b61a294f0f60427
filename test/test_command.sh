#!/bin/sh
# test_command.sh - drives the carom command; see command.py.
exec python3 "$CAROM_SOURCE/test/command.py"
