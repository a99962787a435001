"""Which labels are likely wrong? Overlooked, badly drawn, doubled objects, wrong classes, labels of nothing."""

from ioukit.label_errors.decisions import (
    DECISIONS,
    annotation_tasks,
    apply_decisions,
    read_decisions,
    write_label_studio,
)
from ioukit.label_errors.finding import find_label_errors
from ioukit.label_errors.label_error import LABEL_ERROR_KINDS, LabelError, LabelErrorKind
from ioukit.label_errors.label_errors import LabelErrors

__all__ = [
    "DECISIONS",
    "LABEL_ERROR_KINDS",
    "LabelError",
    "LabelErrorKind",
    "LabelErrors",
    "annotation_tasks",
    "apply_decisions",
    "find_label_errors",
    "read_decisions",
    "write_label_studio",
]
