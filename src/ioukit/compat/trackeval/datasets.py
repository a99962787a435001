"""`trackeval.datasets`: MOTChallenge's folders of ground truth and of results.

Owns where the files are, which sequences and trackers are evaluated, and what is wrong with a file. Does not own what
is left out and what is counted (`ioukit.tracks`). The reader is not that of `ioukit.datasets`: TrackEval takes the
frames of a sequence from its ``seqinfo.ini``, takes all results for pedestrians, and has its own texts of errors.
"""

from __future__ import annotations

import configparser
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.compat._originals import keep
from ioukit.compat.trackeval.utils import TrackEvalException, init_config
from ioukit.datasets import Detections, GroundTruth
from ioukit.datasets.formats.mot import MOT_NAMES
from ioukit.tracks.evaluating import evaluate_tracks

if TYPE_CHECKING:
    from ioukit._array_types import Floats
    from ioukit.tracks.results import TrackEvaluation

__all__ = ["MotChallenge2DBox"]

_PEDESTRIAN = "pedestrian"
_CLASSES = dict(enumerate(MOT_NAMES, 1))
_NEEDED = {True: 8, False: 7}
"""How many numbers a line of the ground truth has at least, and one of results."""


class MotChallenge2DBox:
    """Boxes of pedestrians, in the folders of MOT15, MOT16, MOT17 and MOT20.

    Args:
        config: What differs from `get_default_dataset_config`.

    Raises:
        TrackEvalException: If the configuration names classes or trackers that cannot be evaluated, or files are
            missing.
    """

    should_classes_combine = False
    use_super_categories = False

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

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        self.config = init_config(config, self.get_default_dataset_config(), self.get_name())
        self.benchmark: str = self.config["BENCHMARK"]
        self.gt_set = f"{self.benchmark}-{self.config['SPLIT_TO_EVAL']}"
        split = "" if self.config["SKIP_SPLIT_FOL"] else self.gt_set
        self.gt_fol = os.path.join(self.config["GT_FOLDER"], split)
        self.tracker_fol = os.path.join(self.config["TRACKERS_FOLDER"], split)
        self.output_fol = self.config["OUTPUT_FOLDER"] or self.tracker_fol
        self.class_list = [name.lower() for name in self.config["CLASSES_TO_EVAL"]]
        if set(self.class_list) != {_PEDESTRIAN}:
            raise TrackEvalException("Attempted to evaluate an invalid class. Only pedestrian class is valid.")
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
            if not self._path(None, seq).is_file():
                raise TrackEvalException(f"GT file not found for sequence: {seq}")
            for tracker in self.tracker_list:
                path = self._path(tracker, seq)
                if not path.is_file():
                    sub_folder = "" if self.config["INPUT_AS_ZIP"] else f"/{self.config['TRACKER_SUB_FOLDER']}"
                    raise TrackEvalException(f"Tracker file not found: {tracker}{sub_folder}/{path.name}")

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
        has_rules = self.config["DO_PREPROC"] and self.benchmark != "MOT15"
        names, lengths = list(self.seq_lengths), list(self.seq_lengths.values())
        begins = np.cumsum([0, *lengths])
        images = np.arange(begins[-1])
        sides = []
        for one in (None, tracker):
            tables = [self._rows(one, seq) for seq in names]
            rows = np.vstack(tables)
            at = np.repeat(begins[:-1], [len(table) for table in tables]) + rows[:, 0].astype(np.int64) - 1
            sides.append((at, rows))
        (places, truth), (found_places, found) = sides
        classes = truth[:, 7].astype(np.int64) if has_rules else np.ones(len(truth), np.int64)
        wrong = np.setdiff1d(classes, list(_CLASSES))
        if len(wrong):
            raise TrackEvalException(f"Attempting to evaluate using invalid gt classes: {' '.join(map(str, wrong))}")
        protocol = "mot20" if self.benchmark == "MOT20" else "mot17"
        try:
            ground_truth = GroundTruth.from_arrays(
                image_ids=places,
                category_ids=classes,
                boxes=truth[:, 2:6],
                images=images,
                categories=_CLASSES,
                flags={"ignore": truth[:, 6].astype(np.int64) == 0},
                attributes={"track_id": truth[:, 1].astype(np.int64)},
                image_attributes={
                    "video_id": np.repeat(names, lengths),
                    "frame_index": images - np.repeat(begins[:-1], lengths),
                },
            )
            detections = Detections.from_arrays(
                image_ids=found_places,
                category_ids=np.ones(len(found), np.int64),
                boxes=found[:, 2:6],
                scores=found[:, 6],
                attributes={"track_id": found[:, 1].astype(np.int64)},
            )
            return evaluate_tracks(
                ground_truth, detections, protocol=protocol if has_rules else "mot15", categories=[_PEDESTRIAN]
            )
        except ValueError as error:
            raise TrackEvalException(f"tracker {tracker}: {error}") from error

    def _path(self, tracker: str | None, seq: str) -> Path:
        """The file of the ground truth, or of a tracker."""
        if tracker is None:
            name = "{gt_folder}/data.zip" if self.config["INPUT_AS_ZIP"] else self.config["GT_LOC_FORMAT"]
            return Path(name.format(gt_folder=self.gt_fol, seq=seq))
        folder = Path(self.tracker_fol, tracker, self.config["TRACKER_SUB_FOLDER"])
        return folder.with_name(f"{folder.name}.zip") if self.config["INPUT_AS_ZIP"] else folder / f"{seq}.txt"

    def _lengths(self) -> dict[str, int]:
        """The sequences, and how many frames they have."""
        given: dict[str, int | None] | None = self.config["SEQ_INFO"]
        if not given:
            path = Path(
                self.config["SEQMAP_FILE"]
                or Path(self.config["SEQMAP_FOLDER"] or Path(self.config["GT_FOLDER"], "seqmaps"), f"{self.gt_set}.txt")
            )
            if not path.is_file():
                raise TrackEvalException(f"no seqmap found: {path.name}")
            names = [line.split(",")[0].strip() for line in path.read_text(encoding="utf-8").splitlines()[1:]]
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
        path = self._path(tracker, seq)
        if self.config["INPUT_AS_ZIP"]:
            with zipfile.ZipFile(path) as archive:
                text = archive.read(f"{seq}.txt").decode()
        else:
            text = path.read_text(encoding="utf-8")
        side = "Ground-truth" if tracker is None else "Tracking"
        lines = [line.replace(",", " ").split() for line in text.splitlines() if line.strip()]
        least = _NEEDED[tracker is None]
        if any(len(line) < least for line in lines):
            raise TrackEvalException(f"{side} data in seq {seq} has a line with fewer than {least} numbers")
        try:
            rows = np.array([[*line[:8], "1"][:8] for line in lines], np.float64).reshape(-1, 8)
        except ValueError:
            raise TrackEvalException(f"Cannot convert {side} data of seq {seq} to float. Is data corrupted?") from None
        frames, ids = rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64)
        outside = np.unique(frames[(frames < 1) | (frames > self.seq_lengths[seq])])
        if len(outside):
            shown = ", ".join(map(str, outside))
            raise TrackEvalException(f"{side} data contains the following invalid timesteps in seq {seq}: {shown}")
        if len(np.unique(np.stack([frames, ids]), axis=1).T) < len(rows):
            raise TrackEvalException(f"{side} data has the same id more than once in a single timestep of seq {seq}")
        if tracker is not None and (rows[:, 7] > 1).any():
            raise TrackEvalException(
                f"Evaluation is only valid for pedestrian class. Non pedestrian class ({rows[:, 7].max():g}) found in "
                f"sequence {seq}"
            )
        return rows


keep(MotChallenge2DBox)
