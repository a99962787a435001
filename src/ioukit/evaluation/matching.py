"""Matching: from data to a match table."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._boundary import (
    DetectionColumns,
    ObjectColumns,
    RuleColumns,
    SceneColumns,
    SelectionColumns,
    VerifiedColumns,
)
from ioukit._checks import check_number, check_threads
from ioukit.datasets import Categories, Detections, GroundTruth
from ioukit.errors import DatasetError
from ioukit.evaluation.kinds import BoxColumns, Comparison, MaskColumns, PairColumns, find_kind
from ioukit.evaluation.protocols import IgnoreRule, Measure, Protocol
from ioukit.evaluation.protocols.registry import check_protocol
from ioukit.evaluation.table import NEARLY_ONE, DetectionRows, MatchTable, NearPairs, ObjectRows, PairRows

__all__ = ["checked_near", "match", "reaching_pairs", "rules_of"]

_IGNORED, _OVER_DETECTION, _REPEATED, _VOID, _MORE_THAN, _COUNTS_ONCE, _COVERED = 1, 2, 4, 8, 16, 32, 64
_LISTS = {
    "listed": ("neg_category_ids", "not_exhaustive_category_ids"),
    "labelled": ("positive_category_ids", "negative_category_ids"),
}


def match(
    ground_truth: GroundTruth,
    detections: Detections,
    protocol: Protocol | None = None,
    *,
    iou_type: str = "bbox",
    categories: Sequence[int | str] | None = None,
    images: Sequence[int | str] | npt.NDArray[Any] | None = None,
    near: float | None = None,
    threads: int | None = None,
) -> MatchTable:
    """Match detections to objects by the rules of a protocol.

    On each image and in each category the detections choose in the order of their scores; among equal scores, the first
    in the file chooses first. With COCO's rules, each detection takes the free object with the highest IoU, if that is
    at least the threshold; among objects with the same IoU it takes the last in the file. An object that counts is
    preferred to one that is ignored. A crowd may be taken any number of times.

    Args:
        ground_truth: The objects.
        detections: The detections, on images and categories that the ground truth lists.
        protocol: The rules; if ``None``, those of the kind: :data:`COCO_KEYPOINTS` for keypoints, else :data:`COCO`.
        iou_type: The kind of region that is compared, a key of :data:`ioukit.evaluation.REGION_KINDS`: ``"bbox"``,
            ``"segm"``, ``"boundary"``, ``"keypoints"``, ``"rotated"``, ``"polygon"``, ``"box3d"``, ``"bev"``, or one
            that was added with :func:`ioukit.evaluation.register_kind`.
        categories: Ids or names of the categories to evaluate; all if ``None``.
        images: Ids of the images to evaluate; all if ``None``.
        near: If given, the table also lists the pairs of detections and objects with this IoU or a higher one, within
            and across categories, and the detections beyond the cap. The confusion matrix and the error kinds need
            these pairs; 0.1 is enough for both with their default options.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        DatasetError: If a detection has an image or category that the ground truth does not list, or a side lacks the
            regions that are compared.
        ValueError: If ``categories`` or ``images`` has one that the ground truth does not list, ``iou_type`` is
            unknown, or ``near`` is not within (0, 1].
    """
    kind = find_kind(iou_type)
    protocol = kind.protocol if protocol is None else protocol
    near = checked_near(protocol, near)
    listed = ground_truth.images
    chosen_images = _chosen(len(listed), None if images is None else listed.positions(images))
    known = ground_truth.categories
    chosen_categories = _chosen(len(known), None if categories is None else np.array(known.positions(categories), int))
    choice, outside = protocol.objects_choose, None
    if choice is not None:
        from ioukit.evaluation.object_choice import (  # noqa: PLC0415 - COCO does not need it
            check_selection,
            ignored_ranges,
            with_ranges,
        )

        check_selection(known, chosen_categories, protocol)
        outside = ignored_ranges(ground_truth, protocol, choice)
        near = min(protocol.iou_thresholds[0], 1.0 if near is None else near)
    if protocol.ranges_by == "flag":
        outside = _without_flags(ground_truth, protocol)
    known_categories = known if categories is None else known.take(chosen_categories)
    _check_groups(known_categories, protocol, ground_truth.source)
    special = _special(ground_truth, protocol)
    everything, kept = detections, _kept(detections, protocol)
    detections = detections if kept is None else detections.take(kept)
    image_ids = detections.image_ids_in(listed)
    sizes = (ground_truth.areas, detections.areas) if choice is None else (_heights(ground_truth), _heights(detections))
    scene = SceneColumns(
        SelectionColumns(listed.ids, chosen_images),
        SelectionColumns(known.ids, chosen_categories),
        ObjectColumns(ground_truth.image_ids, ground_truth.category_ids, sizes[0], special, outside),
        DetectionColumns(
            detections.source, image_ids, detections.category_ids, detections.scores, detections.boxes, sizes[1]
        ),
        None if protocol.verified == "all" else _verified(ground_truth, protocol),
    )
    columns = _core.match_detections(
        scene,
        _regions(ground_truth, detections, image_ids, special, protocol, iou_type, near, threads),
        rules_of(protocol, near),
        check_threads(threads),
    )
    rows = columns["objects"]["row"]
    if kept is not None:
        columns["detections"]["row"] = kept[columns["detections"]["row"]]
    if _has_jaccard(protocol):
        special[_covered(ground_truth, detections, special, protocol, iou_type, threads)] |= _COVERED
    table = MatchTable(
        protocol=protocol,
        iou_type=iou_type,
        categories=known_categories,
        image_ids=listed.labels[chosen_images],
        image_detections=columns["image_detections"],
        detections=DetectionRows(**columns["detections"]),
        objects=ObjectRows(**columns["objects"], id=ground_truth.ids[rows], special=special[rows]),
        pairs=PairRows(**columns["pairs"]),
        near=None if near is None else NearPairs(**columns["near"], least=float(near)),
        sources=(len(ground_truth), len(everything)),
    )
    return table if choice is None else with_ranges(table, _heights(everything), choice)


def rules_of(protocol: Protocol, near: float | None) -> RuleColumns:
    """The rules of a protocol that matching follows."""
    return RuleColumns(
        thresholds=np.array(protocol.iou_thresholds),
        more_than=protocol.threshold == "more_than",
        areas=np.array([(area.low, area.high) for area in protocol.area_ranges], np.float64),
        max_detections=protocol.max_dets[-1],
        cap_scope=protocol.cap_scope,
        class_agnostic=protocol.class_agnostic,
        choice=protocol.choice,
        last_of_equal=protocol.ties == "last",
        leaves_out_empty=protocol.without_area != "counted",
        leaves_out_empty_objects=protocol.without_area == "left_out",
        near=near,
    )


def _regions(
    ground_truth: GroundTruth,
    detections: Detections,
    image_ids: npt.NDArray[np.int64],
    special: npt.NDArray[np.uint8],
    protocol: Protocol,
    iou_type: str,
    near: float | None,
    threads: int | None,
) -> BoxColumns | MaskColumns | PairColumns:
    """The regions that are compared, as matching reads them."""
    compared = Comparison(
        ground_truth,
        detections,
        image_ids,
        (special & _OVER_DETECTION).astype(np.bool_),
        all_categories=near is not None or protocol.class_agnostic,
        least=min(protocol.iou_thresholds[0], 1.0 if near is None else near),
        threads=check_threads(threads),
        protocol=protocol,
        counted=special & _IGNORED == 0 if protocol.box_aspect_ratio else None,
    )
    return find_kind(iou_type).compare(compared)


def _without_flags(ground_truth: GroundTruth, protocol: Protocol) -> npt.NDArray[np.uint8]:
    """(G, C) the ranges whose flag each object lacks, as bits."""
    for label in protocol.area_labels:
        if label not in ground_truth.flags and len(ground_truth):
            raise DatasetError(
                f"{ground_truth.source}: the protocol {protocol.name!r} needs the flag {label!r} of the objects: "
                f"expected bools, found {', '.join(ground_truth.flags) or 'no flags'}; GroundTruth.from_arrays takes "
                "flags="
            )
    lacks = [~ground_truth.flag(label) for label in protocol.area_labels]
    return np.packbits(np.stack(lacks, axis=1), axis=1, bitorder="little")


def _kept(detections: Detections, protocol: Protocol) -> npt.NDArray[np.int64] | None:
    """Rows of the detections that take part; ``None`` for all."""
    if not protocol.detection_values:
        return None
    from ioukit.evaluation._box_values import within  # noqa: PLC0415 - COCO has no such rule

    return np.flatnonzero(within(detections, protocol.detection_values, "detections"))


def _heights(side: GroundTruth | Detections) -> npt.NDArray[np.float64]:
    """(N,) the heights of the upright boxes."""
    return np.ascontiguousarray(side.boxes[:, 3])


def _chosen(count: int, positions: npt.NDArray[np.intp] | None) -> npt.NDArray[np.bool_]:
    chosen = np.full(count, positions is None)
    if positions is not None:
        chosen[positions] = True
    return chosen


def _verified(ground_truth: GroundTruth, protocol: Protocol) -> VerifiedColumns:
    """The lists of categories that the images have."""
    if protocol.verified == "with_objects":
        empty = (np.zeros(0, np.int64), np.zeros(len(ground_truth.images), np.int64))
        return VerifiedColumns(empty, empty)
    from ioukit.datasets import IdLists  # noqa: PLC0415 - only LVIS and Open Images need it

    listed = protocol.verified == "listed"
    reader = "read_lvis reads them from a file of LVIS" if listed else "read_open_images reads them from image labels"
    lists = []
    for name in _LISTS[protocol.verified]:
        column = ground_truth.images.attributes.get(name)
        if not isinstance(column, IdLists):
            found = "no such column" if column is None else type(column).__name__
            raise DatasetError(
                f"{ground_truth.source}: the attribute {name!r} of the images: expected lists of ids, found {found}; "
                f"ioukit.datasets.{reader}, and GroundTruth.from_arrays takes IdLists as image_attributes"
            )
        lists.append(column)
    if listed:
        looked_for, not_exhaustive = lists
    else:
        pairs = zip(*lists, strict=True)
        looked_for = IdLists.of([np.concatenate(both) for both in pairs])
        not_exhaustive = IdLists.of([[]] * len(looked_for))
    return VerifiedColumns((looked_for.ids, looked_for.ends), (not_exhaustive.ids, not_exhaustive.ends))


def _check_groups(categories: Categories, protocol: Protocol, source: str) -> None:
    """Refuses categories that are in none of the groups that the measures of a protocol name."""
    name = protocol.category_groups
    groups = dict.fromkeys(measure.group for measure in protocol.measures if measure.group is not None)
    if not name or not groups or name == "name":  # a category of any name is in the group of that name
        return
    values = categories.attributes.get(name)
    for row, label in enumerate(categories.names):
        if values is None or values[row] not in groups:
            found = "no such column" if values is None else repr(str(values[row]))
            raise DatasetError(
                f"{source}: the attribute {name!r} of category {int(categories.ids[row])} ({label}): expected one of "
                f"{', '.join(groups)}, found {found}"
            )


def _special(ground_truth: GroundTruth, protocol: Protocol) -> npt.NDArray[np.uint8]:
    """(G,) the bits of :attr:`ObjectRows.special`."""
    special = np.zeros(len(ground_truth), np.uint8)
    outside = None
    if protocol.counted_values:
        from ioukit.evaluation._box_values import within  # noqa: PLC0415 - COCO has no such rule

        outside = ~within(ground_truth, protocol.counted_values, "annotations")
    for rule in protocol.ignored:
        flagged = ground_truth.flag(rule.flag) if rule.flag != "outside" or outside is None else outside
        if flagged.any():
            bits = _COUNTS_ONCE if rule.counts_once else _IGNORED
            bits |= (_OVER_DETECTION if rule.over_detection else 0) | (_REPEATED if rule.repeated else 0)
            bits |= _MORE_THAN if rule.more_than else 0
            special |= flagged.astype(np.uint8) * np.uint8(bits)
    if "void" in ground_truth.flags:
        special |= ground_truth.flags["void"].astype(np.uint8) * np.uint8(_VOID)
    return special


def _has_jaccard(protocol: Protocol) -> bool:
    return any(measure.quantity == "JI" for measure in protocol.measures)


def checked_near(protocol: Protocol, near: float | None) -> float | None:
    """The least overlap of near pairs, checked; the Jaccard index needs all pairs that reach the threshold."""
    check_protocol(protocol)
    if near is not None:
        check_number(near=near)
        if not 0 < near <= 1:
            raise ValueError(f"near must be above 0 and at most 1, got {near}")
    if not _has_jaccard(protocol):
        return near
    return protocol.main_iou if near is None else min(near, protocol.main_iou)


def _covered(
    gt: GroundTruth,
    dt: Detections,
    special: npt.NDArray[np.uint8],
    protocol: Protocol,
    iou_type: str,
    threads: int | None,
) -> npt.NDArray[np.int64]:
    """Rows of the objects that count and would be ignored if they were detections: they lie within ignored objects."""
    covering = np.flatnonzero(special & _IGNORED)
    counted = np.flatnonzero((special & _IGNORED == 0) & np.isin(gt.image_ids, gt.image_ids[covering]))
    if not len(counted):
        return counted
    keys = gt.images.keys
    image_ids = gt.image_ids[counted]
    objects = Detections(
        image_ids=image_ids if keys is None else np.searchsorted(gt.images.ids, image_ids),
        category_ids=gt.category_ids[counted],
        boxes=gt.boxes[counted],
        scores=np.zeros(len(counted)),
        areas=gt.areas[counted],
        regions=gt.take(counted).regions,
        attributes={"image_size": _sizes_of_objects(gt, dt)[counted]} if protocol.clipped_boxes else {},
        image_keys=keys,
        source=gt.source,
    )
    ignored = gt.take(covering)
    rules = protocol.replace(
        ignored=(IgnoreRule("covering", over_detection=True, repeated=True),),
        counted_values=(),
        detection_values=(),
        ranges_by="area",
        summary=(Measure("AP"),),
    )
    table = match(
        dataclasses.replace(ignored, flags={"covering": np.ones(len(ignored), np.bool_)}),
        objects,
        rules,
        iou_type=iou_type,
        near=protocol.main_iou,
        threads=threads,
    )
    return counted[table.detections.row[reaching_pairs(table)[0]]]


def reaching_pairs(table: MatchTable) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """(P,) rows of detections and of objects, and (P,) overlaps, of all pairs that reach the main threshold.

    The table must list near pairs. Pairs of different categories are left out, unless all count as one.
    """
    protocol, near = table.protocol, table.near
    assert near is not None
    least = protocol.main_iou
    reaches = near.iou > least if protocol.threshold == "more_than" else near.iou >= min(least, NEARLY_ONE)
    category = table.evaluated_category(table.detections.category)[near.detection]
    reaches &= category == table.evaluated_category(table.objects.category)[near.object]
    return near.detection[reaches], near.object[reaches], near.iou[reaches]


def _sizes_of_objects(gt: GroundTruth, dt: Detections) -> npt.NDArray[np.float64]:
    """(G, 2) the sizes of images, with those that detections name; infinite where unknown."""
    sizes = gt.images.sizes.copy()
    if "image_size" in dt.attributes:
        found = np.searchsorted(gt.images.ids, dt.image_ids_in(gt.images))
        sizes[found] = np.where(np.isnan(sizes[found]), dt.attributes["image_size"], sizes[found])
    sizes[np.isnan(sizes)] = np.inf
    of_objects: npt.NDArray[np.float64] = sizes[np.searchsorted(gt.images.ids, gt.image_ids)]
    return of_objects
