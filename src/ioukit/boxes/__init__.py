"""What is a box?"""

from ioukit.boxes.boxes import Boxes, BoxesLike
from ioukit.boxes.boxes3d import Boxes3D
from ioukit.boxes.diagnosis import Diagnosis, Finding, diagnose
from ioukit.boxes.regions import Regions
from ioukit.boxes.rotated import RotatedBoxes

__all__ = ["Boxes", "Boxes3D", "BoxesLike", "Diagnosis", "Finding", "Regions", "RotatedBoxes", "diagnose"]
