#!/bin/sh
# ./dev deps waits for another package manager: the lock of the package lists is tried again, those of dpkg are given
# a time limit, and every other failure ends it. apt-get, apt-cache, dpkg-query, sudo and sleep are stand-ins; some keep a log.
set -eu
[ -z "${CAROM_SANITIZE:-}" ] || { echo "skipped: not with sanitizers"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
cat >"$work/bin/apt-get" <<'EOF'
#!/bin/sh
echo "apt-get $*" >>"$LOG"
case "$*" in
*update*)
    [ "$(grep -c update "$LOG")" -gt "$HELD" ] && exit 0
    echo "E: $WHY" >&2
    exit 100
    ;;
esac
EOF
printf '#!/bin/sh\nexec "$@"\n' >"$work/bin/sudo"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/dpkg-query"
printf '#!/bin/sh\nexit 0\n' >"$work/bin/apt-cache"
printf '#!/bin/sh\necho "sleep $*" >>"$LOG"\n' >"$work/bin/sleep"
chmod +x "$work"/bin/*
PATH="$work/bin:$PATH"
LOG="$work/log"
export PATH LOG HELD WHY

# deps WHY HELD: the exit status of ./dev deps where `update` fails HELD times
deps() {
    WHY=$1
    HELD=$2
    : >"$LOG"
    sh "$CAROM_SOURCE/dev" deps >"$work/out" 2>&1
}
bad() {
    echo "FAILED: $1"
    cat "$LOG" "$work/out"
    exit 1
}

deps "Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt)" 3 || bad "a lock that is released"
[ "$(grep -c '^sleep' "$LOG")" -eq 3 ] || bad "three waits"
grep -q 'DPkg::Lock::Timeout=[0-9]* install ' "$LOG" || bad "install waits for dpkg"
grep -q 'waiting for another package manager' "$work/out" || bad "the wait is said"
deps "Could not get lock /var/lib/apt/lists/lock" 100000 && bad "a lock that is never released"
grep -q 'Could not get lock' "$work/out" || bad "the lock is named"
grep -q install "$LOG" && bad "nothing is installed without the lists"
deps "The repository is not signed" 1 && bad "another failure"
[ "$(grep -c '^apt-get' "$LOG")" -eq 1 ] || bad "another failure is not tried again"
grep -q 'not signed' "$work/out" || bad "another failure is said"
echo "dev: good"
