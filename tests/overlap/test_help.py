"""Every overlap function is a row of the table, and its docstring is complete."""

from __future__ import annotations

import doctest
import inspect
import pydoc
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ioukit
import ioukit.overlap
from ioukit.overlap.variants import VARIANTS

FUNCTIONS = [getattr(ioukit, f"{family}_{row.name}") for row in VARIANTS for family in ("pairwise", "elementwise")]


def test_the_table_and_the_public_functions_are_the_same_list() -> None:
    of_boxes = [
        name
        for name in ioukit.overlap.__all__
        if name.startswith(("pairwise_", "elementwise_")) and not name.endswith(("_kfiou", "_probiou"))  # rotated boxes
    ]
    of_boxes.remove("pairwise_mask_iou")  # of masks alone
    assert sorted(of_boxes) == sorted(function.__name__ for function in FUNCTIONS)
    for_new_kinds = {"Engine", "register_engine"}
    assert set(ioukit.overlap.__all__) - for_new_kinds <= set(ioukit.__all__)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_help_is_whole(function: Any) -> None:
    text = inspect.getdoc(function) or ""
    for part in ("Args:", "Returns:", "Raises:", "Examples:", "Reference: "):
        assert part in text
    described = [name for name in inspect.signature(function).parameters if f"\n    {name}: " in text]
    assert described == [*inspect.signature(function).parameters]
    assert text.splitlines()[0].endswith(".")
    assert all(len(line) <= 120 for line in text.splitlines())
    assert "{" not in text


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_examples_run(function: Any) -> None:
    (example,) = doctest.DocTestFinder(recurse=False).find(function, globs={})
    assert len(example.examples) == 2
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


def test_the_examples_of_boxes_run() -> None:
    (example,) = doctest.DocTestFinder(recurse=False).find(ioukit.Boxes, globs={"Boxes": ioukit.Boxes})
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


def test_range_and_reference_come_from_the_row() -> None:
    text = pydoc.plain(pydoc.render_doc(ioukit.pairwise_giou))
    assert "within [-1, 1]" in text
    assert "arXiv:1902.09630" in text
    assert "``IoU - (|C| - |A or B|) / |C|``" in text


def test_the_page_of_the_variants_is_current() -> None:
    docs = Path(__file__).parents[2] / "docs"
    page = runpy.run_path(str(docs / "build" / "make_variants.py"))["page"]
    assert (docs / "variants.md").read_text(encoding="utf-8") == page(), "run python docs/build/make_variants.py"


def test_import_needs_numpy_alone() -> None:
    code = "import sys, ioukit; print({'torch', 'matplotlib', 'typer', 'rich', 'doctest'} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
