"""The jackknife beside its definition: every data set without one image, evaluated."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ioukit
from evaluation.loop_batches import data_of_images, random_images
from ioukit.statistics import jackknife


@pytest.mark.parametrize("seed", range(4))
def test_leaves_each_cluster_out(seed: int) -> None:
    gt, dt = data_of_images(random_images(seed, 9, dtype=np.float64))
    evaluation = ioukit.evaluate(gt, dt)
    clusters = np.arange(9) // 2
    found = jackknife(evaluation, ["AP", "AR10", f"AP50/{evaluation.per_class[0].name}"], clusters=clusters)
    left = []
    for cluster in range(5):
        kept = gt.images.ids[clusters != cluster]
        part = ioukit.evaluate(gt.filter(images=kept), dt.filter(images=kept), categories=gt.categories.ids.tolist())
        left.append([part.summary["AP"], part.summary["AR10"], part.per_class[0].summary["AP50"]])
    for one, every in zip(found.values(), np.array(left).T, strict=True):
        column = every[~np.isnan(every)]
        assert one.num_clusters == len(column)
        assert one.bias == pytest.approx((len(column) - 1) * (column.mean() - one.value), abs=1e-12)
        assert one.standard_error == pytest.approx(np.std(column) * math.sqrt(len(column) - 1), abs=1e-12)


def test_of_a_mean_it_is_the_standard_error_of_the_mean() -> None:
    boxes = [[0.0, 0, 9, 9]] * 40
    found = np.random.default_rng(0).random(40) < 0.7
    gt = ioukit.GroundTruth.from_arrays(image_ids=np.arange(40), category_ids=np.ones(40, int), boxes=boxes)
    rows = np.flatnonzero(found)
    ones = np.ones(len(rows), int)
    dt = ioukit.Detections.from_arrays(
        image_ids=rows, category_ids=ones, boxes=boxes[: len(rows)], scores=np.linspace(0, 1, len(rows))
    )
    one = jackknife(ioukit.evaluate(gt, dt), "AR100")["AR100"]
    assert one.standard_error == pytest.approx(found.std(ddof=1) / math.sqrt(40), abs=1e-12)
    assert one.bias == pytest.approx(0, abs=1e-12)


def test_undefined_numbers_and_one_image() -> None:
    boxes = [[0.0, 0, 9, 9]]
    gt = ioukit.GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=boxes, images=[1, 2])
    dt = ioukit.Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=boxes, scores=[0.5])
    one = jackknife(ioukit.evaluate(gt, dt), "AP")["AP"]
    assert one.value == pytest.approx(1)
    assert one.num_clusters == 1
    assert math.isnan(one.standard_error)
    assert repr(one) == "Jackknife(AP=1.0000, standard error nan)"
    with pytest.raises(ValueError, match="at least two images are needed"):
        jackknife(ioukit.evaluate(gt.filter(images=[1]), dt), "AP")
