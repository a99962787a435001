"""The XML of LabelMe's web tool: a file per image, with polygons."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ioukit.datasets.formats import drawn_shapes
from ioukit.datasets.formats.objects import UNKNOWN_SIZE, Objects
from ioukit.datasets.formats.recognising import first_bytes, first_file
from ioukit.datasets.formats.text_files import abbreviate, check_inner_file, read_xml, refuse, to_number

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from ioukit.datasets.columns._checks import OnInvalid
    from ioukit.datasets.columns.ground_truth import GroundTruth
    from ioukit.datasets.formats.drawn_shapes import Drawn


_LABELME = re.compile(
    rb"<annotation[\s>](?:(?!<bndbox).)*<(?:sourceImage|sourceAnnotation|imagesize|pt|segm)[\s>]", re.DOTALL
)


def recognises(path: Path) -> bool:
    """Whether a path is an XML file of LabelMe, or a folder whose first XML file is one."""
    file = first_file(path, ".xml", depth=3) if path.is_dir() else path
    return file is not None and bool(_LABELME.search(first_bytes(file)))


def read_labelme_xml(
    path: str | os.PathLike[str],
    *,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; files are read one by one
) -> GroundTruth:
    """Read an XML file of LabelMe's web tool, or a folder of such files. Folders inside, as ``Annotations``, are read.

    An object has a ``name`` and a ``polygon`` with points in pixels, as the file has them. The box is the smallest one
    around the polygon, the area that of the polygon. If its ``type`` is ``bounding_box``, it is a box without a
    segmentation. An object with ``segm`` has a mask in another file, which is not read; its ``box`` is taken. Objects
    that are ``deleted`` are left out, and so are polygons of fewer than three points; both are counted in a note.

    ``occluded`` becomes a flag, ``attributes`` text. The id of an image is its ``filename``, after its ``folder`` if it
    has one. Classes get ids from 1 on in the order of their names.

    Args:
        path: The file or the folder.
        on_invalid: ``"error"`` refuses invalid objects and files; ``"drop"`` leaves them out and counts them.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: Not used.

    Raises:
        DatasetError: If the data is invalid; names file and object, what was expected and what came.
        OSError: If a file cannot be read.
    """
    objects = Objects(path, on_invalid)
    root = Path(path)
    files = [root]
    if root.is_dir():  # two levels of folders, as Annotations/subset
        files = next((found for depth in ("*", "*/*", "*/*/*") if (found := sorted(root.glob(f"{depth}.xml")))), [])
    if not files:
        refuse(str(root), "XML files of LabelMe", "none")
    for file in files:
        with objects.record("bad file"):
            check_inner_file(root, file)
            _read_file(file, objects)
    return objects.ground_truth()


def _read_file(file: Path, objects: Objects) -> None:
    root = read_xml(file, "annotation")
    name, folder = (_text(root, tag) for tag in ("filename", "folder"))
    if not name:
        refuse(f"{file}: <filename>", "the name of an image", abbreviate(name))
    key = f"{folder}/{name}" if folder else name
    image = objects.image(key, f"{file}: <filename>", size=_size(root, str(file)))
    for at, element in enumerate(root.findall("object")):
        where = f"{file}: object[{at}]"
        with objects.record("bad object"):
            category = _text(element, "name")
            if _text(element, "deleted") == "1":
                objects.problems.leave_out("deleted object")
                continue
            if not category:
                refuse(f"{where}: <name>", "the name of a class", abbreviate(category))
            drawn = _drawn(element, where, objects)
            if drawn is None:
                continue
            flags = {"occluded": _text(element, "occluded") == "yes"}
            given = {"attributes": text} if (text := _text(element, "attributes")) else {}
            objects.add(
                image, category, drawn.box, area=drawn.area, flags=flags, attributes=given, regions=drawn.regions
            )


def _drawn(element: Element, where: str, objects: Objects) -> Drawn | None:
    """The shape of an object; ``None`` if it is no region."""
    box, polygon = element.find("segm/box"), element.find("polygon")
    if box is not None:
        objects.problems.note("mask in another file, which is not read")
        left, top, right, bottom = (_number(box, tag, f"{where}: <box>") for tag in ("xmin", "ymin", "xmax", "ymax"))
        return drawn_shapes.rectangle((left, top), (right, bottom))
    if polygon is None:
        refuse(where, "<polygon>, or <segm> with <box>", "none of them")
    listed = enumerate(polygon.findall("pt"))
    points = [[_number(point, tag, f"{where}: <pt>[{at}]") for tag in ("x", "y")] for at, point in listed]
    if len(points) < 3:
        objects.problems.leave_out("polygon of fewer than 3 points")
        return None
    drawn = drawn_shapes.polygon(points, where)
    return drawn_shapes.Drawn(drawn.box) if _text(element, "type") == "bounding_box" else drawn


def _text(element: Element, tag: str) -> str:
    return (element.findtext(tag) or "").strip()


def _number(element: Element, tag: str, where: str) -> float:
    return to_number(element.findtext(tag), f"{where}.{tag}")


def _size(root: Element, where: str) -> tuple[float, float]:
    size = root.find("imagesize")
    if size is None:
        return UNKNOWN_SIZE
    width, height = (
        to_number(size.findtext(tag), f"{where}: <imagesize>.{tag}", lowest=1) for tag in ("ncols", "nrows")
    )
    return width, height
