"""KITTI's label folders: a text file of objects per image, or per sequence, with boxes in the image and in space.

Lines of tracking have two fields in front of the others, the frame and the track. The first line of a folder says which
of both it has.
"""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit.datasets.columns._checks import OnInvalid
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.image_names import ImageFinder, note_on_sequence
from ioukit.datasets.formats.known_names import ClassIds, required
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.recognising import first_lines, first_words
from ioukit.datasets.formats.text_files import (
    abbreviate,
    check_inner_file,
    files_in,
    is_number,
    names_of,
    read_lines,
    refuse,
    shorter,
    to_number,
    words_of_lines,
)
from ioukit.datasets.formats.written_names import class_words
from ioukit.datasets.formats.written_rows import write_image_texts
from ioukit.regions.boxes3d import Boxes3D

KITTI_NAMES = ("Car", "Van", "Truck", "Pedestrian", "Person_sitting", "Cyclist", "Tram", "Misc", "DontCare")
"""The names of KITTI's types of objects, in the order of their ids, which are 1 to 9."""

_UNKNOWN = {"truncated": 0.0, "occluded": 0.0, "alpha": -10.0}
"""What is written for an object where a data set does not say it: it is fully visible."""
_DONT_CARE = "DontCare"
_LABEL_FIELDS = 15
_TRACKING = ("frame", "track_id")
"""The fields that lines of tracking have in front."""
_NO_TRACK = -1
_MOST_FRAMES = 1_000_000
_LENGTHS = "evaluate_tracking.seqmap*"
"""The files with the numbers of frames, beside the folder of the labels; the development kit has them."""
_PERSON = {"person": "Person_sitting"}
"""The word that files of tracking have for a type."""
_NO_BOX = (-1.0, -1.0, -1.0, -1000.0, -1000.0, -1000.0, -10.0)
"""Sizes, place and angle where there is no box in space, as the development kit writes them."""
_NUMBERS = (
    *("truncated", "occluded", "alpha", "left", "top", "right", "bottom"),
    *("height", "width", "length", "x", "y", "z", "rotation_y", "score"),
)


def recognises(path: Path) -> bool:
    """Whether the path is a folder with text files, the first line of which is one of KITTI's; or one around it.

    A file counts alone if it is one of tracking.
    """
    words = first_words(_label_folder(path))
    return _is_tracking(path) or (len(words) in (_LABEL_FIELDS, _LABEL_FIELDS + 1) and not is_number(words[0]))


def read_kitti(
    path: str | os.PathLike[str],
    *,
    names: Sequence[str] = KITTI_NAMES,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; text files are read one by one
) -> GroundTruth:
    """Read a folder of KITTI's labels, such as ``training/label_2``.

    Each image has a text file. Its lines are ``type truncated occluded alpha left top right bottom height width length
    x y z rotation_y``: the box in the image in pixels, the sizes and the place of the box in space in metres. The place
    is the centre of the bottom face in the camera's coordinates: x to the right, y down, z forward.

    The ids of the images are the names of the files without ``.txt``, as strings. Boxes in space become ``Boxes3D``
    with the axes x to the right, y forward and z up; an object without one gets a box of size 0. The objects have the
    attributes ``truncated``, ``occluded`` and ``alpha``. Areas of the type ``DontCare`` have the flags ``dont_care``
    and ``crowd``, so that other protocols do not look for them.

    Files of KITTI's tracking, such as those in ``training/label_02``, are one per sequence, and their lines have the
    frame, from 0 on, and the track in front. The id of an image is then the sequence and the frame with six digits:
    ``0000/000012``. The frames are those from 0 to the last one with a line, or as many as
    ``evaluate_tracking.seqmap.training`` beside the folder says. Objects have the attribute ``track_id``; areas of the
    type ``DontCare`` have the track -1, which is none. ``Person`` is the type ``Person_sitting``.

    Args:
        path: The folder, or one with ``label_2``, ``label_02``, ``training/label_2`` or ``training/label_02`` in it; or
            a file of tracking.
        names: The types, in the order of their ids, from 1 on; or the path of a file with a type per line. Upper and
            lower case are the same.
        on_invalid: ``"error"`` refuses a folder with an invalid line, ``"drop"`` leaves such lines out and counts them.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: Not used.

    Raises:
        DatasetError: If a line is invalid; names file, line and field, what was expected and what came.
        OSError: If a file cannot be read.
    """
    problems = Problems.of(on_invalid)
    names = names_of(names)
    is_tracking = _is_tracking(Path(path))
    files = _files(path, "labels", problems)
    lines = _Lines(names, problems, detections=False, tracking=is_tracking)
    lengths = sequence_lengths(path, _LENGTHS) if is_tracking else {}
    for at, file in enumerate(files):
        lines.read(file, at, frames=lengths.get(file.stem, _MOST_FRAMES))
    stems = [file.stem for file in files]
    positions, types, values, in_space = lines.columns()
    if is_tracking:
        counts = np.array([lengths.get(stem, 0) for stem in stems], np.int64)
        np.maximum.at(counts, positions, lines.frames + 1)
        positions = (np.cumsum(counts) - counts)[positions] + lines.frames
        numbered = zip(stems, counts.tolist(), strict=True)
        stems = [f"{stem}/{frame:06d}" for stem, count in numbered for frame in range(count)]
    dont_care = [names[place] == _DONT_CARE for place in types.tolist()]
    gt = GroundTruth.from_arrays(
        image_ids=np.array(stems or [""], np.str_)[positions],
        category_ids=types + 1,
        boxes=_pixels(values),
        areas=_pixels(values)[:, 2:].prod(axis=1),
        images=np.array(stems, np.str_),
        names=stems,
        categories=dict(enumerate(names, start=1)),
        # A crowd of a category without detections changes no number of another protocol.
        flags={"dont_care": dont_care, "crowd": dont_care},
        regions=_boxes_in_space(values, in_space),
        attributes={
            "truncated": values[:, 0],
            "occluded": values[:, 1].astype(np.int64),
            "alpha": values[:, 2],
            **({"track_id": lines.tracks} if is_tracking else {}),
        },
        source=os.fspath(path),
    )
    return problems.noted_in(gt)


def read_kitti_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - as above
) -> Detections:
    """Read a folder of results in KITTI's format: lines like those of :func:`read_kitti`, and a score at the end.

    ``truncated`` and ``occluded`` of results mean nothing and are not kept. Where there is no box in space, the sizes
    are -1 or the place is -1000, as the development kit has it. Results of tracking have the score 1 if no
    line has a score; a line without one among others with one is invalid.

    Args:
        path: The folder. A text file has the name of its image; an image without one has no detections. A text file of
            tracking has the name of its sequence; if the ground truth has one sequence, it may be any file.
        ground_truth: The data set: it knows the images and the names of the types.
        on_invalid: As for :func:`read_kitti`.
        threads: Not used.

    Raises:
        DatasetError: If a line is invalid, or there is no ``ground_truth``; names file, line and field, what was
            expected and what came.
        OSError: If a file cannot be read.
    """
    problems = Problems.of(on_invalid)
    ground_truth = required(ground_truth, path)
    labels = ground_truth.images.labels
    names = ["_".join(name.split()) for name in ground_truth.categories.names]
    classes = ClassIds(ground_truth, lambda name: "_".join(name.split()))
    is_tracking = _is_tracking(Path(path))
    lines = _Lines(names, problems, detections=True, tracking=is_tracking)
    files = _files(path, "detections", problems)
    note = (_read_sequences if is_tracking else _read_images)(path, files, lines, ground_truth)
    lines.leave_out_unscored()
    positions, types, values, in_space = lines.columns()
    dt = Detections.from_arrays(
        image_ids=labels[positions],
        category_ids=np.array([classes[names[at]] for at in types.tolist()], np.int64),
        boxes=_pixels(values),
        scores=values[:, 14],
        regions=_boxes_in_space(values, in_space),
        attributes={"alpha": values[:, 2], **({"track_id": lines.tracks} if is_tracking else {})},
        source=os.fspath(path),
    )
    return problems.noted_in(dataclasses.replace(dt, notes=(*dt.notes, *note)))


def _read_images(
    path: str | os.PathLike[str], files: Sequence[Path], lines: _Lines, ground_truth: GroundTruth
) -> list[str]:
    """Takes the lines of files that have the names of images; returns a note about images without one."""
    finder, count, seen = ImageFinder(ground_truth), len(ground_truth.images), set()
    for file in files:
        with lines.problems.record("unknown image"):
            at = finder.position(file.stem, str(file))
            seen.add(at)
            lines.read(file, at)
    if missing := count - len(seen):
        return [f"{path}: {missing:,} of {count:,} images have no file: they count as without detections"]
    return []


def _read_sequences(
    path: str | os.PathLike[str], files: Sequence[Path], lines: _Lines, ground_truth: GroundTruth
) -> list[str]:
    """Takes the lines of files that have the names of sequences; returns a note about sequences without one."""
    finder = ImageFinder(ground_truth)
    named = {str(label).rpartition("/")[0] for label in ground_truth.images.labels.tolist()}
    is_any = len(named) == 1 and (named == {""} or not Path(path).is_dir())
    for file in files:
        with lines.problems.record("unknown sequence"):
            name = next(iter(named)) if is_any else file.stem
            if name not in named:
                refuse(str(file), f"the name of a sequence of {ground_truth.source}", abbreviate(name))
            lines.problems.on_sequence = note_on_sequence(file.stem, name, ground_truth.source)
            lines.read(file, 0, sequence=name, finder=finder)
    missing = 0 if is_any else len(named - {file.stem for file in files})
    if missing:
        return [f"{path}: {missing:,} of {len(named):,} sequences have no file: they count as without detections"]
    return []


def write_kitti(gt: GroundTruth, path: Path) -> list[str]:
    """Write a folder of KITTI's labels, as :func:`read_kitti` reads them.

    The files have the names of the images, without folders and suffix, or their ids. Numbers are written with all of
    their digits. Where the attributes ``truncated``, ``occluded`` and ``alpha`` are not known, they are 0, 0 and -10.
    Spaces in the names of types become ``_``.

    Returns:
        What the files do not hold.

    Raises:
        DatasetError: If names of images or classes cannot be those of files and types.
    """
    words, notes = class_words(gt.categories, gt.source)
    types = [words[number] for number in gt.category_ids.tolist()]
    attributes = {name: _numbers_of(gt, name) for name in _UNKNOWN}
    dont_care = np.array([name == _DONT_CARE for name in types], np.bool_)
    named = {name for name in ("dont_care", "crowd") if np.array_equal(gt.flag(name), dont_care)}
    theirs = all(KITTI_NAMES[at - 1 : at] == (name,) for at, name in words.items())
    holds = Holds(
        regions=frozenset({"Boxes3D"}),
        flags=frozenset({*named, "truncated", "occluded"}),
        attributes=frozenset(name for name, column in attributes.items() if column is not None),
        image_sizes=False,
        category_ids=theirs,
        unused_categories=theirs,
    )
    notes = [*left_out_columns(gt, holds), *notes]
    if len(gt) and (missing := [name for name in ("truncated", "occluded") if attributes[name] is None]):
        notes.append(f"{' and '.join(missing)} of {len(gt):,} objects are not known: they are written as 0")
    if others := len(set(words.values()) - set(KITTI_NAMES)):
        notes.append(f"{others:,} classes are not KITTI's: read the files with names=[...]")
    values = np.full((len(gt), 3), list(_UNKNOWN.values()))
    values[dont_care, :2] = -1
    for at, column in enumerate(attributes.values()):
        if column is not None:
            values[:, at] = np.where(np.isnan(column), values[:, at], column)
    lines = _spelled_lines(types, np.hstack([values, _geometry(gt)]))
    return [*notes, *write_image_texts(path, gt, gt, lines)]


def write_kitti_detections(dt: Detections, path: Path, *, ground_truth: GroundTruth | None = None) -> list[str]:
    """Write a folder of results in KITTI's format, as :func:`read_kitti_detections` reads them.

    Every image of the ground truth gets a file. ``truncated`` and ``occluded`` are -1.

    Returns:
        What the files do not hold.

    Raises:
        DatasetError: If there is no ``ground_truth``, which has the names of images and classes.
    """
    ground_truth = required(ground_truth, dt.source)
    words, notes = class_words(ground_truth.categories, ground_truth.source)
    types = [words[number] for number in dt.category_ids.tolist()]
    alpha = _numbers_of(dt, "alpha")
    known = frozenset() if alpha is None else frozenset({"alpha"})
    first = np.full((len(dt), 3), [-1.0, -1.0, _UNKNOWN["alpha"]])
    if alpha is not None:
        first[:, 2] = np.where(np.isnan(alpha), first[:, 2], alpha)
    values = np.hstack([first, _geometry(dt), dt.scores[:, None]])
    names = write_image_texts(path, dt, ground_truth, _spelled_lines(types, values))
    return [*left_out_columns(dt, Holds(regions=frozenset({"Boxes3D"}), attributes=known)), *notes, *names]


def _numbers_of(data: GroundTruth | Detections, name: str) -> npt.NDArray[np.float64] | None:
    """(N,) an attribute, or a flag as 0 and 1; NaN where it is no good; ``None`` if there is none of numbers."""
    column: Any = data.attributes.get(name)
    if column is None and isinstance(data, GroundTruth):
        column = data.flags.get(name)
    if column is None or column.ndim != 1 or column.dtype.kind not in "iufb":
        return None
    values = column.astype(np.float64)
    good = np.isfinite(values) & ((name != "occluded") | (values == np.trunc(values)))
    return np.where(good, values, np.nan)


def _geometry(data: GroundTruth | Detections) -> npt.NDArray[np.float64]:
    """(N, 11) the corners in the image, and the box in space."""
    boxes = data.boxes
    space = data.regions.get("Boxes3D")
    in_space = np.full((len(data), 7), _NO_BOX) if space is None else _space_of_boxes(space)
    return np.hstack([boxes[:, :2], boxes[:, :2] + boxes[:, 2:], in_space])


def _spelled_lines(types: Sequence[str], values: npt.NDArray[np.float64]) -> list[str]:
    """(N,) a type and its numbers; whole ones without a point."""
    return [" ".join([name, *map(shorter, row)]) for name, row in zip(types, values.tolist(), strict=True)]


def _label_folder(path: Path) -> Path:
    """The folder with the text files: KITTI's is ``training/label_2``, beside the images in ``image_2``.

    That of tracking is ``label_02``.
    """
    inner = [around / name for around in (path, path / "training") for name in ("label_2", "label_02")]
    return next((folder for folder in inner if folder.is_dir() and not folder.is_symlink()), path)


def _is_tracking(path: Path) -> bool:
    """Whether a file, or a folder of files, has the lines of KITTI's tracking."""
    try:
        words = first_lines(path)[0] if path.is_file() else first_words(_label_folder(path))
    except (OSError, ValueError, IndexError):
        return False
    several = (_LABEL_FIELDS + len(_TRACKING), _LABEL_FIELDS + len(_TRACKING) + 1)
    return len(words) in several and is_number(words[0]) and is_number(words[1]) and not is_number(words[2])


def sequence_lengths(path: str | os.PathLike[str], pattern: str) -> dict[str, int]:
    """The last field of each sequence in the files of a development kit that lie beside the folder, if any do."""
    folder = _label_folder(Path(path))
    folder = folder if folder.is_dir() else folder.parent
    found: dict[str, int] = {}
    for file in sorted({*folder.glob(pattern), *folder.absolute().parent.glob(pattern)}):
        check_inner_file(file.parent, file)
        for where, words in words_of_lines(read_lines(file), file):
            if len(words) != 4:
                refuse(where, "4 fields: sequence, empty, first frame, number of frames", str(len(words)))
            most = to_number(words[3], f"{where}: number of frames", lowest=0, highest=_MOST_FRAMES, whole=True)
            found[words[0]] = int(most)
    return found


def _files(path: str | os.PathLike[str], what: str, problems: Problems) -> list[Path]:
    if _is_tracking(Path(path)) and Path(path).is_file():
        return [Path(path)]
    return files_in(_label_folder(Path(path)), "*.txt", f"a folder of text files with {what}", problems)


class _Line(NamedTuple):
    """A valid line."""

    image: int
    """The position of the image; of labels of tracking, that of the sequence."""
    place: int
    """The position of the type among the names."""
    values: list[float]
    """Its numbers."""
    in_space: bool
    """Whether it has a box in space."""
    frame: int
    """The number of the frame, and the track, in files of tracking."""
    track: int


class _Lines:
    """The valid lines of all files."""

    def __init__(self, names: Sequence[str], problems: Problems, *, detections: bool, tracking: bool) -> None:
        """Take the names of the types; lines of detections have a score at the end, those of tracking more in front."""
        self.places = {name: at for at, name in enumerate(names)}
        lower = Counter(map(str.lower, names))
        self.lower = {name.lower(): at for at, name in enumerate(names) if lower[name.lower()] == 1}
        if tracking:
            self.lower |= {word: self.places[name] for word, name in _PERSON.items() if name in self.places}
        self.names = tuple(names)
        self.tracking = tracking
        self.problems = problems
        self.numbers = _NUMBERS if detections else _NUMBERS[:-1]
        self.found: list[_Line] = []
        self.unscored: dict[int, str] = {}
        """The places of lines of tracking without a score, by their positions among those that were found."""

    def read(
        self,
        path: Path,
        image: int,
        *,
        frames: int = _MOST_FRAMES,
        sequence: str = "",
        finder: ImageFinder | None = None,
    ) -> None:
        """Take the lines of the file of an image, or of a sequence of so many frames, which the finder knows."""
        with self.problems.record("bad file"):
            for where, words in words_of_lines(read_lines(path), path):
                with self.problems.record("bad line"):
                    line = self._line(words, where, image, frames)
                    if finder is not None:
                        name = f"{sequence}/{line.frame:06d}" if sequence else f"{line.frame:06d}"
                        line = line._replace(image=finder.position(name, f"{where}: frame"))
                    if self.tracking and self._lacks_a_score(words):
                        self.unscored[len(self.found)] = where
                    self.found.append(line)

    def _lacks_a_score(self, words: Sequence[str]) -> bool:
        """Whether the words are those of a result of tracking without a score, which the development kit reads, too."""
        return len(self.numbers) == len(_NUMBERS) and len(words) == len(_TRACKING) + _LABEL_FIELDS

    def leave_out_unscored(self) -> None:
        """Meet the lines without a score, if others have one."""
        if self.problems.meet_unscored(list(self.unscored.values()), len(self.found)):
            self.found = [line for at, line in enumerate(self.found) if at not in self.unscored]

    @property
    def frames(self) -> npt.NDArray[np.int64]:
        """(N,) the numbers of the frames."""
        return np.array([line.frame for line in self.found], np.int64)

    @property
    def tracks(self) -> npt.NDArray[np.int64]:
        """(N,) the tracks; -1 is none."""
        return np.array([line.track for line in self.found], np.int64)

    def columns(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64], list[bool]]:
        """The positions of images and types, (N, 14) or (N, 15) numbers, and whether there is a box in space."""
        places = np.array([line[:2] for line in self.found], np.int64).reshape(-1, 2)
        values = np.array([line.values for line in self.found], np.float64).reshape(-1, len(self.numbers))
        return places[:, 0], places[:, 1], values, [line.in_space for line in self.found]

    def _line(self, words: Sequence[str], where: str, image: int, frames: int) -> _Line:
        front = len(_TRACKING) if self.tracking else 0
        expected = front + 1 + len(self.numbers)
        if self.tracking and self._lacks_a_score(words):
            words = [*words, "1"]
        if len(words) != expected:
            hints = {
                _LABEL_FIELDS + front + 1: ": labels have no score, results have one",
                _LABEL_FIELDS + front: ": results need a score as the last field",
            }
            refuse(where, f"{expected} fields", f"{len(words)}{hints.get(len(words), '')}")
        frame, track = 0, _NO_TRACK
        if self.tracking:
            frame = int(to_number(words[0], f"{where}: frame", lowest=0, highest=frames - 1, whole=True))
            track = int(to_number(words[1], f"{where}: track_id", lowest=_NO_TRACK, whole=True))
            words = words[front:]
        place = self.places.get(words[0], self.lower.get(words[0].lower()))
        if place is None:
            refuse(f"{where}: type", f"one of {', '.join(self.names)}", abbreviate(words[0]))
        values = [to_number(word, f"{where}: {name}") for name, word in zip(self.numbers, words[1:], strict=True)]
        for low in (3, 4):  # left and right, top and bottom
            if values[low + 2] < values[low]:
                first, last = self.numbers[low], self.numbers[low + 2]
                refuse(f"{where}: {last}", f"at least {first} ({values[low]:g})", f"{values[low + 2]:g}")
        if not values[1].is_integer():
            refuse(f"{where}: occluded", "a whole number", f"{values[1]:g}")
        sizes = tuple(values[7:10])
        without = sizes == _NO_BOX[:3] or _NO_BOX[3] in values[7:13] or self.names[place] == _DONT_CARE
        if not without and min(sizes) < 0:
            field, size = next(pair for pair in zip(self.numbers[7:10], sizes, strict=True) if pair[1] < 0)
            refuse(f"{where}: {field}", "a size of at least 0, or -1 -1 -1 for none", f"{size:g}")
        return _Line(image, place, values, not without, frame, track)


def _pixels(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(N, 4) ``[x, y, width, height]``: right minus left, without the 1 of inclusive pixels, as KITTI evaluates."""
    return np.hstack([values[:, 3:5], values[:, 5:7] - values[:, 3:5]])


def _boxes_in_space(values: npt.NDArray[np.float64], sizes: Sequence[bool]) -> Boxes3D | None:
    """The boxes in space, of size 0 where a line has none; ``None`` if no line has one.

    The axes are x to the right, y forward and z up. So rotation_y, which turns forward to the right where it is
    positive, is the yaw, clockwise as seen from above, with the same bits.
    """
    if not any(sizes):
        return None
    height, width, length, right, down, forward, turned = values[:, 7:14].T
    boxes = np.stack([right, forward, -down, length, width, height, turned], axis=1)
    boxes[~np.array(sizes, np.bool_)] = 0.0
    return Boxes3D(boxes, z="bottom", unit="radians", sense="clockwise")


def _space_of_boxes(boxes: Boxes3D) -> npt.NDArray[np.float64]:
    """(N, 7) height, width, length, x, y, z, rotation_y: the inverse; :data:`_NO_BOX` for boxes of size 0."""
    array = boxes.convert(z="bottom", unit="radians", sense="clockwise").numpy().astype(np.float64)
    right, forward, up, length, width, height, turned = array.T
    values = np.stack([height, width, length, right, -up, forward, turned], axis=1)
    values[(values[:, :3] == 0).all(axis=1)] = _NO_BOX
    return values
