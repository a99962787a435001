"""COCO's files, and the objects that ``json.load`` makes of them, as columns that are not fully checked yet."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._checks import check_threads
from ioukit._near_names import near_names
from ioukit.datasets.columns._checks import AnyArray, OnInvalid, existing_file, integers
from ioukit.datasets.columns._records import (
    BOX_OR_OTHER,
    CROWD_OF_PYCOCOTOOLS,
    FOUR,
    INTEGER,
    NUMBER,
    OPTIONAL_FLAG,
    OPTIONAL_NUMBER,
    check_lists,
    columns,
    has_box,
)
from ioukit.datasets.columns._regions import KEYPOINTS, SEGMENTATIONS, WITHOUT_AREA, WITHOUT_KEYPOINTS
from ioukit.datasets.columns.images import Categories, Images
from ioukit.datasets.columns.lazy import Keypoints, Names, Segmentations, ValuesOfFiles
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from ioukit.datasets.columns.id_lists import IdLists


Dialect = Literal["coco", "lvis"]
"""Whose members the records of an annotation file have."""

LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
"""The ends of names of files with a record per line."""
_KEYS = ("id", "image_id", "category_id", "bbox", "score", "segmentation", "keypoints", "area", "iscrowd")
_NEAR_THE_BEGINNING = 1 << 16  # characters of a file, for a message
_LISTS = ("neg_category_ids", "not_exhaustive_category_ids")


class Raw(NamedTuple):
    """Columns of a source, by the names of their fields in `GroundTruth` or `Detections`."""

    source: str
    columns: dict[str, Any]
    dropped: int
    """How many records were left out because they were invalid."""
    unchecked: bool
    """Whether boxes, areas and scores still have to be checked."""
    without_box: npt.NDArray[np.int64] = np.zeros(0, np.int64)
    """Rows of detections that have a mask or keypoints, and no box."""
    notes: tuple[str, ...] = ()
    """What a user should know about how the source was read."""


def ground_truth_columns(
    source: str | os.PathLike[str] | Mapping[str, Any],
    on_invalid: OnInvalid,
    threads: int | None,
    dialect: Dialect,
    *,
    attributes: bool,
) -> Raw:
    """The columns of an annotation file, or of the mapping that it holds."""
    if isinstance(source, Mapping):
        return _ground_truth_records(source, on_invalid, dialect, attributes=attributes)
    if not isinstance(source, str | os.PathLike):
        kind = "list" if isinstance(source, list | tuple | np.ndarray) else type(source).__name__
        hint = "; are the two swapped?" if kind == "list" else ""
        raise TypeError(
            f"expected the path of a COCO file, or a mapping with images, categories and annotations, got {kind}{hint}"
        )
    path = existing_file(source)
    if path.lower().endswith(LINES):
        raise DatasetError(
            f"{path}: expected one object with images, categories and annotations, found a file with a record per line "
            "by its name: records of annotations do not list images and categories"
        )
    raw = _core.read_coco_ground_truth(path, on_invalid, dialect == "lvis", check_threads(threads))
    images, categories, annotations = raw["images"], raw["categories"], raw["annotations"]
    lists, groups, ignored = _of_lvis(raw) if dialect == "lvis" else ({}, {}, {})
    if len(annotations[KEYPOINTS]):
        from ioukit.datasets.columns.skeletons import skeletons_in_file  # noqa: PLC0415 - for keypoints alone

        groups = {**groups, **skeletons_in_file(path, categories["ids"].tolist())}
    rows = {
        "images": Images(images["ids"], images["sizes"], Names(*images["names"]), attributes=lists),
        "categories": Categories(categories["ids"], Names(*categories["names"])[:], groups),
        **{name: annotations[name] for name in ("ids", "image_ids", "category_ids", "boxes", "areas")},
        "flags": {
            "crowd": annotations["crowd"],
            **ignored,
            **_counted(annotations["num_keypoints"]),
            **_lacking_area(annotations["without_area"], len(annotations["ids"])),
        },
        "regions": _in_file(path, annotations),
    }
    if attributes:
        of_rows, of_images = (_members_in_file(path, table["further"]) for table in (annotations, images))
        start, end = raw["videos"]
        videos = ValuesOfFiles(path, np.array([[start, end]], np.uint64))[0] if of_images else None
        _add_attributes(rows, of_rows, of_images, videos, path)
        from ioukit.datasets.columns.skeletons import category_records  # noqa: PLC0415 - only when they are asked for

        listed = rows["categories"]
        rows["categories"] = _with_members(listed, category_records(path, listed.ids.tolist()))
    return Raw(path, rows, raw["dropped"], unchecked=False, notes=_crowd_note(path, annotations["without_crowd"]))


def _members_in_file(path: str, spans: Mapping[str, npt.NDArray[np.uint64]]) -> dict[str, Sequence[Any]]:
    """The members of records that are attributes, by name."""
    return {name: ValuesOfFiles(path, places) for name, places in spans.items()}


def _add_attributes(
    rows: dict[str, Any],
    of_rows: Mapping[str, Sequence[Any]],
    of_images: Mapping[str, Sequence[Any]],
    videos: Any,
    source: str,
) -> None:
    """Adds the attributes of annotations and images from members of their records, and the names of videos."""
    from ioukit.datasets.columns._attributes import (  # noqa: PLC0415 - only when they are asked for
        SEQUENCE,
        attribute_columns,
        video_lists,
        video_names,
    )

    if of_rows:
        flags, columns = attribute_columns(of_rows, source, "annotations")
        rows["flags"] = {**flags, **rows["flags"]}
        rows["attributes"] = columns
    if of_images:
        flags, columns = attribute_columns(of_images, source, "images")
        names = video_names(videos, columns.get("video_id"))
        lists = video_lists(videos, columns.get("video_id"), _LISTS, source)
        columns = {**(columns if names is None else {SEQUENCE: names, **columns}), **lists}
        images: Images = rows["images"]
        rows["images"] = dataclasses.replace(images, attributes={**flags, **columns, **images.attributes})


def _lacking_area(rows: npt.NDArray[np.int64], count: int) -> dict[str, AnyArray]:
    """The flag of annotations without an area; none if all have one."""
    return {WITHOUT_AREA: np.isin(np.arange(count), rows)} if len(rows) else {}


def _crowd_note(source: str, lacking: int) -> tuple[str, ...]:
    who = "annotation lacks" if lacking == 1 else "annotations lack"
    return (f"{source}: {lacking:,} {who} iscrowd, which counts as 0",) if lacking else ()


def _of_lvis(raw: Mapping[str, Any]) -> tuple[dict[str, IdLists], dict[str, AnyArray], dict[str, AnyArray]]:
    """What only LVIS's files have: lists of the images, the frequency of the categories, the flag ``ignore``."""
    from ioukit.datasets.columns.id_lists import IdLists  # noqa: PLC0415 - for LVIS alone

    lists = {name: IdLists(*raw["images"][name]) for name in _LISTS}
    frequency = _strings(Names(*raw["categories"]["frequency"])[:])
    return lists, {"frequency": frequency}, {"ignore": raw["annotations"]["ignore"]}


def detection_columns(
    source: str | os.PathLike[str] | Sequence[Mapping[str, Any]] | npt.NDArray[Any],
    on_invalid: OnInvalid,
    threads: int | None,
    *,
    attributes: bool,
    lines: bool | None = None,
    between: tuple[int, int, int, bool] | None = None,
) -> Raw:
    """The columns of a results file, of the list that it holds, or of an (N, 7) array.

    Args:
        source: As for ``Detections.from_coco``.
        on_invalid: As there.
        threads: As there.
        attributes: As there.
        lines: Whether a file has a record per line; by its name if ``None``.
        between: Of a part of a file: its start and end, the position of its first record, and whether the first record
            of the file has a mask or keypoints instead of a box.
    """
    if isinstance(source, str | os.PathLike):
        path = existing_file(source)
        lines = path.lower().endswith(LINES) if lines is None else lines
        with _naming_near_keys(lambda: _first_record(path)):
            raw = _core.read_coco_detections(path, on_invalid, lines, check_threads(threads), between)
            if not raw["scored"]:
                _check_no_other_name(_first_record(path), path)
                raw["scores"] = np.ones(len(raw["scores"]))
        raw["regions"] = _in_file(path, {name: raw.pop(name) for name in (SEGMENTATIONS, KEYPOINTS)})
        dropped, without_box, spans = (raw.pop(name) for name in ("dropped", "without_box", "further"))
        if attributes and spans:
            raw["attributes"] = _all_columns(_members_in_file(path, spans), path)
        return Raw(path, raw, dropped, unchecked=False, without_box=without_box)
    if isinstance(source, np.ndarray):
        return _detection_array(source)
    if isinstance(source, Mapping):
        raise DatasetError(
            "detections: expected a list of detections, found a mapping (a ground truth? are the two swapped?)"
        )
    if not isinstance(source, list | tuple):
        raise TypeError(
            "expected the path of a COCO results file, a list of mappings or an (N, 7) array, got "
            f"{type(source).__name__}"
        )
    with _naming_near_keys(lambda: source[0]):
        return _detection_records(source, on_invalid, attributes=attributes)


def _check_no_other_name(first: Any, source: str) -> None:
    """Refuses detections without scores whose first record has a number by a name that may mean the score.

    Raises:
        DatasetError: If there is one.
    """
    for key, value in first.items() if isinstance(first, Mapping) else ():
        if key not in _KEYS and isinstance(key, str) and NUMBER.good(value) and near_names(key, ["score"]):
            raise DatasetError(f"{source}: detections[0].score: expected a number, found no such key")


@contextmanager
def _naming_near_keys(first: Callable[[], Any]) -> Iterator[None]:
    """Says what keys there are if the first record lacks one, and which of them to rename."""
    try:
        yield
    except DatasetError as error:
        import re  # noqa: PLC0415 - only for the message
        import reprlib  # noqa: PLC0415 - as above

        lacking = re.search(r"\[0\]\.(\w+): .*, found no such key$", str(error))
        record = first() if lacking else None
        if lacking is None or not isinstance(record, Mapping) or not record:
            raise
        name = lacking[1]
        keys = [key for key in record if isinstance(key, str)]
        others = [key for key in keys if key not in _KEYS]
        # Names of classes stand for no ids; names of images do.
        near = [key for key in others if name == "image_id" or not isinstance(record[key], str)]
        near = [key for key in near if near_names(key, [name])]
        rename = f"; rename {near[0]!r}" if near else ""
        short = reprlib.Repr()
        short.maxlist, short.maxstring = 12, 40
        raise DatasetError(f"{error} among {short.repr(keys)[1:-1] or 'none that are text'}{rename}") from None


def _first_record(path: str) -> Any:
    """The first record of a file of detections, if it is near the beginning; else ``None``."""
    import json  # noqa: PLC0415 - only for a message

    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(_NEAR_THE_BEGINNING)
        return json.JSONDecoder().raw_decode(text, text.find("{"))[0]
    except (OSError, ValueError):
        return None


def _all_columns(members: Mapping[str, Sequence[Any]], source: str) -> dict[str, Any]:
    """The attributes of detections, which have no flags."""
    from ioukit.datasets.columns._attributes import attribute_columns  # noqa: PLC0415 - only when they are asked for

    flags, columns = attribute_columns(members, source, "detections")
    return {**flags, **columns}


def _in_file(path: str, spans: Mapping[str, npt.NDArray[np.uint64]]) -> dict[str, Any]:
    """The regions other than boxes that a file has, by kind."""
    kinds = {SEGMENTATIONS: Segmentations, KEYPOINTS: Keypoints}
    return {name: kind(path, spans[name]) for name, kind in kinds.items() if len(spans[name])}


def _counted(num_keypoints: npt.NDArray[np.int64]) -> dict[str, AnyArray]:
    """The flag of objects without keypoints; -1 is a record that does not tell, and then the keypoints do."""
    return {WITHOUT_KEYPOINTS: num_keypoints == 0} if len(num_keypoints) and num_keypoints.min() >= 0 else {}


def _detection_array(array: npt.NDArray[Any]) -> Raw:
    if array.ndim != 2 or array.shape[1] != 7:
        raise ValueError(
            f"an array of detections must have shape (N, 7) [image id, x, y, width, height, score, category id], "
            f"got {array.shape}"
        )
    # pycocotools truncates ids here. An id with a fraction is refused instead.
    rows = {
        "image_ids": integers(array[:, 0], name="image ids (column 0)"),
        "category_ids": integers(array[:, 6], name="category ids (column 6)"),
        "boxes": np.array(array[:, 1:5], np.float64, order="C"),
        "scores": np.array(array[:, 5], np.float64),
    }
    return Raw("detections", rows, 0, unchecked=True)


def _detection_records(source: Sequence[Mapping[str, Any]], on_invalid: OnInvalid, *, attributes: bool) -> Raw:
    # As in pycocotools, the first record decides whether the file holds boxes, or only masks or keypoints.
    first = source[0] if len(source) else {}
    others = ("segmentation", "keypoints")
    no_boxes = isinstance(first, Mapping) and not has_box(first) and any(first.get(key) is not None for key in others)
    fields = {"image_id": INTEGER, "category_id": INTEGER, "score": NUMBER}
    fields["bbox"] = BOX_OR_OTHER if no_boxes else FOUR
    scored = not len(source) or not all(map(_lacks_score, source))
    if not scored:
        _check_no_other_name(first, "detections")
        del fields["score"]
    try:
        raw, kept = columns(source, fields, source="detections", array="detections", on_invalid=on_invalid)
    except DatasetError as error:
        if not str(error).endswith(
            (".score: expected a number, found no such key", ".score: expected a number, found None")
        ):
            raise
        without = sum(map(_lacks_score, source))
        raise DatasetError(f"{error}, as in {without} of {len(source)} detections") from None
    records = source if kept is None else [source[row] for row in kept]
    rows: dict[str, Any] = {
        "image_ids": raw["image_id"].astype(np.int64),
        "category_ids": raw["category_id"].astype(np.int64),
        "boxes": np.ascontiguousarray(raw["bbox"], np.float64),
        "scores": np.ascontiguousarray(raw["score"], np.float64) if scored else np.ones(len(records)),
        "scored": scored,
        "regions": _regions(records),
    }
    if attributes:
        from ioukit.datasets.columns._attributes import OF_REGIONS, members_of  # noqa: PLC0415 - as below

        rows["attributes"] = _all_columns(members_of(records, OF_REGIONS), "detections")
    lacking = [row for row, record in enumerate(records) if no_boxes and not has_box(record)]
    return Raw("detections", rows, len(source) - len(records), unchecked=True, without_box=np.array(lacking, np.int64))


def _lacks_score(record: Any) -> bool:
    return isinstance(record, Mapping) and record.get("score") is None


def _regions(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The regions other than boxes that records have, by kind."""
    found = {}
    for name, key in ((SEGMENTATIONS, "segmentation"), (KEYPOINTS, "keypoints")):
        values = [record.get(key) for record in records]
        if any(value is not None for value in values):
            found[name] = values
    return found


def _ground_truth_records(
    source: Mapping[str, Any], on_invalid: OnInvalid, dialect: Dialect, *, attributes: bool
) -> Raw:
    name = "ground truth"
    for key in ("images", "categories", "annotations"):
        if key not in source or isinstance(source[key], str | Mapping) or not hasattr(source[key], "__len__"):
            found = f"{type(source[key]).__name__}" if key in source else "no such key"
            raise DatasetError(f"{name}: {key}: expected an array, found {found}")
    records = source["annotations"]
    images, image_records = _image_records(source["images"], name, on_invalid, dialect)
    categories, dropped_categories = _category_records(source["categories"], name, on_invalid, dialect, records)
    # pycocotools looks up both when it evaluates, and raises an error if they are missing.
    area, crowd = (NUMBER, CROWD_OF_PYCOCOTOOLS) if on_invalid == "pycocotools" else (OPTIONAL_NUMBER, OPTIONAL_FLAG)
    fields = {"id": INTEGER, "image_id": INTEGER, "category_id": INTEGER, "bbox": FOUR, "area": area, "iscrowd": crowd}
    if dialect == "lvis":
        fields |= {"iscrowd": OPTIONAL_FLAG, "ignore": OPTIONAL_FLAG}
    raw, kept = columns(records, fields, source=name, array="annotations", on_invalid=on_invalid)
    dropped = len(records) - len(raw["id"])
    records = records if kept is None else [records[row] for row in kept]
    lacking_area = np.array([row for row, record in enumerate(records) if "area" not in record], np.int64)
    lacking_crowd = 0 if dialect == "lvis" else sum("iscrowd" not in record for record in records)
    rows = {
        "images": images,
        "categories": categories,
        "ids": raw["id"].astype(np.int64),
        "image_ids": raw["image_id"].astype(np.int64),
        "category_ids": raw["category_id"].astype(np.int64),
        "boxes": np.ascontiguousarray(raw["bbox"], np.float64),
        "areas": np.ascontiguousarray(raw["area"], np.float64),
        "flags": {
            "crowd": raw["iscrowd"].astype(np.bool_),
            **({"ignore": raw["ignore"].astype(np.bool_)} if dialect == "lvis" else {}),
            **_counted(_counts(records)),
            **_lacking_area(lacking_area, len(records)),
        },
        "regions": _regions(records),
    }
    if attributes:
        from ioukit.datasets.columns._attributes import OF_IMAGES, OF_REGIONS, members_of  # noqa: PLC0415 - as above

        of_rows, of_images = members_of(records, OF_REGIONS), members_of(image_records, OF_IMAGES)
        _add_attributes(rows, of_rows, of_images, source.get("videos"), name)
        rows["categories"] = _with_members(categories, source["categories"])
    dropped += len(source["images"]) - len(image_records) + dropped_categories
    return Raw(name, rows, dropped, unchecked=True, notes=_crowd_note(name, lacking_crowd))


def _with_members(categories: Categories, records: Sequence[Any]) -> Categories:
    """The categories with the further members of their records as attributes."""
    from ioukit.datasets.columns._attributes import category_columns  # noqa: PLC0415 - only when they are asked for

    members = category_columns(categories.ids.tolist(), records)
    return dataclasses.replace(categories, attributes={**members, **categories.attributes})


def _counts(records: Sequence[Mapping[str, Any]]) -> npt.NDArray[np.int64]:
    """`num_keypoints` of every record, -1 where a record does not tell."""
    values = [record.get("num_keypoints") for record in records]
    return np.array([value if isinstance(value, int | np.integer) else -1 for value in values], np.int64)


def _image_records(records: Any, name: str, on_invalid: OnInvalid, dialect: Dialect) -> tuple[Images, list[Any]]:
    """The images, and their records."""
    if dialect == "lvis":
        records = check_lists(records, _LISTS, source=name, array="images", on_invalid=on_invalid)
    raw, kept = columns(records, {"id": INTEGER}, source=name, array="images", on_invalid=on_invalid)
    records = list(records) if kept is None else [records[row] for row in kept]
    sizes = [[_number(record.get("width")), _number(record.get("height"))] for record in records]
    names = Names.of([_file_name(record, dialect) for record in records])
    lists = {}
    if dialect == "lvis":
        from ioukit.datasets.columns.id_lists import IdLists  # noqa: PLC0415 - for LVIS alone

        lists = {key: IdLists.of([record[key] for record in records]) for key in _LISTS}
    ids: AnyArray = raw["id"].astype(np.int64)
    return Images(ids, np.array(sizes, np.float64).reshape(-1, 2), names, attributes=lists), records


def _file_name(record: Mapping[str, Any], dialect: Dialect) -> str:
    """The name of the file of an image; LVIS's files may have the end of its address instead."""
    name, url = record.get("file_name"), record.get("coco_url")
    if dialect == "lvis" and not (isinstance(name, str) and name) and isinstance(url, str):
        return url.rpartition("/")[2]
    return name if isinstance(name, str) else ""


def _category_records(
    records: Any, name: str, on_invalid: OnInvalid, dialect: Dialect, annotations: Any
) -> tuple[Categories, int]:
    raw, kept = columns(records, {"id": INTEGER}, source=name, array="categories", on_invalid=on_invalid)
    dropped = len(records) - len(raw["id"])
    records = records if kept is None else [records[row] for row in kept]
    labels = [record.get("name") for record in records]
    ids: AnyArray = raw["id"].astype(np.int64)
    names = [label if isinstance(label, str) else str(number) for label, number in zip(labels, ids, strict=True)]
    attributes: dict[str, AnyArray] = {}
    if dialect == "lvis":
        groups = [record.get("frequency") for record in records]
        attributes["frequency"] = _strings([group if isinstance(group, str) else "" for group in groups])
    have_keypoints = (isinstance(record, Mapping) and record.get("keypoints") is not None for record in annotations)
    if any("skeleton" in record for record in records) and any(have_keypoints):
        from ioukit.datasets.columns.skeletons import skeletons  # noqa: PLC0415 - for keypoints alone

        attributes |= skeletons(records)
    return Categories(ids, tuple(names), attributes), dropped


def _strings(values: Sequence[str]) -> AnyArray:
    return np.array(values, np.str_) if len(values) else np.zeros(0, "U1")


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float | np.number) else np.nan
