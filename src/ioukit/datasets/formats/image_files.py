"""Files of images: which there are, and how large the images are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ioukit._optional import import_extra
from ioukit.datasets.formats.problems import Problems
from ioukit.errors import DatasetError

__all__ = ["SUFFIXES", "header_size", "image_sizes", "images_in", "sizes_or_unknown"]

SUFFIXES = {".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff"}
"""The ends of the names that are taken for images."""

_ORIENTATION = 0x0112
"""The Exif tag that says how an image is turned."""
_LYING = (5, 6, 7, 8)
"""Its values for an image that is turned by a quarter, so that width and height are swapped."""


def images_in(folder: Path) -> list[Path]:
    """The images in a folder, by name; folders inside are not searched."""
    return sorted(file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES)


def header_size(path: Path) -> tuple[int, int]:
    """(width, height) of an image after its Exif orientation, from the first bytes of its file.

    Raises:
        DatasetError: If the file is not an image.
        FileNotFoundError: If there is no such file.
    """
    image = import_extra("PIL.Image", extra="yolo", needed_by="the size of an image")
    try:
        with image.open(path) as opened:
            width, height = opened.size
            # In a PNG, Pillow would decode the image to look for Exif data behind it.
            turned = opened.format != "PNG" or "exif" in opened.info
            lying = turned and opened.getexif().get(_ORIENTATION) in _LYING
    except FileNotFoundError:
        raise
    except Exception as error:
        raise DatasetError(f"{path} cannot be read as an image: {error}") from None
    return (height, width) if lying else (width, height)


def image_sizes(
    paths: Sequence[Path],
    problems: Problems,
    *,
    size_of: Callable[[Path], tuple[int, int]] = header_size,
    threads: int | None = None,
) -> list[tuple[int, int] | None]:
    """(width, height) of each image; ``None`` if it is missing or not an image, which is a problem.

    Args:
        paths: The images.
        problems: Takes the kinds ``missing image`` and ``corrupt image``.
        size_of: Reads one size; it may raise as :func:`header_size` does.
        threads: How many threads read; as many as Python's ``ThreadPoolExecutor`` takes if ``None``.
    """

    def size(path: Path) -> tuple[int, int] | tuple[str, str]:
        try:
            return size_of(path)
        except FileNotFoundError:
            return "missing image", f"there is no image {path}"
        except DatasetError as error:
            return "corrupt image", str(error)

    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - who reads COCO's files waits for no threads

    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(size, paths))
    sizes: list[tuple[int, int] | None] = []
    for one in found:
        if isinstance(one[0], str):
            problems.meet(*one)
            sizes.append(None)
        else:
            sizes.append(one)
    return sizes


def sizes_or_unknown(
    paths: Sequence[Path], problems: Problems, threads: int | None = None
) -> list[tuple[float, float]]:
    """(width, height) of each image; NaN if it is not an image, which is a problem."""
    unknown = (float("nan"), float("nan"))
    found = image_sizes(paths, problems, threads=threads)
    return [unknown if size is None else (float(size[0]), float(size[1])) for size in found]
