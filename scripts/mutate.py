#!/usr/bin/env python3
"""Breaks the library on purpose, one place at a time, and asks whether the tests notice.

    mutate.py [--quick] [--keep] [NAME ...]

test/mutations.txt lists the mutations: a file, a text that occurs there once, what to put instead, and the
tests that are expected to notice. Each is made in a copy of the tree, built, and run. Tests with golden bits do
not count: they notice any change, right or wrong. Hashes of two runs may be compared. Exit status 1 where a mutation is not caught,
does not build, or no longer applies, or where a test fails without any mutation.

--quick  only the tests that a mutation names; otherwise all tests of C programs follow until one fails
--keep   leaves the copy (build-mutate/) for the next run, which then builds faster
NAME     only mutations whose name contains one of these
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "build-mutate"
GOLDEN = re.compile(r"golden|== *UINT64_C")
LIMIT = 600  # s that one test may take


class Mutation:
    def __init__(self, fields):
        self.name, self.file = fields["name"], fields["file"]
        self.find, self.put = fields["find"], fields["put"]
        self.tests = fields["tests"].split()


def read_list(path):
    """Blocks of `key: value` lines, separated by blank lines; # begins a comment line."""
    found, fields = [], {}
    for line in path.read_text().splitlines() + [""]:
        if line.startswith("#"):
            continue
        if line.strip():
            key, _, value = line.partition(": ")
            fields[key.strip()] = value
        elif fields:
            missing = {"name", "file", "find", "put", "tests"} - fields.keys()
            if missing:
                sys.exit(f"{path.name}: {fields} lacks {missing}")
            found.append(Mutation(fields))
            fields = {}
    return found


def run(command, **more):
    return subprocess.run(command, cwd=COPY, capture_output=True, text=True, **more)


def copy_tree():
    """What git knows and what is new, with times kept where files are the same: builds stay incremental."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True,
                           text=True, check=True).stdout.splitlines()
    for name in names:
        source, target = ROOT / name, COPY / name
        if not source.is_file():
            continue
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
        target.touch()


def build(tests):
    """None, or the first error."""
    made = run(["cmake", "--build", "build", "-j", "2", "--target", *tests, "--", "-s"])
    if made.returncode == 0:
        return None
    errors = [line for line in (made.stdout + made.stderr).splitlines() if "error" in line]
    return errors[0] if errors else "build failed"


def fails(test):
    """Whether the test notices: a failed check, at which it ends, or a crash. No end in LIMIT is no catch."""
    try:
        env = dict(os.environ, CAROM_TEST_FIRST="1")
        return run([str(COPY / "build/bin" / test)], timeout=LIMIT, env=env).returncode not in (0, 77)
    except subprocess.TimeoutExpired:
        return False


def plain_tests():
    """Programs without golden bits."""
    return sorted(p.stem for p in (COPY / "test").glob("test_*.c") if not GOLDEN.search(p.read_text()))


def try_one(mutation, others):
    """(caught by or '', trouble or '')."""
    path = COPY / mutation.file
    if not path.is_file():
        return "", f"{mutation.file} is gone"
    before = path.read_text()
    if before.count(mutation.find) != 1:
        return "", f"applies {before.count(mutation.find)} times"
    path.write_text(before.replace(mutation.find, mutation.put))
    try:
        trouble = build(mutation.tests)
        if trouble:
            return "", trouble
        for test in mutation.tests:
            if fails(test):
                return test, ""
        for test in others:
            if test in mutation.tests or build([test]):
                continue
            if fails(test):
                return test, ""
        return "", "not caught"
    finally:
        path.write_text(before)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    mutations = read_list(ROOT / "test/mutations.txt")
    if given.names:
        mutations = [m for m in mutations if any(n in m.name for n in given.names)]
    COPY.mkdir(exist_ok=True)
    copy_tree()
    configured = run(["cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", "-DCAROM_PYTHON=OFF"])
    if configured.returncode != 0:
        sys.exit(configured.stderr)
    named = sorted({t for m in mutations for t in m.tests})
    golden = [t for t in named if GOLDEN.search((COPY / "test" / f"{t}.c").read_text())]
    if golden:
        sys.exit(f"tests with golden bits cannot catch a mutation: {', '.join(golden)}")
    trouble = build(named)
    if trouble:
        sys.exit(f"without a mutation: {trouble}")
    bad = [t for t in named if fails(t)]
    if bad:
        sys.exit(f"fails without a mutation: {', '.join(bad)}")
    others = [] if given.quick else plain_tests()
    missed = 0
    print(f"{'mutation':44}  {'file':28}  {'caught by':24}  time")
    for mutation in mutations:
        begun = time.monotonic()
        caught, trouble = try_one(mutation, others)
        missed += not caught
        print(f"{mutation.name:44}  {mutation.file.removeprefix('src/'):28}  "
              f"{caught or 'NOT CAUGHT: ' + trouble:24}  {time.monotonic() - begun:.0f} s", flush=True)
    if not given.keep:
        shutil.rmtree(COPY)
    print(f"{len(mutations) - missed} of {len(mutations)} caught")
    return missed > 0


if __name__ == "__main__":
    sys.exit(main())
