"""The data of the page of a comparison: the numbers of the evaluations and of `ioukit.comparison`."""

from __future__ import annotations

import datetime
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ioukit._words_and_colours import overlap_name
from ioukit.evaluation import Outcome, outcomes, score_curves
from ioukit.report import _changes, write_comparison, write_report
from ioukit.report.comparison_page import comparison_data
from support import region_cases
from support.comparison_cases import CASES, hostile, of_kind, photographs
from support.report_cases import ATTACKS

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.comparison import ModelComparison
    from ioukit.report._pair_part import PairPart
    from ioukit.report.comparison_page import ComparisonPage

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")

WHEN = datetime.datetime(2024, 5, 6, 7, 8, tzinfo=datetime.timezone.utc)


@pytest.fixture(scope="module")
def made() -> dict[str, ModelComparison]:
    return {name: make() for name, make in CASES.items()}


def data_of(comparison: ModelComparison, images: Path | None = None, photographs: int = 48) -> ComparisonPage:
    return comparison_data(comparison, images=images, title=None, photographs=photographs, created=WHEN)


def part_of(comparison: ModelComparison) -> PairPart:
    return data_of(comparison).pairs[0]


def regions_of(image: dict[str, Any]) -> Any:
    """(B, 3) side, match, and position of the slider."""
    return np.array(image["regions"], np.int64).reshape(-1, 3)


def counts_of(image: dict[str, Any], side: int, position: int) -> tuple[int, int, int]:
    """True positives, false positives and missed objects of A (0) or B (1), as the script of the page counts them."""
    rows = regions_of(image)
    detections = rows[(rows[:, 0] == side + 2) & (rows[:, 2] <= position)]
    found = detections[detections[:, 1] >= 0, 1]
    return len(found), int((detections[:, 1] == -1).sum()), int((rows[:, 0] == 0).sum()) - len(set(found.tolist()))


@pytest.mark.parametrize("case", CASES)
def test_the_data_is_json(case: str, made: dict[str, ModelComparison]) -> None:
    page = data_of(made[case])
    assert json.loads(json.dumps(page.drawn, allow_nan=False)) == page.drawn
    assert len(page.pairs) == len(made[case].pairs)
    for data in page.pairs:
        for part in ("parts", "curves", "changes"):
            assert bool(data.drawn[part]) != (part in data.missing), part
        assert bool(data.drawn["drawn"]) != ("images" in data.missing)


@pytest.mark.parametrize("case", ["three classes", "80 classes", "crowds", "one image", "no detections of B"])
def test_the_sliders_count_as_the_evaluations_do(case: str, made: dict[str, ModelComparison]) -> None:
    """At each position of a slider, the counts of all images and of each image are those of `outcomes`."""
    pair = made[case].pairs[0]
    drawn = part_of(made[case]).drawn
    for side, (name, evaluation) in enumerate((("a", pair.a), ("b", pair.b))):
        table, slider = evaluation.near_matches(), drawn["curves"][name]
        overall = score_curves(evaluation.matches, iou_threshold=pair.changes.iou_threshold).overall
        names = [image["name"] for image in drawn["images"]]
        assert len(drawn["drawn"]) == len(names)
        if slider is None:
            continue
        for position in np.unique(np.linspace(0, len(slider["scores"]) - 1, 9).astype(int)).tolist():
            score = slider["scores"][position]
            point, row = overall.at(score), slider["rows"][0]
            assert sum(row["tp"][: position + 1]) == point.true_positives
            assert sum(row["fp"][: position + 1]) == point.false_positives
            became = outcomes(table, iou_threshold=pair.changes.iou_threshold, score_threshold=score)
            for image in drawn["drawn"]:
                record = drawn["images"][image]
                assert evaluation.ground_truth is not None
                listed = evaluation.ground_truth.images
                at = next(
                    k for k, row in enumerate(listed.positions(table.image_ids).tolist())
                    if record["name"] in (listed.names[row], f"image {table.image_ids[k]}")
                )  # fmt: skip
                of_image = table.detections.image == at, table.objects.image == at
                expected = (
                    int((became.detections[of_image[0]] == Outcome.TRUE_POSITIVE).sum()),
                    int((became.detections[of_image[0]] == Outcome.FALSE_POSITIVE).sum()),
                    int((became.objects[of_image[1]] == Outcome.FALSE_NEGATIVE).sum()),
                )
                assert counts_of(record, side, position) == expected


@pytest.mark.parametrize("case", ["three classes", "80 classes", "one image", "no detections of B", "tables alone"])
def test_the_sliders_start_where_the_list_was_made(case: str, made: dict[str, ModelComparison]) -> None:
    pair, drawn = made[case].pairs[0], part_of(made[case]).drawn
    for name, start, score, evaluation in zip(
        "ab", drawn["starts"], pair.changes.score_thresholds, (pair.a, pair.b), strict=True
    ):
        slider = drawn["curves"][name]
        if slider is not None:
            at = score_curves(evaluation.matches, iou_threshold=pair.changes.iou_threshold).overall.at(score)
            assert sum(slider["rows"][0]["tp"][: start + 1]) == at.true_positives
            assert sum(slider["rows"][0]["fp"][: start + 1]) == at.false_positives


@pytest.mark.parametrize("case", CASES)
def test_the_list_has_every_change(case: str, made: dict[str, ModelComparison]) -> None:
    for pair, part in zip(made[case].pairs, data_of(made[case]).pairs, strict=True):
        _assert_all_listed(dict(pair.changes.counts), part.drawn["changes"])


def _assert_all_listed(counts: dict[str, int], listed: Any) -> None:
    names = {"right-class": "right_class_now", "other-class": "other_class_now", "better": "better_placed"}
    names |= {"worse": "worse_placed", "new": "new_false_positive", "gone": "gone_false_positive"}
    found = np.bincount(listed["kind"], minlength=8).tolist() if listed else [0] * 8
    for kind, count in zip(_changes.LISTED, found, strict=True):
        assert count == counts[names.get(kind.name, kind.name)], kind.name


def test_the_list_begins_with_what_was_lost() -> None:
    looks = [kind.to_json("B")["look"] for kind in _changes.LISTED]
    assert looks == ["loss"] * 4 + ["gain"] * 4
    assert _changes.LISTED[0].name == "lost"


def test_changes_lead_to_their_regions(made: dict[str, ModelComparison]) -> None:
    drawn = part_of(made["80 classes"]).drawn
    listed, images = drawn["changes"], drawn["images"]
    for k, kind in enumerate(listed["kind"]):
        name = listed["kinds"][kind]["name"]
        rows, boxes = regions_of(images[listed["image"][k]]), images[listed["image"][k]]["boxes"]
        labels = np.array(boxes).reshape(-1, 7)
        assert_array_equal(labels[:, 0], np.arange(len(rows)))
        if listed["object"][k] >= 0:
            assert rows[listed["object"][k], 0] == 0
            assert labels[listed["object"][k], 1] == listed["label"][k]
        for side, letter in ((2, "a"), (3, "b")):
            at = listed[letter][k]
            assert (at >= 0) == (listed[f"score_{letter}"][k] is not None)
            if at >= 0:
                assert rows[at, 0] == side
                assert labels[at, 1] == listed[f"label_{letter}"][k]
                assert labels[at, 2] == listed[f"score_{letter}"][k]
        if name in ("found", "right-class"):
            assert rows[listed["b"][k], 1] == listed["object"][k]
        if name in ("better", "worse"):
            assert rows[listed["a"][k], 1] == rows[listed["b"][k], 1] == listed["object"][k]
        if name == "new":
            assert rows[listed["b"][k], 1] == -1


@pytest.mark.parametrize("case", ["three classes", "80 classes", "1,203 classes", "three models", "no detections of B"])
def test_the_parts_add_up(case: str, made: dict[str, ModelComparison]) -> None:
    for pair, page in zip(made[case].pairs, data_of(made[case]).pairs, strict=True):
        drawn = page.drawn
        assert [part["title"] for part in drawn["parts"]] == ["Class", "Size", "Kind of error", "Image"]
        assert drawn["parts"][0]["words"].startswith(f"{page.letter} \N{MINUS SIGN} A = ")
        assert pair.parts is not None
        for part in drawn["parts"]:
            assert_allclose(sum(part["values"]) + part["rest"], pair.parts.difference, atol=1e-7)
            assert len(part["names"]) == len(part["values"])
        of_class, of_image = drawn["parts"][0], drawn["parts"][3]
        for name, a, b in zip(of_class["names"], of_class["a"], of_class["b"], strict=True):
            for evaluation, value in ((pair.a, a), (pair.b, b)):
                assert_allclose(np.nan if value is None else value, evaluation.per_class[name].summary["AP"], atol=1e-5)
        for name, place in zip(of_image["names"], of_image["images"], strict=True):
            assert drawn["images"][place]["name"] == name


def test_the_numbers_are_those_of_the_comparison(made: dict[str, ModelComparison]) -> None:
    pair = made["80 classes"].pairs[0]
    rows = part_of(made["80 classes"]).numbers
    assert [row.key for row in rows] == [one.key for one in pair.comparison.differences]
    for row, one in zip(rows, pair.comparison.differences, strict=True):
        assert row.a == f"{one.a:.3f}"
        assert row.b == f"{one.b:.3f}"
        assert float(row.difference.replace("\N{MINUS SIGN}", "-")) == pytest.approx(100 * one.difference, abs=5.1e-3)
        limits = [float(end) for end in row.interval.replace("\N{MINUS SIGN}", "-").split(" to ")]
        assert_allclose(limits, [100 * one.low, 100 * one.high], atol=5.1e-3)
        said = "gain" if one.difference > 0 else "loss"
        assert row.verdict == (said if one.p_value <= 0.05 else "open")
        assert row.span is not None
        left, width, point = row.span
        assert 0 <= left <= left + width <= 100.01
        assert left - 1 <= point <= left + width + 1


@pytest.mark.parametrize("kind", region_cases.KINDS)
def test_every_kind_of_region_is_drawn(kind: str) -> None:
    comparison = of_kind(kind)
    drawn = part_of(comparison).drawn
    evaluation = comparison.evaluations[0]
    assert len(drawn["drawn"])
    for place in drawn["drawn"]:
        image = drawn["images"][place]
        boxes, rows = np.array(image["boxes"]).reshape(-1, 7), regions_of(image)
        assert len(image["shapes"]) == len(boxes) if "shapes" in image else kind == "bbox"
        assert sorted(boxes[:, 0].tolist()) == list(range(len(rows)))
        of_a, of_b = (rows[rows[:, 0] == side] for side in (2, 3))
        assert len(of_b) <= len(of_a) <= len(evaluation.detections or ())


@pytest.mark.parametrize("kind", [kind for kind in region_cases.KINDS if overlap_name(kind) != "IoU"])
def test_an_overlap_has_the_name_of_its_measure(kind: str, tmp_path: Path) -> None:
    """Of keypoints, for example, the IoU of the boxes is another number than the OKS."""
    comparison = of_kind(kind)
    write_comparison(comparison, tmp_path / "comparison.html")
    write_report(comparison.evaluations[0], tmp_path / "report.html")
    texts = {"text": comparison.text(width=10_000)}
    for page in ("comparison", "report"):
        text = (tmp_path / f"{page}.html").read_text(encoding="utf-8")
        texts[page] = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    for text in texts.values():
        assert overlap_name(kind) in text
        names = (overlap_name(kind), "Boundary IoU", "by the IoU of their boxes")
        assert not re.search(r"\bIoU\b", re.sub("|".join(names), "", text))


def test_large_comparisons_are_cut(made: dict[str, ModelComparison], monkeypatch: pytest.MonkeyPatch) -> None:
    """The page says what it leaves out; what it keeps is what changed most."""
    whole = part_of(made["80 classes"])
    monkeypatch.setattr(_changes, "_MOST", 20)
    monkeypatch.setattr(_changes, "_MOST_NUMBERS", 4000)
    data = part_of(made["80 classes"])
    listed = data.drawn["changes"]
    assert len(listed["kind"]) == 20
    left = len(whole.drawn["changes"]["kind"]) - 20
    assert data.drawn["leftOut"] == left
    assert f"{left:,} others are left out" in data.changes_words
    drawn, total = len(data.drawn["drawn"]), len(data.drawn["images"])
    assert 0 < drawn < total
    assert f"{drawn:,} of {total:,} images that changed are drawn" in data.images_words
    assert data.drawn["drawn"] == list(range(drawn))
    parts = made["80 classes"].pairs[0].parts
    assert parts is not None
    shares = np.sort(np.abs(parts.images))[::-1]
    first = data.drawn["parts"][3]
    of_first = [abs(value) for value, place in zip(first["values"], first["images"], strict=True) if place < drawn]
    assert_allclose(np.sort(of_first)[::-1], shares[:drawn], rtol=1e-5)
    # Changes on images that are not drawn have no regions to mark.
    for place, at in zip(listed["image"], listed["b"], strict=True):
        assert at == -1 or place < total


def test_hostile_names_are_text(tmp_path: Path) -> None:
    comparison = hostile(tmp_path)
    path = tmp_path / "page.html"
    write_comparison(comparison, path, title=ATTACKS[2])
    text = path.read_text(encoding="utf-8")
    assert text.count("<script") == 2
    for attack in ("<img src=x", "<svg onload", "\u202e", "\x07", "<iframe"):
        assert attack not in text


def test_photographs_are_small_and_named_when_missing(tmp_path: Path) -> None:
    image_module = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'ioukit[report]'")
    comparison = photographs()
    truth = comparison.evaluations[0].ground_truth
    assert truth is not None
    sizes = truth.images.sizes.astype(int).tolist()
    for name, size in list(zip(truth.images.names[:], sizes, strict=True))[:4]:
        image_module.new("RGB", tuple(size), "teal").save(tmp_path / name)
    data = data_of(comparison, images=tmp_path).pairs[0]
    with_photographs = [image for image in data.drawn["images"] if "thumb" in image]
    assert len(with_photographs) == min(4, len(data.drawn["drawn"]))
    assert any("photographs are missing" in note for note in data.notes) == (len(data.drawn["drawn"]) > 4)
    assert sum("thumb" in image for image in data_of(comparison, tmp_path, 1).pairs[0].drawn["images"]) <= 1


def test_bad_arguments_leave_nothing(made: dict[str, ModelComparison], tmp_path: Path) -> None:
    comparison, path = made["three classes"], tmp_path / "page.html"
    with pytest.raises(ValueError, match="photographs must not be negative, got -1"):
        write_comparison(comparison, path, photographs=-1)
    with pytest.raises(ValueError, match="is a folder"):
        write_comparison(comparison, tmp_path)
    with pytest.raises(ValueError, match="there is no folder"):
        write_comparison(comparison, tmp_path / "no" / "page.html")
    with pytest.raises(ValueError, match="images must be a folder"):
        write_comparison(comparison, path, tmp_path / "no")
    assert not path.exists()


def test_an_input_is_never_overwritten(tmp_path: Path) -> None:
    comparison = hostile(tmp_path)
    for source in list(tmp_path.iterdir()):
        with pytest.raises(ValueError, match="is an input"):
            write_comparison(comparison, source)
