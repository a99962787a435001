"""What an evaluator has matched: tables of several parts, and their data if it is kept."""

from __future__ import annotations

import dataclasses

from ioukit.datasets import Categories, Detections, GroundTruth
from ioukit.datasets.formats.text_files import refuse
from ioukit.evaluation.table import MatchTable

_MOST_PARTS = 64
"""So many tables of updates are added to one, so that they take no more than their rows."""


class MatchedParts:
    """Match tables of different images, in the order in which they were matched."""

    def __init__(self, *, keep_data: bool) -> None:
        self.objects = 0
        """The number of objects so far."""
        self.numbered = True
        """Whether the objects were numbered in order; those of a `GroundTruth` have their own ids."""
        self._blocks: list[MatchTable] = []
        self._recent: list[MatchTable] = []
        self._data: list[tuple[GroundTruth, Detections]] | None = [] if keep_data else None
        self._names: dict[int, str] = {}

    def check_names(self, categories: Categories) -> None:
        """Raises :class:`~ioukit.DatasetError` if a category had another name before. The digits of its id are none."""
        for number, name in _named(categories).items():
            if self._names.get(number, name) != name:
                refuse(f"categories: {number}", f"the name {self._names[number]!r}, as before", repr(name))

    def add(self, table: MatchTable, ground_truth: GroundTruth | None, detections: Detections | None) -> None:
        """Add the matches of some images."""
        self._recent.append(table)
        if len(self._recent) >= _MOST_PARTS:
            self._blocks.append(_sum(self._recent))
            self._recent = []
        if self._data is not None and ground_truth is not None and detections is not None:
            self._data.append((ground_truth, detections))
        self.objects += table.sources[0]
        self._names |= _named(table.categories)

    def categories(self) -> list[Categories]:
        """Those of every part."""
        return [table.categories for table in (*self._blocks, *self._recent)]

    def table(self) -> MatchTable:
        """The sum of all parts."""
        parts = [*self._blocks, *self._recent]
        if len(parts) > 1:
            self._blocks, self._recent = [_sum(parts)], []
        return (self._blocks or self._recent)[0]

    def restore(self, table: MatchTable, *, numbered: bool) -> None:
        """Take the matches of a state, whose data is not known."""
        self._recent, self._data = [table], None
        self.objects, self.numbered = table.sources[0], numbered
        self._names = _named(table.categories)

    def data(self) -> tuple[GroundTruth, Detections] | None:
        """The data of all parts, in the order of the rows of :meth:`table`; ``None`` if it is not kept."""
        if not self._data:
            return None
        if len(self._data) > 1:
            categories = self.table().categories
            truths = [dataclasses.replace(one, categories=categories) for one, _ in self._data]
            renumber = len({int(number) for one in truths for number in one.ids}) < sum(map(len, truths))
            joined = GroundTruth.concat(truths, renumber=renumber)
            self._data = [(joined, Detections.concat([one for _, one in self._data]))]
        return self._data[0]

    def merge(self, other: MatchedParts, *, images: int) -> None:
        """Add the parts of another evaluator; the numbers of its images grow by ``images`` if these are numbers."""
        numbered = self.numbered and other.numbered
        shift = self.objects if numbered else 0
        self._recent += [numbered_on(table, images, shift) for table in (*other._blocks, *other._recent)]
        self.numbered = numbered
        self.objects += other.objects
        self._names |= other._names
        self._data = None


def numbered_on(table: MatchTable, images: int, objects: int) -> MatchTable:
    """The table with larger numbers of images, and with larger ids of objects."""
    if images:
        table = dataclasses.replace(table, image_ids=table.image_ids + images)
    if objects:
        table = dataclasses.replace(table, objects=dataclasses.replace(table.objects, id=table.objects.id + objects))
    return table


def _named(categories: Categories) -> dict[int, str]:
    """The names that are more than the digits of the id."""
    pairs = zip(categories.ids.tolist(), categories.names, strict=True)
    return {number: name for number, name in pairs if name != str(number)}


def _sum(tables: list[MatchTable]) -> MatchTable:
    return MatchTable.merge(tables, categories="union")
