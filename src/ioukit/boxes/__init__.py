"""What is a box?"""

from ioukit.boxes.boxes import Boxes, BoxesLike
from ioukit.boxes.diagnosis import Diagnosis, Finding, diagnose
from ioukit.boxes.masks import Masks
from ioukit.boxes.regions import Regions

__all__ = ["Boxes", "BoxesLike", "Diagnosis", "Finding", "Masks", "Regions", "diagnose"]
