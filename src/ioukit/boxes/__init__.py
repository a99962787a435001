"""What is a box?"""

from ioukit.boxes.boxes import Boxes, BoxesLike
from ioukit.boxes.diagnosis import Diagnosis, Finding, diagnose

__all__ = ["Boxes", "BoxesLike", "Diagnosis", "Finding", "diagnose"]
