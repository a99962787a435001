"""From data with track ids to the numbers of tracks, in one call."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit import _core
from ioukit._checks import check_threads, pluralize
from ioukit._keywords import answers_keywords
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.images import Categories
from ioukit.datasets.formats.registry import find_format
from ioukit.errors import DatasetError
from ioukit.evaluation.evaluating import detections_of, ground_truth_of
from ioukit.evaluation.kinds.registry import find_kind
from ioukit.tracks.events import Trace
from ioukit.tracks.federated import FederatedRows, federated_rows, tracks_looked_for, with_merged_classes
from ioukit.tracks.identities import Side, side_of, tracks_of
from ioukit.tracks.measures import MATCH_THRESHOLD, THRESHOLDS, of_sequences
from ioukit.tracks.overlaps import compared_sides, overlap_tables
from ioukit.tracks.protocols import BOXES, kept_rows, known_protocol, track_protocol_of
from ioukit.tracks.results import TrackEvaluation
from ioukit.tracks.sequences import frames_of
from ioukit.tracks.tubes import Compared, tracks_in, tube_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit._array_types import Positions
    from ioukit.evaluation.evaluating import DetectionsLike, GroundTruthLike
    from ioukit.evaluation.kinds.kind import Kind
    from ioukit.tracks.measures import Values
    from ioukit.tracks.protocols import KeptRows, TrackProtocol
    from ioukit.tracks.sequences import Frames
    from ioukit.typing import IouType

_COCO = "coco"
_SHOWN = 5
"""How many names of classes or sequences a message has."""


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
        detections: The results of the tracker, as for :func:`ioukit.evaluate`. Scores are not read.
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
    gt, dt, kind, frames, rules, chosen, kept, found_in, objects, found, workers, images, federated = given
    tables, begins = (
        (None, None)
        if kind.name == BOXES
        else overlap_tables(kind, compared_sides(gt, dt, found_in, workers), objects, found)
    )
    sequences = _sequences(objects, found, frames, begins)
    counted = _core.count_tracks(
        sequences, objects.columns, found.columns, tables, THRESHOLDS, MATCH_THRESHOLD, MATCH_THRESHOLD, workers
    )
    lengths = np.diff(frames.starts).tolist()
    columns = (found.totals, objects.totals, found.counts, objects.counts)
    counts = [
        [*row, lengths[at % len(lengths)]] for at, row in enumerate(np.stack(columns, -1).reshape(-1, 4).tolist())
    ]
    values = of_sequences(counted, counts)
    size = len(frames.names)
    rows = [values[at * size : (at + 1) * size] for at in range(len(chosen))]
    of_objects, of_found = (
        np.zeros(0, np.int64) if (column := tracks_of(side)) is None else column for side in (gt, dt)
    )
    matches = {name: column for name, column in counted.items() if name.startswith("match_")}
    shared = counted["shared_tracks"], counted["shared_counts"]
    sources = gt.source, dt.source
    tubes = _tubes(rules, kind, (gt, dt), images, frames, chosen, federated, workers)
    trace = Trace(frames, gt.images.labels, objects, found, of_objects, of_found, matches, *shared, sources)
    notes = [*gt.notes, *dt.notes, *_notes(gt, chosen, rules, kept, is_default=protocol is None)]
    notes += _without_detections(dt, frames.names, objects, found)
    return TrackEvaluation(chosen, frames.names, rows, tuple(notes), trace, rules.name, tubes)


def _tubes(
    protocol: TrackProtocol,
    kind: Kind,
    data: tuple[GroundTruth, Detections],
    images: tuple[Positions, Positions],
    frames: Frames,
    chosen: Categories,
    federated: FederatedRows | None,
    threads: int,
) -> list[Values]:
    """AP of whole tracks of each class, if the protocol counts it."""
    if protocol.tubes is None:
        return []
    across, order = federated is not None, None if federated is None else federated.order
    objects = tracks_in(data[0], frames, images[0], across_classes=across)
    found = tracks_in(data[1], frames, images[1], order, across_classes=across)
    is_open = np.zeros((len(chosen), len(frames.names)), np.bool_)
    if federated is not None:
        found = tracks_looked_for(federated, objects, found, chosen)
        is_open = federated.labelled.is_open
    compared = Compared(kind, data, images, (objects, found), frames, chosen, threads)
    return tube_numbers(protocol.tubes, compared, is_open)


class Prepared(NamedTuple):
    """Both sides of an evaluation, and what counts of them."""

    gt: GroundTruth
    dt: Detections
    kind: Kind
    frames: Frames
    rules: TrackProtocol
    chosen: Categories
    """The classes."""
    kept: KeptRows
    found_in: Positions
    """(D,) the image of each detection, as the ground truth identifies it."""
    objects: Side
    found: Side
    workers: int
    images: tuple[Positions, Positions]
    """The position of the image of each row of both sides."""
    federated: FederatedRows | None
    """Which detections count where not all classes were looked for."""


def prepared(
    ground_truth: GroundTruthLike,
    detections: DetectionsLike,
    protocol: TrackProtocol | str | None,
    iou_type: IouType | None,
    categories: Sequence[int | str] | None,
    threads: int | None,
) -> Prepared:
    """Read both sides and leave out what the protocol does; the arguments are those of :func:`evaluate_tracks`."""
    kind = None if iou_type is None else find_kind(iou_type)
    workers = check_threads(threads)
    gt = ground_truth_of(_with_attributes(ground_truth, GroundTruth, threads), None, threads)
    dt = detections_of(_with_attributes(detections, Detections, threads), gt, threads).known_to(gt)
    frames = frames_of(gt)
    kind_name = None if kind is None else kind.name
    if protocol is None:
        wanted = None if categories is None else gt.categories.ids[gt.categories.positions(categories)]
        rules = known_protocol(gt, frames.names, kind_name, wanted)
    else:
        rules = track_protocol_of(protocol, kind_name)
    kind = find_kind(rules.iou_type) if kind is None else kind
    boxes = kind.name == BOXES
    gt, dt = with_merged_classes(gt, dt) if rules.federated else (gt, dt)
    chosen = _chosen(gt, dt, categories, rules)
    found_in = dt.image_ids_in(gt.images)
    object_images, found_images = (np.searchsorted(gt.images.ids, image_ids) for image_ids in (gt.image_ids, found_in))
    kept = kept_rows(rules, gt, dt, chosen, frames, object_images, found_images, workers)
    objects = side_of(gt, "annotations", frames, object_images, chosen.ids, kept.objects, boxes=boxes)
    images, ids, federated = (object_images, found_images), None, None
    if rules.federated:
        federated = federated_rows(kind, (gt, dt), images, frames, chosen, rules.most_detections, workers)
        kept, ids = kept._replace(found=federated.counted), federated.order_of_tracks
    found = side_of(dt, "detections", frames, found_images, chosen.ids, kept.found, boxes=boxes, order_of_tracks=ids)
    return Prepared(gt, dt, kind, frames, rules, chosen, kept, found_in, objects, found, workers, images, federated)


def _with_attributes(given: Any, side: type[GroundTruth | Detections], threads: int | None) -> Any:
    """Data of COCO with the members ``attributes``, which its readers otherwise leave out; other data as it is."""
    is_path = isinstance(given, str | os.PathLike)
    if is_path and find_format(given).name != _COCO:
        return given
    if is_path or isinstance(given, Mapping | list):
        return side.from_coco(given, attributes=True, threads=threads)
    return given


def _chosen(
    gt: GroundTruth, dt: Detections, categories: Sequence[int | str] | None, protocol: TrackProtocol
) -> Categories:
    """The classes to evaluate, in ascending order of their ids.

    Raises:
        DatasetError: If there is nothing to evaluate, or a named class is not one of the protocol.
    """
    evaluated = protocol.places(gt.categories)
    if protocol.classes and not len(evaluated):
        names = gt.categories.names
        shown = f"{', '.join(names[:_SHOWN])}{', ...' if len(names) > _SHOWN else ''}" or "none"
        expected = " or ".join(protocol.classes)
        raise DatasetError(
            f"{gt.source}: categories: the protocol {protocol.name} expects {expected}, found {shown}; rename a class, "
            "or choose the protocol plain"
        )
    if categories is not None:
        places = np.unique(np.array(gt.categories.positions(categories), np.int64))
        if others := np.setdiff1d(places, evaluated).tolist():
            raise DatasetError(
                f"{gt.source}: the protocol {protocol.name} evaluates {', '.join(protocol.classes)}, and not "
                f"{gt.categories.names[others[0]]}; the protocol plain evaluates every class"
            )
    elif protocol.classes:
        places = evaluated
    else:
        objects = gt.category_ids[~(gt.flag("dont_care") | gt.flag("ignore_region"))]  # areas of KITTI and MOTS
        there = objects if protocol.federated else np.concatenate([objects, dt.category_ids])
        places = np.flatnonzero(np.isin(gt.categories.ids, there))
    if not len(places) or not len(gt.images):
        raise DatasetError(f"{gt.source}: expected objects with tracks, found no object and no detection")
    chosen: Categories = gt.categories.take(places)
    return chosen


def _sequences(objects: Side, found: Side, frames: Frames, begins: np.ndarray[Any, Any] | None) -> np.ndarray[Any, Any]:
    """(J, 4) per class and sequence: the first frame, both numbers of tracks, and where the overlaps begin."""
    classes, sequences = objects.counts.shape
    firsts = np.arange(classes)[:, np.newaxis] * len(frames.images) + frames.starts[:-1]
    starts = np.zeros(classes * sequences, np.int64) if begins is None else begins[firsts.reshape(-1)]
    columns = (firsts.reshape(-1), objects.counts.reshape(-1), found.counts.reshape(-1), starts)
    return np.ascontiguousarray(np.stack(columns, axis=-1), np.int64)


def _notes(
    gt: GroundTruth, categories: Categories, protocol: TrackProtocol, kept: KeptRows, *, is_default: bool
) -> list[str]:
    """What is left out, or is counted although other evaluations leave it out."""
    if protocol.classes or protocol.federated:
        sides = zip(("object", "detection"), kept, strict=True)
        out = " and ".join(f"{int((~side).sum()):,} of {pluralize(len(side), name)}" for name, side in sides)
        why = "; protocol='plain' (--protocol plain) leaves out none" if is_default else ""
        return [f"{gt.source}: evaluated by the protocol {protocol.name}, which leaves out {out}{why}"]
    notes = []
    for name in ("ignore", "crowd"):
        count = int((gt.flag(name) & np.isin(gt.category_ids, categories.ids)).sum())
        if count:
            notes.append(
                f"{gt.source}: {pluralize(count, 'object')} with the flag {name}: nothing is left out, so they count "
                "as objects to track; a protocol such as 'mot17' (--protocol) leaves out what its benchmark does"
            )
    return notes


def _without_detections(dt: Detections, names: Sequence[str], objects: Side, found: Side) -> list[str]:
    """A note about sequences with objects, and without a detection: perhaps a file is missing."""
    lacking = np.flatnonzero((objects.totals.sum(axis=0) > 0) & (found.totals.sum(axis=0) == 0)).tolist()
    if not lacking:
        return []
    shown = ", ".join(names[at] for at in lacking[:_SHOWN]) + (", ..." if len(lacking) > _SHOWN else "")
    return [f"{dt.source}: no detection in {pluralize(len(lacking), 'sequence')} with objects: {shown}"]
