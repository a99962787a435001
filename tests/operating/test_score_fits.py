"""Fitted maps have the least error, and are those of scikit-learn and netcal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from ioukit.operating import (
    fit_isotonic,
    fit_platt,
    fit_temperature,
)
from ioukit.postprocess import PlattMap, TemperatureMap
from support import strategies as _strategies  # noqa: F401 - loads the profile

seeds = st.integers(0, 10_000)


def drawn_scores(seed: int, count: int, scale: float, *, soft: bool = False) -> tuple[Any, Any]:
    """Scores, and targets whose probability has other log odds than the score."""
    rng = np.random.default_rng(seed)
    x = rng.beta(1, 2, count).clip(1e-4, 1 - 1e-4)
    p = 1 / (1 + np.exp(-(scale * np.log(x / (1 - x)) + 0.3)))
    return x, (p * rng.uniform(0.5, 1, count) if soft else (rng.random(count) < p).astype(float))


def cross_entropy(p: Any, t: Any) -> float:
    p = np.clip(p, 1e-300, 1 - 1e-16)
    return float(-np.sum(t * np.log(p) + (1 - t) * np.log1p(-p)))


class TestFits:
    @given(seeds, st.integers(2, 200), st.floats(0.2, 5), st.booleans())
    def test_temperature_has_the_least_cross_entropy(self, seed: int, count: int, scale: float, soft: bool) -> None:
        x, t = drawn_scores(seed, count, scale, soft=soft)
        best = fit_temperature(x, t)
        least = cross_entropy(best(x), t)
        for other in (0.9, 0.99, 1.01, 1.1):
            temperature = min(max(best.temperature * other, 0.01), 100)
            assert least <= cross_entropy(TemperatureMap(temperature)(x), t) + 1e-9 * count

    @given(seeds, st.integers(2, 200), st.floats(0.2, 5), st.booleans())
    def test_platt_has_the_least_cross_entropy(self, seed: int, count: int, scale: float, soft: bool) -> None:
        x, t = drawn_scores(seed, count, scale, soft=soft)
        right = t.sum()
        softened = t * (right + 1) / (right + 2) + (1 - t) / (count - right + 2)
        best = fit_platt(x, t)
        least = cross_entropy(best(x), softened)
        for slope in (-0.02, 0.0, 0.02):
            for offset in (-0.02, 0.0, 0.02):
                other = PlattMap(max(best.slope + slope, 0), best.offset + offset)
                assert least <= cross_entropy(other(x), softened) + 1e-9 * count

    @pytest.mark.parametrize("seed", range(8))
    def test_platt_is_that_of_scikit_learn(self, seed: int) -> None:
        calibration = pytest.importorskip("sklearn.calibration", reason="the comparison needs scikit-learn")
        x, t = drawn_scores(seed, 500, 0.5 + seed / 4)
        odds = np.log(x / (1 - x))
        slope, offset = calibration._sigmoid_calibration(odds, t)  # 1 / (1 + exp(slope * x + offset))
        mine = fit_platt(x, t)
        assert (mine.slope, mine.offset) == pytest.approx((-slope, -offset), rel=1e-4, abs=1e-5)

    @pytest.mark.filterwarnings("ignore:.*:DeprecationWarning", "ignore:.*:FutureWarning", "ignore:.*:UserWarning")
    @pytest.mark.parametrize("seed", range(4))
    def test_platt_and_temperature_are_those_of_netcal(self, seed: int) -> None:
        scaling = pytest.importorskip("netcal.scaling", reason="the comparison needs netcal")
        x, t = drawn_scores(seed, 4000, 0.6 + seed / 4)
        logistic = scaling.LogisticCalibration(detection=True)
        logistic.fit(x, t.astype(int))
        assert_allclose(fit_platt(x, t)(x), np.asarray(logistic.transform(x)).ravel(), atol=3e-3)
        temperature = scaling.TemperatureScaling(detection=True)
        temperature.fit(x, t.astype(int))
        assert_allclose(fit_temperature(x, t)(x), np.asarray(temperature.transform(x)).ravel(), atol=3e-3)

    @given(seeds, st.integers(1, 60), st.integers(1, 3), st.booleans())
    def test_isotonic_has_the_least_squares(self, seed: int, count: int, digits: int, soft: bool) -> None:
        x, t = drawn_scores(seed, count, 1.0, soft=soft)
        x = np.round(x, digits)
        best = fit_isotonic(x, t)
        assert (np.diff(best.values) >= 0).all()
        # The minimum over rising values is max over beginnings of min over ends of the mean in between.
        points = np.unique(x)
        expected = [
            max(
                min(float(t[(x >= first) & (x <= last)].mean()) for last in points if last >= point)
                for first in points
                if first <= point
            )
            for point in points
        ]
        assert_allclose(best(points), expected, atol=1e-12)

    @pytest.mark.parametrize("seed", range(10))
    def test_isotonic_is_that_of_scikit_learn(self, seed: int) -> None:
        isotonic = pytest.importorskip("sklearn.isotonic", reason="the comparison needs scikit-learn")
        x, t = drawn_scores(seed, 300, 1.0, soft=seed % 2 == 0)
        x = np.round(x, 3)
        theirs = isotonic.IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(x, t)
        at = np.linspace(0, 1, 501)
        assert_allclose(fit_isotonic(x, t)(at), theirs.predict(at), atol=1e-9)

    def test_few_and_special_scores(self) -> None:
        none = np.zeros(0)
        assert fit_temperature(none, none) == TemperatureMap(1.0)
        assert fit_platt(none, none) == PlattMap(1.0, 0.0)
        assert fit_isotonic(none, none)([0.0, 0.3, 1.0]).tolist() == [0.0, 0.3, 1.0]
        assert fit_temperature([0.5, 0.5], [1, 0]).temperature == 1
        assert fit_platt([0.7] * 4, [1, 1, 0, 0])([0.7])[0] == pytest.approx(0.5)
        assert fit_platt([0.7], [1])([0.7])[0] == pytest.approx(2 / 3), "(P + 1) / (P + 2)"
        assert fit_isotonic([0.7], [1])([0.1, 0.9]).tolist() == [1.0, 1.0]
        for fit in (fit_temperature, fit_platt, fit_isotonic):
            for t in ([1, 1, 1], [0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]):
                found = fit([0.0, 0.5, 1.0], t)([0.0, 0.25, 0.5, 1.0])
                assert np.isfinite(found).all()
                assert (np.diff(found) >= 0).all()
        assert fit_temperature([0.9, 0.1], [1, 0]).temperature == 0.01
        assert fit_temperature([0.9, 0.1], [0, 1]).temperature == 100
        assert fit_platt([0.9, 0.1] * 50, [0, 1] * 50).slope == 0

    @pytest.mark.parametrize("fit", [fit_temperature, fit_platt, fit_isotonic])
    def test_wrong_arguments(self, fit: Any) -> None:
        with pytest.raises(ValueError, match=r"scores must be within \[0, 1\], got 2"):
            fit([2.0], [1])
        with pytest.raises(ValueError, match=r"targets must be within \[0, 1\], got -1"):
            fit([0.5], [-1])
        with pytest.raises(ValueError, match=r"scores must be within \[0, 1\], got nan"):
            fit([math.nan], [1])
        with pytest.raises(ValueError, match=r"must have one shape \(N,\), got \(1,\) and \(2,\)"):
            fit([0.5], [1, 0])
