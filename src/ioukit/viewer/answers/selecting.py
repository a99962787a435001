"""Which marks and images a filter chooses."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit.viewer.answers.conditions import (
    Tagged,
    image_conditions,
    image_failures,
    mark_conditions,
    marks_passing,
)
from ioukit.viewer.answers.filters import Filter
from ioukit.viewer.answers.iou_levels import NOT_COUNTED
from ioukit.viewer.answers.marks import Detections, Marks, Side, marks_at
from ioukit.viewer.answers.ratios import undefined_under

if TYPE_CHECKING:
    from ioukit.viewer.answers.collection import Collection

__all__ = ["Failures", "Selection", "Tagged", "per_image", "select"]

_MOST_CONDITIONS = 63  # a bit each, and one for conditions on images

Flags = npt.NDArray[np.bool_]


class Failures:
    """Which conditions of a filter each mark of a side fails, a bit for each condition."""

    def __init__(self, selection: Selection, of_model: Marks, side: Side) -> None:
        """Test all conditions.

        Raises:
            ValueError: If the filter names what is not in the collection, or has too many conditions.
        """
        collection, chosen = selection.collection, selection.filter
        self.side = side
        self.names = mark_conditions(collection, chosen)
        """The conditions on marks: bit 1 and the next ones. Bit 0 stands for conditions on images, and for detections
        that do not count."""
        if len(self.names) > _MOST_CONDITIONS:
            raise ValueError(f"at most {_MOST_CONDITIONS} conditions on marks can be given, got {len(self.names)}")
        size = next(size for size in (8, 16, 32, 64) if len(self.names) < size)
        self.bits: npt.NDArray[Any] | None = None
        """A number for each mark; ``None`` if all pass all conditions."""
        self._dtype = np.dtype(f"u{size // 8}")
        if not side.is_object and (side.kind == NOT_COUNTED).any():
            self._fail(0, side.kind == NOT_COUNTED)
        if not selection.passed.all():
            self._fail(0, np.repeat(~selection.passed, np.diff(side.starts)))
        for at, name in enumerate(self.names, 1):
            passed = marks_passing(collection, chosen, of_model, side, name)
            self._fail(at, np.logical_not(passed, out=passed))

    def _fail(self, at: int, failed: Flags) -> None:
        bits = failed.view(np.uint8).astype(self._dtype, copy=False) << self._dtype.type(at)
        self.bits = bits if self.bits is None else np.bitwise_or(self.bits, bits, out=self.bits)

    def bit(self, name: str) -> Any:
        """The number of a mark that fails one condition only; 0 if the filter has no such condition."""
        return self._dtype.type(1 << (self.names.index(name) + 1)) if name in self.names else self._dtype.type(0)

    def chosen(self, *without: str) -> Flags:
        """Which marks pass all conditions but some."""
        if self.bits is None:
            return np.ones(len(self.side), np.bool_)
        ignored = self._dtype.type(0)
        for name in without:
            ignored |= self.bit(name)
        passed: Flags = self.bits == 0 if ignored == 0 else (self.bits & ~ignored) == 0
        return passed


class Selection:
    """What a filter chooses. Make it with :func:`select`."""

    def __init__(self, collection: Collection, chosen: Filter, tagged: Tagged) -> None:
        """Test the conditions on images; those on marks are tested when they are asked for.

        Raises:
            ValueError: If the filter names what is not in the collection.
        """
        self.collection, self.filter, self.tagged = collection, chosen, tagged
        self.marks = _marks_of(collection, chosen)
        """The marks of all models; those of the scene if there is no model."""
        self.model = collection.model_at(chosen.model)
        """The position of the chosen model."""
        self.image_conditions = image_conditions(collection, chosen)
        """The conditions on images."""
        self.image_failed = image_failures(collection, chosen, tagged)
        """(C, I) whether each image fails each of them."""
        self.passed: Flags = ~np.logical_or.reduce(self.image_failed, axis=0)
        """(I,) which images pass all of them."""
        names = mark_conditions(collection, chosen)
        self.filters_marks = bool(names)
        """Whether the filter says something about marks. If not, all marks of the images are chosen."""
        self.undefined = undefined_under(names, true=bool(chosen.true), predicted=bool(chosen.predicted))
        """The counts and ratios that the filter itself decides."""
        self._failures: dict[int, tuple[Failures, Failures]] = {}
        self.counted: tuple[Any, Any] | None = None
        """What was counted of the marks, for answers that differ in their order only; ``None`` before."""

    @property
    def of_model(self) -> Marks:
        """The marks of the chosen model."""
        return self.marks[self.model]

    def failures(self, model: int | None = None) -> tuple[Failures, Failures]:
        """What the objects and the detections of a model fail; the chosen one if ``None``.

        Detections that do not count are left out, unless there are few; see :attr:`Marks.counted`.
        """
        at = self.model if model is None else model
        if at not in self._failures:
            of_model = self.marks[at]
            both = Failures(self, of_model, of_model.objects), Failures(self, of_model, of_model.counted)
            if at != self.model:
                return both
            self._failures[at] = both
        return self._failures[at]

    @cached_property
    def images(self) -> Flags:
        """(I,) the images that are shown."""
        if not self.filters_marks:
            return self.passed
        shown: Flags = self.marks_of_images > 0
        return shown

    @cached_property
    def marks_of_images(self) -> npt.NDArray[np.int64]:
        """(I,) how many marks are chosen on each image."""
        objects, detections = (per_image(failed.side, failed.chosen()) for failed in self.failures())
        return objects + detections

    @cached_property
    def has_marks(self) -> Flags:
        """(I,) whether some mark of each image passes all conditions on marks, whatever those on images say."""
        plain = dataclasses.replace(self.filter, text=(), tag=(), noted=None, columns=self._columns_of_objects())
        return Selection(self.collection, plain, self.tagged).images

    def _columns_of_objects(self) -> dict[str, tuple[str, ...]]:
        values = self.collection.values
        return {name: wanted for name, wanted in self.filter.columns.items() if values[name].of == "object"}

    @cached_property
    def objects(self) -> Flags:
        """(G,) the objects that are chosen."""
        return self.failures()[0].chosen()

    @cached_property
    def detections(self) -> Flags:
        """(N,) the detections of the chosen model that are chosen."""
        return self.detections_of(self.model)

    @cached_property
    def chosen_marks(self) -> list[Flags] | None:
        """(G,) the objects and, for each model, (N,) the detections that are chosen.

        ``None`` if the filter says nothing about marks.
        """
        if not self.filters_marks:
            return None
        return [self.objects, *map(self.detections_of, range(len(self.collection.models)))]

    def detections_of(self, model: int) -> Flags:
        """(N,) the detections of a model that are chosen."""
        failed = self.failures(model)[1]
        side, passed = failed.side, failed.chosen()
        if not isinstance(side, Detections) or side.rows is None:
            return passed
        found = np.zeros(len(self.marks[model].model.table), np.bool_)
        found[side.rows] = passed
        return found


def _marks_of(collection: Collection, chosen: Filter) -> list[Marks]:
    """The marks of all models at the filter's thresholds; those of the scene if there is no model.

    Raises:
        ValueError: If the protocol has no such IoU threshold.
    """
    models = collection.models or (collection.scene,)
    return [marks_at(collection, model, chosen.at_iou, chosen.at_score) for model in models]


def per_image(side: Side, chosen: Flags) -> npt.NDArray[np.int64]:
    """(I,) how many of the chosen marks are on each image."""
    count = np.count_nonzero(chosen)
    if count * 16 < len(chosen):
        return np.bincount(side.image[np.flatnonzero(chosen)], minlength=len(side.starts) - 1)
    if count == len(chosen):
        return np.diff(side.starts)
    total = np.zeros(len(chosen) + 1, np.int32)
    np.cumsum(chosen, dtype=np.int32, out=total[1:])
    return np.diff(total[side.starts]).astype(np.int64)


def select(collection: Collection, chosen: Filter, tagged: Tagged | None = None) -> Selection:
    """Which marks of the chosen model and which images a filter chooses; the last selections are kept.

    Args:
        collection: What is shown.
        chosen: The filter. Its order of images does not matter.
        tagged: Tags and notes.

    Raises:
        ValueError: If the filter names what is not in the collection.
    """
    tagged = tagged or _NOTHING
    plain = dataclasses.replace(chosen, sort=None, order=None)
    # A selection keeps its tags, so that their id stays theirs.
    by_tags = id(tagged) if plain.tag or plain.noted is not None else 0
    found: Selection = collection.selections.of((plain, by_tags), lambda: Selection(collection, plain, tagged))
    return found


_NOTHING = Tagged()
