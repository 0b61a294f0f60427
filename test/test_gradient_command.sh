#!/bin/sh
# test_gradient_command.sh - drives carom impact --gradient; see gradient_command.py.
exec python3 "$CAROM_SOURCE/test/gradient_command.py"
