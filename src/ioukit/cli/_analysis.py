"""`ioukit eval --errors`: why AP is lost, and at which score the detector works best."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ioukit.evaluation import Evaluation, OperatingPoint

__all__ = ["analyse", "analysis_table", "to_json"]


def analyse(evaluation: Evaluation, *, threads: int | None) -> dict[str, Any]:
    """The kinds of errors and the points of best F1 as plain Python values; ``None`` for undefined numbers.

    They are computed at the main IoU threshold and area range of the protocol: 0.5 and ``all``, if it has them.
    """
    from ioukit.evaluation.analysis.tide import BACKGROUND_THRESHOLD  # noqa: PLC0415 - `ioukit --help` does not need it

    iou, area = evaluation.protocol.main_iou, evaluation.protocol.main_area
    errors = evaluation.error_kinds(
        iou_threshold=iou, area_range=area, background_threshold=min(BACKGROUND_THRESHOLD, iou), threads=threads
    )
    curves = evaluation.score_curves(iou_threshold=iou, area_range=area)
    classes = zip(curves.categories.ids.tolist(), curves.categories.names, curves.per_class, strict=True)
    return {
        "iou_threshold": iou,
        "area": area,
        "background_threshold": errors.background_threshold,
        "ap": _defined(errors.ap),
        "errors": {
            kind: {"count": errors.counts.get(kind), "delta_ap": _defined(delta)}
            for kind, delta in errors.delta_ap.items()
        },
        "best_f1": _point(curves.overall.best),
        "best_f1_per_class": [{"id": number, "name": name, **_point(curve.best)} for number, name, curve in classes],
    }


def analysis_table(analysis: dict[str, Any]) -> str:
    """A line for each kind of error, the costliest first, and one for the best F1."""
    kinds = sorted(analysis["errors"].items(), key=lambda item: -(item[1]["delta_ap"] or 0))
    single = [(kind, found) for kind, found in kinds if found["count"] is not None]
    whole = [(f"every {kind.replace('_', ' ')}", found) for kind, found in kinds if found["count"] is None]
    rows = [("error", "count", "dAP")]
    for kind, found in [*single, *whole]:
        count = "" if found["count"] is None else f"{found['count']:,}"
        rows.append((kind, count, _number(found["delta_ap"])))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [f"{kind:{widths[0]}}  {count:>{widths[1]}}  {delta:>{widths[2]}}" for kind, count, delta in rows]
    best = analysis["best_f1"]
    lines.append(
        f"best F1 {_number(best['f1'])} at score {_number(best['score'])}: precision {_number(best['precision'])}, "
        f"recall {_number(best['recall'])}"
    )
    return "\n".join([f"at IoU {analysis['iou_threshold']:.2f}, AP {_number(analysis['ap'])}", *lines])


def to_json(evaluation: Evaluation, **sections: Any) -> str:
    """The evaluation as one JSON object, with the sections that are not empty under their names."""
    filled = {name: section for name, section in sections.items() if section}
    return json.dumps({**evaluation.to_dict(), **filled}, allow_nan=False) if filled else evaluation.to_json()


def _point(point: OperatingPoint) -> dict[str, Any]:
    return {name: _defined(value) for name, value in dataclasses.asdict(point).items()}


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
