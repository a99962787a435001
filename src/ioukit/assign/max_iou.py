"""Max-IoU assignment (Faster R-CNN, RetinaNet): each prediction goes to the object with the highest IoU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ioukit.assign._inputs import boxes_of, floats_of, pair_of_sets
from ioukit.assign._pairs import object_blocks
from ioukit.assign._thresholds import LowQuality, Thresholds, covered, match_rows
from ioukit.overlap import pairwise_iou

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ioukit.assign.assignment import Assignment
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat, FloatArray

__all__ = ["LowQuality", "assign_grid", "assign_max_iou", "assign_overlaps"]


def assign_max_iou(
    predictions: BoxesLike,
    objects: BoxesLike,
    *,
    positive: float = 0.5,
    negative: float | tuple[float, float] = 0.4,
    low_quality: LowQuality = "none",
    min_positive_iou: float = 0.0,
    every_tie: bool = True,
    ignore_regions: BoxesLike | None = None,
    ignore_ioa: float = 0.5,
    ignore_of: Literal["predictions", "regions"] = "predictions",
    format: BoxFormat | None = None,
    check: bool = True,
) -> Assignment:
    """Assigns each prediction, usually an anchor, to the object with which it has the highest IoU.

    A prediction is positive if this IoU is **at or above** ``positive``, background if it is **below** ``negative``,
    and ignored in between. Of objects with equal IoU the first wins.

    ``low_quality`` gives predictions also to an object whose best IoU is below ``positive``. With ``"mmdet"`` the
    objects are visited in order. Each takes the predictions that have its best IoU, even those that another object has.
    A later object may so take the only predictions of an earlier one. With ``"detectron2"`` the same predictions become
    positive, but each stays with the object of its highest IoU. In both, an object without any overlap gets nothing.
    The originals give it every prediction of IoU 0, which is all of them.

    Args:
        predictions: (P, 4), xyxy by default: `Boxes` or an array.
        objects: (G, 4) in the same unit; G may be 0.
        positive: Within [0, 1].
        negative: A threshold, or an interval ``(low, high)``, which makes ``low <= IoU < high`` background.
        low_quality: ``"none"``, ``"mmdet"`` or ``"detectron2"``.
        min_positive_iou: For ``low_quality``, the smallest best IoU of an object that takes predictions.
        every_tie: For ``"mmdet"``, whether an object takes all predictions that share its best IoU, or only the first.
        ignore_regions: (R, 4) regions such as crowds.
        ignore_ioa: A prediction is ignored if its IoA with a region is **above** this.
        ignore_of: Whose area divides in this IoA: ``"predictions"`` or ``"regions"``.
        format: The format of plain arrays: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. `Boxes` have their
            own.
        check: Whether plain arrays are checked.

    Returns:
        The assignment. Its ``candidates`` are the pairs that reach ``positive`` or have the best IoU of their object,
        at most 64 per object.

    Raises:
        ValueError: If thresholds contradict each other, or boxes are not valid.
        TypeError: If an argument has the wrong type.

    Examples:
        >>> from ioukit.assign import assign_max_iou
        >>> anchors = [[0, 0, 10, 10], [10, 10, 20, 20], [5, 5, 15, 15], [32, 32, 38, 42]]
        >>> result = assign_max_iou(anchors, [[0, 0, 10, 9], [0, 10, 10, 19]], low_quality="mmdet")
        >>> result.target
        array([ 0, -1,  1, -1])

    Reference: Ren et al., Faster R-CNN, NeurIPS 2015, arXiv:1506.01497; the low-quality rules are those of
    MMDetection's MaxIoUAssigner and Detectron2's Matcher.
    """
    thresholds = Thresholds.of(positive, negative)
    first, second = pair_of_sets(predictions, objects, format, check, ("predictions", "objects"))
    ignored = None
    if ignore_regions is not None:
        if ignore_of not in {"predictions", "regions"}:
            raise ValueError(f"unknown ignore_of {ignore_of!r}; choose from predictions, regions")
        regions = boxes_of(ignore_regions, format, "ignore_regions", check).astype(first.dtype)
        ignored = covered(first, regions, ignore_ioa, of="second" if ignore_of == "predictions" else "first")
    return match_rows(
        predictions, _iou_rows(second, first), len(first), len(second), first.dtype, rule="assign_max_iou",
        thresholds=thresholds, low_quality=low_quality, least=min_positive_iou, every_tie=every_tie, ignored=ignored,
    )  # fmt: skip


def assign_overlaps(
    overlaps: Array,
    *,
    positive: float = 0.5,
    negative: float | tuple[float, float] = 0.4,
    low_quality: LowQuality = "none",
    min_positive_iou: float = 0.0,
    every_tie: bool = True,
) -> Assignment:
    """`assign_max_iou` for overlaps that are computed already: of masks, of rotated boxes, or by any other measure.

    Args:
        overlaps: (G, P), the overlap of each object with each prediction, within [0, 1].
        positive: As in `assign_max_iou`.
        negative: As in `assign_max_iou`.
        low_quality: As in `assign_max_iou`.
        min_positive_iou: As in `assign_max_iou`.
        every_tie: As in `assign_max_iou`.

    Returns:
        The assignment.

    Raises:
        ValueError: If an overlap is not within [0, 1], or thresholds contradict each other.

    Examples:
        >>> from ioukit.assign import assign_overlaps
        >>> assign_overlaps([[0.6, 0.3], [0.7, 0.2]], low_quality="detectron2").target
        array([ 1, -1])
    """
    table = floats_of(overlaps, "overlaps", (None, None))
    if table.size and not (table.min() >= 0 and table.max() <= 1):
        raise ValueError(f"overlaps must be within [0, 1], got {table.min():g} to {table.max():g}")
    objects, count = table.shape
    return match_rows(
        overlaps, table, count, objects, table.dtype, rule="assign_overlaps",
        thresholds=Thresholds.of(positive, negative), low_quality=low_quality, least=min_positive_iou,
        every_tie=every_tie,
    )  # fmt: skip


def assign_grid(
    predictions: BoxesLike,
    objects: BoxesLike,
    responsible: Array,
    *,
    positive: float = 0.5,
    negative: float | tuple[float, float] = 0.5,
    min_positive_iou: float = 0.0,
    every_tie: bool = True,
    format: BoxFormat | None = None,
    check: bool = True,
) -> Assignment:
    """Assigns by the highest IoU among the anchors of cells that hold a centre: the rule of MMDetection's YOLOv3.

    Unlike in `assign_max_iou`, a prediction exactly at a threshold counts as below it: IoU **above** ``positive`` is
    positive, and IoU **at or below** ``negative`` is background. Afterwards each object takes the responsible
    predictions that have its best IoU.

    Args:
        predictions: (P, 4), xyxy by default: `Boxes` or an array.
        objects: (G, 4) in the same unit.
        responsible: (P,) bools, true where the cell of the prediction holds the centre of an object.
        positive: Within [0, 1].
        negative: A threshold, or an interval ``(low, high)``, which makes ``low < IoU <= high`` background.
        min_positive_iou: An object takes predictions only if its best responsible IoU is above this.
        every_tie: Whether an object takes all responsible predictions that share its best IoU, or only the first.
        format: The format of plain arrays: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. `Boxes` have their
            own.
        check: Whether plain arrays are checked.

    Returns:
        The assignment.

    Raises:
        ValueError: If shapes do not fit, thresholds contradict each other, or a box is not valid.
    """
    first, second = pair_of_sets(predictions, objects, format, check, ("predictions", "objects"))
    flags = floats_of(responsible, "responsible", (None,)) != 0
    if len(flags) != len(first):
        raise ValueError(f"responsible must have shape ({len(first)},), one per prediction, got {flags.shape}")
    return match_rows(
        predictions, _iou_rows(second, first), len(first), len(second), first.dtype, rule="assign_grid",
        thresholds=Thresholds.of(positive, negative, strict=True), low_quality="mmdet", least=min_positive_iou,
        every_tie=every_tie, eligible=flags,
    )  # fmt: skip


def _iou_rows(objects: FloatArray, predictions: FloatArray) -> Iterator[FloatArray]:
    for block in object_blocks(len(objects), len(predictions)):
        yield from pairwise_iou(objects[block], predictions, check=False)
