"""Do annotators agree? Regions of the same images by two or more of them: where, how well, and which class.

Owns: which regions of several annotators are one object, the numbers of each pair of annotators, and the data set that
they agree on. Does not own: overlaps and pairs (`evaluation/matching.py`, by the protocol `UNRANKED`), nor limits
(`statistics`).

No annotator is the truth, so every number is the same if two of them change places. Images are drawn whole: limits come
from the numbers without each image.
"""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from ioukit._checks import check_choice, check_number, pluralize
from ioukit._columns import Frozen, record
from ioukit._keywords import answers_keywords
from ioukit._output import aligned
from ioukit._plain_values import plain_value
from ioukit._words_and_colours import percent
from ioukit.comparison.words import interval_doubts
from ioukit.datasets import Detections, GroundTruth, merge
from ioukit.datasets.columns.lazy import Names
from ioukit.evaluation import Evaluation, evaluate, match
from ioukit.evaluation.evaluating import ground_truth_of
from ioukit.evaluation.protocols import COCO, UNRANKED, AreaRange, Protocol
from ioukit.statistics import Interval
from ioukit.statistics.estimating import check_level, few_clusters, interval_of_left_out

if TYPE_CHECKING:
    import os

    from ioukit._array_types import Counts, Floats, Positions
    from ioukit.evaluation.evaluating import GroundTruthLike
    from ioukit.typing import IouType

Consensus: TypeAlias = Literal["union", "intersection", "majority"]
_MOST_ROWS = 10
_LEAST_OVERLAP = 1e-9  # smaller ones count as 0
_FEW_DIFFERENT, _FEW_ALIKE = 5, 2
"""With fewer images on which classes differ, or on which they agree on a class besides the most common one, limits of
kappa and alpha are doubtful (`benchmarks/agreement_simulation.py`)."""


def number_titles(iou_threshold: float) -> dict[str, str]:
    """What the numbers of a pair of annotators are called, by their keys."""
    at = f"F1 at IoU {iou_threshold:g}"
    return {
        "F1": at,
        "F1_mean": "F1 at IoU 0.50:0.95",
        "F1_any_class": f"{at}, any class",
        "IoU": "mean IoU of pairs",
        "kappa": "Cohen's kappa of classes",
        "alpha": "Krippendorff's alpha of classes",
    }


@dataclasses.dataclass(frozen=True)
class PairAgreement:
    """How far two annotators agree; each number with its limits over images."""

    names: tuple[str, str]
    """The names of the annotators."""
    numbers: Mapping[str, Interval]
    """``F1``: at the IoU threshold, twice the pairs of one class over the regions of both. ``F1_mean``: its mean over
    the IoU thresholds 0.50 to 0.95. ``F1_any_class``: F1 where classes need not agree. ``IoU``: the mean IoU of the
    pairs of any class. ``kappa``: Cohen's kappa of their classes."""
    confusion: Counts
    """(K, K) how many of these pairs have the class of the row for the first annotator, and that of the column for the
    second one."""

    @property
    def paired(self) -> int:
        """How many pairs there are, whatever their classes."""
        return int(self.confusion.sum())


@record(frozen=True, eq=False, repr=False)
class Agreement(Frozen):
    """The result of :func:`agree`: N annotators, K classes, I images."""

    names: tuple[str, ...]
    """(N,) the names of the annotators."""
    iou_threshold: float
    """The least IoU of regions that are one object."""
    iou_type: IouType
    """The kind of region that is compared."""
    annotations: GroundTruth
    """The images that all annotators have, with the regions of all of them; no crowds."""
    annotator: Positions
    """(R,) the annotator of each region of :attr:`annotations`."""
    objects: Positions
    """(G, N) the region of each annotator for each object, by its row in :attr:`annotations`; -1 where one has none."""
    pairs: tuple[PairAgreement, ...]
    """Every two annotators, in order."""
    alpha: Interval
    """Krippendorff's alpha of the classes, over the objects that two annotators or more have."""
    overlaps: Floats
    """(G, N) the mean IoU of each of these regions with the others of its object; 0 without others, NaN for none."""
    by_image: Floats
    """(I,) F1 of each image, the mean over all pairs of annotators; NaN where nobody has a region."""
    by_class: Floats
    """(K,) F1 of each class, likewise."""
    notes: tuple[str, ...] = ()
    """What a user should know about the data."""
    sources: tuple[str, ...] = ()
    """(N,) where each came from, as their ``source`` says."""

    def consensus(self, kind: Consensus = "majority") -> GroundTruth:
        """One data set of all annotators.

        An object has the region that overlaps those of the others most on average, whatever their IoU, and the class
        that most annotators gave it; of equal ones, those of the first annotator.

        Args:
            kind: ``"union"``: all objects. ``"intersection"``: those that all annotators have. ``"majority"``: those
                that more than half of them have.

        Raises:
            ValueError: If there is no such kind.
        """
        check_choice("kind", kind, get_args(Consensus))
        has = self.objects >= 0
        least = {"union": 1, "intersection": len(self.names), "majority": len(self.names) // 2 + 1}[kind]
        chosen = has.sum(axis=1) >= least
        gt, objects = self.annotations, self.objects[chosen]
        best = np.nan_to_num(self.overlaps[chosen], nan=-1.0).argmax(axis=1)  # the first of equal ones
        rows = objects[np.arange(len(objects)), best]
        places = np.searchsorted(gt.categories.ids, gt.category_ids)
        classes = np.array([_most_given(places[one[one >= 0]]) for one in objects], np.int64)
        order = np.argsort(gt.image_ids[rows], kind="stable")
        return dataclasses.replace(
            gt.take(rows[order]),
            ids=np.arange(1, len(rows) + 1),
            category_ids=gt.categories.ids[classes[order]],
            source=f"{kind} of {', '.join(self.names)}",
        )

    @property
    def doubts(self) -> str:
        """Which limits may be wrong more often than they say, and why; empty if nothing is known."""
        titles, found = number_titles(self.iou_threshold), dict[str, Interval]()
        for pair in self.pairs:
            of = f" of {' and '.join(pair.names)}" if len(self.pairs) > 1 else ""
            found |= {f"{titles[key]}{of}": one for key, one in pair.numbers.items()}
        found[titles["alpha"]] = self.alpha
        return interval_doubts(list(found), list(found.values()), self.alpha.level)

    def table(self) -> str:
        """The numbers of all pairs with their limits, the alpha, and the classes and images that agree least."""
        titles = number_titles(self.iou_threshold)
        rows = [["annotators", "number", "value", f"{percent(self.alpha.level)} limits"]]
        for pair in self.pairs:
            rows.append([" and ".join(pair.names), "pairs of any class", f"{pair.paired:,}", ""])
            rows += [["", titles[key], *shown(one)] for key, one in pair.numbers.items()]
        rows.append(["all", titles["alpha"], *shown(self.alpha)])
        gt = self.annotations
        classes = np.searchsorted(gt.categories.ids, gt.category_ids)
        images = np.searchsorted(gt.images.ids, gt.image_ids)
        blocks = [
            aligned(rows),
            self.doubts,
            _least("class", titles["F1"], gt.categories.names, self.by_class, classes),
            _least("image", titles["F1"], gt.images.names, self.by_image, images),
        ]
        return "\n\n".join(filter(None, blocks))

    def to_dict(self) -> dict[str, Any]:
        """All numbers in plain Python values, ``None`` where undefined."""
        images = self.annotations.images
        classes = self.annotations.categories.names
        found = {
            "annotators": self.names,
            "iou_threshold": self.iou_threshold,
            "objects": len(self.objects),
            "pairs": [
                {
                    "annotators": pair.names,
                    "paired": pair.paired,
                    **{key: one.to_dict() for key, one in pair.numbers.items()},
                    "confusion": pair.confusion.tolist(),
                }
                for pair in self.pairs
            ],
            "alpha": self.alpha.to_dict(),
            "classes": [{"name": name, "F1": value} for name, value in zip(classes, self.by_class, strict=True)],
            "images": [
                {"id": label, "name": name, "F1": value}
                for label, name, value in zip(images.labels.tolist(), images.names, self.by_image, strict=True)
            ],
            "notes": self.notes,
        }
        return {name: plain_value(value) for name, value in found.items()}

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the page, one HTML file, see :func:`ioukit.report.write_agreement`, which names the options.

        Args:
            path: The file to write.
            **options: As for the function.
        """
        importlib.import_module("ioukit.report").write_agreement(self, path, **options)

    def __repr__(self) -> str:
        return f"Agreement({', '.join(self.names)}, {pluralize(len(self.objects), 'object')})"


@answers_keywords
def agree(
    annotations: Mapping[str, GroundTruthLike],
    *,
    iou_threshold: float = 0.5,
    iou_type: IouType = "bbox",
    level: float = 0.95,
    threads: int | None = None,
) -> Agreement:
    """How far two or more annotators of the same images agree.

    Regions of two annotators are paired one to one in each image: the most pairs with the IoU threshold, and among
    these the highest sum of IoU. Classes take no part, except for ``F1`` and ``F1_mean``, which pair within classes. Of
    three or more annotators, pairs become objects from the highest IoU on; an object has one region of an annotator at
    most.

    Images meet by their names, or by their ids if they have none, and classes by their names. Crowds are left out, and
    so are images that some annotators lack.

    Args:
        annotations: The annotations of each annotator by name, as the ground truth of :func:`ioukit.evaluate`.
        iou_threshold: The least IoU of regions that are one object, within (0, 1].
        iou_type: The kind of region that is compared, see :func:`ioukit.evaluation.match`.
        level: The probability with which limits should hold the number on endlessly many images.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        DatasetError: If a file is invalid.
        ValueError: If there are fewer than two annotators, no image is in the annotations of all, or a value is out of
            range.

    Source:
        Cohen, A Coefficient of Agreement for Nominal Scales, 1960; Krippendorff, Content Analysis, 4th edition, 2019,
        chapter 12 (nominal data, values may lack).

    Examples:
        >>> from ioukit import GroundTruth
        >>> from ioukit.comparison import agree
        >>> ann = GroundTruth.from_arrays(image_ids=[1, 1], category_ids=[1, 2], boxes=[[0, 0, 9, 9], [20, 0, 9, 9]])
        >>> bob = GroundTruth.from_arrays(image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 9, 8], [20, 0, 9, 9]])
        >>> found = agree({"ann": ann, "bob": bob})
        >>> found.pairs[0].numbers["F1"].value, found.pairs[0].numbers["F1_any_class"].value
        (0.5, 1.0)
    """
    check_level(level)
    check_number(iou_threshold=iou_threshold)
    if not 0 < iou_threshold <= 1:
        raise ValueError(f"iou_threshold must be above 0 and at most 1, got {iou_threshold}")
    if len(annotations) < 2:
        raise ValueError(f"expected the annotations of at least two annotators, got {len(annotations)}")
    given = {name: ground_truth_of(one, None, threads) for name, one in annotations.items()}
    gt, annotator, notes = _together(given)
    sides = [gt.take(np.flatnonzero(annotator == at)) for at in range(len(given))]
    rows = [np.flatnonzero(annotator == at) for at in range(len(given))]
    least = min(_LEAST_OVERLAP, iou_threshold) if len(given) > 2 else None  # of two, the pairs are enough
    found = {
        (a, b): _paired(sides[a], sides[b], iou_threshold, iou_type, least, threads)
        for a, b in itertools.combinations(range(len(given)), 2)
    }
    names = tuple(given)
    objects = _objects(rows, found)
    images = np.array([_f1(one.right[:, 0], one.regions) for one in found.values()])
    classes = np.array([_f1(one.right_of_classes, one.regions_of_classes) for one in found.values()])
    return Agreement(
        names=names,
        iou_threshold=float(iou_threshold),
        iou_type=iou_type,
        annotations=gt,
        annotator=annotator,
        objects=objects,
        pairs=tuple(
            PairAgreement((names[a], names[b]), *_numbers(sides[a], sides[b], one, level))
            for (a, b), one in found.items()
        ),
        alpha=_alpha(gt, objects, level),
        overlaps=_overlaps(objects, rows, found),
        by_image=_mean(images),
        by_class=_mean(classes),
        notes=notes,
        sources=tuple(one.source for one in given.values()),
    )


def evaluate_annotators(
    annotations: Mapping[str, GroundTruth], *, iou_type: IouType = "bbox", near: float = 0.5, threads: int | None = None
) -> tuple[Evaluation, tuple[str, ...]]:
    """The regions of the second of two annotators, evaluated on those of the first; and notes about what is left out.

    A true positive is a pair of ``F1``, a false positive is a region of the second one alone, and a missed object is
    one of the first alone. So pages about evaluations can show what :func:`agree` counts, at COCO's IoU thresholds.

    Args:
        annotations: The annotations of both by name.
        iou_type: As for :func:`agree`.
        near: As for :func:`ioukit.evaluation.match`.
        threads: As for :func:`agree`.

    Raises:
        ValueError: If no image is in the annotations of both.
    """
    gt, annotator, notes = _together(annotations)
    a, b = (gt.take(np.flatnonzero(annotator == at)) for at in range(2))
    a = dataclasses.replace(a, source=next(iter(annotations.values())).source)  # whose ids it has
    found, rules = _as_detections(b, iou_type), _rules(*COCO.iou_thresholds)
    return evaluate(a, found, rules, iou_type=iou_type, near=near, threads=threads), notes


def _most_given(classes: Positions) -> int:
    """The class that stands most often; of equal ones, the one that stands first."""
    found, firsts, counts = np.unique(classes, return_index=True, return_counts=True)
    return int(min(zip(-counts, firsts, found, strict=True))[2])


def shown(interval: Interval) -> tuple[str, str]:
    """The value and the limits, as people read them; no limits if they are undefined."""
    if math.isnan(interval.value):
        return "undefined", ""
    limits = "" if math.isnan(interval.low) else f"{interval.low:.3f} to {interval.high:.3f}"
    return f"{interval.value:.3f}", limits


def _least(what: str, title: str, labels: Sequence[str], values: Floats, of_regions: Positions) -> str:
    """A table of the classes or images that agree least; none if there is only one."""
    order = [row for row in np.argsort(values, kind="stable").tolist() if not math.isnan(values[row])]
    if len(order) < 2:
        return ""
    counts = np.bincount(of_regions, minlength=len(labels))
    rows = [[labels[row], f"{values[row]:.3f}", f"{counts[row]:,}"] for row in order[:_MOST_ROWS]]
    return aligned([[f"{what} that agrees least", title, "regions of all"], *rows])


def _f1(right: Counts, regions: Counts) -> Floats:
    """F1 of images or classes; NaN without a region."""
    return _quotient(2 * right, regions)


def _quotient(part: Any, whole: Any) -> Floats:
    """A quotient, NaN where the whole is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(np.asarray(whole) > 0, part / np.asarray(whole, np.float64), np.nan))


def _mean(values: Floats) -> Floats:
    """The mean over the first axis of what is defined; NaN where nothing is."""
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(defined, values, 0.0).sum(axis=0) / defined.sum(axis=0))


def _together(given: Mapping[str, GroundTruth]) -> tuple[GroundTruth, Positions, tuple[str, ...]]:
    """The regions of all annotators as one data set, without crowds, and the annotator of each; and notes."""
    notes: list[str] = []
    known = []
    for one in given.values():
        notes += one.notes
        crowd = one.flags.get("crowd", np.zeros(len(one), np.bool_))
        if crowd.any():
            notes.append(f"{one.source}: {pluralize(int(crowd.sum()), 'crowd')} left out")
        gt = one.take(~crowd)
        labels = [name or str(label) for name, label in zip(gt.images.names, gt.images.labels.tolist(), strict=True)]
        images = dataclasses.replace(gt.images, names=Names.of(labels))
        known.append(dataclasses.replace(gt, images=images))
    merged = merge(known, duplicates="join")
    listed = {name: set(gt.categories.names) for name, gt in zip(given, known, strict=True)}
    have = {one: [name for name, own in listed.items() if one in own] for one in merged.categories.names}
    lacking = [f"{one!r} (only {' and '.join(who)})" for one, who in have.items() if len(who) < len(known)]
    if lacking:
        shown = ", ".join(lacking[:_MOST_ROWS]) + ", ..." * (len(lacking) > _MOST_ROWS)
        notes.append(f"{pluralize(len(lacking), 'class')} that not all annotators list: {shown}")
    annotator = np.repeat(np.arange(len(known)), [len(gt) for gt in known])
    of_all = set.intersection(*(set(gt.images.names) for gt in known))
    shared = np.array([name in of_all for name in merged.images.names], np.bool_)
    if not shared.any():
        raise ValueError(f"no image is in the annotations of all: {', '.join(given)}")
    kept = shared[np.searchsorted(merged.images.ids, merged.image_ids)]
    if left := int((~shared).sum()):
        regions = pluralize(int((~kept).sum()), "region")
        notes.append(
            f"{pluralize(left, 'image')} with {regions} left out, which not all annotators have: images on which "
            "somebody drew nothing must be listed, in a table by a row without a box"
        )
    gt = dataclasses.replace(merged.take(kept), images=merged.images.take(shared))
    return gt, annotator[kept], tuple(dict.fromkeys(notes))


class _Paired(NamedTuple):
    """The regions of two annotators that are one object."""

    first: Positions
    second: Positions
    """(P,) rows of both sides of each pair, whatever their classes, ..."""
    iou: Floats
    """... and its IoU."""
    near: tuple[Positions, Positions, Floats]
    """(Q,) the same of all regions that overlap, or of the pairs."""
    place: Positions
    """(P,) the position of its image."""
    right: Counts
    """(I, T) the pairs of a class in each image, at the IoU threshold and then at those of COCO."""
    regions: Counts
    """(I,) the regions of both annotators in each image."""
    right_of_classes: Counts
    """(K,) the pairs of each class at the IoU threshold."""
    regions_of_classes: Counts
    """(K,) the regions of both annotators of each class."""


def _rules(*iou_thresholds: float) -> Protocol:
    """Pairs of annotators: nothing is ignored."""
    return UNRANKED.replace(iou_thresholds=iou_thresholds, area_ranges=(AreaRange("all", 0.0, math.inf),), ignored=())


def _as_detections(b: GroundTruth, iou_type: Any) -> Detections:
    return Detections(
        image_ids=b.image_ids if b.images.keys is None else np.searchsorted(b.images.ids, b.image_ids),
        category_ids=b.category_ids,
        boxes=b.boxes,
        scores=np.ones(len(b)),
        areas=b.areas,
        regions=b.regions,
        attributes={} if iou_type in ("bbox", "segm", "boundary") else b.attributes,
        image_keys=b.images.keys,
        source=b.source,
        normalized=b.normalized,
        scored=False,
    )


def _paired(
    a: GroundTruth, b: GroundTruth, iou_threshold: float, iou_type: Any, least: float | None, threads: int | None
) -> _Paired:
    found = _as_detections(b, iou_type)
    options: dict[str, Any] = {"iou_type": iou_type, "threads": threads}
    any_class = match(a, found, _rules(iou_threshold).replace(class_agnostic=True), near=least, **options)
    of_pairs, near = any_class.pairs, any_class.near or any_class.pairs  # where none overlap, there are no pairs
    first, second = any_class.objects.row[of_pairs.object], any_class.detections.row[of_pairs.detection]
    images, classes = len(a.images), len(a.categories)
    right = np.zeros((images, 1 + len(COCO.iou_thresholds)), np.int64)
    right_of_classes = np.zeros(classes, np.int64)
    for rules, columns in ((_rules(iou_threshold), slice(0, 1)), (_rules(*COCO.iou_thresholds), slice(1, None))):
        table = match(a, found, rules, **options)
        bits = np.unpackbits(table.detections.matched[:, 0], axis=1, count=len(rules.iou_thresholds), bitorder="little")
        np.add.at(right[:, columns], table.detections.image, bits)
        if columns.start == 0:
            np.add.at(right_of_classes, table.detections.category, bits[:, 0])
    places = np.searchsorted(a.images.ids, np.concatenate([a.image_ids, b.image_ids]))
    kinds = np.searchsorted(a.categories.ids, np.concatenate([a.category_ids, b.category_ids]))
    return _Paired(
        first,
        second,
        of_pairs.iou,
        (any_class.objects.row[near.object], any_class.detections.row[near.detection], near.iou),
        np.searchsorted(a.images.ids, a.image_ids[first]),
        right,
        np.bincount(places, minlength=images),
        right_of_classes,
        np.bincount(kinds, minlength=classes),
    )


def _numbers(a: GroundTruth, b: GroundTruth, found: _Paired, level: float) -> tuple[dict[str, Interval], Counts]:
    """The numbers of two annotators with their limits, and the confusion of their classes."""
    images = len(a.images)
    right, regions = found.right, found.regions
    paired = np.bincount(found.place, minlength=images)
    overlap = np.bincount(found.place, found.iou, minlength=images)
    sums: dict[str, tuple[Any, Any]] = {
        "F1": (2 * right[:, 0], regions),
        "F1_mean": (2 * right[:, 1:].mean(axis=1), regions),
        "F1_any_class": (2 * paired, regions),
        "IoU": (overlap, paired),
    }
    numbers = {key: _interval(key, _quotient, parts, level, lowest=0.0) for key, parts in sums.items()}
    first, second = (
        np.searchsorted(side.categories.ids, side.category_ids[rows])
        for side, rows in ((a, found.first), (b, found.second))
    )
    kinds = len(a.categories)
    confusion = np.bincount(first * kinds + second, minlength=kinds * kinds).reshape(kinds, kinds)
    numbers["kappa"] = _kappa(confusion, first, second, found.place, images, level)
    return numbers, confusion


def _interval(
    key: str, number: Callable[..., Floats], parts: Sequence[Any], level: float, *, lowest: float
) -> Interval:
    """A number of sums over images, with its limits from those without each image."""
    whole = [np.asarray(part).sum() for part in parts]
    left = number(*(total - part for total, part in zip(whole, parts, strict=True)))
    on = int(np.count_nonzero(parts[-1]))
    return _limits(key, float(number(*whole)), left, level, on=on, lowest=lowest)


def _limits(key: str, value: float, left: Floats, level: float, *warnings: str, on: int, lowest: float) -> Interval:
    """An interval with the reasons to doubt it; `on` of the images tell something of the number."""
    images = len(left)
    found = interval_of_left_out(value, left, np.zeros(images, np.intp), images, key=key, level=level, lowest=lowest)
    few = few_clusters(images, on, "image")
    return found if math.isnan(found.low) else dataclasses.replace(found, warnings=(*few, *warnings))


def _doubts(differ: Positions, agreed: Positions) -> list[str]:
    """Why limits are doubtful: the images where classes differ, or are one besides the most common one, may be few."""
    different, alike = len(np.unique(differ)), len(np.unique(agreed))
    found = [f"classes differ on {pluralize(different, 'image')}"] if different < _FEW_DIFFERENT else []
    if alike < _FEW_ALIKE:
        found.append(f"annotators agree on a class besides the most common one on {pluralize(alike, 'image')}")
    return found


def _kappa(confusion: Counts, first: Positions, second: Positions, place: Positions, images: int, level: float) -> Any:
    """Cohen's kappa; without each image, by the sums that its pairs change, so that no table is made again."""
    of_first, of_second = confusion.sum(axis=1), confusion.sum(axis=0)

    def number(paired: Any, same: Any, chance: Any) -> Floats:
        # Both times the square of the number of pairs.
        return _quotient(same * paired - chance, paired * paired - chance)

    def per_image(weights: Any) -> Any:
        return np.bincount(place, weights, minlength=images)

    paired, same = per_image(None), per_image(first == second)
    chance = int(of_first @ of_second)
    products = per_image(of_second[first]) + per_image(of_first[second]) - _in_common(first, second, place, images)
    total, agreed = confusion.sum(), np.trace(confusion)
    left = number(total - paired, agreed - same, chance - products)
    rare = (first == second) & (first != np.append(of_first + of_second, 0).argmax())
    warnings = _doubts(place[first != second], place[rare])
    on = int(np.count_nonzero(paired))
    return _limits("kappa", float(number(total, agreed, chance)), left, level, *warnings, on=on, lowest=-1.0)


def _in_common(first: Positions, second: Positions, place: Positions, images: int) -> Floats:
    """(I,) for each image, the sum over classes of how often each side has the class."""
    kinds = int(max(first.max(initial=0), second.max(initial=0))) + 1
    keys, counts = np.unique(place * kinds + first, return_counts=True)
    others, other_counts = np.unique(place * kinds + second, return_counts=True)
    both, here, there = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
    return np.bincount(both // kinds, counts[here] * other_counts[there], minlength=images).astype(np.float64)


def _objects(rows: Sequence[Positions], found: Mapping[tuple[int, int], _Paired]) -> Positions:
    """The regions of each annotator for each object.

    Pairs are taken from the highest IoU on; one joins two objects that no annotator has both of.
    """
    members = [{at: int(row)} for at, own in enumerate(rows) for row in own.tolist()]
    of_row = {row: place for place, one in enumerate(members) for row in one.values()}
    edges = [
        (-iou, int(rows[a][first]), int(rows[b][second]))
        for (a, b), one in found.items()
        for first, second, iou in zip(one.first.tolist(), one.second.tolist(), one.iou.tolist(), strict=True)
    ]
    for _, first, second in sorted(edges):
        here, there = of_row[first], of_row[second]
        if here != there and not members[here].keys() & members[there].keys():
            members[here] |= members[there]
            for row in members[there].values():
                of_row[row] = here
            members[there] = {}
    objects = [[one.get(at, -1) for at in range(len(rows))] for one in members if one]
    return np.array(objects, np.int64).reshape(-1, len(rows))


def _overlaps(objects: Positions, rows: Sequence[Positions], found: Mapping[tuple[int, int], _Paired]) -> Floats:
    """(G, N) the mean IoU of each region with the others of its object; 0 without others, NaN for none."""
    iou, has, total = np.zeros((*objects.shape, len(rows))), objects >= 0, sum(map(len, rows))
    for (a, b), one in found.items():
        both = np.flatnonzero(has[:, a] & has[:, b])
        wanted = objects[both, a] * total + objects[both, b]
        first, second, overlap = one.near
        listed = rows[a][first] * total + rows[b][second]
        _, at, known = np.intersect1d(wanted, listed, assume_unique=True, return_indices=True)
        iou[both[at], a, b] = iou[both[at], b, a] = overlap[known]
    # Sorted, so that regions that overlap the others equally have equal sums.
    means = np.sort(iou, axis=2).sum(axis=2) / np.maximum(has.sum(axis=1, keepdims=True) - 1, 1)
    return np.where(has, means, np.nan)


def _alpha(gt: GroundTruth, objects: Positions, level: float) -> Interval:
    """Krippendorff's alpha of nominal data; without each image, by the sums that its objects change."""
    compared = objects[(objects >= 0).sum(axis=1) > 1]
    images, kinds = len(gt.images), len(gt.categories)
    unit, annotator = np.nonzero(compared >= 0)
    rows = compared[unit, annotator]
    value = np.searchsorted(gt.categories.ids, gt.category_ids[rows])
    place = np.searchsorted(gt.images.ids, gt.image_ids[rows])
    size = np.bincount(unit, minlength=len(compared))
    keys, counts = np.unique(unit * kinds + value, return_counts=True)
    of_unit = keys // kinds
    # Ordered pairs of a unit that differ, each unit weighed by 1 / (values - 1).
    differ = np.bincount(of_unit, counts * (size[of_unit] - counts) / (size[of_unit] - 1), minlength=len(compared))
    place_of_unit = place[np.unique(unit, return_index=True)[1]]
    of_class = np.bincount(value, minlength=kinds)

    def number(values: Any, observed: Any, squares: Any) -> Floats:
        expected = _quotient(values * values - squares, values * (values - 1))
        return 1 - _quotient(_quotient(observed, values), expected)

    own = np.bincount(place, minlength=images)
    observed = np.bincount(place_of_unit, differ, minlength=images)
    squares = 2 * np.bincount(place, of_class[value], minlength=images) - _in_common(value, value, place, images)
    total, squared = len(value), int(of_class @ of_class)
    left = number(total - own, observed.sum() - observed, squared - squares)
    rare = (counts > 1) & (keys % kinds != np.append(of_class, 0).argmax())
    warnings = _doubts(place_of_unit[differ > 0], place_of_unit[of_unit[rare]])
    on = int(np.count_nonzero(own))
    return _limits("alpha", float(number(total, observed.sum(), squared)), left, level, *warnings, on=on, lowest=-1.0)
