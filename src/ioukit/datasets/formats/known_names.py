"""What readers and writers of detections ask of the ground truth: its images and classes, by the names in the files."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.image_names import ImageFinder
from ioukit.errors import DatasetError

Given = TypeVar("Given")


class ClassIds(dict[str, int]):
    """The ids of the classes of a ground truth by name. A name of two classes is refused when it is asked for."""

    def __init__(self, ground_truth: GroundTruth, spelled: Callable[[str], str] = str) -> None:
        """Take the classes.

        Args:
            ground_truth: It has the classes.
            spelled: How the files spell a name, beside the name itself: without spaces, for example.
        """
        names, ids = ground_truth.categories.names, ground_truth.categories.ids.tolist()
        super().__init__(zip(map(spelled, names), ids, strict=True))
        self.update(zip(names, ids, strict=True))
        self.source = ground_truth.source
        self.repeated = frozenset(name for name, count in Counter(names).items() if count > 1)
        self.repeated |= frozenset(
            word for word, count in Counter(map(spelled, names)).items() if count > 1 and word not in names
        )

    def __getitem__(self, name: str) -> int:
        """The id of a class.

        Raises:
            DatasetError: If several classes have the name.
        """
        if name in self.repeated:
            raise DatasetError(
                f"{self.source}: several classes are called {name!r}, so that names in a file do not tell which is "
                "meant: give them other names (ioukit remap), or write the detections with the ids of the classes"
            )
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """The id of a class, or the default; a name of several classes is refused as by ``[]``."""
        if name not in self:
            return default
        return self[name]


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
        self.classes = ClassIds(ground_truth)
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
