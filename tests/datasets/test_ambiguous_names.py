"""Names that do not say which image or class is meant are refused by the operations on data sets."""

from __future__ import annotations

import pytest

from ioukit import datasets
from ioukit.datasets import Detections, GroundTruth

BOX = [[0, 0, 1, 1]]


def truth(*files: str, names: tuple[str, str] = ("cat", "dog")) -> GroundTruth:
    return GroundTruth.from_coco(
        {
            "images": [{"id": k, "width": 9, "height": 9, "file_name": name} for k, name in enumerate(files)],
            "categories": [{"id": k, "name": name} for k, name in enumerate(names, start=1)],
            "annotations": [],
        }
    )


def test_images_are_chosen_by_names_of_their_own() -> None:
    gt = truth("a/x.jpg", "b/x.jpg", "b/y.jpg")
    assert datasets.subset(gt, images=["b/x.jpg", "y"]).images.ids.tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"2 images have the name 'x.jpg': choose them by id"):
        datasets.subset(gt, images=["x.jpg"])
    with pytest.raises(TypeError, match=r"expected a list of images, got 'y.jpg'; write \['y.jpg'\]"):
        datasets.subset(gt, images="y.jpg")


def test_classes_are_joined_by_names_of_their_own() -> None:
    twice = truth("a.jpg", names=("cat", "cat"))
    with pytest.raises(ValueError, match="two classes of a data set have the name 'cat': join classes by id"):
        datasets.merge([twice, truth("b.jpg")])
    assert len(datasets.merge([twice, twice], classes="by-id", duplicates="join").categories) == 2


def test_detections_belong_to_the_data_sets() -> None:
    gt = truth("a.jpg")
    dt = Detections.from_arrays(image_ids=[0], category_ids=[7], boxes=BOX, scores=[1])
    with pytest.raises(ValueError, match="expected detections for 2 data sets, got 1"):
        datasets.merge_detections([dt], [gt, gt])
    with pytest.raises(ValueError, match="no category has the id 7"):
        datasets.remap_detections(dt, {"cat": "dog"}, gt.categories)
