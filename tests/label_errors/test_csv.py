"""The CSV file for annotators: it is read back as it was, and no name becomes a formula."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioukit import Detections, GroundTruth, evaluate
from ioukit._output import printable
from ioukit.label_errors import LabelErrors, find_label_errors
from ioukit.label_errors.label_errors import CSV_COLUMNS
from support.planted_labels import KINDS, plant, street
from support.report_cases import ATTACKS

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = (
    '=HYPERLINK("http://localhost","x")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(1;2)",
    " =1",
    "\t=1",
    "\r=1",
    "'quoted",
    "\uff1d1",
    'comma, "quotes" and\nlines',
    *ATTACKS,
)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def unguarded(text: str) -> str:
    """A text as it was before the guard against formulas."""
    return text.removeprefix("'")


def numbers(row: dict[str, str], names: tuple[str, ...]) -> tuple[float, ...] | None:
    return tuple(float(row[name]) for name in names) if row[names[0]] else None


def test_it_is_read_back_as_it_was(tmp_path: Path) -> None:
    truth, found = street(60, seed=4)
    planted = plant(truth, dict.fromkeys(KINDS, 0.03), 0)
    errors = find_label_errors(evaluate(planted.ground_truth, found))
    path = tmp_path / "labels.csv"
    errors.write_csv(path)
    rows = errors.rows()
    lines = read(path)
    assert tuple(lines[0]) == CSV_COLUMNS
    assert len(lines) == len(rows)
    assert {row.kind for row in rows} == set(KINDS)
    for line, row in zip(lines, rows, strict=True):
        assert int(line["image_id"]) == row.image_id
        assert line["file_name"] == row.file_name
        assert line["annotation_id"] == ("" if row.annotation_id is None else str(row.annotation_id))
        assert line["other_id"] == ("" if row.other_id is None else str(row.other_id))
        assert (line["kind"], line["reason"]) == (row.kind, row.reason)
        assert (line["class"], line["suggested_class"]) == (row.category or "", row.suggested_category or "")
        assert numbers(line, ("x", "y", "width", "height")) == row.box
        suggested = tuple(f"suggested_{name}" for name in ("x", "y", "width", "height"))
        assert numbers(line, suggested) == row.suggested_box
        assert float(line["score"]) == row.score
        assert (float(line["overlap"]) if line["overlap"] else None) == row.overlap


def named(name: str, image: str | int) -> LabelErrors:
    """An overlooked object and other errors, with the same name everywhere."""
    boxes = np.array([[10.0, 10, 50, 50], [100, 100, 40, 40], [12, 10, 50, 50]])
    truth = GroundTruth.from_arrays(
        image_ids=[image] * 3, category_ids=[1, 1, 1], boxes=boxes, images=[image], names=[name], categories={1: name}
    )
    found = Detections.from_arrays(
        image_ids=[image] * 2, category_ids=[1, 1], boxes=[[10, 10, 50, 50], [200, 200, 30, 30]], scores=[0.9, 0.8]
    )
    return find_label_errors(evaluate(truth, found))


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_becomes_a_formula(name: str, tmp_path: Path) -> None:
    errors = named(name, name)
    assert len(errors)
    path = tmp_path / "labels.csv"
    errors.write_csv(path)
    for line, row in zip(read(path), errors.rows(), strict=True):
        for key in ("image_id", "file_name", "class", "suggested_class", "reason"):
            text = line[key]
            assert not text.lstrip().startswith(("=", "+", "-", "@", "\t", "\r", "\uff1d")), (key, text)
            assert text == printable(text)
        assert unguarded(line["file_name"]) == printable(name)
        if row.category is not None:
            assert unguarded(line["class"]) == printable(name)


@given(
    st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=20).filter(str.strip), min_size=8, max_size=8)
)
@settings(deadline=None, max_examples=8)
def test_any_name_survives(tmp_path_factory: Any, names: list[str]) -> None:
    path = tmp_path_factory.mktemp("csv") / "labels.csv"
    images, boxes = np.arange(len(names)), np.array([[10.0, 10, 50, 50]] * len(names))
    truth = GroundTruth.from_arrays(
        image_ids=[0], category_ids=[1], boxes=boxes[:1], images=images, names=names, categories={1: "cat"}
    )
    found = Detections.from_arrays(
        image_ids=images, category_ids=np.ones_like(images), boxes=boxes, scores=np.full(len(names), 0.9)
    )
    errors = find_label_errors(evaluate(truth, found))
    errors.write_csv(path)
    lines = {int(line["image_id"]): line["file_name"] for line in read(path)}
    assert set(lines) >= set(images[1:].tolist())
    for image, shown in lines.items():
        assert (unguarded(shown) if shown.startswith("'") else shown) == printable(names[image])


def test_the_file_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    errors = named("cat", 1)
    path = tmp_path / "labels.csv"
    path.write_text("before")
    monkeypatch.setattr(LabelErrors, "rows", lambda _: iter([None]))
    with pytest.raises(AttributeError):
        errors.write_csv(path)
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["labels.csv"]
    with pytest.raises(OSError, match=r"labels\.csv"):
        errors.write_csv(tmp_path / "none" / "labels.csv")
