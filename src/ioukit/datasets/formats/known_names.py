"""What readers and writers of detections ask of the ground truth: its images and classes, by the names in the files."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, TypeVar

import numpy as np

from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats.text_files import abbreviate, refuse
from ioukit.errors import DatasetError

Given = TypeVar("Given")


class ImageFinder:
    """The images of a ground truth, by the names that files of detections have for them."""

    def __init__(self, ground_truth: GroundTruth) -> None:
        """Take the ground truth."""
        images = ground_truth.images
        self.source = ground_truth.source
        self.labels = images.labels
        self.sizes = images.sizes
        self._named_ids = images.keys is not None
        self._by_label = {str(label): at for at, label in enumerate(images.labels.tolist())}
        self._by_name: dict[str, int | None] = {}
        self._by_path: dict[str, int | None] = {}
        self._by_stem: dict[str, int | None] = {}
        for at, (named, label) in enumerate(zip(images.names, images.labels.tolist(), strict=True)):
            name = PurePosixPath((named or str(label)).replace("\\", "/"))
            keys = (named, str(name.with_suffix("")) if name.stem else "", name.stem)
            for key, found in zip(keys, (self._by_name, self._by_path, self._by_stem), strict=True):
                if key:
                    found[key] = None if key in found else at  # a name of two images finds neither

    def has_two_meanings(self) -> bool:
        """Whether the id of an image is the name of the file of another one."""
        names = (self._by_name, self._by_path, self._by_stem)
        return any(found.get(label, at) != at for label, at in self._by_label.items() for found in names)

    def also_named(self, names: Sequence[str]) -> None:
        """Take another name for each image, as the files of a format have it."""
        for at, name in enumerate(names):
            self._by_name.setdefault(name, at)

    def position(self, name: str, where: str, *, is_id: bool = False) -> int:
        """The position of an image in the ground truth: by its file name, also without suffix and folders, or its id.

        Of a path, the last parts may be the file name.

        Args:
            name: What the file of detections says.
            where: The place of it, for messages.
            is_id: Whether an image with this id comes before one with this file name. ``1`` may be the stem of the
                file ``1.jpg`` and the id of another image.

        Raises:
            DatasetError: If there is no such image, or several.
        """
        plain = PurePosixPath(name.replace("\\", "/"))
        stem, parts = plain.stem, plain.parts
        path = str(plain.with_suffix("")) if stem else ""
        ways: list[tuple[str, Mapping[str, int | None]]] = [(name, self._by_label)] if is_id or self._named_ids else []
        ways += [(name, self._by_name), (str(plain), self._by_path), (path, self._by_path)]
        ways += [("/".join(parts[at:]), self._by_name) for at in range(1, len(parts))]
        # A name without its suffix may have a dot itself, so that its end is no suffix.
        ways += [(plain.name, self._by_stem), (stem, self._by_stem)]
        ways += [(name, self._by_label), (plain.name, self._by_label), (stem, self._by_label)]
        at = next((found[key] for key, found in ways if key in found), -1)
        if at is None:
            refuse(where, f"the name of one image of {self.source}", f"{abbreviate(name)}, which several have")
        if at < 0:
            refuse(where, f"an image of {self.source}", abbreviate(name))
        return at


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
