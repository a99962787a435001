"""The intervals of a report are those of the library, and it has none where there can be none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from ioukit import Detections, GroundTruth, evaluate
from ioukit.evaluation.protocols import find_protocol
from ioukit.report._limits import limited_keys
from ioukit.report.report_page import report_data
from support.command import run_here
from support.report_cases import CASES, EXAMPLE, coco, drawn

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")

GT, DT = EXAMPLE / "ground_truth.json", EXAMPLE / "yolact.json"


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<(style|script)[^>]*>.*?</\1>", "", page, flags=re.DOTALL).split())


def test_given_intervals_are_shown_beside_their_numbers() -> None:
    evaluation = coco()
    found = evaluation.intervals(limited_keys(evaluation), replicates=60, level=0.9)
    data = report_data(evaluation, intervals=found, title="Mine")
    ap = found["AP"]
    assert data.lead.startswith(
        f"Mine has AP {ap.value:.3f} (90 %: {ap.low:.3f} to {ap.high:.3f}, a doubtful interval), and the "
    )
    assert {key: (one.low, one.high) for key, one in data.limits.items()} == {
        key: (one.low, one.high) for key, one in found.items() if one.low == one.low
    }
    low, high = (data.class_columns.index(f"AP {end}") for end in ("from", "to"))
    for result, (_, cells) in zip(evaluation.per_class, data.class_rows, strict=True):
        one = found[f"AP/{result.name}"]
        shown = [cells[low].value, cells[high].value]
        assert shown == ([None, None] if one.low != one.low else [one.low, one.high])
    assert ("Intervals", "90 %, 60 replicates") in data.settings
    # Each reason stands once, with the numbers that it is about.
    assert len(set(data.doubts)) == len(data.doubts)
    assert all(any(reason in told for told in data.doubts) for reason in ap.warnings)
    page = data.html()
    assert page.count('<path class="whisker') == 2 * 4 + sum(key.startswith("AP/") for key in data.limits)
    assert "the dot can lie right of the middle of its line" in page


def test_they_are_made_from_few_replicates_unless_they_are_given() -> None:
    evaluation = drawn(200, ["cat", "dog", "bird"])
    data = report_data(evaluation)
    assert ("Intervals", "95 %, 200 replicates") in data.settings
    found = evaluation.intervals("AP", replicates=200)["AP"]
    assert (data.limits["AP"].low, data.limits["AP"].high) == (found.low, found.high)
    without = report_data(evaluation, intervals={})
    assert without.limits == {}
    assert "AP from" not in without.class_columns
    assert "whisker" not in without.html().partition("<body>")[2].partition("<script")[0]


@pytest.mark.parametrize(
    ("case", "note"),
    [
        ("one image", "No intervals: there is 1 image; at least two images are needed"),
        ("no objects", ""),
        ("nothing at all", ""),
        ("no detections", ""),
        ("perfect", ""),
        ("all wrong", ""),
    ],
)
def test_where_there_are_none_the_page_says_why(case: str, note: str) -> None:
    data = report_data(CASES[case]())
    notes = [told for told in data.notes if told.startswith("No intervals")]
    assert len(notes) == bool(note)
    assert not note or (notes[0].startswith(note) and not data.limits)
    assert "nan" not in text_of(data.html())
    assert bool(data.limits) == (case in ("perfect", "all wrong"))


def test_objects_on_one_image_give_none_whatever_the_number_of_images() -> None:
    """As `evaluation.intervals` says: limits undefined."""
    gt = GroundTruth.from_arrays(
        image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 9, 9], [40, 0, 9, 9]], images=range(30)
    )
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]], scores=[0.9])
    data = report_data(evaluate(gt, dt))
    assert not data.limits
    assert [note for note in data.notes if "one image" in note] == [
        "No intervals: the objects that count are on one image, which does not show how much another one would differ."
    ]


def test_protocols_that_need_long_have_none_unless_they_are_given() -> None:
    gt, dt = (drawn(40, ["cat", "dog"], images=6).ground_truth, drawn(40, ["cat", "dog"], images=6).detections)
    assert gt is not None
    assert dt is not None
    evaluation = evaluate(gt, dt, find_protocol("ultralytics"))
    data = report_data(evaluation)
    assert not data.limits
    assert any("No intervals: those of" in note and "--intervals" in note for note in data.notes)
    found = evaluation.intervals("mAP50", replicates=5)
    assert report_data(evaluation, intervals=found).limits["mAP50"].low == found["mAP50"].low


def test_the_command_shows_the_same_ones_in_terminal_and_page(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    command = run_here("eval", GT, DT, "--report", page, "--intervals")
    assert command.code == 0
    (low, high) = re.findall(
        r"AP 0\.\d+; on endlessly many images about 0\.\d+, 95 % from (\S+) to (\S+)", command.out
    )[0]
    text = text_of(page.read_text("utf-8"))
    assert f"yolact.json has AP 0.400 (95 %: {low} to {high}, a doubtful interval)" in text
    assert "95 %, 1,000 replicates" in text
    command = run_here("eval", GT, DT, "--report", page)
    assert "from" not in command.out
    assert re.search(r"95 %, 1\d\d replicates", text_of(page.read_text("utf-8")))
    command = run_here("eval", GT, DT, "--report", page, "--no-intervals")
    assert command.code == 0
    assert "yolact.json has AP 0.400, and" in text_of(page.read_text("utf-8"))
