#!/bin/sh
# The device program of batches: `sh scripts/gpu.sh [OUT]` compiles the C files of a step to PTX, out/carom.ptx unless told.
# clang makes LLVM's code of every file, llvm-link one module of them, in which gpu/device.c takes the place of what the
# device has not; opt keeps what the kernels reach, llc writes the text that a driver takes. The same C, the same rounding: no
# contraction, no approximate division or root. memcpy of gpu/device.c goes by words: once it is inlined, words must alias all types.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$root/out/carom.ptx}
case $out in /*) ;; *) out=$PWD/$out ;; esac
work=${CAROM_GPU_WORK:-$root/out/gpu}
llvm=${CAROM_LLVM:-/usr/lib/llvm-19/bin}
mkdir -p "$work" "$(dirname "$out")"
headers=$("$llvm/clang" -print-resource-dir)/include
cmake -DSOURCE="$root" -DOUTPUT="$work/kind_lists.h" -P "$root/cmake/kind_lists.cmake" >/dev/null

cat >"$work/Makefile" <<MAKE
FLAGS = --target=nvptx64-nvidia-cuda -march=sm_70 -nogpulib -nostdinc -isystem $headers -isystem $root/gpu/shim -std=c17 -Os \\
    -Xclang -disable-llvm-passes -ffp-contract=off -fno-math-errno -fno-trapping-math -DCAROM_NO_THREADS -DCAROM_NO_GPU \\
    -DCAROM_NO_VECTOR -I$root -I$root/include -I$root/src -I$work -emit-llvm -w
SOURCES = \$(filter-out %/base/format.c %/base/status.c %/base/log.c %/world/batch_gpu.c %/world/batch_gpu_run.c %/world/batch_gpu_share.c %/world/batch_gpu_visit.c,\$(wildcard $root/src/*/*.c)) $root/gpu/kernel.c
OBJECTS = \$(patsubst $root/%.c,%.bc,\$(SOURCES))
HEADERS = \$(wildcard $root/include/carom/*.h $root/src/*/*.h $root/gpu/*.h $root/gpu/shim/*.h)
all: \$(OBJECTS) gpu/device.bc
\$(OBJECTS): %.bc: $root/%.c \$(HEADERS)
	@mkdir -p \$(dir \$@)
	$llvm/clang \$(FLAGS) -c \$< -o \$@
gpu/device.bc: $root/gpu/device.c \$(HEADERS)
	@mkdir -p gpu
	$llvm/clang \$(FLAGS) -fno-strict-aliasing -ffreestanding -fno-builtin -c \$< -o \$@
list: ; @echo \$(OBJECTS)
MAKE
make -s -C "$work" -j"${CAROM_JOBS:-2}" all
cd "$work"
"$llvm/llvm-link" $(make -s list) --override=gpu/device.bc -o all.bc
# `part NAME OPTIMISATION INLINE ENTRIES`: what these kernels reach, as NAME.ptx
part() {
    "$llvm/opt" -passes=internalize,globaldce -internalize-public-api-list="$4" all.bc -o "$1.bc"
    # Functions called from hundreds of places stay by themselves. Code for size leaves short loops as they are, and what they count through
    # in memory: steps of lone bodies have nothing there that fits into registers.
    size=optsize
    [ "$2" = s ] || size=nounwind
    "$llvm/llvm-dis" "$1.bc" -o "$1.ll"
    sed -E "s/\\boptsize\\b/$size/"'; /^define .*@(cr_arena_alloc|cr_arena_release|cr_arena_reset|cr__grow|cr__gjk|cr__epa|cr__lone_start|cr__lone_finish)\(/s/\) #/) noinline #/' "$1.ll" >"$1.marked.ll"
    inline="-disable-loop-idiom-all -inline-threshold=$3 -unroll-runtime=0 -unroll-allow-partial=0 -vectorize-loops=0"
    "$llvm/opt" -S -O"$2" $inline "$1.marked.ll" -o "$1.inlined.ll"
    python3 "$root/scripts/gpu_align.py" "$1.inlined.ll" "$1.aligned.ll"
    "$llvm/opt" -O"$2" $inline "$1.aligned.ll" -o "$1.small.bc"
    "$llvm/llc" -O2 -mcpu=sm_70 -mattr=+ptx63 -fp-contract=off "$1.small.bc" -o "$1.full.ptx"
    sed -E 's,[[:space:]]*//.*$,,; /^$/d' "$1.full.ptx" >"$1.ptx"
}
# steps of lone bodies are a module of their own, with registers of their own: batch_gpu.c takes the text apart
part lone "${CAROM_GPU_LONE_OPT:-2}" "${CAROM_GPU_LONE_INLINE:-100}" cr_batch_lone,cr_batch_exchange &
part whole "${CAROM_GPU_OPT:-s}" "${CAROM_GPU_INLINE:-55}" cr_batch_small,cr_batch_medium,cr_batch_large
wait
cat whole.ptx lone.ptx >"$out"
ls -l "$out" | awk '{print $5 " bytes of PTX: '"$out"'"}'
