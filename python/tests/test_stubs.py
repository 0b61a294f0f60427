"""The stubs say what is there: every public name, every parameter, every attribute."""
import ast
import importlib
import inspect
import pathlib

import pytest

import carom

FOLDER = pathlib.Path(carom.__file__).parent


def stub(name):
    return ast.parse((FOLDER / f"{name}.pyi").read_text()).body


def parameters(function):
    arguments = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
    return [a.arg for a in arguments if a.arg not in ("self", "cls")]


def check_function(name, node, real):
    if not callable(real):  # a property
        return
    try:
        signature = inspect.signature(real)
    except ValueError:  # written in C
        return
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    found = [p.name for p in signature.parameters.values() if p.kind not in kinds and p.name not in ("self", "cls")]
    if any(p.kind in kinds for p in signature.parameters.values()):
        return
    assert parameters(node) == found, name


@pytest.mark.parametrize("module", ["__init__", "env", "plot"])
def test_stub_and_module_agree(module):
    if module == "plot":
        pytest.importorskip("matplotlib")
    real = carom if module == "__init__" else importlib.import_module(f"carom.{module}")
    for node in stub(module):
        if isinstance(node, ast.FunctionDef):
            check_function(node.name, node, getattr(real, node.name))
        elif isinstance(node, ast.ClassDef) and node.name not in ("Body", "Note"):
            kind = getattr(real, node.name)
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


def test_every_public_name_is_documented():
    for name in carom.__all__:
        if not name.startswith("__") and name != "numerics_revision":
            assert inspect.getdoc(getattr(carom, name)), name
