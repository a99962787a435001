"""BURST's JSON: sequences with, for each annotated frame, the masks of its tracks by their ids.

Source: Athar et al., BURST: A Benchmark for Unifying Object Recognition, Segmentation and Tracking in Video, WACV 2023,
and `ANNOTATION_FORMAT.md` of https://github.com/Ali2500/BURST-benchmark.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.id_lists import IdLists
from ioukit.datasets.formats.known_names import required
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.recognising import OTHER_JSON, first_bytes
from ioukit.datasets.formats.text_files import abbreviate, member, read_json, refuse, to_number
from ioukit.datasets.formats.video_masks import Frame, MaskRows, check_one_per_frame, classes_in, id_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ioukit.datasets.columns._checks import OnInvalid

_LISTS = ("neg_category_ids", "not_exhaustive_category_ids")
_DIGITS = 15
"""How long a track id may be: floats, which tables have, hold so many digits."""


def recognises(path: Path) -> bool:
    """Whether a JSON file has sequences with lists of annotated images."""
    return OTHER_JSON["burst"].search(first_bytes(path))


def read_burst(
    path: str | os.PathLike[str], *, on_invalid: OnInvalid = "error", threads: int | None = None
) -> GroundTruth:
    """Read the ground truth of BURST: ``categories``, and ``sequences`` with ``segmentations`` of annotated frames.

    Each mask becomes an object with the attribute ``track_id``, which is unique in its sequence. A sequence is called
    ``dataset/seq_name``. Images get the ids 1, 2, ... in the order of the file, and the attributes ``sequence``,
    ``frame_index``, ``neg_category_ids`` and ``not_exhaustive_category_ids``. Frames that are not annotated are left
    out.

    Args:
        path: The file.
        on_invalid: ``"error"`` refuses invalid masks; ``"drop"`` leaves them out and counts them. ``"pycocotools"`` is
            the same as ``"error"``.
        threads: How many threads read masks; all cores if ``None``.

    Raises:
        DatasetError: If the data is invalid; names file, sequence, frame and field, what was expected and what came.
        OSError: If the file cannot be read.
    """
    problems, file, source = Problems.of(on_invalid), os.fspath(path), read_json(path)
    classes = classes_in(source, file)
    names: list[str] = []
    sizes: list[tuple[float, float]] = []
    sequences: dict[str, int] = {}
    lists: dict[str, list[list[int]]] = {name: [] for name in _LISTS}
    rows = MaskRows()
    for record, where, name in _sequences(source, file):
        if name in sequences:
            refuse(f"{where}.seq_name", "a sequence that differs from those before", name)
        images = _image_names(record, where)
        size = tuple(to_number(record.get(one), f"{where}.{one}", lowest=1, text=False) for one in ("width", "height"))
        sequences[name] = len(images)
        frames = {image: Frame(len(names) + at, (size[0], size[1])) for at, image in enumerate(images, start=1)}
        names += [f"{name}/{image}" for image in images]
        sizes += [(size[0], size[1])] * len(images)
        for key in _LISTS:
            lists[key] += [_ids(record, key, where)] * len(images)
        for frame, track, mask, place in _masks(record, where, frames):
            with problems.record("bad mask"):
                rows.add(frame, _rle(mask, frame, place), place, track, _category(record, where, track, classes), 0.0)
    masks = rows.regions(threads)
    tracks, categories, _ = rows.columns()
    lengths = list(sequences.values())
    gt = GroundTruth.from_arrays(
        image_ids=rows.image_ids,
        category_ids=categories,
        areas=masks.area.astype(np.float64),
        regions=masks,
        images=np.arange(1, len(names) + 1),
        sizes=sizes,
        names=names,
        categories=classes,
        attributes={"track_id": tracks},
        image_attributes={
            "sequence": np.repeat(np.array(list(sequences), np.str_), lengths),
            "frame_index": np.concatenate([np.zeros(0, np.int64), *map(np.arange, lengths)]),
            **{key: IdLists.of(column) for key, column in lists.items()},
        },
        source=file,
    )
    return problems.noted_in(gt)


def read_burst_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,
) -> Detections:
    """Read results of BURST: files as those of the ground truth, with the masks, tracks and classes of a tracker.

    Each mask becomes a detection with the attribute ``track_id``. Its class is its ``category_id``, or else that of its
    track in ``track_category_ids``; its score is 1 if the file has none, as in TrackEval. Masks of frames that the
    ground truth has not are left out, because results may be of all frames.

    Args:
        path: The file.
        ground_truth: The ground truth, which has the ids and the sizes of the images.
        on_invalid: As for :func:`read_burst`.
        threads: As there.

    Raises:
        DatasetError: If the data is invalid or has a sequence that the ground truth has not, or there is no
            ``ground_truth``.
        OSError: If the file cannot be read.
    """
    ground_truth = required(ground_truth, path, "images and classes")
    problems, file, source = Problems.of(on_invalid), os.fspath(path), read_json(path)
    known = dict.fromkeys(ground_truth.categories.ids.tolist())
    videos = _known_frames(ground_truth, file)
    rows = MaskRows()
    for record, where, name in _sequences(source, file):
        if name not in videos:
            refuse(f"{where}.seq_name", "a sequence of the ground truth, as dataset/seq_name", name)
        frames: dict[str, Frame | None] = {image: videos[name].get(image) for image in _image_names(record, where)}
        for frame, track, mask, place in _masks(record, where, frames):
            if frame is None:
                problems.leave_out("mask of a frame that the ground truth does not have")
                continue
            with problems.record("bad mask"):
                segmentation = _rle(mask, frame, place)
                own = "category_id" in mask
                category = (
                    id_in(mask, "category_id", place, known=known) if own else _category(record, where, track, known)
                )
                score = to_number(mask["score"], f"{place}.score", text=False) if "score" in mask else 1.0
                rows.add(frame, segmentation, place, track, category, score)
                problems.note("a mask without a score, which counts as 1, as in TrackEval", "score" not in mask)
    tracks, categories, scores = rows.columns()
    dt = Detections.from_arrays(
        image_ids=rows.image_ids,
        category_ids=categories,
        regions=rows.regions(threads),
        scores=scores,
        attributes={"track_id": tracks},
        source=file,
    )
    return problems.noted_in(dt)


def _sequences(source: Any, file: str) -> Iterator[tuple[Any, str, str]]:
    """Each record of a sequence, where it stands, and its name."""
    for at, record in enumerate(member(source, "sequences", list, file)):
        where = f"{file}: sequences[{at}]"
        yield record, where, "/".join(member(record, name, str, where) for name in ("dataset", "seq_name"))


def _image_names(record: Any, where: str) -> list[str]:
    paths: list[str] = member(record, "annotated_image_paths", list, where)
    seen: set[str] = set()
    for at, path in enumerate(paths):
        if not isinstance(path, str) or path in seen:
            refuse(f"{where}.annotated_image_paths[{at}]", "a path that differs from those before", abbreviate(path))
        seen.add(path)
    return paths


def _masks(record: Any, where: str, frames: Mapping[str, Any]) -> Iterator[tuple[Any, int, Mapping[str, Any], str]]:
    """Each mask of a sequence: its frame, its track, the record, and where it stands."""
    listed = member(record, "segmentations", list, where)
    check_one_per_frame(listed, len(frames), f"{where}.segmentations", "annotated image")
    for at, (frame, masks) in enumerate(zip(frames.values(), listed, strict=True)):
        place = f"{where}.segmentations[{at}]"
        if not isinstance(masks, dict):
            refuse(place, "an object with a mask for each track id", abbreviate(masks))
        for track, mask in masks.items():
            if not isinstance(mask, dict):
                refuse(f"{place}.{track}", "an object with rle", abbreviate(mask))
            yield frame, _track(track, place), mask, f"{place}.{track}"


def _track(text: str, place: str) -> int:
    if not text.isdecimal() or len(text) > _DIGITS or str(int(text)) != text:
        refuse(place, f"track ids that are whole numbers of at most {_DIGITS} digits", abbreviate(text))
    return int(text)


def _rle(mask: Mapping[str, Any], frame: Frame, place: str) -> dict[str, Any]:
    width, height = frame.size
    return {"size": [int(height), int(width)], "counts": member(mask, "rle", str, place)}


def _category(record: Any, where: str, track: int, known: Mapping[int, Any]) -> int:
    """The class of a track."""
    classes = member(record, "track_category_ids", dict, where)
    return id_in(classes, str(track), f"{where}.track_category_ids", known=known)


def _ids(record: Any, name: str, where: str) -> list[int]:
    """A list of ids of classes.

    Raises:
        DatasetError: If it is none.
    """
    found: list[int] = member(record, name, list, where)
    for at, value in enumerate(found):
        if not isinstance(value, int) or isinstance(value, bool):
            refuse(f"{where}.{name}[{at}]", "the id of a category", abbreviate(value))
    return found


def _known_frames(gt: GroundTruth, file: str) -> dict[str, dict[str, Frame]]:
    """The frames of each sequence of a ground truth, by the paths of their images."""
    sequences: Any = gt.images.attributes.get("sequence")
    if sequences is None or np.isnan(gt.images.sizes).any():
        wanted = "a ground truth whose images have the attribute sequence, a width and a height"
        refuse(f"{file}: {gt.source}", wanted, "none")
    found: dict[str, dict[str, Frame]] = {}
    rows = zip(gt.images.ids.tolist(), gt.images.sizes.tolist(), gt.images.names, sequences.tolist(), strict=True)
    for number, (width, height), name, sequence in rows:
        found.setdefault(sequence, {})[name.removeprefix(f"{sequence}/")] = Frame(number, (width, height))
    return found
