"""The match table: which detection matches which object. The later steps of an evaluation read only this table.

Owns the columns, the bits of special rules, and the questions that every analysis asks of them: who is ignored, right,
within the cap. Does not own how rows are made (matching.py), added up (_merging.py) or stored (table_file.py).

A row depends on its image alone: this is what makes tables of different images add up, and every result of the sum
equal to that of all images. IoU thresholds and area ranges are bits, because ten thresholds by four ranges would
otherwise be forty columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._array_types import Flags
from ioukit._checks import check_choice, pluralize
from ioukit._columns import Columns, Frozen, record
from ioukit.datasets.columns.images import Categories
from ioukit.evaluation.protocols import Protocol

NEARLY_ONE = 1 - 1e-10
"""An overlap that reaches every threshold, as in pycocotools."""
IGNORED, OVER_DETECTION, REPEATED, VOID, MORE_THAN, COUNTS_ONCE, COVERED = 1, 2, 4, 8, 16, 32, 64
"""The bits of :attr:`ObjectRows.special`."""
NOT_EXHAUSTIVE, LEFT_OUT = 1, 2
"""The bits of :attr:`DetectionRows.special`."""


@record(frozen=True, eq=False, repr=False)
class DetectionRows(Columns):
    """One row per detection, sorted by image, category and descending score.

    A set of IoU thresholds is (A, B) bytes: for each area range, threshold ``t`` in bit ``t % 8`` of byte ``t // 8``.
    """

    category: npt.NDArray[np.uint32]
    """(N,) position in :attr:`MatchTable.categories`."""
    image: npt.NDArray[np.uint32]
    """(N,) position in :attr:`MatchTable.image_ids`."""
    rank: npt.NDArray[np.uint32]
    """(N,) rank by score within the scope of the protocol's cap, 0 for the best."""
    score: npt.NDArray[np.float64]
    """(N,) scores."""
    row: npt.NDArray[np.int64]
    """(N,) row in the detections that were matched. A sum of tables numbers the rows of all its tables on."""
    matched: npt.NDArray[np.uint8]
    """(N, A, B) thresholds at which the detection has a match."""
    ignored: npt.NDArray[np.uint8]
    """(N, A, B) thresholds at which it is ignored: it matches an ignored object, or it has no match and is
    :attr:`special` or itself outside the area range, or it is beyond the cap."""
    special: npt.NDArray[np.uint8] | None = None
    """(N,) bits for special rules: 1 some objects of the category may not be annotated on the image, 2 the detection
    only counts towards the cap, because its category is not verified on the image or it has no area. ``None`` if the
    protocol has neither rule. Only tables with a cap per category list detections with bit 2."""
    outside: npt.NDArray[np.uint8] | None = None
    """(N, C) area ranges that the detection itself is outside of: range ``a`` in bit ``a % 8`` of byte ``a // 8``.
    ``None`` unless objects choose, see :attr:`Protocol.objects_choose`."""
    angle: npt.NDArray[np.float64] | None = None
    """(N,) orientations in radians, NaN if unknown. ``None`` unless the protocol reads them, see
    :attr:`ObjectChoice.orientation`."""

    def __len__(self) -> int:
        return len(self.score)


@record(frozen=True, eq=False, repr=False)
class ObjectRows(Columns):
    """One row per object, sorted by image and category, then in the order of the ground truth."""

    category: npt.NDArray[np.uint32]
    """(G,) position in :attr:`MatchTable.categories`."""
    image: npt.NDArray[np.uint32]
    """(G,) position in :attr:`MatchTable.image_ids`."""
    id: npt.NDArray[np.int64]
    """(G,) annotation id."""
    row: npt.NDArray[np.int64]
    """(G,) row in the ground truth that was matched. A sum of tables numbers the rows of all its tables on."""
    special: npt.NDArray[np.uint8]
    """(G,) bits for special rules: 1 it is ignored in every area range, 2 its overlap is the intersection over the area
    of the detection, 4 any number of detections may match it, 8 its matches do not count, 16 a match with it needs more
    than the IoU threshold, 32 the first match with it counts and the others are ignored, 64 it counts, and more than
    the IoU threshold of its own area lies within an ignored object (only if a measure is the Jaccard index)."""
    ignored: npt.NDArray[np.uint8]
    """(G, C) area ranges in which it is ignored: range ``a`` in bit ``a % 8`` of byte ``a // 8``."""
    angle: npt.NDArray[np.float64] | None = None
    """(G,) orientations, as in :attr:`DetectionRows.angle`."""

    def __len__(self) -> int:
        return len(self.id)


@record(frozen=True, eq=False, repr=False)
class PairRows(Columns):
    """One row per detection and object that match at some threshold in some area range, sorted by detection."""

    detection: npt.NDArray[np.int64]
    """(P,) row in :attr:`MatchTable.detections`."""
    object: npt.NDArray[np.int64]
    """(P,) row in :attr:`MatchTable.objects`."""
    iou: npt.NDArray[np.float64]
    """(P,) their IoU; the intersection over the area of the detection if the protocol says so for the object."""
    matched: npt.NDArray[np.uint8]
    """(P, A, B) thresholds at which they match."""

    def __len__(self) -> int:
        return len(self.iou)


@record(frozen=True, eq=False, repr=False)
class NearPairs(Columns):
    """One row per detection and object of one image whose IoU is high enough, also across categories.

    The rows are sorted by detection.
    """

    SHARED: ClassVar[frozenset[str]] = frozenset({"least"})

    detection: npt.NDArray[np.int64]
    """(Q,) row in :attr:`MatchTable.detections`."""
    object: npt.NDArray[np.int64]
    """(Q,) row in :attr:`MatchTable.objects`, ascending for each detection."""
    iou: npt.NDArray[np.float64]
    """(Q,) their IoU, as in :attr:`PairRows.iou`."""
    least: float
    """Pairs with this IoU or a higher one are listed."""

    def __len__(self) -> int:
        return len(self.iou)


@record(frozen=True, eq=False, repr=False)
class MatchTable(Frozen):
    """The result of matching: detections, objects, and pairs of both.

    Every analysis is a function of a table. Tables of different images can be added. For every split of the images, in
    any order and on any machine, the sum has the same rows as the table of all images, and everything computed from it
    has the same bits. Only the columns ``row`` refer to the data that was matched.
    """

    protocol: Protocol
    """The rules."""
    iou_type: str
    """The kind of region that was compared, ``"bbox"`` for example."""
    categories: Categories
    """(K,) categories that are evaluated, sorted by id."""
    image_ids: npt.NDArray[Any]
    """(I,) ids of the images that are evaluated, in ascending order: integers or strings. They order equal scores."""
    image_detections: npt.NDArray[np.int64]
    """(I,) number of detections of each image in the evaluated categories, including those beyond the cap."""
    detections: DetectionRows
    """(N,) the detections within the cap; with near pairs, all of them."""
    objects: ObjectRows
    """(G,) the objects."""
    pairs: PairRows
    """(P,) the matches."""
    near: NearPairs | None
    """(Q,) pairs below the thresholds and across categories, for analyses; ``None`` if they were not asked for."""
    sources: tuple[int, int]
    """The number of rows of the ground truth and of the detections that were matched."""
    repeated_images: int = 0
    """Number of images that were left out of a sum because an earlier table had them."""

    def __len__(self) -> int:
        return len(self.detections)

    def __repr__(self) -> str:
        return (
            f"MatchTable({pluralize(len(self), 'detection')}, "
            f"{pluralize(int(self.num_objects[:, 0].sum()), 'object')}, {pluralize(len(self.image_ids), 'image')}, "
            f"{pluralize(len(self.categories), 'category')})"
        )

    @property
    def near_least(self) -> float | None:
        """The lowest IoU of the near pairs; ``None`` if they were not asked for."""
        return None if self.near is None else self.near.least

    def parts(self) -> Iterator[MatchTable]:
        """Tables of images that follow one another, for what adds up: the table itself, if its rows are in memory."""
        yield self

    def announce(self, analysis: str, *others: MatchTable, threads: int | None = None, values: int = 0) -> None:
        """Say what will be made of the rows. A table with a limit of memory refuses what does not fit.

        Args:
            analysis: What it is: ``"intervals"``, for example.
            *others: Tables whose rows it needs, too.
            threads: How many threads; all cores if ``None``.
            values: How many numbers of other data sets it makes, all of which it keeps.

        Raises:
            ValueError: If it does not fit; says what it would need.
        """

    @property
    def evaluated(self) -> Categories:
        """(E,) the categories that have curves and numbers: all, or a single one if the protocol is class-agnostic."""
        if self.protocol.class_agnostic:
            return Categories(np.array([-1]), ("all categories",))
        return self.categories

    @cached_property
    def num_objects(self) -> npt.NDArray[np.int64]:
        """(E, A) objects to find: those that an area range does not ignore."""
        category = self.evaluated_category(self.objects.category)
        size = len(self.evaluated)
        counts = [np.bincount(category[~self.ignores(label)], minlength=size) for label in self.protocol.area_labels]
        return np.stack(counts, axis=1).astype(np.int64)

    @cached_property
    def num_detections(self) -> npt.NDArray[np.int64]:
        """(E,) detections within the last cap."""
        category = self.evaluated_category(self.detections.category)[self.is_within_cap()]
        return np.bincount(category, minlength=len(self.evaluated)).astype(np.int64)

    @cached_property
    def totals(self) -> Mapping[str, int]:
        """How many ``annotations``, ``crowds`` (annotations that are ignored whatever their size) and ``detections``.

        Detections beyond the cap count, too.
        """
        crowds = int((self.objects.special & IGNORED).sum())
        detections = int(self.image_detections.sum())
        return MappingProxyType({"annotations": len(self.objects), "crowds": crowds, "detections": detections})

    def evaluated_category(self, category: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        """Positions in :attr:`evaluated` for positions in :attr:`categories`."""
        return np.zeros_like(category) if self.protocol.class_agnostic else category

    def ignores(self, area_range: str) -> Flags:
        """(G,) whether an area range ignores each object."""
        at = self.protocol.position_of_area(area_range)
        return (self.objects.ignored[:, at // 8] >> (at % 8) & 1).astype(np.bool_)

    def is_true_positive(self, iou_threshold: float | None = None, area_range: str | None = None) -> Flags:
        """(N,) whether each detection matches an object that counts."""
        return self._bits(self.detections.matched, iou_threshold, area_range) & ~self.is_ignored(
            iou_threshold, area_range
        )

    def is_ignored(self, iou_threshold: float | None = None, area_range: str | None = None) -> Flags:
        """(N,) whether each detection is ignored."""
        return self._bits(self.detections.ignored, iou_threshold, area_range)

    def is_within_cap(self, max_dets: int | None = None) -> Flags:
        """(N,) whether each detection is within a cap, the last one if ``None``, and evaluated."""
        last, rows = self.protocol.max_dets[-1], self.detections
        cap = last if max_dets is None else max_dets
        if self.protocol.cap_scope == "category":
            most = np.bincount(self.evaluated_category(rows.category)).max(initial=0)
            within = self.ranks() < cap if most > cap else np.ones(len(self), np.bool_)
        else:
            within = np.ones(len(self), np.bool_) if self.near is None and cap == last else rows.rank < cap
        return within if rows.special is None else within & self.takes_part()

    def takes_part(self) -> Flags:
        """(N,) whether each detection is evaluated; the others only count towards the cap."""
        special = self.detections.special
        return np.ones(len(self), np.bool_) if special is None else special & LEFT_OUT == 0

    def ranks(self) -> npt.NDArray[np.int64]:
        """(N,) the rank of each detection within the scope of the cap, 0 for the best."""
        if self.protocol.cap_scope != "category":
            return self.detections.rank.astype(np.int64)
        category = self.evaluated_category(self.detections.category)
        order = np.lexsort((-self.detections.score, category))  # stable: equal scores keep the order of the rows
        starts = np.searchsorted(category[order], category[order])
        places = np.empty(len(self), np.int64)
        places[order] = np.arange(len(self)) - starts
        return places

    def count_positives(self, rows: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """(K, A, M, T) true positives and false positives among some detections, with each cap."""
        matched, ignored = self.detections.matched[rows], self.detections.ignored[rows]
        right, wrong = (self._sums(rows, sets & ~ignored, np.ones(len(rows))) for sets in (matched, ~matched))
        return right.astype(np.int64), wrong.astype(np.int64)

    def sum_ious(self) -> npt.NDArray[np.float64]:
        """(K, A, M, T) the sum of the IoU of the true positives, with each cap."""
        pairs = self.pairs
        return self._sums(pairs.detection, pairs.matched & ~self.detections.ignored[pairs.detection], pairs.iou)

    def _sums(
        self, rows: npt.NDArray[Any], sets: npt.NDArray[np.uint8], values: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """(K, A, M, T) sums of values of detections over the thresholds in their sets, with each cap."""
        thresholds = len(self.protocol.iou_thresholds)
        if thresholds % 8:  # bits behind the last threshold
            sets = sets.copy()
            sets[..., -1] &= (1 << thresholds % 8) - 1
        category = self.evaluated_category(self.detections.category[rows])
        ranks = self.ranks()[rows]
        sums = []
        for cap in self.protocol.max_dets:
            within: Any = ranks < cap
            within = slice(None) if within.all() else within  # then nothing is copied
            columns = category[within], sets[within], values[within]
            sums.append(_core.sums_by_category(*columns, len(self.evaluated), thresholds))
        return np.stack(sums, axis=2)

    def is_not_exhaustive(self) -> Flags:
        """(N,) whether some objects of the category of each detection may not be annotated on its image."""
        special = self.detections.special
        return np.zeros(len(self), np.bool_) if special is None else (special & NOT_EXHAUSTIVE).astype(np.bool_)

    def matched_pairs(self, iou_threshold: float | None = None, area_range: str | None = None) -> npt.NDArray[np.intp]:
        """(M,) rows of :attr:`pairs` that match at a threshold in an area range."""
        return np.flatnonzero(self._bits(self.pairs.matched, iou_threshold, area_range))

    def matched_object(
        self, iou_threshold: float | None = None, area_range: str | None = None
    ) -> npt.NDArray[np.int64]:
        """(N,) row in :attr:`objects` of the object that each detection matches, also an ignored one; -1 for none."""
        found = np.full(len(self), -1)
        pairs = self.matched_pairs(iou_threshold, area_range)
        found[self.pairs.detection[pairs]] = self.pairs.object[pairs]
        return found

    def matched_iou(self, iou_threshold: float | None = None, area_range: str | None = None) -> npt.NDArray[np.float64]:
        """(N,) IoU of each detection with its :meth:`matched_object`; NaN for none."""
        found = np.full(len(self), np.nan)
        pairs = self.matched_pairs(iou_threshold, area_range)
        found[self.pairs.detection[pairs]] = self.pairs.iou[pairs]
        return found

    def _bits(self, sets: npt.NDArray[np.uint8], iou_threshold: float | None, area_range: str | None) -> Flags:
        """(...) whether sets (..., A, B) hold a threshold in an area range; ``None`` is the protocol's main one."""
        protocol = self.protocol
        at = protocol.position_of_area(protocol.main_area if area_range is None else area_range)
        threshold = protocol.position_of_iou(protocol.main_iou if iou_threshold is None else iou_threshold)
        return threshold_bits(sets[:, at], threshold)

    def __add__(self, other: MatchTable) -> MatchTable:
        return MatchTable.merge([self, other]) if isinstance(other, MatchTable) else NotImplemented

    @classmethod
    def merge(cls, tables: Iterable[MatchTable], *, duplicates: str = "error", categories: str = "equal") -> MatchTable:
        """The sum of tables, in time proportional to their rows.

        Args:
            tables: Tables of the same protocol and kind of region.
            duplicates: What to do with an image that is in several tables: ``"error"`` refuses it; ``"first"`` keeps
                the first one and counts the others in :attr:`repeated_images`. This is for samplers that repeat images
                to fill the last batch.
            categories: ``"equal"`` refuses tables of different categories; ``"union"`` gives a table of the categories
                of all of them. A name that is just the id gives way to another name of the category.

        Raises:
            ValueError: If ``tables`` is empty, if they have different protocols or categories, if some have near pairs
                and others do not, or if two of them have the same image. With ``categories="union"``, if one category
                has two names.
        """
        check_choice("duplicates", duplicates, ("error", "first"))
        check_choice("categories", categories, ("equal", "union"))
        tables = list(tables)
        if not tables:
            raise ValueError("merge needs at least one table")
        if categories == "union":
            from ioukit.evaluation._merging import with_all_categories  # noqa: PLC0415 - only this needs it

            tables = with_all_categories(tables)
        _check_alike(tables)
        first = tables[0]
        if len(tables) == 1:
            return first
        from ioukit.evaluation._merging import merged_fields  # noqa: PLC0415 - only merging needs it

        return cls(**merged_fields(tables, keep_first=duplicates == "first"))


def _check_alike(tables: Sequence[MatchTable]) -> None:
    first = tables[0]
    for table in tables[1:]:
        if table.protocol is not first.protocol and table.protocol != first.protocol:
            raise ValueError(f"tables of different protocols do not add up: {first.protocol}, {table.protocol}")
        if table.iou_type != first.iou_type:
            raise ValueError(f"tables of different regions do not add up: {first.iou_type}, {table.iou_type}")
        if table.categories is not first.categories and (
            table.categories.names != first.categories.names
            or table.categories.ids.tolist() != first.categories.ids.tolist()
        ):
            raise ValueError("tables of different categories do not add up: match all of them with the same categories")
        groups = first.protocol.category_groups
        if (
            groups
            and groups != "name"
            and not np.array_equal(first.categories.attributes[groups], table.categories.attributes[groups])
        ):
            raise ValueError(f"tables with different groups of categories do not add up: their {groups} differs")
        least = [None if each.near is None else each.near.least for each in (first, table)]
        if least[0] != least[1]:
            raise ValueError(
                f"tables with different near pairs do not go together: near={least[0]} and near={least[1]}: match both "
                "with the same near"
            )


def threshold_bits(sets: npt.NDArray[np.uint8], threshold: int) -> Flags:
    """(...) whether sets (..., B) of thresholds hold the threshold at a position."""
    byte, bit = divmod(threshold, 8)
    return (sets[..., byte] >> bit & 1).astype(np.bool_)
