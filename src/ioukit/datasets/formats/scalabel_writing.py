"""How Scalabel's JSON is written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from ioukit._checks import check_choice
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats import drawn_shapes
from ioukit.datasets.formats.known_names import required
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.datasets.formats.written_rows import (
    attribute_values,
    class_names,
    drawn_segmentations,
    far_end,
    image_names,
    plain,
    rows_of_images,
    write_json,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ioukit.datasets.columns.detections import Detections

__all__ = ["CORNERS", "Corners", "write_scalabel", "write_scalabel_detections"]

Corners: TypeAlias = Literal["edges", "inclusive"]
"""Whether the second corner is the edge of the box, or its last pixel."""
CORNERS = get_args(Corners)

_HOLDS = Holds(
    regions=frozenset({"segmentations"}),
    flags=None,
    attributes=None,
    unused_categories=True,
    ids=True,
    areas_of_regions=True,
)


def write_scalabel(gt: GroundTruth, path: Path, *, corners: Corners = "edges") -> list[str]:
    """Write the JSON file of Scalabel, as :func:`read_scalabel` reads it.

    A label has a ``box2d``, and ``poly2d`` or ``rle`` if the object has a segmentation. Flags and other columns become
    attributes. The classes are listed in ``config`` in the order of their ids.

    Args:
        gt: The ground truth.
        path: The file.
        corners: As for :func:`read_scalabel`.

    Returns:
        What the file does not hold.

    Raises:
        ValueError: If ``corners`` is unknown.
        DatasetError: If names of images or classes cannot be told apart.
    """
    return _write(gt, path, gt, corners)


def write_scalabel_detections(
    dt: Detections, path: Path, *, ground_truth: GroundTruth | None = None, corners: Corners = "edges"
) -> list[str]:
    """Write detections with their scores, as :func:`read_scalabel_detections` reads them.

    Args:
        dt: The detections.
        path: The file.
        ground_truth: It has the names of images and classes, and the sizes of images.
        corners: As for :func:`read_scalabel`.

    Returns:
        What the file does not hold.

    Raises:
        ValueError: If ``corners`` is unknown.
        DatasetError: If there is no ``ground_truth``, or names cannot be told apart.
    """
    return _write(dt, path, required(ground_truth, dt.source), corners)


def _write(data: GroundTruth | Detections, path: Path, gt: GroundTruth, corners: Corners) -> list[str]:
    check_choice("corners", corners, CORNERS)
    names, notes = image_names(gt.images, gt.source)
    classes = class_names(gt.categories, gt.source)
    segmentations, changed = drawn_segmentations(data, gt.images, parts=True, masks=True, own_box=True)
    flags = {}
    ids: Sequence[int] = range(1, len(data) + 1)
    scores = None
    if isinstance(data, GroundTruth):
        flags = {name: column.tolist() for name, column in data.flags.items()}
        ids = data.ids.tolist()
    else:
        scores = data.scores.tolist()
    attributes, odd = attribute_values(data, flags)
    boxes, categories = data.boxes.tolist(), data.category_ids.tolist()
    frames = []
    for image, rows in enumerate(rows_of_images(data, gt.images)):
        width, height = gt.images.sizes[image].tolist()
        size = {} if math.isnan(width) else {"size": {"width": plain(width), "height": plain(height)}}
        labels = [
            {
                "id": str(ids[row]),
                "category": classes[categories[row]],
                "attributes": {**{name: column[row] for name, column in flags.items()}, **attributes[row]},
                "box2d": _corners(boxes[row], corners),
                **_shape(segmentations[row]),
                **({} if scores is None else {"score": scores[row]}),
            }
            for row in rows
        ]
        frames.append({"name": names[image], **size, "labels": labels})
    config = {"attributes": [], "categories": [{"name": name} for name in classes.values()]}
    write_json(path, {"frames": frames, "groups": [], "config": config})
    return [*left_out_columns(data, _HOLDS), *notes, *changed, *odd]


def _corners(box: Sequence[float], corners: Corners) -> dict[str, float]:
    x, y, width, height = box
    last = 1 if corners == "inclusive" else 0
    return {"x1": x, "y1": y, "x2": far_end(x, width) - last, "y2": far_end(y, height) - last}


def _shape(segmentation: Any) -> dict[str, Any]:
    if segmentation is None:
        return {}
    if isinstance(segmentation, Mapping):
        from ioukit.regions.masks import Masks  # noqa: PLC0415 - few data sets have masks

        return {"rle": Masks.from_rle([segmentation]).to_rle()[0]}
    paths = [drawn_shapes.points_of(path) for path in segmentation]
    return {"poly2d": [{"vertices": path, "types": "L" * len(path), "closed": True} for path in paths]}
