"""Everything that the page shows, before it is a page."""

from __future__ import annotations

import datetime
import hashlib
import math
import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import _core
from ioukit._output import printable
from ioukit.evaluation import confusion_matrix, error_kinds, outcomes, score_curves
from ioukit.report import _numbers
from ioukit.report._curves import slider
from ioukit.report._images import matrix_cells, pictures

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ioukit.evaluation import ErrorKinds, Evaluation
    from ioukit.evaluation.summary import Measure

__all__ = ["InputFile", "ReportData", "input_paths", "report_data"]


@dataclass(frozen=True)
class InputFile:
    """A file that the numbers came from."""

    role: str
    name: str
    """Without its folder, which concerns nobody the report is sent to."""
    size: int
    """Bytes."""
    sha256: str
    """Of its bytes at the time of the report, in hexadecimal digits."""


@dataclass(frozen=True)
class ReportData:
    """What the page shows. Text is as it will be read: what cannot be seen is written as an escape."""

    title: str
    against: str
    """What the detections were judged by."""
    created: str
    facts: tuple[tuple[str, str], ...]
    """What there was, and how much of it."""
    lead: str
    """What it comes to."""
    headline: tuple[_numbers.Tile, ...]
    coco: tuple[tuple[Measure, str, str], ...]
    """Measure, IoU, value."""
    class_columns: tuple[str, ...]
    class_rows: tuple[tuple[str, list[_numbers.Cell]], ...]
    sizes: tuple[_numbers.Bar, ...]
    errors: tuple[_numbers.Bar, ...]
    """Empty where the data was not kept."""
    error_ap: str
    """The AP that the errors are measured at."""
    iou: str
    """The IoU threshold of curves, matrix, errors and images."""
    score: str
    """The score threshold of matrix and images."""
    notes: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    files: tuple[InputFile, ...]
    missing: Mapping[str, str]
    """Part of the page, and why it is not there."""
    drawn: Mapping[str, Any] = field(repr=False)
    """What the page's program draws: numbers, names and lists, nothing else."""


def input_paths(evaluation: Evaluation) -> list[tuple[str, Path]]:
    """The files that the evaluation was read from, as far as it was."""
    sources = (("Ground truth", evaluation.ground_truth), ("Detections", evaluation.detections))
    paths = [(role, Path(source.source)) for role, source in sources if source is not None]
    return [(role, path) for role, path in paths if path.is_file()]


def report_data(
    evaluation: Evaluation,
    *,
    images: Path | None = None,
    title: str | None = None,
    iou: float | None = None,
    score_threshold: float | None = None,
    worst: int = 24,
    created: datetime.datetime | None = None,
    threads: int | None = None,
) -> ReportData:
    """Gather what a report shows.

    Args:
        evaluation: The result to report.
        images: Folder of the photographs, for the worst images; outlines alone if ``None``.
        title: The heading; the name of the detections' file if ``None``.
        iou: IoU threshold of curves, matrix, errors and images, one of the protocol's; 0.5 where the protocol has it
            and else its lowest if ``None``.
        score_threshold: Detections with this score or a higher one count in the matrix and on the images, and the
            slider begins there; the score of the best F1 of all classes together if ``None``.
        worst: How many images to show, most errors first.
        created: The time of the report; now if ``None``.
        threads: How many threads; all cores if ``None``.

    Raises:
        ValueError: If the protocol has no such IoU threshold, or ``worst`` is negative.
    """
    table, protocol = evaluation.matches, evaluation.protocol
    if worst < 0:
        raise ValueError(f"worst must not be negative, got {worst}")
    if iou is None:
        iou = 0.5 if 0.5 in protocol.iou_thresholds else protocol.iou_thresholds[0]
    labels = [area.label for area in protocol.area_ranges]
    area = "all" if "all" in labels else labels[0]
    curves = score_curves(table, iou=iou, area=area)
    best = curves.overall.best
    if score_threshold is None:
        # Where nothing is found every detection is shown: all of them are errors.
        lowest = float(table.score.min()) if len(table) else 0.0
        score_threshold = lowest if math.isnan(best.score) else best.score

    notes, missing = [printable(note) for note in evaluation.notes], {}
    drawn: dict[str, Any] = {
        "classes": [printable(result.name) or f"class {result.id}" for result in evaluation.per_class],
        "names": [],
        "curves": slider(curves),
        "byIou": _numbers.by_iou(evaluation),
        "matrix": None,
        "images": [],
        "worst": [],
    }
    if drawn["curves"] is not None:
        scores = np.array(drawn["curves"]["scores"])
        drawn["curves"]["start"] = int(max(np.searchsorted(-scores, -score_threshold, side="right") - 1, 0))
    else:
        missing["curves"] = "There is no detection that counts, so there is no curve."
    if not table.num_ground_truth[:, labels.index(area)].any():
        drawn["curves"], drawn["byIou"] = None, None
        missing["curves"] = missing["iou"] = "There is no object to find: precision and recall are undefined."

    errors: ErrorKinds | None = None
    ground_truth, detections = evaluation.ground_truth, evaluation.detections
    if ground_truth is None or detections is None:
        reason = "The evaluation does not hold the boxes that it was made of, so this cannot be shown."
        missing.update(matrix=reason, errors=reason, images=reason)
    else:
        drawn["names"] = [
            printable(name) or f"class {number}"
            for number, name in zip(ground_truth.categories.ids.tolist(), ground_truth.categories.names, strict=True)
        ]
        confusion = confusion_matrix(
            ground_truth,
            detections,
            iou_threshold=iou,
            score_threshold=score_threshold,
            categories=table.category_ids.tolist(),
            images=table.image_ids,
            threads=threads,
        )
        cells = matrix_cells(confusion)
        became = outcomes(table, ground_truth, detections, iou=iou, area=area, score_threshold=score_threshold)
        shown = pictures(table, ground_truth, detections, became, cells, folder=images, worst=worst)
        notes += shown.notes
        drawn["images"], drawn["worst"] = shown.images, shown.worst
        if not shown.worst:
            missing["images"] = (
                "There is no image." if not len(table.image_ids) else "No image has an error at this score."
            )
        names = [
            printable(name) or f"class {number}"
            for number, name in zip(confusion.categories.ids.tolist(), confusion.categories.names, strict=True)
        ]
        for cell in cells:
            cell["images"] = [[shown.place[image], times] for image, times in cell["images"]]
        drawn["matrix"] = {"classes": names, "cells": cells}
        if not cells:
            drawn["matrix"] = None
            missing["matrix"] = "There is neither an object nor a detection to count."
        if "all" in labels:
            errors = error_kinds(
                table,
                ground_truth,
                detections,
                iou_threshold=iou,
                background_threshold=min(0.1, iou),
                threads=threads,
            )
        else:
            missing["errors"] = "The protocol has no area range “all”, which the kinds of errors need."

    columns, rows = _numbers.class_table(evaluation, curves)
    files = tuple(_input_file(role, path) for role, path in input_paths(evaluation))
    by_role = {file.role: file.name for file in files}
    now = created or datetime.datetime.now(datetime.timezone.utc)
    versions = {
        "ioukit": _core.__version__,
        "Python, NumPy": f"{platform.python_version()}, {np.__version__}",
        "System": f"{platform.system()} {platform.machine()}",
    }
    shown_settings = _numbers.settings(evaluation, versions)
    at = (
        "Curves, matrix, images",
        f"IoU {iou:.4g}, area “{printable(area)}”, score {_numbers._score(score_threshold)} or more",
    )
    counts = evaluation.counts
    objects = int(table.num_ground_truth[:, labels.index(area)].sum())
    facts = [("images", counts["images"]), ("classes", counts["categories"]), ("objects", objects)]
    facts += [("crowds", counts["crowds"])] if counts["crowds"] else []
    facts += [("detections", counts["detections"])]
    return ReportData(
        title=printable(title if title is not None else by_role.get("Detections", "Evaluation")),
        against=by_role.get("Ground truth", ""),
        created=f"{now:%Y-%m-%d %H:%M}" + (f" {now:%Z}" if now.tzinfo is not None else ""),
        facts=tuple(
            (name if number != 1 else {"classes": "class"}.get(name, name[:-1]), f"{number:,}")
            for name, number in facts
        ),
        lead=_numbers.lead(evaluation, best, errors),
        headline=tuple(_numbers.headline(evaluation, curves, best)),
        coco=tuple(_numbers.coco_rows(evaluation)),
        class_columns=tuple(columns),
        class_rows=tuple(rows),
        sizes=tuple(_numbers.size_rows(evaluation)),
        errors=() if errors is None else tuple(_numbers.error_rows(errors)),
        error_ap="" if errors is None else _numbers.text(errors.ap),
        iou=f"{iou:.2f}",
        score=_numbers._score(score_threshold),
        notes=tuple(notes),
        settings=(*shown_settings[: -len(versions)], at, *shown_settings[-len(versions) :]),
        files=files,
        missing=missing,
        drawn=drawn,
    )


def _input_file(role: str, path: Path) -> InputFile:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return InputFile(role, printable(path.name), path.stat().st_size, digest.hexdigest())
