"""Which boxes survive: the arithmetic of `nms` and `nms_padded`, for arrays that have values.

Native code takes upright boxes on the host. Other regions go by the pairs of a sparse join. Tensors on a device stay
there (`_array_api`).
Owns: which of these ways a call goes.
Does not own: programs that are traced; `nms` and `nms_padded` send those to `_operators`, which calls this file when
they run.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import _core
from ioukit._array_types import Ids
from ioukit._arrays import in_library_of, on_host
from ioukit._checks import check_threads
from ioukit.overlap.engines.engine import engine_of
from ioukit.overlap.join import overlap_join
from ioukit.postprocess import _array_api
from ioukit.postprocess._groups import groups, limited
from ioukit.postprocess._inputs import DeviceSet, HostSet, least_score, receive, refuse_nan, restored
from ioukit.postprocess._options import least_reaching
from ioukit.postprocess.suppression import suppression_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.overlap.join import OverlapPairs
    from ioukit.postprocess._inputs import RegionSet
    from ioukit.postprocess._options import Limits, Rule
    from ioukit.postprocess.suppression import Suppression
    from ioukit.regions import BoxesLike
    from ioukit.regions.regions import Regions
    from ioukit.typing import Array, BoxFormat


def suppressed(
    boxes: BoxesLike | Regions,
    scores: Array,
    labels: Array | None,
    batch: Array | None,
    rule: Rule,
    limits: Limits,
    explain: bool,
    fmt: BoxFormat | None,
    check: bool,
    threads: int,
) -> Array | Suppression:
    """The result of `nms`, by the way for what came."""
    given = receive(boxes, scores, labels, batch, format=fmt, check=check, on_host=explain)
    if isinstance(given, HostSet):
        keep = _survivors(given, rule, limits, threads)
        return _explained(given, rule, limits, keep, threads) if explain else given.positions_back(keep)
    if isinstance(given, DeviceSet):
        return _array_api.survivors(given, rule, limits)
    result = _suppressed_regions(given, rule, limits, threads)
    return result if explain else restored(result.keep.copy(), scores)


def _survivors(given: HostSet, rule: Rule, limits: Limits, threads: int) -> Ids:
    """(K,) the positions of the boxes that survive, by descending score."""
    keep = _core.nms_survivors(
        rule.measure.variant,
        least_reaching(rule, given.boxes.dtype),
        given.boxes,
        given.scores,
        groups(given.labels, given.batch),
        least_score(given, limits),
        threads,
    )
    if isinstance(keep, int):  # native code finds NaN on its way, and returns its row
        refuse_nan(keep)
    return limited(keep, given.batch, limits.max_keep)


def _explained(given: HostSet, rule: Rule, limits: Limits, keep: Ids, threads: int) -> Suppression:
    """Why each of the other boxes did not survive."""
    least = least_score(given, limits)
    others = np.ones(len(given.scores), bool) if least is None else given.scores >= given.scores.dtype.type(least)
    others[keep] = False
    rows, codes = np.flatnonzero(others), groups(given.labels, given.batch)
    of_kept, of_others = (None, None) if codes is None else (codes[keep], codes[rows])
    first, values = _core.nms_first_suppressors(
        rule.measure.variant,
        least_reaching(rule, given.boxes.dtype),
        given.boxes[keep],
        of_kept,
        given.boxes[rows],
        of_others,
        threads,
    )
    return suppression_of(given.scores, rule, keep, rows, first, values)


def _suppressed_regions(given: RegionSet, rule: Rule, limits: Limits, threads: int) -> Suppression:
    """Which regions survive, and why each of the others does not."""
    scores = given.scores
    candidates = np.ones(len(scores), bool)
    if (least := least_score(given, limits)) is not None:
        candidates = scores >= scores.dtype.type(least)
    order = np.flatnonzero(candidates)[np.argsort(-scores[candidates], kind="stable")]
    removed_by, values = np.full(len(order), -1), np.full(len(order), math.nan)
    low, alive = least_reaching(rule, np.dtype(np.float64)), np.ones(len(order), bool)
    if low <= 1 and len(order):
        pairs = _pairs(given, rule, low, order, threads)
        alive = _core.nms_of_pairs(len(order), pairs.rows, pairs.columns) < 0
        alive = _within_limit(given, order, alive, limits.max_keep)
        # The first pair of a column whose row survives: rows ascend from the best score down.
        of_kept = alive[pairs.rows] & ~alive[pairs.columns]
        columns, first = np.unique(pairs.columns[of_kept], return_index=True)
        removed_by[columns], values[columns] = pairs.rows[of_kept][first], pairs.values[of_kept][first]
    else:
        alive = _within_limit(given, order, alive, limits.max_keep)
    keep = order[alive]
    ranks = np.full(len(scores), -1)
    ranks[keep] = np.arange(len(keep))
    first = np.where(removed_by < 0, -1, ranks[order[removed_by]])
    return suppression_of(scores, rule, keep, order[~alive], first[~alive], values[~alive])


def _pairs(given: RegionSet, rule: Rule, low: float, order: Ids, threads: int) -> OverlapPairs:
    """The pairs that overlap by at least ``low``, as positions in ``order``."""
    codes = groups(given.labels, given.batch)
    of: Any = None if rule.metric != "ioa" else rule.measure.variant.removeprefix("ioa_")
    try:
        return overlap_join(
            given.regions[order],
            min_iou=low,
            metric=rule.metric,
            of=of,
            labels1=None if codes is None else codes[order],
            threads=threads or None,
        )
    except ValueError:
        # The join sees the regions sorted by score. The check names one by its position in the input.
        check = getattr(engine_of(given.regions, given.regions), "check", None)
        if check is not None:
            check(given.regions, "boxes")
        raise


def _within_limit(given: RegionSet, order: Ids, alive: NDArray[np.bool_], most: int) -> NDArray[np.bool_]:
    """Which of the regions that survive stay if every image keeps at most ``most``."""
    kept = np.zeros(len(given.scores), bool)
    kept[limited(order[alive], given.batch, most)] = True
    return kept[order]


def padded(
    shape: tuple[int, ...], flat: tuple[Any, Any, Any], rule: Rule, limits: Limits, fmt: BoxFormat | None
) -> Array:
    """(..., max_keep) the result of `nms_padded` on the host, from what `flattened` returns."""
    images, count, size = math.prod(shape[:-1]), shape[-1], limits.max_keep
    batch = np.repeat(np.arange(images), count) if len(shape) > 1 else None
    found = suppressed(*flat, batch, rule, limits, False, fmt, True, check_threads(None))
    positions = on_host(found, "keep", "")
    if batch is None:
        filled = np.full(size, -1)
        filled[: len(positions)] = positions
    else:
        filled = _filled(positions, images, count, size).reshape(*shape[:-1], size)
    return in_library_of(filled, found)


def flattened(boxes: Any, scores: Any, labels: Any) -> tuple[tuple[int, ...], tuple[Any, Any, Any]]:
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
