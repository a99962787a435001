"""Two or more assignments of one image side by side: which prediction learns which object."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit._arrays import as_numpy, library_of
from ioukit.plots._drawing import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    VERMILLION,
    as_boxes,
    as_pixels,
    dress,
    new_figure,
    rings,
    theme_of,
)
from ioukit.regions import Boxes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ioukit.assign import Assignment
    from ioukit.plots._drawing import Theme, ThemeName
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat, FloatArray


# Colour, line of the box and marker of its predictions: each tells the objects apart without the other two.
STYLES = [
    (BLUE, "-", "o"),
    (VERMILLION, "--", "s"),
    (GREEN, "-.", "^"),
    (PURPLE, (0, (1, 1)), "D"),
    (ORANGE, (0, (8, 2)), "v"),
    (BLACK, (0, (3, 1, 1, 1)), "P"),
]
_SHOWN = 12  # what differs is ringed; words name so many objects in a title at most


def assignment_figure(
    image_size: tuple[float, float],
    objects: BoxesLike,
    points: BoxesLike | Array,
    assignments: Mapping[str, Assignment],
    *,
    labels: Sequence[str] | None = None,
    format: BoxFormat = "xyxy",
    theme: ThemeName = "light",
) -> Figure:
    """Draws the same objects once per assignment, with a mark at each prediction that learns one of them.

    A mark has the colour and the form of its object; ignored predictions are grey crosses, the others dots. From the
    second assignment on, predictions whose target differs from the first assignment's have a ring. The title counts
    the predictions, and names the objects that have none, whose boxes are hatched.

    Args:
        image_size: (width, height) in pixels.
        objects: (G, 4) in pixels or, as `Boxes`, in parts of the image.
        points: (P, 2) where to mark each prediction, such as `ioukit.anchors.anchor_points`; or (P, 4) boxes, whose
            centres are marked.
        assignments: From a name to an assignment of these objects and predictions, at least one.
        labels: The name of each object; by default its number.
        format: The format of plain boxes. `Boxes` have their own.
        theme: Colours for a light or a dark background.

    Returns:
        A figure, one pair of axes per assignment, in pixels, y pointing down. Boxes are patches with ``get_gid()``
        ``"object 0"``, ...; the marks of an object are a collection with ``get_gid()`` ``"predictions of 0"``, rings
        are ``"different"``.

    Raises:
        ValueError: If ``assignments`` is empty, or one has another number of objects or predictions.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> from ioukit.anchors import anchor_points
        >>> from ioukit.assign import assign_yolov3, assign_yolov5
        >>> objects, grid = [[96, 96, 224, 160]], {"anchors": [[[120, 60]]], "strides": [32], "image_size": (416, 416)}
        >>> both = {"YOLOv3": assign_yolov3(objects, **grid), "YOLOv5": assign_yolov5(objects, **grid)}
        >>> figure = assignment_figure((416, 416), objects, anchor_points((416, 416), [32]).points, both)
        >>> [ax.get_title() for ax in figure.axes]
        ['YOLOv3: 1 of 169 predictions', 'YOLOv5: 3 of 169 predictions']
    """
    width, height = image_size
    boxes = as_pixels(objects, format, "objects", image_size)
    marks = _marks(points, format, (width, height))
    if not assignments:
        raise ValueError("assignments must have at least one entry, a name and an assignment")
    if labels is not None and len(labels) != len(boxes):
        raise ValueError(f"labels must hold one label per object, got {len(labels)} for {len(boxes)} objects")
    for name, assignment in assignments.items():
        if (assignment.objects, len(assignment)) != (len(boxes), len(marks)):
            raise ValueError(
                f"assignments[{name!r}] has {assignment.objects} objects and {len(assignment)} predictions, but "
                f"there are {len(boxes)} objects and {len(marks)} points"
            )
    look = theme_of(theme)
    # As wide as a page of text, so that letters and marks keep their size: two panels a row.
    columns = min(len(assignments), 2)
    lines = -(-len(assignments) // columns)
    wide = 4.0 if columns == 2 else 5.4
    tall = wide * min(max(height / width, 0.4), 1.8)
    size = (wide * columns, (tall + 0.3) * lines + 0.6)
    figure = new_figure(look, size, needed_by="assignment_figure")
    places = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    for spare in places.ravel()[len(assignments) :]:
        spare.remove()
    panels = places.ravel()[: len(assignments)]
    first = next(iter(assignments.values()))
    for number, (ax, (name, assignment)) in enumerate(zip(panels, assignments.items(), strict=True)):
        _panel(ax, boxes, marks, assignment, labels, height, look)
        dress(ax, look, framed=True)
        differ = first.compare(assignment).predictions
        if len(differ):
            ax.scatter(
                *marks[differ].T, s=110, facecolors="none", edgecolors=look.ink, linewidths=1, zorder=5, gid="different"
            )
        ax.set(xlim=(0, width), ylim=(height, 0), aspect="equal")
        ax.set_title(_title(name, assignment, labels), fontsize=10, color=look.ink)
        if number + columns >= len(assignments):  # no panel below
            ax.set_xlabel("x (pixels)", color=look.ink)
            ax.tick_params(labelbottom=True)
        if number % columns == 0:
            ax.set_ylabel("y (pixels)", color=look.ink)
    legend = ["small grey dot: background", "cross: ignored", "hatched: object without predictions"]
    if len(assignments) > 1:
        legend.append(f"ring: differs from {next(iter(assignments))}")
    if lines * columns > len(assignments):  # in the place of the panel that is missing
        figure.text(0.78, 0.5 / lines, "\n".join(legend), fontsize=9, color=look.soft, ha="center", va="center")
    else:
        figure.supxlabel("; ".join(legend), fontsize=9, color=look.soft)
    return figure


def _marks(points: Any, fmt: BoxFormat, image_size: tuple[float, float]) -> FloatArray:
    """(P, 2) in pixels."""
    if isinstance(points, Boxes):
        return (points.denormalize(*image_size) if points.normalized else points).center
    array = np.asarray(_host(points), np.float64)
    if array.ndim == 2 and array.shape[1] == 4:
        return as_boxes(array, fmt, "points").center
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"points must have shape (P, 2), or (P, 4) as boxes, got {array.shape}")
    return array


def _panel(
    ax: Axes,
    boxes: Boxes,
    marks: FloatArray,
    assignment: Assignment,
    labels: Sequence[str] | None,
    height: float,
    look: Theme,
) -> None:
    target, ignore, pairs = (_host(array) for array in (assignment.target, assignment.ignore, assignment.pairs))
    idle = (target < 0) & ~ignore
    ax.scatter(marks[idle, 0], marks[idle, 1], s=2.5, color=look.many, zorder=1, gid="background")
    if ignore.any():
        style: dict[str, Any] = {"s": 14, "marker": "x", "color": look.soft, "linewidths": 0.8}
        ax.scatter(marks[ignore, 0], marks[ignore, 1], zorder=2, gid="ignored", **style)
    bare = set(assignment.unassigned.tolist())
    for number, corners in enumerate(boxes.numpy()):
        colour, line, marker = STYLES[number % len(STYLES)]
        colour = look.of(colour)
        hatch = "//" if number in bare else None
        rings(ax, [corners], gid=f"object {number}", fill=False, ec=colour, ls=line, lw=1.8, zorder=3, hatch=hatch)
        own = marks[np.unique(pairs[pairs[:, 0] == number, 1])]
        if len(own):
            style = {"marker": marker, "color": colour, "edgecolors": look.paper, "linewidths": 0.6}
            ax.scatter(own[:, 0], own[:, 1], s=36, zorder=4, gid=f"predictions of {number}", **style)
        x, y = corners[:2].tolist()
        # Above the box, where it has no marks; inside, if the box is at the upper edge of the image.
        inside = y < 0.06 * height
        ax.annotate(
            labels[number] if labels is not None else str(number), (max(x, 0), max(y, 0)),
            xytext=(3, -3) if inside else (1, 3), va="top" if inside else "bottom", textcoords="offset points",
            fontsize=9, color=colour, bbox=look.plate, zorder=3.5,
        )  # fmt: skip


def _title(name: str, assignment: Assignment, labels: Sequence[str] | None) -> str:
    learning = int((_host(assignment.target) >= 0).sum())
    counts = f"{name}: {learning} of {len(assignment):,} predictions"
    bare = assignment.unassigned.tolist()
    if not bare:
        return counts
    names = [labels[k] if labels is not None else str(k) for k in bare[:_SHOWN]]
    return f"{counts}\nnone for {', '.join(names)}{', ...' if len(bare) > _SHOWN else ''}"


def _host(array: Array) -> NDArray[Any]:
    values = array if library_of(array) == "numpy" else as_numpy(array)
    return np.asarray(values)
