"""The pipeline of `nms` for arrays that stay where they are, by the functions of the array API.

These are tensors on a device, and arrays of a program that is traced, whose result has a fixed size. The overlaps are
those of `ioukit.overlap` in the caller's library, and they are compared as the library compares an array with a number.
"""

from __future__ import annotations

import math
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit._arrays import as_numpy, library_of, namespace_of
from ioukit.overlap import _array_formulas
from ioukit.overlap._arguments import OnDevice
from ioukit.overlap._array_formulas import MAX_BYTES
from ioukit.postprocess._groups import limited

if TYPE_CHECKING:
    from collections.abc import Callable

    from ioukit.postprocess._inputs import DeviceSet
    from ioukit.postprocess._options import Limits, Rule
    from ioukit.typing import Array


_BLOCK = 1024
"""The number of boxes whose overlaps with each other are computed as one table."""

_PIECE = 1 << 15
"""The number of boxes after a block that are compared with its survivors at a time."""


class Kernels(NamedTuple):
    """How the overlaps of `survivors` are computed."""

    table: Callable[..., Array]
    """`_removes`, or a function that computes the same."""
    removed: Callable[..., Array]
    """`_removed`, or a function that computes the same."""


def compiled_kernels(compiler: Callable[[Callable[..., Array]], Callable[..., Array]]) -> Kernels:
    """The overlaps as programs of a compiler, which needs no limit of memory because it writes no temporary tables."""
    return Kernels(*(partial(compiler(kernel), max_bytes=None) for kernel in (_removes, _removed)))


def survivors(given: DeviceSet, rule: Rule, limits: Limits, kernels: Kernels | None = None) -> Array:
    """(K,) the positions of the boxes that survive, by descending score, on the device of the boxes.

    The boxes go in blocks, the best first. A block decides among itself which of its boxes survive, and these remove
    boxes after it. The host waits for the device a few times per block.
    """
    table, removed = kernels or Kernels(_removes, _removed)
    xp = given.xp
    order, boxes, scores, codes = _sorted(given)
    count = boxes.shape[0]
    if limits.score_threshold is not None:
        count = int(xp.sum(xp.astype(scores >= limits.score_threshold, xp.int64)))  # scores descend
    waiting = xp.arange(count, device=boxes.device)
    kept = [waiting[:0]]
    while waiting.shape[0]:
        block, waiting = waiting[:_BLOCK], waiting[_BLOCK:]
        kept.append(block[_settled(xp, table(boxes, codes, rule, block, block))])
        pieces = [
            piece[~removed(boxes, codes, rule, kept[-1], piece)]
            for piece in (waiting[k : k + _PIECE] for k in range(0, waiting.shape[0], _PIECE))
        ]
        waiting = xp.concat(pieces) if pieces else waiting
    keep = xp.take(order, xp.concat(kept), axis=0)
    if keep.shape[0] <= limits.max_keep:
        return keep
    if given.batch is None:
        return keep[: limits.max_keep]
    on_host, images = as_numpy(keep), as_numpy(given.batch)
    assert on_host is not None
    assert images is not None
    return xp.asarray(limited(on_host, images.astype(np.int64), limits.max_keep), device=boxes.device)


def padded_survivors(given: DeviceSet, shape: tuple[int, ...], rule: Rule, limits: Limits) -> Array:
    """(..., max_keep) the positions of the boxes that survive in each image, then -1.

    A loop of the library, which a program keeps as a loop, picks the best box that is left in each image. ``shape`` is
    (..., N), that of the scores before the images were joined.
    """
    xp, size, count = given.xp, limits.max_keep, shape[-1]
    boxes, scores = xp.reshape(given.boxes, (*shape, 4)), xp.reshape(given.scores, shape)
    labels = None if given.labels is None else xp.reshape(given.labels, shape)
    device = {} if library_of(boxes) == "jax" else {"device": boxes.device}
    positions, places = (xp.arange(length, **device) for length in (count, size))
    starts = xp.arange(math.prod(shape[:-1]), **device) * count  # of the images among all boxes
    keep = xp.full((*shape[:-1], size), -1, dtype=positions.dtype, **device)
    if count == 0:
        return keep

    def is_going(k: Array, alive: Array, _: Array) -> Array:
        return (k < size) & xp.any(alive)

    def pick(k: Array, alive: Array, keep: Array) -> tuple[Array, Array, Array]:
        best = xp.max(xp.where(alive, scores, -xp.inf), axis=-1, keepdims=True)
        first = xp.min(xp.where(alive & (scores == best), positions, count), axis=-1, keepdims=True)
        # Not by `take_along_axis`: PyTorch's would fix the number of images in a program that is exported.
        row = xp.reshape(xp.where(first < count, first, 0), (-1,)) + starts
        box = xp.reshape(xp.take(xp.reshape(boxes, (-1, 4)), row, axis=0), (*first.shape, 4))
        removed = _compared(_array_formulas.elementwise(rule.measure, OnDevice(xp, box, boxes, boxes.dtype)), rule)
        if labels is not None:
            removed = removed & (labels == xp.reshape(xp.take(xp.reshape(labels, (-1,)), row, axis=0), first.shape))
        left = alive & ~removed & (positions != first)
        return k + 1, left, xp.where((places == k) & (first < count), first, keep)

    alive = scores >= (-xp.inf if limits.score_threshold is None else limits.score_threshold)
    return _while_loop(boxes)(is_going, pick, (xp.zeros((), dtype=keep.dtype, **device), alive, keep))[2]


def _while_loop(array: Array) -> Callable[..., Any]:
    """The loop of the library of an array, whose conditions and steps are recorded once."""
    if library_of(array) == "jax":
        loop = sys.modules["jax"].lax.while_loop
        return lambda is_going, step, start: loop(lambda state: is_going(*state), lambda state: step(*state), start)
    in_torch: Callable[..., Any] = sys.modules["torch"]._higher_order_ops.while_loop
    return in_torch


def _sorted(given: DeviceSet) -> tuple[Array, Array, Array, tuple[Array, ...]]:
    """The order of descending scores, in which equal scores stay in their order; and boxes, scores and codes in it.

    Codes are the labels and the image numbers, as far as there are any.
    """
    xp = given.xp
    order = xp.argsort(given.scores, descending=True, stable=True)
    codes = [column for column in (given.labels, given.batch) if column is not None]
    boxes, scores, *codes = (xp.take(array, order, axis=0) for array in (given.boxes, given.scores, *codes))
    return order, boxes, scores, tuple(codes)


def _compared(values: Array, rule: Rule) -> Array:
    return values > rule.threshold if rule.strict else values >= rule.threshold


def _removes(
    boxes: Array, codes: tuple[Array, ...], rule: Rule, rows: Array, columns: Array, max_bytes: int | None = MAX_BYTES
) -> Array:
    """(R, C) whether the box of a row, if it is kept, removes the box of a column."""
    xp = namespace_of(boxes)

    def of(array: Array, positions: Array) -> Array:
        return xp.take(array, positions, axis=0)

    given = OnDevice(xp, of(boxes, rows), of(boxes, columns), boxes.dtype)
    removes = _compared(_array_formulas.pairwise(rule.measure, given, max_bytes), rule)
    for code in codes:
        removes = removes & (of(code, rows)[:, None] == of(code, columns)[None, :])
    return removes


def _removed(
    boxes: Array, codes: tuple[Array, ...], rule: Rule, rows: Array, columns: Array, max_bytes: int | None = MAX_BYTES
) -> Array:
    """(C,) whether any box of the rows removes the box of a column."""
    return namespace_of(boxes).any(_removes(boxes, codes, rule, rows, columns, max_bytes), axis=0)


def _settled(xp: Any, removes: Array) -> Array:
    """(R,) which boxes of a block survive: those that no survivor removes, found by rounds until nothing changes.

    After k rounds the first k boxes are right. Most blocks need few rounds.
    """
    removes = xp.triu(xp.astype(removes, xp.uint8), k=1) != 0
    alive = xp.ones(removes.shape[0], dtype=xp.bool, device=removes.device)
    while True:
        after = ~xp.any(removes & alive[:, None], axis=0)
        if bool(xp.all(after == alive)):
            return alive
        alive = after
