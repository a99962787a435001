"""The record of a comparison of several models."""

from __future__ import annotations

import json
from typing import Any

from ioukit._columns import Frozen, record
from ioukit.comparison.markdown import comparison_markdown
from ioukit.comparison.model_pair import ModelPair, image_names
from ioukit.comparison.model_text import comparison_text
from ioukit.comparison.model_values import changes_values, defined, parts_values
from ioukit.comparison.ranking_models import Ranking
from ioukit.evaluation import Evaluation, Protocol

__all__ = ["ModelComparison"]


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
                {"name": name, "summary": {key: defined(value) for key, value in one.summary.items()}}
                for name, one in zip(self.names, self.evaluations, strict=True)
            ],
            "pairs": [
                {
                    "a": pair.name_a,
                    "b": pair.name_b,
                    "verdict": pair.verdict(),
                    "comparison": pair.comparison.to_dict(),
                    "changes": changes_values(pair.changes),
                    "parts": None if pair.parts is None else parts_values(pair.parts, image_names(pair.a)),
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
