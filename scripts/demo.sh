#!/bin/sh
# demo.sh - the same pool break by six rules, and a page to look at. Called by ./dev demo.
set -eu
cd "$(dirname "$0")/.."
carom=build/bin/carom
mkdir -p out

rules='poisson coupled weighted sequence chain reflect'
echo 'A cue ball at 6 m/s hits fifteen balls that touch. Who leaves, and how fast, is the rule of impact:'
echo
printf '  %-10s %s\n' rule 'energy left and what the audit says of every step'
files=
for rule in $rules; do
    files="$files out/$rule.h5"
    "$carom" run scenes/pool-break.json --rule "$rule" --out "out/$rule.h5" >out/summary.txt
    left=$(sed -n 's/^energy.*start, \(.*\) at the end.*/\1/p' out/summary.txt)
    verdict=$(sed -n 's/^certificate  \(.*\), residual.*/\1/p' out/summary.txt)
    printf '  %-10s %-12s %s\n' "$rule" "$left" "$verdict"
done
rm out/summary.txt
# shellcheck disable=SC2086
"$carom" plot $files --out out/report.html
# shellcheck disable=SC2086
"$carom" plot $files --what plan --from 0.09 --times 0.09,0.14 --out out/break.svg
"$carom" plot out/poisson.h5 --what impulses --at 0.09 --out out/impulses.png
"$carom" region examples/impacts/generic.json -o out/generic.svg

echo
echo 'One contact is a choice too. Three of thirteen laws on a rod that hits a rough floor:'
echo
"$carom" examples kane-paradox | "$carom" impact - | grep -E '^(law|newton|routh|whittaker)'
cat <<'END'

Look at
  out/report.html    the six breaks side by side, moving; open it in a browser
  out/break.svg      the balls 50 ms after the impact
  out/impulses.png   how the impulse runs through the rack
  out/generic.svg    impulse space of one collision: what is possible, and what each law picks

Try next
  build/bin/carom run scenes/dominoes.json --report out/dominoes.html
  build/bin/carom examples cradle-5 | build/bin/carom resolve
  build/bin/carom laws
END
