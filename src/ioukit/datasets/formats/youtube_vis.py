"""YouTube-VIS's JSON: a record per track, with a list of masks that has an item for each frame of the video."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.masks import decode
from ioukit.datasets.formats.known_names import required
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.recognising import OTHER_JSON, first_bytes
from ioukit.datasets.formats.text_files import abbreviate, member, read_json, refuse, to_number
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.datasets.columns._checks import OnInvalid
    from ioukit.regions.masks import Masks


class _Frame(NamedTuple):
    """An image of a video."""

    id: int
    size: tuple[float, float]
    """Width and height."""


class _Rows:
    """The masks of all tracks so far."""

    def __init__(self) -> None:
        self.frames: list[_Frame] = []
        self.masks: list[Any] = []
        self.places: list[str] = []
        self.columns: list[tuple[int, int, float]] = []
        """Track, class, and score or area of each mask; NaN for an area that the file does not have."""

    def add(
        self, record: Any, where: str, track: int, category: int, frames: Sequence[_Frame], values: Sequence[Any]
    ) -> None:
        """Add the masks of a track.

        Raises:
            DatasetError: If there is not one for each frame of the video, or a value is no number.
        """
        masks = member(record, "segmentations", list, where)
        if len(masks) != len(frames) or len(values) != len(frames):
            wrong = "segmentations" if len(masks) != len(frames) else "areas"
            found = len(masks) if wrong == "segmentations" else len(values)
            refuse(f"{where}.{wrong}", f"{len(frames)} items, one per frame of the video", str(found))
        given = [(at, mask, value) for at, (mask, value) in enumerate(zip(masks, values, strict=True)) if mask]
        numbers = [np.nan if value is None else to_number(value, where, text=False) for _, _, value in given]
        for (at, mask, _), number in zip(given, numbers, strict=True):
            self.frames.append(frames[at])
            self.masks.append(mask)
            self.places.append(f"{where}.segmentations[{at}]")
            self.columns.append((track, category, number))

    def regions(self, threads: int | None) -> Masks:
        """The masks.

        Raises:
            DatasetError: If one is neither RLE nor polygons.
        """
        sizes = np.array([frame.size for frame in self.frames], np.float64).reshape(-1, 2)
        try:
            return decode(self.masks, sizes, source="", array="", threads=threads)
        except DatasetError:
            for mask, size, place in zip(self.masks, sizes, self.places, strict=True):
                _check(mask, size, place)
            raise


def _check(mask: Any, size: np.ndarray[Any, Any], place: str) -> None:
    try:
        decode([mask], size[np.newaxis], source="", array="")
    except DatasetError as error:
        raise DatasetError(f"{place}: {str(error).partition('segmentation')[2].lstrip(': ')}") from None


def recognises(path: Path) -> bool:
    """Whether a JSON file has tracks with lists of masks, or videos with lists of files."""
    return bool(OTHER_JSON["youtube-vis"].search(first_bytes(path)))


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
    classes = {
        _id(record, "id", f"{file}: categories[{at}]"): member(record, "name", str, f"{file}: categories[{at}]")
        for at, record in enumerate(member(source, "categories", list, file))
    }
    names: list[str] = []
    videos: dict[int, list[_Frame]] = {}
    for at, video in enumerate(member(source, "videos", list, file)):
        where = f"{file}: videos[{at}]"
        files = [str(name) for name in member(video, "file_names", list, where)]
        size = (to_number(video.get(name), f"{where}.{name}", lowest=1, text=False) for name in ("width", "height"))
        width, height = size
        videos[_id(video, "id", where, new_in=videos)] = [
            _Frame(len(names) + place, (width, height)) for place in range(1, len(files) + 1)
        ]
        names += files
    rows = _Rows()
    crowd: list[bool] = []
    for at, record in enumerate(member(source, "annotations", list, file)):
        where = f"{file}: annotations[{at}]"
        with problems.record("bad annotation"):
            frames = videos[_id(record, "video_id", where, known=videos)]
            areas = record["areas"] if isinstance(record.get("areas"), list) else [None] * len(frames)
            category = _id(record, "category_id", where, known=classes)
            rows.add(record, where, _id(record, "id", where), category, frames, areas)
            crowd += [bool(record.get("iscrowd"))] * (len(rows.masks) - len(crowd))
    masks = rows.regions(threads)
    table = np.array(rows.columns, np.float64).reshape(-1, 3)
    lengths = list(map(len, videos.values()))
    gt = GroundTruth.from_arrays(
        image_ids=np.array([frame.id for frame in rows.frames], np.int64),
        category_ids=table[:, 1].astype(np.int64),
        areas=np.where(np.isnan(table[:, 2]), masks.area, table[:, 2]),
        crowd=np.array(crowd, np.bool_),
        regions=masks,
        images=np.arange(1, len(names) + 1),
        sizes=[frame.size for frames in videos.values() for frame in frames],
        names=names,
        categories=classes,
        attributes={"track_id": table[:, 0].astype(np.int64)},
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
    rows = _Rows()
    for at, record in enumerate(source):
        where = f"{file}: detections[{at}]"
        with problems.record("bad detection"):
            frames = videos[_id(record, "video_id", where, known=videos)]
            score = to_number(record.get("score"), f"{where}.score", text=False)
            category = _id(record, "category_id", where, known=known)
            rows.add(record, where, at, category, frames, [score] * len(frames))
    table = np.array(rows.columns, np.float64).reshape(-1, 3)
    dt = Detections.from_arrays(
        image_ids=np.array([frame.id for frame in rows.frames], np.int64),
        category_ids=table[:, 1].astype(np.int64),
        regions=rows.regions(threads),
        scores=table[:, 2],
        attributes={"track_id": table[:, 0].astype(np.int64)},
        source=file,
    )
    return problems.noted_in(dt)


def _id(
    record: Any,
    name: str,
    where: str,
    *,
    known: Mapping[int, Any] | None = None,
    new_in: Mapping[int, Any] | None = None,
) -> int:
    """An id of a record, one of those that are known, or one that is new.

    Raises:
        DatasetError: If it is none.
    """
    value = member(record, name, int, where)
    if isinstance(value, bool) or abs(value) >= 2**53:
        refuse(f"{where}.{name}", "an integer below 2**53", abbreviate(value))
    if known is not None and value not in known:
        refuse(f"{where}.{name}", "one that the ground truth lists", str(value))
    if new_in is not None and value in new_in:
        refuse(f"{where}.{name}", "one that differs from those before", str(value))
    return int(value)


def _sequences(names: Sequence[str], videos: Mapping[int, Sequence[_Frame]]) -> np.ndarray[Any, Any]:
    """The names of the videos: the folders of their first images, if each video has one of its own."""
    firsts = [names[frames[0].id - 1].rpartition("/")[0].partition("/")[0] for frames in videos.values() if frames]
    are_names = len(set(firsts)) == len(videos) and all(firsts)
    return np.array(firsts if are_names else [str(number) for number in videos], np.str_)


def _known_videos(gt: GroundTruth, file: str) -> dict[int, list[_Frame]]:
    """The frames of the videos of a ground truth, by the ids of the videos."""
    numbers, frames = (gt.images.attributes.get(name) for name in ("video_id", "frame_index"))
    if numbers is None or frames is None:
        refuse(f"{file}: {gt.source}", "a ground truth whose images have video_id and frame_index", "none")
    videos: dict[int, list[_Frame]] = {}
    sizes, ids = gt.images.sizes.tolist(), gt.images.ids.tolist()
    for at in np.lexsort((frames, numbers)).tolist():
        videos.setdefault(int(numbers[at]), []).append(_Frame(ids[at], (sizes[at][0], sizes[at][1])))
    return videos
