"""What a data set holds, counted slowly with plain Python: the oracle of `ioukit.inspection.inspect`."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ioukit.datasets import GroundTruth

__all__ = ["plain_inspection"]


def plain_inspection(gt: GroundTruth, cells: int) -> dict[str, Any]:
    """The numbers of each object, of each image and of each class, with boxes alone."""
    objects = [
        {"image": image, "class": label, "box": box, "area": area, "single": not (crowd or group)}
        for image, label, box, area, crowd, group in zip(
            gt.image_ids.tolist(), gt.category_ids.tolist(), gt.boxes.tolist(), gt.areas.tolist(),
            gt.flag("crowd").tolist(), gt.flag("group_of").tolist(), strict=True,
        )
    ]  # fmt: skip
    sizes = dict(zip(gt.images.ids.tolist(), gt.images.sizes.tolist(), strict=True))
    positions = [[0] * cells for _ in range(cells)]
    outside = 0
    for one in objects:
        x, y, width, height = one["box"]
        across, down = sizes[one["image"]]
        one["side"] = math.sqrt(one["area"])
        one["ratio"] = width / height if width > 0 and height > 0 else None
        one["size"] = "small" if one["area"] < 1024 else "medium" if one["area"] < 9216 else "large"
        one["share"] = None
        if across > 0 and down > 0:
            one["share"] = width * height / (across * down)
            column, row = (x + width / 2) / across, (y + height / 2) / down
            if 0 <= column <= 1 and 0 <= row <= 1:
                positions[min(int(row * cells), cells - 1)][min(int(column * cells), cells - 1)] += 1
            else:
                outside += 1
    for k, one in enumerate(objects):
        others = [other for j, other in enumerate(objects) if j != k and other["image"] == one["image"]]
        others = [other for other in others if other["single"]]
        for name, chosen in (("any", others), ("same", [other for other in others if other["class"] == one["class"]])):
            one[name] = max((iou(one["box"], other["box"]) for other in chosen), default=0.0) if one["single"] else None
    shown = {number: {one["class"] for one in objects if one["image"] == number} for number in sizes}
    together: dict[tuple[int, int], int] = {}
    for classes in shown.values():
        for pair in combinations(sorted(classes), 2):
            together[pair] = together.get(pair, 0) + 1
    return {
        "objects": objects,
        "positions": positions,
        "outside": outside,
        "per_image": [sum(one["image"] == number for one in objects) for number in sizes],
        "per_class": [sum(one["class"] == number for one in objects) for number in gt.categories.ids.tolist()],
        "images_per_class": [
            sum(number in classes for classes in shown.values()) for number in gt.categories.ids.tolist()
        ],
        "together": together,
    }


def iou(one: list[float], other: list[float]) -> float:
    """IoU of two boxes, x, y, width, height."""
    (x1, y1, w1, h1), (x2, y2, w2, h2) = one, other
    across = min(x1 + w1, x2 + w2) - max(x1, x2)
    down = min(y1 + h1, y2 + h2) - max(y1, y2)
    shared = max(across, 0.0) * max(down, 0.0)
    return shared / (w1 * h1 + w2 * h2 - shared) if shared else 0.0
