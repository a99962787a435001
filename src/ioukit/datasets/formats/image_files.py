"""Files of images: which there are in a folder, and how large the images are."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ioukit import _core
from ioukit._checks import check_threads
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.image_names import ImageFinder
from ioukit.datasets.formats.objects import UNKNOWN_SIZE
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.text_files import inside, refuse
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    import numpy.typing as npt


SUFFIXES = frozenset((".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff"))
"""The ends of the names that are taken for images, in lower case."""


def images_below(folder: str | os.PathLike[str]) -> list[str]:
    """The images in a folder and in the folders inside it, by name, see :func:`files_below`."""
    return files_below(folder, SUFFIXES)[0]


def files_below(folder: str | os.PathLike[str], suffixes: frozenset[str]) -> tuple[list[str], list[str]]:
    """The files with these suffixes in a folder and in the folders inside it, and those of them that are links.

    Names are sorted, relative to the folder, and have ``/`` between their parts. Hidden files and folders, whose names
    begin with a dot, are left out.

    Raises:
        DatasetError: If a folder inside is a link: it may lead out of the folder, or around in circles.
        OSError: If a folder cannot be read.
    """
    found, links, left = [], [], [""]
    while left:
        inside = left.pop()
        with os.scandir(os.path.join(folder, inside)) as entries:
            for entry in entries:
                name = entry.name
                if name[0] == ".":
                    continue
                if name[name.rfind(".") :].lower() in suffixes and not entry.is_dir(follow_symlinks=False):
                    found.append(inside + name)
                    if entry.is_symlink():
                        links.append(inside + name)
                elif entry.is_dir():
                    if entry.is_symlink():
                        refuse(str(entry.path), "a folder", "a link to a folder")
                    left.append(f"{inside}{name}/")
    found.sort()
    return found, links


def image_sizes(
    paths: Sequence[str | os.PathLike[str]],
    problems: Problems,
    *,
    size_of: Callable[[Path], tuple[int, int]] | None = None,
    threads: int | None = None,
) -> npt.NDArray[np.int64]:
    """(N, 2) width and height of each image after its Exif orientation; 0 if there is none, which is a problem.

    The headers of JPEG, PNG, WebP, BMP, GIF and TIFF files are read. An orientation in XMP data alone is not used.

    Args:
        paths: The images.
        problems: Takes the kinds ``missing image`` and ``corrupt image``.
        size_of: Reads one size in another way. It raises :class:`DatasetError` for a file that is not an image, and
            :class:`FileNotFoundError`.
        threads: How many threads read; all cores if ``None``.
    """
    if size_of is None:
        sizes, missing = _core.read_image_sizes([os.fspath(path) for path in paths], check_threads(threads))
        for at, what in missing:
            if what is None:
                problems.meet("missing image", f"there is no image {paths[at]}")
            else:
                problems.meet("corrupt image", f"{paths[at]} cannot be read as an image: found {what}")
        return sizes

    def size(path: str | os.PathLike[str]) -> tuple[int, int] | tuple[str, str]:
        try:
            return size_of(Path(path))
        except FileNotFoundError:
            return "missing image", f"there is no image {path}"
        except DatasetError as error:
            return "corrupt image", str(error)

    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only training decodes images

    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(size, paths))
    sizes = np.zeros((len(paths), 2), np.int64)
    for at, one in enumerate(found):
        if isinstance(one[0], str):
            problems.meet(*one)
        else:
            sizes[at] = one
    return sizes


def sizes_or_unknown(
    paths: Sequence[str | os.PathLike[str]], problems: Problems, threads: int | None = None
) -> list[tuple[float, float]]:
    """(width, height) of each image; NaN if it is missing or not an image, which is a problem."""
    found = image_sizes(paths, problems, threads=threads).astype(np.float64)
    found[found == 0] = np.nan
    return [(width, height) for width, height in found.tolist()]


def with_sizes(
    gt: GroundTruth, problems: Problems, *, images: str | os.PathLike[str], threads: int | None = None
) -> GroundTruth:
    """The ground truth with the sizes of images whose sizes it does not know.

    Args:
        gt: The ground truth. Boxes in fractions of the image become pixels.
        problems: Takes the kinds ``missing image`` and ``corrupt image``.
        images: The folder of the images. They are found by name, or by name without folders and suffix.
        threads: How many threads read headers; all cores if ``None``.
    """
    finder = ImageFinder(gt)
    files: dict[int, str] = {}
    for name, place in zip(listed := images_below(images), finder.places(listed), strict=True):
        files.setdefault(int(place), name)
    sizes, names = gt.images.sizes.copy(), list(gt.images.names)
    unknown = np.flatnonzero(np.isnan(sizes).any(axis=1)).tolist()
    paths = [os.path.join(images, files.get(at, names[at] or str(finder.labels[at]))) for at in unknown]
    sizes[unknown] = np.array(sizes_or_unknown(paths, problems, threads)).reshape(-1, 2)
    return dataclasses.replace(gt, images=dataclasses.replace(gt.images, sizes=sizes)).in_pixels()


def found_size(folder: Path, named: str) -> tuple[float, float]:
    """(width, height) of an image, from the header of its file; NaN if there is no such image in the folder.

    Args:
        folder: The folder of the labels. The image is looked for there, and in its folder ``images``.
        named: What the labels call the image. A path that leads out of the folder is not opened.
    """
    for name in (named, f"images/{named}"):
        with contextlib.suppress(DatasetError, OSError, ValueError):
            file = inside(folder, name, str(folder))
            if file.is_file():
                width, height = image_sizes([file], Problems(stop=True), threads=1)[0].tolist()
                return float(width), float(height)
    return UNKNOWN_SIZE
