"""What the pages and the addresses of the viewer show: questions about the data, and their answers as JSON."""

from __future__ import annotations

import base64
import math
from typing import TYPE_CHECKING, Any

from ioukit.viewer.answers.answering import answer
from ioukit.viewer.answers.conditions import check_filter
from ioukit.viewer.answers.filters import Filter
from ioukit.viewer.images.drawing import Surroundings, drawings
from ioukit.viewer.images.explaining import explained
from ioukit.viewer.images.photographs import MissingPictureError
from ioukit.viewer.marking.exporting import Export, export
from ioukit.viewer.server.describing import described
from ioukit.viewer.server.page import viewer_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.viewer.answers.collection import Collection
    from ioukit.viewer.images.photographs import Photographs
    from ioukit.viewer.marking.noted_marks import Noting
    from ioukit.viewer.marking.notes import Entry

__all__ = ["Views", "entry_to_json"]

Pairs = list[tuple[str, str]]

_STATIC_SIDE = 640


class Views:
    """Answers the questions about a collection.

    Args:
        collection: The data.
        photographs: The photographs of its images.
        noting: Its tags and notes.
    """

    def __init__(self, collection: Collection, photographs: Photographs, noting: Noting) -> None:
        self._collection = collection
        self._photographs = photographs
        self._noting = noting
        self._around = Surroundings(noting, photographs.has, photographs.size)
        self._page: tuple[str, str] | None = None
        self._data: dict[str, Any] | None = None

    def page(self) -> tuple[str, str]:
        """The page and its policy."""
        self._page = self._page or viewer_page()
        return self._page

    def data(self) -> Any:
        """What never changes."""
        self._data = self._data or described(self._collection, self._noting)
        return self._data

    def check(self, pairs: Pairs) -> None:
        """Refuse a filter that the data cannot answer.

        Raises:
            ValueError: If it is one.
        """
        check_filter(self._collection, Filter.parse(pairs))

    def answer(self, pairs: Pairs) -> Any:
        """The images and the counts of a filter."""
        return answer(self._collection, Filter.parse(pairs), self._noting.tagged()).to_json()

    def drawings(self, positions: Sequence[int], pairs: Pairs) -> Any:
        """The drawings of images in the grid."""
        made = drawings(self._collection, Filter.parse(pairs), positions, self._around)
        for image in made["images"]:
            if image["photo"] and (words := self._photographs.words(image["at"])):
                image["photo_words"] = words
        return made

    def image(self, at: int, pairs: Pairs) -> dict[str, Any]:
        """One image and why each of its marks is what it is."""
        return explained(self._collection, Filter.parse(pairs), at, self._around)

    def cut_out(self, pairs: Pairs, most: int = 24) -> dict[str, Any]:
        """The first images of a filter, their drawings and photographs, and what is counted.

        Raises:
            ValueError: If the filter is unknown.
        """
        data, found = self.data(), self.answer(pairs)
        at = found["order"][:most]
        drawn = self.drawings(at, pairs)
        return {
            "title": data["title"],
            "models": data["models"],
            "model": self._collection.model_at(Filter.parse(pairs).model),
            "names": [one["name"] for one in data["classes"]],
            "drawing": drawn["style"],
            "images": drawn["images"],
            "photos": {image: photo for image in at if (photo := self._photo(image)) is not None},
            "counts": found["counts"],
            "total": found["total"],
            "filter": bool(pairs),
        }

    def _photo(self, at: int) -> str | None:
        """A small copy of a photograph as an address that holds it."""
        try:
            picture = self._photographs.small(at, _STATIC_SIDE)
        except MissingPictureError:
            return None
        return f"data:{picture.kind};base64,{base64.b64encode(picture.content).decode('ascii')}"

    def notes(self) -> Any:
        """All tags and notes."""
        return self._noting.to_json()

    def write_note(self, entry: Any) -> Any:
        """Stores tags and a note, and returns them as they are stored.

        Raises:
            ValueError: If the entry is not one.
            NotesConflictError: If the note was changed elsewhere.
            DatasetError, OSError: If the file cannot be written.
        """
        written = self._noting.write(entry)
        return {**entry_to_json(written), "all": self._noting.to_json()}

    def column(self, name: str) -> Any:
        """The values of a column of images, in the order of the images; ``None`` for none.

        Raises:
            ValueError: If there is no such column of numbers of images.
        """
        value = self._collection.values.get(name)
        if value is None or value.of != "image" or not value.numeric:
            raise ValueError(f"no column of numbers of images is called {name!r}")
        return {"values": [None if math.isnan(one) else one for one in value.values.tolist()]}

    def export(self, form: str, of: str, pairs: Pairs) -> Export:
        """The name, the content type and the parts of a download."""
        return export(self._collection, self._noting, Filter.parse(pairs), form, of)


def entry_to_json(entry: Entry) -> dict[str, Any]:
    """Tags and a note, as JSON holds them."""
    return {"tags": list(entry.tags), "note": entry.note, "changed": entry.changed}
