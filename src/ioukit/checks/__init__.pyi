"""What looks wrong with regions, with a data set, or with detections beside their ground truth?"""

from ioukit.checks.case import Case
from ioukit.checks.checking import Checked, check
from ioukit.checks.diagnosis.boxes import diagnose_boxes
from ioukit.checks.diagnosis.data_sets import diagnose_data, notes_on_data
from ioukit.checks.diagnosis.diagnosis import diagnose, register_rules
from ioukit.checks.diagnosis.findings import Diagnosis, Finding
from ioukit.checks.diagnosis.masks import diagnose_masks
from ioukit.checks.diagnosis.polygons import diagnose_polygons
from ioukit.checks.diagnosis.turned import diagnose_boxes3d, diagnose_rotated
from ioukit.checks.possible_readings import ComparedReading, ComparedReadings, compare_readings
from ioukit.checks.repairs.repair import REPAIRS, Data, Repair, RepairKind, register_repair, repaired
from ioukit.checks.rules.registry import RULES, Rule, register_rule
from ioukit.checks.suspicion import Suspicion
from ioukit.checks.verifying import VerifiedSuspicion

__all__ = [
    "REPAIRS",
    "RULES",
    "Case",
    "Checked",
    "ComparedReading",
    "ComparedReadings",
    "Data",
    "Diagnosis",
    "Finding",
    "Repair",
    "RepairKind",
    "Rule",
    "Suspicion",
    "VerifiedSuspicion",
    "check",
    "compare_readings",
    "diagnose",
    "diagnose_boxes",
    "diagnose_boxes3d",
    "diagnose_data",
    "diagnose_masks",
    "diagnose_polygons",
    "diagnose_rotated",
    "notes_on_data",
    "register_repair",
    "register_rule",
    "register_rules",
    "repaired",
]
