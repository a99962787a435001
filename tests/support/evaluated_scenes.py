"""Evaluations to draw: with few and with many classes, empty, of one image, with names that are hard to show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import Detections, GroundTruth, evaluate, read_coco
from support.paths import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ioukit.evaluation import Evaluation

HARD_NAMES = (
    "a name that goes on and on " * 7 + "and ends here",
    "$x_{unclosed$ \\alpha $",
    "<script>alert('1')</script> & \"both\"",
    "_hidden from legends",
    "two\nlines\tand \N{DOG} \N{CJK UNIFIED IDEOGRAPH-72D7}",
    "$\\mathrm{valid}$",
)
SIZES = ((640, 480), (480, 640), (800, 300))


def made(
    names: Sequence[str] = ("cat", "dog", "person"),
    *,
    images: int = 9,
    seed: int = 0,
    objects: bool = True,
    detections: bool = True,
) -> Evaluation:
    """Random objects, most of them found, and detections on background; a few crowds."""
    rng = np.random.default_rng(seed)
    truth: dict[str, list[Any]] = {
        "images": [],
        "annotations": [],
        "categories": [{"id": k + 1, "name": name} for k, name in enumerate(names)],
    }
    found: list[dict[str, Any]] = []
    for image in range(1, images + 1):
        width, height = SIZES[image % 3]
        truth["images"].append({"id": image, "width": width, "height": height, "file_name": f"{image}.png"})

        def box(part: float, width: int = width, height: int = height) -> list[float]:
            w, h = rng.uniform(10, part * width), rng.uniform(10, part * height)
            return [float(rng.uniform(0, width - w)), float(rng.uniform(0, height - h)), float(w), float(h)]

        for _ in range(int(rng.integers(1, 8)) if objects else 0):
            x, y, w, h = box(0.5)
            label, crowd = int(rng.integers(len(names))) + 1, int(rng.random() < 0.08)
            truth["annotations"].append(
                {"id": len(truth["annotations"]) + 1, "image_id": image, "category_id": label, "bbox": [x, y, w, h],
                 "area": w * h, "iscrowd": crowd}
            )  # fmt: skip
            if rng.random() < 0.8:
                said = label if rng.random() < 0.85 else int(rng.integers(len(names))) + 1
                moved = [x + 0.05 * w * rng.normal(), y + 0.05 * h * rng.normal(), w * rng.uniform(0.85, 1.15), h]
                found.append(
                    {
                        "image_id": image,
                        "category_id": said,
                        "bbox": [*map(float, moved)],
                        "score": float(rng.beta(5, 2)),
                    }
                )
        for _ in range(int(rng.integers(0, 5))):
            label = int(rng.integers(len(names))) + 1
            found.append({"image_id": image, "category_id": label, "bbox": box(0.3), "score": float(rng.beta(2, 5))})
    return evaluate(GroundTruth.from_coco(truth), Detections.from_coco(found if detections else []))


def coco() -> Evaluation:
    """Eighty classes, twelve of them without objects, on a hundred images."""
    folder = EXAMPLES / "coco_val2017_100"
    return evaluate(*read_coco(folder / "ground_truth.json", folder / "yolact.json"))


SCENES: dict[str, Callable[[], Evaluation]] = {
    "three classes": made,
    "eighty classes": coco,
    "hard names": lambda: made(HARD_NAMES),
    "no detections": lambda: made(detections=False),
    "no objects": lambda: made(objects=False),
    "neither": lambda: made(objects=False, detections=False),
    "one image": lambda: made(images=1, seed=3),
    "no images": lambda: made(images=0),
    "one class": lambda: made(["only"]),
    "no classes": lambda: made([], images=0),
}
