"""README's shell blocks, played in order in one shell as a newcomer types them after cloning.

The tree is a folder of links to the sources, with build/bin the command under test; ./dev demo is what it does after
building. Every block must succeed, and carom must be found by its name alone: the PATH has none before the demo.
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import urllib.request

from command import COMMAND, SOURCE, check, main

folder = pathlib.Path(tempfile.mkdtemp())
tree = folder / "carom"
DEV = """#!/bin/sh
[ "$1" = demo ] || exit 2
exec sh scripts/demo.sh
"""


def plant():
    """What a clone looks like after ./dev demo has built: no file of the sources is written to."""
    tree.mkdir()
    for path in SOURCE.iterdir():
        if path.name not in ("dev", "build", "out") and not path.name.startswith((".", "build-")):
            (tree / path.name).symlink_to(path)
    (tree / "build" / "bin").mkdir(parents=True)
    (tree / "build" / "bin" / "carom").symlink_to(COMMAND)
    (tree / "dev").write_text(DEV)
    (tree / "dev").chmod(0o755)


def environment():
    clean = [part for part in os.environ["PATH"].split(":") if part and not os.path.exists(os.path.join(part, "carom"))]
    kept = {k: v for k, v in os.environ.items() if k not in ("CAROM_COMMAND", "DISPLAY", "WAYLAND_DISPLAY")}
    return {**kept, "PATH": ":".join(clean)}


def play(script):
    return subprocess.run(["sh", "-ec", script], cwd=tree, env=environment(), capture_output=True, text=True, timeout=120)


def blocks():
    return re.findall(r"^```sh\n((?:(?!```).)*)```", (SOURCE / "README.md").read_text(), re.S | re.M)


def views(block):
    return [line for line in block.splitlines() if line.startswith("carom view")]


def test_blocks():
    check(len(blocks()) >= 5 and "./dev demo" in blocks()[0], "the first block is the demo")
    script = "\n".join("".join(line + "\n" for line in block.splitlines() if not line.startswith("carom view")) for block in blocks())
    done = play(script)
    check(done.returncode == 0, "README's blocks", done.returncode, done.stderr[-2000:])
    for name in ("out/report.html", "out/break.svg"):
        check((tree / name).stat().st_size > 10000, "the demo leaves", name)


def test_view():
    pages = [line for block in blocks() for line in views(block)]
    check(pages, "README shows the page")
    for line in pages:
        path = f'export PATH="$PWD/build/bin:$PATH"\nexec {line}'
        server = subprocess.Popen(["sh", "-c", path], cwd=tree, env=environment(), stdout=subprocess.PIPE, text=True)
        address = server.stdout.readline().strip()
        page = urllib.request.urlopen(address, timeout=20).read()
        check(b'id="wasm">H4sI' in page and line.split()[-1].encode() in page, "the page with its scene", line)
        server.send_signal(signal.SIGINT)
        check(server.wait(timeout=20) == 0, "Ctrl-C ends it", line)


def test_demo_says_what_to_do_next():
    out = play("./dev demo").stdout
    for path in re.findall(r"^  (out/\S+)", out, re.M):
        check((tree / path).exists(), "the demo names what it left", path)
    line = re.search(r"^  (export PATH=.*)$", out, re.M)
    check(line, "the demo prints a line that puts carom on the path", out[-800:])
    found = play(line.group(1) + "\ncommand -v carom").stdout.strip()
    check(found and os.path.realpath(found) == os.path.realpath(COMMAND), "which finds carom", found)
    tries = [text.strip() for text in re.findall(r"^  (carom .*?)(?:  .*)?$", out.split("Try next")[1], re.M)]
    check(len(tries) >= 3, "the demo says what to try", tries)
    for text in tries:
        if not views(text):
            done = play(line.group(1) + "\n" + text)
            check(done.returncode == 0, "what the demo says works", text, done.stderr)


if __name__ == "__main__":
    try:
        plant()
        main(globals())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
