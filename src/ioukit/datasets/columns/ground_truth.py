"""Ground truth as columns: images, categories and annotations."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._checks import check_choice, pluralize
from ioukit._columns import Columns, record
from ioukit._keywords import answers_keywords
from ioukit.datasets.columns import _coco
from ioukit.datasets.columns._checks import (
    OnInvalid,
    bools,
    check_boxes,
    check_on_invalid,
    check_values,
    floats,
    image_labels,
    integers,
    named_columns,
    pixel_boxes,
)
from ioukit.datasets.columns._regions import (
    KEYPOINTS,
    SEGMENTATIONS,
    WITHOUT_AREA,
    WITHOUT_KEYPOINTS,
    bounding_boxes,
    region_columns,
    region_sets,
)
from ioukit.datasets.columns.images import (
    Categories,
    Images,
    by_id,
    listed_categories,
    listed_images,
    numbered,
    sizes_for_fractions,
)
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from ioukit.datasets.columns.id_lists import IdLists
    from ioukit.regions import BoxesLike, Regions


_NAME = "ground truth"


@record(frozen=True, eq=False, repr=False)
class GroundTruth(Columns):
    """Annotated objects as columns, one row per annotation in the order of the source.

    Build one with :meth:`from_coco`, :meth:`from_arrays` or :func:`ioukit.datasets.read`. They check the values of the
    columns. The arrays are read-only. ``ground_truth[rows]`` chooses rows by a slice, by a list of positions or by an
    array of bools.
    """

    SHARED: ClassVar[frozenset[str]] = frozenset({"images", "categories", "source", "dropped", "notes", "normalized"})

    images: Images
    """All images, including those without objects."""
    categories: Categories
    """All categories, including those without objects."""
    ids: npt.NDArray[np.int64]
    """(N,) annotation ids."""
    image_ids: npt.NDArray[np.int64]
    """(N,) the id of the image of each annotation; :attr:`images` lists it."""
    category_ids: npt.NDArray[np.int64]
    """(N,) the id of the category of each annotation."""
    boxes: npt.NDArray[np.float64]
    """(N, 4) ``[x, y, width, height]`` in pixels, with the bits of the source."""
    areas: npt.NDArray[np.float64]
    """(N,) areas in square pixels. COCO's files give the areas of the masks. Area ranges such as ``small`` use them."""
    flags: Mapping[str, npt.NDArray[np.bool_]] = field(default_factory=dict)
    """(N,) bools by name: ``crowd``, ``difficult``, ``group_of``, ``truncated`` and so on. :meth:`flag` returns a flag,
    also one that no annotation has."""
    regions: Mapping[str, Any] = field(default_factory=dict)
    """Regions by kind, N of each: ``segmentations`` as in COCO's files, ``keypoints`` (N, P, 3), and sets of regions by
    the name of their type, such as ``Masks`` or ``RotatedBoxes``."""
    attributes: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    """Further columns by name, each (N, ...)."""
    source: str = _NAME
    """The name of the data in messages, such as the path of its file."""
    dropped: int = 0
    """How many records were left out because they were invalid."""
    notes: tuple[str, ...] = ()
    """What a user should know about the data."""
    normalized: bool = False
    """Whether boxes and areas are fractions of the image instead of pixels, as in the files of Open Images, which do
    not have the sizes of images. :meth:`in_pixels` converts them."""

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, rows: slice | npt.NDArray[Any] | Sequence[int]) -> GroundTruth:
        return self.take(rows)

    def __repr__(self) -> str:
        counts = (len(self), "annotation"), (len(self.images), "image"), (len(self.categories), "category")
        return f"GroundTruth({', '.join(pluralize(*count) for count in counts)})"

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """The first rows, with the names of images and classes."""
        shown = self.take(slice(0, 5))
        columns: dict[str, Sequence[Any]] = {"id": shown.ids.tolist()}
        columns["image"] = named_images(self.images, shown.image_labels())
        columns["category"] = named_classes(self.categories, shown.category_ids)
        columns |= dict(zip(("x", "y", "width", "height"), shown.boxes.T.tolist(), strict=True))
        columns |= {"area": shown.areas.tolist(), **{name: flag.tolist() for name, flag in shown.flags.items()}}
        return as_rows(columns), len(self)

    MADE_BY: ClassVar[str] = ": ioukit.datasets.read reads files, GroundTruth.from_arrays takes arrays"
    OTHER_WORDS: ClassVar[Mapping[str, str]] = {"classes": "categories", "labels": "category_ids", "bboxes": "boxes"}

    @property
    def crowd(self) -> npt.NDArray[np.bool_]:
        """(N,) whether an annotation marks a crowd. Many detections may match a crowd, and none of them counts."""
        return self.flag("crowd")

    @property
    def segmentations(self) -> Sequence[Any] | None:
        """(N,) polygons or RLE as in the source, or ``None`` if it has none. Those of a file are read on access."""
        return self.regions.get(SEGMENTATIONS)

    def image_labels(self) -> npt.NDArray[Any]:
        """(N,) the id of the image of each annotation as in the source: integers or strings."""
        if self.images.keys is None:
            return self.image_ids
        return self.images.keys[self.images.ids.searchsorted(self.image_ids)]

    def flag(self, name: str) -> npt.NDArray[np.bool_]:
        """(N,) whether each annotation has a flag. All are false if the data set does not have the flag.

        If the data set does not have the flag ``"without_keypoints"``, it is derived from the keypoints.
        """
        column = self.flags.get(name)
        if column is None and name == WITHOUT_KEYPOINTS and KEYPOINTS in self.regions:
            from ioukit.datasets.columns.keypoints import decode_keypoints  # noqa: PLC0415 - for keypoints alone

            points = decode_keypoints(self.regions[KEYPOINTS], source=self.source, array="annotations")
            column = np.asarray(~(points[..., 2] > 0).any(axis=1))
        return np.zeros(len(self), np.bool_) if column is None else column

    @classmethod
    def from_coco(
        cls,
        source: str | os.PathLike[str] | Mapping[str, Any],
        *,
        on_invalid: OnInvalid = "error",
        threads: int | None = None,
        dialect: _coco.Dialect = "coco",
        attributes: bool = False,
    ) -> GroundTruth:
        """Read a COCO annotation file, or take what ``json.load`` made of one.

        Args:
            source: Path of a ``.json`` or ``.json.gz`` file, or a mapping with ``images``, ``categories`` and
                ``annotations``. An annotation needs ``id``, ``image_id``, ``category_id`` and ``bbox`` as
                ``[x, y, width, height]``. Without ``area``, its area is that of its mask, or of its box if it has no
                ``segmentation``; ``iscrowd`` is 0 if it is missing. :attr:`notes` say how many lack them. Other keys
                are ignored. Of a key that an object has several times, the last one counts, as in Python.
            on_invalid: ``"error"`` refuses a data set with an invalid record. Invalid are a repeated id, an image or
                category that is not listed, a missing key, a value of the wrong kind, a number that is not finite, a
                negative width, height or area, and a coordinate beyond 2**53. ``"drop"`` leaves such records out and
                counts them; of several records with one id, the first stays. ``"pycocotools"`` gives the numbers of
                pycocotools, its defects included, and an error where pycocotools raises one: ``area`` and ``iscrowd``
                may not be missing; an ``iscrowd`` of 2 or ``"1"`` is a crowd; an object with id 0 never matches (it
                gets the flag ``void``); of several annotations with one id, the last replaces the others (if images or
                categories are selected, another one may count); annotations of images or categories that are not
                listed are left out. It refuses three things that pycocotools computes with: numbers that are not
                finite, ids with a fraction, and an ``iscrowd`` that is a crowd in one place of pycocotools and none in
                another (0.5, ``"0"``).
            threads: How many threads read a file; all cores if ``None``.
            dialect: ``"lvis"`` reads the records as :func:`ioukit.datasets.read_lvis` does.
            attributes: Whether the members ``attributes`` of images and annotations, as in CVAT's files, and further
                members of categories become columns. Values that are true or false become flags. So do members of
                files of videos: ``track_id`` and ``instance_id`` of annotations, ``video_id``, ``frame_index`` and
                ``frame_id`` of images. Images get the attribute ``sequence``, the ``name`` of their video, if each
                video in the list ``videos`` has a name of its own, and the lists ``neg_category_ids`` and
                ``not_exhaustive_category_ids`` of their video, as TAO's have them.

        Raises:
            DatasetError: If the data is invalid; names file, record and field, what was expected and what came.
            OSError: If the file cannot be read.
        """
        check_on_invalid(on_invalid)
        check_choice("dialect", dialect, ("coco", "lvis"))
        raw = _coco.ground_truth_columns(source, on_invalid, threads, dialect, attributes=attributes)
        gt = cls(**raw.columns, source=raw.source, dropped=raw.dropped, notes=raw.notes)
        return _settled(gt, on_invalid, check=raw.unchecked, threads=threads)

    @classmethod
    @answers_keywords
    def from_arrays(
        cls,
        *,
        image_ids: npt.ArrayLike,
        category_ids: npt.ArrayLike,
        boxes: BoxesLike | None = None,
        areas: npt.ArrayLike | None = None,
        crowd: npt.ArrayLike | None = None,
        ids: npt.ArrayLike | None = None,
        images: Images | npt.ArrayLike | None = None,
        categories: Categories | Mapping[int, str] | npt.ArrayLike | None = None,
        sizes: npt.ArrayLike | None = None,
        names: Sequence[str] | None = None,
        flags: Mapping[str, npt.ArrayLike] | None = None,
        regions: Regions | Sequence[Regions] | None = None,
        segmentations: Sequence[Any] | None = None,
        keypoints: npt.ArrayLike | None = None,
        attributes: Mapping[str, npt.ArrayLike] | None = None,
        image_attributes: Mapping[str, npt.ArrayLike | IdLists] | None = None,
        category_attributes: Mapping[str, npt.ArrayLike] | None = None,
        normalized: bool = False,
        source: str = _NAME,
    ) -> GroundTruth:
        """Take columns.

        Args:
            image_ids: (N,) integers or strings.
            category_ids: (N,) integers.
            boxes: :class:`~ioukit.Boxes` in pixels, or (N, 4) ``[x, y, width, height]``; the boxes around ``regions``
                if ``None``.
            areas: (N,) square pixels; those of ``regions`` if ``None``, else width times height.
            crowd: (N,) booleans; none is a crowd if ``None``. The same as ``flags={"crowd": ...}``.
            ids: (N,) integers, each once; 1 to N if ``None``.
            images: (I,) ids of all images, including those without objects; the images of ``image_ids`` if ``None``.
                It can be the ``images`` of another data set, with their sizes and names.
            categories: Names by id, (K,) ids, or the ``categories`` of another data set; those of ``category_ids`` if
                ``None``.
            sizes: (I, 2) width and height in pixels, in the order of ``images``.
            names: (I,) file names, in the order of ``images``.
            flags: (N,) booleans by name, such as ``difficult``, ``group_of`` or ``truncated``.
            regions: A set of N regions, or several sets of different kinds: :class:`~ioukit.Masks`,
                :class:`~ioukit.RotatedBoxes`, :class:`~ioukit.Polygons`, :class:`~ioukit.Boxes3D` or your own kind.
            segmentations: (N,) masks as in COCO's files: lists of polygons, RLE, or ``None``.
            keypoints: (N, P, 3) x, y and visibility (0: not labelled, 1: hidden, 2: visible).
            attributes: (N, ...) further columns by name. Python objects become strings.
            image_attributes: (I, ...) further columns of the images, in the order of ``images``; lists of ids as
                :class:`~ioukit.datasets.IdLists`.
            category_attributes: (K, ...) further columns of the categories, in the order of ``categories``.
            normalized: Whether boxes and areas are fractions of the image, see :attr:`normalized`.
            source: The name of the data in messages.

        Raises:
            ValueError: If shapes do not fit, or ``sizes``, ``names`` or ``image_attributes`` come without ids of
                images; :class:`~ioukit.DatasetError` if values are invalid.
        """
        labels = image_labels(image_ids, name="image_ids")
        count = len(labels)
        columns = region_columns(regions, segmentations, keypoints, count)
        box_array = bounding_boxes(columns, source) if boxes is None else pixel_boxes(boxes, count)
        if areas is None:
            sets = region_sets(columns)
            areas = sets[0].area if sets else box_array[:, 2] * box_array[:, 3]
        of_rows = {name: bools(column, name=name, length=count) for name, column in (flags or {}).items()}
        if crowd is not None:
            of_rows["crowd"] = bools(crowd, name="crowd", length=count)
        listed = listed_images(labels, images, sizes, names, image_attributes)
        category_rows = integers(category_ids, name="category_ids", length=count)
        gt = cls(
            images=listed,
            categories=listed_categories(category_rows, categories, category_attributes),
            ids=np.arange(1, count + 1) if ids is None else integers(ids, name="ids", length=count),
            image_ids=numbered(labels, listed, source),
            category_ids=category_rows,
            boxes=box_array,
            areas=floats(areas, name="areas", length=count),
            flags=of_rows,
            regions=columns,
            attributes=named_columns(attributes, name="attributes", length=count),
            source=source,
            normalized=normalized,
        )
        return _settled(gt, "error", check=True)

    @classmethod
    def concat(cls, parts: Sequence[GroundTruth], *, renumber: bool = False) -> GroundTruth:
        """The rows of several data sets, in order.

        Args:
            parts: The data sets. No image may be in two of them, and all must list the same categories.
            renumber: Whether the annotations get new ids, 1 to N in order.

        Raises:
            TypeError: If a part is no ground truth, or columns of the parts are of kinds that do not fit together.
            ValueError: If there is no part, an image is in two of them, they list different categories, or some of
                them lack a column that others have.
            DatasetError: If two annotations have the same id and ``renumber`` is false.
        """
        parts = cls._parts(parts)
        first = parts[0]
        listing = [part for part in parts if len(part.images)] or parts[:1]
        if len({part.images.keys is None for part in listing}) > 1:
            raise ValueError("image ids of some parts are strings, those of others are integers")
        for part in parts[1:]:
            same_ids = np.array_equal(part.categories.ids, first.categories.ids)
            if not same_ids or part.categories.names != first.categories.names:
                raise ValueError(f"{first.source} and {part.source} list different categories")
        if len({part.normalized for part in parts}) > 1:
            raise ValueError("boxes of some parts are fractions of the image, those of others are pixels")
        images = Images(
            **Images._joined([part.images for part in listing], Images.column_names(), "images.{}"),
            made_up_ids=any(part.images.made_up_ids for part in listing),
        )
        unique, counts = np.unique(images.labels, return_counts=True)
        if (counts > 1).any():
            raise ValueError(f"image {unique[counts > 1][0]} is in two of the data sets")
        rows = cls._joined(parts, [name for name in cls.column_names() if name != "flags"])
        unique, counts = np.unique(rows["ids"], return_counts=True)
        if renumber:
            rows["ids"] = np.arange(1, len(rows["ids"]) + 1)
        elif (counts > 1).any():
            raise DatasetError(
                f"two annotations have the id {unique[counts > 1][0]}: concat(..., renumber=True) gives them new ids"
            )
        flags = dict.fromkeys(name for part in parts for name in part.flags)
        rows["flags"] = {name: np.concatenate([part.flag(name) for part in parts]) for name in flags}
        listed = by_id(images)
        if listed.keys is not None:  # the ids are made up, in the order of the strings
            labels = [part.image_labels() for part in parts if len(part)]
            listed = dataclasses.replace(listed, ids=np.arange(1, len(listed) + 1))
            rows["image_ids"] = listed.ids[listed.positions(np.concatenate(labels))] if labels else rows["image_ids"]
        sources = list(dict.fromkeys(part.source for part in parts))
        gt = cls(
            images=listed,
            categories=first.categories,
            **rows,
            source=sources[0] if len(sources) == 1 else f"{sources[0]} and {len(sources) - 1:,} more",
            dropped=sum(part.dropped for part in parts),
            normalized=first.normalized,
        )
        settled = _settled(gt, "error", check=False)
        return dataclasses.replace(settled, notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)))

    def filter(
        self,
        *,
        images: Sequence[int | str] | npt.NDArray[Any] | None = None,
        categories: Sequence[int | str] | None = None,
    ) -> GroundTruth:
        """The data set with only the given images and categories; others are no longer listed.

        Args:
            images: Ids of images; all if ``None``.
            categories: Ids or names of categories; all if ``None``.

        Raises:
            ValueError: If there is no such image or category.
        """
        kept, keep_images, keep_categories = np.ones(len(self), np.bool_), self.images, self.categories
        if images is not None:
            keep_images = self.images.take(np.unique(self.images.positions(images)))
            kept &= np.isin(self.image_ids, keep_images.ids)
        if categories is not None:
            keep_categories = self.categories.take(np.unique(self.categories.positions(categories)))
            kept &= np.isin(self.category_ids, keep_categories.ids)
        return dataclasses.replace(self.take(kept), images=keep_images, categories=keep_categories)

    def in_pixels(self) -> GroundTruth:
        """The data set with boxes and areas in pixels; the same one unless it is :attr:`normalized`.

        Raises:
            DatasetError: If the size of an image with objects is not known.
        """
        if not self.normalized:
            return self
        sizes = sizes_for_fractions(self.images, self.images.ids.searchsorted(self.image_ids), self.source)
        boxes, areas = self.boxes * np.tile(sizes, 2), self.areas * sizes.prod(axis=1)
        return dataclasses.replace(self, boxes=boxes, areas=areas, normalized=False)


def _settled(gt: GroundTruth, on_invalid: OnInvalid, *, check: bool, threads: int | None = None) -> GroundTruth:
    """The ground truth with checked ids, with images and categories in the order of their ids, and with notes.

    Values are checked, too, if the reader has not done so. Missing areas are computed.
    """
    total, source = len(gt), gt.source
    if check:
        gt = _kept(gt, check_boxes(gt.boxes, source, "annotations", on_invalid))
        lowest = None if on_invalid == "pycocotools" else 0.0
        gt = _kept(gt, check_values(gt.areas, "area", source, "annotations", on_invalid, lowest=lowest))
    listed = len(gt.images) + len(gt.categories)
    unique = _core.unique_rows(source, "images", gt.images.ids, on_invalid)
    images = by_id(gt.images if unique is None else gt.images.take(unique))
    unique = _core.unique_rows(source, "categories", gt.categories.ids, on_invalid)
    categories = gt.categories if unique is None else gt.categories.take(unique)
    categories = categories.take(np.argsort(categories.ids))
    known = (images.ids, categories.ids)
    gt = _kept(gt, _core.settle_annotations(source, (gt.ids, gt.image_ids, gt.category_ids), known, on_invalid))
    gt = dataclasses.replace(gt, images=images, categories=categories)
    if WITHOUT_AREA in gt.flags:
        from ioukit.datasets.columns._boxes_and_areas import with_areas  # noqa: PLC0415 - rarely needed

        gt = with_areas(gt, on_invalid, threads)
    dropped = gt.dropped
    if on_invalid == "drop":
        dropped += total - len(gt) + listed - len(images) - len(categories)
    has_zero = bool((gt.ids == 0).any())
    flags = {**gt.flags, "void": gt.ids == 0} if has_zero and on_invalid == "pycocotools" else gt.flags
    notes = list(gt.notes)
    if dropped:
        notes.append(f"{source}: {dropped:,} invalid record{'s' if dropped > 1 else ''} left out")
    if len(gt) == 0:
        notes.append(f"{source}: no annotations, so no image has an object")
    if has_zero and on_invalid != "pycocotools":
        notes.append(
            f"{source}: an annotation has the id 0, which pycocotools takes for 'no match': its numbers are too low "
            "(on_invalid='pycocotools' gives those)"
        )
    return dataclasses.replace(gt, flags=flags, dropped=dropped, notes=tuple(notes))


def _kept(gt: GroundTruth, rows: npt.NDArray[Any] | None) -> GroundTruth:
    return gt if rows is None else gt.take(rows)


def named_images(images: Images, labels: npt.NDArray[Any]) -> list[Any]:
    """The file name of each image, or its id if there is none."""
    given: list[Any] = labels.tolist()
    if not np.isin(labels, images.labels).all():
        return given
    files = images.names.take(images.positions(labels))[:]
    return [file or label for file, label in zip(files, given, strict=True)]


def named_classes(categories: Categories, ids: npt.NDArray[np.int64]) -> list[Any]:
    """The name of each class, or its id if there is none."""
    names = dict(zip(categories.ids.tolist(), categories.names, strict=True))
    return [names.get(number, number) for number in ids.tolist()]


def as_rows(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """The rows of columns, by their titles."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
