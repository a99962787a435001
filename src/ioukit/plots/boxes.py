"""The regions of one image with their outcomes: true positives, false positives, missed objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ioukit._optional import import_extra
from ioukit.plots._box_drawing import (
    THIN,
    Outlined,
    draw_frame,
    draw_labels,
    draw_outlines,
    outline_style,
    shape_of_figure,
)
from ioukit.plots._drawing import axes_for, legend_beside, theme_of
from ioukit.plots._images import pixels_of
from ioukit.plots._outcomes_on import KINDS, data_of, drawn_on, outcomes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from ioukit.evaluation import Evaluation, Outcomes
    from ioukit.plots._drawing import Theme, ThemeName
    from ioukit.plots._images import ImageLike
    from ioukit.plots._outcomes_on import Drawn, Scene

__all__ = ["KINDS", "boxes_figure", "draw_outcomes", "kind_handles"]

SMALL = 0.8  # the size of the labels of vehicles, relative to others
BELOW_AXIS = 0.5  # inches for the numbers and the name of an axis
LABEL_ORDER = ("FN", "FP", "TP", "ignored", "object")
"""The kinds whose labels choose their places first."""


def boxes_figure(
    evaluation: Evaluation,
    image_id: int | str,
    *,
    image: ImageLike | None = None,
    iou_threshold: float | None = None,
    score_threshold: float | None = None,
    outcomes: Outcomes | None = None,
    labels: bool = True,
    legend: bool = True,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws the boxes of one image with their outcomes, or the regions that were compared instead of boxes.

    Masks are translucent, keypoints have the lines of their skeleton, and boxes in space are seen from above, without
    the image: ``docs/figures.md`` shows all kinds.

    True positives are solid and green. False positives are dashed and red, with labels that begin with FP. Missed
    objects are dotted, hatched and purple, with labels that begin with FN. Detected objects are thin blue lines. Boxes
    that are ignored (crowds, and detections that match them) are dotted and grey. Labels do not cover each other and
    do not leave the image, for any size of the axes. A label without enough room becomes shorter or is left out. All
    labels together cover at most two fifths of the image.

    Args:
        evaluation: What `ioukit.evaluate` returns.
        image_id: The image.
        image: Its file, or an array; without it, the boxes are drawn in an empty frame of the size of the image. If the
            size differs from that in the data set, the image is stretched over the frame.
        iou_threshold: One of the protocol's IoU thresholds; its main one if ``None``.
        score_threshold: Detections with at least this score are drawn; ``None`` for the score with the best F1, or for
            all detections if there are no true positives.
        outcomes: The result of ``evaluation.outcomes``, instead of the two thresholds; useful to draw many images.
        labels: Whether boxes have labels: class and score.
        legend: Whether a legend below the axes has the counts. Axes narrower than 4 inches have no room for it.
        ax: Where to draw; by default axes of a new figure.
        theme: For light or for dark paper; the figure around axes of yours keeps its colour.

    Returns:
        The axes; y points down, except for views from above. Boxes are patches with ``get_gid()`` such as ``"TP 12"``
        (12 is the row of the detection) or ``"FN 3"`` (3 is the row of the annotation). Their labels are texts with
        ``"label of TP 12"``, ...
        Masks also have ``"fill of TP 12"``, and keypoints ``"lines of TP 12"`` and ``"points of TP 12"``.

    Raises:
        ValueError: If there is no such image or threshold, the array has a wrong shape, or the evaluation does not hold
            its data.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = boxes_figure(evaluation, 885)  # of a file: image="val2017/000000000885.jpg"
        >>> sum(str(patch.get_gid()).startswith("TP") for patch in ax.patches)
        4
    """
    look = theme_of(theme)
    truth, _ = data_of(evaluation)
    position = int(truth.images.positions([image_id])[0])
    outcomes = outcomes_of(evaluation, iou_threshold, score_threshold) if outcomes is None else outcomes
    scene = drawn_on(evaluation, outcomes, image_id)
    pixels = None if image is None or scene.ground else pixels_of(image, needed_by="boxes_figure")
    frame = scene.frame(truth, position, pixels)
    wide, tall = shape_of_figure((frame[2] - frame[0], abs(frame[3] - frame[1])))
    ax = axes_for(ax, needed_by="boxes_figure", figsize=(wide, tall + (0.9 if scene.ground else 0.5)), paper=look.paper)
    draw_outcomes(ax, scene, frame, pixels, look, labelled=LABEL_ORDER if labels else ())
    if scene.ground:
        ax.set(xlabel="x, metres", ylabel="y, metres")
    if legend:
        _count(ax, scene, look, on_image=pixels is not None)
    return ax


def _count(ax: Axes, scene: Scene, look: Theme, *, on_image: bool) -> None:
    """Writes the number of regions of each kind below the axes."""
    counted = {kind: sum(entry.kind == kind for entry in scene.drawn) for kind in KINDS}
    kinds = [kind for kind in ("TP", "FP", "FN", "object", "ignored") if counted[kind] or kind not in ("ignored",)]
    words = [f"{KINDS[kind].words}: {counted[kind]}" for kind in kinds]
    handles = kind_handles(kinds, look, on_image=on_image)
    place: dict[str, Any] = {
        "loc": "upper center",
        "bbox_to_anchor": (0.5, 0),
        "ncols": len(kinds) // 2 + len(kinds) % 2,
        "columnspacing": 1.2,
        "handlelength": 2.2,
    }
    if scene.ground:  # below the numbers of the axis
        transforms = import_extra("matplotlib.transforms", extra="plots", needed_by="boxes_figure")
        down = transforms.ScaledTranslation(0, -BELOW_AXIS, ax.figure.dpi_scale_trans)
        place["bbox_transform"] = ax.transAxes + down
    legend_beside(ax, handles, words, look, fontsize=8, **place)


def draw_outcomes(
    ax: Axes,
    scene: Scene,
    frame: tuple[float, float, float, float],
    pixels: NDArray[Any] | None,
    look: Theme,
    *,
    labelled: Sequence[str] = LABEL_ORDER,
    covered: float = 0.4,
    fontsize: float = 8,
    thin: float = 1.0,
) -> None:
    """Draws an image and regions on it, and labels.

    Args:
        ax: Where to draw.
        scene: The regions.
        frame: Left, top, right and bottom edge of the image, in the unit of the regions.
        pixels: The image; ``None`` for an empty frame.
        look: The theme.
        labelled: Kinds that have labels.
        covered: The part of the image that labels may cover.
        fontsize: The size of the labels in points.
        thin: A factor on the usual widths of lines.
    """
    draw_frame(ax, frame, pixels, look, ground=scene.ground)
    if scene.ground or scene.filled:
        thin *= THIN
    if scene.ground:
        fontsize *= SMALL
    styles = {name: _style(name, look, thin, on_image=pixels is not None) for name in KINDS}
    outlined = [_outlined(entry, styles[entry.kind], filled=scene.filled) for entry in scene.drawn]
    draw_outlines(ax, outlined)
    if labelled:
        # A detected object has no label: the detection has one.
        order = [kind for kind in LABEL_ORDER if kind in labelled and kind != "object"]
        chosen = [(order.index(entry.kind), place) for place, entry in enumerate(scene.drawn) if entry.kind in order]
        draw_labels(ax, [outlined[place] for _, place in sorted(chosen)], frame, covered=covered, fontsize=fontsize)


def _outlined(entry: Drawn, style: dict[str, Any], *, filled: bool) -> Outlined:
    zorder = 3 + list(KINDS).index(entry.kind) / 10
    # Only the detection of a pair is filled: two translucent colours on top of each other have a third one.
    filled = filled and entry.kind != "object"
    return Outlined(entry.outline, entry.gid, KINDS[entry.kind].on_image, entry.wordings, style, zorder, filled)


def _style(name: str, look: Theme, thin: float, *, on_image: bool) -> dict[str, Any]:
    """The style of the outline."""
    kind = KINDS[name]
    colour = kind.on_image if on_image else look.colour_of(kind.meaning)
    style = outline_style(colour, kind.dashes, kind.width, on_image=on_image, thin=thin)
    if kind.hatch:
        style |= {"hatch": kind.hatch, "hatch_linewidth": 0.6 * thin}
    return style


def kind_handles(kinds: Sequence[str], look: Theme, *, on_image: bool) -> list[Any]:
    """The samples of lines in a legend."""
    patches = import_extra("matplotlib.patches", extra="plots", needed_by="boxes_figure")
    styles = [_style(name, look, 1.0, on_image=on_image) for name in kinds]
    # The patches of a legend are small: only one line of the hatch would be visible.
    return [patches.Patch(**{**style, **({"hatch": "///"} if "hatch" in style else {})}) for style in styles]
