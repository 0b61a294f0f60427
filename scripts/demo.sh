#!/bin/sh
# demo.sh - one collision by every law, then the picture of its permissible region. Called by ./dev demo.
set -eu
cd "$(dirname "$0")/.."
carom=build/bin/carom
mkdir -p out

echo '$ carom examples generic | carom impact'
"$carom" examples generic | "$carom" impact
echo
for format in svg png; do
    echo "\$ carom region examples/impacts/generic.json -o out/generic.$format"
    "$carom" region examples/impacts/generic.json -o "out/generic.$format"
done
echo
echo "The pictures are out/generic.svg and out/generic.png: the permissible region and what each law says."
