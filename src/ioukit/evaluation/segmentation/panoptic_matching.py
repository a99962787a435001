"""The matching of predicted and annotated segments of one image.

Source: Kirillov et al., Panoptic Segmentation, CVPR 2019; for void and crowds, the authors' program panopticapi.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit.datasets.formats.panoptic_png import SegmentMap
from ioukit.errors import DatasetError
from ioukit.evaluation.segmentation.panoptic_inputs import PanopticImage, Segment, read_segments
from ioukit.evaluation.segmentation.segment_maps import pair_areas

__all__ = ["OutcomeRow", "match_image"]

_VOID = 0


class OutcomeRow(NamedTuple):
    """A match (both ids), a missed segment (no prediction) or a wrong one (no ground truth)."""

    category: int
    """Position of the category."""
    ground_truth: int = _VOID
    """Id of the annotated segment, 0 for none."""
    prediction: int = _VOID
    """Id of the predicted segment, 0 for none."""
    intersection: int = 0
    """Pixels that both share."""
    union: int = 0
    """Pixels of either, without those of the prediction on void."""


def match_image(
    ground_truth: PanopticImage, prediction: PanopticImage, positions: Mapping[int, int]
) -> list[OutcomeRow]:
    """The rows of an image: annotated segments in the order of their records, then wrong predictions in theirs.

    A prediction and an annotated segment of its category match if their IoU is more than 0.5. Segments of one map do
    not overlap, so at most one can reach that. Crowds do not match and are not missed. A prediction without a match
    counts only if at most half of it lies on void and on the crowd of its category. Of several crowds of a category,
    the last one counts, as in panopticapi.

    Args:
        ground_truth: The annotated image.
        prediction: The predicted image.
        positions: Position of each category by its id.

    Raises:
        DatasetError: If the two do not fit each other, or segments do not fit their maps.
    """
    gt_segments = read_segments(ground_truth, positions, annotated=True)
    dt_segments = read_segments(prediction, positions, annotated=False)
    gt_map, dt_map = ground_truth.load(), prediction.load()
    _check_sizes(ground_truth, gt_map, prediction, dt_map)
    pairs = pair_areas(gt_map, dt_map)
    shared = dict(zip(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True), pairs.area.tolist(), strict=True))
    gt_area = _areas(pairs.first, pairs.area, gt_segments, ground_truth.where, gt_map.where)
    dt_area = _areas(pairs.second, pairs.area, dt_segments, prediction.where, dt_map.where)

    matched: dict[int, OutcomeRow] = {}
    for (truth, found), intersection in shared.items():
        if _VOID in (truth, found):
            continue
        segment = gt_segments[truth]
        if segment.is_crowd or segment.category != dt_segments[found].category:
            continue
        union = gt_area[truth] + dt_area[found] - intersection - shared.get((_VOID, found), 0)
        if 2 * intersection > union:
            matched[truth] = OutcomeRow(segment.category, truth, found, intersection, union)

    crowds = {segment.category: segment.id for segment in gt_segments.values() if segment.is_crowd}
    rows = [
        matched.get(segment.id, OutcomeRow(segment.category, ground_truth=segment.id))
        for segment in gt_segments.values()
        if not segment.is_crowd
    ]
    taken = {row.prediction for row in matched.values()}
    for segment in dt_segments.values():
        if segment.id in taken:
            continue
        ignored = shared.get((_VOID, segment.id), 0)
        if segment.category in crowds:
            ignored += shared.get((crowds[segment.category], segment.id), 0)
        if 2 * ignored <= dt_area[segment.id]:
            rows.append(OutcomeRow(segment.category, prediction=segment.id))
    return rows


def _check_sizes(
    ground_truth: PanopticImage, gt_map: SegmentMap, prediction: PanopticImage, dt_map: SegmentMap
) -> None:
    for image, pixels in ((ground_truth, gt_map), (prediction, dt_map)):
        if image.size not in (None, pixels.size):
            raise DatasetError(
                f"{image.where}: expected {_shown(image.size)} pixels as in images, found {_shown(pixels.size)} in "
                f"{pixels.where}"
            )
    if gt_map.size != dt_map.size:
        raise DatasetError(
            f"{prediction.where}: expected {_shown(gt_map.size)} pixels as in {gt_map.where}, found "
            f"{_shown(dt_map.size)} in {dt_map.where}"
        )


def _shown(size: tuple[int, int] | None) -> str:
    height, width = size or (0, 0)
    return f"{width} x {height}"


def _areas(
    ids: npt.NDArray[np.int64],
    areas: npt.NDArray[np.int64],
    segments: Mapping[int, Segment],
    where: str,
    file: str,
) -> Counter[int]:
    """The pixels of each segment.

    Args:
        ids: (P,) ids in the map, some more than once.
        areas: (P,) pixels.
        segments: The segments that the records list.
        where: The name of the record in messages.
        file: The name of the map in messages.

    Raises:
        DatasetError: If map and records have different segments, or a record states another area.
    """
    counted: Counter[int] = Counter()
    for number, area in zip(ids.tolist(), areas.tolist(), strict=True):
        counted[number] += area
    for number, area in counted.items():
        if number != _VOID and number not in segments:
            raise DatasetError(
                f"{where}.segments_info: expected a record of segment {number}, which has {area:,} pixels in {file}, "
                "found none"
            )
    for segment in segments.values():
        if segment.id not in counted:
            raise DatasetError(f"{segment.where}.id: expected pixels of segment {segment.id} in {file}, found none")
        if segment.area not in (None, counted[segment.id]):
            raise DatasetError(
                f"{segment.where}.area: expected {counted[segment.id]}, the pixels of segment {segment.id} in {file}, "
                f"found {segment.area}; without the key, they are counted"
            )
    return counted
