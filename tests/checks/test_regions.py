"""`check` on other regions than upright boxes: what counts, and where masks and rotated boxes lie."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest

from ioukit import Detections, GroundTruth, Masks, Polygons, RotatedBoxes, evaluate
from ioukit.checks import Checked, Data, Repair, check, repaired
from ioukit.evaluation.protocols import find_protocol

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = npt.NDArray[np.float64]
SIZE = (640, 480)


def codes(found: Checked) -> list[str]:
    return [finding.code for finding in found if finding.harmful]


def persons(seed: int, visibility: int = 2, images: int = 20) -> tuple[GroundTruth, Detections]:
    """Objects and detections with 17 keypoints each."""
    rng = np.random.default_rng(seed)
    boxes = np.hstack([rng.uniform(0, 300, (3 * images, 2)), rng.uniform(60, 150, (3 * images, 2))])
    points = boxes[:, None, :2] + rng.random((len(boxes), 17, 2)) * boxes[:, None, 2:]
    shown = np.full((len(boxes), 17, 1), float(visibility))
    rows: dict[str, Any] = {"image_ids": np.repeat(np.arange(1, images + 1), 3), "category_ids": [1] * len(boxes)}
    gt = GroundTruth.from_arrays(
        **rows, boxes=boxes, keypoints=np.concatenate([points, shown], axis=2), categories={1: "person"},
        images=np.arange(1, images + 1), sizes=[SIZE] * images,
    )  # fmt: skip
    near = np.concatenate([points + rng.normal(0, 2, points.shape), np.ones_like(shown)], axis=2)
    return gt, Detections.from_arrays(**rows, boxes=boxes, keypoints=near, scores=rng.random(len(boxes)))


class TestNothingCounts:
    """`no_objects` follows the protocol: what it ignores is no object."""

    @pytest.mark.parametrize("seed", range(3))
    def test_no_labelled_keypoint(self, seed: int) -> None:
        gt, dt = persons(seed, visibility=0)
        (finding,) = [one for one in check(gt, dt, iou_type="keypoints") if one.harmful]
        assert (finding.code, finding.suspicion.sure) == ("no_objects", "sure")
        assert "60 of 60 annotations have the flag 'without_keypoints'" in finding.suspicion.message
        assert codes(check(gt, iou_type="keypoints")) == ["no_objects"]
        assert "no_objects" not in codes(check(gt, dt)), "boxes count without keypoints"

    def test_one_labelled_keypoint_is_enough(self) -> None:
        gt, dt = persons(0, visibility=0)
        points = np.array(gt.regions["keypoints"])
        points[0, 3, 2] = 1
        labelled = dataclasses.replace(gt, regions={"keypoints": points})
        assert "no_objects" not in codes(check(labelled, dt, iou_type="keypoints"))

    @pytest.mark.parametrize("seed", range(3))
    def test_labelled_keypoints_give_no_finding(self, seed: int) -> None:
        assert codes(check(*persons(seed), iou_type="keypoints")) == []

    @pytest.mark.parametrize("images", [1, 2])
    def test_crowds_and_difficult_objects(self, images: int) -> None:
        gt, dt = persons(0, images=images)
        for flag, protocol, other in (("crowd", "coco", "voc2012"), ("difficult", "voc2012", "coco")):
            flagged = dataclasses.replace(gt, flags={flag: np.ones(len(gt), np.bool_)})
            assert "no_objects" in codes(check(flagged, dt, find_protocol(protocol))), (flag, protocol)
            if flag == "difficult":
                assert "no_objects" not in codes(check(flagged, dt, find_protocol(other))), (flag, other)


def drawn(
    seed: int,
    *,
    images: int = 40,
    objects: float = 5.0,
    sides: tuple[float, float] = (20, 120),
    ratio: tuple[float, float] = (1.5, 4.0),
    classes: int = 3,
    noise: float = 0.05,
    turn: float = 4.0,
    angle: float | None = None,
) -> tuple[Floats, Floats, dict[str, Any], dict[str, Any], Floats]:
    """Rotated boxes in degrees of objects and of a detector, which misses some and has false alarms, and the rest."""
    rng = np.random.default_rng(seed)

    def at_random(count: int) -> Floats:
        longer = np.exp(rng.uniform(np.log(sides[0]), np.log(sides[1]), count))
        angles = rng.uniform(-90, 90, count) if angle is None else np.full(count, angle)
        return np.column_stack(
            [rng.uniform([60, 60], [580, 420], (count, 2)), longer, longer / rng.uniform(*ratio, count), angles]
        )

    image = np.repeat(np.arange(1, images + 1), np.maximum(rng.poisson(objects, images), 1))
    truth, kinds = at_random(len(image)), rng.integers(1, classes + 1, len(image))
    hit = np.flatnonzero(rng.random(len(image)) < 0.85)
    found = truth[hit].copy()
    found[:, :2] += rng.normal(0, noise, (len(hit), 2)) * np.sqrt(found[:, 2:3] * found[:, 3:4])
    found[:, 2:4] *= np.exp(rng.normal(0, noise, (len(hit), 2)))
    found[:, 4] += rng.normal(0, turn, len(hit))
    false = rng.poisson(2.0, images)
    extra = at_random(int(false.sum()))
    objects_of = {"image_ids": image, "category_ids": kinds}
    detections_of = {
        "image_ids": [*image[hit], *np.repeat(np.arange(1, images + 1), false)],
        "category_ids": [*kinds[hit], *rng.integers(1, classes + 1, len(extra))],
    }
    scores = 1 / (1 + np.exp(-np.concatenate([rng.normal(1, 1, len(hit)), rng.normal(-1, 1, len(extra))])))
    return truth, np.concatenate([found, extra]), objects_of, detections_of, scores


def regions(rows: Floats, kind: str, **meaning: Any) -> Any:
    boxes = RotatedBoxes(rows, **{"unit": "degrees", "sense": "clockwise", **meaning})
    if kind == "rotated":
        return boxes
    corners = list(boxes.corners().reshape(len(rows), 8))
    if kind == "polygon":
        return Polygons.from_flat(corners)
    return Masks.from_polygons([[one] for one in corners], height=SIZE[1], width=SIZE[0])


def pair(
    seed: int,
    kind: str = "rotated",
    fault: Callable[[Floats], Any] | None = None,
    *,
    of_truth: bool = False,
    meaning: dict[str, Any] | None = None,
    **scene: Any,
) -> tuple[GroundTruth, Detections]:
    """Ground truth and detections, of which one side has a fault or another declared meaning."""
    truth, found, objects_of, detections_of, scores = drawn(seed, **scene)
    sides = {"truth": truth, "found": found}
    meanings: dict[str, dict[str, Any]] = {"truth": {}, "found": {}}
    wrong = "truth" if of_truth else "found"
    meanings[wrong] = meaning or {}
    if fault is not None:
        sides[wrong] = fault(sides[wrong])
    images = int(objects_of["image_ids"].max())
    gt = GroundTruth.from_arrays(
        **objects_of, regions=regions(sides["truth"], kind, **meanings["truth"]), images=np.arange(1, images + 1),
        sizes=[SIZE] * images, categories={1: "a", 2: "b", 3: "c"},
    )  # fmt: skip
    rows = regions(sides["found"], kind, **meanings["found"])
    return gt, Detections.from_arrays(**detections_of, regions=rows, scores=scores)


def moved(rows: Floats) -> Any:
    return rows + np.array([20.0, -12.0, 0.0, 0.0, 0.0])


def mirrored(rows: Floats) -> Any:
    return rows * np.array([-1.0, 1.0, 1.0, 1.0, -1.0]) + np.array([SIZE[0], 0.0, 0.0, 0.0, 0.0])


def halved(rows: Floats) -> Any:
    return rows * np.array([0.5, 0.5, 0.5, 0.5, 1.0])


def in_radians(rows: Floats) -> Any:
    return np.column_stack([rows[:, :4], np.radians(rows[:, 4])])


def quarter(rows: Floats) -> Any:
    return rows + np.array([0.0, 0.0, 0.0, 0.0, 90.0])


def exchanged(rows: Floats) -> Any:
    return rows[:, [0, 1, 3, 2, 4]]


def upright(rows: Floats) -> Any:
    return rows * np.array([1.0, 1.0, 1.0, 1.0, 0.0])


IOU_TYPES = {"rotated": "rotated", "polygon": "polygon", "mask": "segm"}
SEEDS = range(3)
REVERSED, RADIANS = {"sense": "counterclockwise"}, {"unit": "radians"}


class TestPlaces:
    """Regions at another place, seen by the upright boxes around them."""

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("kind", IOU_TYPES)
    @pytest.mark.parametrize("of_truth", [False, True])
    def test_moved(self, kind: str, seed: int, *, of_truth: bool) -> None:
        found = check(*pair(seed, kind, moved, of_truth=of_truth), iou_type=IOU_TYPES[kind])
        (finding,) = [one for one in found if one.code.endswith("_moved")]
        # Where borders of images do not tell the side, it is said of the detections.
        of_detections = finding.code == "detections_moved"
        assert of_detections or of_truth
        assert set(codes(found)) <= {finding.code, "near_chance"}
        if of_truth and of_detections:
            assert "It may as well be the boxes of the ground truth" in finding.suspicion.message.replace(kind, "boxes")
        assert "compared by the upright boxes around the" in finding.suspicion.message
        if kind == "mask":
            assert finding.suspicion.repair is None
            assert "the AP of these boxes is" in finding.suspicion.message
        else:
            assert finding.after > finding.before + 0.2
            x, y = map(float, str(finding.suspicion.repair).removeprefix("gt:").removeprefix("moved=").split(","))
            assert np.allclose([x, y], [20, -12] if of_truth and of_detections else [-20, 12], atol=1.5)

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("kind", IOU_TYPES)
    @pytest.mark.parametrize(("fault", "code"), [(mirrored, "detections_hflip"), (halved, "other_image_size")])
    def test_other_frames(self, kind: str, fault: Any, code: str, seed: int) -> None:
        assert code in codes(check(*pair(seed, kind, fault), iou_type=IOU_TYPES[kind]))

    @pytest.mark.parametrize("seed", SEEDS)
    def test_masks_that_left_their_boxes(self, seed: int) -> None:
        """The boxes of the file are right, and the masks lie elsewhere."""
        gt, right = pair(seed, "mask")
        _, wrong = pair(seed, "mask", moved)
        dt = dataclasses.replace(wrong, boxes=right.boxes)
        assert codes(check(gt, dt)) == []
        assert "detections_moved" in codes(check(gt, dt, iou_type="segm"))

    @pytest.mark.parametrize("seed", SEEDS)
    def test_coarse_masks_are_not_those_of_another_image(self, seed: int) -> None:
        """Masks of a small image that were enlarged lie half a step beside their place."""
        gt, dt = pair(seed, "mask", noise=0.02)
        pixels = dt.regions["Masks"].to_arrays()[:, ::16, ::16]
        coarse = np.repeat(np.repeat(pixels, 16, axis=1), 16, axis=2)
        kept = coarse.any(axis=(1, 2))
        masks = Masks.from_arrays(coarse[kept])
        boxes: Any = masks.to_boxes().convert("xywh").numpy()
        rough = dataclasses.replace(dt[np.flatnonzero(kept)], regions={"Masks": masks}, boxes=boxes)
        assert codes(check(gt, rough, iou_type="segm")) == ["detections_rounded"]


class TestAngles:
    """Rotated boxes whose angles are meant in another way."""

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("iou_type", ["rotated", "rotated-probiou"])
    @pytest.mark.parametrize(
        ("how", "options"),
        [
            ("other-sense", {"meaning": REVERSED}),
            ("degrees", {"meaning": RADIANS}),
            ("radians", {"fault": in_radians}),
            ("quarter-turn", {"fault": quarter}),
            ("quarter-turn", {"fault": exchanged}),
        ],
    )
    def test_of_detections(self, how: str, options: dict[str, Any], iou_type: str, seed: int) -> None:
        right = evaluate(*pair(seed), iou_type=iou_type).summary["AP"]
        gt, dt = pair(seed, **options)
        found = check(gt, dt, iou_type=iou_type)
        (finding,) = [one for one in found if one.harmful]
        assert finding.code == f"detections_angles_{how.replace('-', '_')}"
        assert found.repairs == (f"angles={how}",)
        assert finding.before < right - 0.1
        assert finding.after == pytest.approx(right, abs=1e-6)
        assert ("It may as well be the angles of the ground truth" in str(finding).replace("\n  ", " ")) is (
            how in ("other-sense", "quarter-turn")
        )

    @pytest.mark.parametrize("seed", SEEDS)
    def test_of_ground_truth(self, seed: int) -> None:
        assert codes(check(*pair(seed, fault=in_radians, of_truth=True), iou_type="rotated")) == [
            "ground_truth_angles_radians"
        ]
        assert codes(check(*pair(seed, meaning=RADIANS, of_truth=True), iou_type="rotated")) == [
            "ground_truth_angles_degrees"
        ]

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("of_truth", [False, True])
    def test_lost(self, seed: int, *, of_truth: bool) -> None:
        found = check(*pair(seed, fault=upright, of_truth=of_truth), iou_type="rotated")
        assert codes(found) == ["ground_truth_without_angles" if of_truth else "detections_without_angles"]

    def test_two_faults_at_once(self) -> None:
        gt, dt = pair(0, fault=moved, meaning=REVERSED)
        found = check(gt, dt, iou_type="rotated")
        assert set(codes(found)) == {"detections_moved", "detections_angles_other_sense"}
        right = evaluate(*pair(0), iou_type="rotated").summary["AP"]
        mended: Any = repaired(gt, dt, found.repairs)
        assert evaluate(*mended, iou_type="rotated").summary["AP"] > right - 0.02


@pytest.mark.parametrize("kind", IOU_TYPES)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "scene",
    [
        {},
        {"images": 1, "objects": 3},
        {"images": 2},
        {"images": 4, "objects": 1},
        {"sides": (5, 12)},
        {"ratio": (1, 1)},
        {"ratio": (1, 1.15)},
        {"classes": 1, "objects": 1},
        {"noise": 0.15, "turn": 15},
        {"turn": 90},
        {"angle": 0.0, "turn": 0.0},
        {"angle": 30.0},
        {"noise": 0.01, "turn": 0.5},
    ],
)
def test_right_regions_give_no_finding(scene: dict[str, Any], kind: str, seed: int) -> None:
    """Also of few images, tiny or square objects, one class, or a detector that hardly knows the angles."""
    assert codes(check(*pair(seed, kind, **scene), iou_type=IOU_TYPES[kind])) == []


class TestRepairs:
    @pytest.mark.parametrize("how", ["other-sense", "quarter-turn", "radians"])
    def test_angles_of_some_images(self, how: str) -> None:
        gt, dt = pair(0)
        data = Repair("angles", how, images=(1, 2, 3))(Data(gt, dt))
        assert data.detections is not None
        before, after = dt.regions["RotatedBoxes"].numpy(), data.detections.regions["RotatedBoxes"].numpy()
        changed = (before != after).any(axis=1)
        assert set(dt.image_ids[changed].tolist()) == {1, 2, 3}
        assert np.array_equal(changed, np.isin(dt.image_ids, [1, 2, 3]))
        around = data.detections.regions["RotatedBoxes"].to_boxes().convert("xywh").numpy()
        np.testing.assert_allclose(data.detections.boxes, around)

    def test_twice_is_nothing(self) -> None:
        gt, dt = pair(0)
        for how in ("angles=other-sense", "angles=quarter-turn"):
            again = repaired(gt, dt, [how, how])[1]
            assert again is not None
            assert again.regions["RotatedBoxes"] == dt.regions["RotatedBoxes"]

    def test_what_they_need(self) -> None:
        gt, dt = pair(0, "mask")
        with pytest.raises(ValueError, match="repair 'angles=degrees' needs rotated boxes, and "):
            repaired(gt, dt, ["angles=degrees"])
        with pytest.raises(ValueError, match="repair 'angles' takes other-sense, degrees, radians or quarter-turn"):
            repaired(*pair(0), ["angles=turned"])

    @pytest.mark.parametrize("kind", ["rotated", "polygon"])
    def test_regions_move_with_their_boxes(self, kind: str) -> None:
        gt, dt = pair(0, kind)
        data = Repair("moved", "+5,-3", images=(2,))(Data(gt, dt))
        assert data.detections is not None
        (regions_there,) = data.detections.regions.values()
        around = regions_there.to_boxes().convert("xywh").numpy()
        np.testing.assert_allclose(data.detections.boxes, around, atol=1e-9)
        shift = np.where(dt.image_ids[:, None] == 2, [5.0, -3.0, 0.0, 0.0], 0.0)
        np.testing.assert_allclose(data.detections.boxes, dt.boxes + shift)


class TestShapes:
    @staticmethod
    def filled(data: Any) -> Any:
        masks = Masks.from_boxes(data.regions["Masks"].to_boxes(), height=SIZE[1], width=SIZE[0])
        areas = {"areas": masks.area} if isinstance(data, GroundTruth) else {}
        return dataclasses.replace(data, regions={"Masks": masks}, **areas)

    @pytest.mark.parametrize("seed", SEEDS)
    def test_boxes_for_masks(self, seed: int) -> None:
        gt, dt = pair(seed, "mask")
        assert codes(check(gt, self.filled(dt), iou_type="segm")) == ["detections_without_shapes"]
        assert "ground_truth_without_shapes" in codes(check(self.filled(gt), dt, iou_type="segm"))
        assert codes(check(self.filled(gt), self.filled(dt), iou_type="segm")) == []
        assert codes(check(gt, self.filled(dt))) == [], "boxes are compared"
