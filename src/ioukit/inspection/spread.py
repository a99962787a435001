"""How values are spread: the numbers that tables and JSON show of a column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


_QUANTILES = {"minimum": 0.0, "p5": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95, "maximum": 1.0}


def spread(values: ArrayLike) -> dict[str, float | int | None]:
    """The number of values that are not NaN, their quantiles (linear, as NumPy's) and their mean.

    All but the number are ``None`` if there is no value.
    """
    column = np.asarray(values, np.float64)
    column = column[~np.isnan(column)]
    names = [*_QUANTILES, "mean"]
    if not len(column):
        return {"count": 0, **dict.fromkeys(names)}
    found = [*np.quantile(column, list(_QUANTILES.values())).tolist(), float(column.mean())]
    return {"count": len(column), **dict(zip(names, found, strict=True))}
