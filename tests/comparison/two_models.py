"""Random small sets with two models: crowds, classes without objects, equal scores, detections of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - loads the profile that allows for a busy machine
from ioukit import Detections, GroundTruth

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["TwoModels", "two_models"]


class TwoModels(NamedTuple):
    """A ground truth and the detections of two models."""

    truth: GroundTruth
    a: Detections
    b: Detections


@st.composite
def two_models(draw: st.DrawFn) -> TwoModels:
    """Up to five images and three classes; some detections are in both models."""
    return drawn(draw(st.integers(0, 2**32 - 1)))


def drawn(seed: int) -> TwoModels:
    """The sets of one seed."""
    rng = np.random.default_rng(seed)
    images, classes = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    count = int(rng.integers(0, 14))
    boxes = _boxes(rng, count)
    truth = GroundTruth.from_arrays(
        image_ids=rng.integers(1, images + 1, count),
        category_ids=rng.integers(1, classes + 1, count),
        boxes=boxes,
        crowd=rng.random(count) < 0.1,
        images=list(range(1, images + 1)),
        categories={number: f"class {number}" for number in range(1, classes + 2)},
    )
    shared = _detections(rng, truth, classes)
    keep = [rng.random(len(shared["scores"])) < rng.choice([0.3, 0.8, 1.0]) for _ in range(2)]
    models = [
        _joined([{name: column[kept] for name, column in shared.items()}, _detections(rng, truth, classes)])
        for kept in keep
    ]
    return TwoModels(truth, *models)


def _boxes(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    sides = rng.choice([6.0, 20.0, 60.0, 150.0], (count, 1)) * rng.uniform(0.7, 1.4, (count, 2))
    return np.concatenate([rng.uniform(0, 40, (count, 2)), sides], axis=1)


def _detections(rng: np.random.Generator, truth: GroundTruth, classes: int) -> dict[str, NDArray[Any]]:
    """Objects, some of them shifted or of another class, and boxes anywhere."""
    found = rng.integers(0, len(truth), int(rng.integers(0, 10))) if len(truth) else np.zeros(0, np.int64)
    boxes = truth.boxes[found]
    boxes = boxes + rng.choice([0.0, 0.02, 0.2], (len(found), 1)) * rng.normal(0, 1, boxes.shape) * boxes[:, 2:].repeat(
        2, 1
    )
    boxes[:, 2:] = np.abs(boxes[:, 2:]) + 1
    other = int(rng.integers(0, 5))
    labels = np.where(
        rng.random(len(found)) < 0.85, truth.category_ids[found], rng.integers(1, classes + 2, len(found))
    )
    images = truth.images.ids
    return {
        "image_ids": np.concatenate([truth.image_ids[found], rng.choice(images, other)]),
        "category_ids": np.concatenate([labels, rng.integers(1, classes + 2, other)]),
        "boxes": np.concatenate([boxes, _boxes(rng, other)]),
        "scores": rng.integers(1, 12, len(found) + other) / 12,
    }


def _joined(parts: list[dict[str, NDArray[Any]]]) -> Detections:
    columns: dict[str, Any] = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return Detections.from_arrays(**columns)
