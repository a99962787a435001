"""Fusion: the authors' numbers, the plain loops, the laws, and where ours differs on purpose."""

from __future__ import annotations

import doctest
import re
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import ioukit
from support import fusion_oracles as oracle
from support.paths import DATA, load

CASES = load(DATA / "postprocess" / "wbf.json")
README = CASES["readme_example"]
GIVEN = (README["boxes_list"], README["scores_list"], README["labels_list"])
OPTIONS = {
    "weights": README["weights"],
    "iou_threshold": README["iou_thr"],
    "skip_box_threshold": README["skip_box_thr"],
}
RULES: list[dict[str, Any]] = [
    {"confidence": "avg"},
    {"confidence": "avg", "allows_overflow": True},
    {"confidence": "max"},
    {"confidence": "box_and_model_avg"},
    {"confidence": "absent_model_aware_avg"},
]
seeds = pytest.mark.parametrize("seed", range(8))
rules = pytest.mark.parametrize("rule", RULES, ids=lambda rule: "_".join(map(str, rule.values())))


def ensemble(seed: int, count: int = 40, models: int = 3) -> tuple[list[Any], list[Any], list[Any]]:
    """What several models say, within the unit square; no two scores are equal, since the tool's order of those is
    that of an unstable sort."""
    boxes, _, labels = oracle.crowd(seed, count * models)
    rng = np.random.default_rng(seed + 100)
    scores = (rng.permutation(count * models) + 1) / (count * models + 1)
    boxes = boxes / 100 + rng.random(boxes.shape) / 1000
    return np.split(boxes, models), np.split(scores, models), np.split(labels, models)


@pytest.mark.parametrize(
    "name", ["non_maximum_weighted", "non_maximum_merge", "cut_tiles", "TiledNms", "filter_detections"]
)
def test_the_example_of_the_help_is_so(name: str) -> None:
    (example,) = doctest.DocTestFinder(recurse=False).find(getattr(ioukit, name), globs={})
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


@pytest.mark.parametrize("confidence", README["wbf"])
def test_the_example_of_the_authors(confidence: Any) -> None:
    fused = ioukit.weighted_boxes_fusion(*GIVEN, confidence=confidence, **OPTIONS)
    expected = README["wbf"][confidence]
    assert fused.labels.tolist() == expected["labels"]
    assert_allclose(fused.boxes, expected["boxes"], atol=1e-7)
    assert_allclose(fused.scores, expected["scores"], atol=1e-7)


def test_the_example_by_non_maximum_weighted() -> None:
    fused = ioukit.non_maximum_weighted(*GIVEN, **OPTIONS)
    assert fused.labels.tolist() == README["nmw"]["labels"]
    assert_allclose(fused.boxes, README["nmw"]["boxes"], atol=1e-7)
    assert_allclose(fused.scores, README["nmw"]["scores"], atol=1e-7)


@pytest.mark.parametrize("name", CASES["closed_form"]["expected"])
def test_closed_forms(name: str) -> None:
    given, expected = CASES["closed_form"]["inputs"], CASES["closed_form"]["expected"][name]
    rule: Any = {"avg_allows_overflow": RULES[1]}.get(name, {"confidence": name})
    fused = ioukit.weighted_boxes_fusion(
        given["boxes_list"],
        given["scores_list"],
        given["labels_list"],
        weights=given["weights"],
        iou_threshold=given["iou_thr"],
        skip_box_threshold=given["skip_box_thr"],
        **rule,
    )
    assert_allclose(fused.boxes, expected["boxes"], atol=1e-12)
    assert_allclose(fused.scores, expected["scores"], atol=1e-12)
    assert fused.labels.tolist() == expected["labels"]


def test_the_largest_score_is_over_the_largest_weight() -> None:
    case = CASES["closed_form"]["max_case"]
    fused = ioukit.weighted_boxes_fusion(
        case["boxes_list"], case["scores_list"], case["labels_list"], weights=case["weights"], confidence="max"
    )
    assert_allclose(fused.scores, case["scores"])


@rules
def test_models_that_agree(rule: dict[str, Any]) -> None:
    case = CASES["closed_form"]["identical_models"]
    n = case["n_models"]
    fused = ioukit.weighted_boxes_fusion([[case["box"]]] * n, [[case["score"]]] * n, weights=case["weights"], **rule)
    assert_allclose(fused.boxes, [case["box"]], atol=1e-16)
    assert_allclose(fused.scores, [case["score"]])


@seeds
@rules
@pytest.mark.parametrize("weights", [None, [2.0, 1.0, 0.5]])
def test_it_is_the_plain_loop(seed: int, rule: dict[str, Any], weights: Any) -> None:
    boxes, scores, labels = ensemble(seed)
    rounded = [np.round(column, 1) for column in scores]  # many are equal
    for given_scores in (scores, rounded):
        fused = ioukit.weighted_boxes_fusion(boxes, given_scores, labels, weights=weights, iou_threshold=0.4, **rule)
        name = "avg_overflow" if rule.get("allows_overflow") else rule["confidence"]
        expected = oracle.fused(
            np.concatenate(boxes).tolist(),
            np.concatenate(given_scores).tolist(),
            np.concatenate(labels).tolist(),
            [model for model in range(3) for _ in range(40)],
            weights or [1.0] * 3,
            threshold=0.4,
            rule=name,
        )
        assert_same(fused, expected)


@seeds
def test_non_maximum_weighted_is_the_plain_loop(seed: int) -> None:
    boxes, scores, labels = ensemble(seed)
    fused = ioukit.non_maximum_weighted(boxes, scores, labels, weights=[2, 1, 0.5], iou_threshold=0.4)
    expected = oracle.fused(
        np.concatenate(boxes).tolist(),
        np.concatenate(scores).tolist(),
        np.concatenate(labels).tolist(),
        [model for model in range(3) for _ in range(40)],
        [1, 0.5, 0.25],
        threshold=0.4,
        rule="best",
        moving=False,
    )
    assert_same(fused, expected)


def assert_same(fused: Any, expected: list[tuple[float, int, list[float]]]) -> None:
    """The same clusters, whatever the order of equal scores."""
    assert len(fused.scores) == len(expected)
    assert_allclose(fused.scores, [score for score, _, _ in expected], rtol=1e-12)
    assert (np.diff(fused.scores) <= 0).all()

    def key(row: Any) -> Any:
        return np.round(row, 9).tolist()

    got = [[score, label, *box] for score, label, box in zip(fused.scores, fused.labels, fused.boxes, strict=True)]
    plain = [[score, label, *box] for score, label, box in expected]
    assert_allclose(sorted(got, key=key), sorted(plain, key=key), rtol=1e-11, atol=1e-14)


@seeds
@rules
@pytest.mark.parametrize("weights", [None, [2.0, 1.0, 0.5]])
def test_it_is_the_tool_of_the_authors(seed: int, rule: dict[str, Any], weights: Any) -> None:
    tool = pytest.importorskip("ensemble_boxes")
    given = ensemble(seed)
    fused = ioukit.weighted_boxes_fusion(*given, weights=weights, skip_box_threshold=0.1, **rule)
    boxes, scores, labels = tool.weighted_boxes_fusion(
        *given,
        weights=weights,
        iou_thr=0.55,
        skip_box_thr=0.1,
        conf_type=rule["confidence"],
        allows_overflow=rule.get("allows_overflow", False),
    )
    same_as_tool(fused, boxes, scores, labels)


@seeds
def test_non_maximum_weighted_is_the_tool_of_the_authors(seed: int) -> None:
    tool = pytest.importorskip("ensemble_boxes")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its compiler
        given = ensemble(seed)
        boxes, scores, labels = tool.non_maximum_weighted(*given, weights=[2, 1, 0.5], iou_thr=0.5)
    same_as_tool(ioukit.non_maximum_weighted(*given, weights=[2, 1, 0.5], iou_threshold=0.5), boxes, scores, labels)


def same_as_tool(fused: Any, boxes: Any, scores: Any, labels: Any) -> None:
    assert len(fused.scores) == len(scores)
    assert_allclose(fused.scores, scores, atol=1e-6)
    # By label first: scores that differ in the last digit of float32 may stand in another order.
    order = [np.lexsort((*np.round(b, 5).T, label)) for b, label in ((fused.boxes, fused.labels), (boxes, labels))]
    assert_array_equal(fused.labels[order[0]], labels[order[1]])
    assert_allclose(fused.boxes[order[0]], boxes[order[1]], atol=1e-6)


# ---- Differences from the tool, each on purpose.


def test_any_unit_is_taken() -> None:
    boxes, scores, labels = ensemble(0)
    fused = ioukit.weighted_boxes_fusion(boxes, scores, labels)
    # A power of two is exact, and a shift moves the result: nothing is cut to [0, 1].
    pixels = ioukit.weighted_boxes_fusion([b * 1024 for b in boxes], scores, labels)
    assert_array_equal(pixels.boxes, fused.boxes * 1024)
    assert_array_equal(pixels.scores, fused.scores)
    moved = ioukit.weighted_boxes_fusion([b * 1024 - 512 for b in boxes], scores, labels)
    assert_allclose(moved.boxes, fused.boxes * 1024 - 512, atol=1e-9)


def test_inverted_boxes_are_errors() -> None:
    with pytest.raises(ValueError, match=r"inverted, x2 < x1"):
        ioukit.weighted_boxes_fusion([[[0, 0, 1, 1]], [[1, 0, 0, 1]]], [[0.5], [0.5]])


def test_boxes_without_area_stay_by_themselves() -> None:
    flat = [[0.25, 0, 0.25, 1], [0.25, 0, 0.25, 1]]
    fused = ioukit.weighted_boxes_fusion([flat], [[0.5, 0.5]])
    assert_array_equal(fused.boxes, flat)


def test_scores_of_zero_give_no_nan() -> None:
    boxes = [[[0, 0, 10, 10]], [[1, 0, 11, 10]]]
    for function in (ioukit.weighted_boxes_fusion, ioukit.non_maximum_weighted):
        fused = function(boxes, [[0.0], [0.0]])
        assert_array_equal(fused.boxes, boxes[0])
        assert_array_equal(fused.scores, [0.0])


def test_equal_scores_go_in_the_order_of_the_models() -> None:
    boxes = [[[0, 0, 10, 10]], [[40, 0, 50, 10], [2, 0, 12, 10]]]
    merged = ioukit.non_maximum_weighted(boxes, [[0.5], [0.5, 0.5]])
    assert merged.boxes[0, 0] < 2
    assert merged.boxes[1].tolist() == [40, 0, 50, 10]


# ---- Laws.


@rules
def test_one_model_without_overlaps_gives_its_boxes(rule: dict[str, Any]) -> None:
    x, y = np.meshgrid(np.arange(30) * 10.0 + 0.1, np.arange(30) * 10.0 + 0.1)
    boxes = np.stack([x, y, x + 10, y + 9], axis=-1).reshape(-1, 4)
    scores = np.random.default_rng(0).permutation(900) / 900
    fused = ioukit.weighted_boxes_fusion([boxes], [scores], **rule)
    order = np.argsort(-scores)
    assert_array_equal(fused.boxes, boxes[order])
    assert_array_equal(fused.scores, scores[order])
    assert_array_equal(fused.labels, np.zeros(900))


@seeds
def test_the_order_within_a_model_does_not_matter(seed: int) -> None:
    boxes, scores, labels = ensemble(seed)
    fused = ioukit.weighted_boxes_fusion(boxes, scores, labels, confidence="box_and_model_avg")
    shuffle = np.random.default_rng(seed).permutation(40)
    again = ioukit.weighted_boxes_fusion(
        *([part[shuffle] for part in given] for given in (boxes, scores, labels)), confidence="box_and_model_avg"
    )
    for one, other in zip(fused, again, strict=True):
        assert_array_equal(one, other)


def test_threads_and_labels_change_no_bit() -> None:
    boxes, scores, labels = oracle.crowd(0, 6_000, extent=900, labels=5)
    given = [boxes[::2], boxes[1::2]], [scores[::2], scores[1::2]], [labels[::2], labels[1::2]]
    one, three = (ioukit.weighted_boxes_fusion(*given, threads=threads) for threads in (1, 3))
    for first, second in zip(one, three, strict=True):
        assert_array_equal(first, second)
    alone = ioukit.weighted_boxes_fusion(
        *([part[kinds == 2] for part, kinds in zip(parts, given[2], strict=True)] for parts in given)
    )
    assert_array_equal(alone.boxes, one.boxes[one.labels == 2])


@seeds
def test_merging_is_the_plain_loop(seed: int) -> None:
    boxes, scores, labels = oracle.crowd(seed, 60)
    for kinds in (None, labels):
        same = None if kinds is None else kinds.tolist()
        merged = ioukit.non_maximum_merge(boxes, scores, iou_threshold=0.3, labels=kinds)
        expected = oracle.groups(boxes.tolist(), scores.tolist(), 0.3, same)
        assert merged.keep.tolist() == [group[0] for group in expected]
        assert_array_equal(merged.scores, scores[merged.keep])
        for number, group in enumerate(expected):
            assert_array_equal(np.flatnonzero(merged.groups == number), sorted(group))
            members = boxes[group]
            assert_array_equal(merged.boxes[number], [*members[:, :2].min(axis=0), *members[:, 2:].max(axis=0)])


@seeds
def test_merging_groups_as_supervision_does(seed: int) -> None:
    supervision = pytest.importorskip("supervision")
    boxes, _, labels = oracle.crowd(seed, 60)
    scores = (np.random.default_rng(seed).permutation(60) + 1) / 61  # of equal scores it takes the last first
    merged = ioukit.non_maximum_merge(boxes, scores, iou_threshold=0.4, labels=labels)
    groups = supervision.box_non_max_merge(np.column_stack([boxes, scores, labels]), iou_threshold=0.4)
    ours = [np.flatnonzero(merged.groups == number).tolist() for number in range(len(merged.keep))]
    assert sorted(ours) == sorted(sorted(group) for group in groups)


def test_parts_of_an_object_are_put_together() -> None:
    parts = [[0, 0, 40, 20], [30, 0, 60, 20], [38, 2, 41, 18]]
    merged = ioukit.non_maximum_merge(parts, [0.6, 0.5, 0.9], metric="iom", iou_threshold=0.5)
    assert merged.boxes.tolist() == [[0, 0, 60, 20]]
    assert merged.keep.tolist() == [2]


# ---- Arrays and errors.


def test_dtypes_formats_and_empty_models() -> None:
    boxes, scores, labels = ensemble(2)
    fused = ioukit.weighted_boxes_fusion(boxes, scores, labels)
    sides = [np.concatenate([b[:, :2], b[:, 2:] - b[:, :2]], axis=1) for b in boxes]
    other = ioukit.weighted_boxes_fusion(sides, scores, labels, format="xywh")
    assert_allclose(other.boxes[:, :2] + other.boxes[:, 2:], fused.boxes[:, 2:], atol=1e-12)
    single = ioukit.weighted_boxes_fusion([b.astype(np.float32) for b in boxes], scores, labels)
    assert (single.boxes.dtype, single.scores.dtype, single.labels.dtype) == (np.float32, np.float64, np.int64)
    none = np.zeros((0, 4), np.float32)
    assert ioukit.weighted_boxes_fusion([none, none], [[], []]).boxes.shape == (0, 4)
    one = ioukit.weighted_boxes_fusion([none, [[0, 0, 1, 1]]], [[], [0.5]])
    assert one.scores.tolist() == [0.25]
    assert ioukit.non_maximum_merge(none, []).groups.shape == (0,)


BOX = [[0, 0, 1, 1]]


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (([], []), {}, "boxes_list is empty, expected the boxes of at least one model"),
        (([BOX], []), {}, "scores_list must have one entry per model, 1, got 0"),
        (([BOX], [[0.5]], []), {}, "labels_list must have one entry per model, 1, got 0"),
        (([BOX], [[0.5]]), {"weights": [1, 2]}, "weights must have one entry per model, 1, got 2"),
        (([BOX], [[0.5]]), {"weights": [0]}, "weights must be positive and finite, one per model, got [0]"),
        (([BOX, BOX], [[0.5], [0.5, 0.5]]), {}, "scores_list[1] must have shape (1,), one per box, got (2,)"),
        (([BOX], [[float("inf")]]), {}, "scores_list[0][0] is inf"),
        (([BOX], [[2.0**401]]), {}, "scores_list[0] times its weight goes beyond 2**400"),
        (([BOX], [[0.5]]), {"iou_threshold": 1}, "iou_threshold must be at least 0 and below 1, got 1"),
        (([BOX], [[0.5]]), {"skip_box_threshold": -1}, "skip_box_threshold must be finite and at least 0"),
        (([BOX], [[0.5]]), {"confidence": "mean"}, "unknown confidence 'mean'; choose from avg, max"),
        (
            ([BOX], [[0.5]]),
            {"confidence": "max", "allows_overflow": True},
            "allows_overflow is for confidence='avg' alone, got confidence='max'",
        ),
    ],
)
def test_bad_values(given: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        ioukit.weighted_boxes_fusion(*given, **options)


def test_tensors_come_back_as_tensors() -> None:
    torch = pytest.importorskip("torch")
    boxes, scores, labels = ensemble(3)
    fused = ioukit.weighted_boxes_fusion(*([torch.tensor(part) for part in given] for given in (boxes, scores, labels)))
    for got, wanted in zip(fused, ioukit.weighted_boxes_fusion(boxes, scores, labels), strict=True):
        assert isinstance(got, torch.Tensor)
        assert_array_equal(got.numpy(), wanted)


def test_jax_arrays_come_back_as_jax_arrays() -> None:
    jax = pytest.importorskip("jax")
    boxes, scores, labels = ensemble(3)
    given = [[jax.numpy.asarray(part) for part in parts] for parts in (boxes, scores, labels)]
    fused = ioukit.weighted_boxes_fusion(*given)
    assert all(isinstance(array, jax.Array) for array in fused)
    expected = ioukit.weighted_boxes_fusion(*([np.asarray(part) for part in parts] for parts in given))
    for got, wanted in zip(fused, expected, strict=True):
        assert_array_equal(np.asarray(got), wanted)
    with pytest.raises(TypeError, match=r"boxes is traced \(jax.jit, torch.compile\) or mapped"):
        jax.jit(ioukit.soft_nms)(given[0][0], given[1][0])
