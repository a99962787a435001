"""The images of `ioukit predict`, and the ids of images and classes in its results."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import typer

from ioukit.cli._coco_ids import class_ids, image_ids
from ioukit.cli._image_data import is_data_set, read_split, say_data
from ioukit.cli._output import printable
from ioukit.cli._standard_input import STANDARD_INPUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ioukit.cli._talk import Talk
    from ioukit.datasets import GroundTruth
    from ioukit.torch.detector.data import Data, OnInvalid, Pixels
    from ioukit.torch.detector.model import Config
    from ioukit.torch.detector.predict import Result

__all__ = ["Images", "drawings", "ids", "read_images", "with_results"]


@dataclass(frozen=True)
class Images:
    """The images of a command, in order.

    Attributes:
        files: The file of each image.
        opened: The same; for an image from standard input, which can be read only once, its pixels.
        data: The data set of the images, or ``None``.
    """

    files: list[Path]
    opened: list[Path | Pixels]
    data: Data | None = None


def read_images(
    paths: Sequence[Path], folder: Path | None, split: Literal["train", "val"], on_invalid: OnInvalid, talk: Talk
) -> Images:
    """Finds the images of files and folders, or reads a data set.

    Raises:
        typer.BadParameter: If a data set is given with other paths, or a folder without a data set.
        DatasetError: If the data set is invalid.
        OSError: If a file or folder does not exist, or a folder has no images.
    """
    from ioukit.torch.detector.data import open_image  # noqa: PLC0415 - PyTorch takes a second
    from ioukit.torch.detector.predict import images_in  # noqa: PLC0415

    sets = [path for path in paths if is_data_set(path)]
    if sets:
        if len(paths) > 1:
            raise typer.BadParameter(f"{sets[0]} is a data set: it must be the only path, got {len(paths)} paths")
        data = read_split(sets[0], folder, split, on_invalid)
        say_data(talk, split, data)
        files = [record.path for record in data.records]
        return Images(files, list(files), data)
    if folder is not None:
        raise typer.BadParameter("--images is for a COCO file: expected its name for IMAGES")
    files = [file for path in paths for file in images_in(path)]
    return Images(files, [open_image(file) if file == STANDARD_INPUT else file for file in files])


def ids(
    images: Images, config: Config, ground_truth: GroundTruth | None, *, source: Path
) -> tuple[list[int], list[int]]:
    """The id of each image and of each class: from a COCO file, else from the data set, else counted from 1.

    Args:
        images: The images.
        config: The config of the network.
        ground_truth: The COCO file with the ids, or ``None``.
        source: The path of the ground truth, or of the data set.

    Raises:
        ValueError: If an image or a class is not found by its name.
    """
    names, count = config.names, config.num_classes
    if ground_truth is not None:
        return image_ids(ground_truth, images.files, source=source), class_ids(
            ground_truth, names, count, source=source
        )
    if images.data is not None:
        numbers = [record.image_id for record in images.data.records]
        return numbers, class_ids(images.data.ground_truth, names, count, source=source)
    return list(range(1, len(images.files) + 1)), list(range(1, count + 1))


def drawings(files: Sequence[Path], folder: Path) -> list[Path]:
    """The path of the drawing of each file.

    Raises:
        ValueError: If two drawings would have one name, or one would overwrite an image.
    """
    owner: dict[Path, Path] = {}
    targets = [folder / f"{file.stem}.png" for file in files]
    inputs = {os.path.realpath(file) for file in files}
    for file, target in zip(files, targets, strict=True):
        if target in owner:
            raise ValueError(f"{owner[target]} and {file} would both be drawn to {target}")
        if os.path.realpath(target) in inputs:
            raise ValueError(f"{target} is an input and would be overwritten")
        owner[target] = file
    return targets


def with_results(images: Images, results: Iterable[Result], talk: Talk) -> Iterator[tuple[int, Result]]:
    """The results with the positions of their images; images that were skipped are reported."""
    position = 0
    for result in results:
        while not _is_of(result.image, images.opened[position]):
            _say_skipped(images.files[position], talk)
            position += 1
        yield position, result
        position += 1
    for file in images.files[position:]:
        _say_skipped(file, talk)


def _is_of(shown: Any, image: Path | Pixels) -> bool:
    return shown is image if isinstance(image, np.ndarray) else shown == str(image)


def _say_skipped(file: Path, talk: Talk) -> None:
    talk.say(f"note skipped {printable(str(file))}: it cannot be read as an image")
