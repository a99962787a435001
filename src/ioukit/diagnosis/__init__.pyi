"""What looks wrong with regions or data sets?"""

from ioukit.diagnosis.boxes import diagnose_boxes
from ioukit.diagnosis.boxes3d import diagnose_boxes3d
from ioukit.diagnosis.data_sets import diagnose_data
from ioukit.diagnosis.diagnosis import diagnose, register_rules
from ioukit.diagnosis.findings import Diagnosis, Finding
from ioukit.diagnosis.masks import diagnose_masks
from ioukit.diagnosis.polygons import diagnose_polygons
from ioukit.diagnosis.rotated import diagnose_rotated

__all__ = [
    "Diagnosis",
    "Finding",
    "diagnose",
    "diagnose_boxes",
    "diagnose_boxes3d",
    "diagnose_data",
    "diagnose_masks",
    "diagnose_polygons",
    "diagnose_rotated",
    "register_rules",
]
