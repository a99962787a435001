"""Text files of Object-Detection-Metrics (Padilla et al.): one per image, with a class and a box in pixels per line."""

from __future__ import annotations

import math
import os
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from ioukit._checks import check_choice, pluralize
from ioukit.datasets.columns._checks import OnInvalid
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.image_names import ImageFinder
from ioukit.datasets.formats.known_names import required
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.datasets.formats.objects import UNKNOWN_SIZE, Objects
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.recognising import first_words
from ioukit.datasets.formats.text_files import (
    abbreviate,
    files_in,
    names_of,
    read_lines,
    refuse,
    to_number,
    words_of_lines,
)
from ioukit.datasets.formats.written_names import class_words
from ioukit.datasets.formats.written_rows import write_image_texts

Layout: TypeAlias = Literal["xywh", "xyxy", "fractions"]
"""What the four numbers of a line are: the low corner and the size in pixels, both corners in pixels, or the centre and
the size in fractions of the image."""

_FIELDS: Mapping[str, Sequence[str]] = {
    "xywh": ("x", "y", "width", "height"),
    "xyxy": ("x1", "y1", "x2", "y2"),
    "fractions": ("cx", "cy", "w", "h"),
}
_HOLDS = Holds(image_sizes=False)
_OF_YOLO = ("data.yaml", "classes.txt", "obj.names", "sizes.csv")
"""The names of files that lie beside the text files of YOLO."""


def recognises(path: Path) -> bool:
    """Whether a path is a folder whose first text file with a line has a class and four numbers, perhaps with a score.

    If the class is a number, one of the four numbers must be beyond 1, and no list of classes or sizes may lie beside
    lines without a score. Otherwise it is YOLO's. A score is within [0, 1].
    """
    words = first_words(path)
    try:
        numbers = [float(word.replace(",", ".", 1)) for word in words[1:]]
    except ValueError:
        return False
    if len(words) == 6 and not 0 <= numbers[0] <= 1:
        return False
    if len(words) not in (5, 6) or not _is_number(words[0]):
        return len(words) in (5, 6)
    return max(map(abs, numbers[-4:])) > 1 and (
        len(words) == 6 or not any((path / name).is_file() for name in _OF_YOLO)
    )


def read_padilla(
    path: str | os.PathLike[str],
    *,
    boxes: Layout = "xywh",
    names: Sequence[str] | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; text files are read one by one
) -> GroundTruth:
    """Read a folder of text files with a line ``class x y width height`` per object, in pixels.

    This is the layout of the tools Object-Detection-Metrics and review_object_detection_metrics. The ids of images are
    the names of the files without ``.txt``. A file without lines is an image without objects. The files do not have the
    sizes of images. An area is width times height.

    Args:
        path: The folder.
        boxes: ``"xywh"``, or ``"xyxy"`` if the lines have ``x1 y1 x2 y2``. The numbers do not show which.
            ``"fractions"`` is for detections alone.
        names: The names of the classes if the files have numbers, in the order of these numbers, which start at 0; or
            the path of a file with a name per line.
        on_invalid: ``"error"`` refuses a folder with an invalid line; ``"drop"`` leaves such lines out and counts them.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: Not used.

    Raises:
        ValueError: If ``boxes`` is unknown.
        DatasetError: If a line is invalid; names file, line and field, what was expected and what came.
        OSError: If a file cannot be read.
    """
    check_choice("boxes", boxes, get_args(Layout))
    names = None if names is None else names_of(names)
    objects = Objects(path, on_invalid)
    for file in _files(path, "labels", objects.problems):
        image = objects.image(file.stem, str(file))
        for where, words in words_of_lines(read_lines(file), file):
            with objects.record("bad line"):
                line = _line(words, where, boxes, names)
                objects.add(image, line.category, line.box)
    listed = None if names is None else {name: number for number, name in enumerate(names)}
    return objects.ground_truth(listed)


def read_padilla_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    boxes: Layout = "xywh",
    names: Sequence[str] | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - as above
) -> Detections:
    """Read a folder of text files with a line ``class score x y width height`` per detection, in pixels.

    Detections of classes that the ground truth lacks are left out with a note, as the tools do. They are refused if no
    detection is of another class, or a class of the ground truth differs by case, spaces, ``_`` or ``-`` alone.

    Args:
        path: The folder. A text file has the name of its image; an image without one has no detections.
        ground_truth: The data set: it has the images and the classes.
        boxes: As for :func:`read_padilla`. With ``"fractions"``, a line has the centre, width and height in fractions
            of the image, and the ground truth must have its size.
        names: As for :func:`read_padilla`. If ``None``, number 0 is the first class of the ground truth by rising id,
            number 1 the second, and so on.
        on_invalid: As for :func:`read_padilla`.
        threads: Not used.

    Raises:
        ValueError: If ``boxes`` is unknown.
        DatasetError: If a line is invalid, or there is no ``ground_truth``; names file, line and field, what was
            expected and what came.
        OSError: If a file cannot be read.
    """
    ground_truth = required(ground_truth, path)
    check_choice("boxes", boxes, get_args(Layout))
    finder = ImageFinder(ground_truth)
    listed = ground_truth.categories.names
    numbered = listed if names is None else names_of(names)
    spelled = {"_".join(name.split()): name for name in listed} | {name: name for name in listed}
    objects = Objects(path, on_invalid)
    others: dict[str, list[str]] = defaultdict(list)
    for file in _files(path, "detections", objects.problems):
        with objects.record("bad file"):
            place = finder.position(file.stem, str(file))
            image = objects.image(str(finder.labels[place]), str(file))
            for where, words in words_of_lines(read_lines(file), file):
                with objects.record("bad line"):
                    size = finder.sizes[place].tolist()
                    # Without names=, a word that is the name of a class is no number: a class may be called 007.
                    by_name = names is None and words[0] in spelled
                    line = _line(words, where, boxes, None if by_name else numbered, scored=True, size=size)
                    if line.category in spelled:
                        objects.add(image, spelled[line.category], line.box, score=line.score)
                    else:
                        others[line.category].append(f"{where}, class")
    alike = set(map(_letters, listed))
    for name, places in others.items():
        if not len(objects) or _letters(name) in alike:
            refuse(places[0], f"one of the {len(listed):,} classes", abbreviate(name))
    objects.notes += [
        f"left out {pluralize(len(places), 'detection')} of {abbreviate(name)}, a class that the ground truth lacks"
        for name, places in others.items()
    ]
    return objects.detections(ground_truth)


def write_padilla(gt: GroundTruth, path: Path) -> list[str]:
    """Write a folder of text files, as :func:`read_padilla` reads them. Spaces in names of classes become ``_``."""
    return _write(gt, path, gt, None)


def write_padilla_detections(dt: Detections, path: Path, *, ground_truth: GroundTruth | None = None) -> list[str]:
    """Write a folder of text files, as :func:`read_padilla_detections` reads them.

    Raises:
        DatasetError: If there is no ``ground_truth``, which has the names of images and classes.
    """
    ground_truth = required(ground_truth, dt.source)
    return _write(dt, path, ground_truth, dt.scores.tolist())


def _letters(name: str) -> str:
    """A name without what writers of files change in names."""
    return re.sub(r"[\s_-]+", "", name).casefold()


def _is_number(word: str) -> bool:
    return word.lstrip("+-").isdecimal()


def _files(path: str | os.PathLike[str], what: str, problems: Problems) -> list[Path]:
    files = files_in(path, "*.txt", f"a folder of text files with {what}", problems)
    return [file for file in files if file.stem != "classes"]


class _Line(NamedTuple):
    category: str
    box: list[float]
    score: float


def _line(
    words: Sequence[str],
    where: str,
    boxes: Layout,
    names: Sequence[str] | None,
    *,
    scored: bool = False,
    size: Sequence[float] = UNKNOWN_SIZE,
) -> _Line:
    fields = ["class", *(["score"] if scored else []), *_FIELDS[boxes]]
    if len(words) != len(fields):
        other = "ground truth" if scored else "detections"
        hint = f" (a line of {other})" if len(words) == len(fields) + (-1 if scored else 1) else ""
        refuse(where, " ".join(fields), abbreviate(" ".join(words)) + hint)
    # Tools of countries with decimal commas write these.
    spelled = [word.replace(",", ".") if word.count(",") == 1 and "." not in word else word for word in words[1:]]
    values = [to_number(word, f"{where}, {name}") for word, name in zip(spelled, fields[1:], strict=True)]
    category = words[0]
    if names is not None and _is_number(category):
        if not 0 <= int(category) < len(names):
            refuse(f"{where}, class", f"a number from 0 to {len(names) - 1}", abbreviate(category))
        category = names[int(category)]
    x, y, third, fourth = values[-4:]
    width, height = (third - x, fourth - y) if boxes == "xyxy" else (third, fourth)
    if min(width, height) < 0:
        place = f"{where}, {fields[-2]} and {fields[-1]}"
        refuse(place, "a width and a height of at least 0", f"{width:g}, {height:g}")
    if boxes == "fractions":
        if math.isnan(size[0]):
            refuse(where, "fractions of an image whose size the ground truth has", "an image of unknown size")
        x, width = (x - width / 2) * size[0], width * size[0]
        y, height = (y - height / 2) * size[1], height * size[1]
    return _Line(category, [x, y, width, height], values[0] if scored else math.nan)


def _write(data: GroundTruth | Detections, path: Path, gt: GroundTruth, scores: Sequence[float] | None) -> list[str]:
    notes = left_out_columns(data, _HOLDS)
    words, changes = class_words(gt.categories, gt.source)
    notes += changes
    if numeric := [word for word in words.values() if _is_number(word)]:
        notes.append(f"the names of {len(numeric):,} classes are numbers, such as {numeric[0]}")
    numbers = data.boxes.tolist() if scores is None else np.column_stack([scores, data.boxes]).tolist()
    rows = zip(data.category_ids.tolist(), numbers, strict=True)
    lines = [" ".join([words[category], *map(repr, row)]) for category, row in rows]
    return [*notes, *write_image_texts(path, data, gt, lines)]
