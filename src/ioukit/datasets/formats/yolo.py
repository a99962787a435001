"""YOLO data sets: a ``data.yaml`` that names folders of images, and a text file of boxes per image."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._optional import import_extra
from ioukit.datasets.columns._checks import OnInvalid, check_on_invalid, existing_file
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats.image_files import header_size, image_sizes, images_in
from ioukit.datasets.formats.problems import Problems
from ioukit.errors import DatasetError

__all__ = ["read_split", "read_yolo", "read_yolo_detections", "recognises"]

MOST_OUTSIDE = 0.001
"""The fraction of an image that a box may reach out of it: numbers of six digits are rounded."""


def recognises(path: Path) -> bool:
    """Whether the name is that of a YAML file, or the path is a folder with text files."""
    if path.is_dir():
        return next(path.glob("*.txt"), None) is not None
    return path.suffix.lower() in (".yaml", ".yml")


def read_yolo(
    path: str | os.PathLike[str],
    *,
    split: str = "val",
    on_invalid: OnInvalid = "error",
    threads: int | None = None,
) -> GroundTruth:
    """Read one split of a YOLO data set, as Ultralytics lays it out.

    Each image has a text file with a line ``class cx cy w h`` per object, in fractions of the image. The text file lies
    where the image does, with ``labels`` in the place of the last folder ``images``. An image without a text file, or
    with an empty one, has no objects. Sizes of images come from the headers of their files.

    The ids of images are their positions by name, from 0 on. The attribute ``path`` of the images holds their files,
    the attribute ``fractions`` of the objects their corners (x1, y1, x2, y2) in fractions.

    Args:
        path: A ``data.yaml`` with the splits, ``names`` (a list, or a mapping from 0 on), and ``path`` if the splits
            are not relative to the file. A split is a folder of images, or a ``.txt`` file with one path per line,
            relative to that file.
        split: The split to read: ``"val"``, ``"train"`` or another key of the file.
        on_invalid: ``"error"`` refuses a data set with a problem, ``"drop"`` leaves out the image, line or box and
            counts it. Problems are: an image that is listed or has labels but is missing, an image that is not one, a
            line that is not five numbers, a class out of range, a box without an area or outside of its image.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: How many threads read images; chosen by the number of cores if ``None``.

    Raises:
        DatasetError: If there is a problem; names file and line, what was expected and what came.
        OSError: If a file cannot be read.
        ModuleNotFoundError: If PyYAML or Pillow is not installed: ``pip install 'ioukit[yolo]'``.
    """
    problems = Problems.of(on_invalid)
    gt = read_split(path, split, problems, threads=threads)
    return problems.noted_in(gt)


def read_yolo_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; text files are read one by one
) -> Detections:
    """Read a folder of text files with a line ``class cx cy w h score`` per detection, in fractions of the image.

    Args:
        path: The folder. A text file has the name of its image, but for the suffix; an image without one has no
            detections.
        ground_truth: The data set of the images: it knows their names and sizes. Class 0 is its first category by
            rising id, class 1 the second, and so on.
        on_invalid: As for :func:`read_yolo`. A box may reach out of its image, and may have no area.
        threads: Not used.

    Raises:
        DatasetError: If there is a problem, or no ``ground_truth``; names file and line, what was expected and what
            came.
        OSError: If a file cannot be read.
    """
    check_on_invalid(on_invalid)
    if not Path(path).is_dir():
        Path(path).stat()
        raise DatasetError(f"{path}: expected a folder of text files with detections, found a file")
    if ground_truth is None:
        raise DatasetError(
            f"{path}: boxes in fractions need the sizes of their images: read_detections(folder, ground_truth=...)"
        )
    problems = Problems.of(on_invalid)
    rows = _Rows(len(ground_truth.categories), problems, detections=True)
    images = _by_stem(ground_truth)
    for file in sorted(Path(path).glob("*.txt")):
        if file.stem in images:
            position, size = images[file.stem]
            rows.read(file, position, size)
        elif file.stem != "classes":  # label tools write the names of the classes to classes.txt
            problems.meet(
                "missing image", f"{file} has detections, but {ground_truth.source} lists no image {file.stem}"
            )
    corners, values = rows.pixels(), np.array(rows.values, np.float64).reshape(-1, 6)
    images_of_rows = np.array(rows.images, np.int64)
    dt = Detections.from_arrays(
        image_ids=ground_truth.images.labels[images_of_rows],
        category_ids=ground_truth.categories.ids[values[:, 0].astype(np.int64)],
        boxes=np.hstack([corners[:, :2], values[:, 3:5] * rows.size_array()]),
        scores=values[:, 5],
        source=os.fspath(path),
    )
    return problems.noted_in(dt)


def read_split(
    path: str | os.PathLike[str],
    split: str,
    problems: Problems,
    *,
    size_of: Callable[[Path], tuple[int, int]] = header_size,
    threads: int | None = None,
) -> GroundTruth:
    """Read a split as :func:`read_yolo` does.

    Args:
        path: The ``data.yaml``.
        split: The split to read.
        problems: Stops at problems or counts them. It also counts images without objects, as ``background``.
        size_of: Reads width and height of an image, see :func:`image_sizes`.
        threads: How many threads read images.

    Raises:
        DatasetError: If there is a problem that is not counted, or no image is left.
        OSError: If a file cannot be read.
    """
    listed = _listed(Path(existing_file(path)), split, problems)
    rows = _Rows(len(listed.names), problems)
    files: list[Path] = []
    sizes: list[tuple[int, int]] = []
    for file, size in zip(
        listed.files, image_sizes(listed.files, problems, size_of=size_of, threads=threads), strict=True
    ):
        if size is None:
            continue
        rows.read(label_file(file), len(files), size)
        files.append(file)
        sizes.append(size)
    if not files:
        raise DatasetError(f"{path}: {split}: no image can be used: {next(iter(problems.first.values()))}")
    corners = rows.pixels().clip(0, np.tile(rows.size_array(), 2))
    return GroundTruth.from_arrays(
        image_ids=rows.images,
        category_ids=[int(value[0]) for value in rows.values],
        boxes=np.hstack([corners[:, :2], corners[:, 2:] - corners[:, :2]]),
        images=np.arange(len(files)),
        sizes=sizes,
        names=[file.name for file in files],
        categories=dict(enumerate(listed.names)),
        attributes={"fractions": rows.fractions()},
        image_attributes={"path": [str(file) for file in files]},
        source=os.fspath(path),
    )


def label_file(image: Path) -> Path:
    """The text file of an image: the last folder ``images`` in the path becomes ``labels``."""
    parts = list(image.with_suffix(".txt").parts)
    if "images" in parts[:-1]:
        parts[len(parts) - 1 - parts[::-1].index("images")] = "labels"
    return Path(*parts)


class _Listed(NamedTuple):
    """What ``data.yaml`` says about a split."""

    names: tuple[str, ...]
    files: list[Path]


def _listed(path: Path, split: str, problems: Problems) -> _Listed:
    yaml = import_extra("yaml", extra="yolo", needed_by="data.yaml")
    try:
        settings = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: not YAML: {error}") from None
    if not isinstance(settings, dict) or split not in settings or "names" not in settings:
        found = list(settings) if isinstance(settings, dict) else settings
        others = "" if split in ("train", "val") else f" and {split!r}"
        raise DatasetError(f"{path}: expected train, val and names{others}, got {found!r}")
    names = _names(path, settings["names"])
    if not isinstance(settings[split], str):
        raise DatasetError(f"{path}: {split} must be a folder or a .txt file, got {settings[split]!r}")
    root = settings.get("path") or ""
    if not isinstance(root, str):
        raise DatasetError(f"{path}: path must be a folder, got {root!r}")
    folder = _split_path(path.parent / root, settings[split])
    if folder.suffix == ".txt" and folder.is_file():
        lines = folder.read_text(encoding="utf-8").splitlines()
        files = sorted({folder.parent / line.strip() for line in lines if line.strip()})
    elif folder.is_dir():
        files = images_in(folder)
    else:
        raise DatasetError(f"{path}: {split}: there is no folder {folder}")
    if not files:
        raise DatasetError(f"{path}: {split}: there is no image in {folder}")
    if folder.is_dir():
        _labels_without_image(folder, files, problems)
    return _Listed(names, files)


def _split_path(root: Path, named: str) -> Path:
    """Where a split lies. ``../train/images`` may mean ``train/images``, as in data sets that Roboflow writes."""
    place = root / named
    inside = root / named.removeprefix("../")
    return inside if not place.exists() and inside.exists() else place


def _names(path: Path, names: object) -> tuple[str, ...]:
    if isinstance(names, dict) and sorted(names) == list(range(len(names))):
        names = [names[number] for number in range(len(names))]
    if not isinstance(names, list) or not names:
        raise DatasetError(f"{path}: names must be a list, or a mapping from 0 on, got {names!r}")
    return tuple(map(str, names))


def _labels_without_image(folder: Path, files: Sequence[Path], problems: Problems) -> None:
    labels = label_file(folder / "any.png").parent
    if labels == folder or not labels.is_dir():  # among images, a text file may be anything
        return
    there = {file.stem for file in files} | {"classes"}  # label tools write the names of the classes to classes.txt
    for text in sorted(labels.glob("*.txt")):
        if text.stem not in there:
            problems.meet("missing image", f"{text} has labels, but there is no image {text.stem} in {folder}")


class _Rows:
    """The lines of all text files that are valid, and the images that they belong to."""

    def __init__(self, classes: int, problems: Problems, *, detections: bool = False) -> None:
        self.classes = classes
        self.problems = problems
        self.detections = detections
        self.values: list[list[float]] = []
        self.images: list[int] = []
        self.sizes: list[tuple[float, float]] = []

    def read(self, path: Path, image: int, size: tuple[float, float]) -> None:
        """Take the lines of the text file of an image; a missing file has none."""
        try:
            lines = path.read_text(encoding="utf-8").split("\n") if path.is_file() else []
        except UnicodeDecodeError as error:
            self.problems.meet("bad line", f"{path}: not UTF-8: {error}")
            return
        before = len(self.values)
        for number, line in enumerate(lines, start=1):
            if words := line.split():
                self._take(f"{path}: line {number}: ", line, words, image, size)
        if len(self.values) == before and not any(map(str.strip, lines)) and not self.detections:
            message = f"{path} names no object" if path.is_file() else f"there is no {path}"
            self.problems.count("background", message)

    def _take(self, where: str, line: str, words: list[str], image: int, size: tuple[float, float]) -> None:
        expected = "class cx cy w h score" if self.detections else "class cx cy w h"
        try:
            values = [float(word) for word in words]
        except ValueError:
            values = []
        if len(values) != len(expected.split()) or not np.isfinite(values).all():
            self.problems.meet("bad line", f"{where}expected {expected}, got {line!r}")
        elif values[0] not in range(self.classes):
            self.problems.meet("label out of range", f"{where}class {words[0]} is not one of 0 to {self.classes - 1}")
        elif self.detections and min(values[3:5]) < 0:
            self.problems.meet("bad line", f"{where}expected a width and a height of at least 0, got {words[3:5]}")
        elif not self.detections and not _is_inside(values):
            self.problems.meet("box outside", f"{where}box {words[1:]} has no area or reaches out of the image")
        else:
            self.values.append(values)
            self.images.append(image)
            self.sizes.append(size)

    def fractions(self) -> npt.NDArray[np.float64]:
        """(N, 4) corners in fractions of the image."""
        return np.array([_corners(values) for values in self.values], np.float64).reshape(-1, 4)

    def size_array(self) -> npt.NDArray[np.float64]:
        """(N, 2) width and height of the image of each row."""
        return np.array(self.sizes, np.float64).reshape(-1, 2)

    def pixels(self) -> npt.NDArray[np.float64]:
        """(N, 4) corners in pixels."""
        return self.fractions() * np.tile(self.size_array(), 2)


def _corners(values: Sequence[float]) -> list[float]:
    cx, cy, w, h = values[1:5]
    return [cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2]


def _is_inside(values: Sequence[float]) -> bool:
    corners = _corners(values)
    return values[3] > 0 and values[4] > 0 and min(corners) > -MOST_OUTSIDE and max(corners) < 1 + MOST_OUTSIDE


def _by_stem(gt: GroundTruth) -> dict[str, tuple[int, tuple[float, float]]]:
    """Position and size of each image, by its file name without folders and suffix."""
    found: dict[str, tuple[int, tuple[float, float]]] = {}
    for position, (name, size) in enumerate(zip(gt.images.names, gt.images.sizes.tolist(), strict=True)):
        stem = Path(name).stem
        if not stem or np.isnan(size).any():
            label = gt.images.labels[position].item()
            raise DatasetError(f"{gt.source}: image {label!r}: expected a file name, a width and a height")
        if stem in found:
            raise DatasetError(f"{gt.source}: expected file names that differ but for the suffix, found {stem} twice")
        found[stem] = position, (size[0], size[1])
    return found
