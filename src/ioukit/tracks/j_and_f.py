"""J and F of masks over time, as DAVIS defines them: how well regions and their boundaries fit, object by object.

Every number has the bits of TrackEval 1.3.0, with two exceptions: it numbers the frames of J-Decay and F-Decay in eight
bits, which are too few for 256 frames, and it has no numbers of sequences without objects, which here do not count.

The boundary of a mask is the pixels that differ from the next one to the right, below, or right and below. A boundary
pixel fits if one of the other mask lies in a disk around it: at most 0.008 of the diagonal of the image away, rounded
up to whole pixels.

Source: Perazzi et al., A Benchmark Dataset and Evaluation Methodology for Video Object Segmentation, CVPR 2016; and
https://github.com/JonathonLuiten/TrackEval for what the paper leaves open.
"""

from __future__ import annotations

import operator
from functools import cached_property, reduce
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit._checks import pluralize
from ioukit._columns import Frozen, record
from ioukit._keywords import answers_keywords
from ioukit.errors import DatasetError
from ioukit.evaluation.kinds.kind import measured_pairs
from ioukit.evaluation.kinds.masks import masks_of_both
from ioukit.overlap.one_to_one import assign_rows
from ioukit.tracks.identities import tracks_of
from ioukit.tracks.measures import EPSILON, MATCH_THRESHOLD
from ioukit.tracks.overlaps import compared_sides
from ioukit.tracks.preparing import prepared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ioukit._array_types import Flags, Floats, Rows
    from ioukit._boundary import PairColumns
    from ioukit.evaluation.evaluating import DetectionsLike, GroundTruthLike
    from ioukit.evaluation.kinds.kind import Comparison
    from ioukit.regions.masks import Masks
    from ioukit.tracks.identities import Side
    from ioukit.tracks.preparing import Prepared
    from ioukit.tracks.protocols import TrackProtocol

_KEYS = ("J-Mean", "J-Recall", "J-Decay", "F-Mean", "F-Recall", "F-Decay")
J_AND_F_KEYS = ("J&F", *_KEYS)
"""The numbers that a user sees, in their order."""
_DISTANCE = 0.008
"""How far apart boundaries may be, as a share of the diagonal of the image: DAVIS' number."""
_OUTER = 2
"""How many frames of a sequence do not count where objects are given: the first and the last."""
_PARTS = 4
"""Decay is the mean of the first of so many parts of a sequence minus that of the last one."""


class ObjectNumbers(NamedTuple):
    """J and F of an object over all frames of its sequence."""

    category: str
    """Its class."""
    sequence: str
    """The name of the sequence."""
    track: Any
    """Its track id."""
    found: Any
    """The track of the result that is its pair; ``None`` if none was left."""
    numbers: Mapping[str, float]
    """``J-Mean``, ``J-Recall``, ``J-Decay``, ``F-Mean``, ``F-Recall`` and ``F-Decay``."""


@record(frozen=True, eq=False, repr=False)
class JAndF(Frozen):
    """The result of :func:`evaluate_j_and_f`.

    J of an object is the mean IoU of its masks and those of its track over all frames of the sequence; it is 1 in
    frames without both. Recall is the share of frames above 0.5. Decay is how much J falls from the first quarter of
    the sequence to the last one. F is the same for boundaries: the harmonic mean of their precision and recall. ``J&F``
    is the mean of J and F.
    """

    category_names: tuple[str, ...]
    """(K,) the names of the classes."""
    sequence_names: tuple[str, ...]
    """(S,) the names of the sequences."""
    objects: tuple[ObjectNumbers, ...]
    """A row per object, by class and sequence, in the order of the tracks that are their pairs."""

    @cached_property
    def _by_scope(self) -> dict[tuple[str, str], list[Mapping[str, float]]]:
        """The numbers of the objects of each class in each sequence."""
        found: dict[tuple[str, str], list[Mapping[str, float]]] = {}
        for one in self.objects:
            found.setdefault((one.category, one.sequence), []).append(one.numbers)
        return found

    def part(self, category: str, sequence: str) -> dict[str, float]:
        """The mean over the objects of a class in a sequence; NaN without objects.

        Args:
            category: The name of the class.
            sequence: The name of the sequence.
        """
        rows = self._by_scope.get((category, sequence), [])
        means = {key: float(np.mean([row[key] for row in rows])) if rows else nan for key in _KEYS}
        return {"J&F": (means["J-Mean"] + means["F-Mean"]) / 2, **means, "num_gt_tracks": len(rows)}

    @cached_property
    def per_class(self) -> Mapping[str, Mapping[str, float]]:
        """The numbers of each class by its name: the mean over the objects of all sequences; NaN without objects."""
        return {one: _together([self.part(one, name) for name in self.sequence_names]) for one in self.category_names}

    @cached_property
    def sequences(self) -> Mapping[str, Mapping[str, float]]:
        """The numbers of each sequence by its name: the mean over its classes with objects."""
        return {one: _averaged([self.part(name, one) for name in self.category_names]) for one in self.sequence_names}

    @cached_property
    def summary(self) -> Mapping[str, float]:
        """The mean over classes with objects, by TrackEval's names: ``J&F``, ``J-Mean``, ``F-Mean`` and so on."""
        return _averaged([*self.per_class.values()])

    def sums(self, sequence: str) -> Floats:
        """(K, 8) the number of objects of each class in a sequence, and the sums of their numbers.

        Args:
            sequence: The name of the sequence.
        """
        parts = [self.part(name, sequence) for name in self.category_names]
        counts = np.array([part["num_gt_tracks"] for part in parts], np.float64).reshape(-1, 1)
        means = np.nan_to_num([[part[key] for key in J_AND_F_KEYS] for part in parts]).reshape(-1, len(J_AND_F_KEYS))
        return np.hstack([counts, counts * means])

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={self.summary[key]:.4f}" for key in ("J&F", "J-Mean", "F-Mean"))
        return f"JAndF({shown}, {pluralize(len(self.objects), 'object')})"


def _together(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean over sequences, each with the weight of its objects, summed one after another as in TrackEval."""
    parts = [part for part in parts if part["num_gt_tracks"]]
    count = sum(part["num_gt_tracks"] for part in parts)
    means = {}
    for key in J_AND_F_KEYS:
        total = reduce(operator.add, (part[key] * part["num_gt_tracks"] for part in parts), 0.0)
        means[key] = total / count if count else nan
    return {**means, "num_gt_tracks": count}


def _averaged(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    parts = [part for part in parts if part["num_gt_tracks"]]
    means = {key: float(np.mean([part[key] for part in parts])) if parts else nan for key in J_AND_F_KEYS}
    return {**means, "num_gt_tracks": sum(part["num_gt_tracks"] for part in parts)}


def drawn_j_and_f(sums: Sequence[Floats], weights: Floats) -> dict[str, Floats]:
    """(R,) the numbers of R data sets in which each sequence stands so many times; 0 without objects.

    Args:
        sums: (N,) the sums of each sequence, see :meth:`JAndF.sums`.
        weights: (R, N) how many times each sequence stands in each data set; not only whole numbers.
    """
    drawn = np.tensordot(weights, np.stack(sums), axes=1)  # (R, K, 8)
    counts = drawn[:, :, :1]
    means = (drawn[:, :, 1:] / np.where(counts > 0, counts, 1)).sum(axis=1) / np.maximum(1, (counts > 0).sum(axis=1))
    return dict(zip(J_AND_F_KEYS, means.T, strict=True))


@answers_keywords
def evaluate_j_and_f(
    ground_truth: GroundTruthLike,
    detections: DetectionsLike,
    *,
    protocol: TrackProtocol | str | None = None,
    categories: Sequence[int | str] | None = None,
    threads: int | None = None,
) -> JAndF:
    """J and F of the masks of tracks, DAVIS' measures of video object segmentation.

    In each class and sequence, objects and tracks of the result become pairs, one to one and with the highest sum of
    J. Tracks that are left do not count.

    Args:
        ground_truth: The objects with masks, as for :func:`ioukit.evaluate_tracks`.
        detections: The results of the tracker with masks, likewise.
        protocol: What is left out, likewise.
        categories: Ids or names of the classes to evaluate, likewise.
        threads: How many threads measure J; all cores if ``None``. F is measured by one.

    Raises:
        DatasetError: As for :func:`ioukit.evaluate_tracks`, or if a side has no masks.
        ValueError: As for :func:`ioukit.evaluate_tracks`.

    Examples:
        >>> import numpy as np
        >>> from ioukit import Detections, GroundTruth, Masks
        >>> pixels = np.zeros((2, 20, 20), bool)
        >>> pixels[:, 4:12, 4:14] = True
        >>> columns = {"image_ids": ["walk/1", "walk/2"], "category_ids": [1, 1], "attributes": {"track_id": [1, 1]}}
        >>> ground_truth = GroundTruth.from_arrays(**columns, regions=Masks.from_arrays(pixels))
        >>> pixels[1, :, 9:] = False
        >>> detections = Detections.from_arrays(**columns, regions=Masks.from_arrays(pixels), scores=None)
        >>> evaluate_j_and_f(ground_truth, detections)  # J is 1 and 0.5
        JAndF(J&F=0.7944, J-Mean=0.7500, F-Mean=0.8387, 1 object)
    """
    given = prepared(ground_truth, detections, protocol, "segm", categories, threads)
    compared = compared_sides(given.gt, given.dt, given.found_in, given.workers)
    return j_and_f_of(given, masks_measured(compared))


def j_and_f_of(given: Prepared, measured: MeasuredMasks) -> JAndF:
    """J and F of all objects.

    Args:
        given: Both sides.
        measured: Their masks.
    """
    ids, rows = (tracks_of(given.gt), tracks_of(given.dt)), []
    starts = given.frames.starts
    for place, category in enumerate(given.chosen.names):
        for number, sequence in enumerate(given.frames.names):
            first, length = place * len(given.frames.images) + starts[number], starts[number + 1] - starts[number]
            count, others = (int(side.counts[place, number]) for side in (given.objects, given.found))
            objects = _rows_of(given.objects, first, length, count)
            # One row more has no mask: objects may be left without a track.
            found = _rows_of(given.found, first, length, max(count, others + given.rules.objects_are_given))
            if given.rules.objects_are_given:
                pairs = _pairs_by_id(ids, objects, found)
                counted = _inner_frames(sequence, length)
            else:
                means = [np.mean(measured.j(one, objects), axis=1) for one in found]
                pairs = [*zip(*assign_rows(-np.array(means).reshape(len(found), count)), strict=True)]
                counted = slice(None)
            for track, at in pairs:
                both = found[track, counted], objects[at, counted]
                numbers = [*_numbers(measured.j(*both)), *_numbers(measured.f(*both))]
                track_ids = [_id_of(*pair) for pair in zip(ids, (objects[at], found[track]), strict=True)]
                named = dict(zip(_KEYS, numbers, strict=True))
                rows.append(ObjectNumbers(category, sequence, track_ids[0], track_ids[1], named))
    return JAndF(tuple(given.chosen.names), given.frames.names, tuple(rows))


def _pairs_by_id(
    ids: tuple[np.ndarray[Any, Any] | None, np.ndarray[Any, Any] | None], objects: Rows, found: Rows
) -> list[tuple[int, int]]:
    """The track with the id of each object, and the object; an object without one gets a row that has no mask."""
    tracks = {_id_of(ids[1], rows): at for at, rows in enumerate(found)}
    empty = len(found) - 1
    return [(tracks.get(_id_of(ids[0], rows), empty), at) for at, rows in enumerate(objects)]


def _inner_frames(sequence: str, length: int) -> slice:
    """All frames of a sequence but the first, which is given, and the last."""
    if length <= _OUTER:
        raise DatasetError(
            f"sequence {sequence!r} has {pluralize(int(length), 'frame')}, and the first and the last one do not "
            "count where objects are given: expected 3 or more"
        )
    return slice(1, -1)


def _id_of(ids: np.ndarray[Any, Any] | None, rows: Rows) -> Any:
    """The id of the track that has these rows; ``None`` if it has none."""
    there = rows[rows >= 0]
    return None if ids is None or not len(there) else ids[there[0]].item()


def _rows_of(side: Side, first: int, length: int, count: int) -> Rows:
    """(count, T) the row of each track in each of T frames, the first of which has this place; -1 for none."""
    starts = side.columns.starts[first : first + length + 1]
    chosen = slice(starts[0], starts[-1])
    table = np.full((count, length), -1)
    table[side.columns.tracks[chosen], np.repeat(np.arange(length), np.diff(starts))] = side.rows[chosen]
    return table


def _numbers(values: Floats) -> list[float]:
    """The mean over frames, recall and decay."""
    places = np.round(np.linspace(1, len(values), _PARTS + 1) + 1e-10).astype(np.int64) - 1  # as DAVIS rounds
    first, last = (values[places[part] : places[part + 1] + 1] for part in (0, _PARTS - 1))
    recall = np.mean(values > MATCH_THRESHOLD + EPSILON)
    return [float(np.mean(values)), float(recall), float(np.mean(first) - np.mean(last))]


def masks_measured(compared: Comparison) -> MeasuredMasks:
    """The masks of both sides, and their overlaps.

    Args:
        compared: Both sides.

    Raises:
        DatasetError: If a side has no masks, or those of an image have different sizes.
    """
    masks = masks_of_both(compared, "segm")
    return MeasuredMasks(*masks, measured_pairs(compared, *masks))


class MeasuredMasks:
    """J and F of pairs of masks. The row -1 stands for no mask, which is a mask without pixels."""

    def __init__(self, objects: Masks, found: Masks, pairs: PairColumns) -> None:
        """Take the masks of both sides, and the IoU of the pairs that overlap, sorted."""
        self.pairs = pairs
        self._count = len(objects)
        self._keys = np.append(pairs.detection * self._count + pairs.object, np.iinfo(np.int64).max)
        self._overlaps = np.append(pairs.overlap, 0.0)
        self._masks = found, objects
        self._areas = [np.append(masks.area, 0.0) for masks in self._masks]
        self._corners = [masks.to_boxes().numpy().astype(np.int64) for masks in self._masks]

    def j(self, found: Rows, objects: Rows) -> Floats:
        """The IoU of the masks of a track and those of objects in the same frames; 1 where both have no pixel."""
        keys = found * self._count + objects
        at = np.searchsorted(self._keys, keys)
        overlaps = np.where((found >= 0) & (objects >= 0) & (self._keys[at] == keys), self._overlaps[at], 0.0)
        overlaps[(self._areas[0][found] == 0) & (self._areas[1][objects] == 0)] = 1.0
        return overlaps

    def f(self, found: Rows, objects: Rows) -> Floats:
        """How well the boundaries of the masks of a track and of an object fit, frame by frame."""
        return np.array([self._fit(pair) for pair in zip(found.tolist(), objects.tolist(), strict=True)])

    def _fit(self, rows: tuple[int, int]) -> float:
        sides = list(zip(self._masks, self._areas, self._corners, rows, strict=True))
        # A mask of all pixels has no boundary, as one of none.
        bounded = [0 < areas[row] < masks.sizes[row].prod() if row >= 0 else False for masks, areas, _, row in sides]
        if not all(bounded):
            return float(not any(bounded))
        corners = np.array([corners[row] for *_, corners, row in sides])
        (left, top), (right, bottom) = np.maximum(corners[:, :2].min(axis=0) - 1, 0), corners[:, 2:].max(axis=0) + 1
        boundaries = [_boundary(masks[[row]].to_arrays()[0, top:bottom, left:right]) for masks, *_, row in sides]
        radius = int(np.ceil(_DISTANCE * np.linalg.norm(self._masks[0].sizes[rows[0]])))
        precision = _share_near(boundaries[0], boundaries[1], radius)
        recall = _share_near(boundaries[1], boundaries[0], radius)
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _boundary(pixels: Flags) -> Flags:
    """(H, W) the pixels that differ from the next one to the right, below, or both; beyond the image, none does."""
    padded = np.pad(pixels, ((0, 1), (0, 1)), mode="edge")
    others = np.stack([padded[:-1, 1:], padded[1:, :-1], padded[1:, 1:]])
    found: Flags = (others != pixels).any(axis=0)
    return found


def _share_near(boundary: Flags, other: Flags, radius: int) -> float:
    """The share of the pixels of a boundary that have one of another boundary in the disk around them."""
    steps = np.arange(-radius, radius + 1)
    reach = np.sqrt(radius * radius - steps * steps).astype(np.int64)  # how far the disk reaches in each of its rows
    before = np.pad(other, ((radius, radius), (radius + 1, radius))).cumsum(axis=1)  # pixels of a row up to each one
    rows, columns = (places[:, np.newaxis] for places in np.nonzero(boundary))
    lines = rows + steps + radius
    is_near = before[lines, columns + reach + radius + 1] > before[lines, columns - reach + radius]
    return int(is_near.any(axis=1).sum()) / len(rows)
