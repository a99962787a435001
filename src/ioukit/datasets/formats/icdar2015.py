"""ICDAR 2015's text files: one per image, with the four points of a text and its transcription per line."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ioukit._array_types import Floats, Positions
from ioukit.datasets.columns._checks import OnInvalid
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.image_names import ImageFinder
from ioukit.datasets.formats.known_names import required
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.recognising import names_in
from ioukit.datasets.formats.text_files import abbreviate, files_in, is_number, read_lines, refuse, to_numbers
from ioukit.regions.polygons import Polygons

_POINTS = tuple(f"{axis}{number}" for number in range(1, 5) for axis in "xy")
_NAMES = re.compile(r"(?:gt|res)_img_\d+\.\w+")
_SIDES = {"gt_": "ground truth", "res_": "results"}
_DONT_CARE = "###"


def recognises(path: Path) -> bool:
    """Whether a path is a folder with a file ``gt_img_<number>.txt`` or ``res_img_<number>.txt``, or such a file.

    Then a line without four points is a mistake. The file alone is refused by name, because its lines look like MOT's.
    """
    try:
        if not path.is_dir():
            return bool(_NAMES.fullmatch(path.name))
        return any(map(_NAMES.fullmatch, names_in(path, "*.txt")))
    except OSError:
        return False


def read_icdar2015(
    path: str | os.PathLike[str],
    *,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; text files are read one by one
) -> GroundTruth:
    """Read a folder of text files ``gt_<image>.txt`` with a line ``x1,y1,x2,y2,x3,y3,x4,y4,transcription`` per text.

    The four points are in pixels. They become :class:`~ioukit.Polygons`; boxes and areas are those of the polygons.
    The transcription is the rest of the line, also with commas, and becomes an attribute; double quotes around it are
    taken off. Texts with the transcription ``###`` have the flags ``dont_care`` and ``crowd``. The only class is
    ``text``, with the id 1. The ids of images are the names of the files without ``gt_`` and ``.txt``. A file without
    lines is an image without texts. The files do not have the sizes of images.

    Args:
        path: The folder.
        on_invalid: ``"error"`` refuses a folder with an invalid line, ``"drop"`` leaves such lines out and counts them.
            ``"pycocotools"`` is the same as ``"error"``. A path of four points that crosses itself is invalid.
        threads: Not used.

    Raises:
        DatasetError: If a line is invalid; names file, line and field, what was expected and what came.
        OSError: If a file cannot be read.

    Reference: Karatzas et al., ICDAR 2015 Competition on Robust Reading, ICDAR 2015.
    """
    problems = Problems.of(on_invalid)
    images: dict[str, str] = {}

    def added(image: str, file: str) -> int:
        if images.setdefault(image, file) != file:
            refuse(file, "one file for each image", f"also {images[image]}")
        return len(images) - 1

    texts = _texts(path, problems, "gt_", (*_POINTS, "transcription"), added)
    transcriptions = [_unquoted(text.rest) for text in texts]
    dont_care = np.array([transcription == _DONT_CARE for transcription in transcriptions], np.bool_)
    labels = np.array(list(images), np.str_)
    gt = GroundTruth.from_arrays(
        image_ids=labels[_images(texts)],
        category_ids=np.ones(len(texts), np.int64),
        regions=_polygons(texts),
        images=labels,
        categories={1: "text"},
        flags={"dont_care": dont_care, "crowd": dont_care},
        attributes={"transcription": np.array(transcriptions, np.str_)},
        source=os.fspath(path),
    )
    return problems.noted_in(gt)


def read_icdar2015_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - as above
) -> Detections:
    """Read a folder of text files ``res_<image>.txt`` with a line ``x1,y1,x2,y2,x3,y3,x4,y4`` per detection.

    A score from 0 to 1 may follow the points, and then anything else. If no line has one, the detections have no
    scores, and what follows the points may be a transcription. If some lines have one, the others are invalid; but
    ``0`` and ``1`` are transcriptions where every other line has another. An image without a file has no detections.

    Args:
        path: The folder.
        ground_truth: The data set: it has the images and the class.
        on_invalid: As for :func:`read_icdar2015`.
        threads: Not used.

    Raises:
        DatasetError: If a line is invalid, or there is no ``ground_truth`` or it has several classes; names file, line
            and field, what was expected and what came.
        OSError: If a file cannot be read.
    """
    ground_truth = required(ground_truth, path, "names of images")
    if len(ids := ground_truth.categories.ids) != 1:
        refuse(ground_truth.source, f"one class, as {os.fspath(path)} names none", f"{len(ids):,}")
    problems = Problems.of(on_invalid)
    finder = ImageFinder(ground_truth)
    texts, scores = _with_scores(_texts(path, problems, "res_", _POINTS, finder.position), problems)
    dt = Detections.from_arrays(
        image_ids=finder.labels[_images(texts)],
        category_ids=np.full(len(texts), ids[0]),
        scores=scores,
        regions=_polygons(texts),
        source=os.fspath(path),
    )
    return problems.noted_in(dt)


class _Text(NamedTuple):
    """A line: its place, the position of its image, eight numbers, and what follows them."""

    where: str
    image: int
    points: list[float]
    rest: str


def _texts(
    path: str | os.PathLike[str],
    problems: Problems,
    prefix: str,
    fields: tuple[str, ...],
    position: Callable[[str, str], int],
) -> list[_Text]:
    """The lines of all files, with at least these fields; ``position`` finds an image by its name and file."""
    texts = []
    (other,) = _SIDES.keys() - {prefix}
    for file in files_in(path, "*.txt", f"a folder of text files {prefix}<image>.txt", problems):
        with problems.record("bad file"):
            if file.name.startswith(other):
                refuse(str(file), f"{prefix}<image>.txt", f"a file of {_SIDES[other]}")
            image = position(file.stem.removeprefix(prefix), str(file))
            for number, line in enumerate(read_lines(file), start=1):
                with problems.record("bad line"):
                    if line.strip():
                        texts.append(_text(image, line, f"{file}: line {number}", fields))
    return texts


def _text(image: int, line: str, where: str, fields: tuple[str, ...]) -> _Text:
    words = line.split(",", len(_POINTS))
    if len(words) < len(fields):
        refuse(where, ",".join(fields), abbreviate(line))
    rest = "".join(words[len(_POINTS) :])
    if sum(map(is_number, rest.split(",")[:4])) == 4:  # Total-Text and CTW-1500 have texts with more points
        refuse(where, f"four points, then {fields[-1] if len(fields) > len(_POINTS) else 'a score'}", abbreviate(line))
    points = to_numbers(words[: len(_POINTS)], _POINTS, where)
    if _crosses(points):
        refuse(where, "four points in order around a text", f"a path that crosses itself, {abbreviate(line)}")
    return _Text(where, image, points, rest)


def _crosses(points: list[float]) -> bool:
    """Whether two edges that are not neighbours cross: each has the ends of the other on both sides."""

    def side(start: int, end: int, point: int) -> float:
        (x, y), (to_x, to_y), (at_x, at_y) = (points[2 * at : 2 * at + 2] for at in (start, end, point))
        return (to_x - x) * (at_y - y) - (to_y - y) * (at_x - x)

    edges = ((0, 1, 2, 3), (1, 2, 3, 0))
    return any(side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0 for a, b, c, d in edges)


def _images(texts: list[_Text]) -> Positions:
    return np.array([text.image for text in texts], np.int64)


def _polygons(texts: list[_Text]) -> Polygons:
    return Polygons(np.array([text.points for text in texts], np.float64).reshape(-1, 4, 2))


def _with_scores(texts: list[_Text], problems: Problems) -> tuple[list[_Text], Floats | None]:
    """The lines with their scores, of which there are none if they have none."""
    scores = np.array([_score(text.rest) for text in texts], np.float64)
    scored = ~np.isnan(scores)
    without = [text for text, has in zip(texts, scored.tolist(), strict=True) if not has]
    # "1" among words is a word.
    words = all(text.rest.strip() for text in without) and bool(np.isin(scores[scored], (0, 1)).all())
    if words or not problems.meet_unscored([text.where for text in without], len(texts)):
        return texts, scores if scored.all() else None
    return [text for text, has in zip(texts, scored.tolist(), strict=True) if has], scores[scored]


def _score(rest: str) -> float:
    """The score behind the points; NaN if there is none."""
    word = rest.partition(",")[0]
    return float(word) if is_number(word) and 0 <= float(word) <= 1 else math.nan


def _unquoted(transcription: str) -> str:
    """A transcription without double quotes around it, in which a backslash precedes quotes and backslashes."""
    quoted = re.fullmatch(r'\s*"(.*)"\s*', transcription)
    return re.sub(r'\\(["\\])', r"\1", quoted[1]) if quoted else transcription
