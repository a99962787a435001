"""CrowdHuman's ``.odgt`` files: a JSON object per line, with the persons of one image."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._checks import check_choice
from ioukit.datasets.columns._checks import OnInvalid, existing_file
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.image_names import ImageFinder
from ioukit.datasets.formats.known_names import required
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.datasets.formats.objects import to_size
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.text_files import abbreviate, is_name, member, numbers, parse_json_line, refuse, to_number
from ioukit.datasets.formats.written_names import image_stems, other_stems
from ioukit.datasets.formats.written_rows import plain, rows_of_images

PERSON = 1
"""The id of the only category, unless the ground truth of detections has another one for persons."""

_BOXES = ("fbox", "vbox", "hbox")
_SIDES = ("x", "y", "width", "height")
_HOLDS = Holds(flags=frozenset({"ignore"}), category_ids=True, unused_categories=True)


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
    check_choice("box", box, _BOXES)
    problems = Problems.of(on_invalid)
    source = existing_file(path)
    images: list[str] = []
    sizes: list[tuple[float, float]] = []
    rows: list[tuple[int, list[float], bool, float]] = []
    for line in _lines(source, "gtboxes", problems):
        rows += [(len(images), *found) for found in _objects(line, box, problems)]
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
        source=source,
    )
    return problems.noted_in(gt)


def read_crowdhuman_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
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
        ground_truth: The data set. If it is given, an ``ID`` may also be the name of an image's file, with or without
            its suffix, and detections get the id of its category ``person``.
        box: The key of the box: ``"box"``, or that of another box of the same detections, such as ``"hbox"``.
        on_invalid: As for :func:`read_crowdhuman`. A width or height of 0 is valid.
        threads: Not used.

    Raises:
        DatasetError: If the data is invalid; names file, line and field, what was expected and what came.
        OSError: If the file cannot be read.
    """
    problems = Problems.of(on_invalid)
    source = existing_file(path)
    finder = None if ground_truth is None else ImageFinder(ground_truth)
    images: list[int | str] = []
    boxes, scores, sizes = [], [], []
    for line in _lines(source, "dtboxes", problems):
        label = _label(line, finder, problems)
        for place, entry in enumerate(line.boxes if label is not None else []):
            where = f"{line.where}: dtboxes[{place}]"
            with problems.record("invalid detection"):
                values = _box(where, entry, box)
                scores.append(to_number(entry.get("score"), f"{where}.score", text=False))
                images.append(line.image if label is None else label)
                boxes.append(values)
                sizes.append(line.size)
    numbered = ground_truth is not None and ground_truth.images.keys is None
    dt = Detections.from_arrays(
        image_ids=np.array(images, np.int64 if numbered else np.str_),
        category_ids=np.full(len(images), PERSON if ground_truth is None else _person(ground_truth)),
        boxes=np.array(boxes, np.float64).reshape(-1, 4),
        scores=np.array(scores, np.float64),
        attributes={"image_size": np.array(sizes, np.float64).reshape(-1, 2)},
        source=source,
    )
    return problems.noted_in(dt)


def write_crowdhuman(gt: GroundTruth, path: Path, *, person: str = "person", box: str = "fbox") -> list[str]:
    """Write an ``.odgt`` file, as :func:`read_crowdhuman` reads it.

    An ``ID`` is the name of an image without folders and suffix, or its id. Objects with the flag ``ignore`` have it in
    ``extra``. Objects of other classes are left out.

    Args:
        gt: The ground truth.
        path: The file.
        person: The name of the class that is written.
        box: The key of the boxes: ``"fbox"``, ``"vbox"`` or ``"hbox"``. Other boxes of a person are not written.

    Returns:
        What the file does not hold.

    Raises:
        ValueError: If ``box`` is unknown.
        DatasetError: If there are objects, and none of their classes has the name.
    """
    check_choice("box", box, _BOXES)
    persons = _persons(gt, person)
    kept = gt.take(persons)
    ignored = kept.flag("ignore").tolist()
    entries = [
        {"tag": "person", box: list(map(plain, values)), **({"extra": {"ignore": 1}} if ignore else {})}
        for values, ignore in zip(kept.boxes.tolist(), ignored, strict=True)
    ]
    names = _write(path, kept, gt, "gtboxes", entries, gt.images.sizes)
    notes = [*left_out_columns(gt, _HOLDS), *names]
    if others := int((~persons).sum()):
        notes.append(f"{others:,} objects of other classes than {person}")
    return notes


def write_crowdhuman_detections(
    dt: Detections, path: Path, *, ground_truth: GroundTruth | None = None, person: str = "person"
) -> list[str]:
    """Write an ``.odgt`` file with detections, as :func:`read_crowdhuman_detections` reads it.

    Every image of the ground truth gets a line. Its width and height are those of the attribute ``image_size``, or else
    of the ground truth. Detections of other classes are left out.

    Args:
        dt: The detections.
        path: The file.
        ground_truth: The data set, which has the names of images and classes.
        person: The name of the class that is written.

    Returns:
        What the file does not hold.

    Raises:
        DatasetError: If there is no ``ground_truth``; or there are detections and no class has the name; or, as for
            the reader, several classes, of which not exactly one has it, in upper or lower case.
    """
    ground_truth = required(ground_truth, dt.source)
    images = ground_truth.images
    persons = _persons(ground_truth, person, dt)
    _person(ground_truth, person)
    kept = dt.take(persons)
    sizes = np.array(images.sizes)
    attributes = frozenset[str]()
    given = kept.attributes.get("image_size")
    if given is not None and given.shape == (len(kept), 2) and given.dtype.kind in "iuf":
        sizes[images.ids.searchsorted(kept.image_ids_in(images))] = given
        attributes = frozenset({"image_size"})
    entries = [
        {"box": list(map(plain, values)), "score": score, "tag": PERSON}
        for values, score in zip(kept.boxes.tolist(), kept.scores.tolist(), strict=True)
    ]
    names = _write(path, kept, ground_truth, "dtboxes", entries, sizes)
    notes = [*left_out_columns(dt, Holds(attributes=attributes)), *names]
    if others := int((~persons).sum()):
        notes.append(f"{others:,} detections of other classes than {person}")
    return notes


class _Line(NamedTuple):
    """The record of an image."""

    where: str
    """File and line, for messages."""
    image: str
    size: tuple[float, float]
    """Width and height; NaN if the line has none."""
    boxes: list[Any]


def _lines(source: str, key: str, problems: Problems) -> Iterator[_Line]:
    """The valid lines of a file."""
    seen: dict[str, int] = {}
    with open(source, "rb") as file:
        for number, content in enumerate(file, start=1):
            if not content.strip():
                continue
            where = f"{source}: line {number}"
            with problems.record("invalid line"):
                line = _line(where, content.removeprefix(b"\xef\xbb\xbf") if number == 1 else content, key)
                if line.image in seen:
                    found = f"{abbreviate(line.image)}, as in line {seen[line.image]}"
                    refuse(f"{where}: record.ID", "an image of its own", found)
                seen[line.image] = number
                yield line


def _line(where: str, content: bytes, key: str) -> _Line:
    record = parse_json_line(content, where)
    image, boxes = member(record, "ID", str, f"{where}: record"), member(record, key, list, f"{where}: record")
    if not is_name(image):
        refuse(f"{where}: record.ID", "the name of an image", abbreviate(image))
    size = to_size(record.get, f"{where}: record.", text=False)
    if min(size) <= 0:
        refuse(where, "a width and a height above 0", f"{size[0]:g} and {size[1]:g}")
    return _Line(where, image, size, boxes)


def _objects(line: _Line, box: str, problems: Problems) -> Iterator[tuple[list[float], bool, float]]:
    """The box of each object, whether it is ignored, and the share of it that is visible."""
    for place, entry in enumerate(line.boxes):
        where = f"{line.where}: gtboxes[{place}]"
        with problems.record("invalid object"):
            values = _box(where, entry, box)
            ignored = member(entry, "tag", str, where) != "person" or _ignore(where, entry, "extra")
            ignored |= box == "hbox" and _ignore(where, entry, "head_attr")
            visible = _box(where, entry, "vbox") if box == "fbox" and "vbox" in entry else None
            area = values[2] * values[3]
            yield values, ignored, math.nan if visible is None or not area else visible[2] * visible[3] / area


def _ignore(where: str, entry: Mapping[str, Any], name: str) -> bool:
    details = member(entry, name, dict, where) if name in entry else {}
    return to_number(details.get("ignore", 0), f"{where}.{name}.ignore", text=False) != 0


def _box(where: str, entry: Any, box: str) -> list[float]:
    if not isinstance(entry, dict):
        refuse(where, "an object", abbreviate(entry))
    values = numbers(entry.get(box), _SIDES, f"{where}.{box}", text=False)
    if min(values[2:]) < 0:
        refuse(f"{where}.{box}", "a width and a height of at least 0", abbreviate(entry[box]))
    return values


def _label(line: _Line, finder: ImageFinder | None, problems: Problems) -> int | str | None:
    """The id of the image of a line in the ground truth, if there is one; ``None`` if the line is left out."""
    if finder is None:
        return line.image
    with problems.record("unknown image"):
        label: int | str = finder.labels[finder.position(line.image, f"{line.where}: record.ID")].item()
        return label
    return None


def _person(gt: GroundTruth, person: str = "person") -> int:
    """The id of the class of persons: it has that name, or it is the only one."""
    persons = [at for at, name in enumerate(gt.categories.names) if name.lower() == person.lower()]
    found = persons or list(range(len(gt.categories)))
    if len(found) != 1:
        called = person if person.isalpha() else abbreviate(person)
        expected = f"one class {called}, or one class, for detections of persons"
        refuse(gt.source, expected, f"{len(found):,} classes")
    return int(gt.categories.ids[found[0]])


def _persons(gt: GroundTruth, person: str, dt: Detections | None = None) -> npt.NDArray[np.bool_]:
    """(N,) which objects, or detections, are persons."""
    data = gt if dt is None else dt
    try:
        number = gt.categories.ids[gt.categories.positions([person])]
    except ValueError as error:
        if len(data):
            refuse(data.source, f"objects of the class {person!r}, the only one of this format", str(error))
        number = np.zeros(0, np.int64)
    return np.isin(data.category_ids, number)


def _write(
    path: Path,
    data: GroundTruth | Detections,
    gt: GroundTruth,
    key: str,
    entries: list[dict[str, Any]],
    sizes: npt.NDArray[np.float64],
) -> list[str]:
    """Write a line per image. Returns a note if the images are not called like their files."""
    named = gt.images.keys is not None
    names = gt.images.labels.tolist() if named else image_stems(gt.images, gt.source)
    for name in names:
        if not is_name(name):
            refuse(gt.source, "ids of images that files of text can hold", abbreviate(name))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for name, size, rows in zip(names, sizes.tolist(), rows_of_images(data, gt.images), strict=True):
            record: dict[str, Any] = {"ID": name}
            if not math.isnan(size[0]):
                record |= dict(zip(("width", "height"), map(plain, size), strict=True))
            file.write(json.dumps({**record, key: [entries[row] for row in rows]}) + "\n")
    return [] if named else other_stems(gt.images, gt.source)
