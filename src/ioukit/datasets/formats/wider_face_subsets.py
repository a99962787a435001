"""Which faces of WIDER FACE are easy, medium and hard: from the benchmark's .mat files, or from JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Protocol

import numpy as np

from ioukit._optional import import_extra
from ioukit.datasets.formats.text_files import abbreviate, inside, member, read_json, refuse

__all__ = ["SUBSETS", "Subsets", "find_subsets", "read_subsets"]

SUBSETS = ("easy", "medium", "hard")


class _Listed(Protocol):
    """An image of the list of faces."""

    @property
    def name(self) -> str: ...
    @property
    def rows(self) -> Sequence[Sequence[float] | None]: ...


class Subsets(NamedTuple):
    """The faces of each subset."""

    positions: Mapping[str, Mapping[str, frozenset[int]]]
    """The positions of the faces by subset and by the name of the image."""
    other_boxes: int
    """How many images have other boxes where the subsets come from than in the list."""


def find_subsets(root: Path, split: str) -> Path | None:
    """The JSON file, or the folder of the .mat files, in the folder of a data set; ``None`` if there is neither."""
    for folder in ("", "ground_truth", "eval_tools/ground_truth", "wider_face_split"):
        names = (f"wider_face_{split}_subsets.json", f"wider_easy_{split}.mat")
        for name in names:
            if (root / folder / name).is_file():
                file = inside(root, f"{folder}/{name}".lstrip("/"), str(root / folder / name))
                return file if name.endswith(".json") else file.parent
    return None


def read_subsets(path: str | os.PathLike[str], records: Sequence[_Listed], split: str) -> Subsets:
    """The subsets from a JSON file, or from a folder with the .mat files.

    Raises:
        DatasetError: If an image or a face is not in the list, or the files have another layout.
        ModuleNotFoundError: If there are .mat files and SciPy is not installed.
        OSError: If a file cannot be read.
    """
    if not os.path.isdir(path):
        return Subsets(_from_json(path, {record.name: len(record.rows) for record in records}), 0)
    by_name = {str(PurePosixPath(record.name).with_suffix("")): record for record in records if record.name}
    positions, other = {}, set()
    for subset in SUBSETS:
        file = inside(Path(path), f"wider_{subset}_{split}.mat", os.fspath(path))
        found: dict[str, frozenset[int]] = {}
        for name, boxes, chosen in _images_of_mat(file):
            where = f"{file}: image {name}"
            record = by_name.get(name)
            if record is None:
                refuse(where, "an image of the list of faces", "none of this name")
            if len(boxes) != len(record.rows) and len(record.rows):
                refuse(where, f"{len(record.rows):,} faces, as in the list", f"{len(boxes):,}")
            if any(row is not None and row[:4] != box for row, box in zip(record.rows, boxes, strict=False)):
                other.add(name)
            found[record.name] = _within([number - 1 for number in chosen], len(record.rows), where)
        positions[subset] = found
    return Subsets(positions, len(other))


def _from_json(path: str | os.PathLike[str], counts: Mapping[str, int]) -> dict[str, dict[str, frozenset[int]]]:
    document = read_json(path)
    made: dict[str, dict[str, frozenset[int]]] = {}
    for subset in SUBSETS:
        made[subset] = {}
        for name, chosen in member(document, subset, dict, os.fspath(path)).items():
            where = f"{os.fspath(path)}: {subset}[{abbreviate(name)}]"
            if name not in counts:
                refuse(where, "an image of the list of faces", "none of this name")
            if not isinstance(chosen, list) or not all(type(number) is int for number in chosen):
                refuse(where, "a list of positions", abbreviate(chosen))
            made[subset][name] = _within(chosen, counts[name], where)
    return made


def _within(positions: Sequence[int], count: int, where: str) -> frozenset[int]:
    if wrong := [position for position in positions if not 0 <= position < count]:
        refuse(where, f"faces among the {count:,} of the image", f"number {wrong[0]} from 0 on")
    return frozenset(positions)


def _images_of_mat(file: Path) -> list[tuple[str, list[list[float]], list[int]]]:
    """Event and name of each image, its boxes, and the numbers of the faces that count, from 1 on."""
    scipy = import_extra("scipy.io", extra="sparse", needed_by="reading WIDER FACE's .mat files")
    with file.open("rb") as opened:  # a missing file is an error of its own
        try:
            content = scipy.loadmat(opened)
            images = []
            columns = [content[name].ravel() for name in ("event_list", "file_list", "face_bbx_list", "gt_list")]
            for event, files, boxes, chosen in zip(*columns, strict=True):
                cells = (files.ravel(), boxes.ravel(), chosen.ravel())
                for name, box, numbers in zip(*cells, strict=True):
                    images.append(
                        (
                            f"{_text(event)}/{_text(name)}",
                            np.asarray(box, np.float64).reshape(-1, 4).tolist(),
                            np.asarray(numbers, np.int64).ravel().tolist(),
                        )
                    )
        except Exception as error:  # SciPy raises errors of many kinds about files that are damaged
            expected = "a .mat file with event_list, file_list, face_bbx_list and gt_list"
            refuse(str(file), expected, f"something else: {type(error).__name__}: {str(error)[:100]!r}")
    return images


def _text(cell: Any) -> str:
    return str(np.asarray(cell).ravel()[0])
