#!/bin/sh
# Batches on the GPU of this machine next to its CPU, with out/carom.ptx: every hash is compared, more than 1e8 steps of balls, cubes,
# chains and heaps, 1e6 of a humanoid; then steps a second. Exits 1 where a hash differs. The program may be code of the device too:
# CAROM_BENCH="build/bin/batch_gpu carom.cubin".
set -eu
cd "$(dirname "$0")/.."
bench=${CAROM_BENCH:-build/bin/batch_gpu out/carom.ptx}
# model, worlds, steps a call, calls, room, worlds that are compared
$bench ball 65536 300 2 0 65536
$bench cube 65536 300 2 0 65536
$bench bounce 32768 120 2 0 32768
$bench vary 32768 60 3 0 32768
$bench chain 16384 500 2 0 16384
$bench heap 1024 20 4 0 1024
$bench scenes/humanoid-stand.json 4096 128 2 0 4096
for model in ball cube; do
    $bench $model 8192 60 3 0 8192 accurate
done
[ -z "${CAROM_HASHES:-}" ] || exit 0  # no figures
$bench ball 262144 30 4 0 0
$bench ball 262144 120 3 0 0
$bench cube 262144 120 4 0 0
$bench cube 262144 480 2 0 0
$bench chain 65536 100 2 0 0
$bench scenes/humanoid-stand.json 32768 20 4 0 0
$bench heap 8192 20 3 0 0
# settled
$bench heap 8192 120 2 0 64 fast 5e-6 1400
