"""Draw docs/figures/overlap.svg: what the overlap measures say of four pairs of boxes. Needs matplotlib."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import ioukit

OBJECT = [2.0, 2.0, 8.0, 8.0]
PAIRS = {
    "shifted": [4.0, 3.0, 10.0, 9.0],
    "inside": [4.0, 2.5, 6.0, 7.5],
    "touching": [8.0, 2.0, 12.0, 8.0],
    "apart": [9.5, 7.0, 13.0, 9.0],
}
MEASURES = {
    "IoU": ioukit.elementwise_iou,
    "IoA": ioukit.elementwise_ioa,
    "GIoU": ioukit.elementwise_giou,
    "DIoU": ioukit.elementwise_diou,
    "CIoU": ioukit.elementwise_ciou,
}


def draw(ax: Axes, title: str, detection: list[float]) -> None:
    for (x1, y1, x2, y2), line, name in ((OBJECT, "-", "object"), (detection, "--", "detection")):
        ax.add_patch(Rectangle((x1, y1), x2 - x1, y2 - y1, fill=False, lw=2, ls=line, ec="black", label=name))
    x1, y1 = (max(a, b) for a, b in zip(OBJECT[:2], detection[:2], strict=True))
    x2, y2 = (min(a, b) for a, b in zip(OBJECT[2:], detection[2:], strict=True))
    if x2 > x1 and y2 > y1:
        ax.add_patch(Rectangle((x1, y1), x2 - x1, y2 - y1, fc="#f2c14e", ec="#8a5a00", lw=0, hatch="///", zorder=0))
    values = [f"{name:<5}{float(measure(OBJECT, detection)):>7.3f}" for name, measure in MEASURES.items()]
    style = {"ha": "center", "va": "top", "family": "monospace", "fontsize": 11}
    ax.text(0.5, -0.06, "\n".join(values), transform=ax.transAxes, **style)
    ax.set_title(title, fontsize=12)
    ax.set(xlim=(1, 14), ylim=(11.5, 1), aspect="equal", xticks=[], yticks=[])
    for side in ax.spines.values():
        side.set_color("#bbbbbb")


def figure() -> Figure:
    mpl.rcParams.update({"svg.hashsalt": "ioukit", "svg.fonttype": "path", "hatch.linewidth": 0.6})
    drawing = Figure(figsize=(11, 3.8), layout="constrained")
    axes = drawing.subplots(1, len(PAIRS))
    for ax, (title, detection) in zip(axes, PAIRS.items(), strict=True):
        draw(ax, title, detection)
    axes[0].legend(loc="lower right", frameon=False, fontsize=9, borderaxespad=0.2)
    return drawing


if __name__ == "__main__":
    figure().savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None}, facecolor="white")
