"""Which marks and images a filter chooses.

Owns: the conditions that each mark fails, a bit for each, found in one pass and kept. All that an answer says follows
from these bits: chosen marks fail none, a facet may fail its own condition, the counts of a model leave out the
conditions on outcome and error.

Does not own: what a condition says (`conditions.py`), what is counted (`counting.py`), the order of images
(`sorting.py`). Bits instead of a table of flags, because "all but one" is then one comparison of whole numbers, of
one byte for each mark with up to seven conditions.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Flags
from ioukit.evaluation.analysis.outcomes_by_score import NOT_COUNTED
from ioukit.viewer.answers.conditions import (
    Condition,
    Tagged,
    check_scores,
    conditions_on_images,
    conditions_on_marks,
)
from ioukit.viewer.answers.filters import Filter
from ioukit.viewer.answers.marks import Side, marks_at
from ioukit.viewer.answers.ratios import undefined_under

if TYPE_CHECKING:
    from ioukit.viewer.answers.collection import Collection
    from ioukit.viewer.answers.marks import Marks


_MOST_CONDITIONS = 63  # a bit each, and one for conditions on images
_NOTHING = Tagged()


class Failures:
    """Which conditions of a filter each mark of a side fails, a bit for each condition.

    Args:
        side: The marks.
        conditions: The conditions: bit 1 and the next ones. Bit 0 stands for conditions on images, and for detections
            that do not count.
        passed: (I,) which images pass all conditions on images.

    Raises:
        ValueError: If there are too many conditions.
    """

    def __init__(self, side: Side, conditions: list[Condition], passed: Flags) -> None:
        self.side = side
        if len(conditions) > _MOST_CONDITIONS:
            raise ValueError(f"at most {_MOST_CONDITIONS} conditions on marks can be given, got {len(conditions)}")
        size = next(size for size in (8, 16, 32, 64) if len(conditions) < size)
        self.bits: npt.NDArray[Any] | None = None
        """A number for each mark; ``None`` if all pass all conditions."""
        self._dtype = np.dtype(f"u{size // 8}")
        self._bit = {one.name: self._dtype.type(1 << at) for at, one in enumerate(conditions, 1)}
        if not side.is_object and (side.kind == NOT_COUNTED).any():
            self._fail(0, side.kind == NOT_COUNTED)
        if not passed.all():
            self._fail(0, np.repeat(~passed, np.diff(side.starts)))
        for at, condition in enumerate(conditions, 1):
            passing = condition.test(side)
            self._fail(at, np.logical_not(passing, out=passing))

    def _fail(self, at: int, failed: Flags) -> None:
        bits = failed.view(np.uint8).astype(self._dtype, copy=False) << self._dtype.type(at)
        self.bits = bits if self.bits is None else np.bitwise_or(self.bits, bits, out=self.bits)

    def bit(self, name: str) -> Any:
        """The number of a mark that fails one condition only; 0 if the filter has no such condition."""
        return self._bit.get(name, self._dtype.type(0))

    def chosen(self, *without: str) -> Flags:
        """Which marks pass all conditions but some."""
        if self.bits is None:
            return np.ones(len(self.side), np.bool_)
        ignored = self._dtype.type(sum(int(self.bit(name)) for name in without))
        passed: Flags = self.bits == 0 if ignored == 0 else (self.bits & ~ignored) == 0
        return passed


class Selection:
    """What a filter chooses. Make it with :func:`select`.

    The conditions on images are tested at once, those on marks when they are asked for.

    Raises:
        ValueError: If the filter names what is not in the collection.
    """

    def __init__(self, collection: Collection, chosen: Filter, tagged: Tagged) -> None:
        self.collection, self.filter, self.tagged = collection, chosen, tagged
        models = collection.models or (collection.scene,)
        self.marks = [marks_at(collection, model, chosen.at_iou, chosen.at_score) for model in models]
        """The marks of all models; those of the scene if there is no model."""
        self.model = collection.model_at(chosen.model)
        """The position of the chosen model."""
        self.image_passed = {one.name: one.test(None) for one in conditions_on_images(collection, chosen, tagged)}
        """For each condition on images, (I,) whether each image passes it."""
        self.conditions = conditions_on_marks(collection, chosen)
        """The conditions on marks. If there are none, all marks of the images are chosen."""
        self.passed = self.images_passing_all_but("")
        """(I,) which images pass all conditions on images."""
        self.undefined = undefined_under(
            (one.name for one in self.conditions), true=bool(chosen.true), predicted=bool(chosen.predicted)
        )
        """The counts and ratios that the filter itself decides."""
        self._failures: dict[int, tuple[Failures, Failures]] = {}
        self.counted: tuple[Any, Any] | None = None
        """What was counted of the marks, for answers that differ in their order only; ``None`` before."""

    @property
    def of_model(self) -> Marks:
        """The marks of the chosen model."""
        return self.marks[self.model]

    def images_passing_all_but(self, name: str) -> Flags:
        """(I,) which images pass the conditions on images, except for one."""
        others = [passed for other, passed in self.image_passed.items() if other != name]
        count = len(self.collection.table.image_ids)
        passed: Flags = np.logical_and.reduce(others) if others else np.ones(count, np.bool_)
        return passed

    def failures(self, model: int | None = None) -> tuple[Failures, Failures]:
        """What the objects and the detections of a model fail; the chosen one if ``None``.

        Detections that do not count are left out, unless there are few; see :attr:`Marks.counted`.
        """
        at = self.model if model is None else model
        if at in self._failures:
            return self._failures[at]
        objects, detections = (
            Failures(side, self.conditions, self.passed) for side in (self.marks[at].objects, self.marks[at].counted)
        )
        if at == self.model:
            self._failures[at] = objects, detections
        return objects, detections

    def kinds(self, model: int, *without: str) -> npt.NDArray[np.int64]:
        """(7,) how many marks of a model of each kind pass all conditions but some, see :attr:`Side.kind`."""
        of = np.zeros(NOT_COUNTED + 1, np.int64)
        for failed in self.failures(model):
            kinds = failed.side.kind if failed.bits is None else failed.side.kind[failed.chosen(*without)]
            of += np.bincount(kinds, minlength=len(of))
        return of

    @cached_property
    def images(self) -> Flags:
        """(I,) the images that are shown."""
        shown: Flags = self.marks_of_images > 0 if self.conditions else self.passed
        return shown

    @cached_property
    def marks_of_images(self) -> npt.NDArray[np.int64]:
        """(I,) how many marks are chosen on each image."""
        objects, detections = (per_image(failed.side, failed.chosen()) for failed in self.failures())
        return objects + detections

    @cached_property
    def has_marks(self) -> Flags:
        """(I,) whether some mark of each image passes all conditions on marks, whatever those on images say."""
        if not self.conditions:
            return np.ones(len(self.passed), np.bool_)
        if not self.image_passed:
            return self.images
        values = self.collection.values
        of_objects = {name: wanted for name, wanted in self.filter.columns.items() if values[name].of == "object"}
        plain = dataclasses.replace(self.filter, text=(), tag=(), noted=None, columns=of_objects)
        return Selection(self.collection, plain, self.tagged).images

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
        if not self.conditions:
            return None
        return [self.objects, *map(self.detections_of, range(len(self.collection.models)))]

    def detections_of(self, model: int) -> Flags:
        """(N,) the detections of a model that are chosen."""
        failed = self.failures(model)[1]
        if failed.side.rows is None:
            return failed.chosen()
        found = np.zeros(len(self.marks[model].model.table), np.bool_)
        found[failed.side.rows] = failed.chosen()
        return found


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
        ValueError: If the filter names what is not in the collection, or scores where the protocol does not read them.
    """
    check_scores(collection, chosen)
    tagged = tagged or _NOTHING
    plain = dataclasses.replace(chosen, sort=None, order=None)
    # A selection keeps its tags, so that their id stays theirs.
    by_tags = id(tagged) if plain.tag or plain.noted is not None else 0
    found: Selection = collection.selections.of((plain, by_tags), lambda: Selection(collection, plain, tagged))
    return found
