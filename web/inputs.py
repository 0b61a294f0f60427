#!/usr/bin/env python3
"""What the kept page web/carom.html is made of, and whether it still fits.

The page carries a JSON object: for each group of inputs a hash of its files, for each number its value. `inputs.py`
prints that object as it is now (build.mjs puts it into the page); `inputs.py --check` compares it with the page and
exits 1 where they differ. A change of the library alone does not make the page stale: its numbers change only with
CR_NUMERICS_REVISION, and what passes between library and page is in web/wasm, plot/describe.c and the schema of scenes.
"""
import hashlib
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GROUPS = {
    "the page's modules": ["web/src/*", "web/build.mjs", "web/package-lock.json"],
    "the functions that the page calls": ["web/wasm/*", "plot/describe.[ch]"],
    "the format of scenes": ["docs/scene.schema.json"],
    "the scenes": ["scenes/*.json"],
    "the examples": ["examples/impacts/*.json", "examples/resolve/*.json"],
}
NUMBERS = ["CR_VERSION_MAJOR", "CR_VERSION_MINOR", "CR_VERSION_PATCH", "CR_NUMERICS_REVISION"]
PLACE = re.compile(r'<script type="application/json" id="made-of">(.*?)</script>')


def digest(patterns):
    whole = hashlib.sha256()
    for path in sorted(path for pattern in patterns for path in ROOT.glob(pattern)):
        data = path.read_bytes()
        whole.update(f"{path.relative_to(ROOT).as_posix()} {len(data)}\n".encode() + data)
    return whole.hexdigest()[:16]


def inputs():
    base = (ROOT / "include/carom/base.h").read_text()
    values = {name: digest(patterns) for name, patterns in GROUPS.items()}
    return values | {name: int(re.search(rf"#define {name} (\d+)", base).group(1)) for name in NUMBERS}


def check():
    made = PLACE.search((ROOT / "web/carom.html").read_text())
    carried = json.loads(made.group(1)) if made else {}
    changed = [name for name, value in inputs().items() if carried.get(name) != value]
    if changed:
        print(f"web/carom.html is stale: {', '.join(changed)} changed since it was built; run ./dev web", file=sys.stderr)
    return 1 if changed else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(check())
    print(json.dumps(inputs()))
