"""What never changes while the viewer runs: names, ranges and counts, for the page's controls."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.evaluation import ERROR_KINDS

if TYPE_CHECKING:
    from ioukit.viewer.answers.collection import Collection
    from ioukit.viewer.answers.values import Value
    from ioukit.viewer.marking.noted_marks import Noting

__all__ = ["described"]


def described(collection: Collection, noting: Noting) -> dict[str, Any]:
    """The title, the models, classes, images, thresholds and columns of a collection, as JSON holds them."""
    table, protocol = collection.table, collection.protocol
    objects = np.bincount(table.objects.category, minlength=len(collection.categories)).tolist()
    classes = zip(collection.class_keys, objects, strict=True)
    first = collection.models[0] if collection.models else None
    return {
        "title": Path(collection.ground_truth.source).name or "Ground truth",
        "kind": table.iou_type,
        "models": [model.name for model in collection.models],
        "classes": [{"name": name, "objects": count} for name, count in classes],
        "images": len(table.image_ids),
        "iou_thresholds": list(map(float, protocol.iou_thresholds)),
        "default": {
            "at_score": first.best_score if first is not None else None,
            "at_scores": [model.best_score for model in collection.models],
            "at_iou": float(protocol.main_iou),
        },
        "score_range": list(collection.score_range),
        "areas": [{"name": name, "low": low, "high": _finite(high)} for name, low, high in collection.area_ranges],
        "errors": list(ERROR_KINDS),
        "flags": list(collection.flags),
        "columns": [_column(value) for value in collection.values.values()],
        "issues": None if collection.issues is None else list(collection.issues.kinds),
        "photographs": collection.folder is not None,
        "notes": noting.notes.name,
    }


def _column(value: Value) -> dict[str, Any]:
    made: dict[str, Any] = {"name": value.name, "of": "image" if value.of == "image" else "mark"}
    made["numeric"] = value.numeric
    if not value.numeric:
        return made | {"low": None, "high": None, "values": list(value.texts or ())}
    low, high = value.ends()
    return made | {"low": _finite(low), "high": _finite(high), "values": None}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
