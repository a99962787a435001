"""What the pages and the addresses of the viewer show: questions about the data, and their answers as JSON."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ioukit.viewer.answering import answer
from ioukit.viewer.describing import described
from ioukit.viewer.filters import Filter
from ioukit.viewer.page import viewer_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.viewer.collection import Collection
    from ioukit.viewer.photographs import Photographs

__all__ = ["Views"]

Pairs = list[tuple[str, str]]


class Views:
    """Answers the questions about a collection.

    Args:
        collection: The data.
        photographs: The photographs of its images.
    """

    def __init__(self, collection: Collection, photographs: Photographs) -> None:
        self._collection = collection
        self._photographs = photographs
        self._page: tuple[str, str] | None = None

    def page(self) -> tuple[str, str]:
        """The page and its policy."""
        self._page = self._page or viewer_page()
        return self._page

    def data(self) -> Any:
        """What never changes."""
        return described(self._collection)

    def answer(self, pairs: Pairs) -> Any:
        """The images and the counts of a filter."""
        return answer(self._collection, Filter.parse(pairs)).to_json()

    def drawings(self, positions: Sequence[int], pairs: Pairs) -> Any:
        """The drawings of images in the grid."""
        return _called("drawing", "drawings", self._collection, Filter.parse(pairs), positions)

    def image(self, at: int, pairs: Pairs) -> Any:
        """One image and why each of its marks is what it is."""
        made = _called("explaining", "explained", self._collection, Filter.parse(pairs), at)
        return {**made, "photo_words": self._photographs.words(at)}

    def notes(self) -> Any:
        """All tags and notes."""
        return _called("notes", "listed", self._collection)

    def write_note(self, entry: Any) -> Any:
        """Stores a note and returns it."""
        return _called("notes", "written", self._collection, entry)

    def export(self, form: str, of: str, pairs: Pairs) -> Any:
        """The name, the content type and the content of a download."""
        return _called("exporting", "export", self._collection, form, of, Filter.parse(pairs))


def _called(module: str, name: str, *arguments: Any) -> Any:
    try:
        found = importlib.import_module(f"ioukit.viewer.{module}")
    except ModuleNotFoundError as error:
        if error.name != f"ioukit.viewer.{module}":
            raise
        raise ValueError(f"not there yet: ioukit.viewer.{module}.{name}") from None
    return getattr(found, name)(*arguments) if arguments else getattr(found, name)
