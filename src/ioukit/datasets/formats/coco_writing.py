"""Writes COCO's files: annotations, LVIS's annotations, and results as an array or one per line."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ioukit.datasets.columns._attributes import KEYPOINT_NAMES, OF_IMAGES, OF_REGIONS
from ioukit.datasets.columns._regions import KEYPOINTS, SEGMENTATIONS, WITHOUT_KEYPOINTS
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.id_lists import IdLists
from ioukit.datasets.columns.images import Categories, Images
from ioukit.datasets.columns.keypoints import decode_keypoints
from ioukit.datasets.columns.lazy import ValuesOfFiles
from ioukit.datasets.columns.masks import boxes_of_masks
from ioukit.datasets.columns.skeletons import SKELETON
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    import numpy.typing as npt


_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_LVIS_LISTS = ("neg_category_ids", "not_exhaustive_category_ids")
_PACKING = 6  # of 9: as gzip's own command
_AT_ONCE = 4096  # records that are one piece of text in memory
_HOLDS_ALL = Holds(
    flags=None,
    attributes=None,
    image_attributes=None,
    category_attributes=None,
    image_ids=True,
    category_ids=True,
    unused_categories=True,
    ids=True,
    areas=True,
)
_BREAKS = re.compile(r"[\r\n][ \t\r\n]*")
_DRAWN = ("Masks", "Polygons", "RotatedBoxes")
"""The sets of regions that can be spelled as segmentations, in the order in which one is chosen."""


def write_coco(gt: GroundTruth, path: Path, *, name: str = ".json") -> list[str]:
    """Write an annotation file that ioukit and pycocotools read.

    Numbers have the fewest digits that read back as the same double. Segmentations and keypoints that come from a file
    keep their digits. Masks become compressed RLE; polygons and rotated boxes become polygons. Flags other than
    ``crowd`` and attributes are members of ``attributes``, as in CVAT's files; but ``track_id`` and ``instance_id`` of
    objects, and ``video_id``, ``frame_index`` and ``frame_id`` of images, are members of the records themselves, where
    other programs look for them. If image ids are strings, images are
    numbered from 1 in the order of the strings, and an image without a name gets its string as ``file_name``.

    Args:
        gt: The data set.
        path: The file to write.
        name: The name that it will have; packed if it ends in ``.gz``.

    Returns:
        What the file does not hold.

    Raises:
        DatasetError: If keypoints or masks cannot be read from their files again.
        OSError: If the file cannot be written.
    """
    return _write_ground_truth(gt, path, name, lvis=False)


def write_lvis(gt: GroundTruth, path: Path, *, name: str = ".json") -> list[str]:
    """Write an annotation file of LVIS: as :func:`write_coco`, with the lists of the images and the frequencies.

    An image without the lists gets empty ones. A class without a frequency gets that of LVIS: ``r`` if at most 10
    images have it, ``c`` if at most 100, else ``f``. Crowds become ``ignore``.
    """
    return _write_ground_truth(gt, path, name, lvis=True)


def write_coco_detections(
    dt: Detections, path: Path, *, ground_truth: GroundTruth | None = None, name: str = ".json"
) -> list[str]:
    """Write a results file: an array, or a record per line if the name ends in ``.jsonl`` or ``.ndjson``.

    Records whose boxes and areas are those of their masks have no ``bbox``, so that every reader takes both from the
    masks again. Attributes are members of ``attributes``, but ``track_id`` and ``instance_id`` of the records
    themselves.

    Args:
        dt: The detections.
        path: The file to write.
        ground_truth: Needed if image ids are strings: the images are numbered as :func:`write_coco` does.
        name: The name that the file will have; packed if it ends in ``.gz``.

    Returns:
        What the file does not hold.

    Raises:
        DatasetError: If image ids are strings and there is no ``ground_truth``.
        OSError: If the file cannot be written.
    """
    if dt.image_keys is not None and ground_truth is None:
        raise DatasetError(
            f"{dt.source}: image ids are strings, and COCO's results have numbers: "
            "ground_truth=..., or --ground-truth in a command, gives them its numbers"
        )
    images = dt.image_ids if ground_truth is None else dt.image_ids_in(ground_truth.images)
    from_masks = _is_from_masks(dt)
    notes = _lost(dt, Holds(attributes=None, areas=from_masks))
    if dt.image_keys is not None:
        notes.append(f"ids of images as text ({len(dt.image_keys):,}): they are numbers, those of the ground truth")
    members = _present(
        ("image_id", map(str, images.tolist())),
        ("category_id", map(str, dt.category_ids.tolist())),
        ("bbox", None if from_masks else _box_texts(dt.boxes)),
        ("score", map(repr, dt.scores.tolist()) if dt.scored else None),
        ("segmentation", _segmentation_texts(dt)),
        ("keypoints", _keypoint_texts(dt)),
        *_further_members(dt.attributes, {}, len(dt), OF_REGIONS),
    )
    with _opened(path, name) as file:
        if name.lower().endswith(_LINES):
            _write_joined(file, (f"{record}\n" for record in _records(members)), "")
        else:
            _write_array(file, _records(members))
            file.write("\n")
    return notes


def _write_ground_truth(gt: GroundTruth, path: Path, name: str, *, lvis: bool) -> list[str]:
    if name.lower().endswith(_LINES):
        raise DatasetError(
            f"{name}: expected a name that ends in .json or .json.gz: ground truth is one object, not a record per line"
        )
    in_lists = _LVIS_LISTS if lvis else ()
    direct = {"crowd", "without_keypoints"} | ({"ignore"} if lvis else set())
    ignored = gt.flag("ignore") | gt.crowd if lvis else gt.crowd
    others = {flag: column for flag, column in gt.flags.items() if flag not in direct}
    notes = _lost(gt, _HOLDS_ALL) + _lost_keys(gt.images)
    if lvis and (crowds := int(gt.crowd.sum())):
        notes.append(f"flag crowd of {crowds:,} objects: LVIS has no crowds, and they are ignored")
    keypoints = _keypoint_texts(gt)
    members = _present(
        ("id", map(str, gt.ids.tolist())),
        ("image_id", map(str, gt.image_ids.tolist())),
        ("category_id", map(str, gt.category_ids.tolist())),
        ("bbox", _box_texts(gt.boxes)),
        ("area", map(repr, gt.areas.tolist())),
        ("ignore" if lvis else "iscrowd", map(str, ignored.astype(np.int64).tolist())),
        ("segmentation", _segmentation_texts(gt)),
        ("keypoints", keypoints),
        ("num_keypoints", None if keypoints is None else map(str, _keypoint_counts(gt))),
        *_further_members(gt.attributes, others, len(gt), OF_REGIONS),
    )
    with _opened(path, name) as file:
        file.write('{"images":')
        _write_array(file, _image_records(gt.images, in_lists))
        file.write(',\n"categories":')
        _write_array(file, _category_records(gt.categories, _image_counts(gt) if lvis else None))
        file.write(',\n"annotations":')
        _write_array(file, _records(members))
        file.write("}\n")
    return notes


def _regions_held(data: GroundTruth | Detections) -> frozenset[str]:
    """The kinds of regions that are written: one set of shapes only if there are no segmentations."""
    drawn = [kind for kind in _DRAWN if kind in data.regions and SEGMENTATIONS not in data.regions]
    return frozenset({SEGMENTATIONS, KEYPOINTS, *drawn[:1]})


def _lost(data: GroundTruth | Detections, holds: Holds) -> list[str]:
    held = _regions_held(data)
    notes = left_out_columns(data, dataclasses.replace(holds, regions=held))
    notes += [f"{kind} of {len(data):,} rows: they are segmentations" for kind in held & set(_DRAWN) if len(data)]
    columns = {**data.attributes, **(data.images.attributes if isinstance(data, GroundTruth) else {})}
    for name, column in columns.items():
        infinite = int(np.isinf(column).sum()) if getattr(column, "dtype", np.dtype(int)).kind == "f" else 0
        if infinite:
            notes.append(f"{infinite:,} infinite numbers of the attribute {name}")
    return notes


def _lost_keys(images: Images) -> list[str]:
    """A note if ids of images are strings that the names of their files do not tell."""
    if images.keys is None:
        return []
    others = sum(
        bool(name) and key not in (name, PurePosixPath(name).stem)
        for key, name in zip(images.keys.tolist(), images.names, strict=True)
    )
    notes = [f"ids of {len(images):,} images as text: the images are numbered from 1, and file_name has their names"]
    return notes + ([f"ids of {others:,} images that differ from the names of their files"] if others else [])


def _is_from_masks(dt: Detections) -> bool:
    """Whether boxes and areas are those of the segmentations, to the last bit."""
    column = dt.regions.get(SEGMENTATIONS)
    if dt.areas is None or column is None or not len(dt):
        return False
    try:
        boxes, areas = boxes_of_masks(column, dt.source, None)
    except DatasetError:  # polygons, for example
        return False
    return np.array_equal(boxes, dt.boxes) and np.array_equal(areas, dt.areas)


def _present(*members: tuple[str, Iterable[str] | None]) -> list[tuple[str, Iterable[str]]]:
    return [(name, texts) for name, texts in members if texts is not None]


def _box_texts(boxes: npt.NDArray[np.float64]) -> Iterator[str]:
    return (f"[{x!r},{y!r},{width!r},{height!r}]" for x, y, width, height in boxes.tolist())


def _records(members: Sequence[tuple[str, Iterable[str]]]) -> Iterator[str]:
    """An object per row; a member whose text is empty is left out."""
    keys = [f'"{name}":' for name, _ in members]
    for values in zip(*(texts for _, texts in members), strict=True):
        yield "{" + ",".join([key + value for key, value in zip(keys, values, strict=True) if value]) + "}"


def _image_records(images: Images, lists: Sequence[str]) -> Iterator[str]:
    labels, sizes = images.labels.tolist(), images.sizes.tolist()
    further = {name: column for name, column in images.attributes.items() if name not in lists}
    written = [(key, list(texts)) for key, texts in _present(*_further_members(further, {}, len(images), OF_IMAGES))]
    listed: dict[str, Any] = {name: images.attributes.get(name) for name in lists}
    for row, (number, name) in enumerate(zip(images.ids.tolist(), images.names, strict=True)):
        file_name = name or (str(labels[row]) if images.keys is not None else "")
        members = [f'"id":{number}']
        if file_name:
            members.append(f'"file_name":{_json_text(file_name)}')
        for key, side in zip(("width", "height"), sizes[row], strict=True):
            if not math.isnan(side):
                members.append(f'"{key}":{_whole(side)}')
        for key, column in listed.items():
            members.append(f'"{key}":{_json_text(column[row]) if isinstance(column, IdLists) else "[]"}')
        members += [f'"{key}":{texts[row]}' for key, texts in written if texts[row]]
        yield "{" + ",".join(members) + "}"


def _category_records(categories: Categories, image_counts: Mapping[int, int] | None) -> Iterator[str]:
    """The records of the categories; for LVIS with a frequency, from the number of images that have them."""
    further = {name: column for name, column in categories.attributes.items() if name not in (SKELETON, KEYPOINT_NAMES)}
    keypoint_names = categories.attributes.get(KEYPOINT_NAMES)
    skeletons = categories.attributes.get(SKELETON)
    for row, (number, name) in enumerate(zip(categories.ids.tolist(), categories.names, strict=True)):
        record: dict[str, Any] = {"id": number, "name": name}
        for key, column in further.items():
            value = column[row].tolist()
            if value != "" and value == value:  # noqa: PLR0124 - NaN is the value of a category that has none
                record.setdefault(key, value)
        if keypoint_names is not None and (named := [one for one in keypoint_names[row].tolist() if one]):
            record["keypoints"] = named
        if skeletons is not None and (edges := [edge for edge in skeletons[row].tolist() if edge != [0, 0]]):
            record[SKELETON] = edges
        if image_counts is not None:
            count = image_counts.get(number, 0)
            record.setdefault("image_count", count)
            record.setdefault("frequency", "r" if count <= 10 else "c" if count <= 100 else "f")
        yield _json_text(record)


def _image_counts(gt: GroundTruth) -> dict[int, int]:
    """How many images have objects of each category."""
    pairs = np.unique(np.stack([gt.category_ids, gt.image_ids], axis=1), axis=0)
    numbers, counts = np.unique(pairs[:, 0], return_counts=True)
    return dict(zip(numbers.tolist(), counts.tolist(), strict=True))


def _whole(value: float) -> str:
    """A number without a fraction if it has none: pycocotools draws polygons only on images of whole pixels."""
    return str(int(value)) if value.is_integer() else repr(value)


@contextlib.contextmanager
def _opened(path: Path, name: str) -> Iterator[IO[str]]:
    if name.lower().endswith(".gz"):
        # Neither the time nor the temporary name is kept, so that equal data gives equal files.
        with (
            path.open("wb") as raw,
            gzip.GzipFile("", "wb", _PACKING, raw, mtime=0) as packed,
            io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as text,
        ):
            yield text
        return
    with path.open("w", encoding="utf-8", newline="\n") as file:
        yield file


def _write_array(file: IO[str], records: Iterator[str]) -> None:
    file.write("[\n")
    _write_joined(file, records, ",\n")
    file.write("\n]")


def _write_joined(file: IO[str], records: Iterator[str], separator: str) -> None:
    between = ""
    while piece := list(islice(records, _AT_ONCE)):
        file.write(between + separator.join(piece))
        between = separator


def _json_text(value: Any) -> str:
    """The JSON text of a value, on one line and in ASCII; NumPy's values become Python's."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("ascii")
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _segmentation_texts(data: GroundTruth | Detections) -> list[str] | None:
    """(N,) the segmentation of each row, empty for a row without one; ``None`` if the data has none.

    Values of files keep their digits. Masks become compressed RLE; polygons and rotated boxes become polygons.
    """
    column = data.regions.get(SEGMENTATIONS)
    if column is not None:
        return _texts(column)
    kind = next((name for name in _DRAWN if name in data.regions), None)
    if kind is None:
        return None
    regions: Any = data.regions[kind]
    if kind == "Masks":
        return [_json_text(record) for record in regions.to_rle()]
    rings = regions.to_flat() if kind == "Polygons" else regions.corners().reshape(len(regions), 8).tolist()
    return [f"[{_json_text(list(map(float, ring)))}]" for ring in rings]


def _texts(column: Sequence[Any]) -> list[str]:
    if isinstance(column, ValuesOfFiles):
        # Line breaks and what follows them are left out: they are never inside of a string of JSON.
        return ["" if text == b"null" else _BREAKS.sub("", text.decode("utf-8")) for text in column.texts()]
    return ["" if value is None else _json_text(value) for value in column]


def _keypoint_texts(data: GroundTruth | Detections) -> list[str] | None:
    """(N,) ``x, y, v`` of all keypoints of each row, empty for a row without; ``None`` if the data has none."""
    column = data.regions.get(KEYPOINTS)
    if column is None:
        return None
    if not isinstance(column, np.ndarray):
        return _texts(column)
    return ["" if np.isnan(points).any() else _json_text(points.reshape(-1)) for points in column]


def _keypoint_counts(gt: GroundTruth) -> list[int]:
    """(N,) how many keypoints of each row are labelled: none where the flag ``without_keypoints`` says so."""
    points = decode_keypoints(gt.regions[KEYPOINTS], source=gt.source, array="annotations")
    counts: list[int] = (points[..., 2] > 0).sum(axis=1).tolist()
    flag = gt.flags.get(WITHOUT_KEYPOINTS)
    if flag is None:
        return counts
    return [0 if without else max(count, 1) for count, without in zip(counts, flag.tolist(), strict=True)]


def _further_members(
    columns: Mapping[str, Any], flags: Mapping[str, Any], count: int, names: Sequence[str]
) -> list[tuple[str, Iterable[str] | None]]:
    """The members of records that are attributes: those of ``names`` for themselves, all others in ``attributes``."""
    beside = {name: column for name, column in columns.items() if name in names[1:] and np.ndim(column) == 1}
    inside = {name: column for name, column in columns.items() if name not in beside}
    return [
        # Readers of text have floats. Other programs expect 7, and not 7.0.
        *((name, (text.removesuffix(".0") for text in _value_texts(column))) for name, column in beside.items()),
        (names[0], _attribute_texts(inside, flags, count)),
    ]


def _attribute_texts(columns: Mapping[str, Any], flags: Mapping[str, Any], count: int) -> list[str] | None:
    """(N,) an object with the attributes of each row, empty for a row without; ``None`` if there are none.

    A flag that is not set, a number that is NaN and an empty text are left out.
    """
    parts: list[list[str]] = [[] for _ in range(count)]
    for name, flag in flags.items():
        member = f"{_json_text(name)}:true"
        for row in np.flatnonzero(flag).tolist():
            parts[row].append(member)
    for name, column in columns.items():
        key = _json_text(name)
        for row, text in enumerate(_value_texts(column)):
            if text:
                parts[row].append(f"{key}:{text}")
    texts = [f"{{{','.join(members)}}}" if members else "" for members in parts]
    return texts if any(texts) else None


def _value_texts(column: Any) -> Iterable[str]:
    if isinstance(column, IdLists):
        return map(_json_text, column.tolist())
    array = np.asarray(column)
    if array.ndim > 1:
        return map(_row_text, array)
    if array.dtype.kind == "f":
        return (repr(value) if finite else "" for value, finite in zip(array.tolist(), np.isfinite(array), strict=True))
    if array.dtype.kind == "U":
        return (_json_text(value) if value else "" for value in array.tolist())
    return map(_json_text, array.tolist() if array.dtype.kind in "iub" else map(str, array.tolist()))


def _row_text(row: np.ndarray[Any, Any]) -> str:
    """The text of one row of a column with several values per row; ``null`` for a number that is not finite."""
    if row.dtype.kind != "f":
        return _json_text(row)
    if not np.isfinite(row).any():
        return ""
    values = row.astype(object)
    values[~np.isfinite(row)] = None
    return _json_text(values)
