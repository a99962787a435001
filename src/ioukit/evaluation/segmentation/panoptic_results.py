"""The results of panoptic quality: matches, and the numbers computed from them."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, reduce
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._array_types import Counts
from ioukit._checks import check_choice, pluralize
from ioukit._columns import Columns, Frozen, record
from ioukit._plain_values import plain_value
from ioukit.datasets import Categories
from ioukit.evaluation.class_results import ClassResults


@record(frozen=True, eq=False, repr=False)
class PanopticOutcomes(Columns):
    """One row per match, per missed segment and per wrong prediction, sorted by image.

    A match has both ids. A missed segment has no prediction, a wrong prediction has no ground truth: the id is 0 there,
    which is void in every image. Ignored segments have no row.
    """

    image: Counts
    """(P,) position of the image in :attr:`PanopticQuality.image_ids`."""
    category: Counts
    """(P,) position of the category."""
    ground_truth: Counts
    """(P,) id of the annotated segment in its image; 0 for a wrong prediction."""
    prediction: Counts
    """(P,) id of the predicted segment in its image; 0 for a missed segment."""
    intersection: Counts
    """(P,) pixels that both share; 0 without a match."""
    union: Counts
    """(P,) pixels of either, without those of the prediction on void; 0 without a match."""

    def __len__(self) -> int:
        return len(self.image)

    @property
    def is_match(self) -> npt.NDArray[np.bool_]:
        """(P,) whether two segments match."""
        return self.intersection > 0

    @property
    def iou(self) -> npt.NDArray[np.float64]:
        """(P,) IoU of the matches; 0 without a match."""
        return self.intersection / np.maximum(self.union, 1)


@record(frozen=True, eq=False, repr=False)
class PanopticClass(Frozen):
    """The numbers of one category. The three qualities are NaN if it has no segment that counts."""

    id: int
    """Its id."""
    name: str
    """Its name."""
    is_thing: bool
    """Whether its objects are counted one by one; otherwise it is stuff, such as sky."""
    true_positives: int
    """Matches."""
    false_positives: int
    """Predicted segments without a match that are not ignored."""
    false_negatives: int
    """Annotated segments without a match, except crowds."""
    iou_sum: float
    """Sum of the IoU of all matches, correctly rounded."""

    @property
    def pq(self) -> float:
        """Panoptic quality: ``iou_sum / (TP + FP / 2 + FN / 2)``."""
        return self.iou_sum / self._weight if self._weight else math.nan

    @property
    def sq(self) -> float:
        """Segmentation quality, the mean IoU of the matches: ``iou_sum / TP``, 0 without a match."""
        if not self._weight:
            return math.nan
        return self.iou_sum / self.true_positives if self.true_positives else 0.0

    @property
    def rq(self) -> float:
        """Recognition quality, which is F1: ``TP / (TP + FP / 2 + FN / 2)``."""
        return self.true_positives / self._weight if self._weight else math.nan

    @property
    def _weight(self) -> float:
        return self.true_positives + 0.5 * self.false_positives + 0.5 * self.false_negatives

    def __repr__(self) -> str:
        counts = f"{self.true_positives:,} TP, {self.false_positives:,} FP, {self.false_negatives:,} FN"
        return f"PanopticClass({self.name!r}, PQ={self.pq:.4f}, SQ={self.sq:.4f}, RQ={self.rq:.4f}, {counts})"


@record(frozen=True, eq=False, repr=False)
class PanopticAverage(Frozen):
    """Means over categories, each of which counts once; those without a segment that counts are left out."""

    pq: float
    """Mean panoptic quality; NaN if there is no category."""
    sq: float
    """Mean segmentation quality. A category without a match enters it as 0."""
    rq: float
    """Mean recognition quality."""
    num_categories: int
    """Categories in the means."""

    def __repr__(self) -> str:
        classes = pluralize(self.num_categories, "class")
        return f"PanopticAverage(PQ={self.pq:.4f}, SQ={self.sq:.4f}, RQ={self.rq:.4f}, {classes})"


@record(frozen=True, eq=False, repr=False)
class PanopticQuality(Frozen):
    """The result of :func:`panoptic_quality`.

    Results of different images can be added with ``+`` or :meth:`merge`. For every split and in any order, the sum has
    the same rows, and every number has the same bits: areas are integers, and sums of IoU are correctly rounded.
    """

    categories: Categories
    """(K,) the categories, sorted by id, with their ``isthing`` among the attributes."""
    image_ids: npt.NDArray[Any]
    """(I,) ids of the images, in ascending order: integers or strings."""
    outcomes: PanopticOutcomes
    """Matches, missed segments and wrong predictions."""
    repeated_images: int = 0
    """Images that :meth:`merge` left out because an earlier part has them."""

    @cached_property
    def per_class(self) -> ClassResults[PanopticClass]:
        """The numbers of all categories, sorted by id: ``per_class[0]``, or ``per_class["person"]``."""
        rows, size = self.outcomes, len(self.categories)
        matched = np.bincount(rows.category[rows.is_match], minlength=size).tolist()
        wrong = np.bincount(rows.category[rows.ground_truth == 0], minlength=size).tolist()
        missed = np.bincount(rows.category[rows.prediction == 0], minlength=size).tolist()
        ious: list[list[float]] = [[] for _ in range(size)]
        for category, iou in zip(rows.category[rows.is_match].tolist(), rows.iou[rows.is_match].tolist(), strict=True):
            ious[category].append(iou)
        things = self.categories.attributes["isthing"].tolist()
        ids, names = self.categories.ids.tolist(), self.categories.names
        numbers = zip(ids, names, things, matched, wrong, missed, map(math.fsum, ious), strict=True)
        return ClassResults([PanopticClass(*row) for row in numbers])

    @cached_property
    def overall(self) -> PanopticAverage:
        """Means over all categories."""
        return _average(self.per_class)

    @cached_property
    def things(self) -> PanopticAverage:
        """Means over the categories of things."""
        return _average([each for each in self.per_class if each.is_thing])

    @cached_property
    def stuff(self) -> PanopticAverage:
        """Means over the categories of stuff."""
        return _average([each for each in self.per_class if not each.is_thing])

    @property
    def summary(self) -> Mapping[str, float]:
        """``PQ``, ``SQ`` and ``RQ`` over all categories, then with ``_things`` and ``_stuff``; NaN if undefined."""
        return MappingProxyType(
            {
                f"{key}{group}": value
                for group, average in {"": self.overall, "_things": self.things, "_stuff": self.stuff}.items()
                for key, value in (("PQ", average.pq), ("SQ", average.sq), ("RQ", average.rq))
            }
        )

    @property
    def counts(self) -> Mapping[str, int]:
        """``images``; ``categories``, those of them with a segment that counts; matches, wrong and missed segments."""
        classes = self.per_class
        return MappingProxyType(
            {
                "images": len(self.image_ids),
                "categories": self.overall.num_categories,
                "things": self.things.num_categories,
                "stuff": self.stuff.num_categories,
                "true_positives": sum(each.true_positives for each in classes),
                "false_positives": sum(each.false_positives for each in classes),
                "false_negatives": sum(each.false_negatives for each in classes),
            }
        )

    def __add__(self, other: PanopticQuality) -> PanopticQuality:
        """The result of the images of both; see :meth:`merge`."""
        return PanopticQuality.merge([self, other]) if isinstance(other, PanopticQuality) else NotImplemented

    @classmethod
    def merge(cls, parts: Iterable[PanopticQuality], *, duplicates: str = "error") -> PanopticQuality:
        """The result of the images of all parts.

        Args:
            parts: Results with the same categories.
            duplicates: What to do with an image that an earlier part has, too: ``"error"`` refuses it; ``"first"``
                leaves out the later one and counts it in :attr:`repeated_images`.

        Raises:
            ValueError: If ``parts`` is empty, if parts have different categories, or if two of them hold one image.
        """
        check_choice("duplicates", duplicates, ("error", "first"))
        parts = list(parts)
        if not parts:
            raise ValueError("merge needs at least one result")
        _check_alike(parts)
        every = np.concatenate([part.image_ids for part in parts if len(part.image_ids)] or [parts[0].image_ids])
        ids, first, place = np.unique(every, return_index=True, return_inverse=True)
        kept = np.zeros(len(every), np.bool_)
        kept[first] = True
        if not kept.all() and duplicates == "error":
            raise ValueError(
                f"image {every[~kept][0]} is in two results; evaluate each image once, or keep the first with "
                "duplicates='first'"
            )
        shifts = np.cumsum([0, *(len(part.image_ids) for part in parts[:-1])]).tolist()
        names = PanopticOutcomes.column_names()
        columns = {name: np.concatenate([getattr(part.outcomes, name) for part in parts]) for name in names}
        of_all = np.concatenate([part.outcomes.image + shift for part, shift in zip(parts, shifts, strict=True)])
        columns["image"] = place.astype(np.int64)[of_all]
        rows = np.flatnonzero(kept[of_all])
        rows = rows[np.argsort(columns["image"][rows], kind="stable")]
        repeated = sum(part.repeated_images for part in parts) + int((~kept).sum())
        outcomes = PanopticOutcomes(**{name: column[rows] for name, column in columns.items()})
        return cls(parts[0].categories, ids, outcomes, repeated)

    def table(self) -> str:
        """The lines that panopticapi prints: percent, and the number of categories; nan where undefined."""
        lines = [f"{'':10s}| {'PQ':>5s}  {'SQ':>5s}  {'RQ':>5s} {'N':>5s}", "-" * 38]
        for name, average in (("All", self.overall), ("Things", self.things), ("Stuff", self.stuff)):
            pq, sq, rq = (100 * value for value in (average.pq, average.sq, average.rq))
            lines.append(f"{name:10s}| {pq:5.1f}  {sq:5.1f}  {rq:5.1f} {average.num_categories:5d}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Everything except the rows, in plain Python values, ``None`` where a number is undefined."""
        return {
            "summary": plain_value(self.summary),
            "per_class": [
                {
                    "id": each.id,
                    "name": each.name,
                    "is_thing": each.is_thing,
                    "PQ": plain_value(each.pq),
                    "SQ": plain_value(each.sq),
                    "RQ": plain_value(each.rq),
                    "true_positives": each.true_positives,
                    "false_positives": each.false_positives,
                    "false_negatives": each.false_negatives,
                    "iou_sum": each.iou_sum,
                }
                for each in self.per_class
            ],
            "counts": dict(self.counts),
            "version": _core.__version__,
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON, every number to its last bit."""
        import json  # noqa: PLC0415 - keeps `import ioukit` fast

        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def __repr__(self) -> str:
        numbers = f"PQ={self.overall.pq:.4f}, SQ={self.overall.sq:.4f}, RQ={self.overall.rq:.4f}"
        images, classes = pluralize(len(self.image_ids), "image"), pluralize(self.overall.num_categories, "class")
        return f"PanopticQuality({numbers}, {images}, {classes})"


def _average(classes: Sequence[PanopticClass]) -> PanopticAverage:
    defined = [each for each in classes if not math.isnan(each.pq)]
    count = len(defined)
    if not count:
        return PanopticAverage(math.nan, math.nan, math.nan, 0)
    pq, sq, rq = (
        _sum(values) / count for values in zip(*((each.pq, each.sq, each.rq) for each in defined), strict=True)
    )
    return PanopticAverage(pq, sq, rq, count)


def _sum(values: Iterable[float]) -> float:
    """The sum, one value after another, as panopticapi adds them. `sum` rounds less often since Python 3.12."""
    return reduce(operator.add, values, 0.0)


def _check_alike(parts: Sequence[PanopticQuality]) -> None:
    first = parts[0].categories
    for part in parts[1:]:
        other = part.categories
        alike = other is first or (
            other.names == first.names
            and other.ids.tolist() == first.ids.tolist()
            and other.attributes["isthing"].tolist() == first.attributes["isthing"].tolist()
        )
        if not alike:
            raise ValueError("results with different categories do not add up: evaluate all with the same categories")
    if len({part.image_ids.dtype.kind for part in parts if len(part.image_ids)}) > 1:
        raise ValueError("image ids of some results are strings, those of others are integers")
