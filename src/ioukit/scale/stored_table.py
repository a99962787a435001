"""A match table whose rows stay in files until something asks for them."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit._checks import check_threads, pluralize
from ioukit.datasets import Categories
from ioukit.evaluation.table import MatchTable
from ioukit.scale.memory import Load
from ioukit.scale.table_files import PartTable

_READ = ("detections", "objects", "pairs", "near", "image_detections")
"""The fields of a match table that take reading its files."""
_HINT = ". Evaluate with that memory: in the same folder for work, nothing is matched again"


def joined(tables: Sequence[MatchTable], sources: tuple[int, int]) -> MatchTable:
    """The table of parts in the order of their images; their rows are already those of the whole data.

    It is what :meth:`MatchTable.merge` gives, without sorting anything.
    """
    first = tables[0]
    images = np.cumsum([0, *(len(table.image_ids) for table in tables)]).tolist()
    detections = np.cumsum([0, *(len(table.detections) for table in tables)]).tolist()
    objects = np.cumsum([0, *(len(table.objects) for table in tables)]).tolist()

    def rows(group: str, **shifts: list[int]) -> Any:
        parts = [getattr(table, group) for table in tables]
        columns = {}
        for name in parts[0].column_names():
            found = [getattr(part, name) for part in parts]
            if found[0] is None:
                continue
            if name in shifts:
                found = [one + one.dtype.type(shift) for one, shift in zip(found, shifts[name], strict=False)]
            columns[name] = np.concatenate(found)
        return dataclasses.replace(parts[0], **columns)

    pairs = {"detection": detections, "object": objects}
    return dataclasses.replace(
        first,
        image_ids=np.concatenate([table.image_ids for table in tables]),
        image_detections=np.concatenate([table.image_detections for table in tables]),
        detections=rows("detections", image=images),
        objects=rows("objects", image=images),
        pairs=rows("pairs", **pairs),
        near=None if first.near is None else rows("near", **pairs),
        sources=sources,
    )


class StoredTable(MatchTable):
    """The match table of parts in files: numbers need no rows, and what adds up reads one part after the other.

    Other analyses read all rows when they ask, which take about 60 bytes per detection in memory. Then the table is as
    any other.
    """

    def __new__(cls, *fields: Any, **named: Any) -> MatchTable:  # type: ignore[misc]
        """A table in memory: what ``dataclasses.replace`` makes of one in files."""
        return MatchTable(*fields, **named)

    @classmethod
    def of_parts(
        cls,
        parts: Sequence[PartTable],
        image_ids: npt.NDArray[Any],
        sources: tuple[int, int],
        categories: Categories,
        load: Load | None = None,
    ) -> StoredTable:
        """Take the tables of all parts in the order of their images; ``load`` has the limit of memory, if any."""
        table: StoredTable = object.__new__(cls)
        if parts[0].header["near"] is None:
            vars(table)["near"] = None
        vars(table).update(
            _files=tuple(parts),
            _load=load,
            protocol=parts[0].protocol,
            iou_type=parts[0].header["iou_type"],
            categories=categories,
            image_ids=image_ids,
            sources=sources,
            repeated_images=0,
        )
        return table

    def __getattr__(self, name: str) -> Any:
        """The rows and what only they tell, when it is asked for: all of it is read then, once."""
        if name not in _READ:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.announce("analysis")
        rows = joined([file.read() for file in vars(self)["_files"]], self.sources)
        vars(self).update({known: getattr(rows, known) for known in _READ})
        return vars(self)[name]

    def announce(self, analysis: str, *others: MatchTable, threads: int | None = None, values: int = 0) -> None:
        """Refuse what does not fit into the memory, unless it was announced to the evaluation."""
        load = vars(self)["_load"]
        if load is not None and analysis not in load.analyses:
            count = check_threads(threads) or os.cpu_count() or 1
            rows = sum(table.totals["detections"] for table in (self, *others))
            results = load.results._replace(curves=(1 + len(others)) * load.results.curves)
            asked = load._replace(threads=count, rows=rows, results=results, joins=False)
            asked._replace(analyses=(analysis,), values=values).check(_HINT)

    @property
    def near_least(self) -> float | None:
        """The lowest IoU of the near pairs."""
        least: float | None = self._headers[0]["near"]
        return least

    def parts(self) -> Iterator[MatchTable]:
        """The tables of the parts, each read when its turn comes; the whole if it was read before."""
        yield from [self] if "detections" in vars(self) else (file.read() for file in vars(self)["_files"])

    @cached_property
    def _headers(self) -> list[dict[str, Any]]:
        return [file.header for file in vars(self)["_files"]]

    @cached_property
    def num_objects(self) -> npt.NDArray[np.int64]:
        """(E, A) objects to find, as of any table."""
        return _sum(self._headers, "num_objects").reshape(len(self.evaluated), -1)

    @cached_property
    def num_detections(self) -> npt.NDArray[np.int64]:
        """(E,) detections within the last cap."""
        return _sum(self._headers, "num_detections")

    @cached_property
    def totals(self) -> Mapping[str, int]:
        """How many annotations, crowds and detections."""
        names = self._headers[0]["totals"]
        return MappingProxyType({name: sum(header["totals"][name] for header in self._headers) for name in names})

    def __repr__(self) -> str:
        totals = self.totals
        return (
            f"StoredTable({pluralize(totals['detections'], 'detection')}, "
            f"{pluralize(totals['annotations'], 'annotation')}, {pluralize(len(self.image_ids), 'image')}, "
            f"{pluralize(len(vars(self)['_files']), 'part')})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled with its rows, as an ordinary table: the files may be elsewhere then."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(MatchTable)}
        return partial(MatchTable, **fields), ()


def _sum(headers: Sequence[dict[str, Any]], name: str) -> npt.NDArray[np.int64]:
    # One by one: those of 200 parts with 13,000 classes take 84 MB together.
    return np.asarray(sum(np.asarray(header[name], np.int64) for header in headers))
