"""Compare two or more models."""

from __future__ import annotations

from collections.abc import Mapping

from ioukit.comparison.model_comparison import ModelComparison
from ioukit.comparison.model_pair import ModelPair
from ioukit.comparison.object_changes import changes
from ioukit.comparison.splitting import parts
from ioukit.evaluation import Evaluation

__all__ = ["compare_models"]


def compare_models(
    models: Mapping[str, Evaluation],
    *,
    iou_threshold: float | None = None,
    score_threshold: float | tuple[float, float] | None = None,
) -> ModelComparison:
    """Compare the first model with each of the others.

    Args:
        models: Evaluations on the same ground truth, by the names of the models; at least two.
        iou_threshold: As for :func:`changes`.
        score_threshold: As for :func:`changes`.

    Raises:
        ValueError: If there are fewer than two models, or they were not evaluated alike.
    """
    if len(models) < 2:
        raise ValueError(f"expected at least two models, got {len(models)}")
    (name_a, a), *others = models.items()
    pairs = []
    for name_b, b in others:
        changed = changes(a, b, iou_threshold=iou_threshold, score_threshold=score_threshold)
        split, reason = None, ""
        try:
            split = parts(a, b)
        except ValueError as error:  # the number cannot be split, which the record says
            reason = str(error)
        pairs.append(ModelPair(name_a, name_b, a, b, changed, split, reason))
    return ModelComparison(tuple(models), tuple(models.values()), tuple(pairs))
