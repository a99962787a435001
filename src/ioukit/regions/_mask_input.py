"""From what a caller has to the three arrays of `Masks`: runs, offsets and sizes."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ioukit import _core
from ioukit._arrays import as_numpy, library_of
from ioukit.regions.boxes import Boxes
from ioukit.regions.formats import convert

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Parts: TypeAlias = tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint32]]


def from_arrays(arrays: Any) -> Parts:
    """The masks of (N, H, W) pixels, or of a list of (H, W)."""
    if isinstance(arrays, (list, tuple)):
        return joined([_encoded(_pixels(one, f"arrays[{index}]", 2)[None]) for index, one in enumerate(arrays)])
    return _encoded(_pixels(arrays, "arrays", 3))


def _pixels(array: Any, name: str, dimensions: int) -> NDArray[np.uint8]:
    values = array if library_of(array) == "numpy" else as_numpy(array)
    if not isinstance(values, np.ndarray) or values.dtype not in (np.bool_, np.uint8):
        given = f"dtype {values.dtype}" if isinstance(values, np.ndarray) else type(array).__name__
        raise TypeError(f"{name} must be an array of bool or uint8, got {given}: array != 0 or array > 0.5 makes one")
    if values.ndim != dimensions:
        wanted = "(N, H, W)" if dimensions == 3 else "(H, W)"
        raise ValueError(f"{name} must have shape {wanted}, got {values.shape}")
    return values.view(np.uint8)


def _encoded(pixels: NDArray[np.uint8]) -> Parts:
    count, height, width = pixels.shape
    columns = pixels.transpose(0, 2, 1)
    by_columns = columns.flags.c_contiguous  # as in pycocotools; then no copy in another order is needed
    flat = np.ascontiguousarray(columns if by_columns else pixels).reshape(-1)
    return _core.masks_from_pixels(flat, count, height, width, not by_columns)


def from_boxes(boxes: Boxes, height: Any, width: Any) -> Parts:
    """The masks of upright boxes in pixels."""
    if not isinstance(boxes, Boxes):
        raise TypeError(f"boxes must be Boxes, which know their format, got {type(boxes).__name__}")
    if boxes.normalized:
        raise ValueError("boxes must be in pixels: boxes.denormalize(width, height) first")
    rows = np.ascontiguousarray(convert(boxes.numpy().astype(np.float64), boxes.format, "xywh"), np.float64)
    return _core.masks_from_boxes(rows, sizes_of(height, width, len(boxes)), "boxes")


def from_coco(segmentations: Sequence[Any], height: Any, width: Any, threads: int) -> Parts:
    """The masks of lists of polygons and of records, mixed."""
    name = "segmentations"
    is_record = np.array([isinstance(one, dict) for one in segmentations], np.bool_)
    for index in np.flatnonzero(~is_record).tolist():
        if not isinstance(segmentations[index], (list, tuple)):
            kind = type(segmentations[index]).__name__
            raise TypeError(f"{name}[{index}] must be a list of polygons or a dict with size and counts, got {kind}")
    sizes = sizes_of(height, width, len(segmentations))
    # Each kind is read with empty items in the places of the other kind, so that messages number all segmentations.
    empty: dict[str, Any] = {"size": (0, 0), "counts": ()}
    records = [one if record else empty for one, record in zip(segmentations, is_record, strict=True)]
    polygons = [() if record else one for one, record in zip(segmentations, is_record, strict=True)]
    drawn = _core.masks_from_polygons(polygons, sizes, name, threads)
    if not is_record.any():
        return drawn
    read = _core.masks_from_rle(records, name)
    count = len(segmentations)
    return chosen(joined([drawn, read]), np.arange(count) + count * is_record)


def sizes_of(height: Any, width: Any, count: int) -> NDArray[np.int64]:
    """(N, 2) heights and widths, each given once for all masks or once per mask."""
    sizes = np.empty((count, 2), np.int64)
    for column, (name, value) in enumerate((("height", height), ("width", width))):
        if np.ndim(value) == 0:
            try:
                sizes[:, column] = operator.index(value)
            except TypeError:
                raise TypeError(f"{name} must be an integer, or one for each mask, got {value!r}") from None
            continue
        values = np.asarray(value)
        if values.shape != (count,) or (values.dtype.kind not in "iu" and count):
            raise ValueError(
                f"{name} must be one integer or {count} of them, one for each mask, "
                f"got dtype {values.dtype} and shape {values.shape}"
            )
        sizes[:, column] = values
    return sizes


def joined(parts: Sequence[Parts]) -> Parts:
    """The masks of all parts, in order."""
    if not parts:
        return np.empty(0, np.uint32), np.zeros(1, np.int64), np.empty((0, 2), np.uint32)
    runs = np.concatenate([part[0] for part in parts])
    offsets = np.zeros(sum(len(part[2]) for part in parts) + 1, np.int64)
    np.cumsum(np.concatenate([np.diff(part[1]) for part in parts]), out=offsets[1:])
    return runs, offsets, np.concatenate([part[2] for part in parts])


def chosen(parts: Parts, rows: slice | NDArray[Any]) -> Parts:
    """The masks at these rows."""
    runs, offsets, sizes = parts
    starts, lengths = offsets[:-1][rows], np.diff(offsets)[rows]
    ends = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    if isinstance(rows, slice) and rows.step in (None, 1) and len(starts):
        return runs[starts[0] : starts[0] + ends[-1]].copy(), ends, sizes[rows].copy()
    # A run has the same distance from the first run of its mask in the result and in the source.
    source = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths)
    return runs[source], ends, sizes[rows].copy()
