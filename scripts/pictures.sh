#!/bin/sh
# pictures.sh - draws docs/pictures/: one picture per example and one per law page, and those of carom plot.
# Called by ./dev docs.
set -eu
cd "$(dirname "$0")/.."
carom=build/bin/carom
mkdir -p docs/pictures

for example in examples/impacts/*.json; do
    name=$(basename "$example" .json)
    "$carom" region "$example" -o "docs/pictures/$name.svg"
done

# law NAME LAWS JSON: a collision that shows what is particular about the law, beside a law to compare with
law() { printf '%s\n' "$3" | "$carom" region -o "docs/pictures/$1.svg" --laws "$2"; }

rod='"W":[[2,1.2],[1.2,1.5]],"V":[-1,-0.4],"n":[1,0]'
kane='"W":[[2.456200716548067,-1.4993604045622577],[-1.4993604045622577,2.5437992834519334]],"V":[-1,0.6],"n":[1,0]'
ball='"W":[[1,0],[0,3.5]],"V":[-1,-1.2],"n":[1,0]'
wedge='"W":[[1,-0.8],[-0.8,1]],"n":[1,0]'

law newton newton,chatterjee-ruina "{\"name\":\"Newton: straight up the n axis\",$rod,\"mu\":0.4,\"e\":0.6}"
law bilinear bilinear,routh "{\"name\":\"bilinear: a ball grips, then its slip reverses\",$ball,\"mu\":0.3,\"e\":0.7,\"et\":0.4}"
law chatterjee-ruina chatterjee-ruina,newton \
    "{\"name\":\"Chatterjee and Ruina: e moves along P_I, et along P_II - P_I\",\"W\":[[2,1],[1,1.2]],\"V\":[-1,-0.75],\"n\":[1,0],\"mu\":0.6,\"e\":0.6,\"et\":0}"
law routh routh,anitescu-potra "{\"name\":\"Routh: slides, turns at the line of sticking, slides back\",$kane,\"mu\":0.5,\"e\":0.7}"
law whittaker whittaker,routh "{\"name\":\"Whittaker: energy from nothing (Kane's paradox)\",$kane,\"mu\":0.5,\"e\":0.9}"
law smith smith,whittaker "{\"name\":\"Smith: bends away from the friction line\",$ball,\"mu\":0.3,\"e\":0.7}"
law anitescu-potra anitescu-potra,whittaker "{\"name\":\"Anitescu and Potra: rebounds where Newton's e cannot\",$wedge,\"V\":[0,-1],\"mu\":1.6,\"e\":0.5}"
law pfeiffer-glocker pfeiffer-glocker,anitescu-potra \
    "{\"name\":\"Pfeiffer and Glocker: the same two stages, with tangential restitution\",$rod,\"mu\":0.7,\"e\":0.7,\"et\":0.8}"
law brach brach,newton "{\"name\":\"Brach: any direction you ask for, here Pt = 0.3 Pn\",$rod,\"mu\":0.6,\"e\":0.6,\"ratios\":[0.3,0]}"
law composite composite,chatterjee-ruina,routh \
    "{\"name\":\"composite: between two laws\",$rod,\"mu\":0.7,\"e\":0.7,\"et\":0.5,\"laws\":[\"chatterjee-ruina\",\"routh\"],\"sigma\":0.4}"
law compliant compliant,routh,bilinear "{\"name\":\"compliant: the spring pushes a ball's slip back\",$ball,\"mu\":0.9,\"e\":0.7,\"et\":0.4}"
law spherical spherical \
    "{\"name\":\"spherical: a direction from the centroid and how far to go\",$rod,\"mu\":0.6,\"e\":0.6,\"psi1\":1.2,\"psi2\":3.141592653589793,\"rho\":0.7}"
law projected projected "{\"name\":\"projected: a wish, drawn towards the centroid until it is permissible\",$rod,\"mu\":0.6,\"e\":0.6,\"wish\":[0.3,0.9]}"

# trajectories and what is drawn of them
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
files=
for rule in poisson coupled weighted sequence chain reflect; do
    "$carom" run scenes/pool-break.json --rule "$rule" --out "$work/$rule.h5" >/dev/null
    files="$files $work/$rule.h5"
done
# shellcheck disable=SC2086
"$carom" plot $files --what plan --from 0.09 --times 0.09,0.14 --out docs/pictures/pool-break.svg
tables=
for rule in poisson coupled sequence chain; do
    "$carom" run scenes/pool-table.json --rule "$rule" --out "$work/table-$rule.h5" >/dev/null
    tables="$tables $work/table-$rule.h5"
done
# shellcheck disable=SC2086
"$carom" plot $tables --labels poisson,coupled,sequence,chain --what motion --speed 0.25 --out docs/pictures/pool-table.svg
"$carom" run scenes/dominoes.json --out "$work/dominoes.h5" >/dev/null
"$carom" plot "$work/dominoes.h5" --what motion --eye page --speed 0.5 --out docs/pictures/dominoes.svg
"$carom" plot "$work/poisson.h5" --what impulses --at 0.09 --out docs/pictures/impulses.svg
"$carom" spread pool-break --jitter gap=1e-5 --set impact.cluster=1e-9 --samples 200 --plot docs/pictures/spread.svg >/dev/null
"$carom" run scenes/falling-rod.json --out "$work/falling-rod.h5" >/dev/null
"$carom" plot "$work/falling-rod.h5" --what strobe --out docs/pictures/falling-rod.svg
"$carom" run scenes/four-balls.json --out "$work/four-balls.h5" >/dev/null
"$carom" plot "$work/four-balls.h5" --what impulses --at 0.59 --out docs/pictures/four-balls.svg
# the tutorials: the plank, whose scene is in the page itself, and the arm
sed -n "/<<'END'/,/^END/p" docs/tutorials/first-scene.md | sed '1d;$d' >"$work/plank.json"
"$carom" run "$work/plank.json" --set materials.wood.e=0.9 --set 'bodies.plank.pos[0]=0.35' --out "$work/plank.h5" >/dev/null
"$carom" plot "$work/plank.h5" --what strobe --times 0,0.2,0.3,0.4,0.5,0.6 --out docs/pictures/plank.svg
"$carom" run examples/models/arm.xml --out "$work/arm.h5" >/dev/null 2>&1
"$carom" plot "$work/arm.h5" --what strobe --out docs/pictures/arm.svg
"$carom" run examples/models/gripper.urdf --duration 0.005 --out "$work/gripper.h5" >/dev/null 2>&1
"$carom" plot "$work/gripper.h5" --what motion --eye 1,-2,0.7 --labels gripper.urdf --out docs/pictures/gripper.svg
# coefficients that depend on the impact, read off what the laws answer: e over speed, tangential rebound over angle
speeds() { awk -v e="$1" 'BEGIN { for (i = -36; i <= 24; i++) printf "{\"law\":\"newton\",\"n\":[1,0],\"W\":[[1,0],[0,1]],\"V\":[%.9g,0],\"e\":%s}\n", -exp(log(10) * i / 12), e }'; }
angles() { awk -v et="$1" 'BEGIN { for (i = 1; i <= 85; i++) printf "{\"law\":\"chatterjee-ruina\",\"n\":[1,0],\"W\":[[1,0],[0,2.8]],\"V\":[-1,%.9g],\"mu\":0.6,\"e\":0.745,\"et\":%s}\n", sin(i * 0.017453293) / cos(i * 0.017453293), et }'; }
answers() { "$carom" impact --json - | sed 's/.*"V_plus":\[\([^,]*\),\([^]]*\)\].*/\1 \2/'; }
speeds '{"form":"power","speed":1,"e":0.7,"exponent":0.25}' | answers >"$work/power"
speeds '{"form":"viscoelastic","speed":1,"e":0.7}' | answers >"$work/viscoelastic"
speeds '{"form":"plastic","speed":0.01}' | answers >"$work/plastic"
angles 0 | answers >"$work/rolls"
angles '{"form":"grip","grip":0.2,"limit":1.2}' | answers >"$work/grips"
gnuplot >docs/pictures/coefficients.svg <<END
set terminal svg size 900,360 font "DejaVu Sans,12" background "white"
set multiplot layout 1,2
set grid lc rgb "#dddddd"
set logscale x
set xlabel "approach speed [m/s]"
set ylabel "e"
set yrange [0:1.05]
plot "$work/power" using (10**((\$0-36)/12.)):(\$1/10**((\$0-36)/12.)) w l lw 2 t "power", \
 "$work/viscoelastic" using (10**((\$0-36)/12.)):(\$1/10**((\$0-36)/12.)) w l lw 2 t "viscoelastic", \
 "$work/plastic" using (10**((\$0-36)/12.)):(\$1/10**((\$0-36)/12.)) w l lw 2 t "plastic"
unset logscale
set xlabel "angle of incidence [degrees]"
set ylabel "slip after / slip before"
set yrange [-0.3:1]
plot "$work/rolls" using (\$0+1):(\$2/tan((\$0+1)*0.017453293)) w l lw 2 t "et 0: rolls", \
 "$work/grips" using (\$0+1):(\$2/tan((\$0+1)*0.017453293)) w l lw 2 t "grip 0.2"
END
# the bank shot, whose scene is in the page itself
sed -n "/<<'END'/,/^END/p" docs/materials.md | sed '1d;$d' >"$work/bank.json"
"$carom" run "$work/bank.json" --out "$work/bank.h5" >/dev/null
"$carom" plot "$work/bank.h5" --what plan --out docs/pictures/bank-shot.svg
# the page and a report as a browser shows them, where there is one
if command -v chromium >/dev/null 2>&1 && [ -d web/node_modules/playwright-core ]; then
    # shellcheck disable=SC2086
    "$carom" plot $files --out "$work/report.html"
    node web/test/shots.mjs "$carom" "$PWD/web/carom.html" "$work/report.html" docs/pictures
fi

for picture in docs/pictures/*.svg; do
    size=$(wc -c <"$picture")
    [ "$size" -lt 150000 ] || echo "pictures.sh: $picture is $size bytes, larger than 150 kB" >&2
done
