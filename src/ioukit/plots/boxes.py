"""What became of every box on one image, drawn on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._optional import import_extra
from ioukit.plots._drawing import GREEN, SKY, VERMILLION, axes_for, dress, legend_beside, rings, shorten, theme_of
from ioukit.plots._images import frame_of, pixels_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from ioukit.evaluation import Evaluation, Outcomes
    from ioukit.plots._drawing import Theme, ThemeName
    from ioukit.plots._images import ImageLike
    from ioukit.typing import FloatArray

__all__ = ["KINDS", "Drawn", "boxes_figure", "draw_boxes", "drawn_on", "kind_handles", "outcomes_of"]


@dataclass(frozen=True)
class Kind:
    """How boxes of a kind look: colour, dashes, width and hatch, each of which differs."""

    words: str
    colour: str
    dashes: Any
    width: float
    hatch: str | None = None
    mark: str = ""
    """What its labels begin with."""


KINDS = {
    "object": Kind("object that was found", "#FFFFFF", "-", 1.0),
    "ignored": Kind("not counted", "#BBBBBB", (0, (1, 2)), 1.2, mark="ignored "),
    "TP": Kind("true positive", GREEN, "-", 2.2),
    "FP": Kind("false positive", VERMILLION, (0, (5, 2)), 2.0, mark="FP "),
    "FN": Kind("missed object", SKY, (0, (1, 1)), 2.2, hatch="//", mark="FN "),
}
LABEL_ORDER = ("FN", "FP", "TP", "ignored", "object")
"""Whose label gets a place first."""


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
        """What its label says, and what it says where there is less room."""
        mark = KINDS[self.kind].mark
        if self.score is None:
            return [f"{mark}{shorten(self.name)}", f"{mark}{shorten(self.name, 10)}", *([mark.strip()] if mark else [])]
        score = f"{self.score:.2f}" if abs(self.score) < 100 else f"{self.score:.3g}"
        return [f"{mark}{shorten(self.name)} {score}", f"{mark}{shorten(self.name, 10)} {score}", f"{mark}{score}"]


def boxes_figure(
    evaluation: Evaluation,
    image_id: int,
    *,
    image: ImageLike | None = None,
    iou: float = 0.5,
    score_threshold: float | None = None,
    outcomes: Outcomes | None = None,
    labels: bool = True,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws the boxes of one image, and what became of them.

    True positives are solid and green, false positives dashed and red with labels that begin with FP, missed objects
    dotted, hatched and blue with FN; the objects that were found are thin white lines, what does not count (crowds, and
    what matches them) grey dots. Labels neither cover each other nor leave the image, whatever the size of the axes: one
    that has no room says less, or is left out.

    Args:
        evaluation: What `ioukit.evaluate` returns.
        image_id: The image.
        image: Its file, or an array; without, the boxes stand in an empty frame of the size of the image. Smaller or
            larger than the data set says, it is stretched over the frame.
        iou: One of the protocol's IoU thresholds.
        score_threshold: Detections from this score upwards are drawn; ``None`` for the score with the best F1.
        outcomes: What ``evaluation.outcomes`` returned, to draw many images of it; instead of the two before.
        labels: Whether boxes have labels: class and score.
        ax: Where to draw; by default axes of a new figure.
        theme: For light or for dark paper; the figure around axes of yours keeps its colour.

    Returns:
        The axes; y points down. Boxes are patches with ``get_gid()`` such as ``"TP 12"`` (the row of the detection) or
        ``"FN 3"`` (that of the annotation), their labels texts with the same after ``"label of "``. The legend below
        counts them.

    Raises:
        ValueError: If there is no such image or threshold, or the image is an array of another shape.
        ModuleNotFoundError: If matplotlib is not installed.
    """
    look = theme_of(theme)
    position = _position(evaluation, image_id)
    outcomes = outcomes_of(evaluation, iou, score_threshold) if outcomes is None else outcomes
    drawn = drawn_on(evaluation, outcomes, image_id)
    pixels = None if image is None else pixels_of(image, needed_by="boxes_figure")
    corners = np.array([entry.box for entry in drawn]).reshape(-1, 4)
    size = frame_of(evaluation.ground_truth, position, pixels, corners)
    tall = 6.4 * float(np.clip(size[1] / size[0], 0.3, 1.8))
    ax = axes_for(ax, needed_by="boxes_figure", figsize=(6.4, tall + 0.5), paper=look.paper)
    draw_boxes(ax, drawn, size, pixels, look, labels=labels)
    counted = {kind: sum(entry.kind == kind for entry in drawn) for kind in KINDS}
    kinds = [kind for kind in ("TP", "FP", "FN", "object", "ignored") if counted[kind] or kind not in ("ignored",)]
    words = [f"{KINDS[kind].words}: {counted[kind]}" for kind in kinds]
    legend_beside(
        ax, kind_handles(kinds, look), words, look, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, 0),
        ncols=len(kinds), columnspacing=1.2, handlelength=2.2,
    )  # fmt: skip
    return ax


def _position(evaluation: Evaluation, image_id: int) -> int:
    ids = evaluation.ground_truth.images.ids
    at = int(np.searchsorted(ids, image_id))
    if at == len(ids) or ids[at] != image_id:
        raise ValueError(f"no image has the id {image_id}")
    return at


def outcomes_of(evaluation: Evaluation, iou: float, score_threshold: float | None) -> Outcomes:
    """What became of every box from a score upwards, by default from the one with the best F1."""
    if score_threshold is None:
        best = evaluation.score_curves(iou=iou).overall.best.score
        score_threshold = 0.0 if np.isnan(best) else float(best)
    return evaluation.outcomes(iou=iou, score_threshold=score_threshold)


def drawn_on(evaluation: Evaluation, outcomes: Outcomes, image_id: int) -> list[Drawn]:
    """The boxes of an image, those that matter least first."""
    from ioukit.evaluation import Outcome  # noqa: PLC0415 - ioukit.plots is quick to import

    truth, detections = evaluation.ground_truth, evaluation.detections
    names = dict(zip(truth.categories.ids.tolist(), truth.categories.names, strict=True))
    found: list[Drawn] = []
    objects = {Outcome.TRUE_POSITIVE: "object", Outcome.FALSE_NEGATIVE: "FN", Outcome.IGNORED: "ignored"}
    for row in np.flatnonzero(truth.image_ids == image_id).tolist():
        kind = objects.get(Outcome(int(outcomes.ground_truth[row])))
        if kind is not None:
            name = names[int(truth.category_ids[row])]
            gid = f"{kind} {row}" if kind != "ignored" else f"ignored object {row}"
            found.append(Drawn(kind, _corners(truth.boxes[row]), gid, name))
    guesses = {Outcome.TRUE_POSITIVE: "TP", Outcome.FALSE_POSITIVE: "FP", Outcome.IGNORED: "ignored"}
    rows = np.flatnonzero(detections.image_ids == image_id)
    for row in rows[np.argsort(-detections.scores[rows], kind="stable")].tolist():
        kind = guesses.get(Outcome(int(outcomes.detections[row])))
        if kind is not None:
            name = names.get(int(detections.category_ids[row]), str(detections.category_ids[row]))
            score = float(detections.scores[row])
            found.append(Drawn(kind, _corners(detections.boxes[row]), f"{kind} {row}", name, score))
    order = list(KINDS)
    return sorted(found, key=lambda entry: order.index(entry.kind))


def _corners(box: FloatArray) -> FloatArray:
    return np.concatenate([box[:2], box[:2] + box[2:]])


def draw_boxes(
    ax: Axes,
    drawn: Sequence[Drawn],
    size: tuple[float, float],
    pixels: NDArray[Any] | None,
    look: Theme,
    *,
    labels: bool = True,
    fontsize: float = 8,
    thin: float = 1.0,
) -> None:
    """Draws an image and boxes on it, lines ``thin`` times as wide as usual."""
    effects = import_extra("matplotlib.patheffects", extra="plots", needed_by="boxes_figure")
    placed = import_extra("ioukit.plots._labels", extra="plots", needed_by="boxes_figure")
    width, height = size
    if pixels is not None:
        ax.imshow(pixels, extent=(0, width, height, 0), cmap="gray", interpolation="antialiased", zorder=0, gid="image")
    dress(ax, look)
    ax.spines[:].set_visible(True)
    ax.set(xlim=(0, width), ylim=(height, 0), aspect="equal", xticks=[], yticks=[])
    under = "#000000" if pixels is not None or look.paper != "#FFFFFF" else "#777777"
    for entry in drawn:
        kind = KINDS[entry.kind]
        line = thin * kind.width
        # A dark edge keeps every colour apart from every image.
        halo = [effects.withStroke(linewidth=line + 1.6 * thin, foreground=under, alpha=0.8)]
        hatch = {"hatch": kind.hatch, "hatch_linewidth": 0.5} if kind.hatch else {}
        rings(
            ax, [entry.box], gid=entry.gid, fill=False, ec=kind.colour, ls=kind.dashes, lw=line,
            zorder=3 + list(KINDS).index(entry.kind) / 10, path_effects=halo, **hatch,
        )  # fmt: skip
    if labels:
        texts = placed.Labels(ax, np.array([0, 0, width, height]))
        for entry in sorted(drawn, key=lambda entry: LABEL_ORDER.index(entry.kind)):
            if entry.kind != "object":  # its name is that of the detection that found it
                colour = KINDS[entry.kind].colour
                texts.add(
                    entry.box, entry.wordings, fill=colour, edge=under, size=fontsize, gid=f"label of {entry.gid}"
                )


def kind_handles(kinds: Sequence[str], look: Theme) -> list[Any]:
    """What stands before the words of a legend."""
    patches = import_extra("matplotlib.patches", extra="plots", needed_by="boxes_figure")
    effects = import_extra("matplotlib.patheffects", extra="plots", needed_by="boxes_figure")
    handles = []
    for name in kinds:
        kind = KINDS[name]
        halo = [effects.withStroke(linewidth=kind.width + 1.6, foreground="#000000", alpha=0.8)]
        style = {"fill": False, "ec": kind.colour, "ls": kind.dashes, "lw": kind.width, "hatch": kind.hatch}
        handles.append(patches.Patch(path_effects=halo if look.paper else None, **style))
    return handles
