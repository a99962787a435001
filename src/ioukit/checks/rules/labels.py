"""Rules about annotations: without size, doubled, copied, one per class and image, or missing on some images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit._checks import agree, pluralize
from ioukit._words_and_colours import percent
from ioukit.checks.case import MATCH, different, most_by_chance, rows_by
from ioukit.checks.rules.repeats import close_pairs
from ioukit.checks.suspicion import Suspicion, examples
from ioukit.overlap import overlap_join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ioukit.checks.case import Case
    from ioukit.typing import FloatArray

    Places = NDArray[np.int64]

# Choices; none was measured alone. `benchmarks/planted_faults.py` measures the check as a whole (docs/check.md).
FEWEST = 10
WITHOUT_SIZE = 0.005
DOUBLED, CLOSE = 0.04, 0.7
MOST_TIMES = 3  # by so many people objects are annotated at most
COPIED, NEARLY_ALL, EQUAL = 0.03, 0.95, 1e-6
SEVERAL = 0.12
WHOLE, MISSED = 0.03, 0.7
ALONE, INSIDE = 0.1, 0.5  # IoU with an annotation; share of a detection in a crowd
SOME = 0.1  # of the images where a class is found, it is not annotated
HALF_A_PIXEL = 0.501  # some tools round
ALIKE = 0.02  # of the smaller side: half a pixel is much of a tiny object


def labels(case: Case) -> Iterator[Suspicion]:
    """Annotations that cannot be, or that show how they were made."""
    yield from _without_size(case)
    yield from _doubled(case)
    if case.data.detections is not None and len(case.detections) and len(case.pairs.objects):
        yield from _copied(case)
        yield from _one_per_class(case)
        yield from _whole_images(case)
        yield from _on_some_images(case)


def _without_size(case: Case) -> Iterator[Suspicion]:
    gt = case.ground_truth
    flat = (gt.boxes[:, 2:] <= 0).any(axis=1) & ~gt.crowd
    count = int(flat.sum())
    if count:
        yield Suspicion(
            "annotations_without_size", "likely" if count >= max(3, WITHOUT_SIZE * len(gt)) else "possible",
            f"{count:,} of {len(gt):,} annotations {agree(count, 'have no width or no height')}, so no detection "
            "can match",
            count, len(gt), "write their width and height, or leave them out",
            examples(dict.fromkeys(gt.image_labels()[flat].tolist())),
        )  # fmt: skip


def _doubled(case: Case) -> Iterator[Suspicion]:
    """Annotations of one class that overlap more than two objects do."""
    gt = case.ground_truth
    one = gt.take(~gt.crowd)
    earlier, later, overlaps = close_pairs(one, CLOSE)
    near = overlaps < 1 - EQUAL  # exact repeats have a rule of their own
    rows = np.unique(later[near])
    if len(rows) >= max(FEWEST, DOUBLED * len(one)):
        # Of objects in a row, one behind the other, each overlaps the next one: then they are many in a group.
        in_rows = _per_group(earlier[near], later[near]) > MOST_TIMES
        said = f", in groups of more than {MOST_TIMES}: they may lie in rows" if in_rows else ""
        yield Suspicion(
            "annotations_doubled", "possible" if in_rows else "likely",
            f"{len(rows):,} of {len(one):,} annotations overlap an earlier one of their class by at least {CLOSE:g}"
            f"{said or ': objects may be annotated twice'}",
            len(rows), len(one), "keep one annotation of each object",
            examples(dict.fromkeys(one.image_labels()[rows].tolist())),
        )  # fmt: skip


def _per_group(first: Places, second: Places) -> float:
    """How many rows a group has on average, of rows that are connected by pairs."""
    group = np.arange(int(second.max()) + 1)
    while (group[first] != group[second]).any():
        ours, theirs = group[first], group[second]
        np.minimum.at(group, np.maximum(ours, theirs), np.minimum(ours, theirs))
        while (group[group] != group).any():
            group = group[group]
    members = np.unique(np.concatenate([first, second]))
    return len(members) / len(np.unique(group[members]))


def _copied(case: Case) -> Iterator[Suspicion]:
    """Images of which every annotation has the very numbers of a detection."""
    gt, dt, pairs = case.ground_truth, case.detections, case.pairs
    apart = np.abs(gt.boxes[pairs.objects] - dt.boxes[pairs.detections]).max(axis=1)
    near = np.minimum(HALF_A_PIXEL, ALIKE * gt.boxes[pairs.objects, 2:].min(axis=1))
    images, share, counts = pairs.per_image(pairs.best(np.where(apart <= near, 1.0, 0.0)))
    several = counts > 1
    copied = images[several & (share == 1)]
    if len(copied) >= max(3, COPIED * several.sum()):
        every = len(copied) >= NEARLY_ALL * several.sum()
        yield Suspicion(
            "annotations_are_detections", "possible" if every else "likely",
            f"on {len(copied):,} of {int(several.sum()):,} images with several objects, every annotation has the "
            "numbers of a detection: one side was made from the other",
            len(copied), int(several.sum()),
            "annotate these images by hand, or write what the detector found there; AP on them says nothing about the "
            "detector",
            examples(case.labels(copied)), case.labels(copied),
        )  # fmt: skip


def _one_per_class(case: Case) -> Iterator[Suspicion]:
    """No image has two objects of a class, but detections do."""
    gt, dt, pairs = case.ground_truth, case.detections, case.pairs
    groups, counts = np.unique(np.stack([gt.image_ids, gt.category_ids]), axis=1, return_counts=True)
    if counts.max() > 1 or len(counts) < FEWEST:
        return
    overlaps = np.zeros(len(dt))
    np.maximum.at(overlaps, pairs.detections, case.overlaps)
    level = float(np.median(dt.scores[overlaps >= 0.5])) if (overlaps >= 0.5).any() else np.inf
    places = gt.images.ids[np.maximum(case.places, 0)]
    known = {pair: at for at, pair in enumerate(map(tuple, groups.T.tolist()))}
    more = [
        known.get(pair, -1)
        for pair in zip(places.tolist(), dt.category_ids.tolist(), strict=True)
    ]  # fmt: skip
    second = (np.array(more) >= 0) & (dt.scores >= level) & (overlaps < 0.1) & (case.places >= 0)
    count = len(np.unique(np.array(more)[second]))
    if count >= max(FEWEST, SEVERAL * len(counts)):
        yield Suspicion(
            "one_annotation_per_class", "likely",
            f"no image has two annotations of a class, but in {percent(count / len(counts), 0)} of these cases the "
            "detector is sure of another object of the class: they may have been overwritten",
            count, len(counts), "annotate all objects of each class",
        )  # fmt: skip


def _whole_images(case: Case) -> Iterator[Suspicion]:
    """Annotations whose box is the whole image, where the detector hardly ever finds such an object."""
    gt, pairs = case.ground_truth, case.pairs
    ends = gt.boxes[:, :2] + gt.boxes[:, 2:]
    whole = (gt.boxes[:, :2] <= HALF_A_PIXEL).all(axis=1) & (ends >= case.object_sizes - HALF_A_PIXEL).all(axis=1)
    whole &= ~gt.crowd
    best = np.zeros(len(gt))
    best[pairs.objects[pairs.starts]] = pairs.best(np.where(pairs.same, case.overlaps, 0.0))
    count, missed = int(whole.sum()), best < 0.5
    if count >= max(FEWEST, WHOLE * len(gt)) and missed[whole].mean() >= MISSED > missed[~whole].mean():
        yield Suspicion(
            "annotations_of_whole_images", "likely",
            f"{count:,} of {len(gt):,} annotations have the whole image as their box, and the detector misses "
            f"{percent(float(missed[whole].mean()), 0)} of them: they may be tags of images",
            count, len(gt), "leave out tags, which are no boxes",
            examples(dict.fromkeys(gt.image_labels()[whole].tolist())),
        )  # fmt: skip


def _on_some_images(case: Case) -> Iterator[Suspicion]:
    """Classes that the detector surely finds on images without their annotations, where nothing is annotated.

    A detector that sees a class where none is does so on the images that have the class, too.
    """
    if case.rules.lists_looked_for is not None:
        return  # the images say which classes were looked for
    gt, dt, places, annotated = case.ground_truth, case.detections, case.places, np.unique(case.object_places)
    least = _sure_scores(case)
    sure = np.flatnonzero((dt.scores >= least) & np.isin(places, annotated))
    alone = _on_nothing(case, sure)
    objects = dict(rows_by(gt.category_ids, np.arange(len(gt))))
    names = {number: name or str(number) for number, name in case.class_names.items()}
    found: dict[str, Places] = {}
    said, most = "", 0
    for label, rows in rows_by(dt.category_ids, sure):
        with_class = np.unique(case.object_places[objects[label]])
        there, without = np.isin(places[rows], with_class), len(annotated) - len(with_class)
        here, elsewhere = (rows[alone[rows] & part] for part in (there, ~there))
        images, seen = np.unique(places[elsewhere]), len(np.unique(places[rows]))
        false = len(np.unique(places[here]))
        count = min(len(images), different(dt.boxes[elsewhere]))
        by_chance = most_by_chance(without * (false + 1) / len(with_class))
        if count < max(FEWEST, SOME * seen) or count <= by_chance:
            continue
        found[names[label]] = images
        if len(images) > most:
            most = len(images)
            said = (
                f"of {without:,} annotated images that have no {names[label]}, {most:,} have a detection of one with a "
                f"score of at least {least[rows[0]]:.3g} that lies on no annotation (IoU below {ALONE:g}) and in no "
                f"crowd; of {len(with_class):,} images that have one, {false:,} {'has' if false == 1 else 'have'} "
                "such a detection"
            )
    if found:
        labels = case.labels(np.unique(np.concatenate(list(found.values()))))
        yield Suspicion(
            "classes_annotated_on_some_images", "likely",
            f"{pluralize(len(found), 'class')} may be annotated on some images only: {said}",
            len(found), len(objects), "annotate the class on all images, or leave it out where it was not looked for",
            examples(found), labels,
        )  # fmt: skip


def _sure_scores(case: Case) -> FloatArray:
    """(N,) the score that half of the detections of objects of its class reach; infinite of classes with few."""
    dt, pairs = case.detections, case.pairs
    right = np.unique(pairs.detections[pairs.same & (case.overlaps >= MATCH)])
    ids, of_class = np.unique(dt.category_ids, return_inverse=True)
    least = np.full(len(ids), np.inf)
    for at, rows in rows_by(of_class, right):
        if len(rows) >= FEWEST:
            least[at] = float(f"{np.median(dt.scores[rows]):.3g}")  # as it is printed
    return least[of_class]


def _on_nothing(case: Case, rows: Places) -> NDArray[np.bool_]:
    """(N,) which of some detections overlap no annotation, and lie in no crowd; False of the others.

    `Case.pairs` would not do: of images with many objects or detections, it has some only, and no crowds.
    """
    gt, dt = case.ground_truth, case.detections
    rows = rows[(dt.boxes[rows, 2:] > 0).all(axis=1)]
    drawn = (gt.boxes[:, 2:] > 0).all(axis=1)
    objects, crowds = np.flatnonzero(drawn), np.flatnonzero(drawn & gt.crowd)
    alone = np.zeros(len(dt), np.bool_)
    alone[rows] = True
    for near in (
        overlap_join(
            dt.boxes[rows], gt.boxes[objects], min_iou=ALONE, labels1=case.places[rows],
            labels2=case.object_places[objects], format="xywh", threads=case.threads,
        ),
        overlap_join(
            dt.boxes[rows], gt.boxes[crowds], min_iou=INSIDE, metric="ioa", of="first", labels1=case.places[rows],
            labels2=case.object_places[crowds], format="xywh", threads=case.threads,
        ),
    ):  # fmt: skip
        alone[rows[near.rows]] = False
    return alone
