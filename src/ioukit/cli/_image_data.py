"""Images and boxes from the paths of a command: a ``data.yaml``, or a COCO file with the folder of its images."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Literal

import typer

from ioukit.cli._output import printable

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.cli._talk import Talk
    from ioukit.torch.detector.data import Data, OnInvalid

__all__ = ["is_data_set", "read_split", "say_data"]

_YAML = (".yaml", ".yml")


def is_data_set(path: Path) -> bool:
    """Whether a path is named like a data set, not like an image or a folder."""
    return path.name.lower().endswith((*_YAML, ".json", ".json.gz"))


def read_split(data: Path, images: Path | None, split: Literal["train", "val"], on_invalid: OnInvalid) -> Data:
    """Reads a split of ``data.yaml``, or a COCO file with the folder of its images.

    Raises:
        typer.BadParameter: If the folder of images is missing for a COCO file, or given for a ``data.yaml``.
        DatasetError: If the data is invalid.
        OSError: If a file cannot be read, or the folder does not exist.
    """
    from ioukit.torch.detector.data import read_coco_data, read_yolo_data  # noqa: PLC0415 - PyTorch takes a second

    if data.suffix.lower() in _YAML:
        if images is not None:
            raise typer.BadParameter(f"{data} names the folders of its images: leave out the folder {images}")
        return read_yolo_data(data, split, on_invalid=on_invalid)
    if images is None:
        raise typer.BadParameter(f"{data} is not a data.yaml: for a COCO file, name the folder of its images")
    if not images.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no folder", str(images))
    return read_coco_data(data, images, on_invalid=on_invalid)


def say_data(talk: Talk, name: str, data: Data) -> None:
    """Reports the number of images, objects and classes; for each kind of problem, its number and first message."""
    from ioukit._checks import pluralize  # noqa: PLC0415 - loads NumPy

    objects = sum(len(record.labels) for record in data.records)
    found = (pluralize(len(data), "image"), pluralize(objects, "object"), pluralize(len(data.names), "class"))
    talk.say(f"read {name:5}  {'  '.join(found)}")
    for kind, count in data.problems.items():
        first = f": {printable(data.first[kind])}" if kind in data.first else ""
        talk.say(f"note {name:5}  {count:,} x {kind}{first}")
