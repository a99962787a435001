"""What is a box?"""

from ioukit.boxes.boxes import Boxes, BoxesLike
from ioukit.boxes.diagnosis import Diagnosis, Finding, diagnose
from ioukit.boxes.regions import Regions
from ioukit.boxes.rotated import RotatedBoxes

__all__ = ["Boxes", "BoxesLike", "Diagnosis", "Finding", "Regions", "RotatedBoxes", "diagnose"]
