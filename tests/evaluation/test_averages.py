"""F-beta, best thresholds and averages over classes, against the formulas and scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - the profile
from evaluation.plain_measures import plain_counts, plain_f_beta
from evaluation.small_scene import DT, GT
from evaluation.test_analysis import SCORES, scenes
from ioukit import Detections, GroundTruth, evaluate, read_coco
from ioukit.evaluation import match, score_curves
from support.paths import DATA

BETAS = [0.0, 0.5, 1.0, 2.0]
CLASSES = (1, 2, 3)


def _mean(values: list[float], weights: list[float]) -> float:
    pairs = [pair for pair in zip(values, weights, strict=True) if not math.isnan(pair[0])]
    return sum(v * w for v, w in pairs) / sum(w for _, w in pairs) if pairs else math.nan


@given(scenes(), st.sampled_from(BETAS), st.sampled_from([-1.0, *SCORES, 2.0]))
def test_averages_are_those_of_the_formulas(data: tuple[GroundTruth, Detections], beta: float, score: float) -> None:
    curves = score_curves(match(*data))
    counts = [plain_counts(*data, {k}, 0.5, score) for k in CLASSES]
    tp = [len(each.overlaps) for each in counts]
    fp, fn = [each.false_positives for each in counts], [each.false_negatives for each in counts]
    for k, curve in enumerate(curves.per_class):
        assert curve.at(score).f_beta(beta) == pytest.approx(plain_f_beta(tp[k], fp[k], fn[k], beta), nan_ok=True)
    whole = sum(tp), sum(fp), sum(fn)
    micro = curves.average(score, "micro", beta=beta)
    assert micro.f_beta == pytest.approx(plain_f_beta(*whole, beta), nan_ok=True)
    point = curves.overall.at(score)
    np.testing.assert_array_equal((micro.precision, micro.recall), (point.precision, point.recall))
    kept = [k for k in range(3) if tp[k] + fn[k]]
    for average, weights in (("macro", [1.0] * len(kept)), ("weighted", [float(tp[k] + fn[k]) for k in kept])):
        found = curves.average(score, average, beta=beta)  # type: ignore[arg-type]
        precision = [tp[k] / (tp[k] + fp[k]) if tp[k] + fp[k] else math.nan for k in kept]
        assert found.precision == pytest.approx(_mean(precision, weights), nan_ok=True)
        assert found.recall == pytest.approx(_mean([tp[k] / (tp[k] + fn[k]) for k in kept], weights), nan_ok=True)
        values = [plain_f_beta(tp[k], fp[k], fn[k], beta) for k in kept]
        assert found.f_beta == pytest.approx(_mean(values, weights), nan_ok=True)


@given(scenes(), st.sampled_from(BETAS))
def test_no_score_has_a_higher_f_beta_than_the_best(data: tuple[GroundTruth, Detections], beta: float) -> None:
    curves = score_curves(match(*data))
    for curve, threshold in zip(curves.per_class, curves.best_thresholds(beta), strict=True):
        values = [curve.at(score).f_beta(beta) for score in curve.scores]
        np.testing.assert_array_equal(curve.f_beta(beta), values)
        if math.isnan(threshold):
            assert not values or not max(curve.true_positives)
        else:
            assert curve.at(threshold).f_beta(beta) == max(values)
            assert threshold == max(s for s, value in zip(curve.scores, values, strict=True) if value == max(values))
        np.testing.assert_array_equal(curve.f_beta(1), curve.f1)
        np.testing.assert_array_equal(curve.f_beta(0), curve.precision)


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
@pytest.mark.parametrize("own_thresholds", [False, True])
def test_scikit_learn_says_the_same(average: str, own_thresholds: bool) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    folder = DATA / "coco_val2014_100"
    names = ("instances_val2014_100.json", "instances_val2014_fakebbox100_results.json")
    evaluation = evaluate(*read_coco(*(folder / name for name in names)))
    table, curves = evaluation.matches, evaluation.score_curves()
    count = len(curves.per_class)
    scores = curves.best_thresholds(2) if own_thresholds else np.full(count, 0.4)
    kept = table.detections.score >= scores[table.detections.category]  # never with NaN
    kept &= ~table.is_ignored()
    category, found = table.detections.category[kept], table.is_true_positive()[kept]
    missed = [curve.num_ground_truth - int(found[category == k].sum()) for k, curve in enumerate(curves.per_class)]
    missed_of = np.repeat(np.arange(count), missed)
    # One row per detection or missed object, one column per class.
    truth, predicted = np.zeros((2, len(category) + len(missed_of), count), bool)
    rows = np.arange(len(category))
    predicted[rows, category] = True
    truth[rows, category] = found
    truth[len(category) + np.arange(len(missed_of)), missed_of] = True
    labels = [k for k, curve in enumerate(curves.per_class) if curve.num_ground_truth] if average != "micro" else None
    expected = metrics.precision_recall_fscore_support(
        truth, predicted, beta=2, labels=labels, average=average, zero_division=0
    )
    ours = curves.average(scores if own_thresholds else 0.4, average, beta=2, undefined=0)  # type: ignore[arg-type]
    np.testing.assert_allclose((ours.precision, ours.recall, ours.f_beta), expected[:3], rtol=1e-12)
    left_out = curves.average(scores, average, beta=2)  # type: ignore[arg-type]
    assert left_out.precision >= ours.precision
    assert (left_out.recall, left_out.f_beta) == (ours.recall, ours.f_beta)


def test_what_cannot_be_asked() -> None:
    curves = score_curves(match(GT, DT))
    with pytest.raises(ValueError, match=r"beta must be within \[0, 1e\+100\], got -1"):
        curves.overall.f_beta(-1)
    with pytest.raises(ValueError, match=r"beta must be within \[0, 1e\+100\], got inf"):
        curves.best_thresholds(math.inf)
    with pytest.raises(ValueError, match="beta must be a number, got nan"):
        curves.overall.best.f_beta(math.nan)
    with pytest.raises(ValueError, match="unknown average 'samples'; choose from micro, macro, weighted"):
        curves.average(0.5, "samples")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"expected one score, or one for each of 3 classes, got \[0.5, 0.5\]"):
        curves.average([0.5, 0.5])
    with pytest.raises(ValueError, match="score must be a number, got nan"):
        curves.average(math.nan)
