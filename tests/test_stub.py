"""The committed stub names what the compiled module has, with the same parameters."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest

from ioukit import _core

STUB = Path(_core.__file__).parent / "_core.pyi"
Names = dict[str, Any]  # a name and its parameters; a class and the names in it; anything else and None


def of_stub(body: list[ast.stmt]) -> Names:
    names: Names = {}
    for node in body:
        if isinstance(node, ast.FunctionDef) and any(_is_property(d) for d in node.decorator_list):
            names[node.name] = None
        elif isinstance(node, ast.FunctionDef):
            a = node.args
            every = [*a.posonlyargs, *a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs]
            names[node.name] = [arg.arg for arg in every if arg.arg != "self"]
        elif isinstance(node, ast.ClassDef):
            names[node.name] = of_stub(node.body)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names[node.target.id] = None
    return names


def _is_property(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Name) and decorator.id == "property"


def of_module(owner: Any) -> Names:
    names: Names = {}
    if inspect.isclass(owner) and "__new__" in vars(owner):
        names["__init__"] = list(inspect.signature(owner).parameters)
    inherited = set(dir(object)) | {"__module__", "__weakref__", "__dict__"}
    for name, value in vars(owner).items():
        if name == "__version__" or not name.startswith("__") or (inspect.isclass(owner) and name not in inherited):
            if inspect.isclass(value):
                names[name] = of_module(value)
            elif callable(value):
                names[name] = [p for p in inspect.signature(value).parameters if p != "self"]
            else:
                names[name] = None
    return names


def differences(stub: Names, module: Names, where: str = "") -> list[str]:
    """What only one of the two has, or has otherwise."""
    found = [f"{where}{name} is not in the stub" for name in sorted(module.keys() - stub.keys())]
    found += [f"{where}{name} is only in the stub" for name in sorted(stub.keys() - module.keys())]
    for name in sorted(stub.keys() & module.keys()):
        if isinstance(stub[name], dict) and isinstance(module[name], dict):
            found += differences(stub[name], module[name], f"{where}{name}.")
        elif stub[name] != module[name]:
            found.append(f"{where}{name} takes {module[name]}, the stub says {stub[name]}")
    return found


def test_stub_and_module_agree() -> None:
    found = differences(of_stub(ast.parse(STUB.read_text(encoding="utf-8")).body), of_module(_core))
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def f(a: int) -> int: ...", []),
        ("def f(b: int) -> int: ...", ["f takes ['a'], the stub says ['b']"]),
        ("def f(a: int) -> int: ...\ndef g() -> None: ...", ["g is only in the stub"]),
        ("", ["f is not in the stub"]),
    ],
)
def test_drift_is_named(text: str, says: list[str]) -> None:
    assert differences(of_stub(ast.parse(text).body), {"f": ["a"]}) == says
