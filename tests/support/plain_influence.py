"""The influence by definition: the data is evaluated again without each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit import evaluate
from ioukit.evaluation.summary import value_of, values_of_classes

if TYPE_CHECKING:
    from ioukit.evaluation import Evaluation, Measure
    from ioukit.statistics import Influence
    from ioukit.typing import FloatArray

__all__ = ["assert_equals_evaluating_again", "without_rows"]


def without_rows(evaluation: Evaluation, of: str, measure: Measure) -> tuple[FloatArray, FloatArray]:
    """(N,) the number and (N, K) those of all categories without each row of the table with near pairs."""
    gt, dt, table = evaluation.ground_truth, evaluation.detections, evaluation.near_matches(0.1)
    assert gt is not None
    assert dt is not None
    count = {"detection": len(table.detections), "object": len(table.objects), "image": len(table.image_ids)}[of]
    values, classes = np.empty(count), np.empty((count, len(table.evaluated)))
    for row in range(count):
        objects, detections, images = gt, dt, table.image_ids
        if of == "detection":
            detections = dt.take(np.arange(len(dt)) != table.detections.row[row])
        elif of == "object":
            objects = gt.take(np.arange(len(gt)) != table.objects.row[row])
        else:
            images = np.delete(images, row)
        again = evaluate(
            objects,
            detections,
            table.protocol,
            iou_type=table.iou_type,
            categories=table.categories.ids.tolist(),
            images=images,
            threads=1,
        )
        values[row] = value_of(again.curves, measure)
        classes[row] = values_of_classes(again.curves, measure)
    return values, classes


def assert_equals_evaluating_again(found: Influence, evaluation: Evaluation, measure: Measure) -> None:
    """Categories to the last bit, the mean within 1e-12."""
    values, classes = without_rows(evaluation, found.of, measure)
    np.testing.assert_allclose(found.without, values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.adds, found.value - values, rtol=0, atol=1e-12)
    assert found.value == value_of(evaluation.curves, measure) or np.isnan(found.value)
    if found.of == "image":
        assert found.class_without is None
        return
    assert found.class_without is not None
    table = found.matches
    rows = table.detections if found.of == "detection" else table.objects
    category = table.evaluated_category(rows.category)
    np.testing.assert_array_equal(found.class_without, classes[np.arange(len(rows)), category])
    np.testing.assert_array_equal(
        found.class_adds, values_of_classes(evaluation.curves, measure)[category] - found.class_without
    )
