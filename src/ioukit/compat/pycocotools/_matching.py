"""Matching of all images at once, by the engine of ioukit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ioukit import _core
from ioukit._array_types import Floats, Ids
from ioukit._boundary import (
    BoxColumns,
    DetectionColumns,
    MaskColumns,
    ObjectColumns,
    PairColumns,
    RuleColumns,
    SceneColumns,
    SelectionColumns,
)
from ioukit.compat.pycocotools._sides import Groups, IrregularError, Side, places_among
from ioukit.evaluation.kinds.keypoints import keypoint_similarity
from ioukit.regions import Masks

__all__ = ["Matched", "Rules", "match", "overlaps_of"]


_IGNORED, _OVER_DETECTION, _REPEATED, _VOID = 1, 2, 4, 8


@dataclass(frozen=True)
class Rules:
    """The parameters that matching follows, checked."""

    iou_type: str
    thresholds: Floats
    """(T,) in the order of the parameters."""
    area_ranges: Floats
    """(A, 2) lowest and highest area."""
    cap: int
    sigmas: Floats
    """(P,) of keypoints."""

    @classmethod
    def of(cls, params: Any) -> Rules:
        """The rules of parameters.

        Raises:
            IrregularError: If the engine does not have such rules.
        """
        try:
            thresholds = np.array(params.iouThrs, np.float64)
            areas = np.array(params.areaRng, np.float64)
            caps = np.array(params.maxDets)
            sigmas: Floats = np.zeros(0)
            if params.iouType == "keypoints":
                sigmas = np.array(params.kpt_oks_sigmas, np.float64)
                if not isinstance(params.kpt_oks_sigmas, np.ndarray) or not (sigmas > 0).all():
                    raise IrregularError("sigmas")
        except (ValueError, TypeError, AttributeError) as error:
            raise IrregularError("params") from error
        checks = (
            thresholds.ndim == 1 and len(thresholds) > 0,
            (thresholds > 0).all() and np.isfinite(thresholds).all(),
            areas.ndim == 2 and areas.shape[1] == 2 and not np.isnan(areas).any(),
            caps.ndim == 1 and caps.dtype.kind == "i" and len(caps) > 0 and 0 < caps.min() <= caps.max() < 2**31,
            params.iouType in ("bbox", "segm", "keypoints"),
        )
        if not all(checks):
            raise IrregularError("params")
        return cls(params.iouType, thresholds, areas, int(caps.max()), sigmas)


@dataclass(frozen=True)
class Matched:
    """The outcome of matching, in the rows of the engine's table."""

    groups: Groups
    rules: Rules
    objects: Side
    detections: Side
    object_rows: dict[str, NDArray[Any]]
    detection_rows: dict[str, NDArray[Any]]
    pair_rows: dict[str, NDArray[Any]]
    order: Ids
    """(T,) the position of each threshold among those of the engine, which are sorted."""

    @property
    def group_count(self) -> int:
        """The number of categories that are evaluated."""
        return len(self.groups.categories) if self.groups.by_category else 1


def match(objects: Side, detections: Side, groups: Groups, rules: Rules) -> Matched:
    """Matches the detections to the objects of the groups.

    Raises:
        IrregularError: If masks of one image differ in size, or keypoints in number.
    """
    sorted_thresholds, order = places_among(rules.thresholds)
    flags = objects.ignored * np.uint8(_IGNORED) | objects.crowd * np.uint8(_REPEATED)
    flags |= (objects.ids == 0) * np.uint8(_VOID)  # pycocotools takes the id 0 for no match
    if rules.iou_type != "keypoints":
        flags |= objects.crowd * np.uint8(_OVER_DETECTION)
    count = len(groups.categories) if groups.by_category else 1
    scene = SceneColumns(
        SelectionColumns(np.arange(len(groups.images)), np.ones(len(groups.images), np.bool_)),
        SelectionColumns(np.arange(count), np.ones(count, np.bool_)),
        ObjectColumns(objects.image, objects.category, objects.areas, flags),
        DetectionColumns(
            "results", detections.image, detections.category, detections.scores, detections.boxes, detections.areas
        ),
        None,
    )
    columns = _core.match_detections(
        scene,
        _regions(objects, detections, rules, count, float(sorted_thresholds[0])),
        RuleColumns(
            thresholds=sorted_thresholds,
            more_than=False,
            areas=rules.area_ranges,
            max_detections=rules.cap,
            cap_scope="image_and_category",
            class_agnostic=False,
            choice="best_free",
            last_of_equal=True,
            leaves_out_empty=False,
            leaves_out_empty_objects=False,
            near=None,
        ),
        0,
    )
    rows = columns["objects"], columns["detections"], columns["pairs"]
    return Matched(groups, rules, objects, detections, *rows, order)


def _regions(
    objects: Side, detections: Side, rules: Rules, count: int, least: float
) -> BoxColumns | MaskColumns | PairColumns:
    if rules.iou_type == "bbox":
        return BoxColumns(objects.boxes, detections.boxes)
    if rules.iou_type == "segm":
        masks = objects.regions, detections.regions
        assert isinstance(masks[0], Masks)
        assert isinstance(masks[1], Masks)
        _check_sizes(objects, detections)
        return MaskColumns(masks[0]._parts, masks[1]._parts)
    _check_keypoints(objects, detections, rules)
    rows, places = _pairs_of_groups(objects, detections, count)
    points = _points(detections), _points(objects)
    kept = _core.keypoints_may_reach(
        (*points, objects.boxes, objects.areas, rules.sigmas), rows, places, min(least, 1.0), 0
    )
    rows, places = rows[kept], places[kept]
    overlap = keypoint_similarity(*points, objects.boxes, objects.areas, (rows, places), rules.sigmas)
    found = overlap > 0
    return PairColumns(rows[found], places[found], overlap[found])


def _points(side: Side) -> Floats:
    assert isinstance(side.regions, np.ndarray)
    return np.ascontiguousarray(side.regions)


def _check_sizes(objects: Side, detections: Side) -> None:
    """Refuses masks of different sizes on one image."""
    sizes = [
        np.array(side.regions._sizes, np.int64) for side in (objects, detections) if isinstance(side.regions, Masks)
    ]
    images = np.concatenate([objects.image, detections.image])
    if len(images):
        both = np.concatenate(sizes)
        _, first, of = np.unique(images, return_index=True, return_inverse=True)
        if (both != both[first[of]]).any():
            raise IrregularError("masks of different sizes")


def _check_keypoints(objects: Side, detections: Side, rules: Rules) -> None:
    for side in (objects, detections):
        if len(side) and _points(side).shape[1] != len(rules.sigmas):
            raise IrregularError("as many keypoints as sigmas")
    if not (np.isfinite(objects.areas).all() and (objects.areas >= 0).all()):
        raise IrregularError("area")


def _pairs_of_groups(objects: Side, detections: Side, count: int) -> tuple[Ids, Ids]:
    """(P,) rows of detections and of objects of one group, by detection, then object."""
    of_objects, of_detections = (
        np.ascontiguousarray(side.image * count + side.category, np.int64) for side in (objects, detections)
    )
    return _core.pairs_of_images(of_objects, of_detections, None)


def overlaps_of(matched: Matched, rows: Ids, places: Ids) -> Any:
    """(D, G) overlaps of detections and objects by their rows, as `computeIoU` and `computeOks` return them."""
    if not len(rows) or not len(places):
        return []
    gt, dt, rules = matched.objects, matched.detections, matched.rules
    if rules.iou_type == "bbox":
        return _core.coco_box_iou(gt.boxes[places], dt.boxes[rows], gt.crowd[places]).T
    if rules.iou_type == "segm":
        assert isinstance(gt.regions, Masks)
        assert isinstance(dt.regions, Masks)
        out = np.empty((len(places), len(rows)))
        parts = gt.regions[places]._parts, dt.regions[rows]._parts
        _core.masks_pairwise("iou", *parts[0], *parts[1], gt.crowd[places], True, out, 0)
        return out.T
    pairs = np.repeat(rows, len(places)), np.tile(places, len(rows))
    found = keypoint_similarity(_points(dt), _points(gt), gt.boxes, gt.areas, pairs, rules.sigmas)
    return found.reshape(len(rows), len(places))
