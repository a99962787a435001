"""Figures of boxes that overlap: the measures, the grid, assignments and survivors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib import patches
from matplotlib.figure import Figure

from ioukit import nms, pairwise_centre_distance, pairwise_iou, plots, soft_nms, weighted_boxes_fusion
from ioukit.anchors import anchor_boxes, anchor_points
from ioukit.assign import assign_atss, assign_max_iou, assign_simota
from ioukit.overlap.variants import VARIANTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["assignment", "grid", "overlap", "suppression", "variant", "variants"]


OBJECT, DETECTION = [2, 2, 8, 8], [4, 3, 10, 9]
SCENE = {
    "person": [170, 90, 300, 380],
    "bag": [200, 190, 265, 290],
    "dog": [40, 230, 150, 350],
    "ball": [330, 320, 380, 370],
}

# What a detector may say of two people who stand close and a dog: docs/nms.md has the same numbers.
CROWD = np.array([
    [60, 60, 150, 260], [65, 64, 157, 266], [55, 56, 143, 255],  # the person on the left
    [89, 60, 179, 260], [87, 57, 176, 258],  # the one on the right
    [220, 175, 340, 265], [227, 180, 345, 270], [214, 168, 331, 262], [288, 162, 348, 222],  # the dog, and its head
], float)  # fmt: skip
CROWD_SCORES = np.array([0.95, 0.80, 0.62, 0.88, 0.55, 0.90, 0.74, 0.48, 0.35])


def overlap() -> Figure:
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    pair, curves = figure.subplots(1, 2, width_ratios=[1.15, 1])
    plots.overlap_figure(OBJECT, DETECTION, ax=pair)
    plots.variants_figure(motion="shift", ax=curves)
    return figure


def variants() -> Figure:
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    shift, scale = figure.subplots(1, 2)
    plots.variants_figure(motion="shift", ax=shift)
    plots.variants_figure(motion="scale", ax=scale)
    return figure


def grid() -> Figure:
    figure = Figure(figsize=(6, 6.2), layout="constrained")
    plots.grid_figure(list(SCENE.values()), labels=list(SCENE), image_size=(416, 416), ax=figure.subplots())
    return figure


def variant(name: str) -> Figure:
    (row,) = (row for row in VARIANTS if row.name == name)
    figure = Figure(figsize=(6.4, 2.5), layout="constrained")
    axes = figure.subplots()
    plots.variant_figure(name, ax=axes, **getattr(row, "option_values", {}))
    low, high = axes.get_ylim()
    if low > -1 and high < 2:  # no unit: all of them on one scale, so that their curves can be compared
        axes.set_ylim(-1.05, 1.05)
    return figure


def assignment() -> Figure:
    """The scene under three rules, with square anchors of two and a half cells a side."""
    size, strides, objects = (416, 416), [32, 64], list(SCENE.values())
    anchors, _, levels = anchor_boxes(size, strides, [[[2.5 * stride, 2.5 * stride]] for stride in strides])
    points = anchor_points(size, strides)
    # Predictions half way between the anchors and the objects nearest to them, all equally sure.
    nearest = np.array(objects)[pairwise_centre_distance(anchors, objects).argmin(axis=1)]
    simota = assign_simota(
        (anchors + nearest) / 2, np.full((len(anchors), 1), 0.5), objects, [0] * len(objects),
        points=points.points, strides=points.strides,
    )  # fmt: skip
    rules = {
        "max-IoU": assign_max_iou(anchors, objects, low_quality="detectron2"),
        "ATSS": assign_atss(anchors, objects, levels=levels),
        "SimOTA": simota,
    }
    return plots.assignment_figure(size, objects, points.points, rules, labels=list(SCENE))


def suppression() -> Figure:
    """The same detections through four functions, and where those went that are gone."""
    figure = Figure(figsize=(9, 7.2), layout="constrained")
    axes = figure.subplots(2, 2).ravel()
    for ax, metric, title in zip(axes[::2], ("iou", "diou"), ("nms", 'nms(metric="diou")'), strict=True):
        found = nms(CROWD, CROWD_SCORES, iou_threshold=0.5, metric=metric, explain=True)
        place = {box: k for k, box in enumerate(found.keep.tolist())}
        into = [place.get(box, -1) for box in found.suppressed_by.tolist()]
        _survivors(ax, title, CROWD[found.keep], CROWD_SCORES[found.keep], into)
    keep, scores = soft_nms(CROWD, CROWD_SCORES, method="gaussian", score_threshold=0.3)
    _survivors(axes[1], 'soft_nms(method="gaussian")', CROWD[keep], scores)
    fused = weighted_boxes_fusion([CROWD], [CROWD_SCORES])
    _survivors(axes[3], "weighted_boxes_fusion", fused.boxes, fused.scores)
    return figure


def _survivors(ax: Axes, title: str, boxes: np.ndarray, scores: np.ndarray, into: list[int] | None = None) -> None:
    """Without ``into``, a box went to the survivor that it overlaps most."""
    grey = {"fc": "0.86", "ec": "0.55", "lw": 1, "zorder": 1}
    for x in (134, 105):
        ax.add_patch(patches.Circle((x, 86), 22, **grey))
        ax.add_patch(patches.FancyBboxPatch((x - 32, 118), 64, 136, boxstyle="round,pad=4,rounding_size=20", **grey))
    for x in (245, 262, 305, 322):
        ax.add_patch(patches.Rectangle((x - 5, 235), 10, 28, **grey))
    ax.add_patch(patches.FancyBboxPatch((240, 200), 90, 40, boxstyle="round,pad=4,rounding_size=18", **grey))
    ax.add_patch(patches.Ellipse((318, 192), 48, 36, **grey))
    given = pairwise_iou(CROWD, boxes).argmax(axis=1) if into is None else into
    plots.survivors_figure(CROWD, boxes, scores=scores, into=given, ax=ax)
    ax.set(xlim=(40, 360), ylim=(280, 42), xticks=[], yticks=[])
    ax.set_title(title, fontfamily="monospace", fontsize=10)
