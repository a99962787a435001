"""A figure as the pixels and the file that trackers take."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Picture"]

_DPI = 150


@dataclass(frozen=True)
class Picture:
    """A drawn figure."""

    figure: Any
    """The figure of matplotlib."""

    @cached_property
    def png(self) -> bytes:
        """The figure as a PNG file, 150 dots per inch."""
        return self._saved("png")

    @cached_property
    def pixels(self) -> NDArray[np.uint8]:
        """(H, W, 3) the same as RGB, within [0, 255]."""
        width, height = (int.from_bytes(self.png[at : at + 4], "big") for at in (16, 20))  # of the header of PNG
        rgba = np.frombuffer(self._saved("rgba"), np.uint8).reshape(height, width, 4)
        return np.ascontiguousarray(rgba[..., :3])

    def _saved(self, format: str) -> bytes:
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format=format, dpi=_DPI, facecolor=self.figure.get_facecolor())
        return buffer.getvalue()
