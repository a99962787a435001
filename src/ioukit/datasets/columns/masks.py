"""`Masks` from the polygons and RLE of a data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._array_types import Floats
from ioukit._checks import check_threads
from ioukit.datasets.columns._checks import check_readable_again
from ioukit.datasets.columns.lazy import Segmentations
from ioukit.errors import DatasetError
from ioukit.regions.masks import Masks

_NEEDS_SIZE = "expected polygons of an image whose width and height are known"  # as the core says


def decode(
    segmentations: Sequence[Any],
    image_sizes: npt.NDArray[np.float64],
    *,
    source: str,
    array: str,
    threads: int | None = None,
    numbers: npt.NDArray[np.intp] | None = None,
) -> Masks:
    """The masks of a column of segmentations.

    Args:
        segmentations: (N,) polygons or RLE.
        image_sizes: (N, 2) width and height of the image of each row; NaN if unknown. Polygons need them.
        source: What messages call the data set.
        array: What messages call the records: ``annotations`` or ``detections``.
        threads: How many threads; all cores if ``None``.
        numbers: (N,) the positions of the records in their array, for messages; 0 to N - 1 if ``None``.

    Raises:
        DatasetError: If a row has no mask, or one that cannot be read.
    """
    numbers = np.arange(len(segmentations)) if numbers is None else numbers
    if not isinstance(segmentations, Segmentations):
        return _of_records(segmentations, image_sizes, f"{source}: {array}", threads, numbers)
    if segmentations.decoded is not None:
        return cast("Masks", segmentations.decoded)
    parts, order = [], []
    for path, rows, spans in segmentations.files():
        check_readable_again(path, "masks")
        sizes = np.ascontiguousarray(image_sizes[rows])
        found = _core.read_coco_masks(
            path, array, numbers[rows].astype(np.int64), np.ascontiguousarray(spans), sizes, check_threads(threads)
        )
        parts.append(Masks._trusted(*found))
        order.append(rows)
    if len(parts) == 1:
        return parts[0]
    return Masks.concat(parts)[np.argsort(np.concatenate(order), kind="stable")]


def _of_records(
    segmentations: Sequence[Any],
    image_sizes: npt.NDArray[np.float64],
    where: str,
    threads: int | None,
    numbers: npt.NDArray[np.intp],
) -> Masks:
    for row, value in enumerate(segmentations):
        if value is None:
            expected = "polygons, or an object with size and counts"
            raise DatasetError(f"{where}[{numbers[row]}].segmentation: expected {expected}")
        if isinstance(value, list | tuple) and np.isnan(image_sizes[row]).any():
            raise DatasetError(f"{where}[{numbers[row]}].segmentation: {_NEEDS_SIZE}")
    sizes = np.where(np.isnan(image_sizes), 0, image_sizes).astype(np.int64)
    try:
        return Masks.from_coco(list(segmentations), height=sizes[:, 1], width=sizes[:, 0], threads=threads)
    except (ValueError, TypeError, KeyError) as error:
        message = str(error.args[0])
        digits, found, rest = message.removeprefix("segmentations[").partition("]")
        place = f"[{numbers[int(digits)]}].segmentation" if found and digits.isdigit() else ""
        raise DatasetError(f"{where}{place}{rest if place else f': {message}'}") from None


def boxes_of_masks(segmentations: Sequence[Any], source: str, threads: int | None) -> tuple[Floats, Floats]:
    """(N, 4) boxes ``[x, y, width, height]`` around the masks of detections, and (N,) their areas, as pycocotools.

    Raises:
        DatasetError: If a mask cannot be read, or is drawn as polygons: the size of its image is not known here.
    """
    unknown = np.full((len(segmentations), 2), np.nan)
    try:
        masks = decode(segmentations, unknown, source=source, array="detections", threads=threads)
    except DatasetError as error:
        place, found, _ = str(error).partition(_NEEDS_SIZE)
        if not found:
            raise
        raise DatasetError(
            f"{place}expected RLE, an object with size and counts, or a bbox beside the polygons, found polygons alone"
        ) from None
    if isinstance(segmentations, Segmentations):
        segmentations.decoded = masks  # likely to be compared; RLE does not depend on the size of the image
    boxes = np.ascontiguousarray(masks.to_boxes().convert("xywh").numpy(), np.float64)
    return boxes, masks.area.astype(np.float64)
