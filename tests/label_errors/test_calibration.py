"""The regressions behind the scores: they are at their optimum, and survive data without variety."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioukit.label_errors.calibration import chance, fitted_logits, score_features, without_lapse


def slow_logits(happened: np.ndarray, features: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The same regression by Newton's method on all coefficients at once, until the estimated prior stays as it is."""
    scale = features.std(axis=0)
    design = np.concatenate(
        [
            np.ones((len(happened), 1)),
            (features - features.mean(axis=0)) / np.where(scale > 0, scale, 1),
            np.eye(int(classes.max()) + 1)[classes],
        ],
        axis=1,
    )
    count = 1 + features.shape[1]
    of_classes = slice(count, None)
    prior = np.array([1e-6] + [0.1] * (count - 1) + [1.0] * (design.shape[1] - count))
    beta = np.zeros(design.shape[1])
    for _ in range(3000):
        expected = 1 / (1 + np.exp(-design @ beta))
        curvature = design.T @ (design * (expected * (1 - expected))[:, None]) + np.diag(prior)
        beta += np.linalg.solve(curvature, design.T @ (happened - expected) - prior * beta)
        # EM with the variance of each intercept for itself, as if the other coefficients were known.
        variance = 1 / np.diag(curvature)[of_classes]
        prior[of_classes] = 1 / max(float(np.mean(beta[of_classes] ** 2 + variance)), 0.01)
    return design @ beta


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_optimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features, classes = rng.normal(0, 1, (600, 2)), rng.integers(0, 4, 600)
    strength = (0.0, 0.3, 1.0, 3.0)[seed]  # from classes that are alike to classes that differ much
    happened = rng.random(600) < chance(features[:, 0] - 0.5 + strength * (classes - 1.5))
    found = fitted_logits(happened, features, classes)
    np.testing.assert_allclose(found, slow_logits(happened, features, classes), atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_a_coefficient_that_would_fall_is_left_out(seed: int) -> None:
    """The optimum of two rising features, one of which falls in the data, is that of the other one alone."""
    rng = np.random.default_rng(seed)
    features, classes = rng.normal(0, 1, (600, 2)), rng.integers(0, 4, 600)
    happened = rng.random(600) < chance(features[:, 0] - 0.6 * features[:, 1] + classes - 1.5)
    found = fitted_logits(happened, features, classes, rising=2)
    np.testing.assert_allclose(found, slow_logits(happened, features[:, :1], classes), atol=1e-5)


@given(st.integers(0, 10**6), st.integers(0, 30), st.integers(1, 5), st.sampled_from(["all", "none", "some"]))
@settings(deadline=None)
def test_it_is_finite_on_any_data(seed: int, count: int, size: int, which: str) -> None:
    rng = np.random.default_rng(seed)
    features = np.repeat(rng.integers(0, 2, (count, 1)), 3, axis=1).astype(float)  # columns that depend on each other
    happened = {"all": np.ones(count), "none": np.zeros(count), "some": rng.integers(0, 2, count)}[which] > 0
    found = fitted_logits(happened, features, rng.integers(0, size, count), rising=seed % 4)
    assert found.shape == (count,)
    assert np.isfinite(found).all()


def test_features_of_scores_rise() -> None:
    for scores in (np.linspace(0, 1, 50), np.linspace(-8, 12, 50), np.array([3.0]), np.zeros(0)):
        features = score_features(scores)
        assert features.shape == (len(scores), 3)
        assert (np.diff(features, axis=0) >= 0).all()
        assert np.isfinite(features).all()


@pytest.mark.parametrize("lapse", [0.002, 0.05, 0.3, 0.5])
def test_without_lapses_the_line_is_the_likeliest(lapse: float) -> None:
    """Neither another intercept nor another slope has a higher likelihood, given the weak prior around no change."""
    rng = np.random.default_rng(int(1000 * lapse))
    truth = np.round(rng.normal(1, 3, 20_000), 1)  # the fit rounds to tenths
    happened = rng.random(len(truth)) < (1 - lapse) * chance(0.4 + 1.5 * truth)
    used = np.arange(len(truth)) % 5 > 0
    found = without_lapse(truth, happened, used, lapse)
    slope, intercept = np.polyfit(truth, found, 1)
    np.testing.assert_allclose(found, np.clip(intercept + slope * truth, -20, 20), atol=1e-9)

    def likelihood(intercept: float, slope: float) -> float:
        right = (1 - lapse) * chance(intercept + slope * truth[used])
        told = np.where(happened[used], np.log(right), np.log1p(-right)).sum()
        return float(told - 0.005 * intercept**2 - 0.5 * (slope - 1) ** 2)

    best = likelihood(intercept, slope)
    for step in (0.02, -0.02):
        assert likelihood(intercept + step, slope) < best
        assert likelihood(intercept, slope + step) < best
    assert abs(slope - 1.5) < 0.15
    assert abs(intercept - 0.4) < 0.2


@given(
    st.lists(st.tuples(st.floats(-20, 20), st.booleans(), st.booleans()), max_size=20),
    st.sampled_from([0.002, 0.1, 0.5]),
)
@settings(deadline=None)
def test_without_lapses_the_order_stays(rows: list[tuple[float, bool, bool]], lapse: float) -> None:
    logits = np.array([row[0] for row in rows] + [-np.inf])
    happened, used = (np.array([row[k] for row in rows] + [False]) for k in (1, 2))
    found = without_lapse(logits, happened, used, lapse)
    assert np.isfinite(found).all()
    assert (np.diff(found[np.argsort(logits)]) >= 0).all()
