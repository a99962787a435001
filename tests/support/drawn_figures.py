"""The content of a drawn figure: its texts, its artists by their ids, its pixels."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import plots
from ioukit.evaluation import miss_rate_curves
from ioukit.operating import calibration_errors
from support.evaluated_scenes import SCENES

__all__ = ["DRAW", "contrast", "named", "render", "scene", "texts"]

pytest.importorskip("matplotlib", reason="the figures need matplotlib: pip install 'ioukit[plots]'")
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from ioukit.evaluation import Evaluation


DRAW: dict[str, Callable[..., Any]] = {
    "precision_recall_figure": plots.precision_recall_figure,
    "precision_recall_figure at each IoU": lambda e, **o: plots.precision_recall_figure(e, iou_threshold="all", **o),
    "ap_by_iou_figure": plots.ap_by_iou_figure,
    "ap_by_size_figure": plots.ap_by_size_figure,
    "class_ap_figure": plots.class_ap_figure,
    "class_ap_figure at 0.5": lambda e, **o: plots.class_ap_figure(e, iou_threshold=0.5, **o),
    "score_curves_figure": lambda e, **o: plots.score_curves_figure(e.score_curves(), **o),
    "miss_rate_figure": lambda e, **o: plots.miss_rate_figure(miss_rate_curves(e.matches), **o),
    "froc_figure": plots.froc_figure,
    "confusion_figure": lambda e, **o: plots.confusion_figure(e.confusion(), **o),
    "confusion_figure of shares": lambda e, **o: plots.confusion_figure(e.confusion(), normalize="truth", **o),
    "score_histogram_figure": plots.score_histogram_figure,
    "score_histogram_figure, linear": lambda e, **o: plots.score_histogram_figure(e, log=False, **o),
    "iou_histogram_figure": plots.iou_histogram_figure,
    "reliability_figure": lambda e, **o: plots.reliability_figure(calibration_errors(e, replicates=20), **o),
    "error_kinds_figure": lambda e, **o: plots.error_kinds_figure(e.error_kinds(), **o),
}
"""Every figure of an evaluation."""


@cache
def scene(name: str) -> Evaluation:
    """An evaluation of `evaluated_scenes`, made once."""
    found: Evaluation = SCENES[name]()
    return found


def named(artists: Any) -> dict[str, Any]:
    """Artists by their ids; each id must be unique."""
    found = [(artist.get_gid(), artist) for artist in artists if artist.get_gid() is not None]
    assert len(dict(found)) == len(found)
    return dict(found)


def texts(ax: Axes) -> list[str]:
    """All visible texts of the figure."""
    return [text.get_text() for text in ax.figure.findobj(Text) if text.get_text() and text.get_visible()]


def render(figure: Any, dpi: float = 60) -> Any:
    """Pixels, (H, W, 3)."""
    figure.set_dpi(dpi)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3]


def contrast(one: Any, other: Any) -> float:
    """The contrast of two colours, as WCAG 2.2 defines it."""
    lights = []
    for colour in (one, other):
        rgb = np.array(to_rgba(colour)[:3])
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        lights.append(float(linear @ (0.2126, 0.7152, 0.0722)) + 0.05)
    return max(lights) / min(lights)
