"""The data that the page of a report shows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._output import printable
from ioukit.evaluation import confusion_matrix, error_kinds, outcomes, score_curves
from ioukit.report import _numbers
from ioukit.report._curves import slider
from ioukit.report._images import matrix_cells, pictures
from ioukit.report._names import shown
from ioukit.report._sources import InputFile, input_file, made_with, time_text

if TYPE_CHECKING:
    import datetime
    from collections.abc import Mapping

    from ioukit.datasets import Categories
    from ioukit.evaluation import ErrorKinds, Evaluation, MatchTable, Measure, ScoreCurves

__all__ = ["InputFile", "ReportData", "input_paths", "report_data"]

_NO_NEAR_PAIRS = "The evaluation holds neither its data nor near pairs, so this cannot be shown."


@dataclass(frozen=True)
class ReportData:
    """The data of the page. Invisible characters in texts are already escaped."""

    title: str
    against: str
    """The ground truth that the detections were evaluated against."""
    created: str
    facts: tuple[tuple[str, str], ...]
    """The numbers of images, classes, objects and detections."""
    lead: str
    """Two sentences: how good the detector is, and which errors cost most."""
    headline: tuple[_numbers.Tile, ...]
    protocol: str
    measures: tuple[tuple[Measure, str, str, str, str], ...]
    """Measure, IoU, area range, cap, value."""
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
    """The score threshold of matrix and images, in words."""
    notes: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    files: tuple[InputFile, ...]
    missing: Mapping[str, str]
    """For each missing part of the page, the reason why it is missing."""
    drawn: Mapping[str, Any] = field(repr=False)
    """The data of the page's script: numbers, names and lists."""


@dataclass(frozen=True)
class _Point:
    """The thresholds and the area range of the curves, the matrix and the images."""

    iou: float
    area: str
    score: float


def input_paths(evaluation: Evaluation) -> list[tuple[str, Path]]:
    """The files that the evaluated data were read from; data from memory have none."""
    sources = (("Ground truth", evaluation.ground_truth), ("Detections", evaluation.detections))
    paths = [(role, Path(source.source)) for role, source in sources if source is not None]
    return [(role, path) for role, path in paths if path.is_file()]


def report_data(
    evaluation: Evaluation,
    *,
    images: Path | None = None,
    title: str | None = None,
    iou_threshold: float | None = None,
    score_threshold: float | None = None,
    worst: int = 24,
    created: datetime.datetime | None = None,
    threads: int | None = None,
) -> ReportData:
    """Collect the data of a report; the arguments are those of :func:`write_report`."""
    if worst < 0:
        raise ValueError(f"worst must not be negative, got {worst}")
    if score_threshold is not None and math.isnan(score_threshold):
        raise ValueError("score_threshold must be a number, got nan")
    table, protocol = evaluation.matches, evaluation.protocol
    curves = score_curves(table, iou_threshold=iou_threshold, area_range=protocol.main_area)
    best = curves.overall.best
    if score_threshold is None:
        # Without true positives, all detections are shown: all of them are errors.
        lowest = float(table.detections.score.min()) if len(table) else 0.0
        score_threshold = lowest if math.isnan(best.score) else best.score
    point = _Point(curves.iou_threshold, protocol.main_area, score_threshold)

    drawn, missing = _curves(evaluation, curves, point)
    notes = [printable(note) for note in evaluation.notes]
    near = _near(evaluation, point, threads)
    errors: ErrorKinds | None = None
    if near is None:
        missing.update(dict.fromkeys(("matrix", "errors", "images"), _NO_NEAR_PAIRS))
    else:
        more, missing_here, more_notes = _boxes(evaluation, near, point, folder=images, worst=worst, threads=threads)
        drawn.update(more)
        missing.update(missing_here)
        notes += more_notes
        errors = _errors(near, point, threads)

    columns, rows = _numbers.class_table(evaluation, curves)
    files = tuple(input_file(role, path) for role, path in input_paths(evaluation))
    by_role = {file.role: file.name for file in files}
    score = f"with a score of at least {_numbers.score_text(point.score)}" if len(table) else "of any score"
    return ReportData(
        title=shown(title if title is not None else by_role.get("Detections", "Evaluation")),
        against=by_role.get("Ground truth", ""),
        created=time_text(created),
        facts=tuple(_facts(evaluation, curves)),
        lead=_numbers.lead(evaluation, best, errors),
        headline=tuple(_numbers.headline(evaluation, curves, best)),
        protocol=shown(protocol.name),
        measures=tuple(_numbers.measure_rows(evaluation)),
        class_columns=tuple(columns),
        class_rows=tuple(rows),
        sizes=tuple(_numbers.size_rows(evaluation, iou_threshold=point.iou, score_threshold=point.score)),
        errors=() if errors is None else tuple(_numbers.error_rows(errors)),
        error_ap="" if errors is None else _numbers.value_text(errors.ap),
        iou=_numbers.iou_text(point.iou),
        score=score,
        notes=tuple(notes),
        settings=(*_numbers.settings(evaluation), *_made_with(point, score)),
        files=files,
        missing=missing,
        drawn=drawn,
    )


def _near(evaluation: Evaluation, point: _Point, threads: int | None) -> MatchTable | None:
    """The match table with near pairs; ``None`` if the evaluation does not have them."""
    try:
        return evaluation.near_matches(_background(point), threads=threads)
    except ValueError:
        return None


def _errors(near: MatchTable, point: _Point, threads: int | None) -> ErrorKinds:
    return error_kinds(
        near,
        iou_threshold=point.iou,
        area_range=point.area,
        background_threshold=_background(point),
        threads=threads,
    )


def _background(point: _Point) -> float:
    """The IoU below which a box is on background: 0.1, but never above the IoU threshold."""
    return min(0.1, point.iou)


def _made_with(point: _Point, score: str) -> tuple[tuple[str, str], ...]:
    """The thresholds of the page, and the versions of the software."""
    iou = _numbers.iou_text(point.iou)
    return (
        ("Curves, matrix, images", f"IoU {iou}, area “{shown(point.area)}”; matrix and images: detections {score}"),
        *made_with(),
    )


def _curves(evaluation: Evaluation, curves: ScoreCurves, point: _Point) -> tuple[dict[str, Any], dict[str, str]]:
    """The data of the curves, and the reasons for missing ones."""
    drawn: dict[str, Any] = {
        "classes": [shown(result.name, f"class {result.id}") for result in evaluation.per_class],
        "names": [],
        "curves": slider(curves),
        "byIou": _numbers.by_iou(evaluation),
        "matrix": None,
        "images": [],
        "worst": [],
        "drawing": {},
    }
    if not curves.overall.num_ground_truth:
        drawn["curves"] = drawn["byIou"] = None
        reason = "There are no objects: precision and recall are undefined."
        return drawn, {"curves": reason, "iou": reason}
    if drawn["curves"] is None:
        return drawn, {"curves": "No detection counts, so there are no curves."}
    scores = np.array(drawn["curves"]["scores"])
    drawn["curves"]["start"] = int(max(np.searchsorted(-scores, -point.score, side="right") - 1, 0))
    return drawn, {}


def _boxes(
    evaluation: Evaluation,
    near: MatchTable,
    point: _Point,
    *,
    folder: Path | None,
    worst: int,
    threads: int | None,
) -> tuple[dict[str, Any], dict[str, str], list[str]]:
    """The data of the matrix and of the images, the reasons for missing parts, and notes."""
    table = evaluation.matches
    confusion = confusion_matrix(near, iou_threshold=point.iou, score_threshold=point.score, threads=threads)
    cells = matrix_cells(confusion)
    became = outcomes(table, iou_threshold=point.iou, area_range=point.area, score_threshold=point.score)
    gathered = pictures(evaluation, became, cells, folder=folder, worst=worst)
    for cell in cells:
        cell["images"] = [[gathered.place[image], times] for image, times in cell["images"]]
    drawn = {
        "names": _names(table.categories),
        "matrix": {"classes": _names(confusion.categories), "cells": cells} if cells else None,
        "images": gathered.images,
        "worst": gathered.worst,
        "drawing": gathered.style,
    }
    missing = {}
    if not cells:
        missing["matrix"] = "There are neither objects nor detections to count."
    if evaluation.ground_truth is None:
        missing["images"] = "The evaluation does not hold its data, so images cannot be drawn."
    elif not gathered.worst:
        missing["images"] = (
            "No image has an error at this score threshold." if len(table.image_ids) else "There are no images."
        )
    return drawn, missing, gathered.notes


def _names(categories: Categories) -> list[str]:
    listed = zip(categories.ids.tolist(), categories.names, strict=True)
    return [shown(name, f"class {number}") for number, name in listed]


def _facts(evaluation: Evaluation, curves: ScoreCurves) -> list[tuple[str, str]]:
    counts = evaluation.counts
    facts = [
        ("image", "images", counts["images"]),
        ("class", "classes", counts["categories"]),
        ("object", "objects", curves.overall.num_ground_truth),
        ("crowd", "crowds", counts["crowds"]),
        ("detection", "detections", counts["detections"]),
    ]
    return [(one if count == 1 else many, f"{count:,}") for one, many, count in facts if count or one != "crowd"]
