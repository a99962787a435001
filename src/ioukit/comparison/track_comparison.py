"""Compare two or more trackers: the comparison, and its record."""

from __future__ import annotations

import dataclasses
import json
import operator
import string
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ioukit._checks import check_count, check_result, pluralize
from ioukit._columns import Frozen, record
from ioukit.comparison.drawn_sequences import fewest_sequences, measured_differences
from ioukit.comparison.track_changes import track_changes
from ioukit.comparison.track_pair import TrackPair
from ioukit.comparison.track_text import tracks_text
from ioukit.statistics import adjust_p_values
from ioukit.statistics.estimating import check_level
from ioukit.statistics.resampling import check_seed
from ioukit.tracks import TrackEvaluation
from ioukit.tracks.draws import drawn_keys, parts_of

_OF_THE_DATA = ("GT_Dets", "GT_IDs", "Frames")  # the same for all trackers


@record(frozen=True, eq=False, repr=False)
class TrackComparison(Frozen):
    """The result of :func:`compare_tracks`."""

    names: tuple[str, ...]
    """(N,) the names of the trackers, in the order in which they were given."""
    evaluations: tuple[TrackEvaluation, ...]
    """(N,) their evaluations."""
    pairs: tuple[TrackPair, ...]
    """(N - 1,) the first tracker, A, with each of the others, B."""

    def text(self, *, width: int = 100) -> str:
        """The comparison in words and tables for a terminal.

        Args:
            width: How long lines may be: sentences are broken, and columns of tables left out.
        """
        return tracks_text(self.pairs, width=width)

    def notebook_caption(self) -> str:
        """Which tracker is better."""
        return " ".join(pair.verdict() for pair in self.pairs)

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """One row per number of each pair of trackers, with a column for each tracker."""
        trackers = {"": "", **dict.fromkeys(self.names)}
        rows = [{**trackers, **row} for pair in self.pairs for row in pair.notebook_rows()[0]]
        return rows, len(rows)

    def to_dict(self) -> dict[str, Any]:
        """The comparison in plain Python values, ``None`` where a number is undefined."""
        trackers = zip(self.names, self.evaluations, strict=True)
        return {
            "trackers": [{"name": name, **one.to_dict()} for name, one in trackers],
            "pairs": [pair.to_dict() for pair in self.pairs],
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def __repr__(self) -> str:
        numbers = zip(self.names, self.evaluations, strict=True)
        return (
            f"TrackComparison({', '.join(f'{name} {one.main}={one.summary[one.main]:.4f}' for name, one in numbers)})"
        )


def compare_tracks(
    trackers: Mapping[str, TrackEvaluation] | TrackEvaluation,
    *others: TrackEvaluation,
    level: float = 0.95,
    replicates: int = 1000,
    permutations: int = 1000,
    seed: int = 0,
) -> TrackComparison:
    """Compare the first tracker with each of the others: differences of all numbers, and what changed.

    What is drawn is a whole sequence, the same ones for both trackers, because frames of a sequence are alike. The
    p-value comes from a permutation test, which exchanges the results of whole sequences. Where limits and p-value
    disagree, the p-value decides. Fewer than six sequences cannot show a p-value of 0.05 or less;
    :meth:`TrackPair.verdict` then says so. Limits of at most 30 sequences have a warning.

    Args:
        trackers: Evaluations on the same ground truth, by the names of the trackers; at least two. Or the evaluation of
            the first tracker; their names are then letters.
        *others: The evaluations of the other trackers.
        level: The probability with which an interval should hold the true difference, within (0, 1).
        replicates: How many replicates of the bootstrap.
        permutations: How many permutations at most. If there are not more ways to exchange the results, all are tried.
        seed: A whole number of at least 0. The same seed gives the same result.

    Returns:
        The first tracker, A, with each of the others, B. With three or more trackers, the p-value of the main
        number is corrected for the number of pairs by Holm's method.

    Raises:
        TypeError, ValueError: If there are fewer than two trackers, they were not evaluated on the same sequences,
            classes and objects, or a value is out of range.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 6, 11 and 15.
    """
    if not isinstance(trackers, Mapping):
        trackers = dict(zip(string.ascii_uppercase, (trackers, *others), strict=False))
    for one in trackers.values():
        check_result(one, "sequence_names", "ioukit.evaluate_tracks")
    if len(trackers) < 2:
        raise ValueError(f"expected at least two trackers, got {len(trackers)}")
    check_level(level)
    check_count(replicates=replicates, permutations=permutations)
    replicates, permutations, seed = operator.index(replicates), operator.index(permutations), check_seed(seed)
    (name_a, a), *rest = trackers.items()
    compared = tuple(dict.fromkeys((a.main, *(key for key in drawn_keys(a) if key not in _OF_THE_DATA))))
    parts_a, pairs = parts_of(a), []
    for name_b, b in rest:
        _check_same_data(a, b, (name_a, name_b))
        parts_b = parts_of(b)
        numbers = {key: (a.summary[key], b.summary[key]) for key in compared}
        measured = measured_differences(
            parts_a, parts_b, numbers, level=level, replicates=replicates, permutations=permutations, seed=seed
        )
        of_main = measured[a.main]
        pairs.append(
            TrackPair(
                name_a=name_a,
                name_b=name_b,
                a=a,
                b=b,
                differences=tuple(measured[key].difference for key in compared),
                changes=track_changes(a, b),
                num_sequences=of_main.sequences,
                num_differing=len(of_main.exchanges.differing),
                fewest_differing=fewest_sequences(level),
                permutations=of_main.exchanges.tried,
                is_every_permutation=of_main.exchanges.is_every,
                p_smallest=of_main.exchanges.smallest_p_value,
            )
        )
    return TrackComparison(tuple(trackers), tuple(trackers.values()), tuple(_corrected(pairs)))


def _corrected(pairs: Sequence[TrackPair]) -> Sequence[TrackPair]:
    """The pairs; with several of them, their p-values of the main number are corrected for their number."""
    if len(pairs) == 1:
        return pairs
    p_values = [pair.difference.p_value for pair in pairs]
    found = []
    for at, pair in enumerate(pairs):
        others = [*p_values[:at], *p_values[at + 1 :]]
        corrected, least = (float(adjust_p_values([one, *others])[0]) for one in (p_values[at], pair.p_smallest))
        fewest = fewest_sequences(pair.difference.level, others)
        found.append(dataclasses.replace(pair, p_corrected=corrected, p_smallest=least, fewest_differing=fewest))
    return found


def _check_same_data(a: TrackEvaluation, b: TrackEvaluation, names: tuple[str, str]) -> None:
    """Raises `ValueError` if protocols, sequences, classes, frames or objects of two evaluations differ."""
    if a.protocol != b.protocol:
        raise ValueError(
            f"{names[0]} and {names[1]} were evaluated by different protocols: {names[0]} by {a.protocol}, {names[1]} "
            f"by {b.protocol}; evaluate both with the same protocol= (--protocol)"
        )
    sequences = [[f"sequence {name!r}" for name in one.sequence_names] for one in (a, b)]
    _check_listed(sequences[0], sequences[1], names)
    classes = [[f"class {name!r}" for name in one.categories.names] for one in (a, b)]
    _check_listed(classes[0], classes[1], names, "; evaluate both with the same categories=")
    if a.trace is None or b.trace is None:
        raise ValueError("these numbers were made without the data that a comparison needs")
    frames = [np.diff(one.frames.starts).tolist() for one in (a.trace, b.trace)]
    for name, of_a, of_b in zip(a.sequence_names, *frames, strict=True):
        if of_a != of_b:
            raise _not_same(
                names, f"sequence {name!r} has {pluralize(of_a, 'frame')} in {names[0]} and {of_b:,} in {names[1]}"
            )
    objects = [one.objects for one in (a.trace, b.trace)]
    counts = [len(one.rows) for one in objects]
    if counts[0] != counts[1]:
        raise _not_same(names, f"{names[0]} has {pluralize(counts[0], 'object')} and {names[1]} has {counts[1]:,}")
    columns = [(one.columns.starts, one.columns.tracks, one.columns.boxes) for one in objects]
    if not all(np.array_equal(one, other) for one, other in zip(*columns, strict=True)):
        raise _not_same(names, "an object has another class, frame, track, box or kind of region")


def _check_listed(a: Sequence[str], b: Sequence[str], names: tuple[str, str], hint: str = "") -> None:
    for here, there, name in ((a, b, names[0]), (b, a, names[1])):
        alone = [one for one in here if one not in there]
        if alone:
            more = f", and {len(alone) - 1:,} more" if len(alone) > 1 else ""
            raise _not_same(names, f"{alone[0]} is in {name} alone{more}{hint}")


def _not_same(names: tuple[str, str], what: str) -> ValueError:
    return ValueError(f"{names[0]} and {names[1]} were not evaluated on the same ground truth: {what}")
