"""`evaluate` takes columns, paths and records, and lists of ids and names; what else it is given is refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import Boxes, DatasetError, Detections, GroundTruth, evaluate
from support.paths import write_coco

if TYPE_CHECKING:
    from collections.abc import Callable

PERSON = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 5, 5]}
CAR = {"image_id": 4, "category_id": 2, "bbox": [2, 2, 9, 5]}
GT: dict[str, Any] = {
    "images": [{"id": 1}, {"id": 4}],
    "categories": [{"id": 1, "name": "person"}, {"id": 2, "name": "car"}],
    "annotations": [{**box, "id": number, "area": 25, "iscrowd": 0} for number, box in enumerate((PERSON, CAR), 7)],
}
DT: list[dict[str, Any]] = [{**PERSON, "score": 0.5}, {**CAR, "bbox": [2, 2, 9, 4], "score": 0.25}]
EXPECTED = evaluate(GroundTruth.from_coco(GT), Detections.from_coco(DT)).to_dict()


def test_columns_paths_and_records_give_the_same(tmp_path: Path) -> None:
    gt_path, dt_path = write_coco(tmp_path, GT, DT)
    rows = np.array([[record["image_id"], *record["bbox"], record["score"], record["category_id"]] for record in DT])
    truths: list[Any] = [GroundTruth.from_coco(GT), GT, gt_path, str(gt_path)]
    found: list[Any] = [Detections.from_coco(DT), DT, tuple(DT), rows, dt_path, str(dt_path)]
    for gt in truths:
        for dt in found:
            assert evaluate(gt, dt).to_dict() == EXPECTED


def test_images_and_categories_are_chosen_by_lists() -> None:
    for categories in (["person"], ("person",), [1], np.array([1]), np.array(["person"])):
        chosen = evaluate(GT, DT, categories=categories)  # type: ignore[arg-type]
        assert [one.name for one in chosen.per_class] == ["person"]
        assert chosen.counts["detections"] == 1
    both = evaluate(GT, DT, categories=["car", 1]).per_class
    assert [one.name for one in both] == ["person", "car"]
    for images in ([4], (4,), np.array([4])):
        assert evaluate(GT, DT, images=images).counts["images"] == 1


REFUSED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "lists of dictionaries": (
        lambda: evaluate([GT], [DT]),  # type: ignore[arg-type, list-item]
        TypeError,
        "ground_truth must be GroundTruth, .*, got list: lists with a dict per image go to ioukit.Evaluator",
    ),
    "swapped": (lambda: evaluate(DT, GT), TypeError, "ground_truth must be .*, got list"),  # type: ignore[arg-type]
    "ground truth twice": (
        lambda: evaluate(GT, GT),  # type: ignore[arg-type]
        TypeError,
        r"detections must be Detections, a path, a table, a list of records or an \(N, 7\) array, got dict: Detections",
    ),
    "boxes": (lambda: evaluate(GT, Boxes([[0, 0, 1, 1]])), TypeError, "got Boxes"),  # type: ignore[arg-type]
    "nothing": (lambda: evaluate(None, DT), TypeError, "got NoneType"),  # type: ignore[arg-type]
    "a generator": (lambda: evaluate(GT, iter(DT)), TypeError, "got list_iterator"),  # type: ignore[arg-type]
    "bytes": (lambda: evaluate(b"gt.json", DT), TypeError, "got bytes"),  # type: ignore[arg-type]
    "an empty mapping": (lambda: evaluate({}, DT), DatasetError, "images: expected an array, found no such key"),
    "a missing file": (lambda: evaluate(Path("none.json"), DT), FileNotFoundError, "none.json"),
    "one category": (
        lambda: evaluate(GT, DT, categories="person"),
        TypeError,
        r"expected a list of category ids or names, got 'person'; write \['person'\]",
    ),
    "a near name": (
        lambda: evaluate(GT, DT, categories=["persn"]),
        ValueError,
        "no category has the name 'persn'; did you mean 'person'",
    ),
    "an unknown id": (lambda: evaluate(GT, DT, categories=[3]), ValueError, "no category has the id 3"),
    "one image": (
        lambda: evaluate(GT, DT, images=1),  # type: ignore[arg-type]
        TypeError,
        "expected a list of image ids, got 1",
    ),
    "images by name": (lambda: evaluate(GT, DT, images=["1"]), TypeError, "image ids of this data set are integers"),
    "an unknown image": (lambda: evaluate(GT, DT, images=[3]), ValueError, "no image has the id 3"),
    "images that are strings on one side": (
        lambda: evaluate(GT, Detections.from_arrays(image_ids=["a"], category_ids=[1], boxes=[[0] * 4], scores=[1])),
        DatasetError,
        r"detections: detections\[0\].image_id: expected the id or the file name of an image of .*, found 'a'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_none_of_these_is_refused(name: str) -> None:
    call, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        call()
