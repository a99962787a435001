"""Images and boxes for `ioukit train`, `val` and `predict`, and the ids of images and classes in their results.

The data are a ``data.yaml``, or a COCO file with the folder of its images; `predict` also takes images and folders.
"""

from __future__ import annotations

import errno
import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from ioukit._near_names import did_you_mean, near_names
from ioukit._output import printable
from ioukit.cli._data_files import STANDARD_INPUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.cli._streams import Talk
    from ioukit.datasets import GroundTruth
    from ioukit.torch.detector.data import Data, OnInvalid, Pixels
    from ioukit.torch.detector.model import Config


_YAML = (".yaml", ".yml")

Split: TypeAlias = Literal["train", "val"]
NetworkPath: TypeAlias = Annotated[
    Path, typer.Argument(metavar="NETWORK", help="The network, such as best.safetensors.")
]
ImagesOption: TypeAlias = Annotated[
    Path | None, typer.Option("--images", metavar="DIR", help="Folder of the images, for a COCO file.")
]
SplitOption: TypeAlias = Annotated[str, typer.Option("--split", help="Split of data.yaml: val or train.")]
OnBadOption: TypeAlias = Annotated[
    str, typer.Option("--on-invalid", help="A bad image or box: error, or skip and count it.")
]
BatchOption: TypeAlias = Annotated[int, typer.Option("--batch", min=1, metavar="N", help="Images per step.")]
SizeOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--size",
        metavar="PIXELS",
        help="Side of the network's image, a multiple of 32. [default: that which it has learned from]",
    ),
]
RectangularOption: TypeAlias = Annotated[
    bool, typer.Option("--rectangular", help="Pad images to multiples of 32 only, not to a square: faster.")
]
DeviceOption: TypeAlias = Annotated[
    str | None, typer.Option("--device", help="cpu, cuda, ... [default: cuda if there is one]")
]


def check_split(split: str) -> Split:
    """Checks the name of a split, and returns it.

    Raises:
        ValueError: If there is no such split.
    """
    from ioukit._checks import check_choice  # noqa: PLC0415 - loads NumPy

    check_choice("split", split, ("train", "val"))
    return split  # type: ignore[return-value]


def read_split(data: Path, images: Path | None, split: Split, on_invalid: OnInvalid) -> Data:
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


def read_images(paths: Sequence[Path], folder: Path | None, split: Split, on_invalid: OnInvalid, talk: Talk) -> Images:
    """Finds the images of files and folders, or reads a data set.

    Raises:
        typer.BadParameter: If a data set is given with other paths, or a folder without a data set.
        DatasetError: If the data set is invalid.
        OSError: If a file or folder does not exist, or a folder has no images.
    """
    from ioukit.torch.detector.data import open_image  # noqa: PLC0415 - PyTorch takes a second
    from ioukit.torch.detector.predict import images_in  # noqa: PLC0415

    sets = [path for path in paths if path.name.lower().endswith((*_YAML, ".json", ".json.gz"))]
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


def class_ids(ground_truth: GroundTruth, names: Sequence[str], num_classes: int, *, source: Path) -> list[int]:
    """(K,) the category id of each class of a network: by name, or by position if the network has no names.

    Raises:
        ValueError: If a name belongs to no category or to several, or if there are no names and the number of
            categories differs.
    """
    categories = ground_truth.categories
    if names:
        try:
            positions = categories.positions(list(names))
        except ValueError as error:
            raise ValueError(f"{source}: {error}") from None
        return [int(categories.ids[position]) for position in positions]
    if len(categories) != num_classes:
        raise ValueError(
            f"the network has {num_classes} classes without names, and {source} has {len(categories)} categories: "
            f"expected the same number"
        )
    return [int(number) for number in categories.ids]


def image_ids(ground_truth: GroundTruth, files: Sequence[Path], *, source: Path) -> list[int]:
    """The id of each file: that of the image whose ``file_name`` is the end of the path of the file.

    If several names are, the longest one counts.

    Raises:
        ValueError: If there is no such image, or several of the same name.
    """
    images = ground_truth.images
    named: dict[str, list[tuple[tuple[str, ...], int]]] = defaultdict(list)
    for number, name in zip(images.ids.tolist(), images.names, strict=True):
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if parts:
            named[parts[-1]].append((parts, number))
    found = [_ends(named.get(file.name, []), file) for file in files]
    missing = [file for file, ids in zip(files, found, strict=True) if not ids]
    if missing:
        name = missing[0].name
        like = [name] if name in named else near_names(name, named, cutoff=0.8)
        close = ["/".join(parts) for one in like for parts, _ in named[one]][:3]
        more = f" (and {len(missing) - 1:,} other files)" if len(missing) > 1 else ""
        raise ValueError(f"{source} lists no image {missing[0]}{more}{did_you_mean(close)}")
    for file, ids in zip(files, found, strict=True):
        if len(ids) > 1:
            raise ValueError(f"{source}: {len(ids)} images have the name of {file}: ids {ids}")
    return [ids[0] for ids in found]


def _ends(candidates: list[tuple[tuple[str, ...], int]], file: Path) -> list[int]:
    """The ids of the longest names that the path of the file ends with."""
    whole = Path(os.path.abspath(file)).parts
    fitting = [(parts, number) for parts, number in candidates if whole[-len(parts) :] == parts]
    longest = max((len(parts) for parts, _ in fitting), default=0)
    return [number for parts, number in fitting if len(parts) == longest]
