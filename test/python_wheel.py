"""The wheel is what it says: its record, its tag, the stable ABI, the libraries it needs. python_wheel.py WHEEL CC INCLUDE"""
import base64
import glob
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

WHEEL, CC, INCLUDE = sys.argv[1:]
ALLOWED = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
PARTS = {"_hdf5.so": "libhdf5", "_qhull.so": "libqhull", "_expat.so": "libexpat"}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def check_record(archive):
    """Every file is in RECORD with its hash and size, and nothing else is."""
    record = next(name for name in archive.namelist() if name.endswith("/RECORD"))
    rows = [line.rsplit(",", 2) for line in archive.read(record).decode().splitlines()]
    assert sorted(row[0] for row in rows) == sorted(archive.namelist())
    for name, digest, size in rows:
        data = archive.read(name)
        if name != record:
            wanted = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert (digest, int(size)) == (f"sha256={wanted}", len(data)), name
    text = archive.read(record.replace("RECORD", "METADATA")).decode()
    assert "Requires-Python: >=3.11" in text and "Requires-Dist: numpy; extra == 'numpy'" in text
    assert not re.search(r"Requires-Dist: [^;]*$", text, re.M)  # nothing must be there


def check_symbols(path):
    """Only the module's start is exported; every name of Python's is declared by the limited API of 3.11."""
    defined = [line.split()[-1] for line in run("nm", "-D", "--defined-only", path).splitlines()]
    assert defined == ["PyInit__carom"], defined
    used = sorted(line.split()[-1] for line in run("nm", "-D", "--undefined-only", path).splitlines())
    python = [name for name in used if re.match(r"_?Py", name)]
    assert len(python) > 60, python
    lines = ["#define Py_LIMITED_API 0x030b0000", "#define PY_SSIZE_T_CLEAN", "#include <Python.h>",
             *(f"#undef {name}" for name in python), "const void* used[] = {",
             *(f"    (const void*)&{name}," for name in python), "};"]
    source = pathlib.Path(path).parent / "used.c"
    source.write_text("\n".join(lines) + "\n")
    compiled = subprocess.run([CC, "-std=c17", "-Werror=implicit-function-declaration", "-fsyntax-only", f"-I{INCLUDE}",
                               str(source)], capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stderr
    # and the check can fail: Python has this function, the limited API of 3.11 does not
    source.write_text("\n".join(lines + ["const void* more = (const void*)&PyUnicode_AsUTF8;"]) + "\n")
    refused = subprocess.run([CC, "-fsyntax-only", f"-I{INCLUDE}", str(source)], capture_output=True, text=True)
    assert refused.returncode != 0 and "PyUnicode_AsUTF8" in refused.stderr
    check_official(python)
    return len(python)


def check_official(python):
    """The list of the stable ABI that CPython tests itself with, where an interpreter of this machine has its tests."""
    lists = glob.glob("/usr/lib/python3.11/test/test_stable_abi_ctypes.py") + glob.glob(
        str(pathlib.Path.home() / ".pyenv/versions/3.11*/lib/python3.11/test/test_stable_abi_ctypes.py"))
    for name in lists[:1]:
        text = pathlib.Path(name).read_text()
        stable = set(re.findall(r'"(_?Py\w+)"', text[text.index("SYMBOL_NAMES"):]))
        stable.add("PyModule_Create2")  # stable since 3.2 and in the lists of later versions; that of 3.11 left it out
        assert len(stable) > 700 and set(python) <= stable, set(python) - stable
        print(f"every symbol is in the list of {name}")


def check_needed(path, minor):
    """No library but the C library's; none of its symbols is newer than the tag says."""
    name = pathlib.Path(path).name
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", path)))
    more = needed - ALLOWED
    assert all(library.startswith(PARTS.get(name, "nothing")) for library in more), (name, more)
    versions = [int(found) for found in re.findall(r"GLIBC_2\.(\d+)", run("readelf", "-V", path))]
    assert max(versions) <= minor, (name, max(versions))


def main():
    name = pathlib.Path(WHEEL).name
    tag = re.fullmatch(r"carom-[\d.]+-cp311-abi3-manylinux_2_(\d+)_(\w+)\.whl", name)
    assert tag, name
    with zipfile.ZipFile(WHEEL) as archive, tempfile.TemporaryDirectory() as folder:
        check_record(archive)
        archive.extractall(folder)
        count = check_symbols(f"{folder}/carom/_carom.abi3.so")
        for path in glob.glob(f"{folder}/carom/*.so"):
            check_needed(path, int(tag[1]))
    print(f"{name}: {count} symbols of Python's, all of the stable ABI")


main()
