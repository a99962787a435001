"""Two evaluations of one ground truth, and what the check says about all others."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ioukit import GroundTruth, evaluate
from ioukit.evaluation import COCO, Evaluation
from ioukit.evaluation._same_scene import check_same_ground_truth
from support.region_cases import evaluated
from support.two_models import ground_truth, model


def changed(truth: GroundTruth, **columns: Any) -> Evaluation:
    """An evaluation of the same detections on other ground truth."""
    source: dict[str, Any] = {
        "image_ids": truth.image_ids, "category_ids": truth.category_ids, "boxes": truth.boxes, "areas": truth.areas,
        "ids": truth.ids, "crowd": truth.crowd, "images": truth.images.ids,
        "categories": {1: "car", 2: "cat", 3: "owl"},
    }  # fmt: skip
    made = GroundTruth.from_arrays(**(source | columns))
    found = model(truth, 1)
    inside = np.isin(found.image_ids, made.images.ids) & np.isin(found.category_ids, made.categories.ids)
    return evaluate(made, found.take(inside))


TRUTH = ground_truth(0)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda: changed(TRUTH, images=[*TRUTH.images.ids.tolist(), 99, 100]),
         "A has 12 images and B has 14; image 99 is in B alone, and 1 other image"),
        (lambda: changed(TRUTH, categories={1: "car", 2: "cat", 3: "fox"}),
         r"the category 'owl' \(id 3\) is in A alone"),
        (lambda: changed(TRUTH, categories={1: "car", 2: "cat", 3: "owl", 4: "fox"}), r"'fox' \(id 4\) is in B alone"),
        (lambda: changed(TRUTH, ids=TRUTH.ids + (TRUTH.ids == 2) * 100), "the first difference: object .* is object "),
        (lambda: changed(TRUTH, crowd=~TRUTH.crowd),
         "has another area, crowd flag or flag to ignore it in B than in A"),
        (lambda: changed(TRUTH, boxes=TRUTH.boxes + np.array([0, 0, 1, 0])),
         r"the box of object .* is \[.*\] in A and \[.*\] in B"),
    ],
)  # fmt: skip
def test_other_ground_truth_is_refused(other: Any, message: str) -> None:
    one = changed(TRUTH)
    check_same_ground_truth(one, changed(TRUTH))  # equal copies are not refused
    with pytest.raises(ValueError, match=f"A and B were not evaluated on the same ground truth: .*{message}"):
        check_same_ground_truth(one, other())


def test_other_kinds_of_ids_and_missing_objects_are_refused() -> None:
    rows = np.arange(len(TRUTH)) != len(TRUTH) - 1
    fewer = changed(TRUTH.take(rows))
    with pytest.raises(ValueError, match=r"A has \d+ objects and B has \d+; the first difference: object \d+ "):
        check_same_ground_truth(changed(TRUTH), fewer)
    named = GroundTruth.from_arrays(image_ids=["a", "b"], category_ids=[1, 1], boxes=[[0, 0, 9, 9]] * 2)
    numbered = GroundTruth.from_arrays(image_ids=[1, 2], category_ids=[1, 1], boxes=[[0, 0, 9, 9]] * 2)
    with pytest.raises(ValueError, match="image ids are strings in A and integers in B"):
        check_same_ground_truth(*(evaluate(truth, model(truth, 0)[:0]) for truth in (named, numbered)))


def test_other_groups_of_categories_are_refused() -> None:
    def of(frequency: str) -> Evaluation:
        groups = {"frequency": np.array(list(frequency))}
        truth = dataclasses.replace(TRUTH, categories=dataclasses.replace(TRUTH.categories, attributes=groups))
        return evaluate(truth, model(truth, 1), COCO.replace(category_groups="frequency"))

    check_same_ground_truth(of("rcf"), of("rcf"))
    with pytest.raises(ValueError, match="the frequency of their categories differs"):
        check_same_ground_truth(of("rcf"), of("rff"))


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            lambda: evaluate(TRUTH, model(TRUTH, 1), COCO.replace(max_dets=[1, 10, 50])),
            r"their protocols differ: max_dets is \[1, 10, 100\] in A and \[1, 10, 50\] in B",
        ),
        (lambda: evaluated("segm"), "the kind of region is 'bbox' in A and 'segm' in B"),
    ],
)
def test_other_rules_are_not_called_another_ground_truth(other: Callable[[], Evaluation], message: str) -> None:
    with pytest.raises(ValueError, match=f"^A and B were not evaluated by the same rules: {message}$"):
        check_same_ground_truth(changed(TRUTH), other())


def test_the_message_has_the_names_of_the_models() -> None:
    other = evaluate(TRUTH, model(TRUTH, 1), COCO.replace(class_agnostic=True))
    with pytest.raises(
        ValueError, match=r"old.json and new.json were .*class_agnostic is False in old.json and True in"
    ):
        check_same_ground_truth(changed(TRUTH), other, names=("old.json", "new.json"))
