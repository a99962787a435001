"""The names and signatures of pycocotools 2.0.11: modules ``coco``, ``cocoeval`` and ``mask``.

from ioukit.compat.pycocotools.coco import COCO
from ioukit.compat.pycocotools.cocoeval import COCOeval
from ioukit.compat.pycocotools import mask
"""

from ioukit.compat.pycocotools import mask

__all__ = ["mask"]
