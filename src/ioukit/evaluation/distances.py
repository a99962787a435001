"""nuScenes' measures of detection: boxes in space that match by the distance of their centres.

Owns: the rules as data, which detection takes which object, AP, the errors of the matches, and NDS. Does not own:
reading.

Cut here because distances are no overlaps: the closest object is taken, and the errors are means along the curve, over
metres, radians and metres per second. It is a family beside the match table.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ioukit import _core
from ioukit._checks import agree, pluralize
from ioukit._columns import Columns, Frozen, positions_in, record
from ioukit._keywords import answers_keywords
from ioukit._output import aligned
from ioukit._plain_values import plain_value
from ioukit.errors import DatasetError
from ioukit.evaluation.evaluating import detections_of, ground_truth_of
from ioukit.evaluation.summary import Summary

if TYPE_CHECKING:
    from ioukit._array_types import Floats, Ids
    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation.evaluating import DetectionsLike, GroundTruthLike

ERRORS = ("ATE", "ASE", "AOE", "AVE", "AAE")
"""The errors of true positives: of translation in metres, of scale (1 - IoU of the sizes), of orientation in radians,
of velocity in metres per second, and of attributes (the share of wrong ones)."""
_RECALLS = np.linspace(0, 1, 101)
_AREAS = "DontCare"
"""KITTI's type of areas in which nobody looked for objects: they have no boxes in space, and are no class."""


@dataclass(frozen=True)
class DistanceRules:
    """The rules of :func:`evaluate_distances`, as data."""

    thresholds: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
    """Distances in metres, in ascending order. A match needs less than that between the centres, seen from above."""
    error_threshold: float = 2.0
    """The one at which errors are measured."""
    min_recall: float = 0.1
    """Lower recalls, and this one, do not count."""
    min_precision: float = 0.1
    """It is taken off the precision, and what is left is scaled to [0, 1]."""
    ap_weight: float = 5.0
    """The weight of mAP in NDS; each of the five errors has the weight 1."""
    max_detections: int = 500
    """The most detections of a sample; more are refused."""
    ranges: Mapping[str, float] = field(default_factory=dict)
    """Distances from the vehicle by class, in metres: what is not closer is left out, if both objects and detections
    have the attribute ``ego_distance``."""
    half_turns: tuple[str, ...] = ()
    """Classes whose front and back are alike."""
    without: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The errors that a class does not have."""

    def __post_init__(self) -> None:
        """Refuse rules that do not fit together."""
        rising = all(low < high for low, high in zip((0.0, *self.thresholds), self.thresholds, strict=False))
        if not self.thresholds or not rising:
            raise ValueError(f"thresholds must rise from above 0, got {list(self.thresholds)}")
        if self.error_threshold not in self.thresholds:
            raise ValueError(f"error_threshold must be one of {list(self.thresholds)}, got {self.error_threshold}")
        if not 0 <= self.min_recall <= 1 or not 0 <= self.min_precision < 1:
            raise ValueError(
                "min_recall must be within [0, 1] and min_precision within [0, 1), got "
                f"{self.min_recall} and {self.min_precision}"
            )
        if unknown := {error for errors in self.without.values() for error in errors} - {*ERRORS}:
            raise ValueError(f"unknown errors {sorted(unknown)}; choose from {', '.join(ERRORS)}")


NUSCENES = DistanceRules(
    ranges={
        **dict.fromkeys(("car", "truck", "bus", "trailer", "construction_vehicle"), 50.0),
        **dict.fromkeys(("pedestrian", "motorcycle", "bicycle"), 40.0),
        **dict.fromkeys(("traffic_cone", "barrier"), 30.0),
    },
    half_turns=("barrier",),
    without={"traffic_cone": ("AOE", "AVE", "AAE"), "barrier": ("AVE", "AAE")},
)
"""nuScenes' detection task (Caesar et al., CVPR 2020): ``detection_cvpr_2019`` of nuscenes-devkit."""


class DistanceCurve(NamedTuple):
    """A class at one threshold, at 101 recalls from 0 to 1."""

    precision: Floats
    """(101,) between the points of the curve by straight lines; 0 behind the last one."""
    scores: Floats
    """(101,) the same of the score."""
    errors: Floats
    """(5, 101) the mean of each error over the matches so far; 1 without a match."""

    def ap(self, rules: DistanceRules) -> float:
        """The average precision."""
        above = np.maximum(self.precision[_first(rules) :] - rules.min_precision, 0)
        return float(np.mean(above)) / (1 - rules.min_precision) if above.size else float("nan")

    def mean_errors(self, rules: DistanceRules) -> list[float]:
        """The five errors; 1 where the least recall is not reached."""
        first, reached = _first(rules), np.flatnonzero(self.scores)
        last = reached[-1] if reached.size else 0
        return [1.0 if last < first else float(np.mean(error[first : last + 1])) for error in self.errors]


@record(frozen=True, eq=False, repr=False)
class DistanceEvaluation(Frozen):
    """The result of :func:`evaluate_distances`, K classes."""

    rules: DistanceRules
    """The rules."""
    names: tuple[str, ...]
    """(K,) the classes."""
    num_objects: Ids
    """(K,) objects that count."""
    num_detections: Ids
    """(K,) detections that count."""
    ap: Floats
    """(K, T) average precision at each threshold; 0 for a class without objects, as in nuScenes' program."""
    errors: Floats
    """(K, 5) ATE, ASE, AOE, AVE, AAE; NaN where the rules leave one out, or the ground truth lacks the column;
    1 for a class without matches."""
    notes: tuple[str, ...] = ()
    """What a user should know about the data."""

    @cached_property
    def summary(self) -> Summary:
        """``NDS``, ``mAP`` and the mean of each error over the classes, as ``mATE``.

        NDS is NaN if an error is undefined for all classes: a number without it would not be NDS. All are NaN if no
        object of any class counts.
        """
        if not self.num_objects.any():
            return Summary(dict.fromkeys(("NDS", "mAP", *(f"m{key}" for key in ERRORS)), float("nan")))
        means = [float(np.mean(kept)) if (kept := of[~np.isnan(of)]).size else float("nan") for of in self.errors.T]
        mean_ap = float(np.mean([np.mean(row) for row in self.ap]))
        scores = np.sum([max(0.0, 1 - error) if error == error else error for error in means])  # noqa: PLR0124 - NaN
        nds = float(self.rules.ap_weight * mean_ap + scores) / (self.rules.ap_weight + len(ERRORS))
        return Summary(
            {"NDS": nds, "mAP": mean_ap} | {f"m{key}": mean for key, mean in zip(ERRORS, means, strict=True)}
        )

    @property
    def per_class(self) -> dict[str, Summary]:
        """AP, AP at each threshold (``AP@0.5``), and the errors of each class."""
        keys = ["AP", *(f"AP@{threshold:g}" for threshold in self.rules.thresholds), *ERRORS]
        rows = [
            [float(np.mean(ap)), *ap.tolist(), *error.tolist()] for ap, error in zip(self.ap, self.errors, strict=True)
        ]
        return {name: Summary(dict(zip(keys, row, strict=True))) for name, row in zip(self.names, rows, strict=True)}

    @property
    def counts(self) -> dict[str, int]:
        """Objects and detections that count."""
        return {"objects": int(self.num_objects.sum()), "detections": int(self.num_detections.sum())}

    def table(self) -> str:
        """The numbers, and a line per class; - is undefined."""
        numbers = aligned([[key, _text(value)] for key, value in self.summary.items()])
        of_classes = {
            name: [_text(numbers[key]) for key in ("AP", *ERRORS)] for name, numbers in self.per_class.items()
        }
        return (
            f"{numbers}\n\n{aligned([['class', 'AP', *ERRORS], *([name, *row] for name, row in of_classes.items())])}"
        )

    def to_dict(self) -> dict[str, Any]:
        """All numbers and counts in plain Python values."""
        return {
            "summary": plain_value(self.summary),
            "classes": {name: plain_value(numbers) for name, numbers in self.per_class.items()},
            "counts": self.counts,
            "notes": list(self.notes),
            "version": _core.__version__,
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON, every number to its last bit; null where undefined."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def __repr__(self) -> str:
        numbers = ", ".join(f"{key}={value:.4f}" for key, value in self.summary.items())
        return f"DistanceEvaluation({numbers}, {pluralize(len(self.names), 'class')})"


@answers_keywords
def evaluate_distances(
    ground_truth: GroundTruthLike,
    detections: DetectionsLike,
    rules: DistanceRules = NUSCENES,
    *,
    categories: Sequence[int | str] | None = None,
    threads: int | None = None,
) -> DistanceEvaluation:
    """Evaluate boxes in space by the distance of their centres: nuScenes' AP, its five errors, and NDS.

    In descending order of scores (of equal ones, the last comes first), each detection takes the closest free object of
    its class and sample, if it is closer than the threshold. AP is the mean precision at the recalls above 0.1, less
    0.1 and scaled. Each error is the mean over the matches so far, averaged along the curve.

    Args:
        ground_truth: The objects, as for :func:`ioukit.evaluate`, with ``Boxes3D``. AVE needs the attribute
            ``velocity`` ((N, 2) metres per second), AAE the attribute ``attribute_name``. Objects and detections whose
            attribute ``num_pts`` is 0 are left out, and those beyond :attr:`DistanceRules.ranges`. KITTI's
            ``DontCare`` is no class, and is left out.
        detections: The same, with scores.
        rules: The rules.
        categories: The names or ids of the classes that are evaluated; all of the ground truth if ``None``. As in
            nuScenes' program, a class without objects counts in the means, with AP 0 and errors of 1; a note says so.
        threads: How many threads read; all cores if ``None``. The result does not depend on it.

    Raises:
        DatasetError: If the data have no boxes in space or no scores, a column has another shape, an object or a
            detection has no volume, a sample has too many detections, or a file is invalid.
        ValueError: If a category is unknown.

    Source:
        Caesar et al., nuScenes: A Multimodal Dataset for Autonomous Driving, CVPR 2020, arXiv:1903.11027.

    Examples:
        >>> from ioukit import Boxes3D, Detections, GroundTruth
        >>> meaning = {"z": "centre", "unit": "radians", "sense": "counterclockwise"}
        >>> ground_truth = GroundTruth.from_arrays(
        ...     image_ids=["a"], category_ids=[1], categories={1: "car"},
        ...     regions=Boxes3D([[10, 5, 1, 4, 2, 1.5, 0]], **meaning),
        ... )
        >>> detections = Detections.from_arrays(
        ...     image_ids=["a"], category_ids=[1], scores=[0.9],
        ...     regions=Boxes3D([[10, 5.75, 1, 4, 2, 1.5, 0]], **meaning),
        ... )
        >>> found = evaluate_distances(ground_truth, detections)
        >>> {key: round(found.summary[key], 3) for key in ("mAP", "mATE", "mASE")}
        {'mAP': 0.75, 'mATE': 0.75, 'mASE': 0.0}
    """
    gt = ground_truth_of(ground_truth, None, threads)
    dt = detections_of(detections, gt, threads).meeting(gt).known_to(gt)
    if not dt.scored:
        raise DatasetError(f"{dt.source}: expected detections with scores, found none with a score")
    known = gt.categories
    chosen = np.sort(known.positions(list(categories))) if categories is not None else np.arange(len(known))
    chosen = np.array([at for at in chosen.tolist() if known.names[at] != _AREAS], np.int64)
    if not len(chosen):
        raise DatasetError(f"{gt.source}: expected at least one class, found none")
    _check_numbers(gt, dt, rules.max_detections)
    ids = known.ids[chosen]
    truth, found = _Side.of(gt, gt.image_ids, ids), _Side.of(dt, dt.image_ids_in(gt.images), ids)
    ranges = rules.ranges if truth.has_distances and found.has_distances else {}
    ap, errors, counts = [], [], []
    for at in chosen.tolist():
        name = known.names[at]
        objects, taking = (side.of_class(int(known.ids[at]), ranges.get(name)) for side in (truth, found))
        curves = _curves(objects, taking, rules, half_turn=name in rules.half_turns)
        ap.append([curve.ap(rules) for curve in curves])
        of_class = curves[rules.thresholds.index(rules.error_threshold)].mean_errors(rules)
        left_out = {*rules.without.get(name, ()), *truth.missing}
        errors.append([np.nan if key in left_out else error for key, error in zip(ERRORS, of_class, strict=True)])
        counts.append((len(objects), len(taking)))
    return DistanceEvaluation(
        rules,
        tuple(known.names[at] for at in chosen.tolist()),
        np.array([count for count, _ in counts]),
        np.array([count for _, count in counts]),
        np.array(ap),
        np.array(errors),
        tuple(
            dict.fromkeys(
                [
                    *gt.notes,
                    *dt.notes,
                    *_notes_on_columns(truth, found, np.array(errors)),
                    *_notes_on_what_counts(gt, dt, [count for count, _ in counts]),
                    *(_note_on_ranges(truth, found) if rules.ranges else ()),
                ]
            )
        ),
    )


def _check_numbers(gt: GroundTruth, dt: Detections, most: int) -> None:
    """Refuse samples with too many detections.

    Raises:
        DatasetError: If a sample has more than the most.
    """
    images = positions_in(gt.images.ids, dt.image_ids_in(gt.images))
    many = np.bincount(images[images >= 0], minlength=1)
    if len(over := np.flatnonzero(many > most)):
        where = f"{gt.images.labels[over[0]]!s}, {many[over[0]]:,}"
        raise DatasetError(f"{dt.source}: expected at most {most:,} detections per sample, found {where}")


def _notes_on_columns(truth: _Side, found: _Side, errors: Floats) -> list[str]:
    """Notes on errors that are undefined, or 1 whatever was found."""
    if not len(truth):
        return []
    notes = [f"the ground truth lacks {words}: {key} and NDS are undefined" for key, words in truth.missing.items()]
    for key, words in found.missing.items():
        if len(found) and not np.isnan(errors[:, ERRORS.index(key)]).all():
            notes.append(f"the detections lack {words}: {key} is 1")
    return notes


def _notes_on_what_counts(gt: GroundTruth, dt: Detections, objects: list[int]) -> list[str]:
    """Notes on classes without objects, and on sides of which nothing is left."""
    notes = []
    for side, what in ((gt, "objects"), (dt, "detections")):
        points = side.attributes.get("num_pts")
        if points is not None and len(side) and not points.any():
            notes.append(f"{side.source}: all {len(side):,} {what} have 0 points (num_pts): 0 are left")
    without = objects.count(0)
    if without == len(objects):
        notes.append("no object counts: the means are undefined")
    if 0 < without < len(objects):
        notes.append(
            f"{without:,} of {pluralize(len(objects), 'class')} {agree(without, 'have no objects')} and "
            f"{'counts' if without == 1 else 'count'} with AP 0 and errors of 1, as in nuScenes' program: "
            "categories= (--classes) chooses"
        )
    return notes


def _note_on_ranges(truth: _Side, found: _Side) -> list[str]:
    """A note if the distances from the vehicle are known on one side only."""
    if truth.has_distances == found.has_distances or not len(truth) or not len(found):
        return []
    one, other = ("ground truth has", "detections") if truth.has_distances else ("detections have", "ground truth")
    return [
        f"only the {one} distances from the vehicle (ego_translation), not the {other}: the ranges of the classes "
        "are applied to neither"
    ]


def _first(rules: DistanceRules) -> int:
    return round(100 * rules.min_recall) + 1


def _text(value: float) -> str:
    return f"{value:.4f}" if value == value else "-"  # noqa: PLR0124 - NaN


@record(frozen=True, eq=False, repr=False)
class _Side(Columns):
    """What is needed of the objects, or of the detections."""

    SHARED: ClassVar[frozenset[str]] = frozenset({"missing", "has_distances"})

    image: Ids
    category: Ids
    box: Floats
    """(N, 7) centre, sizes and yaw."""
    velocity: Floats
    """(N, 2) NaN if unknown."""
    attribute: Any
    """(N,) text, empty if unknown."""
    score: Floats
    distance: Floats
    """(N,) from the vehicle; NaN if unknown."""
    missing: Mapping[str, str]
    """The errors that the data cannot have, and the columns that they lack or that are unknown everywhere."""
    has_distances: bool = True
    """Whether some row has a distance from the vehicle, or there are no rows."""

    @classmethod
    def of(cls, data: GroundTruth | Detections, image: Ids, classes: Ids) -> _Side:
        """The columns of some classes, without boxes that hold no points.

        Raises:
            DatasetError: If a column is missing or has another shape.
        """
        count, given = len(data), data.attributes
        boxes = data.regions.get("Boxes3D")
        if boxes is None and count:
            raise DatasetError(
                f"{data.source}: expected boxes in space, found none: nuScenes' and KITTI's files have them; "
                "from_arrays takes regions=Boxes3D(...)"
            )
        box = np.zeros((0, 7))
        if boxes is not None:
            meant = boxes.convert(z="centre", unit="radians", sense="counterclockwise")
            box = meant.numpy().astype(np.float64)
        wanted = np.isin(data.category_ids, classes)
        if len(flat := np.flatnonzero(wanted & (box[:, 3:6] <= 0).any(axis=1))):
            raise DatasetError(
                f"{data.source}: row {flat[0]}: expected sizes above 0, found {box[flat[0], 3:6].tolist()}"
            )
        columns: dict[str, Any] = {}
        for name, shape in {"velocity": (count, 2), "ego_distance": (count,), "num_pts": (count,)}.items():
            column = given.get(name)
            if column is not None and (column.shape != shape or column.dtype.kind not in "iuf"):
                found = f"{column.dtype} of shape {column.shape}"
                raise DatasetError(f"{data.source}: attribute {name!r}: expected {shape} numbers, found {found}")
            columns[name] = column
        velocity, names, distance, points = (
            columns["velocity"], given.get("attribute_name"), columns["ego_distance"], columns["num_pts"]
        )  # fmt: skip
        side = cls(
            image,
            data.category_ids,
            box,
            np.full((count, 2), np.nan) if velocity is None else velocity.astype(np.float64),
            np.zeros(count, np.str_) if names is None else names.astype(np.str_),
            getattr(data, "scores", np.zeros(count)),
            np.full(count, np.nan) if distance is None else distance.astype(np.float64),
            {},
        ).take(wanted if points is None else wanted & (points != 0))
        missing = {}
        if velocity is None or (len(side) and np.isnan(side.velocity).any(axis=1).all()):
            missing["AVE"] = "velocity"
        if names is None or (len(side) and (side.attribute == "").all()):
            missing["AAE"] = "attribute_name"
        has_distances = not len(side) or not np.isnan(side.distance).all()
        return dataclasses.replace(side, missing=missing, has_distances=bool(has_distances))

    def __len__(self) -> int:
        return len(self.image)

    def of_class(self, category: int, limit: float | None) -> _Side:
        """The rows of a class within its range."""
        rows = self.category == category
        return self.take(rows if limit is None else rows & ~(self.distance >= limit))


def _curves(truth: _Side, found: _Side, rules: DistanceRules, *, half_turn: bool) -> list[DistanceCurve]:
    """The curve of a class at each threshold."""
    order = np.lexsort((np.arange(len(found.score)), found.score))[::-1]  # of equal scores, the last one first
    detection, place, distance = _near_pairs(truth, found.take(order), rules.thresholds[-1])
    errors = _errors(truth.take(place), found.take(order[detection]), distance, half_turn=half_turn)
    curves = []
    for threshold in rules.thresholds:
        pairs = np.flatnonzero(distance < threshold)
        taken = pairs[_first_free(detection[pairs].tolist(), place[pairs].tolist())]
        hits = np.zeros(len(order))
        hits[detection[taken]] = 1
        curves.append(_curve(hits, found.score[order], len(truth.image), errors[:, taken]))
    return curves


def _near_pairs(truth: _Side, found: _Side, most: float) -> tuple[Ids, Ids, Floats]:
    """Detections, objects and distances below a limit, by detection, then distance, then object."""
    by_image = np.argsort(truth.image, kind="stable")
    images, starts = np.unique(truth.image[by_image], return_index=True)
    ends = np.append(starts, len(by_image))[1:]
    ranks = np.argsort(found.image, kind="stable")
    of_images = np.searchsorted(found.image[ranks], images), np.searchsorted(found.image[ranks], images, side="right")
    parts: list[tuple[Any, Any, Any]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
    for first, last, start, end in zip(*of_images, starts, ends, strict=True):
        rows, objects = ranks[first:last], by_image[start:end]
        apart = found.box[rows, None, :2] - truth.box[objects, :2]
        distance = np.sqrt((apart**2).sum(axis=-1))
        one, other = np.nonzero(distance < most)
        parts.append((rows[one], objects[other], distance[one, other]))
    detection, place, distance = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((place, distance, detection))
    return detection[order], place[order], distance[order]


def _first_free(detections: list[int], objects: list[int]) -> list[int]:
    """The pairs that match: of each detection the first one whose object is free."""
    matched: set[int] = set()
    taken: set[int] = set()
    pairs = []
    for at, (detection, place) in enumerate(zip(detections, objects, strict=True)):
        if detection not in matched and place not in taken:
            matched.add(detection)
            taken.add(place)
            pairs.append(at)
    return pairs


def _errors(truth: _Side, found: _Side, distance: Floats, *, half_turn: bool) -> Floats:
    """(5, P) the errors of pairs; NaN if unknown."""
    shared = np.minimum(truth.box[:, 3:6], found.box[:, 3:6]).prod(axis=1)
    volumes = truth.box[:, 3:6].prod(axis=1) + found.box[:, 3:6].prod(axis=1)
    period = np.pi if half_turn else 2 * np.pi
    turned = np.abs((truth.box[:, 6] - found.box[:, 6] + period / 2) % period - period / 2)
    velocity = np.sqrt(((found.velocity - truth.velocity) ** 2).sum(axis=1))
    wrong = np.where(truth.attribute == "", np.nan, truth.attribute != found.attribute)
    return np.stack([distance, 1 - shared / (volumes - shared), turned, velocity, wrong])


def _curve(hits: Floats, scores: Floats, objects: int, errors: Floats) -> DistanceCurve:
    """The curve of detections in their order, with the errors of the hits."""
    if not objects or not hits.any():
        return DistanceCurve(np.zeros(101), np.zeros(101), np.ones((len(ERRORS), 101)))
    right = np.cumsum(hits)
    recall = right / objects
    precision, at = (
        np.interp(_RECALLS, recall, values, right=0) for values in (right / np.arange(1, len(hits) + 1), scores)
    )
    of_hits = scores[hits == 1][::-1]
    means = [np.interp(at[::-1], of_hits, _running_mean(error)[::-1])[::-1] for error in errors]
    return DistanceCurve(precision, at, np.stack(means))


def _running_mean(values: Floats) -> Floats:
    """(M,) the mean of the known values so far, 0 before the first; 1 if none is known."""
    known = ~np.isnan(values)
    if not known.any():
        return np.ones(len(values))
    counts = np.cumsum(known)
    return np.asarray(np.nancumsum(values) / np.maximum(counts, 1))
