"""Figures and axes that a notebook shows: as the last expression of a cell, and after ``pyplot.show()``."""

from __future__ import annotations

import io
import sys
from typing import Any

import matplotlib as mpl
import matplotlib.axes
import matplotlib.figure


class _Shown:
    """What shows the picture of ``self.figure``, in place of its ``repr``.

    A figure of pyplot is closed then: the inline backend would show it again at the end of the cell.
    """

    figure: Any

    def _repr_png_(self) -> bytes:
        return self._picture("png")

    def _picture(self, kind: str) -> bytes:
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format=kind, dpi=96, facecolor=self.figure.get_facecolor())
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close(self.figure)
        return buffer.getvalue()

    def _ipython_display_(self) -> None:  # before the printer that the inline backend has for figures
        display = sys.modules["IPython.display"].display
        # A photograph as PNG makes a notebook five times as large.
        kind = "jpeg" if any(image.get_array().ndim == 3 for ax in self.figure.axes for image in ax.images) else "png"
        display({f"image/{kind}": self._picture(kind), "text/plain": repr(self)}, raw=True)


class Axes(_Shown, matplotlib.axes.Axes):
    """The axes of a figure that was made here."""


class Figure(_Shown, matplotlib.figure.Figure):
    """A figure that was made here."""

    def savefig(self, fname: Any, **options: Any) -> None:
        """Save as matplotlib does, but the fonts of PDF and PostScript are TrueType: publishers refuse its Type 3."""
        with mpl.rc_context({"pdf.fonttype": 42, "ps.fonttype": 42}):
            super().savefig(fname, **options)


def shown_figure(**options: Any) -> Figure:
    """A new figure. It is one of pyplot only in a notebook that has loaded pyplot, whose ``show`` then shows it."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None and "inline" in matplotlib.get_backend():
        made: Figure = pyplot.figure(FigureClass=Figure, **options)
        return made
    return Figure(**options)
