"""What is plausible but wrong with data, before it is evaluated?"""

from ioukit.preflight.case import Case
from ioukit.preflight.checking import Checked, check
from ioukit.preflight.named_images import read_named_images
from ioukit.preflight.repairs.repair import REPAIRS, Data, Repair, RepairKind, register_repair, repaired
from ioukit.preflight.rules.registry import RULES, Rule, register_rule
from ioukit.preflight.suspicion import Suspicion
from ioukit.preflight.verifying import Finding

__all__ = [
    "REPAIRS",
    "RULES",
    "Case",
    "Checked",
    "Data",
    "Finding",
    "Repair",
    "RepairKind",
    "Rule",
    "Suspicion",
    "check",
    "read_named_images",
    "register_repair",
    "register_rule",
    "repaired",
]
