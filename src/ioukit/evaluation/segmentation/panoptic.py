"""Panoptic quality of many images: the areas that segments share, the matches of each image, and their sum.

Source: Kirillov et al., Panoptic Segmentation, CVPR 2019; for void and crowds, the authors' program panopticapi.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit._checks import check_threads
from ioukit.datasets.columns._checks import image_labels
from ioukit.datasets.formats.panoptic_png import HIGHEST_ID, SegmentMap
from ioukit.errors import DatasetError
from ioukit.evaluation.segmentation.panoptic_inputs import (
    PanopticData,
    PanopticImage,
    PanopticSet,
    Segment,
    open_set,
    read_categories,
    read_segments,
)
from ioukit.evaluation.segmentation.panoptic_results import PanopticOutcomes, PanopticQuality

# Number of waiting images per thread: enough to keep the threads busy, and few enough to fit in memory.
_WAITING = 8

Id: TypeAlias = int | str


def panoptic_quality(
    ground_truth: PanopticData,
    predictions: PanopticData,
    categories: Sequence[Mapping[str, Any]] | None = None,
    *,
    gt_folder: str | os.PathLike[str] | None = None,
    dt_folder: str | os.PathLike[str] | None = None,
    images: Sequence[Id] | None = None,
    threads: int | None = None,
) -> PanopticQuality:
    """Returns panoptic quality (PQ) with its parts, segmentation quality (SQ) and recognition quality (RQ).

    A panoptic segmentation assigns every pixel to one segment or to none (void, id 0). Every segment has a category.
    Segments match if they have the same category and an IoU of more than 0.5; the union leaves out the pixels of the
    prediction on void. Crowds do not match and are not missed. A prediction without a match is ignored if more than
    half of it is on void and on the crowd of its category. Then PQ of a category is the sum of the IoU of its matches,
    divided by TP + FP / 2 + FN / 2, and PQ is the mean over categories with at least one of these.

    Counts and each IoU equal those of panopticapi. It adds up the IoU in an order that depends on the number of its
    processes; here the sum is correctly rounded. So the qualities differ by no more than the rounding of such sums.

    Args:
        ground_truth: A COCO panoptic JSON file; or a mapping of image ids, integers or strings, to ``(segment_ids,
            segments_info)``. ``segment_ids`` is (H, W) integers, or (H, W, 3) uint8 colours as in COCO's PNG files.
            ``segments_info`` lists a record per segment: ``{"id": 3, "category_id": 1, "iscrowd": 0, "area": 120}``.
            ``iscrowd`` is 0 and ``area`` is counted where a record lacks them.
        predictions: The same for the predictions; ``iscrowd`` and ``area`` do not count. A mapping may load each image
            when it is asked for it.
        categories: Records with ``id``, ``name`` and ``isthing`` (1 for things, 0 for stuff); those of the ground truth
            file if ``None``.
        gt_folder: Folder of the PNG files of the ground truth; ``X`` for ``X.json`` if ``None``.
        dt_folder: Folder of the PNG files of the predictions; ``X`` for ``X.json`` if ``None``.
        images: Ids of the images to evaluate; all of the ground truth if ``None``. Then predictions for other images
            are an error.
        threads: How many threads read and compare images; all cores if ``None``. The result does not depend on it.

    Raises:
        DatasetError: If a file or a record is invalid, an image has no prediction, sizes differ, or a map of ids does
            not fit the records. The message names the file, the record and the field.
        FileNotFoundError: If the JSON file does not exist.
        ValueError: If an option is invalid.
        ModuleNotFoundError: If PNG files are read and Pillow is not installed.

    Source:
        Kirillov, He, Girshick, Rother, Dollar: Panoptic Segmentation, CVPR 2019, arXiv:1801.00868; and their program,
        https://github.com/cocodataset/panopticapi

    Examples:
        >>> import numpy as np
        >>> truth = np.array([[1, 1, 1, 2], [1, 1, 1, 2]])  # a person and the sky
        >>> found = np.array([[5, 5, 6, 6], [5, 5, 6, 6]])
        >>> categories = [{"id": 1, "name": "person", "isthing": 1}, {"id": 2, "name": "sky", "isthing": 0}]
        >>> quality = panoptic_quality(
        ...     {7: (truth, [{"id": 1, "category_id": 1}, {"id": 2, "category_id": 2}])},
        ...     {7: (found, [{"id": 5, "category_id": 1}, {"id": 6, "category_id": 2}])},
        ...     categories,
        ... )
        >>> quality.per_class["person"]  # 4 of 6 pixels; the sky has 2 of 4, which is not more than half
        PanopticClass('person', PQ=0.6667, SQ=0.6667, RQ=1.0000, 1 TP, 0 FP, 0 FN)
        >>> quality.stuff
        PanopticAverage(PQ=0.0000, SQ=0.0000, RQ=0.0000, 1 class)
    """
    workers = check_threads(threads) or os.cpu_count() or 1
    gt = open_set(ground_truth, gt_folder, name="ground_truth", option="gt_folder")
    dt = open_set(predictions, dt_folder, name="predictions", option="dt_folder")
    if categories is not None:
        known = read_categories(categories, "categories")
    elif gt.categories is None and isinstance(ground_truth, Mapping):
        raise ValueError("categories are needed where ground_truth is a mapping")
    else:
        known = read_categories(gt.categories, f"{gt.source}: categories")
    ids = _chosen(gt, dt, images)
    positions = {number: position for position, number in enumerate(known.ids.tolist())}
    rows = [
        (image, *row)
        for image, of_image in enumerate(_matched(((gt.image(key), dt.image(key)) for key in ids), positions, workers))
        for row in of_image
    ]
    columns = np.array(rows, np.int64).reshape(len(rows), 1 + len(OutcomeRow._fields)).T
    return PanopticQuality(known, image_labels(ids, name="image ids"), PanopticOutcomes(*columns.copy()))


def _chosen(gt: PanopticSet, dt: PanopticSet, images: Sequence[Id] | None) -> list[Id]:
    """The ids of the images to evaluate, in ascending order.

    Raises:
        DatasetError: If one has no prediction, or there are predictions for images that are not known.
        ValueError: If one is asked for twice, or not in the ground truth.
    """
    if images is None:
        ids = list(gt.wheres)
        for key, where in dt.wheres.items():
            if key not in gt.wheres:
                raise DatasetError(
                    f"{where}: image {key!r} is not in {gt.source}; images= of panoptic_quality names those to evaluate"
                )
    else:
        ids = list(images)
        if len(set(ids)) < len(ids):
            raise ValueError("images names an image twice")
        for key in ids:
            if key not in gt.wheres:
                raise ValueError(f"no image of {gt.source} has the id {key!r}")
    for key in ids:
        if key not in dt.wheres:
            raise DatasetError(f"{dt.source}: expected a prediction for image {key!r} ({gt.wheres[key]}), found none")
    if len({isinstance(key, str) for key in ids}) > 1:
        raise DatasetError(f"{gt.source}: image ids must be all integers or all strings")
    return sorted(ids)


def _matched(
    pairs: Iterator[tuple[PanopticImage, PanopticImage]], positions: Mapping[int, int], workers: int
) -> Iterator[list[OutcomeRow]]:
    """The rows of each image, in order. Only this thread takes images from the iterator, a few at a time."""
    if workers == 1:
        for pair in pairs:
            yield match_image(pair[0], pair[1], positions)
        return
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - evaluating boxes should not load this

    with ThreadPoolExecutor(workers) as pool:
        while some := list(islice(pairs, _WAITING * workers)):
            yield from pool.map(lambda pair: match_image(pair[0], pair[1], positions), some)


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


class PairAreas(NamedTuple):
    """The pixels that segments of two maps share: one row per pair that shares any, in ascending order."""

    first: npt.NDArray[np.int64]
    """(P,) ids in the first map, 0 for void."""
    second: npt.NDArray[np.int64]
    """(P,) ids in the second map, 0 for void."""
    area: npt.NDArray[np.int64]
    """(P,) pixels."""


def pair_areas(first: SegmentMap, second: SegmentMap) -> PairAreas:
    """How many pixels each pair of segments shares.

    Raises:
        DatasetError: If an id is out of range.
    """
    height, width = first.size
    count = height * width
    if not count:
        return PairAreas(*np.zeros((3, 0), np.int64))
    begins = np.zeros(count, np.bool_)
    begins[0] = True
    begins[first.run_starts()] = True
    begins[second.run_starts()] = True
    starts = np.flatnonzero(begins)
    keys = first.ids_at(starts) << np.uint64(32) | second.ids_at(starts)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    groups = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    area = np.add.reduceat(np.diff(starts, append=count)[order], groups)
    pairs = keys[groups]
    second_ids = (pairs & np.uint64(HIGHEST_ID)).astype(np.int64)
    return PairAreas((pairs >> np.uint64(32)).astype(np.int64), second_ids, area.astype(np.int64))
