"""Columns from the members of COCO's records that are attributes.

These are the members of the object ``attributes``, which CVAT and ioukit write, and what files of videos have beside
it: ids of tracks, and the video and the frame of an image.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit.datasets.columns._checks import check_readable_again
from ioukit.datasets.columns.id_lists import IdLists
from ioukit.datasets.columns.lazy import ValuesOfFiles
from ioukit.errors import DatasetError

KEYPOINT_NAMES = "keypoint_names"
"""The attribute of categories with the names of their keypoints, (K, P); empty text fills the rows of those with less.
In COCO's files it is the member ``keypoints``."""

OBJECT = "attributes"
"""The member whose own members are attributes."""
OF_REGIONS = (OBJECT, "track_id", "instance_id")
"""The members of annotations and detections that are attributes, as the core knows them."""
OF_IMAGES = (OBJECT, "video_id", "frame_index", "frame_id")
"""Those of images."""
SEQUENCE = "sequence"
"""The attribute of images with the name of their video, from the list ``videos`` of the file."""

_MOST_EXACT = 2**63
_OF_CATEGORIES = ("id", "name", "keypoints", "skeleton")


def attribute_columns(
    members: Mapping[str, Sequence[Any]], source: str, array: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Flags and other columns from the members of N records by name, (N,) each, ``None`` where a record has none.

    A name whose values are all true or false is a flag, false where a record lacks it. Numbers become integers if all
    records have one and none has a fraction, else float64 with NaN where there is none; texts get ``""`` there. Lists
    of numbers of one length become (N, K). Values of any other kind become JSON text.

    Raises:
        DatasetError: If a value of ``attributes`` is neither an object nor missing, a value beside it is neither a
            number nor text, or a record has an attribute twice, with different values.
    """
    names: dict[str, dict[int, Any]] = {}
    for row, record in enumerate(_checked(members.get(OBJECT, ()), source, array, OBJECT)):
        if record is None:
            continue
        if not isinstance(record, Mapping):
            raise DatasetError(f"{source}: {array}[{row}].attributes: expected an object, found {_shown(record)}")
        for name, value in record.items():
            if value is not None:
                names.setdefault(str(name), {})[row] = value
    for name, given in members.items():
        beside = enumerate(() if name == OBJECT else _checked(given, source, array, name))
        found = {row: value for row, value in beside if value is not None}
        if wrong := [row for row, value in found.items() if not (isinstance(value, str) or _is_number(value))]:
            shown = _shown(found[wrong[0]])
            raise DatasetError(f"{source}: {array}[{wrong[0]}].{name}: expected a number or text, found {shown}")
        inside = names.get(name, {})
        if differing := [row for row in found.keys() & inside.keys() if found[row] != inside[row]]:
            row = min(differing)
            expected = f"{_shown(inside[row])}, as {OBJECT}.{name} has it"
            raise DatasetError(f"{source}: {array}[{row}].{name}: expected {expected}, found {_shown(found[row])}")
        if found:
            names[name] = dict(sorted((inside | found).items()))  # a column takes the values in the order of rows
    count = max(map(len, members.values()), default=0)
    flags, columns = {}, {}
    for name, values in names.items():
        if all(isinstance(value, bool) for value in values.values()):
            flags[name] = _filled(values, count, False, np.bool_)
        else:
            columns[name] = _column(values, count)
    return flags, columns


def members_of(records: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, list[Any]]:
    """The members of records that are attributes, by name; without those that no record has."""
    found = {name: [_plain(record.get(name)) for record in records] for name in names}
    return {name: values for name, values in found.items() if any(value is not None for value in values)}


def _plain(value: Any) -> Any:
    """The value; a number of NumPy's, which trackers return, as one of Python's."""
    return value.item() if isinstance(value, np.generic) else value


def video_names(videos: Any, of_images: Any) -> npt.NDArray[Any] | None:
    """(I,) the names of the videos of images, if each video has its own name.

    Args:
        videos: The list ``videos`` of a file, or what stands in its place.
        of_images: (I,) the column ``video_id`` of the images, if there is one.
    """
    listed = videos if isinstance(videos, list | tuple) else ()
    by_id = {video["id"]: video.get("name") for video in listed if isinstance(video, Mapping) and _has_id(video)}
    used = [] if of_images is None or of_images.ndim != 1 else of_images.tolist()
    names = {number: by_id.get(number) for number in used}
    if not names or not all(isinstance(name, str) and name for name in names.values()):
        return None
    return np.array([names[number] for number in used], np.str_) if len(set(names.values())) == len(names) else None


def video_lists(videos: Any, of_images: Any, names: Sequence[str], source: str) -> dict[str, IdLists]:
    """Lists of ids of categories that videos have, as TAO's do, for each of the images: by their names.

    Args:
        videos: As for `video_names`.
        of_images: As there.
        names: The members of a video that can be such lists.
        source: The name of the data in messages.

    Raises:
        DatasetError: If such a member is no list of integers.
    """
    listed = videos if isinstance(videos, list | tuple) else ()
    found = {}
    for name in names:
        by_id: dict[Any, list[int]] = {}
        for at, video in enumerate(listed):
            if isinstance(video, Mapping) and _has_id(video) and name in video:
                ids = video[name]
                if not isinstance(ids, list) or not all(type(one) is int and abs(one) < _MOST_EXACT for one in ids):
                    place = f"{source}: videos[{at}].{name}"
                    raise DatasetError(f"{place}: expected a list of ids of categories, found {_shown(ids)}")
                by_id[video["id"]] = ids
        if by_id and of_images is not None and of_images.ndim == 1:
            found[name] = IdLists.of(by_id.get(number, ()) for number in of_images.tolist())
    return found


def _shown(value: Any) -> str:
    """A value for a message."""
    text = json.dumps(value, default=repr)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _has_id(video: Mapping[str, Any]) -> bool:
    return isinstance(video.get("id"), int | str)


def _checked(records: Sequence[Any], source: str, array: str, member: str) -> Iterator[Any]:
    """The values one after the other; text that is JSON, but that Python does not read, is an error of the file."""
    if isinstance(records, ValuesOfFiles):
        for path, _, _ in records.files():
            check_readable_again(path, "attributes")
        with contextlib.suppress(ValueError, RecursionError):  # the loop finds the row
            records = records.values()
    rows = iter(records)
    for row in range(len(records)):
        try:
            record = next(rows)
        except (ValueError, RecursionError) as error:  # a number of more than 4,300 digits, or deep nesting
            raise DatasetError(f"{source}: {array}[{row}].{member}: cannot be read: {error}") from None
        yield record


def category_columns(ids: Sequence[int], records: Sequence[Any]) -> dict[str, Any]:
    """Further members of the records of categories, such as ``supercategory``, as columns in the order of the ids."""
    by_id = {record["id"]: record for record in records if isinstance(record, Mapping) and "id" in record}
    found = [by_id.get(number, {}) for number in ids]
    further = [{key: value for key, value in record.items() if key not in _OF_CATEGORIES} for record in found]
    flags, columns = attribute_columns({OBJECT: further}, "categories", "categories")
    names = [
        [str(name) for name in given] if isinstance(given := record.get("keypoints"), list) else [] for record in found
    ]
    longest = max(map(len, names), default=0)
    if longest:
        columns[KEYPOINT_NAMES] = np.array([row + [""] * (longest - len(row)) for row in names], np.str_)
    return {**flags, **columns}


def _filled(values: Mapping[int, Any], count: int, blank: Any, dtype: Any) -> npt.NDArray[Any]:
    found = np.array(list(values.values()), dtype)  # NumPy makes NaN of a None among floats
    column: npt.NDArray[Any] = np.full((count, *found.shape[1:]), blank, dtype)
    column[list(values)] = found
    return column


def _column(values: Mapping[int, Any], count: int) -> npt.NDArray[Any]:
    given = list(values.values())
    if all(map(_is_number, given)):
        if len(values) == count and all(isinstance(one, int) and abs(one) < _MOST_EXACT for one in given):
            return np.array(given, np.int64)
        return _filled(values, count, np.nan, np.float64)
    if _are_lists(given):
        column = _filled(values, count, np.nan, np.float64)
        whole = len(values) == count and all(isinstance(number, int) for one in given for number in one)
        return column.astype(np.int64) if whole else column
    texts = {row: value if isinstance(value, str) else json.dumps(value) for row, value in values.items()}
    return np.array([texts.get(row, "") for row in range(count)], np.str_)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1e300


def _are_lists(given: Sequence[Any]) -> bool:
    """Whether these are lists of numbers of one length; a number may be ``None``."""
    if not all(isinstance(one, list) and one and len(one) == len(given[0]) for one in given):
        return False
    return all(number is None or _is_number(number) for one in given for number in one)
