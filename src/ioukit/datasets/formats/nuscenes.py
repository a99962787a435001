"""nuScenes' detection results: a JSON file with the boxes in space of each sample; ground truth in the same shape.

The ground truth of nuScenes is a database. What its development kit evaluates are records like those of the results,
and they can be written to a file of this shape; data of one's own need no database.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._near_names import suggest
from ioukit.datasets.columns._checks import OnInvalid
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.image_names import ImageFinder
from ioukit.datasets.formats.known_names import ClassIds, required
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.recognising import OTHER_JSON, first_bytes
from ioukit.datasets.formats.text_files import abbreviate, member, names_of, numbers, read_json, refuse, to_number
from ioukit.regions.boxes3d import Boxes3D

if TYPE_CHECKING:
    from pathlib import Path

NUSCENES_NAMES = (
    *("car", "truck", "bus", "trailer", "construction_vehicle"),
    *("pedestrian", "motorcycle", "bicycle", "traffic_cone", "barrier"),
)
"""The classes of nuScenes' detection task, in the order of their ids, which are 1 to 10."""

_CENTRE, _SIZE, _ROTATION = ("x", "y", "z"), ("width", "length", "height"), ("w", "x", "y", "z")


def recognises(path: Path) -> bool:
    """Whether a JSON file has results by sample."""
    return OTHER_JSON["nuscenes"].search(first_bytes(path))


def read_nuscenes(
    path: str | os.PathLike[str],
    *,
    names: Sequence[str] = NUSCENES_NAMES,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; Python reads the file
) -> GroundTruth:
    """Read ground truth in the shape of nuScenes' detection results: ``{"results": {sample_token: [record, ...]}}``.

    A record has ``translation`` (x, y, z of the centre in metres), ``size`` (width, length, height), ``rotation`` (the
    quaternion w, x, y, z, of which the yaw is kept) and ``detection_name``. It may have ``velocity`` (x, y in metres
    per second; NaN or ``null`` if unknown), ``attribute_name`` (empty or ``null`` if unknown), ``ego_translation`` (the
    centre as seen from the vehicle) and ``num_pts`` (the number of points in the box, -1 if unknown).

    The ids of the images are the samples. The boxes become ``Boxes3D``; ``boxes`` are those around the rectangles seen
    from above. The objects have the attributes ``velocity``, ``attribute_name``, ``ego_distance`` and ``num_pts`` if
    some record has the field; an object without the field has NaN, ``""`` or -1.

    Args:
        path: The file.
        names: The names of the classes, in the order of their ids, from 1 on; or the path of a file with one per line.
        on_invalid: ``"error"`` refuses a file with an invalid record, ``"drop"`` leaves such records out and counts
            them. ``"pycocotools"`` is the same as ``"error"``.
        threads: Not used.

    Raises:
        DatasetError: If a record is invalid; names file, sample, record and field.
        OSError: If the file cannot be read.
    """
    problems, names = Problems.of(on_invalid), names_of(names)
    records = _Records(dict(zip(names, range(1, len(names) + 1), strict=True)), problems)
    samples: list[str] = []
    for sample, boxes, where in _samples(path):
        records.read(boxes, len(samples), where)
        samples.append(sample)
    gt = GroundTruth.from_arrays(
        image_ids=np.array(samples or [""], np.str_)[np.array(records.images, np.int64)],
        category_ids=np.array(records.classes, np.int64),
        images=np.array(samples, np.str_),
        names=samples,
        categories=dict(enumerate(names, start=1)),
        regions=records.boxes(),
        attributes=records.attributes(),
        source=os.fspath(path),
    )
    return problems.noted_in(gt)


def read_nuscenes_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - as above
) -> Detections:
    """Read detection results of nuScenes: records as for :func:`read_nuscenes`, with ``detection_score``.

    Args:
        path: The file.
        ground_truth: The data set: it knows the samples and the names of the classes.
        on_invalid: As for :func:`read_nuscenes`.
        threads: Not used.

    Raises:
        DatasetError: If a record is invalid, a sample is unknown, or there is no ``ground_truth``.
        OSError: If the file cannot be read.
    """
    problems, ground_truth = Problems.of(on_invalid), required(ground_truth, path)
    finder, labels = ImageFinder(ground_truth), ground_truth.images.labels
    listed = list(_samples(path))
    scores = any("detection_score" in one for _, boxes, _ in listed for one in boxes if isinstance(one, Mapping))
    otherwise = "" if scores else ": no record has one; are ground truth and detections swapped?"
    records = _Records(ClassIds(ground_truth), problems, without_score=otherwise)
    seen = set()
    for sample, boxes, where in listed:
        with problems.record("unknown sample"):
            at = finder.position(sample, where)
            seen.add(at)
            records.read(boxes, at, where)
    dt = Detections.from_arrays(
        image_ids=labels[np.array(records.images, np.int64)],
        category_ids=np.array(records.classes, np.int64),
        scores=np.array(records.scores, np.float64),
        regions=records.boxes(),
        attributes=records.attributes(),
        source=os.fspath(path),
    )
    if missing := len(labels) - len(seen):
        note = f"{path}: {missing:,} of {len(labels):,} samples are not listed: they count as without detections"
        dt = dataclasses.replace(dt, notes=(*dt.notes, note))
    return problems.noted_in(dt)


def _samples(path: str | os.PathLike[str]) -> Iterator[tuple[str, list[Any], str]]:
    """Each sample, its records, and its place for messages."""
    results = member(read_json(path), "results", dict, os.fspath(path))
    for sample in results:
        yield sample, member(results, sample, list, f"{os.fspath(path)}: results"), f"{os.fspath(path)}: {sample}"


class _Records:
    """The columns of the records so far."""

    def __init__(self, ids: Mapping[str, int], problems: Problems, *, without_score: str | None = None) -> None:
        """Take the ids of the classes, and what to say of a record without score; ``None`` if none needs one."""
        self.ids, self.problems, self.without_score = ids, problems, without_score
        self.images: list[int] = []
        self.classes: list[int] = []
        self.scores: list[float] = []
        self._boxes: list[list[float]] = []
        self._further: dict[str, dict[int, Any]] = {}

    def read(self, records: Sequence[Any], image: int, where: str) -> None:
        """Take the records of a sample."""
        for at, record in enumerate(records):
            with self.problems.record("invalid record"):
                self._add(record, image, f"{where}[{at}]")

    def _add(self, record: Any, image: int, where: str) -> None:
        name = member(record, "detection_name", str, where)
        number = self.ids.get(name)
        if number is None:
            known = ", ".join(self.ids)
            others = f"{known} (classes of the ground truth: names=, or --gt-option names=car,tram, gives others)"
            refuse(f"{where}.detection_name", f"one of {others}", f"{abbreviate(name)}{suggest(name, self.ids)}")
        width, length, height = numbers(record.get("size"), _SIZE, f"{where}.size", text=False)
        if not min(width, length, height) > 0:
            refuse(f"{where}.size", "numbers above 0", abbreviate(record["size"]))
        centre = numbers(record.get("translation"), _CENTRE, f"{where}.translation", text=False)
        yaw = _yaw(numbers(record.get("rotation"), _ROTATION, f"{where}.rotation", text=False), f"{where}.rotation")
        further: dict[str, Any] = {}
        if "velocity" in record:
            further["velocity"] = _velocity(record["velocity"], f"{where}.velocity")
        if "attribute_name" in record:
            unknown = record["attribute_name"] is None
            further["attribute_name"] = "" if unknown else member(record, "attribute_name", str, where)
        if "ego_translation" in record:
            place = numbers(record["ego_translation"], _CENTRE, f"{where}.ego_translation", text=False)
            further["ego_distance"] = math.sqrt(place[0] ** 2 + place[1] ** 2)
        if "num_pts" in record:
            further["num_pts"] = int(to_number(record["num_pts"], f"{where}.num_pts", whole=True, text=False))
        if self.without_score is not None:
            score = record.get("detection_score")
            if score is None:
                refuse(f"{where}.detection_score", "a number", f"nothing{self.without_score}")
            self.scores.append(to_number(score, f"{where}.detection_score", text=False))
        for field, value in further.items():
            self._further.setdefault(field, {})[len(self._boxes)] = value
        self.images.append(image)
        self.classes.append(number)
        self._boxes.append([*centre, length, width, height, yaw])

    def boxes(self) -> Boxes3D:
        """(N,) the boxes in space."""
        rows = np.array(self._boxes, np.float64).reshape(-1, 7)
        return Boxes3D(rows, z="centre", unit="radians", sense="counterclockwise")

    def attributes(self) -> dict[str, Any]:
        """(N, ...) the columns that some record has."""
        empty: dict[str, Any] = {
            "velocity": (math.nan, math.nan), "attribute_name": "", "ego_distance": math.nan, "num_pts": -1
        }  # fmt: skip
        rows = range(len(self._boxes))
        return {
            name: np.array([values.get(row, empty[name]) for row in rows]) for name, values in self._further.items()
        }


def _yaw(rotation: Sequence[float], where: str) -> float:
    """The angle of the x axis of a quaternion, seen from above."""
    w, x, y, z = rotation
    square = w * w + x * x + y * y + z * z
    if not square > 0:
        refuse(where, "a quaternion other than 0", abbreviate(list(rotation)))
    return math.atan2(2 * (w * z + x * y), square - 2 * (y * y + z * z))


def _velocity(value: Any, where: str) -> tuple[float, float]:
    """Both parts of a velocity; NaN for both if it is not known."""
    if value is None:
        return math.nan, math.nan
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        refuse(where, "[x, y]", abbreviate(value))
    if any(part is None or part != part for part in value):  # noqa: PLR0124 - NaN
        return math.nan, math.nan
    x, y = numbers(value, ("x", "y"), where, text=False)
    return x, y
