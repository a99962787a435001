"""KITTI's label folders: a text file of objects per image, with boxes in the image and in space."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit.datasets.columns._checks import OnInvalid
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.image_names import ImageFinder
from ioukit.datasets.formats.known_names import ClassIds, required
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.recognising import first_words
from ioukit.datasets.formats.text_files import (
    abbreviate,
    files_in,
    is_number,
    names_of,
    read_lines,
    refuse,
    shorter,
    to_number,
    words_of_lines,
)
from ioukit.datasets.formats.written_names import class_words
from ioukit.datasets.formats.written_rows import write_image_texts
from ioukit.regions.boxes3d import Boxes3D

KITTI_NAMES = ("Car", "Van", "Truck", "Pedestrian", "Person_sitting", "Cyclist", "Tram", "Misc", "DontCare")
"""The names of KITTI's types of objects, in the order of their ids, which are 1 to 9."""

_UNKNOWN = {"truncated": 0.0, "occluded": 0.0, "alpha": -10.0}
"""What is written for an object where a data set does not say it: it is fully visible."""
_DONT_CARE = "DontCare"
_LABEL_FIELDS = 15
_TRACKING = (
    ": a line of KITTI's tracking, whose files are one per sequence; write one per image, without frame and track"
)
_NO_BOX = (-1.0, -1.0, -1.0, -1000.0, -1000.0, -1000.0, -10.0)
"""Sizes, place and angle where there is no box in space, as the development kit writes them."""
_NUMBERS = (
    *("truncated", "occluded", "alpha", "left", "top", "right", "bottom"),
    *("height", "width", "length", "x", "y", "z", "rotation_y", "score"),
)


def recognises(path: Path) -> bool:
    """Whether the path is a folder with text files, the first line of which is one of KITTI's; or one around it.

    Labels of KITTI's tracking count, so that the reader says what they are.
    """
    words = first_words(_label_folder(path))
    if len(words) in (_LABEL_FIELDS + 2, _LABEL_FIELDS + 3):
        return is_number(words[0]) and is_number(words[1]) and not is_number(words[2])
    return len(words) in (_LABEL_FIELDS, _LABEL_FIELDS + 1) and not is_number(words[0])


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
        path: The folder, or one with ``label_2`` or ``training/label_2`` in it.
        names: The types, in the order of their ids, from 1 on; or the path of a file with a type per line. Upper and
            lower case are the same.
        on_invalid: ``"error"`` refuses a folder with an invalid line, ``"drop"`` leaves such lines out and counts them.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: Not used.

    Raises:
        DatasetError: If a line is invalid; names file, line and field, what was expected and what came.
        OSError: If a file cannot be read.
    """
    problems = Problems.of(on_invalid)
    names = names_of(names)
    files = _files(path, "labels")
    lines = _Lines(names, problems, detections=False)
    for image, file in enumerate(files):
        lines.read(file, image)
    stems = [file.stem for file in files]
    positions, types, values, in_space = lines.columns()
    dont_care = [names[place] == _DONT_CARE for place in types.tolist()]
    gt = GroundTruth.from_arrays(
        image_ids=np.array(stems or [""], np.str_)[positions],
        category_ids=types + 1,
        boxes=_pixels(values),
        areas=_pixels(values)[:, 2:].prod(axis=1),
        images=np.array(stems, np.str_),
        names=stems,
        categories=dict(enumerate(names, start=1)),
        # A crowd of a category without detections changes no number of another protocol.
        flags={"dont_care": dont_care, "crowd": dont_care},
        regions=_boxes_in_space(values, in_space),
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
    problems = Problems.of(on_invalid)
    ground_truth = required(ground_truth, path)
    finder, labels = ImageFinder(ground_truth), ground_truth.images.labels
    names = ["_".join(name.split()) for name in ground_truth.categories.names]
    classes = ClassIds(ground_truth, lambda name: "_".join(name.split()))
    lines = _Lines(names, problems, detections=True)
    seen = set()
    for file in _files(path, "detections"):
        with problems.record("unknown image"):
            at = finder.position(file.stem, str(file))
            seen.add(at)
            lines.read(file, at)
    positions, types, values, in_space = lines.columns()
    dt = Detections.from_arrays(
        image_ids=labels[positions],
        category_ids=np.array([classes[names[at]] for at in types.tolist()], np.int64),
        boxes=_pixels(values),
        scores=values[:, 14],
        regions=_boxes_in_space(values, in_space),
        attributes={"alpha": values[:, 2]},
        source=os.fspath(path),
    )
    if missing := len(labels) - len(seen):
        note = f"{path}: {missing:,} of {len(labels):,} images have no file: they count as without detections"
        dt = dataclasses.replace(dt, notes=(*dt.notes, note))
    return problems.noted_in(dt)


def write_kitti(gt: GroundTruth, path: Path) -> list[str]:
    """Write a folder of KITTI's labels, as :func:`read_kitti` reads them.

    The files have the names of the images, without folders and suffix, or their ids. Numbers are written with all of
    their digits. Where the attributes ``truncated``, ``occluded`` and ``alpha`` are not known, they are 0, 0 and -10.
    Spaces in the names of types become ``_``.

    Returns:
        What the files do not hold.

    Raises:
        DatasetError: If names of images or classes cannot be those of files and types.
    """
    words, notes = class_words(gt.categories, gt.source)
    types = [words[number] for number in gt.category_ids.tolist()]
    attributes = {name: _numbers_of(gt, name) for name in _UNKNOWN}
    dont_care = np.array([name == _DONT_CARE for name in types], np.bool_)
    named = {name for name in ("dont_care", "crowd") if np.array_equal(gt.flag(name), dont_care)}
    theirs = all(KITTI_NAMES[at - 1 : at] == (name,) for at, name in words.items())
    holds = Holds(
        regions=frozenset({"Boxes3D"}),
        flags=frozenset({*named, "truncated", "occluded"}),
        attributes=frozenset(name for name, column in attributes.items() if column is not None),
        image_sizes=False,
        category_ids=theirs,
        unused_categories=theirs,
    )
    notes = [*left_out_columns(gt, holds), *notes]
    if len(gt) and (missing := [name for name in ("truncated", "occluded") if attributes[name] is None]):
        notes.append(f"{' and '.join(missing)} of {len(gt):,} objects are not known: they are written as 0")
    if others := len(set(words.values()) - set(KITTI_NAMES)):
        notes.append(f"{others:,} classes are not KITTI's: read the files with names=[...]")
    values = np.full((len(gt), 3), list(_UNKNOWN.values()))
    values[dont_care, :2] = -1
    for at, column in enumerate(attributes.values()):
        if column is not None:
            values[:, at] = np.where(np.isnan(column), values[:, at], column)
    lines = _spelled_lines(types, np.hstack([values, _geometry(gt)]))
    return [*notes, *write_image_texts(path, gt, gt, lines)]


def write_kitti_detections(dt: Detections, path: Path, *, ground_truth: GroundTruth | None = None) -> list[str]:
    """Write a folder of results in KITTI's format, as :func:`read_kitti_detections` reads them.

    Every image of the ground truth gets a file. ``truncated`` and ``occluded`` are -1.

    Returns:
        What the files do not hold.

    Raises:
        DatasetError: If there is no ``ground_truth``, which has the names of images and classes.
    """
    ground_truth = required(ground_truth, dt.source)
    words, notes = class_words(ground_truth.categories, ground_truth.source)
    types = [words[number] for number in dt.category_ids.tolist()]
    alpha = _numbers_of(dt, "alpha")
    known = frozenset() if alpha is None else frozenset({"alpha"})
    first = np.full((len(dt), 3), [-1.0, -1.0, _UNKNOWN["alpha"]])
    if alpha is not None:
        first[:, 2] = np.where(np.isnan(alpha), first[:, 2], alpha)
    values = np.hstack([first, _geometry(dt), dt.scores[:, None]])
    names = write_image_texts(path, dt, ground_truth, _spelled_lines(types, values))
    return [*left_out_columns(dt, Holds(regions=frozenset({"Boxes3D"}), attributes=known)), *notes, *names]


def _numbers_of(data: GroundTruth | Detections, name: str) -> npt.NDArray[np.float64] | None:
    """(N,) an attribute, or a flag as 0 and 1; NaN where it is no good; ``None`` if there is none of numbers."""
    column: Any = data.attributes.get(name)
    if column is None and isinstance(data, GroundTruth):
        column = data.flags.get(name)
    if column is None or column.ndim != 1 or column.dtype.kind not in "iufb":
        return None
    values = column.astype(np.float64)
    good = np.isfinite(values) & ((name != "occluded") | (values == np.trunc(values)))
    return np.where(good, values, np.nan)


def _geometry(data: GroundTruth | Detections) -> npt.NDArray[np.float64]:
    """(N, 11) the corners in the image, and the box in space."""
    boxes = data.boxes
    space = data.regions.get("Boxes3D")
    in_space = np.full((len(data), 7), _NO_BOX) if space is None else _space_of_boxes(space)
    return np.hstack([boxes[:, :2], boxes[:, :2] + boxes[:, 2:], in_space])


def _spelled_lines(types: Sequence[str], values: npt.NDArray[np.float64]) -> list[str]:
    """(N,) a type and its numbers; whole ones without a point."""
    return [" ".join([name, *map(shorter, row)]) for name, row in zip(types, values.tolist(), strict=True)]


def _label_folder(path: Path) -> Path:
    """The folder with the text files: KITTI's is ``training/label_2``, beside the images in ``image_2``."""
    inner = (path / "label_2", path / "training" / "label_2")
    return next((folder for folder in inner if folder.is_dir() and not folder.is_symlink()), path)


def _files(path: str | os.PathLike[str], what: str) -> list[Path]:
    return files_in(_label_folder(Path(path)), "*.txt", f"a folder of text files with {what}")


class _Line(NamedTuple):
    """A valid line."""

    image: int
    """The position of the image."""
    place: int
    """The position of the type among the names."""
    values: list[float]
    """Its numbers."""
    in_space: bool
    """Whether it has a box in space."""


class _Lines:
    """The valid lines of all files."""

    def __init__(self, names: Sequence[str], problems: Problems, *, detections: bool) -> None:
        """Take the names of the types; lines of detections have a score at the end."""
        self.places = {name: at for at, name in enumerate(names)}
        lower = Counter(map(str.lower, names))
        self.lower = {name.lower(): at for at, name in enumerate(names) if lower[name.lower()] == 1}
        self.names = tuple(names)
        self.problems = problems
        self.numbers = _NUMBERS if detections else _NUMBERS[:-1]
        self.found: list[_Line] = []

    def read(self, path: Path, image: int) -> None:
        """Take the lines of the file of an image."""
        with self.problems.record("bad file"):
            for where, words in words_of_lines(read_lines(path), path):
                with self.problems.record("bad line"):
                    self.found.append(self._line(words, where, image))

    def columns(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64], list[bool]]:
        """The positions of images and types, (N, 14) or (N, 15) numbers, and whether there is a box in space."""
        places = np.array([line[:2] for line in self.found], np.int64).reshape(-1, 2)
        values = np.array([line.values for line in self.found], np.float64).reshape(-1, len(self.numbers))
        return places[:, 0], places[:, 1], values, [line.in_space for line in self.found]

    def _line(self, words: Sequence[str], where: str, image: int) -> _Line:
        expected = 1 + len(self.numbers)
        if len(words) != expected:
            hints = {
                _LABEL_FIELDS + 1: ": labels have no score, results have one",
                _LABEL_FIELDS: ": results need a score as the last field",
                **dict.fromkeys((_LABEL_FIELDS + 2, _LABEL_FIELDS + 3), _TRACKING),
            }
            refuse(where, f"{expected} fields", f"{len(words)}{hints.get(len(words), '')}")
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
        without = sizes == _NO_BOX[:3] or _NO_BOX[3] in values[10:13] or self.names[place] == _DONT_CARE
        if not without and min(sizes) < 0:
            field, size = next(pair for pair in zip(self.numbers[7:10], sizes, strict=True) if pair[1] < 0)
            refuse(f"{where}: {field}", "a size of at least 0, or -1 -1 -1 for none", f"{size:g}")
        return _Line(image, place, values, not without)


def _pixels(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(N, 4) ``[x, y, width, height]``: right minus left, without the 1 of inclusive pixels, as KITTI evaluates."""
    return np.hstack([values[:, 3:5], values[:, 5:7] - values[:, 3:5]])


def _boxes_in_space(values: npt.NDArray[np.float64], sizes: Sequence[bool]) -> Boxes3D | None:
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


def _space_of_boxes(boxes: Boxes3D) -> npt.NDArray[np.float64]:
    """(N, 7) height, width, length, x, y, z, rotation_y: the inverse; :data:`_NO_BOX` for boxes of size 0."""
    array = boxes.convert(z="bottom", unit="radians", sense="clockwise").numpy().astype(np.float64)
    right, forward, up, length, width, height, turned = array.T
    values = np.stack([height, width, length, right, -up, forward, turned], axis=1)
    values[(values[:, :3] == 0).all(axis=1)] = _NO_BOX
    return values
