"""From what a caller of a suppression passes to what the engines take."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._arrays import as_floats, as_numpy, computing_dtype, library_of
from ioukit.overlap._arguments import single_set
from ioukit.postprocess._columns import check_most
from ioukit.postprocess._groups import integers
from ioukit.postprocess._native import Cut, Sets
from ioukit.regions import Boxes

if TYPE_CHECKING:
    from ioukit.typing import Array, BoxFormat, FloatArray

__all__ = ["cut_of", "device_sets", "host_scores", "host_sets", "is_traced", "one_home"]


def cut_of(score_threshold: float | None, max_keep: int | None, dtype: np.dtype[Any]) -> Cut:
    """Checks both; the threshold in the dtype of the scores, as NumPy compares it."""
    if max_keep is not None:
        max_keep = check_most("max_keep", max_keep)
    if score_threshold is None:
        return Cut(None, max_keep)
    try:
        least = float(score_threshold)
    except (TypeError, ValueError):
        raise TypeError(f"score_threshold must be a number, got {type(score_threshold).__name__}") from None
    if math.isnan(least):
        raise ValueError("score_threshold must be a number, got nan")
    return Cut(float(dtype.type(least)), max_keep)


def one_home(boxes: object, scores: object) -> str:
    """The library of both: of the scores alone where the boxes are `Boxes` or a list.

    Raises:
        TypeError: If they come from more than one.
    """
    library, other = library_of(boxes), library_of(scores)
    if library != other:
        raise TypeError(
            f"boxes and scores must come from one library, but boxes are {type(boxes).__name__} of {library}, "
            f"scores are {type(scores).__name__} of {other}"
        )
    return library


def host_scores(scores: Any, count: int) -> FloatArray:
    """(N,) contiguous, in float32 or float64."""
    array = as_floats(scores, "scores")
    if array.shape != (count,):
        raise ValueError(f"scores must have shape ({count},), one per box, got {array.shape}")
    array = np.ascontiguousarray(array, computing_dtype(array.dtype))
    return array if array.flags.aligned else array.copy()


def host_sets(
    boxes: Any, scores: Any, labels: Any, batch: Any, fmt: BoxFormat | None, check: bool, library: str
) -> tuple[Sets, np.dtype[Any]]:
    """The arrays on the host, in shared memory where they are there already, and the dtype of the scores."""
    half = False
    if library != "numpy":
        scores = _on_host(scores)
        if not isinstance(boxes, Boxes):
            half = str(boxes.dtype).removeprefix("torch.") == "bfloat16"
            boxes = _on_host(boxes)
    corners, dtype = single_set("boxes", boxes, fmt, check)
    if corners.ndim != 2:
        raise ValueError(f"boxes must have shape (N, 4), got {corners.shape}")
    count = len(corners)
    numbers = host_scores(scores, count)
    codes = [None if array is None else integers(name, array, count) for name, array in _named(labels, batch)]
    scored = getattr(scores, "dtype", numbers.dtype)
    kind = scored if scored == np.float16 else numbers.dtype
    return Sets(corners, numbers, codes[0], codes[1], "bfloat16" if half else dtype), kind


def _on_host(array: Array) -> FloatArray:
    values = as_numpy(array)
    if values is None:
        raise TypeError("nms returns as many boxes as survive, which a traced or mapped program cannot: use nms_padded")
    return values


def _named(labels: Any, batch: Any) -> tuple[tuple[str, Any], tuple[str, Any]]:
    return ("labels", labels), ("batch", batch)


def device_sets(boxes: Array, scores: Array, labels: Any, batch: Any) -> tuple[Array, Array, tuple[Array, ...]]:
    """Arrays that stay where they are: no gradient, and the codes beside the boxes."""
    if tuple(scores.shape) != tuple(boxes.shape[:1]) or len(boxes.shape) != 2:
        raise ValueError(
            f"boxes must have shape (N, 4) and scores (N,), got {tuple(boxes.shape)} and {tuple(scores.shape)}"
        )
    library = library_of(boxes)
    if library == "torch":
        boxes, scores = boxes.detach(), scores.detach()
    codes = []
    for name, array in _named(labels, batch):
        if array is None:
            continue
        if library_of(array) != library:
            numbers = integers(name, array, boxes.shape[0])
            if library == "torch":
                codes.append(sys.modules["torch"].as_tensor(numbers, device=boxes.device))
            else:
                codes.append(sys.modules["jax"].numpy.asarray(numbers))
            continue
        if tuple(array.shape) != tuple(scores.shape):
            raise ValueError(f"{name} must have shape {tuple(scores.shape)}, one per box, got {tuple(array.shape)}")
        codes.append(array)
    return boxes, scores, tuple(codes)


def is_traced(library: str, *arrays: Any) -> bool:
    """Whether a program is being traced or mapped, so that the arrays have no values yet."""
    if library == "jax":
        tracer = sys.modules["jax"].core.Tracer
        return any(isinstance(array, tracer) for array in arrays)
    return library == "torch" and bool(sys.modules["torch"].compiler.is_compiling())
