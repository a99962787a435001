"""Images with their true positives, false positives and missed objects: one of them, or the worst on one sheet."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ioukit._checks import check_choice, check_count
from ioukit._optional import import_extra
from ioukit._words_and_colours import COLOURS, OUTCOME_WORDS, shorten
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
from ioukit.plots._drawing import axes_for, legend_beside, literal, new_figure, theme_of, write_in_middle
from ioukit.plots._images import found_in, frame_of, pixels_of
from ioukit.plots._reading import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation import Evaluation, ImageResults, Outcomes, Outline
    from ioukit.plots._drawing import Theme, ThemeName
    from ioukit.plots._images import ImageLike


@dataclass(frozen=True)
class Kind:
    """The look of the regions of one kind: colour, dashes, width and hatch. Kinds differ in all of them."""

    meaning: str
    """The name of its words and its colours, see `ioukit._words_and_colours`."""
    dashes: Any
    width: float
    hatch: str | None = None
    mark: str = ""
    """The first letters of its labels."""

    @property
    def words(self) -> str:
        """Its name in a legend."""
        return OUTCOME_WORDS[self.meaning]

    @property
    def on_image(self) -> str:
        """Its colour on a photograph, and that of the plates of its labels, which have black letters."""
        return COLOURS[self.meaning].dark


KINDS = {
    "object": Kind("object", "-", 1.0),
    "ignored": Kind("ignored", (0, (1, 2)), 1.2, mark="ignored "),
    "TP": Kind("tp", "-", 2.2),
    "FP": Kind("fp", (0, (5, 2)), 2.0, mark="FP "),
    "FN": Kind("fn", (0, (1, 1)), 2.2, hatch="/", mark="FN "),
}


@dataclass(frozen=True)
class Drawn:
    """A region to draw."""

    kind: str
    outline: Outline
    gid: str
    name: str
    score: float | None = None

    @property
    def wordings(self) -> Sequence[str]:
        """The text of its label, and shorter ones for less room."""
        return score_text(self.name, self.score, KINDS[self.kind].mark)


@dataclass(frozen=True)
class Scene:
    """What is drawn of one image."""

    drawn: list[Drawn]
    """The regions, the least important first."""
    filled: bool
    """Whether paths are filled, as masks are."""
    ground: bool
    """Whether the scene is seen from above. There is no photograph then."""

    def frame(
        self, truth: GroundTruth, position: int, pixels: NDArray[Any] | None
    ) -> tuple[float, float, float, float]:
        """Left, top, right and bottom edge: those of the image, or those of the ground that has regions."""
        bounds = np.array([entry.outline.bounds for entry in self.drawn]).reshape(-1, 4)
        if self.ground:
            from ioukit.evaluation.outlines.outline import ground_frame  # noqa: PLC0415 - for views from above

            return ground_frame(bounds)
        width, height = frame_of(truth, position, pixels, bounds)
        return 0.0, 0.0, float(width), float(height)


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


def drawn_on(evaluation: Evaluation, outcomes: Outcomes, image_id: int | str) -> Scene:
    """The regions of an image. Regions that have nothing to draw are left out."""
    from ioukit.evaluation import Outcome, Outlines  # noqa: PLC0415 - keeps `import ioukit.plots` fast
    from ioukit.evaluation.kinds import find_kind  # noqa: PLC0415 - as above

    truth, detections = data_of(evaluation)
    table = evaluation.matches
    region = find_kind(table.iou_type)
    position = int(np.flatnonzero(table.image_ids == image_id)[0]) if image_id in table.image_ids else -1
    names = table.categories.names
    kinds_of_objects = {Outcome.TRUE_POSITIVE: "object", Outcome.FALSE_NEGATIVE: "FN", Outcome.IGNORED: "ignored"}
    kinds_of_detections = {Outcome.TRUE_POSITIVE: "TP", Outcome.FALSE_POSITIVE: "FP", Outcome.IGNORED: "ignored"}
    found: list[tuple[str, str, str, float | None]] = []
    drawn = []
    for of, kinds, became, data, scores in (
        (table.objects, kinds_of_objects, outcomes.objects, truth, None),
        (table.detections, kinds_of_detections, outcomes.detections, detections, table.detections.score),
    ):
        rows = np.flatnonzero((of.image == position) & np.isin(became, list(kinds)))
        rows = rows[np.lexsort((of.row[rows], np.zeros(len(rows)) if scores is None else -scores[rows]))]
        for row, at in zip(rows.tolist(), of.row[rows].tolist(), strict=True):
            kind = kinds[Outcome(int(became[row]))]
            gid = f"ignored object {at}" if kind == "ignored" and scores is None else f"{kind} {at}"
            score = None if scores is None else float(scores[row])
            found.append((kind, gid, names[int(of.category[row])], score))
        drawn.append(region.outlines_of(data[of.row[rows]], truth))
    outlines = Outlines.joined(drawn)
    shown = [
        Drawn(kind, outline, gid, name, score)
        for (kind, gid, name, score), outline in zip(found, outlines, strict=True)
        if not outline.is_empty
    ]
    if outlines.filled:
        shown.sort(key=lambda entry: -_extent(entry.outline))  # a small mask is not covered by a large one
    order = list(KINDS)
    return Scene(sorted(shown, key=lambda entry: order.index(entry.kind)), outlines.filled, outlines.view == "ground")


def _extent(outline: Outline) -> float:
    """The area of the box around an outline."""
    x1, y1, x2, y2 = outline.bounds.tolist()
    return float((x2 - x1) * (y2 - y1))


SMALL = 0.8  # the size of the labels of vehicles, relative to others

BELOW_AXIS = 0.5  # inches for the numbers and the name of an axis

LABEL_ORDER = ("FN", "FP", "TP", "ignored", "object")
"""The kinds whose labels choose their places first."""
LEGEND_ORDER = ("TP", "FP", "FN", "object", "ignored")


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
    ax = axes_for(ax, look, (wide, tall + (0.9 if scene.ground else 0.5)), needed_by="boxes_figure")
    draw_outcomes(ax, scene, frame, pixels, look, labelled=LABEL_ORDER if labels else ())
    if scene.ground:
        ax.set(xlabel="x, metres", ylabel="y, metres")
    if legend:
        _write_counts(ax, scene, look, on_image=pixels is not None)
    return ax


def _write_counts(ax: Axes, scene: Scene, look: Theme, *, on_image: bool) -> None:
    """Writes the number of regions of each kind below the axes."""
    counts = {kind: sum(entry.kind == kind for entry in scene.drawn) for kind in LEGEND_ORDER}
    kinds = [kind for kind in LEGEND_ORDER if counts[kind] or kind != "ignored"]
    words = [f"{KINDS[kind].words}: {counts[kind]}" for kind in kinds]
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


THUMBNAIL = 640  # pixels of the longer side

PANEL = 3.0  # inches

TALL, FLAT = 0.85, 0.62  # the height of a panel with an image, and of one with a view from above, in widths


def worst_images_figure(
    evaluation: Evaluation,
    *,
    images: Mapping[int, ImageLike] | str | os.PathLike[str] | None = None,
    most: int = 12,
    columns: int = 4,
    worst_by: Literal["errors", "cost"] = "errors",
    iou_threshold: float | None = None,
    score_threshold: float | None = None,
    labels: bool = True,
    theme: ThemeName = "light",
) -> Figure:
    """Draws the images with the most errors (false positives and missed objects), or those that cost most AP.

    The worst one comes first.

    Each is drawn as `boxes_figure` draws it. Views of boxes in space from above show no image.

    Args:
        evaluation: The result of `ioukit.evaluate`.
        images: The folder with the files that the data set names, or a mapping from image ids to files or arrays. A
            missing image is drawn as an empty frame; with ``None``, all images are.
        most: The maximal number of images; images without errors, or which cost nothing, are left out.
        columns: The number of images per row.
        worst_by: ``"errors"``, or ``"cost"``: by how much the protocol's main number is higher without the image, as
            `ioukit.statistics.image_influence` computes it. The cost does not depend on the score threshold.
        iou_threshold: One of the protocol's IoU thresholds; its main one if ``None``.
        score_threshold: Detections with at least this score count; ``None`` for the score with the best F1.
        labels: Whether errors have labels, where there is room, up to a fifth of the image.
        theme: Colours for a light or a dark background.

    Returns:
        A figure; it is not registered in pyplot. Its axes have ``get_gid()`` ``"image 7"``, ..., the id of the image,
        and a title with the counts and the name of the file.

    Raises:
        ValueError: If there is no such threshold or order, ``most`` or ``columns`` is below 1, or the evaluation does
            not hold its data.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> figure = worst_images_figure(evaluation, most=6, columns=3)  # with the images: images="val2017"
        >>> figure.axes[0].get_title(loc="left")
        'FP 51   FN 48   F1 0.23...'
    """
    from ioukit.evaluation import per_image  # noqa: PLC0415 - keeps `import ioukit.plots` fast

    look = theme_of(theme)
    check_count(most=most, columns=columns)
    check_choice("worst_by", worst_by, ("errors", "cost"))
    truth, _ = data_of(evaluation)
    outcomes = outcomes_of(evaluation, iou_threshold, score_threshold)
    results = per_image(evaluation.matches, outcomes)
    worst = _costs(evaluation, most) if worst_by == "cost" else dict.fromkeys(results.worst(most).tolist(), "")
    ids = [results.image_ids[at].item() for at in worst]
    scenes = [drawn_on(evaluation, outcomes, image_id) for image_id in ids]
    across = min(columns, max(len(worst), 1))
    down = max(-(-len(worst) // across), 1)
    tall = FLAT if any(scene.ground for scene in scenes) else TALL
    size = (max(PANEL * across, 5.0), tall * PANEL * down + 0.5)
    figure = new_figure(look, size, needed_by="worst_images_figure")
    figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
    panels = figure.subplots(down, across, squeeze=False).ravel()
    shown = False
    for ax, at, image_id, scene in zip(panels, worst, ids, scenes, strict=False):
        position = int(truth.images.positions([image_id])[0])
        name = truth.images.names[position]
        pixels = None if scene.ground else _pixels(images, image_id, name)
        shown |= pixels is not None
        frame = scene.frame(truth, position, pixels)
        labelled = ("FN", "FP") if labels else ()
        draw_outcomes(ax, scene, frame, pixels, look, labelled=labelled, covered=0.2, fontsize=6, thin=0.6)
        ax.tick_params(labelsize=6)
        ax.set_gid(f"image {image_id}")
        _title(ax, worst[at] or _counts(results, at), shorten(name or f"image {image_id}", 34), look.ink)
    for ax in panels[len(worst) :]:
        ax.set_axis_off()
    if not worst:
        lacks = "no errors on" if worst_by == "errors" else "no cost of any of"
        write_in_middle(panels[0], f"{lacks} {len(results.image_ids):,} images", look.ink)
    words_of = [KINDS[kind].words for kind in LEGEND_ORDER]
    place: dict[str, Any] = {"loc": "outside lower center", "ncols": min(len(LEGEND_ORDER), 1 + across), "fontsize": 8}
    legend = figure.legend(kind_handles(LEGEND_ORDER, look, on_image=shown), words_of, frameon=False, **place)
    for text in legend.get_texts():
        text.set_color(look.ink)
    return figure


def _counts(results: ImageResults, at: int) -> str:
    wrong, missed = results.false_positives[at], results.false_negatives[at]
    return f"FP {wrong}   FN {missed}   F1 {number(float(results.f1[at]), 2)}"


def _costs(evaluation: Evaluation, most: int) -> dict[int, str]:
    """Positions of the images that cost most, and what each costs."""
    from ioukit.statistics import image_influence  # noqa: PLC0415 - errors are counted without it

    found = image_influence(evaluation)
    return {row.position: f"costs {number(abs(row.adds), 4)} {found.key}" for row in found.worst(most)}


def _pixels(images: Any, image_id: int | str, name: str) -> NDArray[Any] | None:
    if images is None:
        return None
    given = images.get(image_id) if isinstance(images, Mapping) else found_in(Path(images), name)
    return None if given is None else pixels_of(given, needed_by="worst_images_figure", longest=THUMBNAIL)


def _title(ax: Axes, counts: str, name: str, ink: str) -> None:
    literal(ax.set_title(f"{counts}\n{name}", fontsize=7.5, color=ink, loc="left", pad=3))
