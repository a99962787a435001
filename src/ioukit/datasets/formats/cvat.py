"""CVAT's XML: shapes of images, or tracks through the frames of a video."""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ioukit.datasets.formats import drawn_shapes
from ioukit.datasets.formats.drawn_shapes import Drawn
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.datasets.formats.objects import UNKNOWN_SIZE, Objects, to_size
from ioukit.datasets.formats.text_files import (
    abbreviate,
    read_xml,
    refuse,
    shortened,
    shorter,
    single_file,
    start_of_single_file,
    to_number,
)
from ioukit.datasets.formats.written_names import class_names, image_names
from ioukit.datasets.formats.written_rows import attribute_values, drawn_segmentations, far_end, rows_of_images

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from ioukit.datasets.columns._checks import OnInvalid
    from ioukit.datasets.columns.ground_truth import GroundTruth


_FILE = "annotations.xml"
_ROOT = re.compile(rb"<annotations[\s/>]")
_NO_REGION = ("polyline", "points", "cuboid", "tag")
_MOST_FRAMES = 10_000_000

Size: TypeAlias = tuple[float, float]
_HOLDS = Holds(
    regions=frozenset({"segmentations", "RotatedBoxes", "keypoints"}),
    flags=None,
    attributes=None,
    unused_categories=True,
    areas_of_regions=True,
)
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def recognises(path: Path) -> bool:
    """Whether a path is an XML file with the element ``<annotations>``, or a folder with one such file."""
    return bool(_ROOT.search(start_of_single_file(path, _FILE)))


def read_cvat(
    path: str | os.PathLike[str],
    *,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; the file is read at once
) -> GroundTruth:
    """Read the XML file of CVAT for images, or for videos.

    Coordinates are pixels, and there is no + 1.

    - ``box``: ``xtl``, ``ytl``, ``xbr``, ``ybr``. If a box of the file has a ``rotation``, in degrees clockwise around
      its centre, all objects get rotated boxes, and the box is the upright one around the rotated one.
    - ``polygon``: the box is the smallest one around it, the area that of the polygon.
    - ``ellipse``: the box is exact; the segmentation is a polygon of 64 points.
    - ``mask``: runs of pixels, row by row in a part of the image.
    - ``skeleton``: keypoints in the order of the listed labels of its points. Points that are ``outside`` have the
      visibility 0, ``occluded`` ones 1, others 2. The box is the smallest one around the points that are not outside.
    - ``polyline``, ``points``, ``cuboid`` and ``tag`` are left out and counted in a note, and so are shapes with an
      empty label.

    The flag ``occluded`` is that of the shape. Attributes of the kind ``checkbox`` become flags too, those of the kind
    ``number`` become numbers, and all others text. A ``group_id`` becomes an attribute.

    A video has tracks: a shape per frame. Shapes with ``outside="1"`` are absent and left out. Nothing is
    interpolated: CVAT writes the shape of every frame. A note counts the frames that lack one, as in files with key
    frames alone. The attribute ``track_id`` and the flag ``keyframe`` say what they say there. The ids of frames are
    ``frame_000000`` and so on. All frames are listed if the file says which there are.

    The id of an image is its name. Classes are those of the list of labels, with ids from 1 on in its order.

    Args:
        path: The file, or a folder that holds ``annotations.xml`` or a single XML file.
        on_invalid: ``"error"`` refuses invalid images and shapes; ``"drop"`` leaves them out and counts them.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: Not used.

    Raises:
        DatasetError: If the data is invalid; names file, image and shape, what was expected and what came.
        OSError: If the file cannot be read.
    """
    file = single_file(Path(path), _FILE)
    root = read_xml(file, "annotations")
    objects = Objects(path, on_invalid)
    reader = _Reader(objects, _Labels.of(root, str(file)), any(box.get("rotation") for box in root.iter("box")))
    for at, element in enumerate(root.findall("image")):
        where = f"{file}: image[{at}]"
        with objects.record("bad image"):
            size = to_size(element.get, f"{where}.", lowest=1)
            image = objects.image(element.get("name", ""), f"{where}.name", size=size)
            for number, shape in enumerate(element):
                reader.take(shape, element, image, size, f"{where}: {shape.tag}[{number}]", {})
    _read_tracks(root, reader, str(file))
    return objects.ground_truth(reader.labels.ids or None)


def _read_tracks(root: Element, reader: _Reader, file: str) -> None:
    tracks = root.findall("track")
    if not tracks and root.find("image") is not None:
        return
    objects = reader.objects
    size = next((_original_size(found, file) for found in root.iter("original_size")), UNKNOWN_SIZE)
    listed = _frames(root, file)
    for frame in listed:
        objects.image(_frame_name(frame), file, size=size, again=True)
    shown_at: list[list[tuple[int, bool]]] = []
    for at, track in enumerate(tracks):
        shown_at.append([])
        for number, shape in enumerate(track):
            where = f"{file}: track[{at}]: {shape.tag}[{number}]"
            with objects.record("bad shape"):
                frame = int(_number(shape, "frame", where, lowest=0, whole=True))
                image = objects.image(_frame_name(frame), where, size=size, again=True)
                shown_at[-1].append((frame, shape.get("outside") != "1"))
                if not shown_at[-1][-1][1]:
                    continue
                details: dict[str, Any] = {"flags": {"keyframe": shape.get("keyframe") == "1"}}
                if track.get("id") is not None:
                    details["attributes"] = {"track_id": _number(track, "id", f"{file}: track[{at}]", whole=True)}
                reader.take(shape, track, image, size, where, details)

    gaps = _gaps(shown_at, listed.step if listed else None)
    objects.problems.note("frame of a track without a shape, between two with one: nothing is interpolated", gaps)


def _gaps(tracks: Sequence[Sequence[tuple[int, bool]]], step: int | None) -> int:
    """How many frames lack a shape although the track is shown before: other tools may write key frames alone.

    Args:
        tracks: Per track and shape: the frame, and whether the shape is shown from there on.
        step: From a frame to the next one; the smallest step of all tracks if ``None``.
    """
    pairs = [pair for track in tracks for pair in itertools.pairwise(sorted(track))]
    steps = [(second - first, shown) for (first, shown), (second, _) in pairs if second > first]
    least = step or min((length for length, _ in steps), default=1)
    return sum(length // least - 1 for length, shown in steps if shown and length > least)


def _frame_name(frame: int) -> str:
    return f"frame_{frame:06d}"


def _frames(root: Element, file: str) -> range:
    """The frames that the file says there are; none if it does not say so, or contradicts itself."""
    found = {name: next(root.iter(name), None) for name in ("size", "start_frame", "stop_frame")}
    size, start, stop = (
        None if one is None else int(to_number(one.text, f"{file}: <{name}>", lowest=0, whole=True))
        for name, one in found.items()
    )
    if size is None or size > _MOST_FRAMES:
        return range(0)
    chosen = re.fullmatch(r"step=(\d{1,9})", next((one.text or "" for one in root.iter("frame_filter")), ""))
    step = max(int(chosen[1]), 1) if chosen else 1
    start = start or 0
    frames = range(start, start + size * step if stop is None else stop + 1, step)
    return frames if len(frames) == size else range(0)


def _original_size(element: Element, file: str) -> Size:
    width, height = (
        to_number(element.findtext(name) or None, f"{file}: <original_size>.{name}", lowest=1)
        for name in ("width", "height")
    )
    return width, height


def _number(element: Element, name: str, where: str, **limits: Any) -> float:
    return to_number(element.get(name), f"{where}.{name}", **limits)


@dataclass(frozen=True)
class _Labels:
    """What the head of the file says about classes."""

    ids: dict[str, int] = field(default_factory=dict)
    """By name; without the labels of points of skeletons."""
    points: dict[str, list[str]] = field(default_factory=dict)
    """The labels of the points of each skeleton."""
    kinds: dict[tuple[str, str], str] = field(default_factory=dict)
    """What the attributes hold, by label and name: ``checkbox``, ``number`` and so on."""

    @classmethod
    def of(cls, root: Element, file: str) -> _Labels:
        made = cls()
        for listed in (found for meta in root.findall("meta") for found in meta.iter("label")):
            name = listed.findtext("name")
            if not name:
                refuse(f"{file}: <label>", "a name", abbreviate(name))
            for attribute in listed.iter("attribute"):
                made.kinds[name, attribute.findtext("name") or ""] = attribute.findtext("input_type") or "text"
            if parent := listed.findtext("parent"):
                made.points.setdefault(parent, []).append(name)
            else:
                made.ids.setdefault(name, len(made.ids) + 1)
        return made


class _Reader:
    """Adds the shapes of a file to its objects."""

    def __init__(self, objects: Objects, labels: _Labels, turned: bool) -> None:
        self.objects = objects
        self.labels = labels
        self.turned = turned

    def take(
        self, shape: Element, parent: Element, image: int, size: Size, where: str, details: Mapping[str, Any]
    ) -> None:
        """Add a shape; `parent` is the image or the track, and has the label of the latter."""
        with self.objects.record("bad shape"):
            label = shape.get("label") or parent.get("label") or ""
            if shape.tag in _NO_REGION or not label:
                self.objects.problems.leave_out(shape.tag if label else f"{shape.tag} without a label")
                return
            if self.labels.ids and label not in self.labels.ids:
                refuse(f"{where}.label", f"one of the {len(self.labels.ids):,} labels of the file", abbreviate(label))
            if shape.tag == "skeleton":
                points = self._skeleton(shape, label, where)
                drawn = drawn_shapes.around_points([point for point in points if point[2]], where)
                regions: dict[str, Any] = {"keypoints": points}
            else:
                drawn = _drawn(shape, size, where, turned=self.turned)
                regions = drawn.regions
            if self.turned:
                regions["rotated"] = drawn.rotated or drawn_shapes.turned_rectangle(drawn.box, 0).rotated
            own_flags, own_attributes = self._details(shape, label, where)
            flags, attributes = details.get("flags", {}) | own_flags, details.get("attributes", {}) | own_attributes
            self.objects.add(
                image, label, drawn.box, area=drawn.area, flags=flags, attributes=attributes, regions=regions
            )

    def _details(self, shape: Element, label: str, where: str) -> tuple[dict[str, bool], dict[str, float | str]]:
        flags = {} if shape.get("occluded") is None else {"occluded": shape.get("occluded") == "1"}
        attributes: dict[str, float | str] = {}
        if shape.get("group_id") is not None:
            attributes["group_id"] = _number(shape, "group_id", where, whole=True)
        for attribute in shape.findall("attribute"):
            name, text = attribute.get("name"), attribute.text or ""
            if not name:
                refuse(f"{where}: <attribute>", "a name", abbreviate(name))
            kind = self.labels.kinds.get((label, name), "text")
            if kind == "checkbox":
                if text.lower() not in ("true", "false"):
                    refuse(f"{where}: attribute {shortened(name)}", "true or false", abbreviate(text))
                flags[name] = text.lower() == "true"
            elif kind == "number":
                if text:
                    attributes[name] = to_number(text, f"{where}: attribute {shortened(name)}")
            else:
                attributes[name] = text
        return flags, attributes

    def _skeleton(self, shape: Element, label: str, where: str) -> list[list[float]]:
        """(P, 3) x, y and visibility in the order of the listed points; those of others follow."""
        order = self.labels.points.setdefault(label, [])
        places = {name: at for at, name in enumerate(order)}
        found: dict[int, list[float]] = {}
        for number, point in enumerate(shape.findall("points")):
            here = f"{where}: points[{number}]"
            name = point.get("label")
            if not name:
                refuse(f"{here}.label", "the name of a point", abbreviate(name))
            if name not in places:
                places[name] = len(order)
                order.append(name)
            (position,) = _points(point, here, exactly=1)
            seen = 1.0 if point.get("occluded") == "1" else 2.0
            found[places[name]] = [0.0, 0.0, 0.0] if point.get("outside") == "1" else [*position, seen]
        return [found.get(at, [0.0, 0.0, 0.0]) for at in range(len(order))]


def _drawn(shape: Element, size: Size, where: str, *, turned: bool) -> Drawn:
    draw = _SHAPES.get(shape.tag)
    if draw is None:
        refuse(where, f"one of {', '.join((*_SHAPES, 'skeleton', *_NO_REGION))}", f"<{shape.tag[:40]}>")
    drawn = draw(shape, size, where)
    return drawn if turned else drawn._replace(rotated=None)


def _box(shape: Element, _: Size, where: str) -> Drawn:
    left, top, right, bottom = (_number(shape, name, where) for name in ("xtl", "ytl", "xbr", "ybr"))
    if right < left or bottom < top:
        refuse(where, "xbr and ybr of at least xtl and ytl", f"{left:g}, {top:g}, {right:g}, {bottom:g}")
    box = [left, top, right - left, bottom - top]
    if shape.get("rotation") is None:
        return Drawn(box)
    return drawn_shapes.turned_rectangle(box, _number(shape, "rotation", where))


def _ellipse(shape: Element, _: Size, where: str) -> Drawn:
    centre = [_number(shape, name, where) for name in ("cx", "cy")]
    radii = [_number(shape, name, where, lowest=0) for name in ("rx", "ry")]
    turn = 0.0 if shape.get("rotation") is None else _number(shape, "rotation", where)
    return drawn_shapes.ellipse(centre, radii, turn)


def _mask(shape: Element, size: Size, where: str) -> Drawn:
    text = shape.get("rle", "")
    if not re.fullmatch(r"\s*\d{1,12}(\s*,\s*\d{1,12})*\s*", text, re.ASCII):
        refuse(f"{where}.rle", "whole numbers with commas between them", abbreviate(text))
    left, top, width, height = (
        int(_number(shape, name, where, lowest=0, whole=True)) for name in ("left", "top", "width", "height")
    )
    runs = [int(run) for run in text.split(",")]
    return drawn_shapes.mask_of_runs(runs, (left, top), (width, height), size, f"{where}.rle")


_SHAPES: Mapping[str, Callable[[Element, Size, str], Drawn]] = {
    "box": _box,
    "polygon": lambda shape, _, where: drawn_shapes.polygon(_points(shape, where), f"{where}.points"),
    "ellipse": _ellipse,
    "mask": _mask,
}


def _points(element: Element, where: str, exactly: int | None = None) -> list[list[float]]:
    text = element.get("points", "")
    points = []
    for at, pair in enumerate(text.split(";")):
        words = pair.split(",")
        if len(words) != 2:
            refuse(f"{where}.points", "x,y with semicolons between them", abbreviate(text))
        points.append([to_number(word.strip(), f"{where}.points[{at}]") for word in words])
    if exactly is not None and len(points) != exactly:
        refuse(f"{where}.points", f"{exactly} point", f"{len(points)}")
    return points


def write_cvat(gt: GroundTruth, path: Path, *, keypoints: bool = False) -> list[str]:
    """Write the XML file of CVAT for images, as :func:`read_cvat` reads it.

    An object with a polygon becomes a ``polygon``; one with RLE or several polygons a ``mask``; one with a rotated box
    a ``box`` with ``rotation``; all others a ``box``. Flags other than ``occluded`` become attributes of the kind
    ``checkbox``, further columns attributes of the kind ``number`` or ``text``.

    Args:
        gt: The ground truth. It must have the sizes of images.
        path: The file.
        keypoints: Whether all objects with keypoints become a ``skeleton``. A skeleton has no box of its own. If false,
            this is done only where the box is the one around the keypoints.

    Returns:
        What the file does not hold.

    Raises:
        DatasetError: If the size of an image is unknown, names cannot be told apart, or text has characters that XML
            does not allow.
    """
    names, notes = image_names(gt.images, gt.source)
    classes = class_names(gt.categories, gt.source)
    segmentations, changed = drawn_segmentations(gt, gt.images, parts=False, masks=True)
    attributes, odd = attribute_values(gt, gt.flags.keys())
    writer = _Writer(gt, classes, segmentations, attributes, keypoints=keypoints)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(writer.head())
        for image, rows in enumerate(rows_of_images(gt, gt.images)):
            width, height = gt.images.sizes[image].tolist()
            if not min(width, height) >= 1:
                unknown = math.isnan(width + height)
                expected, found = ("", "none") if unknown else (" of at least 1", f"{width:g} and {height:g}")
                refuse(f"{gt.source}: image {abbreviate(names[image])}", f"a width and a height{expected}", found)
            name = writer.quoted(names[image])
            file.write(f'  <image id="{image}" name={name} width="{shorter(width)}" height="{shorter(height)}">\n')
            for row in rows:
                file.writelines(writer.shape(row, (width, height)))
            file.write("  </image>\n")
        file.write("</annotations>\n")
    return [*left_out_columns(gt, _HOLDS), *notes, *changed, *writer.notes(), *odd]


class _Writer:
    """Spells the parts of the file."""

    def __init__(
        self,
        gt: GroundTruth,
        classes: Mapping[int, str],
        segmentations: Sequence[Any],
        attributes: Sequence[Mapping[str, Any]],
        *,
        keypoints: bool,
    ) -> None:
        self.gt = gt
        self.classes = classes
        self.segmentations = segmentations
        self.attributes = attributes
        self.boxes = gt.boxes.tolist()
        self.flags = {name: column.tolist() for name, column in gt.flags.items()}
        self.checkboxes = [name for name in self.flags if name != "occluded"]
        turned: Any = gt.regions.get("RotatedBoxes")
        self.turned = None if turned is None else turned.convert(unit="degrees", sense="clockwise").numpy().tolist()
        self.points = _keypoints(gt)
        self.all_keypoints = keypoints
        self.without_keypoints = self.moved = 0

    def quoted(self, text: str) -> str:
        """Text as the value of an XML attribute."""
        from xml.sax.saxutils import quoteattr  # noqa: PLC0415 - imports what HTTP needs, for which readers would wait

        return quoteattr(self._checked(text))

    def _checked(self, text: str) -> str:
        if _NO_XML.search(text):
            refuse(self.gt.source, "text with characters that XML allows", abbreviate(text))
        return text

    def _content(self, text: str) -> str:
        from xml.sax.saxutils import escape  # noqa: PLC0415 - as above

        return escape(self._checked(text), {"\r": "&#13;"})

    def head(self) -> Iterator[str]:
        """The list of labels, each with all attributes; the points of skeletons are labels too."""
        kinds: dict[str, str] = dict.fromkeys(self.checkboxes, "checkbox")
        for row in self.attributes:
            for name, value in row.items():
                kind = "text" if isinstance(value, str) else "checkbox" if isinstance(value, bool) else "number"
                kinds.setdefault(name, kind)
        skeletons = self.points is not None and bool(self.points.shape[1])
        yield '<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n  <version>1.1</version>\n'
        yield f"  <meta>\n    <task>\n      <size>{len(self.gt.images)}</size>\n      <mode>annotation</mode>\n"
        yield "      <labels>\n"
        for name in self.classes.values():
            kind = "skeleton" if skeletons else "any"
            yield f"        <label>\n          <name>{self._content(name)}</name>\n          <type>{kind}</type>\n"
            yield "          <attributes>\n"
            for attribute, held in kinds.items():
                yield f"            <attribute>\n              <name>{self._content(attribute)}</name>\n"
                yield f"              <mutable>False</mutable>\n              <input_type>{held}</input_type>\n"
                yield "              <default_value></default_value>\n              <values></values>\n"
                yield "            </attribute>\n"
            yield "          </attributes>\n        </label>\n"
            for point in range(1, self.points.shape[1] + 1) if self.points is not None else ():
                yield f"        <label>\n          <name>{point}</name>\n          <type>points</type>\n"
                yield f"          <attributes></attributes>\n          <parent>{self._content(name)}</parent>\n"
                yield "        </label>\n"
        yield "      </labels>\n    </task>\n  </meta>\n"

    def shape(self, row: int, size: Sequence[float]) -> Iterator[str]:
        """The element of an object."""
        occluded = int(self.flags.get("occluded", [False] * (row + 1))[row])
        common = (
            f'label={self.quoted(self.classes[int(self.gt.category_ids[row])])} source="file" occluded="{occluded}"'
        )
        inner = [
            *((name, "true" if self.flags[name][row] else "false") for name in self.checkboxes),
            *((name, _spelled(value)) for name, value in self.attributes[row].items() if name != "group_id"),
        ]
        if "group_id" in self.attributes[row]:
            common += f" group_id={self.quoted(_spelled(self.attributes[row]['group_id']))}"
        tag, fields, points = self._drawn(row, size)
        spelled = "".join(f' {name}="{value}"' for name, value in fields.items())
        yield f'    <{tag} {common}{spelled} z_order="0">\n'
        yield from points
        for name, value in inner:
            yield f"      <attribute name={self.quoted(name)}>{self._content(value)}</attribute>\n"
        yield f"    </{tag}>\n"

    def _drawn(self, row: int, size: Sequence[float]) -> tuple[str, dict[str, str], list[str]]:
        """The name of the element, its XML attributes, and the points of a skeleton."""
        segmentation = self.segmentations[row]
        if segmentation is None and self._is_skeleton(row):
            return "skeleton", {}, list(self._skeleton_points(row))
        if isinstance(segmentation, Mapping):
            return "mask", _runs(segmentation, size, f"{self.gt.source}: object {row}"), []
        if segmentation is not None:
            points = drawn_shapes.points_of(segmentation[0])
            return "polygon", {"points": ";".join(f"{shorter(x)},{shorter(y)}" for x, y in points)}, []
        if self.turned is None:
            return "box", _corners(self.boxes[row]), []
        cx, cy, width, height, degrees = self.turned[row]
        around = drawn_shapes.turned_rectangle([cx - width / 2, cy - height / 2, width, height], degrees).box
        self.moved += any(abs(one - other) > 1e-6 for one, other in zip(around, self.boxes[row], strict=True))
        corners = _corners([cx - width / 2, cy - height / 2, width, height])
        return "box", {**corners, "rotation": shorter(degrees % 360)}, []

    def _is_skeleton(self, row: int) -> bool:
        if self.points is None:
            return False
        seen = self.points[row][self.points[row][:, 2] > 0]
        if not len(seen):
            return False
        around = drawn_shapes.around_points(seen.tolist(), "").box
        is_around = all(abs(one - other) <= 1e-6 for one, other in zip(around, self.boxes[row], strict=True))
        self.moved += self.all_keypoints and not is_around
        self.without_keypoints += not (self.all_keypoints or is_around)
        return self.all_keypoints or is_around

    def _skeleton_points(self, row: int) -> Iterator[str]:
        assert self.points is not None
        for number, (x, y, seen) in enumerate(self.points[row].tolist(), start=1):
            state = f'outside="{int(seen <= 0)}" occluded="{int(seen == 1)}"'
            yield f'      <points label="{number}" source="file" {state} points="{shorter(x)},{shorter(y)}"></points>\n'

    def notes(self) -> list[str]:
        """What was lost while shapes were written."""
        losses = (
            (self.without_keypoints, "keypoints of {:,} objects, whose boxes are not those around them"),
            (self.moved, "boxes of {:,} objects: those around their keypoints or rotated boxes remain"),
        )
        return [note.format(count) for count, note in losses if count]


def _keypoints(gt: GroundTruth) -> Any:
    """(N, P, 3) keypoints without NaN, or ``None``."""
    if "keypoints" not in gt.regions:
        return None
    from ioukit.datasets.columns.keypoints import decode_keypoints  # noqa: PLC0415 - few data sets have them

    return np.nan_to_num(decode_keypoints(gt.regions["keypoints"], source=gt.source, array="annotations"))


def _corners(box: Sequence[float]) -> dict[str, str]:
    x, y, width, height = box
    values = (x, y, far_end(x, width), far_end(y, height))
    return {name: shorter(value) for name, value in zip(("xtl", "ytl", "xbr", "ybr"), values, strict=True)}


def _spelled(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else shorter(value)


def _runs(rle: Mapping[str, Any], size: Sequence[float], where: str) -> dict[str, str]:
    """The runs of a mask, row by row in the smallest box around it."""
    from ioukit.regions.masks import Masks  # noqa: PLC0415 - few data sets have masks

    masks = Masks.from_rle([rle])
    height, width = masks.size
    if (width, height) != tuple(size):
        refuse(where, f"a mask of {size[0]:g} x {size[1]:g} pixels, as its image", f"{width} x {height}")
    left, top, right, bottom = (int(value) for value in masks.to_boxes().numpy()[0])
    if right <= left:
        refuse(where, "a mask with at least one pixel", "none")
    part = masks.to_arrays()[0][top:bottom, left:right].ravel()
    edges = np.concatenate([[0], np.flatnonzero(np.diff(part)) + 1, [len(part)]])
    runs = [*([0] if part[0] else []), *np.diff(edges).tolist()]
    place = {"left": left, "top": top, "width": right - left, "height": bottom - top}
    return {"rle": ", ".join(map(str, runs)), **{name: str(value) for name, value in place.items()}}
