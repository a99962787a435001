"""The numbers of many data sets in which each image of a match table stands several times, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._array_types import Floats
from ioukit._boundary import NumberColumns, OutcomeColumns, WeighedColumns
from ioukit._checks import check_threads, pluralize
from ioukit._columns import Frozen, record
from ioukit.datasets import Categories
from ioukit.evaluation import MatchTable, Measure, Protocol, accumulate
from ioukit.evaluation.curves import drawing_of
from ioukit.evaluation.summary import reading_of, value_of, values_of_classes
from ioukit.statistics.copies import repeat_images

Weights = npt.NDArray[np.uint16]

_MOST = np.iinfo(np.uint16).max
_MOST_ROWS = np.iinfo(np.uint32).max


@record(frozen=True, eq=False, repr=False)
class Replicates(Frozen):
    """The result of :func:`replicate`: the numbers of B data sets."""

    keys: tuple[str, ...]
    """(M,) keys of the numbers."""
    values: Floats
    """(B, M) the numbers of each data set, NaN where undefined."""
    categories: Categories
    """(K,) the categories that are evaluated."""
    per_class: Floats | None
    """(B, K, M) the numbers of each category, NaN where undefined; ``None`` if they were not asked for."""

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Replicates({', '.join(self.keys)}: {pluralize(len(self), 'data set')})"


def replicate(
    table: MatchTable,
    weights: npt.ArrayLike,
    *,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    per_class: bool = False,
    threads: int | None = None,
) -> Replicates:
    """The numbers of data sets in which each image of a match table stands as often as its weight says.

    The numbers are those of the written-out data set, in which the copies of an image stand one after another
    (:func:`repeat_images`). They have the same bits if no two detections of a category have the same score. Of
    detections with the same score, all copies of the first come first here. A category that has no objects left is
    undefined, and the protocol says what the mean makes of it: COCO leaves it out.

    Args:
        table: The matches.
        weights: (B, I) integers from 0 to 65,535: for each of B data sets, how often each image of
            :attr:`MatchTable.image_ids` stands in it.
        measures: Which numbers: keys of the protocol's summary, or measures; one is enough. All of them if ``None``.
        per_class: Whether the numbers of each category are wanted, too.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        ValueError: If ``weights`` has another shape, a value is out of range, a data set has
            more than 2**32 rows, or the protocol has no such number.
        TypeError: If ``weights`` does not hold integers.

    Example:
        >>> from ioukit import Detections, GroundTruth, evaluate
        >>> boxes = [[0, 0, 9, 9], [0, 0, 9, 9]]
        >>> gt = GroundTruth.from_arrays(image_ids=[1, 2], category_ids=[1, 1], boxes=boxes)
        >>> dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=boxes[:1], scores=[0.9])
        >>> table = evaluate(gt, dt).matches
        >>> replicate(table, [[1, 1], [2, 0], [0, 2]], measures=["AP"]).values[:, 0].round(3).tolist()
        [0.505, 1.0, 0.0]
    """
    chosen = _measures(table, measures)
    checked = _weights(weights, table)
    if not table.protocol.sums_with_weights(chosen):
        return _written_out(table, checked, chosen, per_class, threads)
    return _weighed(table, checked, chosen, per_class, threads)


def _weighed(
    table: MatchTable, weights: Weights, measures: Sequence[Measure], per_class: bool, threads: int | None
) -> Replicates:
    """The numbers in one pass over the sorted detections for each data set."""
    protocol, rows, objects = table.protocol, table.detections, table.objects
    drawing = drawing_of(protocol)
    defined = [column for column, measure in enumerate(measures) if protocol.defines(measure)]
    found = _core.replicate(
        WeighedColumns(
            outcomes=OutcomeColumns(
                category=table.evaluated_category(rows.category),
                rank=rows.rank,
                score=rows.score,
                matched=rows.matched,
                ignored=rows.ignored,
                num_objects=table.num_objects.astype(np.uint64),
            ),
            num_thresholds=len(protocol.iou_thresholds),
            image=rows.image,
            object_category=table.evaluated_category(objects.category),
            object_image=objects.image,
            object_ignored=objects.ignored,
        ),
        weights,
        [_number(table, measures[column]) for column in defined],
        drawing.recall_thresholds,
        drawing.plain_precision,
        protocol.zero_if_detected,
        per_class,
        check_threads(threads),
    )
    values = _in_columns(found["values"], defined, len(measures))
    of_class = _in_columns(found["per_class"], defined, len(measures)) if per_class else None
    return Replicates(tuple(measure.key for measure in measures), values, table.evaluated, of_class)


def _in_columns(found: Floats, columns: Sequence[int], count: int) -> Floats:
    """Numbers of some of the measures, and NaN for the others. Of all of them, there is no copy: it would be large."""
    if len(columns) == count:
        return found
    made = np.full((*found.shape[:-1], count), np.nan)
    made[..., columns] = found
    return made


def _number(table: MatchTable, measure: Measure) -> NumberColumns:
    protocol, reading = table.protocol, reading_of(table, measure)
    return NumberColumns(
        reading="last_recall" if measure.quantity == "AR" else reading.quantity,
        area_range=protocol.position_of_area(protocol.area_of(measure)),
        cap=protocol.cap_of(measure),
        thresholds=reading.thresholds.tolist(),
        of_category=reading.counted,
    )


def _written_out(
    table: MatchTable, weights: Weights, measures: Sequence[Measure], per_class: bool, threads: int | None
) -> Replicates:
    """The numbers by writing every data set out: for protocols whose numbers need more than sums along the curves."""
    values = np.full((len(weights), len(measures)), np.nan)
    of_class = np.full((len(weights), len(table.evaluated), len(measures)), np.nan) if per_class else None
    for at, row in enumerate(weights):
        curves = accumulate(repeat_images(table, row), threads=threads)
        for column, measure in enumerate(measures):
            values[at, column] = value_of(curves, measure)
            if of_class is not None:
                of_class[at, :, column] = values_of_classes(curves, measure)
    return Replicates(tuple(measure.key for measure in measures), values, table.evaluated, of_class)


def _measures(table: MatchTable, wanted: str | Measure | Iterable[str | Measure] | None) -> tuple[Measure, ...]:
    if wanted is None:
        return tuple(table.protocol.measures)
    if isinstance(wanted, (str, Measure)):
        wanted = [wanted]
    return tuple(find_measure(table.protocol, each) if isinstance(each, str) else each for each in wanted)


def find_measure(protocol: Protocol, key: str) -> Measure:
    """The measure of a key of the summary.

    Raises:
        ValueError: If the protocol has none.
    """
    known = {measure.key: measure for measure in protocol.measures}
    if key not in known:
        raise ValueError(f"the protocol {protocol.name} has no number {key!r}; there are {', '.join(known)}")
    return known[key]


def _weights(weights: npt.ArrayLike, table: MatchTable) -> Weights:
    given, images = np.asarray(weights), len(table.image_ids)
    if given.ndim != 2 or given.shape[1] != images:
        raise ValueError(f"weights must have the shape (B, {images}), a number for each image, got {given.shape}")
    if given.dtype.kind not in "iub":
        raise TypeError(f"weights must be integers, got {given.dtype}")
    if given.size and not (given.min() >= 0 and given.max() <= _MOST):
        raise ValueError(f"weights must be from 0 to {_MOST:,}, got {given.min()} to {given.max()}")
    rows = max(len(table.detections), len(table.objects))
    if int(given.max(initial=0)) * rows > _MOST_ROWS:
        sides = (np.bincount(side.image, minlength=images) for side in (table.detections, table.objects))
        on_image = np.maximum(*sides)
        largest = int((given.astype(np.int64) @ on_image).max())
        if largest > _MOST_ROWS:
            raise ValueError(f"weights make a data set of {largest:,} rows; there may be {_MOST_ROWS:,}")
    return np.ascontiguousarray(given, np.uint16)
