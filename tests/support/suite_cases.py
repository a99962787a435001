"""Suites of small data sets, to make pages of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import Detections, GroundTruth, evaluate
from ioukit.comparison import Suite, evaluate_suite
from support.evaluated_scenes import HARD_NAMES
from support.report_cases import drawn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ioukit import Evaluation

__all__ = ["CASES", "four", "models_on", "two"]

FEW: dict[str, Any] = {"replicates": 30, "permutations": 400}


def models_on(seed: int, names: Sequence[str]) -> dict[str, Evaluation]:
    """Models of which each has fewer detections than the one before."""
    whole = drawn(90, ["cat", "dog"], seed=seed)
    truth, found = whole.ground_truth, whole.detections
    assert truth is not None
    assert found is not None
    kept = np.random.default_rng(seed).random(len(found))
    return {name: evaluate(truth, found[kept < 1 - at / len(names)]) for at, name in enumerate(names)}


def _suite(sets: Sequence[str], names: Sequence[str], **options: Any) -> Suite:
    made = {name: models_on(seed, names) for seed, name in enumerate(sets)}
    return evaluate_suite(made, **{**FEW, **options})


def two() -> Suite:
    """Two models on three data sets."""
    return _suite(("aquarium", "potholes", "road"), ("base", "fewer"))


def four() -> Suite:
    """Four models, one of which has a long name, on a dozen data sets."""
    names = ("base", "a-name-of-a-model-with-its-date-2026-11-29-" * 4, "half", "least")
    return _suite([f"set {at}" for at in range(12)], names)


def _hard_names() -> Suite:
    return _suite(HARD_NAMES[:3], HARD_NAMES[3:])


def _undefined() -> Suite:
    """A data set without objects, on which no number is defined."""
    nothing: dict[str, Any] = {"image_ids": [], "category_ids": [], "boxes": np.zeros((0, 4))}
    truth = GroundTruth.from_arrays(**nothing, images=[1, 2], categories={1: "cat"})
    empty = evaluate(truth, Detections.from_arrays(**nothing, scores=[]))
    names = ("base", "fewer")
    return evaluate_suite({"road": models_on(0, names), "empty": dict.fromkeys(names, empty)}, **FEW)


CASES: dict[str, Callable[[], Suite]] = {
    "two": two,
    "four": four,
    "hard names": _hard_names,
    "undefined": _undefined,
    "one model": lambda: _suite(("aquarium", "road"), ("base",)),
    "no tests": lambda: _suite(("aquarium", "road"), ("base", "fewer"), replicates=0),
    "equal": lambda: evaluate_suite({"road": dict.fromkeys(("base", "same"), models_on(1, "a")["a"])}, **FEW),
}
"""Functions that make suites, by their special property."""
