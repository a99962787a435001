"""`nms` against its definition, on the host."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from ioukit import Boxes, nms, pairwise_iou
from postprocess.plain import greedy, random_set, table
from support.paths import DATA, load
from support.strategies import extreme_boxes, grid_boxes

CASES = load(DATA / "postprocess" / "nms.json")
POLICY = {case["id"]: case for case in CASES["policy"]["cases"]}
METRICS = ["iou", "iom", "giou", "diou", "ciou"]


def test_survivors_are_those_of_the_definition_in_thousands_of_sets() -> None:
    rng = np.random.default_rng(0)
    removed = 0
    for number in range(5_000):
        dtype = [np.float32, np.float64][number % 2]
        boxes, scores = random_set(rng, dtype)
        threshold = float(rng.choice([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.7, 1.0, rng.random()]))
        codes = rng.integers(-2, 3, len(boxes)) if number % 3 == 0 else None
        at = bool(number % 5 == 0 and threshold > 0)
        found = nms(
            boxes, scores, iou_threshold=threshold, labels=codes, suppress="at_or_above" if at else "above", check=False
        )
        wanted = greedy(
            table("iou", boxes), scores.tolist(), threshold, codes=None if codes is None else codes.tolist(), at=at
        )
        assert found.tolist() == wanted, (number, boxes, scores)
        removed += len(boxes) - len(wanted)
    assert removed > 5_000


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_thousands_of_sets_in_one_call(dtype: Any) -> None:
    """As images of one batch they go through the index, where sets lie on top of each other."""
    rng = np.random.default_rng(2)
    sets = [random_set(rng, dtype) for _ in range(2_000)]
    batch = np.repeat(np.arange(len(sets)), [len(boxes) for boxes, _ in sets])
    boxes, scores = (np.concatenate(arrays) for arrays in zip(*sets, strict=True))
    for threshold in (0.0, 0.25, 0.5):
        keep = nms(boxes, scores, iou_threshold=threshold, batch=batch, check=False)
        assert (np.diff(scores[keep]) <= 0).all()
        wanted: list[int] = []
        for image, (few, theirs) in enumerate(sets):
            rows = np.flatnonzero(batch == image)
            wanted.extend(rows[greedy(table("iou", few), theirs.tolist(), threshold)])
        assert sorted(keep.tolist()) == sorted(wanted)


@pytest.mark.parametrize("metric", [*METRICS, "ioa"])
def test_every_metric_suppresses_by_its_own_values(metric: Any) -> None:
    rng = np.random.default_rng(1)
    for number in range(150):
        boxes, scores = random_set(rng, [np.float32, np.float64][number % 2])
        least = 0.0 if metric in ("iou", "iom", "ioa") else -1.0
        threshold, at = float(rng.uniform(least, 1)), number % 3 == 0
        for of in ("first", "second") if metric == "ioa" else (None,):
            found = nms(
                boxes, scores, iou_threshold=threshold, metric=metric, of=of, suppress="at_or_above" if at else "above"
            )
            assert found.tolist() == greedy(table(metric, boxes, of), scores.tolist(), threshold, at=at)


@pytest.mark.parametrize("count", [100, 700, 2_500])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_larger_sets_through_every_engine(count: int, dtype: Any) -> None:
    rng = np.random.default_rng(count)
    low = rng.uniform(-100, 30 * count**0.5, (count, 2))
    boxes = np.concatenate([low, low + np.exp2(rng.uniform(2, 8, (count, 2)))], axis=1).astype(dtype)
    scores = rng.integers(0, count // 2, count) / count
    labels = rng.integers(0, 2_000, count) * 10**15  # more labels than boxes share, and large
    overlap = table("iou", boxes)
    for threshold in (0.0, 0.3, 0.6):
        for codes in (None, labels % (2 * 10**15), labels):
            wanted = greedy(overlap, scores.tolist(), threshold, codes=None if codes is None else codes.tolist())
            for threads in (1, 2, 8):
                found = nms(boxes, scores, iou_threshold=threshold, labels=codes, threads=threads)
                assert found.tolist() == wanted


def test_threads_change_nothing_where_they_share_the_work() -> None:
    rng = np.random.default_rng(3)
    centres = rng.uniform(0, 2_000, (600, 2))
    low = centres[rng.integers(0, 600, 30_000)] + rng.normal(0, 6, (30_000, 2))
    boxes = np.concatenate([low, low + 30 + rng.normal(0, 3, (30_000, 2))], axis=1).astype(np.float32)
    scores = rng.integers(0, 500, 30_000) / 500
    one = nms(boxes, scores, iou_threshold=0.4, threads=1)
    assert 600 < len(one) < 20_000
    for threads in (2, 8, None):
        assert_array_equal(nms(boxes, scores, iou_threshold=0.4, threads=threads), one)


@given(extreme_boxes(), st.integers(0, 2**32))
def test_any_boxes_that_are_allowed(boxes: Any, seed: int) -> None:
    scores = np.random.default_rng(seed).integers(0, 3, len(boxes)).astype(np.float64)
    for threshold in (0.0, 0.5):
        found = nms(boxes, scores, iou_threshold=threshold)
        assert found.tolist() == greedy(table("iou", boxes), scores.tolist(), threshold)


# Laws.


@given(grid_boxes(max_size=12), st.sampled_from([0.0, 0.25, 0.5, 0.9]), st.randoms())
def test_laws(boxes: Any, threshold: float, random: Any) -> None:
    scores = random.sample(range(100), len(boxes))
    keep = nms(boxes, scores, iou_threshold=threshold)
    overlap = pairwise_iou(boxes, boxes)
    # Survivors do not overlap above the threshold.
    among = overlap[np.ix_(keep, keep)]
    np.fill_diagonal(among, 0)
    assert (among <= threshold).all()
    # Every other box overlaps a survivor that scores at least as high.
    for box in set(range(len(boxes))) - set(keep.tolist()):
        assert any(overlap[box, k] > threshold and scores[k] >= scores[box] for k in keep)
    # The order of the input is only that of equal scores.
    order = np.array(random.sample(range(len(boxes)), len(boxes)), int)
    moved = nms(boxes[order], np.array(scores)[order], iou_threshold=threshold)
    assert_array_equal(order[moved], keep)
    # A copy of a survivor behind it changes nothing, if it has an area.
    for box in keep[(boxes[keep, 2:] > boxes[keep, :2]).all(axis=1)]:
        again = nms(np.vstack([boxes, boxes[box]]), [*scores, scores[box]], iou_threshold=threshold)
        assert_array_equal(again, keep)


def test_a_whole_batch_is_as_each_image_alone() -> None:
    rng = np.random.default_rng(4)
    boxes = np.sort(rng.uniform(0, 20, (400, 2, 2)), axis=1).reshape(-1, 4)
    scores, labels, batch = rng.integers(0, 90, 400) / 90, rng.integers(-3, 4, 400), rng.integers(5, 9, 400) - 7
    for max_keep in (None, 7):
        keep = nms(boxes, scores, iou_threshold=0.3, labels=labels, batch=batch, max_keep=max_keep)
        assert (np.diff(scores[keep]) <= 0).all()
        for image in range(-2, 2):
            rows = np.flatnonzero(batch == image)
            alone = rows[nms(boxes[rows], scores[rows], iou_threshold=0.3, labels=labels[rows], max_keep=max_keep)]
            assert_array_equal(keep[batch[keep] == image], alone)
    # Labels and images whose product no integer holds.
    wide = nms(boxes, scores, iou_threshold=0.3, labels=labels * 2**60, batch=batch * 2**60)
    assert_array_equal(wide, nms(boxes, scores, iou_threshold=0.3, labels=labels, batch=batch))


# Cases from elsewhere.


def test_cases_of_other_projects() -> None:
    for name in ("mmcv_basic", "mmcv_docstring", "torchvision_fp16"):
        case = CASES[name]
        wanted = case.get("keep", case.get("derived_keep_stable"))
        for dtype in (np.float32, np.float64):
            boxes, scores = np.array(case["boxes"], dtype), np.array(case["scores"], dtype)
            assert nms(boxes, scores, iou_threshold=case["iou_threshold"]).tolist() == wanted, name
    case = CASES["torchvision_fp16"]
    halves = np.array(case["boxes"], np.float16), np.array(case["scores"], np.float16)
    assert nms(*halves, iou_threshold=case["iou_threshold"]).tolist() == case["keep"]
    for row in CASES["supervision"]["rows"]:
        keep = nms(row["boxes"], row["scores"], iou_threshold=row["iou_threshold"], labels=row["labels"])
        assert sorted(keep) == np.flatnonzero(row["keep_mask"]).tolist()


def test_the_family_set() -> None:
    case = CASES["family"]
    boxes, scores = case["boxes"], case["scores"]
    for threshold, wanted in case["greedy"].items():
        assert nms(boxes, scores, iou_threshold=float(threshold)).tolist() == wanted
    for threshold, wanted in case["greedy_class_aware"].items():
        assert nms(boxes, scores, iou_threshold=float(threshold), labels=case["labels"]).tolist() == wanted
    for threshold, wanted in case["diou_nms"].items():
        assert nms(boxes, scores, iou_threshold=float(threshold), metric="diou").tolist() == wanted
    # Cluster NMS is greedy suppression by another way.
    for threshold, wanted in case["cluster_nms"].items():
        assert nms(boxes, scores, iou_threshold=float(threshold)).tolist() == wanted


def test_policies() -> None:
    for name in ("iou_equals_threshold", "iou_equals_threshold_exact"):
        case = POLICY[name]
        arguments = case["boxes"], case["scores"]
        assert nms(*arguments, iou_threshold=case["iou_threshold"]).tolist() == case["strict_gt_keep"]
        at = nms(*arguments, iou_threshold=case["iou_threshold"], suppress="at_or_above")
        assert at.tolist() == case["ge_keep"]
    for name in ("equal_scores_identical_boxes", "equal_scores_chain"):
        case = POLICY[name]
        assert nms(case["boxes"], case["scores"], iou_threshold=0.5).tolist() == case["stable_first_keep"]
    case = POLICY["transitive_suppression"]
    assert nms(case["boxes"], case["scores"], iou_threshold=case["iou_threshold"]).tolist() == case["greedy_keep"]


def test_thresholds_met_exactly_in_rational_numbers() -> None:
    """Overlaps k / 16 of boxes on a grid: what is equal is equal, in every dtype that holds them."""
    for k in range(1, 16):
        boxes = [[0, 0, 16, 1], [0, 0, k, 1]]
        assert Fraction(k, 16) == pairwise_iou(boxes[:1], boxes[1:])[0, 0]
        for dtype in (np.float16, np.float32, np.float64):
            arguments = np.array(boxes, dtype), np.array([0.9, 0.8], dtype)
            assert len(nms(*arguments, iou_threshold=k / 16)) == 2
            assert len(nms(*arguments, iou_threshold=k / 16, suppress="at_or_above")) == 1


def test_the_threshold_is_compared_in_the_dtype_of_the_overlaps() -> None:
    """0.1 in float32 is above 0.1 in float64; a float32 overlap of 0.1 is not above a threshold of 0.1."""
    boxes, scores = np.array([[0, 0, 10, 1], [0, 0, 1, 1]], np.float32), np.array([0.9, 0.8], np.float32)
    assert float(pairwise_iou(boxes[:1], boxes[1:])[0, 0]) > 0.1
    assert len(nms(boxes, scores, iou_threshold=0.1)) == 2
    assert len(nms(boxes, scores, iou_threshold=0.1, suppress="at_or_above")) == 1


def test_overlaps_of_halves_are_compared_in_float32() -> None:
    rng = np.random.default_rng(6)
    for number in range(300):
        boxes, scores = random_set(rng)
        boxes, scores = boxes.clip(-100, 100).astype(np.float16), scores.astype(np.float16)
        overlap = table("iou", boxes.astype(np.float32))
        # A float32 overlap, or one that is rounded to float16 and so ties with many others.
        values = overlap if number % 2 else overlap.astype(np.float16)
        values = values[values > 0]
        threshold = float(values[rng.integers(len(values))]) if len(values) else 0.5
        for at in (False, True):
            found = nms(boxes, scores, iou_threshold=threshold, suppress="at_or_above" if at else "above")
            assert found.tolist() == greedy(overlap, scores.tolist(), threshold, at=at)


# Scores, and what else removes a box.


def test_scores() -> None:
    boxes = [[k, 0, k + 1, 1] for k in range(0, 14, 2)]
    scores = [0.5, -np.inf, 0.0, -0.0, np.inf, 0.5, -1.0]
    assert nms(boxes, scores, iou_threshold=0.5).tolist() == [4, 0, 5, 2, 3, 6, 1]
    # At the threshold a score stays; it is compared in the dtype of the scores.
    assert nms(boxes, scores, iou_threshold=0.5, score_threshold=0.0).tolist() == [4, 0, 5, 2, 3]
    assert nms(boxes, scores, iou_threshold=0.5, score_threshold=-np.inf).tolist() == [4, 0, 5, 2, 3, 6, 1]
    single = np.full(7, 0.1, np.float32)
    assert len(nms(boxes, single, iou_threshold=0.5, score_threshold=0.1)) == 7
    above = np.nextafter(np.float32(0.1), np.float32(1))
    assert len(nms(boxes, single, iou_threshold=0.5, score_threshold=float(above))) == 0
    assert len(nms(boxes, np.full(7, 0.1, np.float16), iou_threshold=0.5, score_threshold=0.1)) == 7
    assert len(nms(boxes, np.full(7, 0.1), iou_threshold=0.5, score_threshold=0.1)) == 7
    assert nms(boxes, [3, 2, 9, 1, 1, 0, 0], iou_threshold=0.5, max_keep=3).tolist() == [2, 0, 1]
    assert nms(boxes, scores, iou_threshold=0.5, max_keep=0).tolist() == []


def test_boxes_without_area_survive() -> None:
    boxes = [[1, 1, 1, 5], [1, 1, 1, 5], [0, 0, 9, 9], [2, 2, 2, 2], [2, 2, 2, 2]]
    for threshold in (0.0, 0.5):
        assert nms(boxes, [5, 4, 3, 2, 1], iou_threshold=threshold).tolist() == [0, 1, 2, 3, 4]


def test_a_negative_threshold_lets_far_boxes_remove_each_other() -> None:
    boxes = [[0, 0, 1, 1], [1, 0, 2, 1], [90, 0, 91, 1]]
    assert nms(boxes, [3, 2, 1], iou_threshold=-0.9, metric="giou").tolist() == [0, 2]
    assert nms(boxes, [3, 2, 1], iou_threshold=-1, metric="giou").tolist() == [0]
    assert nms(boxes, [3, 2, 1], iou_threshold=0, metric="giou").tolist() == [0, 1, 2]


# Kinds of input.


def test_kinds_of_input() -> None:
    boxes, scores = np.array([[0, 0, 4, 4], [0, 0, 4, 3], [6, 6, 8, 8]], np.float64), np.array([0.8, 0.9, 0.7])
    wanted = [1, 2]
    sides = boxes.copy()
    sides[:, 2:] -= sides[:, :2]
    readonly = boxes.copy()
    readonly.flags.writeable = False
    fortran = np.asfortranarray(boxes)
    bare = np.frombuffer(b"0" + boxes.tobytes(), np.uint8)[1:].view(np.float64).reshape(3, 4)
    for given_boxes in (boxes, boxes.tolist(), readonly, fortran, bare, boxes.astype(int), boxes[::-1][::-1]):
        keep = nms(given_boxes, scores, iou_threshold=0.5)
        assert keep.tolist() == wanted
        assert keep.dtype == np.int64
    assert nms(sides, scores, iou_threshold=0.5, format="xywh").tolist() == wanted
    assert nms(Boxes(sides, format="xywh"), scores, iou_threshold=0.5).tolist() == wanted
    assert nms(boxes, scores[::-1], iou_threshold=0.5).tolist() == [1, 2]
    assert nms(boxes, [8, 9, 7], iou_threshold=0.5, labels=[True, False, True]).tolist() == [1, 0, 2]
    assert nms([], [], iou_threshold=0.5, labels=[], batch=[]).tolist() == []
    assert nms(np.empty((0, 4)), np.empty(0), iou_threshold=0.5).dtype == np.int64


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"scores": [0.5, np.nan]}, ValueError, r"scores\[1\] is NaN"),
        ({"scores": [0.5]}, ValueError, r"scores must have shape \(2,\), one per box, got \(1,\)"),
        (
            {"boxes": [[0, 0, 1, 1], [0, 0, np.nan, 1]]},
            ValueError,
            r"boxes\[1\] is .*: every coordinate must be finite",
        ),
        ({"boxes": [[3, 0, 1, 1], [0, 0, 1, 1]]}, ValueError, r"boxes\[0\] is .*: inverted"),
        ({"boxes": [0, 0, 1, 1]}, ValueError, r"boxes must have shape \(N, 4\), got \(4,\)"),
        ({"boxes": [[0, 0, 1], [0, 0, 1]]}, ValueError, r"boxes must have shape"),
        ({"boxes": "boxes"}, TypeError, "boxes must be Boxes, a NumPy array or nested lists, got str"),
        ({"iou_threshold": 1.5}, ValueError, r"iou_threshold must be within \[0, 1\] for metric='iou', got 1.5"),
        ({"iou_threshold": -0.1}, ValueError, r"within \[0, 1\]"),
        ({"iou_threshold": np.nan}, ValueError, r"within \[0, 1\] .* got nan"),
        ({"iou_threshold": -1.5, "metric": "giou"}, ValueError, r"within \[-1, 1\]"),
        ({"iou_threshold": "half"}, TypeError, "iou_threshold must be a number, got str"),
        ({"iou_threshold": 0, "suppress": "at_or_above"}, ValueError, "above 0 for suppress='at_or_above'"),
        ({"suppress": "over"}, ValueError, "unknown suppress 'over'; choose from above, at_or_above"),
        ({"metric": "siou"}, ValueError, "unknown metric 'siou'; choose from iou, ioa"),
        ({"of": "first"}, ValueError, "of='first' is for metric='ioa' alone"),
        ({"of": "both", "metric": "ioa"}, ValueError, "unknown of='both'; choose from second, first"),
        ({"labels": [0.0, 1.0]}, TypeError, "labels must be integers, got dtype float64"),
        ({"batch": [0]}, ValueError, r"batch must have shape \(2,\), one per box"),
        ({"labels": np.array([0, 2**63], np.uint64)}, ValueError, "labels hold 9223372036854775808, beyond"),
        ({"max_keep": -1}, ValueError, "max_keep must be at least 0"),
        ({"score_threshold": np.nan}, ValueError, "score_threshold must be a number, got nan"),
        ({"score_threshold": "low"}, TypeError, "score_threshold must be a number, got str"),
        ({"threads": 0}, ValueError, "threads must be at least 1"),
        ({"format": "yxyx"}, ValueError, "unknown format 'yxyx'"),
    ],
)
def test_errors_say_what_was_expected_and_what_came(change: Any, error: type[Exception], says: str) -> None:
    arguments = {"boxes": [[0, 0, 1, 1], [0, 0, 1, 2]], "scores": [0.5, 0.4], "iou_threshold": 0.5} | change
    with pytest.raises(error, match=says):
        nms(**arguments)


def test_a_stack_of_identical_boxes_ends() -> None:
    boxes, scores = (
        np.tile(np.array([[5, 5, 9, 9]], np.float32), (100_000, 1)),
        np.random.default_rng(0).random(100_000),
    )
    assert nms(boxes, scores, iou_threshold=0.5).tolist() == [scores.argmax()]
    labels = np.arange(100_000) % 3
    best = [int(np.flatnonzero(labels == k)[scores[labels == k].argmax()]) for k in range(3)]
    assert set(nms(boxes, scores, iou_threshold=0.5, labels=labels)) == set(best)


def test_huge_boxes_over_tiny_ones() -> None:
    rng = np.random.default_rng(8)
    low = rng.uniform(0, 1_000, (3_000, 2))
    side = np.where(np.arange(3_000) % 10 == 0, 800, 2)[:, None]
    boxes, scores = np.concatenate([low, low + side], axis=1), rng.random(3_000)
    for metric in ("iou", "ioa", "iom"):
        found = nms(boxes, scores, iou_threshold=0.4, metric=metric)
        assert found.tolist() == greedy(table(metric, boxes), scores.tolist(), 0.4)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
def test_a_forked_worker_does_not_wait_for_threads_it_has_not() -> None:
    program = """
import os, sys, numpy as np
from ioukit import nms
rng = np.random.default_rng(0)
low = rng.uniform(0, 3_000, (20_000, 2))
boxes, scores = np.concatenate([low, low + 40], axis=1), rng.random(20_000)
before = nms(boxes, scores, iou_threshold=0.5)
child = os.fork()
if child == 0:
    os._exit(0 if (nms(boxes, scores, iou_threshold=0.5) == before).all() else 3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], timeout=60, check=False)
    assert done.returncode == 0
