"""Structs of columns that cross the boundary to the native module, which reads them by the names of their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ids: TypeAlias = NDArray[np.int64]
    Floats: TypeAlias = NDArray[np.float64]
    MaskParts: TypeAlias = tuple[NDArray[np.uint32], Ids, NDArray[np.uint32]]
    """Runs, offsets and sizes."""

__all__ = [
    "BoxColumns",
    "DetectionColumns",
    "DrawingColumns",
    "MaskColumns",
    "ObjectColumns",
    "OutcomeColumns",
    "PairColumns",
    "RuleColumns",
    "SceneColumns",
    "SelectionColumns",
]


class SelectionColumns(NamedTuple):
    """The images, or the categories, of a ground truth, and which of them are evaluated."""

    ids: Ids
    chosen: NDArray[np.bool_]


class ObjectColumns(NamedTuple):
    """The columns of the ground truth that matching reads."""

    image_ids: Ids
    category_ids: Ids
    areas: Floats
    flags: NDArray[np.uint8]
    """Bits: 1 ignored everywhere, 2 overlap over the area of the detection, 4 matched repeatedly, 8 void."""


class DetectionColumns(NamedTuple):
    """The columns of the detections that matching reads, and the name of their source."""

    source: str
    image_ids: Ids
    category_ids: Ids
    scores: Floats
    boxes: Floats
    areas: Floats | None
    """The areas of the boxes if ``None``."""


class SceneColumns(NamedTuple):
    """What is matched: objects and detections, and which of their images and categories are evaluated."""

    images: SelectionColumns
    categories: SelectionColumns
    objects: ObjectColumns
    detections: DetectionColumns


class BoxColumns(NamedTuple):
    """(G, 4) and (N, 4) boxes ``[x, y, width, height]`` of objects and detections."""

    object_boxes: Floats
    detection_boxes: Floats


class MaskColumns(NamedTuple):
    """Masks of objects and detections, each as runs, offsets and sizes."""

    object_masks: MaskParts
    detection_masks: MaskParts


class PairColumns(NamedTuple):
    """Measured overlaps, sorted by detection, then object."""

    detection: Ids
    """(P,) rows of the detections."""
    object: Ids
    """(P,) rows of the ground truth."""
    overlap: Floats
    """(P,) above 0."""


class RuleColumns(NamedTuple):
    """The rules of a protocol that matching follows."""

    thresholds: Floats
    more_than: bool
    areas: Floats
    """(A, 2) lowest and highest area of each range."""
    max_detections: int
    cap_scope: str
    class_agnostic: bool
    choice: str
    last_of_equal: bool
    near: float | None


class OutcomeColumns(NamedTuple):
    """The columns of a match table that curves are drawn from."""

    category: NDArray[np.uint32]
    rank: NDArray[np.uint32]
    score: Floats
    matched: NDArray[np.uint8]
    ignored: NDArray[np.uint8]
    num_objects: NDArray[np.uint64]
    """(K, A) objects to find."""


class DrawingColumns(NamedTuple):
    """How curves are drawn."""

    num_thresholds: int
    recall_thresholds: Floats
    caps: NDArray[np.uint32]
    caps_over_all_images: bool
    plain_precision: bool
    area: bool
    """Whether the area under each curve is wanted."""
