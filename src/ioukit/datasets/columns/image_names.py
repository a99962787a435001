"""Which image of a ground truth is meant: the one rule by which detections and images meet.

What a file says about an image is an id or the name of a file:

- An id is that of the ground truth. If not all ids of a set of detections are, each of them is taken as a name. Ids
  that the reader of the ground truth made up, such as those of YOLO's images, are in no file, so that the ids of a file
  are taken as names at once.
- An id that is a sequence and a frame may have zeros in front of the number: ``walk/000007`` is the image ``walk/7``.
- A name is that of the image's file, with or without folders; or that name without folders and suffix, its stem; or a
  number that differs from the stem, or from the id, by zeros in front: ``000123.jpg`` is the image ``123``.
- Where objects have track ids, the folder is the sequence. Its name may differ only if both sides have a single one.

A name that several images have is that of none. Readers of files that are named like images (KITTI, YOLO) and of files
that hold names (VOC, CSV) ask `ImageFinder`; ids in columns meet in :meth:`Detections.meeting`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from ioukit.errors import DatasetError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ioukit.datasets.columns.ground_truth import GroundTruth

Found = dict[str, "int | None"]
"""Positions of images by name; ``None`` for a name of several images."""
TRACK_COLUMNS = ("track_id", "instance_id", "label_id", "tracker_id")
"""The attributes that can have the track ids; the first one counts that both objects and results may have."""


class ImageFinder:
    """The images of a ground truth, by the names that files of detections have for them."""

    def __init__(self, ground_truth: GroundTruth) -> None:
        """Take the ground truth."""
        images = ground_truth.images
        self.source = ground_truth.source
        self.labels = images.labels
        self.sizes = images.sizes
        self.numbers_images = images.made_up_ids
        self._named_ids = images.keys is not None
        # A number that a reader made up names nothing.
        listed = [] if images.made_up_ids else images.labels.tolist()
        self._by_label: Found = {str(label): at for at, label in enumerate(listed)}
        self._by_name: Found = {}
        self._by_path: Found = {}
        self._by_stem: Found = {}
        self._by_joined: Found = {}
        self._by_number: Found = {}
        self._by_frame: Found = {}
        self._met: dict[int, str] = {}
        self._sequences: list[tuple[str, ...]] = []  # the folders in the id and in the name of each image of a video
        self._sequences_met: set[str] = set()
        self.note = ""
        """That the only sequence of the results has another name than that of the ground truth, if it has."""
        has_tracks = not ground_truth.attributes.keys().isdisjoint(TRACK_COLUMNS)
        for at, (named, label) in enumerate(zip(images.names, images.labels.tolist(), strict=True)):
            name = PurePosixPath((named or str(label)).replace("\\", "/"))
            path = str(name.with_suffix("")) if name.stem else ""
            _add(self._by_name, named, at)
            _add(self._by_path, path, at)
            _add(self._by_stem, name.stem, at)
            _add(self._by_joined, joined_path(path), at)
            _add(self._by_number, _without_zeros(name.stem), at)
            _add(self._by_frame, _frame_of(str(label)) if self._named_ids else "", at)
            if has_tracks:
                folders = (_folder(str(label)), _folder(named))
                self._sequences.append(tuple(filter(None, folders)) if named else folders[:1])
        self._is_one_sequence = len(set(self._sequences)) == 1

    def has_two_meanings(self) -> bool:
        """Whether the id of an image is the name of the file of another one."""
        names = (self._by_name, self._by_path, self._by_stem)
        return any(found.get(label, at) != at for label, at in self._by_label.items() for found in names)

    def also_named(self, names: Sequence[str]) -> None:
        """Take another name for each image, as the files of a format have it."""
        for at, name in enumerate(names):
            self._by_name.setdefault(name, at)

    def position(self, name: str, where: str, *, is_id: bool = False) -> int:
        """The position of an image in the ground truth: by its file name, also without suffix and folders, or its id.

        Of a path, the last parts may be the file name.

        Args:
            name: What the file of detections says.
            where: The place of it, for messages.
            is_id: Whether an image with this id comes before one with this file name. ``1`` may be the stem of the
                file ``1.jpg`` and the id of another image.

        Raises:
            DatasetError: If there is no such image, or several.
        """
        at = self._place(name, is_id=is_id)
        if at is None:
            expected, last = f"the name of one image of {self.source}", name.replace("\\", "/").rpartition("/")[2]
            several = "which several have" if last == name else f"and several have the name {_shown(last)} elsewhere"
            found = f"{_shown(name)}, {several}"
            raise DatasetError(f"{where}: expected {expected}, found {found}")
        if at < 0:
            raise DatasetError(f"{where}: expected an image of {self.source}, found {_shown(name)}{self.known_as()}")
        if (other := self._met.setdefault(at, name)) != name and not (self._is_exact(name) and self._is_exact(other)):
            both = f"{_shown(name)} and {_shown(other)}, which are both {self.labels[at].item()!r}"
            raise DatasetError(f"{where}: expected names of different images, found {both}")
        return at

    def places(self, labels: Sequence[int | str]) -> npt.NDArray[np.intp]:
        """(W,) the positions of images by names that differ, and may be numbers; -1 for none and for several."""
        self.meet_sequences(map(str, labels))
        found = (self._place(str(label), is_id=False, has_id=isinstance(label, str)) for label in labels)
        places = np.array([-1 if at is None else at for at in found], np.intp)
        # Two names of one image are the names of two images, whose folders or suffixes the ground truth does not have.
        inexact = np.array([not self._is_exact(str(label)) for label in labels], np.bool_)
        _, where, counts = np.unique(places, return_inverse=True, return_counts=True)
        where = where.reshape(-1)
        places[((counts > 1) & (np.bincount(where, inexact, len(counts)) > 0))[where]] = -1
        return places

    def places_of_files(self, names: Sequence[str]) -> npt.NDArray[np.intp]:
        """(W,) the same for names of files, each for itself: a number in one is no id."""
        found = (self._place(name, is_id=False, has_id=False) for name in names)
        return np.array([-1 if at is None else at for at in found], np.intp)

    def meet_sequences(self, names: Iterable[str]) -> None:
        """Take names before they are looked for: two sequences of the results cannot be the only one here."""
        self._sequences_met.update(filter(None, map(_folder, names)))

    def _is_elsewhere(self, name: str, at: int) -> bool:
        """Whether a name is that of a frame of another sequence than the image, which only has the same frame."""
        theirs, ours = _folder(name), self._sequences[at] if self._sequences else ()
        paths = [(f"/{theirs}", f"/{one}") for one in ours if one]
        is_same = any(one.endswith(other) or other.endswith(one) for one, other in paths)
        if is_same or not theirs or not ours:
            return False
        self._sequences_met.add(theirs)
        if len(self._sequences_met) > 1 or not self._is_one_sequence:
            return True
        self.note = note_on_sequence(theirs, ours[0], self.source)
        return False

    def _is_exact(self, name: str) -> bool:
        """Whether this is an id or the name of a file as the ground truth has it: both may name one image."""
        return name in self._by_label or name in self._by_name

    def known_as(self) -> str:
        """Words about what the images are called, where ids say nothing."""
        if not self.numbers_images:
            return ""
        named = ", ".join(map(_shown, list(self._by_stem)[:2]))
        return f": the files of {self.source} do not number its images, which are called {named} and so on"

    def _place(self, name: str, *, is_id: bool, has_id: bool = True) -> int | None:
        """The position of an image; -1 for none, and ``None`` if several have the name."""
        plain = PurePosixPath(name.replace("\\", "/"))
        stem, parts = plain.stem, plain.parts
        path = str(plain.with_suffix("")) if stem else ""
        ways: list[tuple[str, Mapping[str, int | None]]] = [(name, self._by_label)] if is_id or self._named_ids else []
        ways += [(name, self._by_name), (str(plain), self._by_path), (path, self._by_path)]
        ways += [(_frame_of(name), self._by_frame)]
        if len(parts) > 1:
            ways += [(joined_path(path), self._by_name), (joined_path(path), self._by_stem)]
        ways += [("/".join(parts[at:]), self._by_name) for at in range(1, len(parts))]
        # A name without its suffix may have a dot itself, so that its end is no suffix.
        ways += [(plain.name, self._by_stem), (stem, self._by_stem), (plain.name, self._by_joined)]
        number = _without_zeros(stem)
        if has_id:
            ways += [(name, self._by_label), (plain.name, self._by_label), (stem, self._by_label)]
        ways += [(number, self._by_number), (number, self._by_label if has_id else {})]
        at = next((found[key] for key, found in ways if key in found), -1)
        return -1 if at is not None and at >= 0 and self._is_elsewhere(name, at) else at


def note_on_sequence(theirs: str, ours: str, ground_truth: str) -> str:
    """That the only sequence of results has another name than that of the ground truth; empty if it has not."""
    same = theirs == ours or not theirs or not ours
    return "" if same else f"its only sequence, {theirs!r}, is taken as {ours!r}, the only one of {ground_truth}"


def joined_path(path: str) -> str:
    """A path as the name of one file: ``rain/1`` is ``rain_1``."""
    return path.strip("/").replace("/", "_")


def _add(found: Found, key: str, at: int) -> None:
    if key:
        found[key] = None if key in found else at  # a name of two images finds neither


def _without_zeros(stem: str) -> str:
    """A number without zeros in front; empty if it is none."""
    return (stem.lstrip("0") or "0") if stem.isascii() and stem.isdecimal() else ""


def _folder(name: str) -> str:
    return name.replace("\\", "/").rpartition("/")[0]


def _frame_of(name: str) -> str:
    """A sequence and the number of a frame, without zeros in front; empty if the name is not made of them."""
    sequence, _, frame = name.rpartition("/")
    number = _without_zeros(frame) if sequence else ""
    return f"{sequence}/{number}" if number else ""


def _shown(name: str) -> str:
    text = repr(name)
    return text if len(text) <= 60 else f"{text[:57]}..."
