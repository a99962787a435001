"""Draws the figures of the documentation: ``python docs/build/draw.py [FOLDER]``."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import evaluation_figures
import inspection_figures
import matplotlib as mpl
import overlap_figures
import region_figures
import slice_figures
import speed_figures
import statistics_figures
import track_figures
import training_figures
import yolo_figures

from ioukit.overlap.variants import VARIANTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

FIGURES: dict[str, Callable[[], Figure]] = {
    "overlap": overlap_figures.overlap,
    "variants": overlap_figures.variants,
    "grid": overlap_figures.grid,
    "assignment": overlap_figures.assignment,
    "suppression": overlap_figures.suppression,
    "regression_simulation": training_figures.regression_simulation,
    "detector_training": training_figures.detector_training,
    "detector_ablation": training_figures.detector_ablation,
    "yolo_grid": yolo_figures.yolo_grid,
    "yolo_anchors": yolo_figures.yolo_anchors,
    "yolo_assignment": yolo_figures.yolo_assignment,
    "yolo_candidates": yolo_figures.yolo_candidates,
    "yolo_survivors": yolo_figures.yolo_survivors,
    "yolo_matches": yolo_figures.yolo_matches,
    "yolo_precision_recall": yolo_figures.yolo_precision_recall,
    **{f"evaluation_{name}": partial(evaluation_figures.drawn, name) for name in evaluation_figures.EVALUATIONS},
    **{f"evaluation_{name}": figure for name, figure in region_figures.REGIONS.items()},
    **{f"inspection_{name}": partial(inspection_figures.drawn, name) for name in inspection_figures.INSPECTIONS},
    "evaluation_speed": speed_figures.evaluation_speed,
    "slices": slice_figures.slices,
    **{f"statistics_{name}": figure for name, figure in statistics_figures.STATISTICS.items()},
    "timeline": track_figures.timeline,
    **{f"variant_{row.name}": partial(overlap_figures.variant, row.name) for row in VARIANTS},
}

# Those with pixels in them.
PICTURES: dict[str, Callable[[], Figure]] = {
    "evaluation_boxes": evaluation_figures.boxes,
    "evaluation_worst_images": evaluation_figures.worst_images,
    "evaluation_masks": region_figures.masks,
}


def draw(folder: Path) -> None:
    # The same bytes each time, and letters as outlines: a browser need not have the font.
    with mpl.rc_context({"svg.hashsalt": "ioukit", "svg.fonttype": "path"}):
        for name, figure in FIGURES.items():
            figure().savefig(folder / f"{name}.svg", metadata={"Date": None})
        for name, figure in PICTURES.items():
            figure().savefig(folder / f"{name}.jpg", dpi=110, pil_kwargs={"quality": 82})


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "figures")
