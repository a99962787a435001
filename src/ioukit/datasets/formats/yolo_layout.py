"""Where the files of a YOLO data set lie: ``data.yaml``, Darknet's ``obj.data``, or a folder of text files.

Owns: which images and text files belong to a split, the names of the classes, and all guesses about folders, because
the paths in a ``data.yaml`` may be those of another machine. Each guess that counts is said in a note.
Does not own: the lines of the text files (`yolo_rows.py`) and the sizes in headers of images (`image_files.py`).
A ``data.yaml`` may name folders anywhere, as its author chose them. What lies in its folder by name must not lead out
by a link, as whoever packed the folder chose that. Hence `_check_place` for folders, and `inside` for files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.datasets.formats.csv_tables import CsvTable
from ioukit.datasets.formats.image_files import files_below, images_below
from ioukit.datasets.formats.text_files import (
    FARTHEST,
    abbreviate,
    existing_folder,
    fits_a_path,
    inside,
    lies_in,
    read_lines,
    refuse,
    shortened,
)
from ioukit.datasets.formats.yaml_settings import read_yaml
from ioukit.datasets.formats.yolo_rows import with_score
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ioukit.datasets.formats.problems import Problems


_NAMES = ("data.yaml", "dataset.yaml", "classes.txt", "obj.names")
"""The names of files that name the classes, in the order in which they are looked for."""
SIZES = "sizes.csv"
"""The name of a table of the sizes of images, for data sets without images: name, width, height."""
_SAME_SPLIT = {"val": ("val", "valid", "validation")}
"""The usual names of the folders of a split, if there are others than its own name."""


@dataclass(frozen=True)
class Layout:
    """The images of one split, and what the data set says about all of them."""

    names: tuple[str, ...] | None
    """The names of the classes; ``None`` if no file names them."""
    images: list[str]
    """The names of the images, relative to their folder."""
    files: list[str]
    """The file of each image; of its name alone there may be a file or not, if ``sizes`` are known."""
    labels: list[str]
    """The text file of each image, which may be missing."""
    sizes: npt.NDArray[np.float64] | None = None
    """(N, 2) width and height of the images, if a table has them; else the images have them."""
    keypoints: tuple[int, int] | None = None
    """How many keypoints an object has, and of how many numbers each, as in ``kpt_shape``."""
    notes: tuple[str, ...] = ()
    """What a user should know."""


def find_layout(path: Path, split: str, problems: Problems, *, images: str | os.PathLike[str] | None = None) -> Layout:
    """The images and text files of a split.

    Args:
        path: A ``data.yaml``, an ``obj.data``, a folder with one of them, or a folder of text files.
        split: The split, such as ``"val"``. A folder of text files has none.
        problems: Takes the kind ``missing image``: a text file without an image.
        images: The folder of the images, for a folder of text files.

    Raises:
        DatasetError: If files are missing, or invalid.
        OSError: If a file cannot be read.
    """
    if images is not None and path.is_dir():
        return _of_texts(path, split, problems, Path(images))
    if images is not None:
        refuse(os.fspath(path), "a folder of text files, with images=FOLDER", "a file that says where the images are")
    if not path.is_dir():
        return _of_darknet(path, split) if path.suffix.lower() == ".data" else _of_yaml(path, split, problems)
    for name in _NAMES[:2]:
        if (path / name).is_file():
            return _of_yaml(inside(path, name, os.fspath(path)), split, problems)
    if settings := sorted(path.glob("*.data")):
        return _of_darknet(inside(path, settings[0].name, os.fspath(path)), split)
    return _of_texts(path, split, problems)


def names_near_detections(folder: Path) -> tuple[str, ...] | None:
    """The names of the classes of a folder of detections, from a file where that of labels would lie; or ``None``.

    Raises:
        DatasetError: If the file is invalid.
        OSError: If it cannot be read.
    """
    labels = folder / "labels"
    return _nearby_names(labels if labels.is_dir() else folder)[0]


def text_files(folder: str | os.PathLike[str]) -> list[str]:
    """The text files in a folder and in the folders inside it, relative to it, by name.

    Lists of classes, such as ``classes.txt``, are left out.

    Raises:
        DatasetError: If a file is a link that leads out of the folder.
        OSError: If a folder cannot be read.
    """
    found, links = files_below(folder, frozenset((".txt",)))
    for name in links:
        inside(Path(folder), name, os.fspath(folder))
    return [name for name in found if not name.endswith("classes.txt") or os.path.basename(name) not in _NAMES]


def _stem(name: str) -> str:
    """A path without the suffix of its file."""
    at = name.rfind(".")
    return name[:at] if at > name.rfind("/") + 1 else name


def _of_yaml(path: Path, split: str, problems: Problems) -> Layout:
    settings = read_yaml(path)
    if not isinstance(settings, dict) or split not in settings or "names" not in settings:
        found = list(settings) if isinstance(settings, dict) else settings
        others = "" if split in ("train", "val") else f" and {split!r}"
        coco = (
            ": this is a COCO file" if isinstance(settings, dict) and {"images", "annotations"} <= {*settings} else ""
        )
        raise DatasetError(f"{path}: expected train, val and names{others}, got {_in_words(found)}{coco}")
    names = _class_names(path, settings["names"])
    places = settings[split] if isinstance(settings[split], list) else [settings[split]]
    if not places or not all(isinstance(place, str) for place in places):
        raise DatasetError(
            f"{path}: {split} must be a folder or a .txt file, or a list of them, got {_in_words(settings[split])}"
        )
    root = settings.get("path") or ""
    if not isinstance(root, str):
        raise DatasetError(f"{path}: path must be a folder, got {_in_words(root)}")
    folder = path.parent / root
    images: dict[str, str] = {}
    scanned: list[str] = []
    capitals: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    for named in places:
        place = _split_path(folder, named)
        if len(places) == 1 and _is_missing(place) and (usual := _usual_folder(path, root, split)):
            notes = (f"{path}: {split}: there is no folder {_in_words(os.fspath(place))}; {usual} is read",)
            place = usual
        if place.suffix == ".txt" and os.path.isfile(place):
            _check_place(place, folder)
            found_here = _by_name(_listed(place, (place.parent, folder, path.parent)))
        elif len(places) == 1 and os.path.isfile(table := _table_of_sizes(place)):
            _check_place(table, folder)
            keypoints = _keypoint_shape(path, settings.get("kpt_shape"))
            found = _of_sizes(table.parent, table, text_files(table.parent), problems, names, keypoints)
            return replace(found, notes=notes)
        elif os.path.isdir(place):
            prefix = os.path.join(place, "")
            found_here = {name: prefix + name for name in images_below(place)}
            _check_place(_label_folder(os.fspath(place)), folder)
            labels = _own_labels(os.fspath(place))
            if labels is not None:
                texts = text_files(labels)
                _meet_texts_without_image(labels, texts, found_here, os.fspath(place), problems)
                capitals |= _in_capitals(labels, texts)
                scanned.append(labels)
        else:
            others = _other_splits(path, root, settings)
            raise DatasetError(f"{path}: {split}: there is no folder {_in_words(os.fspath(place))}{others}")
        if not found_here:
            raise DatasetError(f"{path}: {split}: there is no image in {place}")
        if twice := images.keys() & found_here.keys():
            refuse(f"{path}: {split}", "images of different names", f"{min(twice)} twice")
        images |= found_here
    keypoints = _keypoint_shape(path, settings.get("kpt_shape"))
    return _layout(images, folder, scanned, capitals, names=names, keypoints=keypoints, notes=notes)


def _listed(listing: Path, roots: Sequence[Path]) -> list[str]:
    """The files that a list names, one in each line: relative to one of the folders, and inside of one of them."""
    folders = [os.path.abspath(root) for root in roots]
    found: dict[str, None] = {}
    for number, line in enumerate(read_lines(listing), start=1):
        if not (named := line.strip().replace("\\", "/")):
            continue
        places = [os.path.normpath(os.path.join(folder, named)) for folder in folders]
        # Darknet's lists are relative to the folder where the program runs, which is above that of the list.
        if "/" in named[1:] and named[0] != "/" and ".." not in named.split("/"):
            places += [os.path.normpath(os.path.join(folder, named.partition("/")[2])) for folder in folders]
        good = [place for place in places if any(place.startswith(folder + os.sep) for folder in folders)]
        if not good or not fits_a_path(named):
            refuse(f"{listing}: line {number}", f"a path inside {folders[0]}", abbreviate(line.strip()))
        found[next((place for place in good if os.path.lexists(place)), good[0])] = None
    return sorted(found)


def _by_name(files: list[str]) -> dict[str, str]:
    """Files by their names; by their paths below the folder that they share if a name occurs twice."""
    named = {os.path.basename(file): file for file in files}
    if len(named) == len(files):
        return named
    common = os.path.commonpath([os.path.dirname(file) for file in files])
    return {os.path.relpath(file, common).replace(os.sep, "/"): file for file in files}


def _own_labels(folder: str) -> str | None:
    """The folder of the text files of a folder of images; not the folder itself, where a text may be anything."""
    labels = _label_folder(folder)
    return labels if labels != folder and os.path.isdir(labels) else None


def _in_capitals(folder: str, texts: Iterable[str]) -> dict[str, str]:
    """The text files with an end such as ``.TXT``, by the path that they would have with ``.txt``.

    Raises:
        DatasetError: If there are both.
    """
    others = {f"{_stem(name)}.txt": name for name in texts if not name.endswith(".txt")}
    if others and (both := others.keys() & set(texts)):
        usual = min(both)
        refuse(os.path.join(folder, others[usual]), "one text file for each image", f"also {usual}")
    return {os.path.join(folder, usual): os.path.join(folder, name) for usual, name in others.items()}


def _meet_texts_without_image(
    labels: str, texts: Iterable[str], images: Iterable[str], folder: str, problems: Problems
) -> None:
    for stem in sorted(set(map(_stem, texts)) - set(map(_stem, images))):
        path = os.path.join(labels, f"{stem}.txt")
        problems.meet("missing image", f"{path} has labels, but there is no image {stem} in {folder}")


def _layout(
    images: Mapping[str, str], root: Path, scanned: Sequence[str], capitals: Mapping[str, str], **fields: Any
) -> Layout:
    """The layout of images by name, with the text file of each image.

    Args:
        images: The files of the images by name.
        root: The folder of the data set.
        scanned: Folders of text files that have been listed: they have no links out of them.
        capitals: What :func:`_in_capitals` found in them.
        **fields: Those of :class:`Layout`.
    """
    folders: dict[str, str] = {}
    found = dict(capitals)
    labels = []
    for file in images.values():
        at = max(file.rfind("/"), file.rfind(os.sep)) + 1
        folder = file[:at]
        if folder not in folders:
            beside = _label_folder(folder)
            beside = beside if os.path.isdir(beside) else folder
            _check_place(beside, root)
            if not beside.startswith(tuple(scanned)):
                found |= _in_capitals(beside, _texts_beside(beside))
            folders[folder] = os.path.join(beside, "")
        labels.append(f"{folders[folder]}{_stem(file[at:])}.txt")
    if found:
        labels = [found.get(label, label) for label in labels]
    return Layout(images=list(images), files=list(images.values()), labels=labels, **fields)


def _check_place(place: str | os.PathLike[str], root: Path) -> None:
    """Refuse what lies in the folder of the data set by its path, but not when links are followed.

    What a data.yaml says to lie elsewhere may do so.
    """
    named = os.path.abspath(place)
    if Path(named).is_relative_to(os.path.abspath(root)) and not lies_in(named, root):
        refuse(str(place), "a path inside the folder of the data set", "a link out of it")


def _texts_beside(folder: str) -> list[str]:
    """The text files of a folder, none of which may be a link out of it; none if there is no folder."""
    if not os.path.isdir(folder):
        return []
    with os.scandir(folder) as entries:
        texts = [entry for entry in entries if entry.name.lower().endswith(".txt")]
    for entry in texts:
        if entry.is_symlink():
            inside(Path(folder), entry.name, folder)
    return [entry.name for entry in texts]


def _of_darknet(path: Path, split: str) -> Layout:
    settings = {}
    for number, line in enumerate(read_lines(path), start=1):
        key, equals, value = line.partition("=")
        if not equals and key.strip():
            refuse(f"{path}: line {number}", "key = value", abbreviate(line.strip()))
        settings[key.strip()] = value.strip()
    wanted = ("valid", "val", "test") if split == "val" else (split,)
    listing = next((settings[key] for key in wanted if settings.get(key)), None)
    notes: tuple[str, ...] = ()
    if listing is None and split == "val" and settings.get("train"):
        listing = settings["train"]
        notes = (f"{path}: there are no images for validation; those for training are read",)
    if listing is None or not settings.get("names"):
        found = ", ".join(filter(None, settings)) or "an empty file"
        refuse(str(path), f"the keys {wanted[0]} and names", found)
    roots = (path.parent,)
    names_file, list_file = _beside(path, settings["names"], roots), _beside(path, listing, roots)
    names = _listed_names(names_file)
    if not names:
        refuse(str(names_file), "a name of a class in each line", "none")
    files = _listed(list_file, roots)
    if not files:
        refuse(str(list_file), "the path of an image in each line", "none")
    return _layout(_by_name(files), path.parent, [], {}, names=names, notes=notes)


def _listed_names(path: Path) -> tuple[str, ...]:
    """The names of classes in a file with one in each line."""
    return tuple(line.strip() for line in read_lines(path) if line.strip())


def _beside(path: Path, named: str, roots: Sequence[Path]) -> Path:
    """A file that a file of settings names, relative to its folder or to the one above."""
    folder = path.parent
    for root in roots:
        for inner in (named, named.partition("/")[2]):
            if inner and (root / inner).is_file():
                return inside(root, inner, os.fspath(path))
    raise DatasetError(f"{path}: expected a file {abbreviate(named)} in {folder}, found none")


def _of_texts(folder: Path, split: str, problems: Problems, given: Path | None = None) -> Layout:
    """A folder of text files: the images are in a given folder, beside them, in ``images``, or only in a table."""
    if (folder / "labels").is_dir():
        folder = folder / "labels"
    if (folder / split).is_dir():
        folder = folder / split
    texts = text_files(folder)
    if not texts:
        refuse(str(folder), "text files with labels", "none")
    parts = list(folder.absolute().parts)
    places = [folder, folder.parent / "images"]
    if "labels" in parts:
        parts[len(parts) - 1 - parts[::-1].index("labels")] = "images"
        places.insert(0, Path(*parts))
    if given is not None:
        places = [existing_folder(given, "a folder of images")]
    names, keypoints = _nearby_names(folder)
    for place in places:
        if place.is_dir() and (images := images_below(place)):
            _meet_texts_without_image(os.fspath(folder), texts, images, os.fspath(place), problems)
            labels = _text_of_each(folder, images, texts)
            files = [os.path.join(place, name) for name in images]
            return Layout(names, images, files, labels, keypoints=keypoints)
    for place in (folder, *folder.absolute().parents[:2]):
        if (place / SIZES).is_file():
            return _of_sizes(folder, inside(place, SIZES, os.fspath(place / SIZES)), texts, problems, names, keypoints)
    looked = ", ".join(map(str, places))
    first = next((line for line in read_lines(folder / texts[0]) if line.strip()), "")
    raise DatasetError(
        f"{folder}: boxes in fractions need the sizes of their images: expected images in one of {looked}, or a table "
        f"{SIZES} with name, width and height; found neither{with_score(first)}"
    )


def _text_of_each(folder: Path, images: Sequence[str], texts: Sequence[str]) -> list[str]:
    """The text file of each image of a folder of text files; it may be missing."""
    labels = [os.path.join(folder, f"{_stem(name)}.txt") for name in images]
    found = _in_capitals(os.fspath(folder), texts)
    return [found.get(label, label) for label in labels] if found else labels


def _of_sizes(
    folder: Path,
    table: Path,
    texts: list[str],
    problems: Problems,
    names: tuple[str, ...] | None,
    keypoints: tuple[int, int] | None,
) -> Layout:
    """The images that a table of sizes lists."""
    sizes = CsvTable(table)
    sizes.require(("name", "width", "height"))
    good = np.ones(len(sizes), np.bool_)
    columns = [sizes.numbers(name, good, problems) for name in ("width", "height")]
    for name, column in zip(("width", "height"), columns, strict=True):
        sizes.refuse((column <= 0) | (column > 2**31), name, "a number of pixels", good, problems)
    rows: dict[str, int] = {}
    stems: set[str] = set()
    for row, name in enumerate(sizes.text("name")):
        stem = _stem(name)
        if not fits_a_path(name):
            sizes.fail(row, "name", "a path that a file can have")
        if stem in stems or not stem or os.path.isabs(name) or ".." in name.split("/"):
            sizes.fail(row, "name", "the name of an image that differs from those before")
        if good[row]:
            rows[name] = row
        stems.add(stem)
    for text in texts:
        if (stem := _stem(text)) not in stems:
            problems.meet("missing image", f"{folder / text} has labels, but {table} lists no image {stem}")
    images = sorted(rows)
    labels = _text_of_each(folder, images, texts)
    array = np.stack(columns, axis=1)[[rows[name] for name in images]]
    return Layout(names, images, list(images), labels, array, keypoints)


def _nearby_names(folder: Path) -> tuple[tuple[str, ...] | None, tuple[int, int] | None]:
    """The names of the classes, and the shape of keypoints, from a file in the folder or in the two above."""
    for place in (folder, *folder.absolute().parents[:2]):
        for name in _NAMES:
            path = place / name
            if not path.is_file():
                continue
            inside(place, name, os.fspath(path))
            if path.suffix == ".yaml":
                settings = read_yaml(path)
                if isinstance(settings, dict) and "names" in settings:
                    return _class_names(path, settings["names"]), _keypoint_shape(path, settings.get("kpt_shape"))
            elif names := _listed_names(path):
                return names, None
            else:
                refuse(str(path), "a name of a class in each line", "none")
    return None, None


def _in_words(value: object) -> str:
    """A value of a YAML file for a message. Values that stand for each other may be very long when they are written."""
    if isinstance(value, list):
        return shortened(f"[{', '.join(map(_item, value[:9]))}{', ...' * (len(value) > 9)}]")
    return shortened(f"a mapping of {len(value):,} keys" if isinstance(value, dict) else _item(value))


def _item(value: object) -> str:
    if isinstance(value, list | dict | set | tuple):
        return "[...]" if value else "[]"
    return "a number out of range" if isinstance(value, int) and abs(value) > FARTHEST else repr(value)


def _class_names(path: Path, names: object) -> tuple[str, ...]:
    """The names of the classes, from the value of ``names``."""
    if isinstance(names, dict) and names.keys() == set(range(len(names))):
        names = [names[number] for number in range(len(names))]
    if not isinstance(names, list) or not names:
        raise DatasetError(f"{path}: names must be a list, or a mapping from 0 on, got {_in_words(names)}")
    for number, name in enumerate(names):
        too_large = isinstance(name, int) and abs(name) > FARTHEST
        if isinstance(name, list | dict | set | tuple) or too_large or not str(name).strip():
            refuse(f"{path}: names: class {number}", "a name", _in_words(name))
    return tuple(map(str, names))


def _keypoint_shape(path: Path, shape: object) -> tuple[int, int] | None:
    """How many keypoints an object has, and of how many numbers each, from the value of ``kpt_shape``."""
    if shape is None:
        return None
    if isinstance(shape, list) and len(shape) == 2 and shape[1] in (2, 3) and shape[0] in range(1, 10_000):
        return int(shape[0]), int(shape[1])
    raise DatasetError(f"{path}: kpt_shape must be [points, 2 or 3], got {_in_words(shape)}")


def _label_folder(images: str) -> str:
    """The folder of the text files of the images in a folder: the last ``images`` in its path becomes ``labels``."""
    parts = list(Path(images).parts)
    if "images" not in parts:
        return images
    parts[len(parts) - 1 - parts[::-1].index("images")] = "labels"
    return os.fspath(Path(*parts))


def _table_of_sizes(images: Path) -> Path:
    """The table of the sizes of the images of a folder: beside their text files, for data sets without images."""
    return Path(_label_folder(os.fspath(images)), SIZES)


def _is_missing(place: Path) -> bool:
    """Whether there is no folder of images, and no table of their sizes. A list of images is no folder."""
    return place.suffix != ".txt" and not os.path.lexists(place) and not os.path.isfile(_table_of_sizes(place))


def _split_path(root: Path, named: str) -> Path:
    """Where a split lies. ``../train/images`` may mean ``train/images``, as in data sets that Roboflow writes."""
    place = root / named
    inner = root / named.removeprefix("../")
    return inner if not os.path.exists(place) and os.path.exists(inner) else place


def _usual_folder(path: Path, root: str, split: str) -> Path | None:
    """The folder of a split at one of its usual places inside the folder of the data set.

    It has images, or its text files have a table of sizes beside them.
    """
    for folder in dict.fromkeys((path.parent / root, path.parent)):
        for name in _SAME_SPLIT.get(split, (split,)):
            for inner in (f"{name}/images", f"images/{name}"):
                place = folder / inner
                if (os.path.isdir(place) or os.path.isfile(_table_of_sizes(place))) and lies_in(place, folder):
                    return place
    return None


def _other_splits(path: Path, root: str, settings: Mapping[Any, Any]) -> str:
    """Words about the splits of a data set that have a folder, or a list of files."""
    there = []
    for split, named in settings.items():
        if split in ("path", "names", "download") or not isinstance(split, str):
            continue
        places = named if isinstance(named, list) else [named]
        if not places or not all(isinstance(place, str) and place for place in places):
            continue
        exist = all(os.path.exists(_split_path(path.parent / root, place)) for place in places)
        if exist or _usual_folder(path, root, split):
            there.append(split)
    return f"; the splits that exist: {', '.join(there)}" if there else "; no split has a folder"
