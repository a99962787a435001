"""Scalabel's JSON, in which BDD100K comes, and the older layouts of BDD100K."""

from __future__ import annotations

import dataclasses
import math
import os
import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from ioukit._checks import check_choice
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.image_names import ImageFinder
from ioukit.datasets.formats import drawn_shapes
from ioukit.datasets.formats.drawn_shapes import Drawn
from ioukit.datasets.formats.image_files import found_size
from ioukit.datasets.formats.known_names import required
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.datasets.formats.objects import UNKNOWN_SIZE, Objects
from ioukit.datasets.formats.recognising import OTHER_JSON, first_bytes, first_file
from ioukit.datasets.formats.text_files import (
    FARTHEST,
    abbreviate,
    files_in,
    member,
    names_of,
    numbers,
    read_json,
    refuse,
    shortened,
    to_number,
)
from ioukit.datasets.formats.written_names import class_names, image_names
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
    from ioukit.datasets.columns.images import Images


_OTHER_SHAPES = ("box3d", "graph")
Corners: TypeAlias = Literal["edges", "inclusive"]
"""Whether the second corner is the edge of the box, or its last pixel."""
_CORNERS = get_args(Corners)
_HOLDS = Holds(
    regions=frozenset({"segmentations"}),
    flags=None,
    attributes=None,
    unused_categories=True,
    ids=True,
    areas_of_regions=True,
)


def recognises(path: Path) -> bool:
    """Whether a path is a JSON file of Scalabel or BDD100K, or a folder whose first JSON file is one."""
    file = first_file(path, ".json") if path.is_dir() else path
    return file is not None and OTHER_JSON["scalabel"].search(first_bytes(file))


def read_scalabel(
    path: str | os.PathLike[str],
    *,
    names: Sequence[str] | None = None,
    corners: Corners = "edges",
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; files are read at once
) -> GroundTruth:
    """Read a JSON file of Scalabel or BDD100K, or a folder of such files.

    A file is an object with ``frames`` and perhaps ``config``; or a list of frames, as BDD100K's labels; or, in the
    oldest layout of BDD100K, one image with ``frames`` that hold ``objects``. A label has a ``category`` and shapes:

    - ``box2d``: the corners ``x1``, ``y1``, ``x2``, ``y2`` in pixels.
    - ``poly2d``: closed paths become polygons. Bezier curves become 16 straight lines each. Paths that are not closed,
      such as lanes, are left out and counted in a note.
    - ``rle``: COCO's compressed RLE.

    The box is ``box2d``, else the smallest one around the other shapes. Labels with only ``box3d`` or ``graph``, or
    without a category, are left out and counted in a note. Attributes that are true or false become flags, other
    numbers and texts become attributes. As in Scalabel's own evaluation, a label is a crowd if its attribute ``crowd``
    or ``ignored`` is true.

    The id of an image is the ``name`` of its frame; if frames of several videos share names, it is
    ``videoName/name``. The size comes from the frame, ``config``, or the header of the image if it lies beside the
    file. Classes are those of ``config`` without subclasses, with ids from 1 on; else the names of the labels in
    alphabetical order. The ids of labels are kept if they are numbers above 0 that differ; otherwise they become the
    attribute ``label_id``, as those of tracks. ``videoName`` and ``frameIndex`` become the attributes ``sequence`` and
    ``frame_index`` of the images.

    Args:
        path: The file or the folder.
        names: The names of the classes, with ids from 1 on, or the path of a file with a name per line. Detections may
            be of classes that no frame has.
        corners: What ``x2`` and ``y2`` are. ``"edges"``: the right and the lower edge of the box, so that the width is
            ``x2 - x1``. ``"inclusive"``: the last pixel, so that the width is ``x2 - x1 + 1``, as Scalabel's own
            evaluation computes.
        on_invalid: ``"error"`` refuses invalid frames and labels; ``"drop"`` leaves them out and counts them.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: Not used.

    Raises:
        ValueError: If ``corners`` is unknown.
        DatasetError: If the data is invalid; names file, frame and label, what was expected and what came.
        OSError: If a file cannot be read.
    """
    check_choice("corners", corners, _CORNERS)
    objects = Objects(path, on_invalid)
    source = _Source(path, objects)
    if names is not None:
        source.classes = {name: number for number, name in enumerate(names_of(names), start=1)}
    known = None if source.classes is None else frozenset(source.classes)
    ids: list[Any] = []
    for frame in source.frames:
        with objects.record("bad frame"):
            size, details = source.size(frame), frame.details()
            image = objects.image(source.key(frame), frame.where, name=frame.name, size=size, attributes=details)
            for where, label in frame.labels:
                with objects.record("bad label"):
                    if _add(objects, image, label, where, corners, scored=False, known=known):
                        ids.append(label.get("id"))
    return _with_ids(objects, ids).ground_truth(source.classes)


def read_scalabel_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    corners: Corners = "edges",
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - as above
) -> Detections:
    """Read detections in the layout of :func:`read_scalabel`; each label has a ``score``.

    The ids of labels become the attribute ``label_id``, unless they are numbers above 0 that differ.

    Args:
        path: The file or the folder.
        ground_truth: The data set that the detections belong to: it has the images and the classes.
        corners: As for :func:`read_scalabel`.
        on_invalid: As for :func:`read_scalabel`.
        threads: Not used.

    Raises:
        ValueError: If ``corners`` is unknown.
        DatasetError: If the data is invalid, or there is no ``ground_truth``.
        OSError: If a file cannot be read.
    """
    check_choice("corners", corners, _CORNERS)
    ground_truth = required(ground_truth, path)
    objects = Objects(path, on_invalid)
    finder = ImageFinder(ground_truth)
    known = frozenset(ground_truth.categories.names)
    ids: list[Any] = []
    for frame in _Source(path, objects).frames:
        with objects.record("bad frame"):
            try:
                at = finder.position(posixpath.join(frame.video, frame.name), frame.where)
            except DatasetError:
                at = finder.position(frame.name, frame.where)
            image = objects.image(str(finder.labels[at]), frame.where)
            for where, label in frame.labels:
                with objects.record("bad label"):
                    if _add(objects, image, label, where, corners, scored=True, known=known):
                        ids.append(label.get("id"))
    return _with_ids(objects, ids).detections(ground_truth)


class _Frame(NamedTuple):
    where: str
    record: Mapping[str, Any]
    name: str
    video: str
    labels: list[tuple[str, Any]]

    def details(self) -> dict[str, float | str]:
        """The video and the number of the frame, as attributes of the image."""
        found: dict[str, float | str] = {"sequence": self.video} if self.video else {}
        number, where = self.record.get("frameIndex"), f"{self.where}.frameIndex"
        if number is not None:
            found["frame_index"] = to_number(number, where, lowest=0, whole=True, text=False)
        return found


class _Source:
    """All frames of a file or a folder, and what the files say about all of them."""

    def __init__(self, path: str | os.PathLike[str], objects: Objects) -> None:
        self.folder = Path(path) if Path(path).is_dir() else Path(path).parent
        files = [Path(path)]
        if files[0].is_dir():
            files = files_in(path, "*.json", "a folder of JSON files", objects.problems)
        self.frames: list[_Frame] = []
        self.classes: dict[str, int] | None = None
        self.size_of_all = UNKNOWN_SIZE
        for file in files:
            with objects.record("bad file"):
                self._read(file, objects)
        names = Counter(frame.name for frame in self.frames)
        self._repeated = {name for name, count in names.items() if count > 1}

    def _read(self, file: Path, objects: Objects) -> None:
        document = read_json(file)
        where = str(file)
        listed = document
        if isinstance(document, Mapping):
            listed = member(document, "frames", list, where)
            if document.get("config") is not None:
                self._configure(member(document, "config", dict, where), f"{where}: config")
        if not isinstance(listed, list):
            refuse(where, "an object with frames, or a list of frames", abbreviate(document))
        is_oldest = isinstance(document, Mapping) and any(
            isinstance(one, Mapping) and "objects" in one for one in listed
        )
        for at, record in enumerate(listed):
            place = f"{where}: frames[{at}]"
            with objects.record("bad frame"):
                key = "objects" if is_oldest else "labels"
                name = member(document if is_oldest else record, "name", str, where if is_oldest else place)
                labels = [] if record.get(key) is None else member(record, key, list, place)
                video = record.get("videoName")
                if video is not None and not isinstance(video, str):
                    refuse(f"{place}.videoName", "text", abbreviate(video))
                places = [(f"{place}.{key}[{number}]", label) for number, label in enumerate(labels)]
                self.frames.append(_Frame(place, record, name, video or "", places))

    def _configure(self, config: Mapping[str, Any], where: str) -> None:
        if config.get("imageSize") is not None:
            self.size_of_all = _size(config["imageSize"], f"{where}.imageSize")
        if config.get("categories") is not None:
            self.classes = self.classes or {}
            for name in _leaves(member(config, "categories", list, where), f"{where}.categories"):
                self.classes.setdefault(name, len(self.classes) + 1)

    def key(self, frame: _Frame) -> str:
        """The id of the image of a frame."""
        return posixpath.join(frame.video, frame.name) if frame.name in self._repeated else frame.name

    def size(self, frame: _Frame) -> tuple[float, float]:
        """The size of the image of a frame; NaN if unknown."""
        if frame.record.get("size") is not None:
            return _size(frame.record["size"], f"{frame.where}.size")
        return found_size(self.folder, frame.name) if self.size_of_all == UNKNOWN_SIZE else self.size_of_all


def _size(record: Any, where: str) -> tuple[float, float]:
    if not isinstance(record, Mapping):
        refuse(where, "an object", abbreviate(record))
    width, height = (to_number(record.get(name), f"{where}.{name}", lowest=0) for name in ("width", "height"))
    return width, height


def _leaves(categories: Sequence[Any], where: str) -> Iterator[str]:
    """The names of classes without subclasses, in order."""
    for at, category in enumerate(categories):
        name = member(category, "name", str, f"{where}[{at}]")
        if category.get("subcategories") is None:
            yield name
        else:
            inner = member(category, "subcategories", list, f"{where}[{at}]")
            yield from _leaves(inner, f"{where}[{at}].subcategories")


def _add(
    objects: Objects,
    image: int,
    label: Any,
    where: str,
    corners: Corners,
    *,
    scored: bool,
    known: frozenset[str] | None,
) -> bool:
    """Add a label; false if it is no region."""
    if not isinstance(label, Mapping):
        refuse(where, "an object", abbreviate(label))
    category = label.get("category")
    if not category:
        objects.problems.leave_out("label without a category")
        return False
    member(label, "category", str, where)
    if known is not None and category not in known:
        refuse(f"{where}.category", f"one of the {len(known):,} classes", abbreviate(category))
    drawn = _drawn(label, category, where, corners, objects)
    if drawn is None:
        return False
    flags, attributes = _details(label, where, objects)
    objects.add(
        image,
        category,
        drawn.box,
        score=to_number(label.get("score"), f"{where}.score") if scored else np.nan,
        area=drawn.area,
        flags=flags,
        attributes=attributes,
        regions=drawn.regions,
    )
    return True


def _drawn(label: Mapping[str, Any], category: str, where: str, corners: Corners, objects: Objects) -> Drawn | None:
    """The shapes of a label as columns have them; ``None`` if there is no region."""
    shape: Drawn | None = None
    if label.get("rle") is not None:
        shape = drawn_shapes.mask_of_rle(label["rle"], f"{where}.rle")
    elif label.get("poly2d") is not None:
        shape = _polygons(label["poly2d"], category, f"{where}.poly2d", objects)
    if label.get("box2d") is not None:
        given, names = label["box2d"], ("x1", "y1", "x2", "y2")
        values = [given.get(name) for name in names] if isinstance(given, Mapping) else None
        x1, y1, x2, y2 = numbers(values, names, f"{where}.box2d")
        more = corners == "inclusive"
        width, height = x2 - x1 + more, y2 - y1 + more
        if min(width, height) < 0:
            refuse(f"{where}.box2d", "x2 and y2 of at least x1 and y1", f"{x1:g}, {y1:g}, {x2:g}, {y2:g}")
        box = [x1, y1, width, height]
        return Drawn(box) if shape is None else shape._replace(box=box)
    if shape is None and label.get("poly2d") is None:
        other = next((name for name in _OTHER_SHAPES if label.get(name) is not None), None)
        if other is None:
            refuse(where, "box2d, poly2d or rle", "none of them")
        objects.problems.leave_out(f"label with only {other}")
    return shape


def _polygons(paths: Any, category: str, where: str, objects: Objects) -> Drawn | None:
    if not isinstance(paths, list):
        refuse(where, "a list", abbreviate(paths))
    if paths and isinstance(paths[0], list):  # the oldest layout: one path of [x, y, type]
        for at, point in enumerate(paths):
            if not isinstance(point, list) or len(point) != 3 or not isinstance(point[2], str):
                refuse(f"{where}[{at}]", "[x, y, type]", abbreviate(point))
        types = "".join(point[2] for point in paths)
        paths = [
            {"vertices": [point[:2] for point in paths], "types": types, "closed": not category.startswith("lane")}
        ]
    parts = []
    for at, path in enumerate(paths):
        place = f"{where}[{at}]"
        vertices = member(path, "vertices", list, place)
        if not path.get("closed"):
            objects.problems.leave_out("poly2d that is not closed")
            continue
        points = [numbers(point, ("x", "y"), f"{place}.vertices[{number}]") for number, point in enumerate(vertices)]
        types = path.get("types") or "L" * len(points)
        if not isinstance(types, str) or len(types) != len(points) or set(types) - set("LC"):
            refuse(f"{place}.types", f"{len(points)} letters L and C, one per vertex", abbreviate(types))
        straight = drawn_shapes.straightened(points, types, f"{place}.types")
        parts.append(drawn_shapes.polygon(straight, f"{place}.vertices"))
    return drawn_shapes.joined(parts) if parts else None


def _details(label: Mapping[str, Any], where: str, objects: Objects) -> tuple[dict[str, bool], dict[str, float | str]]:
    given = label.get("attributes") or {}
    if not isinstance(given, Mapping):
        refuse(f"{where}.attributes", "an object", abbreviate(given))
    flags: dict[str, bool] = {}
    attributes: dict[str, float | str] = {}
    for name, value in given.items():
        if isinstance(value, bool):
            flags[name] = value
        elif isinstance(value, int | float):
            attributes[name] = to_number(value, f"{where}.attributes.{shortened(name)}")
        elif isinstance(value, str):
            attributes[name] = value
        elif value is not None:
            objects.problems.leave_out("attribute that is a list or an object")
    if flags.get("ignored"):
        flags["crowd"] = True
    return flags, attributes


def _with_ids(objects: Objects, ids: Sequence[Any]) -> Objects:
    """The objects with the ids of the labels, or with these as an attribute."""
    texts = ["" if one is None else str(one) for one in ids]
    whole = all(text.isascii() and text.isdecimal() and text[:1] != "0" and len(text) < 19 for text in texts)
    if whole and len(set(texts)) == len(texts):
        objects.ids = [int(text) for text in texts]
    elif any(texts):
        objects.attribute("label_id", texts)
    return objects


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
    check_choice("corners", corners, _CORNERS)
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
    videos = _videos(gt.images)
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
        frame = {key: values[image] for key, values in videos.values() if values[image] is not None}
        frames.append({"name": names[image], **frame, **size, "labels": labels})
    config = {"attributes": [], "categories": [{"name": name} for name in classes.values()]}
    write_json(path, {"frames": frames, "groups": [], "config": config})
    holds = dataclasses.replace(_HOLDS, image_attributes=frozenset(videos))
    return [*left_out_columns(data, holds), *notes, *changed, *odd]


def _videos(images: Images) -> dict[str, tuple[str, list[Any]]]:
    """The attributes of images that are members of frames: the name of the member, and (I,) values or ``None``."""
    found: dict[str, tuple[str, list[Any]]] = {}
    names, numbers = (images.attributes.get(name) for name in ("sequence", "frame_index"))
    if isinstance(names, np.ndarray) and names.ndim == 1 and names.dtype.kind == "U":
        found["sequence"] = ("videoName", [name or None for name in names.tolist()])
    if isinstance(numbers, np.ndarray) and numbers.ndim == 1 and numbers.dtype.kind in "iuf":
        known = numbers[~np.isnan(numbers)]  # NaN is a frame without a number
        if ((known >= 0) & (known <= FARTHEST) & (known == np.trunc(known))).all():
            found["frame_index"] = ("frameIndex", [None if np.isnan(one) else int(one) for one in numbers])
    return found


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
