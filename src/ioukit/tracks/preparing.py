"""Both sides of an evaluation of tracks, read, and without what the protocol leaves out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit._checks import check_threads
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.images import Categories
from ioukit.datasets.formats.registry import find_format
from ioukit.errors import DatasetError
from ioukit.evaluation.evaluating import detections_of, ground_truth_of
from ioukit.evaluation.kinds.registry import find_kind
from ioukit.tracks.federated import FederatedRows, federated_rows, with_classes_of_objects, with_merged_classes
from ioukit.tracks.identities import Side, side_of
from ioukit.tracks.protocols import BOXES, PLAIN, kept_rows, known_protocol, track_protocol_of
from ioukit.tracks.sequences import frames_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit._array_types import Ids, Positions
    from ioukit.evaluation.evaluating import DetectionsLike, GroundTruthLike
    from ioukit.evaluation.kinds.kind import Kind
    from ioukit.tracks.protocols import KeptRows, TrackProtocol
    from ioukit.tracks.sequences import Frames
    from ioukit.typing import IouType

_COCO = "coco"
SHOWN = 5
"""How many names of classes or sequences a message has."""


class Prepared(NamedTuple):
    """Both sides of an evaluation, and what counts of them."""

    gt: GroundTruth
    dt: Detections
    given_detections: int
    """How many there were; ``dt`` has none with the id of no object where ids are those of objects."""
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
    """Read both sides and leave out what the protocol does; arguments are as for :func:`ioukit.evaluate_tracks`."""
    kind = None if iou_type is None else find_kind(iou_type)
    workers = check_threads(threads)
    gt = ground_truth_of(_with_attributes(ground_truth, GroundTruth, threads), None, threads)
    dt = detections_of(_with_attributes(detections, Detections, threads), gt, threads).known_to(gt).for_counts()
    frames = frames_of(gt)
    kind_name = None if kind is None else kind.name
    if protocol is None:
        wanted = None if categories is None else gt.categories.ids[gt.categories.positions(categories)]
        rules = known_protocol(gt, frames.names, kind_name, wanted, scored=dt.scored)
        if rules is PLAIN and kind_name is not None:
            shown = known_protocol(gt, frames.names, None, wanted, scored=dt.scored)
            if shown is not PLAIN:
                gt = replace(gt, notes=(*gt.notes, _note_of_kind(gt.source, shown, kind_name)))
        if rules.j_and_f:  # leaves nothing out, which is what other notes are about
            plain = "protocol='plain' (--protocol plain) with iou_type='segm' (--iou-type segm) counts neither"
            note = f"{gt.source}: evaluated by the protocol {rules.name}, which counts J and F of masks; {plain}"
            gt = replace(gt, notes=(*gt.notes, note))
    else:
        rules = track_protocol_of(protocol, kind_name)
    if rules.tubes is not None and not dt.scored:
        raise DatasetError(
            f"{dt.source}: the detections have no scores, and AP of whole tracks ranks by scores; the protocol plain "
            "counts without them"
        )
    kind = find_kind(rules.iou_type) if kind is None else kind
    boxes = kind.name == BOXES
    is_label = ~np.isin(gt.category_ids, rules.left_out_ids)
    gt, dt = with_merged_classes(gt, dt, rules.merged_ids, is_label) if rules.federated else (gt, dt)
    given_detections = len(dt)
    if rules.classes_of_objects:
        images = _images_of(gt, gt.image_ids), _images_of(gt, dt.image_ids_in(gt.images))
        dt = with_classes_of_objects(gt, dt, images, frames, is_label)
    chosen = _chosen(gt, dt, categories, rules)
    found_in = dt.image_ids_in(gt.images)
    images = _images_of(gt, gt.image_ids), _images_of(gt, found_in)
    kept = kept_rows(rules, gt, dt, chosen, frames, images, workers)
    objects = side_of(gt, "annotations", frames, images[0], chosen.ids, kept.objects, boxes=boxes)
    ids, federated = None, None
    if rules.federated:
        most, guided = rules.most_detections, rules.classes_of_objects
        federated = federated_rows(
            kind, (gt, dt), images, frames, chosen, most, is_label, workers, are_of_objects=guided
        )
        kept, ids = kept._replace(found=federated.counted), None if guided else federated.order_of_tracks
    found = side_of(dt, "detections", frames, images[1], chosen.ids, kept.found, boxes=boxes, order_of_tracks=ids)
    sides = (gt, dt, given_detections)
    return Prepared(*sides, kind, frames, rules, chosen, kept, found_in, objects, found, workers, images, federated)


def _note_of_kind(source: str, shown: TrackProtocol, iou_type: str) -> str:
    """That data of a benchmark are not evaluated by its protocol, because another kind of region is compared."""
    note = f"{source}: compared by {iou_type!r}, so evaluated by the protocol plain and not by {shown.name}"
    if not shown.takes(iou_type):
        return f"{note}, which compares {shown.iou_type!r} alone"
    name = shown.name.lower()
    return f"{note}; protocol={name!r} (--protocol {name}) has the rules of the benchmark for {iou_type!r}, too"


def _images_of(gt: GroundTruth, image_ids: Ids) -> Positions:
    """(N,) the position of each image among those of the ground truth."""
    return np.searchsorted(gt.images.ids, image_ids)


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
        shown = f"{', '.join(names[:SHOWN])}{', ...' if len(names) > SHOWN else ''}" or "none"
        expected = " or ".join(protocol.classes)
        raise DatasetError(
            f"{gt.source}: categories: the protocol {protocol.name} expects {expected}, found {shown}; rename a class, "
            "or choose the protocol plain"
        )
    if categories is not None:
        places = np.unique(np.array(gt.categories.positions(categories), np.int64))
        if others := np.setdiff1d(places, evaluated).tolist():
            named = ", ".join(protocol.classes) or "no distractors"
            raise DatasetError(
                f"{gt.source}: the protocol {protocol.name} evaluates {named}, and not "
                f"{gt.categories.names[others[0]]}; the protocol plain evaluates every class"
            )
    elif protocol.classes:
        places = evaluated
    else:
        objects = gt.category_ids[~(gt.flag("dont_care") | gt.flag("ignore_region"))]  # areas of KITTI and MOTS
        there = objects if protocol.federated else np.concatenate([objects, dt.category_ids])
        places = np.intersect1d(np.flatnonzero(np.isin(gt.categories.ids, there)), evaluated)
    if not len(places) or not len(gt.images):
        raise DatasetError(f"{gt.source}: expected objects with tracks, found no object and no detection")
    chosen: Categories = gt.categories.take(places)
    return chosen
