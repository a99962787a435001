"""The boxes of one image with their outcomes: true positives, false positives, missed objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._optional import import_extra
from ioukit.plots._box_drawing import (
    Outlined,
    draw_frame,
    draw_labels,
    draw_outlines,
    outline_style,
    score_text,
    shape_of_figure,
)
from ioukit.plots._drawing import GREEN, SKY, VERMILLION, axes_for, legend_beside, theme_of
from ioukit.plots._images import frame_of, pixels_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation import Evaluation, Outcomes
    from ioukit.plots._drawing import Theme, ThemeName
    from ioukit.plots._images import ImageLike
    from ioukit.typing import FloatArray

__all__ = ["KINDS", "Drawn", "boxes_figure", "data_of", "draw_outcomes", "drawn_on", "kind_handles", "outcomes_of"]


@dataclass(frozen=True)
class Kind:
    """The look of the boxes of one kind: colour, dashes, width and hatch. Kinds differ in all of them."""

    words: str
    colour: str
    dashes: Any
    width: float
    hatch: str | None = None
    mark: str = ""
    """The first letters of its labels."""


KINDS = {
    "object": Kind("detected object", "#FFFFFF", "-", 1.0),
    "ignored": Kind("not counted", "#BBBBBB", (0, (1, 2)), 1.2, mark="ignored "),
    "TP": Kind("true positive", GREEN, "-", 2.2),
    "FP": Kind("false positive", VERMILLION, (0, (5, 2)), 2.0, mark="FP "),
    "FN": Kind("missed object", SKY, (0, (1, 1)), 2.2, hatch="/", mark="FN "),
}
LABEL_ORDER = ("FN", "FP", "TP", "ignored", "object")
"""The kinds whose labels choose their places first."""


@dataclass(frozen=True)
class Drawn:
    """A box to draw."""

    kind: str
    box: FloatArray
    """xyxy."""
    gid: str
    name: str
    score: float | None = None

    @property
    def wordings(self) -> Sequence[str]:
        """The text of its label, and shorter ones for less room."""
        return score_text(self.name, self.score, KINDS[self.kind].mark)


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
    """Draws the boxes of one image with their outcomes.

    True positives are solid and green. False positives are dashed and red, with labels that begin with FP. Missed
    objects are dotted, hatched and blue, with labels that begin with FN. Detected objects are thin white lines. Boxes
    that do not count (crowds, and detections that match them) are dotted and grey. Labels do not cover each other and
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
        The axes; y points down. Boxes are patches with ``get_gid()`` such as ``"TP 12"`` (12 is the row of the
        detection) or ``"FN 3"`` (3 is the row of the annotation). Their labels are texts with ``"label of TP 12"``, ...

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
    drawn = drawn_on(evaluation, outcomes, image_id)
    pixels = None if image is None else pixels_of(image, needed_by="boxes_figure")
    corners = np.array([entry.box for entry in drawn]).reshape(-1, 4)
    size = frame_of(truth, position, pixels, corners)
    wide, tall = shape_of_figure(size)
    ax = axes_for(ax, needed_by="boxes_figure", figsize=(wide, tall + 0.5), paper=look.paper)
    draw_outcomes(ax, drawn, size, pixels, look, labelled=LABEL_ORDER if labels else ())
    if legend:
        _count(ax, drawn, look, on_image=pixels is not None)
    return ax


def _count(ax: Axes, drawn: Sequence[Drawn], look: Theme, *, on_image: bool) -> None:
    """Writes the number of boxes of each kind below the axes."""
    counted = {kind: sum(entry.kind == kind for entry in drawn) for kind in KINDS}
    kinds = [kind for kind in ("TP", "FP", "FN", "object", "ignored") if counted[kind] or kind not in ("ignored",)]
    words = [f"{KINDS[kind].words}: {counted[kind]}" for kind in kinds]
    handles = kind_handles(kinds, look, on_image=on_image)
    place = {
        "loc": "upper center",
        "bbox_to_anchor": (0.5, 0),
        "ncols": len(kinds) // 2 + len(kinds) % 2,
        "columnspacing": 1.2,
        "handlelength": 2.2,
    }
    legend_beside(ax, handles, words, look, fontsize=8, **place)


def data_of(evaluation: Evaluation) -> tuple[GroundTruth, Detections]:
    """The ground truth and the detections of an evaluation."""
    if evaluation.ground_truth is None or evaluation.detections is None:
        raise ValueError("this evaluation holds only its match table, not the ground truth and detections to draw")
    return evaluation.ground_truth, evaluation.detections


def outcomes_of(evaluation: Evaluation, iou_threshold: float | None, score_threshold: float | None) -> Outcomes:
    """The outcomes at a score threshold, by default the one with the best F1."""
    if score_threshold is None:
        best = evaluation.score_curves(iou_threshold=iou_threshold).overall.best.score
        score_threshold = -np.inf if np.isnan(best) else float(best)
    return evaluation.outcomes(iou_threshold=iou_threshold, score_threshold=score_threshold)


def drawn_on(evaluation: Evaluation, outcomes: Outcomes, image_id: int | str) -> list[Drawn]:
    """The boxes of an image, the least important first."""
    from ioukit.evaluation import Outcome  # noqa: PLC0415 - keeps `import ioukit.plots` fast

    truth, detections = data_of(evaluation)
    table = evaluation.matches
    position = int(np.flatnonzero(table.image_ids == image_id)[0]) if image_id in table.image_ids else -1
    names = table.categories.names
    found: list[Drawn] = []
    objects = {Outcome.TRUE_POSITIVE: "object", Outcome.FALSE_NEGATIVE: "FN", Outcome.IGNORED: "ignored"}
    of_image = np.flatnonzero(table.objects.image == position)
    for row in of_image[np.argsort(table.objects.row[of_image])].tolist():
        kind = objects.get(Outcome(int(outcomes.objects[row])))
        if kind is not None:
            at = int(table.objects.row[row])
            gid = f"{kind} {at}" if kind != "ignored" else f"ignored object {at}"
            found.append(Drawn(kind, _corners(truth.boxes[at]), gid, names[int(table.objects.category[row])]))
    guesses = {Outcome.TRUE_POSITIVE: "TP", Outcome.FALSE_POSITIVE: "FP", Outcome.IGNORED: "ignored"}
    of_image = np.flatnonzero(table.detections.image == position)
    scores, rows = table.detections.score[of_image], table.detections.row[of_image]
    for row in of_image[np.lexsort((rows, -scores))].tolist():
        kind = guesses.get(Outcome(int(outcomes.detections[row])))
        if kind is not None:
            at, score = int(table.detections.row[row]), float(table.detections.score[row])
            name = names[int(table.detections.category[row])]
            found.append(Drawn(kind, _corners(detections.boxes[at]), f"{kind} {at}", name, score))
    order = list(KINDS)
    return sorted(found, key=lambda entry: order.index(entry.kind))


def _corners(box: FloatArray) -> FloatArray:
    return np.concatenate([box[:2], box[:2] + box[2:]])


def draw_outcomes(
    ax: Axes,
    drawn: Sequence[Drawn],
    size: tuple[float, float],
    pixels: NDArray[Any] | None,
    look: Theme,
    *,
    labelled: Sequence[str] = LABEL_ORDER,
    covered: float = 0.4,
    fontsize: float = 8,
    thin: float = 1.0,
) -> None:
    """Draws an image and boxes on it, and labels.

    Args:
        ax: Where to draw.
        drawn: The boxes, the least important first.
        size: Width and height of the image, in the unit of the boxes.
        pixels: The image; ``None`` for an empty frame.
        look: The theme.
        labelled: Kinds that have labels.
        covered: The part of the image that labels may cover.
        fontsize: The size of the labels in points.
        thin: A factor on the usual widths of lines.
    """
    draw_frame(ax, size, pixels, look)
    styles = {name: _style(name, look, thin, on_image=pixels is not None) for name in KINDS}
    outlined = [
        Outlined(
            entry.box, entry.gid, KINDS[entry.kind].colour, entry.wordings, styles[entry.kind],
            zorder=3 + list(KINDS).index(entry.kind) / 10,
        )
        for entry in drawn
    ]  # fmt: skip
    draw_outlines(ax, outlined)
    if labelled:
        # A detected object has no label: the detection has one.
        order = [kind for kind in LABEL_ORDER if kind in labelled and kind != "object"]
        chosen = [(order.index(entry.kind), place) for place, entry in enumerate(drawn) if entry.kind in order]
        draw_labels(ax, [outlined[place] for _, place in sorted(chosen)], size, covered=covered, fontsize=fontsize)


def _style(name: str, look: Theme, thin: float, *, on_image: bool) -> dict[str, Any]:
    """The style of the outline."""
    kind = KINDS[name]
    colour = kind.colour if on_image else {"object": look.ink, "ignored": look.soft, "FN": look.blue}.get(name)
    style = outline_style(colour or kind.colour, kind.dashes, kind.width, on_image=on_image, thin=thin)
    if kind.hatch:
        style |= {"hatch": kind.hatch, "hatch_linewidth": 0.6 * thin}
    return style


def kind_handles(kinds: Sequence[str], look: Theme, *, on_image: bool) -> list[Any]:
    """The samples of lines in a legend."""
    patches = import_extra("matplotlib.patches", extra="plots", needed_by="boxes_figure")
    styles = [_style(name, look, 1.0, on_image=on_image) for name in kinds]
    # The patches of a legend are small: only one line of the hatch would be visible.
    return [patches.Patch(**{**style, **({"hatch": "///"} if "hatch" in style else {})}) for style in styles]
