"""May this model replace that one? Rules that compare a candidate with a baseline, by numbers and their uncertainty."""

from ioukit.gate.checking import check_rules
from ioukit.gate.results import GateResult, RuleCheck, RuleResult
from ioukit.gate.rule_files import read_rules
from ioukit.gate.rules import Rule, Rules, default_rules
from ioukit.gate.showing import gate_junit, gate_markdown

__all__ = [
    "GateResult",
    "Rule",
    "RuleCheck",
    "RuleResult",
    "Rules",
    "check_rules",
    "default_rules",
    "gate_junit",
    "gate_markdown",
    "read_rules",
]
