"""The programs of `foreign_programs`, for lvis."""

from __future__ import annotations

import copy
import importlib
import json
import logging
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from parity.random_lvis import random_lvis
from support.foreign_programs import PACKAGES, Program

__all__ = ["LvisProgram"]

vars(np).setdefault("float", float)  # which lvis 0.5.3 needs
logging.disable(logging.CRITICAL)
_drawing = ModuleType("lvis.vis")  # needs OpenCV and matplotlib, and seconds to import
vars(_drawing)["LVISVis"] = None
sys.modules[_drawing.__name__] = _drawing
for _package in ("lvis", "ioukit.compat.lvis"):
    PACKAGES[_package] = ("lvis", "results", "eval")


class LvisProgram(Program):
    """A program that uses lvis. An evaluation is evaluated once: lvis counts all records again the second time."""

    PACKAGE: ClassVar[str] = "lvis"
    MODULES: ClassVar[tuple[str, ...]] = ("lvis", "results", "eval")
    METHODS: ClassVar[dict[str, tuple[str, ...]]] = {
        "LVISEval": (
            *("_to_mask", "_prepare", "_prepare_freq_group", "evaluate", "_get_gt_dt", "compute_iou", "evaluate_img"),
            *("accumulate", "summarize", "_summarize", "run", "get_results"),
        ),
        "LVIS": (
            *("_load_json", "_create_index", "get_ann_ids", "get_cat_ids", "get_img_ids", "_load_helper", "load_anns"),
            *("load_cats", "load_imgs", "ann_to_rle"),
        ),
        "LVISResults": ("limit_dets_per_image", "load_anns", "get_ann_ids"),
        "mask": ("iou", "merge", "frPyObjects", "area", "toBbox"),
    }
    LIKELY: ClassVar[tuple[str, ...]] = ("compute_iou", "evaluate_img", "_get_gt_dt", "_prepare", "iou", "load_anns")
    WAITING: ClassVar[tuple[str, ...]] = ("eval_imgs", "ious", "_gts", "_dts")
    DICTIONARIES: ClassVar[tuple[str, ...]] = ("dataset", "anns", "cats", "imgs", "img_ann_map", "cat_img_map")
    EVALUATION: ClassVar[str] = "LVISEval"
    SET: ClassVar[int | None] = 2
    SIDES: ClassVar[tuple[str, ...]] = ("LVIS", "LVISResults")

    def owner(self, kind: str) -> Any:
        """The class or module of a name."""
        if kind == "mask":
            return importlib.import_module("pycocotools.mask")
        return getattr(self.module({"LVIS": "lvis", "LVISResults": "results", "LVISEval": "eval"}[kind]), kind)

    def make(self) -> None:
        """Ground truth, results and an evaluation."""
        rng, before = self.rng, dict(self.objects)
        masks = self.run.seed % 3 == 0
        truth, results = random_lvis(self.run.seed, masks=masks)
        Path("gt.json").write_text(json.dumps(truth))
        Path("dt.json").write_text(json.dumps(results))
        self.given = copy.deepcopy(results)
        from_file, iou_type = rng.random() < 0.5, rng.choice(["bbox", "segm"] if masks else ["bbox"])
        gt = self.call("LVIS", self.classes.get("LVIS") or self.owner("LVIS"), "gt.json")
        if gt is not None:
            kind = self.classes.get("LVISResults") or self.owner("LVISResults")
            dt = self.call("LVISResults", kind, gt, "dt.json" if from_file else self.given, rng.choice([300, 4, -1]))
            kind = self.classes.get("LVISEval") or self.owner("LVISEval")
            made = None if dt is None else self.call("LVISEval", kind, gt, dt, iou_type)
            if made is not None:
                self.objects = {"gt": gt, "dt": dt, "evaluation": made}
        self.mixed = self.mixed and any(before.get(name) is thing for name, thing in self.objects.items())

    def use(self) -> None:
        """Evaluate, once, and print."""
        evaluation = self.objects.get("evaluation")
        if evaluation is None:
            return
        names = self.rng.choice([("run",), ("evaluate", "accumulate", "summarize"), ("accumulate", "summarize")])
        if getattr(evaluation, "was_used", False):
            names = ("accumulate", "summarize")
        evaluation.was_used = True
        for name in (*names, "print_results"):
            self.call(name, getattr(evaluation, name))
        self.note("results", dict(evaluation.results))
        if isinstance(evaluation.eval, dict):
            self.note("eval", {key: value for key, value in evaluation.eval.items() if key not in ("date", "params")})

    def change(self) -> None:
        """Change a record or a parameter."""
        evaluation = self.objects.get("evaluation")
        name, value = self.rng.choice(
            [("max_dets", 100), ("iou_thrs", np.array([0.75, 0.5])), ("rec_thrs", np.linspace(0, 1, 11))]
        )
        if self.rng.random() < 0.5:
            self.change_record(self.given)
        elif evaluation is not None and not getattr(evaluation, "was_used", False):
            setattr(evaluation.params, name, value)
