"""Examples in docstrings run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import ioukit

MODULES = [
    "ioukit",
    *(
        module.name
        for module in pkgutil.walk_packages(ioukit.__path__, "ioukit.", onerror=lambda _: None)
        if module.name not in ("ioukit.__main__", "ioukit._core")  # the one runs the command, the other is compiled
    ),
]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def load(name: str) -> object:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "ioukit":
            raise
        pytest.skip(f"{name} needs {error.name}")


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    if name.startswith("ioukit.plots"):  # which imports it only when it draws
        pytest.importorskip("matplotlib", reason="the pictures need matplotlib")
    assert doctest.testmod(load(name), optionflags=FLAGS).failed == 0  # type: ignore[arg-type]


def test_examples_are_found() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [test for test in finder.find(ioukit.evaluation.evaluate, "evaluate") if test.examples]
    assert found
