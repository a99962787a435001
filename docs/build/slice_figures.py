"""The figures of the page about slices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ioukit import evaluate, read_coco
from ioukit.plots import slices_figure
from ioukit.slices import slice_numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXAMPLE = Path(__file__).parents[2] / "examples" / "coco_val2017_100"


def slices() -> Figure:
    """AP by weather, size and occlusion, of the data of the page."""
    gt, dt = read_coco(EXAMPLE / "ground_truth.json", EXAMPLE / "yolact.json")
    number = np.arange(100)
    weather = np.select([number % 5 == 0, number % 5 < 3], ["fog", "rain"], "sun")
    table = {"image_id": gt.images.ids, "weather": weather}
    found = slice_numbers(evaluate(gt, dt), ["weather", "size", "occlusion"], tables=table, keys=["AP"])
    return slices_figure(found).figure  # type: ignore[return-value]
