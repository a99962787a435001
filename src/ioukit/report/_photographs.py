"""The photographs of a page: how many it gets, which ones are missing, and notes about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ioukit.report._thumbnails import thumbnail

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ioukit.report._thumbnails import Thumbnail

__all__ = ["Photographs", "numbers_of", "picture_notes"]


class Photographs:
    """Reads photographs until a page has enough of them.

    Args:
        folder: The folder of the photographs; none are read if ``None``.
        most: The largest number of photographs.
        characters: The largest number of characters of all together, as they stand in the page.
    """

    def __init__(self, folder: Path | None, most: int, characters: int) -> None:
        self._folder = folder
        self._left = most
        self._room = characters
        self.tried = 0
        """How many photographs were asked for."""
        self.missing: list[str] = []
        """The names of those that are missing, with the reason."""

    def next(self, name: str, label: str, expected: tuple[float, float]) -> Thumbnail | None:
        """The next photograph; ``None`` if it is missing or the page has enough.

        Args:
            name: Its name within the folder.
            label: The name that a reader sees.
            expected: The width and height of the image in the data set, NaN if unknown.
        """
        if self._folder is None or not self._left or self._room <= 0:
            return None
        self._left -= 1
        self.tried += 1
        found = thumbnail(self._folder, name, expected)
        if isinstance(found, str):
            self.missing.append(f"{label} ({found})")
            return None
        self._room -= len(found[0])
        return found


def picture_notes(missing: list[str], tried: int, left_out: int) -> Iterator[str]:
    """Notes about missing photographs, and about regions that have nothing to draw.

    Args:
        missing: The names of the missing photographs, with the reason.
        tried: How many photographs were asked for.
        left_out: How many regions have nothing to draw.
    """
    if missing:
        more = ", ..." if len(missing) > 3 else ""
        yield f"{len(missing):,} of {tried:,} photographs are missing: {', '.join(missing[:3])}{more}"
    if left_out:
        words = "region cannot be drawn and is" if left_out == 1 else "regions cannot be drawn and are"
        yield f"{left_out:,} {words} left out."


def numbers_of(shapes: list[dict[str, Any]]) -> int:
    """How many numbers outlines have."""
    lists = [part for shape in shapes for part in (*shape.get("rings", ()), shape.get("lines"), shape.get("points"))]
    return sum(len(part) for part in lists if part)
