"""Were two match tables made alike?"""

from __future__ import annotations

import numpy as np

from ioukit.evaluation import MatchTable

__all__ = ["check_alike"]


def check_alike(a: MatchTable, b: MatchTable) -> None:
    """Check that two tables have the same rules, categories, images and objects.

    Raises:
        ValueError: If they do not.
    """
    same = {
        "protocols": a.protocol == b.protocol,
        "kinds of regions": a.iou_type == b.iou_type,
        "categories": np.array_equal(a.categories.ids, b.categories.ids),
        "images": np.array_equal(a.image_ids, b.image_ids),
        "objects": np.array_equal(a.objects.id, b.objects.id) and np.array_equal(a.objects.image, b.objects.image),
    }
    different = [what for what, is_same in same.items() if not is_same]
    if different:
        raise ValueError(f"A and B were not evaluated on the same ground truth: they have other {different[0]}")
