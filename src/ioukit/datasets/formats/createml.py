"""Create ML's JSON: images with labels, and boxes given by their centres; detections as Turi Create predicts them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ioukit.datasets.formats.image_files import found_size
from ioukit.datasets.formats.known_names import required
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.datasets.formats.objects import Objects
from ioukit.datasets.formats.recognising import OTHER_JSON
from ioukit.datasets.formats.text_files import (
    FARTHEST,
    abbreviate,
    member,
    read_json,
    refuse,
    single_file,
    start_of_single_file,
    to_number,
)
from ioukit.datasets.formats.written_names import class_names, image_names
from ioukit.datasets.formats.written_rows import rows_of_images, write_json

if TYPE_CHECKING:
    from ioukit.datasets.columns._checks import OnInvalid
    from ioukit.datasets.columns.detections import Detections
    from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.image_names import ImageFinder

_FILE = "_annotations.createml.json"
_HOLDS = Holds(image_sizes=False)
_IMAGE = ("image", "imagefilename", "filename")
_ANNOTATIONS = ("annotations", "annotation")
_SIDES = (("x",), ("y",), ("width", "w"), ("height", "h"))


def recognises(path: Path) -> bool:
    """Whether a path is a JSON file of Create ML, or a folder with one such file."""
    return OTHER_JSON["createml"].search(start_of_single_file(path, _FILE))


def read_createml(
    path: str | os.PathLike[str],
    *,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; the file is read at once
) -> GroundTruth:
    """Read the JSON file of Create ML: a list of images, each with its annotations.

    An image has ``image`` and ``annotations`` (or ``imagefilename`` and ``annotation``, as in Apple's documentation).
    An annotation has a ``label`` and ``coordinates``: ``x`` and ``y`` of the centre, ``width`` and ``height``, in
    pixels. So the corner is computed as ``x - width / 2``.

    The id of an image is its name as the file says. Its size comes from its header if it lies beside the file, or in
    a folder ``images``. Classes get ids from 1 on in the order of their names.

    Args:
        path: The file, or a folder with ``_annotations.createml.json`` or a single JSON file.
        on_invalid: ``"error"`` refuses invalid images and annotations; ``"drop"`` leaves them out and counts them.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: Not used.

    Raises:
        DatasetError: If the data is invalid; names file, image and annotation, what was expected and what came.
        OSError: If the file cannot be read.
    """
    objects = Objects(path, on_invalid)
    file = single_file(Path(path), _FILE)
    for where, record in _images(file):
        with objects.record("bad image"):
            name, annotations = _image(record, where)
            image = objects.image(name, where, size=found_size(file.parent, name))
            for place, annotation in annotations:
                with objects.record("bad annotation"):
                    objects.add(image, _label(annotation, place), _box(annotation, place))
    return objects.ground_truth()


def read_createml_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - as above
) -> Detections:
    """Read detections in the layout of :func:`read_createml`; each has a ``confidence``, as Turi Create predicts it.

    Args:
        path: The file, or a folder with one.
        ground_truth: The data set that the detections belong to: it has the images and the classes.
        on_invalid: As for :func:`read_createml`.
        threads: Not used.

    Raises:
        DatasetError: If the data is invalid, or there is no ``ground_truth``.
        OSError: If the file cannot be read.
    """
    ground_truth = required(ground_truth, path)
    objects = Objects(path, on_invalid)
    finder = ImageFinder(ground_truth)
    known = set(ground_truth.categories.names)
    for where, record in _images(single_file(Path(path), _FILE)):
        with objects.record("bad image"):
            name, annotations = _image(record, where)
            image = objects.image(str(finder.labels[finder.position(name, where)]), where)
            for place, annotation in annotations:
                with objects.record("bad annotation"):
                    label, box = _label(annotation, place), _box(annotation, place)
                    if label not in known:
                        refuse(f"{place}.label", f"one of the {len(known):,} classes", abbreviate(label))
                    score = to_number(annotation.get("confidence"), f"{place}.confidence")
                    objects.add(image, label, box, score=score)
    return objects.detections(ground_truth)


def _images(file: Path) -> Iterator[tuple[str, Any]]:
    document = read_json(file)
    if not isinstance(document, list):
        refuse(str(file), "a list of images", abbreviate(document))
    for at, record in enumerate(document):
        yield f"{file}: [{at}]", record


def _image(record: Any, where: str) -> tuple[str, list[tuple[str, Any]]]:
    """The name of an image, and its annotations with their places."""
    if not isinstance(record, Mapping):
        refuse(where, "an object", abbreviate(record))
    name_key, list_key = (next((key for key in keys if key in record), keys[0]) for keys in (_IMAGE, _ANNOTATIONS))
    name = member(record, name_key, str, where)
    listed = member(record, list_key, list, where)
    return name, [(f"{where}.{list_key}[{at}]", annotation) for at, annotation in enumerate(listed)]


def _label(annotation: Any, where: str) -> str:
    label: str = member(annotation, "label", str, where)
    if not label:
        refuse(f"{where}.label", "the name of a class", abbreviate(label))
    return label


def _box(annotation: Any, where: str) -> list[float]:
    coordinates = member(annotation, "coordinates", dict, where)
    names = [next((one for one in spellings if one in coordinates), spellings[0]) for spellings in _SIDES]
    cx, cy, width, height = (
        to_number(coordinates.get(name), f"{where}.coordinates.{name}", lowest=lowest)
        for name, lowest in zip(names, (-FARTHEST, -FARTHEST, 0.0, 0.0), strict=True)
    )
    return [cx - width / 2, cy - height / 2, width, height]


def write_createml(gt: GroundTruth, path: Path) -> list[str]:
    """Write the JSON file of Create ML, as :func:`read_createml` reads it.

    Args:
        gt: The ground truth.
        path: The file.

    Returns:
        What the file does not hold.

    Raises:
        DatasetError: If names of images or classes cannot be told apart.
    """
    return _write(gt, path, gt, None)


def write_createml_detections(dt: Detections, path: Path, *, ground_truth: GroundTruth | None = None) -> list[str]:
    """Write detections with their scores as ``confidence``, as :func:`read_createml_detections` reads them.

    Args:
        dt: The detections.
        path: The file.
        ground_truth: It has the names of images and classes.

    Returns:
        What the file does not hold.

    Raises:
        DatasetError: If there is no ``ground_truth``, or names cannot be told apart.
    """
    return _write(dt, path, required(ground_truth, dt.source), dt.scores.tolist())


def _write(data: GroundTruth | Detections, path: Path, gt: GroundTruth, scores: Sequence[float] | None) -> list[str]:
    names, notes = image_names(gt.images, gt.source)
    classes = class_names(gt.categories, gt.source)
    boxes, categories = data.boxes.tolist(), data.category_ids.tolist()
    images = [
        {
            "image": names[image],
            "annotations": [
                {
                    "label": classes[categories[row]],
                    "coordinates": _coordinates(boxes[row]),
                    **({} if scores is None else {"confidence": scores[row]}),
                }
                for row in rows
            ],
        }
        for image, rows in enumerate(rows_of_images(data, gt.images))
    ]
    write_json(path, images)
    return [*left_out_columns(data, _HOLDS), *notes]


def _coordinates(box: Sequence[float]) -> dict[str, float]:
    x, y, width, height = box
    return {"x": _centre(x, width), "y": _centre(y, height), "width": width, "height": height}


def _centre(low: float, length: float) -> float:
    """The centre of a side from which a reader computes the same low end again, if a number has this property."""
    centre = low + length / 2
    near = (centre, math.nextafter(centre, math.inf), math.nextafter(centre, -math.inf))
    return next((one for one in near if one - length / 2 == low), centre)
