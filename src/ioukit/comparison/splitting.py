"""A difference of two models, split over classes, images, sizes and kinds of errors.

Owns: what gets a part (each object; the false positives of an image, class, size and kind), the sums of the parts, and
the scale on which the scores of both models are compared. Does not own: the part of one detection (`attribution.py`,
which has the mathematics), sizes and kinds (`sides.py`), and what became of an object at one threshold
(`object_changes.py`).

Cut here because attribution works within one curve, and all lists here add up over curves. Every list is a sum of the
same parts, so the lists cannot contradict each other. Replacing the images of A by those of B one after the other would
be simpler, but the result would depend on the order of the images. A curve that is read at a few recalls leaves a rest,
which is spread in proportion and counted in :attr:`Parts.spread`. At first, scores were compared as they are. But two
models may score on different scales, so the scores of B are now put on the scale of A before, unless `parts` is asked
not to.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats, Rows
from ioukit._checks import check_choice
from ioukit._columns import Frozen, record
from ioukit.comparison.attribution import CurveParts, ap_parts, ar_parts, curve_parts
from ioukit.comparison.sides import (
    CHANGE_KINDS,
    KIND_WORDS,
    Side,
    detection_sizes,
    false_positive_kinds,
    miss_kinds,
    near_pairs_of,
    object_sizes,
    same_boxes,
    size_labels,
    table_with_near_pairs,
)
from ioukit.datasets import Categories
from ioukit.evaluation import MatchTable
from ioukit.evaluation._same_scene import check_same_ground_truth

if TYPE_CHECKING:
    from ioukit.evaluation import Evaluation, Measure


_MOST_CLASSES = 10  # in a notebook


@record(frozen=True, eq=False, repr=False)
class Parts(Frozen):
    """The result of :func:`parts`: the difference of a number of two models, split in several ways.

    Each list adds up to :attr:`difference`, up to rounding (1e-12). A part above 0 is a gain of B over A. Parts have
    the unit of the number: AP is within [0, 1].
    """

    key: str
    """The key of the number, ``"AP"`` for example."""
    a: float
    """The number of A."""
    b: float
    """The number of B."""
    difference: float
    """``b - a``."""
    categories: Categories
    """(E,) the categories; a single one for all if the protocol is class-agnostic."""
    image_ids: npt.NDArray[Any]
    """(I,) the ids of the images."""
    classes: Floats
    """(E,) the part of each category; 0 for a category without objects."""
    images: Floats
    """(I,) the part of each image. It is exactly 0 for an image on which A and B have the same scores and outcomes, if
    most objects that both find keep their scores."""
    sizes: Mapping[str, float]
    """The part of each size: objects, and false positives by their own size, in the area ranges of the protocol other
    than the main one. What is in none of them is under ``"other"``."""
    kinds: Mapping[str, float] | None
    """The part of each of :data:`CHANGE_KINDS`; ``None`` if the tables lack the near pairs that these need."""
    objects: Floats
    """(G,) the part of each object of the match tables: of being found, lost or found with another score. These and
    :attr:`false_positives` add up to the difference."""
    false_positives: Floats
    """(I,) the part of the false positives of each image."""
    spread: float
    """How much of the difference the exact attribution leaves open, as the sum of absolute values; it is spread over
    the parts in proportion to them. It comes from curves that are read at a few recalls, such as COCO's 101."""

    def largest_images(self, n: int, *, sign: int = 0) -> npt.NDArray[np.int64]:
        """Positions of up to ``n`` images with the largest parts, the largest first. Parts of 0 are left out.

        Args:
            n: How many.
            sign: 1 for images on which B gains, -1 for those on which it loses, 0 for both by absolute value.

        Raises:
            ValueError: If ``n`` is negative.
        """
        return _largest(self.images, n, sign)

    def largest_classes(self, n: int, *, sign: int = 0) -> npt.NDArray[np.int64]:
        """Positions of up to ``n`` classes, see :meth:`largest_images`."""
        return _largest(self.classes, n, sign)

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """One row per part: each size, each kind of error, and the classes with the largest parts."""
        classes = {self.categories.names[at]: self.classes[at] for at in self.largest_classes(_MOST_CLASSES)}
        kinds = {KIND_WORDS[kind]: part for kind, part in (self.kinds or {}).items()}
        rows = [
            {"part": f"{of}: {name}", f"points of {self.key}": round(100 * float(part), 2)}
            for of, parts_of in (("size", self.sizes), ("error", kinds), ("class", classes))
            for name, part in parts_of.items()
        ]
        return rows, len(rows)

    def __repr__(self) -> str:
        return f"Parts({self.key} {self.a:.4f} -> {self.b:.4f}, {self.difference:+.4f})"


def _largest(values: Floats, n: int, sign: int) -> npt.NDArray[np.int64]:
    if operator.index(n) < 0:
        raise ValueError(f"n must not be negative, got {n}")
    size = np.abs(values) if sign == 0 else sign * values
    order = np.argsort(-size, kind="stable")[:n]
    return order[size[order] > 0].astype(np.int64)


_SCORE = CHANGE_KINDS.index("score")

_MOST_OUTCOMES = 1 << 20
"""Detections of a class times IoU thresholds that are split at once. A class with more has one threshold at a time."""


def parts(a: Evaluation, b: Evaluation, key: str | None = None, *, one_scale: bool = True) -> Parts:
    """The difference of a number of two models, split over classes, images, sizes, kinds of errors and objects.

    Each list adds up to the difference. The part of a class is the difference of its own number, over the number of
    classes. Below classes, the part of each detection of A and B is the value of Aumann and Shapley: the weight of A's
    detections goes from 1 to 0, that of B's from 0 to 1, and each detection gets what its change of weight does to the
    area under the curve, all the way. So the parts depend on no order, changing A and B changes only their signs,
    detections that are equal in A and B have a part of 0, and the part of an image, a size or a kind is the sum of the
    parts of its detections.

    The detections of A and B stand in one order on the way, so their scores must have one scale. The scores of B are
    therefore multiplied by the typical ratio of the scores of objects that both find: the median, in ten groups by
    score. The ratio is 1 if most of these objects keep their score, and then nothing changes.

    What the parts do not say: how the number would change if only one image were changed (the others are half changed
    on the way). The curve is that with all recalls. A protocol that reads it at a few recalls, as COCO does at 101,
    leaves a rest, which is spread over the parts of the class: :attr:`Parts.spread`.

    The kind of a false positive is its error kind by TIDE. An object that only one model finds has the kind of error of
    the other model: ``"localisation"`` if a false positive of its class overlaps it by at least 0.1,
    ``"classification"`` if one of another class reaches the IoU threshold, otherwise ``"missed"``. An object that both
    find with other scores has the kind ``"score"``, and so has everything if both have the same boxes. All of this is
    done at each IoU threshold of the number.

    Args:
        a: One model.
        b: The other model, evaluated on the same ground truth by the same protocol.
        key: The key of a number of the protocol that is an AP or AR; the main one if ``None``.
        one_scale: Whether the scores of B are put on the scale of A; otherwise they are compared as they are.

    Raises:
        ValueError: If the two were not evaluated alike, there is no such number, it is neither AP nor AR, it is
            undefined, or the objects choose, as in KITTI.

    Examples:
        >>> from ioukit import Detections, GroundTruth, evaluate
        >>> from ioukit.comparison import parts
        >>> truth = GroundTruth.from_arrays(image_ids=[1, 2], category_ids=[1, 1], boxes=[[0, 0, 10, 10]] * 2)
        >>> found = {"category_ids": [1, 1], "boxes": [[0, 0, 10, 10], [0, 0, 10, 10]], "scores": [0.9, 0.8]}
        >>> a = evaluate(truth, Detections.from_arrays(image_ids=[1, 2], **found)[[0]])
        >>> b = evaluate(truth, Detections.from_arrays(image_ids=[1, 2], **found))
        >>> split = parts(a, b, "AP50")
        >>> split
        Parts(AP50 0.5050 -> 1.0000, +0.4950)
        >>> split.images.round(3).tolist()
        [0.0, 0.495]
        >>> {kind: round(part, 3) for kind, part in split.kinds.items() if part}
        {'missed': 0.495}
    """
    check_same_ground_truth(a, b)
    protocol = a.protocol
    measure = _measure(a, protocol.main_measure.key if key is None else key)
    curves = curve_parts(a, b, measure)
    units = _Units(a, b, measure, one_scale=one_scale)
    for category in range(len(a.matches.evaluated)):
        units.add_class(category, curves)
    return Parts(
        key=measure.key,
        a=a.summary[measure.key],
        b=b.summary[measure.key],
        difference=b.summary[measure.key] - a.summary[measure.key],
        categories=a.matches.evaluated,
        image_ids=a.matches.image_ids,
        classes=curves.parts.sum(axis=0),
        images=units.images,
        sizes=dict(zip(size_labels(a.matches), units.sizes.tolist(), strict=True)),
        kinds=dict(zip(CHANGE_KINDS, units.kinds.tolist(), strict=True)) if units.has_kinds else None,
        objects=units.objects,
        false_positives=units.false_positives,
        spread=units.spread,
    )


def _measure(evaluation: Evaluation, key: str) -> Measure:
    """The measure of a key.

    Raises:
        ValueError: If there is none, or its difference cannot be split.
    """
    protocol = evaluation.protocol
    measures = {measure.key: measure for measure in protocol.measures}
    check_choice("key", key, tuple(measures))
    measure = measures[key]
    if measure.quantity not in ("AP", "AR"):
        raise ValueError(f"only a difference of AP or AR can be split into parts, and {key} is neither")
    if why := protocol.why_matches_vary:
        raise ValueError(f"the numbers of the protocol {protocol.name!r} cannot be split: {why}")
    return measure


class _Units:
    """What gets a part: each object, and the false positives of one image, class, size and kind; per IoU threshold.

    Their parts are added to the lists at once: there may be as many units as detections times thresholds.
    """

    def __init__(self, a: Evaluation, b: Evaluation, measure: Measure, *, one_scale: bool) -> None:
        protocol = a.protocol
        self._is_ap = measure.quantity == "AP"
        area = protocol.area_of(measure)
        cap = protocol.cap_of(measure)
        tables = [table_with_near_pairs(one) for one in (a, b)]
        sides = [Side.of(table, area, cap) for table in tables]
        near = [near_pairs_of(table) for table in tables]
        self.has_kinds = all(pairs is not None for pairs in near)
        self._num_objects = a.matches.num_objects[:, protocol.position_of_area(area)]
        rows = [table.detections for table in tables]
        count, self._objects = len(protocol.iou_thresholds), a.matches.objects
        self._category = np.concatenate([table.evaluated_category(table.detections.category) for table in tables])
        scores = scores_on_one_scale(*tables) if one_scale else [each.score for each in rows]
        self._image = np.concatenate([each.image for each in rows]).astype(np.int64)
        rank = np.concatenate([each.rank for each in rows])
        self._of_b = np.repeat([False, True], [len(each) for each in rows])
        self._found = np.concatenate([side.found for side in sides])
        self._false = np.concatenate([side.false for side in sides])
        bits = 2.0 ** np.arange(count)
        # The order of the curves. Where a detection of A and one of B are equal in it, their outcomes decide, so that
        # it does not matter which model is called A. Detections with equal outcomes follow each other.
        outcomes = self._false @ bits, self._found @ bits
        self._order = (self._of_b, *outcomes, rank, self._image, -np.concatenate(scores))
        self._object = np.concatenate([side.object for side in sides])
        self._size = np.concatenate([detection_sizes(table) for table in tables])
        self._object_size = object_sizes(a.matches)
        self._kind = np.zeros(self._found.shape, np.int8)
        self._object_kind = np.full((len(self._objects), count), _SCORE)
        if self.has_kinds and same_boxes(a, b):
            self._kind[:] = _SCORE
        elif near[0] is not None and near[1] is not None:
            pairs = list(zip(sides, (near[0], near[1]), strict=True))
            self._kind = np.concatenate([false_positive_kinds(side, each, area) for side, each in pairs])
            in_a, in_b = (side.finds() for side in sides)
            missed_a, missed_b = (miss_kinds(side, each) for side, each in pairs)
            self._object_kind = np.select([in_a & ~in_b, in_b & ~in_a], [missed_b, missed_a], _SCORE).astype(int)
        self._rows = np.argsort(self._category, kind="stable")
        self._starts = np.searchsorted(self._category[self._rows], np.arange(len(self._num_objects) + 1))

        self.images, self.false_positives = np.zeros((2, len(a.matches.image_ids)))
        self.objects, self.sizes = np.zeros(len(self._objects)), np.zeros(len(size_labels(a.matches)))
        self.kinds, self.spread = np.zeros(len(CHANGE_KINDS)), 0.0

    def add_class(self, category: int, curves: CurveParts) -> None:
        """Add the parts within one class to the lists."""
        rows = self._rows[self._starts[category] : self._starts[category + 1]]
        rows = rows[np.lexsort([key[rows] for key in self._order])]
        step = max(1, _MOST_OUTCOMES // max(len(rows), 1))
        for first in range(0, self._found.shape[1], step):
            self._add(rows, category, first, first + step, curves)

    def _add(self, rows: Rows, category: int, first: int, end: int, curves: CurveParts) -> None:
        """Add those at the IoU thresholds from ``first`` to before ``end``; ``rows`` are in the order of the curves."""
        of_b, found, false = self._of_b[rows], self._found[rows, first:end].T, self._false[rows, first:end].T
        objects, wanted = int(self._num_objects[category]), curves.parts[first:end, category]
        if not objects:
            values = np.zeros(found.shape)
        elif self._is_ap:
            values = ap_parts(of_b, found, false, objects)
        else:
            values = ar_parts(of_b, found, objects)
        values *= curves.weights[first:end, category, None]
        at, place = np.nonzero(found | false)
        units, inverse = np.unique(self._unit(first + at, rows[place]), return_inverse=True)
        part = _sums(inverse, values[at, place], len(units))
        number, threshold = np.divmod(units, self._found.shape[1])
        part, spread = _complete(part, threshold - first, wanted)
        self._list(number, threshold, part)
        self.spread += float(spread.sum())

    def _unit(self, at: Rows, rows: Rows) -> Rows:
        """A number for each threshold and object, or threshold and image, size and kind of a false positive."""
        group: Rows = self._image[rows] * len(self.sizes) + self._size[rows]
        unit: Rows = len(self._objects) + group * len(self.kinds) + self._kind[rows, at]
        of_object = self._found[rows, at]
        unit[of_object] = self._object[rows, at][of_object]
        return np.asarray(unit * self._found.shape[1] + at)

    def _list(self, number: Rows, at: Rows, part: Floats) -> None:
        """Add the parts of units, which are not numbered by threshold here, to the lists."""
        is_object = number < len(self._objects)
        of_object, others = number[is_object], number[~is_object] - len(self._objects)
        group, kind = np.divmod(others, len(self.kinds))
        image, size = np.divmod(group, len(self.sizes))
        for parts_of, images, sizes, kinds in (
            (
                part[is_object],
                self._objects.image[of_object],
                self._object_size[of_object],
                self._object_kind[of_object, at[is_object]],
            ),
            (part[~is_object], image, size, kind),
        ):
            np.add.at(self.images, images, parts_of)
            np.add.at(self.sizes, sizes, parts_of)
            np.add.at(self.kinds, kinds, parts_of)
        np.add.at(self.objects, of_object, part[is_object])
        np.add.at(self.false_positives, image, part[~is_object])


def _complete(part: Floats, at: Rows, wanted: Floats) -> tuple[Floats, Floats]:
    """The parts, changed so that they add up to the wanted sums, and by how much each has changed.

    Args:
        part: (U,) the parts.
        at: (U,) the position of the sum of each.
        wanted: (T,) the sums.
    """
    count = len(wanted)
    rest = wanted - _sums(at, part, count)
    size = np.abs(part)
    total = _sums(at, size, count)
    equal = (total == 0)[at]
    size[equal], total = 1.0, np.where(total == 0, np.bincount(at, minlength=count), total)
    share = rest[at] * (size / total[at])
    return part + share, np.abs(share)


def _sums(at: Rows, values: Floats, size: int) -> Floats:
    """(size,) the sum of the values at each position."""
    return np.bincount(at, weights=values, minlength=size).astype(np.float64)


_GROUPS = 10

_LEAST = 10  # objects of a group


def scores_on_one_scale(a: MatchTable, b: MatchTable) -> tuple[Floats, Floats]:
    """(N,) the scores of A, and (M,) those of B times what the objects that both find say about the scales.

    The objects that both find at the main IoU threshold are sorted by their score in B and cut into up to ten groups.
    The factor of a group is the median of the ratio of both scores: exactly 1 where more than half of the objects keep
    their score. Between groups, the result is interpolated. The order of B's detections stays.

    Scores of 0 or less have no ratio; if there are any, all scores stay as they are.
    """
    given = a.detections.score, b.detections.score
    if any(len(scores) == 0 or not scores.min() > 0 for scores in given):
        return given
    found = [_scores_of_objects(table) for table in (a, b)]
    both = ~np.isnan(found[0]) & ~np.isnan(found[1])
    of_a, of_b = found[0][both], found[1][both]
    if not len(of_a):
        return given
    order = np.argsort(of_b, kind="stable")
    groups = np.array_split(order, max(1, min(_GROUPS, len(order) // _LEAST)))
    factors = np.array([np.median(of_a[group] / of_b[group]) for group in groups])
    if (factors == 1).all():
        return given
    knots = np.array([np.median(of_b[group]) for group in groups])
    knots, first = np.unique(knots, return_index=True)
    factors = factors[first]
    values = knots * factors
    falls = np.flatnonzero(np.diff(values) <= 0)
    if len(falls):  # groups that contradict each other get one factor, so that the order stays
        factors = np.full(len(knots), np.median(of_a / of_b))
        values = knots * factors
    scores = given[1]
    scaled = np.interp(scores, knots, values)
    scaled = np.where(scores < knots[0], scores * factors[0], scaled)
    return given[0], np.where(scores > knots[-1], scores * (values[-1] / knots[-1]), scaled)


def _scores_of_objects(table: MatchTable) -> Floats:
    """(G,) the score of the detection that finds each object at the main IoU threshold; NaN for none."""
    scores = np.full(len(table.objects), np.nan)
    rows = np.flatnonzero(table.is_true_positive() & table.is_within_cap())
    scores[table.matched_object()[rows]] = table.detections.score[rows]
    return scores
