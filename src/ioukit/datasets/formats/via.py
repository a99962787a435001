"""VIA, the VGG Image Annotator, versions 1 and 2: project files, annotations as JSON, and annotations as CSV."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ioukit.datasets.formats import drawn_shapes
from ioukit.datasets.formats.csv_tables import CsvTable, first_row
from ioukit.datasets.formats.drawn_shapes import Drawn
from ioukit.datasets.formats.image_files import found_size
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.datasets.formats.objects import Objects
from ioukit.datasets.formats.recognising import OTHER_JSON, first_bytes
from ioukit.datasets.formats.text_files import (
    FARTHEST,
    abbreviate,
    member,
    numbers,
    parse_json,
    read_json,
    refuse,
    shortened,
    to_number,
)
from ioukit.datasets.formats.written_names import class_names, image_names
from ioukit.datasets.formats.written_rows import (
    attribute_values,
    drawn_segmentations,
    plain,
    rows_of_images,
    write_json,
)

if TYPE_CHECKING:
    from ioukit.datasets.columns._checks import OnInvalid
    from ioukit.datasets.columns.ground_truth import GroundTruth


_HOLDS = Holds(regions=frozenset({"segmentations"}), flags=None, attributes=None, areas_of_regions=True)
_CLASS = "class"
_USUAL = (_CLASS, "label", "category", "name", "type")
"""Region attributes that are taken for the class if every region has them, the first of them first."""
_ONLY_CLASS = "object"
_COLUMNS = ("file_attributes", "region_count", "region_shape_attributes", "region_attributes")
_REGIONS = ("rect", "polygon", "circle", "ellipse")
_NO_REGION = ("polyline", "point")


def recognises(path: Path) -> bool:
    """Whether a path is a JSON file with VIA's keys, or a CSV file with its columns."""
    if path.suffix.lower() == ".csv":
        return set(_COLUMNS) <= set(first_row(path))
    return OTHER_JSON["via"].search(first_bytes(path))


def read_via(
    path: str | os.PathLike[str],
    *,
    class_attribute: str | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; the file is read at once
) -> GroundTruth:
    """Read a file of VIA 1 or 2: a project, annotations as JSON, or annotations as CSV.

    Coordinates are pixels, and there is no + 1.

    - ``rect``: ``x``, ``y``, ``width``, ``height``.
    - ``polygon``: the box is the smallest one around it, the area that of the polygon.
    - ``circle`` and ``ellipse``: the box is exact; the segmentation is a polygon of 64 points. The angle ``theta`` of
      an ellipse is in radians, clockwise on the screen.
    - ``polyline`` and ``point`` are left out and counted in a note.

    VIA knows no classes: a region has attributes that a user has named. The class is the attribute
    ``class_attribute``. If that is ``None``, it is the only attribute of the regions; or the first of ``class``,
    ``label``, ``category``, ``name`` and ``type`` that all regions have. If no region has an attribute, the class is
    ``object``. Of a group of checkboxes, the one that is ticked is the class. Classes get ids from 1 on in the order of
    their names. Other attributes become flags if they are true or false, else numbers or text.

    The id of an image is its file name. Its size comes from the file attributes ``width`` and ``height``, which
    `ioukit.datasets.write` writes, or from the header of the image if it lies beside the file, or in a folder
    ``images``.

    Args:
        path: The file.
        class_attribute: The region attribute that is the class.
        on_invalid: ``"error"`` refuses invalid images and regions; ``"drop"`` leaves them out and counts them.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: Not used.

    Raises:
        DatasetError: If the data is invalid, or no attribute can be taken for the class; names file, image and region,
            what was expected and what came.
        OSError: If the file cannot be read.
    """
    objects = Objects(path, on_invalid)
    source = os.fspath(path)
    images = list(_from_csv(source, objects) if Path(path).suffix.lower() == ".csv" else _from_json(source, objects))
    chosen = _class_attribute(images, source) if class_attribute is None else class_attribute
    for one in images:
        with objects.record("bad image"):
            size = _size(one, Path(path).parent)
            image = objects.image(one.name, f"{one.where}.filename", size=size)
            for region in one.regions:
                with objects.record("bad region"):
                    _take(region, image, chosen, objects)
    return objects.ground_truth()


class _Region(NamedTuple):
    where: str
    shape: Mapping[str, Any]
    attributes: Mapping[str, Any]


class _Image(NamedTuple):
    where: str
    name: str
    attributes: Mapping[str, Any]
    regions: list[_Region]


def _from_json(source: str, objects: Objects) -> Iterator[_Image]:
    document = read_json(source)
    if isinstance(document, Mapping) and "_via_img_metadata" in document:
        document = document["_via_img_metadata"]
    if not isinstance(document, Mapping):
        refuse(source, "an object with a member per image", abbreviate(document))
    for key, record in document.items():
        where = f"{source}: {abbreviate(key)}"
        with objects.record("bad image"):
            name = member(record, "filename", str, where)
            listed = record.get("regions", [])
            if isinstance(listed, Mapping):  # version 1
                listed = list(listed.values())
            if not isinstance(listed, list):
                refuse(f"{where}.regions", "a list", abbreviate(listed))
            made = _Image(where, name, _file_attributes(record.get("file_attributes"), where), [])
            for at, region in enumerate(listed):
                place = f"{where}.regions[{at}]"
                with objects.record("bad region"):
                    shape = member(region, "shape_attributes", dict, place)
                    made.regions.append(_Region(place, shape, _region_attributes(region, place)))
            yield made


def _from_csv(source: str, objects: Objects) -> Iterator[_Image]:
    table = CsvTable(source)
    name_column = "#filename" if "#filename" in table.names else "filename"
    table.require((name_column, *_COLUMNS))
    found: dict[str, _Image] = {}
    columns = (table.lines, table.text(name_column), *map(table.text, _COLUMNS))
    for line, name, about, count, shape, attributes in zip(*columns, strict=True):
        where = f"{source}: line {line}"
        with objects.record("bad line"):
            if name not in found:
                of_file = _file_attributes(parse_json(about or "{}", f"{where}, file_attributes"), where)
                found[name] = _Image(where, name, of_file, [])
            if to_number(count or "0", f"{where}, region_count", lowest=0, whole=True) == 0:
                continue
            record = {
                "shape_attributes": parse_json(shape, f"{where}, region_shape_attributes"),
                "region_attributes": parse_json(attributes or "{}", f"{where}, region_attributes"),
            }
            drawn = member(record, "shape_attributes", dict, where)
            found[name].regions.append(_Region(where, drawn, _region_attributes(record, where)))
    yield from found.values()


def _file_attributes(given: Any, where: str) -> Mapping[str, Any]:
    if given is not None and not isinstance(given, Mapping):
        refuse(f"{where}.file_attributes", "an object", abbreviate(given))
    return given or {}


def _region_attributes(region: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    if region.get("region_attributes") is None:
        return {}
    attributes: Mapping[str, Any] = member(region, "region_attributes", dict, where)
    return attributes


def _size(image: _Image, folder: Path) -> tuple[float, float]:
    width, height = (image.attributes.get(name) for name in ("width", "height"))
    if isinstance(width, int | float) and isinstance(height, int | float):
        where = f"{image.where}.file_attributes"
        return to_number(width, f"{where}.width", lowest=0), to_number(height, f"{where}.height", lowest=0)
    return found_size(folder, image.name)


def _class_attribute(images: Sequence[_Image], source: str) -> str | None:
    """The attribute that is the class; ``None`` if no region has an attribute."""
    held = [
        {name for name, value in region.attributes.items() if value not in ("", None, {})}
        for image in images
        for region in image.regions
        if region.shape.get("name") not in _NO_REGION
    ]
    names = set().union(*held)
    if len(names) <= 1:
        return next(iter(names), None)
    usual = next((name for name in _USUAL if all(name in one for one in held)), None)
    if usual is None:
        found = f"{shortened(', '.join(sorted(names)))}: name class_attribute="
        refuse(source, f"one region attribute, or {', '.join(_USUAL)} at all regions", found)
    return usual


def _take(region: _Region, image: int, class_attribute: str | None, objects: Objects) -> None:
    drawn = _drawn(region, objects)
    if drawn is None:
        return
    category = _ONLY_CLASS
    if class_attribute is not None:
        where = f"{region.where}.region_attributes.{shortened(class_attribute)}"
        given = region.attributes.get(class_attribute)
        category = _text(given, where)
        if not category or (isinstance(given, Mapping) and sum(ticked is True for ticked in given.values()) != 1):
            refuse(where, "the name of one class", abbreviate(given))
    flags: dict[str, bool] = {}
    attributes: dict[str, float | str] = {}
    for name, value in region.attributes.items():
        where = f"{region.where}.region_attributes.{shortened(name)}"
        if name == class_attribute or value is None:
            continue
        if isinstance(value, bool):
            flags[name] = value
        elif isinstance(value, int | float):
            attributes[name] = to_number(value, where)
        else:
            attributes[name] = _text(value, where)
    objects.add(image, category, drawn.box, area=drawn.area, flags=flags, attributes=attributes, regions=drawn.regions)


def _text(value: Any, where: str) -> str:
    """Text, a number as text, or the boxes that are ticked."""
    if isinstance(value, Mapping):
        return ",".join(str(name) for name, ticked in value.items() if ticked is True)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        refuse(where, "text, or an object of checkboxes", abbreviate(value))
    return str(value)


def _drawn(region: _Region, objects: Objects) -> Drawn | None:
    """The shape as columns have it; ``None`` if it is no region."""
    shape, where = region.shape, f"{region.where}.shape_attributes"
    kind = shape.get("name")
    if kind in _NO_REGION:
        objects.problems.leave_out(f"region {kind}")
        return None

    if kind not in _REGIONS:
        refuse(f"{where}.name", f"one of {', '.join((*_REGIONS, *_NO_REGION))}", abbreviate(kind))

    def number(name: str, lowest: float = -FARTHEST) -> float:
        return to_number(shape.get(name), f"{where}.{name}", lowest=lowest)

    if kind == "rect":
        return Drawn([number("x"), number("y"), number("width", 0), number("height", 0)])
    if kind == "circle":
        radius = number("r", 0)
        return drawn_shapes.ellipse((number("cx"), number("cy")), (radius, radius))
    if kind == "ellipse":
        turn = 0.0 if shape.get("theta") is None else math.degrees(number("theta"))
        return drawn_shapes.ellipse((number("cx"), number("cy")), (number("rx", 0), number("ry", 0)), turn)
    xs, ys = (member(shape, name, list, where) for name in ("all_points_x", "all_points_y"))
    if len(xs) != len(ys):
        refuse(f"{where}.all_points_y", f"{len(xs)} numbers, as all_points_x", f"{len(ys)}")
    pairs = enumerate(zip(xs, ys, strict=True))
    points = [numbers(point, ("x", "y"), f"{where}.all_points[{at}]") for at, point in pairs]
    return drawn_shapes.polygon(points, where)


def write_via(gt: GroundTruth, path: Path) -> list[str]:
    """Write a project of VIA 2, as :func:`read_via` reads it.

    An object with one polygon becomes a ``polygon``, others a ``rect``. The class is the region attribute ``class``;
    flags and other columns are further region attributes. The size of an image is written as its file attributes
    ``width`` and ``height``.

    Args:
        gt: The ground truth.
        path: The file.

    Returns:
        What the file does not hold.

    Raises:
        DatasetError: If names of images or classes cannot be told apart.
    """
    names, notes = image_names(gt.images, gt.source)
    classes = class_names(gt.categories, gt.source)
    segmentations, changed = drawn_segmentations(gt, gt.images, parts=False, masks=False)
    attributes, odd = attribute_values(gt, {_CLASS, *gt.flags})
    flags = {name: column.tolist() for name, column in gt.flags.items() if name != _CLASS}
    if _CLASS in gt.flags:
        odd.append(f"flag {_CLASS}: the name means something else in the files")
    boxes, categories = gt.boxes.tolist(), gt.category_ids.tolist()
    metadata = {}
    for image, rows in enumerate(rows_of_images(gt, gt.images)):
        sides = dict(zip(("width", "height"), gt.images.sizes[image].tolist(), strict=True))
        metadata[f"{names[image]}-1"] = {
            "filename": names[image],
            "size": -1,
            "regions": [
                {
                    "shape_attributes": _shape(boxes[row], segmentations[row]),
                    "region_attributes": {
                        _CLASS: classes[categories[row]],
                        **{name: column[row] for name, column in flags.items()},
                        **attributes[row],
                    },
                }
                for row in rows
            ],
            "file_attributes": {name: plain(side) for name, side in sides.items() if not math.isnan(side)},
        }
    described = dict.fromkeys([_CLASS, *flags, *(name for row in attributes for name in row)])
    about = {name: {"type": "text", "description": "", "default_value": ""} for name in described}
    project = {
        "_via_settings": {"ui": {}, "core": {}, "project": {"name": path.stem}},
        "_via_img_metadata": metadata,
        "_via_attributes": {"region": about, "file": {}},
        "_via_data_format_version": "2.0.10",
        "_via_image_id_list": list(metadata),
    }
    write_json(path, project)
    return [*left_out_columns(gt, _HOLDS), *notes, *changed, *odd]


def _shape(box: Sequence[float], segmentation: Any) -> dict[str, Any]:
    if segmentation is None:
        return {"name": "rect", **dict(zip(("x", "y", "width", "height"), box, strict=True))}
    xs, ys = zip(*drawn_shapes.points_of(segmentation[0]), strict=True)
    return {"name": "polygon", "all_points_x": xs, "all_points_y": ys}
