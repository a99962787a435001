"""The data of the script of a report: curves, matrix, errors, histograms and images at every score threshold."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._checks import pluralize
from ioukit.evaluation import ERROR_KINDS, outcomes, per_image
from ioukit.report import _by_score, _numbers
from ioukit.report._choice import choose_images
from ioukit.report._curves import page_scores, slider
from ioukit.report._images import pictures
from ioukit.report._marks import found_marks, near_marks
from ioukit.report._matrix import Entries, error_entries, matrix_by_score
from ioukit.report._names import shown
from ioukit.report._view_command import view_command

if TYPE_CHECKING:
    from ioukit.datasets import Categories
    from ioukit.evaluation import ErrorKinds, Evaluation, MatchTable, ScoreCurves

__all__ = ["Drawn", "Point", "drawn_data"]

_NO_NEAR_PAIRS = "The evaluation holds neither its data nor near pairs, so this cannot be shown."


@dataclass(frozen=True)
class Point:
    """The thresholds and the area range of the curves, the matrix and the images."""

    iou: float
    area: str
    score: float

    @property
    def background(self) -> float:
        """The IoU below which a box is on background: 0.1, but never above the IoU threshold."""
        return min(0.1, self.iou)


@dataclass
class Drawn:
    """What the script of a page gets."""

    data: dict[str, Any]
    """Numbers, names and lists."""
    missing: dict[str, str] = field(default_factory=dict)
    """For each missing part of the page, the reason why it is missing."""
    notes: list[str] = field(default_factory=list)
    """Notes for the reader."""
    bounds: dict[str, str] = field(default_factory=dict)
    """What the page leaves out so that it stays small, in words, by the part of the page."""
    errors: ErrorKinds | None = None
    """The kinds of errors, if they are known."""


def drawn_data(
    evaluation: Evaluation,
    curves: ScoreCurves,
    point: Point,
    *,
    folder: Path | None,
    worst: int,
    threads: int | None,
) -> Drawn:
    """Collect the data of the script.

    Args:
        evaluation: The evaluation.
        curves: Its curves at the IoU threshold and the area range of the page.
        point: The thresholds of the page when it is opened.
        folder: The folder of the photographs.
        worst: How many images the gallery shows.
        threads: How many threads; all cores if ``None``.
    """
    near = _near(evaluation, point, threads)
    table = evaluation.matches if near is None else near
    scores = page_scores(curves, point.score)
    start = int(np.searchsorted(-scores, -point.score, side="right")) - 1
    start = min(max(start, 0), len(scores) - 1)
    marks = found_marks(table, scores, iou=point.iou, area=point.area)
    drawn = Drawn(
        {
            "classes": [shown(result.name, f"class {result.id}") for result in evaluation.per_class],
            "names": [],
            "iou": point.iou,
            "view": view_command([evaluation], folder),
            "scores": scores.tolist(),
            "start": start,
            "curves": slider(curves, scores=scores),
            "byIou": _numbers.by_iou(evaluation),
            "sizes": _by_score.sizes_by_score(table, marks),
            "scoreBins": _by_score.score_histogram(table, marks),
            "iouBins": None,
            "reliability": None,
            "matrix": None,
            "errors": None,
            "images": [],
            "worst": [],
            "drawing": {},
        }
    )
    _check_curves(drawn, curves)
    reliable = _by_score.reliability(evaluation.matches, iou=point.iou, area=point.area)
    if isinstance(reliable, str):
        drawn.missing["reliability"] = reliable
    else:
        drawn.data["reliability"] = reliable
    if near is None:
        drawn.missing.update(dict.fromkeys(("matrix", "errors", "images"), _NO_NEAR_PAIRS))
        return drawn
    _add_boxes(drawn, evaluation, near, point, start, marks, folder=folder, worst=worst, threads=threads)
    return drawn


def _check_curves(drawn: Drawn, curves: ScoreCurves) -> None:
    """Leave out the curves that are undefined, with the reason; otherwise let them start at the threshold."""
    if not curves.overall.num_ground_truth:
        drawn.data["curves"] = drawn.data["byIou"] = None
        reason = "There are no objects: precision and recall are undefined."
        drawn.missing.update(curves=reason, iou=reason)
    elif drawn.data["curves"] is None:
        drawn.missing["curves"] = "No detection counts, so there are no curves."
    else:
        drawn.data["curves"]["start"] = drawn.data["start"]


def _near(evaluation: Evaluation, point: Point, threads: int | None) -> MatchTable | None:
    """The match table with near pairs; ``None`` if the evaluation does not have them."""
    try:
        return evaluation.near_matches(point.background, threads=threads)
    except ValueError:
        return None


# Long: one entry of the data after the other.
def _add_boxes(
    drawn: Drawn,
    evaluation: Evaluation,
    near: MatchTable,
    point: Point,
    start: int,
    marks: Any,
    *,
    folder: Path | None,
    worst: int,
    threads: int | None,
) -> None:
    """Add what needs near pairs: the matrix, the errors, the histogram of IoU, and the images."""
    found = near_marks(marks, near, background=point.background, threads=threads)
    matrix = matrix_by_score(marks, found, start)
    errors = error_entries(marks, found, near.detections.image.astype(np.int64), near.objects.image.astype(np.int64))
    cells = sorted(
        zip(matrix.cells, matrix.lists, strict=True), key=lambda pair: pair[0]["true"] == pair[0]["predicted"]
    )
    became = outcomes(near, iou_threshold=point.iou, area_range=point.area, score_threshold=point.score)
    results = per_image(near, became)
    choice = choose_images(
        near,
        marks,
        results,
        [entries for _, entries in cells],
        errors,
        start=start,
        worst=worst,
        drawn=evaluation.ground_truth is not None,
    )
    gathered = pictures(evaluation, near, marks, found, results, choice, folder=folder)

    def listed(entries: Entries) -> list[int]:
        place = [gathered.place[image] for image in entries.image.tolist()]
        return np.column_stack([place, entries.position]).astype(np.int64).ravel().tolist() if place else []

    names = _names(near.categories)
    for cell, entries in zip(matrix.cells, matrix.lists, strict=True):
        cell["images"] = listed(entries)
    drawn.errors = found.errors
    drawn.notes += gathered.notes
    drawn.data |= {
        "names": names,
        "iouBins": _by_score.iou_histogram(marks, found),
        "errors": {
            "kinds": list(ERROR_KINDS),
            "counts": [found.errors.counts[kind] for kind in ERROR_KINDS],
            "lost": [_none_for_nan(found.errors.delta_ap[kind]) for kind in ERROR_KINDS],
            "images": [listed(entries) for entries in errors],
            **_by_score.errors_by_score(marks, found),
        },
        "images": gathered.images,
        "worst": list(range(len(choice.worst))),
        "random": [gathered.place[image] for image in choice.random],
        "cards": worst,
        "drawing": gathered.style,
    }
    if matrix.cells:
        drawn.data["matrix"] = {
            "classes": names, "objects": matrix.objects, "floor": matrix.floor, "cells": matrix.cells,
        }  # fmt: skip
    else:
        drawn.missing["matrix"] = "There are neither objects nor detections to count."
    if matrix.floor < len(marks.scores) - 1:
        drawn.bounds["matrix"] = (
            f"Below a score threshold of {_numbers.score_text(float(marks.scores[matrix.floor]))} the matrix stays as "
            "it is there, because the page would be too large otherwise."
        )
    images = len(near.image_ids)
    if evaluation.ground_truth is None:
        drawn.missing["images"] = "The evaluation does not hold its data, so images cannot be drawn."
    elif not images:
        drawn.missing["images"] = "There are no images."
    elif not worst or not gathered.drawn:
        drawn.missing["images"] = "No images were asked for."
    elif gathered.drawn < images:
        drawn.bounds["images"] = (
            f"The page holds {gathered.drawn:,} of {pluralize(images, 'image')}, so that it does not become too large: "
            "those with the most errors at several score thresholds, those with the highest F1, some by chance, and "
            "those that cells of the matrix and kinds of errors lead to."
        )


def _names(categories: Categories) -> list[str]:
    listed = zip(categories.ids.tolist(), categories.names, strict=True)
    return [shown(name, f"class {number}") for number, name in listed]


def _none_for_nan(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 5)
