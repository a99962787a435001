"""AP of whole tracks: the mean precision of tracks that are found with their tubes, as TAO, BURST and YouTube-VIS ask.

Owns: which rows are a track, how much two tubes overlap (the sum of the intersections over the sum of the unions of
all their frames), and AP and AR from that. Does not own: the overlaps of a frame (`overlaps.py`, or the corners of
`identities.py`), nor which videos look for which classes (`federated.py`).

Every number has the bits of TrackEval's `TrackMAP`, with one exception: there, a track of the result with the id 0
leaves its object free for another track. Here, 0 is an id like others.

Sources: Yang et al., Video Instance Segmentation, ICCV 2019; Dave et al., TAO, ECCV 2020; and `trackeval/metrics/
track_map.py` of https://github.com/JonathonLuiten/TrackEval for what the papers leave open.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from math import nan
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit import _core
from ioukit.evaluation.kinds.kind import MaskColumns
from ioukit.tracks.identities import side_of, tracks_of
from ioukit.tracks.overlaps import compared_sides, overlap_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ioukit._array_types import Flags, Floats, Ids, Positions, Rows
    from ioukit.datasets import Categories, Detections, GroundTruth
    from ioukit.evaluation.kinds.kind import Kind
    from ioukit.tracks.identities import Side
    from ioukit.tracks.measures import Values
    from ioukit.tracks.sequences import Frames

TUBE_THRESHOLDS: Floats = np.arange(0.5, 0.96, 0.05)
"""(10,) the overlaps of tubes from which on a track is found."""
_RECALLS = np.linspace(0.0, 1.0, 101)
_EPSILON = float(np.finfo(np.float64).eps)
_HIGHEST = 1 - 1e-10
_BOXES = "bbox"
_LEAST = 0.49
"""What two tubes share is at least so much of the larger one, if their overlap reaches the lowest threshold."""
_BY_AREA, _BY_LENGTH = ("area_s", "area_m", "area_l"), ("time_s", "time_m", "time_l")
_LARGEST = {_BY_AREA: 1e10, _BY_LENGTH: 1e5}
TUBE_KEYS = tuple(f"{measure}_{tracks}" for measure in ("AP", "AR") for tracks in ("all", *_BY_AREA, *_BY_LENGTH))
"""The numbers of tubes that a user sees, in their order."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class TubeRules:
    """How AP of whole tracks is counted.

    The score of a track is the mean of those of its detections, and its area the mean of those of its regions.
    """

    areas: tuple[float, float] | None = None
    """Up to which area, in square pixels, a track is small or medium; no numbers by area if ``None``."""
    lengths: tuple[float, float] | None = None
    """Up to how many frames a track is short or medium; no numbers by length if ``None``."""
    of_files: bool = False
    """Whether the files list tracks, not regions: then the area of an object is that of its records, areas of 0 are
    left out of the mean, and the score is that of any detection of a track."""

    def __post_init__(self) -> None:
        """Refuse bounds that are not two numbers, the lower one first."""
        for name, bounds in (("areas", self.areas), ("lengths", self.lengths)):
            if bounds is not None and not _are_bounds(bounds):
                raise ValueError(f"{name} must be two numbers of at least 0, the lower one first, got {bounds!r}")


def _are_bounds(given: Any) -> bool:
    if not isinstance(given, Sequence) or len(given) != 2 or not all(isinstance(one, Real) for one in given):
        return False
    return bool(0 <= given[0] < given[1])


class Tracks(NamedTuple):
    """The tracks of a side, in the order of their first rows."""

    of_row: Positions
    """(N,) the track of each row; -1 for those that do not count."""
    rows: Sequence[Rows]
    """The rows of each track, in the order of frames."""
    category: Positions
    """(T,) the id of the class of each track: that of its first row."""
    sequence: Positions
    """(T,) its sequence."""


class Compared(NamedTuple):
    """What is compared; each pair is of the objects and of the result."""

    kind: Kind
    data: tuple[GroundTruth, Detections]
    images: tuple[Positions, Positions]
    """The position of the image of each row."""
    tracks: tuple[Tracks, Tracks]
    frames: Frames
    chosen: Categories
    threads: int
    """How many threads; 0 for all cores."""

    def image_ids(self, at: int) -> Ids:
        """(N,) the image of each row of a side, as the ground truth identifies it."""
        return self.data[0].images.ids[self.images[at]]


def tracks_in(
    side: GroundTruth | Detections,
    frames: Frames,
    images: Positions,
    order: Rows | None = None,
    *,
    across_classes: bool = False,
) -> Tracks:
    """The tracks of a side: the regions of a sequence that have one id.

    Args:
        side: The objects, or the result.
        frames: The frames.
        images: (N,) the position of the image of each row.
        order: The rows that count, in the order that says which track is first; all in theirs if ``None``.
        across_classes: Whether a track is of the class of its first region, whatever classes the others have; else one
            id in two classes is two tracks.
    """
    order = np.arange(len(side)) if order is None else order
    ids = tracks_of(side)
    names, number = np.unique(np.zeros(len(side)) if ids is None else ids, return_inverse=True)
    scope = frames.sequence[images[order]] * max(len(names), 1) + number[order]
    if not across_classes:
        classes, of_class = np.unique(side.category_ids[order], return_inverse=True)
        scope = scope * max(len(classes), 1) + of_class
    _, firsts, track = np.unique(scope, return_index=True, return_inverse=True)
    rank = np.empty(len(firsts), np.int64)
    rank[np.argsort(firsts)] = np.arange(len(firsts))
    track, firsts = rank[track], order[np.sort(firsts)]
    by_time = np.lexsort((frames.place[images[order]], track))
    ends = np.cumsum(np.bincount(track, minlength=len(firsts)))
    of_row = np.full(len(side), -1)
    of_row[order] = track
    rows = np.split(order[by_time], ends[:-1]) if len(firsts) else []
    return Tracks(of_row, rows, side.category_ids[firsts], frames.sequence[images[firsts]])


def tube_numbers(rules: TubeRules, compared: Compared, is_open: Flags) -> tuple[list[Values], list[Values]]:
    """AP and AR of each class: (10,) arrays, a value per overlap, NaN where there is no object to find.

    The second list has the matches of all tracks of each sequence, from which :func:`drawn_tubes` counts.

    Args:
        rules: What is counted.
        compared: Objects and results. Tracks of other classes than the chosen ones do not count.
        is_open: (K, S) where not all objects of a class are labelled: there, a track without an object does not count.

    Raises:
        DatasetError: If a region has no valid track id.
        ValueError: If the regions are neither upright boxes nor masks.
    """
    areas = _areas(compared)
    near = _overlaps(compared, areas)
    scores = compared.data[1].scores
    score = [float(scores[rows[0]] if rules.of_files else np.mean(scores[rows])) for rows in compared.tracks[1].rows]
    orders = range(len(compared.tracks[0].rows)), sorted(range(len(score)), key=lambda at: -score[at])
    of_objects, of_found = (_by_scope(*pair) for pair in zip(compared.tracks, orders, strict=True))
    made: list[Values] = [{} for _ in is_open]
    of_sequences: list[Values] = []
    for name, outside in _outside(rules, compared, areas):
        parts = [
            [
                _matched(
                    of_objects.get((number, at), []),
                    of_found.get((number, at), []),
                    near,
                    outside,
                    score,
                    is_open=open_,
                )
                for at, open_ in enumerate(row)
            ]
            for number, row in zip(compared.chosen.ids.tolist(), is_open.tolist(), strict=True)
        ]
        for values, row in zip(made, parts, strict=True):
            values[f"AP_{name}"], values[f"AR_{name}"] = _precision(row)
        if name == "all":
            of_sequences = [_of_sequence(column) for column in zip(*parts, strict=True)]
    return made, of_sequences


def _by_scope(tracks: Tracks, order: Sequence[int]) -> dict[tuple[int, int], list[int]]:
    """The tracks of each class and sequence, in this order."""
    scopes = list(zip(tracks.category.tolist(), tracks.sequence.tolist(), strict=True))
    found: dict[tuple[int, int], list[int]] = {}
    for at in order:
        found.setdefault(scopes[at], []).append(at)
    return found


def mean_of_classes(classes: Sequence[Values]) -> Values:
    """The mean of each number over the classes that have it."""
    found: Values = {}
    for name in classes[0] if classes else ():
        columns = np.array([one[name] for one in classes]).T
        known = [column[~np.isnan(column)] for column in columns]
        found[name] = np.array([np.mean(column) if len(column) else nan for column in known])
    return found


def _areas(compared: Compared) -> tuple[Floats, Floats]:
    """(N,) the areas of the regions of both sides."""
    gt, dt = compared.data
    if compared.kind.name == _BOXES:
        return gt.boxes[:, 2] * gt.boxes[:, 3], dt.boxes[:, 2] * dt.boxes[:, 3]
    masks = compared.kind.compare(compared_sides(gt, dt, compared.image_ids(1), compared.threads))
    if not isinstance(masks, MaskColumns):
        raise ValueError(f"AP of whole tracks needs boxes or masks, 'bbox' or 'segm', got {compared.kind.name!r}")
    first, second = (_core.mask_areas(*parts) for parts in (masks.object_masks, masks.detection_masks))
    return first.astype(np.float64), second.astype(np.float64)


def _overlaps(compared: Compared, areas: tuple[Floats, Floats]) -> dict[int, list[tuple[int, float]]]:
    """Of each track of the result, the objects that it may find, and the overlaps of their tubes."""
    gt, dt = (_by_track(side, tracks) for side, tracks in zip(compared.data, compared.tracks, strict=True))
    objects, found = _tubes(compared, gt, 0), _tubes(compared, dt, 1)
    heights, widths = (np.diff(side.columns.starts) for side in (objects, found))
    counts = heights * widths
    frame = np.repeat(np.arange(len(counts)), counts)
    at = np.arange(len(frame)) - np.repeat(np.cumsum(counts) - counts, counts)
    rows = objects.columns.starts[frame] + at // widths[frame]
    columns = found.columns.starts[frame] + at % widths[frame]
    if compared.kind.name == _BOXES:
        ones, others = objects.columns.boxes[rows], found.columns.boxes[columns]
        lengths = np.minimum(ones[:, 2:], others[:, 2:]) - np.maximum(ones[:, :2], others[:, :2])
        common = np.maximum(lengths, 0).prod(axis=1)
    else:
        both_sides = compared_sides(gt, dt, compared.image_ids(1), compared.threads)
        table, _ = overlap_tables(compared.kind, both_sides, objects, found)
        # Pixels are whole numbers, which the rounded quotient still tells.
        both = areas[0][objects.rows[rows]] + areas[1][found.rows[columns]]
        common = np.rint(table * both / (1 + table))
    meets = common > 0
    whole = [
        np.bincount(one.of_row[side.rows], weights=area[side.rows], minlength=len(one.rows)).astype(np.float64)
        for one, side, area in zip(compared.tracks, (objects, found), areas, strict=True)
    ]
    pairs = objects.rows[rows[meets]], found.rows[columns[meets]]
    return _of_tubes(compared, areas, whole, pairs, common[meets])


def _of_tubes(
    compared: Compared, areas: tuple[Floats, Floats], whole: Sequence[Floats], rows: tuple[Rows, Rows], common: Floats
) -> dict[int, list[tuple[int, float]]]:
    """As `_overlaps`, from the areas of all regions and of whole tubes, and from pairs of rows and what they share."""
    tracks, image_ids = compared.tracks, (compared.image_ids(0), compared.image_ids(1))
    count = max(len(whole[1]), 1)
    pairs, pair = np.unique(tracks[0].of_row[rows[0]] * count + tracks[1].of_row[rows[1]], return_inverse=True)
    shared = np.bincount(pair, weights=common, minlength=len(pairs))
    order = np.argsort(pair, kind="stable")
    starts = np.searchsorted(pair[order], np.arange(len(pairs) + 1))
    found: dict[int, list[tuple[int, float]]] = {}
    for at, number in enumerate(pairs.tolist()):
        one, other = divmod(number, count)
        if shared[at] < _LEAST * max(whole[0][one], whole[1][other]):
            continue
        chosen = order[starts[at] : starts[at + 1]]
        inside = dict(zip(image_ids[0][rows[0][chosen]].tolist(), common[chosen].tolist(), strict=True))
        of_object, of_track = (
            dict(zip(ids[side.rows[track]].tolist(), area[side.rows[track]].tolist(), strict=True))
            for ids, area, side, track in zip(image_ids, areas, tracks, (one, other), strict=True)
        )
        overlap = _tube_overlap(of_object, of_track, inside)
        if overlap >= TUBE_THRESHOLDS[0] - _EPSILON:
            found.setdefault(other, []).append((one, overlap))
    return found


def _tube_overlap(object_areas: dict[int, float], found_areas: dict[int, float], common: dict[int, float]) -> float:
    """The overlap of two tubes, from the areas and the intersections by the ids of images.

    The last bit depends on the order of the sums, which is that of Python's sets of these ids, as there.
    """
    intersection = union = 0.0
    for image in set(object_areas) | set(found_areas):
        both = common.get(image, 0.0)
        intersection += both
        union += object_areas.get(image, 0.0) + found_areas.get(image, 0.0) - both
    return intersection / union if union > 0 else 0.0


def _by_track(side: Any, tracks: Tracks) -> Any:
    """A side in which each region has the class of its track."""
    return dataclasses.replace(side, category_ids=np.append(tracks.category, -1)[tracks.of_row])


def _tubes(compared: Compared, side: GroundTruth | Detections, at: int) -> Side:
    """The regions of the tubes of a side, sorted; of two in one frame, which have different classes, the last one."""
    images = compared.images[at]
    kept = np.zeros(len(side), np.bool_)
    for rows in compared.tracks[at].rows:
        kept[rows[np.append(np.diff(images[rows]) != 0, True)]] = True
    kept &= np.isin(side.category_ids, compared.chosen.ids)
    array = ("annotations", "detections")[at]
    boxes = compared.kind.name == _BOXES
    return side_of(side, array, compared.frames, images, compared.chosen.ids, kept, boxes=boxes)


def _outside(
    rules: TubeRules, compared: Compared, areas: tuple[Floats, Floats]
) -> Iterator[tuple[str, tuple[list[bool], list[bool]]]]:
    """The names of the sets of tracks that are evaluated, and whether each track of both sides is outside."""
    everything = [np.zeros(len(tracks.rows), np.bool_).tolist() for tracks in compared.tracks]
    yield "all", (everything[0], everything[1])
    own = (compared.data[0].areas, areas[1]) if rules.of_files else areas
    sizes = [
        [_mean_area(rules, area[rows]) for rows in tracks.rows]
        for area, tracks in zip(own, compared.tracks, strict=True)
    ]
    lengths = [[float(len(rows)) for rows in tracks.rows] for tracks in compared.tracks]
    for bounds, names, values in ((rules.areas, _BY_AREA, sizes), (rules.lengths, _BY_LENGTH, lengths)):
        if bounds is None:
            continue
        for name, low, high in zip(names, (0.0, *bounds), (*bounds, _LARGEST[names]), strict=True):
            first, second = ([not low - _EPSILON <= value <= high + _EPSILON for value in side] for side in values)
            yield name, (first, second)


def _mean_area(rules: TubeRules, areas: Floats) -> float:
    if not rules.of_files:
        return float(sum(areas.tolist()) / len(areas))  # Python's sum, as there
    seen = areas[areas != 0]
    return float(np.mean(seen)) if len(seen) else 0.0


class _Matched(NamedTuple):
    """The tracks of a class in a sequence: objects that count, and those of the result, the surest first."""

    objects: int
    scores: list[float]
    is_found: Flags
    """(10, D) whether each track of the result has an object, per threshold."""
    is_ignored: Flags
    """(10, D) whether it does not count."""


_NOTHING = _Matched(0, [], *np.zeros((2, len(TUBE_THRESHOLDS), 0), np.bool_))


def _matched(
    objects: list[int],
    found: list[int],
    near: dict[int, list[tuple[int, float]]],
    outside: tuple[list[bool], list[bool]],
    score: list[float],
    *,
    is_open: bool,
) -> _Matched:
    """One to one, the surest track first: an object that counts before others, then the highest overlap."""
    if not objects and not found:
        return _NOTHING
    is_found, is_ignored = np.zeros((2, len(TUBE_THRESHOLDS), len(found)), np.bool_)
    counts = sum(not outside[0][one] for one in objects)
    rank = {one: (outside[0][one], at) for at, one in enumerate(objects)}
    listed = [sorted(near.get(one, ()), key=lambda pair: rank[pair[0]]) for one in found]
    for row, threshold in enumerate(TUBE_THRESHOLDS.tolist()):
        taken: set[int] = set()
        for column, candidates in enumerate(listed):
            best, least = -1, min(threshold, _HIGHEST)
            for one, overlap in candidates:
                if one in taken:
                    continue
                if best >= 0 and outside[0][one] and not outside[0][best]:
                    break
                if overlap >= least - _EPSILON:
                    best, least = one, overlap
            if best >= 0:
                taken.add(best)
            is_found[row, column] = best >= 0
            is_ignored[row, column] = outside[0][best] if best >= 0 else is_open or outside[1][found[column]]
    return _Matched(counts, [score[one] for one in found], is_found, is_ignored)


def _precision(parts: Sequence[_Matched]) -> tuple[Floats, Floats]:
    """(10,) AP and AR of a class, from the tracks of all sequences."""
    total = sum(part.objects for part in parts)
    if not total:
        return np.full(len(TUBE_THRESHOLDS), nan), np.full(len(TUBE_THRESHOLDS), nan)
    scores = np.array([score for part in parts for score in part.scores])
    order = np.argsort(-scores, kind="stable")
    is_found, is_ignored = (np.concatenate(columns, axis=1)[:, order] for columns in list(zip(*parts, strict=True))[2:])
    hits, errors = (np.cumsum(one & ~is_ignored, axis=1).astype(np.float64) for one in (is_found, ~is_found))
    recalls = hits / total
    precisions = hits / (errors + hits + np.spacing(1))
    precisions = np.maximum.accumulate(precisions[:, ::-1], axis=1)[:, ::-1]
    average = []
    for recall, precision in zip(recalls, precisions, strict=True):
        at = np.searchsorted(recall, _RECALLS, side="left")
        average.append(np.mean(np.append(precision, 0.0)[at]))  # a recall that is not reached has precision 0
    return np.array(average), recalls[:, -1] if len(scores) else np.zeros(len(TUBE_THRESHOLDS))


def _of_sequence(parts: Sequence[_Matched]) -> Values:
    """The matches of a sequence as arrays, from those of each class."""
    is_found, is_ignored = (np.concatenate(columns, axis=1) for columns in list(zip(*parts, strict=True))[2:])
    return {
        "tube_objects": np.array([part.objects for part in parts], np.float64),
        "tube_classes": np.repeat(np.arange(len(parts)), [len(part.scores) for part in parts]),
        "tube_scores": np.array([score for part in parts for score in part.scores], np.float64),
        "tube_hits": is_found & ~is_ignored,
        "tube_errors": ~is_found & ~is_ignored,
    }


def drawn_tubes(sequences: Sequence[Values], weights: Floats) -> dict[str, Floats]:
    """(R,) AP and AR of all tracks of R data sets in which each sequence stands so many times; 0 without objects.

    Args:
        sequences: The matches of N sequences, see :func:`tube_numbers`.
        weights: (R, N) how many times each sequence stands in each data set; not only whole numbers.
    """
    objects = weights @ np.stack([one["tube_objects"] for one in sequences])  # (R, K)
    classes, scores = (np.concatenate([one[name] for one in sequences]) for name in ("tube_classes", "tube_scores"))
    hits, errors = (np.concatenate([one[name] for one in sequences], axis=1) for name in ("tube_hits", "tube_errors"))
    sequence = np.repeat(np.arange(len(sequences)), [len(one["tube_scores"]) for one in sequences])
    order = np.lexsort((-scores, classes))
    sums = np.zeros((2, len(weights)))
    for rows in np.split(order, np.flatnonzero(np.diff(classes[order])) + 1) if len(order) else []:
        drawn, total = weights[:, sequence[rows]], objects[:, classes[rows[0]]]
        for hit, error in zip(hits[:, rows], errors[:, rows], strict=True):
            if hit.any():
                sums += _drawn_precision(drawn, hit, error, total)
    means = sums / len(TUBE_THRESHOLDS) / np.maximum(1, (objects > 0).sum(axis=1))
    return {"AP_all": means[0], "AR_all": means[1]}


def _drawn_precision(weights: Floats, hit: Flags, error: Flags, total: Floats) -> tuple[Floats, Floats]:
    """(R,) AP and AR of a class at one overlap, from the weights of its tracks, the surest first."""
    found = np.cumsum(weights[:, hit], axis=1)
    wrong = np.pad(np.cumsum(weights[:, error], axis=1), ((0, 0), (1, 0)))[:, np.cumsum(error)[hit]]
    precisions = found / (found + wrong + np.spacing(1))
    precisions = np.maximum.accumulate(precisions[:, ::-1], axis=1)[:, ::-1]
    recalls = found / np.where(total > 0, total, 1)[:, np.newaxis]
    reached = np.searchsorted(_RECALLS, recalls, side="right")
    return (precisions * np.diff(reached, prepend=0, axis=1)).sum(axis=1) / len(_RECALLS), recalls[:, -1]
