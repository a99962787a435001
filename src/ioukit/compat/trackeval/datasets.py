"""`trackeval.datasets`: the folders of MOTChallenge and of KITTI, with ground truth and results.

Owns where the files are, which sequences and trackers are evaluated, and what is wrong with a file. Does not own what
is left out and what is counted (`ioukit.tracks`). The readers are not those of `ioukit.datasets`: TrackEval takes the
number of frames from ``seqinfo.ini`` or a seqmap, MOTChallenge's results for pedestrians, and KITTI's boxes by their
corners, and it has its own texts of errors.
"""

from __future__ import annotations

import configparser
import os
import zipfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ioukit.compat._originals import keep
from ioukit.compat.trackeval.utils import TrackEvalException, init_config
from ioukit.datasets import Detections, GroundTruth
from ioukit.datasets.formats.mot import MOT_NAMES
from ioukit.regions.boxes import Boxes
from ioukit.tracks.evaluating import evaluate_tracks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit._array_types import Floats, Ids
    from ioukit.tracks.results import TrackEvaluation

__all__ = ["Kitti2DBox", "MotChallenge2DBox"]

_PEDESTRIAN = "pedestrian"
_NEEDED = {True: 8, False: 7}
"""How many numbers a line of MOTChallenge's ground truth has at least, and one of results."""
_KITTI_CLASSES = ("car", "van", "truck", _PEDESTRIAN, "person", "cyclist", "tram", "misc", "dontcare")
_KITTI_IDS = {**{name: at for at, name in enumerate(_KITTI_CLASSES, 1)}, "car_2": 1}
_KITTI_NEEDED = 10
"""How many fields a line of KITTI has at least; what follows the box is not read."""


class DataSet(ABC):
    """What both data sets do: they check a configuration and its files, and evaluate a tracker.

    Args:
        config: What differs from `get_default_dataset_config`.

    Raises:
        TrackEvalException: If the configuration names classes or trackers that cannot be evaluated, or files are
            missing.
    """

    should_classes_combine = False
    use_super_categories = False
    _categories: ClassVar[dict[int, str]]
    _valid_classes: ClassVar[tuple[str, ...]]
    _first_frame: ClassVar[int]
    _texts: ClassVar[tuple[str, str]]
    """Which classes are valid, and what is said of a file of ground truth that does not exist."""

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        self.config = init_config(config, self.get_default_dataset_config(), self.get_name())
        self.gt_fol, self.tracker_fol = self._folder("GT_FOLDER"), self._folder("TRACKERS_FOLDER")
        self.output_fol = self.config["OUTPUT_FOLDER"] or self.tracker_fol
        self.class_list = [name.lower() for name in self.config["CLASSES_TO_EVAL"]]
        valid, no_truth = self._texts
        if not self.class_list or not set(self.class_list) <= set(self._valid_classes):
            raise TrackEvalException(f"Attempted to evaluate an invalid class. {valid}")
        self.seq_lengths = self._lengths()
        self.seq_list = list(self.seq_lengths)
        if not self.seq_list:
            raise TrackEvalException("No sequences are selected to be evaluated.")
        given = self.config["TRACKERS_TO_EVAL"]
        self.tracker_list: list[str] = os.listdir(self.tracker_fol) if given is None else given
        shown = (
            self.tracker_list if self.config["TRACKER_DISPLAY_NAMES"] is None else self.config["TRACKER_DISPLAY_NAMES"]
        )
        if len(shown) != len(self.tracker_list) or (given is None and shown is not self.tracker_list):
            raise TrackEvalException("List of tracker files and tracker display names do not match.")
        self._shown = dict(zip(self.tracker_list, shown, strict=True))
        for seq in self.seq_list:
            path = self._path(None, seq)
            if not path.is_file():
                raise TrackEvalException(f"GT file not found{no_truth.format(seq=seq, file=path.name)}")
            for tracker in self.tracker_list:
                path = self._path(tracker, seq)
                if not path.is_file():
                    sub_folder = "" if self.config["INPUT_AS_ZIP"] else f"/{self.config['TRACKER_SUB_FOLDER']}"
                    raise TrackEvalException(f"Tracker file not found: {tracker}{sub_folder}/{path.name}")

    @staticmethod
    @abstractmethod
    def get_default_dataset_config() -> dict[str, Any]:
        """The default configuration, with TrackEval's keys."""

    @classmethod
    def get_name(cls) -> str:
        """The name of the data set, which is that of the class."""
        return cls.__name__

    get_class_name = get_name

    def get_eval_info(self) -> tuple[list[str], list[str], list[str]]:
        """The names of the trackers, the sequences and the classes."""
        return self.tracker_list, self.seq_list, self.class_list

    def get_display_name(self, tracker: str) -> str:
        """The name of a tracker in tables."""
        return str(self._shown[tracker])

    def get_output_fol(self, tracker: str) -> str:
        """The folder for the results of a tracker."""
        return str(Path(self.output_fol, tracker, self.config["OUTPUT_SUB_FOLDER"]))

    def evaluate(self, tracker: str) -> TrackEvaluation:
        """The numbers of a tracker for all sequences, whose names are those of the results in alphabetical order.

        Raises:
            TrackEvalException: If a file is invalid.
        """
        names, lengths = list(self.seq_lengths), list(self.seq_lengths.values())
        begins = np.cumsum([0, *lengths])
        images = np.arange(begins[-1])
        sides = []
        for one in (None, tracker):
            tables = [self._rows(one, seq) for seq in names]
            rows = np.vstack(tables)
            frames = rows[:, 0].astype(np.int64) - self._first_frame
            sides.append((np.repeat(begins[:-1], [len(table) for table in tables]) + frames, rows))
        (places, truth), (found_places, found) = sides
        try:
            columns = self._columns(truth)
            ground_truth = GroundTruth.from_arrays(
                image_ids=places,
                images=images,
                categories=self._categories,
                image_attributes={
                    "video_id": np.repeat(names, lengths),
                    "frame_index": images - np.repeat(begins[:-1], lengths),
                },
                **{**columns, "attributes": {"track_id": truth[:, 1].astype(np.int64), **columns["attributes"]}},
            )
            detections = Detections.from_arrays(
                image_ids=found_places,
                attributes={"track_id": found[:, 1].astype(np.int64)},
                **self._found_columns(found),
            )
            return evaluate_tracks(ground_truth, detections, protocol=self._protocol(), categories=self.class_list)
        except ValueError as error:
            raise TrackEvalException(f"tracker {tracker}: {error}") from error

    def _folder(self, key: str) -> str:
        """The folder of the ground truth, or of the trackers."""
        return str(self.config[key])

    def _path(self, tracker: str | None, seq: str) -> Path:
        """The file of the ground truth, or of a tracker."""
        if tracker is None:
            return Path(self.gt_fol, "data.zip") if self.config["INPUT_AS_ZIP"] else Path(self._truth_path(seq))
        folder = Path(self.tracker_fol, tracker, self.config["TRACKER_SUB_FOLDER"])
        return folder.with_name(f"{folder.name}.zip") if self.config["INPUT_AS_ZIP"] else folder / f"{seq}.txt"

    @abstractmethod
    def _truth_path(self, seq: str) -> str:
        """The file of the ground truth, if it is not in an archive."""

    @abstractmethod
    def _lengths(self) -> dict[str, int]:
        """The sequences, and how many frames they have."""

    @abstractmethod
    def _rows(self, tracker: str | None, seq: str) -> Floats:
        """(N, C) a row per line: frame, id, the four numbers of the box, and what else `_columns` needs."""

    @abstractmethod
    def _columns(self, truth: Floats) -> dict[str, Any]:
        """The columns of the objects."""

    @abstractmethod
    def _found_columns(self, found: Floats) -> dict[str, Any]:
        """The columns of the detections."""

    @abstractmethod
    def _protocol(self) -> str:
        """What is left out."""

    def _lines(self, tracker: str | None, seq: str, least: int) -> list[list[str]]:
        """The fields of each line."""
        path = self._path(tracker, seq)
        if self.config["INPUT_AS_ZIP"]:
            with zipfile.ZipFile(path) as archive:
                text = archive.read(f"{seq}.txt").decode()
        else:
            text = path.read_text(encoding="utf-8")
        lines = [line.replace(",", " ").split() for line in text.splitlines() if line.strip()]
        if any(len(line) < least for line in lines):
            raise TrackEvalException(f"{_side(tracker)} data in seq {seq} has a line with fewer than {least} numbers")
        return lines

    def _numbers(self, lines: Sequence[Sequence[str]], count: int, tracker: str | None, seq: str) -> Floats:
        """(N, C) the fields as numbers."""
        try:
            return np.array(lines, np.float64).reshape(-1, count)
        except ValueError:
            side = _side(tracker)
            raise TrackEvalException(f"Cannot convert {side} data of seq {seq} to float. Is data corrupted?") from None

    def _check_frames(self, frames: Ids, tracker: str | None, seq: str) -> None:
        """Refuses frames that the sequence does not have."""
        at = frames - self._first_frame
        outside = np.unique(frames[(at < 0) | (at >= self.seq_lengths[seq])])
        if len(outside):
            shown = ", ".join(map(str, outside))
            raise TrackEvalException(
                f"{_side(tracker)} data contains the following invalid timesteps in seq {seq}: {shown}"
            )


class MotChallenge2DBox(DataSet):
    """Boxes of pedestrians, in the folders of MOT15, MOT16, MOT17 and MOT20; see `DataSet`."""

    _categories: ClassVar = dict(enumerate(MOT_NAMES, 1))
    _valid_classes = (_PEDESTRIAN,)
    _first_frame = 1
    _texts = ("Only pedestrian class is valid.", " for sequence: {seq}")

    @staticmethod
    def get_default_dataset_config() -> dict[str, Any]:
        """The default configuration, with TrackEval's keys."""
        return {
            "GT_FOLDER": os.path.join("data", "gt", "mot_challenge"),
            "TRACKERS_FOLDER": os.path.join("data", "trackers", "mot_challenge"),
            "OUTPUT_FOLDER": None,
            "TRACKERS_TO_EVAL": None,
            "CLASSES_TO_EVAL": [_PEDESTRIAN],
            "BENCHMARK": "MOT17",
            "SPLIT_TO_EVAL": "train",
            "INPUT_AS_ZIP": False,
            "PRINT_CONFIG": True,
            "DO_PREPROC": True,
            "TRACKER_SUB_FOLDER": "data",
            "OUTPUT_SUB_FOLDER": "",
            "TRACKER_DISPLAY_NAMES": None,
            "SEQMAP_FOLDER": None,
            "SEQMAP_FILE": None,
            "SEQ_INFO": None,
            "GT_LOC_FORMAT": "{gt_folder}/{seq}/gt/gt.txt",
            "SKIP_SPLIT_FOL": False,
        }

    @property
    def benchmark(self) -> str:
        """The name of the benchmark."""
        return str(self.config["BENCHMARK"])

    @property
    def gt_set(self) -> str:
        """The name of the split: its folder, and its seqmap."""
        return f"{self.benchmark}-{self.config['SPLIT_TO_EVAL']}"

    def _folder(self, key: str) -> str:
        return os.path.join(self.config[key], "" if self.config["SKIP_SPLIT_FOL"] else self.gt_set)

    def _truth_path(self, seq: str) -> str:
        return str(self.config["GT_LOC_FORMAT"].format(gt_folder=self.gt_fol, seq=seq))

    def _lengths(self) -> dict[str, int]:
        given: dict[str, int | None] | None = self.config["SEQ_INFO"]
        if not given:
            path = Path(
                self.config["SEQMAP_FILE"]
                or Path(self.config["SEQMAP_FOLDER"] or Path(self.config["GT_FOLDER"], "seqmaps"), f"{self.gt_set}.txt")
            )
            lines = _seqmap(path)[1:]
            names = [line.split(",")[0].strip() for line in lines]
            given = dict.fromkeys(name for name in names if name)
        return {seq: self._length(seq) if length is None else length for seq, length in given.items()}

    def _length(self, seq: str) -> int:
        path = Path(self.gt_fol, seq, "seqinfo.ini")
        if not path.is_file():
            raise TrackEvalException(f"ini file does not exist: {seq}/{path.name}")
        parser = configparser.ConfigParser()
        parser.read(path, encoding="utf-8")
        return int(parser["Sequence"]["seqLength"])

    def _rows(self, tracker: str | None, seq: str) -> Floats:
        """(N, 8) frame, id, x, y, width, height, confidence and class of each line; class 1 where it has none."""
        lines = self._lines(tracker, seq, _NEEDED[tracker is None])
        rows = self._numbers([[*line[:8], "1"][:8] for line in lines], 8, tracker, seq)
        frames, ids = rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64)
        self._check_frames(frames, tracker, seq)
        if len(np.unique(np.stack([frames, ids]), axis=1).T) < len(rows):
            raise TrackEvalException(
                f"{_side(tracker)} data has the same id more than once in a single timestep of seq {seq}"
            )
        if tracker is not None and (rows[:, 7] > 1).any():
            raise TrackEvalException(
                f"Evaluation is only valid for pedestrian class. Non pedestrian class ({rows[:, 7].max():g}) found in "
                f"sequence {seq}"
            )
        return rows

    def _columns(self, truth: Floats) -> dict[str, Any]:
        classes = truth[:, 7].astype(np.int64) if self._has_rules() else np.ones(len(truth), np.int64)
        wrong = np.setdiff1d(classes, list(self._categories))
        if len(wrong):
            raise TrackEvalException(f"Attempting to evaluate using invalid gt classes: {' '.join(map(str, wrong))}")
        ignored = {"ignore": truth[:, 6].astype(np.int64) == 0}
        return {"category_ids": classes, "boxes": truth[:, 2:6], "flags": ignored, "attributes": {}}

    def _found_columns(self, found: Floats) -> dict[str, Any]:
        return {"category_ids": np.ones(len(found), np.int64), "boxes": found[:, 2:6], "scores": found[:, 6]}

    def _has_rules(self) -> bool:
        return self.config["DO_PREPROC"] and self.benchmark != "MOT15"

    def _protocol(self) -> str:
        return ("mot20" if self.benchmark == "MOT20" else "mot17") if self._has_rules() else "mot15"


class Kitti2DBox(DataSet):
    """Boxes of cars and pedestrians, in the folders of KITTI's tracking; see `DataSet`."""

    _categories: ClassVar = dict(enumerate(_KITTI_CLASSES, 1))
    _valid_classes = ("car", _PEDESTRIAN)
    _first_frame = 0
    _texts = ("Only classes [car, pedestrian] are valid.", ": {file}")

    @staticmethod
    def get_default_dataset_config() -> dict[str, Any]:
        """The default configuration, with TrackEval's keys."""
        return {
            "GT_FOLDER": os.path.join("data", "gt", "kitti", "kitti_2d_box_train"),
            "TRACKERS_FOLDER": os.path.join("data", "trackers", "kitti", "kitti_2d_box_train"),
            "OUTPUT_FOLDER": "",
            "TRACKERS_TO_EVAL": None,
            "CLASSES_TO_EVAL": ["car", _PEDESTRIAN],
            "SPLIT_TO_EVAL": "training",
            "INPUT_AS_ZIP": False,
            "PRINT_CONFIG": True,
            "TRACKER_SUB_FOLDER": "data",
            "OUTPUT_SUB_FOLDER": "",
            "TRACKER_DISPLAY_NAMES": None,
        }

    def _truth_path(self, seq: str) -> str:
        return os.path.join(self.gt_fol, "label_02", f"{seq}.txt")

    def _lengths(self) -> dict[str, int]:
        lines = _seqmap(Path(self.gt_fol, f"evaluate_tracking.seqmap.{self.config['SPLIT_TO_EVAL']}"))
        rows = [line.replace(",", " ").split() for line in lines]
        return {row[0]: int(row[3]) for row in rows if len(row) > 3}

    def _rows(self, tracker: str | None, seq: str) -> Floats:
        """(N, 9) frame, id, the corners of the box, class, truncation and occlusion of each line that is read."""
        lines = self._lines(tracker, seq, _KITTI_NEEDED)
        kinds = [line[2].lower() for line in lines]
        fields = [
            [*line[:2], *line[6:10], str(_KITTI_IDS.get(kind, 0)), *line[3:5]]
            for line, kind in zip(lines, kinds, strict=True)
        ]
        rows = self._numbers(fields, 9, tracker, seq)
        frames = rows[:, 0].astype(np.int64)
        is_region = (rows[:, 6] == _KITTI_IDS["dontcare"]) & (tracker is None)
        is_read = rows[:, 1].astype(np.int64) >= 0
        self._check_frames(frames[is_read & ~is_region], tracker, seq)
        # TrackEval passes over lines without a track, whatever they hold, and over regions of other frames.
        is_read = np.where(is_region, (frames >= 0) & (frames < self.seq_lengths[seq]), is_read)
        unknown = is_read & (rows[:, 6] == 0)
        if unknown.any():
            raise TrackEvalException(
                f"{_side(tracker)} data in seq {seq} has the type {lines[unknown.argmax()][2]!r}, expected one of "
                f"{', '.join(_KITTI_IDS)}"
            )
        inverted = is_read & ~(rows[:, 4:6] >= rows[:, 2:4]).all(axis=1)
        if inverted.any():
            frame, track, *corners = rows[inverted.argmax(), :6].tolist()
            raise TrackEvalException(
                f"{_side(tracker)} data in seq {seq} has the corners {corners} in frame {frame:g} for id {track:g}, "
                "expected x1 <= x2 and y1 <= y2"
            )
        return rows[is_read]

    def _columns(self, truth: Floats) -> dict[str, Any]:
        return {**self._boxes(truth), "attributes": {"truncated": truth[:, 7], "occluded": truth[:, 8]}}

    def _found_columns(self, found: Floats) -> dict[str, Any]:
        return {**self._boxes(found), "scores": np.ones(len(found))}

    @staticmethod
    def _boxes(rows: Floats) -> dict[str, Any]:
        # As regions, boxes keep the corners of the file to the last bit.
        corners = Boxes(np.ascontiguousarray(rows[:, 2:6]), "xyxy", dtype=np.float64)
        return {"category_ids": rows[:, 6].astype(np.int64), "regions": corners}

    def _protocol(self) -> str:
        return "kitti"


def _side(tracker: str | None) -> str:
    return "Ground-truth" if tracker is None else "Tracking"


def _seqmap(path: Path) -> list[str]:
    """The lines of a file that lists sequences."""
    if not path.is_file():
        raise TrackEvalException(f"no seqmap found: {path.name}")
    return path.read_text(encoding="utf-8").splitlines()


keep(DataSet, MotChallenge2DBox, Kitti2DBox)
