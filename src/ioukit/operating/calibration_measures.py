"""How far are scores from the share of detections that are right? D-ECE, LaECE, LaECE0 and Brier score."""

from __future__ import annotations

import numpy as np

from ioukit._checks import check_count
from ioukit.evaluation import Evaluation, MatchTable
from ioukit.operating.binned_errors import judged, matched_anywhere, measured
from ioukit.operating.calibration_records import CalibrationErrors
from ioukit.operating.sweeps import scene_of, table_of
from ioukit.postprocess import OperatingPoints
from ioukit.statistics import bootstrap_weights
from ioukit.statistics.drawing import Labels, check_seed
from ioukit.statistics.estimating import check_level

__all__ = ["calibration_errors"]


def calibration_errors(
    evaluated: Evaluation | MatchTable,
    *,
    bins: int = 25,
    iou_threshold: float | None = None,
    area_range: str | None = None,
    points: OperatingPoints | None = None,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
    clusters: Labels | None = None,
) -> CalibrationErrors:
    """How far scores are from what they should say.

    Args:
        evaluated: An evaluation or its match table; LaECE0 needs an evaluation that holds its data.
        bins: The number of ranges of equal width that scores are put into. A range holds its upper end.
        iou_threshold: One of the protocol's IoU thresholds; its main one if ``None``.
        area_range: Label of one of the protocol's area ranges; its main one if ``None``.
        points: Compare only the detections that these operating points keep, with their scores as they are. By default
            all detections are compared; most of them have low scores and decide the errors.
        level: The probability that an interval should hold the true number.
        replicates: Replicates of the bootstrap over images, for the intervals; 0 for none.
        seed: Decides the replicates.
        clusters: The cluster of each image, see :func:`choose_thresholds`.

    Raises:
        ValueError: If a score is outside of [0, 1], the protocol has no such threshold or area range, or a number is
            out of range.
        TypeError: If an argument has the wrong type.

    Examples:
        >>> from ioukit import Detections, GroundTruth, evaluate
        >>> ground_truth = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 10, 10]])
        >>> detections = Detections.from_arrays(
        ...     image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 10, 8], [50, 0, 9, 9]], scores=[0.9, 0.3]
        ... )
        >>> errors = calibration_errors(evaluate(ground_truth, detections), replicates=0)
        >>> round(errors.d_ece, 3), round(errors.laece, 3), round(errors.brier, 3)
        (0.2, 0.2, 0.05)
    """
    check_count(bins=bins)
    check_level(level)
    table = table_of(evaluated)
    first = judged(scene_of(table, iou_threshold, area_range), points)
    weights = np.zeros((0, len(table.image_ids)), np.uint16)
    if replicates:
        weights = bootstrap_weights(table.image_ids, replicates, seed=check_seed(seed), clusters=clusters)
    return measured(first, matched_anywhere(evaluated, first.scene.area_range, points), bins, weights, level)[0]
