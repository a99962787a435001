"""Which sequence each image belongs to, and in which order its frames come: one rule for all formats.

1. The sequence of an image is its attribute ``sequence`` (or ``video_id``), if the data set has one. Otherwise it is
   the folder of the image: of its id, if that is text with a folder, as MOTChallenge's are, else of the name of its
   file. Parts of the folder that all sequences share, such as ``img1``, are no part of the name of a sequence. Without
   folders, all images are one sequence.
2. Frames are ordered by their attribute ``frame_index`` (or ``frame_id``, ``frame``), if there is one, otherwise by the
   name of the image. In text, numbers count as numbers: ``9`` comes before ``10``.

Sequences are ordered by their names as text, because the order of sums over sequences decides their last bit, and
TrackEval sorts the names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ioukit._array_types import Positions
    from ioukit.datasets import GroundTruth, Images

_SEQUENCE = ("sequence", "video_id", "video")
_FRAME = ("frame_index", "frame_id", "frame")
_ALONE = "sequence"
"""The name of the only sequence, where the data set has none for it."""
_IMAGES = "img1"
"""MOTChallenge's folder of the images of a sequence."""


class Frames(NamedTuple):
    """The frames of all sequences: the images of a data set in the order of sequences and time."""

    names: tuple[str, ...]
    """(S,) the names of the sequences, in their order."""
    sequence: Positions
    """(I,) the sequence of each image of the data set."""
    place: Positions
    """(I,) the place of each image in that order."""
    images: Positions
    """(I,) the image of each place."""

    @property
    def starts(self) -> Positions:
        """(S + 1) the place of the first frame of each sequence, and the number of all frames."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.sequence, minlength=len(self.names)))]).astype(np.int64)


def frames_of(gt: GroundTruth) -> Frames:
    """The sequences and frames of the images of a data set.

    Raises:
        DatasetError: If an image has no value where others have one, or two images of a sequence have one frame number.
    """
    images = gt.images
    folders, files = _folders_and_files(images)
    names, sequence = _sequences(gt, folders)
    numbers = _attribute(gt, _FRAME)
    if numbers is None:
        place = _natural_places([file.rpartition(".")[0] or file for file in files], sequence)
    else:
        is_text = numbers[1].dtype.kind == "U"
        place = _natural_places(numbers[1].tolist(), sequence) if is_text else np.lexsort((numbers[1], sequence))
        same = (np.diff(sequence[place]) == 0) & (numbers[1][place][1:] == numbers[1][place][:-1])
        if same.any():
            at = place[1:][same][0]
            raise DatasetError(
                f"{gt.source}: images of sequence {names[sequence[at]]!r}: expected a {numbers[0]} for each that no "
                f"other has, found {numbers[1][at].item()!r} twice"
            )
    back = np.empty(len(place), np.int64)
    back[place] = np.arange(len(place))
    return Frames(names, sequence, back, place.astype(np.int64))


def _folders_and_files(images: Images) -> tuple[list[str], list[str]]:
    """The folder of each image and its name there: of its id if that is text with a folder, else of its file."""
    texts = [] if images.keys is None else images.keys.tolist()
    if not any("/" in text or "\\" in text for text in texts):
        texts = [name or str(label) for name, label in zip(images.names, images.labels.tolist(), strict=True)]
    parts = [text.replace("\\", "/").rpartition("/") for text in texts]
    return [folder for folder, _, _ in parts], [file for *_, file in parts]


def _sequences(gt: GroundTruth, folders: Sequence[str]) -> tuple[tuple[str, ...], Positions]:
    """The names of the sequences, and the sequence of each image."""
    given = _attribute(gt, _SEQUENCE)
    if given is None:
        parts = {folder: tuple(part for part in folder.split("/") if part not in ("", ".")) for folder in set(folders)}
        short = _without_shared_parts(sorted(set(parts.values())))
        names = {folder: short[split] for folder, split in parts.items()}
        texts = [names[folder] for folder in folders]
    else:
        texts = [str(value) for value in given[1].tolist()]
    listed = sorted(set(texts))
    places = {name: at for at, name in enumerate(listed)}
    return tuple(listed), np.array([places[text] for text in texts], np.int64)


def _without_shared_parts(folders: Sequence[tuple[str, ...]]) -> Mapping[tuple[str, ...], str]:
    """The names of folders, without the parts at both ends that all of them have."""
    first, last = 0, 0
    shortest = min(map(len, folders), default=0)
    if len(folders) > 1:
        while first < shortest and len({folder[first] for folder in folders}) == 1:
            first += 1
        while first + last < shortest - 1 and len({folder[-1 - last] for folder in folders}) == 1:
            last += 1
    elif shortest:
        last = int(folders[0][-1] == _IMAGES)
        first = shortest - last - 1 if shortest > last else 0
    return {folder: "/".join(folder[first : len(folder) - last]) or _ALONE for folder in folders}


def _attribute(gt: GroundTruth, names: Sequence[str]) -> tuple[str, Any] | None:
    """The name and (I,) values of the first of these attributes that the images have."""
    name = next((name for name in names if name in gt.images.attributes), None)
    if name is None:
        return None
    values = np.asarray(gt.images.attributes[name])
    if values.ndim != 1:
        raise DatasetError(f"{gt.source}: images: expected one {name} for each, found several")
    lacking = np.isnan(values) if values.dtype.kind == "f" else values == "" if values.dtype.kind == "U" else None
    if lacking is not None and lacking.any():
        label = gt.images.labels[lacking][0].item()
        raise DatasetError(f"{gt.source}: image {label!r}: expected a {name}, as other images have, found none")
    if values.dtype.kind == "f" and (values == np.trunc(values)).all() and (np.abs(values) < 2**53).all():
        values = values.astype(np.int64)  # a reader of text has floats; the name of a sequence is then 3, not 3.0
    return name, values


def _natural_places(stems: Sequence[str], sequence: Positions) -> Positions:
    """The images by sequence and name, in which numbers count as numbers."""
    if stems and all(stem.isascii() and stem.isdecimal() and len(stem) < 19 for stem in stems):
        return np.lexsort((np.array(stems, np.str_).astype(np.int64), sequence))
    # Text and numbers take turns, beginning with text, so that parts at one place are of one kind.
    parts = [[int(part) if at % 2 else part for at, part in enumerate(re.split(r"(\d+)", stem))] for stem in stems]
    of = sequence.tolist()
    return np.array(sorted(range(len(stems)), key=lambda at: (of[at], parts[at], stems[at])), np.int64)
