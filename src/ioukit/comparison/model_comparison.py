"""The record of a comparison of several models."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ioukit._columns import Frozen, record
from ioukit._plain_values import plain_value
from ioukit.comparison.change_records import Changes
from ioukit.comparison.markdown import comparison_markdown
from ioukit.comparison.model_pair import ModelPair, image_names
from ioukit.comparison.model_text import comparison_text
from ioukit.comparison.part_records import Parts
from ioukit.comparison.ranking_models import Ranking
from ioukit.evaluation import Evaluation, Protocol


@record(frozen=True, eq=False, repr=False)
class ModelComparison(Frozen):
    """The result of :func:`compare_models`."""

    names: tuple[str, ...]
    """(N,) the names of the models, in the order in which they were given."""
    evaluations: tuple[Evaluation, ...]
    """(N,) their evaluations."""
    pairs: tuple[ModelPair, ...]
    """(N - 1,) the first model, A, with each of the others, B."""
    ranking: Ranking | None
    """All models by their main number, with groups that cannot be told apart; ``None`` for two models."""

    @property
    def protocol(self) -> Protocol:
        """The rules."""
        return self.evaluations[0].protocol

    def text(self, *, per_class: bool = False) -> str:
        """The comparison in words and tables for a terminal, in lines of at most 100 characters.

        Args:
            per_class: Whether to show every class, not only those with the largest parts.
        """
        return comparison_text(self.pairs, self.ranking, per_class=per_class)

    def to_markdown(self) -> str:
        """The comparison as Markdown, for a pull request."""
        return comparison_markdown(self.pairs, self.ranking)

    def to_dict(self) -> dict[str, Any]:
        """The comparison in plain Python values, ``None`` where a number is undefined."""
        return {
            "models": [
                {"name": name, "summary": plain_value(one.summary)}
                for name, one in zip(self.names, self.evaluations, strict=True)
            ],
            "pairs": [
                {
                    "a": pair.name_a,
                    "b": pair.name_b,
                    "verdict": pair.verdict(),
                    "comparison": pair.comparison.to_dict(),
                    "changes": _changes_values(pair.changes),
                    "parts": None if pair.parts is None else _parts_values(pair.parts, image_names(pair.a)),
                }
                for pair in self.pairs
            ],
            "ranking": None if self.ranking is None else self.ranking.to_dict(),
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def __repr__(self) -> str:
        key = self.protocol.main_measure.key
        numbers = zip(self.names, self.evaluations, strict=True)
        return f"ModelComparison({', '.join(f'{name} {key}={one.summary[key]:.4f}' for name, one in numbers)})"


def _changes_values(changes: Changes) -> dict[str, Any]:
    """The settings and counts of the changes, and the counts of each class that has any."""
    by_class = changes.by_class()
    counts = np.stack(list(by_class.values()), axis=1)
    classes = [
        {"id": int(changes.categories.ids[at]), "name": changes.categories.names[at]}
        | dict(zip(by_class, counts[at].tolist(), strict=True))
        for at in np.flatnonzero(counts.any(axis=1)).tolist()
    ]
    return {
        "iou_threshold": changes.iou_threshold,
        "area": changes.area_range,
        "score_thresholds": [score if math.isfinite(score) else None for score in changes.score_thresholds],
        "placement": changes.placement,
        "paired_by": changes.paired_by,
        "counts": dict(changes.counts),
        "classes": classes,
    }


def _parts_values(parts: Parts, names: Sequence[str]) -> dict[str, Any]:
    """The parts; classes and images with a part of 0 are left out, and the largest come first.

    Args:
        parts: The parts.
        names: (I,) the names of the images.
    """

    def listed(positions: Any, values: Any, name: Any) -> list[dict[str, Any]]:
        return [{**name(at), "part": float(values[at])} for at in positions.tolist()]

    known, images = parts.categories, parts.image_ids
    return {
        "key": parts.key,
        "a": parts.a,
        "b": parts.b,
        "difference": parts.difference,
        "classes": listed(
            parts.largest_classes(len(known)),
            parts.classes,
            lambda at: {"id": int(known.ids[at]), "name": known.names[at]},
        ),
        "sizes": dict(parts.sizes),
        "kinds": None if parts.kinds is None else dict(parts.kinds),
        "images": listed(
            parts.largest_images(len(images)), parts.images, lambda at: {"id": images[at].item(), "name": names[at]}
        ),
        "objects": float(parts.objects.sum()),
        "false_positives": float(parts.false_positives.sum()),
        "spread": parts.spread,
    }
