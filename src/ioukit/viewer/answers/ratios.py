"""Precision, recall and F1 of counts, and which of them a filter decides itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit.evaluation.analysis._quotient import quotient

_DECIDED = {
    "score": ("fn", "recall", "f1"),
    "change": ("fp", "precision", "recall", "f1"),
    "flag": ("fp", "precision", "f1"),
    "true": ("precision", "f1"),
    "predicted": ("recall", "f1"),
}
"""What each condition decides; columns of objects are like flags."""

Numbers = npt.NDArray[np.int64]


def undefined_under(conditions: Iterable[str], *, true: bool, predicted: bool) -> frozenset[str]:
    """What says nothing of a model, because the filter itself decides it: among ``fp``, ``fn`` and the ratios.

    - Missed objects have no score. A range of scores leaves all of them out.
    - Changes, flags and columns of objects leave out all detections. A change also decides which objects are found.
    - A row of the confusion matrix leaves out detections without an object, a column leaves out missed objects.

    Args:
        conditions: The conditions on marks, see :func:`ioukit.viewer.answers.conditions.mark_conditions`.
        true: Whether the filter chooses rows of the confusion matrix.
        predicted: Whether it chooses columns.
    """
    names = {"flag" if name.startswith("column.") else name for name in conditions}
    names |= {name for name, given in (("true", true), ("predicted", predicted)) if given}
    return frozenset().union(*(_DECIDED.get(name, ()) for name in names))


def ratio(name: str, tp: Any, fp: Any, found: Any, fn: Any) -> npt.NDArray[np.float64]:
    """Precision, recall or F1 of counts of any shape; NaN where undefined.

    F1 is the harmonic mean of ``tp / (tp + fp)`` and ``found / (found + fn)``: ``2 tp / (2 tp + fp + fn)`` unless the
    filter separates an object and its detection. It is 0 if all there is are false positives or missed objects.

    Args:
        name: ``"precision"``, ``"recall"`` or ``"f1"``.
        tp: Detections that match an object.
        fp: Detections that match no object.
        found: Objects that a detection finds.
        fn: Objects that no detection finds.
    """
    tp, fp, found, fn = (np.asarray(one, np.int64) for one in (tp, fp, found, fn))
    if name == "precision":
        return quotient(tp, tp + fp)
    if name == "recall":
        return quotient(found, found + fn)
    nothing_right = (tp == 0) & (found == 0)
    return quotient(2 * tp * found, np.where(nothing_right, fp + fn, tp * (found + fn) + found * (tp + fp)))
