"""Repairs: each is the inverse of the fault, has a text that names it, and says what it lacks."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import hypothesis.extra.numpy as npst
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioukit import DatasetError, Detections, GroundTruth, evaluate
from ioukit.anchors import Letterbox
from ioukit.checks import REPAIRS, Repair, repaired
from ioukit.checks.diagnosis.data_sets import first_of_each
from ioukit.checks.repairs.boxes import MODES, unit_scales
from support.planted_faults import in_format

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

IMAGES = [3, 5, 9]
SIZES = np.array([[640.0, 480.0], [333.0, 500.0], [1024.0, 1024.0]])
boxes = npst.arrays(np.float64, (12, 4), elements=st.floats(1, 900))
pairs = st.tuples(boxes, boxes)


def data_of(of_objects: NDArray[Any], of_detections: NDArray[Any]) -> tuple[GroundTruth, Detections]:
    rows: dict[str, Any] = {
        "image_ids": [IMAGES[row % 3] for row in range(12)],
        "category_ids": [2 + row % 4 for row in range(12)],
    }
    gt = GroundTruth.from_arrays(
        **rows, boxes=of_objects, images=IMAGES, sizes=SIZES, names=["a/3.jpg", "a/5.jpg", "a/9.jpg"],
        categories={2: "a", 3: "b", 4: "c", 5: "d", 9: "e"},
    )  # fmt: skip
    return gt, Detections.from_arrays(**rows, boxes=of_detections, scores=np.linspace(0.1, 0.9, 12))


def sizes_of(gt: GroundTruth, side: Any) -> NDArray[Any]:
    sizes: NDArray[Any] = gt.images.sizes[np.searchsorted(gt.images.ids, side.image_ids)]
    return sizes


@given(pairs, st.sampled_from(["xyxy", "yxyx", "cxcywh"]), st.booleans())
def test_reading_a_format_undoes_writing_it(pair: Any, fmt: str, truth: bool) -> None:
    gt, dt = data_of(*pair)
    side = gt if truth else dt
    wrong: Any = dataclasses.replace(side, boxes=in_format(side.boxes, fmt))
    back = repaired(wrong if truth else gt, dt if truth else wrong, [f"{'gt:' if truth else ''}boxes={fmt}"])[
        0 if truth else 1
    ]
    assert back is not None
    np.testing.assert_allclose(back.boxes, side.boxes, rtol=1e-12, atol=1e-9)


@given(pairs, st.sampled_from(["fractions", "scaled-twice"]))
def test_units(pair: Any, unit: str) -> None:
    gt, dt = data_of(*pair)
    sizes = np.tile(sizes_of(gt, dt), 2)
    wrong = dataclasses.replace(dt, boxes=dt.boxes / sizes if unit == "fractions" else dt.boxes * sizes)
    _, back = repaired(gt, wrong, [f"units={unit}"])
    assert back is not None
    np.testing.assert_allclose(back.boxes, dt.boxes, rtol=1e-12)


@given(pairs, st.sampled_from(MODES), st.integers(64, 2000))
def test_frames(pair: Any, mode: str, size: int) -> None:
    gt, dt = data_of(*pair)
    scale, shift = unit_scales(sizes_of(gt, dt), mode)
    number = size / 500 if mode == "factor" else size
    wrong = dataclasses.replace(
        dt, boxes=np.concatenate([(dt.boxes[:, :2] * scale + shift) * number, dt.boxes[:, 2:] * scale * number], axis=1)
    )
    _, back = repaired(gt, wrong, [f"network={mode}:{number}"])
    assert back is not None
    np.testing.assert_allclose(back.boxes, dt.boxes, rtol=1e-9, atol=1e-6)


def test_a_letterbox_is_that_of_the_anchors() -> None:
    """The formula of the rule is that of `ioukit.anchors.letterbox`, up to the rounding of its border to pixels."""
    for width, height in SIZES.tolist():
        fitted = Letterbox((int(width), int(height)), (640, 640))
        scale, shift = unit_scales(np.array([[width, height]]), "letterbox")
        np.testing.assert_allclose(scale[0] * 640, fitted.scale, rtol=0.01)
        np.testing.assert_allclose(shift[0] * 640, fitted.padding, atol=1.0)


@given(pairs, st.integers(-50, 50))
def test_class_ids(pair: Any, by: int) -> None:
    gt, dt = data_of(*pair)
    wrong = dataclasses.replace(dt, category_ids=dt.category_ids + by)
    assert repaired(gt, wrong, [f"classes={-by:+d}"])[1].category_ids.tolist() == dt.category_ids.tolist()  # type: ignore[union-attr]
    positions = dataclasses.replace(dt, category_ids=np.searchsorted(gt.categories.ids, dt.category_ids))
    back = repaired(gt, positions, ["classes=positions0"])[1]
    assert back is not None
    assert back.category_ids.tolist() == dt.category_ids.tolist()
    # Behind the last of 2, 3, 4, 5, 9 stands 10.
    late = dataclasses.replace(dt, category_ids=np.array([3, 4, 5, 9, 10])[[0, 1, 2, 3, 4, 4] * 2])
    back = repaired(gt, late, ["classes=earlier"])[1]
    assert back is not None
    assert back.category_ids.tolist() == [2, 3, 4, 5, 9, 9] * 2
    early = repaired(gt, back, ["classes=later"])[1]
    assert early is not None
    assert early.category_ids.tolist() == [3, 4, 5, 9, 9, 9] * 2  # the last class has none after it
    exchanged = repaired(gt, dt, ["classes=2>3,3>2", "classes=3>2,2>3"])[1]
    assert exchanged is not None
    assert exchanged.category_ids.tolist() == dt.category_ids.tolist()


@given(pairs, st.integers(0, 12))
def test_repeated_rows(pair: Any, count: int) -> None:
    gt, dt = data_of(*pair)
    kept = first_of_each(dt)
    twice = Detections.concat([dt, dt[:count]])
    back = repaired(gt, twice, ["duplicates"])[1]
    assert back is not None
    assert back.boxes.tolist() == dt[kept].boxes.tolist()
    assert back.scores.tolist() == dt[kept].scores.tolist()


def test_some_images(tmp_path: Path) -> None:
    gt, dt = data_of(np.full((12, 4), 50.0), np.full((12, 4), 60.0))
    file = tmp_path / "images.txt"
    file.write_text("3\n9\n")
    back = repaired(gt, dt, [f"classes=+1@{file}"])[1]
    assert back is not None
    assert (back.category_ids - dt.category_ids).tolist() == [1, 0, 1] * 4
    for text, found in (("3\n\n4\nx\n", "2 of 3 are none, such as '4'"), ("\n", "found no line")):
        file.write_text(text)
        with pytest.raises(ValueError, match=f"expected ids of images of the data, one in each line; {found}"):
            repaired(gt, dt, [f"classes=+1@{file}"])


@pytest.mark.parametrize("label", ["val/{}.png", "{:06d}", "{}.txt", "a\\{}.jpg"])
def test_images_by_stem(label: str) -> None:
    gt, dt = data_of(np.full((12, 4), 50.0), np.full((12, 4), 60.0))
    named = Detections.from_arrays(
        image_ids=[label.format(number) for number in dt.image_ids.tolist()], category_ids=dt.category_ids,
        boxes=dt.boxes, scores=dt.scores,
    )  # fmt: skip
    back = repaired(gt, named, ["images=stem"])[1]
    assert back is not None
    assert back.image_labels().tolist() == dt.image_labels().tolist()


def test_only_what_both_sides_have() -> None:
    gt, dt = data_of(np.full((12, 4), 50.0), np.full((12, 4), 60.0))
    few = dt[(dt.image_ids != 5) & (dt.category_ids != 2)]
    assert repaired(gt, few, ["only=detected-images"])[0].images.ids.tolist() == [3, 9]
    assert repaired(gt, few, ["only=detected-classes"])[0].categories.ids.tolist() == [3, 4, 5]
    assert repaired(gt[gt.image_ids != 9], dt, ["only=annotated-images"])[0].images.ids.tolist() == [3, 5]


def test_clip_nms_and_scores() -> None:
    gt, dt = data_of(np.full((12, 4), 50.0), np.tile([-5.0, 470, 400, 400], (12, 1)))
    clipped = repaired(gt, dt, ["clip"])[1]
    assert clipped is not None
    assert clipped.boxes[:2].tolist() == [[0, 470, 395, 10], [0, 470, 333, 30]]
    best = repaired(gt, dt, ["nms=0.5"])[1]
    assert best is not None
    assert len(best) == 12, "one per image and class"
    doubled = Detections.concat([dt, dataclasses.replace(dt, scores=dt.scores / 2)])
    best = repaired(gt, doubled, ["nms=0.5"])[1]
    assert best is not None
    assert best.scores.tolist() == dt.scores.tolist()
    for value, scores in (
        ("percent", dt.scores * 100),
        ("logits", np.log(dt.scores / (1 - dt.scores))),
        ("negated", -dt.scores),
    ):
        back = repaired(gt, dataclasses.replace(dt, scores=scores), [f"scores={value}"])[1]
        assert back is not None
        np.testing.assert_allclose(back.scores, dt.scores, rtol=1e-12)


def test_one_class_of_two() -> None:
    gt, dt = data_of(np.full((12, 4), 50.0), np.full((12, 4), 60.0))
    merged, found = repaired(gt, dt, ["merge-classes=5>4"])
    assert found is not None
    assert merged.categories.ids.tolist() == [2, 3, 4, 9]
    assert set(merged.category_ids.tolist()) == set(found.category_ids.tolist()) == {2, 3, 4}
    with pytest.raises(ValueError, match="does not list"):
        repaired(gt, dt, ["merge-classes=5>77"])


class TestText:
    @pytest.mark.parametrize(
        "text", ["boxes=xyxy", "gt:boxes=cxcywh", "duplicates", "gt:clip", "network=stretch:64x48"]
    )
    def test_is_read_back(self, text: str) -> None:
        assert str(Repair.parse(text)) == text

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("box=xyxy", "unknown repair 'box'; expected NAME or NAME=VALUE such as boxes=xyxy, with a NAME of boxes"),
            ("boxes", "repair 'boxes' takes xyxy, yxyx, cxcywh, yxhw, yxwh, xyhw or xxyy, got 'boxes'"),
            ("clip=2", "repair 'clip' takes no value, got 'clip=2'"),
            ("gt:nms=0.5", "repair 'nms' changes detections only, got 'gt:nms=0.5'"),
            ("areas=masks", "repair 'areas' changes ground truth only"),
            ("clip@x", "repair 'clip' cannot be restricted to images"),
        ],
    )
    def test_of_no_repair(self, text: str, says: str) -> None:
        with pytest.raises(ValueError, match=says):
            Repair.parse(text)

    @pytest.mark.parametrize(
        "text",
        [
            *(
                "boxes=xywh",
                "units=cm",
                "network=640",
                "network=letterbox:0",
                "network=letterbox:1x2",
                "nms=2",
                "nms=x",
            ),
            *("classes=one", "classes=1>2,1>3", "merge-classes=x", "only=x", "images=x", "scores=x", "gt:areas=x"),
            *("gt:crowd=x", "network=factor:nan"),
        ],
    )
    def test_of_no_value(self, text: str) -> None:
        gt, dt = data_of(np.full((12, 4), 50.0), np.full((12, 4), 60.0))
        with pytest.raises(ValueError, match=f"repair '{Repair.parse(text).name}' takes .*, got "):
            repaired(gt, dt, [text])


def test_what_the_data_lack() -> None:
    gt, dt = data_of(np.full((12, 4), 50.0), np.full((12, 4), 60.0))
    bare = GroundTruth.from_arrays(image_ids=gt.image_ids, category_ids=gt.category_ids, boxes=gt.boxes)
    with pytest.raises(ValueError, match="'units=fractions' needs the width and height of the images"):
        repaired(bare, dt, ["units=fractions"])
    with pytest.raises(ValueError, match="'network=letterbox:640' needs the width and height of the images"):
        repaired(bare, dt, ["network=letterbox:640"])
    with pytest.raises(ValueError, match="'gt:areas=masks' needs masks"):
        repaired(gt, dt, ["gt:areas=masks"])
    with pytest.raises(ValueError, match="'gt:crowd=rle' needs segmentations"):
        repaired(gt, dt, ["gt:crowd=rle"])
    with pytest.raises(ValueError, match="there are no detections"):
        repaired(gt, None, ["boxes=xyxy"])
    with pytest.raises(DatasetError, match="expected boxes that fit boxes=xyxy, found a negative width or height"):
        repaired(gt, dataclasses.replace(dt, boxes=np.tile([9.0, 9, 2, 2], (12, 1))), ["boxes=xyxy"])


def test_every_repair_has_a_function() -> None:
    for kind in REPAIRS.values():
        assert callable(kind.function())
        assert kind.title


@pytest.mark.parametrize("fmt", ["yxyx", "yxhw", "yxwh", "xyhw", "xxyy", "cxcywh"])
def test_repaired_boxes_can_be_evaluated(fmt: str) -> None:
    gt, dt = data_of(np.full((12, 4), 50.0), np.tile([10.0, 20, 400, 470], (12, 1)))
    if fmt == "xxyy":
        dt = dataclasses.replace(dt, boxes=dt.boxes + np.array([0.0, 0.0, 0.0, 100.0]))
    mended = repaired(gt, dt, [f"boxes={fmt}"])[1]
    assert mended is not None
    assert mended.boxes.flags["C_CONTIGUOUS"]
    evaluate(gt, mended)
