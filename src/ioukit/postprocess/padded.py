"""`nms_padded`: non-maximum suppression whose result has a fixed size, for one image or a batch."""

from __future__ import annotations

import math
import operator
import sys
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ioukit._arrays import any_traced, in_library_of, library_of, on_host
from ioukit.postprocess import _array_api
from ioukit.postprocess._inputs import device_set
from ioukit.postprocess._options import limits_of, rule_of
from ioukit.postprocess._signatures import survivors_and_numbers
from ioukit.postprocess.greedy import nms

if TYPE_CHECKING:
    from ioukit._array_types import Ids
    from ioukit.overlap.variants import OverlapMetric
    from ioukit.postprocess._options import Suppress
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat


@survivors_and_numbers
def nms_padded(
    boxes: BoxesLike,
    scores: Array,
    iou_threshold: float,
    *,
    max_keep: int,
    labels: Array | None = None,
    metric: OverlapMetric = "iou",
    of: Literal["second", "first"] | None = None,
    suppress: Suppress = "above",
    score_threshold: float | None = None,
    format: BoxFormat | None = None,
) -> tuple[Array, Array]:
    """The positions of the boxes that survive greedy non-maximum suppression, in an array of fixed size.

    This is `nms` for programs whose shapes are fixed: ``jax.jit``, ``jax.vmap``, ``torch.compile``, ``torch.vmap``,
    ONNX. The survivors are those of `nms` with the same ``max_keep``. Programs that PyTorch records hold a call of
    native code (the operator ``ioukit::nms_padded``). Arrays of JAX and ONNX programs are computed by a loop over the
    survivors, whose time grows with ``max_keep`` x N, without a check of their values. Other arrays are computed by
    `nms`.

    Args:
        boxes: (..., N, 4) array, xyxy by default; nested lists or `Boxes`. Leading axes are images.
        scores: (..., N) numbers from the same library.
        iou_threshold: As in `nms`.
        max_keep: The length of the result, at least 1.
        labels: (..., N) integers. Only boxes with equal labels remove each other.
        metric: As in `nms`.
        of: As in `nms`.
        suppress: As in `nms`.
        score_threshold: As in `nms`.
        format: As in `nms`.

    Returns:
        ``keep``, (..., max_keep) integers: the positions of the survivors by descending score, then -1. And
        ``valid``, (..., max_keep) bools: true where there is a survivor.

    Raises:
        ValueError: As `nms`, or if ``max_keep`` is below 1.
        TypeError: As `nms`.

    Examples:
        >>> from ioukit import nms_padded
        >>> keep, valid = nms_padded([[0, 0, 4, 4], [0, 0, 4, 3]], [0.8, 0.9], 0.5, max_keep=3)
        >>> keep, valid
        (array([ 1, -1, -1]), array([ True, False, False]))
    """
    size = operator.index(max_keep)
    if size < 1:
        raise ValueError(f"max_keep must be at least 1, got {size}")
    rule = rule_of(metric, of, iou_threshold, suppress)
    options: dict[str, Any] = {
        "iou_threshold": iou_threshold, "max_keep": size, "score_threshold": score_threshold, "metric": metric,
        "of": of, "suppress": suppress, "format": format,
    }  # fmt: skip
    shape, flat = _flattened(boxes, scores, labels)
    traced = any_traced(boxes, scores, labels)
    if library_of(boxes) == "jax" or (traced and _exports_loops()):
        given = device_set(*flat, format=format, check=True)
        keep = _array_api.padded_survivors(given, shape, rule, limits_of(score_threshold, size))
    elif traced:
        from ioukit.postprocess._operators import recorded  # noqa: PLC0415 - it needs PyTorch

        keep = recorded("nms_padded", boxes, scores, labels=labels, batch=None, check=True, **options)
    else:
        images = math.prod(shape[:-1])
        batch = np.repeat(np.arange(images), shape[-1]) if len(shape) > 1 else None
        found = nms(*flat[:2], labels=flat[2], batch=batch, **options)
        keep = in_library_of(_filled(on_host(found, "keep", ""), images, shape[-1], size), found)
        keep = keep.reshape(*shape[:-1], size)
    return keep, keep >= 0


def _exports_loops() -> bool:
    """Whether PyTorch exports the program to ONNX in the way that knows loops, ``dynamo=True``."""
    torch = sys.modules["torch"]
    return bool(torch.onnx.is_in_onnx_export()) and not torch.jit.is_tracing()


def _flattened(boxes: Any, scores: Any, labels: Any) -> tuple[tuple[int, ...], tuple[Any, Any, Any]]:
    """The shape of the scores, and boxes, scores and labels with one axis for all images."""
    shape = tuple(scores.shape) if hasattr(scores, "shape") else np.shape(scores)
    if len(shape) < 2:
        return shape, (boxes, scores, labels)
    arrays = [one if one is None or hasattr(one, "reshape") else np.asarray(one) for one in (boxes, scores, labels)]
    for name, array, wanted in zip(("boxes", "labels"), arrays[::2], ((*shape, 4), shape), strict=True):
        if array is not None and tuple(array.shape) != wanted:
            raise ValueError(f"{name} must have shape {wanted} for scores of shape {shape}, got {tuple(array.shape)}")
    boxes, scores, labels = (None if one is None else one.reshape(-1, *one.shape[len(shape) :]) for one in arrays)
    return shape, (boxes, scores, labels)


def _filled(found: Ids, images: int, count: int, size: int) -> Ids:
    """(images, size) from the positions over all images, by descending score: those in each image, then -1."""
    image, position = np.divmod(found, max(count, 1))
    order = np.argsort(image, kind="stable")
    image = image[order]
    filled = np.full((images, size), -1)
    filled[image, np.arange(len(image)) - np.searchsorted(image, image)] = position[order]
    return filled
