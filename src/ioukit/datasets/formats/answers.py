"""Answers of language models that see images: text with boxes becomes detections.

Owns: the file with an answer per line, which image and class a box belongs to, the pixels that its coordinates stand
for, and the notes about what could not be read. Does not own: how boxes are written, see `answers_layouts.py`.

A model is not a program: it misspells classes, and its answers end in their middle. So what is wrong with an answer is
no error, but it is counted and listed. What is wrong with the file is an error, as in all formats.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit._checks import pluralize
from ioukit._near_names import suggest
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.image_names import ImageFinder
from ioukit.datasets.formats.answers_layouts import (
    LAYOUTS,
    PROFILES,
    SCALES,
    AnsweredBox,
    Damage,
    says_nothing_found,
)
from ioukit.datasets.formats.format import PossibleReading
from ioukit.datasets.formats.known_names import ClassIds, required
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.recognising import OTHER_JSON, first_bytes
from ioukit.datasets.formats.text_files import abbreviate, member, numbers, parse_json_line, read_lines, refuse
from ioukit.datasets.operations.class_map import read_class_map
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit._array_types import Floats
    from ioukit.datasets.columns._checks import OnInvalid
    from ioukit.datasets.columns.ground_truth import GroundTruth


_IMAGE = ("image", "file_name", "image_id")
_TEXT = ("answer", "text", "response")
_MOST_PLACES = 20
_MOST_CHARACTERS = 200_000  # no model answers more, and the time for damaged JSON grows with the square


class _Answer(NamedTuple):
    where: str
    """Its line, or its place in a list."""
    image: int | str
    text: str
    size: Sequence[float] | None = None
    """Width and height of the picture that the model saw."""
    label: str | None = None
    """The class of boxes without a name, such as that of the question."""


def recognises(path: Path) -> bool:
    """Whether the first line of a file is a JSON object with an ``answer``."""
    return OTHER_JSON["answers"].search(first_bytes(path))


def read_answers_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    model: str | None = None,
    layout: str | None = None,
    scale: str | int | None = None,
    synonyms: str | os.PathLike[str] | Mapping[str, str] | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; the file is read at once
) -> Detections:
    """Read a file of JSON lines, each with an answer of a language model about an image.

    A line has ``image`` (or ``file_name``, or ``image_id``) and ``answer`` (or ``text``, or ``response``), and perhaps

    - ``input_size``: ``[width, height]`` of the picture that the model saw. The scale ``input-pixels`` needs it.
    - ``label``: the class of boxes without a name, if the question was about one class.

    Several lines may be about one image.

    Args:
        path: The file.
        ground_truth: The data set: it has the images, their sizes and the classes.
        model: As for :func:`from_answers`, and so are ``layout``, ``scale`` and ``synonyms``.
        layout: How boxes are written.
        scale: What coordinates are a part of.
        synonyms: Names of classes for other names.
        on_invalid: What happens to a line that is no such object or names no image of the ground truth. ``"error"``
            refuses it; ``"drop"`` leaves it out and counts it. ``"pycocotools"`` is the same as ``"error"``.
        threads: Not used.

    Raises:
        DatasetError: If the data is invalid, layout and scale are not named, or there is no ``ground_truth``.
        OSError: If the file cannot be read.
    """
    source, gt = os.fspath(path), required(ground_truth, path)
    names = _named(source, model, layout, scale, f"; ioukit check GT {source} lists the number that each reading gives")
    reading = _Reading(source, gt, *names, synonyms)
    problems = Problems.of(on_invalid)
    for answer in _answers_in(path, problems):
        with problems.record("invalid line"):
            reading.take(answer, _found_in(answer.text, reading.layout))
    return reading.detections(problems)


def list_readings(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    model: str | None = None,
    layout: str | None = None,
    scale: str | int | None = None,
    synonyms: str | os.PathLike[str] | Mapping[str, str] | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - as above
) -> Sequence[PossibleReading]:
    """The layouts and scales that a file of answers may have, see :func:`read_answers_detections`.

    Returns:
        A reading per layout in which the file has a whole box, and scale; none if the arguments name both. What is
        named is not varied.

    Raises:
        DatasetError: If the file is invalid, or has no whole box in any layout.
        OSError: If the file cannot be read.
    """
    source = os.fspath(path)
    named_layout, named_scale = _names(model, layout, scale)
    if named_layout is not None and named_scale is not None:
        return ()
    gt, invalid = required(ground_truth, path), Problems.of(on_invalid)
    answers = list(_answers_in(path, invalid))
    layouts = [*LAYOUTS] if named_layout is None else [named_layout]
    scales = [*SCALES] if named_scale is None else [named_scale]
    readings = []
    for name in layouts:
        places = [_found_in(answer.text, name) for answer in answers]
        if any(isinstance(one, AnsweredBox) for found in places for one in found):
            readings += [
                _possible(_Reading(source, gt, name, of_scale, synonyms), answers, places, Problems.of(on_invalid))
                for of_scale in scales
            ]
    if not readings:
        raise DatasetError(
            f"{source}: no reading fits: expected a whole box in one of the layouts ({', '.join(layouts)}), found none "
            f"in {pluralize(len(answers), 'answer')}"
        )
    return readings


def _possible(
    reading: _Reading, answers: Sequence[_Answer], places: Sequence[Sequence[AnsweredBox | Damage]], problems: Problems
) -> PossibleReading:
    models = tuple(name for name, one in PROFILES.items() if (one.layout, one.scale) == (reading.layout, reading.scale))
    options = {"layout": reading.layout, "scale": reading.scale}
    try:
        for answer, found in zip(answers, places, strict=True):
            with problems.record("invalid line"):
                reading.take(answer, found)
        dt = reading.detections(problems)
    except DatasetError as error:
        return PossibleReading(options, models, None, str(error))
    return PossibleReading(
        options, models, dt, records=reading.answered, num_records=len(answers), beyond=len(reading.beyond)
    )


def from_answers(
    answers: Iterable[str] | Mapping[Any, str],
    *,
    image_ids: Iterable[int | str] | None = None,
    ground_truth: GroundTruth,
    model: str | None = None,
    layout: str | None = None,
    scale: str | int | None = None,
    input_sizes: Iterable[Sequence[float]] | None = None,
    synonyms: str | os.PathLike[str] | Mapping[str, str] | None = None,
    source: str = "answers",
) -> Detections:
    """Take what a language model answered: a text with boxes per image.

    The layout and the scale of the boxes are named, by ``model`` or by ``layout`` and ``scale``: the same numbers may
    be pixels or parts of 1000. Classes are found by their names, in upper or lower case. Boxes of other names, places
    that cannot be read, and answers without a box are counted and listed in :attr:`Detections.notes`.

    If all boxes have a ``score`` or a ``confidence``, these are the scores; if none has, the detections have none, see
    :attr:`Detections.scored`.

    Args:
        answers: A text per image, or a mapping from the ids of images to texts. An image may have several texts.
        image_ids: The image of each text, in the same order: its id, or the name of its file.
        ground_truth: The data set: it has the images, their sizes and the classes.
        model: A model whose layout and scale are known: ``"qwen-vl"``, ``"qwen2-vl"``, ``"qwen2.5-vl"``,
            ``"qwen3-vl"``, ``"gemini"``, ``"paligemma"``, ``"florence-2"``, ``"internvl"``, ``"deepseek-vl2"``, or
            ``"molmo"``, whose points become boxes without extent.
        layout: In the place of that of the model: ``"bbox_2d"``, ``"bbox"`` (JSON, ``[x1, y1, x2, y2]``), ``"box_2d"``
            (JSON, ``[y1, x1, y2, x2]``), ``"loc-yxyx"`` (PaliGemma), ``"loc-xyxy"`` (Florence-2), ``"box"``,
            ``"box_start"``, ``"det"`` (tags of this name), or ``"point"``.
        scale: In the place of that of the model: ``"1"``, ``"100"``, ``"999"``, ``"1000"``, ``"1023"`` or ``"1024"``
            for the right and the lower edge of the image, ``"1000-bins"``, ``"pixels"`` of the image, or
            ``"input-pixels"`` of the picture that the model saw.
        input_sizes: ``(width, height)`` of the picture that the model saw for each text. ``"input-pixels"`` needs it.
        synonyms: Names of classes for other names, or a file with them, see :func:`read_class_map`.
        source: The name of the data in messages.

    Returns:
        Detections in the order of the texts. Boxes are pixels, or fractions if those of the ground truth are.

    Raises:
        TypeError: If a text is none.
        ValueError: If there are not as many ids or sizes as texts, or a name is unknown.
        DatasetError: If layout and scale are not named, an image is unknown, or only some boxes have a score.

    Examples:
        >>> from ioukit.datasets import GroundTruth, from_answers
        >>> gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[7], boxes=[[0, 0, 1, 1]],
        ...                              images=[1], sizes=[[640, 480]], categories={7: "cat"})
        >>> answer = 'Here it is: [{"box_2d": [250, 500, 750, 1000], "label": "Cat"}]'
        >>> from_answers({1: answer}, ground_truth=gt, model="gemini").boxes
        array([[320., 120., 320., 240.]])
    """
    reading = _Reading(source, ground_truth, *_named(source, model, layout, scale), synonyms)
    if isinstance(answers, str):
        raise TypeError(f"{source}: expected a list of texts, or a mapping, found one text")
    if isinstance(answers, Mapping):
        if image_ids is not None:
            raise ValueError(f"{source}: the keys of a mapping are the ids of images: leave image_ids out")
        texts, images = list(answers.values()), list(answers)
    elif image_ids is None:
        raise ValueError(f"{source}: answers do not say which images they are about: give image_ids=[...]")
    else:
        texts, images = list(answers), list(image_ids)
    sizes = [None] * len(texts) if input_sizes is None else list(input_sizes)
    if not len(texts) == len(images) == len(sizes):
        raise ValueError(
            f"{source}: expected an image and a size per text, found {len(texts):,} texts, {len(images):,} image_ids "
            f"and {len(sizes):,} input_sizes"
        )
    for at, (image, text, size) in enumerate(zip(images, texts, sizes, strict=True)):
        if not isinstance(text, str):
            raise TypeError(f"{source}[{at}]: expected text, found {type(text).__name__}")
        answer = _Answer(f"[{at}]", image, text, _checked_size(size, f"{source}: [{at}].input_sizes"))
        reading.take(answer, _found_in(text, reading.layout))
    return reading.detections(Problems(stop=True))


def _answers_in(path: str | os.PathLike[str], problems: Problems) -> Iterator[_Answer]:
    """The answers of a file. One that is invalid is a problem."""
    source = os.fspath(path)
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            with problems.record("invalid line"):
                yield _of_line(line, f"line {number}", source)


def _of_line(line: str, where: str, source: str) -> _Answer:
    place = f"{source}: {where}"
    record = parse_json_line(line.encode(), place)
    if not isinstance(record, dict):
        refuse(place, "an object", abbreviate(record))
    image, text = (next((name for name in names if name in record), names[0]) for names in (_IMAGE, _TEXT))
    return _Answer(
        where,
        member(record, image, (str, int), place),
        member(record, text, str, place),
        _checked_size(record.get("input_size"), f"{place}.input_size"),
        None if record.get("label") is None else member(record, "label", str, place),
    )


def _checked_size(size: Any, where: str) -> Sequence[float] | None:
    if size is None:
        return None
    found = numbers(size, ("width", "height"), where, text=False)
    if min(found) <= 0:
        refuse(where, "a width and a height above 0", abbreviate(list(size)))
    return found


class _Row(NamedTuple):
    """A detection."""

    image: int
    """The position of its image in the ground truth."""
    category: int
    box: AnsweredBox
    lengths: Sequence[float]
    """Width and height of the image in the unit of the answer."""


class _Reading:
    """The detections of answers, and what could not be read."""

    def __init__(
        self,
        source: str,
        ground_truth: GroundTruth,
        layout: str,
        scale: str,
        synonyms: str | os.PathLike[str] | Mapping[str, str] | None,
    ) -> None:
        self.source, self.ground_truth = source, ground_truth
        self.layout, self.scale = layout, scale
        self.finder = ImageFinder(ground_truth)
        self.classes = _classes(source, ground_truth, synonyms)
        self.rows: list[_Row] = []
        self.answered = 0
        self.unread: list[str] = []
        self.without_box: list[str] = []
        self.without_name: list[str] = []
        self.beyond: list[str] = []
        self.unscored: list[str] = []
        self.unknown: dict[str, list[str]] = {}

    def take(self, answer: _Answer, found: Sequence[AnsweredBox | Damage]) -> None:
        """Read an answer, in whose text the layout found boxes and damaged places."""
        where = f"{self.source}: {answer.where}"
        at = self.finder.position(str(answer.image), where, is_id=isinstance(answer.image, int))
        lengths = self._lengths(answer, at)
        if len(answer.text) > _MOST_CHARACTERS:
            self.unread.append(f"{answer.where}: more than {_MOST_CHARACTERS:,} characters")
            return
        self.answered += any(isinstance(one, AnsweredBox) for one in found)
        for one in found:
            place = f"{answer.where}, character {one.at + 1}"
            if isinstance(one, Damage):
                self.unread.append(f"{place}: {one.what}")
            else:
                self._add(one, answer.label, place, at, lengths)
        if not found and not says_nothing_found(answer.text):
            self.without_box.append(f"{answer.where}: {abbreviate(answer.text.strip())}")

    def _lengths(self, answer: _Answer, at: int) -> Sequence[float]:
        """Width and height of the image in the unit of the answer."""
        if self.scale == "pixels":
            return [float(length) for length in self.finder.sizes[at]]
        if self.scale != "input-pixels":
            return [SCALES[self.scale].length] * 2
        if answer.size is None:
            raise DatasetError(
                f"{self.source}: {answer.where}: expected the size of the picture that the model saw (input_size in a "
                "line, input_sizes=... in Python), found none: scale=pixels if it saw the images as they are"
            )
        return answer.size

    def _add(self, box: AnsweredBox, label: str | None, place: str, image: int, lengths: Sequence[float]) -> None:
        name = box.label or label
        if name is None:
            self.without_name.append(place)
            return
        number = _class_of(name, self.classes)
        if number is None:
            self.unknown.setdefault(name, []).append(place)
            return
        if any(value < 0 or value > edge for value, edge in zip(box.corners, (*lengths, *lengths), strict=True)):
            self.beyond.append(place)
        if box.score is None:
            self.unscored.append(place)
        self.rows.append(_Row(image, number, box, lengths))

    def detections(self, problems: Problems) -> Detections:
        """All detections, with notes about the rest."""
        rows, unscored = self.rows, len(self.unscored)
        if 0 < unscored < len(rows):
            raise DatasetError(
                f"{self.source}: expected a score for all {len(rows):,} boxes or for none, found "
                f"{unscored:,} without one, the first at {self.unscored[0]}"
            )
        images = [row.image for row in rows]
        corners = np.array([row.box.corners for row in rows], np.float64).reshape(-1, 4)
        boxes, normalized = self._unit(corners, self.finder.sizes[images])
        dt = Detections.from_arrays(
            image_ids=self.finder.labels[images],
            category_ids=np.array([row.category for row in rows], np.int64),
            boxes=np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1),
            scores=None if unscored or not rows else np.array([row.box.score for row in rows], np.float64),
            normalized=normalized,
            source=self.source,
        )
        left_out = len(self.unread) + len(self.without_name) + sum(map(len, self.unknown.values()))
        notes = tuple(f"{self.source}: {note}" for note in self._notes(corners))
        dt = dataclasses.replace(dt, dropped=left_out, notes=notes)
        return problems.noted_in(dt.meeting(self.ground_truth))

    def _unit(self, corners: Floats, sizes: Floats) -> tuple[Floats, bool]:
        """(N, 4) corners in pixels of the images, or else in fractions of them; and whether it is fractions."""
        if self.scale == "pixels":
            return corners, False
        lengths = np.array([row.lengths for row in self.rows], np.float64).reshape(-1, 2)
        # Multiplied first: 100 of 1000 of 640 pixels is 64. Where a size is missing, `meeting` says what to do.
        normalized = self.ground_truth.normalized or bool(np.isnan(sizes).any())
        whole = np.ones_like(lengths) if normalized else sizes
        return (corners + SCALES[self.scale].shift) * np.tile(whole, 2) / np.tile(lengths, 2), normalized

    def _notes(self, corners: Floats) -> Iterator[str]:
        if self.unknown:
            names = sorted(self.unknown.items(), key=lambda item: -len(item[1]))
            listed = [f"{abbreviate(name)} x {len(places):,} (first: {places[0]})" for name, places in names]
            count = sum(map(len, self.unknown.values()))
            yield f"left out {count:,} x a box of a name that is no class: {_listed(listed)}"
        scale = SCALES[self.scale]
        for kind, places in (
            ("left out {} x what cannot be read", self.unread),
            ("left out {} x a box without a name of a class", self.without_name),
            ("{} x an answer without a box of the layout", self.without_box),
            (f"{{}} x a box that reaches beyond the image, if coordinates are {scale.title}", self.beyond),
        ):
            if places:
                yield f"{kind.format(f'{len(places):,}')}: {_listed(places)}"
        if len(corners) and self.scale != "1" and corners.max() <= 1:
            yield f"no coordinate is above 1: are they {scale.title}?"
        if self.layout == "point" and len(corners):
            yield f"{len(corners):,} x a point, which is a box without extent: it overlaps nothing"


def _listed(places: Sequence[str]) -> str:
    more = f"; and {len(places) - _MOST_PLACES:,} more" if len(places) > _MOST_PLACES else ""
    return f"{'; '.join(places[:_MOST_PLACES])}{more}"


def _names(model: str | None, layout: str | None, scale: str | int | None) -> tuple[str | None, str | None]:
    """The names of the layout and of the scale, as far as they are given."""
    scale = None if scale is None else str(scale)
    for what, name, known in (("model", model, PROFILES), ("layout", layout, LAYOUTS), ("scale", scale, SCALES)):
        if name is not None and name not in known:
            raise ValueError(f"unknown {what} {name!r}; choose from {', '.join(known)}{suggest(name, known, most=1)}")
    if model is not None:
        layout, scale = layout or PROFILES[model].layout, scale or PROFILES[model].scale
    return layout, scale


def _named(
    source: str, model: str | None, layout: str | None, scale: str | int | None, hint: str = ""
) -> tuple[str, str]:
    """The names of the layout and of the scale. The error about those that lack ends with the hint."""
    layout, scale = _names(model, layout, scale)
    if layout is not None and scale is not None:
        return layout, scale
    start = f"{source}: how boxes are written is not guessed"
    of_layout, of_scale = f"layout=NAME ({', '.join(LAYOUTS)})", f"scale=NAME ({', '.join(SCALES)})"
    option = "in a command: --dt-option (or --option)"
    if layout is not None:
        raise DatasetError(f"{start}: beside layout={layout}, give {of_scale}; {option} scale=NAME{hint}")
    if scale is not None:
        raise DatasetError(f"{start}: beside scale={scale}, give {of_layout}; {option} layout=NAME{hint}")
    raise DatasetError(
        f"{start}: name the model, model=NAME with one of {', '.join(PROFILES)}; or {of_layout} and {of_scale}; "
        f"{option} model=NAME{hint}"
    )


def _found_in(text: str, layout: str) -> Sequence[AnsweredBox | Damage]:
    """The boxes and the damaged places of a text; none of one that is not looked at because of its length."""
    return [] if len(text) > _MOST_CHARACTERS else list(LAYOUTS[layout](text))


def _spelled(name: str) -> str:
    return name.strip().casefold()


def _class_of(name: str, classes: Mapping[str, int]) -> int | None:
    """The id of the class of this name, or else of this name in lower case."""
    return classes.get(name) if name in classes else classes.get(_spelled(name))


def _classes(
    source: str, ground_truth: GroundTruth, synonyms: str | os.PathLike[str] | Mapping[str, str] | None
) -> Mapping[str, int]:
    """The ids of the classes by name, by their names in lower case, and by synonyms in lower case."""
    classes = ClassIds(ground_truth, _spelled)
    if synonyms is None:
        return classes
    given = read_class_map(synonyms) if isinstance(synonyms, str | os.PathLike) else synonyms
    where = os.fspath(synonyms) if isinstance(synonyms, str | os.PathLike) else f"{source}: synonyms"
    for name, meant in given.items():
        if meant is None:
            continue
        number = _class_of(meant, classes)
        if number is None:
            refuse(
                f"{where}: {abbreviate(name)}",
                f"one of the {len(ground_truth.categories):,} classes",
                abbreviate(meant),
            )
        classes.setdefault(_spelled(name), number)
    return classes
