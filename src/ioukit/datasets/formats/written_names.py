"""What images and classes are called in the files that are written: names that can be told apart, or a refusal.

Formats differ in what a name may be: any text in JSON or XML, a word in a line of text, a file beside others, or a
file with its folders. Each has a function here, so that no writer makes two images or classes one.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ioukit.datasets.columns.image_names import joined_path
from ioukit.datasets.formats.image_files import SUFFIXES
from ioukit.datasets.formats.text_files import abbreviate, fits_a_path, is_name, refuse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ioukit.datasets.columns.ground_truth import GroundTruth
    from ioukit.datasets.columns.images import Categories, Images


_LONGEST = 200
"""In bytes of UTF-8. Most file systems allow 255; this leaves room for a suffix."""


def image_names(images: Images, source: str) -> tuple[list[str], list[str]]:
    """(I,) the file name of each image, or its id if it has no name; and a note about other ids, which are lost.

    Raises:
        DatasetError: If two images have the same name.
    """
    names = [name or str(label) for name, label in zip(images.names, images.labels.tolist(), strict=True)]
    _check_differ(names, "names of images that differ", source)
    for name in names:
        if not is_name(name):
            refuse(source, "images with a name or an id that files of text can hold", abbreviate(name))
    lost = 0 if images.keys is None else sum(a != b for a, b in zip(names, images.keys.tolist(), strict=True))
    return names, [f"ids of {lost:,} images that are not their names: their names remain"] if lost else []


def _check_differ(names: Sequence[str], expected: str, source: str) -> None:
    if len(set(names)) < len(names):
        refuse(source, expected, f"{abbreviate(Counter(names).most_common(1)[0][0])} twice")


def class_names(categories: Categories, source: str) -> dict[int, str]:
    """The names of the classes by id.

    Raises:
        DatasetError: If two classes have the same name, or one has none.
    """
    _check_differ(categories.names, "names of classes that differ", source)
    if "" in categories.names:
        refuse(source, "classes with names", "an empty name")
    for name in categories.names:
        if not is_name(name):
            refuse(source, "names of classes that files of text can hold", abbreviate(name))
    return dict(zip(categories.ids.tolist(), categories.names, strict=True))


def class_words(categories: Categories, source: str, joint: str = "_") -> tuple[dict[int, str], list[str]]:
    """A word for each class by its id, and a note if names were changed.

    Args:
        categories: The classes.
        source: The name of the data in messages.
        joint: What stands in the place of spaces and other blanks.

    Raises:
        DatasetError: If the words are not all different, or one is empty.
    """
    names = dict(zip(categories.ids.tolist(), categories.names, strict=True))
    words = {number: joint.join(name.split()) for number, name in names.items()}
    if len(set(words.values())) < len(words) or "" in words.values():
        refuse(source, "names of classes that differ, also without spaces", abbreviate(list(names.values())))
    changed = sum(words[number] != name for number, name in names.items())
    return words, [f"spaces in the names of {changed:,} classes: they are written as {joint}"] if changed else []


def image_stems(images: Images, source: str) -> list[str]:
    """(I,) a name without suffix for the file of each image: that of the image, without folders.

    An image without a name has its id as the name. If two names are the same, or one cannot be that of a file, their
    folders are part of all of them: ``rain/1.jpg`` is ``rain_1``. If that does not help, the ids are the names of all
    files. A reader finds the images by each of these, see `image_names.py`; :func:`other_stems` has a note.

    Raises:
        DatasetError: If the ids cannot be names of files, differ only by upper and lower case (some file systems would
            take them for one), or one is the name of another image, which a reader would find in its place.
    """
    labels = [str(label) for label in images.labels.tolist()]
    named = list(zip(images.names, labels, strict=True))
    stems = [_stem(name, label) for name, label in named]
    own: defaultdict[str, set[int]] = defaultdict(set)
    for place, stem in enumerate(stems):
        own[stem.casefold()].add(place)
    for listed in (stems, [_joined_stem(name, label) for name, label in named], labels):
        wrong = _unclear(listed, own)
        if wrong is None:
            break
    if wrong is not None:
        refuse(source, "images whose names or ids can be names of files, each of one image alone", abbreviate(wrong))
    return listed


def _unclear(stems: list[str], own: Mapping[str, set[int]]) -> str | None:
    """The first stem that cannot be the name of a file, or could stand for another image; ``None`` if there is none.

    Args:
        stems: A stem for each image.
        own: The images whose names have a stem, in lower case.
    """
    taken: dict[str, int] = {}
    for place, stem in enumerate(stems):
        lower = stem.casefold()
        if not _is_name(stem) or taken.setdefault(lower, place) != place or own.get(lower, {place}) != {place}:
            return stem
    return None


def check_images(images: Images, source: str) -> None:
    """Refuse a data set without images, for formats with a file per image: a folder without files is no data set."""
    if not len(images):
        refuse(source, "at least one image, because each has a file", "none")


def _stem(name: str, label: str) -> str:
    path = PurePosixPath((name or label).replace("\\", "/"))
    # An id may have a dot in it, and no suffix.
    return path.name if name in ("", label) and path.suffix.lower() not in SUFFIXES else path.stem


def _joined_stem(name: str, label: str) -> str:
    path = PurePosixPath((name or label).replace("\\", "/"))
    return joined_path(str(path.parent / _stem(name, label)))


def other_stems(images: Images, source: str) -> list[str]:
    """A note if the files of :func:`image_stems` are not called like those of the images."""
    stems = image_stems(images, source)
    pairs = zip(images.names, images.labels.tolist(), stems, strict=True)
    others = [(name, stem) for name, label, stem in pairs if name and stem != _stem(name, str(label))]
    if not others:
        return []
    name, stem = others[0]
    return [f"names of {len(others):,} images: their files are called otherwise, such as {stem} for {name}"]


def _is_name(stem: str) -> bool:
    return (
        stem not in ("", "classes")  # readers take classes.txt for a list of classes
        and len(stem.encode("utf-8", "replace")) <= _LONGEST
        and stem.isprintable()
        and not (set(stem) & set('/\\:*?"<>|') or stem[0] in ". " or stem[-1] in ". ")
    )


def image_file_names(ground_truth: GroundTruth) -> list[str]:
    """The name of the file of each image: that of the data set, or the id of the image if it has none.

    Raises:
        DatasetError: If a name leads out of the folder or cannot be that of a file, or two differ by the suffix alone.
    """
    names = []
    stems: dict[str, str] = {}
    images = ground_truth.images
    check_images(images, ground_truth.source)
    for given, label in zip(images.names, images.labels.tolist(), strict=True):
        name = (given or str(label)).replace("\\", "/")
        where = f"{ground_truth.source}: image {label!r}"
        parts = name.split("/")
        hidden = any(part.startswith(".") for part in parts)  # readers pass over such files
        if not all(parts) or hidden or ":" in parts[0] or not name.isprintable() or not fits_a_path(name):
            refuse(where, "the name of a file inside a folder", abbreviate(name))
        stem = os.path.splitext(name)[0]
        if stem in stems:
            refuse(where, "names that differ but for the suffix", f"{name} and {stems[stem]}")
        stems[stem] = name
        names.append(name)
    return names
