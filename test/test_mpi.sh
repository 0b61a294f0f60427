#!/bin/sh
# test_mpi.sh - carom under mpirun: the same bytes for 1, 2 and 4 ranks, one voice, kills survived; see mpi_command.py.
# Skipped where mpirun or the module that knows MPI is not there.
set -eu
export PYTHONDONTWRITEBYTECODE=1
command -v mpirun >/dev/null 2>&1 || { echo "skipped: no mpirun"; exit 77; }
[ -f "$(dirname "$CAROM_COMMAND")/libcarom_ranks.so" ] || { echo "skipped: built without MPI"; exit 77; }
# MPI keeps memory until the end of the process on purpose
export ASAN_OPTIONS=detect_leaks=0
exec python3 "$CAROM_SOURCE/test/mpi_command.py"
