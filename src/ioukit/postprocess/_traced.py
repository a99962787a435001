"""Suppression over the array API: for tensors on a device, and of fixed size for programs that are traced.

The overlaps are those of `ioukit.overlap` in the caller's library, compared as it compares an array with a number.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._arrays import as_numpy, library_of
from ioukit.overlap import _agnostic
from ioukit.postprocess._columns import refuse_nan

if TYPE_CHECKING:
    from ioukit.postprocess._rule import Rule
    from ioukit.typing import Array, BoxFormat

__all__ = ["check", "padded", "sorted_sets", "survivors"]

_BLOCK = 1024
"""Boxes whose overlaps with each other are a table."""

_PIECE = 1 << 15
"""Boxes behind them that are compared with the survivors of a block at a time."""


def sorted_sets(
    boxes: Array, scores: Array, codes: tuple[Array, ...], fmt: BoxFormat | None, check: bool
) -> tuple[Any, Array, Array, Array, tuple[Array, ...]]:
    """The namespace; the order of falling scores, equal ones as they come; boxes as corners, scores and codes in it."""
    xp, corners, _, dtype = _agnostic._corners(boxes, boxes, fmt, check)
    if not xp.isdtype(scores.dtype, "real floating"):
        scores = xp.astype(scores, dtype)
    order = xp.argsort(scores, descending=True, stable=True)

    def taken(array: Array) -> Array:
        return xp.take(array, order, axis=0)

    # Halves stay halves: the overlap of a half is rounded to a half before it is compared.
    boxes = taken(xp.astype(corners, dtype, copy=False) if fmt in (None, "xyxy") else corners)
    return xp, order, boxes, taken(scores), tuple(map(taken, codes))


def check(boxes: Array, scores: Array, fmt: BoxFormat | None) -> None:
    """Refuses boxes that are none, and scores that are NaN; it fetches both.

    Raises:
        ValueError: If there is such a row; the message names the first.
    """
    _agnostic._corners(boxes, boxes[:0], fmt, True)
    numbers = as_numpy(scores)
    if numbers is not None and (nan := np.isnan(numbers)).any():
        refuse_nan(int(nan.argmax()))


def _compared(values: Array, rule: Rule) -> Array:
    return values > rule.threshold if rule.strict else values >= rule.threshold


def survivors(
    boxes: Array, scores: Array, codes: tuple[Array, ...], rule: Rule, least: float | None, fmt: BoxFormat | None
) -> Array:
    """The positions that survive, on the device of the boxes.

    Blocks of the best boxes settle among themselves, and what is kept of a block removes boxes behind it. It waits for
    the device some times a block.
    """
    xp, order, boxes, scores, codes = sorted_sets(boxes, scores, codes, fmt, check=False)
    count = boxes.shape[0]
    if least is not None:
        count = int(xp.sum(xp.astype(scores >= least, xp.int64)))  # they fall
    waiting = xp.arange(count, device=boxes.device)
    kept = [waiting[:0]]
    while waiting.shape[0]:
        block, waiting = waiting[:_BLOCK], waiting[_BLOCK:]
        kept.append(block[_settled(xp, _removes(xp, boxes, codes, rule, block, block))])
        pieces = [
            piece[~xp.any(_removes(xp, boxes, codes, rule, kept[-1], piece), axis=0)]
            for piece in (waiting[k : k + _PIECE] for k in range(0, waiting.shape[0], _PIECE))
        ]
        waiting = xp.concat(pieces) if pieces else waiting
    return xp.take(order, xp.concat(kept), axis=0)


def _removes(xp: Any, boxes: Array, codes: tuple[Array, ...], rule: Rule, rows: Array, columns: Array) -> Array:
    """(R, C): whether the box of a row, if it is kept, removes that of a column."""

    def of(array: Array, positions: Array) -> Array:
        return xp.take(array, positions, axis=0)

    first, second = of(boxes, rows), of(boxes, columns)
    removes = _compared(_agnostic.pairwise(rule.measure, first, second, None, False, _agnostic.MAX_BYTES), rule)
    for code in codes:
        removes = removes & (of(code, rows)[:, None] == of(code, columns)[None, :])
    return removes


def _settled(xp: Any, removes: Array) -> Array:
    """Who survives of a block: who is removed by no survivor, applied until nothing changes.

    After k rounds the first k are right, and most blocks need few.
    """
    removes = xp.triu(xp.astype(removes, xp.uint8), k=1) != 0
    alive = xp.ones(removes.shape[0], dtype=xp.bool, device=removes.device)
    while True:
        after = ~xp.any(removes & alive[:, None], axis=0)
        if bool(xp.all(after == alive)):
            return alive
        alive = after


def padded(
    boxes: Array,
    scores: Array,
    codes: tuple[Array, ...],
    rule: Rule,
    least: float | None,
    fmt: BoxFormat | None,
    max_keep: int,
) -> Array:
    """(max_keep,) the positions that survive, filled up with -1: a loop that picks the best box still there."""
    xp, order, boxes, scores, codes = sorted_sets(boxes, scores, codes, fmt, check=False)
    count = boxes.shape[0]
    positions = xp.arange(count, device=getattr(boxes, "device", None) if library_of(boxes) != "jax" else None)
    alive = positions >= 0 if least is None else scores >= least

    def pick(alive: Array) -> tuple[Array, Array]:
        """The best that is still there, -1 if none is, and those that are there after it."""
        first = xp.min(xp.where(alive, positions, count))
        row = xp.reshape(xp.where(first < count, first, 0), (1,))
        values = _agnostic.elementwise(rule.measure, xp.take(boxes, row, axis=0), boxes, None, False)
        removed = _compared(values, rule)
        for code in codes:
            removed = removed & (code == xp.take(code, row, axis=0))
        box = xp.where(first < count, xp.take(order, row, axis=0)[0], -1)
        return box, alive & ~removed & (positions != first)

    if count == 0:
        return xp.full((max_keep,), -1, dtype=order.dtype)
    if library_of(boxes) == "jax":
        return _loop_of_jax(order.dtype, alive, pick, max_keep)
    keep = []
    for _ in range(max_keep):
        box, alive = pick(alive)
        keep.append(box)
    return xp.stack(keep)


def _loop_of_jax(dtype: Any, alive: Array, pick: Any, max_keep: int) -> Array:
    jax = sys.modules["jax"]

    def more(state: tuple[Array, Array, Array]) -> Array:
        k, alive, _ = state
        return (k < max_keep) & alive.any()

    def step(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        k, alive, keep = state
        box, alive = pick(alive)
        return k + 1, alive, keep.at[k].set(box)

    keep = jax.numpy.full((max_keep,), -1, dtype)
    return jax.lax.while_loop(more, step, (jax.numpy.asarray(0), alive, keep))[2]
