"""PASCAL VOC's rules and those like them against their arithmetic, written plainly."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from evaluation.plain_voc import pixel_overlaps, plain_voc_ap
from evaluation.tidecv_reference import EXPECTED, SETS
from ioukit import COCO, Boxes, Detections, GroundTruth, Polygons, evaluate, read_coco
from ioukit.evaluation import save_table
from ioukit.evaluation.protocols import DOTA_TASK1, DOTA_TASK2, NO_CAP, TIDE, VOC2007, VOC2012, find_protocol

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit import Protocol


class Scene(NamedTuple):
    """Boxes ``[x1, y1, x2, y2]`` of pixels."""

    images: int
    objects: dict[str, Any]
    difficult: Any
    object_boxes: Any
    detections: dict[str, Any]
    detection_boxes: Any

    def columns(self) -> tuple[GroundTruth, Detections]:
        gt = GroundTruth.from_arrays(
            **self.objects,
            boxes=Boxes(self.object_boxes, format="xyxy"),
            flags={"difficult": self.difficult},
            images=np.arange(self.images),
            categories=[0, 1],
        )
        return gt, Detections.from_arrays(**self.detections, boxes=Boxes(self.detection_boxes, format="xyxy"))

    def plain(self, category: int, **options: bool) -> float:
        of_gt = np.flatnonzero(self.objects["category_ids"] == category)
        of_dt = np.flatnonzero(self.detections["category_ids"] == category)
        of_dt = of_dt[np.argsort(self.detections["image_ids"][of_dt], kind="stable")]
        return plain_voc_ap(
            self.objects["image_ids"][of_gt],
            self.difficult[of_gt],
            self.detections["image_ids"][of_dt],
            self.detections["scores"][of_dt],
            lambda rows, row: pixel_overlaps(self.object_boxes[of_gt[rows]], self.detection_boxes[of_dt[row]]),
            **options,
        )


def scene(seed: int) -> Scene:
    """Objects on whole pixels and detections near them, many for one object; every third seed with equal scores."""
    random = np.random.default_rng(seed)
    images, objects, found = (int(random.integers(low, high)) for low, high in ((1, 6), (4, 60), (5, 150)))
    image, category = random.integers(0, images, objects), random.integers(0, 2, objects)
    first = random.integers(1, 60, (objects, 2)).astype(float)
    boxes = np.hstack([first, first + random.integers(0, 25, (objects, 2))])
    source = random.integers(0, objects, found)
    near = boxes[source] + random.integers(-4, 5, (found, 4)) / 2
    near[:, 2:] = np.maximum(near[:, :2], near[:, 2:])
    scores = random.permutation(found) / found
    if seed % 3 == 0:
        scores = np.round(scores, 1)
    return Scene(
        images,
        {"image_ids": image, "category_ids": category},
        random.random(objects) < 0.2,
        boxes,
        {"image_ids": image[source], "category_ids": category[source], "scores": scores},
        near,
    )


@pytest.mark.parametrize(
    ("protocol", "options"),
    [
        (VOC2007, {"eleven": True}),
        (VOC2012, {"eleven": False}),
        (VOC2012.replace(threshold="at_least"), {"eleven": False, "at_least": True}),
        (DOTA_TASK2, {"eleven": True}),
    ],
)
def test_ap_of_every_class_has_the_bits_of_the_plain_arithmetic(protocol: Protocol, options: dict[str, bool]) -> None:
    ties = 0
    for seed in range(150):
        drawn = scene(seed)
        evaluation = evaluate(*drawn.columns(), protocol)
        found = [result.summary["mAP"] for result in evaluation.per_class]
        for category, ap in enumerate(found):
            if not math.isnan(ap):
                assert ap == drawn.plain(category, **options), seed
        assert evaluation.summary["mAP"] == np.mean([ap for ap in found if not math.isnan(ap)])
        ties += int((evaluation.matches.pairs.iou == 0.5).sum())
    assert (ties > 0) == (protocol.threshold == "at_least"), "some overlaps are 0.5 exactly"


def test_a_class_whose_objects_are_all_difficult_has_no_ap() -> None:
    gt = GroundTruth.from_arrays(
        image_ids=[1, 1], category_ids=[1, 2], boxes=[[0, 0, 9, 9]] * 2, flags={"difficult": [True, False]}
    )
    dt = Detections.from_arrays(
        image_ids=[1] * 3, category_ids=[1, 1, 2], boxes=[[0, 0, 9, 9]] * 3, scores=[0.9, 0.8, 0.7]
    )
    evaluation = evaluate(gt, dt, VOC2012)
    assert math.isnan(evaluation.per_class[0].summary["mAP"])
    assert evaluation.table() == "Mean AP = 1.0000"
    assert evaluation.matches.is_ignored(0.5).tolist() == [True, True, False], "a difficult object, twice"


def test_there_is_no_cap_and_no_limit_of_size(tmp_path: Path) -> None:
    side = 2.0**52
    boxes = [[0, 0, side, side]] * 150
    gt = GroundTruth.from_arrays(image_ids=[1] * 150, category_ids=[1] * 150, boxes=boxes)
    dt = Detections.from_arrays(image_ids=[1] * 150, category_ids=[1] * 150, boxes=boxes, scores=[0.5] * 150)
    evaluation = evaluate(gt, dt, VOC2012)
    assert not evaluation.matches.is_ignored(0.5).any()
    assert evaluation.per_class[0].num_detections == 150
    settings = json.loads(evaluation.to_json())["settings"]
    assert (settings["max_dets"], settings["area_ranges"]) == ([NO_CAP], {"all": [0, None]})
    save_table(evaluation.matches, tmp_path / "table.npz")


@pytest.mark.parametrize("kind", ["polygon", "rotated"])
def test_dota_compares_polygons_by_the_rules_of_voc(kind: str) -> None:
    shapely = pytest.importorskip("shapely", reason="an independent overlap of polygons")
    from ioukit import RotatedBoxes  # noqa: PLC0415

    for seed in range(20):
        random = np.random.default_rng(seed)
        objects, found = 20, 40
        boxes = np.column_stack(
            [random.uniform(0, 60, (objects, 2)), random.uniform(5, 30, (objects, 2)), random.uniform(0, 3, objects)]
        )
        source = random.integers(0, objects, found)
        near = boxes[source] + random.normal(0, 1, (found, 5)) * [2, 2, 2, 2, 0.1]
        near[:, 2:4] = np.maximum(near[:, 2:4], 1)
        sides: list[Any] = [RotatedBoxes(rows, unit="radians", sense="clockwise") for rows in (boxes, near)]
        corners = [rotated.corners().reshape(-1, 4, 2) for rotated in sides]
        if kind == "polygon":
            sides = [Polygons(list(rows)) for rows in corners]
        shapes = [shapely.polygons(rows) for rows in corners]
        images, difficult = random.integers(0, 3, objects), random.random(objects) < 0.2
        gt = GroundTruth.from_arrays(
            image_ids=images, category_ids=[1] * objects, regions=sides[0], flags={"difficult": difficult}
        )
        scores = random.permutation(found) / found
        dt = Detections.from_arrays(image_ids=images[source], category_ids=[1] * found, regions=sides[1], scores=scores)

        def overlaps(rows: Any, row: int, shapes: Any = shapes) -> Any:
            shared = shapely.area(shapely.intersection(shapes[0][rows], shapes[1][row]))
            return shared / (shapely.area(shapes[0][rows]) + shapely.area(shapes[1][row]) - shared)

        expected = plain_voc_ap(images, difficult, images[source], scores, overlaps, eleven=True)
        assert evaluate(gt, dt, DOTA_TASK1, iou_type=kind).summary["mAP"] == expected


@pytest.mark.parametrize("name", SETS)
def test_tide_has_the_ap_of_tidecv(name: str) -> None:
    expected = json.loads(EXPECTED.read_text())[name]["as it is"]
    found = evaluate(*read_coco(*SETS[name]), TIDE).summary["AP"]
    assert found == pytest.approx(expected["ap"], rel=1e-13)


def test_a_detection_that_is_half_within_a_crowd_counts_in_tide() -> None:
    gt = GroundTruth.from_arrays(
        image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 10, 10], [50, 0, 10, 10]], crowd=[False, True]
    )
    dt = Detections.from_arrays(
        image_ids=[1, 1], category_ids=[1, 1], boxes=[[45, 0, 10, 10], [0, 0, 10, 10]], scores=[0.9, 0.8]
    )
    assert evaluate(gt, dt, TIDE).summary["AP"] == pytest.approx(0.5)
    assert evaluate(gt, dt, COCO).summary["AP50"] == pytest.approx(1)


@pytest.mark.parametrize("name", ["voc2007", "VOC2012", "dota-task1", "dota-task2", "tide"])
def test_each_is_found_by_its_name(name: str) -> None:
    protocol = find_protocol(name)
    assert protocol.reference
    assert type(protocol).from_dict(protocol.to_dict()) == protocol
