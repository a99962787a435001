"""YouTube-VIS's JSON: a record per track, with a list of masks that has an item for each frame of the video."""

from __future__ import annotations

import os
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats.known_names import required
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.recognising import OTHER_JSON, first_bytes
from ioukit.datasets.formats.text_files import abbreviate, member, read_json, refuse, to_number
from ioukit.datasets.formats.video_masks import Frame, MaskRows, check_one_per_frame, classes_in, id_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ioukit.datasets.columns._checks import OnInvalid


def _add(
    rows: MaskRows, record: Any, where: str, track: int, category: int, frames: Sequence[Frame], values: Sequence[Any]
) -> None:
    """Add the masks of a track.

    Raises:
        DatasetError: If there is not one for each frame of the video, or a value is no number.
    """
    masks = member(record, "segmentations", list, where)
    check_one_per_frame(masks, len(frames), f"{where}.segmentations")
    check_one_per_frame(values, len(frames), f"{where}.areas")
    given = [(at, mask, value) for at, (mask, value) in enumerate(zip(masks, values, strict=True)) if mask]
    numbers = [nan if value is None else to_number(value, where, text=False) for _, _, value in given]
    for (at, mask, _), number in zip(given, numbers, strict=True):
        rows.add(frames[at], mask, f"{where}.segmentations[{at}]", track, category, number)


def recognises(path: Path) -> bool:
    """Whether a JSON file has tracks with lists of masks, or videos with lists of files."""
    start = first_bytes(path)
    return OTHER_JSON["youtube-vis"].search(start) and not OTHER_JSON["burst"].search(start)


def read_youtube_vis(
    path: str | os.PathLike[str], *, on_invalid: OnInvalid = "error", threads: int | None = None
) -> GroundTruth:
    """Read the ground truth of YouTube-VIS: ``videos``, ``categories``, and ``annotations`` with a record per track.

    Each mask becomes an object with the attribute ``track_id``, the ``id`` of its record. A video has ``file_names``, a
    ``width`` and a ``height``; its sequence is the folder of its first file, or its id if several videos have one
    folder. Images get the ids 1, 2, ... in the order of the videos, and the attributes ``sequence``, ``video_id`` and
    ``frame_index``. Areas are those in ``areas``, else those of the masks.

    Args:
        path: The file.
        on_invalid: ``"error"`` refuses invalid tracks; ``"drop"`` leaves them out and counts them. ``"pycocotools"`` is
            the same as ``"error"``.
        threads: How many threads read masks; all cores if ``None``.

    Raises:
        DatasetError: If the data is invalid; names file, record and field, what was expected and what came.
        OSError: If the file cannot be read.
    """
    problems, file, source = Problems.of(on_invalid), os.fspath(path), read_json(path)
    classes = classes_in(source, file)
    names: list[str] = []
    videos: dict[int, list[Frame]] = {}
    for at, video in enumerate(member(source, "videos", list, file)):
        where = f"{file}: videos[{at}]"
        files = [str(name) for name in member(video, "file_names", list, where)]
        size = (to_number(video.get(name), f"{where}.{name}", lowest=1, text=False) for name in ("width", "height"))
        width, height = size
        videos[id_in(video, "id", where, new_in=videos)] = [
            Frame(len(names) + place, (width, height)) for place in range(1, len(files) + 1)
        ]
        names += files
    rows = MaskRows()
    crowd: list[bool] = []
    for at, record in enumerate(member(source, "annotations", list, file)):
        where = f"{file}: annotations[{at}]"
        with problems.record("bad annotation"):
            frames = videos[id_in(record, "video_id", where, known=videos)]
            given = record["areas"] if isinstance(record.get("areas"), list) else [None] * len(frames)
            category = id_in(record, "category_id", where, known=classes)
            _add(rows, record, where, id_in(record, "id", where), category, frames, given)
            crowd += [bool(record.get("iscrowd"))] * (len(rows.masks) - len(crowd))
    masks = rows.regions(threads)
    tracks, categories, areas = rows.columns()
    lengths = list(map(len, videos.values()))
    gt = GroundTruth.from_arrays(
        image_ids=rows.image_ids,
        category_ids=categories,
        areas=np.where(np.isnan(areas), masks.area, areas),
        crowd=np.array(crowd, np.bool_),
        regions=masks,
        images=np.arange(1, len(names) + 1),
        sizes=[frame.size for frames in videos.values() for frame in frames],
        names=names,
        categories=classes,
        attributes={"track_id": tracks},
        image_attributes={
            "sequence": np.repeat(_sequences(names, videos), lengths),
            "video_id": np.repeat(np.array(list(videos), np.int64), lengths),
            "frame_index": np.concatenate([np.zeros(0, np.int64), *map(np.arange, lengths)]),
        },
        source=file,
    )
    return problems.noted_in(gt)


def read_youtube_vis_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,
) -> Detections:
    """Read results of YouTube-VIS: a list of tracks with ``video_id``, ``category_id``, ``score``, ``segmentations``.

    Each mask becomes a detection with the score of its track. The attribute ``track_id`` is the place of the track in
    the file, from 0 on.

    Args:
        path: The file.
        ground_truth: The ground truth, which has the ids of the images; required.
        on_invalid: As for :func:`read_youtube_vis`.
        threads: As there.

    Raises:
        DatasetError: If the data is invalid, ``ground_truth`` was not given, or its images have no ``video_id``.
        OSError: If the file cannot be read.
    """
    gt = required(ground_truth, path, "the ids of images")
    problems, file, source = Problems.of(on_invalid), os.fspath(path), read_json(path)
    if not isinstance(source, list):
        refuse(file, "a list of tracks", abbreviate(source))
    videos = _known_videos(gt, file)
    known = dict.fromkeys(gt.categories.ids.tolist())
    rows = MaskRows()
    for at, record in enumerate(source):
        where = f"{file}: detections[{at}]"
        with problems.record("bad detection"):
            frames = videos[id_in(record, "video_id", where, known=videos)]
            score = to_number(record.get("score"), f"{where}.score", text=False)
            category = id_in(record, "category_id", where, known=known)
            _add(rows, record, where, at, category, frames, [score] * len(frames))
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


def _sequences(names: Sequence[str], videos: Mapping[int, Sequence[Frame]]) -> np.ndarray[Any, Any]:
    """The names of the videos: the folders of their first images, if each video has one of its own."""
    firsts = [names[frames[0].id - 1].rpartition("/")[0].partition("/")[0] for frames in videos.values() if frames]
    are_names = len(set(firsts)) == len(videos) and all(firsts)
    return np.array(firsts if are_names else [str(number) for number in videos], np.str_)


def _known_videos(gt: GroundTruth, file: str) -> dict[int, list[Frame]]:
    """The frames of the videos of a ground truth, by the ids of the videos."""
    numbers, frames = (gt.images.attributes.get(name) for name in ("video_id", "frame_index"))
    if numbers is None or frames is None:
        refuse(f"{file}: {gt.source}", "a ground truth whose images have video_id and frame_index", "none")
    videos: dict[int, list[Frame]] = {}
    sizes, ids = gt.images.sizes.tolist(), gt.images.ids.tolist()
    for at in np.lexsort((frames, numbers)).tolist():
        videos.setdefault(int(numbers[at]), []).append(Frame(ids[at], (sizes[at][0], sizes[at][1])))
    return videos
