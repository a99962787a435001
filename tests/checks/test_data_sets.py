"""`diagnose` of a data set: valid files that are probably mistakes, and no alarm for those that are not."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import DatasetError, Detections, GroundTruth, diagnose, read_coco
from ioukit.checks import diagnose_data
from ioukit.checks.diagnosis import data_sets
from ioukit.checks.diagnosis.boxes import LAYOUTS
from ioukit.datasets import Images
from ioukit.regions.formats import convert
from support.paths import DATA, DEMO

if TYPE_CHECKING:
    from numpy.typing import NDArray

VAL2014 = DATA / "coco_val2014_100"
COCO_PAIRS = {
    "val2014": (VAL2014 / "instances_val2014_100.json", VAL2014 / "instances_val2014_fakebbox100_results.json"),
    "six images": (DEMO / "gt.json", DEMO / "a.json"),
}
OTHER_FORMATS = ["xyxy", "cxcywh"]


@pytest.fixture(scope="module")
def data() -> tuple[GroundTruth, Detections]:
    return read_coco(*COCO_PAIRS["val2014"])


def codes(data: GroundTruth | Detections, ground_truth: GroundTruth | None = None, **options: Any) -> list[str]:
    return [finding.code for finding in diagnose_data(data, ground_truth, **options)]


def with_boxes(data: Any, boxes: NDArray[Any]) -> Any:
    return dataclasses.replace(data, boxes=np.ascontiguousarray(boxes))


def as_fractions(data: Any, truth: GroundTruth) -> Any:
    sizes = truth.images.sizes[truth.images.positions(data.image_ids)]
    return with_boxes(data, data.boxes / np.concatenate([sizes, sizes], axis=1))


def without_sizes(truth: GroundTruth) -> GroundTruth:
    unknown = np.full((len(truth.images), 2), np.nan)
    return dataclasses.replace(truth, images=Images(truth.images.ids, unknown, truth.images.names))


def shifted(detections: Detections, by: int) -> Detections:
    return dataclasses.replace(detections, category_ids=detections.category_ids + by)


def drawn(rng: np.random.Generator, *, images: int, objects: int, classes: int) -> tuple[GroundTruth, Detections]:
    """Objects inside of their images, each found with a little error, and as many false alarms."""
    sizes = rng.integers(200, 1000, (images, 2)).astype(float)
    image = np.sort(rng.integers(0, images, objects))
    wide = sizes[image] * rng.uniform(0.02, 0.9, (objects, 2))
    boxes = np.concatenate([(sizes[image] - wide) * rng.uniform(0, 1, (objects, 2)), wide], axis=1)
    category = rng.integers(1, classes + 1, objects)
    truth = GroundTruth.from_arrays(
        image_ids=image, category_ids=category, boxes=boxes, images=np.arange(images), sizes=sizes,
        categories=np.arange(1, classes + 1),
    )  # fmt: skip
    moved = boxes + rng.normal(0, 0.03, boxes.shape) * np.tile(wide, 2)
    order = rng.permutation(objects)
    found = Detections.from_arrays(
        image_ids=np.concatenate([image, image[order]]),
        category_ids=np.concatenate([category, rng.integers(1, classes + 1, objects)]),
        boxes=np.concatenate([moved, boxes[order] * rng.uniform(0.3, 1, (objects, 4))]),
        scores=rng.uniform(0, 1, 2 * objects),
    )
    return truth, found


# ---- No alarm.


@pytest.mark.parametrize("name", COCO_PAIRS)
def test_real_data_are_right(name: str) -> None:
    truth, detections = read_coco(*COCO_PAIRS[name])
    for given in (truth, without_sizes(truth)):
        assert diagnose(given).ok
        assert diagnose(detections, reference=given).ok
    assert diagnose(detections).ok


@pytest.mark.parametrize("seed", range(20))
def test_drawn_data_are_right(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth, detections = drawn(rng, images=40, objects=int(rng.integers(1, 400)), classes=int(rng.integers(1, 9)))
    assert codes(truth, most_rows=None) == codes(detections, truth, most_rows=None) == []
    assert codes(without_sizes(truth)) == codes(detections, without_sizes(truth)) == codes(detections) == []


def test_nothing_is_right() -> None:
    empty = GroundTruth.from_arrays(image_ids=[], category_ids=[], boxes=[])
    none = Detections.from_arrays(image_ids=[], category_ids=[], boxes=[], scores=[])
    truth, detections = drawn(np.random.default_rng(0), images=20, objects=100, classes=2)
    assert codes(empty) == codes(none) == codes(none, empty) == codes(none, truth) == codes(detections, empty) == []


def test_small_images_may_have_small_boxes() -> None:
    """Fractions of a pixel, in images of a few pixels or of an unknown size with such objects."""
    rows: dict[str, Any] = {
        "image_ids": [1, 1],
        "category_ids": [1, 1],
        "boxes": [[0.1, 0.2, 0.5, 0.5], [0, 0, 1, 1.5]],
    }
    detections = Detections.from_arrays(**rows, scores=[0.9, 0.8])
    tiny = GroundTruth.from_arrays(**rows, images=[1], sizes=[[8, 8]])
    assert codes(tiny) == codes(detections, tiny) == []
    large = GroundTruth.from_arrays(**rows, images=[1], sizes=[[80, 8]])
    assert codes(large) == codes(detections, large) == ["normalized_not_declared"]
    unknown = GroundTruth.from_arrays(**rows)
    assert codes(unknown) == codes(detections) == ["normalized_not_declared"], "boxes should be in pixels"
    assert codes(detections, unknown) == [], "the same unit as the ground truth, which is reported"


# ---- Boxes.


@pytest.mark.parametrize("fmt", OTHER_FORMATS)
def test_another_format(data: tuple[GroundTruth, Detections], fmt: Any) -> None:
    truth, detections = data
    for side, reference, kind in ((truth, None, "annotations"), (detections, truth, "detections")):
        wrong = with_boxes(side, convert(side.boxes, "xywh", fmt))
        (finding,) = diagnose_data(wrong, reference)
        assert (finding.code, finding.severity) == (f"looks_like_{fmt}", "warning")
        says = rf"\d+ of {len(side)} {kind} hardly fit \[x, y, width, height\], and fit {re.escape(LAYOUTS[fmt])}"
        assert re.fullmatch(says, finding.message)
        assert f"Boxes(boxes, '{fmt}').convert('xywh')" in finding.hint
        sizes = truth.images.sizes[truth.images.positions(side.image_ids)]
        out = ((wrong.boxes[:, :2] + 0.9 * wrong.boxes[:, 2:]) > sizes).any(axis=1)
        assert set(finding.rows) >= set(np.flatnonzero(out).tolist())


def test_corners_show_without_the_size_of_an_image(data: tuple[GroundTruth, Detections]) -> None:
    truth, detections = data
    wrong = with_boxes(detections, convert(detections.boxes, "xywh", "xyxy"))
    assert codes(wrong) == codes(wrong, without_sizes(truth)) == ["looks_like_xyxy"]
    half = dataclasses.replace(truth.images, sizes=np.where(np.arange(100)[:, None] % 2, truth.images.sizes, np.nan))
    assert codes(wrong, dataclasses.replace(truth, images=half)) == ["looks_like_xyxy"]
    assert codes(detections, dataclasses.replace(truth, images=half)) == []


def test_corners_with_y_first_show_by_sizes_of_images_that_are_no_squares(
    data: tuple[GroundTruth, Detections],
) -> None:
    truth, detections = data
    wrong = with_boxes(detections, convert(detections.boxes, "xywh", "xyxy")[:, [1, 0, 3, 2]])
    (finding,) = diagnose_data(wrong, truth)
    assert finding.code == "looks_like_yxyx"
    assert "hardly fit [x, y, width, height], and fit [y1, x1, y2, x2]" in finding.message
    back = re.search(r"Boxes\(boxes(\[.*\]), 'xyxy'\)\.convert\('xywh'\)", finding.hint)
    assert back is not None
    assert back[1] == "[:, [1, 0, 3, 2]]"
    square = dataclasses.replace(truth.images, sizes=np.full((100, 2), 640.0))
    assert codes(wrong, dataclasses.replace(truth, images=square)) == ["looks_like_xyxy"], "both fit"


def test_fractions(data: tuple[GroundTruth, Detections]) -> None:
    truth, detections = data
    wrong = as_fractions(detections, truth)
    for reference in (truth, without_sizes(truth), None):
        (finding,) = diagnose_data(wrong, reference)
        assert finding.code == "normalized_not_declared"
        assert finding.message == ("all of 734 detections fit into an image of 1 by 1, and boxes should be in pixels")
        assert finding.rows == tuple(range(734))
    assert codes(as_fractions(truth, truth)) == ["normalized_not_declared"]
    both = with_boxes(wrong, convert(wrong.boxes, "xywh", "xyxy"))
    assert codes(both, truth) == ["normalized_not_declared", "looks_like_xyxy"]


# ---- Category ids.


@pytest.mark.parametrize("by", [-1, 1, 7])
def test_shifted_category_ids(data: tuple[GroundTruth, Detections], by: int) -> None:
    truth, detections = data
    (finding,) = diagnose(shifted(detections, by), reference=truth)
    assert (finding.code, finding.severity) == ("other_category_ids", "warning")
    assert f"have it if {-by} is added to all category ids" in finding.message
    assert finding.hint == f"add {-by} to the category ids: --repair classes={-by:+} in a command"
    assert finding.rows
    assert set(finding.rows) < set(range(len(detections)))
    assert codes(shifted(detections, by)) == [], "it takes the ground truth"


@pytest.mark.parametrize("first", [0, 1])
def test_positions_in_the_place_of_category_ids(data: tuple[GroundTruth, Detections], first: int) -> None:
    """COCO's 80 ids have gaps: positions are no constant away from them."""
    truth, detections = data
    later = detections[detections.category_ids > 13]  # counted from 1, the positions of the first ids are right
    positions = np.searchsorted(truth.categories.ids, later.category_ids) + first
    report = diagnose_data(dataclasses.replace(later, category_ids=positions), truth)
    finding = next(finding for finding in report if finding.code != "images_without_detections")
    assert finding.code == "other_category_ids"
    assert f"the ids are positions in the list of categories, counted from {first}" in finding.message


def test_a_bad_detector_has_no_other_category_ids() -> None:
    truth, detections = drawn(np.random.default_rng(0), images=40, objects=400, classes=5)
    noise = np.random.default_rng(1).integers(1, 6, len(detections))
    assert codes(dataclasses.replace(detections, category_ids=noise), truth) == []
    one = dataclasses.replace(detections, category_ids=np.full(len(detections), 5))
    assert codes(one, truth) == [], "one class for all is a poor answer, and no shift"
    mostly_four = dataclasses.replace(truth, category_ids=np.full(len(truth), 4))
    assert codes(one, mostly_four) == [], "detections of one category show no shift"


@pytest.mark.parametrize(("located", "wrong"), [(19, False), (20, True)])
def test_a_shift_needs_twenty_detections(located: int, wrong: bool) -> None:
    rows: dict[str, Any] = {"image_ids": range(located), "boxes": [[0, 0, 50, 50]] * located}
    truth = GroundTruth.from_arrays(**rows, category_ids=[1 + k % 2 for k in range(located)])
    detections = Detections.from_arrays(**rows, category_ids=[2 + k % 2 for k in range(located)], scores=[1] * located)
    assert codes(detections, truth) == (["other_category_ids"] if wrong else [])


@pytest.mark.parametrize(("right", "moved", "wrong"), [(20, 50, True), (21, 50, False), (20, 49, False)])
def test_how_many_must_match_after_a_shift(right: int, moved: int, wrong: bool) -> None:
    """Of 100 detections on objects, some have the category, some have the one before, and the others are far off."""
    wanted = np.array([10 * (1 + k % 2) for k in range(100)])
    given = np.where(np.arange(100) < right, wanted, wanted + 1000 * (1 + np.arange(100)))
    given[right : right + moved] = wanted[right : right + moved] - 1
    rows: dict[str, Any] = {"image_ids": range(100), "boxes": [[0, 0, 50, 50]] * 100}
    truth = GroundTruth.from_arrays(**rows, category_ids=wanted)
    detections = Detections.from_arrays(**rows, category_ids=given, scores=np.ones(100))
    assert codes(detections, truth) == (["other_category_ids"] if wrong else [])


def test_crowds_are_no_objects() -> None:
    rows: dict[str, Any] = {"image_ids": range(40), "boxes": [[0, 0, 50, 50]] * 40}
    detections = Detections.from_arrays(**rows, category_ids=[2 + k % 2 for k in range(40)], scores=[1] * 40)
    wanted = [1 + k % 2 for k in range(40)]
    assert codes(detections, GroundTruth.from_arrays(**rows, category_ids=wanted)) == ["other_category_ids"]
    assert codes(detections, GroundTruth.from_arrays(**rows, category_ids=wanted, crowd=[True] * 40)) == []


@pytest.mark.parametrize(("score", "found", "wrong"), [(0.5, None, True), (0.5, 0.7, False), (None, None, False)])
def test_swapped_sides(score: float | None, found: float | None, wrong: bool) -> None:
    rows: dict[str, Any] = {"image_ids": [1], "category_ids": [1], "boxes": [[0, 0, 50, 50]]}
    truth = GroundTruth.from_arrays(**rows, attributes={} if score is None else {"score": [score]})
    detections = Detections.from_arrays(**rows, scores=None if found is None else [found])
    assert codes(detections, truth) == (["swapped_sides"] if wrong else [])


# ---- Images.


@pytest.mark.parametrize(("missing", "wrong"), [(29, False), (30, True), (99, True), (100, False)])
def test_images_without_detections(missing: int, wrong: bool) -> None:
    """Of 100 images with objects; an 101st has none, and a 102nd a crowd alone."""
    crowd = [False] * 100 + [True]
    truth = GroundTruth.from_arrays(
        image_ids=[*range(1000, 1100), 2000], category_ids=[1] * 101, boxes=[[0, 0, 50, 50]] * 101, crowd=crowd,
        images=[*range(1000, 1101), 2000],
    )  # fmt: skip
    image_ids = range(1000 + missing, 1100)
    detections = Detections.from_arrays(
        image_ids=image_ids, category_ids=[1] * len(image_ids), boxes=[[0, 0, 50, 50]] * len(image_ids),
        scores=[1] * len(image_ids),
    )  # fmt: skip
    report = diagnose(detections, reference=truth)
    assert [finding.code for finding in report] == (["images_without_detections"] if wrong else [])
    for finding in report:
        assert finding.message == f"{missing} of 100 images with objects have no detection, such as image 1000"
        assert (finding.rows, finding.count) == ((), 0)
        assert "(row" not in str(finding)


def test_a_few_images_say_nothing() -> None:
    truth, detections = drawn(np.random.default_rng(0), images=9, objects=100, classes=1)
    assert codes(detections[detections.image_ids == 0], truth) == []


# ---- What is looked at.


def test_rows_are_spread_over_a_large_data_set(data: tuple[GroundTruth, Detections]) -> None:
    truth, detections = data
    many = with_boxes(detections, convert(detections.boxes, "xywh", "xyxy"))
    many = Detections.concat([many] * 40)
    assert len(many) == 29_360
    finding, repeated = diagnose_data(many, truth)
    assert (finding.code, repeated.code) == ("looks_like_xyxy", "repeated_images"), "all rows are there 40 times"
    assert "detections that were looked at (of 29,360)" in finding.message
    looked = int(finding.message.split(" of ")[1].split()[0].replace(",", ""))
    assert 4_900 < looked <= 5_000
    assert 100 < finding.count < looked
    assert max(finding.rows) > 29_000
    assert diagnose_data(many, truth) == diagnose_data(many, truth), "no chance is involved"
    whole, _ = diagnose_data(many, truth, most_rows=None)
    assert set(whole.rows) > set(finding.rows)
    one, _ = diagnose_data(shifted(Detections.concat([detections] * 20), 1), truth)
    assert one.code == "other_category_ids"


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 15, 1000, 123_457])
def test_spread(count: int) -> None:
    rows = data_sets._spread(count, 8)
    assert len(rows) == min(count, 8) or 5 <= len(rows) <= 8
    assert (np.diff(rows) > 0).all()
    assert ((rows >= 0) & (rows < count)).all()
    if count > 100:
        assert np.diff([0, *rows, count]).max() < 0.3 * count
    assert data_sets._spread(count, None).tolist() == list(range(count))


def test_crowded_images_are_looked_at_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, detections = drawn(np.random.default_rng(0), images=2, objects=400, classes=3)
    wrong = dataclasses.replace(detections, category_ids=detections.category_ids + 10)
    assert codes(wrong[:400], truth) == ["other_category_ids"]
    monkeypatch.setattr(data_sets, "MOST_PAIRS", 20_000)
    assert codes(wrong[:400], truth) == ["other_category_ids"]
    monkeypatch.setattr(data_sets, "MOST_PAIRS", 200)
    assert codes(wrong[:400], truth) == [], "too few are left"


def test_images_with_strings_as_ids() -> None:
    truth, detections = drawn(np.random.default_rng(0), images=20, objects=200, classes=3)
    names = np.array([f"image {number:02}" for number in range(20)])
    named = GroundTruth.from_arrays(
        image_ids=names[truth.image_ids], category_ids=truth.category_ids, boxes=truth.boxes, images=names,
        sizes=truth.images.sizes,
    )  # fmt: skip
    found = Detections.from_arrays(
        image_ids=names[detections.image_ids], category_ids=detections.category_ids + 3, boxes=detections.boxes,
        scores=detections.scores,
    )  # fmt: skip
    assert codes(found, named) == ["other_category_ids"]
    few = found[np.isin(found.image_labels(), names[10:])]
    finding = diagnose_data(few, named).findings[-1]
    assert finding.message == "10 of 20 images with objects have no detection, such as image image 00"
    with pytest.raises(DatasetError, match="expected the id or the file name of an image of ground truth, found 0"):
        diagnose_data(detections, named)
    other = Detections.from_arrays(image_ids=["x"], category_ids=[1], boxes=[[0, 0, 9, 9]], scores=[1])
    with pytest.raises(DatasetError, match=r"expected the id of an image of the ground truth, found 'x'"):
        diagnose_data(other, named)


def test_detections_of_other_images_are_left_out() -> None:
    truth, detections = drawn(np.random.default_rng(0), images=20, objects=200, classes=3)
    elsewhere = dataclasses.replace(detections, image_ids=detections.image_ids + 1000)
    assert codes(elsewhere, truth) == ["images_without_detections"]
    below = dataclasses.replace(detections, image_ids=detections.image_ids - 1000)
    assert codes(below, truth) == ["images_without_detections"]


# ---- Arguments.


def test_what_does_not_apply_is_refused(data: tuple[GroundTruth, Detections]) -> None:
    truth, detections = data
    options: list[dict[str, Any]] = [{"format": "xyxy"}, {"image_size": (1, 1)}, {"normalized": True}]
    for side in data:
        for option in options:
            with pytest.raises(TypeError, match=f"{next(iter(option))} does not apply to {type(side).__name__}"):
                diagnose(side, **option)
    with pytest.raises(TypeError, match="reference does not apply to GroundTruth"):
        diagnose(truth, reference=truth)
    with pytest.raises(TypeError, match="ground truth is not compared with ground truth"):
        diagnose_data(truth, truth)
    with pytest.raises(TypeError, match="reference must be the GroundTruth of the detections, got ndarray"):
        diagnose(detections, reference=truth.boxes)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="diagnose takes GroundTruth or Detections, got Images"):
        diagnose(truth.images)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="most_rows must be positive, got 0"):
        diagnose_data(truth, most_rows=0)


def test_diagnose_is_the_function_of_data_sets(data: tuple[GroundTruth, Detections]) -> None:
    truth, detections = data
    wrong = as_fractions(detections, truth)
    assert diagnose(wrong, reference=truth) == diagnose_data(wrong, truth)
    assert str(diagnose(wrong, reference=truth)).startswith("734 detections: 1 finding\nwarning normalized_not_decl")
    assert str(diagnose(truth)) == "839 annotations: nothing looks wrong"


# ---- Repeated rows.


def test_the_padding_of_a_sampler(data: tuple[GroundTruth, Detections]) -> None:
    """The first images again at the end of the file, as the last batch of a distributed run has them."""
    truth, detections = data
    again = np.isin(detections.image_ids, detections.image_ids[:20])
    padded = Detections.concat([detections, detections[again]])
    (finding,) = diagnose_data(padded, truth)
    assert finding.code == "repeated_images"
    assert set(finding.rows) <= set(range(len(detections), len(padded)))
    other = dataclasses.replace(detections, scores=detections.scores / 2)
    assert codes(Detections.concat([detections, other[again]]), truth) == [], "another score is another detection"
