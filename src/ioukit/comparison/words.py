"""The result of a comparison in sentences, for terminals, pages and Markdown.

Owns: every sentence about differences, and how its numbers are rounded. Does not own: tables, and which sentence stands
where (`model_text.py`, `track_text.py`, `report`). Cut here so that terminal, page and Markdown say the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from ioukit._checks import agree, pluralize
from ioukit._words_and_colours import overlap_of, percent
from ioukit.statistics import Interval
from ioukit.statistics.detectable import alarm, fewest_clusters, fewest_permutations

if TYPE_CHECKING:
    from ioukit.comparison.drawn_sequences import TrackDifference
    from ioukit.comparison.object_changes import Changes
    from ioukit.comparison.splitting import Parts
    from ioukit.comparison.track_changes import TrackChanges
    from ioukit.statistics import Difference
    from ioukit.statistics.differences import ComparedNumber


EQUAL = 1e-12
_MOST_IMAGES = 10_000_000


def outcome(
    difference: ComparedNumber, *, lower_is_better: bool = False, p_corrected: float | None = None
) -> Literal["better", "worse", ""]:
    """What the test shows of the second model; empty if it cannot tell the two apart. The arguments are `verdict`'s."""
    decides = difference.p_value if p_corrected is None else p_corrected
    return "" if decides > alarm(difference.level) else leaning(difference, lower_is_better=lower_is_better)


def leaning(difference: ComparedNumber, *, lower_is_better: bool = False) -> Literal["better", "worse", ""]:
    """Whether the number of the second model is better or worse, by chance or not; empty if they are equal."""
    if math.isnan(difference.difference) or abs(difference.difference) < EQUAL:
        return ""
    return "better" if (difference.difference > 0) != lower_is_better else "worse"


def verdict(
    difference: Difference,
    names: tuple[str, str],
    num_images: int,
    permutations: int,
    *,
    is_every: bool = False,
    num_clusters: int | None = None,
    lower_is_better: bool = False,
    p_corrected: float | None = None,
    shortage: str = "",
) -> str:
    """Which model is better, by how much, and how often chance alone would show as much.

    Args:
        difference: The difference, the second model minus the first.
        names: The names of both models.
        num_images: On how many images they were evaluated.
        permutations: How many permutations the p-value comes from.
        is_every: Whether these are all that there are.
        num_clusters: How many clusters of images were drawn and exchanged; each image alone if ``None``.
        lower_is_better: Whether a lower number is better, as a miss rate is.
        p_corrected: The p-value corrected for the number of pairs of models, which decides; ``None`` if it is the only
            pair.
        shortage: Why the test cannot show any difference, see :func:`shortage_of`.

    Returns:
        Two sentences, and a third one if the interval says the opposite; one if the numbers are equal or undefined.
    """
    a, b = names
    key, gain = difference.key, difference.difference
    if math.isnan(gain):
        return f"{key} is undefined: there are no objects to find."
    numbers = f"{difference.a:.3f} to {difference.b:.3f}"
    if abs(gain) < EQUAL:
        doubt = f" (difference {with_error(difference)})" if _leaves_open(difference) else ""
        return f"{a} and {b} have the same {key}, {difference.a:.3f}{doubt}."
    amount = f"{with_error(difference)} of {key}"
    cases = chance(difference.p_value, permutations, is_every=is_every)
    often = f"hance alone would show as much in {cases}{correction_words(difference, p_corrected)}."
    shown = outcome(difference, lower_is_better=lower_is_better, p_corrected=p_corrected)
    side = "higher" if gain > 0 else "lower"
    if shortage:
        return f"{shortage}. {b} is {side} by {amount} ({numbers}), and c{often}"
    if is_denied(difference, shown=bool(shown)):
        often += f" The p-value decides this, though the interval {contains(shown=bool(shown))} 0."
    if shown:
        return f"{b} is {shown} than {a} by {amount} ({numbers}). C{often}"
    clusters, needed = num_clusters or num_images, difference.images_needed
    if needed is not None:  # as many clusters as have so many images
        needed = math.ceil(needed * clusters / num_images)
    would = would_tell_apart(needed, is_shown=difference.is_significant, is_corrected=p_corrected is not None)
    first = f"{sample_size(clusters, num_images)} cannot tell {a} and {b} apart{would}."
    return f"{first} {b} is {side} by {amount} ({numbers}), and c{often}"


def correction_words(difference: ComparedNumber, p_corrected: float | None) -> str:
    """The p-value that decides, as the end of a clause; empty if that of the pair alone says the same."""
    own = difference.p_value
    matters = p_corrected is not None and own <= alarm(difference.level) and p_corrected > own
    return f"; corrected for the number of pairs, p is {p_corrected:.3f}" if matters else ""


def shortage_of(level: float, permutations: int, clusters: int, images: int, tests: int = 1) -> str:
    """Why a permutation test cannot show any difference, however large, as a clause; empty if it can.

    Args:
        level: 1 minus the probability of a false alarm.
        permutations: How many permutations there are.
        clusters: How many images, or clusters of images, are exchanged.
        images: How many images there are.
        tests: By which number the smallest p-value is multiplied, as it is one of so many.
    """
    few, least = sample_size(clusters, images), fewest_clusters(level, tests)
    if clusters >= least:
        few, least = pluralize(permutations, "permutation"), fewest_permutations(level, tests)
        if permutations >= least:
            return ""
    pairs = " with so many pairs to compare" if tests > 1 else ""
    return f"{few} cannot show any difference{pairs}; at least {least:,} are needed"


def sample_size(clusters: int, images: int) -> str:
    """Of what size a sample is: ``"80 images"``, or ``"12 clusters"`` if images are drawn and exchanged in clusters."""
    return pluralize(clusters, "image" if clusters == images else "cluster")


def tests_in(models: int, correction: str) -> int:
    """By which number the smallest p-value of all pairs of models is multiplied, see :func:`shortage_of`."""
    # Benjamini and Hochberg do not enlarge p-values that are all as small.
    return max(models * (models - 1) // 2, 1) if correction in ("holm", "westfall-young") else 1


def is_denied(difference: ComparedNumber, *, shown: bool) -> bool:
    """Whether the interval says the opposite of the test; false if it is undefined."""
    low, high = difference.low, difference.high
    return low <= 0 <= high if shown else low > 0 or high < 0


def contains(*, shown: bool) -> str:
    """What an interval does that :func:`is_denied` finds."""
    return "contains" if shown else "does not contain"


def interval_note(level: float) -> str:
    """What the number behind ± is."""
    return f"± is half the {percent(level)} interval; a point is 0.01."


def ranking_sentence(
    key: str, names: Sequence[str], values: Sequence[float], letters: Sequence[str], shortage: str = ""
) -> str:
    """Which model is best, and which others cannot be told apart from it.

    Args:
        key: The key of the number.
        names: The names of the models, the best first.
        values: Their numbers.
        letters: The letters of their groups, see :attr:`Ranking.letters`.
        shortage: Why the tests cannot show any difference, see :func:`shortage_of`.
    """
    if math.isnan(values[0]):
        return f"{key} is undefined: there are no objects to find."
    count = sum(abs(value - values[0]) < EQUAL for value in values)
    best, others = list(names[:count]), len(names) - count
    number = f"{key}, {values[0]:.3f}"
    if not others:
        return f"{_listed(best)} have the same {number}."
    first = f"{_listed(best)} {agree(count, 'have')} the best {number}"
    if shortage:
        return f"{first}, but {shortage}."
    of_best = [set(marks) for marks in letters[:count]]
    open_ = [
        (name, sum(bool(set(marks) & one) for one in of_best))
        for name, marks in zip(names[count:], letters[count:], strict=True)
    ]
    equal = [name for name, alike in open_ if alike]
    it, they_are = ("it", "it is") if count == 1 else ("them", "they are")
    if any(0 < alike < count for _, alike in open_):
        it = "all of them"
    if not equal:
        rest = names[-1] if others == 1 else "both others" if others == 2 else "all others"
        return f"{first}; {they_are} better than {rest}."
    if len(equal) == others > 1 and it != "all of them":
        return f"{first}, but {'neither' if others == 2 else 'none'} of the others can be told apart from {it}."
    return f"{first}; {_listed(equal)} cannot be told apart from {it}."


def corrected_by(correction: str) -> str | None:
    """Whose method corrects p-values for their number; ``None`` if they are not corrected."""
    return {
        "westfall-young": "Westfall and Young",
        "holm": "Holm",
        "benjamini-hochberg": "Benjamini and Hochberg",
    }.get(correction)


def ranking_note(names: Sequence[str], intervals: Sequence[Interval], level: float, correction: str) -> str:
    """What intervals and letters of a ranking mean.

    Args:
        names: The names of the models.
        intervals: The number of each model.
        level: 1 minus the probability of a false alarm.
        correction: How the p-values of all pairs are corrected.
    """
    corrected = corrected_by(correction)
    tests = "" if corrected is None else f", corrected for the number of pairs by {corrected}"
    letters = (
        f"Models with a common letter cannot be told apart: permutation tests of all pairs at {percent(1 - level)}"
        f"{tests}."
    )
    return " ".join(filter(None, (bias_sentence(intervals), letters, interval_doubts(names, intervals, level))))


def bias_sentence(intervals: Sequence[Interval]) -> str:
    """Why numbers do not lie in the middle of their intervals; empty if they do."""
    sizes = {"high": [one.bias for one in intervals], "low": [-one.bias for one in intervals]}
    sides = []
    for side, of_side in sizes.items():
        ends = sorted({f"{size:.3f}" for size in of_side if size > 0}, key=float)
        if ends:
            sides.append(f"too {side}, by about {' to '.join(dict.fromkeys((ends[0], ends[-1])))}")
    if not sides:
        return ""
    return f"Intervals are for endlessly many images: {intervals[0].key} of this many is {', or '.join(sides)}."


def interval_doubts(names: Sequence[str], intervals: Sequence[Interval | Difference], level: float) -> str:
    """Which intervals may be wrong more often than they say, and why; it may be empty.

    Args:
        names: What the intervals are of.
        intervals: The intervals.
        level: Their level.
    """
    sentences = [_without_limits(names, intervals)]
    if doubtful := _by_warnings(names, intervals, defined=True):
        first, alike = next(iter(doubtful.items()))
        reasons = "; ".join(first) if len(alike) == len(names) else _with_reasons(doubtful, len(names))
        sentences.insert(0, f"{_doubt(level)}: {reasons}.")
    return " ".join(filter(None, sentences))


def _without_limits(names: Sequence[str], intervals: Sequence[Interval | Difference | TrackDifference]) -> str:
    """Which numbers have no interval, and why; empty if all that are defined have one."""
    without = _by_warnings(names, intervals, defined=False)
    return f"Without an interval: {_with_reasons(without, len(names))}." if without else ""


def point_of_view(changes: Changes, names: tuple[str, str], thresholds: tuple[str, str]) -> str:
    """At which thresholds objects are found.

    Args:
        changes: What changed.
        names: The names of the models.
        thresholds: The score threshold of each, see :func:`threshold_text`.
    """
    (a, low), (b, high) = zip(names, thresholds, strict=True)
    if low and high:
        scores = f"scores of at least {low}" if low == high else f"scores of at least {low} ({a}) and {high} ({b})"
    else:
        of_a, of_b = (f"scores of at least {text}" if text else "all scores" for text in thresholds)
        scores = of_a if of_a == of_b else f"{of_a} ({a}) and {of_b} ({b})"
    return f"What changed at {overlap_of(changes.iou_type, f'{changes.iou_threshold:g}')}, with {scores}:"


def chance(p_value: float, permutations: int, *, is_every: bool = False) -> str:
    """A p-value in words: ``"2 of 1,000 cases"``, or ``"2 of 32 cases"`` where these are all.

    Args:
        p_value: Within (0, 1].
        permutations: How many permutations it comes from; the smallest p-value is 1 / (1 + permutations).
        is_every: Whether these are all that there are, besides the data itself.
    """
    if is_every:
        cases = round(p_value * (1 + permutations))
        return "every case" if cases == 1 + permutations else f"{cases:,} of {1 + permutations:,} cases"
    if p_value <= 1.0000001 / (1 + permutations):
        return f"at most 1 of {max(permutations, 2):,} cases"
    total = min(1000, 1 + permutations)
    cases = max(round(total * p_value), 1)
    return "nearly every case" if cases >= 0.99 * total else f"{cases} of {total:,} cases"


def points(value: float, digits: int = 1) -> str:
    """A number within [0, 1] in points without a sign: ``"0.6 points"`` for 0.006."""
    text = f"{abs(100 * value):.{digits}f}"
    return f"{text} point" if text == "1" else f"{text} points"


def signed_points(value: float, digits: int = 2) -> str:
    """A difference in points with its sign: ``"+0.60"`` for 0.006; ``"0.00"`` without a sign."""
    text = f"{100 * value:+.{digits}f}"
    return text[1:] if not float(text) else text


def detectable_sentence(difference: Difference, sample: str) -> str:
    """How large a difference must be for this data to show it; empty if that is undefined.

    Args:
        difference: The difference.
        sample: The size of the data, see :func:`sample_size`.
    """
    if not math.isfinite(difference.detectable) or difference.detectable <= 0:
        return ""
    size = points(difference.detectable, digits_for(100 * difference.detectable))
    often = f"{percent(difference.power)} of samples of {sample}"
    return f"A true difference of {size} of {difference.key} would show in {often}."


def verdict_notes(difference: Difference, sample: str, *, alone: bool = True) -> str:
    """What a verdict needs to be understood: how large a difference can be seen, and what ± is. It may be empty.

    Args:
        difference: The difference.
        sample: The size of the data, see :func:`sample_size`.
        alone: Whether it is the only one. Among several, p-values are corrected, and a difference must be larger.
    """
    if math.isnan(difference.difference) or (abs(difference.difference) < EQUAL and not _leaves_open(difference)):
        return ""
    notes = [detectable_sentence(difference, sample)] if alone else []
    if _shows_error(difference):
        notes.append(interval_note(difference.level))
    return " ".join(filter(None, notes))


def doubt_sentence(found: Sequence[Difference | TrackDifference], level: float) -> str:
    """Which intervals may be wrong more often than they say, and why; and which the test denies. It may be empty."""
    keys = [one.key for one in found]
    doubtful = _by_warnings(keys, found, defined=True)
    number = sum(not math.isnan(one.low) for one in found)
    sentences = [f"{_doubt(level)}: {_with_reasons(doubtful, number)}."] if doubtful else []
    if without := _without_limits(keys, found):
        sentences.append(without)
    if denied := [one.key for one in found if is_denied(one, shown=one.is_significant)]:
        sentences.append(f"Interval and p-value disagree about a difference of {_listed(denied)}; the p-value decides.")
    return " ".join(sentences)


def _by_warnings(
    names: Sequence[str], intervals: Sequence[Interval | Difference | TrackDifference], *, defined: bool
) -> dict[tuple[str, ...], list[str]]:
    """The names of the numbers with warnings, by these: of those with an interval, or of those without one."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name, one in zip(names, intervals, strict=True):
        number = one.value if isinstance(one, Interval) else one.difference
        if one.warnings and not math.isnan(number) and math.isnan(one.low) != defined:
            found.setdefault(one.warnings, []).append(name)
    return found


def _with_reasons(doubtful: Mapping[tuple[str, ...], Sequence[str]], number: int) -> str:
    """The names that share reasons, each group with them; reasons that all of the number of names have come first."""
    every = number if number > 2 else 0  # shorter than their list
    common = set.intersection(*map(set, doubtful)) if sum(map(len, doubtful.values())) == every else set[str]()
    groups: dict[tuple[str, ...], list[str]] = {}
    for reasons, names in doubtful.items():
        for kept in ([one for one in reasons if one in common], [one for one in reasons if one not in common]):
            if kept:
                groups.setdefault(tuple(kept), []).extend(names)
    ranked = sorted(groups.items(), key=lambda group: not common.issuperset(group[0]))
    return ", ".join(
        f"{'all' if len(names) == every else _listed(names)} ({'; '.join(reasons)})" for reasons, names in ranked
    )


def _doubt(level: float) -> str:
    return f"Intervals that may miss the true value in more than {percent(1 - level)} of cases"


def change_sentences(
    changes: Changes, names: tuple[str, str], *, same_boxes: bool, same_but_for_order: bool = False
) -> list[str]:
    """What became of the objects and the false positives, and whether only scores differ."""
    a, b = names
    count = changes.counts
    found = count["found"] + count["right_class_now"]
    lost = count["lost"] + count["other_class_now"]
    both = count["still_found"] + count["better_placed"] + count["worse_placed"]
    lines = ["Both have the same boxes: only scores differ."] if same_boxes else []
    if same_but_for_order:
        lines = ["Both have the same boxes and scores: only their order differs, which decides between equal scores."]
    lines += [
        f"{b} misses {_many(lost, 'object')} that {a} finds, and finds {_many(found, 'object')} that {a} misses."
        + f" Both find {_none(both)}; both miss {_none(count['still_missed'])}."
    ]
    better, worse = count["better_placed"], count["worse_placed"]
    if better or worse:
        least = overlap_of(changes.iou_type, f"at least {changes.placement:g}")
        lines.append(
            f"Of those that both find, {_none(better)} {_are(better)} better placed and {_none(worse)} {_are(worse)} "
            f"worse placed, by {least}."
        )
    right, other = count["right_class_now"], count["other_class_now"]
    if other:
        lines.append(f"{b} gives another class to {pluralize(other, 'object')} to which {a} gives the right one.")
    if right:
        lines.append(f"{b} gives the right class to {pluralize(right, 'object')} to which {a} gives another one.")
    new, gone, still = (count[f"{kind}_false_positive"] for kind in ("new", "gone", "still"))
    stay = "stays" if still == 1 else "stay"
    lines.append(
        f"{b} has {_many(new, 'new false positive')}; {_none(gone)} of {a} {_are(gone)} gone, {_none(still)} {stay}."
    )
    return lines


def needed_sentence(difference: TrackDifference, *, is_corrected: bool) -> str:
    """How many sequences would show a difference; empty if it is 0 or undefined.

    Args:
        difference: The difference.
        is_corrected: Whether the p-value is corrected for the number of pairs, which this number is not.
    """
    one = difference
    if not abs(one.difference) >= EQUAL:
        return ""
    if one.sequences_needed is None:
        return f"How many sequences would show this difference of {one.key} cannot be told from these."
    alone = ", if this pair were the only one" if is_corrected else ""
    return (
        f"If this difference of {one.key} is the true one, {about(one.sequences_needed)} sequences of this kind "
        f"would show it with a probability of 0.8{alone}."
    )


def track_change_sentences(changes: TrackChanges, names: tuple[str, str]) -> list[str]:
    """What became of the objects and of the switches of ids."""
    a, b = names
    count = changes.counts
    lost, found, both, neither = (count[name] for name in ("lost", "found", "still_found", "still_missed"))
    new, gone, still = (count[f"{kind}_switches"] for kind in ("new", "gone", "still"))
    return [
        f"{b} misses {_many(lost, 'object')} that {a} follows, and follows {_many(found, 'object')} that {a} misses. "
        f"Both follow {_none(both)}; both miss {_none(neither)}. An object counts in each of its frames.",
        f"Switches of ids: {new:,} of {b} alone, {gone:,} of {a} alone, {still:,} of both.",
    ]


def spread_sentence(parts: Parts) -> str:
    """How exact the parts are; empty if nothing was spread."""
    if abs(parts.spread) < EQUAL:
        return ""
    share = parts.spread / abs(parts.difference) if abs(parts.difference) > EQUAL else math.inf
    of_it = f" ({percent(share, 0)} of the difference)" if share <= 1 else ""
    return f"{points(parts.spread, 2)}{of_it} belong to no part alone and are spread over all in proportion."


def with_error(difference: ComparedNumber) -> str:
    """The size of a difference with half its interval: ``"0.6 ± 0.4 points"``."""
    size, half = 100 * abs(difference.difference), 50 * (difference.high - difference.low)
    if not _shows_error(difference):
        return points(difference.difference, digits_for(size))
    digits = digits_for(min(value for value in (size, half) if value > 0))
    return f"{size:.{digits}f} ± {half:.{digits}f} points"


def _leaves_open(difference: ComparedNumber) -> bool:
    """Whether numbers that are equal here may differ elsewhere, and by how much is known."""
    return _shows_error(difference) and difference.high - difference.low > EQUAL


def _shows_error(difference: ComparedNumber) -> bool:
    """Whether half the interval stands behind the size of a difference: not if it is undefined or not symmetric."""
    is_cut = difference.low == -1 or difference.high == 1
    return math.isfinite(difference.high - difference.low) and not is_cut


def digits_for(size: float) -> int:
    """So many digits behind the point that a number does not look like 0: at least one, at most four."""
    return min(max(1, -math.floor(math.log10(size))), 4) if size > 0 else 1


def would_tell_apart(needed: int | None, *, is_shown: bool, is_corrected: bool) -> str:
    """What would tell two models apart, as the end of a clause; empty if that is unknown.

    Args:
        needed: How many images or sequences a test of this pair alone needs.
        is_shown: Whether such a test shows the difference with those that there are.
        is_corrected: Whether the p-value is corrected for the number of pairs, which ``needed`` is not.
    """
    if is_shown:  # so only the correction denies it, and the number does not say how many that takes
        return ", with so many pairs to compare"
    alone = " and no other pair is compared" if is_corrected else ""
    return f"; {about(needed)} would, if this difference is the true one{alone}" if needed else ""


def about(images: int | None) -> str:
    """A number of images with two digits that count."""
    if images is None:
        return ""
    if images > _MOST_IMAGES:
        return f"more than {_MOST_IMAGES:,}"
    step = 10 ** max(len(str(images)) - 2, 0)
    return f"about {-(-images // step) * step:,}"


def _listed(names: Sequence[str]) -> str:
    """``"a"``, ``"a and b"``, ``"a, b and c"``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def threshold_text(threshold: float, scores: npt.NDArray[np.float64]) -> str:
    """A score threshold with two decimals, or with as many as choose the same detections; empty for all scores."""
    if math.isinf(threshold):
        return ""
    below = float(np.max(scores, where=scores < threshold, initial=-math.inf))
    for digits in range(2, 17):
        step = 10.0**-digits
        for text in (f"{threshold:.{digits}f}", f"{threshold - step / 2:.{digits}f}"):
            if below < float(text) <= threshold:
                return text
    return repr(threshold)


def _many(number: int, noun: str) -> str:
    return pluralize(number, noun) if number else f"no {noun}"


def _none(number: int) -> str:
    return f"{number:,}" if number else "none"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
