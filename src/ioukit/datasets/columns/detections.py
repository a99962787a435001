"""The objects that a detector reports, as columns."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._checks import check_finite
from ioukit._columns import Columns, all_among, frozen, positions_in, record
from ioukit._keywords import answers_keywords
from ioukit.datasets.columns import _coco
from ioukit.datasets.columns._checks import (
    OnInvalid,
    check_boxes,
    check_on_invalid,
    check_values,
    floats,
    image_labels,
    integers,
    label_runs,
    named_columns,
    pixel_boxes,
)
from ioukit.datasets.columns._regions import SEGMENTATIONS, bounding_boxes, region_columns, region_sets
from ioukit.datasets.columns.ground_truth import GroundTruth, as_rows, named_classes, named_images
from ioukit.datasets.columns.images import Images, sizes_for_fractions
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from ioukit.datasets.columns.coco_parts import CocoPart
    from ioukit.regions import BoxesLike, Regions


_NAME = "detections"
_NO_SCORES = "the detections have no scores, so nothing ranks them"


@record(frozen=True, eq=False, repr=False)
class Detections(Columns):
    """Detected objects as columns, one row per detection in the order of the source.

    Build one with :meth:`from_coco`, :meth:`from_arrays` or :func:`ioukit.datasets.read_detections`. They check the
    values of the columns. The arrays are read-only. ``detections[detections.scores > 0.5]`` chooses rows; a slice and a
    list of positions work, too.
    """

    SHARED: ClassVar[frozenset[str]] = frozenset(
        {"image_keys", "source", "dropped", "notes", "normalized", "ids_of_file", "scored"}
    )

    image_ids: npt.NDArray[np.int64]
    """(N,) the id of the image of each detection, or a position in :attr:`image_keys` if the ids are strings."""
    category_ids: npt.NDArray[np.int64]
    """(N,) the id of the category of each detection."""
    boxes: npt.NDArray[np.float64]
    """(N, 4) ``[x, y, width, height]`` in pixels, with the bits of the source."""
    scores: npt.NDArray[np.float64]
    """(N,) confidences; only their order matters. All are 1 if there are none, see :attr:`scored`."""
    areas: npt.NDArray[np.float64] | None = None
    """(N,) areas in square pixels; ``None`` if they are the areas of the boxes."""
    regions: Mapping[str, Any] = field(default_factory=dict)
    """Regions by kind, N of each, see :attr:`GroundTruth.regions`."""
    attributes: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    """Further columns by name, each (N, ...)."""
    image_keys: npt.NDArray[np.str_] | None = None
    """(J,) ids of images in ascending order if they are strings; else ``None``."""
    source: str = _NAME
    """The name of the data in messages, such as the path of its file."""
    dropped: int = 0
    """How many records were left out because they were invalid."""
    notes: tuple[str, ...] = ()
    """What a user should know about the data."""
    normalized: bool = False
    """Whether boxes are fractions of the image instead of pixels. :meth:`meeting` converts them."""
    ids_of_file: bool = False
    """Whether the image ids are those of a file that was read without its ground truth."""
    scored: bool = True
    """Whether the detections have scores. What language models answer and what people draw has none: nothing can rank
    it."""

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, rows: slice | npt.NDArray[Any] | Sequence[int]) -> Detections:
        return self.take(rows)

    def __repr__(self) -> str:
        return f"Detections({len(self):,})"

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """The first rows, with the names of images and classes where they are known."""
        shown = self.take(slice(0, 5))
        columns: dict[str, Sequence[Any]] = {"image": shown.image_labels().tolist()}
        columns["category"] = shown.category_ids.tolist()
        if "_known" in vars(self):
            images, categories = vars(self)["_known"]
            columns["image"] = named_images(images, shown.image_labels())
            columns["category"] = named_classes(categories, shown.category_ids)
        columns |= dict(zip(("x", "y", "width", "height"), shown.boxes.T.tolist(), strict=True))
        return as_rows(columns | ({"score": shown.scores.tolist()} if self.scored else {})), len(self)

    MADE_BY: ClassVar[str] = ": ioukit.datasets.read_detections reads files, Detections.from_arrays takes arrays"
    OTHER_WORDS: ClassVar[Mapping[str, str]] = {"classes": "category_ids", "labels": "category_ids", "bboxes": "boxes"}

    @property
    def segmentations(self) -> Sequence[Any] | None:
        """(N,) RLE as in the source, or ``None`` if it has none. Those of a file are read on access."""
        return self.regions.get(SEGMENTATIONS)

    @classmethod
    def from_coco(
        cls,
        source: str | os.PathLike[str] | Sequence[Mapping[str, Any]] | npt.NDArray[Any],
        *,
        on_invalid: OnInvalid = "error",
        threads: int | None = None,
        attributes: bool = False,
    ) -> Detections:
        """Read a COCO results file, or take what ``json.load`` made of one.

        Args:
            source: Path of a ``.json`` or ``.json.gz`` file, or of a file with a record per line (``.jsonl`` or
                ``.ndjson``, packed with ``.gz``); a list of mappings, each with ``image_id``,
                ``category_id``, ``bbox`` as ``[x, y, width, height]`` and ``score`` (other keys are ignored); or an
                (N, 7) array of image id, x, y, width, height, score and category id. If the first record has a
                ``segmentation`` and no ``bbox``, boxes and areas are those of the masks, as in pycocotools.
            on_invalid: As for :meth:`GroundTruth.from_coco`. A width or height of 0 is valid; such a box matches
                nothing. If boxes come from masks, a record whose mask cannot be read is invalid, too.
            threads: How many threads read a file; all cores if ``None``.
            attributes: Whether the members ``attributes``, ``track_id`` and ``instance_id`` become columns, as for
                :meth:`GroundTruth.from_coco`.

        Raises:
            DatasetError: If the data is invalid; names file, record and field, what was expected and what came.
            OSError: If the file cannot be read.
        """
        return detections_of_coco(source, on_invalid, threads, attributes=attributes)

    @classmethod
    @answers_keywords
    def from_arrays(
        cls,
        *,
        image_ids: npt.ArrayLike,
        category_ids: npt.ArrayLike,
        scores: npt.ArrayLike | None,
        boxes: BoxesLike | None = None,
        areas: npt.ArrayLike | None = None,
        regions: Regions | Sequence[Regions] | None = None,
        segmentations: Sequence[Any] | None = None,
        keypoints: npt.ArrayLike | None = None,
        attributes: Mapping[str, npt.ArrayLike] | None = None,
        normalized: bool = False,
        source: str = _NAME,
    ) -> Detections:
        """Take columns.

        Args:
            image_ids: (N,) integers or strings.
            category_ids: (N,) integers.
            scores: (N,) numbers; ``None`` if the detections have none, see :attr:`scored`.
            boxes: :class:`~ioukit.Boxes` in pixels, or (N, 4) ``[x, y, width, height]``; the boxes around ``regions``
                if ``None``.
            areas: (N,) square pixels; those of ``regions`` if there are regions and no boxes, else those of the boxes.
            regions: A set of N regions, or several sets of different kinds, see :meth:`GroundTruth.from_arrays`.
            segmentations: (N,) masks as in COCO's files: lists of polygons, RLE, or ``None``.
            keypoints: (N, P, 3) x, y and score.
            attributes: (N, ...) further columns by name. Python objects become strings.
            normalized: Whether boxes and areas are fractions of the image.
            source: The name of the data in messages.

        Raises:
            ValueError: If shapes do not fit; :class:`~ioukit.DatasetError` if values are invalid.
        """
        labels = image_labels(image_ids, name="image_ids")
        count = len(labels)
        columns = region_columns(regions, segmentations, keypoints, count)
        sets = region_sets(columns)
        if areas is None and boxes is None and sets:
            areas = sets[0].area
        keys = None
        if labels.dtype.kind == "U":
            firsts, runs = label_runs(labels)
            names, of_runs = np.unique(labels[firsts], return_inverse=True)
            keys, labels = names.astype(np.str_), of_runs[runs]
        dt = cls(
            image_ids=labels.astype(np.int64),
            category_ids=integers(category_ids, name="category_ids", length=count),
            boxes=bounding_boxes(columns, source) if boxes is None else pixel_boxes(boxes, count),
            scores=np.ones(count) if scores is None else floats(scores, name="scores", length=count),
            areas=None if areas is None else floats(areas, name="areas", length=count),
            regions=columns,
            attributes=named_columns(attributes, name="attributes", length=count),
            image_keys=keys,
            source=source,
            normalized=normalized,
            scored=scores is not None,
        )
        return _settled(dt, "error", check=True)

    @classmethod
    def concat(cls, parts: Sequence[Detections]) -> Detections:
        """The rows of several sets of detections, in order.

        Raises:
            TypeError: If a part is something else, or columns of the parts are of kinds that do not fit together.
            ValueError: If there is no part, or some of them lack a column that others have.
        """
        parts = cls._parts(parts)
        filled = [part for part in parts if len(part)] or parts[:1]
        if len({part.image_keys is None for part in filled}) > 1:
            raise ValueError("image ids of some parts are strings, those of others are integers")
        if len({part.normalized for part in filled}) > 1:
            raise ValueError("boxes of some parts are fractions of the image, those of others are pixels")
        if len({part.scored for part in filled}) > 1:
            without = next(part.source for part in filled if not part.scored)
            raise ValueError(f"some parts have scores, others have none: {without}")
        rows = cls._joined(filled, [name for name in cls.column_names() if name != "areas"])
        # Where a part has no areas of its own, those of its boxes.
        if any(part.areas is not None for part in parts):
            rows["areas"] = np.concatenate([part.areas_or_those_of_boxes() for part in parts])
        keys = None
        if filled[0].image_keys is not None:
            labels = np.concatenate([part.image_labels() for part in filled])
            keys, rows["image_ids"] = np.unique(labels, return_inverse=True)
        sources = list(dict.fromkeys(part.source for part in parts))
        return cls(
            **rows,
            image_keys=keys,
            source=sources[0] if len(sources) == 1 else f"{sources[0]} and {len(sources) - 1:,} more",
            dropped=sum(part.dropped for part in parts),
            notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
            normalized=filled[0].normalized,
            ids_of_file=any(part.ids_of_file for part in filled),
            scored=filled[0].scored,
        )

    def image_labels(self) -> npt.NDArray[Any]:
        """(N,) the id of the image of each detection as in the source: integers or strings."""
        return self.image_ids if self.image_keys is None else self.image_keys[self.image_ids]

    def areas_or_those_of_boxes(self) -> npt.NDArray[np.float64]:
        """(N,) :attr:`areas`, or width times height if these are ``None``."""
        return self.boxes[:, 2] * self.boxes[:, 3] if self.areas is None else self.areas

    def with_equal_scores(self, score: float) -> Detections:
        """The detections with the same score for all, where they have none.

        AP then depends on the order of the data, see :meth:`ioukit.evaluation.Evaluation.order_ranges`.

        Args:
            score: A finite number.

        Raises:
            ValueError: If the detections have scores, or this is no finite number.
        """
        check_finite(score=score)
        if self.scored and len(self):
            raise ValueError(f"{self.source}: the detections have scores, so none are missing")
        notes = [*self.for_counts().notes]
        if len(self):
            notes.append(
                f"{self.source}: the detections have no scores; all count as {score:g}, so their order decides AP"
            )
        return dataclasses.replace(
            self, scores=frozen(np.full(len(self), float(score))), scored=True, notes=tuple(notes)
        )

    def for_counts(self) -> Detections:
        """The detections without the note that nothing ranks them, for those who rank nothing."""
        return dataclasses.replace(self, notes=tuple(note for note in self.notes if not note.endswith(_NO_SCORES)))

    def filter(
        self,
        *,
        images: Sequence[int | str] | npt.NDArray[Any] | None = None,
        categories: Sequence[int] | None = None,
    ) -> Detections:
        """The detections of some images and categories.

        Args:
            images: Ids of images; all if ``None``. An id that no detection has is no error.
            categories: Ids of categories; all if ``None``. :meth:`Categories.positions` finds a category by its name.

        Raises:
            TypeError: If ids of images are strings and those of the detections are integers, or the other way round;
                or if categories are names.
        """
        kept = np.ones(len(self), np.bool_)
        if images is not None:
            wanted, labels = image_labels(images, name="images"), self.image_labels()
            if len(wanted) and len(labels) and wanted.dtype.kind != labels.dtype.kind:
                kinds = "integers" if self.image_keys is None else "strings"
                raise TypeError(f"image ids of these detections are {kinds}, got {wanted[0].item()!r}")
            kept &= np.isin(labels, wanted)
        if categories is not None:
            if np.asarray(categories).dtype.kind == "U":
                raise TypeError(f"detections know their categories by id, not by name, got {categories!r}")
            kept &= np.isin(self.category_ids, integers(categories, name="categories"))
        return self.take(kept)

    def image_ids_in(self, images: Images) -> npt.NDArray[np.int64]:
        """(N,) the id of the image of each detection in a list of images; strings are looked up.

        Ids that are integers are returned as they are, even if the list does not have them.

        Raises:
            DatasetError: If the ids are strings and the list lacks one, or the ids of one side are strings and those of
                the other are integers; :meth:`meeting` looks for the names of the images.
        """
        if not len(self) or (self.image_keys is None and images.keys is None):
            return self.image_ids
        if (self.image_keys is None) != (images.keys is None):
            ours, theirs = ("integers", "strings") if self.image_keys is None else ("strings", "integers")
            raise DatasetError(f"{self.source}: image ids are {ours}, those of the ground truth are {theirs}")
        places = self._places(images)
        row = np.flatnonzero(places < 0)
        if len(row):
            raise DatasetError(
                f"{self.source}: detections[{row[0]}].image_id: expected the id of an image of the ground truth, "
                f"found {str(self.image_labels()[row[0]])!r}"
            )
        return images.ids[places]

    def _places(self, images: Images) -> npt.NDArray[np.intp]:
        """(N,) positions in a list of images whose ids are strings; -1 for an image that the list lacks."""
        assert self.image_keys is not None
        assert images.keys is not None
        return positions_in(images.keys, self.image_keys)[self.image_ids]

    def meeting(self, ground_truth: GroundTruth, *, on_invalid: OnInvalid = "error") -> Detections:
        """The detections with the image ids of a ground truth, and in its unit; the same ones if they have both.

        Image ids meet by id. If not all of them do, each is taken as the name of an image: of its file, of its file
        without folders and suffix, or of a number with zeros in front. A note says so. If the ground truth made its ids
        up (:attr:`Images.made_up_ids`), ids of a file meet as names only. Boxes in fractions become pixels where those
        of the ground truth are.

        Args:
            ground_truth: The ground truth that the detections will be compared with.
            on_invalid: ``"drop"`` leaves out what meets no image, if that is a matter of names. What meets by id is
                checked by :meth:`known_to`.

        Raises:
            DatasetError: If an id that must be a name is none, or boxes are fractions on one side only and sizes of
                images are not known.
        """
        met = self._met_by(ground_truth, on_invalid)
        vars(met)["_known"] = ground_truth.images, ground_truth.categories  # for `notebook_rows`
        return met

    def _met_by(self, ground_truth: GroundTruth, on_invalid: OnInvalid) -> Detections:
        images = ground_truth.images
        dt = self if self._has_ids_of(images) else self._named_by(ground_truth, on_invalid)
        if self.ids_of_file and ground_truth.categories.made_up_ids and len(ground_truth.categories) > 1:
            dt = dt._noted(note_on_classes(self.source, ground_truth))
        if dt.normalized == ground_truth.normalized:
            return dt
        if ground_truth.normalized and len(dt):
            raise DatasetError(
                f"{dt.source}: boxes are pixels, and those of {ground_truth.source} are fractions of the image: give "
                "the folder of the images to the reader of the ground truth, images=FOLDER (--gt-option in a command)"
            )
        if on_invalid == "drop":
            dt = dt.take(positions_in(images.labels, dt.image_labels()) >= 0)
        sizes = sizes_for_fractions(images, images.ids.searchsorted(dt.image_ids_in(images)), dt.source)
        areas = None if dt.areas is None else dt.areas * sizes.prod(axis=1)
        boxes = dt.boxes * np.tile(sizes, 2)
        return dataclasses.replace(dt, boxes=boxes, areas=areas, normalized=ground_truth.normalized)

    def _has_ids_of(self, images: Images) -> bool:
        """Whether all image ids are ids in a list of images."""
        if not len(self):
            return True
        if self.image_keys is None:
            by_id = images.keys is None and not (images.made_up_ids and self.ids_of_file)
            return by_id and all_among(self.image_ids, images.ids)
        return images.keys is not None and bool((positions_in(images.keys, self.image_keys) >= 0).all())

    def _named_by(self, ground_truth: GroundTruth, on_invalid: OnInvalid) -> Detections:
        """The detections with the ids of the images that their own ids name, unless more of them meet by id."""
        from ioukit.datasets.columns.image_names import ImageFinder  # noqa: PLC0415 - most ids are those of the images

        images = ground_truth.images
        labels, rows = np.unique(self.image_labels(), return_inverse=True)
        rows = rows.reshape(-1)
        are_ids = (labels.dtype.kind == "U") == (images.keys is not None)
        are_ids &= not (images.made_up_ids and self.ids_of_file)
        by_id = positions_in(images.labels, labels) >= 0 if are_ids else np.zeros(len(labels), np.bool_)
        if by_id.all():
            return self
        finder = ImageFinder(ground_truth)
        places = finder.places(labels.tolist())
        found = places >= 0
        if not found.all() and are_ids and (on_invalid != "drop" or by_id.sum() >= found.sum()):
            return self
        if not found.all() and on_invalid != "drop":
            row = int((~found[rows]).argmax())
            label = labels[rows[row]].item()
            raise DatasetError(
                f"{self.source}: detections[{row}].image_id: expected the id or the file name of an image of "
                f"{finder.source}, found {label!r}{finder.known_as()}"
            )
        dt = placed(self, images, places[rows])
        first = int(found.argmax())
        note = note_on_names(self.source, ground_truth, labels[first].item(), int(places[first]))
        note = f"{self.source}: {finder.note}" if finder.note else note
        return dt._noted(note) if found.any() else dt

    def _noted(self, note: str) -> Detections:
        return self if note in self.notes else dataclasses.replace(self, notes=(*self.notes, note))

    def known_to(self, ground_truth: GroundTruth, *, on_invalid: OnInvalid = "error") -> Detections:
        """The detections of images and categories that the ground truth lists.

        Args:
            ground_truth: The ground truth that the detections will be compared with.
            on_invalid: What happens to other detections. ``"error"`` refuses them. ``"drop"`` leaves them out and
                counts them. ``"pycocotools"`` leaves out those of an unknown category, and refuses those of an unknown
                image.

        Raises:
            DatasetError: If a detection is refused; the message names it.
        """
        check_on_invalid(on_invalid)
        dt = self.meeting(ground_truth, on_invalid=on_invalid)
        if on_invalid == "drop" and self.image_keys is not None and ground_truth.images.keys is not None:
            dt = dt.take(dt._places(ground_truth.images) >= 0)
        known = (ground_truth.images.ids, ground_truth.categories.ids)
        rows = _core.known_detections(
            self.source, (dt.image_ids_in(ground_truth.images), dt.category_ids), known, on_invalid
        )
        dt = dt if rows is None else dt.take(rows)
        if len(dt) == len(self):
            return dt
        dropped = self.dropped + len(self) - len(dt)
        said = [note for note in dt.notes if note not in self.notes]
        settled = _settled(dataclasses.replace(dt, dropped=dropped), on_invalid, check=False)
        return dataclasses.replace(settled, notes=(*settled.notes, *said))


def note_on_names(source: str, gt: GroundTruth, label: int | str, place: int) -> str:
    """The note that image ids were taken as names, with one of them and the position of its image as the example."""
    name = gt.images.names[place] or gt.images.labels[place].item()
    return f"{source}: image ids are names of images of {gt.source}: {label!r} is {name!r}"


def note_on_classes(source: str, gt: GroundTruth) -> str:
    """The note that ids of classes are their places in the order of the names, for detections that have ids."""
    listed = list(zip(gt.categories.ids.tolist(), gt.categories.names, strict=True))
    shown = ", ".join(f"{number} is {name!r}" for number, name in listed[:3])
    more = "" if len(listed) <= 3 else ", and so on"
    return f"{source}: {gt.source} has no ids of classes, so they count in the order of their names: {shown}{more}"


def placed(dt: Detections, images: Images, places: npt.NDArray[np.intp]) -> Detections:
    """The detections with an image, and with its id in a list of images.

    Args:
        dt: The detections.
        images: The images.
        places: (N,) positions of images; detections with -1 are left out.
    """
    kept, places = dt.take(places >= 0), places[places >= 0]
    ids = images.ids[places] if images.keys is None else places.astype(np.int64)
    return dataclasses.replace(kept, image_ids=ids, image_keys=images.keys, ids_of_file=False)


def detections_of_coco(
    source: str | os.PathLike[str] | Sequence[Mapping[str, Any]] | npt.NDArray[Any],
    on_invalid: OnInvalid,
    threads: int | None,
    *,
    attributes: bool = False,
    part: CocoPart | None = None,
) -> Detections:
    """What :meth:`Detections.from_coco` returns; of some records of a file if ``part`` is given."""
    check_on_invalid(on_invalid)
    lines, between = (None, None) if part is None else (part.lines, part.between)
    raw = _coco.detection_columns(source, on_invalid, threads, attributes=attributes, lines=lines, between=between)
    is_file = isinstance(source, str | os.PathLike)
    dt = Detections(**raw.columns, source=raw.source, dropped=raw.dropped, ids_of_file=is_file)
    if len(raw.without_box):
        dt = _with_boxes_of_regions(dt, raw.without_box, on_invalid, threads)
    return _settled(dt, on_invalid, check=raw.unchecked)


def _with_boxes_of_regions(
    dt: Detections, without_box: npt.NDArray[np.int64], on_invalid: OnInvalid, threads: int | None
) -> Detections:
    """The detections with areas from their masks or keypoints, and with boxes around these where they have none."""
    # Imported here because reading boxes should not wait for masks.
    from ioukit.datasets.columns._boxes_and_areas import boxes_of_regions, readable_rows  # noqa: PLC0415

    lacking = np.isin(np.arange(len(dt)), without_box)
    try:
        bounds, areas = boxes_of_regions(dt.regions, dt.source, threads)
    except DatasetError:
        if on_invalid != "drop":
            raise
        good = readable_rows(dt.regions, dt.source, threads)
        dropped = dt.dropped + len(dt) - len(good)
        dt, lacking = dataclasses.replace(dt.take(good), dropped=dropped), lacking[good]
        bounds, areas = boxes_of_regions(dt.regions, dt.source, threads)
    boxes = np.where(lacking[:, None], bounds, dt.boxes)
    return dataclasses.replace(dt, boxes=boxes, areas=areas)


def _settled(dt: Detections, on_invalid: OnInvalid, *, check: bool) -> Detections:
    """The detections with notes for the user; their values are checked if the reader has not done so."""
    total, source = len(dt), dt.source
    if check:
        dt = _kept(dt, check_boxes(dt.boxes, source, "detections", on_invalid))
        dt = _kept(dt, check_values(dt.scores, "score", source, "detections", on_invalid))
        if dt.areas is not None:
            dt = _kept(dt, check_values(dt.areas, "area", source, "detections", on_invalid, lowest=0.0))
    dropped = dt.dropped + total - len(dt)
    notes = []
    if dropped:
        notes.append(f"{source}: {dropped:,} invalid record{'s' if dropped > 1 else ''} left out")
    if len(dt) == 0:
        notes.append(f"{source}: no detections: whatever there is to find is missed")
    elif not dt.scored:
        notes.append(f"{source}: {_NO_SCORES}")
    return dataclasses.replace(dt, dropped=dropped, notes=tuple(notes))


def _kept(dt: Detections, rows: npt.NDArray[Any] | None) -> Detections:
    return dt if rows is None else dt.take(rows)
