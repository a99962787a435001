"""MOTChallenge's text files: one per sequence of frames, with a box of a tracked object per line."""

from __future__ import annotations

import configparser
import itertools
import math
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np

from ioukit.datasets.columns._checks import OnInvalid
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.image_names import note_on_sequence
from ioukit.datasets.formats.known_names import ClassIds, required
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.datasets.formats.mot_columns import Lines, are_whole, first_seen, places_among, valid_lines
from ioukit.datasets.formats.objects import UNKNOWN_SIZE, Objects, to_size
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.recognising import first_lines, names_in
from ioukit.datasets.formats.text_files import (
    abbreviate,
    files_in,
    inside,
    is_name,
    is_number,
    names_of,
    read_lines,
    read_text,
    refuse,
    shorter,
    to_number,
    to_numbers,
)
from ioukit.datasets.formats.written_names import class_names
from ioukit.datasets.formats.written_rows import check_column, image_places
from ioukit.errors import DatasetError

MOT_NAMES = (
    *("pedestrian", "person on vehicle", "car", "bicycle", "motorbike", "non motorized vehicle", "static person"),
    *("distractor", "occluder", "occluder on the ground", "occluder full", "reflection", "crowd"),
)
"""The names of MOTChallenge's classes, in the order of their numbers, which are 1 to 13."""

_FIELDS = ("frame", "id", "bb_left", "bb_top", "bb_width", "bb_height", "conf", "class", "visibility")
_HEADS = (
    {"frame", "frame_id", "frame_number", "frameid", "frameno"},
    {"id", "track_id", "track", "tracker_id", "object_id", "trackid"},
    *({"left", "x", "x1", "xmin"}, {"top", "y", "y1", "ymin"}, {"width", "w"}, {"height", "h"}),
)
"""What the first six columns may be called, in lower case and without ``bb_``, ``bbox_`` or ``box_``."""
_WITH_PLACE = 10  # columns of a file whose last three are a place in the world, as in 2D MOT 2015
_MOST_FRAMES = 10_000_000
_VIDEO = "video_id"  # the attribute of images of COCO's and of Scalabel's videos
_FRAME_RATE = 30  # other tools refuse a sequence without a frame rate; a data set does not know it


def recognises(path: Path) -> bool:
    """Whether a path is a sequence or a folder of sequences: with ``gt/gt.txt`` or ``det/det.txt``; or such files.

    A first line with a mistake counts, too, so that the reader says what it is; but not between spaces, where lines of
    YOLO's files look alike.
    """
    columns = {5, 6, 7, 8, 9, _WITH_PLACE}
    try:
        file = path
        if path.is_dir():
            found = _first_of_sequence(path)
            children = sorted(child for child in path.iterdir() if child.is_dir() and child.name[0] != ".")
            # A folder with other data sets beside a sequence is none of MOTChallenge's.
            if found is None and children and all(map(_first_of_sequence, children)):
                found = _first_of_sequence(children[0])
            if found is not None:  # files of these names: the reader says what is wrong with them
                fields, is_separated = _first_row(found)
                return not first_lines(found) or is_separated or _is_row(fields)
            # Results, a file per sequence; with 8 columns, it could be VisDrone's.
            file = next((one for one in (path / name for name in names_in(path, "*.txt")) if first_lines(one)), path)
            columns -= {8}
        fields, is_separated = _first_row(file)
        if not is_separated:
            return _is_row(fields)
        return len(fields) in columns and is_number(fields[0]) and sum(map(is_number, fields)) >= len(fields) - 1
    except OSError:
        return False


def _first_row(file: Path) -> tuple[list[str], bool]:
    """The fields of the first line of numbers, and whether commas stand between them, or semicolons by mistake."""
    for words in first_lines(file)[:2]:
        line = " ".join(words)
        if len(words) == 1 and "," not in line:  # masks of MOTS have semicolons, too, behind spaces
            line = line.replace(";", ",")
        fields = _fields_of(line)
        if file.suffix.lower() != ".txt" or not _is_head(fields):
            return fields, "," in line
    return [""], False


def _fields_of(line: str) -> list[str]:
    """The fields of a line between commas, or else between spaces."""
    return [field.strip() for field in line.split("," if "," in line else None)]


def _is_head(fields: Sequence[str]) -> bool:
    """Whether a line names the columns, in whatever order."""
    return any(map(_is_frame_name, fields)) and not any(map(is_number, fields))


def _is_frame_name(field: str) -> bool:
    return field.lstrip("# ").lower().startswith("frame")


def _is_row(fields: Sequence[str]) -> bool:
    """Whether numbers are a line: a frame from 1 on, a track, a box of pixels; YOLO's files have fractions there.

    Six are a line without a score, of which the reader says what it lacks. Padilla's have a score with decimals there.
    """
    if (
        not 6 <= len(fields) <= _WITH_PLACE
        or not all(map(is_number, fields))
        or (len(fields) == 6 and "." in fields[1])
    ):
        return False
    frame, track, _, _, width, height = map(float, fields[:6])
    return frame.is_integer() and track.is_integer() and frame >= 1 and track >= -1 and min(width, height) > 1


def _first_of_sequence(folder: Path) -> Path | None:
    """The file of objects or of detections of a sequence."""
    files = (folder / kind / f"{kind}.txt" for kind in ("gt", "det"))
    return next((file for file in files if file.is_file()), None)


def read_mot(
    path: str | os.PathLike[str],
    *,
    names: Sequence[str] | None = None,
    first_pixel: int = 0,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,
) -> GroundTruth:
    """Read the ground truth of a sequence in MOTChallenge's format, or that of several sequences.

    A line of ``gt/gt.txt`` is ``frame, id, bb_left, bb_top, bb_width, bb_height, conf, class, visibility``. Frames are
    numbered from 1. Objects with a ``conf`` of 0 have the flag ``ignore``: MOTChallenge does not evaluate them. The
    attributes are ``track_id``, the number of the track, and ``visibility``, within [0, 1]. Files with 7 columns, or
    with 10, the last three of which are a place in the world (2D MOT 2015), have no class: all objects are pedestrians.

    Commas or white space separate the numbers, and a first line may name the columns in this order.

    The images are all frames of the sequence, by ``seqinfo.ini``, which also has their size and the names of the files;
    without it, those in the file. The id of an image is the number of its frame with six digits; with several
    sequences, the name of the sequence stands before it: ``MOT17-02-FRCNN/000001``.

    MOTChallenge says that the coordinates of pixels start at 1: the left column of pixels has ``bb_left`` 1. Most tools
    take the numbers as they are, and so does this reader. With ``first_pixel=1``, 1 is subtracted from ``bb_left`` and
    ``bb_top``: the boxes then fit images whose pixels start at 0. Overlaps do not change if all files are read alike.

    Args:
        path: A sequence: a folder with ``gt/gt.txt``; or a folder of such folders; or the text file itself.
        names: The names of the classes from 1 on, or the path of a file with a name per line. If ``None``, those in
            ``gt/labels.txt``, one per line, else :data:`MOT_NAMES`.
        first_pixel: The coordinate of the first pixel in the file, 0 or 1.
        on_invalid: ``"error"`` refuses a file with an invalid line, ``"drop"`` leaves such lines out and counts them.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: How many threads read the files; all cores if ``None``.

    Raises:
        ValueError: If ``first_pixel`` is neither 0 nor 1.
        DatasetError: If a line is invalid; names file, line and field, what was expected and what came.
        OSError: If a file cannot be read.

    Reference: Milan et al., MOT16: A Benchmark for Multi-Object Tracking, 2016, arXiv:1603.00831.
    """
    _check_first_pixel(first_pixel)
    objects = Objects(path, on_invalid)
    sequences = _sequences_in(path, "gt", objects.problems)
    classes, names_in = _classes(sequences, None if names is None else names_of(names))
    lines = valid_lines([sequence.file for sequence in sequences], threads)
    quick = (
        None if lines is None else _ground_truth(os.fspath(path), sequences, lines, (classes, names_in), first_pixel)
    )
    if quick is not None:
        return quick
    for sequence, listed in zip(sequences, names_in, strict=True):
        frames = {number: _image(objects, sequence, number) for number in range(1, sequence.frames + 1)}
        for where, words in _lines(sequence.file):
            with objects.record("bad line"):
                values = _values(where, words, least=7)
                frame = _frame(values[0], where, sequence.frames)
                category = 0 if len(words) in (7, _WITH_PLACE) else _class(values[7], where, len(listed))
                seen = values[8] if len(words) == len(_FIELDS) else math.nan
                box = _box(values, where, first_pixel)
                if frame not in frames:
                    frames[frame] = _image(objects, sequence, frame)
                flags, attributes = {"ignore": values[6] == 0}, {"track_id": values[1], "visibility": seen}
                objects.add(frames[frame], listed[category], box, flags=flags, attributes=attributes)
    return objects.ground_truth(classes)


def read_mot_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    category: str | None = None,
    first_pixel: int = 0,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,
) -> Detections:
    """Read detections in MOTChallenge's format: lines ``frame, id, bb_left, bb_top, bb_width, bb_height, conf``.

    Lines may have further columns. Of files with 8 or 9 columns, the eighth is the number of a class of the ground
    truth; -1 stands for none. Of files with 10, the last three are a place in the world, and are not looked at. The
    attribute ``track_id`` is the number of the track, or -1.

    Args:
        path: A sequence: a folder with ``det/det.txt``; or a folder of such folders; or a text file, or a folder of
            text files, each with the name of its sequence.
        ground_truth: The data set: it has the frames and the classes.
        category: The class of detections without a class. If ``None``, that of all objects of the ground truth, or
            ``pedestrian`` if they have several.
        first_pixel: As for :func:`read_mot`.
        on_invalid: As for :func:`read_mot`.
        threads: As for :func:`read_mot`.

    Raises:
        ValueError: If ``first_pixel`` is neither 0 nor 1.
        DatasetError: If a line is invalid, or there is no ``ground_truth``; names file, line and field, what was
            expected and what came.
        OSError: If a file cannot be read.
    """
    _check_first_pixel(first_pixel)
    ground_truth = required(ground_truth, path, "frames and classes")
    names, ids = ground_truth.categories.names, ground_truth.categories.ids.tolist()
    only_class = np.unique(ground_truth.category_ids) if len(names) > 1 else ground_truth.categories.ids
    usual = category or (names[ids.index(only_class[0])] if len(only_class) == 1 else MOT_NAMES[0])
    if category is not None and category not in names:
        raise DatasetError(f"{os.fspath(path)}: the ground truth has no class {category!r}")
    by_number = dict(zip(ids, names, strict=True))
    frames, _ = _frames_of(ground_truth)
    labels = dict(zip(frames, map(str, ground_truth.images.labels.tolist()), strict=True))
    objects = Objects(path, on_invalid)
    sequences = _sequences_in(path, "det", objects.problems)
    only = _only_sequence(ground_truth, frames, sequences, is_folder=Path(path).is_dir())
    objects.problems.on_sequence = note_on_sequence(sequences[0].name, only or "", ground_truth.source)
    lines = valid_lines([sequence.file for sequence in sequences], threads)
    quick = (
        None
        if lines is None
        else _detections(os.fspath(path), sequences, lines, ground_truth, frames, only, usual, first_pixel)
    )
    if quick is not None:
        return objects.problems.noted_in(quick)
    for sequence in sequences:
        for where, words in _lines(sequence.file):
            with objects.record("bad line"):
                values = _values(where, words, least=7)
                name = usual
                if len(words) in (8, 9) and values[7] != -1:
                    if values[7] not in by_number:
                        refuse(f"{where}, class", f"one of the {len(names):,} classes", abbreviate(words[7]))
                    name = by_number[int(values[7])]
                elif usual not in names:
                    refuse(where, "the class of the detections: category=...", "no class, and no class pedestrian")
                frame = _frame(values[0], where, 0)
                label = labels.get((sequence.name if only is None else only, frame))
                if label is None:
                    refuse(f"{where}, frame", f"a frame of {ground_truth.source}", f"{sequence.name} {frame}".strip())
                box = _box(values, where, first_pixel)
                image = objects.image(label, where, again=True)
                objects.add(image, name, box, score=values[6], attributes={"track_id": values[1]})
    return objects.detections(ground_truth)


def _only_sequence(
    gt: GroundTruth, frames: Sequence[tuple[str, int]], sequences: Sequence[_Sequence], *, is_folder: bool
) -> str | None:
    """The name of the sequence that a result is of, whatever its file is called; ``None`` if the names of files decide.

    Raises:
        DatasetError: If the ground truth has several videos, but its images have no names of them.
    """
    names = {name for name, _ in frames}
    videos = gt.images.attributes.get(_VIDEO)
    if names == {""} and videos is not None and len(np.unique(videos)) > 1:
        refuse(gt.source, "images named by sequence and frame, such as MOT17-02/000001", f"several videos by {_VIDEO}")
    is_named = is_folder and names != {""} and sequences[0].name != ""
    return names.pop() if len(names) == len(sequences) == 1 and not is_named else None


def _classes(sequences: Sequence[_Sequence], names: Sequence[str] | None) -> tuple[dict[str, int], list[Sequence[str]]]:
    """The number of each class by its name, and the names of the classes of each sequence."""
    classes: dict[str, int] = {}
    names_in = [names or sequence.labels or MOT_NAMES for sequence in sequences]
    for sequence, listed in zip(sequences, names_in, strict=True):
        for number, name in enumerate(listed, start=1):
            if classes.setdefault(name, number) != number:
                refuse(str(sequence.file), f"the class {name} as number {classes[name]}, as before", str(number))
    return classes, names_in


def _ground_truth(
    source: str,
    sequences: Sequence[_Sequence],
    lines: Lines,
    classes: tuple[Mapping[str, int], Sequence[Sequence[str]]],
    first_pixel: int,
) -> GroundTruth | None:
    """The objects of valid lines; ``None`` if a frame, a class or a name may be invalid."""
    numbers, names_in = classes
    limits = np.array([sequence.frames or _MOST_FRAMES for sequence in sequences])[lines.files]
    with_class = ~np.isin(lines.counts, (7, _WITH_PLACE))
    counts = np.array([len(listed) for listed in names_in])[lines.files]
    if not are_whole(lines.values[:, 0], 1, limits):
        return None
    if not are_whole(lines.values[with_class, 7], 1, counts[with_class]):
        return None
    keys: list[str] = []
    files: list[str] = []
    sizes: list[tuple[float, float]] = []
    places = np.zeros(len(lines.files), np.int64)
    for at, sequence in enumerate(sequences):
        rows = lines.files == at
        of_rows = lines.frames[rows]
        frames = np.arange(1, sequence.frames + 1) if sequence.frames else first_seen(of_rows)
        places[rows] = len(keys) + places_among(of_rows, frames)[0]
        prefix = f"{sequence.name}/" if sequence.name else ""
        keys += [f"{prefix}{frame:06d}" for frame in frames.tolist()]
        files += [sequence.pattern.replace("{}", f"{frame:06d}") for frame in frames.tolist()]
        sizes += [sequence.size] * len(frames)
    names = [listed[0] for listed in names_in]
    if len(set(keys)) < len(keys) or not all(
        map(is_name, (*keys[:1], *numbers, *(one.name or "-" for one in sequences)))
    ):
        return None
    category = np.where(with_class, lines.values[:, 7], np.array([numbers[name] for name in names])[lines.files])
    return GroundTruth.from_arrays(
        image_ids=np.array(keys, np.str_)[places],
        category_ids=category.astype(np.int64),
        boxes=lines.boxes(first_pixel),
        images=np.array(keys, np.str_),
        sizes=np.array(sizes, np.float64).reshape(-1, 2),
        names=files,
        categories={number: name for name, number in numbers.items()},
        flags={"ignore": lines.values[:, 6] == 0},
        attributes={
            "track_id": lines.values[:, 1].copy(),
            "visibility": np.where(lines.counts == len(_FIELDS), lines.values[:, 8], math.nan),
        },
        source=source,
    )


def _detections(
    source: str,
    sequences: Sequence[_Sequence],
    lines: Lines,
    gt: GroundTruth,
    frames: Sequence[tuple[str, int]],
    only: str | None,
    usual: str,
    first_pixel: int,
) -> Detections | None:
    """The detections of valid lines; ``None`` if a frame or a class may be unknown."""
    listed = np.array([number for _, number in frames], np.int64)
    named = np.array([name for name, _ in frames], np.str_)
    places = np.zeros(len(lines.files), np.int64)
    for at, sequence in enumerate(sequences):
        rows = lines.files == at
        images = np.flatnonzero(named == (sequence.name if only is None else only))
        found, known = places_among(lines.frames[rows], listed[images])
        if not known.all():
            return None
        places[rows] = images[found] if len(images) else 0
    with_class = np.isin(lines.counts, (8, 9)) & (lines.values[:, 7] != -1)
    category = np.where(with_class, lines.values[:, 7], math.nan)
    by_number = dict(zip(gt.categories.ids.tolist(), gt.categories.names, strict=True))
    used = np.unique(category[with_class])
    if not np.isin(used, gt.categories.ids).all() or (not with_class.all() and usual not in gt.categories.names):
        return None
    ids = ClassIds(gt)
    made = np.full(len(category), -1 if with_class.all() else ids[usual], np.int64)
    for number in used.tolist():
        made[category == number] = ids[by_number[int(number)]]
    return Detections.from_arrays(
        image_ids=gt.images.labels[places],
        category_ids=made,
        boxes=lines.boxes(first_pixel),
        scores=lines.values[:, 6].copy(),
        attributes={"track_id": lines.values[:, 1].copy()},
        source=source,
    )


def write_mot(gt: GroundTruth, path: Path, *, first_pixel: int = 0) -> list[str]:
    """Write a sequence as :func:`read_mot` reads it: ``gt/gt.txt``, ``gt/labels.txt`` and ``seqinfo.ini``.

    If all names of images have a folder, as ``MOT17-02/img1/000001.jpg`` has, each first folder is a sequence. If the
    names of the files are numbers, these are the frames; else the frames are numbered in the order of the images.
    Objects without a ``track_id`` get -1.

    Raises:
        ValueError: If ``first_pixel`` is neither 0 nor 1.
        DatasetError: If the names of classes have line breaks.
    """
    _check_first_pixel(first_pixel)
    frames, notes = _frames_of(gt)
    class_names(gt.categories, gt.source)
    _check_classes(gt)
    tracks = gt.attributes.get("track_id", np.full(len(gt), -1.0)).astype(np.float64)
    seen = gt.attributes.get("visibility", np.full(len(gt), math.nan)).astype(np.float64)
    check_column(tracks, "track_id", gt.source)
    check_column(seen, "visibility", gt.source)
    numbers = {number: at for at, number in enumerate(gt.categories.ids.tolist(), start=1)}
    boxes = gt.boxes + np.array([first_pixel, first_pixel, 0, 0])
    rows = (boxes.tolist(), tracks.tolist(), seen.tolist(), gt.category_ids.tolist(), gt.flag("ignore").tolist())
    fields = []
    for box, track, share, category, ignored in zip(*rows, strict=True):
        shares = [] if math.isnan(share) else [shorter(share)]
        fields.append([*_track_fields(track, box), str(int(not ignored)), str(numbers[category]), *shares])
    names = _write_sequences(path, "gt", frames, image_places(gt, gt.images).tolist(), fields)
    infos = _sequence_infos(gt, frames, names)
    for name in names:
        (path / name / "gt" / "labels.txt").write_text(
            "".join(f"{one}\n" for one in gt.categories.names), encoding="utf-8"
        )
        (path / name / "seqinfo.ini").write_text(infos.texts[name], encoding="utf-8")
    holds = Holds(
        flags=frozenset({"ignore"}),
        attributes=frozenset({"track_id", "visibility"}),
        image_sizes=infos.same_sizes,
        empty_images=infos.all_frames,
        category_ids=gt.categories.ids.tolist() == list(range(1, len(gt.categories) + 1)),
        unused_categories=True,
    )
    return [*left_out_columns(gt, holds), *notes]


def write_mot_detections(
    dt: Detections, path: Path, *, ground_truth: GroundTruth | None = None, first_pixel: int = 0
) -> list[str]:
    """Write ``det/det.txt`` for each sequence, as :func:`read_mot_detections` reads it.

    With several classes, lines have the id of the class as the eighth column.

    Raises:
        ValueError: If ``first_pixel`` is neither 0 nor 1.
        DatasetError: If there is no ``ground_truth``, or an id of a class is -1.
    """
    _check_first_pixel(first_pixel)
    ground_truth = required(ground_truth, dt.source, "frames")
    frames, notes = _frames_of(ground_truth)
    tracks = dt.attributes.get("track_id", np.full(len(dt), -1.0)).astype(np.float64)
    boxes = dt.boxes + np.array([first_pixel, first_pixel, 0, 0])
    places = image_places(dt, ground_truth.images).tolist()
    _check_classes(ground_truth)
    several = len(ground_truth.categories) > 1
    check_column(tracks, "track_id", dt.source)
    check_column(dt.category_ids, "id of the class", dt.source)
    if several and -1 in ground_truth.categories.ids:
        refuse(ground_truth.source, "ids of classes other than -1", "-1")
    rows = zip(boxes.tolist(), tracks.tolist(), dt.scores.tolist(), dt.category_ids.tolist(), strict=True)
    fields = [
        [*_track_fields(track, box), shorter(score), *([str(category)] if several else [])]
        for box, track, score, category in rows
    ]
    _write_sequences(path, "det", frames, places, fields)
    return [*left_out_columns(dt, Holds(attributes=frozenset({"track_id"}))), *notes]


def _check_classes(gt: GroundTruth) -> None:
    bad = next((name for name in gt.categories.names if "\n" in name or name != name.strip() or not name), None)
    if bad is not None:
        refuse(gt.source, "names of classes without line breaks and outer spaces", abbreviate(bad))


def _track_fields(track: float, box: Sequence[float]) -> list[str]:
    return list(map(shorter, (-1 if math.isnan(track) else track, *box)))


def _write_sequences(
    path: Path, kind: str, frames: Sequence[tuple[str, int]], places: Sequence[int], fields: Sequence[Sequence[str]]
) -> list[str]:
    """Write a file ``gt/gt.txt`` or ``det/det.txt`` per sequence, and return the names of the sequences.

    Args:
        path: The folder of the sequences.
        kind: ``"gt"`` or ``"det"``.
        frames: (I,) the sequence and the number of the frame of each image.
        places: (N,) the position of the image of each row.
        fields: (N,) what the line of each row has behind the number of the frame.
    """
    texts: dict[str, list[tuple[int, str]]] = {name: [] for name, _ in frames} or {"": []}
    for place, row in zip(places, fields, strict=True):
        name, frame = frames[place]
        texts[name].append((frame, ",".join([str(frame), *row]) + "\n"))
    for name, lines in texts.items():
        (path / name / kind).mkdir(parents=True)
        ordered = "".join(line for _, line in sorted(lines, key=lambda pair: pair[0]))
        (path / name / kind / f"{kind}.txt").write_text(ordered, encoding="utf-8")
    return list(texts)


def _check_first_pixel(first_pixel: int) -> None:
    if first_pixel not in (0, 1):
        raise ValueError(f"first_pixel must be 0 or 1, got {first_pixel!r}")


def _lines(file: Path) -> Iterator[tuple[str, list[str]]]:
    """The lines that are not empty, as fields, each with its place. A first line that names the columns is none."""
    is_first = True
    for number, line in enumerate(read_lines(file), start=1):
        if not line.strip():
            continue
        where, fields = f"{file}: line {number}", _fields_of(line)
        if is_first and _is_head(fields):
            names = [re.sub("^bb(ox)?_|^box_", "", name.lstrip("# ").lower()) for name in fields]
            if len(names) < 7 or not all(one in known for one, known in zip(names, _HEADS, strict=False)):
                refuse(where, f"no names of columns, or {', '.join(_FIELDS[:7])} in this order", ", ".join(fields))
        else:
            yield where, fields
        is_first = False


def _values(where: str, words: Sequence[str], *, least: int) -> list[float]:
    if not least <= len(words) <= _WITH_PLACE:
        expected = f"{', '.join(_FIELDS[:least])}, and perhaps class, visibility, between commas or white space"
        refuse(where, expected, abbreviate(",".join(words)))
    return to_numbers(words[: len(_FIELDS)], _FIELDS, where)


def _frame(value: float, where: str, frames: int) -> int:
    if not value.is_integer() or value < 1 or (frames and value > frames):
        refuse(f"{where}, frame", f"a number from 1 to {frames}" if frames else "a number from 1 on", shorter(value))
    return int(value)


def _class(value: float, where: str, count: int) -> int:
    """The position of a class."""
    if not value.is_integer() or not 1 <= value <= count:
        refuse(f"{where}, class", f"a number from 1 to {count}", shorter(value))
    return int(value) - 1


def _box(values: Sequence[float], where: str, first_pixel: int) -> list[float]:
    left, top, width, height = values[2:6]
    if min(width, height) < 0:
        refuse(where, "bb_width and bb_height of at least 0", f"{width:g} and {height:g}")
    return [left - first_pixel, top - first_pixel, width, height]


def _image(objects: Objects, sequence: _Sequence, frame: int) -> int:
    name = sequence.pattern.replace("{}", f"{frame:06d}")
    key = f"{sequence.name}/{frame:06d}" if sequence.name else f"{frame:06d}"
    return objects.image(key, str(sequence.file), name=name, size=sequence.size)


class _Sequence(NamedTuple):
    """What there is about one sequence."""

    name: str
    """Empty if it is the only one."""
    file: Path
    frames: int = 0
    """How many frames it has; 0 if unknown."""
    size: tuple[float, float] = UNKNOWN_SIZE
    pattern: str = "{}"
    """The names of its images, with ``{}`` for the number of the frame."""
    labels: Sequence[str] | None = None
    """The names of its classes; ``None`` if it does not say them."""


def _sequences_in(path: str | os.PathLike[str], kind: str, problems: Problems) -> list[_Sequence]:
    """The sequences of a path: of its ground truth (``gt``) or of its detections (``det``)."""
    root = Path(path)
    if not root.is_dir():
        return [_Sequence(root.stem if kind == "det" else "", root)]
    if (root / kind / f"{kind}.txt").exists():
        return [_sequence(root, kind, "")]
    if (root / f"{kind}.txt").exists():
        return [_Sequence("", inside(root, f"{kind}.txt", str(root)), labels=_labels(root, root))]
    folders = [folder for folder in sorted(root.iterdir()) if (folder / kind / f"{kind}.txt").exists()]
    found = [_sequence(inside(root, folder.name, str(root)), kind, folder.name) for folder in folders]
    if not found and kind == "det":
        files = files_in(root, "*.txt", "a folder of text files of sequences", problems)
        found = [_Sequence(file.stem, file) for file in files]
    if not found:
        refuse(str(root), f"a folder with {kind}/{kind}.txt, or a folder of such folders", "no such file")
    return found


def _sequence(folder: Path, kind: str, name: str) -> _Sequence:
    file = inside(folder, f"{kind}/{kind}.txt", str(folder / kind))
    if kind == "det":
        return _Sequence(name, file)
    frames, size, pattern = sequence_info(folder)
    return _Sequence(name, file, frames, size, f"{name}/{pattern}" if name else pattern, _labels(folder, folder / kind))


def _labels(folder: Path, beside: Path) -> list[str] | None:
    if not (beside / "labels.txt").is_file():
        return None
    file = inside(folder, str((beside / "labels.txt").relative_to(folder)), str(beside / "labels.txt"))
    return [name.strip() for name in read_lines(file) if name.strip()] or None


def sequence_info(folder: Path) -> tuple[int, tuple[float, float], str]:
    """The number of frames, the size and the names of the images, by ``seqinfo.ini`` if there is one."""
    file = folder / "seqinfo.ini"
    if not file.is_file():
        return 0, UNKNOWN_SIZE, "{}"
    inside(folder, file.name, str(file))
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(read_text(file))
        values: Mapping[str, str] = parser["Sequence"]
    except (configparser.Error, KeyError):
        refuse(str(file), "a section [Sequence] with lines such as seqLength=600", "something else")
    frames = int(to_number(values.get("seqLength", "0"), f"{file}: seqLength", lowest=0, whole=True))
    if frames > _MOST_FRAMES:
        refuse(f"{file}: seqLength", f"at most {_MOST_FRAMES:,} frames", f"{frames:,}")
    size = to_size(values.get, f"{file}: ", ("imWidth", "imHeight"), lowest=1, whole=True)
    folder_name, suffix = values.get("imDir", ""), values.get("imExt", "")
    pattern = "{}" + suffix.replace("{", "").replace("}", "")
    return frames, size, f"{folder_name.replace('{', '').replace('}', '')}/{pattern}" if folder_name else pattern


def _frames_of(gt: GroundTruth) -> tuple[list[tuple[str, int]], list[str]]:
    """The sequence and the number of the frame of each image, and a note if the names do not come back."""
    labels = [str(label) for label in gt.images.labels.tolist()]
    texts = [(name or key).replace("\\", "/") for name, key in zip(gt.images.names, labels, strict=True)]
    parts = [text.rpartition("/") for text in texts]
    # The id of an image of several sequences has the name of the sequence, and so may the name of the file.
    outer = {folder: (*PurePosixPath(folder).parts, "")[0] for folder in {folder for folder, *_ in parts}}
    folders = [outer[folder] for folder, *_ in parts]
    if not all(folders) or not all(map(_is_folder_name, set(folders))) or set(folders) == {"img1"}:
        folders = [""] * len(texts)
    stems = [file.rpartition(".")[0] or file for *_, file in parts]
    numbers = [int(stem) if stem.isascii() and stem.isdecimal() else 0 for stem in stems]
    frames = list(zip(folders, numbers, strict=True))
    if len(set(frames)) < len(frames) or not all(0 < number <= _MOST_FRAMES for number in numbers):
        counters: dict[str, Iterator[int]] = defaultdict(lambda: itertools.count(1))
        frames = [(name, next(counters[name])) for name in folders]
        return frames, [f"names of {len(frames):,} images: their frames are numbered in the order of the images"]
    changed = sum(stem != f"{number:06d}" for stem, number in zip(stems, numbers, strict=True))
    return frames, [f"names of {changed:,} images: a frame is a number of six digits"] if changed else []


def _is_folder_name(name: str) -> bool:
    return name.isprintable() and name not in ("/", "..") and not (set(name) & set(':*?"<>|') or name[0] in ". -")


class _SequenceInfos(NamedTuple):
    """The files ``seqinfo.ini`` of the sequences that are written."""

    texts: dict[str, str]
    """By the name of the sequence."""
    same_sizes: bool
    """Whether the images of each sequence have one size, or none is known."""
    all_frames: bool
    """Whether each sequence has the frames from 1 to its last, so that the files say which there are."""


def _sequence_infos(gt: GroundTruth, frames: Sequence[tuple[str, int]], names: Sequence[str]) -> _SequenceInfos:
    """What the files say, by the sequence and the frame of each image."""
    images: dict[str, list[int]] = {name: [] for name in names}
    for at, (name, _) in enumerate(frames):
        images[name].append(at)
    all_frames = all(
        sorted(frames[at][1] for at in places) == list(range(1, len(places) + 1)) for places in images.values()
    )
    texts, same_sizes = {}, True
    for name, places in images.items():
        lines = ["[Sequence]", f"name={name or 'sequence'}", *_file_names(gt, places), f"frameRate={_FRAME_RATE}"]
        lines += [f"seqLength={len(places)}"] if all_frames else []
        sizes = np.unique(gt.images.sizes[places], axis=0)
        known = ~np.isnan(sizes).any(axis=1)
        if len(sizes) == 1 and known.all() and (sizes[0] == np.round(sizes[0])).all() and (sizes[0] >= 1).all():
            lines += [f"imWidth={int(sizes[0, 0])}", f"imHeight={int(sizes[0, 1])}"]
        elif known.any():
            same_sizes = False
        texts[name] = "\n".join([*lines, ""])
    return _SequenceInfos(texts, same_sizes, all_frames)


def _file_names(gt: GroundTruth, places: Sequence[int]) -> list[str]:
    """The folder and the suffix of the images, or those of MOTChallenge if the images differ in them."""
    names = {PurePosixPath(gt.images.names[at]) for at in places}
    folders, suffixes = {"/".join(name.parts[:-1][-1:]) for name in names}, {name.suffix for name in names}
    lines = []
    for key, found, usual in (("imDir", folders, "img1"), ("imExt", suffixes, ".jpg")):
        value = found.pop() if len(found) == 1 else usual
        lines.append(f"{key}={value if value and value.isprintable() and value == value.strip() else usual}")
    return lines
