"""Why a label is suspicious, in words."""

from __future__ import annotations

__all__ = ["reason"]


def reason(
    kind: str,
    *,
    category: str | None,
    suggested: str | None,
    other_category: str | None,
    other_id: int | None,
    score: float,
    iou: float,
    usual: float,
    bound: bool,
) -> str:
    """One or two sentences.

    Args:
        kind: The kind of the error.
        category: The class of the label.
        suggested: The class of the detection.
        other_category: The class of the other object of a double.
        other_id: Its annotation id.
        score: The score of the detection.
        iou: The overlap with the detection or the other object.
        usual: :attr:`LabelErrors.expected`.
        bound: Whether the overlap of two objects is a lower bound.
    """
    if kind == "overlooked":
        return (
            f"A detection of {suggested} with score {score:.2f} matches no annotation. "
            f"{_share(usual)} of the detections like it match one."
        )
    if kind == "badly_drawn":
        return (
            f"The detection of {suggested} with score {score:.2f} overlaps the annotation with IoU {iou:.2f}. "
            f"Such detections usually reach {usual:.2f}."
        )
    if kind == "swapped":
        return (
            f"A detection of {suggested} with score {score:.2f} lies on the annotation (IoU {iou:.2f}), "
            f"and no reliable one of {category}. {_share(usual)} of such detections are right."
        )
    if kind == "doubled":
        least = "at least " if bound else ""
        return f"Annotation {other_id} of {other_category} overlaps this one with IoU {least}{iou:.2f}."
    return (
        f"No reliable detection lies on the annotation. {_share(usual)} of the annotations of {category} of this size "
        "have one."
    )


def _share(value: float) -> str:
    """A share in per cent, never rounded up to all."""
    return f"{min(100 * value, 99.9):.0f} %" if value < 0.99 else f"{min(100 * value, 99.9):.1f} %"
