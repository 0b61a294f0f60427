#!/bin/sh
# lint.sh - formatting, folder order, and a build without a single warning by gcc and by clang.
set -eu
clang-format-19 --dry-run --Werror $(git ls-files '*.c' '*.h')
python3 scripts/check_layers.py
for compiler in gcc clang-19; do
    cmake -S . -B "build-lint-$compiler" -DCMAKE_C_COMPILER="$compiler" -DCAROM_WERROR=ON >/dev/null
    cmake --build "build-lint-$compiler" -j "$(nproc)" -- --no-print-directory -s
done
echo "lint: clean"
