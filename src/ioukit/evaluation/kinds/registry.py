"""The kinds of regions by name. The code of a kind is loaded at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit.evaluation.kinds.boxes import BBOX
from ioukit.evaluation.kinds.kind import Comparison, Kind, MaskColumns, PairColumns, region_kind
from ioukit.evaluation.protocols.coco import COCO_KEYPOINTS

if TYPE_CHECKING:
    from ioukit.datasets.columns.detections import Detections
    from ioukit.datasets.columns.ground_truth import GroundTruth
    from ioukit.evaluation.outlines.outline import Outlines

__all__ = ["REGION_KINDS", "find_kind", "register_kind"]

REGION_KINDS: dict[str, Kind] = {}
"""The kinds by name."""


def register_kind(added: Kind) -> None:
    """Add a kind of region, so that ``match`` and ``evaluate`` accept its name as ``iou_type``.

    Raises:
        ValueError: If a kind of that name exists already.
    """
    if added.name in REGION_KINDS:
        raise ValueError(f"there is a kind of region {added.name!r} already: {REGION_KINDS[added.name].title}")
    REGION_KINDS[added.name] = added


def find_kind(name: str) -> Kind:
    """The kind with a name.

    Raises:
        ValueError: If no kind has this name.
    """
    if name not in REGION_KINDS:
        raise ValueError(f"unknown iou_type {name!r}; choose from {', '.join(REGION_KINDS)}")
    return REGION_KINDS[name]


def _masks(compared: Comparison) -> MaskColumns:
    from ioukit.evaluation.kinds.masks import columns  # noqa: PLC0415 - comparing boxes should not load masks

    return columns(compared)


def _boundaries(compared: Comparison) -> PairColumns:
    from ioukit.evaluation.kinds.boundary import columns  # noqa: PLC0415 - as above

    return columns(compared)


def _keypoints(compared: Comparison) -> PairColumns:
    from ioukit.evaluation.kinds.keypoints import COCO_SIGMAS, columns  # noqa: PLC0415 - as above

    return columns(compared, "keypoints", COCO_SIGMAS)


def _bird_eye(compared: Comparison) -> PairColumns:
    from ioukit.evaluation.kinds.bird_eye import columns  # noqa: PLC0415 - as above

    return columns(compared)


def _probiou(compared: Comparison) -> PairColumns:
    from ioukit.evaluation.kinds.probiou import columns  # noqa: PLC0415 - as above

    return columns(compared)


def _mask_outlines(rows: GroundTruth | Detections, ground_truth: GroundTruth) -> Outlines:
    from ioukit.evaluation.outlines.masks import mask_outlines  # noqa: PLC0415 - matching does not draw

    return mask_outlines(rows, ground_truth)


def _keypoint_outlines(rows: GroundTruth | Detections, ground_truth: GroundTruth) -> Outlines:
    from ioukit.evaluation.outlines.keypoints import keypoint_outlines  # noqa: PLC0415 - as above

    return keypoint_outlines(rows, ground_truth)


ROTATED = region_kind("rotated", "rotated boxes, by their exact overlap", "RotatedBoxes")
BOX3D = region_kind("box3d", "3-D boxes that turn about the vertical axis", "Boxes3D")

register_kind(BBOX)
register_kind(Kind("segm", "masks: polygons or RLE", _masks, outlines=_mask_outlines, needs="Masks"))
register_kind(
    Kind("boundary", "boundaries of masks (Boundary IoU)", _boundaries, outlines=_mask_outlines, needs="Masks")
)
register_kind(
    Kind(
        "keypoints", "COCO's 17 keypoints of persons (OKS)", _keypoints, COCO_KEYPOINTS, _keypoint_outlines, "keypoints"
    )
)
register_kind(ROTATED)
register_kind(
    Kind(
        "rotated-probiou",
        "rotated boxes as Gaussians (ProbIoU)",
        _probiou,
        outlines=ROTATED.outlines,
        needs="RotatedBoxes",
    )
)
register_kind(region_kind("polygon", "polygons, by their exact overlap", "Polygons"))
register_kind(BOX3D)
register_kind(
    Kind("bev", "3-D boxes as seen from above (bird's-eye view)", _bird_eye, outlines=BOX3D.outlines, needs="Boxes3D")
)
