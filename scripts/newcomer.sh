#!/bin/sh
# newcomer.sh [FOLDER] - plays somebody who has just cloned carom, in a root that holds nothing but Debian's base system.
#
# The root is made by debootstrap (as root) under FOLDER, by default out/newcomer; without debootstrap or without its network an
# empty HOME and prefix on this machine stand for it, and that is said. Played as typed: README's shell blocks in order, the page of
# `carom view` (in Chromium where this machine has it), install and a C program against it, the Debian packages, the wheel. Each step prints ok or NO; what was typed and
# printed is in FOLDER/log. The time from the first command to the first picture is measured with a warm package cache.
set -eu
cd "$(dirname "$0")/.."
source=$PWD
folder=$(mkdir -p "${1:-out/newcomer}" && cd "${1:-out/newcomer}" && pwd)
root=$folder/root
log=$folder/log
: >"$log"
failures=0

say() { printf '%s\n' "$*"; }
# step NAME SCRIPT: the script in the clone, in the clean place
step() {
    printf '\n== %s\n%s\n' "$1" "$2" >>"$log"
    begin=$(date +%s)
    if inside "$2" >>"$log" 2>&1; then
        say "ok  $1 ($(($(date +%s) - begin)) s)"
    else
        say "NO  $1: $(tail -n 1 "$log")"
        failures=$((failures + 1))
    fi
}

make_root() {
    [ "$(id -u)" -eq 0 ] && command -v debootstrap >/dev/null 2>&1 || return 1
    # one that was left half made is made again
    if [ ! -e "$root.whole" ]; then
        rm -rf "$root"
        debootstrap --variant=minbase --include=ca-certificates bookworm "$root" \
            "${CAROM_MIRROR:-http://deb.debian.org/debian}" >>"$log" 2>&1 || return 1
        touch "$root.whole"
    fi
    chroot "$root" true 2>>"$log" || return 1
    # a warm package cache: what this machine has fetched already
    cp -n /var/cache/apt/archives/*.deb "$root/var/cache/apt/archives/" 2>/dev/null || true
    cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
}

if make_root; then
    say "in a root with nothing but Debian's base system: $root"
    clone=/root/carom
    rm -rf "${root:?}$clone"
    mkdir -p "$root$clone"
    inside() {
        printf '%s\n' "$1" >"$root/tmp/typed"
        chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            DEBIAN_FRONTEND=noninteractive sh -c "cd $clone && sh -e /tmp/typed" </dev/null
    }
    git archive HEAD | tar x -C "$root$clone"
    prefix=/usr/local
else
    say "no clean root here (debootstrap as root needs the network): an empty HOME and prefix on this machine instead"
    rm -rf "$folder/home"
    mkdir -p "$folder/home/carom"
    clone=$folder/home/carom
    inside() {
        printf '%s\n' "$1" >"$folder/typed"
        env -i HOME="$folder/home" PATH=/usr/local/bin:/usr/bin:/bin sh -c "cd $clone && sh -e $folder/typed" </dev/null
    }
    git archive HEAD | tar x -C "$clone"
    prefix=$folder/home/prefix
fi

# README's blocks in one script; the page is another step
blocks=$(python3 - "$source/README.md" <<'END'
import re, sys
blocks = re.findall(r"^```sh\n((?:(?!```).)*)```", open(sys.argv[1]).read(), re.S | re.M)
print("\n".join(line for block in blocks for line in block.splitlines() if not line.startswith("carom view")))
END
)
first=$(printf '%s\n' "$blocks" | head -n 1)
step "the first line: $first" "$first && test -s out/report.html && test -s out/break.svg"
step "README's other blocks" "$(printf '%s\n' "$blocks" | sed 1d)"
# by the clock, or where the machine has other work by its processor time on two cores
step "the first line again, packages installed: at most 60 s from clone to picture" \
    "rm -rf build out && begin=\$(date +%s) && $first && test -s out/break.svg && took=\$((\$(date +%s) - begin))
times >/tmp/times
cores=\$(sed -n 's/m/ /g;s/s//g;2p' /tmp/times | awk '{printf \"%d\", (60 * \$1 + \$2 + 60 * \$3 + \$4) / 2}')
echo \"took \$took s by the clock, \$cores s of two cores\" && { test \$took -le 60 || test \$cores -le 60; }"
grep '^took' "$log" | tail -n 1
# served from the clean place; Chromium, where this machine has it, opens it from outside and waits until the scene has run a step
# shellcheck disable=SC2016
step "carom view serves its page" 'export PATH="$PWD/build/bin:$PATH"
carom view pool-table >/tmp/address &
server=$!
for i in 1 2 3 4 5 6 7 8 9 10; do test -s /tmp/address && break; sleep 1; done
python3 -c "import sys, urllib.request; page = urllib.request.urlopen(open(\"/tmp/address\").readline().strip()).read(); open(\"/tmp/page.html\", \"wb\").write(page); sys.exit(b\"pool-table\" not in page or len(page) < 400000)"
kill -INT $server'
[ "$prefix" = /usr/local ] && page=$root/tmp/page.html || page=/tmp/page.html
if command -v chromium >/dev/null 2>&1 && [ -d web/node_modules/playwright-core ]; then
    if node web/test/opens.mjs "$page" >>"$log" 2>&1; then
        say "ok  the page runs in Chromium"
    else
        say "NO  the page does not run in Chromium"
        failures=$((failures + 1))
    fi
else
    say "--  no Chromium or web/node_modules here: the page was fetched, not run"
fi
step "install, and a C program against it" "./dev build && cmake --install build --prefix $prefix >/dev/null
export PKG_CONFIG_PATH=\$(dirname \"\$(find $prefix -name carom.pc)\")
cc examples/first_impact.c \$(pkg-config --cflags --libs carom) -o /tmp/first && LD_LIBRARY_PATH=\$(dirname \"\$PKG_CONFIG_PATH\") /tmp/first | grep permissible
$prefix/bin/carom run dominoes >/dev/null && $prefix/bin/carom doctor"
if [ "$prefix" = /usr/local ]; then
    step "Debian packages" "./dev package
dpkg -i out/*.deb || apt-get -y -f install
/usr/bin/carom run bouncing-ball >/dev/null
dpkg -L carom | grep -q man1/carom.1.gz"
fi
step "the wheel in a virtual environment" "./dev python && python3 -m venv --system-site-packages /tmp/carom-venv-\$\$ && /tmp/carom-venv-\$\$/bin/pip install -q out/carom-*.whl &&
/tmp/carom-venv-\$\$/bin/python -c 'import carom; print(carom.load(\"bouncing-ball\").world().run(0.1).clean)' | grep True"
[ "$failures" -eq 0 ] || { say "newcomer.sh: $failures steps failed, see $log" >&2 && exit 1; }
