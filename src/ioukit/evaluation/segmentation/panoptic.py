"""Panoptic quality of many images."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from ioukit._checks import check_threads
from ioukit.datasets.columns._checks import image_labels
from ioukit.errors import DatasetError
from ioukit.evaluation.segmentation.panoptic_inputs import (
    PanopticData,
    PanopticImage,
    PanopticSet,
    open_set,
    read_categories,
)
from ioukit.evaluation.segmentation.panoptic_matching import OutcomeRow, match_image
from ioukit.evaluation.segmentation.panoptic_results import PanopticOutcomes, PanopticQuality

__all__ = ["panoptic_quality"]

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
                    f"{where}: image {key!r} is not in {gt.source}; name the images to evaluate by images"
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
