"""Match tables of data sets that are put together from images of others: with copies, or from two tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Positions
from ioukit.evaluation import DetectionRows, MatchTable
from ioukit.evaluation.protocols.measures import OF_CURVES


def repeat_images(table: MatchTable, counts: npt.ArrayLike) -> MatchTable:
    """The match table of a data set in which each image stands a number of times, or not at all.

    Copies of an image stand one after another. The image ids of the new table are 0, 1, 2, ...

    Args:
        table: The matches.
        counts: (I,) how often each image of :attr:`MatchTable.image_ids` stands in the new data set; integers of at
            least 0.

    Returns:
        A table with the rows that matching the new data set would give. Its columns ``row`` number the copies as if
        the data were repeated as a whole.

    Raises:
        ValueError: If ``counts`` has another shape or is negative.
        TypeError: If it does not hold integers.
    """
    number = np.asarray(counts)
    if number.shape != table.image_ids.shape:
        raise ValueError(f"counts must have a number for each of {len(table.image_ids):,} images, got {number.shape}")
    if number.dtype.kind not in "iub":
        raise TypeError(f"counts must be integers, got {number.dtype}")
    if number.min(initial=0) < 0:
        raise ValueError(f"counts must be at least 0, got {number.min()}")
    source = np.repeat(np.arange(len(number)), number.astype(np.int64))
    first = np.cumsum(number, dtype=np.int64) - number
    copy = np.arange(len(source)) - first[source]
    detections = _Rows(table.detections.image, source, len(number))
    objects = _Rows(table.objects.image, source, len(number))

    def sides(rows: Any, taken: _Rows, of_data: int) -> Any:
        chosen = rows.take(taken.rows)
        return dataclasses.replace(
            chosen, image=taken.copy.astype(np.uint32), row=chosen.row + copy[taken.copy] * of_data
        )

    def pairs(of_table: Any) -> Any:
        taken = _Rows(table.detections.image[of_table.detection], source, len(number))
        chosen = of_table.take(taken.rows)
        return dataclasses.replace(
            chosen,
            detection=detections.place(chosen.detection, table.detections.image, taken.copy),
            object=objects.place(chosen.object, table.objects.image, taken.copy),
        )

    most = int(number.max(initial=0))
    return dataclasses.replace(
        table,
        image_ids=np.arange(len(source)),
        image_detections=table.image_detections[source],
        detections=sides(table.detections, detections, table.sources[1]),
        objects=sides(table.objects, objects, table.sources[0]),
        pairs=pairs(table.pairs),
        near=None if table.near is None else pairs(table.near),
        sources=(table.sources[0] * most, table.sources[1] * most),
    )


def interleave(a: MatchTable, b: MatchTable, *, same_scale: bool = False) -> MatchTable:
    """One table of two tables of the same images: image ``i`` of ``a`` is image ``2 i``, that of ``b`` is ``2 i + 1``.

    With the image weights ``(1 - swap, swap)``, it is the data set in which the detections of ``a`` on some images are
    those of ``b``. Permutation tests need that. Two models may have scores on different scales, and most measures
    depend on the order of the scores alone. So each detection gets its rank among those of its model and class in the
    place of the score; where a measure ranks the detections of all classes together, among all those of its model.
    Measures that read scores at thresholds, such as CrowdDet's Jaccard index, need the scores: they stay.

    Args:
        a: The matches of the first model.
        b: Those of the second one.
        same_scale: Whether scores are on one scale, and stay. Where models hardly differ, a detection that only one of
            them has would move the ranks of all others.

    Raises:
        ValueError: If the tables have different images, protocols, categories or kinds of region.
    """
    if not np.array_equal(a.image_ids, b.image_ids):
        raise ValueError(
            f"the tables must have the same images, got {len(a.image_ids):,} and {len(b.image_ids):,} images"
            + (" with other ids" if len(a.image_ids) == len(b.image_ids) else "")
        )
    ids, protocol = np.arange(len(a.image_ids)) * 2, a.protocol
    sides: Iterable[MatchTable] = (a, b)
    if not same_scale and not protocol.reads_scores:
        pooled = any(one.pooled and one.quantity in OF_CURVES for one in protocol.measures)
        sides = (dataclasses.replace(one, detections=_ranked(one.detections, pooled)) for one in sides)
    return MatchTable.merge([dataclasses.replace(one, image_ids=ids + at) for at, one in enumerate(sides)])


def _ranked(rows: DetectionRows, pooled: bool) -> DetectionRows:
    """The rows with ranks as scores: 0 for the highest score, then -1, -2, ...; equal for equal scores.

    The ranks are those among the detections of a class; if pooled, among those of all classes.
    """
    group = np.zeros_like(rows.category) if pooled else rows.category
    order = np.lexsort((-rows.score, group))
    category, score = group[order], rows.score[order]
    place = np.arange(len(order))
    other_class = np.append(True, category[1:] != category[:-1])[: len(order)]
    other_score = other_class | np.append(True, score[1:] != score[:-1])[: len(order)]
    first, of_score = (np.maximum.accumulate(np.where(starts, place, 0)) for starts in (other_class, other_score))
    ranks = np.empty_like(rows.score)
    ranks[order] = first - of_score
    return dataclasses.replace(rows, score=ranks)


class _Rows:
    """The rows of a new data set, given the rows of a table that are sorted by image."""

    def __init__(self, image: npt.NDArray[np.uint32], source: Positions, images: int) -> None:
        """Take the image of each row, and the image that each image of the new data set is a copy of."""
        sizes = np.bincount(image, minlength=images)
        self._starts = np.cumsum(sizes) - sizes
        """(I,) the first row of each image."""
        of_copy = sizes[source]
        self._new_starts = np.cumsum(of_copy) - of_copy
        """(J,) the first new row of each image of the new data set."""
        self.copy = np.repeat(np.arange(len(source)), of_copy)
        """(M,) the image of the new data set that each new row is on."""
        self.rows: Positions = np.arange(len(self.copy)) + (self._starts[source] - self._new_starts)[self.copy]
        """(M,) the row of the table that each new row is a copy of."""

    def place(self, rows: Positions, image: npt.NDArray[np.uint32], copy: Positions) -> Positions:
        """The new rows of the copies of some rows; ``copy`` is the image of the new data set that each is on."""
        return np.asarray(rows - self._starts[image[rows]] + self._new_starts[copy])
