"""Matching: from data and a protocol to a match table, the only input of all later steps.

Owns what the core is told: the selection of images and categories, the columns of both sides, the rules that say who
takes whom (:class:`~ioukit.evaluation.protocols.parts.MatchRules`), and the same rules in Python for explanations. Does
not own which rows count (counting.py), how regions are measured (kinds/), what follows if objects choose
(object_choice.py), and the loop itself (matching.rs).

Cut here because the core knows numbers and bits, and no protocol by name: a rule of one benchmark becomes a bit of an
object, and the loop stays the same for all. What the bits mean stands in table.py.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._boundary import (
    DetectionColumns,
    ObjectColumns,
    RuleColumns,
    SceneColumns,
    SelectionColumns,
)
from ioukit._checks import check_number, check_threads
from ioukit.datasets import Categories, Detections, GroundTruth
from ioukit.errors import DatasetError
from ioukit.evaluation.counting import (
    ranges_that_ignore,
    rows_taking_part,
    sizes_of,
    special_bits,
    verified_columns,
)
from ioukit.evaluation.kinds import Comparison, Kind, find_kind
from ioukit.evaluation.protocols import IgnoreRule, Measure, Protocol
from ioukit.evaluation.protocols.parts import MatchRules
from ioukit.evaluation.protocols.registry import find_protocol, protocol_of
from ioukit.evaluation.table import (
    COVERED,
    IGNORED,
    MORE_THAN,
    NEARLY_ONE,
    OVER_DETECTION,
    DetectionRows,
    MatchTable,
    NearPairs,
    ObjectRows,
    PairRows,
)
from ioukit.typing import IouType, ProtocolName

T = TypeVar("T")


def match(
    ground_truth: GroundTruth,
    detections: Detections,
    protocol: Protocol | ProtocolName | None = None,
    *,
    iou_type: IouType = "bbox",
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
        protocol: The rules, or their name; if ``None``, those of the kind: :data:`COCO_KEYPOINTS` for keypoints, else
            :data:`COCO`; and :data:`UNRANKED` for detections without scores.
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
    protocol = default_protocol(kind, detections) if protocol is None else protocol_of(protocol, iou_type)
    near = checked_near(protocol, near)
    check_scores(detections, protocol)
    detections = detections.meeting(ground_truth)
    listed, known = ground_truth.images, ground_truth.categories
    chosen_images = _chosen(len(listed), None if images is None else listed.positions(images))
    chosen_categories = _chosen(len(known), None if categories is None else np.array(known.positions(categories), int))
    evaluated = known if categories is None else known.take(chosen_categories)
    _check_categories(ground_truth, evaluated, protocol)
    special = special_bits(ground_truth, protocol)
    everything, kept = detections, rows_taking_part(detections, protocol)
    detections = detections if kept is None else detections.take(kept)
    image_ids = detections.image_ids_in(listed)
    scene = SceneColumns(
        SelectionColumns(listed.ids, chosen_images),
        SelectionColumns(known.ids, chosen_categories),
        *_sides(ground_truth, detections, image_ids, special, protocol),
        verified_columns(ground_truth, protocol),
    )
    regions = kind.compare(
        Comparison(
            ground_truth,
            detections,
            image_ids,
            (special & OVER_DETECTION).astype(np.bool_),
            all_categories=near is not None or protocol.class_agnostic,
            least=min(protocol.iou_thresholds[0], 1.0 if near is None else near),
            threads=check_threads(threads),
            protocol=protocol,
            counted=special & IGNORED == 0,
        )
    )
    columns = _core.match_detections(scene, regions, rules_of(protocol, near), check_threads(threads))
    rows = columns["objects"]["row"]
    if kept is not None:
        columns["detections"]["row"] = kept[columns["detections"]["row"]]
    if _has_jaccard(protocol):
        special[_covered(ground_truth, detections, special, protocol, iou_type, threads)] |= COVERED
    table = MatchTable(
        protocol=protocol,
        iou_type=iou_type,
        categories=evaluated,
        image_ids=listed.labels[chosen_images],
        image_detections=columns["image_detections"],
        detections=DetectionRows(**columns["detections"]),
        objects=ObjectRows(**columns["objects"], id=ground_truth.ids[rows], special=special[rows]),
        pairs=PairRows(**columns["pairs"]),
        near=None if near is None else NearPairs(**columns["near"], least=float(near)),
        sources=(len(ground_truth), len(everything)),
    )
    if protocol.objects_choose is None:
        return table
    from ioukit.evaluation.object_choice import with_ranges  # noqa: PLC0415 - COCO does not need it

    return with_ranges(table, ground_truth, everything, protocol.objects_choose)


def default_protocol(kind: Kind, detections: Detections) -> Protocol:
    """The rules for a kind of region where the user names none; detections without scores cannot be ranked."""
    return kind.protocol if detections.scored else find_protocol("unranked")


def notes_on_kind(kind: Kind, protocol: Protocol) -> tuple[str, ...]:
    """What to say where a protocol evaluates a kind of region that it is not meant for; nothing elsewhere.

    The default protocol of a kind and its variants are meant for it, and so is a protocol that names no kinds.
    """
    meant = protocol.meant_for
    if not meant or kind.name in meant or meant == kind.protocol.meant_for:
        return ()
    return (
        f"the protocol {protocol.name} is meant for {', '.join(meant)}, and {kind.name} is compared: --iou-type "
        f"{meant[0]}, in Python iou_type={meant[0]!r}, compares what it is meant for",
    )


def check_scores(detections: Detections, protocol: Protocol) -> None:
    """Refuse detections without scores where a protocol ranks by them.

    Raises:
        DatasetError: If they have none.
    """
    if protocol.ranks and not detections.scored:
        raise DatasetError(
            f"{detections.source}: the detections have no scores, and {protocol.name} ranks by scores; the protocol "
            "'unranked' counts without them"
        )


def _sides(
    gt: GroundTruth,
    dt: Detections,
    image_ids: npt.NDArray[np.int64],
    special: npt.NDArray[np.uint8],
    protocol: Protocol,
) -> tuple[ObjectColumns, DetectionColumns]:
    """Objects and detections as the core reads them."""
    objects = ObjectColumns(
        gt.image_ids,
        gt.category_ids,
        sizes_of(gt.areas, gt.boxes, protocol),
        special,
        ranges_that_ignore(gt, protocol),
    )
    sizes = sizes_of(dt.areas, dt.boxes, protocol)
    scores = dt.scores if protocol.ranks else np.zeros(len(dt))  # then they choose in the order of the data
    return objects, DetectionColumns(dt.source, image_ids, dt.category_ids, scores, dt.boxes, sizes)


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


def _chosen(count: int, positions: npt.NDArray[np.intp] | None) -> npt.NDArray[np.bool_]:
    chosen = np.full(count, positions is None)
    if positions is not None:
        chosen[positions] = True
    return chosen


def _check_categories(ground_truth: GroundTruth, chosen: Categories, protocol: Protocol) -> None:
    """Refuses a part of the categories if objects choose, and categories in none of the groups that measures name."""
    check_chosen_categories(ground_truth.categories, chosen, protocol)
    name = protocol.category_groups
    groups = dict.fromkeys(measure.group for measure in protocol.measures if measure.group is not None)
    if not name or not groups or name == "name":  # a category of any name is in the group of that name
        return
    values = chosen.attributes.get(name)
    for row, label in enumerate(chosen.names):
        if values is None or values[row] not in groups:
            found = "no such column" if values is None else repr(str(values[row]))
            raise DatasetError(
                f"{ground_truth.source}: the attribute {name!r} of category {int(chosen.ids[row])} ({label}): expected "
                f"one of {', '.join(groups)}, found {found}"
            )


def check_chosen_categories(known: Categories, chosen: Categories, protocol: Protocol) -> None:
    """Refuses a part of the categories if objects choose.

    Raises:
        ValueError: If some categories are not chosen.
    """
    if protocol.objects_choose is not None:
        from ioukit.evaluation.object_choice import check_selection  # noqa: PLC0415 - COCO does not need it

        check_selection(known, chosen, protocol)


def _has_jaccard(protocol: Protocol) -> bool:
    return any(measure.quantity == "JI" for measure in protocol.measures)


def checked_near(protocol: Protocol, near: float | None) -> float | None:
    """The least overlap of the near pairs that a table lists, ``None`` for no near pairs.

    Some protocols need near pairs themselves: the Jaccard index is of all pairs that reach the main threshold, and
    objects that choose do so among all pairs that could match.
    """
    if near is not None:
        check_number(near=near)
        if not 0 < near <= 1:
            raise ValueError(f"near must be above 0 and at most 1, got {near}")
    wanted = [] if near is None else [near]
    wanted += [protocol.main_iou] if _has_jaccard(protocol) else []
    wanted += [] if protocol.objects_choose is None else [protocol.iou_thresholds[0]]
    return min(wanted, default=None)


def _covered(
    gt: GroundTruth,
    dt: Detections,
    special: npt.NDArray[np.uint8],
    protocol: Protocol,
    iou_type: str,
    threads: int | None,
) -> npt.NDArray[np.int64]:
    """Rows of the objects that count and would be ignored if they were detections: they lie within ignored objects."""
    covering = np.flatnonzero(special & IGNORED)
    counted = np.flatnonzero((special & IGNORED == 0) & np.isin(gt.image_ids, gt.image_ids[covering]))
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
        attributes={"image_size": _sizes_of_objects(gt, dt)[counted]},  # for boxes that are cut at borders
        image_keys=keys,
        source=gt.source,
        normalized=gt.normalized,
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
    reaches = reaches_threshold(protocol, near.iou, protocol.main_iou)
    category = table.evaluated_category(table.detections.category)[near.detection]
    reaches &= category == table.evaluated_category(table.objects.category)[near.object]
    return near.detection[reaches], near.object[reaches], near.iou[reaches]


def reaches_threshold(rules: MatchRules, overlap: Any, threshold: float, *, special: int = 0) -> Any:
    """Whether overlaps are enough for a match with objects of some special bits."""
    return overlap > threshold if needs_more(rules, special) else overlap >= min(threshold, NEARLY_ONE)


def needs_more(rules: MatchRules, special: int = 0) -> bool:
    """Whether a match with an object of some special bits needs more than the threshold, and not just as much."""
    return rules.threshold == "more_than" or bool(special & MORE_THAN)


def wanted(
    rules: MatchRules, pairs: Sequence[T], reaches: Callable[[T], bool], is_area: Callable[[T], bool]
) -> T | None:
    """The pair that a detection would match if no other detection had taken an object; ``None`` for none.

    Args:
        rules: The rules.
        pairs: The pairs of the detection with objects of its class, in the order of preference.
        reaches: Whether the overlap of a pair is enough.
        is_area: Whether the overlap of a pair is the intersection over the area of the detection.
    """
    if not rules.takes_best_or_none:
        return next(filter(reaches, pairs), None)
    tiers = [pairs]
    if rules.choice == "best_of_all_then_groups":
        tiers = [[pair for pair in pairs if not is_area(pair)], [pair for pair in pairs if is_area(pair)]]
    return next((tier[0] for tier in tiers if tier and reaches(tier[0])), None)


def order_of_preference(
    rules: MatchRules, detection: npt.NDArray[Any], place: npt.NDArray[Any], overlap: npt.NDArray[np.float64]
) -> npt.NDArray[np.intp]:
    """The order that sorts pairs by detection, then as the detection prefers the objects at these places."""
    return np.lexsort(((-1 if rules.ties == "last" else 1) * place, -overlap, detection))


def _sizes_of_objects(gt: GroundTruth, dt: Detections) -> npt.NDArray[np.float64]:
    """(G, 2) the sizes of images, with those that detections name; infinite where unknown."""
    sizes = gt.images.sizes.copy()
    if "image_size" in dt.attributes:
        found = np.searchsorted(gt.images.ids, dt.image_ids_in(gt.images))
        sizes[found] = np.where(np.isnan(sizes[found]), dt.attributes["image_size"], sizes[found])
    sizes[np.isnan(sizes)] = np.inf
    of_objects: npt.NDArray[np.float64] = sizes[np.searchsorted(gt.images.ids, gt.image_ids)]
    return of_objects
