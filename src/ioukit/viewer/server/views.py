"""What the pages and the addresses of the viewer show: questions about the data, and their answers as JSON."""

from __future__ import annotations

import base64
import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._words_and_colours import annotator_words, overlap_name
from ioukit.evaluation import ERROR_KINDS
from ioukit.report import _html
from ioukit.viewer.answers.answering import answer
from ioukit.viewer.answers.conditions import check_filter
from ioukit.viewer.answers.filters import Filter
from ioukit.viewer.answers.values import finite_or_none
from ioukit.viewer.images.drawing import Surroundings, drawings
from ioukit.viewer.images.large_image import explained
from ioukit.viewer.images.photographs import MissingPictureError
from ioukit.viewer.marking.exporting import Export, export

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.viewer.answers.collection import Collection
    from ioukit.viewer.answers.issues import Issues
    from ioukit.viewer.answers.tracking import Happened
    from ioukit.viewer.answers.values import Value
    from ioukit.viewer.images.photographs import Photographs
    from ioukit.viewer.marking.noted_marks import Noting
    from ioukit.viewer.marking.notes import Entry


Pairs = list[tuple[str, str]]

_STATIC_SIDE = 640  # pixels of a photograph of a cut-out
_STYLES = (
    *("shared/document.css", "shared/outcomes.css", "shared/zoom.css", "viewer/viewer.css", "viewer/large.css"),
    *("viewer/notes.css", "viewer/numbers.css", "viewer/frames.css"),
)
_SCRIPTS = (
    *("shared/words.js", "shared/outcomes.js", "shared/pictures.js", "viewer/state.js", "viewer/colours.js"),
    *("viewer/cards.js", "viewer/drawings.js", "viewer/grid.js", "viewer/checklists.js", "viewer/histograms.js"),
    *("viewer/filters.js", "viewer/counts.js", "viewer/toolbar.js", "viewer/notes.js", "viewer/exporting.js"),
    *("viewer/keys.js", "viewer/annotators.js"),
    *("shared/charts.js", "viewer/numbers.js"),
    *("viewer/scatter.js", "shared/zoom.js", "viewer/stage.js", "viewer/details.js", "viewer/wipe.js"),
    *("viewer/frames.js", "viewer/large.js", "viewer/main.js"),
)
_STATIC_SCRIPTS = (
    *("shared/words.js", "shared/outcomes.js", "shared/pictures.js", "viewer/colours.js", "viewer/cards.js"),
    "viewer/static.js",
)
# The page asks its own server for data and pictures, and nothing else.
_SOURCES = {"connect-src": "'self'", "img-src": "'self' blob:"}


class Views:
    """Answers the questions about a collection.

    Args:
        collection: The data.
        photographs: The photographs of its images.
        noting: Its tags and notes.
    """

    def __init__(self, collection: Collection, photographs: Photographs, noting: Noting) -> None:
        self._collection, self._photographs, self._noting = collection, photographs, noting
        self._around = Surroundings(noting, photographs.has, photographs.size)
        self._data: dict[str, Any] | None = None
        self._happened: dict[int, Happened] = {}

    def page(self) -> tuple[str, str]:
        """The page and its policy."""
        return _viewer_page()

    def data(self) -> Any:
        """What never changes."""
        self._data = self._data or _described(self._collection, self._noting)
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

    def numbers(self, pairs: Pairs) -> Any:
        """AP, curves, errors and confusions of a filter, which no page needs at its start."""
        from ioukit.viewer.answers.numbers import numbers  # noqa: PLC0415 - the viewer starts without it

        return numbers(self._collection, Filter.parse(pairs), self._noting.tagged()).to_json()

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

    def sequences(self) -> Any:
        """The images of each sequence, in the order of their frames."""
        from ioukit.viewer.answers.tracking import sequences  # noqa: PLC0415 - the viewer starts without it

        return {"sequences": sequences(self._collection)}

    def events(self, at: int, pairs: Pairs) -> Any:
        """What happened to the tracks of a filter's model in a frame. They are evaluated at the first question.

        Raises:
            ValueError: If the data have no track ids.
            DatasetError: If the tracks cannot be evaluated.
        """
        from ioukit.viewer.answers.tracking import Happened  # noqa: PLC0415 - the viewer starts without it

        if not self._collection.has_tracks:
            raise ValueError("events need track ids: the objects, or the detections of a model, have none")
        model = self._collection.model_at(Filter.parse(pairs).model)
        if model not in self._happened:
            self._happened[model] = Happened(self._collection, model)
        return self._happened[model].to_json(at)

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
            "ranks": data["ranks"],
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
        return {**entry_to_json(self._noting.write(entry)), "all": self._noting.to_json()}

    def column(self, name: str) -> Any:
        """The values of a column of images, in the order of the images; ``None`` for none.

        Raises:
            ValueError: If there is no such column of numbers of images.
        """
        value = self._collection.values.get(name)
        if value is None or value.of != "image" or not value.numeric:
            raise ValueError(f"no column of numbers of images is called {name!r}")
        return {"values": list(map(finite_or_none, value.values.tolist()))}

    def export(self, form: str, of: str, pairs: Pairs) -> Export:
        """The name, the content type and the parts of a download."""
        return export(self._collection, self._noting, Filter.parse(pairs), form, of)


def entry_to_json(entry: Entry) -> dict[str, Any]:
    """Tags and a note, as JSON holds them."""
    return {"tags": list(entry.tags), "note": entry.note, "changed": entry.changed}


def _described(collection: Collection, noting: Noting) -> dict[str, Any]:
    """The title, the models, classes, images, thresholds and columns of a collection, as JSON holds them."""
    table, protocol = collection.table, collection.protocol
    objects = np.bincount(table.objects.category, minlength=len(collection.categories)).tolist()
    classes = zip(collection.class_keys, objects, strict=True)
    first = collection.models[0] if collection.models else None
    truth, models = Path(collection.ground_truth.source).name or "Ground truth", [one.name for one in collection.models]
    title = f"{', '.join(models)} on {truth}" if models else truth
    return {
        "title": title if collection.annotators is None else " and ".join(collection.annotators),
        "annotators": collection.annotators,
        "words": None if collection.annotators is None else _words(*collection.annotators),
        "overlap": overlap_name(table.iou_type),
        "models": models,
        "classes": [{"name": name, "objects": count} for name, count in classes],
        "images": len(table.image_ids),
        "iou_thresholds": list(map(float, protocol.iou_thresholds)),
        "ranks": protocol.ranks,
        "default": {
            "at_score": first.best_score if first is not None and protocol.ranks else None,
            "at_scores": [model.best_score for model in collection.models] if protocol.ranks else None,
            "at_iou": float(protocol.main_iou),
        },
        "score_range": list(collection.score_range),
        "areas": [{"name": name, "low": low, "high": finite_or_none(high)} for name, low, high in protocol.size_ranges],
        "errors": list(ERROR_KINDS),
        "flags": list(collection.flags),
        "columns": [_column(value) for value in collection.values.values()],
        "issues": None if collection.issues is None else _issues(collection.issues),
        "photographs": collection.folder is not None,
        "notes": noting.notes.name,
        **({"tracks": True} if collection.has_tracks else {}),
    }


def _issues(issues: Issues) -> list[dict[str, str]]:
    """The kinds of issues, and their names in words."""
    from ioukit.label_errors import LABEL_ERROR_KINDS  # noqa: PLC0415 - the viewer starts without it

    titles = {kind.key: kind.title for kind in LABEL_ERROR_KINDS}
    return [{"name": kind, "words": titles.get(kind, kind)} for kind in issues.kinds]


def _words(first: str, second: str) -> dict[str, Any]:
    """How the page calls outcomes and kinds of errors of two annotators."""
    outcomes, errors = annotator_words(first, second)
    return {"outcomes": outcomes, "errors": {kind: words._asdict() for kind, words in errors.items()}}


def _column(value: Value) -> dict[str, Any]:
    low, high = map(finite_or_none, value.ends())
    of = "image" if value.of == "image" else "mark"
    texts = None if value.texts is None else list(value.texts)
    return {"name": value.name, "of": of, "numeric": value.numeric, "low": low, "high": high, "values": texts}


def static_page(data: dict[str, Any]) -> str:
    """A page with some images and all that it shows, which needs no server.

    Args:
        data: What :meth:`Views.cut_out` returns.

    Raises:
        ModuleNotFoundError: If Jinja2 is not installed.
    """
    css, js = _html.style(*_STYLES), _html.program(*_STATIC_SCRIPTS)
    return _html.page(_html.asset("viewer/static.html.j2"), css=css, js=js, data=data, needed_by="ioukit.view")


@functools.cache
def _viewer_page() -> tuple[str, str]:
    """The page as HTML, and its content security policy.

    Raises:
        ModuleNotFoundError: If Jinja2 is not installed.
    """
    css, js = _html.style(*_STYLES), _html.program(*_SCRIPTS)
    page = _html.page(
        _html.asset("viewer/viewer.html.j2"), css=css, js=js, data={}, needed_by="ioukit view", sources=_SOURCES
    )
    return page, _html.policy(css, js, _SOURCES)
