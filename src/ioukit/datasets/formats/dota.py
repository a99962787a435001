"""DOTA's text files: one per image, with four points and a class per line; for results, one per class."""

from __future__ import annotations

import contextlib
import math
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit.datasets.columns._checks import OnInvalid
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.image_names import ImageFinder
from ioukit.datasets.formats.image_files import SUFFIXES, sizes_or_unknown
from ioukit.datasets.formats.known_names import required
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.datasets.formats.objects import UNKNOWN_SIZE, Objects
from ioukit.datasets.formats.recognising import first_lines, names_in
from ioukit.datasets.formats.text_files import (
    abbreviate,
    files_in,
    fits_a_path,
    inside,
    is_number,
    read_lines,
    refuse,
    shorter,
    to_number,
    to_numbers,
    words_of_lines,
)
from ioukit.datasets.formats.written_names import class_words, image_stems, other_stems
from ioukit.datasets.formats.written_rows import image_places, write_image_texts
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    import numpy.typing as npt


_POINTS = tuple(f"{axis}{number}" for number in range(1, 5) for axis in "xy")
_CORNERS = ("xmin", "ymin", "xmax", "ymax")
_LABELS = "labelTxt"
_TASKS = {1: _POINTS, 2: _CORNERS}
_SOURCE, _GSD = "imagesource", "gsd"
_ALONG = 1e-4
"""How far corners may lie from those of a rectangle, as a fraction of its diagonal, whatever the rounding is."""


def recognises(path: Path) -> bool:
    """Whether a path is a folder of DOTA's labels, or one of results.

    The first line of the first label file that has one has eight numbers and a name, or the folder of the labels is
    called ``labelTxt``: then a line that has not is a mistake. Results are named ``Task1_<class>.txt``.
    """
    try:
        if any((path / name).is_file() for task in _TASKS for name in names_in(path, f"Task{task}_*.txt")):
            return True
        for folder in _label_folders(path):
            if folder.name.startswith(_LABELS):
                return True
            for name in names_in(folder, "*.txt"):
                words = next((words for words in first_lines(folder / name) if not _is_header(words[0])), None)
                if words is not None:
                    return len(words) in (9, 10) and all(map(is_number, words[:8])) and not is_number(words[8])
    except (OSError, DatasetError):
        return False
    return False


def read_dota(
    path: str | os.PathLike[str],
    *,
    split: str | None = None,
    images: str | os.PathLike[str] | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,
) -> GroundTruth:
    """Read DOTA's labels: a text file per image with a line ``x1 y1 x2 y2 x3 y3 x4 y4 class difficult`` per object.

    The four points are in pixels. They become ``segmentations``, as polygons with the bits of the file, and
    :class:`~ioukit.RotatedBoxes`. If the four points are a rectangle within the rounding of the numbers, the rotated
    box is that rectangle, and its width is the side from the first to the second point. Otherwise it is the smallest
    rectangle around them, and a note says how many there are. The boxes are the upright boxes around the points. The
    areas are those of the rotated boxes.

    The ids of images are the names of the files without ``.txt``. Lines ``imagesource:`` and ``gsd:`` (the size of a
    pixel on the ground in metres) become attributes of the images. Objects with a difficulty other than 0 have the flag
    ``difficult``; a line without a difficulty has 0.

    Args:
        path: A folder of text files; or a folder with folders ``labelTxt`` and ``images``; or a folder of such folders,
            the splits of a data set.
        split: The name of one split; all of them if ``None``.
        images: The folder of the images, for their sizes. If ``None``, the folder ``images`` next to ``labelTxt``.
            Sizes of images that are not there are unknown.
        on_invalid: ``"error"`` refuses a folder with an invalid line, ``"drop"`` leaves such lines out and counts them.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: How many threads read the sizes of images.

    Raises:
        DatasetError: If a line is invalid; names file, line and field, what was expected and what came.
        OSError: If a file cannot be read.

    Reference: Xia et al., DOTA: A Large-scale Dataset for Object Detection in Aerial Images, CVPR 2018,
    arXiv:1711.10398.
    """
    root = Path(path) if split is None else inside(Path(path), split, os.fspath(path))
    objects = Objects(path, on_invalid)
    found: list[tuple[int, _Object]] = []
    if split is not None and not root.is_dir():
        refuse(os.fspath(path), f"a folder {split}", "none")
    for folder in _label_folders(root):
        pictures = _pictures(folder if images is None else Path(images), beside=images is None and folder != root)
        files = files_in(folder, "*.txt", "a folder of text files with labels", objects.problems)
        listed = [file for file in files if file.stem in pictures]
        sizes = sizes_or_unknown([pictures[file.stem] for file in listed], objects.problems, threads)
        by_file = dict(zip(listed, sizes, strict=True))
        for file in files:
            with objects.record("bad file"):
                header, lines = _header(file)
                size = by_file.get(file, UNKNOWN_SIZE)
                name = pictures[file.stem].name if file.stem in pictures else file.stem
                image = objects.image(file.stem, str(file), name=name, size=size, attributes=header)
                for where, words in lines:
                    with objects.record("bad line"):
                        found.append((image, _object(where, words)))
    _add(objects, found)
    return objects.ground_truth()


def read_dota_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    task: int | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; text files are read one by one
) -> Detections:
    """Read results in the format of DOTA's evaluation server: a text file per class.

    Task 1 has files ``Task1_<class>.txt`` with lines ``image score x1 y1 x2 y2 x3 y3 x4 y4``. The points are read as
    those of :func:`read_dota`. Task 2 has files ``Task2_<class>.txt`` with lines ``image score xmin ymin xmax ymax``,
    which become upright boxes. A width is ``xmax - xmin``.

    Args:
        path: The folder.
        ground_truth: The data set: it has the images and the classes.
        task: 1 or 2. If ``None``, the task of the files; 1 if there are files of both.
        on_invalid: As for :func:`read_dota`.
        threads: Not used.

    Raises:
        ValueError: If there is no such task.
        DatasetError: If a line is invalid, or there is no ``ground_truth``; names file, line and field, what was
            expected and what came.
        OSError: If a file cannot be read.
    """
    if task not in (None, *_TASKS):
        raise ValueError(f"task must be 1 or 2, got {task!r}")
    ground_truth = required(ground_truth, path)
    listed = set(ground_truth.categories.names)
    words, _ = class_words(ground_truth.categories, ground_truth.source, joint="-")
    names = dict(zip(words.values(), ground_truth.categories.names, strict=True))
    finder = ImageFinder(ground_truth)
    with contextlib.suppress(DatasetError):  # names of images that no file can have, and so no file has them
        finder.also_named(_image_words(ground_truth)[0])
    objects = Objects(path, on_invalid)
    what = "a folder of text files Task1_<class>.txt or Task2_<class>.txt"
    files = {number: files_in(path, f"Task{number}_*.txt", what, objects.problems) for number in _TASKS}
    task = task or next((number for number in _TASKS if files[number]), 1)
    if not files[task]:
        refuse(os.fspath(path), what, "no such files")
    fields = ("image", "score", *_TASKS[task])
    found: list[tuple[int, _Object]] = []
    for file in files[task]:
        category = file.stem.partition("_")[2]
        category = category if category in listed else names.get(category, "")
        with objects.record("bad file"):
            if not category:
                refuse(str(file), f"one of the {len(listed):,} classes in its name", abbreviate(file.stem))
            for where, line in words_of_lines(read_lines(file), file):
                with objects.record("bad line"):
                    if len(line) != len(fields):
                        refuse(where, " ".join(fields), abbreviate(" ".join(line)))
                    place = finder.position(line[0], where)
                    image = objects.image(str(finder.labels[place]), where, again=True)
                    values = to_numbers(line[1:], fields[1:], where)
                    found.append((image, _Object(where, category, values[1:], score=values[0])))
    _add(objects, found)
    return objects.detections(ground_truth)


def write_dota(gt: GroundTruth, path: Path) -> list[str]:
    """Write a folder ``labelTxt`` with a text file per image, as :func:`read_dota` reads it.

    The points of an object are those of its segmentation if this is one polygon of four points, else the corners of its
    rotated box, else those of its box. Spaces in names of classes become ``-``.
    """
    words, changes = class_words(gt.categories, gt.source, joint="-")
    points, kept = points_of_objects(gt)
    holds = Holds(
        regions=kept,
        flags=frozenset({"difficult"}),
        image_attributes=frozenset({_SOURCE, _GSD}),
        image_sizes=False,
        areas=True,
    )
    rows = zip(points.tolist(), gt.category_ids.tolist(), gt.flag("difficult").tolist(), strict=True)
    lines = [f"{' '.join(map(shorter, point))} {words[category]} {int(flag)}" for point, category, flag in rows]
    (path / _LABELS).mkdir()
    heads = [_header_text(gt, row) for row in range(len(gt.images))]
    names = write_image_texts(path / _LABELS, gt, gt, lines, heads)
    return [*left_out_columns(gt, holds), *other_areas(gt, kept), *partly_kept(gt, kept), *changes, *names]


def write_dota_detections(
    dt: Detections, path: Path, *, ground_truth: GroundTruth | None = None, task: int | None = None
) -> list[str]:
    """Write a text file per class, as :func:`read_dota_detections` reads it, also for classes without detections.

    Args:
        dt: The detections.
        path: An empty folder.
        ground_truth: The data set: it has the names of images and classes.
        task: 1 for rotated boxes, 2 for upright boxes. If ``None``, 1 if the detections have rotated boxes or
            segmentations of four points.

    Raises:
        ValueError: If there is no such task.
        DatasetError: If there is no ``ground_truth``, or the name of a class cannot be part of the name of a file.
    """
    if task not in (None, *_TASKS):
        raise ValueError(f"task must be 1 or 2, got {task!r}")
    ground_truth = required(ground_truth, dt.source)
    words, changes = class_words(ground_truth.categories, ground_truth.source, joint="-")
    points, kept = points_of_objects(dt)
    task = task or (1 if kept else 2)
    if task == 2:
        kept, points = frozenset(), np.hstack([dt.boxes[:, :2], dt.boxes[:, :2] + dt.boxes[:, 2:]])
    stems, blanks = _image_words(ground_truth)
    places = image_places(dt, ground_truth.images).tolist()
    texts: dict[int, list[str]] = {number: [] for number in words}
    rows = zip(places, dt.category_ids.tolist(), dt.scores.tolist(), points.tolist(), strict=True)
    for image, category, score, point in rows:
        texts[category].append(f"{stems[image]} {' '.join(map(shorter, (score, *point)))}\n")
    for number, lines in texts.items():
        word = words[number]
        if set(word) & set("/\\\0") or not fits_a_path(f"Task{task}_{word}"):
            refuse(ground_truth.source, "names of classes that can be part of names of files", abbreviate(word))
        (path / f"Task{task}_{word}.txt").write_text("".join(lines), encoding="utf-8")
    holds = Holds(regions=kept, areas=True)
    return [*left_out_columns(dt, holds), *other_areas(dt, kept), *partly_kept(dt, kept), *changes, *blanks]


class _Object(NamedTuple):
    """A line: four points, or two corners."""

    where: str
    category: str
    values: Sequence[float]
    score: float = math.nan
    difficult: bool | None = None


def _label_folders(root: Path) -> list[Path]:
    """The folders of label files: ``root`` if it has text files, else those named ``labelTxt`` in it or in its folders.

    A release of DOTA has the labels of several versions, such as ``labelTxt-v1.0``; the name must then be given.
    """
    if not root.is_dir() or names_in(root, "*.txt"):
        return [root]
    children = (child for child in root.iterdir() if child.is_dir() and not child.is_symlink())
    found = [labels for folder in (root, *sorted(children)) if (labels := _labels_in(folder))]
    return found[:1] if found and found[0].parent == root else found or [root]


def _labels_in(folder: Path) -> Path | None:
    if (folder / _LABELS).is_dir():
        return folder / _LABELS
    versions = sorted(child for child in folder.glob(f"{_LABELS}*") if child.is_dir())
    if len(versions) > 1:
        refuse(str(folder), "one folder of labels", f"several: choose {' or '.join(map(str, versions))}")
    return versions[0] if versions else None


def _pictures(folder: Path, *, beside: bool) -> dict[str, Path]:
    """The images by their names without suffix: those in a folder, or in the folder ``images`` beside it."""
    if beside:
        folder = folder.parent / "images"
        if not folder.is_dir() or folder.is_symlink():
            return {}
    files = sorted(file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES)
    return {file.stem: file for file in files if not file.is_symlink()}


def _is_header(line: str) -> bool:
    return line.partition(":")[0].strip().lower() in (_SOURCE, _GSD)


def _header(file: Path) -> tuple[dict[str, float | str], Iterator[tuple[str, list[str]]]]:
    """The lines ``imagesource:`` and ``gsd:`` of a label file as attributes, and the other lines."""
    header: dict[str, float | str] = {}
    lines = read_lines(file)
    for number, line in enumerate(lines[:2], start=1):
        name, _, value = (part.strip() for part in line.partition(":"))
        if name.lower() == _SOURCE:
            header[_SOURCE] = value
        elif name.lower() == _GSD and value.lower() not in ("", "null", "none", "nan"):
            header[_GSD] = to_number(value, f"{file}: line {number}, {_GSD}", lowest=0)
    return header, ((where, words) for where, words in words_of_lines(lines, file) if not _is_header(words[0]))


def _object(where: str, words: Sequence[str]) -> _Object:
    if len(words) not in (9, 10):
        refuse(where, f"{' '.join(_POINTS)} class difficult", abbreviate(" ".join(words)))
    values = to_numbers(words[:8], _POINTS, where)
    difficult = to_number(words[9], f"{where}, difficult", lowest=0, whole=True) if len(words) == 10 else 0
    return _Object(where, words[8], values, difficult=difficult != 0)


def _add(objects: Objects, found: Sequence[tuple[int, _Object]]) -> None:
    """Add objects, whose points become rotated boxes all at once."""
    four_points = bool(found) and len(found[0][1].values) == len(_POINTS)
    rotated, is_rectangle = rotated_of_points([line.values for _, line in found] if four_points else [])
    for row, (image, line) in enumerate(found):
        with objects.record("bad line"):
            xs, ys = line.values[::2], line.values[1::2]
            if not four_points and (xs[0] > xs[1] or ys[0] > ys[1]):
                refuse(line.where, "xmax and ymax of at least xmin and ymin", " ".join(map(shorter, line.values)))
            box = (min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))
            flags = None if line.difficult is None else {"difficult": line.difficult}
            regions = {"rotated": rotated[row], "segmentations": [list(line.values)]} if four_points else None
            objects.add(image, line.category, box, score=line.score, flags=flags, regions=regions)
    if count := int((~is_rectangle).sum()):
        objects.notes.append(
            f"{count:,} of {len(found):,} quadrilaterals are not rectangles: their rotated boxes are the smallest ones "
            "around them"
        )


def _header_text(gt: GroundTruth, row: int) -> str:
    text, attributes = "", gt.images.attributes
    if _SOURCE in attributes:
        text += f"{_SOURCE}:{' '.join(str(attributes[_SOURCE][row]).split())}\n"
    if _GSD in attributes:
        value = float(attributes[_GSD][row])
        text += f"{_GSD}:{'null' if math.isnan(value) else shorter(value)}\n"
    return text


def _image_words(gt: GroundTruth) -> tuple[list[str], list[str]]:
    """The names of images as words, and notes if names were changed."""
    stems = image_stems(gt.images, gt.source)
    words = ["_".join(stem.split()) for stem in stems]
    counts = Counter(words)
    if twice := next((word for word in words if counts[word] > 1), None):
        refuse(gt.source, "names of images that differ, also without spaces", abbreviate(twice))
    changed = sum(stem != word for stem, word in zip(stems, words, strict=True))
    notes = other_stems(gt.images, gt.source)
    if changed:
        notes.append(f"spaces in the names of {changed:,} images: they are written as _")
    return words, notes


def rotated_of_points(points: npt.ArrayLike) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """The rotated box of each quadrilateral: the rectangle that it is, or the smallest rectangle around it.

    Four points are a rectangle if no corner is off by more than the rounding of the numbers: 1 pixel if all eight are
    whole, 0.1 if they have one decimal, else 1e-4 of the diagonal. The width is then the side from the first to the
    second point.

    Args:
        points: (N, 4, 2) x and y of the points, in order around the quadrilateral in either direction.

    Returns:
        (N, 5) ``cx, cy, width, height, angle`` in radians, clockwise on the screen, and (N,) whether the four points
        are a rectangle.
    """
    from ioukit.regions import Polygons, RotatedBoxes  # noqa: PLC0415 - few formats have them

    given = np.asarray(points, np.float64).reshape(-1, 4, 2)
    boxes = np.zeros((len(given), 5))
    is_rectangle = _are_rectangles(given)
    if is_rectangle.any():
        fitted = RotatedBoxes.from_corners(given[is_rectangle], unit="radians", sense="clockwise", tolerance=1e9)
        boxes[is_rectangle] = fitted.numpy()
    if not is_rectangle.all():
        smallest = Polygons(list(given[~is_rectangle])).min_area_boxes()
        boxes[~is_rectangle] = smallest.convert(unit="radians", sense="clockwise").numpy()
    return boxes, is_rectangle


def _are_rectangles(points: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    first, second, third, fourth = np.moveaxis(points - points[:, :1], 1, 0)
    along, across = (second - first + third - fourth) / 2, (third - second + fourth - first) / 2  # (N, 2)
    width, height = np.hypot(*along.T), np.hypot(*across.T)
    has_area = (width > 0) & (height > 0)
    # A parallelogram has 0 here; else each corner is off by this.
    uneven = np.hypot(*((first - second + third - fourth) / 4).T)
    lean = np.abs((along * across).sum(axis=1)) / np.where(has_area, width * height, 1)
    off = uneven + lean * np.minimum(width, height) / 2
    flat = points.reshape(-1, 8)
    whole = (flat == np.round(flat)).all(axis=1)
    tenths = np.isclose(flat * 10, np.round(flat * 10), rtol=0, atol=1e-6).all(axis=1)
    rounding = np.where(whole, 1.0, np.where(tenths, 0.1, 0.0))
    # A rectangle of about the size of the rounding could be anything with four points.
    rounding = np.minimum(rounding, np.minimum(width, height) / 4)
    return np.asarray(off <= np.maximum(rounding, _ALONG * np.hypot(width, height)))


def points_of_objects(data: GroundTruth | Detections) -> tuple[npt.NDArray[np.float64], frozenset[str]]:
    """(N, 8) the four points of each object, and the kinds of regions that they come from."""
    low, high = data.boxes[:, :2], data.boxes[:, :2] + data.boxes[:, 2:]
    points = np.hstack([low, high])[:, [0, 1, 2, 1, 2, 3, 0, 3]]
    kept = set()
    if (rotated := data.regions.get("RotatedBoxes")) is not None:
        kept.add("RotatedBoxes")
        points = rotated.corners().reshape(-1, 8)
    if four := _four_points(data.segmentations):
        kept.add("segmentations")
        points[list(four)] = list(four.values())
    return points, frozenset(kept)


def other_areas(data: GroundTruth | Detections, kept: frozenset[str]) -> list[str]:
    """A note about areas that are not those of the points that are written: readers compute areas from these."""
    if data.areas is None and not kept:
        return []
    points, _ = points_of_objects(data) if kept else (None, None)
    areas = data.boxes[:, 2] * data.boxes[:, 3]
    if points is not None:
        rotated, _ = rotated_of_points(points)
        areas = rotated[:, 2] * rotated[:, 3]
    given = areas if data.areas is None else data.areas
    differing = int((~np.isclose(given, areas, rtol=1e-6, atol=1e-9)).sum())
    return [f"areas of {differing:,} objects that are not those of their four points"] if differing else []


def _four_points(segmentations: Sequence[Any] | None) -> dict[int, list[float]]:
    """The segmentations that are one polygon of four points, by row."""
    return {
        row: [float(value) for value in polygons[0]]
        for row, polygons in enumerate(segmentations or ())
        if isinstance(polygons, Sequence)
        and not isinstance(polygons, str)
        and len(polygons) == 1
        and len(polygons[0]) == 8
    }


def partly_kept(data: GroundTruth | Detections, kept: frozenset[str]) -> list[str]:
    """A note about segmentations of other shapes, if some are kept."""
    if "segmentations" not in kept or data.segmentations is None:
        return []
    others = sum(row is not None for row in data.segmentations) - len(_four_points(data.segmentations))
    return [f"segmentations of {others:,} objects that are not one polygon of four points"] if others else []
