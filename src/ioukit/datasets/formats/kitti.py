"""KITTI's label folders: a text file of objects per image, with boxes in the image and in space."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit.datasets.columns._checks import OnInvalid, check_on_invalid
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.text_files import files_in
from ioukit.errors import DatasetError
from ioukit.regions import Boxes3D

__all__ = ["KITTI_NAMES", "read_kitti", "read_kitti_detections", "recognises"]

KITTI_NAMES = ("Car", "Van", "Truck", "Pedestrian", "Person_sitting", "Cyclist", "Tram", "Misc", "DontCare")
"""The names of KITTI's types of objects, in the order of their ids, which are 1 to 9."""

_DONT_CARE = "DontCare"
_NUMBERS = (
    *("truncated", "occluded", "alpha", "left", "top", "right", "bottom"),
    *("height", "width", "length", "x", "y", "z", "rotation_y", "score"),
)
_LABEL_FIELDS = 15
_NO_SIZE = (-1.0, -1.0, -1.0)  # what the development kit writes where there is no box in space


def recognises(path: Path) -> bool:
    """Whether the path is a folder with text files, the first line of which is one of KITTI's."""
    try:
        if not path.is_dir():
            return False
        for file in sorted(path.glob("*.txt")):
            with file.open(encoding="utf-8") as lines:
                words = next((line.split() for line in lines if line.strip()), None)
            if words is not None:
                return len(words) in (_LABEL_FIELDS, _LABEL_FIELDS + 1) and _number(words[0]) is None
    except (OSError, UnicodeDecodeError):
        return False
    return False


def read_kitti(
    path: str | os.PathLike[str],
    *,
    names: Sequence[str] = KITTI_NAMES,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; text files are read one by one
) -> GroundTruth:
    """Read a folder of KITTI's labels, such as ``training/label_2``.

    Each image has a text file. Its lines are ``type truncated occluded alpha left top right bottom height width length
    x y z rotation_y``: the box in the image in pixels, the sizes and the place of the box in space in metres. The place
    is the centre of the bottom face in the camera's coordinates: x to the right, y down, z forward.

    The ids of the images are the names of the files without ``.txt``, as strings. Boxes in space become ``Boxes3D``
    with the axes x to the right, y forward and z up; an object without one gets a box of size 0. The objects have the
    attributes ``truncated``, ``occluded`` and ``alpha``. Areas of the type ``DontCare`` have the flags ``dont_care``
    and ``crowd``, so that other protocols do not look for them.

    Args:
        path: The folder.
        names: The types, in the order of their ids, from 1 on. Upper and lower case are the same.
        on_invalid: ``"error"`` refuses a folder with an invalid line, ``"drop"`` leaves such lines out and counts them.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: Not used.

    Raises:
        DatasetError: If a line is invalid; names file, line and field, what was expected and what came.
        OSError: If a file cannot be read.
    """
    problems = Problems.of(on_invalid)
    files = _files(path, "labels")
    lines = _Lines(names, problems, detections=False)
    for image, file in enumerate(files):
        lines.read(file, image)
    stems = [file.stem for file in files]
    values, dont_care = lines.array(), [names[place] == _DONT_CARE for place in lines.types]
    gt = GroundTruth.from_arrays(
        image_ids=_labels(stems, lines.images),
        category_ids=np.array(lines.types, np.int64) + 1,
        boxes=_pixels(values),
        areas=_pixels(values)[:, 2:].prod(axis=1),
        images=np.array(stems, np.str_),
        names=[file.name for file in files],
        categories=dict(enumerate(names, start=1)),
        # A crowd of a category without detections changes no number of another protocol.
        flags={"dont_care": dont_care, "crowd": dont_care},
        regions=_in_space(values, lines.sizes),
        attributes={
            "truncated": values[:, 0],
            "occluded": values[:, 1].astype(np.int64),
            "alpha": values[:, 2],
        },
        source=os.fspath(path),
    )
    return problems.noted_in(gt)


def read_kitti_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - as above
) -> Detections:
    """Read a folder of results in KITTI's format: lines like those of :func:`read_kitti`, and a score at the end.

    ``truncated`` and ``occluded`` of results mean nothing and are not kept. Where there is no box in space, the sizes
    are -1 or the place is -1000, as the development kit has it.

    Args:
        path: The folder. A text file has the name of its image; an image without one has no detections.
        ground_truth: The data set: it knows the images and the names of the types.
        on_invalid: As for :func:`read_kitti`.
        threads: Not used.

    Raises:
        DatasetError: If a line is invalid, or there is no ``ground_truth``; names file, line and field, what was
            expected and what came.
        OSError: If a file cannot be read.
    """
    check_on_invalid(on_invalid)
    if ground_truth is None:
        raise DatasetError(
            f"{path}: names of images and types need the ground truth: read_detections(folder, ground_truth=...)"
        )
    problems = Problems.of(on_invalid)
    labels = ground_truth.images.labels
    known = {_stem(label): at for at, label in enumerate(labels.tolist())}
    names = ground_truth.categories.names
    lines = _Lines(names, problems, detections=True)
    files = _files(path, "detections")
    for file in files:
        if file.stem in known:
            lines.read(file, known[file.stem])
        else:
            problems.meet("unknown image", f"{file}: {ground_truth.source} lists no image {file.stem}")
    values = lines.array()
    dt = Detections.from_arrays(
        image_ids=labels[np.array(lines.images, np.int64)],
        category_ids=ground_truth.categories.ids[np.array(lines.types, np.int64)],
        boxes=_pixels(values),
        scores=values[:, 14],
        regions=_in_space(values, lines.sizes),
        attributes={"alpha": values[:, 2]},
        source=os.fspath(path),
    )
    missing = len(known.keys() - {file.stem for file in files})
    if missing:
        note = f"{path}: {missing:,} of {len(known):,} images have no file: they count as without detections"
        dt = dataclasses.replace(dt, notes=(*dt.notes, note))
    return problems.noted_in(dt)


def _files(path: str | os.PathLike[str], what: str) -> list[Path]:
    return files_in(path, "*.txt", f"a folder of text files with {what}")


def _stem(label: int | str) -> str:
    """The name of the file of an image: KITTI's numbers have six digits."""
    return label if isinstance(label, str) else f"{label:06d}"


def _labels(stems: Sequence[str], images: Sequence[int]) -> npt.NDArray[np.str_]:
    return np.array(stems or [""], np.str_)[np.array(images, np.int64)]


def _number(word: str) -> float | None:
    """The finite number that a word spells."""
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _finite(words: Sequence[str]) -> list[float] | None:
    """The finite numbers that words spell; ``None`` if one does not."""
    try:
        values = list(map(float, words))
    except ValueError:
        return None
    return values if all(map(math.isfinite, values)) else None


class _Line(NamedTuple):
    """A valid line."""

    place: int
    """The position of the type among the names."""
    values: list[float]
    """Its numbers."""
    in_space: bool
    """Whether it has a box in space."""


class _Lines:
    """The valid lines of all files."""

    def __init__(self, names: Sequence[str], problems: Problems, *, detections: bool) -> None:
        self.places = {name.lower(): at for at, name in enumerate(names)}
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
            lines = path.read_text(encoding="utf-8").split("\n")
        except UnicodeDecodeError as error:
            self.problems.meet("bad file", f"{path}: expected text in UTF-8, found something else: {error}")
            return
        for number, text in enumerate(lines, start=1):
            words = text.split()
            if not words:
                continue
            try:
                line = self._line(words)
            except ValueError as error:
                self.problems.meet("bad line", f"{path}: line {number}: {error}")
                continue
            self.images.append(image)
            self.types.append(line.place)
            self.values.append(line.values)
            self.sizes.append(line.in_space)

    def array(self) -> npt.NDArray[np.float64]:
        """(N, 14) or (N, 15) the numbers."""
        return np.array(self.values, np.float64).reshape(-1, len(self.numbers))

    def _line(self, words: Sequence[str]) -> _Line:
        """A line; raises ValueError without the name of the file."""
        expected = 1 + len(self.numbers)
        if len(words) != expected:
            hint = ""
            if (len(words), expected) == (_LABEL_FIELDS + 1, _LABEL_FIELDS):
                hint = ": labels have no score, results have one"
            elif (len(words), expected) == (_LABEL_FIELDS, _LABEL_FIELDS + 1):
                hint = ": results need a score as the last field"
            raise ValueError(f"expected {expected} fields, found {len(words)}{hint}")
        place = self.places.get(words[0].lower())
        if place is None:
            raise ValueError(f"type: expected one of {', '.join(self.names)}, found {words[0]!r}")
        values = _finite(words[1:])
        if values is None:
            field, word = next(pair for pair in zip(self.numbers, words[1:], strict=True) if _number(pair[1]) is None)
            raise ValueError(f"{field}: expected a finite number, found {word!r}")
        for low in (3, 4):  # left and right, top and bottom
            if values[low + 2] < values[low]:
                first, last = self.numbers[low], self.numbers[low + 2]
                raise ValueError(f"{last}: expected at least {first} ({values[low]:g}), found {values[low + 2]:g}")
        if not values[1].is_integer():
            raise ValueError(f"occluded: expected a whole number, found {values[1]:g}")
        sizes = tuple(values[7:10])
        without = sizes == _NO_SIZE or -1000.0 in values[10:13] or self.names[place] == _DONT_CARE
        if not without and min(sizes) < 0:
            field, size = next(pair for pair in zip(self.numbers[7:10], sizes, strict=True) if pair[1] < 0)
            raise ValueError(f"{field}: expected a size of at least 0, or -1 -1 -1 for none, found {size:g}")
        return _Line(place, values, not without)


def _pixels(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(N, 4) ``[x, y, width, height]``."""
    return np.hstack([values[:, 3:5], values[:, 5:7] - values[:, 3:5]])


def _in_space(values: npt.NDArray[np.float64], sizes: Sequence[bool]) -> Boxes3D | None:
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
