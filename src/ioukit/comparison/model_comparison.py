"""The record of a comparison of several models."""

from __future__ import annotations

import json
from typing import Any

from ioukit._columns import Frozen, record
from ioukit.comparison.model_pair import ModelPair
from ioukit.comparison.model_values import changes_values, defined, parts_values
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

    @property
    def protocol(self) -> Protocol:
        """The rules."""
        return self.evaluations[0].protocol

    def text(self) -> str:
        """The comparison in words and tables, for a terminal."""
        lines = [repr(self)]
        for pair in self.pairs:
            lines += [f"{pair.name_a} and {pair.name_b}", f"  {pair.changes!r}", f"  {pair.parts!r}"]
        return "\n".join(lines)

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
                    "changes": changes_values(pair.changes),
                    "parts": None if pair.parts is None else parts_values(pair.parts),
                }
                for pair in self.pairs
            ],
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def __repr__(self) -> str:
        key = self.protocol.main_measure.key
        numbers = zip(self.names, self.evaluations, strict=True)
        return f"ModelComparison({', '.join(f'{name} {key}={one.summary[key]:.4f}' for name, one in numbers)})"
