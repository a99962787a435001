"""What the figures read from an evaluation: thresholds, area ranges, and the chosen classes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ioukit._checks import check_result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ioukit.datasets import Categories
    from ioukit.evaluation import Curves, Evaluation, MatchTable, Protocol
    from ioukit.typing import FloatArray


Made = TypeVar("Made")

_MADE_BY = "ioukit.evaluate"

MOST_MODELS = 6
"""Models in one figure: as many as there are colours with dashes."""

MARKS = ("o", "s", "^", "D", "v", "P")
"""Their marks."""


def curves_of(evaluation: Evaluation | Curves) -> Curves:
    """The curves of an evaluation, or curves as they are."""
    from ioukit.evaluation import Curves  # noqa: PLC0415 - keeps `import ioukit.plots` fast

    return evaluation if isinstance(evaluation, Curves) else check_result(evaluation, "curves", _MADE_BY).curves


def models_of(evaluation: Evaluation | Curves | Mapping[str, Evaluation | Curves]) -> dict[str, Curves]:
    """The curves of models by their names; those of a single evaluation under an empty name.

    Raises:
        ValueError: If there are more than six models, or none, or their rules or classes differ.
    """
    named = evaluation if isinstance(evaluation, Mapping) else {"": evaluation}
    models = {str(name): curves_of(one) for name, one in named.items()}
    if not 1 <= len(models) <= MOST_MODELS:
        raise ValueError(f"expected one to {MOST_MODELS} models, got {len(models)}")
    first, *others = models.values()
    for name, one in zip(list(models)[1:], others, strict=True):
        if one.protocol != first.protocol or not np.array_equal(one.categories.ids, first.categories.ids):
            raise ValueError(f"{name!r} was evaluated by other rules or on other classes than {next(iter(models))!r}")
    return models


def table_of(evaluation: Evaluation | MatchTable) -> MatchTable:
    """The match table of an evaluation, or a table as it is."""
    from ioukit.evaluation import MatchTable  # noqa: PLC0415 - as above

    return evaluation if isinstance(evaluation, MatchTable) else check_result(evaluation, "matches", _MADE_BY).matches


def made_of(given: Made | Evaluation, has: str, made_by: str, make: Callable[[Evaluation], Made]) -> Made:
    """A result that a figure shows; if it is given an evaluation, what is made of it.

    Args:
        given: The result or an evaluation.
        has: An attribute that results of the right kind have, and others have not.
        made_by: The call that makes such a result.
        make: The same as a function.

    Raises:
        TypeError: If it is neither.
    """
    from ioukit.evaluation import Evaluation  # noqa: PLC0415 - as above

    return make(given) if isinstance(given, Evaluation) else check_result(given, has, made_by)


def operating_of(protocol: Protocol, iou_threshold: float | None, area_range: str | None) -> tuple[float, str]:
    """The chosen IoU threshold and area range; the protocol's main ones for ``None``.

    Raises:
        ValueError: If the protocol has no such threshold or area range.
    """
    at = protocol.position_of_iou(protocol.main_iou if iou_threshold is None else iou_threshold)
    area = protocol.position_of_area(protocol.main_area if area_range is None else area_range)
    return protocol.iou_thresholds[at], protocol.area_labels[area]


def average_precision(curves: Curves, rows: NDArray[np.intp], area_range: str) -> FloatArray:
    """(T, K) AP of some classes in an area range, with the protocol's main cap on detections."""
    protocol = curves.protocol
    area, cap = protocol.position_of_area(area_range), protocol.position_of_max_dets(protocol.main_max_dets)
    return curves.at("ap", area, cap)[:, rows]


def chosen(categories: Categories, classes: Sequence[int | str] | None) -> NDArray[np.intp]:
    """Positions of classes given by id or name, each once, in the given order; all for ``None`` and ``"all"``."""
    if classes is None or str(classes) == "all":
        return np.arange(len(categories))
    return np.array(list(dict.fromkeys(categories.positions(classes))), np.intp)


def mean_of_classes(values: FloatArray, axis: int, protocol: Protocol) -> FloatArray:
    """The mean over the classes that the protocol averages; NaN without a warning if there are none."""
    from ioukit.evaluation.summary import averaged  # noqa: PLC0415 - keeps `import ioukit.plots` fast

    values = averaged(values, protocol)
    defined = ~np.isnan(values)
    count = defined.sum(axis=axis)
    total = np.where(defined, values, 0.0).sum(axis=axis)
    found: FloatArray = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return found


def number(value: float, digits: int = 3) -> str:
    """A number as figures write it: a dash if it is undefined."""
    return "\N{EN DASH}" if math.isnan(value) else f"{value:.{digits}f}"


def score_limits(scores: FloatArray) -> tuple[float, float]:
    """The limits of an axis of scores: 0 and 1, if all scores lie within."""
    finite = scores[np.isfinite(scores)].astype(np.float64)
    low, high = float(finite.min(initial=np.inf)), float(finite.max(initial=-np.inf))
    if not finite.size or (low >= 0 and high <= 1):
        return 0.0, 1.0
    return (low, high) if low < high else (low - 0.5, high + 0.5)
