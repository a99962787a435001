"""The lines of YOLO's text files: boxes, polygons, poses and oriented boxes, with scores or without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from ioukit import _core
from ioukit._array_types import Flags, Floats
from ioukit._checks import check_choice, check_threads
from ioukit.datasets.formats.text_files import shortened
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ioukit.datasets.formats.problems import Problems

    Ints = npt.NDArray[np.int64]


Task = Literal["detect", "segment", "pose", "obb"]
"""What the lines hold, as Ultralytics names it: boxes, polygons, boxes with keypoints, or oriented boxes."""

MOST_OUTSIDE = 0.01
"""The fraction of an image by which a box may reach out of it, to be cut: Ultralytics takes numbers up to 1.01."""

MOST_OF_A_FRACTION = 2.0
"""The largest centre or size of a detection in fractions. Detectors that do not cut their boxes write numbers a little
above 1; of a box in pixels, hardly ever are all four numbers as small as this."""

FRACTIONS = "expected a box whose centre and size are each a fraction of the image, at most 2"
"""What a message says about a detection in pixels."""

_ROUNDED = 1e-5
"""The fraction that is no more than rounding, as numbers of six digits have it: nothing is said about it."""

_DECIMALS = 7
_EPSILONS = 4 * 2.0**-52
"""A coordinate within this fraction of the side of the image of a number with at most seven digits behind the point is
that number. Fractions of six digits times a whole side have no more digits, and pixels of other formats have fewer. So
these come back exactly, while products of doubles are off by their last bits, and some IoUs fall below a threshold."""

_RECTANGLE = 2e-3
"""How far four corners may be from a rectangle, as a fraction of the diagonal: numbers of six digits are rounded."""

_TEXT = {
    "detect": "class cx cy w h",
    "segment": "class cx cy w h, or class and at least 3 points x y",
    "pose": "class cx cy w h and {points} keypoints of {numbers} numbers",
    "obb": "class x1 y1 x2 y2 x3 y3 x4 y4",
}


class Rows(NamedTuple):
    """The valid lines of all files, in order."""

    task: Task
    files: Ints
    """(N,) the position of the file of each line."""
    classes: Ints
    """(N,) the class of each line, from 0 on."""
    corners: Floats
    """(N, 4) x1, y1, x2, y2 of the box, or of the box around the points, in fractions of the image."""
    sides: Floats
    """(N, 2) width and height, in fractions of the image."""
    scores: Floats | None
    """(N,) of detections."""
    points: Floats
    """(K, 2) the points of all polygons and oriented boxes, in fractions of the image; no points for other tasks."""
    ends: Ints
    """(N,) where the points of each line end; a line with a box alone has none."""
    keypoints: Floats | None
    """(N, P, 3) x and y in fractions of the image, and visibility or score."""
    notes: tuple[str, ...]


class _Lines(NamedTuple):
    """Lines of numbers, as the core reads them."""

    paths: Sequence[str]
    files: Ints
    lines: Ints
    numbers: Floats
    starts: Ints
    counts: Ints

    def table(self, rows: npt.NDArray[Any], first: int, count: int) -> Floats:
        """(R, count) numbers of some rows, from the position `first` of each line on."""
        return np.asarray(self.numbers[(self.starts[rows] + first)[:, None] + np.arange(count)])

    def where(self, row: int) -> str:
        return f"{self.paths[self.files[row]]}: line {self.lines[row]}: "

    def text(self, row: int) -> str:
        """A line as it is in its file."""
        content = Path(self.paths[self.files[row]]).read_bytes().decode("utf-8-sig", "replace")
        lines = content.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return lines[int(self.lines[row]) - 1]


def with_score(line: str) -> str:
    """What to say about a line of ground truth that is a detection: no other line has 6 numbers."""
    return "; 6 numbers are a detection with its score: are the two swapped?" if len(line.split()) == 6 else ""


def _bad_line(line: str, expected: str, *, scores: bool) -> str:
    return f"expected {expected}, got {shortened(repr(line))}{'' if scores else with_score(line)}"


def read_rows(
    paths: Sequence[str],
    problems: Problems,
    *,
    classes: int | None,
    scores: bool,
    unknown: Mapping[int, str] | None = None,
    task: Task | None = None,
    likely: Task | None = None,
    keypoints: tuple[int, int] | None = None,
    clip: bool = False,
    threads: int | None = None,
) -> Rows:
    """Read the text files of a data set or of detections.

    Args:
        paths: A file for each image. A file that is missing has no lines.
        problems: Takes the kinds ``bad line``, ``label out of range`` and ``box outside``. It counts as ``background``
            files of ground truth without lines.
        classes: How many classes there are; any number if ``None``.
        scores: Whether the lines are detections, which end with a score.
        unknown: Numbers of classes that are no good, and what a message says about each.
        task: What the lines hold; found by their lengths if ``None``.
        likely: What lines of detections hold if all their lengths allow it: ``obb`` or ``pose``.
        keypoints: How many keypoints there are, and of how many numbers each; found by the lengths if ``None``.
        clip: Whether boxes of ground truth may reach out of the image by any length.
        threads: How many threads read; all cores if ``None``.

    Raises:
        DatasetError: If there is a problem that is not counted.
        OSError: If a file cannot be read.
    """
    if task is not None:
        check_choice("task", task, get_args(Task))
    raw = _core.read_number_lines(list(paths), False, check_threads(threads))
    starts = np.concatenate([np.zeros(1, np.int64), raw["ends"][:-1]]) if len(raw["ends"]) else raw["ends"]
    lines = _Lines(paths, raw["files"], raw["lines"], raw["numbers"], starts, raw["ends"] - starts)
    lacking = _without_score(lines, task) if scores else 0
    scored = scores and not 0 < lacking == len(lines.counts)
    counts = lines.counts - int(scored)  # the score is the last number
    found, notes = _task(counts, task, likely, keypoints, paths, scores=scores)
    shape = _keypoint_shape(counts, keypoints) if found == "pose" else (0, 0)
    expected = _expected(found, shape, len(counts), lacking, scores=scores)
    good = _good_counts(found, counts, shape)
    checks: list[tuple[str, Flags, Any]] = [
        ("bad line", ~good, lambda row: _bad_line(lines.text(row), expected, scores=scores))
    ]
    labels = np.full(len(counts), -1.0)
    labels[good] = lines.numbers[lines.starts[good]]
    highest = 2**31 if classes is None else classes
    of_class = (labels >= 0) & (labels < highest) & (labels == np.floor(labels))
    known = "0, 1, 2, ..." if classes is None else f"0 to {classes - 1}" if classes else "none"

    def other_class(row: int) -> str:
        return f"class {shortened(lines.text(row).split()[0])} is not one of {known}"

    checks.append(("label out of range", good & ~of_class, other_class))
    good &= of_class
    if unknown:
        bad = good & np.isin(labels, list(unknown))
        checks.append(("unknown class", bad, lambda row, of=unknown: of[int(labels[row])]))
        good &= ~bad
    with_points = good & (counts > 5) if found in ("segment", "obb") else np.zeros(len(good), np.bool_)
    corners, sides = _boxes(lines, good, with_points, counts)
    if scores:
        negative = good & ~(sides >= 0).all(axis=1)
        checks.append(("bad line", negative, lambda row: _negative(lines.text(row))))
        pixels = good & ~negative & in_pixels_already(corners, ~with_points)
        checks.append(("box in pixels", pixels, lambda row: f"{FRACTIONS}, got {_numbers(lines.text(row))}"))
        bad = negative | pixels
    else:
        beyond = np.maximum(-corners, corners - 1).max(axis=1, initial=0)
        beside = (corners[:, :2] >= 1) | (corners[:, 2:] <= 0)
        apart = np.asarray((beside | (sides <= 0)).any(axis=1))
        bad = good & (apart | ((beyond > MOST_OUTSIDE) & (not clip)))
        checks.append(("box outside", bad, lambda row: _outside(lines.text(row), apart=bool(apart[row]))))
        cut = int((good & ~bad & (beyond > _ROUNDED)).sum())
        problems.note("box that reaches out of its image: cut at the edges", cut)
    good &= ~bad
    _meet(lines, checks, raw["problems"], problems)
    if not scores:
        _count_background(paths, raw["states"], problems)
    rows = np.flatnonzero(good)
    return Rows(
        found,
        lines.files[rows],
        labels[rows].astype(np.int64),
        corners[rows],
        sides[rows],
        lines.numbers[lines.starts[rows] + lines.counts[rows] - 1] if scored else None,
        *_points(lines, rows, with_points, counts),
        _keypoints(lines, rows, shape) if found == "pose" else None,
        notes,
    )


def _without_score(lines: _Lines, task: Task | None) -> int:
    """How many lines of detections have a box, and no score behind it: ``class cx cy w h``."""
    return int((lines.counts == 5).sum()) if task in (None, "detect") else 0


def _expected(task: Task, shape: tuple[int, int], count: int, lacking: int, *, scores: bool) -> str:
    """What a line was expected to hold. Some lines of boxes with scores may lack theirs."""
    if not scores or task != "detect":
        return _TEXT[task].format(points=shape[0], numbers=shape[1]) + (" and score" if scores else "")
    some = f", as {count - lacking:,} of {count:,} lines have" if lacking else ""
    return f"class cx cy w h score (Ultralytics writes scores with save_conf=True){some}"


def _task(
    counts: Ints,
    task: Task | None,
    likely: Task | None,
    keypoints: tuple[int, int] | None,
    paths: Sequence[str],
    *,
    scores: bool,
) -> tuple[Task, tuple[str, ...]]:
    """What the lines hold, and a note if that was a guess; `counts` are the numbers of each line but for a score."""
    if task is not None:
        return task, ()
    if keypoints is not None:
        return "pose", ()
    longer = (counts >= 7) & (counts % 2 == 1)
    if likely == "pose" and len(counts) and counts[0] > 6 and (counts == counts[0]).all():
        return "pose", ()
    if len(counts) and (counts == 9).all() and (likely == "obb" or not scores):
        note = "every line has 4 points, read as oriented boxes; task='segment' reads polygons"
        return "obb", () if scores else (f"{Path(paths[0]).parent}: {note}",)
    return ("segment" if longer.any() else "detect"), ()


def _keypoint_shape(counts: Ints, given: tuple[int, int] | None) -> tuple[int, int]:
    """How many keypoints the lines have, and of how many numbers each; of 3 numbers if both are possible."""
    if given is not None:
        return given
    rest = int(counts[0]) - 5 if len(counts) else 0
    numbers = 3 if rest % 3 == 0 else 2
    return max(rest // numbers, 1), numbers


def _good_counts(task: Task, counts: Ints, shape: tuple[int, int]) -> Flags:
    """Which lines have as many numbers as they should."""
    if task == "segment":
        return np.asarray((counts == 5) | ((counts >= 7) & (counts % 2 == 1)))
    return np.asarray(counts == {"detect": 5, "obb": 9, "pose": 5 + shape[0] * shape[1]}[task])


def _boxes(lines: _Lines, good: Flags, with_points: Flags, counts: Ints) -> tuple[Floats, Floats]:
    """(L, 4) corners and (L, 2) sides of the good lines; NaN for the others."""
    corners = np.full((len(counts), 4), np.nan)
    sides = np.full((len(counts), 2), np.nan)
    plain = np.flatnonzero(good & ~with_points)
    values = lines.table(plain, 1, 4)
    half = values[:, 2:] / 2
    corners[plain] = np.hstack([values[:, :2] - half, values[:, :2] + half])
    sides[plain] = values[:, 2:]
    around = np.flatnonzero(with_points)
    if len(around):
        points, ends = _points(lines, around, with_points, counts)
        starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
        lowest, highest = np.minimum.reduceat(points, starts), np.maximum.reduceat(points, starts)
        corners[around] = np.hstack([lowest, highest])
        sides[around] = highest - lowest
    return corners, sides


def _points(lines: _Lines, rows: npt.NDArray[np.intp], with_points: Flags, counts: Ints) -> tuple[Floats, Ints]:
    """The points of some rows, and where those of each row end."""
    number = np.where(with_points[rows], counts[rows] - 1, 0)  # x and y of each point
    ends = np.cumsum(number)
    if not len(rows) or not ends[-1]:
        return np.zeros((0, 2)), np.zeros(len(rows), np.int64)
    within = np.arange(ends[-1]) - np.repeat(ends - number, number)
    return lines.numbers[np.repeat(lines.starts[rows] + 1, number) + within].reshape(-1, 2), ends // 2


def _keypoints(lines: _Lines, rows: npt.NDArray[np.intp], shape: tuple[int, int]) -> Floats:
    values = lines.table(rows, 5, shape[0] * shape[1]).reshape(len(rows), *shape)
    if shape[1] == 3:
        return values
    # As in Ultralytics: a point with a negative coordinate is not labelled, every other one is visible.
    return np.dstack([values, np.where((values < 0).any(axis=2), 0.0, 2.0)])


def _meet(lines: _Lines, checks: list[tuple[str, Flags, Any]], unread: tuple[int, Any], problems: Problems) -> None:
    """Meet all problems by kind, and that of the first line first."""
    met: list[tuple[tuple[int, int], str, str, int]] = []
    if unread[0]:
        file, line, message = unread[1]
        met.append(((file, line), "bad line", f"{lines.paths[file]}: {message}", unread[0]))
    for kind, wrong, message_of in checks:
        rows = np.flatnonzero(wrong)
        if len(rows):
            row = int(rows[0])
            place = (int(lines.files[row]), int(lines.lines[row]))
            met.append((place, kind, lines.where(row) + message_of(row), len(rows)))
    for _, kind, message, times in sorted(met):
        problems.meet(kind, message, times)


def _count_background(paths: Sequence[str], states: npt.NDArray[np.uint8], problems: Problems) -> None:
    missing, text = 0, 2
    empty = np.flatnonzero(states != text)
    if len(empty):
        path = paths[empty[0]]
        message = f"there is no {path}" if states[empty[0]] == missing else f"{path} names no object"
        problems.count("background", message, len(empty))


def _negative(text: str) -> str:
    return f"expected a width and a height of at least 0, got {shortened(str(text.split()[3:5]))}"


def _numbers(text: str) -> str:
    """The numbers of a line of detections between class and score."""
    return shortened(str(text.split()[1:-1]))


def _outside(text: str, *, apart: bool) -> str:
    why = "has no area in the image" if apart else "reaches out of the image by more than 1 % of it"
    hint = "" if apart else " (clip=True, or --option clip=true, cuts such boxes)"
    return f"box {shortened(str(text.split()[1:]))} {why}{hint}"


def in_pixels_already(corners: Floats, plain: Flags) -> Flags:
    """Whether boxes of detections are too far out to be fractions of the image.

    Args:
        corners: (N, 4) of boxes, or of those around points.
        plain: (N,) whether a line has the box itself. Points of a box on its side may lie outside, but not its middle.
    """
    centres, sides = (corners[:, :2] + corners[:, 2:]) / 2, corners[:, 2:] - corners[:, :2]
    limit = MOST_OF_A_FRACTION + 1e-9  # a number that is good in the file must not fail for the rounding of the corners
    return np.asarray((centres > limit).any(axis=1) | (plain & (sides > limit).any(axis=1)))


def in_pixels(fractions: Floats, sizes: Floats) -> Floats:
    """Fractions of images in pixels, see `_EPSILONS`; of negative zeros, zeros."""
    return without_rounding(fractions * sizes, sizes)


def without_rounding(pixels: Floats, sizes: Floats) -> Floats:
    """Pixels whose last bits come from fractions, as the short numbers that they stand for."""
    short = pixels.round(_DECIMALS) + 0.0
    return np.where(np.abs(short - pixels) <= _EPSILONS * sizes, short, pixels)


def boxes_in_image(corners: Floats, sizes: Floats) -> Floats:
    """(N, 4) ``[x, y, width, height]`` in pixels of corners in fractions, cut at the edges of the images."""
    pixels = in_pixels(corners.clip(0, 1), np.tile(sizes, 2))
    return np.hstack([pixels[:, :2], without_rounding(pixels[:, 2:] - pixels[:, :2], sizes)])


def region_arguments(rows: Rows, sizes: Floats, source: str) -> dict[str, Any]:
    """The regions of rows in pixels, as arguments of ``from_arrays``.

    Args:
        rows: The rows.
        sizes: (N, 2) width and height of the image of each row.
        source: The name of the data, for messages.
    """
    if rows.keypoints is not None:
        points = rows.keypoints.copy()
        points[..., :2] = in_pixels(points[..., :2], sizes[:, None])
        return {"keypoints": points}
    counts = np.diff(rows.ends, prepend=0)
    if not counts.any():
        return {}
    points = in_pixels(rows.points, np.repeat(sizes, counts, axis=0))
    if rows.task == "obb":
        return {"regions": _oriented(points.reshape(-1, 4, 2), source)}
    flat, ends = points.ravel().tolist(), (2 * rows.ends).tolist()
    starts = [0, *ends[:-1]]
    return {
        "segmentations": [[flat[start:end]] if end > start else None for start, end in zip(starts, ends, strict=True)]
    }


def _oriented(corners: Floats, source: str) -> Any:
    """The rectangles with four corners each; the smallest ones around the corners where these are no rectangle."""
    from ioukit.regions.polygons import Polygons  # noqa: PLC0415 - boxes alone need no regions
    from ioukit.regions.rotated import RotatedBoxes  # noqa: PLC0415 - as above

    first, second, third, fourth = np.moveaxis(corners, 1, 0)
    # The diagonals of a rectangle have one middle and one length.
    apart = np.hypot(*(first + third - second - fourth).T)
    lengths = np.hypot(*(third - first).T), np.hypot(*(fourth - second).T)
    limit = _RECTANGLE * np.maximum(*lengths)
    boxes = RotatedBoxes.from_corners(corners, unit="radians", sense="clockwise", tolerance=np.inf).numpy().copy()
    others = np.flatnonzero((apart > limit) | (np.abs(lengths[0] - lengths[1]) > limit))
    if len(others):
        try:
            ends = 4 * np.arange(len(others) + 1)
            around = Polygons.from_ragged(corners[others].reshape(-1, 2), ends).min_area_boxes()
        except ValueError as error:
            raise DatasetError(f"{source}: expected four corners of oriented boxes, found others: {error}") from None
        boxes[others] = around.numpy()
    return RotatedBoxes(boxes, unit="radians", sense="clockwise")
