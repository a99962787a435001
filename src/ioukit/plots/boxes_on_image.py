"""Any boxes or other regions on any image: no evaluation, no data set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit._checks import check_format
from ioukit.plots._box_drawing import (
    THIN,
    Outlined,
    draw_frame,
    draw_labels,
    draw_outlines,
    outline_style,
    score_text,
    shape_of_figure,
)
from ioukit.plots._drawing import GREEN, ORANGE, PURPLE, SKY, VERMILLION, as_boxes, axes_for, theme_of
from ioukit.plots._images import pixels_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from ioukit.evaluation import Outlines
    from ioukit.plots._drawing import ThemeName
    from ioukit.plots._images import ImageLike
    from ioukit.regions import BoxesLike, Regions
    from ioukit.typing import BoxFormat


YELLOW = "#F0E442"
CLASS_COLOURS = (SKY, VERMILLION, GREEN, ORANGE, PURPLE, YELLOW)
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1)))
"""The first six classes have solid lines, the next six dashed ones, and so on."""
WIDTH = 2.0


def draw_boxes(
    image: ImageLike,
    boxes: BoxesLike,
    labels: Sequence[Any] | NDArray[Any] | None = None,
    scores: ArrayLike | None = None,
    *,
    names: Mapping[int, str] | Sequence[str] | None = None,
    format: BoxFormat = "xyxy",
    fontsize: float = 8,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws boxes on an image, one colour per class, with labels of class and score.

    Boxes with higher scores, or smaller boxes if there are no scores, are drawn over the others, and their labels are
    placed first. No label covers another or leaves the image, for any size of the axes. A label without enough room
    becomes shorter or is left out. All labels together cover at most two fifths of the image.

    Args:
        image: A file, a Pillow image, or an array of (H, W), (H, W, 3) or (H, W, 4), uint8 or floats from 0 to 1.
        boxes: (N, 4) boxes in pixels of the image. Normalized `Boxes` are multiplied by its size.
        labels: (N,) the class of each box: a name, or an integer.
        scores: (N,) the score of each box.
        names: The names of classes that are integers: ``names[label]``.
        format: The format of plain numbers: ``"xyxy"``, ``"xywh"`` or ``"cxcywh"``. `Boxes` have their own.
        fontsize: The size of the labels in points.
        ax: Where to draw; by default axes of a new figure.
        theme: Colours for a light or a dark background.

    Returns:
        The axes; y points down, and ``ax.figure`` is the figure. Boxes are patches with ``get_gid()`` ``"box 0"``,
        ``"box 1"``, ..., in the order of ``boxes``. Their labels are texts with ``"label of box 0"``, ...

    Raises:
        ValueError: If ``labels`` or ``scores`` are not one per box, a class has no name in ``names``, or an array has a
            wrong shape.
        FileNotFoundError: If the file does not exist.
        ModuleNotFoundError: If matplotlib, or for a file Pillow, is not installed.

    Examples:
        >>> import numpy as np
        >>> image = np.zeros((120, 160, 3), np.uint8)
        >>> ax = draw_boxes(image, [[10, 20, 70, 90], [40, 30, 150, 110]], ["cat", "dog"], [0.9, 0.6])
        >>> [text.get_text() for text in ax.texts]
        ['cat 0.90', 'dog 0.60']
        >>> ax.figure.savefig("boxes.png")  # doctest: +SKIP
    """
    from ioukit.evaluation import region_outlines  # noqa: PLC0415 - keeps `import ioukit.plots` fast

    look = theme_of(theme)
    check_format(format)
    given = as_boxes(boxes, format, "boxes")
    legend = _read_labels(labels, scores, names, len(given), "box")
    pixels = pixels_of(image, needed_by="draw_boxes")
    height, width = pixels.shape[:2]
    outlines = region_outlines(given.denormalize(width, height) if given.normalized else given)
    frame = (0.0, 0.0, float(width), float(height))
    ax = axes_for(ax, look, shape_of_figure((width, height)), needed_by="draw_boxes")
    draw_frame(ax, frame, pixels, look)
    _draw(ax, outlines, legend, frame, given.area, fontsize=fontsize, gid="box")
    return ax


def draw_regions(
    image: ImageLike | None,
    regions: Regions | ArrayLike,
    labels: Sequence[Any] | NDArray[Any] | None = None,
    scores: ArrayLike | None = None,
    *,
    names: Mapping[int, str] | Sequence[str] | None = None,
    skeleton: Sequence[tuple[int, int]] | None = None,
    fontsize: float = 8,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws masks, polygons, rotated boxes, keypoints or boxes in space, one colour per class, with labels.

    Masks are translucent. Boxes in space are seen from above, with a line to the front of each. Kinds of regions from
    outside are drawn as the upright boxes around them. Everything else is as in `draw_boxes`.

    Args:
        image: As in `draw_boxes`; ``None`` for an empty frame. Boxes in space need ``None``.
        regions: A set of N regions, such as `Masks`, `Polygons`, `RotatedBoxes` or `Boxes3D`; or (N, P, 3) keypoints:
            x, y and visibility. Those with a visibility of 0 are not drawn, those with 1 are hollow, all others solid.
        labels: (N,) the class of each region: a name, or an integer.
        scores: (N,) the score of each region.
        names: The names of classes that are integers: ``names[label]``.
        skeleton: The edges between keypoints: pairs of numbers. As in COCO's files, the first keypoint has the number
            1. If ``None``, the edges of COCO's persons for 17 keypoints, and no edges for others.
        fontsize: The size of the labels in points.
        ax: Where to draw; by default axes of a new figure.
        theme: Colours for a light or a dark background.

    Returns:
        The axes. Paths are patches with ``get_gid()`` ``"region 0"``, ...; fills ``"fill of region 0"``, lines ``"lines
        of region 0"``, points ``"points of region 0"`` and labels ``"label of region 0"``.

    Raises:
        ValueError: If ``labels`` or ``scores`` are not one per region, keypoints have another shape than (N, P, 3), or
            boxes in space come with an image.
        ModuleNotFoundError: If matplotlib, or for a file Pillow, is not installed.

    Examples:
        >>> import numpy as np
        >>> from ioukit import RotatedBoxes
        >>> ships = RotatedBoxes([[50, 40, 60, 12, 30]], unit="degrees", sense="clockwise")
        >>> ax = draw_regions(np.zeros((80, 100, 3), np.uint8), ships, ["ship"], [0.9])
        >>> [text.get_text() for text in ax.texts]
        ['ship 0.90']
    """
    from ioukit.evaluation.outlines.outline import ground_frame  # noqa: PLC0415 - keeps `import ioukit.plots` fast

    look = theme_of(theme)
    pixels = None if image is None else pixels_of(image, needed_by="draw_regions")
    outlines = _outlines(regions, pixels, skeleton)
    legend = _read_labels(labels, scores, names, len(outlines), "region")
    bounds = np.array([outline.bounds for outline in outlines]).reshape(-1, 4)
    ground = outlines.view == "ground"
    if ground and pixels is not None:
        raise ValueError("image must be None for boxes in space: they are drawn on the ground, seen from above")
    if ground:
        frame = ground_frame(bounds)
    elif pixels is not None:
        frame = 0.0, 0.0, float(pixels.shape[1]), float(pixels.shape[0])
    else:
        right, bottom = (np.nanmax(bounds[:, 2:], axis=0) if np.isfinite(bounds).any() else np.ones(2)).tolist()
        frame = 0.0, 0.0, max(right, 1.0), max(bottom, 1.0)
    size = frame[2] - frame[0], abs(frame[3] - frame[1])
    ax = axes_for(ax, look, shape_of_figure(size), needed_by="draw_regions")
    draw_frame(ax, frame, pixels, look, ground=ground)
    extents = (bounds[:, 2:] - bounds[:, :2]).prod(axis=1)
    _draw(ax, outlines, legend, frame, extents, fontsize=fontsize, gid="region")
    return ax


def _outlines(regions: Any, pixels: NDArray[Any] | None, skeleton: Sequence[tuple[int, int]] | None) -> Outlines:
    """The outlines of a set of regions, or of (N, P, 3) keypoints."""
    from ioukit.evaluation import region_outlines  # noqa: PLC0415 - keeps `import ioukit.plots` fast
    from ioukit.evaluation.outlines.keypoints import point_outlines  # noqa: PLC0415 - as above
    from ioukit.regions import Regions  # noqa: PLC0415 - as above

    if not isinstance(regions, Regions):
        points = np.asarray(regions, np.float64)
        if points.ndim != 3 or points.shape[2] != 3:
            raise ValueError(f"regions must be a set of regions, or keypoints of shape (N, P, 3), got {points.shape}")
        return point_outlines(points, skeleton)
    given: Any = regions
    if getattr(given, "normalized", False):
        if pixels is None:
            raise ValueError("regions must be in pixels without an image, got normalized ones")
        given = given.denormalize(pixels.shape[1], pixels.shape[0])
    return region_outlines(given)


class _Legend(NamedTuple):
    """What the labels of the regions say, and their classes and scores."""

    words: list[str]
    classes: NDArray[Any] | None
    scores: NDArray[np.float64] | None


def _read_labels(
    labels: Any, scores: Any, names: Mapping[int, str] | Sequence[str] | None, count: int, one: str
) -> _Legend:
    classes = None if labels is None else _per_region("labels", np.asarray(labels), count, one)
    numbers = None if scores is None else _per_region("scores", np.asarray(scores, np.float64), count, one)
    return _Legend(_words(classes, names, count), classes, numbers)


def _draw(
    ax: Axes,
    outlines: Outlines,
    legend: _Legend,
    frame: tuple[float, float, float, float],
    areas: NDArray[Any],
    *,
    fontsize: float,
    gid: str,
) -> None:
    """Draws outlines and labels, the best region on top; without scores, the smallest."""
    outlined = []
    width = WIDTH * (THIN if outlines.filled or outlines.view == "ground" else 1)
    for number, style in enumerate(_styles(legend.classes, len(outlines), width)):
        score = None if legend.scores is None else float(legend.scores[number])
        text = score_text(legend.words[number], score)
        outlined.append(Outlined(outlines[number], f"{gid} {number}", style["ec"], text, style, filled=outlines.filled))
    merit = -areas if legend.scores is None else legend.scores
    best_first = [outlined[number] for number in np.argsort(-merit, kind="stable").tolist()]
    best_first = [entry for entry in best_first if not entry.outline.is_empty]
    draw_outlines(ax, reversed(best_first))
    draw_labels(ax, best_first, frame, fontsize=fontsize)


def _per_region(name: str, values: NDArray[Any], count: int, one: str) -> NDArray[Any]:
    if values.shape != (count,):
        raise ValueError(f"{name} must have shape ({count},), one per {one}, got {values.shape}")
    return values


def _words(classes: NDArray[Any] | None, names: Mapping[int, str] | Sequence[str] | None, count: int) -> list[str]:
    """The class in the label of each box; empty without classes."""
    if classes is None:
        return [""] * count
    if names is None:
        return [str(label) for label in classes.tolist()]
    return [_name(names, label) for label in classes.tolist()]


def _name(names: Any, label: Any) -> str:
    try:
        return str(names[label])
    except (IndexError, KeyError):
        raise ValueError(f"labels: class {label!r} is not in names, which has {len(names)} entries") from None


def _styles(classes: NDArray[Any] | None, count: int, width: float) -> list[dict[str, Any]]:
    """The outline of each box. The same integer has the same outline in every image."""
    if classes is None:
        codes = np.zeros(count, np.int64)
    elif classes.dtype.kind in "iu":
        codes = classes.astype(np.int64)
    else:
        codes = np.unique(classes, return_inverse=True)[1]
    return [
        outline_style(
            CLASS_COLOURS[code % len(CLASS_COLOURS)],
            DASHES[code // len(CLASS_COLOURS) % len(DASHES)],
            width,
            on_image=True,
        )
        for code in codes.tolist()
    ]
