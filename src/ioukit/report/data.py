"""The data that the page of a report shows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ioukit._output import printable
from ioukit.evaluation import score_curves
from ioukit.report import _numbers
from ioukit.report._drawn import Point, drawn_data
from ioukit.report._names import shown
from ioukit.report._sources import InputFile, input_file, made_with, time_text

if TYPE_CHECKING:
    import datetime
    from collections.abc import Mapping

    from ioukit.evaluation import Evaluation, Measure, ScoreCurves

__all__ = ["InputFile", "ReportData", "input_paths", "report_data"]


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
    """The score threshold of the page when it is opened, in words."""
    score_now: str
    """The same as a number."""
    notes: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    files: tuple[InputFile, ...]
    missing: Mapping[str, str]
    """For each missing part of the page, the reason why it is missing."""
    bounds: Mapping[str, str]
    """What the page leaves out so that it stays small, in words, by the part of the page."""
    drawn: Mapping[str, Any] = field(repr=False)
    """The data of the page's script: numbers, names and lists."""


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
    point = Point(curves.iou_threshold, protocol.main_area, score_threshold)
    drawn = drawn_data(evaluation, curves, point, folder=images, worst=worst, threads=threads)
    errors = drawn.errors
    notes = [printable(note) for note in evaluation.notes] + drawn.notes

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
        score_now=_numbers.score_text(point.score),
        notes=tuple(notes),
        settings=(*_numbers.settings(evaluation), *_made_with(point, score)),
        files=files,
        missing=drawn.missing,
        bounds=drawn.bounds,
        drawn=drawn.data,
    )


def _made_with(point: Point, score: str) -> tuple[tuple[str, str], ...]:
    """The thresholds of the page, and the versions of the software."""
    iou = _numbers.iou_text(point.iou)
    return (
        ("Curves, matrix, images", f"IoU {iou}, area “{shown(point.area)}”; at first, detections {score}"),
        *made_with(),
    )


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
