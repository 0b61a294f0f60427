#!/bin/sh
# test_solve_command.sh - drives carom solve from outside; see solve_*.py. The part about HDF5 needs a python3 with h5py
# and is skipped where there is none.
set -eu
export PYTHONDONTWRITEBYTECODE=1
failed=0
for part in command refusals siconos; do
    echo "$part:"
    python3 "$CAROM_SOURCE/test/solve_$part.py" || failed=1
done
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import h5py' 2>/dev/null; then
        echo "fclib:"
        "$python" "$CAROM_SOURCE/test/solve_fclib.py" || failed=1
        exit $failed
    fi
done
echo "fclib: skipped, no python3 with h5py"
exit $failed
