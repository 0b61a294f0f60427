"""Builds the wheel: CMake compiles the library and the extension, this puts them together with the package.

CAROM_BUILD names a build folder of CMake to use as it is; without it the library is configured and built anew.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


def version():
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\(carom VERSION ([0-9.]+)", text).group(1)


class CMake(build_ext):
    """The extension by CMake, and the scenes beside it."""

    def build_extension(self, ext):
        given = os.environ.get("CAROM_BUILD")
        folder = pathlib.Path(given or self.build_temp).resolve()
        if not given:
            subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DCAROM_PYTHON=ON",
                            "-DCAROM_TESTS=OFF", "-DCAROM_TOOLS=OFF", f"-DPython3_EXECUTABLE={sys.executable}"],
                           check=True)
        subprocess.run(["cmake", "--build", folder, "--target", "carom_python", "-j", str(os.cpu_count() or 1)],
                       check=True)
        built = list((folder / "python").glob("_carom.*"))
        if len(built) != 1:
            raise SystemExit(f"carom: {folder}/python holds {len(built)} extensions, must be 1")
        target = pathlib.Path(self.get_ext_fullpath(ext.name)).resolve()
        (target.parent / "scenes").mkdir(parents=True, exist_ok=True)
        shutil.copy(built[0], target)
        for scene in (ROOT / "scenes").glob("*.json"):
            shutil.copy(scene, target.parent / "scenes")


setup(version=version(), packages=["carom"], package_data={"carom": ["py.typed", "*.pyi"]},
      ext_modules=[Extension("carom._carom", [])], cmdclass={"build_ext": CMake})
