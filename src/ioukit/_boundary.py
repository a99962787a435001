"""Structs of columns that cross the boundary to the native module, which reads them by the names of their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ioukit._array_types import Floats, Ids, Rows
from ioukit._columns import record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    MaskParts: TypeAlias = tuple[NDArray[np.uint32], Ids, NDArray[np.uint32]]
    """Runs, offsets and sizes."""

__all__ = [
    "BoxColumns",
    "ChoiceColumns",
    "DetectionColumns",
    "DrawingColumns",
    "InfluenceColumns",
    "MaskColumns",
    "NumberColumns",
    "ObjectColumns",
    "OutcomeColumns",
    "PairColumns",
    "ReadingColumns",
    "RuleColumns",
    "SceneColumns",
    "SelectionColumns",
    "TrackColumns",
    "VerifiedColumns",
    "WeighedColumns",
]


@record(eq=False, repr=False)
class SelectionColumns:
    """The images, or the categories, of a ground truth, and which of them are evaluated."""

    ids: Ids
    chosen: NDArray[np.bool_]


@record(eq=False, repr=False)
class ObjectColumns:
    """The columns of the ground truth that matching reads."""

    image_ids: Ids
    category_ids: Ids
    areas: Floats
    flags: NDArray[np.uint8]
    """Bits: 1 ignored everywhere, 2 overlap over the area of the detection, 4 matched repeatedly, 8 void, 16 matched
    above the threshold alone, 32 counts once."""
    outside: NDArray[np.uint8] | None = None
    """(G, C) the ranges that ignore each object for another reason than its area, as bits."""


@record(eq=False, repr=False)
class DetectionColumns:
    """The columns of the detections that matching reads, and the name of their source."""

    source: str
    image_ids: Ids
    category_ids: Ids
    scores: Floats
    boxes: Floats
    areas: Floats | None
    """The areas of the boxes if ``None``."""


@record(eq=False, repr=False)
class VerifiedColumns:
    """Two lists of categories for each image, each as the ids of all lists and where the list of each image ends."""

    negative: tuple[Ids, Ids]
    """The categories that are known to be absent."""
    not_exhaustive: tuple[Ids, Ids]
    """The categories of which some objects may not be annotated."""


@record(eq=False, repr=False)
class SceneColumns:
    """What is matched: objects and detections, and which of their images and categories are evaluated."""

    images: SelectionColumns
    categories: SelectionColumns
    objects: ObjectColumns
    detections: DetectionColumns
    verified: VerifiedColumns | None
    """All categories were looked for on all images if ``None``."""


@record(eq=False, repr=False)
class BoxColumns:
    """(G, 4) and (N, 4) boxes ``[x, y, width, height]`` of objects and detections."""

    object_boxes: Floats
    detection_boxes: Floats
    inclusive: bool = False
    """Whether a box covers the pixels ``x`` to ``x + width``, both within, as PASCAL VOC has it."""
    epsilon: float = 0.0
    """What is added to the area that an overlap is divided by."""
    sizes: tuple[Floats, Floats] | None = None
    """(G, 2) and (N, 2) width and height of the image of each box, which is cut to it; ``None`` if none is cut."""


@record(eq=False, repr=False)
class MaskColumns:
    """Masks of objects and detections, each as runs, offsets and sizes."""

    object_masks: MaskParts
    detection_masks: MaskParts


@record(eq=False, repr=False)
class PairColumns:
    """Measured overlaps, sorted by detection, then object."""

    detection: Ids
    """(P,) rows of the detections."""
    object: Ids
    """(P,) rows of the ground truth."""
    overlap: Floats
    """(P,) above 0."""


@record(eq=False, repr=False)
class RuleColumns:
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
    leaves_out_empty: bool
    leaves_out_empty_objects: bool
    near: float | None


@record(eq=False, repr=False)
class OutcomeColumns:
    """The columns of a match table that curves are drawn from."""

    category: NDArray[np.uint32]
    rank: NDArray[np.uint32]
    score: Floats
    matched: NDArray[np.uint8]
    ignored: NDArray[np.uint8]
    num_objects: NDArray[np.uint64]
    """(K, A) objects to find."""


@record(eq=False, repr=False)
class WeighedColumns:
    """The columns of a match table of which images are weighed."""

    outcomes: OutcomeColumns
    num_thresholds: int
    image: NDArray[np.uint32]
    object_category: NDArray[np.uint32]
    object_image: NDArray[np.uint32]
    object_ignored: NDArray[np.uint8]
    """(G, C) the ranges that ignore each object, as bits."""


@record(eq=False, repr=False)
class NumberColumns:
    """A number of a summary: what it is the mean of."""

    reading: str
    """What is read from each curve: ``"recalls"``, ``"points"`` or ``"area"`` as the integral of a protocol, or
    ``"last_recall"``."""
    area_range: int
    """The position of the area range."""
    cap: int
    thresholds: list[int]
    """The positions of the IoU thresholds, in ascending order."""
    of_category: NDArray[np.bool_]
    """(K,) whether the mean is over each category."""


@record(eq=False, repr=False)
class ChoiceColumns:
    """The columns of a match table of which objects choose among the detections."""

    category: NDArray[np.uint32]
    rank: NDArray[np.uint32]
    score: Floats
    outside: NDArray[np.uint8]
    """(N, C) the ranges that each detection is outside of, as bits."""
    uncounted: Floats
    """(N,) the highest overlap of each detection with an area in which detections do not count."""
    object_category: NDArray[np.uint32]
    neighbour: NDArray[np.uint32]
    """(G,) another category whose detections may take the object; a large number if there is none."""
    ignored: NDArray[np.uint8]
    """(G, C) the ranges that ignore each object, as bits."""
    pair_detection: Ids
    pair_object: Ids
    pair_overlap: Floats
    pair_turned: Floats
    """(P,) the difference of orientations in radians; 0 where nobody asks for orientations."""
    num_objects: NDArray[np.uint64]
    """(K, A) objects to find."""


@record(eq=False, repr=False)
class DrawingColumns:
    """How curves are drawn."""

    num_thresholds: int
    recall_thresholds: Floats
    caps: NDArray[np.uint32]
    caps_over_all_images: bool
    plain_precision: bool
    integral: str
    """The integral of a protocol: with ``"area"`` and the trapezoids, the area under each curve is computed, too."""


@record(eq=False, repr=False)
class InfluenceColumns:
    """The columns of a match table with near pairs, and what of it a number is about."""

    images: int
    categories: int
    """The number of categories that are evaluated."""
    category: NDArray[np.uint32]
    image: NDArray[np.uint32]
    rank: NDArray[np.uint32]
    row: Ids
    score: Floats
    matched: NDArray[np.uint8]
    ignored: NDArray[np.uint8]
    special: NDArray[np.uint8] | None
    outside: NDArray[np.bool_]
    """(N,) whether each detection is outside of the area range of the number."""
    object_category: NDArray[np.uint32]
    object_image: NDArray[np.uint32]
    object_flags: NDArray[np.uint8]
    object_ignored: NDArray[np.bool_]
    """(G,) whether the area range of the number ignores each object."""
    unverified: NDArray[np.bool_] | None
    """(G,) whether the category of each object is not verified on its image without the object."""
    near_detection: Ids
    near_object: Ids
    near_overlap: Floats
    range: int
    """The position of the area range of the number."""
    cap: int
    """The cap of the number."""


@record(eq=False, repr=False)
class ReadingColumns:
    """How a number is read from curves."""

    quantity: str
    """The integral of a protocol, or ``"recall"``."""
    recall_thresholds: Floats
    plain_precision: bool
    zero_if_detected: bool
    """Whether a category without objects counts 0 where a detection counts."""
    thresholds: Ids
    """Positions of the IoU thresholds that the number is about."""
    counted: NDArray[np.bool_]
    """(K,) whether the number is about each category."""


@record(eq=False, repr=False)
class TrackColumns:
    """The regions of one side, frame by frame, with their tracks."""

    starts: Rows
    """(F + 1) where the rows of each frame begin, and where those of the last one end."""
    tracks: Ids
    """(N,) the position of the track of each row among those of its class and sequence."""
    boxes: Floats
    """(N, 4) upright boxes, xyxy; none if overlaps are given."""
