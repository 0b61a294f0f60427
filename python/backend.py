"""Builds the wheel with nothing but the standard library, CMake and a C compiler: a backend after PEP 517.

The extension uses the limited API, so that one wheel serves every CPython from 3.11 on. Python.h is that of the
interpreter that runs this, or of any other from 3.11 on. CAROM_BUILD names a build folder of CMake to use; else build/ of
the tree is used where it was made by ./dev, and a temporary one where not.
"""
import base64
import glob
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

if sys.version_info < (3, 11):
    raise SystemExit(f"carom: needs Python 3.11 or later, this is {sys.version.split()[0]}")
import tomllib  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
BINARIES = ("_carom.abi3.so", "_carom.pyd", "_hdf5.so", "_qhull.so", "_expat.so")
STAMP = (1980, 1, 1, 0, 0, 0)  # of every file in the wheel: the same sources give the same bytes


def _project():
    return tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _version():
    file = ROOT / "CMakeLists.txt"
    if not file.exists():
        raise SystemExit(f"carom: {file} is missing; the package is built from its place in carom's tree")
    return re.search(r"project\(carom VERSION ([0-9.]+)", file.read_text(encoding="utf-8"))[1]


def _metadata():
    project = _project()
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {_version()}",
             f"Summary: {project['description']}", f"Requires-Python: {project['requires-python']}",
             "License: " + (ROOT / "LICENSE").read_text(encoding="utf-8").splitlines()[0].strip()]
    lines += [f"Requires-Dist: {name}" for name in project["dependencies"]]
    for extra, names in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {name}; extra == '{extra}'" for name in names]
    return "\n".join(lines) + "\n"


def _include():
    """A folder with Python.h of 3.11 or later: the interpreter's own, or any the system has."""
    own = sysconfig.get_path("include")
    for folder in [own, *sorted(glob.glob("/usr/include/python3.*") + glob.glob("/usr/local/include/python3.*"))]:
        version = pathlib.Path(folder) / "patchlevel.h"
        if not (pathlib.Path(folder) / "Python.h").exists() or not version.exists():
            continue
        found = re.search(r"PY_MINOR_VERSION\s+(\d+)", version.read_text())
        if found and int(found[1]) >= 11:
            return folder
    raise SystemExit(f"carom: no Python.h of 3.11 or later in {own} or /usr/include: install Python's headers "
                     "(python3-dev), or a wheel of carom, which needs none")


def _run(*command):
    """A command whose output is shown only where it fails."""
    try:
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except FileNotFoundError:
        raise SystemExit(f"carom: {command[0]} is not installed, and the package cannot be built without it") from None
    if done.returncode != 0:
        raise SystemExit(f"{done.stdout}\ncarom: {' '.join(map(str, command))} failed")


def _is_ours(folder):
    """Whether a build folder is one of this tree's, optimised and with the Python package."""
    cache = folder / "CMakeCache.txt"
    if not cache.exists():
        return False
    text = cache.read_text(encoding="utf-8", errors="replace")
    return (f"CMAKE_HOME_DIRECTORY:INTERNAL={ROOT}\n" in text and "CMAKE_BUILD_TYPE:STRING=Release\n" in text
            and "CAROM_SANITIZE:STRING=\n" in text and (folder / "python" / "CMakeFiles").exists())


def _build(spare):
    """The folder with the extension and its parts."""
    given = os.environ.get("CAROM_BUILD")
    folder = pathlib.Path(given).resolve() if given else ROOT / "build"
    if not given and not _is_ours(folder):
        folder = spare
        _run("cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DCAROM_PYTHON=ON", "-DCAROM_TESTS=OFF",
             "-DCAROM_TOOLS=OFF", "-DCAROM_MPI=OFF", f"-DPython3_EXECUTABLE={sys.executable}",
             f"-DCAROM_PYTHON_INCLUDE={_include()}")
    _run("cmake", "--build", folder, "--target", "carom_python", "-j", os.cpu_count() or 1)
    return folder / "python"


def _platform(binary):
    """The platform's name in the wheel's: manylinux by the newest symbol of the C library that is needed."""
    platform = re.sub(r"[^A-Za-z0-9]", "_", sysconfig.get_platform())
    needed = [int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", binary)]
    if platform.startswith("linux_") and needed:
        return f"manylinux_2_{max(max(needed), 17)}_{platform[len('linux_'):]}"
    return platform


def _files(folder):
    """(name in the wheel, bytes) of everything but the metadata."""
    yield from ((f"carom/{file.name}", file.read_bytes())
                for pattern in ("*.py", "*.pyi", "py.typed") for file in sorted((HERE / "carom").glob(pattern)))
    yield from ((f"carom/scenes/{file.name}", file.read_bytes()) for file in sorted((ROOT / "scenes").glob("*.json")))
    with tempfile.TemporaryDirectory() as made:
        records = pathlib.Path(made) / "_records.py"
        _run(sys.executable, HERE / "records.py", ROOT / "include/carom", "python", records)
        yield "carom/_records.py", records.read_bytes()
    binaries = [folder / name for name in BINARIES if (folder / name).exists()]
    if not any(file.name.startswith("_carom.") for file in binaries):
        raise SystemExit(f"carom: {folder} holds no extension: CMake found no headers of Python")
    yield from ((f"carom/{file.name}", file.read_bytes()) for file in binaries)


def _hash(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The wheel into a folder; its name."""
    version = _version()
    with tempfile.TemporaryDirectory() as spare:
        files = dict(_files(_build(pathlib.Path(spare))))
    binary = b"".join(data for name, data in files.items() if name.removeprefix("carom/") in BINARIES)
    tag = f"cp311-abi3-{_platform(binary)}"
    info = f"carom-{version}.dist-info"
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: carom\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = "".join(f"{name},sha256={_hash(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = f"carom-{version}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, STAMP)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name.endswith(".so") else 0o100644) << 16
            archive.writestr(entry, data)
    return wheel


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """The metadata without building; the folder's name."""
    info = f"carom-{_version()}.dist-info"
    folder = pathlib.Path(metadata_directory) / info
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "METADATA").write_text(_metadata(), encoding="utf-8")
    return info


def get_requires_for_build_wheel(config_settings=None):
    """Nothing that must be fetched."""
    return []


def build_sdist(sdist_directory, config_settings=None):
    """Refused: the sources of the package are the whole tree."""
    raise SystemExit("carom: the package has no source archive of its own; build it from carom's tree")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: backend.py FOLDER: writes the wheel there")
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for older in out.glob("carom-*.whl"):
        older.unlink()
    print(out / build_wheel(out))
