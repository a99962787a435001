"""From data with track ids to the numbers of tracks, in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import _core
from ioukit._checks import pluralize
from ioukit._keywords import answers_keywords
from ioukit.tracks.events import Trace
from ioukit.tracks.federated import lists_of_videos, notes_of_lists, tracks_looked_for
from ioukit.tracks.identities import tracks_of
from ioukit.tracks.j_and_f import j_and_f_of, masks_measured
from ioukit.tracks.measures import MATCH_THRESHOLD, THRESHOLDS, of_sequences
from ioukit.tracks.overlaps import compared_sides, frame_tables, overlap_tables
from ioukit.tracks.preparing import SHOWN, prepared
from ioukit.tracks.protocols import BOXES, PLAIN
from ioukit.tracks.results import TrackEvaluation
from ioukit.tracks.tubes import Compared, tracks_in, tube_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit._array_types import Floats, Positions
    from ioukit.evaluation.evaluating import DetectionsLike, GroundTruthLike
    from ioukit.tracks.identities import Side
    from ioukit.tracks.j_and_f import JAndF
    from ioukit.tracks.measures import Values
    from ioukit.tracks.preparing import Prepared
    from ioukit.tracks.protocols import TrackProtocol
    from ioukit.tracks.sequences import Frames
    from ioukit.typing import IouType


@answers_keywords
def evaluate_tracks(
    ground_truth: GroundTruthLike,
    detections: DetectionsLike,
    *,
    protocol: TrackProtocol | str | None = None,
    iou_type: IouType | None = None,
    categories: Sequence[int | str] | None = None,
    threads: int | None = None,
) -> TrackEvaluation:
    """Evaluate tracks: HOTA, CLEAR (MOTA), Identity (IDF1) and VACE, per sequence, combined, and per class.

    Every number has the bits of TrackEval 1.3.0 for the same regions and ids. Each class is evaluated for itself. The
    protocol says which regions are left out before; the default leaves out none, except for data of a benchmark that
    is recognised.

    The track of an object or a detection is its attribute ``track_id`` (or ``instance_id``, ``label_id``). The sequence
    of an image is its attribute ``sequence`` (or ``video_id``), or else the folder in its id or in the name of its
    file; its frames are ordered by ``frame_index`` (or ``frame_id``, ``frame``), or else by the names of the images.

    Args:
        ground_truth: The objects, as for :func:`ioukit.evaluate`; all images are frames, also those without objects.
        detections: The results of the tracker, as for :func:`ioukit.evaluate`. Only AP of whole tracks reads scores:
            protocols that have it, such as ``"tao"``, need them.
        protocol: What is left out: a name of :data:`ioukit.tracks.TRACK_PROTOCOLS`, such as ``"mot17"`` or ``"plain"``,
            or a :class:`ioukit.tracks.TrackProtocol`. If ``None``, that of the benchmark, if the names of the sequences
            or the labels show that the data are from one, and a note says so; else ``"plain"``.
        iou_type: The kind of region that is compared, as for :func:`ioukit.evaluate`. If ``None``, what the protocol
            compares: ``"segm"`` for those of MOTS and YouTube-VIS, else ``"bbox"``.
        categories: Ids or names of the classes to evaluate. If ``None``, those of the protocol, or all with an object
            or a detection if it names none.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        DatasetError: If a side has no track ids, a region has none, a track has two regions of a class in one frame, a
            detection has an image or a class that the ground truth does not list, the objects lack what the protocol
            needs, or a file is invalid.
        ValueError: If no kind of region or protocol has the name, ``categories`` has one that the ground truth does not
            list or the protocol does not evaluate, or the protocol is not for the kind of region.

    Examples:
        >>> from ioukit import Detections, GroundTruth, evaluate_tracks
        >>> images, boxes = ["walk/1", "walk/2", "walk/3"], [[0, 0, 10, 10]] * 3
        >>> ground_truth = GroundTruth.from_arrays(
        ...     image_ids=images, category_ids=[1, 1, 1], boxes=boxes, attributes={"track_id": [1, 1, 1]}
        ... )
        >>> detections = Detections.from_arrays(
        ...     image_ids=images, category_ids=[1, 1, 1], boxes=boxes, scores=[1, 1, 1],
        ...     attributes={"track_id": [4, 4, 5]},
        ... )
        >>> evaluate_tracks(ground_truth, detections)  # one switch: MOTA loses one of three, IDF1 the third frame
        TrackEvaluation(HOTA=0.7454, MOTA=0.6667, IDF1=0.6667, 1 sequence, 1 class)
    """
    given = prepared(ground_truth, detections, protocol, iou_type, categories, threads)
    gt, dt, frames, objects, found = given.gt, given.dt, given.frames, given.objects, given.found
    tables, begins, fit = _overlaps(given)
    sequences = _sequences(objects, found, frames, begins)
    sides, least = (objects.columns, found.columns), (MATCH_THRESHOLD, MATCH_THRESHOLD)
    counted = _core.count_tracks(sequences, *sides, tables, THRESHOLDS, *least, given.workers)
    lengths = np.diff(frames.starts).tolist()
    columns = (found.totals, objects.totals, found.counts, objects.counts)
    counts = [
        [*row, lengths[at % len(lengths)]] for at, row in enumerate(np.stack(columns, -1).reshape(-1, 4).tolist())
    ]
    values = of_sequences(counted, counts)
    size = len(frames.names)
    rows = [values[at * size : (at + 1) * size] for at in range(len(given.chosen))]
    of_objects, of_found = (
        np.zeros(0, np.int64) if (column := tracks_of(side)) is None else column for side in (gt, dt)
    )
    matches = {name: column for name, column in counted.items() if name.startswith("match_")}
    shared = counted["shared_tracks"], counted["shared_counts"]
    sources = gt.source, dt.source
    trace = Trace(frames, gt.images.labels, objects, found, of_objects, of_found, matches, *shared, sources)
    notes = [*gt.notes, *dt.notes, *_notes(given, is_default=protocol is None), *_without_detections(given)]
    more = (tuple(notes), trace, given.rules.name, *_tubes(given), fit, given.rules.main)
    return TrackEvaluation(given.chosen, frames.names, rows, *more)


def _overlaps(given: Prepared) -> tuple[Floats | None, Positions | None, JAndF | None]:
    """The tables of overlaps of all frames and where each begins, and J and F, if the protocol counts them.

    The core measures upright boxes itself, so they have no tables.
    """
    if given.kind.name == BOXES:
        return None, None, None
    compared = compared_sides(given.gt, given.dt, given.found_in, given.workers)
    if not given.rules.j_and_f:
        return *overlap_tables(given.kind, compared, given.objects, given.found), None
    measured = masks_measured(compared)
    objects, found = ((side.rows, side.columns) for side in (given.objects, given.found))
    tables = frame_tables(measured.pairs, objects, found, (len(given.gt), len(given.dt)))
    return *tables, j_and_f_of(given, measured)


def _tubes(given: Prepared) -> tuple[list[Values], list[Values]]:
    """AP of whole tracks of each class, and the matches of each sequence, if the protocol counts them."""
    if given.rules.tubes is None:
        return [], []
    data, images, frames, chosen, federated = (
        (given.gt, given.dt),
        given.images,
        given.frames,
        given.chosen,
        given.federated,
    )
    across, order = federated is not None, None if federated is None else federated.order
    objects = tracks_in(given.gt, frames, images[0], across_classes=across)
    found = tracks_in(given.dt, frames, images[1], order, across_classes=across)
    is_open = np.zeros((len(chosen), len(frames.names)), np.bool_)
    if federated is not None:
        found = tracks_looked_for(federated, objects, found, chosen)
        is_open = federated.labelled.is_open
    compared = Compared(given.kind, data, images, (objects, found), frames, chosen, given.workers)
    return tube_numbers(given.rules.tubes, compared, is_open)


def _sequences(objects: Side, found: Side, frames: Frames, begins: np.ndarray[Any, Any] | None) -> np.ndarray[Any, Any]:
    """(J, 4) per class and sequence: the first frame, both numbers of tracks, and where the overlaps begin."""
    classes, sequences = objects.counts.shape
    firsts = np.arange(classes)[:, np.newaxis] * len(frames.images) + frames.starts[:-1]
    starts = np.zeros(classes * sequences, np.int64) if begins is None else begins[firsts.reshape(-1)]
    columns = (firsts.reshape(-1), objects.counts.reshape(-1), found.counts.reshape(-1), starts)
    return np.ascontiguousarray(np.stack(columns, axis=-1), np.int64)


_MARKS = ("ignore", "crowd", "dont_care", "ignore_region", "void")
"""Flags of objects that do not count for who sets them."""


def _notes(given: Prepared, *, is_default: bool) -> list[str]:
    """What is left out, or is counted although other evaluations leave it out."""
    gt, rules = given.gt, given.rules
    if rules.classes or rules.federated:
        totals = (len(gt), "object"), (given.given_detections, "detection")
        out = " and ".join(
            f"{total - int(side.sum()):,} of {pluralize(total, name)}"
            for (total, name), side in zip(totals, given.kept, strict=True)
        )
        none = "only regions" if (gt.flag("ignore_region") | gt.flag("dont_care")).any() else "none"
        why = f"; protocol='plain' (--protocol plain) leaves out {none}" if is_default else ""
        notes = [f"{gt.source}: evaluated by the protocol {rules.name}, which leaves out {out}{why}"]
        notes += [
            f"{flagged}: the protocol {rules.name} does not read this flag, so they count as objects to track"
            for flagged in _flagged(given)
        ]
        return [*notes, *(notes_of_lists(gt) if rules.federated else ())]
    notes = [
        f"{flagged}: nothing is left out, so they count as objects to track; a protocol such as 'mot17' (--protocol) "
        "leaves out what its benchmark does"
        for flagged in _flagged(given)
    ]
    if is_default and rules is PLAIN and given.kind.name == BOXES and not given.dt.scored and lists_of_videos(gt):
        notes.append(
            f"{gt.source}: its videos have TAO's lists, but the protocol TAO needs scores, and the detections have "
            "none: evaluated by the protocol plain, which leaves out nothing"
        )
    return notes


def _flagged(given: Prepared) -> list[str]:
    """The begins of notes about objects that count, although flags say that they should not."""
    counts = {name: int((given.gt.flag(name) & given.kept.objects).sum()) for name in _MARKS}
    return [
        f"{given.gt.source}: {pluralize(count, 'object')} with the flag {name}"
        for name, count in counts.items()
        if count
    ]


def _without_detections(given: Prepared) -> list[str]:
    """A note about sequences with objects, and without a detection: perhaps a file is missing."""
    counts = given.objects.totals.sum(axis=0), given.found.totals.sum(axis=0)
    lacking = [name for name, *of in zip(given.frames.names, *counts, strict=True) if of[0] > 0 and of[1] == 0]
    if not lacking:
        return []
    shown = ", ".join(lacking[:SHOWN]) + (", ..." if len(lacking) > SHOWN else "")
    return [f"{given.dt.source}: no detection in {pluralize(len(lacking), 'sequence')} with objects: {shown}"]
