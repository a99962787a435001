"""The objects that a detector says are there, as columns."""

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
from ioukit.datasets._lazy import Segmentations
from ioukit.datasets._records import FOUR, INTEGER, NUMBER, columns
from ioukit.datasets.ground_truth import GroundTruth
from ioukit.errors import DatasetError
from ioukit.regions import BoxesLike

__all__ = ["Detections"]


@dataclass(frozen=True, eq=False, repr=False)
class Detections:
    """Detected objects as columns, one row a detection in the order of the source.

    Build one with :meth:`from_coco` or :meth:`from_arrays`: they check what the columns hold. The arrays are read-only.
    """

    image_ids: npt.NDArray[np.int64]
    """(N,) the image of each."""
    category_ids: npt.NDArray[np.int64]
    """(N,) the category of each."""
    boxes: npt.NDArray[np.float64]
    """(N, 4) ``[x, y, width, height]`` in pixels, to the last bit as the source has them."""
    scores: npt.NDArray[np.float64]
    """(N,) confidences; only their order matters."""
    segmentations: Sequence[Any] | None = None
    """(N,) masks as the source has them (RLE), read when looked at; ``None`` if there are none."""
    source: str = "detections"
    """Where the data came from, for messages."""
    on_invalid: OnInvalid = "error"
    """How invalid records were treated."""
    dropped: int = 0
    """Records left out because they were invalid."""
    notes: tuple[str, ...] = field(default=())
    """What a user should know about the data."""

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"Detections({len(self):,})"

    @classmethod
    def from_coco(
        cls,
        source: str | os.PathLike[str] | Sequence[Mapping[str, Any]] | npt.NDArray[Any],
        *,
        on_invalid: OnInvalid = "error",
        threads: int | None = None,
    ) -> Detections:
        """Read a COCO results file, or take what ``json.load`` made of one.

        Args:
            source: Path of a ``.json`` or ``.json.gz`` file; a list of mappings, each with ``image_id``,
                ``category_id``, ``bbox`` as ``[x, y, width, height]`` and ``score`` (other keys are ignored); or an
                (N, 7) array of image id, x, y, width, height, score and category id.
            on_invalid: As for :meth:`GroundTruth.from_coco`. A width or height of 0 is valid: it finds nothing.
            threads: How many threads read a file; all cores if ``None``.

        Raises:
            DatasetError: If the data is invalid; names file, record and field, what was expected and what came.
            OSError: If the file cannot be read.
        """
        check_on_invalid(on_invalid)
        if isinstance(source, str | os.PathLike):
            path = existing_file(source)
            raw = _core.read_coco_detections(path, on_invalid, check_threads(threads))
            spans = raw.pop("segmentations")
            return _assemble(path, on_invalid, **raw, segmentations=Segmentations(path, spans) if len(spans) else None)
        if isinstance(source, np.ndarray):
            return _from_array(source, on_invalid)
        if isinstance(source, Mapping):
            raise DatasetError(
                "detections: expected a list of detections, found a mapping (a ground truth? are the two swapped?)"
            )
        fields = {"image_id": INTEGER, "category_id": INTEGER, "bbox": FOUR, "score": NUMBER}
        raw, kept = columns(source, fields, source="detections", array="detections", on_invalid=on_invalid)
        records = source if kept is None else [source[row] for row in kept]
        segmentations = [record.get("segmentation") for record in records]
        return _assemble(
            "detections",
            on_invalid,
            image_ids=raw["image_id"].astype(np.int64),
            category_ids=raw["category_id"].astype(np.int64),
            boxes=np.ascontiguousarray(raw["bbox"], np.float64),
            scores=np.ascontiguousarray(raw["score"], np.float64),
            segmentations=segmentations if any(value is not None for value in segmentations) else None,
            dropped=len(source) - len(records),
            check=True,
        )

    @classmethod
    def from_arrays(
        cls,
        *,
        image_ids: npt.ArrayLike,
        category_ids: npt.ArrayLike,
        boxes: BoxesLike,
        scores: npt.ArrayLike,
    ) -> Detections:
        """Take columns.

        Args:
            image_ids: (N,) integers.
            category_ids: (N,) integers.
            boxes: :class:`~ioukit.Boxes` in pixels, or (N, 4) ``[x, y, width, height]``.
            scores: (N,) numbers.

        Raises:
            ValueError: If shapes do not fit; :class:`~ioukit.DatasetError` if values are invalid.
        """
        image_ids = integers(image_ids, name="image_ids")
        count = len(image_ids)
        box_array = pixel_boxes(boxes, count)
        score_array = np.array(scores, np.float64)
        if score_array.shape != (count,):
            raise ValueError(f"scores must have shape ({count},), got {score_array.shape}")
        return _assemble(
            "detections",
            "error",
            image_ids=image_ids,
            category_ids=integers(category_ids, name="category_ids", length=count),
            boxes=box_array,
            scores=score_array,
            segmentations=None,
            dropped=0,
            check=True,
        )

    def known_to(self, ground_truth: GroundTruth, *, on_invalid: OnInvalid = "error") -> Detections:
        """The detections of images and categories that the ground truth lists.

        Args:
            ground_truth: What they will be compared with.
            on_invalid: ``"error"`` refuses others, ``"drop"`` leaves them out and counts them, ``"pycocotools"`` leaves
                out those of an unknown category and refuses those of an unknown image.

        Raises:
            DatasetError: If a detection is refused; names it.
        """
        check_on_invalid(on_invalid)
        known = (ground_truth.images.ids, ground_truth.categories.ids)
        rows = _core.known_detections(self.source, self.image_ids, self.category_ids, *known, on_invalid)
        if rows is None:
            return self
        image_ids, category_ids, boxes, scores, segmentations = keep(
            rows, self.image_ids, self.category_ids, self.boxes, self.scores, self.segmentations
        )
        return _assemble(
            self.source,
            on_invalid,
            image_ids=image_ids,
            category_ids=category_ids,
            boxes=boxes,
            scores=scores,
            segmentations=segmentations,
            dropped=self.dropped + len(self) - len(scores),
        )


def _from_array(array: npt.NDArray[Any], on_invalid: OnInvalid) -> Detections:
    if array.ndim != 2 or array.shape[1] != 7:
        raise ValueError(
            f"an array of detections must have shape (N, 7) [image id, x, y, width, height, score, category id], "
            f"got {array.shape}"
        )
    # pycocotools truncates ids here; an id that is no integer is refused instead.
    return _assemble(
        "detections",
        on_invalid,
        image_ids=integers(array[:, 0], name="image ids (column 0)"),
        category_ids=integers(array[:, 6], name="category ids (column 6)"),
        boxes=np.array(array[:, 1:5], np.float64, order="C"),
        scores=np.array(array[:, 5], np.float64),
        segmentations=None,
        dropped=0,
        check=True,
    )


def _assemble(
    source: str,
    on_invalid: OnInvalid,
    *,
    image_ids: npt.NDArray[np.int64],
    category_ids: npt.NDArray[np.int64],
    boxes: npt.NDArray[np.float64],
    scores: npt.NDArray[np.float64],
    segmentations: Any,
    dropped: int,
    check: bool = False,
) -> Detections:
    """Check values, where the reader has not, and freeze."""
    rows = (image_ids, category_ids, boxes, scores, segmentations)
    total = len(scores)
    if check:
        rows = keep(check_boxes(boxes, source, "detections", on_invalid), *rows)
        rows = keep(check_values(rows[3], "score", source, "detections", on_invalid), *rows)
        dropped += total - len(rows[3])
    notes = []
    if dropped:
        notes.append(f"{source}: {dropped:,} invalid record{'s' if dropped > 1 else ''} left out")
    if len(rows[3]) == 0:
        notes.append(f"{source}: no detections: AP and AR are 0 wherever there is something to find")
    image_ids, category_ids, boxes, scores, segmentations = rows
    return Detections(
        image_ids=frozen(image_ids),
        category_ids=frozen(category_ids),
        boxes=frozen(boxes),
        scores=frozen(scores),
        segmentations=segmentations,
        source=source,
        on_invalid=on_invalid,
        dropped=dropped,
        notes=tuple(notes),
    )
