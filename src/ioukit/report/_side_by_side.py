"""Images with their objects and the detections of two models, for the page of a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import Outcome, outcomes
from ioukit.evaluation.kinds import find_kind
from ioukit.report._names import shown
from ioukit.report._outlines import FARTHEST, Drawer, picture_size, tenths
from ioukit.report._photographs import Photographs, numbers_of, picture_notes

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation import Evaluation, MatchTable

__all__ = ["Regions", "SideBySide", "Thresholds", "regions", "side_by_side"]

Positions = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_MOST_NUMBERS = 1_200_000  # of boxes, outlines and matches: about four megabytes of the page
_MOST_PHOTOGRAPHS = 5_000_000  # characters of photographs; the list of changes needs the rest of the page

# The sides of the page.
_OBJECT, _IGNORED_OBJECT, _OF_A, _OF_B = range(4)
_FALSE, _IGNORED = -1, -2


@dataclass(frozen=True)
class Thresholds:
    """The IoU threshold and the area range of the page, and the positions of its two sliders."""

    iou: float
    area: str
    scores: tuple[Floats, Floats]
    """(P,) the scores at which each slider stops, in descending order."""


@dataclass(frozen=True)
class Regions:
    """The regions of all images: the objects, then the detections of A, then those of B, image by image."""

    rows: Positions
    """(R, 10) side; the object that a detection matches, -1 for none, -2 if the detection is ignored; the position of
    the slider at which it counts; class; score in thousandths; x, y, width and height in tenths of a pixel; its row in
    the data."""
    starts: Positions
    """(I + 1,) the first region of each image."""
    objects: Positions
    """(G,) place of each object of the match tables among the regions of its image."""
    detections: tuple[Positions, Positions]
    """(N,) place of each detection of A, and of each one of B; -1 for those that no threshold lets count."""

    def of_image(self, image: int) -> Positions:
        """(B, 10) its regions."""
        return self.rows[self.starts[image] : self.starts[image + 1]]


@dataclass(frozen=True)
class SideBySide:
    """The drawn images of a page."""

    images: dict[int, dict[str, Any]]
    """From the position of an image in the match tables to its size, regions and photograph, for the script."""
    style: dict[str, Any]
    """How the script draws regions, and a sentence about it for the reader."""
    notes: list[str]


def regions(tables: tuple[MatchTable, MatchTable], sides: tuple[Any, Any, Any], thresholds: Thresholds) -> Regions:
    """The regions of all images, with what each becomes at every position of the sliders.

    Args:
        tables: The match tables of A and B on the same ground truth.
        sides: The ground truth, the detections of A, those of B.
        thresholds: The thresholds of the page.
    """
    became = [outcomes(table, iou_threshold=thresholds.iou, area_range=thresholds.area) for table in tables]
    objects, count = tables[0].objects, len(tables[0].image_ids)
    columns = [objects.image.astype(np.int64)]
    counted = [np.arange(len(objects))]
    for table, outcome in zip(tables, became, strict=True):
        rows = np.flatnonzero(outcome.detections != Outcome.NOT_COUNTED)
        counted.append(rows)
        columns.append(table.detections.image[rows].astype(np.int64))
    image = np.concatenate(columns)
    order = np.argsort(image, kind="stable")
    starts = np.searchsorted(image[order], np.arange(count + 1))
    place = np.empty(len(image), np.int64)
    place[order] = np.arange(len(image)) - starts[image[order]]
    ends = np.cumsum([len(rows) for rows in counted])
    of_object, *of_models = np.split(place, ends[:-1])

    ignored = became[0].objects == Outcome.IGNORED
    zeros = np.zeros(len(objects), np.int64)
    parts = [
        np.column_stack(
            (
                *(np.where(ignored, _IGNORED_OBJECT, _OBJECT), zeros - 1, zeros, objects.category, zeros),
                *(tenths(sides[0].boxes[objects.row]), objects.row),
            )
        )
    ]
    for number, (table, outcome, rows) in enumerate(zip(tables, became, counted[1:], strict=True)):
        kind, detections = outcome.detections[rows], table.detections
        matched = np.where(kind == Outcome.FALSE_POSITIVE, _FALSE, _IGNORED)
        right = kind == Outcome.TRUE_POSITIVE
        matched[right] = of_object[outcome.matched_object[rows[right]]]
        score, row = detections.score[rows], detections.row[rows]
        stops = thresholds.scores[number]
        reach = np.minimum(np.searchsorted(-stops, -score, side="left"), max(len(stops) - 1, 0))
        thousandths = (score * 1000).clip(-FARTHEST, FARTHEST).round().astype(np.int64)
        side = np.full(len(rows), (_OF_A, _OF_B)[number])
        parts.append(
            np.column_stack(
                (
                    *(side, matched, reach, detections.category[rows], thousandths),
                    *(tenths(sides[number + 1].boxes[row]), row),
                )
            )
        )
    found = []
    for table, rows, places in zip(tables, counted[1:], of_models, strict=True):
        every = np.full(len(table), -1)
        every[rows] = places
        found.append(every)
    return Regions(np.concatenate(parts)[order], starts, of_object, (found[0], found[1]))


def side_by_side(
    evaluations: tuple[Evaluation, Evaluation],
    found: Regions,
    order: Positions,
    *,
    folder: Path | None,
    photographs: int,
) -> SideBySide:
    """Draw images until the page is full.

    Args:
        evaluations: A and B, which hold their data.
        found: The regions.
        order: Positions of images, those to draw first at the beginning.
        folder: The folder of the photographs.
        photographs: How many of the first images get their photographs.
    """
    truth, sides = _data(evaluations)
    table = evaluations[0].matches
    drawer = Drawer(find_kind(table.iou_type), truth, *sides)
    listed = truth.images.positions(table.image_ids)
    photos = Photographs(folder, photographs, _MOST_PHOTOGRAPHS)
    images: dict[int, dict[str, Any]] = {}
    room = _MOST_NUMBERS
    for image in order.tolist():
        rows = found.of_image(image)
        known = truth.images.sizes[int(listed[image])]
        numbers = np.arange(len(rows))
        side = np.maximum(rows[:, 0] - 1, 0)
        drawing = drawer.drawing(np.column_stack([numbers, rows[:, 3:9], side, rows[:, 9]]), known)
        needed = len(drawing["boxes"]) + numbers_of(drawing.get("shapes", [])) + 3 * len(rows)
        if needed > room and images:
            break
        room -= needed
        drawing["regions"] = rows[:, :3].ravel().tolist()
        if not drawer.seen_from_above:
            raw = truth.images.names[int(listed[image])]
            label = shown(raw, f"image {table.image_ids[image]}")
            if photograph := photos.next(raw, label, (float(known[0]), float(known[1]))):
                drawing["thumb"], size = photograph
                if np.isnan(known).any():
                    drawing["w"], drawing["h"] = picture_size(size, np.column_stack([numbers, rows[:, 3:9]]))
        images[image] = drawing
    return SideBySide(images, drawer.style(), list(picture_notes(photos.missing, photos.tried, drawer.left_out)))


def _data(evaluations: tuple[Evaluation, Evaluation]) -> tuple[GroundTruth, list[Detections]]:
    truth, sides = evaluations[0].ground_truth, [evaluation.detections for evaluation in evaluations]
    held = [side for side in sides if side is not None]
    if truth is None or len(held) != len(sides):
        raise ValueError("the evaluations do not hold their data, so images cannot be drawn")
    return truth, held
