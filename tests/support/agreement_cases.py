"""Annotations of the same images by several people, to make pages of their agreement."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import GroundTruth, RotatedBoxes, read_coco
from ioukit.comparison import Agreement, agree
from support.evaluated_scenes import HARD_NAMES
from support.paths import DEMO, EXAMPLES
from support.report_cases import ATTACKS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy.typing as npt

__all__ = ["CASES", "annotators", "attacked_files", "eight", "four", "two"]

CLASSES = ("cat", "dog", "owl")
IMAGES = 30


def annotators(count: int, seed: int, classes: tuple[str, ...] = CLASSES, **options: Any) -> list[GroundTruth]:
    """Objects as several people draw them: moved, of another class, overlooked."""
    rng = np.random.default_rng(seed)
    objects = 90
    image, label = rng.integers(1, IMAGES + 1, objects), rng.integers(1, len(classes) + 1, objects)
    boxes = np.hstack([rng.uniform(0, 500, (objects, 2)), rng.uniform(40, 120, (objects, 2))])
    made = []
    for _ in range(count):
        kept = rng.random(objects) < 0.85
        given = np.where(rng.random(objects) < 0.8, label, rng.integers(1, len(classes) + 1, objects))
        made.append(_drawn(image[kept], given[kept], (boxes + rng.normal(0, 5, boxes.shape))[kept], classes, **options))
    return made


def _drawn(
    image: npt.NDArray[Any], label: npt.NDArray[Any], boxes: npt.NDArray[Any], classes: tuple[str, ...], **options: Any
) -> GroundTruth:
    columns: dict[str, Any] = {"boxes": boxes}
    if options.pop("rotated", False):
        turned = np.hstack([boxes[:, :2] + boxes[:, 2:] / 2, boxes[:, 2:], boxes[:, :1] % 90])
        columns = {"regions": RotatedBoxes(turned, unit="degrees", sense="clockwise")}
    return GroundTruth.from_arrays(
        image_ids=image,
        category_ids=label,
        images=np.arange(1, IMAGES + 1),
        sizes=np.full((IMAGES, 2), 640.0),
        categories=dict(enumerate(classes, 1)),
        **columns,
        **options,
    )


def two() -> Agreement:
    """Two people, and photographs that a folder may have."""
    return agree(dict(zip(("ann", "bob"), annotators(2, 1, names=_names()), strict=True)))


def _names() -> list[str]:
    return [f"{number:03}.jpg" for number in range(1, IMAGES + 1)]


def four() -> Agreement:
    """Four people, one of whom has a long name."""
    return agree(dict(zip(("ann", "bob", "eve " * 60, "dan"), annotators(4, 2), strict=True)))


def eight() -> Agreement:
    """More people than there are colours."""
    return agree(dict(zip("abcdefgh", annotators(8, 3), strict=True)))


def _same() -> Agreement:
    (one,) = annotators(1, 4)
    return agree({"ann": one, "bob": one})


def _nothing() -> Agreement:
    none = annotators(1, 4)[0].take(np.zeros(0, np.intp))
    return agree({"ann": none, "bob": none})


def _hard_names() -> Agreement:
    return agree(dict(zip(HARD_NAMES[:3], annotators(3, 5, HARD_NAMES), strict=True)))


def _rotated() -> Agreement:
    return agree(dict(zip(("ann", "bob"), annotators(2, 6, rotated=True), strict=True)), iou_type="rotated")


def _masks() -> Agreement:
    gt, _ = read_coco(DEMO / "gt.json", DEMO / "a.json")
    return agree({"ann": gt, "bob": gt.take(np.arange(len(gt)) % 3 > 0)}, iou_type="segm")


def _80_classes() -> Agreement:
    gt, _ = read_coco(EXAMPLES / "coco_val2017_100/ground_truth.json", EXAMPLES / "coco_val2017_100/yolact.json")
    other = gt.take(np.arange(len(gt)) % 7 > 0)
    given = np.where(np.arange(len(other)) % 5 > 0, other.category_ids, np.roll(other.category_ids, 1))
    return agree({"ann": gt, "bob": dataclasses.replace(other, category_ids=given)})


def attacked_files(folder: Path) -> dict[str, Path]:
    """Two files by two names. Every name of a class, an image, a file or a person is an attack."""
    boxes = [[10.0 * k, 10.0, 40.0, 40.0] for k in range(len(ATTACKS))]
    content: dict[str, Any] = {
        "images": [{"id": k, "file_name": name, "width": 400, "height": 300} for k, name in enumerate(ATTACKS, 1)],
        "categories": [{"id": k, "name": name} for k, name in enumerate(ATTACKS, 1)],
    }
    files = folder / "<img src=x onerror=pwned=8> {{7*7}}.json", folder / "'\"><script>pwned=9<\u2215script>.json"
    for turn, path in enumerate(files):
        content["annotations"] = [
            {
                "id": k,
                "image_id": k,
                "category_id": (k + turn * (k % 2)) % len(ATTACKS) + 1,
                "bbox": [box[0] + 100 * turn * (k % 3 == 0), *box[1:]],
                "area": 1600,
                "iscrowd": 0,
            }
            for k, box in enumerate(boxes, 1)
        ]
        path.write_text(json.dumps(content), encoding="utf-8")
    return dict(zip(ATTACKS[:2], files, strict=True))


CASES: dict[str, Callable[[], Agreement]] = {
    "two": two,
    "four": four,
    "eight": eight,
    "same": _same,
    "nothing": _nothing,
    "hard names": _hard_names,
    "rotated": _rotated,
    "masks": _masks,
    "80 classes": _80_classes,
}
"""Functions that make agreements, by their special property."""
