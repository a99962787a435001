"""`non_maximum_merge` of masks against a plain loop and against supervision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import ioukit

seeds = pytest.mark.parametrize("seed", range(8))
BOX = [[0, 0, 1, 1]]


def random_masks(seed: int) -> tuple[Any, Any, Any]:
    """Rectangles and noise, many of which overlap; some are empty."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 25))
    pixels = np.zeros((count, 20, 24), bool)
    for mask in pixels:
        top, left = rng.integers(0, 18, 2)
        height, width = rng.integers(0, 9, 2)
        mask[top : top + height, left : left + width] = rng.random() < 0.6 or rng.random((1, 1)) < 0.5
        mask[rng.random(mask.shape) < rng.choice([0.0, 0.02])] ^= True
    return pixels, (rng.permutation(count) + 1) / 32, rng.integers(0, 2, count)


def plain_mask_groups(pixels: Any, scores: Any, labels: Any, threshold: float, metric: str, grow: bool) -> Any:
    left, groups = sorted(range(len(scores)), key=lambda k: (-scores[k], k)), []
    while left:
        group, left = [left[0]], left[1:]
        union = pixels[group[0]].copy()

        def joins(k: int, union: Any = union, of: int = group[0]) -> bool:
            both = int((union & pixels[k]).sum())
            whole = int((union | pixels[k]).sum()) if metric == "iou" else min(int(union.sum()), int(pixels[k].sum()))
            return both > 0 and both / whole >= threshold and (labels is None or labels[k] == labels[of])

        while True:
            more = [k for k in left if joins(k)]
            group, left = group + more, [k for k in left if k not in more]
            if not (grow and more):
                break
            for k in more:
                union |= pixels[k]
        groups.append(group)
    return groups


@seeds
@pytest.mark.parametrize("metric", ["iou", "iom"])
@pytest.mark.parametrize("against", ["best", "merged"])
def test_merging_masks_is_the_plain_loop(seed: int, metric: Any, against: Any) -> None:
    pixels, scores, labels = random_masks(seed)
    for kinds, threshold in ((None, 0.3), (labels, 0.3), (None, 0.0), (labels, 0.6), (None, 1.5)):
        merged = ioukit.non_maximum_merge(
            ioukit.Masks.from_arrays(pixels), scores, threshold, labels=kinds, metric=metric, against=against
        )
        expected = plain_mask_groups(pixels, scores, kinds, threshold, metric, against == "merged")
        assert merged.keep.tolist() == [group[0] for group in expected]
        assert_array_equal(merged.scores, scores[merged.keep])
        for number, group in enumerate(expected):
            assert_array_equal(np.flatnonzero(merged.groups == number), sorted(group))
            assert_array_equal(merged.boxes[number].to_arrays()[0], pixels[group].any(axis=0))


@seeds
def test_merging_masks_groups_as_supervision_does(seed: int) -> None:
    supervision = pytest.importorskip("supervision")
    iou_and_nms = pytest.importorskip("supervision.detection.utils.iou_and_nms")
    pixels, scores, labels = random_masks(seed)
    some = pixels.any(axis=(1, 2))
    pixels, scores, labels = pixels[some], scores[some], labels[some]
    if not len(scores):
        return
    names: Any = (("iou", iou_and_nms.OverlapMetric.IOU), ("iom", iou_and_nms.OverlapMetric.IOS))
    for metric, theirs in names:
        rows = np.column_stack([np.zeros((len(scores), 4)), scores, labels])
        groups = supervision.mask_non_max_merge(rows, pixels, iou_threshold=0.4, overlap_metric=theirs)
        merged = ioukit.non_maximum_merge(
            ioukit.Masks.from_arrays(pixels),
            scores,
            0.4,
            labels=labels,
            metric=metric,
            against="merged",
        )
        ours = [np.flatnonzero(merged.groups == number).tolist() for number in range(len(merged.keep))]
        assert sorted(ours) == sorted(sorted(group) for group in groups)


def test_masks_that_cannot_be_merged() -> None:
    masks = ioukit.Masks.from_arrays(np.ones((2, 3, 4), bool))
    with pytest.raises(ValueError, match="unknown against 'first'; choose from best, merged"):
        ioukit.non_maximum_merge(masks, [0.5, 0.4], against="first")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="against='merged' is for Masks"):
        ioukit.non_maximum_merge(BOX, [0.5], against="merged")
    with pytest.raises(ValueError, match="unknown metric 'giou'; choose from iou, iom"):
        ioukit.non_maximum_merge(masks, [0.5, 0.4], metric="giou")
    with pytest.raises(ValueError, match="format is for upright boxes, not for Masks"):
        ioukit.non_maximum_merge(masks, [0.5, 0.4], format="xywh")
    with pytest.raises(ValueError, match=r"scores\[1\] is NaN"):
        ioukit.non_maximum_merge(masks, [0.5, np.nan])
    with pytest.raises(ValueError, match="scores must have shape"):
        ioukit.non_maximum_merge(masks, [0.5])
    two = ioukit.Masks.concat([masks, ioukit.Masks.from_arrays(np.ones((1, 4, 4), bool))])
    with pytest.raises(ValueError, match="masks of another size"):
        ioukit.non_maximum_merge(two, [0.5, 0.4, 0.3])
    with pytest.raises(TypeError, match="Boxes, Masks, a NumPy array or nested lists, got Polygons"):
        ioukit.non_maximum_merge(ioukit.Polygons([[[0, 0], [1, 0], [0, 1]]]), [0.5])
    half = ioukit.non_maximum_merge(masks, np.array([0.5, 0.25], np.float16))
    assert half.scores.dtype == np.float16
    assert half.groups.tolist() == [0, 0]
