"""The names of files for formats with a file per image."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ioukit.datasets.formats.image_files import SUFFIXES
from ioukit.datasets.formats.text_files import abbreviate, refuse

if TYPE_CHECKING:
    from ioukit.datasets.columns.images import Images

__all__ = ["image_stems"]

_LONGEST = 200


def image_stems(images: Images, source: str) -> list[str]:
    """(I,) a name without suffix for the file of each image: that of the image, without folders.

    An image without a name has its id as the name. If two names are the same, the ids are the names of all files.

    Raises:
        DatasetError: If the ids cannot be names of files, or differ only by upper and lower case: some file systems
            would take them for one.
    """
    stems = [_stem(name, str(label)) for name, label in zip(images.names, images.labels.tolist(), strict=True)]
    if not _are_names(stems):
        stems = [str(label) for label in images.labels.tolist()]
        if not _are_names(stems):
            twice = Counter(map(str.casefold, stems))
            wrong = next(stem for stem in stems if not _is_name(stem) or twice[stem.casefold()] > 1)
            refuse(source, "images whose names or ids can be names of files and differ", abbreviate(wrong))
    return stems


def _stem(name: str, label: str) -> str:
    path = PurePosixPath((name or label).replace("\\", "/"))
    # An id may have a dot in it, and no suffix.
    return path.name if name in ("", label) and path.suffix.lower() not in SUFFIXES else path.stem


def _are_names(stems: list[str]) -> bool:
    return all(map(_is_name, stems)) and len(set(map(str.casefold, stems))) == len(stems)


def _is_name(stem: str) -> bool:
    return (
        bool(stem)
        and len(stem.encode("utf-8", "replace")) <= _LONGEST
        and stem.isprintable()
        and not (set(stem) & set('/\\:*?"<>|') or stem[0] in ". " or stem[-1] in ". ")
    )
