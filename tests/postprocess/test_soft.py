"""Soft-NMS: the paper's rule, picked again every round, whatever the engine skips."""

from __future__ import annotations

import doctest
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import ioukit
from support import fusion_oracles as oracle
from support.paths import DATA, load
from support.strategies import grid_boxes

CASES = load(DATA / "postprocess" / "nms.json")
FAMILY = CASES["family"]


@pytest.mark.parametrize("name", ["soft_nms", "matrix_nms", "fast_nms", "cluster_nms", "weighted_boxes_fusion"])
def test_the_example_of_the_help_is_so(name: str) -> None:
    (example,) = doctest.DocTestFinder(recurse=False).find(getattr(ioukit, name), globs={})
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


@pytest.mark.parametrize("row", [row for row in CASES["mmcv_soft"]["rows"] if row["method"] != "naive"])
def test_the_numbers_of_mmcv(row: dict[str, Any]) -> None:
    case = CASES["mmcv_soft"]
    options = {"method": row["method"], "iou_threshold": row["iou_threshold"], "sigma": row["sigma"]}
    options["score_threshold"] = row["min_score"]
    boxes, scores = np.array(case["boxes"], np.float64), np.array(case["input_scores"])
    keep, lowered = ioukit.soft_nms(boxes, scores, **options)
    assert keep.tolist() == row["order"]
    assert_allclose(lowered, row["scores_f64"], rtol=1e-14)
    keep, lowered = ioukit.soft_nms(boxes.astype(np.float32), scores.astype(np.float32), **options)
    assert keep.tolist() == row["order"]
    assert lowered.dtype == np.float32
    assert_allclose(lowered, row["scores"], rtol=1e-6)


@pytest.mark.parametrize("method", ["linear", "gaussian"])
def test_the_family(method: str) -> None:
    keep, lowered = ioukit.soft_nms(FAMILY["boxes"], FAMILY["scores"], method=method, iou_threshold=0.3)  # type: ignore[call-overload]
    expected = FAMILY[f"soft_{method}"]
    assert keep.tolist() == [place for place, _ in expected]
    assert_allclose(lowered, [score for _, score in expected], rtol=1e-13)


@pytest.mark.parametrize("method", ["linear", "gaussian"])
@pytest.mark.parametrize("seed", range(12))
def test_it_is_the_plain_loop(method: Any, seed: int) -> None:
    boxes, scores, labels = oracle.crowd(seed, 60)
    for kinds in (None, labels):
        for least in (0.0, 0.05, 0.4):
            keep, lowered = ioukit.soft_nms(
                boxes, scores, method=method, iou_threshold=0.2, score_threshold=least, labels=kinds
            )
            plain = None if kinds is None else kinds.tolist()
            expected, values = oracle.soft(
                boxes.tolist(), scores.tolist(), method=method, threshold=0.2, least=least, labels=plain
            )
            assert_allclose(lowered, values, rtol=1e-12, atol=1e-300)
            # Two ways to round an exponential may swap what is all but equal.
            if method == "linear":
                assert keep.tolist() == expected
            else:
                assert sorted(keep.tolist()) == sorted(expected)


@given(grid_boxes(np.float64, max_size=12), st.data())
def test_laws(boxes: Any, data: st.DataObject) -> None:
    scores = np.array(data.draw(st.lists(st.floats(0, 1), min_size=len(boxes), max_size=len(boxes))))
    ranked = np.argsort(-scores, kind="stable")
    keep, lowered = ioukit.soft_nms(boxes, scores, iou_threshold=1.5, score_threshold=0)
    assert_array_equal(keep, ranked)  # nothing reaches the threshold
    assert_array_equal(lowered, scores[ranked])
    for method in ("linear", "gaussian"):
        keep, lowered = ioukit.soft_nms(boxes, scores, method=method, score_threshold=0)
        assert sorted(keep) == list(range(len(boxes)))
        assert (np.diff(lowered) <= 0).all()
        assert (lowered <= scores[keep]).all()
        first, best = ioukit.soft_nms(boxes, scores, method=method, score_threshold=0, max_keep=3)
        assert_array_equal(first, keep[:3])
        assert_array_equal(best, lowered[:3])


def test_the_order_of_the_input_matters_for_ties_alone() -> None:
    boxes, _, labels = oracle.crowd(3, 80)
    rng = np.random.default_rng(3)
    scores = rng.permutation(80) / 80 + 0.01
    shuffle = rng.permutation(80)
    keep, lowered = ioukit.soft_nms(boxes, scores, labels=labels)
    again, same = ioukit.soft_nms(boxes[shuffle], scores[shuffle], labels=labels[shuffle])
    # Copies of one box may swap where their lowered scores are equal.
    assert_allclose(lowered, same, rtol=1e-15)
    assert_array_equal(np.sort(keep), np.sort(shuffle[again]))


def test_threads_change_no_bit() -> None:
    boxes, scores, _ = oracle.crowd(1, 10_000, extent=3_000)
    one = ioukit.soft_nms(boxes, scores, method="gaussian", threads=1)
    three = ioukit.soft_nms(boxes, scores, method="gaussian", threads=3)
    assert_array_equal(one[0], three[0])
    assert_array_equal(one[1], three[1])


def test_formats_and_empty_sets() -> None:
    boxes, scores, _ = oracle.crowd(5, 30)
    expected = ioukit.soft_nms(boxes, scores)
    sides = np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1)
    for given_boxes, options in ((sides, {"format": "xywh"}), (ioukit.Boxes(boxes, "xyxy"), {})):
        for got, wanted in zip(ioukit.soft_nms(given_boxes, scores, **options), expected, strict=True):  # type: ignore[call-overload]
            assert_array_equal(got, wanted)
    keep, lowered = ioukit.soft_nms(np.zeros((0, 4), np.float32), np.zeros(0, np.float32))
    assert keep.shape == (0,)
    assert (keep.dtype.name, lowered.dtype.name) == ("int64", "float32")
    assert ioukit.soft_nms([], [])[0].shape == (0,)


@pytest.mark.parametrize(
    ("boxes", "scores", "options", "message"),
    [
        ([[0, 0, 1, 1]], [0.5, 0.4], {}, "scores must have shape (1,), one per box, got (2,)"),
        ([[0, 0, 1, 1]], [float("nan")], {}, "scores[0] is nan: every score must be finite and at least 0"),
        ([[0, 0, 1, 1]], [-0.5], {}, "scores[0] is -0.5"),
        ([[1, 0, 0, 1]], [0.5], {}, "inverted, x2 < x1"),
        ([[0, 0, 1, 1]], [0.5], {"method": "naive"}, "unknown method 'naive'; choose from linear, gaussian"),
        ([[0, 0, 1, 1]], [0.5], {"metric": "ioa"}, "unknown metric 'ioa'; choose from iou, iom"),
        ([[0, 0, 1, 1]], [0.5], {"sigma": 0}, "sigma must be positive and finite, got 0"),
        ([[0, 0, 1, 1]], [0.5], {"iou_threshold": -1}, "iou_threshold must be finite and at least 0, got -1"),
        ([[0, 0, 1, 1]], [0.5], {"max_keep": -1}, "max_keep must be at least 0, got -1"),
        ([[0, 0, 1, 1]], [0.5], {"labels": [0, 1]}, "labels must have shape (1,), one per box, got (2,)"),
        ([[[0, 0, 1, 1]]], [0.5], {}, "boxes must have shape (N, 4), got (1, 1, 4)"),
    ],
)
def test_bad_values(boxes: Any, scores: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        ioukit.soft_nms(boxes, scores, **options)


def test_a_score_that_is_the_threshold_stays_in_its_own_dtype() -> None:
    for dtype in (np.float16, np.float32, np.float64):
        scores = np.array([0.7, 0.3], dtype)
        boxes = [[0, 0, 1, 1], [2, 2, 3, 3]]
        assert ioukit.soft_nms(boxes, scores, score_threshold=0.7)[0].tolist() == [0]
        assert ioukit.matrix_nms(boxes, scores, score_threshold=0.7)[0].tolist() == [0]
        assert ioukit.weighted_boxes_fusion([boxes], [scores], skip_box_threshold=0.7).scores.tolist() == [scores[0]]


def test_bad_kinds() -> None:
    with pytest.raises(TypeError, match="labels must be integers, got dtype float64"):
        ioukit.soft_nms([[0, 0, 1, 1]], [0.5], labels=[0.5])
    with pytest.raises(TypeError, match="max_keep must be a whole number or None, got float"):
        ioukit.soft_nms([[0, 0, 1, 1]], [0.5], max_keep=1.5)  # type: ignore[call-overload]


def test_tensors_come_back_as_tensors() -> None:
    torch = pytest.importorskip("torch")
    boxes, scores, labels = oracle.crowd(6, 30)
    keep, lowered = ioukit.soft_nms(
        torch.tensor(boxes), torch.tensor(scores, dtype=torch.float32), labels=torch.tensor(labels)
    )
    expected, values = ioukit.soft_nms(boxes, scores.astype(np.float32), labels=labels)
    assert (keep.dtype, lowered.dtype) == (torch.int64, torch.float32)
    assert_array_equal(keep.numpy(), expected)
    assert_array_equal(lowered.numpy(), values)
