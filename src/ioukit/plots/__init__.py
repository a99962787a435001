"""Pictures of overlap. Axes in, axes out: no pyplot, no rcParams, no title on a figure that the caller owns.

Without ``ax`` a figure of its own is made; ``ax.figure`` is it, and a notebook shows that. matplotlib is imported when
a picture is drawn: ``pip install 'ioukit[plots]'``.
"""

from ioukit.plots.assignment import assignment_figure
from ioukit.plots.grid import grid_figure
from ioukit.plots.overlap import overlap_figure
from ioukit.plots.survivors import survivors_figure
from ioukit.plots.training import training_figure
from ioukit.plots.variants import variant_figure, variants_figure

__all__ = [
    "assignment_figure",
    "grid_figure",
    "overlap_figure",
    "survivors_figure",
    "training_figure",
    "variant_figure",
    "variants_figure",
]
