"""Figures of the walk through a YOLO, docs/iou_in_yolo.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import yolo_walk as yolo
from matplotlib import patches
from matplotlib.figure import Figure

from ioukit import COCO, pairwise_iou, plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "yolo_anchors",
    "yolo_assignment",
    "yolo_candidates",
    "yolo_grid",
    "yolo_matches",
    "yolo_precision_recall",
    "yolo_survivors",
]


# Okabe and Ito's colours, one a class, each with a line style of its own.
CLASS_STYLES = [
    ("#0072B2", "-"), ("#D55E00", "--"), ("#009E73", "-."), ("#CC79A7", ":"), ("#000000", (0, (5, 1))),
    ("#E69F00", (0, (3, 1, 1, 1))), ("#56B4E9", (0, (1, 1))),
]  # fmt: skip


def _photo(ax: Axes, *, faint: bool = True) -> None:
    """The scene of the page; faint, and a quarter of its pixels, where boxes are to be seen on it."""
    pixels = yolo.walk().scene.pixels // 16 * 16 + 8  # fewer colours make a smaller file
    if faint:
        small = pixels.reshape(96, 2, 96, 2, 3).mean(axis=(1, 3))
        pixels = (255 - (255 - small) * 0.45).astype(np.uint8) // 4 * 4
    ax.imshow(pixels, interpolation="none", extent=(0, 192, 192, 0), zorder=-1)
    ax.set(xlim=(0, 192), ylim=(192, 0), xticks=[], yticks=[])


def _frame(ax: Axes, box: np.ndarray, **style: object) -> None:
    x1, y1, x2, y2 = box
    ax.add_patch(patches.Rectangle((x1, y1), x2 - x1, y2 - y1, fill=False, **style))


def _plate(ax: Axes, x: float, y: float, text: str, colour: str) -> None:
    plate = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.85}
    ax.text(min(max(x, 1), 168), max(y, 5), text, fontsize=7, color=colour, va="bottom", bbox=plate, zorder=6)


def yolo_grid() -> Figure:
    w = yolo.walk()
    figure = Figure(figsize=(10, 5), layout="constrained")
    photo, lines = figure.subplots(1, 2)
    _photo(photo, faint=False)
    photo.set_title("192 x 192 pixels", fontsize=10)
    plots.grid_figure(w.scene.boxes, labels=w.names, grid=6, image_size=(192, 192), ax=lines)
    lines.set_title("the grid of stride 32, and who answers for whom", fontsize=10)
    return figure


def yolo_anchors() -> Figure:
    w = yolo.walk()
    shapes, best = w.anchors.reshape(-1, 2), w.alike.argmax(axis=1)
    figure = Figure(figsize=(11, 2.7), layout="constrained")
    for g, ax in enumerate(figure.subplots(1, len(w.names), sharex=True, sharey=True)):
        for k, side in enumerate(shapes):
            mine = k == best[g]
            style = {"ec": "#D55E00", "ls": "--", "lw": 2, "zorder": 3} if mine else {"ec": "0.75", "lw": 0.6}
            _frame(ax, np.hstack([-side / 2, side / 2]), **style)
        side = w.scene.boxes[g, 2:] - w.scene.boxes[g, :2]
        ax.add_patch(patches.Rectangle(-side / 2, *side, fc=("#0072B2", 0.25), ec="#0072B2", lw=2))
        ax.set(xlim=(-42, 42), ylim=(42, -42), aspect="equal", xticks=[], yticks=[])
        stride = yolo.STRIDES[best[g] // 3]
        ax.set_title(f"{w.names[g]}\nIoU {w.alike[g, best[g]]:.2f}, stride {stride}", fontsize=9)
    legend = "blue: the object; dashed: the anchor most like it; grey: the other eight"
    figure.supxlabel(legend, fontsize=8, color="0.3")
    return figure


def yolo_assignment() -> Figure:
    w = yolo.walk()
    points = (w.cells + 0.5) * w.strides
    figure = plots.assignment_figure((192, 192), w.scene.boxes, points, {"YOLOv3": w.assignment}, labels=w.names)
    figure.set_size_inches(7.2, 6.4)  # the line below it is long
    for marks in figure.axes[0].collections:
        marks.set_rasterized(marks.get_gid() == "background")  # two thousand dots
    return figure


def yolo_candidates() -> Figure:
    """One panel per class: together, the boxes would hide each other."""
    w = yolo.walk()
    shown = np.unique(w.labels)
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots(2, -(-len(shown) // 2)).ravel()
    for ax, label in zip(axes, shown, strict=False):
        _photo(ax)
        mine = np.flatnonzero(w.labels == label)
        for k in mine:
            _frame(ax, w.boxes[w.candidate[k]], ec="#0072B2", lw=0.6 + 2.4 * w.scores[k], zorder=3)
        best = w.scores[mine].max()
        ax.set_title(f"{yolo.CLASSES[label]}: {len(mine)}, best score {best:.2f}", fontsize=9)
    for ax in axes[len(shown) :]:
        ax.remove()
    words = f"{len(w.candidate)} candidates with a score of {yolo.SCORE:g} or more; the higher the score, the thicker"
    figure.supxlabel(words, fontsize=8, color="0.3")
    return figure


def yolo_survivors() -> Figure:
    w = yolo.walk()
    figure = Figure(figsize=(5, 5.3), layout="constrained")
    ax = figure.subplots()
    _photo(ax)
    for k in w.kept[::-1]:
        colour, line = CLASS_STYLES[w.labels[k]]
        box = w.boxes[w.candidate[k]]
        _frame(ax, box, ec=colour, ls=line, lw=0.8 + 2 * w.scores[k], zorder=3)
        if w.scores[k] >= 0.5:
            _plate(ax, box[0], box[1], f"{yolo.CLASSES[w.labels[k]]} {w.scores[k]:.2f}", colour)
    _class_legend(ax, w.labels[w.kept])
    ax.set_title(f"{len(w.kept)} of them survive", fontsize=10)
    return figure


def _class_legend(ax: Axes, labels: np.ndarray) -> None:
    for label in np.unique(labels):
        colour, line = CLASS_STYLES[label]
        ax.plot([], [], color=colour, ls=line, label=yolo.CLASSES[label])
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=4, fontsize=8, frameon=False)


def yolo_matches() -> Figure:
    w = yolo.walk()
    hit, of = yolo.by_detection(w, 0.5)
    overlap = pairwise_iou(w.boxes[w.candidate[w.kept]].clip(0, 192), w.scene.boxes)
    figure = Figure(figsize=(10, 5.3), layout="constrained")
    panels = figure.subplots(1, 2)
    for ax, right in zip(panels, (True, False), strict=True):
        _photo(ax)
        for box in w.scene.boxes:
            _frame(ax, box, ec="black", lw=1.2, zorder=2)
        shown = np.flatnonzero(hit == right)
        for d in shown[::-1]:
            box, colour = w.boxes[w.candidate[w.kept[d]]], "#0072B2" if right else "#D55E00"
            _frame(ax, box, ec=colour, ls="-" if right else "--", lw=1.8, zorder=3)
            name = yolo.CLASSES[w.labels[w.kept[d]]]
            if right or d in shown[:4]:
                iou = overlap[d, of[d]] if right else overlap[d].max()
                _plate(ax, box[0], box[1], f"{d + 1}: {name}, IoU {iou:.2f}", colour)
        kind = "true positives" if right else "false positives, the best four named"
        ax.set_title(f"{len(shown)} {kind} (IoU 0.5); black: the objects", fontsize=10)
    return figure


def yolo_precision_recall() -> Figure:
    """A mark after each detection; the line is the largest precision at that recall or a higher one."""
    w = yolo.walk()
    figure = Figure(figsize=(5, 3.4), layout="constrained")
    ax = figure.subplots()
    # Darker lines are lower thresholds, as in other figures. The first two coincide, so the lower one is wider.
    styles = (("#000000", "-", "o", 4.0), ("#0072B2", "--", "s", 1.8), ("#8C8C8C", ":", "^", 1.8))
    for iou, (colour, line, mark, width) in zip((0.5, 0.75, 0.9), styles, strict=True):
        precision, recall = yolo.precision_recall(w, min(COCO.iou_thresholds, key=lambda t: abs(t - iou)))
        best = np.maximum.accumulate(precision[::-1])[::-1]
        x, y = np.r_[0, recall, recall[-1]], np.r_[best[0], best, 0]
        ax.plot(x, y, color=colour, ls=line, lw=width, drawstyle="steps-pre", zorder=2)
        ax.plot(recall, precision, color=colour, ls="", marker=mark, ms=4, mfc="white", zorder=3)
        ax.plot([], [], color=colour, ls=line, lw=width, marker=mark, ms=4, mfc="white", label=f"IoU {iou:g}")
    ax.set(xlabel="recall", ylabel="precision", xlim=(-0.02, 1.02), ylim=(-0.02, 1.05))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return figure
