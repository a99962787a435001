"""The formats that can be read, and how the format of a path is found."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats import coco, lvis, yolo
from ioukit.errors import DatasetError

__all__ = ["FORMATS", "Format", "find_format", "read", "read_detections", "register_format"]


@dataclass(frozen=True)
class Format:
    """A kind of file, or of folder, that a data set can be read from."""

    name: str
    """The name for the argument ``format``."""
    title: str
    """One line about the format, for lists of formats."""
    recognises: Callable[[Path], bool]
    """Whether a path has this format, by its name or its first bytes. It must not raise an error."""
    read: Callable[..., GroundTruth] | None = None
    """Reads ground truth: ``read(path, on_invalid=..., threads=...)``; ``None`` if the format holds none."""
    read_detections: Callable[..., Detections] | None = None
    """Reads detections in the same way; ``None`` if the format holds none."""
    needs_ground_truth: bool = False
    """Whether ``read_detections`` takes ``ground_truth=``, because the files lack something: the sizes of images."""


FORMATS: dict[str, Format] = {}
"""The formats by name, in the order in which a path is compared with them."""


def register_format(added: Format) -> None:
    """Add a format, so that :func:`read`, :func:`read_detections` and the commands know it.

    Raises:
        ValueError: If there is a format of that name, or it reads nothing.
    """
    if added.name in FORMATS:
        raise ValueError(f"there is a format {added.name!r} already: {FORMATS[added.name].title}")
    if added.read is None and added.read_detections is None:
        raise ValueError(f"format {added.name!r} reads neither ground truth nor detections")
    FORMATS[added.name] = added


def find_format(path: str | os.PathLike[str], format: str | None = None) -> Format:
    """The format of a path: the named one, or the first that recognises the path.

    Raises:
        ValueError: If no format has the name.
        OSError: If no format was named, and there is nothing at the path or it cannot be opened.
        DatasetError: If no format recognises the path.
    """
    if format is not None:
        if format not in FORMATS:
            raise ValueError(f"unknown format {format!r}; choose from {', '.join(FORMATS)}")
        return FORMATS[format]
    place = Path(path)
    for known in FORMATS.values():
        if known.recognises(place):
            return known
    if not place.is_dir():
        place.open("rb").close()  # a missing file, or one that may not be read, is the more likely mistake
    titles = "; ".join(f"{known.name}: {known.title}" for known in FORMATS.values())
    raise DatasetError(f"{path}: not a format that can be read; there are {titles}")


def read(path: str | os.PathLike[str], format: str | None = None, **options: Any) -> GroundTruth:
    """Read ground truth from a file or a folder.

    - ``coco``: an annotation file, see :meth:`GroundTruth.from_coco`.
    - ``lvis``: an annotation file of LVIS, see :func:`read_lvis`.
    - ``crowdhuman``: an ``.odgt`` file, see :func:`read_crowdhuman`. The option ``box`` is ``"fbox"`` by default.
    - ``open-images``: CSV files of Open Images, see :func:`read_open_images`.
    - ``yolo``: one split of a ``data.yaml`` with folders of images and labels. The option ``split`` is ``"val"`` by
      default. Images get the ids 0, 1, ... in the order of their names, and classes keep their numbers. The sizes of
      images come from the headers of their files. This needs ``pip install 'ioukit[yolo]'``.
    - ``kitti``: a folder of KITTI's labels, see :func:`read_kitti`.

    Args:
        path: What to read.
        format: The name of a format, see :data:`FORMATS`; found by looking at the path if ``None``.
        **options: ``on_invalid``, ``threads``, and other arguments of the format's own reader.

    Raises:
        DatasetError: If the data is invalid, or of no known format.
        OSError: If it cannot be read.
    """
    found = find_format(path, format)
    if found.read is None:
        raise DatasetError(f"{path}: the format {found.name} ({found.title}) holds no ground truth")
    return found.read(path, **options)


def read_detections(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    ground_truth: GroundTruth | None = None,
    **options: Any,
) -> Detections:
    """Read detections from a file or a folder.

    - ``coco``, ``lvis``: a results file, see :meth:`Detections.from_coco`.
    - ``crowdhuman``: an ``.odgt`` file with the detections of an image in each line, see
      :func:`read_crowdhuman_detections`.
    - ``open-images``: a CSV file, see :func:`read_open_images_detections`. It needs ``ground_truth``.
    - ``yolo``: a folder with a text file per image, named like the image, with lines ``class cx cy w h score`` in
      fractions of the image. It needs ``ground_truth``.
    - ``kitti``: a folder of results in KITTI's format, see :func:`read_kitti_detections`. It needs ``ground_truth``.

    Args:
        path: What to read.
        format: The name of a format; found by looking at the path if ``None``.
        ground_truth: What the detections will be compared with. Formats whose files do not say the sizes of images
            need it, such as YOLO's, and those whose files have names of classes; others do not look at it.
        **options: As for :func:`read`.

    Raises:
        DatasetError: If the data is invalid, or of no known format.
        OSError: If it cannot be read.
    """
    found = find_format(path, format)
    if found.read_detections is None:
        raise DatasetError(f"{path}: the format {found.name} ({found.title}) holds no detections")
    if found.needs_ground_truth:
        options["ground_truth"] = ground_truth
    return found.read_detections(path, **options)


def _is_coco(path: Path) -> bool:
    """Whether a file is JSON, and not LVIS's: a file of LVIS is one of COCO's with more in it."""
    return coco.recognises(path) and not lvis.recognises(path)


def _later(module: str, name: str) -> Callable[..., Any]:
    """A function of the reader of a format, which is imported when it is called: other formats do not need it."""

    def call(*arguments: Any, **options: Any) -> Any:
        return getattr(importlib.import_module(f"ioukit.datasets.formats.{module}"), name)(*arguments, **options)

    return call


def _is_kitti(path: Path) -> bool:
    """Whether it is a folder with text files of KITTI."""
    return path.is_dir() and bool(_later("kitti", "recognises")(path))


def _is_yolo(path: Path) -> bool:
    """Whether it is a YAML file, or a folder with text files that are not KITTI's."""
    return yolo.recognises(path) and not _is_kitti(path)


register_format(
    Format(
        name="coco",
        title="COCO's .json or .json.gz: annotations, or results",
        recognises=_is_coco,
        read=GroundTruth.from_coco,
        read_detections=Detections.from_coco,
    )
)
register_format(
    Format(
        name="yolo",
        title="YOLO's data.yaml with folders of images and labels, or a folder of text files with detections",
        recognises=_is_yolo,
        read=yolo.read_yolo,
        read_detections=yolo.read_yolo_detections,
        needs_ground_truth=True,
    )
)


def _is_crowdhuman(path: Path) -> bool:
    return path.suffix.lower() == ".odgt" and not path.is_dir()


register_format(
    Format(
        name="crowdhuman",
        title="CrowdHuman's .odgt: a record per line and image, with gtboxes or dtboxes",
        recognises=_is_crowdhuman,
        read=_later("crowdhuman", "read_crowdhuman"),
        read_detections=_later("crowdhuman", "read_crowdhuman_detections"),
    )
)
register_format(
    Format(
        name="lvis",
        title="LVIS's .json or .json.gz: annotations with neg_category_ids and not_exhaustive_category_ids per image",
        recognises=lvis.recognises,
        read=lvis.read_lvis,
        read_detections=Detections.from_coco,
    )
)
register_format(
    Format(
        name="kitti",
        title="a folder of text files in KITTI's format: labels, or results with scores",
        recognises=_is_kitti,
        read=_later("kitti", "read_kitti"),
        read_detections=_later("kitti", "read_kitti_detections"),
        needs_ground_truth=True,
    )
)


def _is_open_images(path: Path) -> bool:
    """Whether a file or a folder is one of Open Images."""
    return (path.suffix.lower() == ".csv" or path.is_dir()) and bool(_later("open_images", "recognises")(path))


register_format(
    Format(
        name="open-images",
        title="Open Images' CSV files: boxes, or a folder with boxes, labels, classes and hierarchy; or detections",
        recognises=_is_open_images,
        read=_later("open_images", "read_open_images"),
        read_detections=_later("open_images", "read_open_images_detections"),
        needs_ground_truth=True,
    )
)
