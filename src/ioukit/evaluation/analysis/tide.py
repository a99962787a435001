"""Why does it fail? The kinds of errors of TIDE, and the AP that each of them costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._checks import check_count, check_number, check_threads
from ioukit.datasets import Detections, GroundTruth
from ioukit.evaluation._rows import check_data, frozen, objects, positions
from ioukit.evaluation.matching import MatchTable

__all__ = ["KINDS", "ErrorKinds", "error_kinds"]

KINDS = ("classification", "localisation", "both", "duplicate", "background", "missed")
"""The kinds of errors; the last is one of objects, the others are of detections."""

_CLASSIFICATION, _LOCALISATION, _BOTH, _DUPLICATE, _BACKGROUND = range(5)

# Matching asks for no more than this, as pycocotools does (cocoeval 277).
_NEARLY_ONE = 1.0 - 1e-10
# Overlaps computed at once: 32 MB.
_AT_ONCE = 1 << 22

Rows = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class ErrorKinds:
    """The result of :func:`error_kinds`."""

    iou_threshold: float
    """``t_f``: the IoU from which a detection can match an object."""
    area: str
    """Label of the area range."""
    background_threshold: float
    """``t_b``: the IoU up to which a detection shows nothing but background."""
    ap: float
    """Mean AP at ``t_f`` over the classes that have an object, within [0, 1]; NaN where none has."""
    delta_ap: Mapping[str, float]
    """What AP would rise by if all errors of a kind were mended, and no others: one number for each of :data:`KINDS`,
    and for all ``"false_positive"`` and all ``"false_negative"`` detections and objects. They do not add up. NaN where
    AP is, or where mending leaves neither object nor detection."""
    counts: Mapping[str, int]
    """How many errors of each of :data:`KINDS` there are."""
    detection_kind: npt.NDArray[np.int8]
    """(N,) position in :data:`KINDS` for each detection; -1 for one that is right, ignored or not counted."""
    detection_ground_truth: npt.NDArray[np.int64]
    """(N,) row of the annotation that an error of classification, localisation or both, or a duplicate, is about: the
    one with the highest IoU, of the same class for localisation and duplicates, of another for the rest; -1 for
    others."""
    missed: npt.NDArray[np.bool_]
    """(G,) whether each annotation is an error of the kind ``"missed"``."""

    def __repr__(self) -> str:
        kinds = ", ".join(f"{kind} {self.delta_ap[kind]:.4f} ({self.counts[kind]:,})" for kind in KINDS)
        return f"ErrorKinds(AP {self.ap:.4f}, {kinds})"

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "delta_ap": dict(self.delta_ap), "counts": dict(self.counts)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        vars(self).update({name: MappingProxyType(state[name]) for name in ("delta_ap", "counts")})


def error_kinds(
    table: MatchTable,
    ground_truth: GroundTruth,
    detections: Detections,
    *,
    iou_threshold: float = 0.5,
    area: str = "all",
    background_threshold: float = 0.1,
    max_dets_per_image: int | None = None,
    threads: int | None = None,
) -> ErrorKinds:
    """Sort errors into the six kinds of TIDE, and measure what each kind costs.

    With ``t_f`` the IoU threshold and ``t_b`` the background threshold, ``same`` the highest IoU of a false positive
    with an object of its class on its image (whether or not found by another) and ``other`` that with one of another
    class, it is the first of these that holds:

    - **localisation** ``t_b <= same <= t_f``: the right class in the wrong place;
    - **classification** ``other >= t_f``: the right place, the wrong class;
    - **duplicate** ``same >= t_f``: of an object that a better detection has found;
    - **background** ``same <= t_b`` and ``other <= t_b``: nothing is there;
    - **both** otherwise: the wrong class in the wrong place.

    An object that nobody found is **missed** unless an error of localisation or classification is about it.

    ``delta_ap[kind]`` is ``max(0, AP' - AP)``, with AP' as if all errors of the kind were mended: of the errors of
    localisation and classification about one object that nobody found, the one with the highest score becomes a true
    positive (of the object's class) if it is of this kind; all other errors of the kind are left out; missed objects
    are no longer to be found. ``"false_positive"`` leaves out all false positives, ``"false_negative"`` all objects
    that nobody found; their difference may be negative.

    AP is that of the match table, with its protocol's recalls and caps: at IoU 0.5 with COCO's protocol it is AP50. A
    class that has nothing left to find when errors are mended counts 0 while it has detections, else not at all.
    Crowds, objects outside the area range and the detections that match these, or nothing and are themselves outside,
    are no part of any of this.

    Args:
        table: The matches. With a class-agnostic protocol all classes are the same.
        ground_truth: The annotations that were matched.
        detections: The detections that were matched.
        iou_threshold: ``t_f``, one of the protocol's thresholds.
        area: Label of one of the protocol's area ranges.
        background_threshold: ``t_b``, above 0 and at most ``t_f``.
        max_dets_per_image: Judge only so many of each image, all classes together, best first, beside the protocol's
            cap on those of one class; all if ``None``. The authors' program has 100 here.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        ValueError: If a threshold or the cap makes no sense, the protocol has no such threshold or area range, or the
            data is not what the table was made of.

    Reference: Bolya et al., TIDE: A General Toolbox for Identifying Object Detection Errors, ECCV 2020,
    arXiv:2008.08115. Counts and differences agree with tidecv 1.0.1 but for what docs/errors.md says.
    """
    check_data(table, ground_truth, detections)
    iou_threshold = table.protocol.iou_thresholds[table.protocol.position_of_iou(iou_threshold)]
    check_number(background_threshold=background_threshold)
    if not 0 < background_threshold <= iou_threshold:
        raise ValueError(
            f"background_threshold must be above 0 and at most iou_threshold {iou_threshold}, got "
            f"{background_threshold}"
        )
    if max_dets_per_image is not None:
        check_count(max_dets_per_image=max_dets_per_image)
    scene = _Scene.of(table, ground_truth, iou_threshold, area, max_dets_per_image)
    errors = _sort(scene, ground_truth, detections, min(iou_threshold, _NEARLY_ONE), background_threshold)

    recalls = np.array(table.protocol.recall_thresholds)
    listed = scene.num_ground_truth > 0
    before = _mean(_average_precision(scene, recalls, threads), listed)
    delta = {}
    for kind, mended in _mended(scene, errors):
        gain = _mean(_average_precision(mended, recalls, threads), listed) - before
        delta[kind] = max(gain, 0.0) if kind in KINDS and gain == gain else gain  # noqa: PLR0124 - not NaN

    detection_kind = np.full(len(detections), -1, np.int8)
    detection_kind[scene.detection[errors.row]] = errors.kind
    about = np.full(len(detections), -1)
    about[scene.detection[errors.row]] = errors.target
    missed = np.zeros(len(ground_truth), np.bool_)
    missed[errors.missed] = True
    counts = np.bincount(errors.kind, minlength=len(KINDS) - 1).tolist()
    return ErrorKinds(
        iou_threshold=iou_threshold,
        area=area,
        background_threshold=float(background_threshold),
        ap=before,
        delta_ap=MappingProxyType(delta),
        counts=MappingProxyType(dict(zip(KINDS, [*counts, len(errors.missed)], strict=True))),
        **frozen(detection_kind=detection_kind, detection_ground_truth=about, missed=missed),
    )


class _Scene(NamedTuple):
    """What counts at the threshold: detections that are right or wrong, by image, and objects to find."""

    category: npt.NDArray[np.uint32]
    """(N,) of each detection, as all that follow."""
    image: Rows
    score: Floats
    found: Flags
    detection: Rows
    """(N,) row in the data."""
    num_ground_truth: Rows
    """(K,) objects to find."""
    gt_category: Rows
    """(G,) of each annotation, as all that follow."""
    gt_image: Rows
    gt_counts: Flags
    """(G,) whether it is to be found."""
    gt_found: Flags

    @classmethod
    def of(cls, table: MatchTable, ground_truth: GroundTruth, iou: float, area: str, cap: int | None) -> _Scene:
        found = table.is_true_positive(iou, area)
        kept = np.ones(len(table), np.bool_)
        if cap is not None:
            order = np.lexsort((table.detection, -table.score, table.image))
            starts = np.searchsorted(table.image, np.arange(len(table.image_ids)))
            kept[order] = np.arange(len(table)) - starts[table.image] < cap
        counted = np.flatnonzero(kept & ~table.is_ignored(iou, area))
        to_find, gt_category = objects(table, ground_truth, area)
        gt_found = np.zeros(len(ground_truth), np.bool_)
        gt_found[table.matched_ground_truth(iou, area)[found & kept]] = True
        return cls(
            table.category[counted],
            table.image[counted].astype(np.int64),
            table.score[counted],
            found[counted],
            table.detection[counted],
            table.num_ground_truth[:, table.protocol.position_of_area(area)].astype(np.int64),
            gt_category,
            positions(table, ground_truth)[0],
            to_find,
            gt_found,
        )


class _Errors(NamedTuple):
    """The false positives and the missed objects."""

    row: Rows
    """(E,) row of the scene of each false positive, as all that follow."""
    kind: npt.NDArray[np.int8]
    target: Rows
    """(E,) row of the annotation that it is about, -1 for none."""
    mends: Flags
    """(E,) whether it becomes a true positive when its kind is mended."""
    missed: Rows
    """(M,) rows of annotations."""


def _sort(scene: _Scene, ground_truth: GroundTruth, detections: Detections, most: float, least: float) -> _Errors:
    """Sort the false positives into kinds."""
    row = np.flatnonzero(~scene.found)
    error, annotation, iou = _overlaps(scene, row, ground_truth, detections, least)
    alike = scene.category[row[error]] == scene.gt_category[annotation]
    same, same_target = _best(len(row), error[alike], annotation[alike], iou[alike])
    other, other_target = _best(len(row), error[~alike], annotation[~alike], iou[~alike])
    tests = (
        (_LOCALISATION, (least <= same) & (same <= most), same_target),
        (_CLASSIFICATION, other >= most, other_target),
        (_DUPLICATE, same >= most, same_target),
        (_BACKGROUND, (same <= least) & (other <= least), np.full(len(row), -1)),
    )
    holds, targets = [test for _, test, _ in tests], [target for *_, target in tests]
    kind = np.select(holds, [kind for kind, *_ in tests], _BOTH).astype(np.int8)
    target = np.select(holds, targets, other_target)

    # Of all errors about an object that nobody found, the best one could have found it.
    able = np.isin(kind, (_LOCALISATION, _CLASSIFICATION))
    able[able] = ~scene.gt_found[target[able]]
    able_rows = np.flatnonzero(able)
    at = row[able_rows]
    order = np.lexsort((scene.detection[at], -scene.score[at], target[able_rows]))
    able_rows = able_rows[order]
    mends = np.zeros(len(row), np.bool_)
    mends[able_rows[_first_of_run(target[able_rows])]] = True
    missed = scene.gt_counts & ~scene.gt_found
    missed[target[able]] = False
    return _Errors(row, kind, target, mends, np.flatnonzero(missed))


def _overlaps(
    scene: _Scene, row: Rows, ground_truth: GroundTruth, detections: Detections, least: float
) -> tuple[Rows, Rows, Floats]:
    """Position of the error, row of the annotation and IoU of all that overlap by ``least`` or more, image by image.

    To the last bit the IoU of the match table; of one error the annotations come in the order of the file.
    """
    annotation = np.flatnonzero(scene.gt_counts)
    annotation = annotation[np.argsort(scene.gt_image[annotation], kind="stable")]
    image = scene.image[row]
    gt_boxes = np.ascontiguousarray(ground_truth.boxes[annotation])
    dt_boxes = np.ascontiguousarray(detections.boxes[scene.detection[row]])
    no_crowd = np.zeros(len(row), np.bool_)
    images = np.unique(image)
    dt_ends = np.searchsorted(image, images, side="right").tolist()
    gt_image = scene.gt_image[annotation]
    gt_starts = np.searchsorted(gt_image, images).tolist()
    gt_ends = np.searchsorted(gt_image, images, side="right").tolist()
    parts: list[tuple[Rows, Rows, Floats]] = []
    start = 0
    for end, gt_start, gt_end in zip(dt_ends, gt_starts, gt_ends, strict=True):
        count = gt_end - gt_start
        if count:
            step = max(_AT_ONCE // count, 1)
            for first in range(start, end, step):
                last = min(first + step, end)
                # Without crowds it does not matter which boxes come first.
                iou = _core.coco_box_iou(dt_boxes[first:last], gt_boxes[gt_start:gt_end], no_crowd[first:last])
                errors, objects_ = np.nonzero(iou >= least)
                parts.append((errors + first, objects_ + gt_start, iou[errors, objects_]))
        start = end
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    error, column, overlap = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return error, annotation[column], overlap


def _best(count: int, error: Rows, annotation: Rows, iou: Floats) -> tuple[Floats, Rows]:
    """(E,) highest IoU of each error, 0 where it has none, and (E,) the first annotation with it, -1 for none."""
    order = np.lexsort((-iou, error))  # stable: of equal IoU the first
    first = order[_first_of_run(error[order])]
    highest, target = np.zeros(count), np.full(count, -1)
    highest[error[first]], target[error[first]] = iou[first], annotation[first]
    return highest, target


def _first_of_run(values: Rows) -> Flags:
    """Whether each value differs from the one before."""
    return np.append(np.ones(min(len(values), 1), np.bool_), values[1:] != values[:-1])


def _mended(scene: _Scene, errors: _Errors) -> Iterator[tuple[str, _Scene]]:
    """The scene as if all errors of a kind were mended, kind by kind."""
    for number, kind in enumerate(KINDS[:-1]):
        of_kind = errors.kind == number
        mends = of_kind & errors.mends
        found, category, kept = scene.found.copy(), scene.category.copy(), np.ones(len(scene.found), np.bool_)
        kept[errors.row[of_kind & ~mends]] = False
        found[errors.row[mends]] = True
        category[errors.row[mends]] = scene.gt_category[errors.target[mends]]
        yield kind, _left(scene._replace(found=found, category=category), kept)
    yield KINDS[-1], _without(scene, errors.missed)
    yield "false_positive", _left(scene, scene.found)
    yield "false_negative", _without(scene, np.flatnonzero(scene.gt_counts & ~scene.gt_found))


def _left(scene: _Scene, kept: Flags) -> _Scene:
    """The scene with some of the detections; of them only what AP needs."""
    return scene._replace(category=scene.category[kept], score=scene.score[kept], found=scene.found[kept])


def _without(scene: _Scene, annotations: Rows) -> _Scene:
    """The scene with fewer objects to find."""
    fewer = np.bincount(scene.gt_category[annotations], minlength=len(scene.num_ground_truth))
    return scene._replace(num_ground_truth=scene.num_ground_truth - fewer)


def _average_precision(scene: _Scene, recalls: Floats, threads: int | None) -> Floats:
    """(R, K) precision at the recalls; NaN where a class has neither objects nor detections, 0 where no object."""
    count = len(scene.found)
    curves: Mapping[str, npt.NDArray[Any]] = _core.accumulate(
        scene.category,
        np.zeros(count, np.uint32),  # every cap on detections has been applied
        scene.score,
        scene.found.astype(np.uint8).reshape(-1, 1, 1),
        np.zeros((count, 1, 1), np.uint8),
        scene.num_ground_truth.astype(np.uint64).reshape(-1, 1),
        1,
        recalls,
        np.ones(1, np.uint32),
        check_threads(threads),
    )
    precision = curves["precision"].reshape(-1, len(recalls)).T
    detected = np.bincount(scene.category, minlength=len(scene.num_ground_truth)) > 0
    return np.where((scene.num_ground_truth == 0) & detected, 0.0, precision)


def _mean(precision: Floats, listed: Flags) -> float:
    """The mean over the classes that had something to find, with the sum that the summary has."""
    chosen = np.where(listed, precision, np.nan)
    defined = chosen[~np.isnan(chosen)]
    return float(np.mean(defined)) if defined.size else float("nan")
