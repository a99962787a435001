"""Rules about images: unknown ids, ids that match by another name, images of one side, or of the training set."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ioukit._checks import agree, pluralize
from ioukit._words_and_colours import percent
from ioukit.checks.case import MATCH, most_by_chance, pairwise_iou, rows_by
from ioukit.checks.diagnosis.data_sets import SHARE_OF_IMAGES
from ioukit.checks.repairs.images import places_by_position, places_by_stem, stem
from ioukit.checks.repairs.repair import Repair
from ioukit.checks.suspicion import Suspicion, examples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ioukit.checks.case import Case
    from ioukit.typing import FloatArray

    Places = NDArray[np.intp]
    from ioukit.datasets import GroundTruth


# Choices; none was measured alone. `benchmarks/planted_faults.py` measures the check as a whole (docs/check.md).
MOST_MATCHED = 0.3
BETTER = 0.2
BY_CHANCE = 1e-4  # of any image
STANDARD_DEVIATIONS, OF_ESTIMATE = 3.0, 1.0  # of the number by chance, and of the chance, which is an estimate
TOUCHES = 0.1
FEWEST_IMAGES, MOST_IMAGES = 3, 200
CONFIDENT = 0.5
FEWEST_CONFIDENT = 3


def unknown(case: Case) -> Iterator[Suspicion]:
    """Detections of images that the ground truth does not list, and ids that match in another way."""
    gt, dt = case.ground_truth, case.detections
    if not len(dt) or not len(gt.images):
        return
    strange = case.places < 0
    count = int(strange.sum())
    by_stem = places_by_stem(gt, dt) if count else case.places
    more = int((by_stem >= 0).sum() - (~strange).sum())
    if more > 0:
        listed_as = gt.images.names if gt.images.made_up_ids else gt.images.labels.tolist()
        labels = dict.fromkeys(
            f"{label!r} is {listed_as[place]!r}"
            for label, place in zip(dt.image_labels()[strange].tolist(), by_stem[strange].tolist(), strict=True)
            if place >= 0
        )
        yield Suspicion(
            "image_ids_match_by_stem", "sure",
            f"{more:,} of {len(dt):,} detections {agree(more, 'have')} an image id that is listed only by another "
            "name: with a folder, an extension or zeros in front, as a string or a number, or as the name of the file",
            more, len(dt), "write the image ids of the ground truth", examples(labels),
            repair=Repair("images", "stem"), refused=True,
        )  # fmt: skip
    elif count:
        listed = dict.fromkeys(dt.image_labels()[strange].tolist())
        yield Suspicion(
            "images_only_in_detections", "sure",
            f"{count:,} of {len(dt):,} detections {agree(count, 'are')} of "
            f"{pluralize(len(listed), 'image')} that the ground truth does not list",
            count, len(dt), "leave these detections out (`--on-invalid drop`; `ioukit subset DT OUT --ground-truth GT` "
            "writes a file without them), or add their images to the ground truth", examples(listed), refused=True,
        )  # fmt: skip
    yield from _positions(case)


def _positions(case: Case) -> Iterator[Suspicion]:
    """Image ids that are positions in the list of images: the objects then match, and do not as they are."""
    gt, dt = case.ground_truth, case.detections
    if dt.image_keys is not None:
        return
    now = _matched(case, case.places)
    if now > MOST_MATCHED:
        return
    shares = {first: _matched(case, places_by_position(gt, dt, first)) for first in (0, 1)}
    first = max(shares, key=lambda number: shares[number])
    if shares[first] >= now + BETTER:
        yield Suspicion(
            "image_ids_are_positions", "likely",
            f"{percent(shares[first], 0)} of the objects overlap a detection by at least {MATCH:g} if image ids are "
            f"positions in the list of images, counted from {first}, and {percent(now, 0)} as they are",
            len(dt), len(dt), "write the image ids of the ground truth",
            repair=Repair("images", f"positions{first}"), least_gain=0.005,
        )  # fmt: skip


def _matched(case: Case, places: Places) -> float:
    """The share of objects, of up to 200 images, that a detection overlaps by at least 0.5."""
    images = np.unique(case.object_places[~case.ground_truth.crowd])
    images = images[:: max(1, len(images) // 200)]
    matched = total = 0
    for objects, found in _boxes_on(case, places, images):
        total += len(objects)
        if len(found):
            matched += int((pairwise_iou(objects, found).max(axis=1) >= MATCH).sum())
    return matched / total if total else 1.0


def _boxes_on(case: Case, places: Places, images: Places) -> Iterator[tuple[FloatArray, FloatArray]]:
    """The boxes of objects that are no crowds, and of up to 100 detections, on each of some images.

    ``places`` are the positions of the images of the detections.
    """
    gt, dt = case.ground_truth, case.detections
    objects = dict(rows_by(case.object_places, np.flatnonzero(~gt.crowd)))
    found, none = dict(rows_by(places, np.arange(len(dt)))), np.zeros(0, np.intp)
    for image in images.tolist():
        yield gt.boxes[objects.get(image, none)], dt.boxes[found.get(image, none)[:100]]


def one_side(case: Case) -> Iterator[Suspicion]:
    """Images with objects and no detection, and images with detections and no annotation."""
    gt, dt = case.ground_truth, case.detections
    if not len(dt) or not len(gt.images) or (case.places < 0).mean() > CONFIDENT:
        return
    found = np.bincount(case.places[case.places >= 0], minlength=len(gt.images))
    objects = np.bincount(case.object_places[~gt.crowd], minlength=len(gt.images))
    yield from _without_detections(case, found, objects)
    yield from _without_annotations(case, objects)


def _without_detections(case: Case, found: Places, objects: Places) -> Iterator[Suspicion]:
    """Images without detections, more of them than are expected by chance."""
    with_objects = objects > 0
    silent = with_objects & (found == 0)
    count, total = int(silent.sum()), int(with_objects.sum())
    if not count:
        return
    chances, higher = _chances_of_empty(case, found)
    expected, at_most = float(chances.sum()), float(higher.sum())
    # The more images are empty, the less it matters that the expected number is an estimate.
    many = count >= SHARE_OF_IMAGES * total
    most = at_most + STANDARD_DEVIATIONS * math.sqrt(at_most) if many else most_by_chance(expected)
    sure = count >= FEWEST_IMAGES and count > most
    surprising = silent & (total * chances <= BY_CHANCE)
    if not sure and surprising.any():
        # Of as many empty images as are expected, some have more objects than the detector misses together.
        sure, silent = True, surprising
        count, expected = int(silent.sum()), float(chances[silent].sum())
    labels = case.labels(np.flatnonzero(silent))
    yield Suspicion(
        "images_without_detections", "likely" if sure else "possible",
        f"{count:,} of {total:,} images with objects {agree(count, 'have')} no detection; from what the detector "
        f"misses on the other images, about {expected:.1f} are expected",
        count, total, "check that the detector ran on all images; all objects of these images count as missed",
        examples(labels), labels, Repair("only", "detected-images") if sure else None, must_improve=False,
    )  # fmt: skip


def _chances_of_empty(case: Case, found: Places) -> tuple[FloatArray, FloatArray]:
    """(I,) the chance that an image with objects has no detection, and (I,) the same one standard deviation higher.

    An image is empty if all objects are missed and nothing else is detected. The share of missed objects comes from
    objects without which their images would have a detection, too: another object is found, or a detection lies apart
    from all objects. How often nothing else is detected comes from images with an object that is found.
    Labels with the same box, such as of a car that is a vehicle, too, are one object.
    """
    objects = _different_boxes(case)
    listed = np.flatnonzero((objects > 0) & (found > 0))
    missed, fair, alone, hit = 0, 0, 0, 0
    for boxes, detected in _boxes_on(case, case.places, listed[:: max(1, len(listed) // MOST_IMAGES)]):
        iou = pairwise_iou(np.unique(boxes, axis=0), detected)
        without, other = iou.max(axis=1) < TOUCHES, bool((iou.max(axis=0) < TOUCHES).any())
        elsewhere = (~without).sum() - ~without > 0  # other objects of the image that are found
        missed, fair = missed + int((without & (elsewhere | other)).sum()), fair + int((elsewhere | other).sum())
        if not without.all():
            alone, hit = alone + (not other), hit + 1
    estimates = np.array([(missed + 1) / (fair + 2), (alone + 1) / (hit + 2)])
    # The mean of a beta distribution, and its standard deviation.
    deviations = np.sqrt(estimates * (1 - estimates) / [fair + 3, hit + 3])
    share, nothing_else = np.stack([estimates, np.minimum(estimates + OF_ESTIMATE * deviations, 1)], axis=1)
    chances = share[:, None] ** objects * nothing_else[:, None] * (objects > 0)
    return chances[0], chances[1]


def _different_boxes(case: Case) -> Places:
    """(I,) how many different boxes the objects of each image have."""
    kept = np.flatnonzero(~case.ground_truth.crowd)
    boxes, image = case.ground_truth.boxes[kept], case.object_places[kept]
    order = np.lexsort((*boxes.T, image))
    boxes, image = boxes[order], image[order]
    new = np.append(True, (np.diff(image) > 0) | (np.diff(boxes, axis=0) != 0).any(axis=1))[: len(kept)]
    return np.bincount(image[new], minlength=len(case.ground_truth.images))


def _without_annotations(case: Case, objects: Places) -> Iterator[Suspicion]:
    """Images with confident detections and no annotation."""
    dt, places = case.detections, case.places
    annotated = np.bincount(case.object_places, minlength=len(objects)) > 0
    if not annotated.any() or annotated.all():
        return
    # A score that about as many detections of annotated images reach as there are objects.
    listed = places >= 0
    of_annotated = dt.scores[listed & annotated[np.where(listed, places, 0)]]
    many = int(objects.sum())
    if len(of_annotated) < FEWEST_IMAGES or not many:
        return
    level = float(f"{np.sort(of_annotated)[::-1][min(many, len(of_annotated)) // 2]:.3g}")  # as it is printed
    confident = np.bincount(places[listed & (dt.scores >= level)], minlength=len(objects))
    lacking = ~annotated & (confident > 0)
    # Images without objects have few confident detections; those that were not annotated have as many as the others.
    typical, here = float(confident[annotated].mean()), float(confident[~annotated].mean())
    sure = confident[lacking].sum() >= FEWEST_CONFIDENT and here >= CONFIDENT * typical
    count = int(lacking.sum())
    if count:
        labels = case.labels(np.flatnonzero(lacking))
        yield Suspicion(
            "images_without_annotations", "likely" if sure else "possible",
            f"{count:,} of {int((~annotated).sum()):,} images without annotations "
            f"{agree(count, 'have')} detections with a high score (at least {level:.3g})",
            count, len(annotated), "check that these images were annotated; all their detections count as false",
            examples(labels), labels, Repair("only", "annotated-images") if sure else None, must_improve=False,
        )  # fmt: skip


_BLOCK = 1 << 20


def train_images(case: Case) -> Iterator[Suspicion]:
    """Images that the training set has as well, by name, and by the bytes of the files where folders are given."""
    if case.train is None:
        return
    gt = case.ground_truth
    ours, theirs = _names(gt), set(_names(case.train))
    both = [name for name in ours if name in theirs]
    yield from _found(gt, both, "have the name of an image of the training set", "train_images_by_name")
    folder, train_folder = case.folders
    if folder is not None and train_folder is not None:
        both = _same_files(folder, train_folder)
        yield from _found(gt, both, "have the bytes of an image of the training set", "train_images_by_content")


def _names(gt: GroundTruth) -> list[str]:
    """The name of each image without folders and extension; its id if it has no name."""
    return [stem(name or label) for name, label in zip(gt.images.names, gt.images.labels.tolist(), strict=True)]


def _found(gt: GroundTruth, names: list[str], says: str, code: str) -> Iterator[Suspicion]:
    if names:
        yield Suspicion(
            code, "sure" if code.endswith("content") else "likely",
            f"{len(names):,} of {len(gt.images):,} images {agree(len(names), says)}: AP on them does not tell how "
            "good the detector is",
            len(names), len(gt.images), "leave them out of the test set, or of the training set (`ioukit subset "
            "--images @FILE` keeps the images of a list)", examples(names),
        )  # fmt: skip


def _same_files(folder: str, other: str) -> list[str]:
    """The names of the files of a folder whose bytes a file of another folder has; only files of one size are read."""
    ours, theirs = _sizes(folder), _sizes(other)
    of_both = set(ours.values()) & set(theirs.values()) - {0}
    known = {_digest(path) for path, size in theirs.items() if size in of_both}
    return [path.name for path, size in ours.items() if size in of_both and _digest(path) in known]


def _sizes(folder: str) -> dict[Path, int]:
    """The files of a folder and of the folders in it, with their sizes; links out of the folder are left out."""
    root = Path(folder).resolve()
    files = (path for path in sorted(root.rglob("*")) if path.is_file() and path.resolve().is_relative_to(root))
    return {path: path.stat().st_size for path in files}


def _digest(path: Path) -> bytes:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.digest()
