"""The checks of ./dev release: one version everywhere, a changelog that is ready, and that both are noticed where they are not."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

from command import COMMAND, SOURCE, carom, check, main

sys.path.insert(0, str(SOURCE / "scripts"))
import release  # noqa: E402


def test_one_version():
    found = release.versions()
    check(len(set(found.values())) == 1 and "none" not in found.values(), found)
    status, out, err = carom("--version")
    check(status == 0 and set(found.values()).pop() in out, "the command says it", out)


def test_set_version():
    """--set writes every place and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        for name, _ in release.PLACES:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / name, tree / name)
        (tree / "scripts").mkdir()
        shutil.copy(SOURCE / "scripts/release.py", tree / "scripts")
        script = [sys.executable, str(tree / "scripts/release.py"), "--set"]
        done = subprocess.run([*script, "12.34.56"], capture_output=True, text=True)
        check(done.returncode == 0, done.stderr)
        old = release.versions()["CMakeLists.txt"]
        for name, _ in release.PLACES:
            before, after = (SOURCE / name).read_text(), (tree / name).read_text()
            changed = [(a, b) for a, b in zip(before.splitlines(), after.splitlines()) if a != b]
            check(len(before.splitlines()) == len(after.splitlines()) and 1 <= len(changed) <= 3, name, changed)
        head = (tree / "include/carom/base.h").read_text()
        check("CR_VERSION_MAJOR 12\n#define CR_VERSION_MINOR 34\n#define CR_VERSION_PATCH 56" in head, old)
        for wrong in ("1.2", "a.b.c", "1.2.3.4"):
            check(subprocess.run([*script, wrong], capture_output=True).returncode != 0, wrong)


def test_changelog():
    good = "# Changelog\n\n## Unreleased\n\n## 1.2.3 - 2026-01-02\n\n- a thing\n"
    check(release.check_changelog("1.2.3", good) == "", release.check_changelog("1.2.3", good))
    for text in (good.replace("## 1.2.3 -", "## 1.2.4 -"), good.replace(" - 2026-01-02", ""), good.replace("\n- a thing\n", ""),
                 good.replace("## Unreleased\n", "## Unreleased\n\n- left\n")):
        check(release.check_changelog("1.2.3", text) != "", text)


def test_notes_exist():
    for name in ("SECURITY.md", "SUPPORT.md", "CODE_OF_CONDUCT.md", "CITATION.cff"):
        check((SOURCE / name).exists(), name)
    check(COMMAND, "a command")


if __name__ == "__main__":
    main(globals())
