"""DAVIS' folders of masks: a PNG per frame, and the value of a pixel is the id of the object that it belongs to.

Owns: which folders are sequences, what the values mean (0 is the background, 255 is void), and which frames results
must have. Does not own: what a PNG is (`panoptic_png.py`), and the numbers J and F (`ioukit.tracks`).

Pixels that are void in the ground truth are taken out of the results here, because every measure then leaves them out.
TrackEval takes them out for J and F alone: its overlaps of HOTA and the others are measured before.

Sources: Perazzi et al., CVPR 2016; Pont-Tuset et al., The 2017 DAVIS Challenge, arXiv:1704.00675; and the data set
`davis.py` of https://github.com/JonathonLuiten/TrackEval for void.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ioukit._checks import check_threads
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.image_names import note_on_sequence
from ioukit.datasets.formats.known_names import required
from ioukit.datasets.formats.objects import UNKNOWN_SIZE
from ioukit.datasets.formats.panoptic_png import read_label_png
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.recognising import counts_in, first_bytes, first_file
from ioukit.datasets.formats.text_files import abbreviate, existing_folder, files_in, inside, refuse
from ioukit.regions.masks import Masks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit._array_types import Ids, Positions
    from ioukit.datasets.columns._checks import OnInvalid

_VOID = 255
_OBJECT, _VOID_NAME = "object", "void"
_ALONE = f"mask with the value {_VOID}, which is an object here and not void: no other value is there"
_ON_VOID = "mask with pixels that are void in the ground truth; these pixels do not count"
_WHICH = "the argument sequences of the ground truth (--gt-option sequences=@FILE) says which are evaluated"
_WHICH_FOUND = "the argument sequences of the results (--dt-option sequences=@FILE) says which are read"
_PATTERN = "*.png"
_FOLDERS = "a folder with a folder of PNG files per sequence, or the folder of a sequence"
_GREY, _PALETTE = 0, 3  # the types of colours in the header of a PNG
_BYTES_PER_PIXEL = 1 / 8
"""Files of labels are smaller, as most pixels are like the one before: DAVIS' have 0.02, photographs in grey 0.5."""


def recognises(path: Path) -> bool:
    """Whether a folder, or the first one inside, has PNG files alone, with a palette and called ``00000.png``.

    Such files in grey count, too, if they are too small to be photographs.
    """
    first = first_file(path, ".png", depth=2)
    if first is None or counts_in(first.parent).keys() != {".png"}:
        return False
    header = first_bytes(first)[:26]
    if not (header.startswith(b"\x89PNG") and len(first.stem) == 5 and first.stem.isdecimal() and len(header) == 26):
        return False
    depth, colours = header[24:]
    if depth > 8 or colours != _GREY:
        return colours == _PALETTE
    width, height = (int.from_bytes(header[at : at + 4], "big") for at in (16, 20))
    return first.stat().st_size < width * height * _BYTES_PER_PIXEL


def read_davis(
    path: str | os.PathLike[str],
    *,
    sequences: Sequence[str] | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,
) -> GroundTruth:
    """Read the ground truth of DAVIS: a folder per sequence, with a PNG of 8 bits per frame, such as ``00000.png``.

    The value of a pixel is the id of an object, 0 is the background, and 255 is void. Each object of a frame becomes an
    object of the class ``object`` with the attribute ``track_id``. The pixels of a frame that are void become an object
    of the class ``void`` with the flags ``void``, ``ignore_region`` and ``crowd``; results do not count there. If all
    values are 0 and 255, then 255 is an object, as in DAVIS 2016. The id of an image is ``sequence/00000``.

    It needs ``pip install 'ioukit[shapes]'``. YouTube-VOS and MOSE have the same folders.

    Args:
        path: The folder of the sequences, such as ``DAVIS/Annotations/480p``, or that of one of them.
        sequences: The names of the sequences to read, such as the lines of ``ImageSets/2017/val.txt``, one at least;
            all if ``None``.
        on_invalid: ``"error"`` refuses an invalid file, ``"drop"`` leaves its frame out and counts it.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: How many threads read files; all cores if ``None``.

    Raises:
        DatasetError: If a sequence is not there or has no PNG file, a file is no PNG of one channel with 8 bits, or
            has another size than those before; names the file, what was expected and what came.
        OSError: If a file cannot be read.
        ModuleNotFoundError: If Pillow is not installed.
        ValueError: If there is no name in ``sequences``, or it is a string.
    """
    problems, source = Problems.of(on_invalid), os.fspath(path)
    images: list[str] = []
    frames: list[_Frame] = []
    for name, folder in _sequences(path, sequences).items():
        files = _files_of(folder)
        first: tuple[Path, tuple[int, int]] | None = None
        for at, read in _read_frames([_File(file) for file in files], problems, threads):
            with problems.record("bad frame"):
                first = (files[at], read.size) if first is None else first
                _check_size(files[at], read.size, first[1], f"as in {first[0].name}")
                images.append(f"{name}/{files[at].stem}")
                frames.append(read)
    tracks, rows = _tracks_of(frames)
    is_void = tracks == _VOID
    if is_void.all():
        problems.note(_ALONE, len(tracks))
        is_void[:] = False
    masks = Masks.concat([frame.masks for frame in frames])
    gt = GroundTruth.from_arrays(
        image_ids=np.array(images or [""], np.str_)[rows],
        category_ids=np.where(is_void, _VOID, 1),
        areas=masks.area,
        regions=masks,
        flags=dict.fromkeys(("void", "ignore_region", "crowd"), is_void),
        attributes={"track_id": np.where(is_void, -1, tracks)},
        images=np.array(images, np.str_),
        sizes=np.array([frame.size for frame in frames], np.float64).reshape(-1, 2),
        names=[f"{image}.jpg" for image in images],
        categories={1: _OBJECT, _VOID: _VOID_NAME} if is_void.any() else {1: _OBJECT},
        source=source,
    )
    return problems.noted_in(gt)


def read_davis_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    sequences: Sequence[str] | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,
) -> Detections:
    """Read results as folders of :func:`read_davis`. They have no scores, and 255 is an id like others.

    There must be a file for each frame of the ground truth. Pixels that are void in the ground truth are left out.

    Args:
        path: The folder of the sequences, or that of one. If the ground truth has one sequence, a folder with its files
            may have any name.
        ground_truth: The data set: it has the frames, and one class.
        sequences: As there: those that the ground truth has, if it was read with this argument, too.
        on_invalid: As for :func:`read_davis`.
        threads: As there.

    Raises:
        DatasetError: As for :func:`read_davis`; or if a frame is missing or none of the ground truth, has another size
            there, or there is no ``ground_truth`` or one with several classes.
        OSError: If a file cannot be read.
        ModuleNotFoundError: If Pillow is not installed.
        ValueError: As for :func:`read_davis`.
    """
    gt, problems, source = required(ground_truth, path, "frames and classes"), Problems.of(on_invalid), os.fspath(path)
    named = zip(gt.categories.ids.tolist(), gt.categories.names, strict=True)
    classes = [number for number, name in named if name != _VOID_NAME]
    if len(classes) != 1:
        refuse(f"{source}: {gt.source}", "a ground truth with one class, as the files say none", f"{len(classes)}")
    files = _files_of_results(path, sequences, gt, problems)
    images: list[int] = []
    frames: list[_Frame] = []
    for at, frame in _read_frames(files, problems, threads):
        images.append(files[at].image)
        frames.append(frame)
    problems.note(_ON_VOID, sum(frame.num_on_void for frame in frames))
    tracks, rows = _tracks_of(frames)
    dt = Detections.from_arrays(
        image_ids=gt.images.labels[np.array(images, np.int64)[rows]],
        category_ids=np.repeat(classes, len(rows)),
        regions=Masks.concat([frame.masks for frame in frames]),
        scores=None,
        attributes={"track_id": tracks},
        source=source,
    )
    return problems.noted_in(dt)


class _File(NamedTuple):
    """What is known about a file before it is read."""

    path: Path
    image: int = -1
    """The position of its image in the ground truth; of objects, -1."""
    size: tuple[float, float] = UNKNOWN_SIZE
    """Width and height of that image."""
    void: Masks | None = None
    """The mask of its pixels that are void, if there are some."""


class _Frame(NamedTuple):
    """What a file has."""

    tracks: Ids
    """(N,) the values of its pixels but 0."""
    masks: Masks
    """(N,) their pixels."""
    size: tuple[int, int]
    """Width and height."""
    num_on_void: int
    """How many of the values had pixels that are void."""


def _tracks_of(frames: Sequence[_Frame]) -> tuple[Ids, Positions]:
    """The tracks of all frames, and the frame of each."""
    tracks = np.concatenate([np.zeros(0, np.int64), *(frame.tracks for frame in frames)])
    return tracks, np.repeat(np.arange(len(frames)), [len(frame.tracks) for frame in frames])


def _read_frames(files: Sequence[_File], problems: Problems, threads: int | None) -> list[tuple[int, _Frame]]:
    """The position and the content of each file that is valid."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - few formats need threads of Python

    found = []
    pool = ThreadPoolExecutor(check_threads(threads) or None)
    try:
        for at, future in enumerate([pool.submit(_read_frame, file) for file in files]):
            with problems.record("bad frame"):
                found.append((at, future.result()))
    finally:
        pool.shutdown(cancel_futures=True)  # after an error, the other files are not read
    return found


def _read_frame(file: _File) -> _Frame:
    pixels = read_label_png(file.path, str(file.path), needed_by="masks in PNG files")
    if pixels.dtype != np.uint8:
        refuse(str(file.path), "a PNG with at most 8 bits per pixel", f"{8 * min(pixels.dtype.itemsize, 2)} bits")
    height, width = pixels.shape
    _check_size(file.path, (width, height), file.size, "as in the ground truth")
    num_on_void = 0
    if file.void is not None:
        is_void = file.void.to_arrays()[0]
        num_on_void = int(np.count_nonzero(np.unique(pixels[is_void])))
        pixels = np.where(is_void, np.uint8(0), pixels)
    values = np.flatnonzero(np.bincount(pixels.reshape(-1), minlength=256))
    tracks = values[values > 0]
    masks = Masks.from_arrays(pixels == tracks.astype(np.uint8)[:, np.newaxis, np.newaxis])
    return _Frame(tracks, masks, (width, height), num_on_void)


def _check_size(file: Path, size: tuple[int, int], expected: tuple[float, float], why: str) -> None:
    if not np.isnan(expected).any() and size != expected:
        refuse(str(file), f"{expected[0]:g} x {expected[1]:g} pixels, {why}", f"{size[0]} x {size[1]}")


def _sequences(path: str | os.PathLike[str], chosen: Sequence[str] | None) -> dict[str, Path]:
    """The folder of each sequence by its name; of those that are chosen, if some are."""
    if isinstance(chosen, str) or (chosen is not None and not len(chosen)):
        raise ValueError(f"sequences must be a list of names, one at least, got {chosen!r}")
    folders = _all_sequences(path)
    if chosen is None:
        return folders
    for name in chosen:
        if name not in folders:
            refuse(os.fspath(path), f"a folder of PNG files for the sequence {abbreviate(name)}", "none")
    return {name: folders[name] for name in chosen}


def _all_sequences(path: str | os.PathLike[str]) -> dict[str, Path]:
    root = existing_folder(path, _FOLDERS)
    if first_file(root, ".png") is not None:
        return {os.path.basename(os.path.abspath(root)): root}
    names = sorted(one.name for one in root.iterdir() if one.is_dir() and not one.name.startswith("."))
    if not names:
        refuse(str(root), _FOLDERS, "neither PNG files nor folders")
    return {name: inside(root, name, str(root)) for name in names}


def _files_of(folder: Path) -> list[Path]:
    files = [file for file in files_in(folder, _PATTERN, _FOLDERS) if not file.name.startswith(".")]
    if not files:
        refuse(str(folder), "a PNG file per frame of the sequence", "no PNG file")
    return files


def _files_of_results(
    path: str | os.PathLike[str], sequences: Sequence[str] | None, gt: GroundTruth, problems: Problems
) -> list[_File]:
    """The files of all frames of the ground truth."""
    frames: dict[str, dict[str, int]] = {}
    for at, name in enumerate(gt.images.names):
        sequence, _, file = (name or str(gt.images.labels[at])).rpartition("/")
        frames.setdefault(sequence, {})[file.rpartition(".")[0] or file] = at
    folders = _sequences(path, sequences)
    if len(folders) == len(frames) == 1:
        problems.on_sequence = note_on_sequence(next(iter(folders)), next(iter(frames)), gt.source)
        folders = dict(zip(frames, folders.values(), strict=True))
    found: dict[str, dict[str, Path]] = {}
    for name, folder in folders.items():
        with problems.record("unknown sequence"):
            if name not in frames:
                refuse(str(folder), f"the name of a sequence of {gt.source}", f"{abbreviate(name)}; {_WHICH_FOUND}")
            found[name] = {file.stem: file for file in _files_of(folder)}
    for name, images in frames.items():
        with problems.record("missing sequence"):
            if name not in found:
                expected = f"a folder of PNG files for the sequence {abbreviate(name)} of {gt.source}"
                refuse(os.fspath(path), expected, f"none; {_WHICH}")
        for stem in sorted(found.get(name, images).keys() ^ images.keys()):
            with problems.record("missing or unknown frame"):
                if stem in images:
                    refuse(str(folders[name]), f"a file for each frame of {gt.source}", f"no {stem}.png")
                refuse(str(found[name][stem]), f"the name of a frame of {gt.source}", abbreviate(stem))
    places = [
        (frames[name][stem], file)
        for name, files in found.items()
        for stem, file in files.items()
        if stem in frames[name]
    ]
    return _with_what_is_known(sorted(places), gt)


def _with_what_is_known(places: Sequence[tuple[int, Path]], gt: GroundTruth) -> list[_File]:
    """Files of results, each with the position of its image in the ground truth, and what that has of the image."""
    masks, voids = gt.regions.get("Masks"), dict[int, Masks]()
    if isinstance(masks, Masks):
        voids = {int(gt.image_ids[row]): masks[[row]] for row in np.flatnonzero(gt.flag("void")).tolist()}
    ids, sizes = gt.images.ids.tolist(), gt.images.sizes.tolist()
    return [_File(file, at, (sizes[at][0], sizes[at][1]), voids.get(ids[at])) for at, file in places]
