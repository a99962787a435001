"""Files that are kept as columns until someone asks for the dictionaries of pycocotools."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ioukit.compat.pycocotools._dictionaries import dataset_of_results, indexes
from ioukit.compat.pycocotools._marks import Marks
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.errors import DatasetError

__all__ = ["AnnotationFile", "ResultFile"]

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


@dataclass
class AnnotationFile:
    """A file of annotations without anything unusual."""

    text: _Text
    columns: GroundTruth
    marks: list[Marks] = field(default_factory=list)
    """What evaluations would have written into the records."""
    image_ids: list[int] = field(init=False)
    """In ascending order."""
    category_ids: list[int] = field(init=False)
    """In ascending order."""

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

    def dictionaries(self) -> dict[str, Any]:
        """What `COCO` holds of the file. The same objects every time."""
        if "made" not in vars(self):
            dataset = json.loads(self.text.content.decode())
            made = {"dataset": dataset, **indexes(dataset)}
            for marks in self.marks:
                marks.write(made["imgToAnns"], made["imgs"], results=False)
            vars(self).setdefault("made", made)  # one of two threads
        found: dict[str, Any] = vars(self)["made"]
        return found


@dataclass
class ResultFile:
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

    def dictionaries(self) -> dict[str, Any]:
        """What `COCO` holds of the file. The same objects every time."""
        if "made" not in vars(self):
            records = json.loads(self.text.content.decode())
            dataset = dataset_of_results(self.truth.dataset, records)
            dataset["annotations"] = records
            made = {"dataset": dataset, **indexes(dataset)}
            for marks in self.marks:
                marks.write(made["imgToAnns"], made["imgs"], results=True)
            vars(self).setdefault("made", made)
        found: dict[str, Any] = vars(self)["made"]
        return found


def _first_record(content: bytes) -> Any:
    """The first record of a list; a record that tells nothing if it cannot be read."""
    head = content[:_FIRST_RECORD].decode(errors="replace").lstrip()
    try:
        found, _ = json.JSONDecoder().raw_decode(head[1:].lstrip())
    except ValueError:
        return {"caption": "unknown"}
    return found if isinstance(found, dict) else {"caption": "unknown"}
