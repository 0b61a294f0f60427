#!/bin/sh
# demo.sh - the same pool break by four rules, and pages and pictures to look at. Called by ./dev demo.
# CAROM_COMMAND and OUT say which command is run and where files go; default build/bin/carom and out.
set -eu
cd "$(dirname "$0")/.."
carom=${CAROM_COMMAND:-$PWD/build/bin/carom}
out=${OUT:-out}
mkdir -p "$out"

echo 'A cue ball at 6 m/s hits fifteen balls that touch. Who leaves, and how fast, is the rule of impact:'
echo
printf '  %-10s %-24s %s\n' rule 'kinetic energy after 2 s' 'what the audit says of every step'
files=
for rule in poisson coupled sequence chain; do
    files="$files $out/$rule.h5"
    "$carom" run scenes/pool-table.json --rule "$rule" --out "$out/$rule.h5" >"$out/summary.txt"
    left=$(sed -n 's/^energy.*start, \(.*\) at the end.*/\1/p' "$out/summary.txt")
    verdict=$(sed -n 's/^certificate  \(.*\), residual.*/\1/p' "$out/summary.txt")
    printf '  %-10s %-24s %s\n' "$rule" "$left" "$verdict"
done
rm "$out/summary.txt"
# shellcheck disable=SC2086
"$carom" plot $files --out "$out/report.html"
# shellcheck disable=SC2086
"$carom" plot $files --what motion --speed 0.25 --out "$out/break.svg"

echo
echo 'One contact is a choice too. Three of thirteen laws on a rod that hits a rough floor:'
echo
"$carom" examples kane-paradox | "$carom" impact - | grep -E '^(law|newton|routh|whittaker)'
cat <<END

Look at (open them in a browser)
  $out/report.html   the four breaks side by side, moving, with charts and events
  $out/break.svg     the same as one moving picture

Put carom on the path of this shell
  export PATH="$(dirname "$carom"):\$PATH"

Try next
  carom view pool-table                                  the page: change rules and laws, and look
  carom run dominoes --report $out/dominoes.html
  carom examples cradle-5 | carom resolve
  carom help
END
