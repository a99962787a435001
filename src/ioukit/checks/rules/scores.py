"""Rules about scores: all equal, rounded, reversed on some images, no confidences, or in two units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._checks import pluralize
from ioukit._words_and_colours import percent
from ioukit.checks.case import MATCH, different, most_by_chance
from ioukit.checks.repairs.repair import Repair
from ioukit.checks.suspicion import Suspicion, examples
from ioukit.overlap import overlap_join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ioukit.checks.case import Case
    from ioukit.typing import FloatArray

    Places = NDArray[np.intp]


# Choices; none was measured alone. `benchmarks/planted_faults.py` measures the check as a whole (docs/check.md).
FEWEST = 20
OFTEN, VERY_OFTEN = 0.1, 0.3
MOST_VALUES, FEWEST_TENTHS = 12, 6
MIXED = 2
FEWEST_FLAT = 2
HIGHEST_PERCENT = 100.0
NOTHING_TO_RANK = 0.99  # AP of data without false positives
FEWEST_RANKED, NO_ORDER, SOME_ORDER, LESS = 50, 0.58, 0.65, 0.7
CHANCE = 0.01
FEWEST_TELLING, HARDLY_MORE = 30.0, 0.1  # objects; of what classes could tell of them, beyond chance
FEWEST_GROUPS, ONE, SHARE_OF_ONE, DRAWS = 5, 1e-3, 0.04, 10
FEWEST_PAIRS, CLEARLY, BY_CHANCE = 4, 2.326, 0.01  # of a normal distribution, so much lies beyond
MUCH_LESS = 0.5  # of planted equal scores, 0.7 and more; of a sure detector, 0.1 to 0.4
LOW_SCORE, FEWEST_OF_ALL, MISSED = 0.06, 100, 0.1  # some frameworks leave out what is below 0.05
HIGH_SCORE, FEW_MISSED = 0.3, 0.05  # with such a lowest score, fewer missed objects tell it, too
FEWEST_FULL, SHARE_FULL = 5, 0.2  # images with as many detections as any has: by chance, few have the most


def scores(case: Case) -> Iterator[Suspicion]:
    """Scores on the wrong side, or that say little: one value for all or many, costs, percent, logits."""
    dt = case.detections
    if len(dt) and not dt.scored and "score" in case.ground_truth.attributes:
        yield Suspicion(
            "swapped_sides", "likely",
            f"the {len(dt):,} detections have no scores, and the {len(case.ground_truth):,} objects have scores",
            len(dt), len(dt), "give the two files in the other order, if they are swapped",
        )  # fmt: skip
    if len(dt) < FEWEST or not dt.scored:
        return
    yield from _equal(case)
    yield from _by_class(case)
    yield from _add_up(case)
    yield from _ranking(case)
    yield from _lowest_score(case)
    yield from _most_detections(case)
    low, high = float(dt.scores.min()), float(dt.scores.max())
    if len(np.unique(dt.scores)) > 1 and different(dt.boxes) >= FEWEST_RANKED:
        yield Suspicion(
            "scores_are_costs", "possible",
            "the numbers rise if the order of the scores is reversed: they may be distances or costs, not confidences",
            len(dt), len(dt), "write confidences", repair=Repair("scores", "negated"), least_gain=0.05,
        )  # fmt: skip
    if low < 0 or high > 1:
        yield from _unit(case, low, high)


def _equal(case: Case) -> Iterator[Suspicion]:
    scores = case.detections.scores
    values, times = np.unique(scores, return_counts=True)
    most = int(np.argmax(times))
    count = int(times[most])
    labels = case.detections.image_labels()
    images = dict.fromkeys(labels[scores == values[most]].tolist())
    flat = _flat_images(labels, scores)
    if len(values) == 1:
        harmless = next(iter(case.summary.values())) > NOTHING_TO_RANK
        ranks = "they rank nothing" if harmless else "AP may depend on the order of the file"
        yield Suspicion(
            "scores_all_equal", "possible" if harmless else "sure",
            f"all {len(scores):,} scores are {values[0]:g}: {ranks}",
            len(scores), len(scores), "write the scores of the detector", examples(images),
        )  # fmt: skip
    elif len(flat) >= FEWEST_FLAT and count < len(scores) and len(values) > MOST_VALUES:
        yield Suspicion(
            "scores_often_equal", "likely",
            f"all scores of an image are equal on {len(flat):,} images with two detections or more",
            len(flat), len(np.unique(labels)), "write the scores of the detector", examples(flat), tuple(flat),
        )  # fmt: skip
    elif count >= max(FEWEST, OFTEN * len(scores)) and len(values) > MOST_VALUES:
        # Of scores with few digits, and at their highest value, many are equal.
        digits = bool(np.isclose(scores, np.round(scores, 3), rtol=0, atol=1e-9).all()) or most == len(values) - 1
        usual = (digits and count < VERY_OFTEN * len(scores)) or _tells_right(case, values[most])
        yield Suspicion(
            "scores_often_equal", "possible" if usual else "likely",
            f"{count:,} of {len(scores):,} scores are {values[most]:g}", count, len(scores),
            "write the scores of the detector", examples(images),
        )  # fmt: skip
    elif len(values) <= MOST_VALUES and len(scores) >= FEWEST * MOST_VALUES:
        # Few levels can be all that a detector has. All tenths of a range are what rounding leaves.
        steps = np.round(10 * values[0]) + np.arange(len(values))
        rounded = len(values) >= FEWEST_TENTHS and np.allclose(10 * values, steps, rtol=0, atol=1e-6)
        tenths = f", the tenths from {values[0]:.1f} to {values[-1]:.1f}" if rounded else ""
        yield Suspicion(
            "scores_rounded" if rounded else "scores_of_few_values", "likely" if rounded else "possible",
            f"{len(scores):,} detections have only {len(values):,} different scores{tenths}: nothing ranks equal ones, "
            "and AP may depend on the order of the file", len(scores), len(scores),
            "write the scores with more digits, if the detector has them", examples(f"{value:g}" for value in values),
        )  # fmt: skip


def _right(case: Case) -> tuple[Places, NDArray[np.bool_]]:
    """Detections of images with objects, and whether they overlap an object of their class by at least 0.5.

    `Case.pairs` would not do: of images with many objects or detections, it has some only.
    """
    gt, dt = case.ground_truth, case.detections
    objects = np.flatnonzero(~gt.crowd & (gt.boxes[:, 2:] > 0).all(axis=1))
    rows = np.flatnonzero(np.isin(case.places, case.object_places[objects]))
    boxes = rows[(dt.boxes[rows, 2:] > 0).all(axis=1)]
    classes = np.unique(np.concatenate([dt.category_ids[boxes], gt.category_ids[objects]]), return_inverse=True)[1]
    place = np.concatenate([case.places[boxes], case.object_places[objects]])
    labels = place * (int(classes.max(initial=0)) + 1) + classes.reshape(-1)
    found = overlap_join(
        dt.boxes[boxes], gt.boxes[objects], min_iou=MATCH, labels1=labels[: len(boxes)], labels2=labels[len(boxes) :],
        format="xywh", threads=case.threads,
    )  # fmt: skip
    return rows, np.isin(rows, boxes[found.rows])


def _tells_right(case: Case, score: float) -> bool:
    """Whether detections with this score are right, or wrong, much less often than others: then it is a confidence.

    A sure detector gives its right detections the highest score. Scores that were lost say nothing.
    """
    rows, right = _right(case)
    equal = case.detections.scores[rows] == score
    if not equal.any() or equal.all():
        return False
    here, others = float(right[equal].mean()), float(right[~equal].mean())
    return 1 - here <= MUCH_LESS * (1 - others) or here <= MUCH_LESS * others


def _by_class(case: Case) -> Iterator[Suspicion]:
    """Images on which all detections of a class, three or more, have one score."""
    dt = case.detections
    groups = np.unique(np.stack([dt.image_ids, dt.category_ids]), axis=1, return_inverse=True)[1].reshape(-1)
    several = np.bincount(groups)[groups] > 2
    flat = _flat_images(groups[several], dt.scores[several])
    total = len(np.unique(groups[several]))
    if len(flat) < max(FEWEST_GROUPS, OFTEN * total) or len(np.unique(dt.scores)) <= MOST_VALUES:
        return
    images = dict.fromkeys(dt.image_labels()[np.isin(groups, flat)].tolist())
    yield Suspicion(
        "scores_of_classes_equal", "likely",
        f"all detections of a class have one score in {len(flat):,} of {total:,} cases of an image and a class with "
        "three detections or more", len(flat), total, "write the score of each detection", examples(images),
    )  # fmt: skip


def _add_up(case: Case) -> Iterator[Suspicion]:
    """Images whose scores add up to 1, as the softmax function over boxes makes them."""
    images, where, counts = np.unique(case.detections.image_labels(), return_inverse=True, return_counts=True)
    scores, several = case.detections.scores, counts > 1

    def add_up(scores: FloatArray) -> NDArray[np.bool_]:
        return np.asarray(several & (np.abs(np.bincount(where, scores) - 1) <= ONE))

    of_one, total = images[add_up(scores)], int(several.sum())
    if len(of_one) < max(FEWEST_GROUPS, SHARE_OF_ONE * total):
        return
    # Of few different values, as many of other images add up to 1, too.
    rng = np.random.default_rng(0)
    expected = float(np.mean([add_up(rng.permutation(scores)).sum() for _ in range(DRAWS)]))
    if len(of_one) > most_by_chance(expected):
        yield Suspicion(
            "scores_add_up", "likely",
            f"the scores add up to 1 on {len(of_one):,} of {total:,} images with two detections or more: they were "
            "divided by their sum", len(of_one), total, "write the confidence of each detection",
            examples(of_one.tolist()), tuple(of_one.tolist()),
        )  # fmt: skip


def _flat_images(labels: NDArray[Any], scores: FloatArray) -> list[int | str]:
    """The images whose detections, two or more, all have one score, if these are more than by chance."""
    order = np.lexsort((scores, labels))
    same = labels[order][1:] == labels[order][:-1]
    ties = same & (scores[order][1:] == scores[order][:-1])
    images, where, counts = np.unique(labels[order], return_inverse=True, return_counts=True)
    tied = np.bincount(where[1:][ties], minlength=len(images))
    flat = (counts > 1) & (tied == counts - 1)
    # Rounded scores are equal by chance, most where images have two detections: as often as those of other images are.
    others = np.unique(scores[order][~flat[where]], return_counts=True)[1]
    sizes, times = np.unique(counts[counts > 1], return_counts=True)
    chance = (others / max(1, others.sum())) ** sizes[:, None]
    expected = float((times * chance.sum(axis=1)).sum())
    listed: list[int | str] = images[flat].tolist()
    return listed if len(listed) > most_by_chance(expected) else []


def _unit(case: Case, low: float, high: float) -> Iterator[Suspicion]:
    """Percent, logits or another unit: of all images, which changes no rank, or of some images, which does."""
    dt = case.detections
    how = "logits" if low < 0 else "percent" if high <= HIGHEST_PERCENT else ""
    words = {"percent": "percent", "logits": "logits, before the sigmoid function"}.get(how, "")
    images, where = np.unique(dt.image_labels(), return_inverse=True)
    beyond = (dt.scores < 0) | (dt.scores > 1)
    some = images[np.bincount(where, beyond, minlength=len(images)) > 0]
    count = int(beyond.sum())
    within = f"the scores are between {low:.3g} and {high:.3g}"
    if MIXED <= len(some) <= 0.98 * len(images):
        labels = tuple(some.tolist())
        yield Suspicion(
            "scores_of_two_units", "likely",
            f"the scores of {len(some):,} of {len(images):,} images go beyond 0 to 1 ({within}), and those of "
            "the others do not",
            count, len(dt), f"write confidences{words and f'; these look like {words}'}", examples(some.tolist()),
            labels, Repair("scores", how, images=labels) if how else None, must_improve=False,
        )  # fmt: skip
    else:
        looks = f"they look like {words}" if how else "they are no confidences"
        yield Suspicion(
            f"scores_are_{how}" if how else "scores_beyond_one", "possible",
            f"{within}: {looks}; their order, and so AP, stays the same",
            count, len(dt), "write confidences, for score thresholds and calibration", examples(some.tolist()),
            repair=Repair("scores", how) if how else None, must_improve=False,
        )  # fmt: skip


def _lowest_score(case: Case) -> Iterator[Suspicion]:
    """A threshold that was left in: no score is low, so that the curve ends early."""
    dt, lowest = case.detections, float(case.detections.scores.min(initial=np.inf))
    if len(dt) < FEWEST_OF_ALL or not LOW_SCORE <= lowest < 1:
        return
    found = len(np.unique(case.pairs.objects[case.overlaps >= MATCH]))
    missed = 1 - found / max(len(case.pairs.starts), 1)
    if missed >= (MISSED if lowest < HIGH_SCORE else FEW_MISSED):
        yield Suspicion(
            "threshold_left_in", "possible",
            f"no score is below {lowest:.3g}, and {percent(missed, 0)} of the objects on images with detections have "
            f"none that overlaps them by at least {MATCH:g}: AP counts weak detections too, and can lose as much as "
            "those would find",
            len(dt), len(dt), "write all detections down to a score of about 0.001",
        )  # fmt: skip


def _most_detections(case: Case) -> Iterator[Suspicion]:
    """A limit of detections per image that was left in: many images have the most that any has, and miss objects."""
    counts = np.bincount(case.places[case.places >= 0], minlength=len(case.ground_truth.images))
    most = int(counts.max(initial=0))
    full = counts == most
    if full.sum() < max(FEWEST_FULL, SHARE_FULL * np.count_nonzero(counts)) or most >= max(case.rules.max_dets):
        return
    image, found = case.pairs.images[case.pairs.starts], case.pairs.best(case.overlaps) >= MATCH
    there = full[image]
    missed = int((there & ~found).sum())
    if missed >= max(FEWEST, MISSED * there.sum()):
        yield Suspicion(
            "limit_left_in", "possible",
            f"no image has more than {pluralize(most, 'detection')}, {int(full.sum()):,} of "
            f"{np.count_nonzero(counts):,} have as many, and on these {missed:,} of {int(there.sum()):,} objects have "
            f"none that overlaps them by at least {MATCH:g}: AP loses what further detections would find",
            int(full.sum()), int(np.count_nonzero(counts)), "write more detections of each image",
            examples(case.labels(np.flatnonzero(full))),
        )  # fmt: skip


def near_chance(case: Case) -> Iterator[Suspicion]:
    """A main number of nearly 0, although there are objects and detections."""
    if min(len(case.detections), len(case.ground_truth)) < FEWEST:
        return
    measure, value = next(iter(case.summary.items()))
    if value < CHANCE:
        yield Suspicion(
            "near_chance", "likely",
            f"{measure} is {value:.3f}: hardly any detection is right, as if detections and objects did not belong "
            "together",
            len(case.detections), len(case.detections),
            "look at some images (`ioukit view`): other images, other classes or another frame of the boxes can be the "
            "cause, or a detector that was not trained",
        )  # fmt: skip
    else:
        yield from _classes_by_chance(case)


def _classes_by_chance(case: Case) -> Iterator[Suspicion]:
    """Classes that agree with those of the objects no more than after they were shuffled within each image."""
    gt, dt, pairs = case.ground_truth, case.detections, case.pairs
    close = np.flatnonzero(case.overlaps >= MATCH)
    close = close[np.lexsort((dt.scores[pairs.detections[close]], pairs.objects[close]))]
    close = close[np.append(np.diff(pairs.objects[close]) != 0, True)[: len(close)]]  # the one with the highest score
    labels, image = gt.category_ids[pairs.objects[close]], pairs.images[close]
    seen = dt.category_ids[pairs.detections[close]]
    # An image on which either side has one class tells nothing: to shuffle it changes nothing.
    several = np.ones(len(gt.images), np.bool_)
    for classes in (labels, seen):
        several &= np.bincount(np.unique(np.stack([image, classes]), axis=1)[0], minlength=len(several)) > 1
    kept = several[image]
    labels, seen, image = labels[kept], seen[kept], image[kept]
    agree, number = int((labels == seen).sum()), np.bincount(image, minlength=len(several))
    rows, others = (np.unique(np.stack([image, each]), axis=1, return_counts=True) for each in (labels, seen))
    times = {(where, label): count for where, label, count in zip(*others[0].tolist(), others[1].tolist(), strict=True)}
    expected = sum(
        count * times.get((where, label), 0) / number[where]
        for where, label, count in zip(*rows[0].tolist(), rows[1].tolist(), strict=True)
    )
    telling = len(labels) - expected
    if telling < FEWEST_TELLING or agree - expected > HARDLY_MORE * telling:
        return
    yield Suspicion(
        "classes_by_chance", "likely",
        f"on images with several classes, a detection overlaps {len(labels):,} objects by at least {MATCH:g}: "
        f"{agree:,} of these have its class, and {expected:,.0f} would have it if the classes of the detections were "
        "shuffled within each image",
        len(labels), len(labels), "write each class with its own box: rows of an image may have been mixed, or the "
        "classes are those of another list",
    )  # fmt: skip


def _ranking(case: Case) -> Iterator[Suspicion]:
    """Scores that are higher for right detections on some image than on others, but not within an image.

    Right are detections that overlap an object of their class by at least 0.5. The chance that a right one has a higher
    score than a wrong one is 0.5 if scores say nothing.
    """
    dt = case.detections
    rows, right = _right(case)
    if not len(rows) or len(np.unique(dt.scores)) == 1:
        return
    image, score = case.places[rows], dt.scores[rows]
    reverse = list(_partly_reversed(case, image, score, right))
    yield from reverse
    if reverse or min(right.sum(), (~right).sum()) < FEWEST_RANKED:
        return
    higher, pairs = _pairs(score, right, np.zeros_like(image))
    over_all = float(higher.sum() / pairs.sum())
    higher, pairs = _pairs(score, right, image)
    if not pairs.any():
        return
    within = float(higher.sum() / pairs.sum())
    if over_all >= SOME_ORDER and within - 0.5 <= LESS * (over_all - 0.5):
        if min(different(dt.boxes[rows[some]]) for some in (right, ~right)) < FEWEST_RANKED:
            return
        yield Suspicion(
            "scores_not_of_their_boxes", "likely",
            f"within an image, a right detection has a higher score than a wrong one in {percent(within, 0)} of the "
            f"pairs, and over all images in {percent(over_all, 0)}: scores may be exchanged within images",
            len(rows), len(dt), "write each score with its own box",
        )  # fmt: skip
    elif max(within, over_all) < NO_ORDER:
        yield Suspicion(
            "scores_say_nothing", "possible",
            f"a right detection has a higher score than a wrong one in {percent(over_all, 0)} of the pairs: the order "
            "of the scores says nothing",
            len(rows), len(dt), "check that the scores are confidences of this detector",
        )  # fmt: skip


def _partly_reversed(case: Case, image: Places, score: FloatArray, right: NDArray[np.bool_]) -> Iterator[Suspicion]:
    """Images on which right detections have lower scores than wrong ones, while on others they have higher ones.

    Labels can be the reason, too: where most objects of an image have none, a good detector has its best scores beside
    the labels. But then the other scores of these images are as low as elsewhere, and only reversed ones are high.
    """
    images, where, counts = np.unique(image, return_inverse=True, return_counts=True)
    higher, pairs = _pairs(score, right, image)
    some = np.flatnonzero(pairs >= FEWEST_PAIRS)
    # The statistic of Mann and Whitney is about normal.
    clear = (higher - pairs / 2)[some] / np.sqrt(pairs[some] * (counts[some] + 1) / 12)
    reverse, usual = some[clear < -CLEARLY], int((clear > CLEARLY).sum())
    count, total = len(reverse), len(some)
    if count <= most_by_chance(BY_CHANCE * total, 2.0) or 2 * usual < count:
        return
    mean, others = np.bincount(where, score) / counts, score[~np.isin(where, reverse)].mean()
    mirrored = score.min() + score.max() - mean[reverse]
    nearer = 2 * np.count_nonzero(np.abs(mirrored - others) < np.abs(mean[reverse] - others)) > count
    labels = case.labels(images[reverse])
    yield Suspicion(
        "scores_partly_reversed", "likely" if nearer else "possible",
        f"on {count:,} of {total:,} images with at least {FEWEST_PAIRS} pairs of a right and a wrong detection, the "
        f"right ones have clearly lower scores, and clearly higher ones on {usual:,}: chance alone would make either "
        f"on {percent(BY_CHANCE, 0)} of the images. The scores of some images "
        + ("are reversed" if nearer else "may be reversed, or objects there have no label"),
        count, total, "check whether the scores of these images, and of those made with them, are costs",
        examples(labels), labels,
    )  # fmt: skip


def _pairs(score: FloatArray, right: NDArray[np.bool_], group: Places) -> tuple[FloatArray, Places]:
    """(G,) in how many pairs of a right and a wrong detection of a group the right one is higher, (G,) of how many.

    It comes from the ranks, as the statistic of Mann and Whitney. Equal scores count half.
    """
    order = np.lexsort((score, group))
    right, group, score = right[order], group[order], score[order]
    first = np.flatnonzero(np.append(True, np.diff(group) != 0))
    of_group = np.repeat(first, np.diff(np.append(first, len(group))))
    ties = np.flatnonzero(np.append(True, (np.diff(score) != 0) | (np.diff(group) != 0)))
    times = np.diff(np.append(ties, len(group)))
    rank = np.repeat(ties + (times + 1) / 2, times) - of_group  # of equal scores the mean, from 1
    rights = np.add.reduceat(right, first, dtype=np.int64)
    wrongs = np.diff(np.append(first, len(group))) - rights
    higher = np.add.reduceat(np.where(right, rank, 0.0), first) - rights * (rights + 1) / 2
    return higher, rights * wrongs
