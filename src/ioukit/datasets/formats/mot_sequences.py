"""The sequences of MOTChallenge: which files there are, what ``seqinfo.ini`` says, and which frame an image is."""

from __future__ import annotations

import configparser
import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np

from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats.objects import UNKNOWN_SIZE
from ioukit.datasets.formats.text_files import inside, read_lines, read_text, refuse, to_number

__all__ = ["FrameSequence", "frames_of", "sequence_infos", "sequences_in"]

_MOST_FRAMES = 10_000_000
_FRAME_RATE = 30  # other tools refuse a sequence without a frame rate; a data set does not know it


class FrameSequence(NamedTuple):
    """What there is about one sequence."""

    name: str
    """Empty if it is the only one."""
    file: Path
    frames: int
    """How many frames it has; 0 if unknown."""
    size: tuple[float, float]
    pattern: str
    """The names of its images, with ``{}`` for the number of the frame."""
    labels: Sequence[str] | None
    """The names of its classes; ``None`` if it does not say them."""


def sequences_in(path: str | os.PathLike[str], kind: str) -> list[FrameSequence]:
    """The sequences of a path: of its ground truth (``gt``) or of its detections (``det``)."""
    root = Path(path)
    if not root.is_dir():
        name = root.stem if kind == "det" else ""
        return [FrameSequence(name, root, 0, UNKNOWN_SIZE, "{}", None)]
    if (root / kind / f"{kind}.txt").exists():
        return [_sequence(root, kind, "")]
    if (root / f"{kind}.txt").exists():
        return [FrameSequence("", inside(root, f"{kind}.txt", str(root)), 0, UNKNOWN_SIZE, "{}", _labels(root, root))]
    folders = [folder for folder in sorted(root.iterdir()) if (folder / kind / f"{kind}.txt").exists()]
    found = [_sequence(inside(root, folder.name, str(root)), kind, folder.name) for folder in folders]
    if not found and kind == "det":
        files = sorted(root.glob("*.txt"))
        found = [
            FrameSequence(file.stem, inside(root, file.name, str(file)), 0, UNKNOWN_SIZE, "{}", None) for file in files
        ]
    if not found:
        refuse(str(root), f"a folder with {kind}/{kind}.txt, or a folder of such folders", "no such file")
    return found


def _sequence(folder: Path, kind: str, name: str) -> FrameSequence:
    file = inside(folder, f"{kind}/{kind}.txt", str(folder / kind))
    if kind == "det":
        return FrameSequence(name, file, 0, UNKNOWN_SIZE, "{}", None)
    frames, size, pattern = _info(folder)
    return FrameSequence(
        name, file, frames, size, f"{name}/{pattern}" if name else pattern, _labels(folder, folder / kind)
    )


def _labels(folder: Path, beside: Path) -> list[str] | None:
    if not (beside / "labels.txt").is_file():
        return None
    file = inside(folder, str((beside / "labels.txt").relative_to(folder)), str(beside / "labels.txt"))
    return [name.strip() for name in read_lines(file) if name.strip()] or None


def _info(folder: Path) -> tuple[int, tuple[float, float], str]:
    """The number of frames, the size and the names of the images, by ``seqinfo.ini`` if there is one."""
    file = folder / "seqinfo.ini"
    if not file.is_file():
        return 0, UNKNOWN_SIZE, "{}"
    inside(folder, file.name, str(file))
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(read_text(file))
        values: Mapping[str, str] = parser["Sequence"]
    except (configparser.Error, KeyError):
        refuse(str(file), "a section [Sequence] with lines such as seqLength=600", "something else")
    frames = int(to_number(values.get("seqLength", "0"), f"{file}: seqLength", lowest=0, whole=True))
    if frames > _MOST_FRAMES:
        refuse(f"{file}: seqLength", f"at most {_MOST_FRAMES:,} frames", f"{frames:,}")
    size = UNKNOWN_SIZE
    if "imWidth" in values or "imHeight" in values:
        width, height = (
            to_number(values.get(name), f"{file}: {name}", lowest=1, whole=True) for name in ("imWidth", "imHeight")
        )
        size = width, height
    folder_name, suffix = values.get("imDir", ""), values.get("imExt", "")
    pattern = "{}" + suffix.replace("{", "").replace("}", "")
    return frames, size, f"{folder_name.replace('{', '').replace('}', '')}/{pattern}" if folder_name else pattern


def frames_of(gt: GroundTruth) -> tuple[list[tuple[str, int]], list[str]]:
    """The sequence and the number of the frame of each image, and a note if the names do not come back."""
    labels = [str(label) for label in gt.images.labels.tolist()]
    paths = [PurePosixPath((name or key).replace("\\", "/")) for name, key in zip(gt.images.names, labels, strict=True)]
    # The id of an image of several sequences has the name of the sequence, and so may the name of the file.
    folders = [path.parts[0] if len(path.parts) > 1 else "" for path in paths]
    if not all(folders) or not all(map(_is_folder_name, folders)) or set(folders) == {"img1"}:
        folders = [""] * len(paths)
    numbers = [int(path.stem) if path.stem.isascii() and path.stem.isdecimal() else 0 for path in paths]
    frames = list(zip(folders, numbers, strict=True))
    if len(set(frames)) < len(frames) or not all(0 < number <= _MOST_FRAMES for number in numbers):
        seen: dict[str, int] = {}
        for at, name in enumerate(folders):
            seen[name] = seen.get(name, 0) + 1
            frames[at] = name, seen[name]
        return frames, [f"names of {len(frames):,} images: their frames are numbered in the order of the images"]
    changed = sum(path.stem != f"{number:06d}" for path, number in zip(paths, numbers, strict=True))
    return frames, [f"names of {changed:,} images: a frame is a number of six digits"] if changed else []


def _is_folder_name(name: str) -> bool:
    return name.isprintable() and name not in ("/", "..") and not (set(name) & set(':*?"<>|') or name[0] in ". -")


class SequenceInfos(NamedTuple):
    """The files ``seqinfo.ini`` of the sequences that are written."""

    texts: dict[str, str]
    """By the name of the sequence."""
    same_sizes: bool
    """Whether the images of each sequence have one size, or none is known."""
    all_frames: bool
    """Whether each sequence has the frames from 1 to its last, so that the files say which there are."""


def sequence_infos(gt: GroundTruth, frames: Sequence[tuple[str, int]], names: Sequence[str]) -> SequenceInfos:
    """What the files say, by the sequence and the frame of each image."""
    images: dict[str, list[int]] = {name: [] for name in names}
    for at, (name, _) in enumerate(frames):
        images[name].append(at)
    all_frames = all(
        sorted(frames[at][1] for at in places) == list(range(1, len(places) + 1)) for places in images.values()
    )
    texts, same_sizes = {}, True
    for name, places in images.items():
        lines = ["[Sequence]", f"name={name or 'sequence'}", *_file_names(gt, places), f"frameRate={_FRAME_RATE}"]
        lines += [f"seqLength={len(places)}"] if all_frames else []
        sizes = np.unique(gt.images.sizes[places], axis=0)
        known = ~np.isnan(sizes).any(axis=1)
        if len(sizes) == 1 and known.all() and (sizes[0] == np.round(sizes[0])).all() and (sizes[0] >= 1).all():
            lines += [f"imWidth={int(sizes[0, 0])}", f"imHeight={int(sizes[0, 1])}"]
        elif known.any():
            same_sizes = False
        texts[name] = "\n".join([*lines, ""])
    return SequenceInfos(texts, same_sizes, all_frames)


def _file_names(gt: GroundTruth, places: Sequence[int]) -> list[str]:
    """The folder and the suffix of the images, or those of MOTChallenge if the images differ in them."""
    names = {PurePosixPath(gt.images.names[at]) for at in places}
    folders, suffixes = {"/".join(name.parts[:-1][-1:]) for name in names}, {name.suffix for name in names}
    lines = []
    for key, found, usual in (("imDir", folders, "img1"), ("imExt", suffixes, ".jpg")):
        value = found.pop() if len(found) == 1 else usual
        lines.append(f"{key}={value if value and value.isprintable() and value == value.strip() else usual}")
    return lines
