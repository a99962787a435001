"""Between which numbers AP lies, whatever the order of detections with equal scores.

Owns what an order decides and how far it can move a curve. Does not own the matching (matching.rs), nor means over
recalls, classes and thresholds (summary.py), which both ends of a range pass like any curve.

At one IoU threshold and in one area range, an order decides two things: which detection of an image and class takes
which object, and in which order true and false positives stand in the curve.

- **Highest.** True positives can always stand first: without the others, they take the same objects. So the most true
  positives decide. They are the most pairs that can be made at all: an order in which each detection takes its best
  object makes as many (Abraham et al., Pareto optimality in house allocation problems, ISAAC 2004). The core makes
  these pairs, by the choice ``"together"``.
- **Lowest.** A detection near no object is a false positive wherever it stands, so all of these come first. One near an
  object becomes a false positive only behind those that take its objects. Detections and objects that are linked by
  such pairs are a part. A part is a list of numbers: how many false positives it sets free with its first true
  positive, with its second one, and so on. The k-th true positive of a class has at most as many false positives before
  it as the k-1 largest numbers of all parts add up to.

That sum is reached if each part has one order that is the worst in every respect and whose numbers do not rise. A part
around one object has; for others with few detections, all orders are tried. Larger parts, and images with more
detections than the cap, have a bound instead. So have means over IoU thresholds, because the worst order of one
threshold may not be that of another.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit.evaluation.curves import Curves, CurveSteps, accumulate, drawing_of
from ioukit.evaluation.matching import match, order_of_preference, reaches_threshold
from ioukit.evaluation.protocols.parts import NO_CAP
from ioukit.evaluation.summary import value_of
from ioukit.evaluation.table import NEARLY_ONE, REPEATED, VOID, MatchTable

if TYPE_CHECKING:
    from ioukit._array_types import Flags, Floats
    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation.protocols import Measure, Protocol

Ints: TypeAlias = "npt.NDArray[np.int64]"
Word: TypeAlias = tuple[int, ...]
"""How many false positives a part sets free before its first true positive, with it, with the second one, and so on."""

_FEW = 8
"""Detections of a part whose orders are all tried. Eight take some hundredths of a second if all of them compete."""


@dataclass(frozen=True)
class OrderRange:
    """A number of detections with equal scores, and the range in which it lies whatever their order."""

    key: str
    """The key of the number, such as ``"AP"``."""
    value: float
    """The number with the order of the data: images by their ids, and the detections of an image as the data has
    them."""
    low: float
    """No order gives less."""
    high: float
    """No order gives more."""
    exact: bool
    """Whether some order gives ``low`` and some order gives ``high``; otherwise they are bounds."""

    def sentence(self) -> str:
        """The range in words: ``"AP50 0.412 with the order of the data; any order gives 0.400 to 0.420"``."""
        if self.low == self.high:
            return f"{self.key} {self.value:.3f}, whatever the order"
        ends = "both ends are reached" if self.exact else "bounds; the true ends may be closer"
        return (
            f"{self.key} {self.value:.3f} with the order of the data; any order gives {self.low:.3f} to "
            f"{self.high:.3f} ({ends})"
        )


def order_ranges(
    table: MatchTable, ground_truth: GroundTruth, detections: Detections, *, threads: int | None = None
) -> dict[str, OrderRange]:
    """The range of each AP over all orders of the detections, if all of them have the same score.

    Nothing is sampled. All orders of all detections count, also those in which the detections of an image do not follow
    each other. For numbers at one IoU threshold, such as AP50, :attr:`OrderRange.exact` says whether both ends are
    reached; they mostly are. The ends of means over thresholds are bounds.

    Args:
        table: The matches, by a protocol that matches and averages as COCO's.
        ground_truth: The objects that were matched.
        detections: The detections that were matched.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Returns:
        The ranges by key, of each AP of the protocol that is defined.

    Raises:
        ValueError: If the scores differ, or the protocol has other rules.

    Examples:
        >>> from ioukit import Detections, GroundTruth, evaluate
        >>> ground_truth = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 10, 10]])
        >>> boxes = [[0, 0, 10, 10], [50, 50, 10, 10]]
        >>> answers = Detections.from_arrays(image_ids=[1, 1], category_ids=[1, 1], boxes=boxes, scores=None)
        >>> found = evaluate(ground_truth, answers.with_equal_scores(1.0)).order_ranges()
        >>> print(found["AP50"].sentence())
        AP50 1.000 with the order of the data; any order gives 0.500 to 1.000 (both ends are reached)
    """
    protocol, scores = table.protocol, detections.scores
    if why := protocol.why_no_order_range:
        raise ValueError(why)
    if len(scores) and scores.min() < scores.max():
        raise ValueError(
            "the range over all orders is one of equal scores, and these differ: they go from "
            f"{scores.min():g} to {scores.max():g}"
        )
    cap, curves = protocol.main_max_dets, accumulate(table, threads=threads)
    most = match(
        ground_truth,
        detections,
        protocol.replace(choice="together", max_dets=(NO_CAP,)),
        iou_type=table.iou_type,
        categories=table.categories.ids.tolist(),
        images=table.image_ids,
        near=min(protocol.iou_thresholds[0], NEARLY_ONE),
        threads=threads,
    )
    if (most.objects.special & VOID).any():
        raise ValueError("the range over all orders is not known where annotation id 0 is read as pycocotools reads it")
    sizes = detections.areas_or_those_of_boxes()[most.detections.row]
    scene = _Scene(protocol.replace(max_dets=(cap,)), most, sizes)
    low, high, exact = _ends(scene, cap)
    found = {}
    for measure in protocol.measures:
        value = value_of(curves, measure)
        if measure.quantity == "AP" and protocol.cap_of(measure) == cap and not math.isnan(value):
            ends = value_of(low, measure), value_of(high, measure)
            found[measure.key] = OrderRange(
                measure.key, value, *ends, ends[0] == ends[1] or _is_exact(protocol, measure, exact)
            )
    return found


def _is_exact(protocol: Protocol, measure: Measure, exact: Flags) -> bool:
    thresholds = protocol.iou_positions_of(measure)
    return len(thresholds) == 1 and bool(exact[protocol.position_of_area(protocol.area_of(measure)), thresholds[0]])


class _Scene:
    """What may match what, whatever the order."""

    def __init__(self, protocol: Protocol, table: MatchTable, sizes: npt.NDArray[np.float64]) -> None:
        detections, objects, near = table.detections, table.objects, table.near
        assert near is not None
        self.protocol, self.table, self.sizes = protocol, table, sizes
        self.category = table.evaluated_category(detections.category).astype(np.int64)
        self.of_object = table.evaluated_category(objects.category).astype(np.int64)
        # Detections of one image and category share the cap.
        groups = detections.image.astype(np.int64) * len(table.evaluated) + self.category
        self.group = np.unique(groups, return_inverse=True)[1]
        same = self.category[near.detection] == self.of_object[near.object]
        pairs = near.detection[same], near.object[same], near.iou[same]
        order = order_of_preference(protocol, *pairs)
        self.detection, self.object, self.iou = (column[order] for column in pairs)

    def candidates(self, area: int, threshold: int) -> _Candidates:
        """The pairs that may match."""
        label, low, high = self.protocol.area_ranges[area]
        reaches = reaches_threshold(self.protocol, self.iou, self.protocol.iou_thresholds[threshold])
        detection, taken = self.detection[reaches], self.object[reaches]
        ignored = self.table.ignores(label)
        repeated = ignored & (self.table.objects.special & REPEATED > 0)
        fails = (self.sizes >= low) & (self.sizes <= high)
        fails[detection[repeated[taken]]] = False
        competes = ~repeated[taken]
        return _Candidates(detection[competes], taken[competes], ~ignored, fails)


class _Candidates(NamedTuple):
    """At one threshold in one area range, the pairs that compete, sorted by detection and its preference."""

    detection: Ints
    """(P,) rows of the detections."""
    object: Ints
    """(P,) rows of the objects, without those that any number of detections may match: none compete for them."""
    counts: Flags
    """(G,) whether each object counts; the others are ignored."""
    fails: Flags
    """(N,) whether each detection is a false positive once it finds no object; the others are ignored then."""


class _Parts(NamedTuple):
    """What the parts of one threshold and area range do at worst."""

    first: Ints
    """(K,) false positives of each class that can stand before all others."""
    freed: tuple[Ints, Ints]
    """(F,) classes in ascending order, and how many false positives a true positive sets free, the most first."""
    fewest: Ints
    """(S,) the fewest true positives of each group."""
    exact: Flags
    """(K,) whether these are numbers of an order, and not bounds."""

    def before(self, k: int) -> Ints:
        """The most false positives before each true positive of a class."""
        start, end = np.searchsorted(self.freed[0], [k, k + 1])
        return np.asarray(self.first[k] + np.cumsum(np.append(0, self.freed[1][start:end])))


def _ends(scene: _Scene, cap: int) -> tuple[Curves, Curves, Flags]:
    """The curves of the lowest and of the highest numbers, and (A, T) whether those are reached."""
    protocol, table = scene.protocol, scene.table
    objects, classes = table.num_objects, len(table.evaluated)  # (K, A)
    shape = classes, len(protocol.area_ranges), 1, len(protocol.iou_thresholds)
    low, high = (np.zeros((*shape, len(protocol.recall_thresholds))) for _ in range(2))
    exact = np.zeros(shape[1::2], np.bool_)
    members = np.bincount(scene.group)
    of_group = np.zeros(len(members), np.int64)
    of_group[scene.group] = scene.category
    beyond = np.maximum(members - cap, 0)
    for a, label in enumerate(protocol.area_labels):
        for t, iou in enumerate(protocol.iou_thresholds):
            right = table.is_true_positive(iou, label)
            most = np.minimum(np.bincount(scene.group[right], minlength=len(members)), cap)
            most = np.bincount(of_group, most, classes).astype(np.int64)
            parts = _parts(scene.candidates(a, t), scene, right)
            # Each detection beyond the cap may be one that would have been right.
            fewest = np.bincount(of_group, np.maximum(parts.fewest - beyond, 0), classes).astype(np.int64)
            parts.exact[of_group[beyond > 0]] = False
            exact[a, t] = parts.exact[objects[:, a] > 0].all()
            for k in np.flatnonzero(objects[:, a]).tolist():
                low[k, a, 0, t] = _points(protocol, parts.before(k)[: fewest[k]], int(objects[k, a]))
                high[k, a, 0, t] = _points(protocol, np.zeros(most[k], np.int64), int(objects[k, a]))
    recall = np.where(objects > 0, 0.0, np.nan)[:, :, None, None] + np.zeros(shape)
    return _curves(scene, low, recall), _curves(scene, high, recall), exact


def _curves(scene: _Scene, precision: Floats, recall: Floats) -> Curves:
    drawn = np.arange(len(scene.table.evaluated))
    return Curves(
        scene.protocol, scene.table.evaluated, drawn, CurveSteps.of_points(precision, precision), recall, None
    )


def _points(protocol: Protocol, before: Ints, objects: int) -> Floats:
    """(R,) the precision at the recall thresholds, given the false positives before each true positive."""
    drawing = drawing_of(protocol)
    right = np.arange(1, len(before) + 1)
    precision = right / ((right + before) + (0.0 if drawing.plain_precision else 2.0**-52))
    best = np.append(np.maximum.accumulate(precision[::-1])[::-1], 0.0)
    return np.asarray(best[np.searchsorted(right / objects, drawing.recall_thresholds)])


def _parts(candidates: _Candidates, scene: _Scene, right: Flags) -> _Parts:
    """What the parts do at worst. ``right`` are the true positives of the most pairs."""
    detection, taken, counts, fails = candidates
    classes, objects = len(scene.table.evaluated), len(counts)
    degree = np.bincount(detection, minlength=len(fails))
    first = np.bincount(scene.category[fails & (degree == 0)], minlength=classes)
    exact = np.ones(classes, np.bool_)
    # Around one object: its detections have no other. One of them takes it, and then all others that can fail do.
    takers = np.bincount(taken, minlength=objects)
    others = np.bincount(taken, degree[detection] > 1, minlength=objects)
    freed = np.minimum(np.bincount(taken, fails[detection], minlength=objects).astype(np.int64), takers - 1)
    is_around = (takers > 0) & (others == 0)
    ignored, wanted = np.flatnonzero(is_around & ~counts), np.flatnonzero(is_around & counts)
    first += np.bincount(scene.of_object[ignored], freed[ignored], classes).astype(np.int64)
    one_taker = np.zeros(objects, np.int64)
    one_taker[taken] = detection
    fewest = np.bincount(scene.group[one_taker[wanted]], minlength=int(scene.group.max(initial=-1)) + 1)
    numbers = [np.stack([scene.of_object[wanted], freed[wanted]])]
    rest = ~is_around[taken]
    for rows, places in _linked(detection[rest], taken[rest]):
        k = int(scene.category[rows[0]])
        options = [taken[np.searchsorted(detection, row) :][: degree[row]].tolist() for row in rows]
        can_fail = tuple(fails[rows].tolist())
        if len(rows) <= _FEW:
            worst = _worst(_numbered(options, places, counts), can_fail)
        else:
            worst = _bound(options, can_fail, counts, int(np.count_nonzero(right[rows])))
        first[k] += worst.first
        fewest[scene.group[rows[0]]] += worst.fewest
        exact[k] &= worst.reached
        numbers.append(np.array([[k] * len(worst.freed), worst.freed], np.int64))
    of_class, freed = np.concatenate(numbers, axis=1)
    order = np.lexsort((-freed, of_class))
    return _Parts(first, (of_class[order], freed[order]), fewest, exact)


def _linked(detection: Ints, object_: Ints) -> Iterator[tuple[list[int], list[int]]]:
    """The rows of detections and of objects that pairs link with each other, part by part."""
    options, takers = defaultdict(list), defaultdict(list)
    for row, place in zip(detection.tolist(), object_.tolist(), strict=True):
        options[row].append(place)
        takers[place].append(row)
    seen: set[int] = set()
    for start in options:
        if start in seen:
            continue
        rows, places = [start], dict.fromkeys(options[start])
        seen.add(start)
        for row in rows:  # grows meanwhile
            for place in options[row]:
                places[place] = None
                new = [other for other in takers[place] if other not in seen]
                seen.update(new)
                rows += new
        yield sorted(rows), sorted(places)


def _numbered(
    options: Sequence[Sequence[int]], places: Sequence[int], counts: Flags
) -> tuple[tuple[tuple[int, bool], ...], ...]:
    """For each detection its objects, numbered from 0, as it prefers them, and whether they count."""
    number = {place: at for at, place in enumerate(places)}
    return tuple(
        tuple((number[at], wanted) for wanted in (True, False) for at in row if bool(counts[at]) == wanted)
        for row in options
    )


class _Worst(NamedTuple):
    """What a part does at worst."""

    first: int
    """False positives before all others."""
    freed: list[int]
    """Those that its true positives set free."""
    fewest: int
    """The fewest true positives."""
    reached: bool
    """Whether one order does all of this, and the numbers do not rise."""


@lru_cache(maxsize=1 << 14)
def _worst(options: tuple[tuple[tuple[int, bool], ...], ...], can_fail: tuple[bool, ...]) -> _Worst:
    """A part with few detections: every order is tried. Parts of the same shape are asked for again and again."""
    words = _words(options, can_fail)
    longest = max(map(len, words))
    sums = [np.cumsum([*word, *[0] * (longest - len(word))]) for word in words]
    first, *freed = np.diff(np.max(sums, axis=0), prepend=0).tolist()
    falls = all(one >= other for one, other in itertools.pairwise(freed))
    return _Worst(first, freed, min(map(len, words)) - 1, len(words) == 1 and falls)


def _words(options: tuple[tuple[tuple[int, bool], ...], ...], can_fail: tuple[bool, ...]) -> list[Word]:
    """What orders do, without those that another one is worse than in every respect."""

    @cache
    def after(left: frozenset[int], taken: frozenset[int]) -> list[Word]:
        # Who finds nothing any more takes nothing either, so it is no loss to let it fail at once.
        free = {row: [one for one in options[row] if one[0] not in taken] for row in left}
        failed = sum(can_fail[row] for row in left if not free[row])
        left = frozenset(row for row in left if free[row])
        found: set[Word] = set() if left else {(failed,)}
        for row in left:
            place, counts = free[row][0]
            for first, *others in after(left - {row}, taken | {place}):
                found.add((failed, first, *others) if counts else (failed + first, *others))
        return _worst_words(found)

    return after(frozenset(range(len(options))), frozenset())


def _worst_words(words: Iterable[Word]) -> list[Word]:
    kept: list[Word] = []
    for word in sorted(words, key=lambda word: (len(word), [-one for one in np.cumsum(word)])):
        if not any(_is_worse(other, word) for other in kept):
            kept.append(word)
    return kept


def _is_worse(one: Word, other: Word) -> bool:
    """Whether a word has no more true positives, and as many false positives before each and behind all of them."""
    padded = [*one, *[0] * (len(other) - len(one))]
    return len(one) <= len(other) and bool((np.cumsum(padded) >= np.cumsum(other)).all())


def _bound(options: Sequence[Sequence[int]], can_fail: Sequence[bool], counts: Flags, most: int) -> _Worst:
    """A part with many detections, from two facts.

    Detections that choose one after another leave no pair that could still be made, and so make at least half of the
    most pairs. A false positive is near an object that was taken, and not the detection that took it.
    """
    near: dict[int, list[bool]] = defaultdict(list)
    first = 0
    for row, fails in zip(options, can_fail, strict=True):
        wanted = [place for place in row if counts[place]]
        first += fails and not wanted  # such a detection competes for ignored objects alone
        for place in wanted:
            near[place].append(fails)
    freed = [min(sum(one), len(one) - 1) for one in near.values()]
    return _Worst(first, freed, (most + 1) // 2, False)
