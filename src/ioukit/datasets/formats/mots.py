"""MOTS text files: one per sequence of frames, with a mask of a tracked object per line.

MOTS Challenge and KITTI MOTS have the same lines, but other layouts, and they number frames from 1 and from 0.
"""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ioukit.datasets.columns._checks import OnInvalid
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.image_names import ImageFinder, note_on_sequence
from ioukit.datasets.formats.kitti import sequence_lengths
from ioukit.datasets.formats.known_names import required
from ioukit.datasets.formats.mot import sequence_info
from ioukit.datasets.formats.objects import UNKNOWN_SIZE
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.recognising import first_lines, first_words
from ioukit.datasets.formats.text_files import (
    FARTHEST,
    abbreviate,
    files_in,
    inside,
    is_number,
    read_lines,
    refuse,
    to_number,
    words_of_lines,
)
from ioukit.regions.masks import Masks

_IGNORED = 10
MOTS_NAMES: Mapping[int, str] = {1: "car", 2: "pedestrian", _IGNORED: "ignore"}
"""The names of the classes by their numbers. Objects of the last one are regions in which results do not count."""

_FIELDS = ("time_frame", "id", "class_id", "img_height", "img_width", "rle")
_FOLDERS = ("instances_txt", "label_02")  # of KITTI MOTS, in its own files and in TrackEval's
_LENGTHS = "evaluate_mots.seqmap*"
_OBJECTS = "gt/gt.txt"
_MOST_FRAMES = 1_000_000
_MOST_PIXELS = 2.0**31


def recognises(path: Path) -> bool:
    """Whether a path is a sequence, a folder of sequences, or a file whose first line is one of MOTS."""
    try:
        if path.is_dir():
            flat = next((path / name for name in _FOLDERS if (path / name).is_dir()), path)
            of_folders = (file for pattern in (_OBJECTS, f"*/{_OBJECTS}") for file in sorted(path.glob(pattern)))
            words = next((lines[0] for file in of_folders if (lines := first_lines(file))), None) or first_words(flat)
        else:
            words = next(iter(first_lines(path)), [])
    except OSError:
        return False
    return (
        len(words) == len(_FIELDS)
        and all(word.isascii() and word.isdecimal() for word in words[:-1])
        and not is_number(words[-1])
    )


def read_mots(
    path: str | os.PathLike[str],
    *,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; text files are read one by one
) -> GroundTruth:
    """Read the ground truth of MOTS Challenge or KITTI MOTS: masks of tracked cars and pedestrians.

    A line is ``time_frame id class_id img_height img_width rle``, with COCO's compressed run lengths at the end. The
    classes are :data:`MOTS_NAMES`: 1 is car, 2 is pedestrian, and 10 is a region in which results do not count; it has
    the flags ``ignore_region`` and ``crowd``. The masks are regions; boxes and areas are theirs. The attribute
    ``track_id`` is ``id``.

    A sequence of MOTS Challenge is a folder with ``gt/gt.txt``. Its frames are numbered from 1, and ``seqinfo.ini``
    says how many there are. One of KITTI MOTS is a text file with the name of the sequence. Its frames are numbered
    from 0, and ``evaluate_mots.seqmap.val`` beside the folder says the last one. Without these, the last frame is that
    of the last line. The id of an image is the number of its frame with six digits; with several files or folders, the
    name of the sequence stands before it: ``0002/000012``.

    Args:
        path: A sequence, or a folder of sequences. Those of KITTI MOTS may be in ``instances_txt`` or ``label_02``.
        on_invalid: ``"error"`` refuses a file with an invalid line, ``"drop"`` leaves such lines out and counts them.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: Not used.

    Raises:
        DatasetError: If a line is invalid, an id stands twice in a frame, a mask has another size than that of the
            sequence, or two masks of a frame overlap, of which at most one is of class 10; names file, line and field.
        OSError: If a file cannot be read.

    Reference: Voigtlaender et al., MOTS: Multi-Object Tracking and Segmentation, CVPR 2019, arXiv:1902.03604.
    """
    reader = _Reader(on_invalid)
    lengths = sequence_lengths(path, _LENGTHS)
    found: list[_Line] = []
    images: list[int] = []
    keys: list[str] = []
    names: list[str] = []
    sizes: list[tuple[float, float]] = []
    for one in _sequences(path, reader.problems):
        sequence = one._replace(last=lengths.get(one.file.stem, one.last))
        lines, size = reader.lines(sequence)
        first, last = sequence.first, sequence.last
        last = max((line.frame for line in lines), default=first - 1) if last is None else last
        numbers = [f"{frame:06d}" for frame in range(first, last + 1)]
        images += [len(keys) + line.frame - first for line in lines]
        keys += [f"{sequence.name}/{number}" if sequence.name else number for number in numbers]
        names += [sequence.pattern.replace("{}", number) for number in numbers]
        sizes += [size] * len(numbers)
        found += lines
    is_region = np.array([line.number == _IGNORED for line in found], np.bool_)
    gt = GroundTruth.from_arrays(
        image_ids=np.array(keys or [""], np.str_)[np.array(images, np.int64)],
        category_ids=np.array([line.number for line in found], np.int64),
        images=np.array(keys, np.str_),
        sizes=np.array(sizes, np.float64).reshape(-1, 2),
        names=names,
        categories=MOTS_NAMES,
        # A crowd of a category without detections changes no number of another protocol.
        flags={"ignore_region": is_region, "crowd": is_region},
        source=os.fspath(path),
        **reader.columns(found),
    )
    return reader.problems.noted_in(gt)


def read_mots_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - as above
) -> Detections:
    """Read results in the format of :func:`read_mots`: a text file per sequence. They have no scores.

    Args:
        path: A folder of text files with the names of the sequences, or a file. If the ground truth has one sequence,
            its file may have another name.
        ground_truth: The data set: it has the frames and the classes.
        on_invalid: As for :func:`read_mots`.
        threads: Not used.

    Raises:
        DatasetError: As for :func:`read_mots`, but no two masks of a frame may overlap; or if a frame is none of the
            ground truth, or there is no ``ground_truth``.
        OSError: If a file cannot be read.
    """
    gt = required(ground_truth, path, "frames and classes")
    reader, found = _Reader(on_invalid, gt), []
    names = {str(label).rpartition("/")[0] for label in gt.images.labels.tolist()}
    sequences = _sequences(path, reader.problems)
    for sequence in sequences:
        with reader.problems.record("unknown sequence"):
            is_only = len(names) == len(sequences) == 1
            theirs = sequence.name or sequence.file.stem
            name = next(iter(names)) if is_only else theirs
            reader.problems.on_sequence = note_on_sequence(theirs, name, gt.source)
            if name not in names:
                refuse(str(sequence.file), f"the name of a sequence of {gt.source}", abbreviate(name))
            found += reader.lines(_Sequence(name, sequence.file, 0))[0]
    ids = dict(zip(gt.categories.names, gt.categories.ids.tolist(), strict=True))
    dt = Detections.from_arrays(
        image_ids=gt.images.labels[np.array([line.image for line in found], np.int64)],
        category_ids=np.array([ids[MOTS_NAMES[line.number]] for line in found], np.int64),
        scores=None,
        source=os.fspath(path),
        **reader.columns(found),
    )
    return reader.problems.noted_in(dt)


class _Sequence(NamedTuple):
    """What there is about one sequence."""

    name: str
    """Empty if it is the only one."""
    file: Path
    first: int
    """The number of its first frame."""
    last: int | None = None
    """That of its last one; ``None`` if unknown."""
    size: tuple[float, float] = UNKNOWN_SIZE
    pattern: str = "{}"
    """The names of its images, with ``{}`` for the number of the frame."""


def _sequences(path: str | os.PathLike[str], problems: Problems) -> list[_Sequence]:
    root = Path(path)
    if not root.is_dir():
        return [_Sequence("", root, int(root.name == Path(_OBJECTS).name))]
    if (root / _OBJECTS).exists():
        return [_of_folder(root, "")]
    folders = [folder for folder in sorted(root.iterdir()) if (folder / _OBJECTS).exists()]
    if folders:
        return [_of_folder(inside(root, folder.name, str(root)), folder.name) for folder in folders]
    folder = next((root / name for name in _FOLDERS if (root / name).is_dir()), root)
    files = files_in(folder, "*.txt", "a folder of text files of sequences", problems)
    if not files:
        refuse(str(root), f"folders with {_OBJECTS}, or text files with the names of sequences", "no such file")
    return [_Sequence(file.stem, file, int(file.name == Path(_OBJECTS).name)) for file in files]


def _of_folder(folder: Path, name: str) -> _Sequence:
    count, size, pattern = sequence_info(folder)
    file = inside(folder, _OBJECTS, str(folder / _OBJECTS))
    return _Sequence(name, file, 1, count or None, size, f"{name}/{pattern}" if name else pattern)


class _Line(NamedTuple):
    """A valid line."""

    where: str
    frame: int
    track: int
    number: int
    """The number of its class."""
    row: int
    """That of its mask among those of the file."""
    size: tuple[int, int]
    """Height and width of the mask."""
    image: int
    """The position of its image in the ground truth; of objects, 0."""


class _Reader:
    """The valid lines of a side, and what happened to the others."""

    def __init__(self, on_invalid: OnInvalid, gt: GroundTruth | None = None) -> None:
        """Take the policy, and for results the ground truth."""
        self.problems = Problems.of(on_invalid)
        self.finder = None if gt is None else ImageFinder(gt)
        self.sizes: list[tuple[float, float]] = [] if gt is None else list(map(tuple, gt.images.sizes.tolist()))
        self.places: dict[str, int] = {}
        self.masks: list[Masks] = []
        self.known = [number for number, name in MOTS_NAMES.items() if gt is None or name in gt.categories.names]

    def lines(self, sequence: _Sequence) -> tuple[list[_Line], tuple[float, float]]:
        """The lines of the file of a sequence, and width and height: of its first line, if nothing else says them."""
        found: list[_Line] = []
        ids: set[tuple[int, int]] = set()
        size = sequence.size
        texts = list(words_of_lines(read_lines(sequence.file), sequence.file))
        masks, alone = _masks_of([words for _, words in texts]), list[Masks]()
        for row, (where, words) in enumerate(texts):
            with self.problems.record("bad line"):
                line = self._line(words, where, sequence, row if masks is not None else len(alone))
                if masks is None:
                    alone.append(_mask_of(words[-1], where, line.size))
                if self.finder is not None and not any(map(math.isnan, self.sizes[line.image])):
                    size = self.sizes[line.image]
                high, wide = line.size
                size = (wide, high) if math.isnan(size[0]) else size
                for field, expected, number in (("img_height", size[1], high), ("img_width", size[0], wide)):
                    if expected != number:
                        refuse(f"{where}, {field}", f"{expected:g} pixels, as in other frames", str(number))
                if not self._is_region(line):
                    if (line.frame, line.track) in ids:
                        refuse(f"{where}, id", f"each id once in frame {line.frame}", f"{line.track} again")
                    ids.add((line.frame, line.track))
                found.append(line)
        frames: dict[int, list[_Line]] = defaultdict(list)
        for line in found:
            frames[line.frame].append(line)
        masks = Masks.concat(alone) if masks is None else masks
        kept = [line for of_frame in frames.values() for line in self._apart(of_frame, masks)]
        self.masks.append(masks[np.array([line.row for line in kept], np.int64)])
        return kept, size

    def columns(self, lines: Sequence[_Line]) -> dict[str, Any]:
        """The arguments of ``from_arrays`` that both sides have."""
        tracks = np.array([line.track for line in lines], np.int64)
        return {"regions": Masks.concat(self.masks), "attributes": {"track_id": tracks}}

    def _is_region(self, line: _Line) -> bool:
        """Whether it is a region of the ground truth, which may overlap others."""
        return self.finder is None and line.number == _IGNORED

    def _apart(self, lines: list[_Line], masks: Masks) -> list[_Line]:
        """The lines of a frame whose masks overlap none before them."""
        regions = [line.row for line in lines if self._is_region(line)]
        every = masks[[line.row for line in lines if not self._is_region(line)]]
        every = Masks.concat([every, masks[regions].merge()]) if regions else every
        if every.merge().area[0] == every.area.sum():
            return lines
        kept: list[_Line] = []
        for line in lines:
            others = [one.row for one in kept if not (self._is_region(one) and self._is_region(line))]
            with self.problems.record("bad line"):
                if others and Masks.concat([masks[others].merge(), masks[[line.row]]]).merge(intersect=True).area[0]:
                    refuse(f"{line.where}, rle", f"a mask beside the others of frame {line.frame}", "an overlap")
                kept.append(line)
        return kept

    def _line(self, words: Sequence[str], where: str, sequence: _Sequence, row: int) -> _Line:
        if len(words) != len(_FIELDS):
            refuse(where, f"{len(_FIELDS)} fields: {' '.join(_FIELDS)}", str(len(words)))
        last = _MOST_FRAMES if sequence.last is None else sequence.last
        limits = ((sequence.first, last), (0, FARTHEST), (1, _IGNORED), (1, _MOST_PIXELS), (1, _MOST_PIXELS))
        joined = "".join(words[:-1])
        # Nearly all lines have digits alone, which Python reads several times as fast without asking more.
        numbers = list(map(int, words[:-1])) if joined.isascii() and joined.isdecimal() and len(joined) < 60 else None
        if numbers is None or not all(least <= one <= most for one, (least, most) in zip(numbers, limits, strict=True)):
            numbers = [
                int(to_number(word, f"{where}, {name}", lowest=least, highest=most, whole=True))
                for word, name, (least, most) in zip(words, _FIELDS, limits, strict=False)
            ]
        frame, track, category, high, wide = numbers
        if category not in self.known:
            listed = " or ".join(f"{number} ({MOTS_NAMES[number]})" for number in self.known)
            refuse(f"{where}, class_id", listed, str(category))
        image = 0
        if self.finder is not None:
            key = f"{sequence.name}/{frame:06d}" if sequence.name else f"{frame:06d}"
            if key not in self.places:
                self.places[key] = self.finder.position(key, f"{where}, time_frame")
            image = self.places[key]
        return _Line(where, frame, track, category, row, (high, wide), image)


def _masks_of(lines: Sequence[Sequence[str]]) -> Masks | None:
    """The masks of all lines of a file at once, which takes a fifth of the time; ``None`` if one may be invalid."""
    try:
        sizes = [[int(words[3]), int(words[4])] for words in lines]
        return Masks.from_rle([{"size": size, "counts": words[5]} for size, words in zip(sizes, lines, strict=True)])
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _mask_of(counts: str, where: str, size: tuple[int, int]) -> Masks:
    try:
        return Masks.from_rle([{"size": list(size), "counts": counts}])
    except ValueError as error:
        expected = f"compressed run lengths of {size[0]} x {size[1]} pixels"
        refuse(f"{where}, rle", expected, f"{abbreviate(counts)}: {str(error).partition(': ')[2]}")
