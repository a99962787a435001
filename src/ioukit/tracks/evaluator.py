"""`TrackEvaluator`: an evaluation of tracks that grows frame by frame.

Owns: the frames so far, as checked rows. Does not own: how a frame is read, which is as for
:class:`ioukit.Evaluator`, nor what is counted: :meth:`TrackEvaluator.compute` makes the data sets of all frames, and
:func:`ioukit.evaluate_tracks` evaluates them. So the numbers are the same to the last bit, however frames are split.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ioukit._checks import check_format, check_threads, pluralize
from ioukit._keywords import answers_keywords
from ioukit._near_names import Answering
from ioukit.datasets.columns.id_lists import IdLists
from ioukit.datasets.formats.text_files import abbreviate, refuse
from ioukit.evaluation.evaluator.categories import KnownCategories, given_categories
from ioukit.evaluation.evaluator.evaluator import Evaluator
from ioukit.evaluation.evaluator.reading import Reader
from ioukit.evaluation.evaluator.region_reading import RegionReader
from ioukit.evaluation.evaluator.rows import Rows, data_of
from ioukit.evaluation.evaluator.tools import are_of_tools, dicts_of_tools
from ioukit.evaluation.evaluator.values import Member, joined, place_of
from ioukit.evaluation.kinds.registry import find_kind
from ioukit.overlap.pairwise import pairwise_intersection
from ioukit.regions.formats import convert
from ioukit.tracks.evaluating import evaluate_tracks
from ioukit.tracks.federated import lists_needed
from ioukit.tracks.protocols import PLAIN, TRACK_PROTOCOLS, track_protocol_of

if TYPE_CHECKING:
    from ioukit._array_types import Flags
    from ioukit.datasets import Categories
    from ioukit.evaluation.evaluator.reading import Records
    from ioukit.tracks.protocols import TrackProtocol
    from ioukit.tracks.results import TrackEvaluation
    from ioukit.typing import BoxFormat, IouType

_TRACKS, _TRACK = "track_ids", "track_id"
_NO_TRACK = -1
_SIDES = ("predictions", "targets")


class _Side(NamedTuple):
    """The regions of some frames, in order."""

    rows: Rows
    columns: dict[str, np.ndarray[Any, Any]]
    """Their tracks, and the marks that they were given, by the names of the columns of a data set."""


class _Frames(NamedTuple):
    """Some frames of a sequence, in order."""

    predictions: _Side
    targets: _Side
    lists: dict[str, IdLists]
    """What was looked for in each frame."""

    @property
    def length(self) -> int:
        return len(self.targets.rows.counts)


class TrackEvaluator(Answering):
    """An evaluation of tracks that grows frame by frame, for loops over videos.

    :meth:`update` takes what a tracker says about the next frames of a sequence, and what is there; :meth:`compute`
    returns the :class:`~ioukit.TrackEvaluation` of all frames so far. The numbers are those of
    :func:`ioukit.evaluate_tracks` on the same data to the last bit. All rows are kept: about 60 bytes per box.

    Args:
        protocol: What is left out, as for :func:`ioukit.evaluate_tracks`. If it names classes, ``categories`` must have
            one of them.
        iou_type: The kind of region that is compared, as for :class:`ioukit.Evaluator`. If ``None``, what the protocol
            compares; without a protocol, ``"bbox"``.
        categories: Names of categories, of which labels are the positions; ids, which labels are; names by id; or the
            :class:`~ioukit.datasets.Categories` of a data set. Another label is an error. If ``None``, labels are ids,
            and the categories are those that occur.
        box_format: The format of boxes that are plain arrays, in pixels, as for :class:`ioukit.Evaluator`.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        ValueError: If ``iou_type`` is invalid or keypoints, ``box_format`` is invalid, ``categories`` repeat one or
            have no class of the protocol, or no protocol has the name or it is not for the kind of region.

    Examples:
        >>> evaluator = TrackEvaluator(categories=["person"])
        >>> person = {"boxes": [[0, 0, 10, 10]], "labels": [0], "track_ids": [1]}
        >>> for track in (4, 4, 5):
        ...     evaluator.update([{**person, "track_ids": [track]}], [person], sequence="walk")
        >>> evaluator.compute()
        TrackEvaluation(HOTA=0.7454, MOTA=0.6667, IDF1=0.6667, 1 sequence, 1 class)
    """

    OTHER_WORDS: ClassVar[Mapping[str, str]] = Evaluator.OTHER_WORDS

    @answers_keywords
    def __init__(
        self,
        *,
        protocol: TrackProtocol | str | None = None,
        iou_type: IouType | None = None,
        categories: Sequence[str] | Sequence[int] | Mapping[int, str] | Categories | None = None,
        box_format: BoxFormat = "xyxy",
        threads: int | None = None,
    ) -> None:
        self._protocol = None if protocol is None else track_protocol_of(protocol, iou_type)
        rules = self._rules = self._protocol or PLAIN
        self._kind = find_kind(iou_type or rules.iou_type)
        if self._kind.needs == "keypoints":
            raise ValueError("iou_type must be a kind of boxes, masks or other regions, got 'keypoints'")
        check_format(box_format)
        check_threads(threads)
        given = given_categories(categories)
        self._known = None if given is None else KnownCategories(given)
        if rules.classes and (given is None or not len(rules.places(given))):
            names = "none" if given is None else ", ".join(given.names)
            raise ValueError(
                f"categories must have a class of the protocol {rules.name}, {' or '.join(rules.classes)}, got {names}"
            )
        self._threads = threads
        all_rules = [*TRACK_PROTOCOLS.values(), rules]  # sequences may show the protocol by their names
        self._flags = {name for one in all_rules for name in (*one.ignored_flags, *one.region_flags, one.flag) if name}
        self._limited = {name for one in all_rules for name, _ in one.limits}
        self._keeps_ids = self._protocol is not None and not rules.classes  # what has an id counts, whatever its marks
        self._left_out = self._flags  # marks by which an object may be one that does not count
        if rules.classes:
            self._left_out = {*rules.ignored_flags, *rules.region_flags}
        elif self._keeps_ids:
            self._left_out = {rules.flag} if rules.flag else {one.flag for one in all_rules if one.flag}
        self._lists = lists_needed(are_of_objects=rules.classes_of_objects) if rules.federated else ()
        self._readers = tuple(self._reader(side, box_format) for side in _SIDES)
        self.reset()

    def _reader(self, side: str, box_format: BoxFormat) -> Reader:
        boxes = self._kind.name == "bbox"
        reader = Reader(side, box_format) if boxes else RegionReader(side, box_format, self._kind.needs)
        rules = self._rules
        if rules.tubes is None and rules.most_detections is None:
            reader.needs = tuple(name for name in reader.needs if name != "scores")
        reader.needs += (_TRACKS,)
        if side == "targets":
            reader.needs += (*(name for name, _ in rules.limits), *self._lists)
            reader.optional += tuple(sorted(self._flags | self._limited))
        return reader

    def __len__(self) -> int:
        """The number of frames."""
        return sum(frames.length for parts in self._sequences.values() for frames in parts)

    def __bool__(self) -> bool:
        return True  # also without frames

    def __repr__(self) -> str:
        sequences = pluralize(len(self._sequences), "sequence")
        return f"TrackEvaluator({sequences}, {pluralize(len(self), 'frame')}, {self._kind.name})"

    def update(self, predictions: Sequence[Any], targets: Sequence[Mapping[str, Any]], *, sequence: str) -> None:
        """Add the next frames of a sequence. If this raises an error, nothing has been added.

        Args:
            predictions: (F,) one per frame: a dict with ``boxes`` (N, 4), ``labels`` (N,) and ``track_ids`` (N,), whole
                numbers of at least 0; or the tracks of a tool that :func:`ioukit.datasets.from_predictions` reads.
                Values may be lists or arrays. ``scores`` (N,) are read if the protocol counts AP of whole tracks.
            targets: (F,) a dict of the same kind per frame. The marks by which protocols leave objects out may stand
                beside, under the names that readers give them: booleans (N,) such as ``ignore`` (``conf`` 0 of
                MOTChallenge), ``crowd`` (or ``iscrowd``) and ``dont_care``, and KITTI's numbers ``truncated`` and
                ``occluded``. TAO needs ``neg_category_ids`` and ``not_exhaustive_category_ids`` of the video, lists of
                labels, the same in each frame; YouTube-VIS reads ``area`` (N,). A region without a track has the id
                -1: an object with a mark by which the protocol leaves objects out, or of a class that it does not
                evaluate.
            sequence: The name of the sequence.

        Raises:
            DatasetError: If a value is missing or invalid, or a track has two regions of a class in one frame; the
                message names the frame, the key and the row. Which keys are needed depends on the protocol.
            TypeError: If an argument is of another type.
            ValueError: If there are not as many predictions as targets.
        """
        given = []
        for name, side in zip(_SIDES, (predictions, targets), strict=True):
            if not isinstance(side, Sequence) or isinstance(side, str):
                raise TypeError(f"{name} must be a list with one entry per frame, got {type(side).__name__}")
            given.append(side)
        if len(given[0]) != len(given[1]):
            raise ValueError(
                f"predictions and targets must have one entry per frame, got {len(given[0]):,} predictions and "
                f"{len(given[1]):,} targets"
            )
        if not isinstance(sequence, str) or not sequence:
            raise TypeError(f"sequence must be the name of a sequence, got {sequence!r}")
        if not given[0]:
            return
        if are_of_tools(given[0]):
            given[0] = dicts_of_tools(given[0], self._known, rotated=self._kind.needs == "RotatedBoxes")
        predicted, objects = (self._read(*side) for side in zip(self._readers, given, strict=True))
        if self._kind.needs == "Masks":
            _check_sizes((("targets", objects.rows), ("predictions", predicted.rows)))
            is_void = objects.columns.get("void", np.zeros(len(objects.rows.labels), np.bool_))
            if self._rules.j_and_f:  # which leaves out nothing else
                is_void = is_void | (objects.columns[_TRACK] == _NO_TRACK)
            _check_void(predicted.rows, objects.rows, np.flatnonzero(is_void).tolist())
        lists = {}
        for name in self._lists:
            found = joined([frame[name] for frame in given[1]], Member("targets", name, (), "iu"))
            lists[name] = IdLists(found.rows.astype(np.int64), np.cumsum(found.counts))
            before = self._sequences.get(sequence)
            _check_same_list(name, lists[name], set((before[0].lists if before else lists)[name][0].tolist()))
        self._sequences.setdefault(sequence, []).append(_Frames(predicted, objects, lists))

    def _read(self, reader: Reader, records: Records) -> _Side:
        """The regions of one side, with the track of each, and its marks."""
        rows = reader.rows(records, self._known)
        tracks = reader.values_of(records, rows.counts, Member(reader.side, _TRACKS, (), "iu")).rows.astype(np.int64)
        columns = {}
        if reader.side == "targets":
            self._check_conf(records)
            columns = self._marks(reader, records, rows)
        frames = np.repeat(np.arange(len(records)), rows.counts)
        order = np.lexsort((tracks, rows.labels, frames))
        lowest: Any = 0
        if columns or self._rules.classes:
            is_out = self._can_lack_track(rows, columns)
            lowest = np.where(is_out, _NO_TRACK, 0)
            if self._keeps_ids:
                is_out &= tracks == _NO_TRACK
            order = order[~is_out[order]]
        same = [np.diff(column[order]) == 0 for column in (tracks, rows.labels, frames)]
        for wrong, expected in (
            (np.flatnonzero(tracks < lowest), "the id of a track, a whole number of at least 0"),
            (order[1:][np.logical_and.reduce(same)], "each track once per class in a frame"),
        ):
            if len(wrong):
                row = int(wrong.min())
                frame, at = place_of(row, rows.counts)
                refuse(f"{reader.side}[{frame}]: {_TRACKS}: row {at}", expected, f"{tracks[row]}")
        if rows.boxes is not None:  # boxes that know their format may come in turn with others
            rows.boxes, rows.format = convert(rows.boxes.astype(np.float64), rows.format, "xywh"), "xywh"
        if reader.side == "predictions" and rows.scores is None:
            rows.scores = np.ones(len(tracks), np.float32)
        return _Side(rows, {_TRACK: tracks, **columns})

    def _check_conf(self, records: Records) -> None:
        """Refuses MOTChallenge's own word where its rules may be followed."""
        for at, record in enumerate(records):
            if "ignore" in self._left_out and "conf" in record and "ignore" not in record:
                refuse(f"targets[{at}]", "the key 'ignore', true where conf is 0", "'conf'")

    def _marks(self, reader: Reader, records: Records, rows: Rows) -> dict[str, np.ndarray[Any, Any]]:
        """The marks that some of the objects have; NaN for numbers that are missing."""
        found: dict[str, np.ndarray[Any, Any]] = {}
        for name in sorted({name for record in records for name in record} & (self._flags | self._limited)):
            if name in self._limited:
                numbers, is_missing = reader.optional_values(records, rows.counts, Member(reader.side, name, (), "iuf"))
                if numbers is not None:
                    found[name] = np.where(False if is_missing is None else is_missing, np.nan, numbers.rows)
            elif (flags := reader.flags_of(records, rows.counts, Member(reader.side, name, (), "biu"))) is not None:
                found[name] = flags.rows
        if rows.crowd is not None:
            found["crowd"] = rows.crowd | found.get("crowd", False)
        return found

    def _can_lack_track(self, rows: Rows, marks: Mapping[str, np.ndarray[Any, Any]]) -> Flags:
        """(N,) whether each region can be one that does not count."""
        found = np.zeros(len(rows.labels), np.bool_)
        for name in marks.keys() & self._left_out:
            found |= marks[name]
        if self._rules.classes and self._known is not None:
            known = self._known.categories
            found |= ~np.isin(rows.labels, known.ids[self._rules.places(known)])
        return found

    def compute(self) -> TrackEvaluation:
        """The evaluation of all frames so far, with the sequences in the order of their names.

        Raises:
            ValueError: If there is no frame.
            DatasetError: If there is neither an object nor a track, or the objects lack a mark that the protocol of a
                benchmark, which the names of the sequences show, needs.
        """
        if not self._sequences:
            raise ValueError(
                "compute needs at least one frame, got none: call update(predictions, targets, sequence=name) first"
            )
        sequences = dict(sorted(self._sequences.items()))  # so that no row depends on which evaluator was merged first
        parts = [frames for parts in sequences.values() for frames in parts]
        counts = {name: sum(frames.length for frames in parts) for name, parts in sequences.items()}
        predictions, targets = [frames.predictions for frames in parts], [frames.targets for frames in parts]
        known = None if self._known is None else self._known.categories
        gt, dt = data_of(range(len(self)), _joined(predictions), _joined(targets), known, 1)
        attributes: dict[str, Any] = {
            "sequence": np.repeat(np.array(list(counts), np.str_), list(counts.values())),
            "frame": np.concatenate([np.arange(count) for count in counts.values()]),
        }
        attributes |= {name: IdLists.concat([frames.lists[name] for frames in parts]) for name in parts[0].lists}
        images = dataclasses.replace(gt.images, attributes=attributes)
        given = {name for side in targets for name in side.columns}
        flags = {name: _column(targets, name, False) for name in sorted(given & self._flags)}
        numbers = {name: _column(targets, name, math.nan) for name in sorted(given - self._flags)}
        gt = dataclasses.replace(gt, images=images, flags=flags, attributes=numbers)
        if self._keeps_ids:
            gt = gt[np.flatnonzero(gt.attributes[_TRACK] != _NO_TRACK)]
        dt = dataclasses.replace(dt, attributes={_TRACK: _column(predictions, _TRACK, _NO_TRACK)})
        return evaluate_tracks(gt, dt, protocol=self._protocol, iou_type=self._kind.name, threads=self._threads)

    def reset(self) -> None:
        """Forget all frames. The settings stay."""
        self._sequences: dict[str, list[_Frames]] = {}

    def _settings(self) -> dict[str, Any]:
        """What evaluators that are merged have in common."""
        known = None if self._known is None else self._known.categories
        names = None if known is None else dict(zip(known.ids.tolist(), known.names, strict=True))
        return {"protocol": self._protocol, "iou_type": self._kind.name, "categories": names}

    def merge(self, other: TrackEvaluator) -> None:
        """Add the sequences of another evaluator, which stays as it is: of another process, for example.

        Args:
            other: An evaluator with the same protocol, kind of region and categories.

        Raises:
            TypeError: If it is no evaluator of tracks.
            ValueError: If its settings differ, or both have the same sequence.
        """
        if not isinstance(other, TrackEvaluator):
            raise TypeError(f"merge expects a TrackEvaluator, got {type(other).__name__}")
        mine, its = self._settings(), other._settings()
        for name, value in mine.items():
            if value != its[name]:
                expected, found = (getattr(one, "name", one) for one in (value, its[name]))
                raise ValueError(
                    f"evaluators that are merged must have the same {name}, expected {expected}, got {found}"
                )
        if both := sorted(self._sequences.keys() & other._sequences.keys()):
            raise ValueError(f"the sequence {both[0]!r} is in both evaluators")
        self._sequences |= {name: list(parts) for name, parts in other._sequences.items()}


def _column(parts: Sequence[_Side], name: str, missing: float) -> np.ndarray[Any, Any]:
    """A column of several updates, of which some may lack it."""
    return np.concatenate(
        [part.columns[name] if name in part.columns else np.full(len(part.rows.labels), missing) for part in parts]
    )


def _check_same_list(name: str, lists: IdLists, expected: set[int]) -> None:
    """Refuses a frame with another list than others of its video: all of them would count for all frames."""
    for at, found in enumerate(lists.tolist()):
        if set(found) != expected:
            which = f"the list of the video in each frame, {abbreviate(sorted(expected))}"
            refuse(f"targets[{at}]: {name}", which, abbreviate(sorted(set(found))))


def _check_sizes(sides: Sequence[tuple[str, Rows]]) -> None:
    """Refuses masks of different sizes in one frame: their pixels cannot be compared."""
    first: dict[int, list[int]] = {}
    for side, rows in sides:
        frames = np.repeat(np.arange(len(rows.counts)), rows.counts).tolist()
        for row, (frame, size) in enumerate(zip(frames, rows.regions[0].sizes.tolist(), strict=True)):
            height, width = first.setdefault(frame, size)
            if size != [height, width]:
                where = f"{side}[{frame}]: masks: row {place_of(row, rows.counts)[1]}"
                expected = f"a mask of {height} x {width} (height x width), as others of the frame"
                refuse(where, expected, f"{size[0]} x {size[1]}")


def _check_void(predicted: Rows, objects: Rows, void: Sequence[int]) -> None:
    """Refuses detections with pixels of objects that are void: the readers of files take them out."""
    ends = np.cumsum(predicted.counts)
    for row in void:
        frame, at = place_of(row, objects.counts)
        found = predicted.regions[0][int(ends[frame]) - predicted.counts[frame] : int(ends[frame])]
        pixels = pairwise_intersection(found, objects.regions[0][[row]], threads=1)
        if pixels.any():
            expected = (
                f"no pixel that is void in targets[{frame}], row {at}: take these pixels out of the predictions, and "
                "leave out masks that have no other"
            )
            first = int(np.argmax(pixels > 0))
            refuse(f"predictions[{frame}]: masks: row {first}", expected, pluralize(int(pixels[first, 0]), "pixel"))


def _joined(sides: Sequence[_Side]) -> Rows:
    """The rows of several updates."""
    parts = [side.rows for side in sides]
    boxes = [part.boxes for part in parts if part.boxes is not None]
    scores = [part.scores for part in parts if part.scores is not None]
    areas = None
    if any(part.areas is not None for part in parts):
        areas = np.concatenate(
            [np.full(len(one.labels), math.nan) if one.areas is None else one.areas for one in parts]
        )
    return Rows(
        counts=[count for part in parts for count in part.counts],
        labels=np.concatenate([part.labels for part in parts]),
        boxes=np.concatenate(boxes) if boxes else None,
        format=parts[0].format,
        scores=np.concatenate(scores) if scores else None,
        areas=areas,
        regions=[type(sets[0]).concat(sets) for sets in zip(*(part.regions for part in parts), strict=True)],
    )
