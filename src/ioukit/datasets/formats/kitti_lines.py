"""The lines of KITTI's text files: words to numbers, and boxes in space with the axes of `Boxes3D`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.text_files import abbreviate, read_lines, refuse, to_number
from ioukit.errors import DatasetError
from ioukit.regions.boxes3d import Boxes3D

__all__ = ["DONT_CARE", "LABEL_FIELDS", "NO_BOX", "KittiLines", "boxes_in_space", "pixels", "space_of_boxes"]

DONT_CARE = "DontCare"
LABEL_FIELDS = 15
NO_BOX = (-1.0, -1.0, -1.0, -1000.0, -1000.0, -1000.0, -10.0)
"""Sizes, place and angle where there is no box in space, as the development kit writes them."""

_NUMBERS = (
    *("truncated", "occluded", "alpha", "left", "top", "right", "bottom"),
    *("height", "width", "length", "x", "y", "z", "rotation_y", "score"),
)


class _Line(NamedTuple):
    """A valid line."""

    place: int
    """The position of the type among the names."""
    values: list[float]
    """Its numbers."""
    in_space: bool
    """Whether it has a box in space."""


class KittiLines:
    """The valid lines of all files."""

    def __init__(self, names: Sequence[str], problems: Problems, *, detections: bool) -> None:
        """Take the names of the types; lines of detections have a score at the end."""
        self.places = {name: at for at, name in enumerate(names)}
        lower = Counter(map(str.lower, names))
        self.lower = {name.lower(): at for at, name in enumerate(names) if lower[name.lower()] == 1}
        self.names = tuple(names)
        self.problems = problems
        self.numbers = _NUMBERS if detections else _NUMBERS[:-1]
        self.images: list[int] = []
        self.types: list[int] = []
        self.values: list[list[float]] = []
        self.sizes: list[bool] = []

    def read(self, path: Path, image: int) -> None:
        """Take the lines of the file of an image."""
        try:
            lines = read_lines(path)
        except DatasetError as error:
            self.problems.meet("bad file", str(error))
            return
        for number, text in enumerate(lines, start=1):
            words = text.split()
            if not words:
                continue
            try:
                line = self._line(words, f"{path}: line {number}")
            except DatasetError as error:
                self.problems.meet("bad line", str(error))
                continue
            self.images.append(image)
            self.types.append(line.place)
            self.values.append(line.values)
            self.sizes.append(line.in_space)

    def array(self) -> npt.NDArray[np.float64]:
        """(N, 14) or (N, 15) the numbers."""
        return np.array(self.values, np.float64).reshape(-1, len(self.numbers))

    def _line(self, words: Sequence[str], where: str) -> _Line:
        expected = 1 + len(self.numbers)
        if len(words) != expected:
            hint = ""
            if (len(words), expected) == (LABEL_FIELDS + 1, LABEL_FIELDS):
                hint = ": labels have no score, results have one"
            elif (len(words), expected) == (LABEL_FIELDS, LABEL_FIELDS + 1):
                hint = ": results need a score as the last field"
            refuse(where, f"{expected} fields", f"{len(words)}{hint}")
        place = self.places.get(words[0], self.lower.get(words[0].lower()))
        if place is None:
            refuse(f"{where}: type", f"one of {', '.join(self.names)}", abbreviate(words[0]))
        values = [to_number(word, f"{where}: {name}") for name, word in zip(self.numbers, words[1:], strict=True)]
        for low in (3, 4):  # left and right, top and bottom
            if values[low + 2] < values[low]:
                first, last = self.numbers[low], self.numbers[low + 2]
                refuse(f"{where}: {last}", f"at least {first} ({values[low]:g})", f"{values[low + 2]:g}")
        if not values[1].is_integer():
            refuse(f"{where}: occluded", "a whole number", f"{values[1]:g}")
        sizes = tuple(values[7:10])
        without = sizes == NO_BOX[:3] or NO_BOX[3] in values[10:13] or self.names[place] == DONT_CARE
        if not without and min(sizes) < 0:
            field, size = next(pair for pair in zip(self.numbers[7:10], sizes, strict=True) if pair[1] < 0)
            refuse(f"{where}: {field}", "a size of at least 0, or -1 -1 -1 for none", f"{size:g}")
        return _Line(place, values, not without)


def pixels(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(N, 4) ``[x, y, width, height]``: right minus left, without the 1 of inclusive pixels, as KITTI evaluates."""
    return np.hstack([values[:, 3:5], values[:, 5:7] - values[:, 3:5]])


def boxes_in_space(values: npt.NDArray[np.float64], sizes: Sequence[bool]) -> Boxes3D | None:
    """The boxes in space, of size 0 where a line has none; ``None`` if no line has one.

    The axes are x to the right, y forward and z up. So rotation_y, which turns forward to the right where it is
    positive, is the yaw, clockwise as seen from above, with the same bits.
    """
    if not any(sizes):
        return None
    height, width, length, right, down, forward, turned = values[:, 7:14].T
    boxes = np.stack([right, forward, -down, length, width, height, turned], axis=1)
    boxes[~np.array(sizes, np.bool_)] = 0.0
    return Boxes3D(boxes, z="bottom", unit="radians", sense="clockwise")


def space_of_boxes(boxes: Boxes3D) -> npt.NDArray[np.float64]:
    """(N, 7) height, width, length, x, y, z, rotation_y: the inverse; :data:`NO_BOX` for boxes of size 0."""
    array = boxes.convert(z="bottom", unit="radians", sense="clockwise").numpy().astype(np.float64)
    right, forward, up, length, width, height, turned = array.T
    values = np.stack([height, width, length, right, -up, forward, turned], axis=1)
    values[(values[:, :3] == 0).all(axis=1)] = NO_BOX
    return values
