"""`motmetrics.lap`: the pairs of rows and columns with the lowest sum of costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ioukit.overlap.one_to_one import assign_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ioukit._array_types import Ids

__all__ = ["available_solvers", "linear_sum_assignment", "set_default_solver"]

Solver: TypeAlias = Callable[[Any], tuple[Any, Any]]

available_solvers = ["lapsolver", "lap", "scipy", "munkres", "ortools"]
"""The names of py-motmetrics' solvers. Here all of them stand for one, which makes SciPy's choice."""
default_solver: str | Solver = "scipy"
"""What `linear_sum_assignment` uses without a ``solver``. Programs set it: ``mm.lap.default_solver = "lap"``."""


def linear_sum_assignment(costs: ArrayLike, solver: str | Solver | None = None) -> tuple[Ids, Ids]:
    """The pairs of rows and columns with the lowest sum of costs, as many as there can be.

    Args:
        costs: (N, M) costs. NaN and infinity are pairs that may not be.
        solver: A name of :data:`available_solvers`, or a function from costs to rows and columns.

    Returns:
        The rows of the pairs, ascending, and the column of each.

    Raises:
        AssertionError: If no solver has the name.
    """
    table = np.asarray(costs)
    if not table.size:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    chosen = solver or default_solver
    if isinstance(chosen, str):
        assert chosen in available_solvers, f"Invalid LAP solver {chosen!r}: expected one of {available_solvers}."
        return _pairs(table.astype(np.float64))
    rows, columns = chosen(table)
    return np.asarray(rows).astype(np.int64), np.asarray(columns).astype(np.int64)


@contextmanager
def set_default_solver(newsolver: str | Solver) -> Iterator[None]:
    """Use a solver for the length of a ``with`` block."""
    global default_solver  # noqa: PLW0603 - the original's interface
    before = default_solver
    default_solver = newsolver
    try:
        yield
    finally:
        default_solver = before


def _pairs(costs: Any) -> tuple[Ids, Ids]:
    allowed = np.isfinite(costs)
    if not allowed.any():
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    # Forbidden pairs get py-motmetrics' cost, not just any high one: which of two equal sums is found depends on it.
    # One such pair costs more than the worst choice without: 2 times the pairs times the highest cost.
    highest = np.abs(costs[allowed]).max() + 1
    rows, columns = assign_rows(np.where(allowed, costs, 2 * min(costs.shape) * highest + 1))
    kept = allowed[rows, columns]
    return rows[kept], columns[kept]
