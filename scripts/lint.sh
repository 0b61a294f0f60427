#!/bin/sh
# lint.sh - formatting, folder order, and a build without a single warning by gcc and by clang.
set -eu
clang-format-19 --dry-run --Werror $(git ls-files '*.c' '*.h')
python3 scripts/check_layers.py
python3 scripts/trace.py --check docs/world.md
# gcc: the release build, which the tests then run from
cmake --preset release -DCMAKE_C_COMPILER=gcc -DCAROM_WERROR=ON >/dev/null
cmake --build --preset release -j "$(nproc)" -- --no-print-directory -s
# clang: it warns of the same whether it optimises or not
cmake -S . -B build-lint-clang -DCMAKE_C_COMPILER=clang-19 -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DCAROM_WERROR=ON >/dev/null
cmake --build build-lint-clang -j "$(nproc)" -- --no-print-directory -s
echo "lint: clean"
