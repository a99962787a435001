"""Repairs of images: those of one side only, and ids that match in another way."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ioukit.datasets.columns.detections import placed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.checks.repairs.repair import Data, Repair
    from ioukit.datasets import Detections, GroundTruth


_EXTENSION = re.compile(r"\.(jpe?g|png|bmp|tiff?|webp|gif|json|txt|xml)$", re.IGNORECASE)
_NUMBER_AT_END = re.compile(r"(\d+)$")


def stem(name: object) -> str:
    """The name of an image without folders and extension; a number without leading zeros."""
    text = _EXTENSION.sub("", re.split(r"[/\\]", str(name))[-1])
    return text.lstrip("0") or "0" if text.isdecimal() else text


def stems(images: GroundTruth) -> list[dict[str, int]]:
    """Ways to name the images: from a name to the position of the image, without names of several images.

    By the id, by the name of the file, and by the number at the end of the name of the file.
    """
    listed = images.images
    files = [stem(name) for name in listed.names if name]
    ways = [] if listed.made_up_ids else [[stem(label) for label in listed.labels.tolist()]]
    if len(files) == len(listed):
        ways.append(files)
        numbers = [_NUMBER_AT_END.search(file) for file in files]
        if all(numbers):
            ways.append([str(int(found[1])) for found in numbers if found])
    return [_unique(names) for names in ways]


def _unique(names: list[str]) -> dict[str, int]:
    times = Counter(names)
    return {name: place for place, name in enumerate(names) if times[name] == 1}


def places_by_stem(gt: GroundTruth, dt: Detections) -> NDArray[np.intp]:
    """(N,) the position of the image of each detection, by the way of naming that finds most; -1 for none."""
    labels, rows = np.unique(dt.image_labels(), return_inverse=True)
    best = np.full(len(labels), -1)
    for names in stems(gt):
        places = np.array([names.get(stem(label), -1) for label in labels.tolist()], np.intp)
        if (places >= 0).sum() > (best >= 0).sum():
            best = places
    return best[rows.reshape(-1)] if len(best) else np.zeros(0, np.intp)


def places_by_position(gt: GroundTruth, dt: Detections, first: int) -> NDArray[np.intp]:
    """(N,) the position of the image of each detection if its id counts the images from ``first``; -1 for none."""
    if dt.image_keys is not None:
        return np.full(len(dt), -1)
    places = dt.image_ids - first
    return np.where((places >= 0) & (places < len(gt.images)), places, -1)


def with_other_ids(data: Data, repair: Repair) -> Data:
    """Gives detections the image ids of the ground truth; those of images that are not found are left out."""
    gt, dt = data
    if dt is None:
        raise ValueError("there are no detections to repair")
    if repair.value == "stem":
        return data._replace(detections=placed(dt, gt.images, places_by_stem(gt, dt)))
    if repair.value in ("positions0", "positions1"):
        return data._replace(detections=placed(dt, gt.images, places_by_position(gt, dt, int(repair.value[-1]))))
    raise repair.wrong_value()


def only(data: Data, repair: Repair) -> Data:
    """Leaves out images or classes without detections, or images without annotations."""
    gt, dt = data
    if dt is None:
        raise ValueError("there are no detections to compare with")
    if repair.value == "detected-classes":
        ids = gt.categories.ids[np.isin(gt.categories.ids, dt.category_ids)].tolist()
        return data._replace(ground_truth=gt.filter(categories=ids), detections=dt.filter(categories=ids))
    if repair.value == "detected-images":
        labels = gt.images.labels[np.isin(gt.images.labels, dt.image_labels())]
    elif repair.value == "annotated-images":
        labels = gt.images.labels[np.isin(gt.images.ids, gt.image_ids)]
    else:
        raise repair.wrong_value()
    return data._replace(ground_truth=gt.filter(images=labels), detections=dt.filter(images=labels))
