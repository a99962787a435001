"""CrowdHuman's ``.odgt`` files: a JSON object per line, with the persons of one image."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ioukit._checks import check_choice
from ioukit.datasets.columns._checks import OnInvalid, check_on_invalid, existing_file
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats.problems import Problems
from ioukit.errors import DatasetError

__all__ = ["read_crowdhuman", "read_crowdhuman_detections"]

PERSON = 1
"""The id of the only category."""

_BOXES = ("fbox", "vbox", "hbox")
_FARTHEST = 2.0**53


def read_crowdhuman(
    path: str | os.PathLike[str],
    *,
    box: str = "fbox",
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; lines are read one by one
) -> GroundTruth:
    """Read the ground truth of an ``.odgt`` file.

    Each line is an image: ``ID``, ``gtboxes``, and perhaps ``width`` and ``height``. Each of ``gtboxes`` has a ``tag``
    and a box ``[x, y, width, height]``. The only category is ``person``, with the id 1. An object gets the flag
    ``ignore`` if its tag is not ``person``, as that of masks, or if its ``extra`` has ``ignore`` above 0; of head
    boxes, also if its ``head_attr`` has it.

    With ``box="fbox"``, objects get the attribute ``visibility``: the area of ``vbox`` over that of ``fbox``, or NaN if
    there is no ``vbox`` or no area.

    Args:
        path: The file.
        box: Which box of a person: ``"fbox"`` the whole body, as CrowdDet evaluates, also where it is hidden;
            ``"vbox"`` the visible part; ``"hbox"`` the head.
        on_invalid: ``"error"`` refuses a file with an invalid line or object; ``"drop"`` leaves it out and counts it.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: Not used.

    Raises:
        ValueError: If ``box`` is unknown.
        DatasetError: If the data is invalid; names file, line and field, what was expected and what came.
        OSError: If the file cannot be read.
    """
    check_on_invalid(on_invalid)
    check_choice("box", box, _BOXES)
    reader = _Reader(path, on_invalid)
    images: list[str] = []
    sizes: list[tuple[float, float]] = []
    rows: list[tuple[int, list[float], bool, float]] = []
    for line in reader.lines("gtboxes"):
        rows += [(len(images), *found) for found in _objects(reader, line, box)]
        images.append(line.image)
        sizes.append(line.size)
    gt = GroundTruth.from_arrays(
        image_ids=np.array([images[at] for at, *_ in rows], np.str_),
        category_ids=np.full(len(rows), PERSON),
        boxes=np.array([values for _, values, *_ in rows], np.float64).reshape(-1, 4),
        flags={"ignore": np.array([ignored for _, _, ignored, _ in rows], np.bool_)},
        attributes={"visibility": np.array([seen for *_, seen in rows], np.float64)} if box == "fbox" else None,
        images=np.array(images, np.str_),
        sizes=np.array(sizes, np.float64).reshape(-1, 2),
        categories={PERSON: "person"},
        source=reader.source,
    )
    return reader.problems.noted_in(gt)


def read_crowdhuman_detections(
    path: str | os.PathLike[str],
    *,
    box: str = "box",
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - as above
) -> Detections:
    """Read detections from an ``.odgt`` file, as CrowdDet writes them.

    Each line is an image: ``ID`` and ``dtboxes``, and perhaps ``width`` and ``height``, which become the attribute
    ``image_size`` of its detections. Each of ``dtboxes`` has a box ``[x, y, width, height]`` and a ``score``. All
    detections are persons; other keys, such as ``tag``, are not looked at.

    Args:
        path: The file.
        box: The key of the box: ``"box"``, or that of another box of the same detections, such as ``"hbox"``.
        on_invalid: As for :func:`read_crowdhuman`. A width or height of 0 is valid.
        threads: Not used.

    Raises:
        DatasetError: If the data is invalid; names file, line and field, what was expected and what came.
        OSError: If the file cannot be read.
    """
    check_on_invalid(on_invalid)
    reader = _Reader(path, on_invalid)
    images, boxes, scores, sizes = [], [], [], []
    for line in reader.lines("dtboxes"):
        for place, entry in enumerate(line.boxes):
            where = f"dtboxes[{place}]"
            try:
                values, score = _box(line, where, entry, box), _number(line, f"{where}.score", entry.get("score"))
            except DatasetError as error:
                reader.problems.meet("invalid detection", str(error))
                continue
            images.append(line.image)
            boxes.append(values)
            scores.append(score)
            sizes.append(line.size)
    dt = Detections.from_arrays(
        image_ids=np.array(images, np.str_),
        category_ids=np.full(len(images), PERSON),
        boxes=np.array(boxes, np.float64).reshape(-1, 4),
        scores=np.array(scores, np.float64),
        attributes={"image_size": np.array(sizes, np.float64).reshape(-1, 2)},
        source=reader.source,
    )
    return reader.problems.noted_in(dt)


class _Line(NamedTuple):
    """The record of an image."""

    where: str
    """File and line, for messages."""
    image: str
    size: tuple[float, float]
    """Width and height; NaN if the line has none."""
    boxes: list[Any]


class _Reader:
    """The lines of a file that are valid, and what was left out."""

    def __init__(self, path: str | os.PathLike[str], on_invalid: OnInvalid) -> None:
        self.source = existing_file(path)
        self.problems = Problems.of(on_invalid)

    def lines(self, key: str) -> Iterator[_Line]:
        seen: dict[str, int] = {}
        with open(self.source, "rb") as file:
            for number, content in enumerate(file, start=1):
                if not content.strip():
                    continue
                where = f"{self.source}: line {number}"
                try:
                    line = _line(where, content, key)
                    if line.image in seen:
                        _refuse(f"{where}: ID", "an image of its own", f"{line.image!r}, as in line {seen[line.image]}")
                except DatasetError as error:
                    self.problems.meet("invalid line", str(error))
                    continue
                seen[line.image] = number
                yield line


def _line(where: str, content: bytes, key: str) -> _Line:
    try:
        record = json.loads(content, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        _refuse(where, "a JSON object", f"something else: {error}")
    if not isinstance(record, dict):
        _refuse(where, "a JSON object", _shown(record))
    image, boxes = record.get("ID"), record.get(key)
    if not isinstance(image, str) or not image or "\0" in image:
        _refuse(f"{where}: ID", "text", _shown(image))
    if not isinstance(boxes, list):
        _refuse(f"{where}: {key}", "a list", _shown(boxes))
    line = _Line(where, image, (math.nan, math.nan), boxes)
    if record.get("width") is None and record.get("height") is None:
        return line
    width, height = (_number(line, name, record.get(name)) for name in ("width", "height"))
    if min(width, height) <= 0:
        _refuse(where, "a width and a height above 0", f"{width:g} and {height:g}")
    return line._replace(size=(width, height))


def _objects(reader: _Reader, line: _Line, box: str) -> Iterator[tuple[list[float], bool, float]]:
    """The box of each object, whether it is ignored, and the share of it that is visible."""
    for place, entry in enumerate(line.boxes):
        where = f"gtboxes[{place}]"
        try:
            values = _box(line, where, entry, box)
            tag = entry.get("tag")
            if not isinstance(tag, str):
                _refuse(f"{line.where}: {where}.tag", "text", _shown(tag))
            ignored = tag != "person" or _ignore(line, where, entry, "extra")
            ignored |= box == "hbox" and _ignore(line, where, entry, "head_attr")
            visible = _box(line, where, entry, "vbox") if box == "fbox" and "vbox" in entry else None
        except DatasetError as error:
            reader.problems.meet("invalid object", str(error))
            continue
        area = values[2] * values[3]
        yield values, ignored, math.nan if visible is None or not area else visible[2] * visible[3] / area


def _ignore(line: _Line, where: str, entry: Mapping[str, Any], name: str) -> bool:
    details = entry.get(name, {})
    if not isinstance(details, dict):
        _refuse(f"{line.where}: {where}.{name}", "an object", _shown(details))
    return _number(line, f"{where}.{name}.ignore", details.get("ignore", 0)) != 0


def _box(line: _Line, where: str, entry: Any, box: str) -> list[float]:
    if not isinstance(entry, dict):
        _refuse(f"{line.where}: {where}", "an object", _shown(entry))
    values = entry.get(box)
    if not isinstance(values, list) or len(values) != 4:
        _refuse(f"{line.where}: {where}.{box}", "[x, y, width, height]", _shown(values))
    numbers = [_number(line, f"{where}.{box}[{at}]", value) for at, value in enumerate(values)]
    if min(numbers[2:]) < 0:
        _refuse(f"{line.where}: {where}.{box}", "a width and a height of at least 0", _shown(values))
    return numbers


def _number(line: _Line, where: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_FARTHEST <= value <= _FARTHEST:
        _refuse(f"{line.where}: {where}", "a number within 2**53", _shown(value))
    return float(value)


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _refuse(where: str, expected: str, found: str) -> NoReturn:
    raise DatasetError(f"{where}: expected {expected}, found {found}")
