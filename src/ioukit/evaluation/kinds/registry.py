"""The kinds of regions by name. The code of a kind is loaded at its first use: comparing boxes loads no masks."""

from __future__ import annotations

from ioukit._near_names import unknown_name
from ioukit._register import Later, Register
from ioukit.evaluation.kinds.boxes import BBOX
from ioukit.evaluation.kinds.kind import Kind, region_kind
from ioukit.evaluation.protocols.coco import COCO_KEYPOINTS

REGION_KINDS: Register[Kind] = Register("kind of region")
"""The kinds by name."""


def register_kind(added: Kind) -> None:
    """Add a kind of region, so that ``match`` and ``evaluate`` accept its name as ``iou_type``.

    Raises:
        ValueError: If a kind of that name exists already.
    """
    REGION_KINDS.add(added.name, added)


def find_kind(name: str) -> Kind:
    """The kind with a name.

    Raises:
        ValueError: If no kind has this name.
    """
    if name not in REGION_KINDS:
        raise ValueError(unknown_name("iou_type", name, REGION_KINDS))
    return REGION_KINDS[name]


_HERE = "ioukit.evaluation.kinds"
_MASK_OUTLINES = Later("ioukit.evaluation.outlines.masks:mask_outlines")
_KEYPOINT_OUTLINES = Later("ioukit.evaluation.outlines.keypoints:keypoint_outlines")

ROTATED = region_kind("rotated", "rotated boxes, by their exact overlap", "RotatedBoxes")
BOX3D = region_kind("box3d", "3-D boxes that turn about the vertical axis", "Boxes3D")

for _kind in (
    BBOX,
    Kind(
        "segm",
        "masks: polygons or RLE",
        Later(f"{_HERE}.masks:columns"),
        outlines=_MASK_OUTLINES,
        needs="Masks",
    ),
    Kind(
        "boundary",
        "boundaries of masks (Boundary IoU)",
        Later(f"{_HERE}.masks:boundary_columns"),
        outlines=_MASK_OUTLINES,
        needs="Masks",
    ),
    Kind(
        "keypoints",
        "COCO's 17 keypoints of persons (OKS)",
        Later(f"{_HERE}.keypoints:columns"),
        COCO_KEYPOINTS,
        _KEYPOINT_OUTLINES,
        "keypoints",
    ),
    ROTATED,
    Kind(
        "rotated-probiou",
        "rotated boxes as Gaussians (ProbIoU)",
        Later(f"{_HERE}.rotated:probiou_columns"),
        outlines=ROTATED.outlines,
        needs="RotatedBoxes",
    ),
    region_kind("polygon", "polygons, by their exact overlap", "Polygons"),
    BOX3D,
    Kind(
        "bev",
        "3-D boxes as seen from above (bird's-eye view)",
        Later(f"{_HERE}.rotated:bird_eye_columns"),
        outlines=BOX3D.outlines,
        needs="Boxes3D",
    ),
):
    register_kind(_kind)
REGION_KINDS.add("centre-in-box", f"{_HERE}.centres:CENTRE_IN_BOX")
REGION_KINDS.add("centre-in-mask", f"{_HERE}.centres:CENTRE_IN_MASK")
for _name in ("crowdpose", "wholebody", "ap10k"):
    REGION_KINDS.add(f"keypoints-{_name}", f"{_HERE}.keypoint_sets:{_name.upper()}")
