"""The figure of slices shows their numbers, limits and names."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("matplotlib")

from ioukit import evaluate, plots
from ioukit.slices import slice_numbers
from support.drawn_figures import render
from support.evaluated_scenes import HARD_NAMES, made

if TYPE_CHECKING:
    from matplotlib.patches import Rectangle

    from ioukit.plots._drawing import ThemeName


def _named(patches: Any) -> dict[Any, Rectangle]:
    return {patch.get_gid(): patch for patch in patches}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_bars_and_limits_are_the_numbers(theme: ThemeName) -> None:
    found = slice_numbers(made(images=30), ["size", "crowding"], keys=["AP", "AR100"], replicates=30)
    ax = plots.slices_figure(found, key="AR100", theme=theme)
    bars = _named(ax.patches)
    lines: dict[Any, Any] = {line.get_gid(): line for line in ax.get_lines()}
    for at, one in enumerate(found):
        number = one.numbers["AR100"]
        assert bars[f"slice {at}"].get_width() == number.value
        limits = lines.get(f"slice {at} limits")
        assert (limits is None) == math.isnan(number.low)
        assert limits is None or list(limits.get_xdata()) == [number.low, number.high]
        assert bool(bars[f"slice {at}"].get_hatch()) == one.shares_false_positives
        assert ax.get_yticklabels()[at].get_text().startswith(f"{one.name}\n{one.objects:,} object")
    assert list(lines["whole"].get_xdata()) == [found.whole["AR100"]] * 2
    assert ax.get_xlabel() == "AR100"
    render(ax.figure)


def test_two_models_stand_side_by_side() -> None:
    data = made(images=30)
    assert data.ground_truth is not None
    assert data.detections is not None
    half = evaluate(data.ground_truth, data.detections[::2])
    found = slice_numbers(data, "size", b=half, keys=["AP"], replicates=0)
    bars = {name: bar.get_width() for name, bar in _named(plots.slices_figure(found).patches).items()}
    assert bars["slice 1 of b"] == found["size: medium"].of_b["AP"].value
    assert bars["slice 1"] == found["size: medium"].numbers["AP"].value


@pytest.mark.filterwarnings("ignore:Glyph .* missing from font:UserWarning")
def test_hard_names_and_empty_data_are_drawn() -> None:
    for data in (made(HARD_NAMES, images=12), made(objects=False), made(images=0)):
        found = slice_numbers(data, ["category", "size"], keys=["AP"], replicates=5)
        render(plots.slices_figure(found).figure)
    with pytest.raises(ValueError, match="no number 'AP75'; there are AP"):
        plots.slices_figure(found, key="AP75")
