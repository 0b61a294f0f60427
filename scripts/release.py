#!/usr/bin/env python3
"""A release: `release.py [--dry-run]` checks that the tree is fit for one and builds all of it into out/release. Called by ./dev release.

Checked: one version everywhere, a dated section of the changelog for it, nothing left under "Unreleased", no changed file, no such tag
yet, the kept page fits the sources, documents print what they say and link to what exists. Built: the source archive (which is then
built and run by itself), Debian packages, the wheel, the page, the site, and SHA256SUMS of all.
--dry-run goes on after a failed check, lists all of them, and makes no tag; without it the tag vVERSION is made, never pushed.
`release.py --set VERSION` writes a version everywhere.
"""
import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "out/release"
# file, pattern with the version as its groups
PLACES = [
    ("CMakeLists.txt", r"project\(carom VERSION (\d+)\.(\d+)\.(\d+)"),
    ("include/carom/base.h", r"CR_VERSION_MAJOR (\d+)\n#define CR_VERSION_MINOR (\d+)\n#define CR_VERSION_PATCH (\d+)"),
    ("docs/carom.1", r'"carom (\d+)\.(\d+)\.(\d+)"'),
    ("CITATION.cff", r"(?m)^version: (\d+)\.(\d+)\.(\d+)$"),
]
failures = []


def run(*command, cwd=ROOT, **options):
    return subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, **options)


def check(name, problem):
    print(f"{'ok ' if not problem else 'NO '} {name}" + (f": {problem}" if problem else ""), flush=True)
    if problem:
        failures.append(name)
    return not problem


def last(done, lines=3):
    """What a failed command said last; nothing where it did well."""
    if done.returncode == 0:
        return ""
    said = (done.stdout + done.stderr).strip().splitlines()
    return f"exit status {done.returncode}: " + " | ".join(said[-lines:])


def versions():
    found = {}
    for name, pattern in PLACES:
        match = re.search(pattern, (ROOT / name).read_text())
        found[name] = ".".join(match.groups()) if match else "none"
    return found


def set_version(version):
    numbers = version.split(".")
    if len(numbers) != 3 or not all(n.isdigit() for n in numbers):
        sys.exit(f"release.py: \"{version}\" is no version such as 0.2.0")
    for name, pattern in PLACES:
        path = ROOT / name
        text = path.read_text()
        match = re.search(pattern, text)
        parts, at = [], match.start()
        for i, number in enumerate(numbers, 1):
            parts += [text[at:match.start(i)], number]
            at = match.end(i)
        path.write_text(text[:match.start()] + "".join(parts) + text[at:])
    print(f"version {version} in {', '.join(name for name, _ in PLACES)}")


def check_changelog(version, text):
    """What is wrong with the changelog for this version; nothing where it is good."""
    sections = re.split(r"(?m)^## ", text)[1:]
    titles = [section.splitlines()[0].strip() for section in sections]
    unreleased = [s for s in sections if s.startswith("Unreleased")]
    if any(body.strip() for s in unreleased for body in [s.partition("\n")[2]]):
        return "there are entries under Unreleased"
    own = [i for i, title in enumerate(titles) if re.fullmatch(rf"{re.escape(version)} - \d{{4}}-\d\d-\d\d", title)]
    if not own:
        return f'no section "## {version} - YYYY-MM-DD"; there are {titles}'
    if len(sections[own[0]].splitlines()) < 3:
        return f"the section of {version} is empty"
    return ""


def check_tree(version):
    found = versions()
    check("one version", "" if len(set(found.values())) == 1 else str(found))
    check("changelog", check_changelog(version, (ROOT / "CHANGELOG.md").read_text()))
    changed = run("git", "status", "--porcelain").stdout.strip()
    check("nothing changed since the last commit", changed.replace("\n", ", ")[:200])
    check("no such tag yet", "there is" if run("git", "tag", "-l", f"v{version}").stdout.strip() else "")
    for name in ("LICENSE", "SECURITY.md", "SUPPORT.md", "CODE_OF_CONDUCT.md", "CITATION.cff", "CONTRIBUTING.md"):
        if not (ROOT / name).exists():
            check(name, "is missing")
    check("the kept page fits", last(run(sys.executable, "web/inputs.py", "--check")))


def check_documents():
    check("documents print what they say", last(run(sys.executable, "scripts/examples.py")))
    check("the site builds and its links lead somewhere", last(run(sys.executable, "scripts/site.py", "-o", OUT / "site", "--quick")))


def build_source(version):
    """The archive is what git has; it must build and run without git and without anything beside it."""
    name = f"carom-{version}"
    path = OUT / f"{name}.tar.gz"
    made = run("git", "archive", "--format=tar.gz", "-9", f"--prefix={name}/", "-o", path, "HEAD")
    if not check("source archive", last(made)):
        return
    with tempfile.TemporaryDirectory() as work:
        run("tar", "xf", path, "-C", work)
        configure = run("cmake", "-S", name, "-B", "build", "-DCAROM_TESTS=OFF", "-DCAROM_PYTHON=OFF", "-DCAROM_MPI=OFF", cwd=work)
        build = run("cmake", "--build", "build", "-j", os.cpu_count() or 2, "--target", "carom_command", cwd=work)
        said = run("build/bin/carom", "--version", cwd=work) if build.returncode == 0 else build
        check("the source archive builds", last(configure) or last(build))
        check("and says its version", "" if version in said.stdout else said.stdout.strip() or "nothing")
        if build.returncode == 0:
            check("and runs a scene", last(run("build/bin/carom", "run", "dominoes", cwd=work)))


def build_parts(version):
    for verb, pattern in (("package", "*.deb"), ("python", "carom-*.whl")):
        before = {p: p.stat().st_mtime_ns for p in (ROOT / "out").glob(pattern)}
        done = run("sh", "./dev", verb)
        made = [p for p in (ROOT / "out").glob(pattern) if before.get(p) != p.stat().st_mtime_ns]
        wrong = [p.name for p in made if version not in p.name]
        check(f"./dev {verb}", last(done) or ("nothing was made" if not made else "") or (f"another version: {wrong}" if wrong else ""))
        for path in made:
            shutil.copy(path, OUT / path.name)
    shutil.copy(ROOT / "web/carom.html", OUT / f"carom-{version}.html")
    if (OUT / "site").exists():
        done = run("tar", "czf", OUT / f"carom-{version}-site.tar.gz", "-C", OUT, "site")
        check("site archive", last(done))
        shutil.rmtree(OUT / "site")


def sums():
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(OUT.iterdir()) if path.name != "SHA256SUMS"]
    (OUT / "SHA256SUMS").write_text("".join(lines))
    for path in sorted(OUT.iterdir()):
        print(f"    {path.stat().st_size:>10}  out/release/{path.name}")


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--dry-run", action="store_true", help="check and build, make no tag")
    options.add_argument("--set", metavar="VERSION", help="write a version everywhere, and do nothing else")
    given = options.parse_args()
    if given.set:
        set_version(given.set)
        return
    version = versions()["CMakeLists.txt"]
    print(f"carom {version}")
    check_tree(version)
    if failures and not given.dry_run:
        sys.exit(f"release.py: not fit for a release: {', '.join(failures)}")
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    check_documents()
    build_source(version)
    build_parts(version)
    sums()
    if failures:
        sys.exit(f"release.py: not fit for a release: {', '.join(failures)}")
    if not given.dry_run:
        done = run("git", "tag", "-a", f"v{version}", "-m", f"carom {version}")
        check("tag", last(done))
    print(f"carom {version} is fit for a release" + (": git push origin v" + version if not given.dry_run else "; nothing was tagged"))


if __name__ == "__main__":
    main()
