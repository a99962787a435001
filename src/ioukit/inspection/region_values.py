"""What is measured of regions other than upright boxes: masks, keypoints, rotated boxes, polygons, 3-D boxes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._columns import Frozen, record, take_rows
from ioukit.datasets.columns._regions import KEYPOINTS, SEGMENTATIONS
from ioukit.datasets.columns.lazy import ValuesOfFiles
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ioukit.datasets.columns.ground_truth import GroundTruth
    from ioukit.regions.boxes3d import Boxes3D
    from ioukit.regions.regions import Regions
    from ioukit.regions.rotated import RotatedBoxes


Values = dict[str, Floats]

_TITLES = {
    SEGMENTATIONS: "masks",
    "Masks": "masks",
    KEYPOINTS: "keypoints",
    "RotatedBoxes": "rotated boxes",
    "Polygons": "polygons",
    "Boxes3D": "3-D boxes",
}


@record(frozen=True, eq=False, repr=False)
class RegionValues(Frozen):
    """What is measured of one kind of region, one value per object."""

    column: str
    """The name of the column in ``GroundTruth.regions``, such as ``"segmentations"`` or ``"RotatedBoxes"``."""
    title: str
    """The kind in plain words, such as ``"masks"``."""
    present: npt.NDArray[np.bool_]
    """(N,) whether an object has such a region: one with an area, or at least one labelled keypoint."""
    values: Mapping[str, npt.NDArray[np.float64]]
    """(N,) values by name, NaN for objects without the region. Kinds with an area have ``"box_share"``: the area of the
    region over the area of the upright box around it, within [0, 1]. Rotated boxes have ``"angle"``, too: the
    smallest clockwise rotation of an upright box, in degrees, within [0, 90). Keypoints have ``"labelled"`` and
    ``"visible"``: the number of points with a visibility above 0, and above 1. 3-D boxes have ``"length"``,
    ``"width"`` and ``"height"``."""

    def __len__(self) -> int:
        return len(self.present)

    def __repr__(self) -> str:
        return f"RegionValues({self.title}: {int(self.present.sum()):,} of {len(self):,} objects)"


def region_values(gt: GroundTruth, threads: int | None) -> tuple[list[RegionValues], list[str]]:
    """The values of every kind of region that the objects have, and notes about those that cannot be read."""
    found, notes = [], []
    for column, regions in gt.regions.items():
        title = _TITLES.get(column, column)
        try:
            measured = _measured(gt, column, regions, threads)
        except (DatasetError, OSError) as error:
            notes.append(f"{title} are left out: {error}")
            continue
        if measured is not None:
            found.append(RegionValues(column, title, *measured))
    return found, notes


def _measured(
    gt: GroundTruth, column: str, regions: Any, threads: int | None
) -> tuple[npt.NDArray[np.bool_], Values] | None:
    """Which objects have a region, and the values; ``None`` if none has."""
    if column == KEYPOINTS:
        return _of_keypoints(gt, regions, threads)
    rows, sets = _with_masks(gt, regions, threads) if column == SEGMENTATIONS else (np.arange(len(gt)), regions)
    if not len(rows):
        return None
    filled = ~np.asarray(sets.is_empty, np.bool_)
    if not filled.any():
        return None
    if not filled.all():
        rows, sets = rows[filled], sets[filled]
    values = {"box_share": _box_shares(sets)} if column != "Boxes3D" else {}
    if column in _MORE:
        values |= _MORE[column](sets)
    present = np.zeros(len(gt), np.bool_)
    present[rows] = True
    return present, {name: _spread_over(len(gt), rows, value) for name, value in values.items()}


def _spread_over(count: int, rows: npt.NDArray[np.intp], values: Floats) -> Floats:
    """(count,) the values at these rows, NaN elsewhere."""
    column = np.full(count, np.nan)
    column[rows] = values
    return column


def _with_masks(gt: GroundTruth, column: Any, threads: int | None) -> tuple[npt.NDArray[np.intp], Any]:
    """The rows whose records have a mask, and the masks."""
    from ioukit.datasets.columns.masks import decode  # noqa: PLC0415 - data sets of boxes should not load masks

    if isinstance(column, ValuesOfFiles):
        given = [of_file[spans[:, 1] > spans[:, 0]] for _, of_file, spans in column.files()]
        rows = np.sort(np.concatenate(given))
    else:
        rows = np.flatnonzero([value is not None for value in column])
    if not len(rows):
        return rows, None
    sizes = gt.images.sizes[np.searchsorted(gt.images.ids, gt.image_ids[rows])]
    chosen = column if len(rows) == len(column) else take_rows(column, rows)
    return rows, decode(chosen, sizes, source=gt.source, array="annotations", threads=threads)


def _of_keypoints(gt: GroundTruth, column: Any, threads: int | None) -> tuple[npt.NDArray[np.bool_], Values] | None:
    from ioukit.datasets.columns.keypoints import decode_keypoints  # noqa: PLC0415 - as above

    points = decode_keypoints(column, source=gt.source, array="annotations", threads=threads)
    labelled = (points[..., 2] > 0).sum(axis=1)  # NaN is not above 0
    present = labelled > 0
    if not present.any():
        return None
    visible = (points[..., 2] > 1).sum(axis=1)
    counts = {"labelled": labelled, "visible": visible}
    return present, {name: np.where(present, count, np.nan) for name, count in counts.items()}


def _box_shares(regions: Regions) -> Floats:
    boxes: Any = regions.to_boxes()
    around = np.asarray(boxes.area, np.float64)
    shares: Floats = np.divide(regions.area, around, out=np.full(len(around), np.nan), where=around > 0)
    return np.minimum(shares, 1.0)


def _angles(boxes: RotatedBoxes) -> Values:
    upright = boxes.convert(unit="degrees", sense="clockwise").canonical("quarter")
    return {"angle": upright.numpy()[:, 4].astype(np.float64)}


def _sides_in_space(boxes: Boxes3D) -> Values:
    sides = boxes.numpy()[:, 3:6].astype(np.float64)
    return dict(zip(("length", "width", "height"), sides.T, strict=True))


_MORE: dict[str, Callable[[Any], Values]] = {"RotatedBoxes": _angles, "Boxes3D": _sides_in_space}
