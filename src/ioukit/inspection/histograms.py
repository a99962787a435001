"""Histograms of what a data set holds, for all classes together and for each: figures and pages draw them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Counts, Floats
from ioukit._columns import Frozen, record
from ioukit.inspection.inspection import Inspection, cell_of_centres

SIDES = 32.0 * 3.0 ** (np.arange(-16, 21) / 4)
"""Bounds of the sides: from 0.4 to 7,800 pixels, each 1.3 times the last. COCO's bounds 32 and 96 are among them."""

RATIOS = 2.0 ** (np.arange(-35, 36, 2) / 6)
"""Bounds of width over height: from 1/57 to 57, each 1.26 times the last. Squares are in the middle of a bin."""

OVERLAPS = np.arange(1, 21) / 20
"""Thresholds of IoU: 0.05, 0.1, ..., 1."""


@record(frozen=True, eq=False, repr=False)
class Histogram(Frozen):
    """How many objects, or images, lie in each bin."""

    edges: Floats
    """(B + 1,) the bounds of the bins, ascending; the lower one belongs to a bin, the upper one does not. Values beyond
    all bounds count in the first or the last bin."""
    counts: Counts
    """(K + 1, B) the counts: all classes together, then each class."""


def side_histogram(inspection: Inspection) -> Histogram:
    """The objects by the square root of their areas."""
    return _histogram(inspection, inspection.sides, SIDES)


def ratio_histogram(inspection: Inspection) -> Histogram:
    """The objects by width over height; boxes without an area are left out."""
    return _histogram(inspection, inspection.aspect_ratios, RATIOS)


def overlap_histogram(inspection: Inspection, *, same_class: bool) -> Histogram:
    """The objects by their IoU with the nearest neighbour: 0, above 0, then in steps of 0.05, and 1."""
    overlaps = inspection.overlaps_of_class if same_class else inspection.overlaps
    edges = np.concatenate([[0.0, np.nextafter(0.0, 1.0)], OVERLAPS, [np.nextafter(1.0, 2.0)]])
    return _histogram(inspection, overlaps, edges)


def per_image_histogram(inspection: Inspection) -> Histogram:
    """The images by the number of their objects: 0, 1, 2, 3 to 4, 5 to 8, and so on.

    For a class, its own objects count.
    """
    most = int(inspection.objects_per_image.max(initial=1))
    edges = np.array([0.0, 1.0, *(2.0**k + 1 for k in range(int(np.ceil(np.log2(most))) + 1))])
    classes, images = len(inspection.objects_per_class), len(inspection.objects_per_image)
    pairs, counts = np.unique(inspection.images * max(classes, 1) + inspection.classes, return_counts=True)
    found = np.zeros((classes + 1, len(edges) - 1), np.int64)
    found[0] = _counts(np.zeros(images, np.int64), inspection.objects_per_image, edges, 1)[0]
    found[1:] = _counts(pairs % max(classes, 1), counts, edges, classes)
    found[1:, 0] = images - inspection.images_per_class
    return Histogram(edges, found)


def range_names(edges: Floats) -> list[str]:
    """The names of bins of whole numbers: ``3-4`` for those from 3 to below 5."""
    bounds = [(int(low), int(high) - 1) for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)]
    return [f"{low:,}" if low == high else f"{low:,}-{high:,}" for low, high in bounds]


def position_histogram(inspection: Inspection, classes: Counts, cells: int) -> Counts:
    """(C + 1, G * G) how many centres lie in each cell of the image: of all classes together, then of each given class.

    Args:
        inspection: The measured data set.
        classes: (C,) positions of classes.
        cells: G, which divides the number of cells of ``Inspection.positions``.
    """
    size = len(inspection.positions) // cells
    whole = inspection.positions.reshape(cells, size, cells, size).sum(axis=(1, 3)).reshape(1, -1)
    places = cell_of_centres(inspection.ground_truth, inspection.images, cells)
    rows = np.full(len(inspection.objects_per_class), -1)
    rows[classes] = np.arange(len(classes))
    row = rows[inspection.classes]
    counted = (places >= 0) & (row >= 0)
    counts = np.bincount(row[counted] * cells**2 + places[counted], minlength=len(classes) * cells**2)
    return np.concatenate([whole, counts.reshape(len(classes), cells**2)])


def _histogram(inspection: Inspection, values: Floats, edges: Floats) -> Histogram:
    defined = ~np.isnan(values)
    by_class = _counts(inspection.classes[defined], values[defined], edges, len(inspection.objects_per_class))
    return Histogram(edges, np.concatenate([by_class.sum(axis=0, keepdims=True), by_class]))


def _counts(rows: Counts, values: npt.NDArray[np.int64] | Floats, edges: Floats, count: int) -> Counts:
    """(count, B) how many values lie in each bin, for each row."""
    bins = len(edges) - 1
    places = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, bins - 1)
    return np.bincount(rows * bins + places, minlength=count * bins).reshape(count, bins).astype(np.int64, copy=False)
