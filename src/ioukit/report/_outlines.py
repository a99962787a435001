"""The outlines of regions, as the script of a page draws them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import Outline, Outlines
from ioukit.evaluation.outlines.ground import grid_step, ground_frame
from ioukit.evaluation.outlines.tracing import simplified

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation import Kind

__all__ = ["FARTHEST", "Drawer", "picture_size", "tenths"]

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]

FARTHEST = 1e9  # tenths of a pixel; regions farther away are not drawn exactly
_COARSE = 1.0  # pixels: outlines of masks leave out points that are nearer than this to the line between others
_ACROSS = 1000.0  # the longer side of a view from above, in units of the page

_WORDS = {
    "ground": "The scenes are seen from above. The numbers of the grid are metres. A line in a box shows its heading.",
    "points": "Hollow points are hidden keypoints.",
}


class Drawer:
    """Makes the outlines of a page, image by image.

    Args:
        kind: The kind of region that is drawn.
        truth: The ground truth.
        detections: The detections, if there are any to draw: of one model or of several.
    """

    def __init__(self, kind: Kind, truth: GroundTruth, *detections: Detections) -> None:
        self._kind = kind
        self._truth = truth
        self._sides: tuple[GroundTruth | Detections, ...] = (truth, *detections)
        self._filled = self._ground = self._points = False
        self.left_out = 0
        """How many regions of the images so far have nothing to draw."""

    @property
    def draws_boxes(self) -> bool:
        """Whether the regions are drawn as upright boxes, which need no outlines."""
        return self._kind.outlines is None

    @property
    def seen_from_above(self) -> bool:
        """Whether one of the images so far shows the ground."""
        return self._ground

    def style(self) -> dict[str, Any]:
        """How the page draws all images, and a sentence for the reader."""
        words = _WORDS["ground"] if self._ground else _WORDS["points"] if self._points else ""
        return {"filled": self._filled, "ground": self._ground, "words": words}

    def drawing(self, rows: Positions, known: Floats) -> dict[str, Any]:
        """The size, the boxes and the outlines of an image, for the script of the page.

        Args:
            rows: (B, 9) kind, class and score of each region, the four numbers of its box in tenths of a pixel, 0 for
                an object or the number of the detections, 1 for the first, and its row in the data; objects first.
            known: (2,) width and height of the image, NaN if unknown.
        """
        boxes = rows[:, :7]
        width, height = picture_size(known, boxes)
        if self.draws_boxes:
            return {"w": width, "h": height, "boxes": boxes.ravel().tolist()}
        return self.drawn(self.outlines(rows[:, 7], rows[:, 8]), boxes, (width, height))

    def outlines(self, sides: Positions, rows: Positions) -> Outlines:
        """The outlines of the regions of one image.

        Args:
            sides: (B,) 0 for objects, 1 for detections, 2 for those of a second model; in ascending order.
            rows: (B,) their rows in the data.
        """
        parts = [
            self._kind.outlines_of(side[rows[sides == number]], self._truth) for number, side in enumerate(self._sides)
        ]
        found = Outlines.joined(parts)
        self._filled |= found.filled
        self._ground |= found.view == "ground"
        self._points |= any(len(outline.points) for outline in found)
        return found

    def drawn(self, outlines: Outlines, boxes: Positions, size: tuple[float, float]) -> dict[str, Any]:
        """The entries of an image for the script of the page: its size, boxes, outlines and grid.

        Args:
            outlines: (B,) the outlines.
            boxes: (B, 7 or more) the rows of the page; the four columns of boxes are replaced by the boxes around the
                outlines. Further columns stay as they are.
            size: Width and height of the image; views from above have their own.
        """
        shown = np.array([not outline.is_empty for outline in outlines], np.bool_)
        self.left_out += int((~shown).sum())
        bounds = np.array([outline.bounds for outline in outlines]).reshape(-1, 4)[shown]
        chosen = [outline for outline in outlines if not outline.is_empty]
        boxes, entries = boxes[shown], {}
        place, scale = np.zeros(2), np.ones(2)
        if outlines.view == "ground":
            left, top, right, bottom = ground_frame(bounds)
            factor = _ACROSS / max(right - left, top - bottom)
            place, scale = np.array([left, top]), np.array([factor, -factor])
            size = (right - left) * factor, (top - bottom) * factor
            entries["grid"] = _grid((left, top, right, bottom), factor)
        corners = (bounds.reshape(-1, 2, 2) - place) * scale
        low, high = corners.min(axis=1), corners.max(axis=1)
        order = np.arange(len(chosen))
        if outlines.filled:  # a small mask is not covered by a large one
            order = np.argsort(-(high - low).prod(axis=1), kind="stable")
        around = tenths(np.concatenate([low, high - low], axis=1))
        numbers = np.concatenate([boxes[:, :3], around, boxes[:, 7:]], axis=1)[order]
        rings = [(ring - place) * scale for row in order.tolist() for ring in chosen[row].rings]
        coming = iter(simplified(rings, _COARSE) if outlines.filled else rings)
        shapes = [_shape(chosen[row], place, scale, coming) for row in order.tolist()]
        return {"w": size[0], "h": size[1], "boxes": numbers.ravel().tolist(), "shapes": shapes, **entries}


def picture_size(size: Floats | tuple[int, int], boxes: Positions) -> tuple[float, float]:
    """Width and height; if they are not known, the extent of the boxes."""
    if not np.isnan(size).any():
        width, height = np.clip(size, 1, FARTHEST / 10).tolist()
        return width, height
    if not len(boxes):
        return 100.0, 100.0
    right, bottom = (boxes[:, 3:5] + boxes[:, 5:7]).max(axis=0) / 10
    return max(float(right), 1.0), max(float(bottom), 1.0)


def tenths(values: Floats) -> Positions:
    """Numbers in tenths, as the script of a page reads them."""
    whole: Positions = (values * 10).clip(-FARTHEST, FARTHEST).round().astype(np.int64)
    return whole


def _shape(outline: Outline, place: Floats, scale: Floats, rings: Iterator[Floats]) -> dict[str, Any]:
    """The outline in tenths of a unit, as flat lists of numbers; points have a third number, 1 if they are hollow.

    Args:
        outline: The outline.
        place: (2,) the point of the data that is the upper left corner of the image.
        scale: (2,) units of the page per unit of the data.
        rings: As many rings in units of the page as the outline has are taken from these.
    """
    found: dict[str, Any] = {}
    if outline.rings:
        found["rings"] = [tenths(ring).ravel().tolist() for ring in itertools.islice(rings, len(outline.rings))]
    if len(outline.lines):
        found["lines"] = tenths((outline.lines - place) * scale).ravel().tolist()
    if len(outline.points):
        hollow = np.zeros(len(outline.points)) if outline.hollow is None else outline.hollow
        points = tenths((outline.points - place) * scale)
        found["points"] = np.column_stack([points, hollow.astype(np.int64)]).ravel().tolist()
    return found


def _grid(frame: tuple[float, float, float, float], factor: float) -> dict[str, Any]:
    """The lines of the grid: for each its place in units of the page, and its number as text."""
    left, top, right, bottom = frame
    step = grid_step(max(right - left, top - bottom))

    def lines(first: float, last: float) -> list[float]:
        return [float(step * k) for k in range(int(np.ceil(first / step)), int(np.floor(last / step)) + 1)]

    return {
        "x": [[round((x - left) * factor, 1), f"{x:g}"] for x in lines(left, right)],
        "y": [[round((top - y) * factor, 1), f"{y:g}"] for y in lines(bottom, top)],
    }
