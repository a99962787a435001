"""docs/degenerate.md: every row of its tables is computed."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import ioukit
from support.paths import ROOT

PAGE = (ROOT / "docs" / "degenerate.md").read_text(encoding="utf-8")
ERRORS: dict[str, type[Exception]] = {"ValueError": ValueError, "DatasetError": ioukit.DatasetError}


def table(name: str) -> list[dict[str, str]]:
    """The rows of the table behind a mark, by the words of its head."""
    text = re.search(rf"<!-- {name} -->\n\n((?:\|.*\n)+)", PAGE)
    assert text
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in text[1].splitlines())
    return [dict(zip(head, row, strict=True)) for row in rows]


PAIRS, CALLS = table("pairs"), table("calls")


@pytest.mark.parametrize("variant", [name for name in PAIRS[0] if name not in ("pair", "A", "B")])
@pytest.mark.parametrize("row", PAIRS, ids=lambda row: row["pair"])
def test_overlap(row: dict[str, str], variant: str) -> None:
    a, b = ([float(number) for number in row[side].split(",")] for side in "AB")
    for family, answer in (("elementwise", ()), ("pairwise", (0, 0))):
        function = getattr(ioukit, f"{family}_{variant}")
        first, second = (a, b) if family == "elementwise" else ([a], [b])
        if row[variant] in ERRORS:
            with pytest.raises(ERRORS[row[variant]], match=r"^boxes1(\[0\])? is"):
                function(first, second)
            with pytest.raises(ERRORS[row[variant]], match=r"^boxes2(\[0\])? is"):
                function(second, first)
        else:
            assert float(f"{function(first, second)[answer]:.12g}") == float(row[variant])


def coco_box(box: list[float]) -> dict[str, Any]:
    return {"image_id": 1, "category_id": 1, "bbox": box}


def one_annotation(box: list[float]) -> dict[str, Any]:
    return {
        "images": [{"id": 1, "width": 9, "height": 9}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [{**coco_box(box), "id": 1, "area": 4, "iscrowd": 0}],
    }


@pytest.mark.parametrize("row", CALLS, ids=lambda row: row["what"])
def test_calls(row: dict[str, str]) -> None:
    names = {
        **{name: getattr(ioukit, name) for name in ioukit.__all__},  # fetched when they are asked for
        "np": np,
        "nan": math.nan,
        "inf": math.inf,
        "gt": one_annotation,
        "dt": lambda box: [{**coco_box(box), "score": 0.9}],
    }
    call, gives = row["call"].strip("`"), row["gives"].strip("`")
    if gives in ERRORS:
        with pytest.raises(ERRORS[gives]):
            eval(call, names)
    else:
        assert repr(eval(call, names)) == gives


def test_the_tables_are_whole() -> None:
    assert len(PAIRS) >= 13
    assert len(CALLS) >= 22
    assert set(ERRORS) <= {row["gives"] for row in CALLS}
