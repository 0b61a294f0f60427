# the C programs in docs/world.md and docs/io.md are the texts of examples/
set -e
root=${CAROM_SOURCE:-$(dirname "$0")/..}
program() { sed -n '/^```c$/,/^```$/p' "$root/docs/$1" | sed '1d;$d' | diff - "$root/examples/$2"; }
program world.md first_model.c
program io.md first_scene.c
