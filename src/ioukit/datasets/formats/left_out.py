"""What the files of a format do not hold: a note for each column of a data set that is lost when it is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ioukit._checks import pluralize
from ioukit.datasets.columns.ground_truth import GroundTruth

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from ioukit.datasets.columns.detections import Detections


@dataclass(frozen=True)
class Holds:
    """What the files of a format can say besides the names of images and classes, boxes, and scores of detections."""

    regions: frozenset[str] = frozenset()
    """The kinds of regions, as in :attr:`GroundTruth.regions`."""
    flags: frozenset[str] | None = frozenset()
    """The flags by name; ``None`` for any."""
    attributes: frozenset[str] | None = frozenset()
    """The attributes by name; ``None`` for any."""
    image_attributes: frozenset[str] | None = frozenset()
    """The attributes of images by name; ``None`` for any."""
    category_attributes: frozenset[str] | None = frozenset()
    """The attributes of classes by name; ``None`` for any."""
    image_ids: bool = False
    """Whether ids of images that are numbers come back. Else the name of an image becomes its id."""
    image_sizes: bool = True
    """Whether the sizes of images come back."""
    empty_images: bool = True
    """Whether an image without objects comes back."""
    category_ids: bool = False
    """Whether the ids of classes come back. Else classes are known by their names."""
    unused_categories: bool = False
    """Whether a class without objects comes back."""
    ids: bool = False
    """Whether the ids of annotations come back."""
    areas: bool = False
    """Whether areas come back that differ from those of the boxes."""
    areas_of_regions: bool = False
    """Whether a reader computes areas from segmentations and rotated boxes, where the files hold them."""


def left_out_columns(data: GroundTruth | Detections, holds: Holds) -> list[str]:
    """A note for each column with values that the files do not hold, with how many there are."""
    notes = []
    for kind, column in data.regions.items():
        count = sum(row is not None for row in column) if kind == "segmentations" else len(column)
        if kind not in holds.regions and count:
            notes.append(f"{kind} of {_objects(count, data)}")
    notes += [f"attribute {name} of {_objects(len(data), data)}" for name in _others(data.attributes, holds.attributes)]
    if data.areas is not None and not holds.areas:
        computed = _areas_of_regions(data, holds) if holds.areas_of_regions else data.boxes[:, 2] * data.boxes[:, 3]
        rtol, kind = (1e-9, "regions") if holds.areas_of_regions else (0.0, "boxes")
        if differing := int((~np.isclose(data.areas, computed, rtol=rtol, atol=0)).sum()):
            notes.append(f"areas of {_objects(differing, data)} that are not those of the {kind}")
    if isinstance(data, GroundTruth):
        notes += _of_ground_truth(data, holds)
    return notes


def _areas_of_regions(data: GroundTruth | Detections, holds: Holds) -> npt.NDArray[np.float64]:
    """(N,) the areas of the segmentations or rotated boxes that the files hold, else those of the boxes."""
    areas: npt.NDArray[np.float64] = data.boxes[:, 2] * data.boxes[:, 3]
    if "RotatedBoxes" in holds.regions & data.regions.keys():
        areas = data.regions["RotatedBoxes"].area
    if "segmentations" in holds.regions and data.segmentations is not None:
        from ioukit.datasets.formats.drawn_shapes import segmentation_area  # noqa: PLC0415 - most files have none

        for row, segmentation in enumerate(data.segmentations):
            if segmentation:
                areas[row] = segmentation_area(segmentation)
    return areas


def _of_ground_truth(gt: GroundTruth, holds: Holds) -> list[str]:
    set_flags = {name: int(gt.flags[name].sum()) for name in _others(gt.flags, holds.flags)}
    notes = [f"flag {name} of {_objects(count, gt)}" for name, count in set_flags.items() if count]
    notes += [f"attribute {name} of the images" for name in _others(gt.images.attributes, holds.image_attributes)]
    others = _others(gt.categories.attributes, holds.category_attributes)
    notes += [f"attribute {name} of the classes" for name in others]
    empty = int((~np.isin(gt.images.ids, gt.image_ids)).sum())
    if empty and not holds.empty_images:
        notes.append(f"{empty:,} images without objects")
    if not holds.image_sizes and (known := int((~np.isnan(gt.images.sizes[:, 0])).sum())):
        notes.append(f"sizes of {known:,} images")
    if not holds.image_ids and gt.images.keys is None and len(gt.images):
        notes.append(f"ids of {len(gt.images):,} images: their names remain")
    unused = int((~np.isin(gt.categories.ids, gt.category_ids)).sum())
    if unused and not holds.unused_categories:
        notes.append(f"{unused:,} classes without objects")
    if not holds.category_ids and len(gt.categories):
        notes.append(f"ids of {len(gt.categories):,} classes: their names remain")
    if not holds.ids and len(gt) and not np.array_equal(gt.ids, np.arange(1, len(gt) + 1)):
        notes.append(f"ids of {_objects(len(gt), gt)}")
    return notes


def _others(names: Iterable[str], held: frozenset[str] | None) -> list[str]:
    return [] if held is None else [name for name in names if name not in held]


def _objects(count: int, data: GroundTruth | Detections) -> str:
    return pluralize(count, "object" if isinstance(data, GroundTruth) else "detection")
