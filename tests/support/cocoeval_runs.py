"""The same program run with `pycocotools` and with what stands in for it, and everything that it sees."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import re
import warnings
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from pycocotools import coco as their_coco
from pycocotools import cocoeval as their_cocoeval
from pycocotools import mask as mask_utils

from ioukit.compat.pycocotools import coco as our_coco
from ioukit.compat.pycocotools import cocoeval as our_cocoeval
from parity.random_data import random_case, random_invalid_case
from parity.random_keypoints import random_keypoint_case
from parity.random_masks import random_mask_case
from parity.reference import silenced

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["OURS", "THEIRS", "Library", "RandomRun", "random_run"]

_ARRAYS = ("counts", "precision", "recall", "scores")
_TIMES = re.compile(r"t=[\d.]+s")


class Library(NamedTuple):
    """A library with pycocotools' names."""

    coco: Any
    cocoeval: Any


THEIRS = Library(their_coco, their_cocoeval)
OURS = Library(our_coco, our_cocoeval)


@dataclass(frozen=True)
class RandomRun:
    """A data set, and what a program does with it."""

    seed: int
    iou_type: str
    truth: dict[str, Any]
    results: list[dict[str, Any]]
    params: dict[str, Any]
    """What the program sets before it evaluates."""
    from_files: tuple[bool, bool]
    """Whether ground truth and results are files."""
    as_array: bool
    """Whether the results are an array."""

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.iou_type}, {self.params}, files {self.from_files}, array {self.as_array}"

    def seen(self, library: Library, folder: Path) -> list[tuple[str, Any]]:
        """What the program sees, in order."""
        return _Program(self, library, folder).run()


def random_run(seed: int) -> RandomRun:
    """The same run for the same seed."""
    rng = Random(f"run {seed}")
    iou_type = rng.choice(["bbox", "bbox", "bbox", "segm", "keypoints"])
    make = {"bbox": _boxes, "segm": _masks, "keypoints": _keypoints}[iou_type]
    truth, results, params = make(rng, seed)
    if iou_type == "segm" and rng.random() < 0.3:  # boxes of masks
        iou_type = "bbox"
    for name in ("iouThrs", "recThrs", "kpt_oks_sigmas"):
        if name in params:
            params[name] = np.array(params[name])
    if rng.random() < 0.05:
        params["useSegm"] = int(iou_type == "segm")
    is_boxes = bool(results) and all("bbox" in one and "segmentation" not in one for one in results)
    from_files = rng.random() < 0.5, rng.random() < 0.5
    as_array = is_boxes and iou_type == "bbox" and rng.random() < 0.2
    return RandomRun(seed, iou_type, truth, results, params, from_files, as_array)


Data = tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]


def _boxes(rng: Random, seed: int) -> Data:
    case = random_invalid_case(seed) if rng.random() < 0.3 else random_case(seed)
    names = {"iou_thresholds": "iouThrs", "recall_thresholds": "recThrs", "max_dets": "maxDets"}
    params = {names[key]: value for key, value in case.protocol.items() if key in names}
    if "area_ranges" in case.protocol:
        params["areaRng"] = [list(ends) for ends in case.protocol["area_ranges"].values()]
        params["areaRngLbl"] = list(case.protocol["area_ranges"])
    for ours, theirs in (("images", "imgIds"), ("categories", "catIds")):
        if ours in case.subset:
            params[theirs] = rng.sample(case.subset[ours], len(case.subset[ours]))
    if case.protocol.get("class_agnostic"):
        params["useCats"] = 0
    if rng.random() < 0.1:
        _make_odd(rng, case.gt, case.dt)
    return case.gt, case.dt, params


def _masks(rng: Random, seed: int) -> Data:
    truth, results = random_mask_case(seed)
    if not any("bbox" in one for one in results):
        _compress(results)  # pycocotools takes nothing else
    return truth, results, _few_params(rng)


def _keypoints(rng: Random, seed: int) -> Data:
    truth, results = random_keypoint_case(seed)
    params = _few_params(rng)
    if rng.random() < 0.15:
        params["kpt_oks_sigmas"] = [rng.uniform(0.01, 0.2) for _ in range(17)]
    return truth, results, params


def _few_params(rng: Random) -> dict[str, Any]:
    params: dict[str, Any] = {}
    if rng.random() < 0.15:
        params["useCats"] = 0
    if rng.random() < 0.2:
        params["maxDets"] = rng.choice([[1, 10, 100], [20], [2, 3, 100], [1, 2, 3, 100]])
    return params


def _compress(results: list[dict[str, Any]]) -> None:
    for record in results:
        height, width = record["segmentation"]["size"]
        if isinstance(record["segmentation"]["counts"], list):
            with silenced():
                packed: Any = mask_utils.frPyObjects(record["segmentation"], height, width)
            record["segmentation"] = {"size": packed["size"], "counts": packed["counts"].decode()}


def _make_odd(rng: Random, truth: dict[str, Any], results: list[dict[str, Any]]) -> None:
    """Values that pycocotools takes although nobody means them."""
    kind = rng.choice(["nan score", "nan area", "text id", "no crowd", "truth crowd", "float ids", "inf", "no score"])
    annotations = truth["annotations"]
    if kind == "nan score" and results:
        rng.choice(results)["score"] = float("nan")
    elif kind == "no score" and results:
        del rng.choice(results)["score"]
    elif kind == "inf" and results:
        rng.choice(results)["bbox"] = [0.0, 0.0, float("inf"), 10.0]
    elif annotations and kind == "nan area":
        rng.choice(annotations)["area"] = float("nan")
    elif annotations and kind == "text id":
        rng.choice(annotations)["id"] = "a"
    elif annotations and kind == "no crowd":
        del rng.choice(annotations)["iscrowd"]
    elif annotations and kind == "truth crowd":
        rng.choice(annotations)["iscrowd"] = rng.choice([True, 2, 0.5])
    elif annotations and kind == "float ids":
        for record in annotations:
            record["id"] = float(record["id"])


class _Program:
    """A program in the style of those that use pycocotools; both libraries get the same random choices."""

    def __init__(self, run: RandomRun, library: Library, folder: Path) -> None:
        self.run_, self.library, self.folder = run, library, folder
        self.rng = Random(f"program {run.seed}")
        self.log: list[tuple[str, Any]] = []

    def note(self, what: str, value: Any) -> None:
        self.log.append((what, copy.deepcopy(value)))

    def call(self, what: str, function: Any, *arguments: Any) -> Any:
        """Calls a function; notes what it printed, and the kind of error that it raised."""
        lines = io.StringIO()
        found = None
        with contextlib.redirect_stdout(lines), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                found = function(*arguments)
            except Exception as error:
                self.note(f"{what} raised", type(error).__name__)
        self.note(f"{what} printed", _TIMES.sub("t=", lines.getvalue()))
        return found

    def run(self) -> list[tuple[str, Any]]:
        gt = self.call("COCO", self.truth)
        dt = None if gt is None else self.call("loadRes", self.loaded, gt)
        if dt is None:
            return self.log
        evaluation = self.library.cocoeval.COCOeval(gt, dt, self.run_.iou_type)
        for name, value in self.run_.params.items():
            setattr(evaluation.params, name, copy.deepcopy(value))
        self.whole(evaluation, "first")
        if any("raised" in what for what, _ in self.log):
            return self.log
        for number in range(self.rng.choice([0, 1, 2])):
            self.change(evaluation, f"change {number}")
        self.note("records", [gt.dataset, dt.dataset])
        self.note("groups", [self.shown(groups) for groups in (evaluation._gts, evaluation._dts)])
        return self.log

    def truth(self) -> Any:
        run = self.run_
        if run.from_files[0]:
            path = self.folder / "gt.json"
            path.write_text(json.dumps(run.truth))
            return self.library.coco.COCO(str(path))
        made = self.library.coco.COCO()
        made.dataset = copy.deepcopy(run.truth)
        made.createIndex()
        return made

    def loaded(self, gt: Any) -> Any:
        run = self.run_
        if run.as_array:
            rows = [[one["image_id"], *one["bbox"], one.get("score", 0.5), one["category_id"]] for one in run.results]
            return gt.loadRes(np.array(rows, np.float64))
        if run.from_files[1]:
            path = self.folder / "dt.json"
            path.write_text(json.dumps(run.results))
            return gt.loadRes(str(path))
        results = copy.deepcopy(run.results)
        dt = gt.loadRes(results)
        self.note("completed", results)
        return dt

    def whole(self, evaluation: Any, name: str) -> None:
        self.call(f"{name} evaluate", evaluation.evaluate)
        early = self.rng.random() < 0.3
        if early:
            self.look(evaluation, name)
        self.call(f"{name} accumulate", evaluation.accumulate)
        self.call(f"{name} summarize", evaluation.summarize)
        self.note(f"{name} stats", evaluation.stats)
        self.note(
            f"{name} eval", {key: value for key, value in evaluation.eval.items() if key not in ("date", "params")}
        )
        self.note(f"{name} params", vars(evaluation.params))
        if not early and self.rng.random() < 0.8:
            self.look(evaluation, name)

    def look(self, evaluation: Any, name: str) -> None:
        self.note(f"{name} evalImgs", evaluation.evalImgs)
        self.note(f"{name} ious", evaluation.ious)

    def change(self, evaluation: Any, name: str) -> None:
        """Changes attributes or records, and calls again."""
        rng, params = self.rng, evaluation.params
        kind = rng.choice(["params", "params", "accumulate", "records", "entries", "copy", "custom"])
        if kind == "params":
            self.set_some(params)
            self.whole(evaluation, f"{name} {kind}")
        elif kind == "accumulate":
            other = copy.deepcopy(params)
            self.set_some(other)
            self.call(f"{name} {kind}", evaluation.accumulate, other)
            self.note(f"{name} eval", [evaluation.eval.get(key) for key in _ARRAYS])
            self.call(f"{name} summarize", evaluation.summarize)
        elif kind == "records":
            for side in (evaluation.cocoGt, evaluation.cocoDt):
                records = side.dataset["annotations"]
                if records:
                    record = rng.choice(records)
                    record["bbox"] = [float(rng.randrange(30)) for _ in range(4)]
                    record["area"] = rng.choice([50.0, 2000.0])
                    rng.choice(list(side.anns.values()))["category_id"] = rng.choice(records)["category_id"]
            self.whole(evaluation, f"{name} {kind}")
        elif kind == "entries" and len(evaluation.evalImgs):
            entries = list(evaluation.evalImgs)
            entries[rng.randrange(len(entries))] = None
            evaluation.evalImgs = entries
            self.call(f"{name} {kind}", evaluation.accumulate)
            self.note(f"{name} eval", [evaluation.eval.get(key) for key in _ARRAYS])
        elif kind == "copy":
            self.whole(copy.deepcopy(evaluation), f"{name} {kind}")
        elif kind == "custom":
            ids = list(evaluation.params.imgIds)
            self.call(f"{name} prepare", evaluation._prepare)
            categories = evaluation.params.catIds if evaluation.params.useCats else [-1]
            image, category = rng.choice(ids), rng.choice(list(categories))
            overlaps = evaluation.computeOks if evaluation.params.iouType == "keypoints" else evaluation.computeIoU
            found = self.call(f"{name} overlaps", overlaps, image, category)
            evaluation.ious = {(image, category): found}
            one = self.call(f"{name} image", evaluation.evaluateImg, image, category, [0, 1e10], 3)
            self.note(f"{name} image", [found, one])

    def set_some(self, params: Any) -> None:
        rng = self.rng
        for _ in range(rng.choice([1, 2])):
            kind = rng.choice(["maxDets", "iouThrs", "recThrs", "catIds", "imgIds", "areaRng", "useCats"])
            if kind == "maxDets":
                params.maxDets = rng.choice([[1, 10, 100], [100, 3, 1], [1, 2, 3, 4], [5, 10, 10], [1, 10, 300]])
            elif kind == "iouThrs":
                params.iouThrs = rng.choice([np.array([0.75, 0.5]), np.array([0.5]), params.iouThrs[:3]])
            elif kind == "recThrs":
                params.recThrs = rng.choice(
                    [np.array([0.3, 0.1, 0.9, 0.2]), np.linspace(0, 1, 11), params.recThrs[::-1]]
                )
            elif kind == "areaRng":
                keep = rng.sample(range(len(params.areaRng)), rng.randint(1, len(params.areaRng)))
                params.areaRng = [params.areaRng[place] for place in keep]
                params.areaRngLbl = [params.areaRngLbl[place] for place in keep]
            elif kind == "useCats":
                params.useCats = rng.choice([0, 1, True, 2])
            else:
                ids = list(getattr(params, kind))
                setattr(params, kind, [rng.choice(ids) for _ in range(rng.randint(1, len(ids)))] if ids else [])

    @staticmethod
    def shown(groups: Any) -> dict[Any, Any]:
        return {(int(image), int(category)): records for (image, category), records in groups.items()}
