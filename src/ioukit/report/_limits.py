"""Intervals of the numbers of a report: which ones, how roughly, and how the page says them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from ioukit._checks import pluralize
from ioukit._words_and_colours import percent
from ioukit.evaluation.class_results import category_labels
from ioukit.report._texts import abbreviate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ioukit.evaluation import Evaluation
    from ioukit.statistics import Interval


# Replicates: fewer for more detections and classes, so that a page of COCO takes less than half as long again.
# With 50, standard errors are rough by about 7 percent, and the bias by a fifth.
_FEWEST, _MOST = 50, 200
_WORK, _CLASS = 3_000_000, 260  # detections in all replicates; a class takes as long as so many


class Limits(NamedTuple):
    """The interval of a number on the page."""

    low: float
    high: float
    words: str
    """Its probability and limits, and whether it is doubtful."""
    doubt: str
    """Why it is doubtful; empty if nothing is known."""


def limited_keys(evaluation: Evaluation) -> list[str]:
    """The keys of the numbers whose intervals a report shows: the headline, and the main number of each class."""
    protocol = evaluation.protocol
    return [*protocol.headline_keys, *class_keys(evaluation)]


def class_keys(evaluation: Evaluation) -> list[str]:
    """The key of the main number of each class."""
    classes = evaluation.matches.evaluated
    labels = category_labels(classes.ids.tolist(), classes.names)
    return [f"{evaluation.protocol.main_measure.key}/{label}" for label in labels]


def few_intervals(evaluation: Evaluation, threads: int | None) -> dict[str, Interval] | str:
    """Intervals from few replicates, or the reason why a report has none."""
    protocol = evaluation.protocol
    if not len(evaluation.matches) or math.isnan(evaluation.summary[protocol.main_measure.key]):
        return {}
    # Otherwise every replicate is written out, which takes as long as an evaluation.
    if not protocol.sums_with_weights(
        measure for measure in protocol.measures if measure.key in protocol.headline_keys
    ):
        asked = "--intervals, or in Python intervals=evaluation.intervals(), shows them"
        return f"those of {abbreviate(protocol.name)} take long; {asked}"
    from ioukit.statistics import intervals  # noqa: PLC0415 - a page without intervals does not need it

    work = len(evaluation.matches) + _CLASS * len(evaluation.per_class) + 1
    replicates = min(max(_WORK // work, _FEWEST), _MOST)
    try:
        found = intervals(evaluation, limited_keys(evaluation), replicates=replicates, threads=threads)
    except ValueError as error:
        return str(error)
    if not known_limits(found):
        return "the objects that count are on one image, which does not show how much another one would differ"
    return found


def known_limits(found: Mapping[str, Interval]) -> dict[str, Limits]:
    """The limits of the intervals that have any, by their keys."""
    limits = {}
    for key, one in found.items():
        if not math.isnan(one.low + one.high):
            words = f"{percent(one.level)}: {one.low:.3f} to {one.high:.3f}"
            words += ", a doubtful interval" if one.warnings else ""
            limits[key] = Limits(one.low, one.high, words, "; ".join(one.warnings))
    return limits


def doubts(found: Mapping[str, Interval], keys: Sequence[str]) -> tuple[str, ...]:
    """What is doubtful about the intervals of some numbers, each reason once, with its numbers if they are not all."""
    reasons = {key: found[key].warnings for key in keys if key in known_limits(found)}
    of = {
        reason: [key for key in reasons if reason in reasons[key]] for listed in reasons.values() for reason in listed
    }
    return tuple(reason if of[reason] == list(reasons) else f"{', '.join(of[reason])}: {reason}" for reason in of)


def interval_settings(found: Mapping[str, Interval]) -> list[tuple[str, str]]:
    """How the intervals were made, for the settings of a page."""
    made = dict.fromkeys(f"{percent(one.level)}, {pluralize(one.replicates, 'replicate')}" for one in found.values())
    return [("Intervals", "; ".join(made))] if made else []
