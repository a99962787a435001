"""A pair of models in plain Python values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ioukit.comparison.change_records import Changes
from ioukit.comparison.part_records import Parts

__all__ = ["changes_values", "defined", "parts_values"]


def defined(value: float) -> float | None:
    """The number; ``None`` if it is NaN or infinite."""
    return float(value) if math.isfinite(value) else None


def changes_values(changes: Changes) -> dict[str, Any]:
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
        "score_thresholds": [defined(score) for score in changes.score_thresholds],
        "placement": changes.placement,
        "paired_by": changes.paired_by,
        "counts": dict(changes.counts),
        "classes": classes,
    }


def parts_values(parts: Parts, names: Sequence[str]) -> dict[str, Any]:
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
