"""The data and the file of the page of a data set."""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ioukit.inspection.histograms import position_histogram
from ioukit.report import write_inspection
from ioukit.report._examples import choose_examples
from ioukit.report.inspection_page import inspection_data
from support.inspection_cases import CASES, coco

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit import Inspection
    from ioukit.report.inspection_page import InspectionPage

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")


def page_data(held: Inspection, most: int = 24) -> InspectionPage:
    return inspection_data(held, images=None, title=None, most_examples=most, created=None)


@pytest.mark.parametrize("case", CASES)
def test_rows_of_charts_have_the_counts(case: str) -> None:
    held = CASES[case]()
    data = page_data(held)
    charts = data.drawn["charts"]
    assert (charts is None) == (len(held) == 0)
    if charts is None:
        return
    order = np.argsort(-held.objects_per_class, kind="stable")[: data.charted]
    for name, total in (("sizes", len(held)), ("shapes", int((~np.isnan(held.aspect_ratios)).sum()))):
        rows = charts[name]["rows"]
        assert sum(rows[0]) == total
        assert len(rows) == 1 + len(order)
        assert len(rows[0]) == len(charts[name]["edges"]) - 1
    assert [sum(row) for row in charts["sizes"]["rows"][1:]] == held.objects_per_class[order].tolist()
    assert all(sum(row) == len(held.objects_per_image) for row in charts["perImage"]["rows"])
    for key, overlaps in (("any", held.overlaps), ("same", held.overlaps_of_class)):
        reached = [(overlaps >= threshold - 1e-9).sum() for threshold in charts["overlaps"]["thresholds"]]
        assert charts["overlaps"][key][0] == [(~np.isnan(overlaps)).sum(), *reached]
    assert sum(charts["positions"]["rows"][0]) == held.positions.sum()


def test_positions_of_classes_sum_to_those_of_all() -> None:
    held = coco()
    every = np.arange(len(held.objects_per_class))
    for cells in (1, 16, 32):
        found = position_histogram(held, every, cells)
        assert found[1:].sum(axis=0).tolist() == found[0].tolist()
    assert position_histogram(held, every, 32)[0].tolist() == held.positions.ravel().tolist()


def test_examples_are_the_extremes() -> None:
    held = coco()
    found = {example.words.partition(":")[0]: example for example in choose_examples(held, 200)}
    largest, smallest = found["largest object"].marked[0], found["smallest object"].marked[0]
    assert held.sides[largest] == held.sides.max()
    assert held.sides[smallest] == held.sides.min()
    assert held.aspect_ratios[found["tallest shape"].marked[0]] == held.aspect_ratios.min()
    assert held.aspect_ratios[found["widest shape"].marked[0]] == held.aspect_ratios.max()
    assert found["most objects"].image == held.objects_per_image.argmax()
    near = next(example for words, example in found.items() if words.startswith("nearest neighbour"))
    assert held.overlaps_of_class[near.marked[0]] == held.overlaps_of_class.max()
    names = held.ground_truth.categories.names
    of_classes = [name for name, count in zip(names, held.objects_per_class, strict=True) if count]
    assert set(of_classes) <= found.keys()
    for name in of_classes:
        (row,) = found[name].marked
        label = names.index(name)
        assert held.classes[row] == label
        assert found[name].image == held.images[row]
        assert held.sides[row] <= held.median_sides[label]
        below = ((held.sides < held.sides[row]) & (held.classes == label)).sum()
        assert below <= (held.objects_per_class[label] - 1) // 2
    assert len(choose_examples(held, 3)) == 3


def test_an_image_of_many_objects_is_not_drawn_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ioukit.report._examples._MOST_OBJECTS", 5)
    data = page_data(coco())
    for image in data.drawn["images"]:
        kinds = image["boxes"][::7]
        assert len(kinds) <= 5
        assert (1 in kinds) == (not image["words"].startswith("most objects"))
    assert any(image["objects"] == "5 of 63" for image in data.drawn["images"])


@pytest.mark.parametrize("case", CASES)
def test_the_file(case: str, tmp_path: Path) -> None:
    held, path = CASES[case](), tmp_path / "page.html"
    write_inspection(
        held,
        path,
        title="A title",
        created=datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.timezone.utc),
        examples=6,
    )
    text = path.read_text(encoding="utf-8")
    assert "2026-01-02 03:04 UTC" in text
    assert "A title" in text
    assert f"<dd>{len(held):,}</dd>" in text
    assert not re.search(r'(src|href)="(?!#|data:)', text)
    assert path.stat().st_size < 3_000_000


def test_refusals(tmp_path: Path) -> None:
    held = coco()
    with pytest.raises(ValueError, match="is an input and would be overwritten"):
        write_inspection(held, held.ground_truth.source)
    with pytest.raises(ValueError, match="images must be a folder"):
        write_inspection(held, tmp_path / "page.html", tmp_path / "none")
    with pytest.raises(ValueError, match="examples must not be negative, got -1"):
        write_inspection(held, tmp_path / "page.html", examples=-1)
    assert list(tmp_path.iterdir()) == []


def test_missing_photographs_are_a_note(tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="needs Pillow: pip install 'ioukit[report]'")
    folder = tmp_path / "photographs"
    folder.mkdir()
    data = inspection_data(coco(), images=folder, title=None, most_examples=3, created=None)
    (note,) = [note for note in data.notes if "photographs" in note]
    assert re.match(r"\d of \d photographs are missing: ", note)
    assert "not in the folder" in note
