"""Objects that are likely missing, badly drawn, of the wrong class, doubled or around nothing.

Owns: one function per kind of error, from the evidence to the odds that a label is wrong, and the assumptions behind
the odds. Does not own: what detections say about objects (`evidence.py`), the regressions (`calibration.py`), and which
suspicion stays if an object has several (`finding.py`).

Cut here because each kind compares two explanations of its own (the label is wrong; the model is), and all read the
same evidence. The share of labels that are wrong in a given way is estimated from the ratios of these explanations
(`_odds`). The other constants are choices, made on data such as that of ``benchmarks/planted_label_errors.py``, where
errors are planted in eight data sets; docs/label_errors.md shows how often a label with a given score is wrong there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ioukit._array_types import Flags, Floats, Rows
from ioukit.label_errors.calibration import along, chance, combined, design_of, products, score_features
from ioukit.label_errors.evidence import FOUND, LEAST, RELIABLE, largest, matched_among, strongest
from ioukit.label_errors.label_error import BADLY_DRAWN, DOUBLED, OVERLOOKED, SPURIOUS, SWAPPED
from ioukit.overlap import elementwise_iou
from ioukit.overlap.join import overlap_join

if TYPE_CHECKING:
    from ioukit.label_errors.evidence import Evidence


RATE = 0.01
"""The share of labels that is taken to be wrong in a given way before the data are seen."""

NEVER_SURE = 0.02
"""The least chance that an object with a right label is not found."""

_PRIOR_LABELS = 50.0  # RATE counts as much as this many labels
_ENOUGH = 30  # steps of EM and of Newton's method

# Of wrong classes.
_CLEAR = 0.1, 50  # the share of the objects, and their least number, where the own class leads most
_STEEPEST = 30.0, 1.0, 5.0  # of the lead, the rest of an image, and detections alone; the second counts once at most
_SLOPE_PRIORS = 1e-3, 1.0, 1.0  # their precisions
_SAME_SLOPE = 1e-7
_HELD = 1e12  # a curvature with which a slope does not move
_STEEPER = 3.0  # wrong labels make the slopes flatter by this factor at most
_CONFUSED = 0.05  # objects whose class a model may confuse at every score
_PRIOR_CLEAR = 2.0  # how many clear leads the share of those that wrong labels explain counts as
_SHARES = np.linspace(0.005, 0.995, 100)
_LARGEST_FIT = 3.0  # the rest of an image says no more than this, as a logarithm
_CONCENTRATIONS = 0.1, 1000.0  # at the most, an image tells nothing about its next object
_PRIOR_PAIRS = 5.0  # keeps the rarity of rare pairs of classes near 1

# Of doubles and labels of nothing.
_DOUBLE = 0.5  # the least IoU of two objects that may be one
_FEW = 5  # neighbours are too few to tell how their overlaps fall off
_SHARED = 0.8  # a sure detection of its own leaves this much doubt that an object is a double
_FADES = 0.02  # score times IoU of the best detection on a label of nothing is seldom more
_TRACELESS = 0.015  # a model may leave this share of the objects without a trace, whatever their class and size
_FEW_VANISH = 0.25  # of the objects, those of the classes of which the fewest leave no trace

# Of merged boxes.
_USUAL_GAIN = 0.04  # in IoU, taken for the mean of so few neighbours
_LARGEST_GAIN = 0.5  # detections match from an IoU of 0.5
_MERGED = 20.0  # a gain says no more than this

# Of badly drawn objects.
_LEAST_SPREAD = 0.1  # of the logit of an IoU
_LEAST_REST = 0.02  # smaller differences count as this one
_FREEDOM = 4.0  # of Student's t: IoUs have a few outliers where nothing is wrong
_ROUNDS = 12
_WORST = 0.75  # badly drawn objects have an IoU between LEAST and this one


class Suspicions(NamedTuple):
    """Suspicions of one kind."""

    kind: int
    object: Rows
    """(N,) the accused object; -1 if it is missing."""
    detection: Rows
    """(N,) the detection that speaks against it; -1 for none."""
    other: Rows
    """(N,) the other object of a double; -1 for none."""
    overlap: Floats
    """(N,) IoU of the object with the detection or the other object; NaN for none."""
    expected: Floats
    """(N,) what :attr:`LabelErrors.expected` says."""
    odds: Floats
    """(N,) that the label is wrong."""


def overlooked(evidence: Evidence) -> Suspicions:
    """Detections that match nothing although detections like them match an object.

    If annotators miss objects at random, missing objects get detections like those of the others. So the odds that a
    detection shows a missing object are the odds that it shows an object, times the share of the objects that are
    missing.
    """
    rows = np.flatnonzero(evidence.open)
    none = np.full(len(rows), -1)
    odds = evidence.missing * np.exp(evidence.real[rows]) * _of_merged(evidence)[rows]
    return Suspicions(OVERLOOKED, none, rows, none, np.full(len(rows), np.nan), chance(evidence.logits[rows]), odds)


def _of_merged(evidence: Evidence) -> Floats:
    """(N,) how much likelier each detection is if an object is missing because its box was merged with another one.

    The annotation then has a detection of its own, and the box around both detections fits it better. Where the label
    is right, such a gain in IoU is small: its frequency falls exponentially. That is measured on detections that match
    a neighbour. Of merged boxes, all gains are as frequent. It counts as far as both detections are right.
    """
    table, pairs = evidence.table, evidence.pairs
    if evidence.object_boxes is None or evidence.detection_boxes is None or table.iou_type != "bbox":
        return np.ones(len(table))
    own = evidence.match_of[pairs.object]
    same = table.objects.category[pairs.object] == table.detections.category[pairs.detection]
    chosen = np.flatnonzero(same & evidence.accusable[pairs.object] & (own >= 0) & (own != pairs.detection))
    dt, own, gt = pairs.detection[chosen], own[chosen], pairs.object[chosen]
    one, two = evidence.detection_boxes[dt], evidence.detection_boxes[own]
    low = np.minimum(one[:, :2], two[:, :2])
    high = np.maximum(one[:, :2] + one[:, 2:], two[:, :2] + two[:, 2:])
    both = np.concatenate([low, high - low], axis=1)
    gain = elementwise_iou(both, evidence.object_boxes[gt], format="xywh") - evidence.match_iou[gt]
    usual = gain[(gain > 0) & (evidence.match[dt] >= 0)]
    fall = (len(usual) + _FEW) / (float(usual.sum()) + _FEW * _USUAL_GAIN)
    ratio = np.clip(np.exp(fall * gain) / (fall * _LARGEST_GAIN), 1, _MERGED)
    right = chance(evidence.alone[dt]) * chance(evidence.alone[own])
    return np.maximum(largest(1 + right * (ratio - 1), dt, slice(None), len(table)), 1)


def swapped(evidence: Evidence) -> Suspicions:
    """Objects on which an unmatched detection of another class lies, by its lead over those of their own class.

    A wrong class exchanges the roles of both classes. So the ratio of the two explanations is that of two frequencies:
    how often the other class leads as far as here, and how often the own class does. It may lead in three ways: on the
    object, elsewhere on the image, and by being the only class that detections of the object have. A model may also
    confuse classes at every score. So the ratio does not rise above what is left of the clearest leads.
    """
    table, pairs = evidence.table, evidence.pairs
    same = table.objects.category[pairs.object] == table.detections.category[pairs.detection]
    strength, free = evidence.strength, evidence.free[pairs.detection]
    # A detection that fits this object better than the one that it matches is free, too, if that one has another.
    spare = np.bincount(pairs.object[same & free & (pairs.iou >= FOUND)], minlength=len(table.objects) + 1) > 0
    match = evidence.match[pairs.detection]
    free |= spare[match] & (pairs.iou > np.append(evidence.match_iou, np.nan)[match])
    ways = same, ~same & free
    own, other = (strongest(strength, pairs.object, chosen, len(table.objects)) for chosen in ways)
    on_own, on_other = (
        np.bincount(pairs.object[chosen & (pairs.iou >= FOUND)], minlength=len(table.objects)) > 0 for chosen in ways
    )
    strength = np.append(strength, 0.0)  # of none
    lead = strength[other] - strength[own]
    gt = np.flatnonzero(evidence.accusable & (other >= 0))
    labelled, seen = (
        side.category[rows].astype(np.int64)
        for side, rows in ((table.objects, gt), (table.detections, pairs.detection[other[gt]]))
    )
    columns = np.zeros((len(lead), 3), order="F")
    columns[:, 0], columns[gt, 1], columns[:, 2] = lead, _beside(evidence, gt, seen), on_other.astype(float) - on_own
    rarity = np.ones(len(lead))
    rarity[gt] = _rarity(labelled, seen, lead[gt] < 0)
    wrong, confused = _shares(lead, columns[:, 1], rarity, evidence.accusable)
    # The slopes of all labels give the order. Without the wrong ones they are steeper.
    every = np.asfortranarray(columns[evidence.accusable])
    slopes = _slopes(every, np.zeros(1))
    seems_wrong = wrong * np.where(other >= 0, rarity, 1.0)[evidence.accusable]
    steeper = float(np.clip(_slopes(combined(every, slopes)[:, None], seems_wrong)[0], 1, _STEEPER))
    # A label is not in doubt where its own class leads.
    gt = gt[lead[gt] > 0]
    towards = combined(columns[gt], slopes) + np.log(rarity[gt])
    odds = wrong / np.hypot(np.exp(-steeper * towards), confused)
    own, other = own[gt], other[gt]
    rival = np.append(table.detections.score[pairs.detection] * pairs.iou, np.nan)[own]
    return Suspicions(SWAPPED, gt, pairs.detection[other], np.full(len(gt), -1), pairs.iou[other], rival, odds)


def _shares(lead: Floats, beside: Floats, rarity: Floats, accusable: Flags) -> tuple[float, float]:
    """The share of the labels with a wrong class, and that of the objects whose class the model confuses when sure.

    Both together are the clearest leads of another class, as a share of those of the own class. The rest of the image
    tells them apart: it fits the class of the object, which is that of the label or of the detection. Where it tells
    nothing, the larger the share, the larger a part of it are wrong labels: few models confuse many classes at high
    scores. The lower end of the share counts, because few leads may be there by chance.

    Args:
        lead: (G,) how far another class leads on each object.
        beside: (G,) how much better another class fits the rest of the image, as a logarithm.
        rarity: (G,) of the two classes.
        accusable: (G,) the objects that count.
    """
    leads = lead[accusable]
    if not len(leads):
        return 0.0, 0.0
    share, least = _CLEAR
    clear = max(-float(np.quantile(leads, min(max(share, least / len(leads)), 0.5))), 1e-9)
    count, right = float(rarity[accusable & (lead >= clear)].sum()), float((leads <= -clear).sum()) + 1.0
    both, lower = min((count + 0.5) / right, 0.5), max(count - np.sqrt(count), 0.0) / right
    prior = _PRIOR_CLEAR * (lower + _CONFUSED) / (lower + 3 * _CONFUSED)
    fits = np.clip(beside[accusable & (lead >= clear)], -_LARGEST_FIT, _LARGEST_FIT)
    # The mean of the posterior: a mixture of wrong labels and confusions, and a beta prior.
    log = np.log1p(_SHARES[:, None] * np.expm1(fits)).sum(axis=1)
    log += (prior - 1) * np.log(_SHARES) + (_PRIOR_CLEAR - prior - 1) * np.log1p(-_SHARES)
    weight = np.exp(log - log.max())
    part = float((weight * _SHARES).sum() / weight.sum())
    return part * both, (1 - part) * both


def _slopes(columns: Floats, wrong: Floats) -> Floats:
    """The slopes b for which exp(b x), summed over the columns, is the ratio of the frequencies of -x and x.

    It is a logistic regression of the sign, by Newton's steps. All slopes have limits and normal priors, as a few
    images do not tell what the others are like. A label that seems wrong counts with the other sign as far as it does
    (EM).

    Args:
        columns: (N, F) x.
        wrong: The odds that a label is wrong before its lead is known, of all or of each; 0 to count all as they are.
    """
    most, priors = np.array(_STEEPEST[: columns.shape[1]]), np.array(_SLOPE_PRIORS[: columns.shape[1]])
    slopes: Floats = np.zeros(columns.shape[1])
    slopes[0] = 1.0
    for _ in range(_ENOUGH):
        exchanged = chance(combined(columns, slopes))
        seems_wrong = wrong * exchanged / (1 - exchanged + wrong * exchanged)
        gradient = along(columns, exchanged - seems_wrong) + priors * slopes
        # A slope at its limit stays there, if it would go beyond it (projected Newton, Bertsekas 1982).
        held = np.where(((slopes <= 0) & (gradient > 0)) | ((slopes >= most) & (gradient < 0)), _HELD, 0.0)
        curvature = products(columns, exchanged * (1 - exchanged)) + np.diag(priors + held)
        before = slopes
        slopes = np.clip(slopes - np.clip(np.linalg.solve(curvature, gradient), -2, 2), 0, most)
        if np.allclose(slopes, before, rtol=0, atol=_SAME_SLOPE):
            break
    return slopes


def _beside(evidence: Evidence, gt: Rows, seen: Rows) -> Floats:
    """(R,) how much better another class fits the rest of the image than the class of the label does, as a logarithm.

    The rest of an image are the detections that do not overlap the object; the frequencies of classes are divided out.
    Images have few of all classes: the classes on an image follow a Polya distribution. Its concentration, the one with
    the highest likelihood of the labels, says how little an image tells.

    Args:
        evidence: The evidence.
        gt: (R,) objects.
        seen: (R,) the other class of each.
    """
    table, pairs = evidence.table, evidence.pairs
    image, labelled = table.objects.image.astype(np.int64), table.objects.category.astype(np.int64)
    category = table.detections.category.astype(np.int64)
    right, rows = chance(evidence.alone), np.flatnonzero(evidence.accusable)
    near = right[pairs.detection]
    size = int(max(labelled.max(initial=0), category.max(initial=0))) + 1
    share = (np.bincount(labelled[rows], minlength=size) + 0.5) / (len(rows) + 0.5 * size)
    on_image = _Sums(table.detections.image.astype(np.int64) * size + category, right)
    on_object = _Sums(pairs.object.astype(np.int64) * size + category[pairs.detection], near)

    def fits(objects: Rows, classes: Rows) -> Floats:
        """The number of detections of these classes, over that by chance."""
        number = on_image.of(image[objects] * size + classes) - on_object.of(objects * size + classes)
        fits: Floats = np.maximum(number, 0) / share[classes]
        return fits

    own = fits(rows, labelled[rows])
    of_images = np.bincount(table.detections.image, right, minlength=len(table.image_ids))
    total = (of_images[image] - np.bincount(pairs.object, near, minlength=len(labelled)))[rows]
    low, high = _CONCENTRATIONS
    for _ in range(_ENOUGH):
        concentration = float(np.sqrt(low * high))
        rises = float((1 / (own + concentration)).sum()) > float((1 / (total + concentration)).sum())
        low, high = (concentration, high) if rises else (low, concentration)
    fit: Floats = np.log(fits(gt, seen) + concentration) - np.log(own[np.searchsorted(rows, gt)] + concentration)
    return fit


class _Sums:
    """The sums of the values of each key."""

    def __init__(self, keys: Rows, values: Floats) -> None:
        self._keys, where = np.unique(keys, return_inverse=True)
        self._sums = np.bincount(where.reshape(-1), values)

    def of(self, wanted: Rows) -> Floats:
        """(W,) the sum of each wanted key; 0 for none."""
        if not len(self._keys):
            return np.zeros(len(wanted))
        place = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return np.where(self._keys[place] == wanted, self._sums[place], 0.0)


def _rarity(labelled: Rows, seen: Rows, counted: Flags) -> Floats:
    """(N,) how much rarer a pair of classes is, in any order, than the others; 1 at most.

    It is measured where the own class leads, so that wrong labels hardly count: where the model sees another class
    beside the right one, it confuses the two.
    """
    size = int(max(labelled.max(initial=0), seen.max(initial=0))) + 1
    pair = np.minimum(labelled, seen) * size + np.maximum(labelled, seen)
    pair = np.unique(pair, return_inverse=True)[1].reshape(-1)
    together = np.bincount(pair, counted)[pair]
    of_class = np.bincount(labelled, counted, size) + np.bincount(seen, counted, size)
    by_chance = of_class[labelled] * of_class[seen] / max(2 * int(counted.sum()), 1)
    return np.minimum((by_chance + _PRIOR_PAIRS) / (together + _PRIOR_PAIRS), 1)


def _odds(ratio: Floats, count: int) -> Floats:
    """The odds that labels are wrong in a given way.

    The share of wrong labels is that with the highest likelihood, times a weak prior around RATE.

    Args:
        ratio: The likelihood ratios of the suspicious labels.
        count: How many labels there are; those that are not suspicious have a ratio of 0.
    """
    low, high = 1e-6, 0.5
    prior = RATE * _PRIOR_LABELS, (1 - RATE) * _PRIOR_LABELS + count - len(ratio)
    for _ in range(_ENOUGH):
        rate = (low + high) / 2
        rises = float(((ratio - 1) / (1 + rate * (ratio - 1))).sum()) + prior[0] / rate - prior[1] / (1 - rate)
        low, high = (rate, high) if rises > 0 else (low, rate)
    odds: Floats = rate / (1 - rate) * ratio
    return odds


def spurious(evidence: Evidence, threads: int | None) -> Suspicions:
    """Objects that no detection overlaps, of a class and size whose objects are usually found."""
    rows = np.flatnonzero(evidence.accusable & (evidence.any_support < RELIABLE))
    miss = np.clip(1 - evidence.any_found[rows], NEVER_SURE / 4, 1)
    touch = _touch(evidence, rows, threads)
    # A weak detection lies on many real objects that are not found reliably, and on few labels of nothing.
    fade = (1 + touch / _FADES) ** -2
    real = (miss + _vanishing(evidence, rows[touch < _FADES])[rows]) * fade.mean() / fade if len(rows) else miss
    odds = _odds(1 / (real + _TRACELESS), int(evidence.accusable.sum()))
    none = np.full(len(rows), -1)
    return Suspicions(SPURIOUS, rows, none, none, np.full(len(rows), np.nan), 1 - miss, odds)


def _vanishing(evidence: Evidence, gone: Rows) -> Floats:
    """(G,) how many more objects of a class leave no trace than those of the classes of which the fewest do.

    Labels of nothing are in all classes. So a class that has more objects without a trace than others is one of which
    the model misses some.

    Args:
        evidence: The evidence.
        gone: (R,) objects that leave no trace.
    """
    category = evidence.table.objects.category.astype(np.int64)
    counted = category[evidence.accusable]
    count = np.bincount(counted)
    usual = _PRIOR_LABELS * len(gone) / max(len(counted), 1)
    share = (np.bincount(category[gone], minlength=len(count)) + usual) / (count + _PRIOR_LABELS)
    more: Floats = np.maximum(share - np.quantile(share[counted], _FEW_VANISH), 0)
    return np.append(more, np.zeros(int(category.max()) + 1 - len(more)))[category]


def _touch(evidence: Evidence, rows: Rows, threads: int | None) -> Floats:
    """(R,) the largest score times IoU of a detection with each of some objects; near pairs lack the least IoUs."""
    touch = evidence.any_support[rows]
    if evidence.object_boxes is None or evidence.detection_boxes is None:
        return touch
    image, of_detection = (side.image.astype(np.int64) for side in (evidence.table.objects, evidence.table.detections))
    found = overlap_join(
        evidence.object_boxes[rows], evidence.detection_boxes, min_iou=1e-6, labels1=image[rows], labels2=of_detection,
        format="xywh", threads=threads,
    )  # fmt: skip
    weak = evidence.score[found.columns] * np.minimum(found.values, LEAST)
    return np.maximum(touch, largest(weak, found.rows, slice(None), len(rows)))


def doubled(evidence: Evidence, threads: int | None) -> Suspicions:
    """Pairs of objects that overlap more than other pairs of objects do, and share one detection."""
    first, second, overlap = _object_pairs(evidence, threads)
    classes = evidence.table.objects.category
    same = classes[first] == classes[second]
    density = np.zeros(len(first))
    count = max(int(evidence.accusable.sum()), 1)
    # Objects of two classes may well have one box, as a cat and the bed that it fills; one of a class hardly ever.
    for group, high in ((same, 0.1), (~same, 1 + float((~same & (overlap >= _DOUBLE)).sum()))):
        # Among right labels, the overlaps of neighbours fall off exponentially.
        usual = overlap[group & (overlap < _DOUBLE)]
        fall = 1 / max(float((usual - LEAST).mean()) if len(usual) > _FEW else 0.1, 0.02)
        tail = (len(usual) + 1) * fall * np.exp(-fall * (overlap[group] - LEAST))
        density[group] = (tail + high / (1 - _DOUBLE)) / count
    # The one with less support is accused; of two equal ones the later.
    support = evidence.own_support + 1e-3 * np.nan_to_num(evidence.match_iou)
    support = np.maximum(np.where(evidence.match_of >= 0, support, 0.0), _of_other_class(evidence))
    accused = np.where(support[first] < support[second], first, second)
    other = first + second - accused
    ratio = (1 - _SHARED * np.minimum(support[accused], 1)) / (1 - _DOUBLE) / density
    kept = overlap >= _DOUBLE
    dt = evidence.match_of[other]
    nothing = np.full(int(kept.sum()), np.nan)
    odds = _odds(ratio[kept], count)
    return Suspicions(DOUBLED, accused[kept], dt[kept], other[kept], overlap[kept], nothing, odds)


def _object_pairs(evidence: Evidence, threads: int | None) -> tuple[Rows, Rows, Floats]:
    """Pairs of objects of an image and their IoU; a lower bound of it if only the match table is known.

    1 - IoU is a distance. So two objects that overlap one detection by a and b have an IoU of at least a + b - 1. For
    OKS this is no bound, and the reason in words does not say that it is one.
    """
    table, accusable = evidence.table, evidence.accusable
    if evidence.object_boxes is not None and table.iou_type == "bbox":
        rows = np.flatnonzero(accusable)
        image = table.objects.image[rows].astype(np.int64)
        found = overlap_join(evidence.object_boxes[rows], min_iou=LEAST, labels1=image, format="xywh", threads=threads)
        return rows[found.rows], rows[found.columns], found.values.astype(np.float64)
    pairs = evidence.pairs
    near = np.flatnonzero(accusable[pairs.object] & (pairs.iou >= FOUND + LEAST / 2))
    dt, gt, iou = pairs.detection[near], pairs.object[near], pairs.iou[near]
    counts = np.bincount(dt, minlength=len(table))
    ends = np.cumsum(counts)
    place = np.arange(len(near))
    first, second, bound = [], [], []
    for step in range(1, int(counts.max(initial=0))):
        one = place[place + step < ends[dt]]
        first.append(gt[one])
        second.append(gt[one + step])
        bound.append(iou[one] + iou[one + step] - 1)
    if not first:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    low, high, value = np.concatenate(first), np.concatenate(second), np.concatenate(bound)
    order = np.lexsort((-value, high, low))
    low, high, value = low[order], high[order], value[order]
    kept = np.flatnonzero(np.append(True, (np.diff(low) != 0) | (np.diff(high) != 0))[: len(low)] & (value >= LEAST))
    return low[kept], high[kept], value[kept]


def badly_drawn(evidence: Evidence, threads: int | None) -> Suspicions:
    """Objects whose detection overlaps them less than is usual for this score, size and class."""
    table, pairs = evidence.table, evidence.pairs
    gt = np.flatnonzero((evidence.match_of >= 0) & evidence.accusable)
    dt, iou = evidence.match_of[gt], evidence.match_iou[gt]
    # Objects and detections without a match may belong together although they overlap by less than half.
    classes = table.objects.category[pairs.object] == table.detections.category[pairs.detection]
    free = evidence.free[pairs.detection] & evidence.accusable[pairs.object] & (evidence.match_of[pairs.object] < 0)
    # But where a reliable one of another class fits an object, its class is in doubt and not its box.
    free &= _of_other_class(evidence)[pairs.object] < RELIABLE
    more = matched_among(evidence, classes & free, LEAST, class_agnostic=False, threads=threads)
    gt, dt, iou = (np.concatenate(columns) for columns in zip((gt, dt, iou), more, strict=True))
    if not len(gt):
        return Suspicions(BADLY_DRAWN, gt, dt, np.zeros(0, np.int64), iou, np.zeros(0), np.zeros(0))
    far = iou < FOUND
    certain = chance(evidence.alone[dt])
    features = np.concatenate([score_features(table.detections.score)[dt], evidence.size[gt]], axis=1)
    inside = np.clip(iou, 0.02, 0.98)
    logit = np.log(inside) - np.log1p(-inside)
    usual, spread = _usual(
        logit, features, table.objects.category[gt].astype(np.int64), certain * np.where(far, 0.2, 1)
    )
    distance = (logit - usual) / spread
    good = (1 + distance**2 / _FREEDOM) ** (-(_FREEDOM + 1) / 2) * 0.375 / spread
    bad = inside * (1 - inside) / (_WORST - LEAST)
    ratio = np.where((distance < 0) & (iou < 0.9), bad / good, 0.05)
    # With an IoU below one half, a right label means two chances at once: a miss, and a wrong detection beside it.
    miss = np.clip(1 - evidence.own_found[gt], NEVER_SURE, 1)
    ratio = np.where(far, np.minimum(ratio, 20) * np.clip(1 / miss, 1, 5) * certain, ratio)
    ratio = certain * ratio + (1 - certain) * 0.2
    odds = _odds(ratio, len(gt))
    return Suspicions(BADLY_DRAWN, gt, dt, np.full(len(gt), -1), iou, 1 / (1 + np.exp(-usual)), odds)


def _of_other_class(evidence: Evidence) -> Floats:
    """(G,) the chance that the best free detection of another class that fits each object is right; 0 for none."""
    table, pairs = evidence.table, evidence.pairs
    other = table.objects.category[pairs.object] != table.detections.category[pairs.detection]
    fits = evidence.free[pairs.detection] & other & (pairs.iou >= FOUND)
    return largest(chance(evidence.alone)[pairs.detection], pairs.object, fits, len(table.objects))


def _usual(values: Floats, features: Floats, classes: Rows, weight: Floats) -> tuple[Floats, Floats]:
    """The expected value and the spread of each row: a robust regression, with an offset for each class."""
    design = design_of(features)
    offsets = np.zeros(int(classes.max(initial=0)) + 1)
    spread: Floats = np.full(
        len(values), max(float(np.median(np.abs(values - np.median(values)))) * 1.5, _LEAST_SPREAD)
    )
    beta: Floats = np.zeros(design.shape[1])
    beta[0] = np.median(values)
    ridge = np.diag([1e-6, *[0.5] * features.shape[1]])
    for _ in range(_ROUNDS):
        rest: Floats = values - combined(design, beta) - offsets[classes]
        robust = weight * (_FREEDOM + 1) / (_FREEDOM + (rest / spread) ** 2) / spread**2
        wanted = along(design, robust * (values - offsets[classes]))
        beta = np.linalg.solve(products(design, robust) + ridge, wanted).astype(np.float64, copy=False)
        rest = values - combined(design, beta)
        offsets = np.bincount(classes, robust * rest, len(offsets)) / (np.bincount(classes, robust, len(offsets)) + 10)
        off: Floats = np.abs(rest - offsets[classes])
        # The logarithm of the spread is linear in the features, too. The mean of log |t| is about -0.5.
        wanted = along(design, weight * np.log(np.maximum(off, _LEAST_REST)))
        gamma = np.linalg.solve(products(design, weight) + 20 * ridge, wanted)
        spread = np.maximum(np.exp(combined(design, gamma) + 0.5), _LEAST_SPREAD)
    return combined(design, beta) + offsets[classes], spread
