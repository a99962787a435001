"""Readings of some classes, and of the ground truth in the pixels of another image: what is told, and what is not."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, evaluate
from ioukit.checks import Repair, check, repaired
from ioukit.checks.repairs.boxes import turned, unit_scales
from support.planted_faults import in_format
from support.planted_scenes import drawn, real

if TYPE_CHECKING:
    from collections.abc import Callable

    Pair = tuple[GroundTruth, Detections]
    Boxes = Any

SETS = {"documents": drawn("documents"), "aerial": drawn("aerial")}
WRITTEN: dict[str, Callable[[Boxes, Boxes], Boxes]] = {
    "boxes=xyxy": lambda boxes, _: in_format(boxes, "xyxy"),
    "boxes=cxcywh": lambda boxes, _: in_format(boxes, "cxcywh"),
    "network=factor:0.5": lambda boxes, _: boxes / 2,
    "turn=vflip": lambda boxes, sizes: turned(boxes, sizes, "vflip"),
    "units=fractions": lambda boxes, sizes: boxes / np.tile(sizes, 2),
}


def sizes_of(gt: GroundTruth, side: GroundTruth | Detections) -> Boxes:
    return gt.images.sizes[gt.images.positions(side.image_ids)]


def of_classes(pair: Pair, side: str, repair: str, classes: tuple[int, ...]) -> Pair:
    """The data with the boxes of some classes of one side in need of a repair."""
    gt, dt = pair
    data: Any = gt if side == "ground_truth" else dt
    changed = WRITTEN[repair](data.boxes, sizes_of(gt, data))
    chosen = np.isin(data.category_ids, classes)[:, None]
    wrong = dataclasses.replace(data, boxes=np.where(chosen, changed, data.boxes))
    return (wrong, dt) if side == "ground_truth" else (gt, wrong)


@pytest.mark.parametrize("repair", WRITTEN)
@pytest.mark.parametrize("side", ["detections", "ground_truth"])
@pytest.mark.parametrize(("name", "classes"), [("documents", (6,)), ("aerial", (6, 12))])
def test_a_fault_of_some_classes_is_told_of_these_and_mended(
    name: str, classes: tuple[int, ...], side: str, repair: str
) -> None:
    pair = SETS[name]
    wrong = of_classes(pair, side, repair, classes)
    checked = check(*wrong)
    # Mirrored, or of half the size, either side fits: then the detections are named, if nothing tells.
    either = side == "ground_truth" and repair.startswith(("network=", "turn="))
    expected = repair.replace("0.5", "2") if either else f"gt:{repair}" if side == "ground_truth" else repair
    assert checked.repairs[0] == f"{expected}@classes={','.join(map(str, classes))}"
    count = "2 classes" if len(classes) > 1 else "1 class"
    said = checked.findings[0].suspicion
    assert f" of {count} match if they are " in said.message
    assert "with the best detection of their class is then" in said.message
    assert ("It may as well be the boxes of the ground truth" in said.message) is either or side == "detections"
    assert said.examples == tuple(pair[0].categories.names[number // 3 - 1] for number in classes)
    mended: Any = repaired(*wrong, checked.repairs)
    assert evaluate(*mended).summary["AP"] == pytest.approx(evaluate(*pair).summary["AP"], abs=1e-3)


@pytest.mark.parametrize("name", SETS)
def test_a_class_that_the_detector_finds_badly_is_no_fault(name: str) -> None:
    """Its boxes are far off, or moved to one side, as much as those of the faults above."""
    gt, dt = SETS[name]
    rng = np.random.default_rng(0)
    hard = np.isin(dt.category_ids, (6, 12))[:, None]
    sides = np.tile(dt.boxes[:, 2:], 2)
    for off in (rng.normal(0, 0.4, dt.boxes.shape) * sides, rng.random((len(dt), 1)) * sides * [0.6, 0.6, 0, 0]):
        boxes = np.where(hard, dt.boxes + off, dt.boxes)
        boxes[:, 2:] = np.maximum(boxes[:, 2:], 1)
        assert check(gt, dataclasses.replace(dt, boxes=boxes)).repairs == ()


def test_a_fault_of_all_classes_is_told_of_all() -> None:
    gt, dt = SETS["documents"]
    wrong = dataclasses.replace(dt, boxes=in_format(dt.boxes, "cxcywh"))
    assert check(gt, wrong).repairs == ("boxes=cxcywh",)


def in_frame(gt: GroundTruth, frame: str) -> Boxes:
    """The boxes in the pixels of the network's image."""
    mode, _, size = frame.partition(":")
    scale, shift = unit_scales(sizes_of(gt, gt), mode)
    network = float(size.split("x")[0])
    return np.concatenate([(gt.boxes[:, :2] * scale + shift) * network, gt.boxes[:, 2:] * scale * network], axis=1)


@pytest.mark.parametrize("frame", ["letterbox:640", "stretch:640x640", "shortest:800", "longest:500"])
@pytest.mark.parametrize("name", ["documents", "val2014"])
def test_ground_truth_of_resized_images_is_told_and_mended(name: str, frame: str) -> None:
    gt, dt = {**SETS, **real()}[name]
    boxes = in_frame(gt, frame)
    checked = check(dataclasses.replace(gt, boxes=boxes), dt)
    assert checked.repairs == (f"gt:network={frame}",)
    assert checked.findings[0].code == "other_image_size"
    assert checked.findings[0].suspicion.message.startswith("the boxes of the ground truth match if they are in the ")
    assert checked.findings[0].after == pytest.approx(evaluate(gt, dt).summary["AP"], abs=1e-2)


@pytest.mark.parametrize("frame", ["letterbox:640", "stretch:512x512"])
def test_ground_truth_of_some_resized_images_is_told_and_mended(frame: str) -> None:
    gt, dt = real()["val2014"]
    some = np.isin(gt.image_ids, gt.images.ids[::3])
    wrong = dataclasses.replace(gt, boxes=np.where(some[:, None], in_frame(gt, frame), gt.boxes))
    checked = check(wrong, dt)
    assert checked.repairs == (f"gt:network={frame}@FILE",)
    assert set(checked.findings[0].suspicion.images) <= set(gt.images.ids[::3].tolist())
    assert checked.findings[0].after == pytest.approx(evaluate(gt, dt).summary["AP"], abs=1e-2)


def test_masks_tell_the_side_of_boxes_of_half_the_size_on_some_images() -> None:
    gt, dt = real()["val2014"]
    for side, repair in ((gt, "gt:network=factor:0.5@FILE"), (dt, "network=factor:0.5@FILE")):
        some = np.isin(side.image_ids, gt.images.ids[::3])[:, None]
        wrong = dataclasses.replace(side, boxes=np.where(some, side.boxes / 2, side.boxes))
        assert check(*((wrong, dt) if side is gt else (gt, wrong))).repairs == (repair,)


def test_objects_that_are_annotated_again_in_another_class_are_a_note() -> None:
    gt, dt = SETS["documents"]
    again = gt.category_ids == 6
    columns = {name: getattr(gt, name) for name in ("image_ids", "category_ids", "boxes")}
    more = {name: column[again] for name, column in columns.items()} | {"category_ids": np.full(again.sum(), 9)}
    merged: Any = {name: np.concatenate([column, more[name]]) for name, column in columns.items()}
    wrong = GroundTruth.from_arrays(**merged, images=gt.images, categories=gt.categories)
    (note,) = [one for one in check(wrong, dt) if one.code == "annotations_of_several_classes"]
    assert not note.harmful
    assert note.suspicion.message.startswith(f"{again.sum():,} of {len(wrong):,} annotations have the very box of an ")
    assert "annotations_of_several_classes" not in {one.code for one in check(gt, dt)}


def test_the_text_of_a_repair_of_classes_is_read_back() -> None:
    repair = Repair("boxes", "xyxy", "ground_truth", classes=(3, 12))
    assert Repair.parse(str(repair)) == repair
    gt, dt = SETS["documents"]
    for text, says in (
        ("boxes=xyxy@classes=3,x", "expected ids of classes such as @classes=3,7, got 'boxes=xyxy@classes=3,x'"),
        ("boxes=xyxy@classes=3,4", "expected ids of classes of the data; 1 of 2 are none, such as '4'"),
        ("clip@classes=3", "repair 'clip' cannot be restricted to images or classes"),
    ):
        with pytest.raises(ValueError, match=says):
            repaired(gt, dt, [text])


@pytest.mark.parametrize("fault", ["hflip", "moved", "none"])
def test_boxes_that_are_not_those_of_their_own_masks_are_counted(fault: str) -> None:
    """The ground truth alone tells it, and its detections which of the two is wrong."""
    gt, dt = real()["val2014"]
    other = {"hflip": turned(gt.boxes, sizes_of(gt, gt), "hflip"), "moved": gt.boxes + np.array([300.0, 0, 0, 0])}
    wrong = dataclasses.replace(gt, boxes=other.get(fault, gt.boxes))
    found = [one for one in check(wrong) if one.code == "boxes_not_of_masks"]
    assert [one.harmful for one in found] == ([] if fault == "none" else [True])
    if found:
        assert "have an IoU below 0.5 with the boxes around their own masks" in found[0].suspicion.message
        first = check(wrong, dt)
        assert first.repairs[0].startswith("gt:"), "masks tell the side"
        assert "boxes_not_of_masks" not in {one.code for one in first}, "a consequence, which the repair mends"
