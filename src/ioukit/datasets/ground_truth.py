"""The objects that are there: images, categories and annotations as columns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._checks import check_threads
from ioukit.datasets._columns import (
    OnInvalid,
    check_boxes,
    check_on_invalid,
    check_values,
    existing_file,
    frozen,
    integers,
    keep,
    pixel_boxes,
)
from ioukit.datasets._lazy import Names, Segmentations
from ioukit.datasets._records import FLAG, FOUR, INTEGER, NUMBER, columns
from ioukit.errors import DatasetError
from ioukit.regions import BoxesLike

__all__ = ["Categories", "GroundTruth", "Images"]


@dataclass(frozen=True, eq=False)
class Images:
    """The images of a data set, by rising id."""

    ids: npt.NDArray[np.int64]
    """(I,) ids, each once."""
    sizes: npt.NDArray[np.float64]
    """(I, 2) width and height in pixels, NaN where the data set does not say."""
    names: Names
    """(I,) file names, empty where the data set does not say."""

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, eq=False)
class Categories:
    """The categories of a data set, by rising id."""

    ids: npt.NDArray[np.int64]
    """(K,) ids, each once."""
    names: tuple[str, ...]
    """(K,) names; the id in digits where the data set does not say."""

    def __len__(self) -> int:
        return len(self.ids)

    def positions(self, wanted: Sequence[int | str]) -> list[int]:
        """Find categories by id or name.

        Raises:
            TypeError: If it is one name, not a list.
            ValueError: If there is no such category, or more than one of that name; similar names are listed.
        """
        if isinstance(wanted, str):
            raise TypeError(f"expected a list of category ids or names, got {wanted!r}; write [{wanted!r}]")
        by_id = {number: position for position, number in enumerate(self.ids.tolist())}
        return [self._position(key, by_id) for key in wanted]

    def _position(self, key: int | str, by_id: Mapping[int, int]) -> int:
        if not isinstance(key, str):
            if int(key) not in by_id:
                raise ValueError(f"no category has the id {key}")
            return by_id[int(key)]
        found = [position for position, name in enumerate(self.names) if name == key]
        if len(found) > 1:
            raise ValueError(f"{len(found)} categories have the name {key!r}; choose by id: {self.ids[found].tolist()}")
        if not found:
            import difflib  # noqa: PLC0415 - only for the message

            close = difflib.get_close_matches(key, self.names, n=3)
            others = ", ".join(map(repr, self.names[:5])) + (", ..." if len(self) > 5 else "")
            hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else f"; there are {others}"
            raise ValueError(f"no category has the name {key!r}{hint}")
        return found[0]


@dataclass(frozen=True, eq=False, repr=False)
class GroundTruth:
    """Annotated objects as columns, one row an annotation in the order of the source.

    Build one with :meth:`from_coco` or :meth:`from_arrays`: they check what the columns hold. The arrays are read-only.
    """

    images: Images
    """Every image, those without an object too."""
    categories: Categories
    """Every category, those without an object too."""
    ids: npt.NDArray[np.int64]
    """(N,) annotation ids."""
    image_ids: npt.NDArray[np.int64]
    """(N,) the image of each."""
    category_ids: npt.NDArray[np.int64]
    """(N,) the category of each."""
    boxes: npt.NDArray[np.float64]
    """(N, 4) ``[x, y, width, height]`` in pixels, to the last bit as the source has them."""
    areas: npt.NDArray[np.float64]
    """(N,) areas in square pixels; COCO's are those of the masks, and decide between small, medium and large."""
    crowd: npt.NDArray[np.bool_]
    """(N,) whether the annotation marks a crowd: it may be found many times, and counts for nothing."""
    segmentations: Sequence[Any] | None = None
    """(N,) masks as the source has them (polygons or RLE), read when looked at; ``None`` if there are none."""
    source: str = "ground truth"
    """Where the data came from, for messages."""
    on_invalid: OnInvalid = "error"
    """How invalid records were treated."""
    dropped: int = 0
    """Records left out because they were invalid."""
    notes: tuple[str, ...] = field(default=())
    """What a user should know about the data."""

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return (
            f"GroundTruth({len(self):,} annotations, {len(self.images):,} images, {len(self.categories):,} categories)"
        )

    @classmethod
    def from_coco(
        cls,
        source: str | os.PathLike[str] | Mapping[str, Any],
        *,
        on_invalid: OnInvalid = "error",
        threads: int | None = None,
    ) -> GroundTruth:
        """Read a COCO annotation file, or take what ``json.load`` made of one.

        Args:
            source: Path of a ``.json`` or ``.json.gz`` file, or a mapping with ``images``, ``categories`` and
                ``annotations``. An annotation needs ``id``, ``image_id``, ``category_id``, ``bbox`` as
                ``[x, y, width, height]``, ``area`` and ``iscrowd``; other keys are ignored.
            on_invalid: ``"error"`` refuses a data set with an invalid record: a repeated id, an image or category that
                is not listed, a missing key, a value of the wrong kind, a number that is not finite, a negative width,
                height or area, a coordinate beyond 2**53. ``"drop"`` leaves such records out and counts them (of those
                with the same id the first stays). ``"pycocotools"`` gives the numbers that pycocotools gives, defects
                included, and refuses where it raises: id 0 never matches, the last of several annotations with one id
                stands in the place of each (with a selection of images or categories, which of them counts may
                differ), and what nobody lists is left out.
            threads: How many threads read a file; all cores if ``None``.

        Raises:
            DatasetError: If the data is invalid; names file, record and field, what was expected and what came.
            OSError: If the file cannot be read.
        """
        check_on_invalid(on_invalid)
        if isinstance(source, Mapping):
            return _from_records(source, on_invalid)
        path = existing_file(source)
        raw = _core.read_coco_ground_truth(path, on_invalid, check_threads(threads))
        images, categories = raw["images"], raw["categories"]
        return _assemble(
            path,
            on_invalid,
            raw["dropped"],
            Images(images["ids"], images["sizes"], Names(*images["names"])),
            Categories(categories["ids"], Names(*categories["names"])[:]),
            **{**raw["annotations"], "segmentations": Segmentations(path, raw["annotations"]["segmentations"])},
        )

    @classmethod
    def from_arrays(
        cls,
        *,
        image_ids: npt.ArrayLike,
        category_ids: npt.ArrayLike,
        boxes: BoxesLike,
        areas: npt.ArrayLike | None = None,
        crowd: npt.ArrayLike | None = None,
        ids: npt.ArrayLike | None = None,
        images: npt.ArrayLike | None = None,
        categories: Mapping[int, str] | npt.ArrayLike | None = None,
    ) -> GroundTruth:
        """Take columns.

        Args:
            image_ids: (N,) integers.
            category_ids: (N,) integers.
            boxes: :class:`~ioukit.Boxes` in pixels, or (N, 4) ``[x, y, width, height]``.
            areas: (N,) square pixels; width times height if ``None``.
            crowd: (N,) booleans; none is a crowd if ``None``.
            ids: (N,) integers, each once; 1 to N if ``None``.
            images: (I,) ids of all images, those without an object too; the images of ``image_ids`` if ``None``.
            categories: Names by id, or (K,) ids; the categories of ``category_ids`` if ``None``.

        Raises:
            ValueError: If shapes do not fit; :class:`~ioukit.DatasetError` if values are invalid.
        """
        image_ids = integers(image_ids, name="image_ids")
        count = len(image_ids)
        box_array = pixel_boxes(boxes, count)
        category_ids = integers(category_ids, name="category_ids", length=count)
        names: tuple[str, ...]
        if isinstance(categories, Mapping):
            listed, names = integers(list(categories), name="categories"), tuple(map(str, categories.values()))
        else:
            listed = np.unique(category_ids) if categories is None else integers(categories, name="categories")
            names = tuple(map(str, listed.tolist()))
        image_list = np.unique(image_ids) if images is None else integers(images, name="images")
        return _assemble(
            "ground truth",
            "error",
            0,
            Images(image_list, np.full((len(image_list), 2), np.nan), Names.of([""] * len(image_list))),
            Categories(listed, names),
            ids=np.arange(1, count + 1) if ids is None else integers(ids, name="ids", length=count),
            image_ids=image_ids,
            category_ids=category_ids,
            boxes=box_array,
            areas=_column(areas, box_array[:, 2] * box_array[:, 3], "areas", np.float64),
            crowd=_column(crowd, np.zeros(count, np.bool_), "crowd", np.bool_),
            segmentations=None,
            check=True,
        )


def _column(values: npt.ArrayLike | None, default: npt.NDArray[Any], name: str, dtype: type) -> npt.NDArray[Any]:
    if values is None:
        return default
    array: npt.NDArray[Any] = np.array(values, dtype)
    if array.shape != default.shape:
        raise ValueError(f"{name} must have shape {default.shape}, got {array.shape}")
    return array


def _from_records(source: Mapping[str, Any], on_invalid: OnInvalid) -> GroundTruth:
    name = "ground truth"
    for key in ("images", "categories", "annotations"):
        if key not in source or isinstance(source[key], str | Mapping) or not hasattr(source[key], "__len__"):
            found = f"{type(source[key]).__name__}" if key in source else "no such key"
            raise DatasetError(f"{name}: {key}: expected an array, found {found}")
    records = source["images"]
    raw, kept = columns(records, {"id": INTEGER}, source=name, array="images", on_invalid=on_invalid)
    dropped = len(records) - len(raw["id"])
    records = records if kept is None else [records[row] for row in kept]
    sizes = [[_number(record.get("width")), _number(record.get("height"))] for record in records]
    files = [record.get("file_name") for record in records]
    images = Images(
        raw["id"].astype(np.int64),
        np.array(sizes, np.float64).reshape(-1, 2),
        Names.of([file if isinstance(file, str) else "" for file in files]),
    )
    records = source["categories"]
    raw, kept = columns(records, {"id": INTEGER}, source=name, array="categories", on_invalid=on_invalid)
    dropped += len(records) - len(raw["id"])
    records = records if kept is None else [records[row] for row in kept]
    labels = [record.get("name") for record in records]
    ids = raw["id"].astype(np.int64)
    categories = Categories(
        ids, tuple(label if isinstance(label, str) else str(number) for label, number in zip(labels, ids, strict=True))
    )
    records = source["annotations"]
    fields = {"id": INTEGER, "image_id": INTEGER, "category_id": INTEGER, "bbox": FOUR, "area": NUMBER, "iscrowd": FLAG}
    raw, kept = columns(records, fields, source=name, array="annotations", on_invalid=on_invalid)
    dropped += len(records) - len(raw["id"])
    records = records if kept is None else [records[row] for row in kept]
    segmentations = [record.get("segmentation") for record in records]
    return _assemble(
        name,
        on_invalid,
        dropped,
        images,
        categories,
        ids=raw["id"].astype(np.int64),
        image_ids=raw["image_id"].astype(np.int64),
        category_ids=raw["category_id"].astype(np.int64),
        boxes=np.ascontiguousarray(raw["bbox"], np.float64),
        areas=np.ascontiguousarray(raw["area"], np.float64),
        crowd=raw["iscrowd"].astype(np.bool_),
        segmentations=segmentations if any(value is not None for value in segmentations) else None,
        check=True,
    )


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float | np.number) else np.nan


def _assemble(
    source: str,
    on_invalid: OnInvalid,
    dropped: int,
    images: Images,
    categories: Categories,
    *,
    ids: npt.NDArray[np.int64],
    image_ids: npt.NDArray[np.int64],
    category_ids: npt.NDArray[np.int64],
    boxes: npt.NDArray[np.float64],
    areas: npt.NDArray[np.float64],
    crowd: npt.NDArray[np.bool_],
    segmentations: Any,
    check: bool = False,
) -> GroundTruth:
    """Check ids (and values, where the reader has not), order images and categories, and freeze."""
    rows = (ids, image_ids, category_ids, boxes, areas, crowd, segmentations)
    total = len(ids)
    if check:
        rows = keep(check_boxes(boxes, source, "annotations", on_invalid), *rows)
        lowest = None if on_invalid == "pycocotools" else 0.0
        rows = keep(check_values(rows[4], "area", source, "annotations", on_invalid, lowest=lowest), *rows)
    image_rows = _core.unique_rows(source, "images", images.ids, on_invalid)
    category_rows = _core.unique_rows(source, "categories", categories.ids, on_invalid)
    images, dropped_images = _ordered_images(images, image_rows)
    categories, dropped_categories = _ordered_categories(categories, category_rows)
    settled = _core.settle_annotations(source, rows[0], rows[1], rows[2], images.ids, categories.ids, on_invalid)
    rows = keep(settled, *rows)
    if on_invalid == "drop":
        dropped += total - len(rows[0]) + dropped_images + dropped_categories
    notes = []
    if dropped:
        notes.append(f"{source}: {dropped:,} invalid record{'s' if dropped > 1 else ''} left out")
    if len(rows[0]) == 0:
        notes.append(f"{source}: no annotations: there is nothing to find, and every number is undefined")
    if (rows[0] == 0).any() and on_invalid != "pycocotools":
        notes.append(
            f"{source}: an annotation has the id 0, which pycocotools takes for 'no match': its numbers are too low "
            "(on_invalid='pycocotools' gives those)"
        )
    ids, image_ids, category_ids, boxes, areas, crowd, segmentations = rows
    return GroundTruth(
        images=images,
        categories=categories,
        ids=frozen(ids),
        image_ids=frozen(image_ids),
        category_ids=frozen(category_ids),
        boxes=frozen(boxes),
        areas=frozen(areas),
        crowd=frozen(crowd),
        segmentations=segmentations,
        source=source,
        on_invalid=on_invalid,
        dropped=dropped,
        notes=tuple(notes),
    )


def _ordered_images(images: Images, unique: npt.NDArray[np.int64] | None) -> tuple[Images, int]:
    total = len(images)
    ids, sizes, names = keep(unique, images.ids, images.sizes, images.names)
    order = np.argsort(ids)
    return Images(frozen(ids[order]), frozen(sizes[order]), names.take(order)), total - len(ids)


def _ordered_categories(categories: Categories, unique: npt.NDArray[np.int64] | None) -> tuple[Categories, int]:
    total = len(categories)
    ids, names = keep(unique, categories.ids, categories.names)
    order = np.argsort(ids)
    return Categories(frozen(ids[order]), tuple(names[row] for row in order)), total - len(ids)
