"""From what a caller passes to host arrays that the rules compute on, and back to the caller's library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._arrays import as_floats, computing_dtype, in_library_of, on_host
from ioukit._checks import check_one_unit, integer_column
from ioukit.assign.assignment import Assignment
from ioukit.overlap._arguments import single_set
from ioukit.regions import Boxes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ioukit.assign.assignment import Candidates
    from ioukit.typing import Array, BoxFormat, FloatArray


NO_VALUES = "has no values to look at: assignment runs on the host, outside of traced programs"


def floats_of(data: object, name: str, shape: tuple[int | None, ...]) -> FloatArray:
    """Finite numbers of a given shape, in float32 or float64. None in ``shape`` stands for any length."""
    array = _shaped(data, name, shape)
    finite = np.isfinite(array)
    if not finite.all():
        where = np.unravel_index(int(np.argmin(finite)), array.shape)
        index = ", ".join(map(str, where))
        raise ValueError(f"{name}[{index}] is {array[where]}: every value must be finite")
    return array


def _shaped(data: object, name: str, shape: tuple[int | None, ...]) -> FloatArray:
    array = as_floats(on_host(data, name, NO_VALUES), name)
    array = np.ascontiguousarray(array, computing_dtype(array.dtype))
    if array.ndim != len(shape) or any(want not in (None, got) for want, got in zip(shape, array.shape, strict=True)):
        wanted = ", ".join("N" if side is None else str(side) for side in shape)
        raise ValueError(f"{name} must have shape ({wanted}{',' if len(shape) == 1 else ''}), got {array.shape}")
    return array


def boxes_of(data: Any, fmt: BoxFormat | None, name: str, check: bool = True) -> FloatArray:
    """(N, 4) corners, contiguous, in float32 or float64."""
    boxes = on_host(data, name, NO_VALUES)
    if not isinstance(boxes, Boxes):
        boxes = as_floats(boxes, name)
        if boxes.shape != (0,) and (boxes.ndim != 2 or boxes.shape[1] != 4):
            raise ValueError(f"{name} must have shape (N, 4), got {boxes.shape}")
    corners, _ = single_set(name, boxes, fmt, check)
    return corners


def pair_of_sets(
    predictions: object, objects: object, fmt: BoxFormat | None, check: bool, names: tuple[str, str]
) -> tuple[FloatArray, FloatArray]:
    """Both sets as corners in one dtype."""
    if isinstance(predictions, Boxes) and isinstance(objects, Boxes):
        check_one_unit(predictions.normalized, objects.normalized)
    first, second = (boxes_of(data, fmt, name, check) for data, name in zip((predictions, objects), names, strict=True))
    # An empty list of objects is float64. It must not turn the predictions into float64.
    dtype = np.promote_types(first.dtype, second.dtype) if len(second) else first.dtype
    return first.astype(dtype, copy=False), second.astype(dtype, copy=False)


def points_of(points: object, count: int, dtype: np.dtype[Any]) -> FloatArray:
    """(P, 2) centres."""
    array = floats_of(points, "points", (None, 2))
    if len(array) != count:
        raise ValueError(f"points must have shape ({count}, 2), one per prediction, got {array.shape}")
    return array.astype(dtype, copy=False)


def labels_of(labels: object, objects: int, classes: int) -> NDArray[np.int64]:
    """(G,) classes of the objects, each at least 0 and below ``classes``."""
    column = integer_column("labels", on_host(labels, "labels", NO_VALUES), objects, each="one per object")
    wrong = np.flatnonzero((column < 0) | (column >= classes))
    if len(wrong):
        raise ValueError(f"labels[{wrong[0]}] is {column[wrong[0]]}, but scores has {classes} classes")
    return column


def scores_of(scores: object, count: int, dtype: np.dtype[Any], name: str = "scores") -> FloatArray:
    """(P, C) probabilities."""
    array = _shaped(scores, name, (None, None)).astype(dtype, copy=False)
    if len(array) != count:
        raise ValueError(f"{name} must have shape ({count}, C), one row per prediction, got {array.shape}")
    # NaN and infinity fail this test too, so a valid table is read only once.
    if array.size and not (array.min() >= 0 and array.max() <= 1):
        floats_of(array, name, (None, None))
        row, column = np.unravel_index(int(np.argmax((array < 0) | (array > 1))), array.shape)
        raise ValueError(
            f"{name}[{row}, {column}] is {array[row, column]:g}: scores are probabilities within [0, 1], so apply the "
            "sigmoid or the softmax first"
        )
    return array


def finished(
    like: object,
    *,
    rule: str,
    objects: int,
    target: NDArray[np.int64],
    candidates: Candidates,
    overlap: FloatArray,
    ignore: NDArray[np.bool_] | None = None,
    pairs: NDArray[np.int64] | None = None,
    facts: Mapping[str, NDArray[Any]] | None = None,
    cost: FloatArray | None = None,
    metric: FloatArray | None = None,
    scores: FloatArray | None = None,
) -> Assignment:
    """The record, with its arrays in the library and on the device of ``like``."""
    if pairs is None:
        assigned = np.flatnonzero(target >= 0)
        pairs = np.stack([target[assigned], assigned], axis=1)
    if ignore is None:
        ignore = np.zeros(len(target), bool)

    def back(array: NDArray[Any] | None) -> Array:
        return None if array is None else in_library_of(array, like)

    return Assignment(
        rule=rule, objects=objects, target=back(target), ignore=back(ignore), overlap=back(overlap), pairs=back(pairs),
        candidates=candidates, facts=facts or {}, cost=back(cost), metric=back(metric), scores=back(scores),
    )  # fmt: skip


def spread(count: int, places: NDArray[np.int64], values: FloatArray, empty: float = np.nan) -> FloatArray:
    """(P,) the values at these predictions, and ``empty`` at all others."""
    column = np.full(count, empty, values.dtype)
    column[places] = values
    return column
