"""The pictures of a page: the outlines of marks as the script draws them, and small photographs.

Files outside of the folder of photographs are never opened, see `_picture_files.py`.
"""

from __future__ import annotations

import base64
import io
import itertools
import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._array_types import Floats, Positions
from ioukit._optional import import_extra
from ioukit.evaluation import Outline, Outlines
from ioukit.evaluation.kinds import find_kind
from ioukit.evaluation.outlines.masks import simplified
from ioukit.evaluation.outlines.outline import grid_step, ground_frame
from ioukit.report._picture_files import file_within, small_copy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ioukit.datasets import Detections, GroundTruth


Thumbnail = tuple[str, tuple[int, int]]
"""A ``data:`` address, and the width and height of the photograph."""

_FARTHEST = 1e9  # tenths of a pixel; what is farther away is not drawn exactly
_COARSE = 1.0  # pixels: outlines of masks leave out points that are nearer than this to the line between others
_ACROSS = 1000.0  # the longer side of a view from above, in units of the page
# Thumbnails are large enough to be viewed alone, small enough that two dozen need one or two megabytes.
_SIDE = 720
_QUALITY = 80

_WORDS = {
    "ground": "The scenes are seen from above. The numbers of the grid are metres. A line in a box shows its heading.",
    "points": "Hollow points are hidden keypoints.",
}


class Drawer:
    """Makes the outlines of a page, image by image.

    Args:
        kind: The name of the kind of region that is drawn.
        truth: The ground truth.
        detections: The detections, if there are any to draw: of one model or of several.
    """

    def __init__(self, kind: str, truth: GroundTruth, *detections: Detections) -> None:
        self._kind, self._truth = find_kind(kind), truth
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
            rows: (B, 9) kind, class and score of each mark, the four numbers of its box in tenths of a pixel, 0 for
                an object or the number of the detections, 1 for the first, and its row in the data; objects first.
            known: (2,) width and height of the image, NaN if unknown.
        """
        boxes = rows[:, :7]
        width, height = picture_size(known, boxes)
        if self.draws_boxes:
            return {"w": width, "h": height, "boxes": boxes.ravel().tolist()}
        return self.drawn(self.outlines(rows[:, 7], rows[:, 8]), boxes, (width, height))

    def outlines(self, sides: Positions, rows: Positions) -> Outlines:
        """The outlines of the marks of one image.

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


class Photographs:
    """Puts photographs beside drawings until a page has enough of them. Each image is asked for once.

    Args:
        drawer: Makes the drawings. Views from above get no photographs.
        truth: The ground truth, which has the names and sizes of the images.
        folder: The folder of the photographs; none are read if ``None``.
        most: The largest number of photographs.
        characters: The largest number of characters of all together, as they stand in the page.
    """

    def __init__(
        self,
        drawer: Drawer,
        truth: GroundTruth,
        folder: Path | None,
        *,
        most: int = sys.maxsize,
        characters: int = sys.maxsize,
    ) -> None:
        self._drawer, self._images, self._folder = drawer, truth.images, folder
        self._left, self._room = most, characters
        self._known: dict[int, Thumbnail | None] = {}
        self._missing: list[str] = []

    @property
    def tried(self) -> int:
        """How many photographs were asked for."""
        return len(self._known)

    def beside(self, drawing: dict[str, Any], image: int, label: str, rows: Positions) -> str | None:
        """The address that holds the photograph of an image; ``None`` if it is missing or the page has enough.

        Args:
            drawing: The drawing of the image. It gets the size of the photograph if the data set does not know its own.
            image: The position of the image in the ground truth's list.
            label: The name that a reader sees.
            rows: (B, 7 or more) the rows of the drawing.
        """
        if self._folder is None or self._drawer.seen_from_above:
            return None
        width, height = self._images.sizes[image].tolist()
        if image not in self._known:
            if not self._left or self._room <= 0:
                return None
            made = thumbnail(self._folder, self._images.names[image], (width, height))
            if isinstance(made, str):
                self._missing.append(f"{label} ({made})")
            else:
                self._left -= 1
                self._room -= len(made[0])
            self._known[image] = None if isinstance(made, str) else made
        found = self._known[image]
        if found is None:
            return None
        if np.isnan([width, height]).any():
            drawing["w"], drawing["h"] = picture_size(found[1], rows[:, :7])
        return found[0]

    def notes(self) -> list[str]:
        """A note about missing photographs, if there are any."""
        if not self._missing:
            return []
        more = ", ..." if len(self._missing) > 3 else ""
        words = ", ".join(self._missing[:3])
        return [f"{len(self._missing):,} of {self.tried:,} photographs are missing: {words}{more}"]


def picture_notes(photographs: Photographs, drawer: Drawer) -> list[str]:
    """Notes about missing photographs, and about regions that have nothing to draw."""
    notes, count = photographs.notes(), drawer.left_out
    if count:
        words = "region cannot be drawn and is" if count == 1 else "regions cannot be drawn and are"
        notes.append(f"{count:,} {words} left out.")
    return notes


def thumbnail(folder: Path, name: str, expected: tuple[float, float] | None = None) -> Thumbnail | str:
    """A small copy of a photograph, or the reason why it is missing.

    The name comes from a data set and cannot be trusted. So only a file within the folder is opened, only as an image
    of a common format, and not if its unpacked size is enormous. The copy has no EXIF data, so no location. It is
    rotated by its EXIF orientation only if the data set lists the rotated size. In that case the boxes refer to the
    rotated photograph, otherwise to the stored pixels.

    Args:
        folder: The folder of the photographs.
        name: The name of the photograph within the folder.
        expected: The width and height of the image in the data set, NaN if unknown.
    """
    import_extra("PIL", extra="report", needed_by="a report with images")
    # For a broken photograph, Pillow may raise errors of many kinds. The report is written without it.
    try:
        path = file_within(folder, name)
        if path is None:
            return "not in the folder"
        small, size = small_copy(path, _SIDE, expected, needed_by="a report with images")
        file = io.BytesIO()
        small.save(file, "JPEG", quality=_QUALITY, optimize=True)
    except Exception as error:
        return f"cannot be read: {type(error).__name__}"
    return "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode("ascii"), size


def picture_size(size: Floats | tuple[int, int], boxes: Positions) -> tuple[float, float]:
    """Width and height; if they are not known, the extent of the boxes."""
    width, height = map(float, size)
    if not math.isnan(width + height):
        return min(max(width, 1.0), _FARTHEST / 10), min(max(height, 1.0), _FARTHEST / 10)
    if not len(boxes):
        return 100.0, 100.0
    right, bottom = (boxes[:, 3:5] + boxes[:, 5:7]).max(axis=0) / 10
    return max(float(right), 1.0), max(float(bottom), 1.0)


def tenths(values: Floats) -> Positions:
    """Numbers in tenths, as the script of a page reads them."""
    whole: Positions = (values * 10).clip(-_FARTHEST, _FARTHEST).round().astype(np.int64)
    return whole


def thousandths(scores: Floats) -> Positions:
    """Scores in thousandths, as the script of a page reads them."""
    whole: Positions = (scores * 1000).clip(-_FARTHEST, _FARTHEST).round().astype(np.int64)
    return whole


def numbers_of(drawing: dict[str, Any]) -> int:
    """How many numbers the boxes and outlines of a drawing have."""
    shapes = drawing.get("shapes", ())
    lists = [part for shape in shapes for part in (*shape.get("rings", ()), shape.get("lines"), shape.get("points"))]
    return len(drawing["boxes"]) + sum(len(part) for part in lists if part)


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
