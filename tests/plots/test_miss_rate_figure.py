"""The figures over false positives per image: miss rates with their log-average, and FROC."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ioukit import Detections, GroundTruth, evaluate, plots
from ioukit.evaluation import miss_rate_curves
from support.drawn_figures import named, scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ioukit.evaluation import MissRateCurves


def _legend(ax: Axes) -> list[str]:
    legend = ax.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def curves(iou_threshold: float = 0.5) -> MissRateCurves:
    return miss_rate_curves(scene("three classes").matches, iou_threshold=iou_threshold)


def test_a_line_is_the_curve_and_dots_are_where_it_is_read() -> None:
    found = curves()
    ax = plots.miss_rate_figure(found)
    lines = named(ax.get_lines())
    assert set(lines) == {"curve 0", "read 0"}
    left, _ = ax.get_xlim()
    assert_array_equal(lines["curve 0"].get_xdata()[1:], np.maximum(found.overall.fppi, left))
    assert_array_equal(lines["curve 0"].get_ydata(), [1.0, *found.overall.miss_rate])
    assert_array_equal(lines["read 0"].get_xdata(), found.overall.rule.fppi)
    assert_array_equal(lines["read 0"].get_ydata(), found.overall.at(found.overall.rule.fppi))
    assert _legend(ax)[0] == f"all classes: MR {found.overall.log_average:.3f}"
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_ylabel()) == ("log", "log", "miss rate at IoU 0.5")


def test_a_class_and_several_detectors() -> None:
    one = curves()
    name = one.categories.names[1]
    ax = plots.miss_rate_figure(one, category=name)
    assert _legend(ax)[0] == f"{name}: MR {one.per_class[1].log_average:.3f}"
    several = plots.miss_rate_figure({"loose": one, "_tight": curves(0.75)}, category=name, theme="dark")
    assert set(named(several.get_lines())) == {"curve 0", "read 0", "curve 1", "read 1"}
    assert [text.split(":")[0] for text in _legend(several)] == ["loose", "_tight"]
    assert several.get_ylabel() == "miss rate"


def test_a_perfect_detector_and_one_without_detections_are_drawn() -> None:
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]])
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]], scores=[0.9])
    perfect = miss_rate_curves(evaluate(gt, dt).matches)
    nothing = miss_rate_curves(evaluate(gt, dt[:0]).matches)
    empty = miss_rate_curves(evaluate(gt[:0], dt).matches)
    ax = plots.miss_rate_figure({"perfect": perfect, "nothing": nothing, "no objects": empty})
    ax.figure.canvas.draw()
    assert [text.split(" MR ")[1] for text in _legend(ax)] == ["0.000", "1.000", "\N{EN DASH}"]
    lines = named(ax.get_lines())
    assert lines["curve 0"].get_ydata().min() == ax.get_ylim()[0] == 1e-3
    assert len(lines["curve 2"].get_xdata()) == 0


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match="expected one to 6 results of miss_rate_curves, got 0"):
        plots.miss_rate_figure({})
    with pytest.raises(ValueError, match="expected one to 6 results of miss_rate_curves, got 7"):
        plots.miss_rate_figure({str(number): curves() for number in range(7)})
    with pytest.raises(ValueError, match="no category has the name 'ship'"):
        plots.miss_rate_figure(curves(), category="ship")


def froc(score: float = 0.3) -> MissRateCurves:
    """Three objects on three images; the last detection of five finds nothing new."""
    truth = GroundTruth.from_arrays(
        image_ids=[1, 1, 2],
        category_ids=[1, 1, 1],
        boxes=[[10, 10, 8, 8], [40, 40, 6, 6], [20, 30, 9, 9]],
        images=[1, 2, 3],
    )
    found = Detections.from_arrays(
        image_ids=[1, 1, 2, 3, 1],
        category_ids=[1, 1, 1, 1, 1],
        boxes=[[11, 10, 8, 8], [70, 70, 6, 6], [15, 25, 20, 20], [5, 5, 8, 8], [11, 12, 7, 7]],
        scores=[0.9, 0.7, 0.6, 0.4, score],
    )
    return miss_rate_curves(evaluate(truth, found, "froc").matches)


def test_froc_goes_straight_from_point_to_point_and_is_read_at_dots() -> None:
    found = froc()
    ax = plots.froc_figure(found)
    lines = named(ax.get_lines())
    assert set(lines) == {"curve 0", "read 0"}
    across, up = lines["curve 0"].get_xdata(), lines["curve 0"].get_ydata()
    # By hand: 1/3 of the objects without a false positive, 2/3 from 1/3 of one per image on.
    np.testing.assert_allclose(up, np.where(across < 1 / 3, 1 / 3, 2 / 3))
    assert_array_equal(lines["read 0"].get_xdata(), [0.125, 0.25, 0.5, 1, 2, 4, 8])
    np.testing.assert_allclose(lines["read 0"].get_ydata(), [1 / 3, 1 / 3, 2 / 3, 2 / 3, 2 / 3, 2 / 3, 2 / 3])
    assert _legend(ax) == ["all classes: FROC 0.571"]
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_ylabel()) == ("log", "linear", "sensitivity at IoU 0.1")


def test_froc_of_several_detectors_and_of_none() -> None:
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]])
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]], scores=[0.9])
    empty = miss_rate_curves(evaluate(gt[:0], dt, "froc").matches)
    ax = plots.froc_figure({"one": froc(), "other": froc(0.8), "no objects": empty}, theme="dark")
    ax.figure.canvas.draw()
    assert [text.split(" FROC ")[1] for text in _legend(ax)] == ["0.571", "0.524", "\N{EN DASH}"]
    assert len(named(ax.get_lines())["curve 2"].get_xdata()) == 0
    with pytest.raises(ValueError, match="expected one to 6 results of miss_rate_curves, got 0"):
        plots.froc_figure({})
