"""Every figure of an evaluation is right for a protocol without COCO's thresholds, area ranges and measures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ioukit import plots
from ioukit.evaluation import Measure, value_of
from support.drawn_figures import DRAW, named, render, texts
from support.other_protocols import OTHER, evaluated

if TYPE_CHECKING:
    from matplotlib.axes import Axes

pytestmark = pytest.mark.filterwarnings("ignore:Glyph .* missing from font:UserWarning")
every_protocol = pytest.mark.parametrize("protocol", OTHER)


def names_of_coco(ax: Axes) -> list[str]:
    """The texts that name a threshold, a measure or an area range that only COCO has."""
    return [text for text in texts(ax) if re.search(r"AP50|AP75|(?<!median )IoU 0\.[5-9]|small|medium|large", text)]


@every_protocol
@pytest.mark.parametrize("figure", [name for name in DRAW if "0.5" not in name])
def test_it_draws_and_names_nothing_of_coco(figure: str, protocol: str) -> None:
    ax = DRAW[figure](evaluated(protocol))
    assert len(np.unique(render(ax.figure, dpi=40).reshape(-1, 3), axis=0)) > 20
    assert names_of_coco(ax) == []


@every_protocol
def test_the_ap_of_a_legend_is_that_of_the_protocol(protocol: str) -> None:
    evaluation = evaluated(protocol)
    ap = evaluation.summary[evaluation.protocol.main_measure.key]
    classes = 80 if evaluation.protocol.mean_over == "all" else 68
    for draw in (plots.precision_recall_figure, plots.ap_by_iou_figure):
        assert f"mean of {classes} classes: AP {ap:.3f}" in texts(draw(evaluation))
    ax = plots.precision_recall_figure(evaluation, iou_threshold="all")
    assert f"IoU 0.30: AP {ap:.3f}" in texts(ax)
    assert list(named(ax.get_lines())) == ["iou 0.3"]
    (mean,) = named(plots.ap_by_iou_figure(evaluation).get_lines())["mean"].get_ydata()
    assert_allclose(mean, ap)
    assert_allclose(named(plots.class_ap_figure(evaluation).get_lines())["mean"].get_xdata(), ap)


@every_protocol
def test_bars_by_size_have_the_area_ranges_of_the_protocol(protocol: str) -> None:
    evaluation = evaluated(protocol)
    ax = plots.ap_by_size_figure(evaluation)
    name = {"rule": "AP at IoU 0.3", "own measures": "found@30"}[protocol]
    heights = {gid: patch.get_height() for gid, patch in named(ax.patches).items()}
    assert set(heights) == {f"{name} {label}" for label in ("any", "speck", "blob")}
    for label in ("any", "speck", "blob"):
        assert_allclose(heights[f"{name} {label}"], value_of(evaluation.curves, Measure("AP", area_range=label)))
    ticks = [label.get_text().split("\n")[:2] for label in ax.get_xticklabels()]
    assert ticks == [["any", "any side"], ["speck", "up to 90 px"], ["blob", "at least 90 px"]]


def test_an_area_range_by_name() -> None:
    ax = plots.precision_recall_figure(evaluated("rule"), area_range="speck", classes=["person"])
    assert ax.get_xlabel() == "recall (speck objects)"
    with pytest.raises(ValueError, match="no area range 'small'; there are any, speck, blob"):
        plots.class_ap_figure(evaluated("rule"), area_range="small")


def test_a_training_is_drawn_with_the_numbers_of_the_protocol() -> None:
    log = [
        {"epoch": 1, "total": 3.0, "found": 0.1, "reach": 0.2},
        {"epoch": 2, "total": 2.0, "found": 0.2, "reach": 0.3},
    ]
    left, right = plots.training_figure(log, protocol=OTHER["own measures"]).axes
    assert list(named(left.get_lines())) == ["total"]
    assert list(named(right.get_lines())) == ["found"]
