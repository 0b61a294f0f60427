#!/bin/sh
# test_plot_command.sh - drives carom plot and carom run --report from outside; see plot_*.py. The part about hostile HDF5
# needs a python3 with h5py and is skipped where there is none.
set -eu
export PYTHONDONTWRITEBYTECODE=1
failed=0
for part in command motion report; do
    echo "$part:"
    python3 "$CAROM_SOURCE/test/plot_$part.py" || failed=1
done
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import h5py' 2>/dev/null; then
        echo "hdf5:"
        "$python" "$CAROM_SOURCE/test/plot_hdf5.py" || failed=1
        exit $failed
    fi
done
echo "hdf5: skipped, no python3 with h5py"
exit $failed
