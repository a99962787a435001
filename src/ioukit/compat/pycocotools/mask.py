"""`pycocotools.mask` with the same names and results: change the import, and a program runs as before.

    from ioukit.compat.pycocotools import mask as mask_utils

Records are ``{"size": [height, width], "counts": bytes}``. In some cases pycocotools 2.0.11 reads foreign memory,
overflows, or returns nonsense. Here these cases raise an error that names the record: counts that do not sum to the
number of pixels; broken compressed counts; masks of different sizes in `merge`, `iou` and `decode`; polygons with fewer
than three points or an odd number of coordinates; coordinates that are not finite or beyond 2**27. ``docs/masks.md``
lists all differences.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ioukit import _core
from ioukit.overlap.engines.masks import check_same_sizes
from ioukit.regions import Masks

__all__ = ["area", "decode", "encode", "frPyObjects", "iou", "merge", "toBbox"]

Record = dict[str, Any]


def encode(bimask: NDArray[Any]) -> Any:
    """The record of (H, W) pixels, or a list of N records for (H, W, N) pixels.

    Args:
        bimask: uint8 or bool, in Fortran order; any value but 0 is foreground.

    Raises:
        ValueError: If the dtype, the order or the shape does not fit.
        TypeError: If it is not an array.
    """
    if not isinstance(bimask, np.ndarray):
        raise TypeError(f"bimask must be a NumPy array, got {type(bimask).__name__}")
    if bimask.ndim not in (2, 3):
        raise ValueError(f"bimask must have shape (H, W) or (H, W, N), got {bimask.shape}")
    if bimask.dtype not in (np.uint8, np.bool_):
        raise ValueError(f"bimask must be of uint8 or bool, got {bimask.dtype}")
    if not bimask.flags.f_contiguous:
        raise ValueError("bimask is not Fortran contiguous: use numpy.asfortranarray")
    if bimask.ndim == 2:
        return encode(bimask[:, :, None])[0]
    height, width, count = bimask.shape
    pixels = bimask.view(np.uint8).transpose(2, 1, 0).reshape(-1)
    return _core.masks_to_rle(*_core.masks_from_pixels(pixels, count, height, width, False), True, False)


def decode(rleObjs: list[Record] | Record) -> NDArray[np.uint8]:  # noqa: N803 - pycocotools' name
    """(H, W) pixels of a record, or (H, W, N) pixels of N records: uint8, in Fortran order.

    Raises:
        ValueError: If a record is not a mask, the sizes differ, or the list is empty.
    """
    masks = _masks(rleObjs)
    pixels: NDArray[np.uint8] = masks.to_arrays().view(np.uint8).transpose(1, 2, 0)
    if not len(masks):
        raise ValueError("decode needs at least one record: the size of none is unknown")
    return pixels if isinstance(rleObjs, list) else pixels[:, :, 0]


def area(rleObjs: list[Record] | Record) -> Any:  # noqa: N803
    """The number of foreground pixels: uint32 for a record, (N,) for a list."""
    areas = _core.rle_areas(_records(rleObjs), "rleObjs")
    return areas if isinstance(rleObjs, list) else areas[0]


def toBbox(rleObjs: list[Record] | Record) -> NDArray[np.float64]:  # noqa: N802, N803
    """The box of whole pixels around the foreground, ``[x, y, width, height]``: (4,), or (N, 4) for a list."""
    boxes = _core.rle_bounds(_records(rleObjs), "rleObjs")
    return boxes if isinstance(rleObjs, list) else boxes[0]


def merge(rleObjs: list[Record], intersect: bool | int = 0) -> Record:  # noqa: N803
    """The record of the union, or of the intersection; for an empty list, that of a mask of 0 x 0 pixels.

    Raises:
        ValueError: If the sizes of the masks differ.
    """
    if not len(rleObjs):
        return {"size": [0, 0], "counts": b""}
    return _core.rle_merge(_records(rleObjs), "rleObjs", bool(intersect))


def iou(dt: Any, gt: Any, pyiscrowd: Any) -> Any:
    """IoU of every detection with every ground truth; for a crowd, the intersection over the detection's area.

    Args:
        dt: M records; or M boxes ``[x, y, width, height]``, as an (M, 4) array or a list.
        gt: N records or boxes.
        pyiscrowd: N flags.

    Returns:
        (M, N) float64 in Fortran order; ``[]`` if ``dt`` or ``gt`` is empty.

    Raises:
        ValueError: If the sizes of the masks differ, or there is not one flag for each of ``gt``.
        TypeError: If ``dt`` and ``gt`` are not both records or both boxes.
    """
    crowd = np.ascontiguousarray(np.asarray(pyiscrowd) != 0)
    if crowd.shape != (len(gt),):
        raise ValueError(f"iou(iscrowd=) must have the same length as gt, got {len(crowd)} flags for {len(gt)}")
    first, second = (_regions(side, name) if len(side) else None for side, name in ((dt, "dt"), (gt, "gt")))
    if first is None or second is None:
        return []
    if isinstance(first, Masks) and isinstance(second, Masks):
        check_same_sizes(first, second)
        table = np.empty((len(gt), len(dt)))
        _core.masks_pairwise("iou", *second._parts, *first._parts, crowd, True, table, 0)
        return table.T
    if isinstance(first, Masks) or isinstance(second, Masks):
        raise TypeError("dt and gt must be of one kind, both records of masks or both boxes")
    return _core.coco_box_iou(second, first, crowd).T


def frPyObjects(pyobj: Any, h: int, w: int) -> Any:  # noqa: N802
    """Compressed records from polygons, from boxes, or from records whose counts are lists.

    Args:
        pyobj: A list of flat polygons, each of which becomes a mask (`merge` unites them); boxes ``[x, y, width,
            height]``, as an (N, 4) float64 array or a list; a record, or a list of records, whose ``counts`` are the
            lengths of the runs; or a single polygon or box, which fails in pycocotools.
        h: Height of the image in pixels; records have their own.
        w: Width of the image in pixels.

    Returns:
        A list of records; for a single record, polygon or box, one record.
    """
    if isinstance(pyobj, np.ndarray):
        if pyobj.dtype != np.float64 or pyobj.ndim != 2 or pyobj.shape[1] != 4:
            raise ValueError(f"boxes must be (N, 4) of float64, got {pyobj.dtype} of shape {pyobj.shape}")
        return _drawn_boxes(pyobj, h, w)
    if isinstance(pyobj, dict):
        return _from_counts([pyobj])[0]
    if not isinstance(pyobj, list):
        raise TypeError(f"pyobj must be an array of boxes, a list or a record, got {type(pyobj).__name__}")
    if not pyobj:
        raise ValueError("pyobj is empty: neither boxes nor polygons")
    if isinstance(pyobj[0], dict):
        return _from_counts(pyobj)
    if np.ndim(pyobj[0]) == 0:
        return frPyObjects([pyobj], h, w)[0]
    if len(pyobj[0]) == 4:
        return _drawn_boxes(_boxes(pyobj, "pyobj"), h, w)
    sizes = np.tile(np.array([int(h), int(w)]), (len(pyobj), 1))
    return _core.masks_to_rle(*_core.masks_from_polygons([[ring] for ring in pyobj], sizes, "pyobj", 0), True, False)


def _drawn_boxes(boxes: NDArray[np.float64], h: int, w: int) -> list[Record]:
    sizes = np.tile(np.array([int(h), int(w)]), (len(boxes), 1))
    return _core.masks_to_rle(*_core.masks_from_boxes(np.ascontiguousarray(boxes), sizes, "pyobj"), True, False)


def _from_counts(records: list[Record]) -> list[Record]:
    for index, record in enumerate(records):
        if isinstance(record, dict) and isinstance(record.get("counts"), (str, bytes)):
            raise ValueError(f"pyobj[{index}]: counts are compressed already")
    return Masks.from_rle(records).to_rle(text=False)


def _masks(records: list[Record] | Record, name: str = "rleObjs") -> Masks:
    return Masks._trusted(*_core.masks_from_rle(_records(records), name))


def _records(records: list[Record] | Record) -> list[Record]:
    return records if isinstance(records, list) else [records]


def _regions(side: Any, name: str) -> Masks | NDArray[np.float64]:
    """One side of `iou`."""
    if isinstance(side, list) and all(isinstance(one, dict) for one in side):
        return _masks(side, name)
    return _boxes(side, name)


def _boxes(boxes: Any, name: str) -> NDArray[np.float64]:
    if not isinstance(boxes, (np.ndarray, list)):
        raise TypeError(f"{name} must be a list of records, or boxes as an array or a list, got {type(boxes).__name__}")
    odd = [one for one in boxes if not hasattr(one, "__len__")] if isinstance(boxes, list) else []
    if odd:
        raise TypeError(f"{name} must be all records or all boxes of 4 numbers, got one of {type(odd[0]).__name__}")
    try:
        rows = np.ascontiguousarray(boxes, np.float64)
    except (ValueError, TypeError) as error:
        raise TypeError(f"{name} must be all records or all boxes of 4 numbers: {error}") from None
    if rows.ndim != 2 or rows.shape[1] != 4:
        raise ValueError(f"{name} must be boxes of shape (N, 4), got {rows.shape}")
    return rows


ORIGINAL = SimpleNamespace(**{name: globals()[name] for name in __all__})
"""The functions, also where a program has replaced those of this module."""
