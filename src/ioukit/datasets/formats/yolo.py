"""YOLO's data sets: a text file for each image, as Ultralytics and Darknet have them."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ioukit.datasets.columns._checks import OnInvalid
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats.image_files import image_sizes
from ioukit.datasets.formats.known_names import required
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.yolo_layout import find_layout, text_files
from ioukit.datasets.formats.yolo_rows import Task, read_rows, region_arguments
from ioukit.datasets.formats.yolo_writing import write_yolo, write_yolo_detections
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["read_split", "read_yolo", "read_yolo_detections", "recognises", "write_yolo", "write_yolo_detections"]

_SETTINGS = (".yaml", ".yml", ".data")


def recognises(path: Path) -> bool:
    """Whether the name is that of a file of settings, or the path is a folder with one, or with text files."""
    if not path.is_dir():
        return path.suffix.lower() in _SETTINGS
    try:
        names = {entry.name for entry in os.scandir(path)}
        inner = {entry.name for entry in os.scandir(path / "labels")} if "labels" in names else set()
    except OSError:
        return False
    return "data.yaml" in names or any(name.endswith((".txt", ".data")) for name in names | inner)


def read_yolo(
    path: str | os.PathLike[str],
    *,
    split: str = "val",
    task: Task | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,
) -> GroundTruth:
    """Read one split of a YOLO data set, as Ultralytics or Darknet lays it out.

    Each image has a text file with a line per object. All numbers but the class are fractions of the image:

    - ``detect``: ``class cx cy w h``.
    - ``segment``: ``class x1 y1 x2 y2 x3 y3 ...``. The column ``segmentations`` has the polygons, and boxes are those
      around them. A line of 5 numbers is a box among them, and has no polygon.
    - ``pose``: ``class cx cy w h`` and the keypoints, each ``x y`` or ``x y visibility``. Of ``x y``, a point with a
      negative number is not labelled, and every other one is visible.
    - ``obb``: ``class x1 y1 x2 y2 x3 y3 x4 y4``. The regions are :class:`~ioukit.RotatedBoxes`, and boxes are those
      around the corners. Four corners that are no rectangle get the smallest one around them.

    The text file lies where the image does, with ``labels`` in the place of the last folder ``images``. Without such a
    folder, it lies beside the image. An image without a text file, or with an empty one, has no objects. Boxes are cut
    at the edges of the image. Sizes of images come from the headers of their files. An image may be a link to another
    place; a text file may not.

    The ids of images are their positions by name, from 0 on. Classes keep their numbers. The attribute ``path`` of the
    images holds their files, the attribute ``fractions`` of the objects their corners (x1, y1, x2, y2) in fractions.

    Args:
        path: One of these:

            - A ``data.yaml`` with the splits, ``names`` (a list, or a mapping from 0 on), and ``path`` if the splits
              are not relative to the file. A split is a folder of images, a ``.txt`` file with one path per line,
              relative to that file, or a list of folders. Folders inside of folders are searched. ``path`` and a split
              may lie outside of the folder of the file; a link out of it is refused.
            - Darknet's ``obj.data`` with ``names`` and ``train`` or ``valid``: a file of names, and a list of images.
            - A folder with one of these files.
            - A folder of text files. The names of the classes are those of a ``data.yaml``, ``classes.txt`` or
              ``obj.names`` in it or in one of the two folders above; without one, names are the numbers. The images lie
              in it, or in the folder ``images`` in the place of ``labels``. Without images, there must be a table
              ``sizes.csv`` with the columns ``name``, ``width`` and ``height``, in it or in one of the two folders
              above.
        split: The split to read: ``"val"``, ``"train"`` or another key of the file. Darknet calls the first ``valid``.
            If the folder that a ``data.yaml`` names is missing, the usual ones of the same split inside the folder of
            the data set are tried: ``val/images``, ``images/val``, and so on, also with ``valid`` and ``validation``
            for ``val``. A note says which one is read.
        task: What the lines hold. If ``None``, it is found: ``pose`` if the ``data.yaml`` has ``kpt_shape``, ``obb`` if
            every line has 9 numbers, which a note says, ``segment`` if a line has more than 5, else ``detect``. Without
            ``kpt_shape``, keypoints have 3 numbers each if the lengths of the lines allow it.
        on_invalid: ``"error"`` refuses a data set with a problem, ``"drop"`` leaves out the image, line or box and
            counts it. Problems are: an image that is listed or has labels but is missing, an image that is not one, a
            line with another number of numbers, a class out of range, a box without an area or outside of its image.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: How many threads read; all cores if ``None``.

    Raises:
        DatasetError: If there is a problem; names file and line, what was expected and what came.
        OSError: If a file cannot be read.
        ModuleNotFoundError: If PyYAML is not installed and the data set has a ``data.yaml``: ``pip install
            'ioukit[yolo]'``.

    Reference: Ultralytics, "Datasets overview", docs.ultralytics.com/datasets; A. Bochkovskiy, Darknet, README.
    """
    problems = Problems.of(on_invalid)
    return problems.noted_in(read_split(path, split, problems, task=task, threads=threads))


def read_yolo_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    task: Task | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,
) -> Detections:
    """Read a folder of text files with a line per detection, in fractions of the image, as Ultralytics writes them.

    A line is that of the ground truth with the score behind it: ``class cx cy w h score`` for boxes, and as
    :func:`read_yolo` lists for the other tasks. The keypoints of a detection have a score in the place of visibility.

    Args:
        path: The folder. A text file has the name of its image, but for the suffix; an image without one has no
            detections. Folders inside are searched, too.
        ground_truth: The data set of the images: it knows their names and sizes. Class 0 is its first category by
            rising id, class 1 the second, and so on.
        task: What the lines hold. If ``None``, it is found by the lengths of the lines: ``detect`` if they have 6
            numbers, ``pose`` or ``obb`` if the ground truth has keypoints or rotated boxes and all lengths fit, else
            ``segment``.
        on_invalid: As for :func:`read_yolo`. A box may reach out of its image, and may have no area.
        threads: How many threads read; all cores if ``None``.

    Raises:
        DatasetError: If there is a problem, or no ``ground_truth``; names file and line, what was expected and what
            came.
        OSError: If a file cannot be read.
    """
    problems = Problems.of(on_invalid)
    if not Path(path).is_dir():
        Path(path).stat()
        raise DatasetError(f"{path}: expected a folder of text files with detections, found a file")
    ground_truth = required(ground_truth, path, "sizes of images")
    files, positions = _of_images(path, ground_truth, problems)
    truth = ground_truth.regions
    rows = read_rows(
        files,
        problems,
        classes=len(ground_truth.categories),
        scores=True,
        task=task,
        likely="obb" if "RotatedBoxes" in truth else "pose" if "keypoints" in truth else None,
        threads=threads,
    )
    images = positions[rows.files]
    sizes = ground_truth.images.sizes[images]
    assert rows.scores is not None
    dt = Detections.from_arrays(
        image_ids=ground_truth.images.labels[images],
        category_ids=ground_truth.categories.ids[rows.classes],
        boxes=np.hstack([rows.corners[:, :2] * sizes, rows.sides * sizes]),
        scores=rows.scores,
        source=os.fspath(path),
        **region_arguments(rows, sizes, os.fspath(path)),
    )
    return problems.noted_in(dataclasses.replace(dt, notes=(*rows.notes, *dt.notes)))


def read_split(
    path: str | os.PathLike[str],
    split: str,
    problems: Problems,
    *,
    task: Task | None = None,
    size_of: Callable[[Path], tuple[int, int]] | None = None,
    threads: int | None = None,
) -> GroundTruth:
    """Read a split as :func:`read_yolo` does.

    Args:
        path: What to read.
        split: The split to read.
        problems: Stops at problems or counts them. It also counts images without objects, as ``background``.
        task: What the lines hold; found by looking if ``None``.
        size_of: Reads width and height of an image in another way, see :func:`image_sizes`.
        threads: How many threads read files; all cores if ``None``.

    Raises:
        DatasetError: If there is a problem that is not counted, or no image is left.
        OSError: If a file cannot be read.
    """
    layout = find_layout(Path(path), split, problems)
    known = layout.sizes
    if known is None:
        known = image_sizes(layout.files, problems, size_of=size_of, threads=threads).astype(np.float64)
    kept = np.flatnonzero(known[:, 0] > 0)
    if not len(kept):
        raise DatasetError(
            f"{path}: {split}: no image can be used: {next(iter(problems.first.values()), 'none is listed')}"
        )
    sizes = known[kept]
    rows = read_rows(
        [layout.labels[at] for at in kept.tolist()],
        problems,
        classes=None if layout.names is None else len(layout.names),
        scores=False,
        task=task,
        keypoints=layout.keypoints if task in (None, "pose") else None,
        threads=threads,
    )
    of_rows = sizes[rows.files]
    limits = np.tile(of_rows, 2)
    corners = (rows.corners * limits).clip(0, limits)
    notes = (*layout.notes, *rows.notes)
    names = layout.names
    if names is None:
        names = tuple(map(str, range(int(rows.classes.max(initial=0)) + 1)))
        notes = (*notes, f"{path}: no file names the classes; their numbers are their names")
    gt = GroundTruth.from_arrays(
        image_ids=rows.files,
        category_ids=rows.classes,
        boxes=np.hstack([corners[:, :2], corners[:, 2:] - corners[:, :2]]),
        images=np.arange(len(kept)),
        sizes=sizes,
        names=[layout.images[at] for at in kept.tolist()],
        categories=dict(enumerate(names)),
        attributes={"fractions": rows.corners},
        image_attributes={"path": [layout.files[at] for at in kept.tolist()]},
        source=os.fspath(path),
        **region_arguments(rows, of_rows, os.fspath(path)),
    )
    return dataclasses.replace(gt, notes=(*notes, *gt.notes))


def _of_images(
    folder: str | os.PathLike[str], gt: GroundTruth, problems: Problems
) -> tuple[list[str], npt.NDArray[np.int64]]:
    """The text files that belong to images, and the positions of these images."""
    missing = np.asarray(np.isnan(gt.images.sizes).any(axis=1)).tolist()
    by_path: dict[str, int] = {}
    by_stem: dict[str, list[int]] = {}
    for position, name in enumerate(gt.images.names):
        stem = os.path.splitext(name.replace("\\", "/"))[0]
        if not os.path.basename(stem) or missing[position]:
            label = gt.images.labels[position].item()
            raise DatasetError(f"{gt.source}: image {label!r}: expected a file name, a width and a height")
        by_path[stem] = position
        by_stem.setdefault(os.path.basename(stem), []).append(position)
    files, positions = [], []
    for name in text_files(folder):
        stem, file = os.path.splitext(name)[0], os.path.join(folder, name)
        found = by_stem.get(os.path.basename(stem), [])
        if stem in by_path and (len(found) == 1 or "/" in stem):
            found = [by_path[stem]]
        if len(found) > 1:
            raise DatasetError(
                f"{gt.source}: expected file names that differ but for the suffix, found {os.path.basename(stem)} twice"
            )
        if found:
            files.append(file)
            positions += found
        else:
            problems.meet("missing image", f"{file} has detections, but {gt.source} lists no image {stem}")
    return files, np.array(positions, np.int64)
