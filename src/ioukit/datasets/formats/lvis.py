"""LVIS's annotation files: COCO's with lists of categories per image, and the frequency of each category."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats import coco
from ioukit.datasets.formats.recognising import first_bytes, last_bytes

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from pathlib import Path

    from ioukit.datasets.columns._checks import OnInvalid


_LISTS = (b'"not_exhaustive_category_ids"', b'"neg_category_ids"')
_ATTRIBUTES = re.compile(rb'"attributes"\s*:\s*\{[^{}]*\}')
_BEGUN = re.compile(rb"^[^{]*")
_FREQUENCY = b'"frequency"'
_VIDEOS = re.compile(rb'"(?:videos|tracks|sequences)"\s*:\s*\[')
_IMAGES_FIRST = re.compile(rb'^(?:\xef\xbb\xbf)?\s*\{\s*"images"\s*:\s*\[\s*\{')


def recognises(path: Path) -> bool:
    """Whether a JSON file has one of LVIS's keys within its first or its last bytes.

    The order of the arrays in a file does not matter for reading. But a file that has these keys only in its middle is
    recognised as COCO's. The frequency of classes is enough, unless images without LVIS's lists come first: files of
    COCO may have further members of classes, too. TAO's files of videos are COCO's: their videos have the lists, their
    images do not, and their classes have frequencies. BURST's sequences have the lists, too.
    """
    if not coco.recognises(path):
        return False
    parts = first_bytes(path), last_bytes(path)
    if any(map(_VIDEOS.search, parts)):
        return False
    if any(key in part for part in parts for key in _LISTS) and any(map(_has_lists, parts)):
        return True
    with_frequency = any(_FREQUENCY in part for part in parts)
    return with_frequency and not _IMAGES_FIRST.match(parts[0]) and not any(b'"video_id"' in part for part in parts)


def _has_lists(part: bytes) -> bool:
    """Whether images have LVIS's lists as members, and not among the attributes that COCO's writer makes of them."""
    plain = _ATTRIBUTES.sub(b"", _BEGUN.sub(b"", part))
    return any(key in plain for key in _LISTS)


def read_lvis(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,
    attributes: bool = False,
) -> GroundTruth:
    """Read an LVIS annotation file, or the result of ``json.load`` for one.

    Images get the attributes ``neg_category_ids`` and ``not_exhaustive_category_ids``, each an
    :class:`~ioukit.datasets.IdLists`; categories get ``frequency``, ``""`` if the file lacks it. Annotations get
    the flag ``ignore``. An image without ``file_name`` gets the end of its ``coco_url``.

    Args:
        source: Path of a ``.json`` or ``.json.gz`` file, or a mapping. Records are those of
            :meth:`~ioukit.GroundTruth.from_coco`, but annotations need no ``iscrowd``, and images need the two lists.
        on_invalid: What to do with invalid records, as for :meth:`~ioukit.GroundTruth.from_coco`.
        threads: How many threads read a file; all cores if ``None``.
        attributes: As for :meth:`~ioukit.GroundTruth.from_coco`.

    Raises:
        DatasetError: If the data is invalid. It names file, record and field, what was expected and what was found.
        OSError: If the file cannot be read.
    """
    return GroundTruth.from_coco(source, on_invalid=on_invalid, threads=threads, dialect="lvis", attributes=attributes)
