"""Labels of boxes for matplotlib. Each time the figure is drawn, they are placed for the current size of the axes.

This file is imported only where matplotlib is known to be installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.artist import Artist
from matplotlib.transforms import IdentityTransform

from ioukit._label_places import place_labels
from ioukit.plots._drawing import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.text import Text

    from ioukit.typing import FloatArray


PLATE = {"boxstyle": "square,pad=0.15", "lw": 0.8}


class Labels(Artist):
    """Finds places for texts when the axes are drawn. The texts are children of the axes, and are drawn after it."""

    def __init__(self, ax: Axes, frame: FloatArray, *, covered: float) -> None:
        """Labels inside ``frame`` (``[x1, y1, x2, y2]`` in data), until they cover the part ``covered`` of it."""
        super().__init__()
        self.set_zorder(0)
        self.set_in_layout(False)
        self._on = ax
        self._within = frame
        self._covered = covered
        self._boxes: list[FloatArray] = []
        self._wordings: list[Sequence[str]] = []
        self._texts: list[Text] = []
        ax.add_artist(self)

    def add(self, box: FloatArray, wordings: Sequence[str], *, fill: str, edge: str, size: float, gid: str) -> None:
        """Add a label at a box (xyxy in data): the first of the texts that has room, in black on a plate."""
        text = self._on.text(
            0, 0, wordings[0], fontsize=size, color="black", va="bottom", ha="left", zorder=8, gid=gid,
            transform=IdentityTransform(), bbox={**PLATE, "fc": fill, "ec": edge}, clip_on=True, in_layout=False,
        )  # fmt: skip
        self._texts.append(literal(text))
        self._boxes.append(box)
        self._wordings.append(wordings)

    def draw(self, renderer: RendererBase) -> None:
        """Place the texts; matplotlib draws them afterwards."""
        if not self._texts:
            return
        axes, image = self._on.bbox.extents, self._on_screen(self._within)
        frame = np.concatenate([np.maximum(axes[:2], image[:2]), np.minimum(axes[2:], image[2:])])
        sizes = [self._sizes(text, words, renderer) for text, words in zip(self._texts, self._wordings, strict=True)]
        boxes = np.array([self._on_screen(box) for box in self._boxes])
        # In display coordinates y points up.
        flip = [0, 3, 2, 1]
        found = place_labels(
            boxes[:, flip] * [1, -1, 1, -1], sizes, frame[flip] * [1, -1, 1, -1], covered=self._covered
        )
        for text, words, spot, size in zip(self._texts, self._wordings, found, sizes, strict=True):
            text.set_visible(spot is not None)
            if spot is not None:
                wording, x, y = spot
                text.set_text(words[wording])
                self._move(text, x, -y - size[wording][1], renderer)

    def _on_screen(self, box: FloatArray) -> FloatArray:
        """Left, lower, right and upper edge in pixels."""
        corners = self._on.transData.transform(np.reshape(box, (2, 2)))
        return np.concatenate([corners.min(axis=0), corners.max(axis=0)])

    def _sizes(self, text: Text, wordings: Sequence[str], renderer: RendererBase) -> list[tuple[float, float]]:
        sizes = []
        text.set_visible(True)
        for words in wordings:
            text.set_text(words)
            around = self._plate(text, renderer)
            sizes.append((around[2] - around[0], around[3] - around[1]))
        return sizes

    def _move(self, text: Text, x: float, y: float, renderer: RendererBase) -> None:
        around = self._plate(text, renderer)
        old = text.get_position()
        text.set_position((old[0] + x - around[0], old[1] + y - around[1]))

    @staticmethod
    def _plate(text: Text, renderer: RendererBase) -> FloatArray:
        """The area that the label covers: its letters, and the plate around them with half of its line."""
        text.update_bbox_position_size(renderer)
        plate = text.get_bbox_patch()
        return np.array((text if plate is None else plate).get_window_extent(renderer).extents)
