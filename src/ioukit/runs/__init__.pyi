"""Which runs were there, and may this model replace that one? The ledger of evaluations, and the gate."""

from ioukit.runs.gate.gate_result import GateResult, RuleCheck, RuleResult
from ioukit.runs.gate.markdown_junit import gate_junit, gate_markdown
from ioukit.runs.gate.rule_checks import check_rules
from ioukit.runs.gate.rules import Rule, Rules, default_rules, read_rules
from ioukit.runs.ledger.input_files import InputFile
from ioukit.runs.ledger.ledger import Ledger
from ioukit.runs.ledger.run import Limits, Run
from ioukit.runs.ledger.runs_page import write_runs_page

__all__ = [
    "GateResult",
    "InputFile",
    "Ledger",
    "Limits",
    "Rule",
    "RuleCheck",
    "RuleResult",
    "Rules",
    "Run",
    "check_rules",
    "default_rules",
    "gate_junit",
    "gate_markdown",
    "read_rules",
    "write_runs_page",
]
