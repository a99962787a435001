"""Checks of single columns, for all sources of a data set."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._checks import check_choice
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from ioukit.regions import BoxesLike
    from ioukit.typing import TensorLike


OnInvalid = Literal["error", "drop", "pycocotools"]
"""What to do with an invalid record. ``"error"``: refuse the data set. ``"drop"``: leave the record out and count it.
``"pycocotools"``: give the number that pycocotools gives, and refuse the data set where pycocotools raises an error."""

AnyArray = npt.NDArray[Any]


def check_on_invalid(on_invalid: str) -> None:
    """Raise `ValueError` for a value that :data:`OnInvalid` does not have."""
    check_choice("on_invalid", on_invalid, get_args(OnInvalid))


def existing_file(path: str | os.PathLike[str]) -> str:
    """The path as a string; a folder is a `DatasetError`. Whether the file exists is checked by whoever opens it."""
    path = os.fspath(path)
    if os.path.isdir(path):
        raise DatasetError(f"{path}: expected a file, found a folder")
    return path


def integers(values: npt.ArrayLike, *, name: str, length: int | None = None) -> npt.NDArray[np.int64]:
    """(N,) a new column of ids from integers, or from floats without a fraction."""
    array = np.asarray(values)
    _check_shape(array, name, length)
    if array.size == 0:
        return np.zeros(0, np.int64)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be integers, got dtype {array.dtype}")
    if array.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            whole = np.isfinite(array) & (array == np.trunc(array))
        if not whole.all():
            row = int(np.argmin(whole))
            raise ValueError(f"{name} must be integers, got {array[row]} in row {row}")
    if (
        array.dtype.kind in "uf"
        and (largest := array[np.argmax(np.abs(array))])
        and not -(2**63) <= int(largest) < 2**63
    ):
        raise ValueError(f"{name} must fit 64 signed bits, got {largest}")
    return array.astype(np.int64)


def floats(values: npt.ArrayLike, *, name: str, length: int) -> npt.NDArray[np.float64]:
    """(N,) a new column of numbers."""
    array = _numbers(values, name)
    _check_shape(array, name, length)
    return array


def _numbers(values: npt.ArrayLike | TensorLike, name: str) -> npt.NDArray[np.float64]:
    """A new float64 array. Strings are refused, because NumPy would read numbers from them."""
    given = np.asarray(values)
    if given.dtype.kind not in "biufO":
        raise TypeError(f"{name} must be numbers, got dtype {given.dtype}")
    return np.array(given, np.float64, order="C")


def bools(values: npt.ArrayLike, *, name: str, length: int) -> npt.NDArray[np.bool_]:
    """(N,) a new column of flags from bools, or from the numbers 0 and 1."""
    array = np.asarray(values)
    _check_shape(array, name, length)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be bools, got dtype {array.dtype}")
    if array.dtype.kind != "b" and not (good := np.isin(array, (0, 1))).all():
        row = int(np.argmin(good))
        raise ValueError(f"{name} must be bools, or 0 and 1, got {array[row]} in row {row}")
    return array.astype(np.bool_)


def _check_shape(array: AnyArray, name: str, length: int | None) -> None:
    if array.ndim != 1 or (length is not None and len(array) != length):
        wanted = "(N,)" if length is None else f"({length},)"
        raise ValueError(f"{name} must have shape {wanted}, got {array.shape}")


def image_labels(values: npt.ArrayLike, *, name: str) -> npt.NDArray[np.int64] | npt.NDArray[np.str_]:
    """(N,) a new column of image ids: integers or strings."""
    array = np.asarray(values)
    if array.dtype.kind == "U" and not isinstance(values, np.ndarray):
        array = np.asarray(values, np.object_)  # NumPy turns the number in [1, "a"] into a string
    if array.dtype.kind in "OT" and array.size:
        others = [value for value in array.flat if not isinstance(value, str)]
        if others and len(others) < array.size:
            raise TypeError(f"{name} must be all integers or all strings, got strings and {others[0]!r}")
        array = array if others else array.astype(np.str_)
    if array.dtype.kind != "U":
        return integers(values, name=name)
    _check_shape(array, name, None)
    return np.array(array)


def label_runs(labels: npt.NDArray[Any]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The first row of each run of equal labels, and the run of each row.

    Rows of an image mostly follow each other in a file, so that few strings have to be sorted or looked up.
    """
    begins = np.ones(len(labels), np.bool_)
    begins[1:] = labels[1:] != labels[:-1]
    return np.flatnonzero(begins), np.cumsum(begins) - 1


def check_readable_again(path: str, what: str) -> None:
    """Refuses a pipe: it was empty as soon as the columns were read from it."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise DatasetError(
            f"{path}: expected a file, found a pipe: {what} are read again when they are compared, and a pipe can be "
            "read once"
        )


def named_columns(columns: Mapping[str, Any] | None, *, name: str, length: int) -> dict[str, Any]:
    """New arrays of N rows by name, of any dtype; Python objects become strings. Lists of ids stay what they are."""
    made: dict[str, Any] = {}
    for key, values in (columns or {}).items():
        if hasattr(values, "take") and not isinstance(values, np.ndarray):  # a column of its own kind, such as IdLists
            if len(values) != length:
                raise ValueError(f"{name}[{key!r}] must have {length:,} rows, got {len(values):,}")
            made[str(key)] = values
            continue
        array = np.array(values)
        if array.ndim == 0 or len(array) != length:
            raise ValueError(f"{name}[{key!r}] must have {length:,} rows, got shape {array.shape}")
        if array.dtype.kind == "O":
            array = np.array([str(value) for value in array])
        made[str(key)] = array
    return made


def pixel_boxes(boxes: BoxesLike, count: int) -> npt.NDArray[np.float64]:
    """(N, 4) ``[x, y, width, height]`` in a new float64 array."""
    from ioukit.regions.boxes import Boxes  # noqa: PLC0415 - files of boxes should not load regions

    if isinstance(boxes, Boxes):
        if boxes.normalized:
            raise ValueError("boxes are normalized, expected pixels: denormalize(width, height) them first")
        boxes = boxes.convert("xywh").numpy()
    array = _numbers(boxes, "boxes")
    if array.size == 0:
        array = array.reshape(0, 4)
    if array.shape != (count, 4):
        raise ValueError(f"boxes must have shape ({count}, 4), got {array.shape}")
    return array


def check_boxes(boxes: npt.NDArray[np.float64], source: str, array: str, on_invalid: OnInvalid) -> AnyArray | None:
    """A mask of the rows that are boxes; ``None`` if all are. Another row is an error, unless rows are dropped.

    For ``"pycocotools"``, only numbers that are not finite are an error: pycocotools computes with them, but the
    results mean nothing.
    """
    if on_invalid == "pycocotools":
        return check_values(boxes, "bbox", source, array, on_invalid)
    good = None
    start = 0
    while (problem := _core.box_problem(boxes[start:])) is not None:
        row, expected, found = problem
        if on_invalid == "error":
            raise DatasetError(f"{source}: {array}[{start + row}].bbox: expected {expected}, found {found}")
        good = np.ones(len(boxes), np.bool_) if good is None else good
        good[start + row] = False
        start += row + 1
    return good


def check_values(
    values: npt.NDArray[np.float64],
    field: str,
    source: str,
    array: str,
    on_invalid: OnInvalid,
    *,
    lowest: float | None = None,
) -> AnyArray | None:
    """A mask of the rows that are finite (and at least ``lowest``), used as that of :func:`check_boxes`."""
    fine = np.isfinite(values) if lowest is None else np.isfinite(values) & (values >= lowest)
    good: AnyArray = np.all(fine, axis=tuple(range(1, values.ndim)))
    if good.all():
        return None
    if on_invalid != "drop":
        row = int(np.flatnonzero(~good)[0])
        expected = "a finite number" if lowest is None else f"a finite number of at least {lowest:g}"
        raise DatasetError(f"{source}: {array}[{row}].{field}: expected {expected}, found {values[row].tolist()}")
    return good
