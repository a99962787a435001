"""What kinds of errors are there? The error kinds of TIDE, and the AP that each of them costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._array_types import Bytes, Flags, Floats, Rows
from ioukit._boundary import DrawingColumns, OutcomeColumns
from ioukit._checks import check_count, check_number, check_threads
from ioukit._columns import Frozen, record
from ioukit._words_and_colours import ERROR_WORDS
from ioukit.evaluation.analysis._near import near_pairs
from ioukit.evaluation.analysis._parts import Gathered
from ioukit.evaluation.analysis._ranking import threshold_and_range
from ioukit.evaluation.curves import CurveSteps, drawing_of
from ioukit.evaluation.table import NEARLY_ONE, MatchTable, NearPairs

ERROR_KINDS = ("classification", "localisation", "both", "duplicate", "background", "missed")
"""The kinds of errors; the last is an error of objects, the others are errors of detections."""

BACKGROUND_THRESHOLD = 0.1
"""TIDE's: a detection with a lower IoU with every object is an error of the background."""

_CLASSIFICATION, _LOCALISATION, _BOTH, _DUPLICATE, _BACKGROUND = range(5)
_CORRECTIONS = (*ERROR_KINDS, "false_positive", "false_negative")


@record(frozen=True, eq=False, repr=False)
class ErrorKinds(Frozen):
    """The result of :func:`error_kinds`."""

    iou_threshold: float
    """``t_f``: the lowest IoU of a match."""
    area_range: str
    """Label of the area range."""
    background_threshold: float
    """``t_b``: a detection whose IoU with every object is at most this lies on background."""
    ap: float
    """Mean AP at ``t_f`` over the classes of the protocol's mean, within [0, 1]; NaN if there are none. With COCO's
    protocol, these are the classes that have objects."""
    delta_ap: Mapping[str, float]
    """The gain in AP if all errors of one kind were corrected, and no others: one number for each of
    :data:`ERROR_KINDS`, one for all ``"false_positive"`` detections and one for all ``"false_negative"`` objects. The
    numbers do not add up to a total. NaN if AP is NaN, or if the correction leaves neither objects nor detections."""
    counts: Mapping[str, int]
    """The number of errors of each of :data:`ERROR_KINDS`."""
    detection_kind: npt.NDArray[np.int8]
    """(N,) position in :data:`ERROR_KINDS` for each detection of the table; -1 for detections that are right, ignored
    or not counted."""
    detection_object: npt.NDArray[np.int64]
    """(N,) for an error of classification, localisation or both, or a duplicate: the row in the table of the object
    with the highest IoU, of the same class for localisation and duplicates, of another class otherwise. -1 for other
    detections."""
    missed: npt.NDArray[np.bool_]
    """(G,) whether each object of the table is an error of the kind ``"missed"``."""

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """One row per kind of error."""
        return [
            {"kind": words.plain, "errors": self.counts[kind], "gain in AP if corrected": self.delta_ap[kind]}
            for kind, words in ERROR_WORDS.items()
        ], 0

    def notebook_caption(self) -> str:
        """What the errors are taken from."""
        return f"ErrorKinds: AP {self.ap:.3f}"

    def __repr__(self) -> str:
        kinds = ", ".join(f"{kind} {self.delta_ap[kind]:.4f} ({self.counts[kind]:,})" for kind in ERROR_KINDS)
        return f"ErrorKinds(AP {self.ap:.4f}, {kinds})"


def error_kinds(
    table: MatchTable,
    *,
    iou_threshold: float | None = None,
    area_range: str | None = None,
    background_threshold: float = BACKGROUND_THRESHOLD,
    max_dets_per_image: int | None = None,
    threads: int | None = None,
) -> ErrorKinds:
    """The kinds of errors of TIDE, and how much AP each kind costs.

    Let ``t_f`` be the IoU threshold and ``t_b`` the background threshold. For a false positive, ``same`` is its highest
    IoU with an object of its class on its image, whether or not another detection matches that object, and ``other`` is
    its highest IoU with an object of another class. Its kind is the first of these that holds:

    - **localisation** ``t_b <= same <= t_f``: the right class in the wrong place;
    - **classification** ``other >= t_f``: the right place, the wrong class;
    - **duplicate** ``same >= t_f``: of an object that a better detection matches;
    - **background** ``same <= t_b`` and ``other <= t_b``: nothing is there;
    - **both** otherwise: the wrong class in the wrong place.

    An object that no detection matches is **missed**, unless it is the object of an error of localisation or
    classification.

    ``delta_ap[kind]`` is ``max(0, AP' - AP)``, where AP' is AP after all errors of the kind are corrected. An object
    that no detection matches may have several errors of localisation and classification. The one with the highest score
    becomes a true positive (of the object's class) if it is of this kind. All other errors of the kind are left out.
    For ``"missed"``, the missed objects are left out. ``"false_positive"`` puts all false positives behind the true
    ones, ``"false_negative"`` leaves out all objects that no detection matches; these two differences may be negative.

    AP is that of the match table, with its protocol's recalls, caps and mean over classes: at IoU 0.5 with COCO's
    protocol it is AP50, with TIDE's it is tidecv's. If the correction leaves a class no objects, the class counts as 0
    while it has detections, and is left out otherwise.
    The analysis leaves out ignored rows: crowds, objects outside the area range, the detections that match these, and
    the detections that match no object and are themselves outside the area range.

    Args:
        table: The matches, with near pairs. With a class-agnostic protocol all classes are the same.
        iou_threshold: ``t_f``, one of the protocol's thresholds; its main one if ``None``.
        area_range: Label of one of the protocol's area ranges; its main one if ``None``.
        background_threshold: ``t_b``, above 0 and at most ``t_f``, and at least the IoU of the near pairs.
        max_dets_per_image: A cap on the detections of an image, all classes together, best first, in addition to the
            protocol's cap; no such cap if ``None``. The authors' program uses 100.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        ValueError: If a threshold or the cap is out of range, the protocol has no such threshold or area range, or the
            table does not list the near pairs that are needed.

    Reference: Bolya et al., TIDE: A General Toolbox for Identifying Object Detection Errors, ECCV 2020,
    arXiv:2008.08115. Counts and differences agree with tidecv 1.0.1, with the exceptions that docs/errors.md lists.
    """
    protocol = table.protocol
    iou_threshold, area_range = threshold_and_range(protocol, iou_threshold, area_range)
    check_number(background_threshold=background_threshold)
    if not 0 < background_threshold <= iou_threshold:
        raise ValueError(
            f"background_threshold must be above 0 and at most iou_threshold {iou_threshold}, got "
            f"{background_threshold}"
        )
    if max_dets_per_image is not None:
        check_count(max_dets_per_image=max_dets_per_image)
    errors_of = partial(
        _errors_of,
        iou_threshold=iou_threshold,
        area_range=area_range,
        background_threshold=background_threshold,
        cap=max_dets_per_image,
    )
    table.announce("errors", threads=threads)
    # Of a map, no part is in memory while the next one is read.
    found = _added_up(map(errors_of, table.parts()), table.totals["detections"])
    num_objects = table.num_objects[:, protocol.position_of_area(area_range)]
    before, *corrected = _mean_precisions(found, num_objects, table, threads)
    delta = {}
    for kind, after in zip(_CORRECTIONS, corrected, strict=True):
        gain = after - before
        delta[kind] = max(gain, 0.0) if kind in ERROR_KINDS and gain == gain else gain  # noqa: PLR0124 - not NaN

    counts = np.bincount(found.kind[~found.right], minlength=len(ERROR_KINDS) - 1).tolist()
    return ErrorKinds(
        iou_threshold=iou_threshold,
        area_range=area_range,
        background_threshold=float(background_threshold),
        ap=before,
        delta_ap=delta,
        counts=dict(zip(ERROR_KINDS, [*counts, len(found.missed_category)], strict=True)),
        detection_kind=found.detection_kind,
        detection_object=found.detection_object,
        missed=found.missed,
    )


class _Found(NamedTuple):
    """What is kept of some images: what AP without an error is drawn from, and the columns of the result.

    Errors depend on their image alone, so those of all images are those of parts, one after another.
    """

    category: npt.NDArray[np.uint32]
    """(N,) one value per detection that counts, as in the next columns."""
    score: Floats
    right: Flags
    """(N,) whether it is a true positive."""
    kind: npt.NDArray[np.int8]
    """(N,) the kind of its error, -1 for none."""
    correctable: Rows
    """(C,) rows of the errors that become true positives when their kind is corrected."""
    becomes: npt.NDArray[np.uint32]
    """(C,) the category of each of these then."""
    missed_category: npt.NDArray[np.uint32]
    """(M,) the category of each missed object."""
    unmatched_category: npt.NDArray[np.uint32]
    """(U,) the category of each object that no detection matches."""
    missed: Flags
    """(G,) as in the result."""
    detection_kind: npt.NDArray[np.int8]
    """(D,) as in the result, and so the next column."""
    detection_object: Rows


def _errors_of(
    table: MatchTable, iou_threshold: float, area_range: str, background_threshold: float, cap: int | None
) -> _Found:
    """The errors of some images."""
    near = near_pairs(table, background_threshold)
    scene = _Scene.of(table, iou_threshold, area_range, cap)
    errors = _sort(scene, near, min(iou_threshold, NEARLY_ONE), background_threshold)
    kind = np.full(len(scene.found), -1, np.int8)
    kind[errors.row] = errors.kind
    detection_kind = np.full(len(table), -1, np.int8)
    detection_kind[scene.row] = kind
    about = np.full(len(table), -1)
    about[scene.row[errors.row]] = errors.target
    missed = np.zeros(len(table.objects), np.bool_)
    missed[errors.missed] = True
    return _Found(
        category=scene.category,
        score=scene.score,
        right=scene.found,
        kind=kind,
        correctable=errors.row[errors.corrects],
        becomes=scene.object_category[errors.target[errors.corrects]],
        missed_category=scene.object_category[errors.missed],
        unmatched_category=scene.object_category[scene.object_counts & ~scene.object_found],
        missed=missed,
        detection_kind=detection_kind,
        detection_object=about,
    )


def _added_up(parts: Iterable[_Found], most: int) -> _Found:
    """The errors of parts that follow one another, of at most so many detections."""
    counted = Gathered(most, np.uint32, np.float64, np.bool_, np.int8)
    listed = Gathered(most, np.int8, np.int64)
    of_objects, objects = [], 0
    for part in parts:
        of_objects.append((part.correctable + len(counted), *part[5:9]))
        counted.add(*part[:4])
        about = part.detection_object
        listed.add(part.detection_kind, np.where(about < 0, -1, about + objects))
        objects += len(part.missed)
    return _Found(*counted.columns(), *map(np.concatenate, zip(*of_objects, strict=True)), *listed.columns())


class _Scene(NamedTuple):
    """The true and false positives at the threshold, by image, and the objects."""

    category: npt.NDArray[np.uint32]
    """(N,) one value per detection, as in the next columns."""
    score: Floats
    found: Flags
    row: Rows
    """(N,) row in the table."""
    order: Rows
    """(N,) row in the data: it orders detections with equal scores."""
    object_category: npt.NDArray[np.uint32]
    """(G,) one value per object, as in the next columns."""
    object_counts: Flags
    """(G,) whether the object counts."""
    object_found: Flags
    object_order: Rows
    """(G,) row in the data: it orders objects with equal IoU."""

    @classmethod
    def of(cls, table: MatchTable, iou_threshold: float, area_range: str, cap: int | None) -> _Scene:
        found = table.is_true_positive(iou_threshold, area_range)
        rows = table.detections
        kept = table.is_within_cap()
        if cap is not None:
            inside = np.flatnonzero(kept)
            order = inside[np.lexsort((rows.row[inside], -rows.score[inside], rows.image[inside]))]
            starts = np.searchsorted(rows.image[order], rows.image[order])
            kept = np.zeros(len(table), np.bool_)
            kept[order] = np.arange(len(order)) - starts < cap
        counted = np.flatnonzero(kept & ~table.is_ignored(iou_threshold, area_range))
        object_found = np.zeros(len(table.objects), np.bool_)
        object_found[table.matched_object(iou_threshold, area_range)[found & kept]] = True
        return cls(
            table.evaluated_category(rows.category[counted]),
            rows.score[counted],
            found[counted],
            counted,
            rows.row[counted],
            table.evaluated_category(table.objects.category),
            ~table.ignores(area_range),
            object_found,
            table.objects.row,
        )


class _Errors(NamedTuple):
    """The false positives and the missed objects."""

    row: Rows
    """(E,) row in the scene of each false positive; the next columns have one value per false positive, too."""
    kind: npt.NDArray[np.int8]
    target: Rows
    """(E,) row of the object of the error, -1 for none."""
    corrects: Flags
    """(E,) whether the detection becomes a true positive when its kind is corrected."""
    missed: Rows
    """(M,) rows of the missed objects."""


def _sort(scene: _Scene, near: NearPairs, most: float, least: float) -> _Errors:
    """Sort the false positives into kinds."""
    row = np.flatnonzero(~scene.found)
    error, target, iou = _overlaps(scene, row, near, least)
    alike = scene.category[row[error]] == scene.object_category[target]
    order = scene.object_order[target]
    (same, same_target), (other, other_target) = (
        best_overlaps(len(row), error[chosen], target[chosen], iou[chosen], order[chosen]) for chosen in (alike, ~alike)
    )
    kind, target = kinds_of_false_positives(same, same_target, other, other_target, most=most, least=least)

    # Of all errors of one unmatched object, the one with the highest score could have matched it.
    able = np.isin(kind, (_LOCALISATION, _CLASSIFICATION))
    able[able] = ~scene.object_found[target[able]]
    able_rows = np.flatnonzero(able)
    at = row[able_rows]
    order = np.lexsort((scene.order[at], -scene.score[at], target[able_rows]))
    able_rows = able_rows[order]
    corrects = np.zeros(len(row), np.bool_)
    corrects[able_rows[np.diff(target[able_rows], prepend=-1) != 0]] = True
    missed = scene.object_counts & ~scene.object_found
    missed[target[able]] = False
    return _Errors(row, kind, target, corrects, np.flatnonzero(missed))


def _overlaps(scene: _Scene, row: Rows, near: NearPairs, least: float) -> tuple[Rows, Rows, Floats]:
    """All pairs with an IoU of at least ``least``: position of the error, row of the object, and IoU."""
    error_of = np.full(int(near.detection.max(initial=-1)) + 1, -1)
    inside = scene.row[row] < len(error_of)
    error_of[scene.row[row][inside]] = np.flatnonzero(inside)
    error = error_of[near.detection]
    wanted = (error >= 0) & scene.object_counts[near.object] & (near.iou >= least)
    return error[wanted], near.object[wanted], near.iou[wanted]


def best_overlaps(
    count: int, error: npt.NDArray[np.intp], target: Rows, iou: Floats, order: Rows
) -> tuple[Floats, Rows]:
    """(count,) highest IoU of each detection, 0 for none, and the first object of the file with it, -1 for none.

    Args:
        count: How many detections there are.
        error: (P,) the detection of each pair, below ``count``.
        target: (P,) the row of its object.
        iou: (P,) its IoU.
        order: (P,) the row of the object in the data.
    """
    highest, best = np.zeros(count), np.full(count, -1)
    np.maximum.at(highest, error, iou)
    top = np.flatnonzero(iou == highest[error])
    best[error[top]] = target[top]
    several = top[np.bincount(error[top], minlength=count)[error[top]] > 1]
    several = several[np.argsort(-order[several], kind="stable")]  # the first one is written last
    best[error[several]] = target[several]
    return highest, best


def kinds_of_false_positives(
    same: Floats,
    same_object: npt.NDArray[np.integer[Any]],
    other: Floats,
    other_object: npt.NDArray[np.integer[Any]],
    *,
    most: float,
    least: float,
) -> tuple[npt.NDArray[np.int8], npt.NDArray[Any]]:
    """The kind of each false positive, as :func:`error_kinds` says, and the row of the object of the error.

    Args:
        same: Highest IoU with an object of its class; 0 for none.
        same_object: Row of that object.
        other: Highest IoU with an object of another class; 0 for none.
        other_object: Row of that object; -1 for none.
        most: ``t_f``.
        least: ``t_b``.
    """
    tests = [(least <= same) & (same <= most), other >= most, same >= most, (same <= least) & (other <= least)]
    kind = np.select(tests, [_LOCALISATION, _CLASSIFICATION, _DUPLICATE, _BACKGROUND], _BOTH).astype(np.int8)
    about = np.where((kind == _LOCALISATION) | (kind == _DUPLICATE), same_object, other_object)
    about[kind == _BACKGROUND] = -1
    return kind, about


def _mean_precisions(errors: _Found, num_objects: Rows, table: MatchTable, threads: int | None) -> list[float]:
    """The mean AP, and the one with all errors of each kind corrected.

    It is over the classes that the protocol takes with the objects before anything was corrected, and summed in the
    same order as in the summary.
    """
    protocol, size = table.protocol, 1 + len(_CORRECTIONS)
    if not protocol.ranks:  # errors have kinds, but cost no AP
        return [float("nan")] * size
    category, score, matched, ignored = _all_corrections(errors)
    objects = np.repeat(num_objects[:, None], size, axis=1)
    for kind, gone in (("missed", errors.missed_category), ("false_negative", errors.unmatched_category)):
        objects[:, 1 + _CORRECTIONS.index(kind)] -= np.bincount(gone, minlength=len(objects))
    recalls = np.array(protocol.recall_thresholds)
    # What the core calls area ranges are the corrections: so the detections are sorted once for all of them.
    curves: Mapping[str, npt.NDArray[Any]] = _core.accumulate(
        OutcomeColumns(
            category=category,
            rank=np.zeros(len(score), np.uint32),  # every cap on detections has been applied
            score=score,
            matched=matched[..., None],
            ignored=ignored[..., None],
            num_objects=objects.astype(np.uint64),
        ),
        DrawingColumns(
            num_thresholds=1,
            recall_thresholds=recalls,
            caps=np.ones(1, np.uint32),
            caps_over_all_images=False,
            plain_precision=drawing_of(protocol).plain_precision,
            integral="recalls",
        ),
        check_threads(threads),
    )
    steps, places = CurveSteps.joined([curves]), np.arange(objects.size).reshape(objects.shape)
    # A false positive that is put behind the true ones is still detected.
    ignored[:, 1 + _CORRECTIONS.index("false_positive")] = 0
    rows = np.flatnonzero((objects == 0).any(axis=1)[category])
    found = []
    for at in range(size):
        precision = steps.points("precision", curves["recall"], places[:, at], len(recalls)).T  # (R, K)
        detected = np.zeros(len(objects), np.bool_)
        detected[category[rows[ignored[rows, at] == 0]]] = True
        precision = np.where((objects[:, at] == 0) & detected, 0.0, precision)
        if protocol.counts_undefined:
            precision = np.nan_to_num(precision)
        if not (protocol.counts_undefined or protocol.zero_if_detected):
            precision = np.where(num_objects > 0, precision, np.nan)
        defined = precision[~np.isnan(precision)]
        found.append(float(np.mean(defined)) if defined.size else float("nan"))
    return found


def _all_corrections(errors: _Found) -> tuple[npt.NDArray[np.uint32], Floats, Bytes, Bytes]:
    """The category and score of detections, and whether each is right and left out: as it is, and in each correction.

    A detection that gets another class stands twice, one behind the other, so that equal scores keep their order.
    """
    moved = errors.becomes != errors.category[errors.correctable]
    behind = errors.correctable[moved] + 1
    category = np.insert(errors.category, behind, errors.becomes[moved])
    score = np.insert(errors.score, behind, errors.score[errors.correctable[moved]])
    kind, right = np.insert(errors.kind, behind, -1), np.insert(errors.right, behind, False)
    matched = np.repeat(right[:, None].view(np.uint8), 1 + len(_CORRECTIONS), axis=1)
    ignored = np.zeros_like(matched)
    for number in range(len(ERROR_KINDS) - 1):
        ignored[:, 1 + number] = kind == number
    # Behind the true ones, they take nothing from these: as if they were not there. A class that has no others still
    # counts as 0 where a protocol says so, as in tidecv.
    ignored[:, 1 + _CORRECTIONS.index("false_positive")] = ~right
    rows = errors.correctable + np.cumsum(moved)  # of those that stand twice, the second
    ignored[rows[moved]] = 1
    correction = 1 + errors.kind[errors.correctable]
    matched[rows, correction], ignored[rows, correction] = 1, 0
    return category, score, matched, ignored
