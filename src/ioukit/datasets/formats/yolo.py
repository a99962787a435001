"""YOLO's data sets: a text file for each image, as Ultralytics and Darknet have them."""

from __future__ import annotations

import csv
import dataclasses
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ioukit._array_types import Flags, Floats, Positions
from ioukit._checks import check_choice
from ioukit.datasets.columns._checks import OnInvalid
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.image_names import ImageFinder
from ioukit.datasets.formats.image_files import SUFFIXES, image_sizes
from ioukit.datasets.formats.known_names import ClassIds, required
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.text_files import (
    abbreviate,
    existing_folder,
    inside,
    is_name,
    names_of,
    refuse,
    shorter,
)
from ioukit.datasets.formats.written_names import image_file_names
from ioukit.datasets.formats.written_rows import image_places
from ioukit.datasets.formats.yolo_layout import SIZES, find_layout, names_near_detections, text_files
from ioukit.datasets.formats.yolo_rows import (
    FRACTIONS,
    Task,
    boxes_in_image,
    in_pixels,
    in_pixels_already,
    read_rows,
    region_arguments,
)
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    import numpy.typing as npt


_SETTINGS = (".yaml", ".yml", ".data")
_KINDS: dict[Task, str] = {"obb": "RotatedBoxes", "pose": "keypoints", "segment": "segmentations"}
"""The regions that the lines of a task hold."""


def recognises(path: Path) -> bool:
    """Whether the name is that of a file of settings, or the path is a folder with one, or with text files."""
    if not path.is_dir():
        return path.suffix.lower() in _SETTINGS
    try:
        names = {entry.name for entry in os.scandir(path)}
        inner = {entry.name for entry in os.scandir(path / "labels")} if "labels" in names else set()
    except OSError:
        return False
    return "data.yaml" in names or any(name.lower().endswith((".txt", ".data")) for name in names | inner)


def read_yolo(
    path: str | os.PathLike[str],
    *,
    split: str = "val",
    task: Task | None = None,
    clip: bool = False,
    images: str | os.PathLike[str] | None = None,
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
    at the edges of the image, and a note counts those that reach out by more than rounding. Pixels are fractions times
    the size of the image; a product that differs from a number of at most 7 digits behind the point by the rounding of
    doubles alone is that number. Sizes of images come from the headers of their files. An image may be a link to
    another place; a text file may not.

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
        clip: Whether to cut boxes that reach out of their image by more than 1 % of it, too. Such a box is often in
            pixels, or the corner where the centre should be; so without ``clip`` it is a problem.
        images: The folder of the images of a folder of text files, if they are neither in it nor beside it.
        on_invalid: ``"error"`` refuses a data set with a problem, ``"drop"`` leaves out the image, line or box and
            counts it. Problems are: an image that is listed or has labels but is missing, an image that is not one, a
            line with another number of numbers, a class out of range, a box without an area in its image, or one that
            reaches out by more than 1 %.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: How many threads read; all cores if ``None``.

    Raises:
        DatasetError: If there is a problem; names file and line, what was expected and what came.
        OSError: If a file cannot be read.
        ModuleNotFoundError: If PyYAML is not installed and the ``data.yaml`` has more than plain lines: ``pip install
            'ioukit[yolo]'``.

    Reference: Ultralytics, "Datasets overview", docs.ultralytics.com/datasets; A. Bochkovskiy, Darknet, README.
    """
    problems = Problems.of(on_invalid)
    return problems.noted_in(read_split(path, split, problems, task=task, clip=clip, images=images, threads=threads))


def read_yolo_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    task: Task | None = None,
    names: Sequence[str] | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,
) -> Detections:
    """Read a folder of text files with a line per detection, in fractions of the image, as Ultralytics writes them.

    A line is that of the ground truth with the score behind it: ``class cx cy w h score`` for boxes, and as
    :func:`read_yolo` lists for the other tasks. The keypoints of a detection have a score in the place of visibility.

    Args:
        path: The folder. A text file has the name of its image, but for the suffix; an image without one has no
            detections. Folders inside are searched, too.
        ground_truth: The data set of the images: it knows their names and sizes, and the classes.
        task: What the lines hold. If ``None``, it is found by the lengths of the lines: ``detect`` if they have 6
            numbers, ``pose`` or ``obb`` if the ground truth has keypoints or rotated boxes and all lengths fit, else
            ``segment``.
        names: The names of the classes in the order of their numbers, which start at 0; or the path of a file with a
            name per line. If ``None``, they are those of a ``data.yaml``, ``classes.txt`` or ``obj.names`` in the
            folder or in one of the two above. Without one, class 0 is the first category of the ground truth by rising
            id, class 1 the second, and so on.
        on_invalid: As for :func:`read_yolo`, but a box may reach out of its image, and may have no area. A class whose
            name the ground truth lacks is a problem, and so is a box whose centre or size is larger than 2: it is in
            pixels. A number beyond the list of classes is one for ``"drop"`` alone. Else it becomes an id that the
            ground truth lacks, which :func:`~ioukit.evaluate` refuses and :func:`~ioukit.checks.check` explains.
        threads: How many threads read; all cores if ``None``.

    Raises:
        DatasetError: If there is a problem, or no ``ground_truth``; names file and line, what was expected and what
            came.
        OSError: If a file cannot be read.
    """
    problems = Problems.of(on_invalid)
    existing_folder(path, "a folder of text files with detections")
    ground_truth = required(ground_truth, path, "sizes of images")
    files, positions = _of_images(path, ground_truth, problems)
    listed = names_near_detections(Path(path)) if names is None else names_of(names)
    ids, expected = _class_ids(listed, ground_truth)
    truth = ground_truth.regions
    rows = read_rows(
        files,
        problems,
        classes=None if problems.stop else len(ids),
        unknown=expected,
        scores=True,
        task=task,
        likely="obb" if "RotatedBoxes" in truth else "pose" if "keypoints" in truth else None,
        threads=threads,
    )
    images = positions[rows.files]
    sizes = ground_truth.images.sizes[images]
    dt = Detections.from_arrays(
        image_ids=ground_truth.images.labels[images],
        category_ids=_with_further(ids, rows.classes),
        boxes=in_pixels(np.hstack([rows.corners[:, :2], rows.sides]), np.tile(sizes, 2)),
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
    clip: bool = False,
    images: str | os.PathLike[str] | None = None,
    size_of: Callable[[Path], tuple[int, int]] | None = None,
    threads: int | None = None,
) -> GroundTruth:
    """Read a split as :func:`read_yolo` does.

    Args:
        path: What to read.
        split: The split to read.
        problems: Stops at problems or counts them. It also counts images without objects, as ``background``.
        task: What the lines hold; found by looking if ``None``.
        clip: As there.
        images: The folder of the images, for a folder of text files; found by looking if ``None``.
        size_of: Reads width and height of an image in another way, see :func:`image_sizes`.
        threads: How many threads read files; all cores if ``None``.

    Raises:
        DatasetError: If there is a problem that is not counted, or no image is left.
        OSError: If a file cannot be read.
    """
    layout = find_layout(Path(path), split, problems, images=images)
    known = layout.sizes
    if known is None:
        known = image_sizes(layout.files, problems, size_of=size_of, threads=threads).astype(np.float64)
    kept = np.flatnonzero(known[:, 0] > 0)
    if not len(kept):
        why = next(iter(problems.first.values()), "none is listed")
        raise DatasetError(f"{path}: {split}: no image can be used: {why}")
    sizes = known[kept]
    rows = read_rows(
        [layout.labels[at] for at in kept.tolist()],
        problems,
        classes=None if layout.names is None else len(layout.names),
        scores=False,
        task=task,
        keypoints=layout.keypoints if task in (None, "pose") else None,
        clip=clip,
        threads=threads,
    )
    of_rows = sizes[rows.files]
    notes = (*layout.notes, *rows.notes)
    names = layout.names
    if names is None:
        names = tuple(map(str, range(int(rows.classes.max(initial=0)) + 1)))
        notes = (*notes, f"{path}: no file names the classes; their numbers are their names")
    gt = GroundTruth.from_arrays(
        image_ids=rows.files,
        category_ids=rows.classes,
        boxes=boxes_in_image(rows.corners, of_rows),
        images=np.arange(len(kept)),
        sizes=sizes,
        names=[layout.images[at] for at in kept.tolist()],
        categories=dict(enumerate(names)),
        attributes={"fractions": rows.corners},
        image_attributes={"path": [layout.files[at] for at in kept.tolist()]},
        source=os.fspath(path),
        **region_arguments(rows, of_rows, os.fspath(path)),
    )
    images_of_names = dataclasses.replace(gt.images, made_up_ids=True)
    return dataclasses.replace(gt, images=images_of_names, notes=(*notes, *gt.notes))


def _class_ids(names: Sequence[str] | None, gt: GroundTruth) -> tuple[npt.NDArray[np.int64], dict[int, str]]:
    """The id of the class of each number, and words about the numbers whose class the ground truth lacks."""
    listed = gt.categories.names
    if names is None or tuple(names) == tuple(listed):
        return gt.categories.ids, {}
    known = ClassIds(gt)
    lacking = {
        number: f"class {number} is {abbreviate(name)}, which is not one of the {len(listed):,} classes of the ground "
        "truth; names=... names the classes of the numbers"
        for number, name in enumerate(names)
        if name not in known
    }
    return np.array([known.get(name, 0) for name in names], np.int64), lacking


def _with_further(ids: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """(N,) the id of each number; numbers beyond the list get ids above those of the list, one by one."""
    if not len(ids):
        return numbers
    further = numbers - len(ids)
    return np.where(further < 0, ids[np.minimum(numbers, len(ids) - 1)], ids.max() + 1 + further)


def _of_images(folder: str | os.PathLike[str], gt: GroundTruth, problems: Problems) -> tuple[list[str], Positions]:
    """The text files that belong to images, and the positions of these images."""
    missing = np.asarray(np.isnan(gt.images.sizes).any(axis=1)).tolist()
    by_path: dict[str, int] = {}
    by_stem: dict[str, list[int]] = {}
    for position, (name, label) in enumerate(zip(gt.images.names, gt.images.labels.tolist(), strict=True)):
        stem = os.path.splitext((name or str(label)).replace("\\", "/"))[0]
        if not os.path.basename(stem) or missing[position]:
            raise DatasetError(
                f"{gt.source}: image {label!r}: expected a file name, a width and a height, which make fractions "
                "pixels: give the folder of the images to the reader of the ground truth, images=FOLDER (--gt-option "
                "in a command)"
            )
        by_path[stem] = position
        by_stem.setdefault(os.path.basename(stem), []).append(position)
    finder: ImageFinder | None = None
    files, positions = [], []
    for name in text_files(folder):
        stem, file = os.path.splitext(name)[0], os.path.join(folder, name)
        found = by_stem.get(os.path.basename(stem), [])
        if stem in by_path and (len(found) == 1 or "/" in stem):
            found = [by_path[stem]]
        if not found:
            finder = finder or ImageFinder(gt)
            found = [at for at in finder.places([stem]).tolist() if at >= 0]
        if len(found) > 1:
            refuse(gt.source, "file names that differ but for the suffix", f"{os.path.basename(stem)} twice")
        if found:
            files.append(file)
            positions += found
        else:
            problems.meet("missing image", f"{file} has detections, but {gt.source} lists no image {stem}")
    return files, np.array(positions, np.int64)


def write_yolo(
    ground_truth: GroundTruth,
    path: Path,
    *,
    split: str = "val",
    task: Task | None = None,
    digits: int | None = None,
    images: Literal["none", "copy", "link"] = "none",
    image_folder: str | os.PathLike[str] | None = None,
) -> list[str]:
    """Write one split as a ``data.yaml``, a text file for each image in ``labels/``, and perhaps ``images/``.

    Numbers are fractions of the image. Boxes whose pixels have at most 7 digits behind the point come back exactly, see
    :func:`read_yolo`; others with an error of the last bits, and a note tells the largest one. Boxes are cut at the
    edges of the image, and objects without an area inside of it are left out.

    Args:
        ground_truth: What to write. Classes get the numbers 0, 1, ... in the order of their ids.
        path: An empty folder.
        split: The name of the split, such as ``"train"``.
        task: What the lines hold, see :func:`read_yolo`. If ``None``, the first that the ground truth has: rotated
            boxes, keypoints, segmentations, boxes. Of segmentations, one polygon per object can be written; objects
            with several, or with RLE, become boxes.
        digits: How many digits follow the point. If ``None``, as many as the double needs.
        images: ``"copy"`` copies the images to ``images/``, ``"link"`` makes links to them. ``"none"`` writes a table
            ``sizes.csv`` beside the text files instead.
        image_folder: Where the images are. If ``None``, their attribute ``path`` tells.

    Returns:
        A note for each kind of loss.

    Raises:
        DatasetError: If an image has no size, or a name that cannot be that of a file in the folder; if two names
            differ by the suffix alone, or an image to copy is missing.
    """
    check_choice("images", images, ("none", "copy", "link"))
    _check_digits(digits)
    if split in ("", ".", "..", "names", "path") or "/" in split or "\\" in split:
        raise ValueError(f"split must be the name of a folder, got {split!r}")
    gt = ground_truth
    names = _file_names(gt)
    if not all(map(str.strip, gt.categories.names)):
        refuse(gt.source, "classes with names", "a name without a letter or sign")
    chosen = _task(gt, task)
    positions = image_places(gt, gt.images)
    sizes = gt.images.sizes[positions]
    cut, kept, notes = _cut_boxes(gt.boxes, sizes, with_points=chosen in ("segment", "obb"))
    classes = np.searchsorted(gt.categories.ids, gt.category_ids)
    lines, others = _line_texts(gt, chosen, classes, cut, sizes, None, digits)
    rows = np.flatnonzero(kept)
    labels = path / "labels" / split
    labels.mkdir(parents=True)
    _write_files(labels, names, positions[rows], [lines[row] for row in rows.tolist()], all_images=True)
    _write_settings(path, split, gt, chosen)
    if images == "none":
        with open(labels / SIZES, "w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(("name", "width", "height"))
            listed = zip(names, gt.images.sizes.tolist(), strict=True)
            table.writerows((name, *map(shorter, size)) for name, size in listed)
    else:
        _place_images(gt, names, path / "images" / split, images, image_folder)
    holds = Holds(
        regions=frozenset([_KINDS[chosen]] if chosen in _KINDS else []),
        attributes=frozenset(["fractions"]),
        image_attributes=frozenset(["path"]),
        unused_categories=True,
        category_ids=np.array_equal(gt.categories.ids, np.arange(len(gt.categories))),
    )
    as_is = np.hstack([cut[:, :2], cut[:, 2:] - cut[:, :2]])
    inside_image = np.asarray((np.abs(as_is - gt.boxes) <= 1e-9 * np.tile(sizes, 2)).all(axis=1))
    wanted = np.where(inside_image[:, None], gt.boxes, as_is)
    rounding = _rounding(wanted[kept], cut[kept], sizes[kept], digits, chosen, cut=True)
    return [*notes, *others, *rounding, *left_out_columns(gt, holds)]


def write_yolo_detections(
    detections: Detections,
    path: Path,
    *,
    ground_truth: GroundTruth | None = None,
    task: Task | None = None,
    digits: int | None = None,
) -> list[str]:
    """Write a text file for each image with detections, with lines as :func:`read_yolo_detections` reads them.

    The file ``classes.txt`` has the names of the classes, unless a name is no line of a file.

    Args:
        detections: What to write.
        path: An empty folder.
        ground_truth: The data set of the images, with their names and sizes, and of the classes.
        task: As for :func:`write_yolo`.
        digits: As for :func:`write_yolo`.

    Returns:
        A note for each kind of loss.

    Raises:
        DatasetError: If there is no ground truth, if it lacks an image or a class, if a box is so far out of its image
            that the reader refuses it, or as for :func:`write_yolo`.
    """
    _check_digits(digits)
    ground_truth = required(ground_truth, detections.source, "sizes of images")
    dt, listed = detections.known_to(ground_truth), ground_truth.images
    names = _file_names(ground_truth)
    chosen = _task(dt, task)
    positions = image_places(dt, listed)
    sizes = listed.sizes[positions]
    classes = np.searchsorted(ground_truth.categories.ids, dt.category_ids)
    corners = np.hstack([dt.boxes[:, :2], dt.boxes[:, :2] + dt.boxes[:, 2:]])
    lines, others = _line_texts(dt, chosen, classes, corners, sizes, dt.scores, digits)
    _write_files(path, names, positions, lines, all_images=False)
    classes_named = ground_truth.categories.names
    if classes_named and all(is_name(name) and name == name.strip() and "\n" not in name for name in classes_named):
        # Else the numbers could be taken for those of a list of names in a folder above.
        (path / "classes.txt").write_bytes("".join(f"{name}\n" for name in classes_named).encode())
    holds = Holds(regions=frozenset([_KINDS[chosen]] if chosen in _KINDS else []))
    return [*others, *_rounding(dt.boxes, corners, sizes, digits, chosen, cut=False), *left_out_columns(dt, holds)]


def _check_digits(digits: int | None) -> None:
    if digits is not None and digits not in range(1, 18):
        raise ValueError(f"digits must be from 1 to 17, or None for all of a double, got {digits!r}")


def _task(data: GroundTruth | Detections, task: Task | None) -> Task:
    if task is None:
        return next((known for known, kind in _KINDS.items() if kind in data.regions), "detect")
    check_choice("task", task, get_args(Task))
    if task in _KINDS and _KINDS[task] not in data.regions:
        raise ValueError(f"task {task!r} needs {_KINDS[task]}, which {data.source} does not have")
    return task


def _file_names(gt: GroundTruth) -> list[str]:
    """The name of the file of each image. All images must have sizes."""
    for label, size in zip(gt.images.labels.tolist(), gt.images.sizes.tolist(), strict=True):
        if not all(0 < side < np.inf for side in size):
            raise DatasetError(
                f"{gt.source}: image {label!r}: expected a width and a height, which fractions need, found none; to "
                "give them, write a table (--to csv), add the columns image_width and image_height, and convert that"
            )
    names = image_file_names(gt)
    if listed := next((name for name in names if os.path.splitext(os.path.basename(name))[0] == "classes"), None):
        refuse(gt.source, "images whose text files are not taken for a list of classes", abbreviate(listed))
    return names


def _cut_boxes(boxes: Floats, sizes: Floats, *, with_points: bool) -> tuple[Floats, Flags, list[str]]:
    """Corners inside of the image, which objects have an area there, and notes about what is lost."""
    corners = np.hstack([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]])
    limits = np.tile(sizes, 2)
    inside_image = corners.clip(0, limits)
    kept = np.asarray((inside_image[:, 2:] > inside_image[:, :2]).all(axis=1))
    notes = []
    if not kept.all():
        notes.append(f"{int((~kept).sum()):,} objects without an area inside of their image")
    # What rounding moves over the edge is no loss to speak of.
    changed = (np.abs(inside_image - corners) > 1e-9 * limits).any(axis=1) & kept
    if changed.any():
        what = "boxes that reach out of their image: they are cut at its edges"
        notes.append(f"{int(changed.sum()):,} {what}{', and so are points' if with_points else ''}")
    return inside_image, kept, notes


def _line_texts(
    data: GroundTruth | Detections,
    task: Task,
    classes: npt.NDArray[Any],
    corners: Floats,
    sizes: Floats,
    scores: Floats | None,
    digits: int | None,
) -> tuple[list[str], list[str]]:
    """The line of each row, and notes about rows whose regions cannot be written."""
    centred = _centred(corners, sizes)
    numbers: list[list[float]] = centred.tolist()
    notes = []
    if task == "obb":
        points = data.regions["RotatedBoxes"].corners() / sizes[:, None]
        numbers = _inside_image(points, scores).reshape(-1, 8).tolist()
    elif task == "pose":
        from ioukit.datasets.columns.keypoints import decode_keypoints  # noqa: PLC0415 - few data sets have them

        array = "annotations" if scores is None else "detections"
        keypoints = decode_keypoints(data.regions["keypoints"], source=data.source, array=array).copy()
        keypoints[..., :2] /= sizes[:, None]
        numbers = np.hstack([centred, keypoints.reshape(len(keypoints), -1)]).tolist()
    elif task == "segment":
        others = 0
        for row, polygons in enumerate(data.regions["segmentations"]):
            if isinstance(polygons, list) and len(polygons) == 1 and len(polygons[0]) >= 6:
                points = np.array(polygons[0], np.float64).reshape(-1, 2) / sizes[row]
                numbers[row] = _inside_image(points, scores).ravel().tolist()
            else:
                others += polygons is not None
        if others:
            notes.append(f"masks of {others:,} objects that are not one polygon: their boxes remain")
    if scores is not None:
        _check_fractions(data, task, numbers)
        numbers = [[*row, score] for row, score in zip(numbers, scores.tolist(), strict=True)]
    written = repr if digits is None else f"{{:.{digits}f}}".format
    rows = zip(classes.tolist(), numbers, strict=True)
    return [" ".join([str(label), *map(written, row)]) for label, row in rows], notes


def _check_fractions(data: GroundTruth | Detections, task: Task, numbers: Sequence[Sequence[float]]) -> None:
    """Refuse detections so far out of their image that the reader takes them for pixels."""
    plain = np.array([task == "pose" or len(row) == 4 for row in numbers], np.bool_)
    corners = np.zeros((len(numbers), 4))
    for at, row in enumerate(numbers):
        if plain[at]:
            x, y, width, height = row[:4]
            corners[at] = x - width / 2, y - height / 2, x + width / 2, y + height / 2
        else:
            corners[at] = min(row[::2]), min(row[1::2]), max(row[::2]), max(row[1::2])
    out = np.flatnonzero(in_pixels_already(corners, plain))
    if len(out):
        raise DatasetError(f"{data.source}: row {out[0]}: {FRACTIONS}, got {abbreviate(numbers[out[0]])}")


def _centred(corners: Floats, sizes: Floats) -> Floats:
    """(N, 4) centres and sides of boxes, in fractions of the image."""
    fractions = corners / np.tile(sizes, 2)
    return np.hstack([(fractions[:, :2] + fractions[:, 2:]) / 2, (corners[:, 2:] - corners[:, :2]) / sizes])


def _inside_image(points: Floats, scores: Floats | None) -> Floats:
    """Points of ground truth lie inside of the image."""
    return points.clip(0, 1) if scores is None else points


def _write_files(
    folder: Path, names: Sequence[str], positions: npt.NDArray[Any], lines: Sequence[str], *, all_images: bool
) -> None:
    of_image: dict[int, list[str]] = {at: [] for at in range(len(names))} if all_images else {}
    for position, line in zip(positions.tolist(), lines, strict=True):
        of_image.setdefault(position, []).append(line + "\n")
    for inner in {os.path.dirname(names[at]) for at in of_image} - {""}:
        (folder / inner).mkdir(parents=True, exist_ok=True)
    for at, text in of_image.items():
        with open(os.path.join(folder, os.path.splitext(names[at])[0] + ".txt"), "wb") as file:
            file.write("".join(text).encode())


def _write_settings(path: Path, split: str, gt: GroundTruth, task: Task) -> None:
    lines = [f"{_quoted(split)}: {_quoted(f'images/{split}')}", "names:"]
    lines += [f"  {number}: {_quoted(name)}" for number, name in enumerate(gt.categories.names)]
    if task == "pose":
        from ioukit.datasets.columns.keypoints import decode_keypoints  # noqa: PLC0415 - few data sets have them

        points = decode_keypoints(gt.regions["keypoints"], source=gt.source, array="annotations").shape[1]
        lines.append(f"kpt_shape: [{points}, 3]")
    (path / "data.yaml").write_bytes(("\n".join(lines) + "\n").encode())


def _quoted(text: str) -> str:
    """A YAML string in double quotes; what is not printable is escaped."""
    escaped = (
        f"\\{character}" if character in '"\\' else character if character.isprintable() else f"\\U{ord(character):08x}"
        for character in text
    )
    return f'"{"".join(escaped)}"'


def _place_images(
    gt: GroundTruth,
    names: Iterable[str],
    folder: Path,
    how: Literal["copy", "link"],
    image_folder: str | os.PathLike[str] | None,
) -> None:
    """Copies the images to a folder, or links to them there."""
    given = gt.images.attributes.get("path")
    if image_folder is None and given is None:
        raise DatasetError(
            f"{gt.source}: expected image_folder=, because the data set does not say where its images are"
        )
    for at, name in enumerate(names):
        where = f"{gt.source}: image {gt.images.labels[at].item()!r}"
        if os.path.splitext(name)[1].lower() not in SUFFIXES:
            refuse(where, "a name that ends like an image", abbreviate(name))
        source = inside(Path(image_folder), name, where) if image_folder is not None else Path(str(given[at]))  # type: ignore[index]
        if not source.is_file():
            refuse(where, f"the file {source}", "none")
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if how == "copy":
            shutil.copyfile(source, target)
        else:
            target.symlink_to(source.resolve())


def _rounding(boxes: Floats, corners: Floats, sizes: Floats, digits: int | None, task: Task, *, cut: bool) -> list[str]:
    """A note about the largest error of a number that is read back; ``cut`` if the reader cuts boxes at the edges."""
    if not len(boxes) or task in ("segment", "obb"):
        return []
    values = _centred(corners, sizes)
    if digits is not None:
        values = values.round(digits)
    low, high = values[:, :2] - values[:, 2:] / 2, values[:, :2] + values[:, 2:] / 2
    if cut:
        again = boxes_in_image(np.hstack([low, high]), sizes)
    else:
        again = in_pixels(np.hstack([low, values[:, 2:]]), np.tile(sizes, 2))
    error = np.abs(again - boxes).max()
    return [f"the last digits of boxes, which are fractions: at most {error:.2g} pixels"] if error > 0 else []
