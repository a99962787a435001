"""The data and the file of the page of an agreement, beside plain loops over its objects."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from evaluation.plain_unranked import iou
from ioukit.comparison import agree
from ioukit.datasets import write
from ioukit.report import agreement_page, write_agreement
from ioukit.report.agreement_page import agreement_data
from support.agreement_cases import CASES, annotators, eight, four, two

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ioukit.comparison import Agreement
    from ioukit.report.agreement_page import AgreementPage

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")


def page_data(found: Agreement, most: int = 24) -> AgreementPage:
    return agreement_data(found, images=None, title=None, most_examples=most, created=None)


def states(found: Agreement) -> list[tuple[int, str]]:
    """For each object its image, and what became of it."""
    gt, made = found.annotations, []
    for one in found.objects.tolist():
        rows = [row for row in one if row >= 0]
        kinds = {int(gt.category_ids[row]) for row in rows}
        became = "lacking" if len(rows) < len(one) else "agreed" if len(kinds) == 1 else "classes"
        made.append((int(gt.image_ids[rows[0]]), became))
    return made


def lone_rows(found: Agreement) -> list[int]:
    """The regions in no pair, by the pairs of all annotators."""
    return [
        row
        for one, overlaps in zip(found.objects.tolist(), found.overlaps.tolist(), strict=True)
        for row, overlap in zip(one, overlaps, strict=True)
        if row >= 0 and overlap == 0
    ]


@pytest.mark.parametrize("case", CASES)
def test_the_lead_counts_objects_and_regions(case: str) -> None:
    found = CASES[case]()
    data, count = page_data(found), Counter(became for _, became in states(found))
    if not len(found.objects):
        assert data.lead == "Nobody has a region."
        return
    every = "Both annotators" if len(found.names) == 2 else f"All {len(found.names)} annotators"
    alone = len(lone_rows(found))
    last = (
        "Every region has a partner" if not alone else f"{alone} region{'s have' if alone > 1 else ' has'} no partner"
    )
    assert data.lead == (
        f"{every} have {count['agreed'] + count['classes']} of {len(found.objects)} objects, and give "
        f"{count['agreed']} of these the same class. {last}."
    )
    if len(found.names) == 2:  # each pair has two regions
        assert alone == len(found.annotations) - 2 * found.pairs[0].paired


@pytest.mark.parametrize("case", CASES)
def test_images_are_those_with_the_lowest_f1(case: str) -> None:
    found = CASES[case]()
    data, gt = page_data(found, 6), found.annotations
    count = Counter(states(found))
    differ = {image for image, became in count if became != "agreed"}
    pictures = data.drawn["images"][: data.drawn["drawn"]]
    assert len(pictures) == min(6, len(differ))
    ids = [gt.images.ids[[*gt.images.names].index(picture["name"])] for picture in pictures]
    f1 = dict(zip(gt.images.ids.tolist(), found.by_image.tolist(), strict=True))
    assert [f1[number] for number in ids] == sorted(f1[number] for number in differ)[: len(ids)]
    for number, picture in zip(ids, pictures, strict=True):
        agreed, classes, lacking = (count[number, became] for became in ("agreed", "classes", "lacking"))
        total = agreed + classes + lacking
        words = f"F1 {f1[number]:.3f}: {total} object{'s' if total > 1 else ''}, {agreed} agreed"
        words += f", {classes} with different classes" if classes else ""
        lacks = "that one lacks" if len(found.names) == 2 else "that not all have"
        assert picture["words"] == words + (f", {lacking} {lacks}" if lacking else "")
    if not differ:
        assert data.images_words == ""
        return
    first = f"On {len(differ)} of {len(gt.images)} images, an annotator lacks an object, or classes differ."
    rest = (
        f" Those with the lowest F1 are drawn: {len(pictures)} of {len(differ)}." if len(pictures) < len(differ) else ""
    )
    assert data.images_words == first + rest


@pytest.mark.parametrize("make", [two, four, eight])
def test_marks_are_the_regions_of_the_image(make: Callable[[], Agreement]) -> None:
    found = make()
    data, gt = page_data(found), found.annotations
    became = {row: state for one, (_, state) in zip(found.objects.tolist(), states(found), strict=True) for row in one}
    order = ("agreed", "classes", "lacking")
    for picture in data.drawn["images"][: data.drawn["drawn"]]:
        number = gt.images.ids[[*gt.images.names].index(picture["name"])]
        rows = [row for row in np.flatnonzero(gt.image_ids == number).tolist() if found.annotator[row] < 6]
        expected = Counter(
            (
                3 * int(found.annotator[row]) + order.index(became[row]),
                *np.round(10 * gt.boxes[row]).astype(int).tolist(),
            )
            for row in rows
        )
        flat = np.array(picture["boxes"]).reshape(-1, 7).tolist()
        assert Counter((kind, *box) for kind, _, _, *box in flat) == expected
    assert any("first 6 of 8 annotators" in note for note in data.notes) == (len(found.names) == 8)


@pytest.mark.parametrize("case", CASES)
def test_numbers_classes_and_lists_are_those_of_the_result(case: str) -> None:
    found = CASES[case]()
    data, gt = page_data(found), found.annotations
    titles = [row.title for table in data.tables for row in table.rows]
    told = found.table()
    assert all(title in told for title in titles)
    values = {row.value for table in data.tables for row in table.rows}
    expected = [one for pair in found.pairs for one in pair.numbers.values()] + [found.alpha]
    assert values == {"undefined" if math.isnan(one.value) else f"{one.value:.3f}" for one in expected}
    assert [table.words for table in data.tables][: len(found.pairs)] == [
        f"{pair.paired} pair{'' if pair.paired == 1 else 's'} of any class" for pair in found.pairs
    ]
    for table in data.tables:
        for row in table.rows:
            assert (row.bar is None) or 0 <= row.bar <= 1
    names = [name or f"class {number}" for number, name in zip(gt.categories.ids, gt.categories.names, strict=True)]
    assert len(data.class_rows) == len(names)
    shown = [cells[0].value for _, cells in data.class_rows if cells[0].value is not None]
    assert shown == sorted(shown)
    assert (
        sum(cells[-1].value or 0 for _, cells in data.class_rows) == len(lone_rows(found)) == len(data.drawn["alone"])
    )
    for at in range(len(found.names)):
        assert sum(cells[1 + at].value or 0 for _, cells in data.class_rows) == (found.annotator == at).sum()
    confused = sum(int(pair.confusion.sum() - np.trace(pair.confusion)) for pair in found.pairs)
    assert sum(row[3] for row in data.drawn["confusion"]) == confused
    for at, first, second, count in data.drawn["confusion"]:
        assert found.pairs[at].confusion[first, second] == count
    lone = Counter(
        (int(found.annotator[row]), int(gt.category_ids[row]), *(round(side, 1) for side in gt.boxes[row].tolist()))
        for row in lone_rows(found)
    )
    listed = [(at, int(gt.categories.ids[label]), *box) for _, at, label, *box in data.drawn["alone"]]
    assert Counter(listed) == lone
    places = [row[0] for row in data.drawn["alone"]]
    assert places == sorted(places)


@pytest.mark.parametrize("make", [two, four, eight])
def test_what_overlaps_a_lone_region_is_paired_with_another_one(make: Callable[[], Agreement]) -> None:
    found = make()
    gt, lone = found.annotations, lone_rows(found)
    assert lone or make is not two
    for row in lone:
        others = np.flatnonzero((gt.image_ids == gt.image_ids[row]) & (found.annotator != found.annotator[row]))
        near = [other for other in others.tolist() if iou(gt.boxes[row], gt.boxes[other]) >= found.iou_threshold]
        assert not set(near) & set(lone)


def test_sentences_follow_the_threshold_and_the_level(tmp_path: Path) -> None:
    given = dict(zip(("ann", "bob"), annotators(2, 1), strict=True))
    found = agree(given, iou_threshold=0.625, level=0.9)
    found.report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Two regions are a pair if their IoU is at least 0.625:" in text
    assert "Limits are the 90 % interval for endlessly many images" in text
    assert "F1 is at IoU 0.625. The columns" in text
    assert "a region there with an IoU of at least 0.625 that" in text
    assert "IoU of at least 0.625, kind of region: bbox" in text
    assert "F1 at IoU 0.625, any class" in text


def test_long_lists_say_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    found = two()
    every = page_data(found)
    assert (every.alone_words, every.confusion_words) == ("", "")
    monkeypatch.setattr(agreement_page, "MOST_ROWS", 3)
    monkeypatch.setattr(agreement_page, "MOST_REGIONS", 2)
    data = page_data(found)
    assert data.alone_words == f"The list has the first 3 of {len(every.drawn['alone'])} rows."
    assert data.confusion_words == f"The list has the first 3 of {len(every.drawn['confusion'])} rows."
    assert data.drawn["alone"] == every.drawn["alone"][:3]
    assert data.drawn["confusion"] == every.drawn["confusion"][:3]
    for picture, whole in zip(data.drawn["images"], every.drawn["images"][: data.drawn["drawn"]], strict=False):
        states_of = [kind % 3 for kind in picture.get("boxes", [])[::7]]
        assert len(states_of) <= 2
        assert sum(state > 0 for state in states_of) == min(2, sum(kind % 3 > 0 for kind in whole["boxes"][::7]))


@pytest.mark.parametrize("case", CASES)
def test_the_file(case: str, tmp_path: Path) -> None:
    found, path = CASES[case](), tmp_path / "page.html"
    time = datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.timezone.utc)
    found.report(path, title="A title", created=time)
    text = path.read_text(encoding="utf-8")
    assert "2026-01-02 03:04 UTC" in text
    assert "A title" in text
    assert not re.search(r'(src|href)="(?!#|data:)', text)
    assert path.stat().st_size < 3_000_000
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert data is not None
    assert json.loads(data[1])["drawn"] == page_data(found).drawn["drawn"]


def test_files_are_named_and_not_overwritten(tmp_path: Path) -> None:
    files = {name: tmp_path / f"{name}.json" for name in ("ann", "bob")}
    for path, one in zip(files.values(), annotators(2, 1, names=[f"{k}.jpg" for k in range(30)]), strict=True):
        write(one, path, "coco")
    found = agree(files)
    assert found.sources == tuple(map(str, files.values()))
    assert [(file.role, file.name) for file in page_data(found).files] == [
        ("Annotations of ann", "ann.json"),
        ("Annotations of bob", "bob.json"),
    ]
    before = files["ann"].read_bytes()
    with pytest.raises(ValueError, match="is an input and would be overwritten"):
        found.report(files["ann"])
    assert files["ann"].read_bytes() == before
    with pytest.raises(ValueError, match="there is no folder"):
        found.report(tmp_path / "none/page.html")
    with pytest.raises(ValueError, match="images must be a folder"):
        found.report(tmp_path / "page.html", images=tmp_path / "none")
    with pytest.raises(ValueError, match="examples must not be negative, got -1"):
        found.report(tmp_path / "page.html", examples=-1)
    with pytest.raises(TypeError, match=r"expected what ioukit\.comparison\.agree returns, got list"):
        write_agreement([], tmp_path / "page.html")  # type: ignore[arg-type]
    assert not (tmp_path / "page.html").exists()
