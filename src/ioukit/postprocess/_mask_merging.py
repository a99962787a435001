"""Non-maximum merging of masks: the union of each group of masks that overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ioukit import _core
from ioukit._checks import check_choice
from ioukit.overlap.engines import masks as engine
from ioukit.overlap.join import overlap_join
from ioukit.regions import Masks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.postprocess._inputs import RegionSet

    Ids = NDArray[np.int64]

__all__ = ["Against", "MaskGroups", "group_masks"]

Against: TypeAlias = Literal["best", "merged"]

_LEAST = float(np.nextafter(0, 1))  # at a threshold of 0, masks must still have a pixel in common


class MaskGroups(NamedTuple):
    """Masks in groups, by the descending score of the best mask of each group."""

    masks: Masks
    """(K,) the unions."""
    keep: Ids
    """(K,) the positions of the best masks."""
    groups: Ids
    """(N,) the group of each mask."""


def group_masks(given: RegionSet, threshold: float, metric: str, against: Against, threads: int) -> MaskGroups:
    """Groups masks by their overlap with the best mask of a group, or with the union of the group so far."""
    check_choice("metric", metric, ("iou", "iom"))
    masks: Any = given.regions
    engine.check_same_sizes(masks, masks)
    order = np.argsort(-np.asarray(given.scores, np.float64), kind="stable")
    ranked, codes = masks[order], None if given.labels is None else given.labels[order]
    least = max(float(threshold), _LEAST)
    reach = least if against == "best" else _LEAST
    if least > 1:  # no overlap reaches it
        return MaskGroups(ranked, order.astype(np.int64), np.argsort(order, kind="stable").astype(np.int64))
    pairs = overlap_join(ranked, min_iou=reach, metric=metric, labels1=codes, threads=threads or None)  # type: ignore[arg-type]
    if against == "best":
        # A mask that greedy suppression would remove joins the group of the mask that would remove it.
        into = _core.nms_of_pairs(len(order), pairs.rows, pairs.columns)
        leaders = np.where(into < 0, np.arange(len(order)), into)
    else:
        leaders = _grown(ranked, pairs.rows, pairs.columns, least, metric, threads)
    places, group = np.unique(leaders, return_inverse=True)
    groups = np.empty(len(order), np.int64)
    groups[order] = group
    return MaskGroups(_unions(ranked, group, len(places)), order[places].astype(np.int64), groups)


def _grown(ranked: Masks, rows: Ids, columns: Ids, least: float, metric: str, threads: int) -> Ids:
    """(N,) the best mask of the group of each mask, for groups that compare masks with their union.

    Args:
        ranked: The masks, the best first.
        rows: (P,) of all pairs of masks that have a pixel in common, the better mask.
        columns: (P,) the worse mask.
        least: The overlap at which a mask joins.
        metric: ``"iou"`` or ``"iom"``.
        threads: For the overlaps.
    """
    count = len(ranked)
    both = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    by_row = np.argsort(both[0], kind="stable")
    neighbours = both[1][by_row]
    starts = np.searchsorted(both[0][by_row], np.arange(count + 1))
    leaders = np.full(count, -1, np.int64)
    for leader in range(count):
        if leaders[leader] >= 0:
            continue
        leaders[leader] = leader
        union, near = ranked[leader : leader + 1], neighbours[starts[leader] : starts[leader + 1]]
        while True:
            near = np.unique(near[leaders[near] < 0])
            if not len(near):
                break
            joins = near[engine.pairwise(metric, union, ranked[near], threads)[0] >= least]
            if not len(joins):
                break
            leaders[joins] = leader
            union = Masks.concat([union, ranked[joins]]).merge()
            near = np.concatenate([near, *(neighbours[starts[one] : starts[one + 1]] for one in joins.tolist())])
    return leaders


def _unions(ranked: Masks, group: NDArray[np.intp], count: int) -> Masks:
    order = np.argsort(group, kind="stable")
    members = np.split(order, np.searchsorted(group[order], np.arange(1, count)))
    return Masks.concat([ranked[of] if len(of) == 1 else ranked[of].merge() for of in members]) if count else ranked
