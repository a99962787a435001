"""`TrackEvaluator`: an evaluation of tracks that grows frame by frame.

Owns: the frames so far, as checked rows. Does not own: how a frame is read, which is as for
:class:`ioukit.Evaluator`, nor what is counted: :meth:`TrackEvaluator.compute` makes the data sets of all frames, and
:func:`ioukit.evaluate_tracks` evaluates them. So the numbers are the same to the last bit, however frames are split.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ioukit._checks import check_format, check_threads, pluralize
from ioukit._keywords import answers_keywords
from ioukit._near_names import Answering
from ioukit.datasets.formats.text_files import refuse
from ioukit.evaluation.evaluator.categories import KnownCategories, given_categories
from ioukit.evaluation.evaluator.evaluator import Evaluator
from ioukit.evaluation.evaluator.reading import Reader
from ioukit.evaluation.evaluator.region_reading import RegionReader
from ioukit.evaluation.evaluator.rows import Rows, data_of
from ioukit.evaluation.evaluator.tools import are_of_tools, dicts_of_tools
from ioukit.evaluation.evaluator.values import Member, place_of
from ioukit.evaluation.kinds.registry import find_kind
from ioukit.regions.formats import convert
from ioukit.tracks.evaluating import evaluate_tracks

if TYPE_CHECKING:
    from ioukit._array_types import Ids
    from ioukit.datasets import Categories
    from ioukit.evaluation.evaluator.reading import Records
    from ioukit.tracks.results import TrackEvaluation
    from ioukit.typing import BoxFormat, IouType

_TRACKS = "track_ids"
_SIDES = ("predictions", "targets")


class _Frames(NamedTuple):
    """Some frames of a sequence, in order; each pair is of the predictions and the targets."""

    rows: tuple[Rows, Rows]
    tracks: tuple[Ids, Ids]

    @property
    def length(self) -> int:
        return len(self.rows[0].counts)


class TrackEvaluator(Answering):
    """An evaluation of tracks that grows frame by frame, for loops over videos.

    :meth:`update` takes what a tracker says about the next frames of a sequence, and what is there; :meth:`compute`
    returns the :class:`~ioukit.TrackEvaluation` of all frames so far. The numbers are those of
    :func:`ioukit.evaluate_tracks` on the same data to the last bit. All rows are kept: about 60 bytes per box.

    Args:
        iou_type: The kind of region that is compared, as for :class:`ioukit.Evaluator`.
        categories: Names of categories, of which labels are the positions; ids, which labels are; names by id; or the
            :class:`~ioukit.datasets.Categories` of a data set. Another label is an error. If ``None``, labels are ids,
            and the categories are those that occur.
        box_format: The format of boxes that are plain arrays, in pixels, as for :class:`ioukit.Evaluator`.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        ValueError: If ``iou_type`` is invalid or keypoints, ``box_format`` is invalid, or ``categories`` repeat one.

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
        iou_type: IouType = "bbox",
        categories: Sequence[str] | Sequence[int] | Mapping[int, str] | Categories | None = None,
        box_format: BoxFormat = "xyxy",
        threads: int | None = None,
    ) -> None:
        self._kind = find_kind(iou_type)
        if self._kind.needs == "keypoints":
            raise ValueError("iou_type must be a kind of boxes, masks or other regions, got 'keypoints'")
        check_format(box_format)
        check_threads(threads)
        given = given_categories(categories)
        self._known = None if given is None else KnownCategories(given)
        self._threads = threads
        self._readers = tuple(self._reader(side, box_format) for side in _SIDES)
        self.reset()

    def _reader(self, side: str, box_format: BoxFormat) -> Reader:
        boxes = self._kind.name == "bbox"
        reader = Reader(side, box_format) if boxes else RegionReader(side, box_format, self._kind.needs)
        reader.needs = (*(name for name in reader.needs if name != "scores"), _TRACKS)
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
                Values may be lists or arrays. Scores are not read.
            targets: (F,) a dict of the same kind per frame.
            sequence: The name of the sequence.

        Raises:
            DatasetError: If a value is missing or invalid, or a track has two regions of a class in one frame; the
                message names the frame, the key and the row.
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
        read = [self._read(*side) for side in zip(self._readers, given, strict=True)]
        rows, tracks = zip(*read, strict=True)
        self._sequences.setdefault(sequence, []).append(_Frames((rows[0], rows[1]), (tracks[0], tracks[1])))

    def _read(self, reader: Reader, records: Records) -> tuple[Rows, Ids]:
        """The regions of one side, and the track of each."""
        rows = reader.rows(records, self._known)
        tracks = reader.values_of(records, rows.counts, Member(reader.side, _TRACKS, (), "iu")).rows.astype(np.int64)
        frames = np.repeat(np.arange(len(records)), rows.counts)
        order = np.lexsort((tracks, rows.labels, frames))
        same = [np.diff(column[order]) == 0 for column in (tracks, rows.labels, frames)]
        for wrong, expected in (
            (np.flatnonzero(tracks < 0), "the id of a track, a whole number of at least 0"),
            (order[1:][np.logical_and.reduce(same)], "each track once per class in a frame"),
        ):
            if len(wrong):
                row = int(wrong.min())
                frame, at = place_of(row, rows.counts)
                refuse(f"{reader.side}[{frame}]: {_TRACKS}: row {at}", expected, f"{tracks[row]}")
        if rows.boxes is not None:  # boxes that know their format may come in turn with others
            rows.boxes, rows.format = convert(rows.boxes.astype(np.float64), rows.format, "xywh"), "xywh"
        if reader.side == "predictions":
            rows.scores = np.ones(len(tracks), np.float32)
        return rows, tracks

    def compute(self) -> TrackEvaluation:
        """The evaluation of all frames so far, with the sequences in the order of their names.

        Raises:
            ValueError: If there is no frame.
            DatasetError: If there is neither an object nor a track.
        """
        if not self._sequences:
            raise ValueError(
                "compute needs at least one frame, got none: call update(predictions, targets, sequence=name) first"
            )
        sequences = dict(sorted(self._sequences.items()))  # so that no row depends on which evaluator was merged first
        parts = [frames for parts in sequences.values() for frames in parts]
        counts = {name: sum(frames.length for frames in parts) for name, parts in sequences.items()}
        predictions, targets = (_joined([frames.rows[side] for frames in parts]) for side in range(2))
        found, objects = (np.concatenate([frames.tracks[side] for frames in parts]) for side in range(2))
        known = None if self._known is None else self._known.categories
        gt, dt = data_of(range(len(self)), predictions, targets, known, 1)
        attributes = {
            "sequence": np.repeat(np.array(list(counts), np.str_), list(counts.values())),
            "frame": np.concatenate([np.arange(count) for count in counts.values()]),
        }
        images = dataclasses.replace(gt.images, attributes=attributes)
        gt = dataclasses.replace(gt, images=images, attributes={"track_id": objects})
        dt = dataclasses.replace(dt, attributes={"track_id": found})
        return evaluate_tracks(gt, dt, iou_type=self._kind.name, threads=self._threads)

    def reset(self) -> None:
        """Forget all frames. The settings stay."""
        self._sequences: dict[str, list[_Frames]] = {}

    def _settings(self) -> dict[str, Any]:
        """What evaluators that are merged have in common."""
        known = None if self._known is None else self._known.categories
        names = None if known is None else dict(zip(known.ids.tolist(), known.names, strict=True))
        return {"iou_type": self._kind.name, "categories": names}

    def merge(self, other: TrackEvaluator) -> None:
        """Add the sequences of another evaluator, which stays as it is: of another process, for example.

        Args:
            other: An evaluator with the same kind of region and categories.

        Raises:
            TypeError: If it is no evaluator of tracks.
            ValueError: If its settings differ, or both have the same sequence.
        """
        if not isinstance(other, TrackEvaluator):
            raise TypeError(f"merge expects a TrackEvaluator, got {type(other).__name__}")
        mine, its = self._settings(), other._settings()
        for name, value in mine.items():
            if value != its[name]:
                raise ValueError(
                    f"evaluators that are merged must have the same {name}, expected {value}, got {its[name]}"
                )
        if both := sorted(self._sequences.keys() & other._sequences.keys()):
            raise ValueError(f"the sequence {both[0]!r} is in both evaluators")
        self._sequences |= {name: list(parts) for name, parts in other._sequences.items()}


def _joined(parts: Sequence[Rows]) -> Rows:
    """The rows of several updates."""
    boxes = [part.boxes for part in parts if part.boxes is not None]
    scores = [part.scores for part in parts if part.scores is not None]
    return Rows(
        counts=[count for part in parts for count in part.counts],
        labels=np.concatenate([part.labels for part in parts]),
        boxes=np.concatenate(boxes) if boxes else None,
        format=parts[0].format,
        scores=np.concatenate(scores) if scores else None,
        regions=[type(sets[0]).concat(sets) for sets in zip(*(part.regions for part in parts), strict=True)],
    )
