"""docs/polygons.md: its programs print what it says; so do the examples in the docstrings of polygons."""

from __future__ import annotations

import doctest
import importlib
import re
import subprocess
import sys

import pytest

from paths import ROOT

PAGE = (ROOT / "docs" / "polygons.md").read_text(encoding="utf-8")


def test_the_programs_print_what_the_page_says() -> None:
    pytest.importorskip("shapely")
    programs, printed = (re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL) for kind in ("python", "text"))
    assert len(programs) == len(printed) == 3
    ran = subprocess.run([sys.executable, "-c", "".join(programs)], capture_output=True, text=True, check=True)
    assert ran.stdout == "".join(printed)


@pytest.mark.parametrize(
    "name",
    ["boxes.polygon", "boxes.polygons", "boxes.points", "overlap.polygon", "overlap.document", "postprocess.merging"],
)
def test_docstrings(name: str) -> None:
    module = importlib.import_module(f"ioukit.{name}")
    result = doctest.testmod(module, extraglobs=vars(importlib.import_module("ioukit")))
    assert result.attempted > 0
    assert result.failed == 0
