"""COCO's records drawn on the current axes, as `COCO.showAnns` of pycocotools draws them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._optional import import_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


Record = dict[str, Any]

_CROWD = (2 / 255, 166 / 255, 101 / 255)


def draw_records(
    records: Sequence[Record],
    decode: Callable[[Record], NDArray[np.uint8]],
    skeleton_of: Callable[[Any], Any],
    *,
    boxes: bool,
) -> None:
    """Draws the masks, the keypoints and, if wanted, the boxes of records on the current axes of matplotlib.

    Colours come from `numpy.random`, one per record and in the order of pycocotools, so a seed gives the same picture.

    Args:
        records: Annotations of one image.
        decode: Gives the (H, W) pixels of a record whose segmentation is no list of polygons.
        skeleton_of: Gives the pairs of keypoints that are joined, counted from 1, of a category.
        boxes: Whether boxes are drawn.
    """
    pyplot = import_extra("matplotlib.pyplot", extra="plots", needed_by="COCO.showAnns")
    collections = import_extra("matplotlib.collections", extra="plots", needed_by="COCO.showAnns")
    patches = import_extra("matplotlib.patches", extra="plots", needed_by="COCO.showAnns")
    axes = pyplot.gca()
    axes.set_autoscale_on(False)
    shapes, colors = [], []
    for record in records:
        color = (_random() * 0.6 + 0.4).tolist()
        corners: list[NDArray[Any]] = []
        drawn = record.get("segmentation")
        if isinstance(drawn, list):
            corners += [np.array(ring).reshape(-1, 2) for ring in drawn]
        elif drawn is not None:
            crowd = record["iscrowd"] == 1
            _draw_mask(axes, decode(record), np.array(_CROWD) if crowd else _random())
        if isinstance(record.get("keypoints"), list):
            _draw_keypoints(
                axes, np.array(record["keypoints"]), np.array(skeleton_of(record["category_id"])) - 1, color
            )
        if boxes:
            x, y, width, height = record["bbox"]
            corners.append(np.array([[x, y], [x, y + height], [x + width, y + height], [x + width, y]]))
        shapes += [patches.Polygon(points) for points in corners]
        colors += [color] * len(corners)
    axes.add_collection(collections.PatchCollection(shapes, facecolor=colors, linewidths=0, alpha=0.4))
    axes.add_collection(collections.PatchCollection(shapes, facecolor="none", edgecolors=colors, linewidths=2))


def _random() -> NDArray[np.float64]:
    """A random colour, from the numbers that pycocotools takes."""
    color: NDArray[np.float64] = np.random.random((1, 3))[0]  # noqa: NPY002 - np.random.seed decides the colours, as in pycocotools
    return color


def _draw_mask(axes: Axes, mask: NDArray[np.uint8], color: NDArray[np.float64]) -> None:
    """Covers the pixels of a mask."""
    pixels = np.broadcast_to(color, (*mask.shape, 3))
    axes.imshow(np.dstack([pixels, mask * 0.5]))


def _draw_keypoints(axes: Axes, points: NDArray[Any], skeleton: NDArray[Any], color: list[float]) -> None:
    """Draws labelled keypoints, those that are visible in one colour, and the lines between them."""
    x, y, seen = points[0::3], points[1::3], points[2::3]
    for ends in skeleton:
        if (seen[ends] > 0).all():
            axes.plot(x[ends], y[ends], linewidth=3, color=color)
    for least, edge in ((0, "k"), (1, color)):
        axes.plot(
            x[seen > least],
            y[seen > least],
            "o",
            markersize=8,
            markerfacecolor=color,
            markeredgecolor=edge,
            markeredgewidth=2,
        )
