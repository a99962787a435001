"""Open Images' CSV files: boxes of objects, labels of images, names of classes, and detections."""

from __future__ import annotations

import csv
import dataclasses
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ioukit.datasets.columns._checks import OnInvalid
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.hierarchy import NAMES, NEGATIVE, POSITIVE, ClassHierarchy
from ioukit.datasets.columns.id_lists import IdLists
from ioukit.datasets.formats.csv_tables import CsvTable, first_row
from ioukit.datasets.formats.known_names import ClassIds, required
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.text_files import abbreviate, files_in, refuse
from ioukit.datasets.formats.written_rows import check_column, image_places
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from ioukit.datasets.columns.images import Images


_NAMED = ("ImageID", "LabelName")
_MOST_DIGITS = 15
"""An id of fewer digits than 2**53 has; longer ones are refused before Python counts them."""
AnyPath: TypeAlias = "str | os.PathLike[str]"
_CORNERS = ("XMin", "XMax", "YMin", "YMax")
_FLAGS = {
    "IsGroupOf": "group_of",
    "IsOccluded": "occluded",
    "IsTruncated": "truncated",
    "IsDepiction": "depiction",
    "IsInside": "inside",
}
"""The columns of flags, and the names of the flags."""
_MOST_OUTSIDE = 0.001
"""The fraction of an image that a box may reach out of it: pixels are larger."""
_MOST_OUTSIDE_FOUND = 1.0
"""The same for detections: boxes that a detector has not cut reach out further than by rounding."""


class _Files(NamedTuple):
    """The files of one ground truth."""

    boxes: AnyPath
    labels: AnyPath | None
    classes: AnyPath | None
    hierarchy: AnyPath | None


class _Classes(NamedTuple):
    """The classes by their names in the files, such as ``/m/01yrx``."""

    ids: dict[str, int]
    titles: dict[str, str]


def recognises(path: Path) -> bool:
    """Whether a path is a CSV file of boxes, or a folder with one."""
    try:
        files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
    except OSError:
        return False
    return any(file.suffix.lower() == ".csv" and _kind(file) in ("boxes", "detections") for file in files)


def read_open_images(
    path: str | os.PathLike[str],
    *,
    labels: str | os.PathLike[str] | None = None,
    classes: str | os.PathLike[str] | None = None,
    hierarchy: ClassHierarchy | str | os.PathLike[str] | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,
) -> GroundTruth:
    """Read the ground truth of Open Images.

    Boxes are fractions of the image (:attr:`GroundTruth.normalized`), because the files do not have the sizes of
    images; :func:`ioukit.datasets.read` makes them pixels if it gets the folder of the ``images``. The ids of images
    are strings. The flags are ``group_of``, ``occluded``, ``truncated``, ``depiction`` and ``inside``; -1 (unknown) is
    false. With labels, the images have the attributes ``positive_category_ids`` and ``negative_category_ids``, each an
    :class:`~ioukit.datasets.IdLists`. The categories have the attribute ``label_name``, such as ``/m/01yrx``.

    Args:
        path: A CSV file of boxes with the columns ``ImageID``, ``LabelName``, ``XMin``, ``XMax``, ``YMin``, ``YMax``,
            or a folder. A folder must have one file of boxes, and may have one each of the following, which are found
            by their columns: ``labels``, ``classes`` (with ``class`` in its name), and ``hierarchy`` (JSON).
        labels: A CSV file of image labels with the columns ``ImageID``, ``LabelName`` and ``Confidence``: 1 if the
            class is present, 0 if it is absent.
        classes: A CSV file with the name of a class in the first column, its title in the second, and perhaps its id in
            the third. Other ids are the positions in the file, from 1 on. If ``None``, the classes are those of the
            boxes and labels, sorted.
        hierarchy: Which classes are kinds of which, see :class:`ClassHierarchy`. Objects and labels are expanded, see
            :meth:`ClassHierarchy.expand_ground_truth`. Leave it out if the files are expanded already.
        on_invalid: ``"error"`` refuses a row that is invalid, ``"drop"`` leaves it out and counts it. ``"pycocotools"``
            is the same as ``"error"``.
        threads: How many threads read; all cores if ``None``.

    Raises:
        DatasetError: If a file is invalid; it names file, line and column, what was expected and what was found.
        OSError: If a file cannot be read.
    """
    problems = Problems.of(on_invalid)
    files = _Files(path, labels, classes, None)
    if os.path.isdir(path):
        files = _files_in(Path(path), files, problems, any_hierarchy=hierarchy is None)
    tree = files.hierarchy if hierarchy is None else hierarchy
    if not (tree is None or isinstance(tree, ClassHierarchy)):
        tree = ClassHierarchy.read(tree)
    boxes = CsvTable(files.boxes, text=_NAMED, numbers=(*_CORNERS, *_FLAGS), threads=threads)
    boxes.require((*_NAMED, *_CORNERS))
    labelled = None
    if files.labels is not None:
        labelled = CsvTable(files.labels, text=_NAMED, numbers=("Confidence",), threads=threads)
        labelled.require(("ImageID", "LabelName", "Confidence"))
    known = _classes(files.classes, boxes, labelled, tree)
    notes: list[str] = []
    good = np.ones(len(boxes), np.bool_)
    corners = _read_corners(boxes, good, problems, inside=True)
    categories = _category_ids(boxes, known, good, problems)
    flags = {flag: _flag(boxes, name, good, problems) for name, flag in _FLAGS.items() if name in boxes.names}
    image_rows, image_names = boxes.codes("ImageID")
    named = image_names.array()
    # A column is copied only if rows are left out of it.
    kept = slice(None) if good.all() else good
    listed = named[np.bincount(image_rows[kept], minlength=len(named)) > 0]
    attributes: dict[str, IdLists] = {}
    if labelled is not None:
        listed, attributes = _labelled_images(labelled, listed, known, problems, notes)
    # Sorting a million strings takes longer than reading them, so images are numbered here.
    positions = np.searchsorted(listed, named)
    gt = GroundTruth.from_arrays(
        image_ids=positions[image_rows[kept]] + 1,
        category_ids=categories[kept],
        boxes=corners[kept],
        flags={name: flag[kept] for name, flag in flags.items()},
        images=np.arange(1, len(listed) + 1),
        categories={number: known.titles.get(name, name) for name, number in known.ids.items()},
        image_attributes=attributes,
        category_attributes={NAMES: np.array(list(known.ids), np.str_)},
        normalized=True,
        source=os.fspath(path),
    )
    gt = dataclasses.replace(gt, images=dataclasses.replace(gt.images, keys=listed), notes=(*notes, *gt.notes))
    gt = problems.noted_in(gt)
    return gt if tree is None else tree.expand_ground_truth(gt)


def read_open_images_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    hierarchy: ClassHierarchy | str | os.PathLike[str] | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,
) -> Detections:
    """Read detections in the CSV format of the Open Images Challenge's evaluation.

    Args:
        path: A CSV file with the columns ``ImageID``, ``LabelName``, ``Score``, ``XMin``, ``XMax``, ``YMin``, ``YMax``.
            Boxes may reach out of the image by up to its width or height, and may have no area.
        ground_truth: The data set of the classes: its categories have the attribute ``label_name``, or names like those
            in the file.
        hierarchy: If given, each detection gets a copy for every class above its own, with the same score.
        on_invalid: As for :func:`read_open_images`.
        threads: How many threads read; all cores if ``None``.

    Raises:
        DatasetError: If the file is invalid, or no ``ground_truth`` is given; it names file, line and column, what was
            expected and what was found.
        OSError: If the file cannot be read.
    """
    problems = Problems.of(on_invalid)
    if os.path.isdir(path):
        refuse(str(path), "a CSV file of detections", "a folder")
    ground_truth = required(ground_truth, path, "ids of classes")
    table = CsvTable(path, text=_NAMED, numbers=("Score", *_CORNERS), threads=threads)
    table.require((*_NAMED, "Score", *_CORNERS))
    listed = ground_truth.categories
    named: dict[str, int] = ClassIds(ground_truth)
    if NAMES in listed.attributes:
        named = dict(zip(listed.attributes[NAMES].tolist(), listed.ids.tolist(), strict=True))
    known = _Classes(named, {})
    good = np.ones(len(table), np.bool_)
    corners = _read_corners(table, good, problems, inside=False)
    scores = table.numbers("Score", good, problems)
    categories = _category_ids(table, known, good, problems)
    image_rows, image_names = table.codes("ImageID")
    kept = np.flatnonzero(np.bincount(image_rows[good], minlength=len(image_names)))
    dt = Detections.from_arrays(
        image_ids=np.searchsorted(kept, image_rows[good]),
        category_ids=categories[good],
        boxes=corners[good],
        scores=scores[good],
        normalized=True,
        source=os.fspath(path),
    )
    dt = problems.noted_in(dataclasses.replace(dt, image_keys=image_names.array()[kept]))
    if hierarchy is None:
        return dt
    tree = hierarchy if isinstance(hierarchy, ClassHierarchy) else ClassHierarchy.read(hierarchy)
    return tree.expand_detections(dt, listed)


def _kind(file: Path) -> str:
    """What a CSV file has, by its first row: boxes, detections, labels, classes, or something else."""
    columns = {name.strip() for name in first_row(file)}
    if {"ImageID", "LabelName"} <= columns:
        if columns.issuperset(_CORNERS):
            return "detections" if "Score" in columns else "boxes"
        return "labels" if "Confidence" in columns else ""
    return "classes" if "class" in file.name.lower() and len(columns) in (2, 3) else ""


def _is_hierarchy(file: Path) -> bool:
    try:
        tree = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(tree, Mapping) and "LabelName" in tree and "Subcategory" in tree


def _files_in(folder: Path, given: _Files, problems: Problems, *, any_hierarchy: bool) -> _Files:
    """The files in a folder; those that were given replace the ones that are found."""
    found: dict[str, list[Path]] = {"boxes": [], "labels": [], "classes": [], "hierarchy": []}
    for file in files_in(folder, "*.csv", "a folder with CSV files", problems):
        found.get(_kind(file), []).append(file)
    if any_hierarchy:
        files = files_in(folder, "*.json", "a folder with CSV files")
        found["hierarchy"] = list(filter(_is_hierarchy, files))
    chosen = given._asdict() | {"boxes": None}
    for kind in (kind for kind, file in chosen.items() if file is None):
        if len(found[kind]) > 1:
            names = " and ".join(file.name for file in found[kind])
            refuse(str(folder), f"one file of {kind}", f"{names}: name the file instead of the folder")
        chosen[kind] = next(iter(found[kind]), None)
    if chosen["boxes"] is None:
        raise DatasetError(f"{folder}: expected a CSV file with the columns ImageID, LabelName, {', '.join(_CORNERS)}")
    return _Files(**chosen)


def _classes(path: AnyPath | None, boxes: CsvTable, labelled: CsvTable | None, tree: ClassHierarchy | None) -> _Classes:
    """The classes of a file; without one those of the boxes and labels, and those above and below them."""
    if path is None:
        names = set(boxes.codes("LabelName").names)
        names |= set() if labelled is None else set(labelled.codes("LabelName").names)
        if tree is not None:
            names |= {above for name in names for above in tree.ancestors.get(name, ())}
        return _Classes({name: number for number, name in enumerate(sorted(names), 1)}, {})
    first = first_row(path)
    columns = ["LabelName", "DisplayName", "ID"][: max(2, min(len(first), 3))]
    table = CsvTable(path, names=columns)
    start = int("LabelName" in first[:1])
    known = _Classes({}, {})
    taken: dict[int, int] = {}
    listed, titles, *numbers = map(table.text, columns)
    for row in range(start, len(table)):
        name, number = listed[row], row - start + 1
        if len(columns) == 3:
            digits = numbers[0][row]
            if not digits.isdecimal():
                table.fail(row, "ID", "a whole number")
            if len(digits) > _MOST_DIGITS:
                table.fail(row, "ID", f"a whole number of at most {_MOST_DIGITS} digits")
            number = int(digits)
        if name in known.ids or not name:
            table.fail(row, "LabelName", "a class that differs from those before")
        if taken.setdefault(number, row) != row:
            table.fail(row, "ID", "a number that differs from those before")
        known.ids[name], known.titles[name] = number, titles[row]
    return known


def _read_corners(
    table: CsvTable, good: npt.NDArray[np.bool_], problems: Problems, *, inside: bool
) -> npt.NDArray[np.float64]:
    """(N, 4) boxes ``[x, y, width, height]`` in fractions of the image."""
    low_x, high_x, low_y, high_y = (table.numbers(name, good, problems) for name in _CORNERS)
    most = _MOST_OUTSIDE if inside else _MOST_OUTSIDE_FOUND
    within = "[0, 1]" if inside else "[-1, 2]"
    for name, values in zip(_CORNERS, (low_x, high_x, low_y, high_y), strict=True):
        outside = (values < -most) | (values > 1 + most)
        table.refuse(outside, name, f"a fraction of the image, within {within}", good, problems)
    for (low_name, high_name), low, high in ((_CORNERS[:2], low_x, high_x), (_CORNERS[2:], low_y, high_y)):
        table.refuse(high < low, high_name, f"at least {low_name}", good, problems)
    return np.stack([low_x, low_y, high_x - low_x, high_y - low_y], axis=1)


def _category_ids(
    table: CsvTable, known: _Classes, good: npt.NDArray[np.bool_], problems: Problems
) -> npt.NDArray[np.int64]:
    rows, names = table.codes("LabelName")
    ids = np.array([known.ids.get(name, -1) for name in names], np.int64)[rows]
    table.refuse(ids < 0, "LabelName", f"one of the {len(known.ids):,} classes", good, problems)
    return ids


def _flag(table: CsvTable, name: str, good: npt.NDArray[np.bool_], problems: Problems) -> npt.NDArray[np.bool_]:
    values = table.numbers(name, good, problems)
    flagged: npt.NDArray[np.bool_] = values == 1
    known = flagged | (values == 0) | (values == -1)
    table.refuse(~known, name, "0, 1, or -1 for unknown", good, problems)
    return flagged


def _labelled_images(
    table: CsvTable, images: npt.NDArray[np.str_], known: _Classes, problems: Problems, notes: list[str]
) -> tuple[npt.NDArray[np.str_], dict[str, IdLists]]:
    """All images, sorted, and which categories are known to be present and absent on each."""
    good = np.ones(len(table), np.bool_)
    confidence = table.numbers("Confidence", good, problems)
    expected = "1 for a class that is present, or 0 for one that is absent"
    table.refuse(~np.isin(confidence, (0, 1)), "Confidence", expected, good, problems)
    image_rows, image_names = table.codes("ImageID")
    label_rows, label_names = table.codes("LabelName")
    named = image_names.array()
    images = np.union1d(images, named[np.bincount(image_rows[good], minlength=len(named)) > 0])
    ids = np.array([known.ids.get(name, -1) for name in label_names], np.int64)[label_rows]
    listed = good & (ids >= 0)
    if others := int((good & ~listed).sum()):
        notes.append(f"{table.path}: {others:,} labels of classes that are not among the {len(known.ids):,} left out")
    place = np.searchsorted(images, named)[image_rows]
    lists = []
    for chosen in (listed & (confidence != 0), listed & (confidence == 0)):
        pairs = np.unique(np.stack([place[chosen], ids[chosen]], axis=1), axis=0)
        lists.append(IdLists(pairs[:, 1].copy(), np.searchsorted(pairs[:, 0], np.arange(len(images)), side="right")))
    return images, dict(zip((POSITIVE, NEGATIVE), lists, strict=True))


def write_open_images(ground_truth: GroundTruth, path: Path) -> list[str]:
    """Write ``annotations-bbox.csv`` and ``class-descriptions.csv``, and the labels of images if there are some.

    Boxes are fractions of the image, and are cut at its edges. They come back as fractions
    (:attr:`GroundTruth.normalized`), because the files do not have the sizes of images.

    Args:
        ground_truth: What to write: boxes in fractions, or in pixels of images whose sizes are known. The names of the
            classes in the files are their attribute ``label_name``, or their names.
        path: An empty folder.

    Returns:
        A note for each kind of loss.

    Raises:
        DatasetError: If boxes are in pixels and the size of an image is not known, or if two images or classes have
            one name.
    """
    gt = ground_truth
    images = _image_ids(gt)
    classes = _class_names(gt)
    positions = image_places(gt, gt.images)
    corners = _fractions(gt, positions, gt.images)
    inside = corners.clip(0, 1)
    notes = []
    if cut := int((np.abs(inside - corners) > 1e-9).any(axis=1).sum()):
        notes.append(f"{cut:,} boxes that reach out of their image: they are cut at its edges")
    flags = {column: gt.flags[name].astype(np.int64).tolist() for column, name in _FLAGS.items() if name in gt.flags}
    named = [classes[at] for at in np.searchsorted(gt.categories.ids, gt.category_ids).tolist()]
    of_image = [images[at] for at in positions.tolist()]
    rows = zip(of_image, named, *inside[:, [0, 2, 1, 3]].T.tolist(), *flags.values(), strict=True)
    _write_table(path / "annotations-bbox.csv", ("ImageID", "LabelName", *_CORNERS, *flags), rows)
    described = zip(classes, gt.categories.names, gt.categories.ids.tolist(), strict=True)
    _write_table(path / "class-descriptions.csv", ("LabelName", "DisplayName", "ID"), described)
    labels: list[tuple[str, str, int]] = []
    by_id = dict(zip(gt.categories.ids.tolist(), classes, strict=True))
    for name, confidence in ((POSITIVE, 1), (NEGATIVE, 0)):
        for image, ids in zip(images, gt.images.attributes.get(name, ()), strict=False):
            labels += [(image, by_id[number], confidence) for number in ids.tolist()]
    if labels:
        _write_table(path / "annotations-human-imagelabels.csv", ("ImageID", "LabelName", "Confidence"), labels)
    if missing := len(set(images) - set(of_image) - {image for image, *_ in labels}):
        notes.append(f"{missing:,} images without objects")
    holds = Holds(
        flags=frozenset(_FLAGS.values()),
        image_attributes=frozenset((POSITIVE, NEGATIVE)),
        category_attributes=frozenset((NAMES,)),
        image_sizes=False,
        category_ids=True,
        unused_categories=True,
    )
    return [*notes, *left_out_columns(gt, holds)]


def write_open_images_detections(
    detections: Detections, path: Path, *, ground_truth: GroundTruth | None = None
) -> list[str]:
    """Write the CSV file of detections that the challenge's evaluation reads.

    Args:
        detections: What to write.
        path: The file.
        ground_truth: The data set of the images and classes. Boxes in pixels become fractions of its images.

    Returns:
        A note for each kind of loss.

    Raises:
        DatasetError: If there is no ground truth, if it lacks an image or a class, if a box is so far out of its image
            that the reader refuses it, or as for :func:`write_open_images`.
    """
    ground_truth = required(ground_truth, detections.source)
    dt, listed = detections.known_to(ground_truth), ground_truth.images
    images, classes = _image_ids(ground_truth), _class_names(ground_truth)
    positions = image_places(dt, listed)
    corners = _fractions(dt, positions, listed)
    out = np.flatnonzero((corners < -_MOST_OUTSIDE_FOUND).any(axis=1) | (corners > 1 + _MOST_OUTSIDE_FOUND).any(axis=1))
    if len(out):
        found = abbreviate(corners[out[0]].tolist())
        refuse(f"{dt.source}: row {out[0]}", "corners in fractions of the image, within [-1, 2]", found)
    of_image = [images[at] for at in positions.tolist()]
    named = [classes[at] for at in np.searchsorted(ground_truth.categories.ids, dt.category_ids).tolist()]
    rows = zip(of_image, named, dt.scores.tolist(), *corners[:, [0, 2, 1, 3]].T.tolist(), strict=True)
    _write_table(path, ("ImageID", "LabelName", "Score", *_CORNERS), rows)
    return left_out_columns(dt, Holds())


def _write_table(path: Path, names: Sequence[str], rows: Iterable[Any]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(names)
        table.writerows(rows)


def _fractions(
    data: GroundTruth | Detections, positions: npt.NDArray[np.int64], images: Images
) -> npt.NDArray[np.float64]:
    """(N, 4) corners x1, y1, x2, y2 in fractions of the image."""
    corners = np.hstack([data.boxes[:, :2], data.boxes[:, :2] + data.boxes[:, 2:]])
    if data.normalized:
        return corners
    sizes = images.sizes[positions]
    unknown = np.isnan(sizes).any(axis=1)
    if unknown.any():
        label = images.labels[positions[unknown.argmax()]].item()
        refuse(f"{data.source}: image {label!r}", "a width and a height, which fractions need", "none")
    return np.asarray(corners / np.tile(sizes, 2))


def _image_ids(gt: GroundTruth) -> list[str]:
    """The id of each image in the files: its id if that is a string, else the name of its file without suffix."""
    labels = [str(label) for label in gt.images.labels.tolist()]
    if gt.images.keys is not None:
        return labels
    names = [os.path.splitext(name)[0] or label for name, label in zip(gt.images.names, labels, strict=True)]
    if len(set(names)) < len(names):
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        refuse(gt.source, "images of different names", f"{abbreviate(twice)} twice")
    return names


def _class_names(gt: GroundTruth) -> list[str]:
    """The name of each class in the files. Readers take ids of at least 0 with few digits."""
    if (gt.categories.ids < 0).any():
        refuse(gt.source, "ids of classes of at least 0", str(gt.categories.ids.min()))
    check_column(gt.categories.ids, "id of the class", gt.source, highest=10.0**_MOST_DIGITS - 1)
    column = gt.categories.column(NAMES)
    names = [str(name) for name in (gt.categories.names if column is None else column.tolist())]
    if len(set(names)) < len(names) or "" in names or "LabelName" in names:
        refuse(gt.source, "names of classes that differ", abbreviate(", ".join(names)))
    return names
