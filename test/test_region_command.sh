#!/bin/sh
# test_region_command.sh - drives carom region; see region_command.py. Skipped where gnuplot is not installed.
command -v gnuplot >/dev/null 2>&1 || {
    echo "skipped: gnuplot is not installed"
    exit 77
}
exec python3 "$CAROM_SOURCE/test/region_command.py"
