"""Which boxes survive suppression or fusion, and which survivor each other box belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit.plots._drawing import VERMILLION, as_boxes, axes_for, dress, rings, theme_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from ioukit.plots._drawing import Theme, ThemeName
    from ioukit.regions import BoxesLike
    from ioukit.typing import BoxFormat, FloatArray


def survivors_figure(
    boxes: BoxesLike,
    survivors: BoxesLike,
    *,
    scores: ArrayLike | None = None,
    into: ArrayLike | None = None,
    ax: Axes | None = None,
    format: BoxFormat = "xyxy",
    theme: ThemeName = "light",
) -> Axes:
    """Draws the boxes of a detector and those that are left after suppression or fusion.

    The given boxes are thin and dashed. The survivors are thick and have their scores. An arrow leads from the lower
    edge of a removed box to the centre of the survivor that removed it or that it was fused into.

    Args:
        boxes: (N, 4) the boxes of the detector, in any unit.
        survivors: (M, 4) in the same unit: some of the boxes, or new ones.
        scores: (M,) scores of the survivors.
        into: (N,) for each box, the position of the survivor that an arrow points to; -1 for no arrow.
        ax: Where to draw; by default axes of a new figure. What they already show, such as the image, stays below.
        format: The format of plain numbers. `Boxes` have their own.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes; y points down, as in images. Boxes are patches with ``get_gid()`` ``"box 0"``, ``"box 1"``, ...,
        survivors have ``"survivor 0"``, ...; arrows are annotations with ``"arrow 0"``, ..., the number of the box.

    Raises:
        ValueError: If ``scores`` are not one per survivor, or ``into`` is not one per box, each -1 or the position of a
            survivor.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = survivors_figure([[0, 0, 4, 4], [1, 0, 5, 4]], [[0, 0, 4, 4]], scores=[0.9], into=[0, 0])
        >>> [patch.get_gid() for patch in ax.patches]
        ['box 1', 'survivor 0']
    """
    given, left = as_boxes(boxes, format, "boxes"), as_boxes(survivors, format, "survivors")
    if given.normalized != left.normalized:
        raise ValueError("boxes and survivors must be in one unit, got normalized and absolute ones")
    labels = None if scores is None else np.asarray(scores, np.float64)
    if labels is not None and labels.shape != (len(left),):
        raise ValueError(f"scores must have shape ({len(left)},), one per survivor, got {labels.shape}")
    target = np.full(len(given), -1) if into is None else _positions(into, len(given), len(left))

    look = theme_of(theme)
    ax = axes_for(ax, look, (5.0, 4.2), needed_by="survivors_figure")
    dress(ax, look, framed=True)
    all_corners = np.concatenate([given.numpy(), left.numpy()])
    if len(all_corners):
        ax.update_datalim(all_corners.reshape(-1, 2))
    ax.yaxis.set_inverted(True)
    ax.set_aspect("equal")

    kept = {tuple(corners) for corners in left.numpy().tolist()}
    gone = np.array([tuple(corners) not in kept for corners in given.numpy().tolist()], bool)
    for number, corners in enumerate(given.numpy()):
        if gone[number]:
            rings(
                ax, [corners], gid=f"box {number}", fill=False, ec=VERMILLION, lw=1, ls=(0, (4, 2)), zorder=3,
                label="gone",
            )  # fmt: skip
    for number, corners in enumerate(left.numpy()):
        rings(ax, [corners], gid=f"survivor {number}", fill=False, ec=look.blue, lw=2.2, zorder=4, label="survives")
        if labels is not None:
            ax.annotate(
                f"{labels[number]:.2f}", corners[:2], xytext=(3, -3), textcoords="offset points", ha="left", va="top",
                fontsize=8, color=look.blue, bbox=look.plate, zorder=6,
            )  # fmt: skip
    ax.autoscale_view()
    _arrows(ax, given.numpy(), left.center, np.where(gone, target, -1), look)
    return ax


def _positions(into: ArrayLike, boxes: int, survivors: int) -> NDArray[np.int64]:
    target = np.asarray(into)
    if target.shape != (boxes,) or (boxes and target.dtype.kind not in "iu"):
        raise ValueError(f"into must hold one integer per box, ({boxes},), got {target.dtype} of shape {target.shape}")
    target = target.astype(np.int64)
    wrong = (target < -1) | (target >= survivors)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"into[{row}] must be -1 or a position among the {survivors} survivors, got {target[row]}")
    return target


def _arrows(ax: Axes, given: FloatArray, centres: FloatArray, target: NDArray[np.int64], look: Theme) -> None:
    """Arrows from the lower edges of removed boxes; the centres of boxes are often too close to each other."""
    for number in np.flatnonzero(target >= 0).tolist():
        x1, _, x2, y2 = given[number].tolist()
        arrow = ax.annotate(
            "", centres[target[number]], xytext=((x1 + x2) / 2, y2), zorder=5,
            arrowprops={"arrowstyle": "-|>", "color": VERMILLION, "lw": 1, "shrinkA": 0, "shrinkB": 3},
        )  # fmt: skip
        arrow.set_gid(f"arrow {number}")
        ax.plot(*centres[target[number]], marker="o", ms=4, color=look.blue, zorder=6, ls="none")
