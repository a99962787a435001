"""The images that an evaluator has: some wait, the others are matched."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ioukit.datasets import Categories, Detections, GroundTruth
from ioukit.datasets.formats.text_files import refuse
from ioukit.evaluation.evaluator.buffers import GrowingRows
from ioukit.evaluation.evaluator.categories import KnownCategories
from ioukit.evaluation.evaluator.images import ImageIds
from ioukit.evaluation.evaluator.matched import MatchedParts
from ioukit.evaluation.evaluator.rows import Rows, data_of
from ioukit.evaluation.evaluator.state import State
from ioukit.evaluation.matching import match
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.table import MatchTable
from ioukit.typing import BoxFormat

_AT_ONCE = 1 << 16
"""So many rows are matched at a time."""
_SAMPLED = 100
"""So many images are kept, for what may look wrong with them."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """How the images of an evaluator are matched."""

    protocol: Protocol
    iou_type: str
    near: float | None
    format: BoxFormat
    known: KnownCategories | None
    keep_data: bool
    threads: int | None

    @property
    def categories(self) -> Categories | None:
        """The categories that were given; ``None`` if they are those that occur."""
        return None if self.known is None else self.known.categories

    def check_same(self, protocol: Protocol, iou_type: str, near: float | None, what: str) -> None:
        """Raises :class:`ValueError` if matches that were made by other rules cannot be added."""
        for name, mine, its in (
            ("protocol", self.protocol, protocol),
            ("iou_type", self.iou_type, iou_type),
            ("near", self.near, near),
        ):
            if mine != its:
                shown = [value.name if isinstance(value, Protocol) else repr(value) for value in (mine, its)]
                if shown[0] == shown[1]:  # a protocol from `replace` keeps its name
                    names = (field.name for field in dataclasses.fields(Protocol))
                    differ = [each for each in names if getattr(self.protocol, each) != getattr(protocol, each)]
                    shown[1] += f" with other values of {', '.join(differ)}"
                raise ValueError(f"{what} must have the same {name}, expected {shown[0]}, got {shown[1]}")


class CollectedImages:
    """The images so far. A method that raises an error changes nothing."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.ids = ImageIds()
        self._matched = MatchedParts(keep_data=settings.keep_data)
        # Regions take much more memory than their matches, so only boxes wait; and a protocol that needs more than they
        # say must look at the data as it comes.
        self._waits = settings.iou_type == "bbox" and settings.protocol.needs_boxes_alone
        self.sample: tuple[GroundTruth, Detections] | None = None
        """The first images, for the notes of an evaluation whose data is not kept."""
        self._forget_waiting()

    def _forget_waiting(self) -> None:
        self._waiting: list[Any] = []
        box_format = self.settings.format
        self._predictions = GrowingRows(box_format, scores=True)
        self._targets = GrowingRows(box_format, scores=False)

    def add_rows(self, ids: Sequence[Any], predictions: Rows, targets: Rows, *, running: bool) -> None:
        """Add the rows of some images, which wait or are matched at once."""
        if self._waits:
            self._predictions.append(predictions)
            self._targets.append(targets)
            self._waiting += ids
        else:
            data = data_of(ids, predictions, targets, self.settings.categories, self._matched.objects + 1)
            self._matched.add(self._match(*data), *data)
        self.ids.add(ids, running=running)

    def add_data(self, ground_truth: GroundTruth, detections: Detections) -> None:
        """Add the images of a data set."""
        ids = ground_truth.images.labels.tolist()
        if not ids:
            return
        ids = self.ids.checked(ids, "targets: images[{}]")
        if self.settings.known is not None:
            ground_truth = _with_categories(ground_truth, self.settings.known.categories)
        self._matched.check_names(ground_truth.categories)
        table = self._match(ground_truth, detections)
        self.match_waiting()
        self._matched.add(table, ground_truth, detections)
        self._matched.numbered = False
        self.ids.add(ids, running=False)

    def _match(self, ground_truth: GroundTruth, detections: Detections) -> MatchTable:
        chosen = self.settings
        table = match(
            ground_truth,
            detections,
            chosen.protocol,
            iou_type=chosen.iou_type,
            near=chosen.near,
            threads=chosen.threads,
        )
        if self.sample is None and chosen.iou_type == "bbox" and not chosen.keep_data:
            first = ground_truth.images.labels[:_SAMPLED]
            self.sample = ground_truth.filter(images=first), detections.meeting(ground_truth).filter(images=first)
        return table

    def match_waiting(self) -> None:
        """Match the images that wait."""
        if not self._waiting:
            return
        found, first_id = [], self._matched.objects + 1
        for images, predicted, objects in self._pieces():
            rows = self._predictions.rows(images, *predicted), self._targets.rows(images, *objects)
            data = data_of(self._waiting[images], *rows, self.settings.categories, first_id)
            found.append((self._match(*data), *(data if self.settings.keep_data else (None, None))))
            first_id += len(data[0])
        for table, ground_truth, detections in found:
            self._matched.add(table, ground_truth, detections)
        self._forget_waiting()

    def _pieces(self) -> Iterator[tuple[slice, tuple[int, int], tuple[int, int]]]:
        """Images that wait, some at a time, as data takes more memory while it is matched than while it waits.

        Yields the images, and where their detections and their objects begin and end.
        """
        ends = [np.cumsum(np.append(0, side.counts())) for side in (self._predictions, self._targets)]
        total = ends[0] + ends[1]
        first, count = 0, len(self._waiting)
        while first < count:
            last = int(np.searchsorted(total, total[first] + _AT_ONCE, side="right")) - 1
            last = min(max(last, first + 1), count)
            spans = [(int(side[first]), int(side[last])) for side in ends]
            yield slice(first, last), spans[0], spans[1]
            first = last

    def table(self) -> MatchTable | None:
        """The matches of all images; ``None`` if there is none."""
        self.match_waiting()
        return self._matched.table() if self.ids.count else None

    def data(self) -> tuple[GroundTruth, Detections] | None:
        """The data of all images, if it is kept."""
        return self._matched.data()

    def merge(self, other: CollectedImages) -> None:
        """Add the images of another evaluator."""
        chosen, running = other.settings, bool(other.ids.running)
        self.settings.check_same(chosen.protocol, chosen.iou_type, chosen.near, "evaluators that are merged")
        if self.ids.count and bool(self.ids.running) != running:
            raise ValueError("only one of the evaluators was given ids of images: give ids to both, or to none")
        ids = other.ids.listed()
        if not running:
            ids = self.ids.checked(ids, "merge: image {}")
        other.match_waiting()
        self.match_waiting()
        known = self.settings.categories
        for categories in other._matched.categories():
            self._matched.check_names(categories)
            if known is not None and not np.isin(categories.ids, known.ids).all():
                raise ValueError("the other evaluator has categories that this one was not given")
        self._matched.merge(other._matched, images=self.ids.count if running else 0)
        self.sample = self.sample or other.sample
        self.ids.add(ids, running=running)

    def state(self) -> State:
        """All but the data."""
        return State(self.table(), running=bool(self.ids.running), numbered=self._matched.numbered)

    @classmethod
    def of_state(cls, state: State, settings: Settings) -> CollectedImages:
        """The images of a state.

        Raises:
            ValueError: If it was made with other rules or categories.
        """
        images = cls(settings)
        if (table := state.table) is None:
            return images
        near = None if table.near is None else table.near.least
        settings.check_same(table.protocol, table.iou_type, near, "the state")
        given = settings.categories
        if given is not None and (table.categories.ids.tolist(), table.categories.names) != (
            given.ids.tolist(),
            given.names,
        ):
            raise ValueError("the state was made with other categories than those that this evaluator was given")
        images._matched.restore(table, numbered=state.numbered)
        images.ids.add(table.image_ids.tolist(), running=state.running)
        return images


def _with_categories(ground_truth: GroundTruth, categories: Categories) -> GroundTruth:
    """The ground truth with the categories of the evaluator, which must hold its own."""
    ids = ground_truth.categories.ids
    if len(unknown := np.flatnonzero(~np.isin(ids, categories.ids))):
        refuse("targets: categories", "those of the evaluator", f"the id {int(ids[unknown[0]])}")
    return dataclasses.replace(ground_truth, categories=categories)
