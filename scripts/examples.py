#!/usr/bin/env python3
"""Runs the examples of the documentation.

In every Markdown file a ```sh block directly followed by a ```text block is an example: the commands must print
that text. `examples.py` checks them and exits 1 on a difference; `examples.py --update` writes the text anew.
The command is taken from $CAROM_COMMAND or build/bin/carom.
"""
import difflib
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# a line a minute, on a machine that is slow enough
PROGRESS = re.compile(r"^.*\d %, .* left.*\n", re.M)
EXAMPLE = re.compile(r"(```sh\n((?:(?!```).)*)```\n+```text\n)(.*?)(```\n)", re.S)


def run(commands):
    command = pathlib.Path(os.environ.get("CAROM_COMMAND", ROOT / "build/bin/carom"))
    env = dict(os.environ, PATH=f"{command.parent}:{os.environ['PATH']}", NO_COLOR="1")
    done = subprocess.run(["sh", "-c", commands], cwd=ROOT, env=env, capture_output=True, text=True, timeout=600)
    return done.stdout + PROGRESS.sub("", done.stderr)


def main():
    update = "--update" in sys.argv[1:]
    count = failures = 0
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = path.read_text()

        def check(match):
            nonlocal count, failures
            count += 1
            got = run(match.group(2))
            if got != match.group(3) and not update:
                failures += 1
                print(f"{path.relative_to(ROOT)}: {match.group(2).strip()}")
                print("".join(difflib.unified_diff(match.group(3).splitlines(True), got.splitlines(True),
                                                   "documented", "printed")))
            return match.group(1) + got + match.group(4)

        changed = EXAMPLE.sub(check, text)
        if update and changed != text:
            path.write_text(changed)
            print(f"updated {path.relative_to(ROOT)}")
    print(f"{count - failures} passed, {failures} failed")
    sys.exit(1 if failures or count == 0 else 0)


if __name__ == "__main__":
    main()
