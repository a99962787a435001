"""Leaves out every detection, object or image, one at a time."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ioukit import _core
from ioukit._boundary import InfluenceColumns, ReadingColumns
from ioukit._checks import check_threads
from ioukit.evaluation import Evaluation, MatchTable, Measure, Protocol, accumulate
from ioukit.evaluation.matching import rules_of
from ioukit.evaluation.summary import reading_of, value_of
from ioukit.evaluation.table import NEARLY_ONE
from ioukit.statistics.influence.influences import Influence, Unit
from ioukit.statistics.influence.scene import outside_range, unverified_without
from ioukit.statistics.replicates import find_measure, replicate

Given: TypeAlias = "Evaluation | MatchTable"


def detection_influence(
    evaluation: Given, key: str | Measure | None = None, *, threads: int | None = None
) -> Influence:
    """What every detection adds to AP: AP of all detections minus AP of all others.

    The numbers are those of evaluating without the detection. The other detections are matched again: the next one may
    take its object. Ranks move up: a detection beyond the cap of its image counts if one within the cap is left out.

    Args:
        evaluation: The result of :func:`ioukit.evaluate`. Or a match table with near pairs of at least the lowest IoU
            threshold, as ``match(..., near=0.1)`` returns it. An evaluation that holds its data needs no near pairs.
        key: The number: the key of an AP or AR of the protocol's summary, or a measure; the main number if ``None``.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Returns:
        One row per detection of the match table. The numbers of categories have the bits of an evaluation without the
        detection; the mean over categories is equal to it within 1e-12.

    Raises:
        ValueError: If there is no such number, or it cannot be computed without evaluating again for every detection:
            miss rates, the Jaccard index, the AP of KITTI, WIDER FACE and CrowdHuman. If near pairs or areas are
            needed, and neither the table nor the evaluation has them.
        TypeError: If ``evaluation`` is neither an evaluation nor a match table.

    Examples:
        >>> from ioukit import Detections, GroundTruth, evaluate
        >>> boxes = [[0, 0, 9, 9], [50, 0, 9, 9], [0, 0, 9, 8]]
        >>> gt = GroundTruth.from_arrays(image_ids=[1, 1], category_ids=[1, 1], boxes=boxes[:2])
        >>> dt = Detections.from_arrays(
        ...     image_ids=[1, 1, 1], category_ids=[1, 1, 1], boxes=boxes, scores=[0.9, 0.5, 0.7]
        ... )
        >>> found = detection_influence(evaluate(gt, dt), "AP50")
        >>> round(found.value, 3), found.adds.round(3).tolist()
        (0.835, [-0.165, -0.165, 0.33])

    The table lists detections by descending score. The first two detect the same object. AP50 is 1 without either of
    them, because the other one is left.
    """
    return _influence(evaluation, key, "detection", threads)


def object_influence(evaluation: Given, key: str | Measure | None = None, *, threads: int | None = None) -> Influence:
    """What every object of the ground truth adds to AP: AP of all objects minus AP of all others.

    Without an object, there is one less to find. The detection that matches it takes another object or becomes a false
    positive. A missed object has a negative value: AP is higher without it. If it is the last object of its category,
    the category leaves the mean as the protocol says. With the protocols of LVIS and Open Images, a category without
    objects on an image may not be verified there; its detections on this image then have no part.

    The arguments, the result and the errors are those of :func:`detection_influence`. With the protocols of LVIS and
    the Open Images Challenge, the evaluation must hold its ground truth.
    """
    return _influence(evaluation, key, "object", threads)


def image_influence(evaluation: Given, key: str | Measure | None = None, *, threads: int | None = None) -> Influence:
    """What every image adds to AP: AP of all images minus AP of all others.

    The images with the lowest values cost most: without one of them, AP is higher.

    Args:
        evaluation: The result of :func:`ioukit.evaluate`, or a match table. It needs neither the data nor near pairs.
        key: The number, as in :func:`detection_influence`; miss rates and the AP of any protocol are possible, too.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Returns:
        One row per image of the match table, also for images without rows. They add 0.

    Raises:
        ValueError: If there is no such number.
        TypeError: If ``evaluation`` is neither an evaluation nor a match table.
    """
    return _influence(evaluation, key, "image", threads)


def _influence(given: Given, key: str | Measure | None, left_out: Unit, threads: int | None) -> Influence:
    evaluation = given if isinstance(given, Evaluation) else None
    if evaluation is None and not isinstance(given, MatchTable):
        raise TypeError(f"expected an Evaluation or a MatchTable, got {type(given).__name__}")
    table = given if isinstance(given, MatchTable) else given.matches
    protocol = table.protocol
    measure = _measure(protocol, key)
    reason = protocol.why_no_sum(measure)
    if left_out == "image":
        if reason:
            return _by_replicates(table, evaluation, measure, threads)
    elif reason:
        raise ValueError(
            f"{measure.key} of the protocol {protocol.name} {reason}: the influence of {left_out}s on it is not "
            "available; image_influence is"
        )
    else:
        table = _with_near_pairs(given, threads)
    value = value_of(accumulate(table, threads=threads) if evaluation is None else evaluation.curves, measure)
    reading = reading_of(table, measure)
    found = _core.leave_one_out(
        _columns(table, evaluation, measure, left_out),
        rules_of(protocol, None if table.near is None else table.near.least),
        reading,
        f"{left_out}s",
        check_threads(threads),
    )
    if isinstance(found, int):
        raise ValueError(
            f"the match of detection {found} of the table is not the one that its near pairs give: the table was "
            "changed, or its data is not that which was matched"
        )
    return _result(table, measure, reading, left_out, value, found)


def _measure(protocol: Protocol, key: str | Measure | None) -> Measure:
    measure = protocol.main_measure if key is None else key
    measure = measure if isinstance(measure, Measure) else find_measure(protocol, measure)
    if not protocol.defines(measure):
        raise ValueError(f"the protocol {protocol.name} lacks the IoU threshold, cap or area range of {measure.key}")
    return measure


def _with_near_pairs(given: Given, threads: int | None) -> MatchTable:
    """The table with all pairs that could match."""
    table = given if isinstance(given, MatchTable) else given.matches
    least = min(table.protocol.iou_thresholds[0], NEARLY_ONE)
    if isinstance(given, Evaluation):
        return given.near_matches(least, threads=threads)
    if table.near is None or table.near.least > least:
        found = "none" if table.near is None else f"those from an IoU of {table.near.least:g} on"
        raise ValueError(f"this needs a match table with near pairs, near={least:g} or less, got {found}")
    return table


def _columns(table: MatchTable, evaluation: Evaluation | None, measure: Measure, left_out: Unit) -> InfluenceColumns:
    protocol, rows, objects, near = table.protocol, table.detections, table.objects, table.near
    area, cap = protocol.area_of(measure), protocol.cap_of(measure)
    if left_out == "image" or near is None:  # nothing is matched again
        detection, paired, overlap = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
        outside = np.zeros(len(rows), np.bool_)
    else:
        detection, paired, overlap = near.detection, near.object, near.iou
        outside = outside_range(table, evaluation, area)
    return InfluenceColumns(
        images=len(table.image_ids),
        categories=len(table.evaluated),
        category=rows.category,
        image=rows.image,
        rank=rows.rank,
        row=rows.row,
        score=rows.score,
        matched=rows.matched,
        ignored=rows.ignored,
        special=rows.special,
        outside=outside,
        object_category=objects.category,
        object_image=objects.image,
        object_flags=objects.special,
        object_ignored=table.ignores(area),
        unverified=unverified_without(table, evaluation) if left_out == "object" else None,
        near_detection=detection,
        near_object=paired,
        near_overlap=overlap,
        range=protocol.position_of_area(area),
        cap=cap,
    )


def _result(
    table: MatchTable,
    measure: Measure,
    reading: ReadingColumns,
    left_out: Unit,
    value: float,
    found: dict[str, Any],
) -> Influence:
    counts = reading.counted
    points = len(reading.thresholds) * (len(reading.recall_thresholds) if reading.quantity == "recalls" else 1)
    change, more = found["change"], found["more_defined"]
    total, defined = found["total"][counts].sum(), found["defined"][counts].sum()
    if table.protocol.counts_undefined:  # categories without objects count 0
        more, defined = np.zeros_like(more), counts.sum() * points
    with np.errstate(invalid="ignore", divide="ignore"):
        # The difference of sums of the same categories is exact where nothing changes.
        adds = np.where(more == 0, -change / defined, value - (total + change) / (defined + more))
        adds[defined + more == 0] = np.nan
        without = np.where(np.isnan(value), (total + change) / (defined + more), value - adds)
    class_adds = class_without = None
    if left_out != "image":
        rows = table.detections if left_out == "detection" else table.objects
        category = table.evaluated_category(rows.category)
        of_class = np.where(counts & (found["defined"] == points), found["total"] / points, np.nan)
        class_without = np.where(counts[category], found["mean"], np.nan)
        class_adds = of_class[category] - class_without
    return Influence(left_out, measure, value, adds, without, class_adds, class_without, table)


def _by_replicates(
    table: MatchTable, evaluation: Evaluation | None, measure: Measure, threads: int | None
) -> Influence:
    """What every image adds, by computing the number again without each image: for numbers of whole curves."""
    images = len(table.image_ids)
    value = value_of(accumulate(table, threads=threads) if evaluation is None else evaluation.curves, measure)
    without = np.empty(images)
    for image in range(images):
        weights = np.ones((1, images), np.int64)
        weights[0, image] = 0
        without[image] = replicate(table, weights, measures=[measure], threads=threads).values[0, 0]
    return Influence("image", measure, value, value - without, without, None, None, table)
