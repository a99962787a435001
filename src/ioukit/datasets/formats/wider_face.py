"""WIDER FACE's lists of faces, and results: a text file per image, in a folder per event."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np

from ioukit._optional import import_extra
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
    existing_folder,
    inside,
    is_number,
    member,
    read_json,
    read_lines,
    refuse,
    shorter,
    to_number,
    to_numbers,
)
from ioukit.datasets.formats.written_rows import check_column, image_places

_BOX = ("x", "y", "width", "height")
_ATTRIBUTES = ("blur", "expression", "illumination", "invalid", "occlusion", "pose")
_INVALID = "invalid"
_FACE = "face"
_LISTS = "wider_face_split"
_SUBSETS = ("easy", "medium", "hard")


def recognises(path: Path) -> bool:
    """Whether a path is a list of faces, a folder with such a list, or a folder of results.

    A list, and each file of results, begins with the name of an image, a number, and that many lines of numbers.
    """
    try:
        if not path.is_dir():
            return _begins(first_lines(path), (len(_BOX), len(_BOX) + len(_ATTRIBUTES)))
        if _lists_in(path):
            return True
        folders = (path, *sorted(child for child in path.iterdir() if child.is_dir()))
        files = (folder / name for folder in folders for name in names_in(folder, "*.txt"))
        return _begins(next((lines for file in files if (lines := first_lines(file))), []), (len(_BOX) + 1,))
    except OSError:
        return False


def _begins(lines: Sequence[Sequence[str]], columns: Sequence[int]) -> bool:
    if len(lines) < 2 or len(lines[1]) != 1 or not lines[1][0].isdecimal():
        return False
    if lines[1][0] != "0":
        return len(lines) > 2 and len(lines[2]) in columns and all(map(is_number, lines[2]))
    return len(lines) < 4 or len(lines[3]) == 1 or len(lines[2]) in columns


def read_wider_face(
    path: str | os.PathLike[str],
    *,
    split: str | None = None,
    subsets: str | os.PathLike[str] | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,
) -> GroundTruth:
    """Read a list of faces of WIDER FACE, such as ``wider_face_split/wider_face_val_bbx_gt.txt``.

    For each image, the list has its name, such as ``0--Parade/0_Parade_marchingband_1_465.jpg``, the number of its
    faces, and a line ``x y width height blur expression illumination invalid occlusion pose`` per face, in pixels.
    Where there is no face, a line of zeros may follow. The name is the id of the image. The only class is ``face``,
    with the id 1. ``invalid`` is a flag, the other five are attributes with the numbers of the file, or NaN where a
    line has the box alone.

    The flags ``easy``, ``medium`` and ``hard`` say which faces the protocol ``wider-face`` counts. They come from the
    files ``wider_easy_val.mat``, ``wider_medium_val.mat`` and ``wider_hard_val.mat`` of the benchmark, or from a JSON
    file: ``{"easy": {"0--Parade/a.jpg": [0, 2]}, "medium": ..., "hard": ...}``, with positions of faces in their image
    from 0 on. Without them, the objects have no such flags.

    Args:
        path: The list; or a folder with the folder ``wider_face_split``, in which there is a list per split. Sizes of
            images come from the folder ``WIDER_<split>/images`` of this folder. Sizes of images that are not there are
            unknown.
        split: The split of a folder: ``"val"``, ``"train"`` or another. If ``None``, ``"val"``, or the only one.
        subsets: The folder with the three ``.mat`` files, which need SciPy, or the JSON file. If ``None``, they are
            looked for in the folder, and in ``ground_truth``, ``eval_tools/ground_truth`` and ``wider_face_split``.
        on_invalid: ``"error"`` refuses a list with an invalid line, ``"drop"`` leaves such faces or images out and
            counts them. ``"pycocotools"`` is the same as ``"error"``.
        threads: How many threads read the sizes of images.

    Raises:
        DatasetError: If a line is invalid, or the subsets are not those of the list; names file, line and field, what
            was expected and what came.
        ModuleNotFoundError: If the subsets are ``.mat`` files and SciPy is not installed.
        OSError: If a file cannot be read.

    Reference: Yang et al., WIDER FACE: A Face Detection Benchmark, CVPR 2016, arXiv:1511.06523.
    """
    objects = Objects(path, on_invalid)
    root, file, name = _list_of(Path(path), split, objects)
    records = list(_records(objects, file, len(_BOX) + len(_ATTRIBUTES)))
    counts = {record.name: len(record.rows) for record in records}
    found = subsets if subsets is not None or root is None else _find_subsets(root, name)
    of_subsets = _Subsets({}, 0) if found is None else _read_subsets(found, records, name)
    if of_subsets.other_boxes:
        objects.notes.append(f"{of_subsets.other_boxes:,} of {len(counts):,} images have other boxes in the .mat files")
    sizes = [UNKNOWN_SIZE] * len(records)
    if root is not None:
        sizes = _sizes(root / f"WIDER_{name}" / "images", records, objects, threads)
    for record, size in zip(records, sizes, strict=True):
        with objects.record("bad image"):
            image = objects.image(record.name, record.where, size=size)
            subsets_of_faces = {name: places.get(record.name, ()) for name, places in of_subsets.positions.items()}
            for position, row in enumerate(record.rows):
                if row is not None:
                    attributes = dict(zip(_ATTRIBUTES, row[4:], strict=True))
                    flags = {_INVALID: attributes.pop(_INVALID) > 0}
                    flags |= {name: position in places for name, places in subsets_of_faces.items()}
                    objects.add(image, _FACE, row[:4], flags=flags, attributes=attributes)
    return objects.ground_truth({_FACE: 1})


def read_wider_face_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; text files are read one by one
) -> Detections:
    """Read results in the format of WIDER FACE: a folder per event, with a text file per image.

    A file has the name of the image, the number of faces, and a line ``x y width height score`` per face, in pixels.
    The image is that of the name of the file and its folder: ``0--Parade/0_Parade_marchingband_1_465.txt``. The first
    line is not looked at, because tools write different names there.

    Args:
        path: The folder.
        ground_truth: The data set: it has the images and the class.
        on_invalid: As for :func:`read_wider_face`.
        threads: Not used.

    Raises:
        DatasetError: If a line is invalid, or there is no ``ground_truth`` or it has several classes; names file, line
            and field, what was expected and what came.
        OSError: If a file cannot be read.
    """
    ground_truth = required(ground_truth, path, "names of images")
    names = ground_truth.categories.names
    _check_faces(ground_truth, os.fspath(path))
    folder = existing_folder(path, "a folder of text files with detections")
    finder = ImageFinder(ground_truth)
    objects = Objects(path, on_invalid)
    for name in sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*.[tT][xX][tT]")):
        with objects.record("bad file"):
            file = inside(folder, name, str(folder / name))
            place = finder.position(name[: -len(".txt")], str(file))
            image = objects.image(str(finder.labels[place]), str(file))
            for record in _records(objects, file, len(_BOX) + 1, alone=True):
                for row in record.rows:
                    if row is not None:
                        objects.add(image, _FACE if _FACE in names else names[0], row[:4], score=row[4])
    return objects.detections(ground_truth)


def write_wider_face(gt: GroundTruth, path: Path, *, split: str = "val") -> list[str]:
    """Write ``wider_face_split/wider_face_<split>_bbx_gt.txt`` as :func:`read_wider_face` reads it.

    The flags ``easy``, ``medium`` and ``hard`` are written to ``wider_face_<split>_subsets.json`` beside it. All
    objects become faces. Attributes that an object lacks are 0.

    Raises:
        DatasetError: If the names of images have line breaks, or are not all different.
    """
    names = _image_names(gt)
    columns = {name: gt.flag(name) if name == _INVALID else gt.attributes.get(name) for name in _ATTRIBUTES}
    for name, column in columns.items():
        if column is not None and column.dtype.kind in "iuf":
            check_column(column, name, gt.source)
    rows: list[list[list[float]]] = [[] for _ in names]
    positions: dict[str, dict[str, list[int]]] = {subset: {} for subset in _SUBSETS if subset in gt.flags}
    places = image_places(gt, gt.images).tolist()
    for row, (place, box) in enumerate(zip(places, gt.boxes.tolist(), strict=True)):
        for subset, found in positions.items():
            if gt.flags[subset][row]:
                found.setdefault(names[place], []).append(len(rows[place]))
        values = [0.0 if column is None else float(column[row]) for column in columns.values()]
        rows[place].append([*box, *(0.0 if math.isnan(value) else value for value in values)])
    folder = path / _LISTS
    folder.mkdir()
    (folder / f"wider_face_{split}_bbx_gt.txt").write_text(_text(names, rows), encoding="utf-8")
    if positions:
        text = json.dumps(positions, ensure_ascii=False, indent=1)
        (folder / f"wider_face_{split}_subsets.json").write_text(text, encoding="utf-8")
    attributes = {name: column for name, column in columns.items() if name != _INVALID and column is not None}
    holds = Holds(
        flags=frozenset({_INVALID, *_SUBSETS}),
        attributes=frozenset(name for name, column in attributes.items() if column.dtype.kind in "biuf"),
        image_sizes=False,
        category_ids=gt.categories.ids.tolist() == [1],
        unused_categories=len(gt.categories) == 1,
    )
    return [*left_out_columns(gt, holds), *_lost_classes(gt)]


def write_wider_face_detections(dt: Detections, path: Path, *, ground_truth: GroundTruth | None = None) -> list[str]:
    """Write a text file per image of the ground truth, as :func:`read_wider_face_detections` reads it.

    Raises:
        DatasetError: If there is no ``ground_truth``, which has the names of the images; or these cannot be names
            of files.
    """
    ground_truth = required(ground_truth, dt.source, "names of images")
    names = _image_names(ground_truth)
    rows: list[list[list[float]]] = [[] for _ in names]
    places = image_places(dt, ground_truth.images).tolist()
    for place, box, score in zip(places, dt.boxes.tolist(), dt.scores.tolist(), strict=True):
        rows[place].append([*box, score])
    written: set[str] = set()
    for name, values in zip(names, rows, strict=True):
        plain = PurePosixPath(name)
        without = str(plain.with_suffix("")) if plain.suffix.lower() in SUFFIXES else name
        file = inside(path, f"{without}.txt", f"{ground_truth.source}: image {abbreviate(name)}")
        if without in written:
            refuse(ground_truth.source, "names of images that differ without their suffix", abbreviate(name))
        written.add(without)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_text([plain.name], [values]), encoding="utf-8")
    _check_faces(ground_truth, dt.source)
    return [*left_out_columns(dt, Holds()), *_lost_classes(ground_truth)]


def _check_faces(ground_truth: GroundTruth, where: str) -> None:
    """Refuse a ground truth that does not tell the class of the faces."""
    names = ground_truth.categories.names
    if (len(names) != 1 and _FACE not in names) or "" in names:
        refuse(where, "a ground truth with one class, or with the class face", f"{len(names):,} classes")


class _Record(NamedTuple):
    """An image in a list."""

    name: str
    where: str
    rows: list[list[float] | None]
    """The numbers of each face; ``None`` for one that was left out."""


def _lists_in(folder: Path) -> dict[str, Path]:
    """The lists of a folder, or of its folder ``wider_face_split``, by split."""
    for place in (folder / _LISTS, folder):
        found = {
            file.name.removeprefix("wider_face_").removesuffix("_bbx_gt.txt"): file
            for file in sorted(place.glob("wider_face_*_bbx_gt.txt"))
        }
        if found:
            return found
    return {}


def _list_of(path: Path, split: str | None, objects: Objects) -> tuple[Path | None, Path, str]:
    """The folder of the data set, if there is one; the list; and the name of the split."""
    if not path.is_dir():
        parts = path.stem.split("_")
        return None, path, parts[2] if len(parts) > 2 else "val"
    lists = _lists_in(path)
    if not lists:
        refuse(str(path), "a file wider_face_<split>_bbx_gt.txt", "none")
    name = split or ("val" if "val" in lists else next(iter(lists)))
    if name not in lists:
        refuse(str(path), f"one of the splits {', '.join(lists)}", abbreviate(split))
    if split is None and len(lists) > 1:
        objects.notes.append(f"this is the split {name}; split= takes one of {', '.join(lists)}")
    return path, inside(path, lists[name].relative_to(path).as_posix(), str(lists[name])), name


def _records(objects: Objects, file: Path, columns: int, *, alone: bool = False) -> Iterator[_Record]:
    """The images of a list.

    Args:
        objects: Takes problems.
        file: The list.
        columns: How many numbers a face has.
        alone: Whether the file is about one image, so that nothing may follow.
    """
    fields = (*_BOX, *(_ATTRIBUTES if columns > 5 else ("score",)))
    lines = [(f"{file}: line {number}", line.split()) for number, line in enumerate(read_lines(file), start=1)]
    texts = [line.strip() for line in read_lines(file)]
    at = 0
    while at < len(lines):
        if not lines[at][1]:
            at += 1
            continue
        record = _Record(texts[at], lines[at][0], [])
        at += 1
        complete = False
        with objects.record("bad image"):
            count = _count(record, lines, at)
            at += 1
            # An image without faces may have a line of zeros, as those of the data set do.
            if count == 0 and at < len(lines) and len(lines[at][1]) == columns and set(lines[at][1]) == {"0"}:
                at += 1
            for _ in range(count):
                if at >= len(lines) or len(lines[at][1]) < 4:
                    found = " ".join(lines[at][1]) if at < len(lines) else ""
                    where = lines[at][0] if at < len(lines) else str(file)
                    refuse(where, f"{count:,} faces of {record.name}: {' '.join(fields)}", abbreviate(found or None))
                record.rows.append(None)
                with objects.record("bad face"):
                    record.rows[-1] = _face(*lines[at], fields)
                at += 1
            complete = True
        if complete:
            yield record
        else:  # the next line that is no list of numbers is the name of the next image
            while at < len(lines) and (not lines[at][1] or is_number(lines[at][1][0])):
                at += 1
        if alone and (rest := next((line for line in lines[at:] if line[1]), None)):
            with objects.record("bad file"):
                refuse(rest[0], "the end of the file", abbreviate(" ".join(rest[1])))
            return


def _count(record: _Record, lines: Sequence[tuple[str, list[str]]], at: int) -> int:
    where, words = lines[at] if at < len(lines) else (f"{record.where}, after it", [])
    if len(words) != 1:
        refuse(where, f"the number of faces of {abbreviate(record.name)}", abbreviate(" ".join(words) or None))
    return int(to_number(words[0], f"{where}, the number of faces", lowest=0, whole=True))


def _face(where: str, words: Sequence[str], fields: Sequence[str]) -> list[float]:
    without = [math.nan] * len(_ATTRIBUTES) if len(words) == len(_BOX) and len(fields) > len(_BOX) + 1 else []
    if len(words) + len(without) != len(fields):
        refuse(where, " ".join(fields), abbreviate(" ".join(words)))
    values = to_numbers(words, fields, where)
    if min(values[2:4]) < 0:
        refuse(where, "a width and a height of at least 0", f"{values[2]:g} and {values[3]:g}")
    return values + without


def _sizes(
    folder: Path, records: Sequence[_Record], objects: Objects, threads: int | None
) -> list[tuple[float, float]]:
    sizes = [UNKNOWN_SIZE] * len(records)
    if not folder.is_dir():
        return sizes
    there: dict[int, Path] = {}
    for at, record in enumerate(records):
        with objects.record("bad image"):
            file = inside(folder, record.name, f"{record.where}")
            if file.is_file():
                there[at] = file
    found = sizes_or_unknown(list(there.values()), objects.problems, threads)
    for at, size in zip(there, found, strict=True):
        sizes[at] = size
    return sizes


def _image_names(gt: GroundTruth) -> list[str]:
    """The names of the images, or their ids where two names are the same."""
    labels = [str(label) for label in gt.images.labels.tolist()]
    names = [name or label for name, label in zip(gt.images.names, labels, strict=True)]
    names = names if len(set(names)) == len(names) else labels
    bad = next((name for name in names if "\n" in name or "\r" in name or name != name.strip() or not name), None)
    if bad is not None:
        refuse(gt.source, "names of images without line breaks and outer spaces", abbreviate(bad))
    return names


def _text(names: Sequence[str], rows: Sequence[Sequence[Sequence[float]]]) -> str:
    lines: list[str] = []
    for name, faces in zip(names, rows, strict=True):
        lines += [name, str(len(faces)), *(" ".join(map(shorter, face)) for face in faces)]
    return "".join(f"{line}\n" for line in lines)


def _lost_classes(gt: GroundTruth) -> list[str]:
    if len(gt.categories) == 1 and gt.categories.names == (_FACE,):
        return []
    return [f"names of {len(gt.categories):,} classes: all objects are faces"] if len(gt.categories) else []


class _Subsets(NamedTuple):
    """The faces of each subset."""

    positions: Mapping[str, Mapping[str, frozenset[int]]]
    """The positions of the faces by subset and by the name of the image."""
    other_boxes: int
    """How many images have other boxes where the subsets come from than in the list."""


def _find_subsets(root: Path, split: str) -> Path | None:
    """The JSON file, or the folder of the .mat files, in the folder of a data set; ``None`` if there is neither."""
    for folder in ("", "ground_truth", "eval_tools/ground_truth", "wider_face_split"):
        names = (f"wider_face_{split}_subsets.json", f"wider_easy_{split}.mat")
        for name in names:
            if (root / folder / name).is_file():
                file = inside(root, f"{folder}/{name}".lstrip("/"), str(root / folder / name))
                return file if name.endswith(".json") else file.parent
    return None


def _read_subsets(path: str | os.PathLike[str], records: Sequence[_Record], split: str) -> _Subsets:
    """The subsets from a JSON file, or from a folder with the .mat files.

    Raises:
        DatasetError: If an image or a face is not in the list, or the files have another layout.
        ModuleNotFoundError: If there are .mat files and SciPy is not installed.
        OSError: If a file cannot be read.
    """
    if not os.path.isdir(path):
        return _Subsets(_from_json(path, {record.name: len(record.rows) for record in records}), 0)
    by_name = {str(PurePosixPath(record.name).with_suffix("")): record for record in records if record.name}
    positions, other = {}, set()
    for subset in _SUBSETS:
        file = inside(Path(path), f"wider_{subset}_{split}.mat", os.fspath(path))
        found: dict[str, frozenset[int]] = {}
        for name, boxes, chosen in _images_of_mat(file):
            where = f"{file}: image {name}"
            record = by_name.get(name)
            if record is None:
                refuse(where, "an image of the list of faces", "none of this name")
            if len(boxes) != len(record.rows) and len(record.rows):
                refuse(where, f"{len(record.rows):,} faces, as in the list", f"{len(boxes):,}")
            if any(row is not None and row[:4] != box for row, box in zip(record.rows, boxes, strict=False)):
                other.add(name)
            found[record.name] = _within([number - 1 for number in chosen], len(record.rows), where)
        positions[subset] = found
    return _Subsets(positions, len(other))


def _from_json(path: str | os.PathLike[str], counts: Mapping[str, int]) -> dict[str, dict[str, frozenset[int]]]:
    document = read_json(path)
    made: dict[str, dict[str, frozenset[int]]] = {}
    for subset in _SUBSETS:
        made[subset] = {}
        for name, chosen in member(document, subset, dict, os.fspath(path)).items():
            where = f"{os.fspath(path)}: {subset}[{abbreviate(name)}]"
            if name not in counts:
                refuse(where, "an image of the list of faces", "none of this name")
            if not isinstance(chosen, list) or not all(type(number) is int for number in chosen):
                refuse(where, "a list of positions", abbreviate(chosen))
            made[subset][name] = _within(chosen, counts[name], where)
    return made


def _within(positions: Sequence[int], count: int, where: str) -> frozenset[int]:
    if wrong := [position for position in positions if not 0 <= position < count]:
        refuse(where, f"faces among the {count:,} of the image", f"number {wrong[0]} from 0 on")
    return frozenset(positions)


def _images_of_mat(file: Path) -> list[tuple[str, list[list[float]], list[int]]]:
    """Event and name of each image, its boxes, and the numbers of the faces that count, from 1 on."""
    scipy = import_extra("scipy.io", extra="sparse", needed_by="reading WIDER FACE's .mat files")
    with file.open("rb") as opened:  # a missing file is an error of its own
        try:
            content = scipy.loadmat(opened)
            images = []
            columns = [content[name].ravel() for name in ("event_list", "file_list", "face_bbx_list", "gt_list")]
            for event, files, boxes, chosen in zip(*columns, strict=True):
                cells = (files.ravel(), boxes.ravel(), chosen.ravel())
                for name, box, numbers in zip(*cells, strict=True):
                    image = f"{_cell_text(event)}/{_cell_text(name)}"
                    corners = np.asarray(box, np.float64).reshape(-1, 4).tolist()
                    images.append((image, corners, np.asarray(numbers, np.int64).ravel().tolist()))
        except Exception as error:  # SciPy raises errors of many kinds about files that are damaged
            expected = "a .mat file with event_list, file_list, face_bbx_list and gt_list"
            refuse(str(file), expected, f"something else: {type(error).__name__}: {str(error)[:100]!r}")
    return images


def _cell_text(cell: Any) -> str:
    return str(np.asarray(cell).ravel()[0])
