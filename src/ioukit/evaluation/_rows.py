"""Where the rows of the data stand in a match table."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit.datasets import Detections, GroundTruth
from ioukit.evaluation.matching import MatchTable

__all__ = ["check_data", "frozen", "objects", "positions", "quotient"]

Positions = npt.NDArray[np.int64]


def check_data(table: MatchTable, ground_truth: GroundTruth, detections: Detections) -> None:
    """Refuses data that the table cannot have been made of."""
    got = (len(ground_truth), len(detections))
    if got != table.sources:
        raise ValueError(
            f"expected the data that the table was made of, {table.sources[0]:,} annotations and "
            f"{table.sources[1]:,} detections, got {got[0]:,} and {got[1]:,}"
        )


def positions(table: MatchTable, ground_truth: GroundTruth) -> tuple[Positions, Positions]:
    """(G,) and (G,): where the image and the category of each annotation stand in the table, -1 where not at all.

    With a class-agnostic protocol every category that takes part stands at 0.
    """
    image = _places(table.image_ids, ground_truth.image_ids)
    category = _places(table.category_ids, ground_truth.category_ids)
    if table.protocol.class_agnostic:
        category = np.minimum(category, 0)
    return image, category


def objects(table: MatchTable, ground_truth: GroundTruth, area: str) -> tuple[npt.NDArray[np.bool_], Positions]:
    """(G,) whether each annotation is evaluated and to be found, and (G,) its category in the table.

    To be found are those that are neither crowd nor outside the area range. The category is -1 where the annotation is
    not evaluated, whether it is to be found or not.
    """
    image, category = positions(table, ground_truth)
    category = np.where(image >= 0, category, -1)
    limits = table.protocol.area_ranges[table.protocol.position_of_area(area)]
    inside = (ground_truth.areas >= limits.low) & (ground_truth.areas <= limits.high)
    return (category >= 0) & ~ground_truth.crowd & inside, category


def quotient(numerator: npt.NDArray[Any], denominator: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Their quotient, NaN where the denominator is 0."""
    out: npt.NDArray[np.float64] = np.full(np.broadcast(numerator, denominator).shape, np.nan)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def frozen(**arrays: npt.NDArray[Any]) -> dict[str, Any]:
    """The arrays by name, which nobody can write any more."""
    for array in arrays.values():
        array.flags.writeable = False
    return arrays


def _places(ids: Positions, wanted: Positions) -> Positions:
    """Where each wanted id stands among rising ids, -1 where it is not there."""
    if not len(ids):
        return np.full(len(wanted), -1)
    places = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    return np.where(ids[places] == wanted, places, -1)
