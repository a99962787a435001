"""Files that are kept as columns until someone asks for the dictionaries of pycocotools."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from ioukit.compat.pycocotools import mask as mask_utils
from ioukit.compat.pycocotools._dictionaries import Marks, dataset_of_results, indexes
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.errors import DatasetError

__all__ = ["DICTIONARIES", "AnnotationFile", "Kept", "ResultFile", "columns_of"]

DICTIONARIES = frozenset({"dataset", "anns", "cats", "imgs", "imgToAnns", "catToImgs"})
"""The attributes of `COCO` that wait."""

_FIRST_RECORD = 1 << 20
"""The first record of a file of results must end within so many bytes."""

Columns = TypeVar("Columns", GroundTruth, Detections)


@dataclass
class _Text:
    """The text of a file, and what tells whether the file still has it."""

    path: str
    content: bytes
    state: tuple[int, ...]

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> _Text | None:
        """The text of a file; ``None`` if it is no ordinary file of the name of an ordinary JSON file."""
        place = os.path.abspath(os.fspath(path))
        state = _state(place)
        if state is None or place.lower().endswith((".gz", ".jsonl", ".ndjson")):
            return None
        with open(place, "rb") as file:
            return cls(place, file.read(), state)

    def is_current(self) -> bool:
        """Whether the file was not changed since it was read."""
        return _state(self.path) == self.state


def _state(path: str) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_size, found.st_mtime_ns, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def _read(kind: type[Columns], text: _Text) -> Columns | None:
    """The columns of a file; ``None`` if pycocotools might see something else in it."""
    try:
        columns = kind.from_coco(text.path)
    except (DatasetError, OSError):
        return None
    return columns if len(columns) and not columns.notes and text.is_current() else None


class Kept:
    """Data that are kept as columns, or as records, until someone asks for the dictionaries."""

    marks: list[Marks]
    """What evaluations wrote into the records while there were none."""
    has_results: ClassVar[bool] = True
    decisive: ClassVar[frozenset[str]] = DICTIONARIES
    """The dictionaries of which a program that has one may have changed what an evaluation finds."""

    def _made(self) -> dict[str, Any]:
        raise NotImplementedError

    def dictionaries(self) -> dict[str, Any]:
        """What `COCO` holds of the data. The same objects every time."""
        return self._once("_dictionaries", self._marked)

    def _once(self, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if name not in vars(self):
            vars(self).setdefault(name, make())  # one of two threads
        found: dict[str, Any] = vars(self)[name]
        return found

    def _marked(self) -> dict[str, Any]:
        made = self._made()
        for marks in self.marks:
            marks.write(made, results=self.has_results)
        return made

    def made(self, name: str) -> dict[str, Any]:  # noqa: ARG002 - the protocol's; all are made together
        """The dictionaries, of which the program asked for one."""
        return self.dictionaries()

    def tells(self, held: Iterable[str]) -> bool:
        """Whether the columns still have what an evaluation would find in the dictionaries.

        Args:
            held: The attributes that the `COCO` has already.
        """
        return "_dictionaries" not in vars(self) and self.decisive.isdisjoint(held)

    def mark(self, marks: Marks) -> None:
        """Write into the records, now or as soon as there are any."""
        if "_dictionaries" in vars(self):
            marks.write(self.dictionaries(), results=self.has_results)
        else:
            self.marks.append(marks)


@dataclass
class AnnotationFile(Kept):
    """A file of annotations without anything unusual."""

    has_results = False

    text: _Text
    columns: GroundTruth
    marks: list[Marks] = field(default_factory=list)
    image_ids: list[int] = field(init=False)
    """In ascending order."""
    category_ids: list[int] = field(init=False)
    """In ascending order."""
    by_image: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    """The rows sorted by image, and the images in that order."""

    def __post_init__(self) -> None:
        """List the ids."""
        self.image_ids = self.columns.images.ids.tolist()
        self.category_ids = self.columns.categories.ids.tolist()

    @classmethod
    def read(cls, path: Any) -> AnnotationFile | None:
        """A file; ``None`` if its dictionaries have to be looked at."""
        text = _Text.of(path) if isinstance(path, str | os.PathLike) else None
        columns = None if text is None else _read(GroundTruth, text)
        return None if text is None or columns is None else cls(text, columns)

    def rows_of(self, image_ids: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """The annotations of a few images, so that not all have to be looked at; ``None`` for many images."""
        if len(image_ids) > len(self.image_ids) // 4:
            return None
        if self.by_image is None:
            order = np.argsort(self.columns.image_ids, kind="stable")
            self.by_image = order, self.columns.image_ids[order]
        order, images = self.by_image
        spans = zip(
            np.searchsorted(images, image_ids).tolist(),
            np.searchsorted(images, image_ids, side="right").tolist(),
            strict=True,
        )
        return np.concatenate([order[start:end] for start, end in spans])

    def _made(self) -> dict[str, Any]:
        dataset = json.loads(self.text.content.decode())
        return {"dataset": dataset, **indexes(dataset)}


@dataclass
class ResultFile(Kept):
    """A file of results without anything unusual."""

    text: _Text
    columns: Detections
    truth: Any
    """The `COCO` of the annotations."""
    marks: list[Marks] = field(default_factory=list)

    @classmethod
    def read(cls, path: str | os.PathLike[str], truth: Any) -> ResultFile | None:
        """A file; ``None`` if its dictionaries have to be looked at."""
        text = _Text.of(path)
        columns = None if text is None or "caption" in _first_record(text.content) else _read(Detections, text)
        return None if text is None or columns is None else cls(text, columns, truth)

    def _made(self) -> dict[str, Any]:
        records = json.loads(self.text.content.decode())
        dataset = {**dataset_of_results(self.truth.dataset, records, mask_utils.ORIGINAL), "annotations": records}
        return {"dataset": dataset, **indexes(dataset)}


def columns_of(coco: Any) -> Kept | None:
    """The columns of a `COCO` of ioukit; ``None`` if its records have to be looked at, and of other objects.

    The class is asked: an object that stands in front of another one (a proxy, a mock) would pass the question on, and
    its own methods would not be called.
    """
    ask = getattr(type(coco), "_columns", None)
    return None if ask is None else ask(coco)


def _first_record(content: bytes) -> Any:
    """The first record of a list; a record that tells nothing if it cannot be read."""
    head = content[:_FIRST_RECORD].decode(errors="replace").lstrip()
    try:
        found, _ = json.JSONDecoder().raw_decode(head[1:].lstrip())
    except ValueError:
        return {"caption": "unknown"}
    return found if isinstance(found, dict) else {"caption": "unknown"}
