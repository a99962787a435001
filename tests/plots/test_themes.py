"""The figures of boxes, grids, assignments and trainings in both themes; test_evaluation_figures.py has the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import plots
from ioukit.anchors import anchor_points
from ioukit.assign import assign_yolov3, assign_yolov5
from ioukit.plots._drawing import THEMES
from support.drawn_figures import contrast, render

pytest.importorskip("matplotlib", reason="the pictures need matplotlib: pip install 'ioukit[plots]'")
from matplotlib.axes import Axes
from matplotlib.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

OBJECTS = [[96, 96, 224, 160], [30, 200, 90, 330]]


def assignment(theme: Any) -> Figure:
    grid: dict[str, Any] = {"anchors": [[[120, 60]]], "strides": [32], "image_size": (416, 416)}
    rules = {"YOLOv3": assign_yolov3(OBJECTS, **grid), "YOLOv5": assign_yolov5(OBJECTS, **grid)}
    rules |= {"again": rules["YOLOv5"]}
    points = anchor_points((416, 416), [32]).points
    return plots.assignment_figure((416, 416), OBJECTS, points, rules, theme=theme)


LOG = [{"epoch": k, "total": 3.0 / k, "box": 1.0 / k, "AP": 0.1 * k, "AP50": 0.2 * k} for k in (1, 2, 3)]
FIGURES: dict[str, Callable[[Any], Axes | Figure]] = {
    "overlap": lambda theme: plots.overlap_figure([2, 2, 8, 8], [4, 3, 10, 9], theme=theme),
    "grid": lambda theme: plots.grid_figure(OBJECTS, image_size=(416, 416), labels=["a", "b"], theme=theme),
    "shift": lambda theme: plots.variants_figure(motion="shift", theme=theme),
    "scale": lambda theme: plots.variants_figure(motion="scale", theme=theme),
    "giou": lambda theme: plots.variant_figure("giou", theme=theme),
    "survivors": lambda theme: plots.survivors_figure(
        [[0, 0, 4, 4], [1, 0, 5, 4]], [[0, 0, 4, 4]], scores=[0.9], into=[0, 0], theme=theme
    ),
    "assignment": assignment,
    "training": lambda theme: plots.training_figure(LOG, theme=theme),
}


def figure_of(name: str, theme: str) -> Any:
    made = FIGURES[name](theme)
    return made.figure if isinstance(made, Axes) else made


@pytest.mark.parametrize("name", FIGURES)
class TestThemes:
    def test_the_paper_is_light_or_dark(self, name: str) -> None:
        light, dark = (np.asarray(render(figure_of(name, theme)))[..., :3] for theme in ("light", "dark"))
        assert np.median(light) == 255
        assert np.median(dark) < 40

    @pytest.mark.parametrize("theme", THEMES)
    def test_every_text_stands_out(self, name: str, theme: str) -> None:
        figure = figure_of(name, theme)
        render(figure)
        texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
        assert texts
        for text in texts:
            # The name of an object has the colour of its box.
            coloured = text.get_bbox_patch() is not None or text.get_text() in {"GIoU", "DIoU", "CIoU", "DIoU = CIoU"}
            assert contrast(text.get_color(), THEMES[theme].paper) >= (3 if coloured else 4.5), text.get_text()

    def test_an_unknown_theme(self, name: str) -> None:
        with pytest.raises(ValueError, match="unknown theme 'blue'; choose from light, dark"):
            FIGURES[name]("blue")


def test_assignments_stand_in_rows_of_two() -> None:
    figure = assignment("light")
    render(figure)
    first, second, third = (ax.get_position() for ax in figure.axes)
    assert first.y0 == pytest.approx(second.y0)
    assert third.y1 < first.y0
    assert third.x0 == pytest.approx(first.x0)
    # The panel above the empty place has numbers along x, too.
    assert all(ax.xaxis.get_tick_params()["labelbottom"] for ax in figure.axes[1:])


@pytest.mark.parametrize("name", ["giou", "ioa", "intersection", "iou"])
def test_a_measure_is_compared_with_iou(name: str) -> None:
    lines = {line.get_gid(): line for line in plots.variant_figure(name).get_lines()}
    if name in ("iou", "intersection"):  # itself; an area
        assert "iou" not in lines
        return
    (expected,) = plots.variant_figure("iou").get_lines()[:1]
    np.testing.assert_array_equal(lines["iou"].get_ydata(), expected.get_ydata())
