# the first scene in docs/world.md is the text of examples/first_scene.c
set -e
root=${CAROM_SOURCE:-$(dirname "$0")/..}
sed -n '/^```c$/,/^```$/p' "$root/docs/world.md" | sed '1d;$d' | diff - "$root/examples/first_scene.c"
