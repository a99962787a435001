"""Ratios of counts that may be zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def quotient(numerator: npt.NDArray[Any], denominator: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """The quotient, NaN where the denominator is 0."""
    out: npt.NDArray[np.float64] = np.full(np.broadcast(numerator, denominator).shape, np.nan)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out
