#!/bin/sh
# The page: the library as WebAssembly gives the command's bits, and the page shows the command's numbers.
# Skipped (77) where a tool to build it, or a browser, is not there; ./dev web installs them.
set -eu
# the page is WebAssembly, which sanitizers do not see
[ -z "${CAROM_SANITIZE:-}" ] || { echo "skipped: not with sanitizers"; exit 77; }
cd "$CAROM_SOURCE"
for tool in clang-19 node chromium; do
    command -v "$tool" >/dev/null 2>&1 || { echo "skipped: no $tool"; exit 77; }
done
[ -e /usr/include/wasm32-wasi/stdio.h ] || { echo "skipped: no wasi-libc"; exit 77; }
[ -e /usr/lib/llvm-19/bin/wasm-ld ] || { echo "skipped: no lld-19"; exit 77; }
[ -d web/node_modules/esbuild ] || { echo "skipped: no web/node_modules"; exit 77; }
sh web/wasm/build.sh web/dist/carom.wasm
node web/test/hash.mjs "$CAROM_COMMAND" web/dist/carom.wasm bouncing-ball newtons-cradle-5 pool-break box-stack gears \
    slider-crank pool-table falling-rod tippe-disc painleve woodpecker superball shaker
node web/build.mjs web/dist/carom.wasm "$CAROM_COMMAND" --check
size=$(wc -c <web/dist/carom.html)
[ "$size" -le 1000000 ] || { echo "the page has $size bytes, more than 1 MB"; exit 1; }
node web/test/page.mjs "$CAROM_COMMAND" "$CAROM_SOURCE/web/dist/carom.html"
