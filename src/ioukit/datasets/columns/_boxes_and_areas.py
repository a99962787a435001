"""Boxes and areas that the records of COCO's files lack: those of their masks or keypoints.

Detections may have a mask or keypoints in the place of a box. Annotations may lack an area: then it is that of the
mask, or else that of the box. Both are computed only if a file needs them, so this module is imported late.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._array_types import Floats
from ioukit._checks import check_threads
from ioukit._columns import take_rows
from ioukit.datasets.columns._checks import check_readable_again
from ioukit.datasets.columns._regions import KEYPOINTS, SEGMENTATIONS, WITHOUT_AREA
from ioukit.datasets.columns.keypoints import boxes_of_keypoints
from ioukit.datasets.columns.lazy import Segmentations, ValuesOfFiles
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from ioukit._columns import Columns
    from ioukit.datasets.columns._checks import OnInvalid


Data = TypeVar("Data", bound="Columns")


def boxes_of_regions(regions: Mapping[str, Any], source: str, threads: int | None) -> tuple[Floats, Floats]:
    """(N, 4) boxes ``[x, y, width, height]`` around the masks of detections, or else around their keypoints, and areas.

    Raises:
        DatasetError: If a mask or keypoints cannot be read.
    """
    if SEGMENTATIONS in regions:
        from ioukit.datasets.columns.masks import boxes_of_masks  # noqa: PLC0415 - keypoints should not load masks

        return boxes_of_masks(regions[SEGMENTATIONS], source, threads)
    return boxes_of_keypoints(regions[KEYPOINTS], source, threads)


def readable_rows(regions: Mapping[str, Any], source: str, threads: int | None) -> npt.NDArray[np.intp]:
    """The rows whose boxes can be computed. Halves that can be read as a whole are not looked at one by one.

    Raises:
        DatasetError: If no row can be read again, because the source was a pipe.
    """
    for name, column in regions.items():
        if isinstance(column, ValuesOfFiles):
            for path, _, _ in column.files():
                check_readable_again(path, name)
    good: list[npt.NDArray[np.intp]] = [np.zeros(0, np.intp)]
    left = [np.arange(max(map(len, regions.values())))]
    while left:
        rows = left.pop()
        try:
            boxes_of_regions(take_rows(regions, rows), source, threads)
            good.append(rows)
        except DatasetError:
            left += np.array_split(rows, 2) if len(rows) > 1 else []
    return np.sort(np.concatenate(good))


def with_areas(ground_truth: Data, on_invalid: OnInvalid, threads: int | None) -> Data:
    """The ground truth with an area for each annotation that has the flag of those without, and without that flag.

    Only the masks of these annotations are read. A note says how many areas are those of masks and of boxes.

    Raises:
        DatasetError: If a mask cannot be read. With ``on_invalid="drop"``, its annotation is left out instead.
    """
    gt: Any = ground_truth  # a ground truth, whose file imports this one
    rows = np.flatnonzero(gt.flags[WITHOUT_AREA])
    flags = {name: flag for name, flag in gt.flags.items() if name != WITHOUT_AREA}
    has_masks = SEGMENTATIONS in gt.regions
    found = _of_masks(gt, rows, on_invalid, threads) if has_masks else np.full(len(rows), np.nan)
    areas = gt.areas.copy()
    boxes = gt.boxes[rows, 2] * gt.boxes[rows, 3]
    areas[rows] = np.where(np.isnan(found), boxes, found)
    good = np.ones(len(gt), np.bool_)
    good[rows] = ~np.isinf(found)
    note = _note(gt.source, int(np.isfinite(found).sum()), int(np.isnan(found).sum()))
    complete = dataclasses.replace(gt, areas=areas, flags=flags, notes=(*gt.notes, *note))
    whole: Data = complete if good.all() else complete.take(good)
    return whole


def _note(source: str, masks: int, boxes: int) -> tuple[str, ...]:
    total = masks + boxes
    if not total:
        return ()
    counts = {"mask": masks, "box": boxes}
    used = ", ".join(f"that of the {kind} is used for {count:,}" for kind, count in counts.items() if count)
    return (f"{source}: {total:,} annotation{' lacks' if total == 1 else 's lack'} area: {used}",)


def _of_masks(gt: Any, rows: npt.NDArray[np.intp], on_invalid: OnInvalid, threads: int | None) -> Floats:
    """(R,) areas of the masks of some rows; NaN for a row without a mask, infinity for one to leave out."""
    column = gt.regions[SEGMENTATIONS]
    sizes = np.ascontiguousarray(gt.images.sizes[gt.images.ids.searchsorted(gt.image_ids[rows])])
    drop = on_invalid == "drop"
    if not isinstance(column, Segmentations):
        return _of_records([column[row] for row in rows], rows, sizes, gt.source, threads, drop=drop)
    found = np.full(len(rows), np.nan)
    for path, places, spans in column.take(rows).files():
        if not (spans[:, 1] > spans[:, 0]).any():
            continue
        check_readable_again(path, "masks")
        numbers = rows[places].astype(np.int64)
        found[places] = _core.read_coco_mask_areas(
            path, numbers, np.ascontiguousarray(spans), sizes[places], drop, check_threads(threads)
        )
    return found


def _of_records(
    values: Sequence[Any],
    rows: npt.NDArray[np.intp],
    sizes: Floats,
    source: str,
    threads: int | None,
    *,
    drop: bool,
) -> Floats:
    """The same for values that are not in a file. They are read one by one only if some cannot be read."""
    from ioukit.datasets.columns.masks import decode  # noqa: PLC0415 - files of boxes should not load regions

    def areas(places: npt.NDArray[np.intp]) -> Floats:
        chosen = [values[place] for place in places]
        masks = decode(chosen, sizes[places], source=source, array="annotations", threads=threads, numbers=rows[places])
        return masks.area.astype(np.float64)

    found = np.full(len(values), np.nan)
    filled = np.array([place for place, value in enumerate(values) if not _is_empty(value)], np.intp)
    try:
        found[filled] = areas(filled)
    except DatasetError:
        if not drop:
            raise
        for place in filled:
            found[place] = np.inf
            with contextlib.suppress(DatasetError):
                found[place] = areas(np.array([place]))[0]
    return found


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, list | tuple | dict) and not value)
