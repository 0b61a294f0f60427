#!/bin/sh
# The site (./dev site) builds, every link leads somewhere, and where a browser is installed its pages are looked at.
set -eu
# pictures of every scene are slow with sanitizers and tell nothing new
[ -z "${CAROM_SANITIZE:-}" ] || { echo "skipped: not with sanitizers"; exit 77; }
command -v gnuplot >/dev/null 2>&1 || { echo "skipped: no gnuplot"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$CAROM_SOURCE/test/site_parts.py"
python3 "$CAROM_SOURCE/scripts/site.py" -o "$work/site" --quick
python3 "$CAROM_SOURCE/test/site_links.py" "$work/site"
if command -v node >/dev/null 2>&1 && command -v chromium >/dev/null 2>&1 && [ -d "$CAROM_SOURCE/web/node_modules/playwright-core" ]; then
    node "$CAROM_SOURCE/web/test/site.mjs" "$work/site"
else
    echo "pages are not looked at: no node, chromium or web/node_modules"
fi
