"""Any boxes on any image: no evaluation, no data set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._checks import check_format
from ioukit.plots._box_drawing import (
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

    from ioukit.plots._drawing import ThemeName
    from ioukit.plots._images import ImageLike
    from ioukit.regions import BoxesLike
    from ioukit.typing import BoxFormat

__all__ = ["draw_boxes"]

YELLOW = "#F0E442"
COLOURS = (SKY, VERMILLION, GREEN, ORANGE, PURPLE, YELLOW)
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
    classes = None if labels is None else _per_box("labels", np.asarray(labels), len(given))
    numbers = None if scores is None else _per_box("scores", np.asarray(scores, np.float64), len(given))
    words = _words(classes, names, len(given))
    pixels = pixels_of(image, needed_by="draw_boxes")
    height, width = pixels.shape[:2]
    in_pixels = given.denormalize(width, height) if given.normalized else given
    outlines = region_outlines(in_pixels)
    ax = axes_for(ax, needed_by="draw_boxes", figsize=shape_of_figure((width, height)), paper=look.paper)
    frame = (0.0, 0.0, float(width), float(height))
    draw_frame(ax, frame, pixels, look)
    outlined = []
    for number, style in enumerate(_styles(classes, len(given))):
        text = score_text(words[number], None if numbers is None else float(numbers[number]))
        outlined.append(Outlined(outlines[number], f"box {number}", style["ec"], text, style))
    merit = -given.area if numbers is None else numbers
    best_first = [outlined[number] for number in np.argsort(-merit, kind="stable")]
    draw_outlines(ax, reversed(best_first))
    draw_labels(ax, best_first, frame, fontsize=fontsize)
    return ax


def _per_box(name: str, values: NDArray[Any], count: int) -> NDArray[Any]:
    if values.shape != (count,):
        raise ValueError(f"{name} must have shape ({count},), one per box, got {values.shape}")
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


def _styles(classes: NDArray[Any] | None, count: int) -> list[dict[str, Any]]:
    """The outline of each box. The same integer has the same outline in every image."""
    if classes is None:
        codes = np.zeros(count, np.int64)
    elif classes.dtype.kind in "iu":
        codes = classes.astype(np.int64)
    else:
        codes = np.unique(classes, return_inverse=True)[1]
    return [
        outline_style(COLOURS[code % len(COLOURS)], DASHES[code // len(COLOURS) % len(DASHES)], WIDTH, on_image=True)
        for code in codes.tolist()
    ]
