"""`check` on keypoints: faults of place, order and number are found, and odd but right data give no finding."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest

from ioukit import Detections, GroundTruth, evaluate
from ioukit.checks import Checked, check, repaired
from ioukit.evaluation.kinds.keypoints import COCO_SIGMAS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Floats = npt.NDArray[np.float64]
Pair = tuple[GroundTruth, Detections]
SIZE = (640, 480)
FLIPPED = [0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15]
OPENPOSE = [0, 6, 8, 10, 5, 7, 9, 12, 14, 16, 11, 13, 15, 2, 1, 4, 3]
# A person that faces the camera, within a box of 1 by 1.
PERSON = np.array([
    [0.5, 0.08], [0.56, 0.06], [0.44, 0.06], [0.62, 0.08], [0.38, 0.08], [0.72, 0.22], [0.28, 0.22], [0.82, 0.38],
    [0.18, 0.38], [0.85, 0.52], [0.15, 0.52], [0.64, 0.52], [0.36, 0.52], [0.65, 0.74], [0.35, 0.74], [0.66, 0.95],
    [0.34, 0.95],
])  # fmt: skip


def people(
    seed: int,
    *,
    images: int = 60,
    objects: float = 2.0,
    height: tuple[float, float] = (80, 300),
    hidden: float = 0.1,
    noise: float = 0.6,
    found: float = 0.9,
    sideways: float = 0.3,
    confused: float = 0.02,
    cut: float = 0.0,
    bias: float = 0.0,
    doubled: float = 0.0,
    fixed: bool = False,
    at_zero: bool = False,
) -> Pair:
    """Persons and a detector of them.

    Args:
        seed: Of the random numbers.
        images: How many.
        objects: Persons in an image, on average.
        height: Of a person, in pixels.
        hidden: Share of the points that are not labelled.
        noise: Errors of the detector, in COCO's standard deviations.
        found: Share of the persons that are found.
        sideways: Share of the persons that are as thin as seen from the side.
        confused: Share of the detections with left and right exchanged.
        cut: Share of the persons of whom the legs are not labelled.
        bias: By how much all points are moved, in pixels.
        doubled: Share of the persons with a second detection, of low score.
        fixed: Whether all images show one person at about one place.
        at_zero: Whether the detector writes points that are not labelled at 0, 0.
    """
    rng = np.random.default_rng(seed)
    image = np.repeat(np.arange(1, images + 1), 1 if fixed else np.maximum(rng.poisson(objects, images), 1))
    number = len(image)
    tall = np.full(number, 150.0) if fixed else rng.uniform(*height, number)
    wide = tall * np.where(rng.random(number) < sideways, 0.15, 0.42)
    low = rng.uniform(0, np.array(SIZE) - np.column_stack([wide, tall]))
    low = np.full((number, 2), 200.0) + rng.normal(0, 3, (number, 2)) if fixed else low
    sides = np.column_stack([wide, tall])[:, None]
    turned = np.where(rng.random(number) < 0.3, -1.0, 1.0)[:, None]  # seen from behind: left is left
    shape = PERSON + rng.normal(0, 0.02, (number, 17, 2))
    shape[..., 0] = 0.5 + turned * (shape[..., 0] - 0.5)
    points = low[:, None] + shape * sides
    labelled = rng.random((number, 17)) >= hidden
    labelled[(rng.random(number) < cut)[:, None] & (np.arange(17) >= 11)] = False
    area = wide * tall * 0.6
    gt = GroundTruth.from_arrays(
        image_ids=image, category_ids=np.ones(number, np.int64), boxes=np.column_stack([low, wide, tall]), areas=area,
        keypoints=np.where(labelled[..., None], np.concatenate([points, np.full((number, 17, 1), 2.0)], axis=2), 0.0),
        images=np.arange(1, images + 1), sizes=[SIZE] * images, categories={1: "person"},
    )  # fmt: skip
    hit = np.flatnonzero(rng.random(number) < found)
    hit = np.concatenate([hit, hit[rng.random(len(hit)) < doubled]])
    spread = noise * 2 * np.array(COCO_SIGMAS)[:, None] * np.sqrt(area[hit])[:, None, None]
    near = points[hit] + rng.normal(size=(len(hit), 17, 2)) * spread + bias
    mixed = rng.random(len(hit)) < confused
    near[mixed] = near[mixed][:, FLIPPED]
    if at_zero:
        near[~labelled[hit]] = 0.0
    scores = rng.beta(5, 2, len(hit)) * np.where(np.arange(len(hit)) < (number * found) // 1, 1.0, 0.5)
    return gt, detections(image[hit], near, scores)


def detections(image: npt.ArrayLike, points: Floats, scores: npt.ArrayLike) -> Detections:
    """Detections with the boxes around their points, as a file without boxes is read."""
    low, high = points.min(axis=1), points.max(axis=1)
    return Detections.from_arrays(
        image_ids=image, category_ids=np.ones(len(points), np.int64), scores=scores,
        boxes=np.column_stack([low, high - low]),
        keypoints=np.concatenate([points, np.ones((len(points), 17, 1))], axis=2),
    )  # fmt: skip


def changed(dt: Detections, change: Callable[[Floats], Floats]) -> Detections:
    return detections(dt.image_ids, change(np.array(dt.regions["keypoints"])[..., :2]), dt.scores)


def twice(dt: Detections) -> Detections:
    """Each detection again, about at the same place, with a lower score."""
    points = np.array(dt.regions["keypoints"])[..., :2]
    again = points + np.random.default_rng(0).normal(0, 0.5, points.shape)
    return detections([*dt.image_ids, *dt.image_ids], np.concatenate([points, again]), [*dt.scores, *dt.scores * 0.9])


def codes(found: Checked) -> list[str]:
    return [one.code for one in found if one.harmful]


def number(gt: GroundTruth, dt: Detections) -> float:
    return evaluate(gt, dt, iou_type="keypoints").summary["AP"]


def exchanged(points: Floats) -> Floats:
    return np.ascontiguousarray(points[..., ::-1])


FAULTS: dict[str, tuple[str, Callable[[Detections], Detections]]] = {
    "nms_missing": ("nms=", twice),
    "detections_moved": ("moved=", lambda dt: changed(dt, lambda points: points + np.array([5.0, -4.0]))),
    "detections_are_yx": ("points=yx", lambda dt: changed(dt, exchanged)),
    "detections_are_fractions": ("units=fractions", lambda dt: changed(dt, lambda points: points / np.array(SIZE))),
    "other_image_size": ("network=factor:0.5", lambda dt: changed(dt, lambda points: points / 2)),
    "detections_in_another_order": ("points=0,2,1,4,3,6,5", lambda dt: changed(dt, lambda points: points[:, FLIPPED])),
}


class TestFaults:
    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("code", FAULTS)
    def test_one_cause_is_told_and_mended(self, code: str, seed: int) -> None:
        gt, dt = people(seed)
        repair, fault = FAULTS[code]
        wrong = fault(dt)
        assert number(gt, wrong) < number(gt, dt) - 0.03
        checked = check(gt, wrong, iou_type="keypoints")
        assert codes(checked) == [code]
        assert checked.repairs[0].startswith(repair)
        after = repaired(gt, wrong, checked.repairs)
        assert after[1] is not None
        assert number(gt, after[1]) == pytest.approx(number(gt, dt), abs=0.02)

    @pytest.mark.parametrize("seed", range(3))
    def test_a_letterbox(self, seed: int) -> None:
        gt, dt = people(seed)
        wrong = changed(dt, lambda points: points * 0.5 + np.array([0.0, 40.0]))  # into a square of 320
        checked = check(gt, wrong, iou_type="keypoints")
        assert checked.repairs == ("network=letterbox:320",)
        after = repaired(gt, wrong, checked.repairs)[1]
        assert after is not None
        assert number(gt, after) == pytest.approx(number(gt, dt), abs=1e-3)

    @pytest.mark.parametrize("seed", range(3))
    def test_another_order(self, seed: int) -> None:
        gt, dt = people(seed)
        checked = check(gt, changed(dt, lambda points: points[:, OPENPOSE]), iou_type="keypoints")
        assert codes(checked) == ["detections_in_another_order"]
        assert checked.repairs == (f"points={','.join(str(OPENPOSE.index(at)) for at in range(17))}",)

    def test_names_of_points(self) -> None:
        gt, dt = people(0)
        wrong = changed(dt, lambda points: points[:, FLIPPED])
        (finding,) = [one for one in check(gt, wrong, iou_type="keypoints") if one.harmful]
        assert "16 of 17 lie at the places of others, in pairs, as left and right" in finding.suspicion.message
        assert finding.suspicion.examples[0] == "point 2 (from 0) lies at point 1 (from 0)"
        names = np.array([[f"{'left' if at % 2 else 'right'} {at}" for at in range(17)]])
        listed = dataclasses.replace(gt.categories, attributes={"keypoint_names": names})
        (finding,) = [
            one for one in check(dataclasses.replace(gt, categories=listed), wrong, iou_type="keypoints") if one.harmful
        ]
        assert finding.suspicion.examples[0] == "right 2 lies at left 1"

    @pytest.mark.parametrize("seed", range(3))
    def test_points_that_were_cut(self, seed: int) -> None:
        gt, dt = people(seed)
        wrong = changed(dt, lambda points: np.minimum(points, [320.0, np.inf]))
        assert "detections_cut" in codes(check(gt, wrong, iou_type="keypoints"))

    @pytest.mark.parametrize("seed", range(3))
    def test_ground_truth_with_exchanged_axes(self, seed: int) -> None:
        gt, dt = people(seed)
        points = np.array(gt.regions["keypoints"])[..., [1, 0, 2]]
        checked = check(dataclasses.replace(gt, regions={"keypoints": points}), dt, iou_type="keypoints")
        assert codes(checked) == ["ground_truth_are_yx"]
        assert checked.repairs == ("gt:points=yx",)


CLEAN: dict[str, dict[str, Any]] = {
    "usual": {},
    "many points hidden": {"hidden": 0.45},
    "legs not labelled": {"cut": 0.6},
    "poor": {"noise": 0.8, "found": 0.5},
    "left and right often confused": {"confused": 0.3},
    "from the side": {"sideways": 1.0},
    "crowds": {"objects": 12.0, "images": 30},
    "some doubled": {"doubled": 0.02},
    "small persons, half a pixel beside": {"height": (25, 60), "bias": 0.4},
    "one person at one place": {"fixed": True},
    "three images": {"images": 3},
    "hidden points at 0, 0": {"hidden": 0.3, "at_zero": True},
    "good": {"noise": 0.1, "found": 0.99},
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", CLEAN)
def test_right_data_give_no_finding(name: str, seed: int) -> None:
    assert codes(check(*people(seed, **CLEAN[name]), iou_type="keypoints")) == []


@pytest.mark.parametrize("seed", range(3))
def test_objects_without_a_box(seed: int) -> None:
    gt, dt = people(seed)
    boxes = gt.boxes.copy()
    boxes[::3] = 0.0
    flat = dataclasses.replace(gt, boxes=boxes)
    assert codes(check(flat, changed(dt, lambda points: points[:, FLIPPED]), iou_type="keypoints"))[0] == (
        "detections_in_another_order"
    )


class TestRepairs:
    """Repairs of boxes change keypoints as if each were a box without sides."""

    @pytest.mark.parametrize(
        ("repair", "expected"),
        [
            ("moved=+30,-9", lambda points: points + np.array([30.0, -9.0])),
            ("turn=hflip", lambda points: np.array([SIZE[0], 0.0]) + points * np.array([-1.0, 1.0])),
            ("turn=rot90", lambda points: np.stack([points[..., 1], SIZE[1] - points[..., 0]], axis=2)),
            ("network=letterbox:320", lambda points: (points - np.array([0.0, 40.0])) / 0.5),
            ("units=fractions", lambda points: points * np.array(SIZE)),
            ("points=yx", exchanged),
            (f"points={','.join(map(str, FLIPPED))}", lambda points: points[:, FLIPPED]),
        ],
    )
    def test_points_and_boxes_stay_together(self, repair: str, expected: Callable[[Floats], Floats]) -> None:
        gt, dt = people(1)
        right = changed(dt, expected)
        after = repaired(gt, dt, [repair])[1]
        assert after is not None
        assert np.allclose(after.regions["keypoints"], right.regions["keypoints"])
        assert np.allclose(after.boxes, right.boxes)

    def test_some_images(self, tmp_path: Path) -> None:
        gt, dt = people(1)
        (tmp_path / "ids.txt").write_text("1\n2\n")
        after = repaired(gt, dt, [f"moved=+5,+0@{tmp_path / 'ids.txt'}"])[1]
        assert after is not None
        apart = (np.array(after.regions["keypoints"]) - np.array(dt.regions["keypoints"]))[..., 0]
        assert np.allclose(apart, np.where(np.isin(dt.image_ids, [1, 2]), 5.0, 0.0)[:, None])

    @pytest.mark.parametrize("value", ["0,1", "0,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15", "xy", "left-right"])
    def test_no_order(self, value: str) -> None:
        gt, dt = people(0)
        with pytest.raises(ValueError, match="repair 'points' takes yx, or the positions of all keypoints"):
            repaired(gt, dt, [f"points={value}"])

    def test_no_keypoints(self) -> None:
        gt, dt = people(0)
        with pytest.raises(ValueError, match="repair 'points=yx' needs keypoints, and detections has none"):
            repaired(gt, dataclasses.replace(dt, regions={}), ["points=yx"])

    def test_boxes_are_moved_without_keypoints_that_cannot_be_read(self) -> None:
        gt, dt = people(0)
        broken = dataclasses.replace(dt, regions={"keypoints": [[1.0, 2.0]] * len(dt)})
        after = repaired(gt, broken, ["moved=+5,+0"])[1]
        assert after is not None
        assert np.allclose(after.boxes, dt.boxes + np.array([5.0, 0.0, 0.0, 0.0]))

    @pytest.mark.parametrize("value", ["3", "a,b,c,d", "nan,0,0,0", "1,2,3"])
    def test_edges_need_four_numbers(self, value: str) -> None:
        gt, dt = people(0)
        with pytest.raises(ValueError, match="repair 'edges' takes LEFT,TOP,RIGHT,BOTTOM in pixels"):
            repaired(gt, dt, [f"edges={value}"])

    def test_ends_do_not_go_before_the_beginning(self) -> None:
        gt, dt = people(0)
        after = repaired(gt, dt, ["edges=0,0,-1000,+2"])[1]
        assert after is not None
        assert np.allclose(after.boxes, np.column_stack([dt.boxes[:, :2], 0 * dt.boxes[:, 2], dt.boxes[:, 3] + 2]))
