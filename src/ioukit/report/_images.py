"""Images and their regions: those of the cells of the confusion matrix, and the worst ones."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import Outcome, per_image
from ioukit.evaluation.kinds import find_kind
from ioukit.report._names import shown
from ioukit.report._outlines import FARTHEST, Drawer, picture_size
from ioukit.report._photographs import numbers_of, picture_notes
from ioukit.report._thumbnails import thumbnail

if TYPE_CHECKING:
    from ioukit.evaluation import ConfusionMatrix, Evaluation, Outcomes

__all__ = ["Pictures", "matrix_cells", "pictures"]

Positions = npt.NDArray[np.int64]

_MOST_IMAGES_OF_A_CELL = 100
_MOST_NUMBERS = 700_000  # of boxes and outlines: about three megabytes of the page

# The kinds of boxes on the page: 0 detected object, 1 true positive, 2 false positive, 3 missed object, 4 ignored
# object, 5 ignored detection.
_OF_OBJECT = {Outcome.TRUE_POSITIVE: 0, Outcome.FALSE_NEGATIVE: 3, Outcome.IGNORED: 4}
_OF_DETECTION = {Outcome.TRUE_POSITIVE: 1, Outcome.FALSE_POSITIVE: 2, Outcome.IGNORED: 5}


@dataclass(frozen=True)
class Pictures:
    """The images of a page."""

    images: list[dict[str, Any]]
    """Name, size, counts and boxes of each image, for the script of the page."""
    place: dict[int, int]
    """From the position of an image in the match table to its position in ``images``."""
    worst: list[int]
    """Positions in ``images``, most errors first."""
    style: dict[str, Any]
    """How the script draws regions, and a sentence about it for the reader."""
    notes: list[str]
    """Notes for the reader about missing photographs, and about regions that have nothing to draw."""


def matrix_cells(confusion: ConfusionMatrix) -> list[dict[str, Any]]:
    """The cells that are not empty, with the positions of their images in the match table, most entries first."""
    size, count = len(confusion.counts), max(len(confusion.image_ids), 1)
    cell = confusion.true * size + confusion.predicted
    keys, times = np.unique(cell * count + confusion.image, return_counts=True)
    cells, image = np.divmod(keys, count)
    order = np.lexsort((image, -times, cells))
    cells, image, times = cells[order], image[order], times[order]
    starts = np.flatnonzero(np.diff(cells, prepend=-1))
    totals = np.diff(np.append(starts, len(cells)))
    true, predicted = np.divmod(cells[starts], size)
    rows = np.column_stack([image, times])
    # Only the listed rows become Python lists: there may be millions of rows.
    listed = [
        rows[start : start + min(total, _MOST_IMAGES_OF_A_CELL)].tolist()
        for start, total in zip(starts.tolist(), totals.tolist(), strict=True)
    ]
    counts = np.add.reduceat(times, starts) if len(starts) else times
    columns = (true.tolist(), predicted.tolist(), counts.tolist(), totals.tolist(), listed)
    names = ("true", "predicted", "count", "total", "images")
    return [dict(zip(names, cell, strict=True)) for cell in zip(*columns, strict=True)]


def pictures(
    evaluation: Evaluation, outcomes: Outcomes, cells: list[dict[str, Any]], *, folder: Path | None, worst: int
) -> Pictures:
    """Choose the images of a page and their boxes.

    Args:
        evaluation: The evaluation. Without its data, images have names and counts, but no drawings.
        outcomes: The outcome of each detection and object at the score threshold of the report.
        cells: The cells of the confusion matrix. Their images are listed, and drawn up to a limit on the page's size.
        folder: The folder of the photographs, for the worst images.
        worst: How many of the images with the most errors to show.
    """
    table, truth = evaluation.matches, evaluation.ground_truth
    results = per_image(table, outcomes)
    gallery = [] if truth is None else results.worst(worst).tolist()
    mistakes_first = sorted(cells, key=lambda cell: cell["true"] == cell["predicted"])
    order = list(dict.fromkeys([*gallery, *(image for cell in mistakes_first for image, _ in cell["images"])]))
    images: list[dict[str, Any]] = []
    missing: list[str] = []
    boxes = _boxes(evaluation, outcomes)
    kind = find_kind(table.iou_type)
    detections = () if evaluation.detections is None else (evaluation.detections,)
    drawer = None if truth is None else Drawer(kind, truth, *detections)
    listed: Any = truth.images.positions(table.image_ids) if truth is not None else []
    room, full = _MOST_NUMBERS, False
    for image in order:
        raw = truth.images.names[int(listed[image])] if truth is not None else ""
        record: dict[str, Any] = {
            "name": shown(raw, f"image {table.image_ids[image]}"),
            "tp": int(results.true_positives[image]),
            "fp": int(results.false_positives[image]),
            "fn": int(results.false_negatives[image]),
            "f1": None if math.isnan(results.f1[image]) else round(float(results.f1[image]), 4),
        }
        in_gallery = len(images) < len(gallery)
        if truth is not None and drawer is not None and (in_gallery or not full):
            drawing = drawer.drawing(boxes[image], truth.images.sizes[int(listed[image])])
            needed = len(drawing["boxes"]) + numbers_of(drawing.get("shapes", []))
            if needed <= room or in_gallery:
                room -= needed
                if folder is not None and in_gallery and not drawer.seen_from_above:
                    known = truth.images.sizes[int(listed[image])]
                    photograph = thumbnail(folder, raw, (float(known[0]), float(known[1])))
                    if isinstance(photograph, str):
                        missing.append(f"{record['name']} ({photograph})")
                    else:
                        record["thumb"], photograph_size = photograph
                        if np.isnan(known).any():
                            drawing["w"], drawing["h"] = picture_size(photograph_size, boxes[image])
                record |= drawing
            elif not drawer.draws_boxes:  # outlines take time: none of the remaining images is tried
                full = True
        images.append(record)
    left_out = 0 if drawer is None else drawer.left_out
    notes = list(picture_notes(missing, len(gallery), left_out))
    style = {} if drawer is None else drawer.style()
    return Pictures(images, {image: k for k, image in enumerate(order)}, list(range(len(gallery))), style, notes)


def _boxes(evaluation: Evaluation, outcomes: Outcomes) -> list[Positions]:
    """For each image, (B, 9) of its regions, objects first.

    Kind, class, score in thousandths; x, y, width and height of the box in tenths of a pixel; 0 for an object, 1 for a
    detection; its row in the data.
    """
    table, truth, detections = evaluation.matches, evaluation.ground_truth, evaluation.detections
    if truth is None or detections is None:
        return []
    parts = []
    sides: tuple[tuple[Any, ...], ...] = (
        (table.objects, truth.boxes, outcomes.objects, _OF_OBJECT, np.zeros(len(table.objects))),
        (table.detections, detections.boxes, outcomes.detections, _OF_DETECTION, table.detections.score),
    )
    for side, (rows_of, boxes, became, kinds, scores) in enumerate(sides):
        names = np.full(len(Outcome), -1)
        names[list(kinds)] = list(kinds.values())
        kind = names[became]
        rows = np.flatnonzero(kind >= 0)
        rows = rows[np.argsort(rows_of.row[rows], kind="stable")]  # in the order of the data
        numbers = np.column_stack([scores[rows] * 1000, boxes[rows_of.row[rows]] * 10]).clip(-FARTHEST, FARTHEST)
        whole = numbers.round().astype(np.int64)
        origin = np.full(len(rows), side), rows_of.row[rows]
        parts.append(np.column_stack([rows_of.image[rows], kind[rows], rows_of.category[rows], whole, *origin]))
    together = np.concatenate(parts)
    together = together[np.argsort(together[:, 0], kind="stable")]
    ends = np.searchsorted(together[:, 0], np.arange(len(table.image_ids) + 1))
    return [together[start:end, 1:] for start, end in itertools.pairwise(ends.tolist())]
