"""Which images a report draws, and in which order, until the page is full."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ioukit.evaluation import ImageResults, MatchTable
    from ioukit.report._marks import Marks
    from ioukit.report._matrix import Entries

__all__ = ["Choice", "choose_images"]

_MOST_BEST = 24
_MOST_RANDOM = 48
_OTHER_THRESHOLDS = 6


@dataclass(frozen=True)
class Choice:
    """Positions of images in the match table."""

    worst: list[int]
    """Those with the most errors at the threshold of the report, most errors first."""
    best: list[int]
    """Those with the highest F1 there, of these those with the most objects."""
    random: list[int]
    """Some that are drawn by chance, the same ones for the same data."""
    order: list[int]
    """All images that the page names, those to draw first at the beginning."""
    more: list[int]
    """All other images, which are drawn as long as there is room."""


def choose_images(
    table: MatchTable,
    marks: Marks,
    results: ImageResults,
    cells: Sequence[Entries],
    errors: Sequence[Entries],
    *,
    start: int,
    worst: int,
    drawn: bool,
) -> Choice:
    """Choose the images of a report.

    Args:
        table: The matches.
        marks: Their outcomes.
        results: The counts of each image at the threshold of the report.
        cells: The images of the cells of the confusion matrix, errors first.
        errors: The images of the kinds of errors.
        start: The position of that threshold.
        worst: How many of the worst images to show; 0 for no gallery at all.
        drawn: Whether images can be drawn. Otherwise they are only named in lists.
    """
    gallery: list[int] = []
    best: list[int] = []
    random: list[int] = []
    others: list[int] = []
    if drawn and worst:
        gallery = results.worst(worst).tolist()
        f1 = np.where(np.isnan(results.f1), -1, results.f1)
        ranked = np.lexsort((-results.true_positives, -f1))
        best = [image for image in ranked[: min(_MOST_BEST, worst)].tolist() if results.true_positives[image]]
        count = len(table.image_ids)
        random = np.random.default_rng(0).permutation(count)[: min(_MOST_RANDOM, 2 * worst)].tolist()
        positions = len(marks.scores)
        for position in np.unique(np.linspace(0, positions - 1, _OTHER_THRESHOLDS).astype(np.int64)).tolist():
            if position != start:
                others += _worst(table, marks, position, worst)
    by_turns = (*_by_turns(errors), *_by_turns(cells))
    order = list(dict.fromkeys([*gallery, *best, *random, *others, *by_turns]))
    named = np.zeros(len(table.image_ids), np.bool_)
    named[order] = True
    more = np.flatnonzero(~named).tolist() if drawn and worst else []
    return Choice(gallery, best, random, order, more)


def _worst(table: MatchTable, marks: Marks, position: int, most: int) -> list[int]:
    """The images with the most errors at a position."""
    wrong = (marks.outcomes.detections == Outcome.FALSE_POSITIVE) & (marks.reach <= position)
    missed = (marks.outcomes.objects != Outcome.IGNORED) & (marks.found > position)
    count = len(table.image_ids)
    errors: npt.NDArray[np.int64] = np.bincount(table.detections.image[wrong], minlength=count)
    errors = errors + np.bincount(table.objects.image[missed], minlength=count)
    order = np.argsort(-errors, kind="stable")[: min(most, int((errors > 0).sum()))]
    listed: list[int] = order.tolist()
    return listed


def _by_turns(lists: Sequence[Entries]) -> Iterator[int]:
    """The first image of each list, then the second of each, and so on."""
    for turn in itertools.zip_longest(*(entries.image.tolist() for entries in lists)):
        yield from (image for image in turn if image is not None)
