"""A rule for a batch of images whose ground truth is padded to one length, as trainers hold it.

Owns: which arguments have an axis of images, and positions in padded ground truth.
Does not own: the rules, which know one image.
Cut here so that no rule has a branch for batches. Tried: images by two threads, which took as long as the loop, because
most of a rule is many short calls of NumPy.
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._arrays import in_library_of, on_host
from ioukit.assign._inputs import NO_VALUES
from ioukit.assign.assignment import Assignment

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ioukit.typing import Array


_AXES = {"predictions": 2, "scores": 2, "objectness": 1, "responsible": 1}
"""Arguments that each image may have, and how many axes one image has of them."""
_OF_OBJECTS = ("objects", "labels")


@dataclasses.dataclass(frozen=True, eq=False)
class BatchAssignment:
    """The assignments of B images with P predictions each, to ground truth that is padded to G objects."""

    target: Array
    """(B, P) the position in the padded ground truth of the object that each prediction is assigned to; -1 for none."""
    ignore: Array
    """(B, P) true for a prediction that takes no part in the loss."""
    overlap: Array
    """(B, P) the overlap with the assigned object; NaN for none."""
    pairs: Array
    """(K, 3) image, object in the padded ground truth, and prediction of every assigned pair."""
    scores: Array
    """(B, P) the target scores, or None if the rule sets none."""
    images: tuple[Assignment, ...]
    """The assignment of each image in NumPy, which knows the objects of its mask alone."""


def assign_batch(
    rule: Callable[..., Assignment], /, *arguments: Any, mask: Array | None = None, **options: Any
) -> BatchAssignment:
    """Assigns the predictions of a batch of images by one of the rules, image by image.

    Args:
        rule: A function such as `assign_task_aligned` that returns an `Assignment`.
        arguments: The arguments of the rule. ``objects`` (B, G, 4) and ``labels`` (B, G) have an axis of images;
            ``predictions``, ``scores``, ``objectness`` and ``responsible`` may have one. All others, such as
            ``anchors`` and ``points``, are those of every image.
        mask: (B, G) true for the objects that exist. Rows without an object may hold anything, NaN included. By default
            all exist.
        options: Further arguments of the rule, by name.

    Returns:
        The assignments, in the library and on the device of ``objects``. They are those of a loop over the images, to
        the last bit.

    Raises:
        TypeError: If an argument does not fit the rule, has no values (in a traced program), or if the rule returns
            another record.
        ValueError: If a shape does not fit, or an argument is wrong for the rule.

    Examples:
        >>> from ioukit.assign import assign_batch, assign_max_iou
        >>> anchors = [[0, 0, 10, 10], [20, 0, 30, 10]]
        >>> objects = [[[0, 0, 10, 9], [20, 1, 30, 10]], [[20, 0, 30, 10], [0, 0, 0, 0]]]
        >>> assign_batch(assign_max_iou, anchors, objects, mask=[[True, True], [True, False]]).target
        array([[ 0,  1],
               [-1,  0]])
    """
    given = inspect.signature(rule).bind(*arguments, **options).arguments
    if "objects" not in given:
        raise TypeError("assign_batch takes a rule with objects, such as assign_max_iou")
    like = given["objects"]
    values = {name: on_host(given[name], name, NO_VALUES) for name in (*_OF_OBJECTS, *_AXES) if name in given}
    objects = np.asarray(values["objects"])
    if objects.ndim != 3:
        raise ValueError(f"objects must have shape (B, G, 4), got {objects.shape}")
    exist = np.ones(objects.shape[:2], bool) if mask is None else np.asarray(on_host(mask, "mask", NO_VALUES))
    of_objects = {name: np.asarray(values[name]) for name in _OF_OBJECTS if name in values}
    of_images = {name: np.asarray(values[name]) for name, axes in _AXES.items() if np.ndim(values.get(name, 0)) > axes}
    _check_sizes(objects.shape[:2], exist, of_objects, of_images)
    shared = given | values
    rows = [np.flatnonzero(row) for row in exist]
    images = []
    for number, row in enumerate(rows):
        own = {name: array[number] for name, array in of_images.items()}
        found = rule(**shared | own | {name: array[number, row] for name, array in of_objects.items()})
        if not isinstance(found, Assignment):
            raise TypeError(f"assign_batch takes a rule that returns an Assignment, got {type(found).__name__}")
        images.append(found)
    return _stacked(images, rows, like)


def _check_sizes(
    size: tuple[int, ...],
    exist: NDArray[Any],
    of_objects: dict[str, NDArray[Any]],
    of_images: dict[str, NDArray[Any]],
) -> None:
    if not size[0]:
        raise ValueError("objects must be of at least one image, got none")
    if exist.dtype != bool:
        raise TypeError(f"mask must be bools, got {exist.dtype}")
    for name, array in {"mask": exist, **of_objects}.items():
        if array.shape[:2] != size:
            raise ValueError(f"{name} must have shape {tuple(size)}, one per object of each image, got {array.shape}")
    for name, array in of_images.items():
        if len(array) != size[0]:
            raise ValueError(f"{name} must be of {size[0]} images, as objects are, got {len(array)}")


def _stacked(images: list[Assignment], rows: list[NDArray[np.intp]], like: object) -> BatchAssignment:
    """The assignments, with positions in padded ground truth: those in ``rows`` of each image."""
    targets, pairs = [], []
    for number, (image, row) in enumerate(zip(images, rows, strict=True)):
        places = np.append(row, -1)  # -1, for no object, takes the last
        targets.append(places[image.target])
        own, predictions = image.pairs.T
        pairs.append(np.stack([np.full(len(own), number), row[own], predictions], axis=1))
    columns = [np.stack([getattr(image, name) for image in images]) for name in ("ignore", "overlap")]
    scores = None if images[0].scores is None else np.stack([image.scores for image in images])
    target, ignore, overlap, joined, score = (
        None if array is None else in_library_of(array, like)
        for array in (np.stack(targets), *columns, np.concatenate(pairs), scores)
    )
    return BatchAssignment(target, ignore, overlap, joined, score, tuple(images))
