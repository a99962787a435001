"""Figures of overlaps, of data sets and of evaluations. The functions take axes and return axes.

They change no rcParams, and set no title on the caller's axes. Without ``ax`` they make a new figure, ``ax.figure``. A
notebook shows the axes and the figure as the last line of a cell, and after ``pyplot.show()``. matplotlib is imported
when a figure is drawn: ``pip install 'ioukit[plots]'``. The figures of data sets and evaluations take
``theme="dark"``.

The public names are in the stub ``__init__.pyi``.
"""

from ioukit._exports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
