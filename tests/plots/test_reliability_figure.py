"""The reliability diagram shows what the calibration errors say."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import plots
from ioukit.operating import calibrate, calibration_errors
from support.drawn_figures import named, scene


def test_marks_are_at_mean_score_and_precision() -> None:
    errors = calibration_errors(scene("three classes"), bins=60, replicates=20)
    ax = plots.reliability_figure(errors)
    diagram = errors.reliability
    rows = np.flatnonzero(diagram.counts)
    assert 0 < len(rows) < 60
    lines, marks = named(ax.get_lines()), named(ax.collections)
    assert set(lines) == {"equal", "curve 0"}
    assert set(marks) == {"marks 0", "intervals 0"}
    assert_array_equal(lines["curve 0"].get_xdata(), diagram.mean_scores[rows])
    assert_array_equal(lines["curve 0"].get_ydata(), diagram.precision[rows])
    assert_allclose(marks["marks 0"].get_offsets(), np.stack([diagram.mean_scores, diagram.precision], axis=1)[rows])
    order = np.argsort(marks["marks 0"].get_sizes(), kind="stable")
    assert_array_equal(np.sort(diagram.counts[rows]), diagram.counts[rows][order])
    ends = [segment[:, 1].tolist() for segment in marks["intervals 0"].get_segments() if len(segment)]
    assert 0 < np.isfinite(diagram.low).sum() < len(rows), "ranges that no image changes have none"
    assert_allclose(ends, np.stack([diagram.low, diagram.high], axis=1)[np.isfinite(diagram.low)])
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [f"D-ECE {errors.d_ece:.3f}"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("mean score", "precision at IoU 0.5")


def test_several_have_names_and_no_intervals_without_replicates() -> None:
    fit = calibrate(scene("three classes"), "temperature", replicates=0)
    ax = plots.reliability_figure({"before": fit.before, "$after$": fit.after}, theme="dark")
    assert set(named(ax.get_lines())) == {"equal", "curve 0", "curve 1"}
    assert set(named(ax.collections)) == {"marks 0", "marks 1"}
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        f"before: D-ECE {fit.before.d_ece:.3f}",
        f"$after$: D-ECE {fit.after.d_ece:.3f}",
    ]


def test_without_detections() -> None:
    ax = plots.reliability_figure(calibration_errors(scene("no detections"), replicates=3))
    assert [text.get_text() for text in ax.texts] == ["no detections"]


def test_too_few_and_too_many() -> None:
    errors = calibration_errors(scene("three classes"), replicates=0)
    for count in (0, 7):
        with pytest.raises(ValueError, match=f"expected one to 6 results of calibration_errors, got {count}"):
            plots.reliability_figure({str(k): errors for k in range(count)})
