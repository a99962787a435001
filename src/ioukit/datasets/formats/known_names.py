"""What readers and writers of detections ask of the ground truth: its images and classes, by the names in the files."""

from __future__ import annotations

import dataclasses
import functools
import os
from typing import Any, TypeVar

import numpy as np

from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats.objects import ImageFinder
from ioukit.errors import DatasetError

__all__ = ["KnownNames", "required"]

Given = TypeVar("Given")


class KnownNames:
    """What a reader of detections asks of a ground truth: its images and classes.

    It keeps no objects. The search by file names is made when a name needs it, and is not pickled.
    """

    def __init__(self, ground_truth: GroundTruth) -> None:
        """Take the lists of images and categories."""
        empty = ground_truth.take(np.zeros(0, np.intp)) if len(ground_truth) else ground_truth
        images = dataclasses.replace(empty.images, attributes={})
        self.ground_truth = dataclasses.replace(empty, images=images)
        """The lists of images and categories, without objects."""
        self.classes = dict(zip(ground_truth.categories.names, ground_truth.categories.ids.tolist(), strict=True))
        """The ids of the classes by name."""

    @functools.cached_property
    def finder(self) -> ImageFinder:
        """The images by the names of their files."""
        return ImageFinder(self.ground_truth)

    @functools.cached_property
    def numbers_are_names(self) -> bool:
        """Whether a whole number can name one image by its id and another one by its file."""
        if self.ground_truth.images.keys is not None or not any(self.ground_truth.images.names):
            return False
        return self.finder.has_two_meanings()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "finder"}


def required(
    ground_truth: Given | None, source: str | os.PathLike[str], what: str = "names of images and classes"
) -> Given:
    """What a reader or a writer of detections was given of the ground truth.

    Args:
        ground_truth: The ground truth, or its classes; ``None`` if none was given.
        source: What messages call the detections.
        what: What they do not say themselves.

    Raises:
        DatasetError: If none was given.
    """
    if ground_truth is None:
        raise DatasetError(
            f"{os.fspath(source)}: {what} come from the ground truth: "
            "give ground_truth=..., or --ground-truth in a command"
        )
    return ground_truth
