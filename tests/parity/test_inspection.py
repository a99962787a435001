"""What a data set holds, against pycocotools: its lists of annotations, its IoU of boxes, its areas of masks."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from pycocotools import mask as mask_utils
from pycocotools.coco import COCO

from ioukit import GroundTruth, Inspection, inspect
from parity.random_masks import random_mask_case
from parity.reference import silenced
from support.paths import DATA, EXAMPLES, load

if TYPE_CHECKING:
    from pathlib import Path

CHUNK = 50


def check(held: Inspection, data: dict[str, Any]) -> None:
    coco = COCO()
    coco.dataset = copy.deepcopy(data)
    with silenced():
        coco.createIndex()
    gt = held.ground_truth
    images, categories = gt.images.ids.tolist(), gt.categories.ids.tolist()
    assert held.objects_per_image.tolist() == [len(coco.getAnnIds(imgIds=[image])) for image in images]
    assert held.objects_per_class.tolist() == [len(coco.getAnnIds(catIds=[label])) for label in categories]
    assert held.images_per_class.tolist() == [len(coco.getImgIds(catIds=[label])) for label in categories]
    together = {(categories[a], categories[b]): count for a, b, count in held.pairs_of_classes()}
    for (one, other), count in together.items():
        assert len(coco.getImgIds(catIds=[one, other])) == count
    expected = {"any": np.zeros(len(gt)), "same": np.zeros(len(gt))}
    single = ~gt.crowd
    for image in images:
        rows = np.flatnonzero((gt.image_ids == image) & single)
        boxes = gt.boxes[rows]
        if not len(rows):
            continue
        table = np.array(mask_utils.iou(boxes, boxes, [0] * len(rows)))
        np.fill_diagonal(table, 0)
        same = gt.category_ids[rows][:, np.newaxis] == gt.category_ids[rows]
        for name, values in (("any", table), ("same", np.where(same, table, 0))):
            expected[name][rows] = np.nan_to_num(values).max(axis=1)  # pycocotools divides 0 by 0
    for name, overlaps in (("any", held.overlaps), ("same", held.overlaps_of_class)):
        np.testing.assert_allclose(overlaps, np.where(single, expected[name], np.nan), rtol=1e-12)
    with_masks = {values.column: values for values in held.regions}.get("segmentations")
    if with_masks is None:
        return
    for row, number in enumerate(gt.ids.tolist()):
        with silenced():
            runs = coco.annToRLE(coco.anns[number])
        width, height = mask_utils.toBbox(runs)[2:].tolist()
        area = int(mask_utils.area(runs))
        assert with_masks.present[row] == (area > 0)
        if area:
            assert with_masks.values["box_share"][row] == area / (width * height)


@pytest.mark.parametrize(
    "path",
    [DATA / "coco_val2014_100" / "instances_val2014_100.json", EXAMPLES / "coco_val2017_100" / "ground_truth.json"],
    ids=lambda path: path.parent.name,
)
def test_a_hundred_images(path: Path) -> None:
    check(inspect(path), load(path))


@pytest.mark.parametrize("first", range(0, 300, CHUNK))
def test_random_data_sets_with_masks(first: int) -> None:
    for seed in range(first, first + CHUNK):
        data, _ = random_mask_case(seed)
        check(inspect(GroundTruth.from_coco(copy.deepcopy(data))), data)
