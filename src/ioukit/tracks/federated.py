"""Videos in which not all classes were looked for, as in TAO and BURST: which rows count there, and as which class.

Owns: what follows `TrackProtocol.federated`: merged classes, the lists of the videos, the detections that count, and
in which order TrackEval has detections and ids. Does not own: how the lists are read (`datasets/columns`), nor what is
counted.

Sources: Dave et al., TAO, ECCV 2020; Athar et al., BURST, WACV 2023; and the data sets `tao.py` and `burst.py` of
https://github.com/JonathonLuiten/TrackEval for what the papers leave open.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit import _core
from ioukit._boundary import TrackColumns
from ioukit._checks import pluralize
from ioukit.errors import DatasetError
from ioukit.tracks.identities import side_of, tracks_of
from ioukit.tracks.measures import MATCH_THRESHOLD
from ioukit.tracks.overlaps import compared_sides, overlap_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit._array_types import Flags, Positions, Rows
    from ioukit.datasets import Categories, Detections, GroundTruth
    from ioukit.evaluation.kinds.kind import Kind
    from ioukit.tracks.sequences import Frames
    from ioukit.tracks.tubes import Tracks

_ABSENT, _OPEN = "neg_category_ids", "not_exhaustive_category_ids"
_LISTS = (_ABSENT, _OPEN)
_MERGED = "merged"


def lists_needed(*, are_of_objects: bool) -> tuple[str, ...]:
    """The lists of ids of categories that each video must have.

    Args:
        are_of_objects: Whether detections have the classes of objects, so that no class can be one that nobody looked
            for.
    """
    return (_OPEN,) if are_of_objects else _LISTS


class Labelled(NamedTuple):
    """What was looked for in each video."""

    is_absent: Flags
    """(K, S) whether a class was looked for, and is not there."""
    is_open: Flags
    """(K, S) whether a class is there, and not all of its objects are labelled."""


def with_merged_classes(
    gt: GroundTruth, dt: Detections, pairs: Sequence[tuple[int, int]], is_label: Flags
) -> tuple[GroundTruth, Detections]:
    """Both sides with the classes that others take in: TAO's categories list them in ``merged``.

    Args:
        gt: The objects.
        dt: The result.
        pairs: Further classes, each with the one that takes it in.
        is_label: (G,) which objects count. The others keep their classes.

    Raises:
        DatasetError: If such a list is none of records with ids.
    """
    column = gt.categories.attributes.get(_MERGED)
    if column is None and not pairs:
        return gt, dt
    new = {number: number for number in gt.categories.ids.tolist()}
    new.update((one, other) for one, other in pairs if one in new and other in new)
    texts = [] if column is None else zip(gt.categories.ids.tolist(), column.tolist(), strict=True)
    for number, text in texts:
        new.update(dict.fromkeys(_merged_ids(text, f"{gt.source}: category {number}"), number))
    known, taken = (np.array(column, np.int64) for column in (list(new), list(new.values())))
    order = np.argsort(known)

    def merged(ids: Any) -> Any:
        return taken[order][np.searchsorted(known[order], ids)]

    objects = np.where(is_label, merged(gt.category_ids), gt.category_ids)
    return replace(gt, category_ids=objects), replace(dt, category_ids=merged(dt.category_ids))


def with_classes_of_objects(
    gt: GroundTruth, dt: Detections, images: tuple[Positions, Positions], frames: Frames, is_label: Flags
) -> Detections:
    """The detections whose track id an object of their sequence has, with the class of that object.

    Args:
        gt: The objects.
        dt: The result.
        images: The position of the image of each row of both.
        frames: The frames.
        is_label: (G,) which objects count.
    """
    ids = tracks_of(gt), tracks_of(dt)
    if ids[0] is None or ids[1] is None:
        return dt  # which is refused where tracks are numbered
    names, number = np.unique(np.concatenate([ids[0], ids[1]]), return_inverse=True)
    track = frames.sequence[np.concatenate(images)] * len(names) + number
    known, firsts = np.unique(track[: len(gt)][is_label], return_index=True)
    rows = np.flatnonzero(np.isin(track[len(gt) :], known))
    at = np.searchsorted(known, track[len(gt) :][rows])
    notes = dt.notes
    if count := len(dt) - len(rows):
        notes += (f"{dt.source}: left out {pluralize(count, 'detection')} with a track id that no object has",)
    return replace(dt.take(rows), category_ids=gt.category_ids[is_label][firsts][at], notes=notes)


def _merged_ids(text: str, place: str) -> list[int]:
    try:
        return [int(one["id"]) for one in json.loads(text or "[]")]
    except (ValueError, TypeError, KeyError):
        raise DatasetError(f"{place}.{_MERGED}: expected a list of records with an id, found {text}") from None


class FederatedRows(NamedTuple):
    """Which detections count, and in which order."""

    labelled: Labelled
    order: Rows
    """The detections that are not too many for their image, image by image."""
    order_of_tracks: Positions
    """(D,) the place of the track of each detection among all tracks."""
    counted: Flags
    """(D,) whether each detection counts."""


def federated_rows(
    kind: Kind,
    data: tuple[GroundTruth, Detections],
    images: tuple[Positions, Positions],
    frames: Frames,
    chosen: Categories,
    most: int | None,
    is_label: Flags,
    threads: int,
    *,
    are_of_objects: bool,
) -> FederatedRows:
    """What the lists of the videos leave of a result.

    Args:
        kind: The kind of region.
        data: The objects and the result.
        images: The position of the image of each row of both.
        frames: The frames.
        chosen: The classes.
        most: How many detections of an image count; all if ``None``.
        is_label: (G,) which objects count as labels of their image.
        threads: How many threads; 0 for all cores.
        are_of_objects: Whether detections have the classes of objects, so that no class can be one that nobody looked
            for.

    Raises:
        DatasetError: If the images have no lists, or a region has no valid track id.
    """
    given, dt = _labelled(data[0], chosen, frames, lists_needed(are_of_objects=are_of_objects)), data[1]
    order = np.arange(len(dt)) if most is None else _in_order(dt, images[1], most)
    counts = np.zeros(len(dt), np.bool_)
    counts[order] = True
    counts &= np.isin(images[1], images[0][is_label]) & np.isin(dt.category_ids, chosen.ids)
    if not are_of_objects:
        counts &= _counted_detections(kind, data, images, frames, chosen, given, counts, threads)
    return FederatedRows(given, order, _order_of_tracks(dt, frames, images[1], order), counts)


def tracks_looked_for(rows: FederatedRows, objects: Tracks, found: Tracks, chosen: Categories) -> Tracks:
    """The tracks of the result; the class of those whose class was not looked for in their video is -1."""
    is_there = rows.labelled.is_absent.copy()
    known = np.isin(objects.category, chosen.ids)
    is_there[np.searchsorted(chosen.ids, objects.category[known]), objects.sequence[known]] = True
    place = np.minimum(np.searchsorted(chosen.ids, found.category), len(chosen) - 1)
    return found._replace(category=np.where(is_there[place, found.sequence], found.category, -1))


def lists_of_videos(gt: GroundTruth, *, masks: bool = False) -> bool:
    """Whether videos list what was looked for, by which TAO's files are told from other files of videos of boxes.

    Args:
        gt: The objects.
        masks: Whether BURST's files are asked for: they have masks, and names of sequences in the place of ids.
    """
    lists = all(hasattr(gt.images.attributes.get(name), "ends") for name in _LISTS)
    return lists and ("sequence" if masks else "video_id") in gt.images.attributes and ("Masks" in gt.regions) is masks


def notes_of_lists(gt: GroundTruth) -> list[str]:
    """A note for each list that has ids which no category has: they change nothing, and may be mistakes."""
    notes = []
    for name in _LISTS:
        listed: Any = gt.images.attributes.get(name)
        if not hasattr(listed, "ends"):
            continue
        unknown = np.setdiff1d(listed.ids, gt.categories.ids)
        if len(unknown):
            ids = pluralize(len(unknown), "id")
            notes.append(f"{gt.source}: {name} of videos has {ids} that no category has, the first one {unknown[0]}")
    return notes


def _labelled(gt: GroundTruth, chosen: Categories, frames: Frames, names: Sequence[str]) -> Labelled:
    """What was looked for in each sequence, from the lists of its images that have these names.

    Raises:
        DatasetError: If the images have no such lists.
    """
    found = {name: np.zeros((len(chosen), len(frames.names)), np.bool_) for name in _LISTS}
    for name in names:
        lists: Any = gt.images.attributes.get(name)
        if lists is None or not hasattr(lists, "ends"):
            raise DatasetError(
                f"{gt.source}: videos: the protocol expects {name}, a list of ids of categories for each video, found "
                "none; the protocol plain needs no such lists"
            )
        sequence = np.repeat(frames.sequence, np.diff(lists.ends, prepend=0))
        is_chosen = np.isin(lists.ids, chosen.ids)
        found[name][np.searchsorted(chosen.ids, lists.ids[is_chosen]), sequence[is_chosen]] = True
    return Labelled(found[_ABSENT], found[_OPEN])


def _in_order(dt: Detections, images: Positions, most: int) -> Rows:
    """The rows of at most so many detections per image, the surest ones, image by image as they first come."""
    unique, firsts, image = np.unique(images, return_index=True, return_inverse=True)
    is_crowded = np.bincount(image, minlength=len(unique))[image] > most
    order = np.lexsort((np.where(is_crowded, -dt.scores, 0.0), firsts[image]))
    counts = np.bincount(image, minlength=len(unique))[np.argsort(firsts)]
    place = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    return order[place < most]


def _order_of_tracks(dt: Detections, frames: Frames, images: Positions, order: Rows) -> Positions:
    """(N,) the place of the track of each row among all tracks: ids that several sequences have come last.

    TrackEval gives those new ids, in the order of the file. The order of ids decides the last bit of sums.
    """
    ids = tracks_of(dt)
    if ids is None:
        return np.zeros(len(dt), np.int64)
    names, number = np.unique(ids, return_inverse=True)
    scope = number * len(frames.names) + frames.sequence[images]
    scopes, firsts, of_scope = np.unique(scope[order], return_index=True, return_inverse=True)
    of_name = scopes // len(frames.names)
    is_shared = np.bincount(of_name, minlength=len(names))[of_name] > 1
    rank = np.empty(len(scopes), np.int64)
    rank[np.lexsort((np.where(is_shared, firsts, of_name), is_shared))] = np.arange(len(scopes))
    places = np.zeros(len(dt), np.int64)
    places[order] = rank[of_scope]
    return places


def _counted_detections(
    kind: Kind,
    data: tuple[GroundTruth, Detections],
    images: tuple[Positions, Positions],
    frames: Frames,
    chosen: Categories,
    given: Labelled,
    is_first: Flags,
    threads: int,
) -> Flags:
    """(D,) whether each detection of the chosen classes counts, if it is not one too many.

    It does not if its image has none of the class, and the class was not looked for; or if it has no pair, and not all
    objects of the class are labelled.
    """
    gt, dt = data
    both = (gt, images[0], np.isin(gt.category_ids, chosen.ids)), (dt, images[1], np.isin(dt.category_ids, chosen.ids))
    classes = [np.where(on, np.searchsorted(chosen.ids, side.category_ids), 0) for side, _, on in both]
    objects, found = (of * len(frames.images) + image for of, image in zip(classes, images, strict=True))
    is_object, is_chosen = both[0][2], both[1][2] & is_first
    together = np.isin(found, objects[is_object])
    is_absent = given.is_absent[classes[1], frames.sequence[images[1]]]
    counted: Flags = is_chosen & (together | is_absent)
    # Pairs matter where not all objects are labelled. Frames that have only one side have none.
    is_open = is_chosen & given.is_open[classes[1], frames.sequence[images[1]]]
    kept = is_object & np.isin(objects, found[is_open]), is_open & together
    is_open[_with_pairs(kind, data, images, frames, chosen, kept, threads)] = False
    return counted & ~is_open


def _with_pairs(
    kind: Kind,
    data: tuple[GroundTruth, Detections],
    images: tuple[Positions, Positions],
    frames: Frames,
    chosen: Categories,
    kept: tuple[Flags, Flags],
    threads: int,
) -> Rows:
    """The detections that have a pair. Each class and frame with a row that is kept has rows of both sides."""
    gt, dt = data
    boxes = kind.name == "bbox"
    objects = side_of(gt, "annotations", frames, images[0], chosen.ids, kept[0], boxes=boxes)
    found = side_of(dt, "detections", frames, images[1], chosen.ids, kept[1], boxes=boxes)
    tables, begins = (None, np.zeros(len(objects.columns.starts), np.int64))
    if not boxes:
        compared = compared_sides(gt, dt, gt.images.ids[images[1]], threads)
        tables, begins = overlap_tables(kind, compared, objects, found)
    # Each frame is a sequence of its own, in which each region is a track.
    filled = np.flatnonzero(np.diff(objects.columns.starts))
    of_objects, of_found = (_of_frames(side.columns, filled, len(side.rows)) for side in (objects, found))
    counts = [np.diff(columns.starts) for columns in (of_objects, of_found)]
    jobs = np.stack([np.arange(len(filled)), *counts, begins[filled]], axis=-1)
    threshold = MATCH_THRESHOLD
    pairs = _core.count_tracks(
        np.ascontiguousarray(jobs), of_objects, of_found, tables, np.array([threshold]), threshold, threshold, threads
    )
    rows: Rows = found.rows[pairs["match_found"]]
    return rows


def _of_frames(columns: TrackColumns, filled: Positions, count: int) -> TrackColumns:
    """The same rows in the frames that have some, each region a track of its own."""
    starts = np.append(columns.starts[filled], count)
    tracks = np.arange(count) - np.repeat(starts[:-1], np.diff(starts))
    return TrackColumns(starts=starts, tracks=tracks, boxes=columns.boxes)
