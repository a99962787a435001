"""What entries of notes are about: the images, objects and detections of the collection that is shown."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit.viewer.answers.conditions import Tagged
from ioukit.viewer.marking.notes import Entry, Notes, Stored, Subject

if TYPE_CHECKING:
    from ioukit.viewer.answers.collection import Collection


_SIGNS_OF_FINGERPRINT = 24


class Place(NamedTuple):
    """An image, or a mark on it, of the collection."""

    at: int
    """The position of the image."""
    side: int | None = None
    """0 for an object, ``m`` for a detection of the ``m``-th model, ``None`` for the image."""
    row: int | None = None
    """The row of the object in the ground truth, or of the detection in the data of its model."""


class _Placed(NamedTuple):
    """The entries about what is in the collection."""

    entries: Mapping[Place, Entry]
    tagged: Tagged
    by_image: Mapping[int, list[Place]]


class Noting:
    """The notes of a collection. All threads of a process may share it."""

    def __init__(self, collection: Collection, notes: Notes) -> None:
        """Take what is shown and the file of the notes."""
        self.collection, self.notes = collection, notes
        self._last: tuple[Stored, _Placed] | None = None
        self._fingerprints: dict[tuple[int, int], dict[str, int]] = {}

    def subject(self, place: Place) -> Subject:
        """What an entry about a place is about.

        Raises:
            ValueError: If there is no such image, object or detection.
        """
        at, side, row = place
        collection = self.collection
        if not 0 <= at < len(collection.table.image_ids):
            raise ValueError(f"there is no image at position {at}")
        image = collection.table.image_ids[at].item()
        if side is None:
            return Subject("image", image)
        if not 0 <= side <= len(collection.models):
            raise ValueError(f"side must be from 0 to {len(collection.models)}, got {side}")
        if side == 0:
            if row not in collection.table.objects.row[collection.objects_of(at)]:
                raise ValueError(f"there is no object {row} on image {image!r}")
            return Subject("object", image, annotation=int(collection.ground_truth.ids[row]))
        known = {number: fingerprint for fingerprint, number in self._of_detections(at, side).items()}
        if row not in known:
            raise ValueError(f"there is no detection {row} on image {image!r}")
        return Subject("detection", image, model=collection.models[side - 1].name, fingerprint=known[row])

    def place(self, subject: Subject) -> Place | None:
        """Where the subject of an entry is; ``None`` if it is not in the collection."""
        at = self._positions.get(subject.image)
        if at is None:
            return None
        if subject.kind == "image":
            return Place(at)
        if subject.kind == "object":
            rows = self.collection.table.objects.row[self.collection.objects_of(at)]
            found = rows[self.collection.ground_truth.ids[rows] == subject.annotation]
            return Place(at, 0, int(found[0])) if len(found) else None
        for side, model in enumerate(self.collection.models, 1):
            if model.name == subject.model:
                row = self._of_detections(at, side).get(subject.fingerprint)
                return None if row is None else Place(at, side, row)
        return None

    def entries(self) -> Mapping[Place, Entry]:
        """The entries about what is in the collection."""
        return self._placed().entries

    def tagged(self) -> Tagged:
        """The images that have each tag, and those that have a note, themselves or on one of their marks."""
        return self._placed().tagged

    def entry(self, place: Place) -> Entry:
        """What is written about an image or a mark; an empty entry if there is nothing."""
        return self.entries().get(place, Entry())

    def of_image(self, at: int) -> Iterator[tuple[Place, Entry]]:
        """The entries about an image and its marks."""
        placed = self._placed()
        return ((place, placed.entries[place]) for place in placed.by_image.get(at, ()))

    def write(self, request: Any) -> Entry:
        """Carry out what the page asks for.

        Args:
            request: A mapping with ``at``, ``side`` and ``row`` (``None`` or missing for the image itself), ``tags``,
                ``note``, and ``was`` with the tags and the note that the page knew, see :meth:`Notes.write`.

        Raises:
            ValueError: If the request is not one, or as :meth:`subject` and :meth:`Notes.write`.
            NotesConflictError, DatasetError, OSError: As :meth:`Notes.write`.
        """
        if not isinstance(request, Mapping):
            raise ValueError("expected an object with at, tags and note")
        place = Place(*(_whole(request.get(name), name, optional=name != "at") for name in Place._fields))
        tags, note = _written(request)
        was = None
        if request.get("was") is not None:
            if not isinstance(request["was"], Mapping):
                raise ValueError("was must be an object with tags and note")
            was = Entry(*_written(request["was"]))
        return self.notes.write(self.subject(place), tags, note, was)

    def to_json(self) -> dict[str, Any]:
        """What the page knows of all notes: the file, why nothing can be stored, and the tags with their counts."""
        stored = self.notes.read()
        tagged = self.tagged().tags
        return {
            "file": self.notes.name,
            "words": self.notes.problem() or self.notes.unread(),
            "tags": [
                {"name": name, "count": count, "images": len(tagged.get(name, ()))}
                for name, count in stored.tag_counts().items()
            ],
            "noted": len(self.tagged().noted),
            "elsewhere": len(stored.entries) - len(self.entries()),
        }

    @cached_property
    def _positions(self) -> dict[int | str, int]:
        return {image: at for at, image in enumerate(self.collection.table.image_ids.tolist())}

    def _placed(self) -> _Placed:
        """The entries by place, by tag and by image, made again when the file has changed."""
        stored = self.notes.read()
        last = self._last
        if last is not None and last[0] is stored:
            return last[1]
        entries: dict[Place, Entry] = {}
        by_image: dict[int, list[Place]] = {}
        tags: dict[str, set[int]] = {}
        for subject, entry in stored.entries.items():
            place = self.place(subject)
            if place is not None:
                entries[place] = entry
                by_image.setdefault(place.at, []).append(place)
                for tag in entry.tags:
                    tags.setdefault(tag, set()).add(place.at)
        noted = {place.at for place, entry in entries.items() if entry.note}
        tagged = Tagged({tag: _sorted(images) for tag, images in tags.items()}, _sorted(noted))
        found = _Placed(entries, tagged, by_image)
        self._last = (stored, found)
        return found

    def _of_detections(self, at: int, side: int) -> dict[str, int]:
        """The row of each detection of a model on an image, by its fingerprint.

        A fingerprint is made of class, box and score. Detections that are alike in all are numbered in their order.
        """
        known = self._fingerprints.get((at, side))
        if known is None:
            known = self._fingerprints[at, side] = dict(_fingerprints(self.collection, at, side))
        return known


def _fingerprints(collection: Collection, at: int, side: int) -> Iterator[tuple[str, int]]:
    model = collection.models[side - 1]
    detections = model.detections
    counts: dict[str, int] = {}
    rows = np.sort(model.table.detections.row[model.detections_of(at)])
    # Zero has one sign, whatever the file has.
    numbers = np.column_stack([detections.boxes[rows], detections.scores[rows]]) + 0.0
    classes = detections.category_ids[rows].tolist()
    for row, number, values in zip(rows.tolist(), classes, numbers.tolist(), strict=True):
        digest = hashlib.sha256(struct.pack("<q5d", number, *values)).hexdigest()[:_SIGNS_OF_FINGERPRINT]
        counts[digest] = counts.get(digest, 0) + 1
        yield (digest if counts[digest] == 1 else f"{digest}:{counts[digest]}"), row


def _sorted(images: set[int]) -> Any:
    return np.array(sorted(images), np.intp)


def _whole(value: Any, name: str, *, optional: bool) -> Any:
    if value is None and optional:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    return value


def _written(given: Mapping[str, Any]) -> tuple[tuple[str, ...], str]:
    tags, note = given.get("tags", []), given.get("note", "")
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise ValueError("tags must be a list of texts")
    if not isinstance(note, str):
        raise ValueError("note must be a text")
    return tuple(tags), note
