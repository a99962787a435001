"""The stub of the native module says what the module has."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import ioukit
from ioukit import _core

STUB = ast.parse((Path(ioukit.__file__).parent / "_core.pyi").read_text())


def test_functions_and_their_parameters() -> None:
    stub = {
        node.name: [arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        for node in STUB.body
        if isinstance(node, ast.FunctionDef)
    }
    native = {
        name: [*inspect.signature(function).parameters]
        for name, function in vars(_core).items()
        if inspect.isbuiltin(function)
    }
    assert stub == native
