"""Which boxes survive, and where the others went: the picture says what it was told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ioukit import Boxes

pytest.importorskip("matplotlib", reason="the pictures need matplotlib: pip install 'ioukit[plots]'")

from matplotlib.figure import Figure
from matplotlib.text import Annotation

from ioukit.plots import survivors_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BOXES = [[0.0, 0.0, 4.0, 4.0], [1.0, 0.0, 5.0, 4.0], [9.0, 9.0, 12.0, 12.0], [0.0, 1.0, 4.0, 5.0]]


def gids(ax: Axes) -> list[str | None]:
    return [patch.get_gid() for patch in ax.patches]


def arrows(ax: Axes) -> dict[str, Annotation]:
    found = [text for text in ax.texts if isinstance(text, Annotation) and text.get_gid()]
    return {str(arrow.get_gid()): arrow for arrow in found}


def test_survivors_among_the_boxes_are_drawn_once() -> None:
    ax = survivors_figure(BOXES, [BOXES[0], BOXES[2]], scores=[0.9, 0.8], into=[0, 0, 1, 0])
    assert gids(ax) == ["box 1", "box 3", "survivor 0", "survivor 1"]
    assert sorted(text.get_text() for text in ax.texts if text.get_text()) == ["0.80", "0.90"]


def test_arrows_lead_to_the_survivor() -> None:
    ax = survivors_figure(BOXES, [BOXES[0], BOXES[2]], into=[0, 0, 1, -1])
    shown = arrows(ax)
    assert list(shown) == ["arrow 1"], "none from a survivor, none where nothing is known"
    assert shown["arrow 1"].xy == pytest.approx((2, 2))
    assert shown["arrow 1"].xyann == pytest.approx((3, 4))


def test_fused_boxes_are_new_ones() -> None:
    ax = survivors_figure(BOXES[:2], [[0.5, 0, 4.5, 4]], into=[0, 0])
    assert gids(ax) == ["box 0", "box 1", "survivor 0"]
    assert list(arrows(ax)) == ["arrow 0", "arrow 1"]


def test_draws_into_the_axes_of_the_caller_and_keeps_their_limits() -> None:
    axes = Figure().subplots()
    axes.set(xlim=(0, 100), ylim=(50, 0))
    assert survivors_figure(BOXES, BOXES[:1], ax=axes) is axes
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 100), (50, 0))


def test_nothing_to_draw() -> None:
    ax = survivors_figure([], [], scores=[], into=[])
    ax.figure.canvas.draw()
    assert gids(ax) == []


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match=r"scores must have shape \(1,\), one per survivor, got \(2,\)"):
        survivors_figure(BOXES, BOXES[:1], scores=[0.5, 0.4])
    with pytest.raises(ValueError, match=r"into must hold one integer per box, \(4,\), got int64 of shape \(2,\)"):
        survivors_figure(BOXES, BOXES[:1], into=[0, 0])
    with pytest.raises(ValueError, match=r"into must hold one integer per box, \(4,\), got float64"):
        survivors_figure(BOXES, BOXES[:1], into=np.zeros(4))
    with pytest.raises(ValueError, match=r"into\[2\] must be -1 or a position among the 1 survivors, got 1"):
        survivors_figure(BOXES, BOXES[:1], into=[0, 0, 1, 0])
    with pytest.raises(ValueError, match="in one unit"):
        survivors_figure(BOXES, Boxes([[0, 0, 1, 1]], normalized=True))
