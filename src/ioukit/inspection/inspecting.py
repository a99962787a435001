"""`inspect`: measures a data set."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._array_types import Floats
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats.registry import find_format, read
from ioukit.inspection.inspection import CELLS, OUTSIDE, Inspection, cell_of_centres
from ioukit.inspection.neighbours import nearest_overlaps
from ioukit.inspection.region_values import region_values

if TYPE_CHECKING:
    from numpy.typing import NDArray


_NOT_OBJECTS = ("crowd", "group_of")
"""The flags of regions that stand for many objects, which have no nearest neighbour."""

_MEASURED_BY_SHAPE = ("RotatedBoxes", "Polygons")
"""The kinds of regions whose overlaps are those of the regions, not of their upright boxes."""


def inspect(
    data: GroundTruth | str | os.PathLike[str], *, format: str | None = None, threads: int | None = None, **options: Any
) -> Inspection:
    """Measures what a data set holds: its images, classes, and the sizes, shapes, positions and overlaps of objects.

    Args:
        data: Ground truth, or the path of a data set in any format that :func:`ioukit.datasets.read` knows.
        format: The name of the format of a path, found by looking if ``None``. For ground truth, the name of the format
            that it was read from, which the result repeats.
        threads: How many threads; all cores if ``None``. The numbers are the same.
        **options: Further arguments of :func:`ioukit.datasets.read` for a path, such as ``on_invalid``.

    Returns:
        The measurements. ``table()``, ``to_dict()`` and the figures of ``ioukit.plots`` show them.

    Raises:
        TypeError: If ``data`` is neither ground truth nor a path, or ``options`` are given for ground truth.
        DatasetError: If the data of a path is invalid, or of no known format.
        OSError: If it cannot be read.

    Examples:
        >>> import ioukit
        >>> gt = ioukit.GroundTruth.from_arrays(
        ...     image_ids=[1, 1, 2], category_ids=[1, 1, 2], boxes=[[0, 0, 20, 10], [10, 0, 20, 10], [5, 5, 40, 40]]
        ... )
        >>> held = ioukit.inspect(gt)
        >>> held
        Inspection(2 images, 3 objects, 2 classes)
        >>> held.num_by_size
        {'small': 2, 'medium': 1, 'large': 0}
        >>> held.overlaps.round(3).tolist()
        [0.333, 0.333, 0.0]
    """
    gt, read_as = (data, format or "") if isinstance(data, GroundTruth) else _read(data, format, threads, options)
    if isinstance(data, GroundTruth) and options:
        raise TypeError(f"{', '.join(options)}: options of reading need a path, got ground truth")
    images = np.searchsorted(gt.images.ids, gt.image_ids).astype(np.int64, copy=False)
    classes = np.searchsorted(gt.categories.ids, gt.category_ids).astype(np.int64, copy=False)
    widths, heights = gt.boxes[:, 2], gt.boxes[:, 3]
    sizes = gt.images.sizes[images]
    known = np.logical_and(sizes[:, 0] > 0, sizes[:, 1] > 0)
    has_area: NDArray[np.bool_] = (widths > 0) & (heights > 0)
    pairs = np.sort(images * max(len(gt.categories), 1) + classes)  # sorted; np.unique takes ten times as long
    pairs = pairs[np.diff(pairs, prepend=-1) != 0]
    on_images, of_classes = np.divmod(pairs, max(len(gt.categories), 1))
    images_per_class = np.bincount(of_classes, minlength=len(gt.categories))
    together = classes_together(on_images, of_classes, images_per_class)
    cells = cell_of_centres(gt, images, CELLS)
    overlap_of, nearest = _overlaps(gt, images, classes, threads)
    regions, notes = region_values(gt, threads)
    return Inspection(
        ground_truth=gt,
        format=read_as,
        images=images,
        classes=classes,
        objects_per_image=np.bincount(images, minlength=len(gt.images)),
        objects_per_class=np.bincount(classes, minlength=len(gt.categories)),
        images_per_class=images_per_class,
        sides=np.sqrt(np.maximum(gt.areas, 0.0)),
        aspect_ratios=_quotient(widths, heights, has_area),
        image_shares=_quotient(widths * heights, sizes[:, 0] * sizes[:, 1], known),
        positions=np.bincount(cells[cells >= 0], minlength=CELLS**2).reshape(CELLS, CELLS),
        outside=int((cells == OUTSIDE).sum()),
        overlap_of=overlap_of,
        overlaps=nearest[0],
        overlaps_of_class=nearest[1],
        together_classes=together[0],
        together_images=together[1],
        regions=tuple(regions),
        notes=(*gt.notes, *notes),
    )


def _read(
    path: str | os.PathLike[str], format: str | None, threads: int | None, options: dict[str, Any]
) -> tuple[GroundTruth, str]:
    """The data set at a path, and the name of its format."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"expected GroundTruth or the path of a data set, got {type(path).__name__}")
    name = find_format(path, format).name
    return read(path, name, threads=threads, **options), name


def _quotient(numerator: Floats, denominator: Floats, defined: NDArray[np.bool_]) -> Floats:
    """The quotient where it is defined, NaN elsewhere."""
    found: Floats = np.divide(numerator, denominator, out=np.full(len(numerator), np.nan), where=defined)
    return found


def _overlaps(
    gt: GroundTruth, images: NDArray[np.int64], classes: NDArray[np.int64], threads: int | None
) -> tuple[str, tuple[Floats, Floats]]:
    """What was compared, and the IoU of each object with its nearest neighbour; NaN for regions of many objects."""
    single = ~np.logical_or.reduce([np.zeros(len(gt), np.bool_), *(gt.flag(name) for name in _NOT_OBJECTS)])
    nearest = np.where(single, 0.0, np.nan) * np.ones((2, 1))
    of = next((name for name in _MEASURED_BY_SHAPE if name in gt.regions), "")
    regions: Any = gt.regions.get(of)
    if regions is None:
        sides = np.maximum(gt.boxes[:, 2:], 0.0)  # with on_invalid="pycocotools", some may be negative
        regions = np.concatenate([gt.boxes[:, :2], gt.boxes[:, :2] + sides], axis=1)
    else:
        single &= ~regions.is_empty
    rows = np.flatnonzero(single)
    nearest[:, rows] = nearest_overlaps(regions[rows], images[rows], classes[rows], threads=threads)
    return of or "boxes", (nearest[0], nearest[1])


MOST_CLASSES = 100
"""The number of classes that are compared: those on the most images."""

_IMAGES_AT_A_TIME = 1 << 16


def classes_together(
    images: NDArray[np.int64], classes: NDArray[np.int64], on_images: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """On how many images two classes occur together.

    Args:
        images: (P,) the image of each pair of an image and a class that occurs on it, each pair once, in ascending
            order of the images.
        classes: (P,) the class of each pair.
        on_images: (K,) the number of images that each class occurs on.

    Returns:
        (C,) the classes that are compared: those with images, at most :data:`MOST_CLASSES`, most images first. (C, C)
        the number of images on which both occur; on the diagonal, those of the class alone.
    """
    chosen = np.argsort(-on_images, kind="stable")[:MOST_CLASSES]
    chosen = chosen[on_images[chosen] > 0]
    places = np.full(len(on_images), -1)
    places[chosen] = np.arange(len(chosen))
    kept = places[classes] >= 0
    _, rows = np.unique(images[kept], return_inverse=True)
    columns = places[classes[kept]]
    counts = np.zeros((len(chosen), len(chosen)), np.int64)
    for start in range(0, int(rows[-1]) + 1 if len(rows) else 0, _IMAGES_AT_A_TIME):
        low, high = np.searchsorted(rows, [start, start + _IMAGES_AT_A_TIME])
        # float32 counts exactly up to 2**24, and its matrix product is a hundred times as fast as that of integers.
        occurs = np.zeros((int(rows[high - 1]) - start + 1, len(chosen)), np.float32)
        occurs[rows[low:high] - start, columns[low:high]] = 1
        counts += (occurs.T @ occurs).astype(np.int64)
    return chosen, counts
