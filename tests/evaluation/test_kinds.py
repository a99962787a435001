"""Every kind of region, through `evaluate`, against the plain rules with the overlaps of a dense table."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest

import ioukit
from evaluation.plain_rules import plain_ap, plain_matching
from ioukit import COCO, Boxes3D, DatasetError, Detections, GroundTruth, Masks, Polygons, RotatedBoxes, evaluate
from ioukit.evaluation import Comparison, Kind, MatchTable, PairColumns, match, register_kind
from ioukit.evaluation.kinds import REGION_KINDS
from support.everything import assert_says_the_same

KINDS = ["rotated", "rotated-probiou", "polygon", "box3d", "bev"]
PROTOCOL = COCO.replace(
    iou_thresholds=[0.2, 0.5, 0.75], max_dets=[3, 100], area_ranges={"all": (0, 1e10), "middle": (60, 300)}
)


def regions(kind: str, rows: Any) -> Any:
    """Regions of a kind from centre, size, angle, height: (N, 7)."""
    rows = np.asarray(rows, np.float64).reshape(-1, 7)
    if kind in ("box3d", "bev"):
        return Boxes3D(rows, unit="radians", sense="counterclockwise", z="centre")
    turned = RotatedBoxes(rows[:, [0, 1, 3, 4, 6]], unit="degrees", sense="clockwise")
    if kind.startswith("rotated"):
        return turned
    return Polygons(list(turned.corners()))


def scene(kind: str, seed: int) -> tuple[GroundTruth, Detections]:
    """Objects of two classes on three images, and detections near most of them."""
    rng = np.random.default_rng(seed)

    def rows(count: int) -> Any:
        return np.column_stack(
            [rng.uniform(0, 60, (count, 3)), rng.uniform(4, 25, (count, 3)), rng.uniform(-9, 9, count)]
        )

    objects = rows(15)
    source = rng.integers(0, 15, 40)
    found = objects[source] + rng.normal(0, 1, (40, 7)) * rng.choice([0.0, 1.0, 3.0], (40, 1))
    found[:, 3:6] = np.abs(found[:, 3:6]) + 1
    images, categories = rng.integers(1, 4, 15), rng.integers(1, 3, 15)
    gt = GroundTruth.from_arrays(
        image_ids=images, category_ids=categories, regions=regions(kind, objects), crowd=rng.random(15) < 0.15
    )
    seen = np.where(rng.random(40) < 0.85, categories[source], 3 - categories[source])
    dt = Detections.from_arrays(
        image_ids=images[source], category_ids=seen, regions=regions(kind, found), scores=rng.random(40).round(2)
    )
    return gt, dt


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS)
def test_matches_and_numbers_are_those_of_the_plain_rules(kind: str, seed: int) -> None:
    gt, dt = scene(kind, seed)
    name = "Boxes3D" if kind == "bev" else next(iter(gt.regions))
    first, second = dt.regions[name], gt.regions[name]
    if kind == "bev":
        first, second = first.to_bird_eye(), second.to_bird_eye()
    iou, ioa = ioukit.pairwise_iou(first, second), ioukit.pairwise_ioa(first, second, of="first")
    if kind == "rotated-probiou":
        iou = ioa = ioukit.pairwise_probiou(first, second)

    def overlap(row: int, place: int, *, crowd: bool) -> float:
        return float((ioa if crowd else iou)[row, place])

    evaluation = evaluate(gt, dt, PROTOCOL, iou_type=kind, near=0.1)
    table = evaluation.matches
    hits = 0
    for t, threshold in enumerate(PROTOCOL.iou_thresholds):
        for a, area in enumerate(PROTOCOL.area_ranges):
            plain = plain_matching(gt, dt, PROTOCOL, threshold, area, 100, overlap)
            matched = table.matched_object(threshold, area.label)
            rows = np.flatnonzero(matched >= 0)
            pairs = zip(table.detections.row[rows].tolist(), table.objects.row[matched[rows]].tolist(), strict=True)
            assert dict(pairs) == plain.matched
            hits += len(plain.matched)
            for m, cap in enumerate(PROTOCOL.max_dets):
                expected = plain_ap(gt, dt, PROTOCOL, threshold, area, cap, overlap)
                precision = evaluation.precision[t, :, :, a, m].mean(axis=0)
                np.testing.assert_allclose(precision, list(expected.values()), rtol=1e-12)
    assert hits > 20
    parts = [match(gt, dt, PROTOCOL, images=[i], iou_type=kind, near=0.1, threads=2) for i in gt.images.ids.tolist()]
    assert_says_the_same(MatchTable.merge(parts), table)


def test_boxes_that_do_not_surround_their_regions_hide_no_pair() -> None:
    """Files give boxes and regions apart; the overlap is that of the regions."""
    turned = regions("rotated", [[10, 10, 0, 8, 4, 1, 30]])
    far = np.array([[500.0, 500.0, 1.0, 1.0]])
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=far, areas=[32.0], regions=turned)
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], scores=[0.5], regions=turned)
    assert evaluate(gt, dt, iou_type="rotated").summary["AP"] > 0.999


@pytest.mark.parametrize("kind", [*KINDS, "segm", "boundary", "keypoints"])
def test_boxes_alone_are_refused_by_every_other_kind(kind: str) -> None:
    boxes: dict[str, Any] = {"image_ids": [1], "category_ids": [1], "boxes": [[0.0, 0, 9, 9]]}
    gt, dt = GroundTruth.from_arrays(**boxes), Detections.from_arrays(**boxes, scores=[0.5])
    with pytest.raises(DatasetError, match=f"iou_type='{kind}' needs annotations with .*, found boxes alone"):
        evaluate(gt, dt, iou_type=kind)


@pytest.mark.parametrize("kind", ["segm", "boundary"])
def test_masks_of_another_size_are_named(kind: str) -> None:
    def masks(height: int) -> Masks:
        return Masks.from_arrays(np.ones((1, height, 8), np.bool_))

    columns: dict[str, Any] = {"image_ids": [1], "category_ids": [1]}
    gt = GroundTruth.from_arrays(**columns, regions=masks(6))
    dt = Detections.from_arrays(**columns, regions=masks(5), scores=[0.5])
    with pytest.raises(DatasetError, match=r"detections\[0\].segmentation: expected a mask of 6 x 8 .* found 5 x 8"):
        evaluate(gt, dt, iou_type=kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_side_without_rows_is_no_error(kind: str) -> None:
    gt, dt = scene(kind, 0)
    assert evaluate(gt, dt[:0], iou_type=kind).summary["AP"] == 0
    assert np.isnan(evaluate(gt[:0], dt, iou_type=kind).summary["AP"])


def test_pairs_of_other_categories_do_not_match() -> None:
    """A kind of one's own may list them: only those of one category count, as with boxes."""

    def columns(compared: Comparison) -> PairColumns:
        rows, places = np.nonzero(compared.detection_images[:, None] == compared.ground_truth.image_ids)
        objects, found = (ioukit.Boxes(side.boxes, "xywh") for side in (compared.ground_truth, compared.detections))
        overlap = ioukit.elementwise_iou(found[rows], objects[places])
        return PairColumns(rows, places, np.asarray(overlap, np.float64))

    gt, dt = scene("rotated", 3)
    gt = gt.take(~gt.crowd)
    with mock.patch.dict(REGION_KINDS):
        register_kind(Kind("all", "upright boxes, all pairs", columns))
        ours = evaluate(gt, dt, PROTOCOL, iou_type="all", near=0.1)
    expected = evaluate(gt, dt, PROTOCOL, near=0.1)
    np.testing.assert_array_equal(ours.matches.matched_object(), expected.matches.matched_object())
    assert ours.summary == pytest.approx(expected.summary, nan_ok=True)
    assert len(ours.matches.near) == len(expected.matches.near)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pairs", "says"),
    [
        (([0], [0, 1], [0.5]), "must return columns of one length, got 1 detections, 2 objects and 1 overlaps"),
        (([40], [0], [0.5]), "returned rows of detections that do not exist: there are 40"),
        (([0], [-1], [0.5]), "returned rows of objects that do not exist: there are 15"),
        (([0, 1], [0, 0], [0.5, -0.1]), "must return overlaps of at least 0"),
        (([0, 1], [0, 0], [0.5, np.nan]), "must return overlaps of at least 0"),
        (([0, 1, 0], [0, 0, 0], [0.5, 0.5, 0.6]), "returned a pair twice"),
    ],
)
def test_pairs_that_make_no_sense_are_refused(pairs: Any, says: str) -> None:
    with mock.patch.dict(REGION_KINDS):
        register_kind(Kind("own", "pairs", lambda _: PairColumns(*map(np.array, pairs))))
        with pytest.raises(ValueError, match=f"the kind 'own' {says}"):
            evaluate(*scene("rotated", 0), iou_type="own")
