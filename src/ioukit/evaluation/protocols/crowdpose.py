"""CrowdPose: keypoints of persons in crowds."""

from __future__ import annotations

from ioukit.evaluation.protocols.coco import COCO_KEYPOINTS

CROWDPOSE = COCO_KEYPOINTS.replace(
    name="CrowdPose",
    # Its objects have no areas, so its table has no sizes.
    area_ranges=COCO_KEYPOINTS.area_ranges[:1],
    reference="Li et al., CVPR 2019, arXiv:1812.00324; xtcocotools 1.14.3",
    meant_for=("keypoints-crowdpose",),
)
"""CrowdPose (Li et al., CVPR 2019, arXiv:1812.00324), as xtcocotools 1.14.3 evaluates: COCO's rules for keypoints
without sizes. The overlap is that of ``iou_type="keypoints-crowdpose"``: 14 keypoints, and 0.53 of the area of the box
in the place of the area of the object."""
