"""The marks of one image, and which of them overlap, match, or could match."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ioukit._array_types import Rows
from ioukit.evaluation.analysis.tide import BACKGROUND_THRESHOLD, ERROR_KINDS, kinds_of_false_positives
from ioukit.evaluation.matching import needs_more, order_of_preference, reaches_threshold, wanted
from ioukit.evaluation.table import NEARLY_ONE, OVER_DETECTION, threshold_bits

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from ioukit.evaluation import MatchTable


class Found(NamedTuple):
    """A detection."""

    row: int
    """Row in the table."""
    category: int
    """Position in the categories that are evaluated."""
    score: float
    within: bool
    """Whether it is within the cap and takes part."""
    counts: bool
    """Whether its score reaches the threshold, too."""
    special: int
    matched: bool
    """Whether it has a match that counts, or that ignores it."""
    ignored: bool


class Thing(NamedTuple):
    """An object."""

    row: int
    """Row in the table."""
    category: int
    """Position in the categories that are evaluated."""
    special: int
    ignored: bool

    @property
    def is_area(self) -> bool:
        """Whether the overlap with it is the intersection over the area of the detection, as for crowds."""
        return bool(self.special & OVER_DETECTION)


class Pair(NamedTuple):
    """A detection and an object that overlap."""

    detection: Found
    object: Thing
    iou: float


class _Sorted(NamedTuple):
    """Pairs by one of their sides."""

    first: int
    """The first row of that side."""
    starts: list[int]
    """For each row of it, the first of its pairs; and the number of all."""
    partner: list[int]
    """Rows of the other side."""
    iou: list[float]

    @classmethod
    def of(cls, rows: Rows, listed: slice, partner: Rows, iou: npt.NDArray[np.float64]) -> _Sorted:
        """The pairs of some rows, which are sorted."""
        starts = np.searchsorted(rows, np.arange(listed.start, listed.stop + 1)).tolist()
        return cls(listed.start, starts, partner.tolist(), iou.tolist())

    def partners(self, row: int) -> Iterator[tuple[int, float]]:
        """The other side and the overlap of each pair of a row."""
        at = row - self.first
        here = slice(self.starts[at], self.starts[at + 1])
        return zip(self.partner[here], self.iou[here], strict=True)


class Neighbours:
    """The marks of one image at an IoU threshold and a score threshold.

    Args:
        table: The matches, with near pairs of at most the IoU threshold.
        objects: The rows of the image's objects.
        detections: The rows of the image's detections.
        iou_threshold: One of the protocol's thresholds.
        score_threshold: Detections with this score or a higher one count.
        area_range: Label of one of the protocol's area ranges; its main one if ``None``.

    Raises:
        ValueError: If the protocol has no such threshold or area range, or the table lacks the near pairs.
    """

    def __init__(
        self,
        table: MatchTable,
        objects: slice,
        detections: slice,
        *,
        iou_threshold: float,
        score_threshold: float,
        area_range: str | None = None,
    ) -> None:
        protocol = table.protocol
        self.area_range = protocol.main_area if area_range is None else area_range
        self._table, self.score_threshold = table, score_threshold
        self._at_iou = protocol.position_of_iou(iou_threshold)
        self._at_area = protocol.position_of_area(self.area_range)
        self.threshold = protocol.iou_thresholds[self._at_iou]
        if table.near is None or table.near.least > min(self.threshold, NEARLY_ONE):
            raise ValueError(f"this needs the near pairs of a match table: match with near={self.threshold:g}")
        self.least = table.near.least
        """Pairs with this overlap or a higher one are known."""
        self.background = min(BACKGROUND_THRESHOLD, self.threshold)
        """A detection whose overlaps with all objects that count are at most this lies on background."""
        self.objects = self._read_objects(objects)
        """By their rows in the table."""
        self.detections = self._read_detections(detections)
        """By their rows in the table."""
        self._read_near(objects, detections)
        self.match: dict[int, Pair] = {}
        """By row of the detection: what it takes, whatever its score, and whether or not that counts."""
        self.takers: defaultdict[int, list[Pair]] = defaultdict(list)
        """By row of the object: the same pairs, the best score first."""
        self._read_matches(detections)

    def reaches(self, pair: Pair) -> bool:
        """Whether the overlap of a pair is enough for a match."""
        rules, special = self._table.protocol, pair.object.special
        return bool(reaches_threshold(rules, pair.iou, self.threshold, special=special))

    def needs_more(self, one: Thing) -> bool:
        """Whether a match with an object needs more than the threshold, and not just as much."""
        return needs_more(self._table.protocol, one.special)

    def near_of(self, one: Found) -> Iterator[Pair]:
        """The objects that overlap a detection, in the order of preference."""
        for place, iou in self._of.partners(one.row):
            yield Pair(one, self.objects[place], iou)

    def near_to(self, one: Thing) -> Iterator[Pair]:
        """The detections that overlap an object, the highest overlap first, then the best score of a class."""
        for detection, iou in self._to.partners(one.row):
            yield Pair(self.detections[detection], one, iou)

    def alike(self, one: Found) -> Iterator[Pair]:
        """The objects of the class of a detection that overlap it, in the order of preference."""
        return (pair for pair in self.near_of(one) if pair.object.category == one.category)

    def wanted(self, one: Found) -> Pair | None:
        """The object that a detection without a match would take if others had not taken it; ``None`` for none."""
        return wanted(self._table.protocol, list(self.alike(one)), self.reaches, lambda pair: pair.object.is_area)

    def error(self, one: Found) -> tuple[str, list[Pair]]:
        """The kind of error of a false positive, and its pairs with the objects that make it one of this kind.

        Kinds are those of `error_kinds`, for which only objects that count are there.
        """
        sides: tuple[list[Pair], list[Pair]] = [], []
        for pair in self.near_of(one):
            if not pair.object.ignored:
                sides[pair.object.category != one.category].append(pair)
        same, other = (np.array([max((pair.iou for pair in side), default=0.0)]) for side in sides)
        fits = min(self.threshold, NEARLY_ONE)
        kinds, about = kinds_of_false_positives(
            *(same, np.array([0]), other, np.array([1])), most=fits, least=self.background
        )
        kind, side = ERROR_KINDS[kinds[0]], int(about[0])
        least = fits if kind in ("classification", "duplicate") else self.background
        return kind, [pair for pair in sides[side] if pair.iou >= least] if side >= 0 else []

    def _read_objects(self, rows: slice) -> dict[int, Thing]:
        table, columns = self._table, self._table.objects
        listed = zip(
            range(rows.start, rows.stop),
            table.evaluated_category(columns.category[rows]).tolist(),
            columns.special[rows].tolist(),
            threshold_bits(columns.ignored[rows], self._at_area).tolist(),
            strict=True,
        )
        return {values[0]: Thing(*values) for values in listed}

    def _read_detections(self, rows: slice) -> dict[int, Found]:
        table, columns = self._table, self._table.detections
        special = np.zeros(rows.stop - rows.start, np.uint8) if columns.special is None else columns.special[rows]
        within = table.is_within_cap()[rows]
        listed = zip(
            range(rows.start, rows.stop),
            table.evaluated_category(columns.category[rows]).tolist(),
            columns.score[rows].tolist(),
            within.tolist(),
            (within & (columns.score[rows] >= self.score_threshold)).tolist(),
            special.tolist(),
            threshold_bits(columns.matched[rows, self._at_area], self._at_iou).tolist(),
            threshold_bits(columns.ignored[rows, self._at_area], self._at_iou).tolist(),
            strict=True,
        )
        return {values[0]: Found(*values) for values in listed}

    def _read_near(self, objects: slice, rows: slice) -> None:
        """The near pairs of the image, sorted for detections and for objects."""
        near = self._table.near
        assert near is not None
        first, last = np.searchsorted(near.detection, [rows.start, rows.stop]).tolist()
        detection, place, iou = near.detection[first:last], near.object[first:last], near.iou[first:last]
        order = order_of_preference(self._table.protocol, detection, place, iou)
        self._of = _Sorted.of(detection[order], rows, place[order], iou[order])
        order = np.lexsort((detection, -iou, place))
        self._to = _Sorted.of(place[order], objects, detection[order], iou[order])

    def _read_matches(self, rows: slice) -> None:
        pairs = self._table.pairs
        first, last = np.searchsorted(pairs.detection, [rows.start, rows.stop]).tolist()
        chosen = first + np.flatnonzero(threshold_bits(pairs.matched[first:last, self._at_area], self._at_iou))
        columns = (pairs.detection[chosen], pairs.object[chosen], pairs.iou[chosen])
        for detection, place, iou in zip(*(column.tolist() for column in columns), strict=True):
            pair = Pair(self.detections[detection], self.objects[place], iou)
            if pair.detection.within:
                self.match[detection] = pair
                self.takers[place].append(pair)
        for takers in self.takers.values():
            takers.sort(key=lambda pair: -pair.detection.score)
