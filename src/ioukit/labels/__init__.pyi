"""Which labels are likely wrong? Overlooked, badly drawn, doubled objects, wrong classes, boxes around nothing."""

from ioukit.labels.finding import find_label_errors
from ioukit.labels.kinds import LABEL_ERROR_KINDS, LabelErrorKind
from ioukit.labels.label_error import LabelError
from ioukit.labels.label_errors import LabelErrors

__all__ = ["LABEL_ERROR_KINDS", "LabelError", "LabelErrorKind", "LabelErrors", "find_label_errors"]
