"""Matching: from data to a match table."""

from __future__ import annotations

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
from ioukit.evaluation.kinds import Comparison, find_kind
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.table import DetectionRows, MatchTable, NearPairs, ObjectRows, PairRows

__all__ = ["match", "rules_of"]

_IGNORED, _OVER_DETECTION, _REPEATED, _VOID, _MORE_THAN, _COUNTS_ONCE = 1, 2, 4, 8, 16, 32
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
    if near is not None:
        check_number(near=near)
        if not 0 < near <= 1:
            raise ValueError(f"near must be above 0 and at most 1, got {near}")
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
    known_categories = known if categories is None else known.take(chosen_categories)
    _check_groups(known_categories, protocol, ground_truth.source)
    special = _special(ground_truth, protocol)
    image_ids = detections.image_ids_in(listed)
    compared = Comparison(
        ground_truth,
        detections,
        image_ids,
        (special & _OVER_DETECTION).astype(np.bool_),
        all_categories=near is not None or protocol.class_agnostic,
        least=min(protocol.iou_thresholds[0], 1.0 if near is None else near),
        threads=check_threads(threads),
        inclusive_boxes=protocol.inclusive_boxes,
    )
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
    columns = _core.match_detections(scene, kind.compare(compared), rules_of(protocol, near), check_threads(threads))
    rows = columns["objects"]["row"]
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
        sources=(len(ground_truth), len(detections)),
    )
    return table if choice is None else with_ranges(table, _heights(detections), choice)


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
    for rule in protocol.ignored:
        flagged = ground_truth.flag(rule.flag)
        if flagged.any():
            bits = _COUNTS_ONCE if rule.counts_once else _IGNORED
            bits |= (_OVER_DETECTION if rule.over_detection else 0) | (_REPEATED if rule.repeated else 0)
            bits |= _MORE_THAN if rule.more_than else 0
            special |= flagged.astype(np.uint8) * np.uint8(bits)
    if "void" in ground_truth.flags:
        special |= ground_truth.flags["void"].astype(np.uint8) * np.uint8(_VOID)
    return special
