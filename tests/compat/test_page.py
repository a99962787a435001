"""docs/compat.md has all names of compat, and all its names exist; importing compat is cheap."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import ioukit
from support.paths import ROOT

PAGE = (ROOT / "docs" / "compat.md").read_text(encoding="utf-8")
SECTIONS = {
    "torchvision.ops": "torchvision_ops",
    "detectron2": "detectron2",
    "DocsaidKit and Capybara": "docsaidkit",
}


def rows(section: str) -> list[list[str]]:
    """The cells of a table, without its head."""
    (text,) = re.findall(rf"^## {re.escape(section)}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| `")
    ]


@pytest.mark.parametrize("section", SECTIONS)
def test_every_name_has_its_row(section: str) -> None:
    module = importlib.import_module(f"ioukit.compat.{SECTIONS[section]}")
    assert sorted(row[0].strip("`") for row in rows(section)) == sorted(module.__all__)


@pytest.mark.parametrize("section", SECTIONS)
def test_every_clean_name_exists(section: str) -> None:
    importlib.import_module("ioukit.losses")
    importlib.import_module("ioukit.postprocess")
    named = [row[1].strip("`") for row in rows(section) if row[1]]
    assert len(named) > 5
    for name in named:
        found: Any = ioukit
        for part in name.split("."):
            found = getattr(found, part)


def test_boxes_that_count_pixels_need_one_more() -> None:
    for table in json.loads((ROOT / "tests" / "data" / "compat" / "legacy_offset.json").read_text())["tables"]:
        first, second = (np.array(table[key]) for key in ("boxes1", "boxes2"))
        assert_allclose(ioukit.pairwise_iou(first, second), table["exact_offset0"])
        more = np.array([0, 0, 1, 1])
        assert_allclose(ioukit.pairwise_iou(first + more, second + more), table["iou"], atol=1e-6)


def test_nobody_pays_for_what_is_not_used() -> None:
    """Neither ioukit nor compat imports another array library, and ioukit does not import compat."""
    program = """
import sys
import ioukit
assert not [name for name in sys.modules if name.startswith("ioukit.compat")]
import ioukit.compat
assert [name for name in sys.modules if name.startswith("ioukit.compat")] == ["ioukit.compat"]
from ioukit.compat import detectron2, docsaidkit, torchvision_ops
assert not {"torch", "torchvision", "jax", "cv2", "shapely", "PIL", "matplotlib"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


@pytest.mark.parametrize("name", ["Boxes", "RotatedBoxes"])
def test_boxes_of_detectron2_name_the_extra_they_need(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("ioukit.compat.detectron2")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        ModuleNotFoundError, match=rf"ioukit.compat.detectron2.{name} needs torch: pip install 'ioukit\[torch\]'"
    ):
        getattr(module, name)([])


def test_contours_name_the_extra_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("ioukit.compat.docsaidkit")
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(ModuleNotFoundError, match=r"Polygons.from_image needs cv2: pip install 'ioukit\[opencv\]'"):
        module.Polygons.from_image(np.zeros((2, 2), np.uint8))
