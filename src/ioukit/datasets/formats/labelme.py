"""LabelMe's JSON: a file per image, with the shapes that were drawn on it."""

from __future__ import annotations

import base64
import binascii
import io
import math
import os
import posixpath
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit._optional import import_extra
from ioukit.datasets.formats import drawn_shapes
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.datasets.formats.objects import Objects, to_size
from ioukit.datasets.formats.recognising import OTHER_JSON, first_bytes, first_file
from ioukit.datasets.formats.text_files import (
    abbreviate,
    check_inner_file,
    member,
    numbers,
    read_json,
    refuse,
    shortened,
    to_number,
)
from ioukit.datasets.formats.written_names import check_images, class_names, image_names, image_stems
from ioukit.datasets.formats.written_rows import (
    attribute_values,
    drawn_segmentations,
    far_end,
    plain,
    rows_of_images,
    write_json,
)
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from ioukit.datasets.columns._checks import OnInvalid
    from ioukit.datasets.columns.ground_truth import GroundTruth
    from ioukit.datasets.formats.drawn_shapes import Drawn


_HOLDS = Holds(regions=frozenset({"segmentations"}), flags=None, attributes=None, areas_of_regions=True)
_KEYS = frozenset({"label", "points", "group_id", "shape_type", "flags", "mask"})
"""What a shape has that is no attribute."""
_NO_REGION = ("point", "points", "line", "linestrip")
_VERSION = "5.5.0"


def recognises(path: Path) -> bool:
    """Whether a path is a JSON file of LabelMe, or a folder whose first JSON file is one."""
    file = first_file(path, ".json", depth=2) if path.is_dir() else path
    return file is not None and OTHER_JSON["labelme"].search(first_bytes(file))


def read_labelme(
    path: str | os.PathLike[str],
    *,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; files are read one by one
) -> GroundTruth:
    """Read a JSON file of LabelMe, or a folder with one file per image; folders inside are read, too.

    A file has ``imagePath``, ``imageWidth``, ``imageHeight`` and ``shapes``. A shape has a ``label``, ``points`` in
    pixels and a ``shape_type``:

    - ``rectangle``: two opposite corners in any order. There is no + 1.
    - ``polygon``: at least three points. The box is the smallest one around it, the area that of the polygon.
    - ``circle``: the centre and a point on it. The box is exact; the segmentation is a polygon of 64 points.
    - ``oriented_rectangle`` (and ``rotation``): four corners, kept as a polygon.
    - ``mask``: the first and the last pixel, both included, and a PNG in base64. This needs Pillow.
    - ``point``, ``points``, ``line`` and ``linestrip`` are no regions: they are left out and counted in a note.

    Shapes of one label with the same ``group_id`` are one object, as in LabelMe's own converters. The flags of a shape
    become flags, other numbers and texts become attributes, such as ``description``.

    The id of an image is its path, relative to the folder that is read; or the name of its file, if the path leads out
    of the folder. Classes get ids from 1 on in the order of their names.

    Args:
        path: The file or the folder.
        on_invalid: ``"error"`` refuses invalid shapes and files; ``"drop"`` leaves them out and counts them.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: Not used.

    Raises:
        DatasetError: If the data is invalid; names file and shape, what was expected and what came.
        OSError: If a file cannot be read.
        ModuleNotFoundError: If there are masks, and Pillow is not installed: ``pip install 'ioukit[yolo]'``.
    """
    objects = Objects(path, on_invalid)
    root = Path(path)
    if not root.is_dir():
        _read_file(root, root.parent, objects)
        return objects.ground_truth()
    files = sorted(root.rglob("*.json"))
    if not files:
        refuse(str(root), "JSON files of LabelMe", "none")
    for file in files:
        with objects.record("bad file"):
            check_inner_file(root, file)
            _read_file(file, root, objects)
    return objects.ground_truth()


def _read_file(file: Path, root: Path, objects: Objects) -> None:
    where = str(file)
    record = read_json(file)
    shapes = member(record, "shapes", list, where)
    size = to_size(record.get, f"{where}: ", ("imageWidth", "imageHeight"), lowest=0)
    key = _image_key(member(record, "imagePath", str, where), file, root)
    image = objects.image(key, f"{where}.imagePath", size=size)
    parts: dict[tuple[str, Any], list[Drawn]] = {}
    details: dict[tuple[str, Any], Mapping[str, Any]] = {}
    for at, shape in enumerate(shapes):
        place = f"{where}: shapes[{at}]"
        with objects.record("bad shape"):
            drawn = _drawn(shape, size, place, objects)
            if drawn is None:
                continue
            group = shape.get("group_id")
            if group is not None:
                to_number(group, f"{place}.group_id", whole=True)
            instance = (shape["label"], ("shape", at) if group is None else group)
            if instance in parts and any(isinstance(one.segmentation, Mapping) for one in [*parts[instance], drawn]):
                refuse(f"{place}.group_id", "a mask in a group of its own", abbreviate(group))
            details.setdefault(instance, _details(shape, place))
            parts.setdefault(instance, []).append(drawn)
    for instance, several in parts.items():
        one = drawn_shapes.joined(several)
        objects.add(image, instance[0], one.box, area=one.area, regions=one.regions, **details[instance])


def _image_key(named: str, file: Path, root: Path) -> str:
    plain = named.replace("\\", "/")
    joined = posixpath.normpath(posixpath.join(file.parent.relative_to(root).as_posix(), plain))
    is_outside = joined.startswith(("../", "/")) or plain[1:2] == ":"
    return posixpath.basename(plain) if is_outside or joined == "." else joined


def _drawn(shape: Any, size: tuple[float, float], where: str, objects: Objects) -> Drawn | None:
    """The shape as columns have it; ``None`` if it is no region."""
    label = member(shape, "label", str, where)
    if not label:
        refuse(f"{where}.label", "the name of a class", abbreviate(label))
    kind = shape.get("shape_type", "polygon")  # versions before 3.0 had polygons alone
    if kind in _NO_REGION:
        objects.problems.leave_out(f"shape {kind}")
        return None
    listed = member(shape, "points", list, where)
    points = [numbers(point, ("x", "y"), f"{where}.points[{at}]") for at, point in enumerate(listed)]
    counts = {"rectangle": (2, 4), "circle": (2,), "mask": (2,), "oriented_rectangle": (4,), "rotation": (4,)}
    if kind not in ("polygon", *counts):
        refuse(f"{where}.shape_type", f"polygon, {', '.join(counts)}, {', '.join(_NO_REGION)}", abbreviate(kind))
    if len(points) not in counts.get(kind, (len(points),)):
        refuse(f"{where}.points", f"{counts[kind][0]} points of a {kind}", f"{len(points)}")
    if kind == "circle":
        radius = math.dist(*points)
        return drawn_shapes.ellipse(points[0], (radius, radius))
    if kind == "mask":
        return _mask(shape, points, size, where)
    if kind == "rectangle":
        xs, ys = zip(*points, strict=True)
        return drawn_shapes.rectangle((min(xs), min(ys)), (max(xs), max(ys)))
    return drawn_shapes.polygon(points, f"{where}.points")


def _mask(shape: Mapping[str, Any], points: Sequence[Sequence[float]], size: tuple[float, float], where: str) -> Drawn:
    (left, top), (right, bottom) = ([int(value) for value in point] for point in points)
    image = import_extra("PIL.Image", extra="yolo", needed_by="a mask of LabelMe")
    try:
        content = base64.b64decode(member(shape, "mask", str, where), validate=True)
        with image.open(io.BytesIO(content), formats=("PNG",)) as opened:
            if opened.size != (right - left + 1, bottom - top + 1):
                expected = f"a PNG of {right - left + 1} x {bottom - top + 1} pixels, as the points say"
                refuse(f"{where}.mask", expected, f"{opened.size[0]} x {opened.size[1]}")
            drawn_shapes.check_place((left, top), opened.size, size, where)
            pixels: npt.NDArray[np.bool_] = np.asarray(opened.convert("L"), np.uint8) > 0
    except (binascii.Error, OSError, SyntaxError, ValueError, image.DecompressionBombError) as error:
        if isinstance(error, DatasetError):
            raise
        refuse(f"{where}.mask", "a PNG in base64", f"something else: {error}")
    return drawn_shapes.mask(pixels, (left, top), size, where)


def _details(shape: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The flags and attributes of a shape."""
    given = shape.get("flags") or {}
    if not isinstance(given, Mapping) or not all(isinstance(value, bool) for value in given.values()):
        refuse(f"{where}.flags", "an object of true and false", abbreviate(given))
    flags = dict(given)
    attributes: dict[str, float | str] = {}
    for name, value in shape.items():
        if name in _KEYS:
            continue
        if isinstance(value, bool):
            flags[name] = value
        elif isinstance(value, str | int | float):
            attributes[name] = value if isinstance(value, str) else to_number(value, f"{where}.{shortened(name)}")
    if attributes.get("description") == "":  # LabelMe writes it for every shape
        del attributes["description"]
    return {"flags": flags, "attributes": attributes}


def write_labelme(gt: GroundTruth, path: Path) -> list[str]:
    """Write a folder with a JSON file per image, as :func:`read_labelme` reads them.

    An object with a polygon is written as a polygon, others as rectangles. Several polygons of an object become shapes
    with the same ``group_id``. A mask of pixels becomes a rectangle. Flags become flags of the shapes, and numbers and
    texts become further members, which LabelMe keeps.

    Args:
        gt: The ground truth. It must have the sizes of images.
        path: An empty folder.

    Returns:
        What the files do not hold.

    Raises:
        DatasetError: If the size of an image is unknown, or names of images or classes cannot be told apart.
    """
    check_images(gt.images, gt.source)
    names, notes = image_names(gt.images, gt.source)
    stems = _stems(gt)
    classes = class_names(gt.categories, gt.source)
    segmentations, changed = drawn_segmentations(gt, gt.images, parts=True, masks=False)
    attributes, odd = attribute_values(gt, _KEYS)
    boxes, categories = gt.boxes.tolist(), gt.category_ids.tolist()
    flags = {name: column.tolist() for name, column in gt.flags.items()}
    renamed = 0
    for image, rows in enumerate(rows_of_images(gt, gt.images)):
        width, height = gt.images.sizes[image].tolist()
        if math.isnan(width) or math.isnan(height):
            refuse(f"{gt.source}: image {abbreviate(names[image])}", "a width and a height", "none")
        shapes = []
        for group, row in enumerate(rows, start=1):
            label = {"label": classes[categories[row]], "flags": {name: column[row] for name, column in flags.items()}}
            shapes += [{**label, **one, **attributes[row]} for one in _shapes(boxes[row], segmentations[row], group)]
        file = path / f"{stems[image]}.json"
        renamed += _image_key(names[image], file, path) != names[image]
        about = {"imagePath": names[image], "imageData": None, "imageHeight": plain(height), "imageWidth": plain(width)}
        write_json(file, {"version": _VERSION, "flags": {}, "shapes": shapes, **about}, indent=1)
    if renamed:
        changed.append(f"folders of {renamed:,} images: a path that is not plain or leads out of the folder")
    return [*left_out_columns(gt, _HOLDS), *notes, *changed, *odd]


def _stems(gt: GroundTruth) -> list[str]:
    """Names of files without suffix; numbers if those of the images cannot be used. The files have the names inside."""
    try:
        return image_stems(gt.images, gt.source)
    except DatasetError:
        return [f"{number:06d}" for number in range(1, len(gt.images) + 1)]


def _shapes(box: Sequence[float], segmentation: Any, group: int) -> list[dict[str, Any]]:
    if segmentation is None:
        x, y, width, height = box
        points = [[x, y], [far_end(x, width), far_end(y, height)]]
        return [{"points": points, "group_id": None, "shape_type": "rectangle"}]
    number = group if len(segmentation) > 1 else None
    return [
        {"points": drawn_shapes.points_of(part), "group_id": number, "shape_type": "polygon"} for part in segmentation
    ]
