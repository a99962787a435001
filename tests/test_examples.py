"""Examples in docstrings run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ioukit
from support.paths import EXAMPLES

if TYPE_CHECKING:
    from types import ModuleType

MODULES = [
    "ioukit",
    *(
        module.name
        for module in pkgutil.walk_packages(ioukit.__path__, "ioukit.", onerror=lambda _: None)
        if module.name not in ("ioukit.__main__", "ioukit._core")  # the one runs the command, the other is compiled
    ),
]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def load(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "ioukit":
            raise
        pytest.skip(f"{name} needs {error.name}")


@cache
def evaluation() -> ioukit.Evaluation:
    """What the examples of figures draw."""
    folder = EXAMPLES / "coco_val2017_100"
    return ioukit.evaluate(*ioukit.read_coco(folder / "ground_truth.json", folder / "yolact.json"))


@cache
def inspection() -> ioukit.Inspection:
    """What the examples of figures of data sets draw."""
    return ioukit.inspect(EXAMPLES / "coco_val2017_100" / "ground_truth.json")


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    given: dict[str, object] = {}
    if name.startswith("ioukit.plots"):  # which imports it only when it draws
        pytest.importorskip("matplotlib", reason="the pictures need matplotlib")
        given["evaluation"] = evaluation()
        given["inspection"] = inspection()
    module = load(name)
    assert module.__file__ is not None
    if ">>>" in Path(module.__file__).read_text(encoding="utf-8"):  # to find out that there are none takes doctest long
        assert doctest.testmod(module, extraglobs=given, optionflags=FLAGS).failed == 0


def test_examples_are_found() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [test for test in finder.find(ioukit.evaluation.evaluate, "evaluate") if test.examples]
    assert found
