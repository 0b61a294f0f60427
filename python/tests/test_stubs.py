"""The stubs say what is there: every public name, every parameter, every attribute."""
import ast
import dataclasses
import doctest
import importlib
import inspect
import os
import pathlib
import subprocess
import sys

import pytest

import carom

FOLDER = pathlib.Path(carom.__file__).parent


def stub(name):
    return ast.parse((FOLDER / f"{name}.pyi").read_text()).body


def parameters(function):
    arguments = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
    return [a.arg for a in arguments if a.arg not in ("self", "cls")]


def check_function(name, node, real):
    if not callable(real) or inspect.ismethoddescriptor(real):  # a property, or written in C
        return
    signature = inspect.signature(real)
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    found = [p.name for p in signature.parameters.values() if p.kind not in kinds and p.name not in ("self", "cls")]
    if any(p.kind in kinds for p in signature.parameters.values()):
        return
    assert parameters(node) == found, name


def find(real, name):
    """A class of a module, or of one of the package's own modules where it is not meant to be made by users."""
    parts = [importlib.import_module(f"carom.{part}") for part in ("_batch", "_impact", "_model", "_problem", "_scene", "_world")]
    return next(getattr(module, name) for module in [real, *parts] if hasattr(module, name))


def check_fields(node, kind):
    """Fields of a named tuple or dataclass are those of the stub, in their order."""
    said = [item.target.id for item in node.body if isinstance(item, ast.AnnAssign)]
    if dataclasses.is_dataclass(kind):
        every = [field.name for field in dataclasses.fields(kind)]
        inherited = {name for base in kind.__mro__[1:] for name in getattr(base, "__dataclass_fields__", ())}
        assert said in (every, [name for name in every if name not in inherited]), node.name
    elif hasattr(kind, "_fields"):
        assert said == list(kind._fields), node.name
    else:
        for name in said:
            assert hasattr(kind, name) or node.name in INSTANCES, f"{node.name}.{name}"


# classes whose attributes are set by their constructors
INSTANCES = ("Error", "Batch", "Task", "TaskEnv", "TaskVectorEnv", "MotionAudit", "Region", "Box", "VectorEnv", "Fit", "Fits", "MotionFit", "MotionFits", "Steps")


@pytest.mark.parametrize("module", ["__init__", "derivatives", "env", "fit", "plot"])
def test_stub_and_module_agree(module):
    if module == "plot":
        pytest.importorskip("matplotlib")
    real = carom if module == "__init__" else importlib.import_module(f"carom.{module}")
    for node in stub(module):
        if isinstance(node, ast.FunctionDef):
            check_function(node.name, node, getattr(real, node.name))
        elif isinstance(node, ast.ClassDef):
            kind = find(real, node.name)
            check_fields(node, kind)
            for item in node.body:
                if isinstance(item, ast.FunctionDef):
                    assert hasattr(kind, item.name), f"{node.name}.{item.name}"
                    if not item.name.startswith("__"):
                        check_function(f"{node.name}.{item.name}", item, getattr(kind, item.name))


def test_every_public_name_has_a_stub():
    names = set()
    for node in stub("__init__"):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
    assert set(carom.__all__) <= names


# public names of the other modules: what their stubs define
def public(name):
    return [node.name for node in stub(name) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]


def test_every_public_name_has_an_example_that_runs():
    cases = [(carom, [name for name in carom.__all__ if not name.startswith("__") and name != "numerics_revision"])]
    for name in ("derivatives", "env", "fit", "plot"):
        if name == "plot":
            pytest.importorskip("matplotlib")
        cases.append((importlib.import_module(f"carom.{name}"), public(name)))
    for module, names in cases:
        for name in names:
            assert ">>> " in (inspect.getdoc(getattr(module, name)) or ""), f"{module.__name__}.{name}"
    # the text of Error is in the extension, where doctest does not look
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder().find(carom.Error, "Error", globs={}):
        runner.run(test)
    assert runner.summarize().failed == 0


USES = """
from pathlib import Path
import numpy as np
import carom, carom.env, carom.fit

model = carom.Model()
rubber: int = model.material("rubber", mu=0.5, e=lambda speed: 0.8, polygon=[(1, 0), (0, 1), (-1, -1)])
table: int = model.body("table", "driven", drive=lambda t: {"pos": (0.0, 0.0, t)})
world = carom.World(model, dt=1e-3, law=lambda contact: contact.V)
clean: bool = world.run(1.0).clean
trajectory: carom.Trajectory = world.record(2.0)
trajectory.write(Path("x.csv"))
picture: str = trajectory.animate(0.5).svg + world.show("plan").svg
vertices = carom.Region(carom.contact(V=(-1.0, 0, 0)).contact).mesh(2)
residual: float = world.certificate.residual
dofs: int = model.dofs("ball").nv
names: list[str] = [law.name for law in carom.laws()]
heights: float = float(trajectory.of("ball")[:, 2].max())
hit: carom.Hit = carom.impact("newton", V=np.array([-1.0, 0, 0]), e=0.5)
fits: carom.fit.Fits = carom.fit.impacts({"m": 1.0}, laws=["newton"], column={"m": 2.0})
mu: float = fits.best["mu"].value
motions: carom.fit.MotionFits = carom.fit.motion(Path("x.csv"), {"carom": 1}, ["mu"], progress=lambda done, count: None)
losses: carom.fit.MotionPrediction = carom.fit.predict({"t": [0.0]}, motions.best, threads=2)
env = carom.env.VectorEnv(carom.env.cart_pole(), 2)
"""
MISUSES = ["carom.impact('newton', V=(-1, 0, 0), f=1)", "carom.World(1)", "carom.Model().sphere('a')",
           "carom.load(1.5)", "carom.Model().body(drive=3)", "carom.fit.impacts({}, folds='a')",
           "carom.fit.motion({}, 3)",
           "x: str = carom.World(carom.Model()).time"]


def test_mypy_takes_what_is_right_and_finds_what_is_wrong(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "right.py").write_text(USES)
    (tmp_path / "wrong.py").write_text("import carom, carom.fit\n" + "\n".join(MISUSES) + "\n")
    # a process of its own: mypy in this one makes every collection of garbage slow
    run = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "right.py", "wrong.py"],
                         cwd=tmp_path, capture_output=True, text=True)
    found = [line.split(":")[:2] for line in run.stdout.splitlines() if ": error:" in line]
    assert {int(line) for file, line in found if file == "wrong.py"} == set(range(2, len(MISUSES) + 2)), run.stdout
    assert all(file == "wrong.py" for file, line in found), run.stdout + run.stderr


def test_every_public_name_is_documented():
    for name in carom.__all__:
        if not name.startswith("__") and name != "numerics_revision":
            assert inspect.getdoc(getattr(carom, name)), name
