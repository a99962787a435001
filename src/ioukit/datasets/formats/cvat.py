"""CVAT's XML: shapes of images, or tracks through the frames of a video."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ioukit.datasets.formats import drawn_shapes
from ioukit.datasets.formats.cvat_writing import write_cvat
from ioukit.datasets.formats.drawn_shapes import Drawn
from ioukit.datasets.formats.first_bytes import first_bytes
from ioukit.datasets.formats.folder_listing import count_of
from ioukit.datasets.formats.objects import UNKNOWN_SIZE, Objects
from ioukit.datasets.formats.text_files import abbreviate, inside, read_xml, refuse, shortened, to_number
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from ioukit.datasets.columns._checks import OnInvalid
    from ioukit.datasets.columns.ground_truth import GroundTruth

__all__ = ["read_cvat", "recognises", "write_cvat"]

_ROOT = re.compile(rb"<annotations[\s/>]")
_NO_REGION = ("polyline", "points", "cuboid", "tag")
_MOST_FRAMES = 10_000_000

Size: TypeAlias = tuple[float, float]


def recognises(path: Path) -> bool:
    """Whether a path is an XML file with the element ``<annotations>``, or a folder with one such file."""
    if path.is_dir() and count_of(path, ".xml") != 1 and not (path / "annotations.xml").is_file():
        return False
    try:
        file = _file(path)
    except DatasetError:
        return False
    return bool(_ROOT.search(first_bytes(file)))


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
    file = _file(Path(path))
    root = read_xml(file, "annotations")
    objects = Objects(path, on_invalid)
    reader = _Reader(objects, _Labels.of(root, str(file)), any(box.get("rotation") for box in root.iter("box")))
    for at, element in enumerate(root.findall("image")):
        where = f"{file}: image[{at}]"
        with objects.record("bad image"):
            size = _sides(element, where)
            image = objects.image(element.get("name", ""), f"{where}.name", size=size)
            for number, shape in enumerate(element):
                reader.take(shape, element, image, size, f"{where}: {shape.tag}[{number}]", {})
    _read_tracks(root, reader, str(file))
    return objects.ground_truth(reader.labels.ids or None)


def _file(path: Path) -> Path:
    if not path.is_dir():
        return path
    files = [file for file in (path / "annotations.xml",) if file.is_file()] or sorted(path.glob("*.xml"))
    if len(files) != 1:
        refuse(str(path), "annotations.xml, or a single XML file", f"{len(files)} XML files")
    if files[0].is_symlink():
        inside(path, files[0].name, str(files[0]))
    return files[0]


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
    given = {name: next(root.iter(name), None) for name in ("size", "start_frame", "stop_frame", "frame_filter")}
    values = [
        None if found is None else to_number(found.text, f"{file}: <{name}>", lowest=0, whole=True)
        for name, found in given.items()
        if name != "frame_filter"
    ]
    size, start, stop = (None if value is None else int(value) for value in values)
    if size is None or size > _MOST_FRAMES:
        return range(0)
    step = 1
    if given["frame_filter"] is not None and (
        found := re.fullmatch(r"step=(\d{1,9})", given["frame_filter"].text or "")
    ):
        step = max(int(found[1]), 1)
    start = start or 0
    frames = range(start, start + size * step if stop is None else stop + 1, step)
    return frames if len(frames) == size else range(0)


def _original_size(element: Element, file: str) -> Size:
    sides = [element.find(name) for name in ("width", "height")]
    where = f"{file}: <original_size>"
    width, height = (
        to_number(None if side is None else side.text, f"{where}.{name}", lowest=1)
        for name, side in zip(("width", "height"), sides, strict=True)
    )
    return width, height


def _sides(image: Element, where: str) -> Size:
    if image.get("width") is None and image.get("height") is None:
        return UNKNOWN_SIZE
    return _number(image, "width", where, lowest=1), _number(image, "height", where, lowest=1)


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
                regions = {} if drawn.segmentation is None else {"segmentations": drawn.segmentation}
            if self.turned:
                regions["rotated"] = drawn.rotated or drawn_shapes.turned_rectangle(drawn.box, 0).rotated
            flags, attributes = self._details(shape, label, where)
            self.objects.add(
                image,
                label,
                drawn.box,
                area=drawn.area,
                flags={**details.get("flags", {}), **flags},
                attributes={**details.get("attributes", {}), **attributes},
                regions=regions,
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


def _polygon(shape: Element, _: Size, where: str) -> Drawn:
    return drawn_shapes.polygon(_points(shape, where), f"{where}.points")


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
    "polygon": _polygon,
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
