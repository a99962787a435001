"""The report of an evaluation: how good a detector is, which errors it makes, and on which images."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict

import numpy as np

from ioukit._checks import pluralize
from ioukit._output import printable
from ioukit._words_and_colours import overlap_name
from ioukit.evaluation import ERROR_KINDS, outcomes, per_image, score_curves
from ioukit.evaluation.analysis.tide import BACKGROUND_THRESHOLD
from ioukit.report import _by_score, _numbers
from ioukit.report._curves import SliderCurves, page_scores, slider
from ioukit.report._images import choose_images, pictures
from ioukit.report._limits import Limits, doubts, few_intervals, interval_settings, known_limits
from ioukit.report._sources import input_files, input_paths, made_with, name_of, time_text, view_command
from ioukit.report._texts import (
    abbreviate,
    class_name,
    class_names,
    fact_list,
    iou_text,
    rounded,
    score_text,
    value_text,
)
from ioukit.report.writer import Layout, Page, write_page

if TYPE_CHECKING:
    import datetime
    import os
    from collections.abc import Mapping
    from pathlib import Path

    from ioukit.evaluation import ErrorKinds, Evaluation, ImageResults, MatchTable, Measure, ScoreCurves
    from ioukit.statistics import Interval


_NO_NEAR_PAIRS = "The evaluation holds neither its data nor near pairs, so this cannot be shown."
_MOST_TOLD = 3  # confusions on the first screen; the script has the same number
_NOT_RANKED = "The protocol does not read scores, so nothing depends on them."
_NO_OBJECTS = "There are no objects: precision and recall are undefined."


class ErrorSection(_by_score.NewErrors):
    """The kinds of errors."""

    kinds: list[str]
    counts: list[int]
    lost: list[float | None]
    """The AP that each kind costs."""
    images: list[list[int]]
    """For each kind, the images that it leads to: place on the page and position, in turns."""


class MatrixSection(TypedDict):
    """The confusion matrix."""

    classes: list[str]
    objects: list[int]
    floor: int
    cells: list[dict[str, Any]]
    """As :attr:`_by_score.Matrix.cells`, with ``images``: place on the page and position, in turns."""


class Drawn(TypedDict):
    """What the script of a report draws; ``None`` for a section that is missing."""

    classes: list[str]
    iou: float
    ranks: bool
    view: dict[str, Any] | None
    """The command that opens the viewer."""
    scores: list[float]
    """(P,) the positions of the score threshold, highest first."""
    start: int
    """The position when the page is opened."""
    curves: SliderCurves | None
    byIou: _numbers.ApByIou | None
    sizes: list[_by_score.SizeCounts]
    scoreBins: _by_score.ScoreHistogram | None
    reliability: _by_score.Reliability | None
    iouBins: _by_score.IouHistogram | None
    matrix: MatrixSection | None
    errors: ErrorSection | None
    names: list[str]
    """The name of each class in the table, which drawings refer to."""
    images: list[dict[str, Any]]
    worst: list[int]
    """Places of images, those with the most errors first."""
    random: list[int]
    cards: int
    """How many images the gallery shows at once."""
    drawing: dict[str, Any]
    """How regions are drawn."""
    overlap: str
    """What an overlap of two regions is called, such as ``"IoU"``."""


@dataclass(frozen=True, kw_only=True)
class ReportPage(Page):
    """What the template of a report gets."""

    layout: ClassVar[Layout] = Layout(
        "report/report.html.j2",
        ("shared/document.css", "shared/outcomes.css", "shared/controls.css", "shared/zoom.css", "report/report.css"),
        (
            *("shared/words.js", "shared/charts.js", "shared/bars.js", "shared/curves.js", "shared/tables.js"),
            *("shared/commands.js", "shared/downloads.js", "shared/table_pictures.js", "shared/hints.js"),
            *("shared/outcomes.js", "shared/pictures.js", "shared/zoom.js", "report/threshold.js"),
            *("report/operating.js", "report/by_iou.js", "report/confusion.js", "report/regions.js", "report/large.js"),
            *(
                "report/lists.js",
                "report/confusions.js",
                "report/matrix.js",
                "report/errors.js",
                "report/sizes.js",
                "report/histograms.js",
            ),
            *("report/gallery.js", "report/story.js"),
            "report/main.js",
        ),
        "write_report",
    )

    against: str
    """The ground truth that the detections were evaluated against."""
    lead: str
    """How good the detector is, which errors cost most, and what it does at its best score threshold."""
    headline: tuple[_numbers.Tile, ...]
    protocol: str
    ranks: bool
    """Whether detections are ranked: if not, no part is about scores."""
    quantity: str
    """What is shown by size and by IoU: AP, or F1 if nothing is ranked."""
    measures: tuple[tuple[Measure, str, str, str, str], ...]
    """Measure, IoU, area range, cap, value."""
    quantities: dict[str, str]
    """What each measure is, in words, by its key."""
    limits: dict[str, Limits]
    """The intervals that are known, by the keys of their numbers."""
    doubts: tuple[str, ...]
    """What is doubtful about those of the headline."""
    class_columns: tuple[str, ...]
    class_rows: tuple[tuple[str, list[_numbers.Cell]], ...]
    sizes: tuple[_numbers.Bar, ...]
    errors: tuple[_numbers.Bar, ...]
    """Empty if they cannot be computed."""
    error_ap: str
    """The AP without corrections, at the IoU threshold of the errors."""
    iou: str
    """The IoU threshold of curves, matrix, errors and images."""
    score: str
    """The score threshold of the page when it is opened, in words."""
    score_now: str
    """The same as a number."""
    bounds: dict[str, str]
    """What the page leaves out so that it stays small, in words, by the part of the page."""


def write_report(
    evaluation: Evaluation,
    path: str | os.PathLike[str],
    images: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    iou_threshold: float | None = None,
    score_threshold: float | None = None,
    worst: int = 24,
    intervals: Mapping[str, Interval] | None = None,
    created: datetime.datetime | None = None,
    threads: int | None = None,
) -> None:
    """Write one HTML file that shows how good a detector is, which errors it makes, and on which images.

    The file needs no server and no network. With a name that ends in ``.pdf``, an installed Chromium prints the page.
    Needs the extra ``report``.

    Args:
        evaluation: The result of ``evaluate``.
        path: The file to write. After an error it is as it was.
        images: The folder of the photographs, for thumbnails of the worst images; boxes without photographs if
            ``None``.
        title: The heading; the name of the file or folder of the detections if ``None``.
        iou_threshold: IoU threshold of curves, confusion matrix, errors and images, one of the protocol's. If
            ``None``, its main one: 0.5, or the lowest if 0.5 is not among them.
        score_threshold: Detections with this score or a higher one count in the matrix and on the images; the score
            with the best F1 for all classes together if ``None``.
        worst: How many images to show, those with the most errors first.
        intervals: Intervals of its numbers, as :meth:`ioukit.Evaluation.intervals` makes them: those of the headline
            and of the main number of classes are shown. If ``None``, they are made from few replicates, where the
            protocol lets them be made fast. An empty mapping for a page without any.
        created: The time that the report shows; now if ``None``.
        threads: How many threads; all cores if ``None``.

    Raises:
        ValueError: If ``path`` is a folder, is in a folder that does not exist, is a file that the evaluation was read
            from, or is one of the images; if ``images`` is not a folder, the protocol has no such IoU threshold,
            ``score_threshold`` is NaN or ``worst`` is negative, or no browser is there to print a PDF.
        ModuleNotFoundError: If Jinja2, or for photographs Pillow, is not installed.
        OSError: If the file cannot be written.
    """
    write_page(
        path,
        images,
        [source for _, source in input_paths(evaluation)],
        lambda folder: report_data(
            evaluation,
            images=folder,
            title=title,
            iou_threshold=iou_threshold,
            score_threshold=score_threshold,
            worst=worst,
            intervals=intervals,
            created=created,
            threads=threads,
        ),
    )


# Long: one part of the page after the other.
def report_data(
    evaluation: Evaluation,
    *,
    images: Path | None = None,
    title: str | None = None,
    iou_threshold: float | None = None,
    score_threshold: float | None = None,
    worst: int = 24,
    intervals: Mapping[str, Interval] | None = None,
    created: datetime.datetime | None = None,
    threads: int | None = None,
) -> ReportPage:
    """Collect the data of a report; the arguments are those of :func:`write_report`."""
    if worst < 0:
        raise ValueError(f"worst must not be negative, got {worst}")
    if score_threshold is not None and math.isnan(score_threshold):
        raise ValueError("score_threshold must be a number, got nan")
    table, protocol = evaluation.matches, evaluation.protocol
    table.announce("report", threads=threads)
    curves = score_curves(table, iou_threshold=iou_threshold, area_range=protocol.main_area)
    best, iou = curves.overall.best, curves.iou_threshold
    if score_threshold is None:
        # Without true positives, all detections are shown: all of them are errors.
        lowest = float(table.detections.score.min()) if len(table) else 0.0
        score_threshold = lowest if math.isnan(best.score) else best.score
    scripted = _scripted(evaluation, curves, score_threshold, folder=images, worst=worst, threads=threads)
    errors = scripted.errors
    limited = few_intervals(evaluation, threads) if intervals is None else intervals
    known, unlimited = ({}, [f"No intervals: {limited}."]) if isinstance(limited, str) else (limited, [])
    limits = known_limits(known)
    columns, rows = _numbers.class_table(evaluation, curves, limits)
    sources = input_paths(evaluation)
    score = f"with a score of at least {score_text(score_threshold)}" if len(table) else "of any score"
    at_first = f"{overlap_name(table.iou_type)} {iou_text(iou)}, area “{abbreviate(protocol.main_area)}”"
    at_first += f"; at first, detections {score}" if protocol.ranks else ""
    counts = evaluation.counts
    heading = abbreviate(title if title is not None else name_of(sources, "Detections", "Evaluation"))
    return ReportPage(
        title=heading,
        against=name_of(sources, "Ground truth"),
        created=time_text(created),
        facts=fact_list(
            ("image", "images", counts["images"]),
            ("class", "classes", counts["categories"]),
            ("object", "objects", curves.overall.num_ground_truth),
            *([("crowd", "crowds", counts["crowds"])] if counts["crowds"] else []),
            ("detection", "detections", counts["detections"]),
        ),
        lead=_numbers.lead(heading, evaluation, best, errors, limits),
        headline=tuple(_numbers.headline(evaluation, curves, best)),
        protocol=abbreviate(protocol.name),
        ranks=protocol.ranks,
        quantity=_numbers.main_quantity(protocol),
        measures=tuple(_numbers.measure_rows(evaluation)),
        quantities={one.key: _numbers.quantity_words(one, protocol) for one in protocol.measures},
        limits=limits,
        doubts=doubts(known, evaluation.protocol.headline_keys),
        class_columns=tuple(columns),
        class_rows=tuple(rows),
        sizes=tuple(_numbers.size_rows(evaluation, iou_threshold=iou, score_threshold=score_threshold)),
        errors=() if errors is None else tuple(_numbers.error_rows(errors, ranks=protocol.ranks)),
        error_ap="" if errors is None else value_text(errors.ap),
        iou=iou_text(iou),
        score=score,
        score_now=score_text(score_threshold),
        notes=(*map(printable, evaluation.notes), *scripted.notes, *unlimited),
        settings=(
            *_numbers.settings(evaluation),
            ("Curves, matrix, images" if protocol.ranks else "Matrix, images", at_first),
            *interval_settings(known),
            *made_with(),
        ),
        files=input_files(sources),
        missing=scripted.missing,
        bounds=scripted.bounds,
        drawn=scripted.drawn,
    )


@dataclass
class _Scripted:
    """What the script of a report gets, and what the template says about it."""

    drawn: Drawn
    missing: dict[str, str] = field(default_factory=dict)
    bounds: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    errors: ErrorKinds | None = None
    """The kinds of errors, if they are known."""


def _scripted(
    evaluation: Evaluation,
    curves: ScoreCurves,
    score_threshold: float,
    *,
    folder: Path | None,
    worst: int,
    threads: int | None,
) -> _Scripted:
    """Every part of the page at every position of the score threshold.

    Args:
        evaluation: The evaluation.
        curves: Its curves at the IoU threshold and the area range of the page.
        score_threshold: The score threshold of the page when it is opened.
        folder: The folder of the photographs.
        worst: How many images the gallery shows.
        threads: How many threads; all cores if ``None``.
    """
    iou, area = curves.iou_threshold, curves.area_range
    background = min(BACKGROUND_THRESHOLD, iou)
    with_near = _near_matches(evaluation, background, threads)
    table = evaluation.matches if with_near is None else with_near
    scores = page_scores(curves, score_threshold)
    start = int(np.clip(np.searchsorted(-scores, -score_threshold, side="right") - 1, 0, len(scores) - 1))
    marks = _by_score.MarkPositions(table, scores, iou)
    made = _Scripted(
        {
            "classes": [class_name(result.name, result.id) for result in evaluation.per_class],
            "iou": iou,
            "ranks": evaluation.protocol.ranks,
            "view": view_command([evaluation], folder),
            "scores": scores.tolist(),
            "start": start,
            "curves": slider(curves, scores=scores),
            "byIou": _numbers.by_iou(evaluation) if curves.overall.num_ground_truth else None,
            "sizes": _by_score.sizes_by_score(marks),
            "scoreBins": _by_score.score_histogram(marks),
            "reliability": None,
            # What needs near pairs.
            "iouBins": None,
            "matrix": None,
            "errors": None,
            "names": [],
            "images": [],
            "worst": [],
            "random": [],
            "cards": worst,
            "drawing": {},
            "overlap": overlap_name(evaluation.matches.iou_type),
        }
    )
    drawn = made.drawn
    if not evaluation.protocol.ranks:
        drawn["curves"], drawn["scoreBins"] = None, None
        made.missing["curves"] = _NOT_RANKED
    if not curves.overall.num_ground_truth:
        drawn["curves"] = None
        made.missing |= {"curves": _NO_OBJECTS, "iou": _NO_OBJECTS}
    elif drawn["curves"] is None:
        made.missing.setdefault("curves", "No detection counts, so there are no curves.")
    else:
        drawn["curves"]["start"] = start
    ranks = evaluation.protocol.ranks
    reliable = _by_score.reliability(evaluation.matches, iou=iou, area=area) if ranks else _NOT_RANKED
    if isinstance(reliable, str):
        made.missing["reliability"] = reliable
    else:
        drawn["reliability"] = reliable
    if with_near is None:
        made.missing |= dict.fromkeys(("matrix", "errors", "images"), _NO_NEAR_PAIRS)
        return made
    near = _by_score.ErrorPositions(marks, background=background, threads=threads)
    made.errors = near.errors
    became = outcomes(table, iou_threshold=iou, area_range=area, score_threshold=score_threshold)
    matrix = _by_score.matrix_by_score(marks, near, start, threads)
    _add_images(
        made, evaluation, marks, near, matrix, per_image(table, became), start=start, folder=folder, worst=worst
    )
    return made


def _near_matches(evaluation: Evaluation, least: float, threads: int | None) -> MatchTable | None:
    """The match table with near pairs; ``None`` if the evaluation does not have them."""
    try:
        return evaluation.near_matches(least, threads=threads)
    except ValueError:
        return None


# Long: one entry of the data after the other.
def _add_images(
    made: _Scripted,
    evaluation: Evaluation,
    marks: _by_score.MarkPositions,
    near: _by_score.ErrorPositions,
    matrix: _by_score.Matrix,
    results: ImageResults,
    *,
    start: int,
    folder: Path | None,
    worst: int,
) -> None:
    """Add what needs near pairs: the matrix, the errors, the histogram of IoU, and the images they lead to."""
    errors = _by_score.error_entries(marks, near)
    confused_first = sorted(
        zip(matrix.cells, matrix.lists, strict=True), key=lambda pair: pair[0]["true"] == pair[0]["predicted"]
    )
    gallery = worst if evaluation.ground_truth is not None else 0
    told = [int(entries.image[0]) for entries in matrix.most_confused(start, _MOST_TOLD)]
    cells = [entries for _, entries in confused_first]
    choice = choose_images(marks, results, errors, cells, told, start=start, worst=gallery)
    gathered = pictures(evaluation, marks, near, results, choice, folder=folder)

    def listed(entries: _by_score.Entries) -> list[int]:
        pairs = zip(entries.image.tolist(), entries.position.tolist(), strict=True)
        return [number for image, position in pairs for number in (gathered.place[image], position)]

    names = class_names(marks.table.categories)
    for cell, entries in zip(matrix.cells, matrix.lists, strict=True):
        cell["images"] = listed(entries)
    made.notes += gathered.notes
    drawn = made.drawn
    drawn["names"], drawn["images"], drawn["drawing"] = names, gathered.images, gathered.style
    drawn["worst"] = list(range(len(choice.worst)))
    drawn["random"] = [gathered.place[image] for image in choice.random]
    drawn["iouBins"] = _by_score.iou_histogram(marks, near)
    drawn["errors"] = {
        "kinds": list(ERROR_KINDS),
        "counts": [near.errors.counts[kind] for kind in ERROR_KINDS],
        "lost": rounded(near.errors.delta_ap[kind] for kind in ERROR_KINDS),
        "images": [listed(entries) for entries in errors],
        **_by_score.errors_by_score(marks, near),
    }
    if matrix.cells:
        drawn["matrix"] = {
            "classes": names,
            "objects": matrix.objects,
            "floor": matrix.floor,
            "cells": matrix.cells,
        }
    else:
        made.missing["matrix"] = "There are neither objects nor detections to count."
    if matrix.floor < len(marks.scores) - 1:
        made.bounds["matrix"] = (
            f"Below a score threshold of {score_text(float(marks.scores[matrix.floor]))} the matrix stays as it is "
            "there, because the page would be too large otherwise."
        )
    images = len(results)
    if evaluation.ground_truth is None:
        made.missing["images"] = "The evaluation does not hold its data, so images cannot be drawn."
    elif not images:
        made.missing["images"] = "There are no images."
    elif not worst or not gathered.drawn:
        made.missing["images"] = "No images were asked for."
    elif gathered.drawn < images:
        made.bounds["images"] = (
            f"The page holds {gathered.drawn:,} of {pluralize(images, 'image')}, so that it does not become too large: "
            "those with the most errors at several score thresholds, those with the highest F1, some by chance, and "
            "those that cells of the matrix and kinds of errors lead to."
        )
