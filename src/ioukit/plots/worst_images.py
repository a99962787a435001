"""The images with the most errors, on one sheet."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ioukit._checks import check_choice, check_count
from ioukit._optional import import_extra
from ioukit.plots._drawing import literal, shorten, theme_of
from ioukit.plots._images import found_in, pixels_of
from ioukit.plots._outcomes_on import KINDS, data_of, drawn_on, outcomes_of
from ioukit.plots._reading import number
from ioukit.plots.boxes import draw_outcomes, kind_handles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ioukit.evaluation import Evaluation, ImageResults
    from ioukit.plots._drawing import ThemeName
    from ioukit.plots._images import ImageLike


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
    module = import_extra("matplotlib.figure", extra="plots", needed_by="worst_images_figure")
    truth, _ = data_of(evaluation)
    outcomes = outcomes_of(evaluation, iou_threshold, score_threshold)
    results = per_image(evaluation.matches, outcomes)
    worst = _costs(evaluation, most) if worst_by == "cost" else dict.fromkeys(results.worst(most).tolist(), "")
    ids = [results.image_ids[at].item() for at in worst]
    scenes = [drawn_on(evaluation, outcomes, image_id) for image_id in ids]
    across = min(columns, max(len(worst), 1))
    down = max(-(-len(worst) // across), 1)
    tall = FLAT if any(scene.ground for scene in scenes) else TALL
    figure: Figure = module.Figure(
        figsize=(max(PANEL * across, 5.0), tall * PANEL * down + 0.5), layout="constrained", facecolor=look.paper
    )
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
        words = f"{lacks} {len(results.image_ids):,} images"
        panels[0].text(0.5, 0.5, words, ha="center", va="center", color=look.ink, transform=panels[0].transAxes)
    kinds = ["TP", "FP", "FN", "object", "ignored"]
    words_of = [KINDS[kind].words for kind in kinds]
    place: dict[str, Any] = {"loc": "outside lower center", "ncols": min(len(kinds), 1 + across), "fontsize": 8}
    legend = figure.legend(kind_handles(kinds, look, on_image=shown), words_of, frameon=False, **place)
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
