"""Images and their boxes: those that the confusion matrix leads to, and the worst."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import Outcome, per_image
from ioukit.report._names import shown
from ioukit.report._thumbnails import thumbnail

if TYPE_CHECKING:
    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation import ConfusionMatrix, MatchTable, Outcomes

__all__ = ["Pictures", "matrix_cells", "pictures"]

Positions = npt.NDArray[np.int64]

_MOST_IMAGES_OF_A_CELL = 100
_MOST_BOXES = 100_000  # three megabytes of page
_FARTHEST = 1e9  # tenths of a pixel; boxes may lie anywhere, pictures need not show it

# What the page calls a box: 0 object found, 1 true positive, 2 false positive, 3 object missed, 4 and 5 an object and a
# detection that do not count.
_OF_OBJECT = {Outcome.TRUE_POSITIVE: 0, Outcome.FALSE_NEGATIVE: 3, Outcome.IGNORED: 4}
_OF_DETECTION = {Outcome.TRUE_POSITIVE: 1, Outcome.FALSE_POSITIVE: 2, Outcome.IGNORED: 5}


@dataclass(frozen=True)
class Pictures:
    """The images of a page."""

    images: list[dict[str, Any]]
    """Name, size, counts and boxes of each, for the page's program."""
    place: dict[int, int]
    """From the position of an image in the match table to that in ``images``."""
    worst: list[int]
    """Positions in ``images``, most errors first."""
    notes: list[str]
    """What a reader should know: photographs that are missing."""


def matrix_cells(confusion: ConfusionMatrix) -> list[dict[str, Any]]:
    """The cells that are not empty, with the positions of their images in the match table, those with most first."""
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
    # Millions of rows may end in few that are listed.
    listed = [
        rows[start : start + min(total, _MOST_IMAGES_OF_A_CELL)].tolist()
        for start, total in zip(starts.tolist(), totals.tolist(), strict=True)
    ]
    counts = np.add.reduceat(times, starts) if len(starts) else times
    columns = (true.tolist(), predicted.tolist(), counts.tolist(), totals.tolist(), listed)
    names = ("true", "predicted", "count", "total", "images")
    return [dict(zip(names, cell, strict=True)) for cell in zip(*columns, strict=True)]


def pictures(
    table: MatchTable,
    ground_truth: GroundTruth,
    detections: Detections,
    outcomes: Outcomes,
    cells: list[dict[str, Any]],
    *,
    folder: Path | None,
    worst: int,
) -> Pictures:
    """Choose the images of a page and say what to draw.

    Args:
        table: The matches.
        ground_truth: What was matched.
        detections: What was matched.
        outcomes: What became of each box at the score of the report.
        cells: Of the confusion matrix; their images are listed, and drawn as far as the page can hold.
        folder: Where photographs are, for the worst images.
        worst: How many of the images with most errors to show.
    """
    results = per_image(outcomes, table, ground_truth, detections)
    gallery = results.worst(worst).tolist()
    mistakes_first = sorted(cells, key=lambda cell: cell["true"] == cell["predicted"])
    order = list(dict.fromkeys([*gallery, *(image for cell in mistakes_first for image, _ in cell["images"])]))
    place = {image: k for k, image in enumerate(order)}
    boxes = _boxes(table, ground_truth, detections, outcomes)
    listed = np.searchsorted(ground_truth.images.ids, table.image_ids[np.array(order, np.int64)]).tolist()
    images: list[dict[str, Any]] = []
    notes: list[str] = []
    room, missing = _MOST_BOXES, []
    for image, row in zip(order, listed, strict=True):
        raw = ground_truth.images.names[row]
        record: dict[str, Any] = {
            "name": shown(raw, f"image {ground_truth.images.ids[row]}"),
            "tp": int(results.true_positives[image]),
            "fp": int(results.false_positives[image]),
            "fn": int(results.false_negatives[image]),
            "f1": None if math.isnan(results.f1[image]) else round(float(results.f1[image]), 4),
        }
        drawn = boxes[image]
        if len(drawn) <= room or len(images) < len(gallery):
            room -= len(drawn)
            size = ground_truth.images.sizes[row]
            if folder is not None and len(images) < len(gallery):
                photograph = thumbnail(folder, raw, (float(size[0]), float(size[1])))
                if isinstance(photograph, str):
                    missing.append(f"{record['name']} ({photograph})")
                else:
                    record["thumb"], photograph_size = photograph
                    size = photograph_size if np.isnan(size).any() else size
            record["w"], record["h"] = _size(size, drawn)
            record["boxes"] = drawn.ravel().tolist()
        images.append(record)
    if missing:
        more = ", ..." if len(missing) > 3 else ""
        notes.append(f"{len(missing):,} of {len(gallery):,} photographs are missing: {', '.join(missing[:3])}{more}")
    return Pictures(images, place, list(range(len(gallery))), notes)


def _boxes(
    table: MatchTable, ground_truth: GroundTruth, detections: Detections, outcomes: Outcomes
) -> list[npt.NDArray[np.int64]]:
    """For each image, (B, 7): what it is, class, score in thousandths, x, y, width and height in tenths of a pixel."""
    categories = ground_truth.categories.ids
    parts = []
    for data, became, kinds, scores in (
        (ground_truth, outcomes.ground_truth, _OF_OBJECT, np.zeros(len(ground_truth))),
        (detections, outcomes.detections, _OF_DETECTION, detections.scores),
    ):
        names = np.full(len(Outcome), -1)
        names[list(kinds)] = list(kinds.values())
        kind = names[became]
        rows = np.flatnonzero(kind >= 0)
        numbers = np.column_stack([scores[rows] * 1000, data.boxes[rows] * 10]).clip(-_FARTHEST, _FARTHEST)
        parts.append(
            np.column_stack(
                [
                    np.searchsorted(table.image_ids, data.image_ids[rows]),
                    kind[rows],
                    np.searchsorted(categories, data.category_ids[rows]),
                    numbers.round().astype(np.int64),
                ]
            )
        )
    together = np.concatenate(parts)
    together = together[np.argsort(together[:, 0], kind="stable")]
    ends = np.searchsorted(together[:, 0], np.arange(len(table.image_ids) + 1))
    return [together[start:end, 1:] for start, end in itertools.pairwise(ends.tolist())]


def _size(size: npt.NDArray[np.float64] | tuple[int, int], boxes: Positions) -> tuple[float, float]:
    """Width and height; where nobody says, what the boxes reach to."""
    if not np.isnan(size).any():
        width, height = np.clip(size, 1, _FARTHEST / 10).tolist()
        return width, height
    if not len(boxes):
        return 100.0, 100.0
    right, bottom = (boxes[:, 3:5] + boxes[:, 5:7]).max(axis=0) / 10
    return max(float(right), 1.0), max(float(bottom), 1.0)
