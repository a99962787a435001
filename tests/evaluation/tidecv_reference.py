"""What tidecv 1.0.1, the program of TIDE's authors, says of the same data.

    python tests/evaluation/tidecv_reference.py

writes tests/data/tide/expected.json. It needs `pip install tidecv==1.0.1` (MIT), whose drawing is left out here: so it
does without seaborn and pandas.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import COCO, Detections, GroundTruth, read_coco
from ioukit.evaluation import ERROR_KINDS, match

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["EXPECTED", "PROTOCOL", "SETS", "Tide", "plain", "run_tidecv"]

ROOT = Path(__file__).parent.parent.parent
DATA = ROOT / "tests" / "data"
EXPECTED = DATA / "tide" / "expected.json"
SETS = {
    "coco_val2014_100": (
        DATA / "coco_val2014_100" / "instances_val2014_100.json",
        DATA / "coco_val2014_100" / "instances_val2014_fakebbox100_results.json",
    ),
    "coco_val2017_100": tuple(ROOT / "examples" / "coco_val2017_100" / f for f in ("ground_truth.json", "yolact.json")),
    "coco_ccby_images": tuple(ROOT / "src" / "ioukit" / "cli" / "demo_files" / f for f in ("gt.json", "a.json")),
}
# tidecv divides i by 100 where COCO has linspace, whose doubles differ from that in the last bit at ten of 101 places.
PROTOCOL = COCO.replace(recall_thresholds=[i / 100 for i in range(101)])
_NAMES = dict(
    zip(
        ("ClassError", "BoxError", "OtherError", "DuplicateError", "BackgroundError", "MissedError"),
        ERROR_KINDS,
        strict=True,
    )
)


@dataclass(frozen=True)
class Tide:
    """tidecv's results, AP as a share."""

    counts: Mapping[str, int]
    detection_kind: list[int]
    missed: list[bool]
    ap: float
    """The mean over all classes that have an object or a detection, as tidecv has it."""
    delta_ap: Mapping[str, float]
    class_ap: float
    """The mean over the classes that have an object, of the same AP of each class."""
    class_delta_ap: Mapping[str, float]


def run_tidecv(
    ground_truth: GroundTruth, detections: Detections, *, iou: float = 0.5, background: float = 0.1, cap: int = 100
) -> Tide:
    """tidecv on the columns; `cap` is on the detections of an image."""
    sys.modules.setdefault("tidecv.plotting", ModuleType("tidecv.plotting"))
    from tidecv.data import Data  # noqa: PLC0415 - where it is installed
    from tidecv.errors.main_errors import FalsePositiveError  # noqa: PLC0415
    from tidecv.quantify import TIDE, TIDERun  # noqa: PLC0415

    truth, found = Data("truth", max_dets=cap), Data("found")
    for image in ground_truth.images.ids.tolist():
        truth.add_image(image, str(image))
    names = ("image_ids", "category_ids", "boxes", "crowd")
    for image, category, box, crowd in zip(*(getattr(ground_truth, name).tolist() for name in names), strict=True):
        (truth.add_ignore_region if crowd else truth.add_ground_truth)(image, category, box)
    names = ("image_ids", "category_ids", "scores", "boxes")
    for image, category, score, box in zip(*(getattr(detections, name).tolist() for name in names), strict=True):
        found.add_detection(image, category, score, box)
    run = TIDERun(truth, found, iou, background, "bbox", cap)

    kinds = [-1] * len(detections)
    missed = [False] * len(ground_truth)
    for error in run.errors:
        kind = _NAMES[type(error).__name__]
        if kind == "missed":
            missed[error.gt["_id"]] = True
        else:
            kinds[error.pred["_id"]] = ERROR_KINDS.index(kind)
    objects = {category for category, count in run.ap_data.get_gt_positives().items() if count}

    def class_mean(data: Any) -> float:
        aps = [one.get_ap() / 100 for category, one in data.objs.items() if category in objects and not one.is_empty()]
        return float(np.mean(aps)) if aps else float("nan")

    data = {
        _NAMES[kind.__name__]: run.fix_errors(lambda error, kind=kind: isinstance(error, kind))
        for kind in TIDE._error_types
    }
    labels = _NAMES | {"FalsePositiveError": "false_positive", "FalseNegativeError": "false_negative"}
    try:
        own = {**run.fix_main_errors(), **run.fix_special_errors()}
    except ZeroDivisionError:  # nothing is left, neither object nor detection
        own = {}
    class_ap = class_mean(run.ap_data)
    delta = {kind: float(np.maximum(class_mean(fixed) - class_ap, 0)) for kind, fixed in data.items()}
    delta["false_positive"] = class_mean(run.fix_errors(transform=FalsePositiveError.fix)) - class_ap
    delta["false_negative"] = class_mean(run.fix_errors(false_neg_dict=run.false_negatives)) - class_ap
    return Tide(
        counts={_NAMES[kind.__name__]: count for kind, count in run.count_errors().items()},
        detection_kind=kinds,
        missed=missed,
        ap=run.ap / 100,
        delta_ap={labels[kind.__name__]: value / 100 for kind, value in own.items()},
        class_ap=class_ap,
        class_delta_ap=delta,
    )


def plain(ground_truth: GroundTruth, detections: Detections) -> tuple[GroundTruth, Detections]:
    """The same without crowds, without the detections that match one, and without equal scores.

    Of equal scores that of the lower image is the higher one, then that of the first in the file.
    """
    table = match(ground_truth, detections)
    dropped = np.zeros(len(detections), np.bool_)
    dropped[table.detections.row[table.is_ignored(0.5)]] = True
    kept, objects = ~dropped, ~ground_truth.crowd
    order = np.lexsort((detections.image_ids, -detections.scores))
    scores = np.empty(len(order))
    scores[order] = 1 - np.arange(len(order)) / (len(order) + 1)
    return GroundTruth.from_arrays(
        image_ids=ground_truth.image_ids[objects],
        category_ids=ground_truth.category_ids[objects],
        boxes=ground_truth.boxes[objects],
        areas=ground_truth.areas[objects],
        images=ground_truth.images.ids,
        categories=ground_truth.categories.ids,
    ), Detections.from_arrays(
        image_ids=detections.image_ids[kept],
        category_ids=detections.category_ids[kept],
        boxes=detections.boxes[kept],
        scores=scores[kept],
    )


def main() -> None:
    """Record what tidecv says of the three sets, as they are and made plain."""
    recorded: dict[str, Any] = {}
    for name, paths in SETS.items():
        data = read_coco(*paths)
        recorded[name] = {}
        for way, chosen in (("as it is", data), ("plain", plain(*data))):
            tide = run_tidecv(*chosen)
            fields = ("counts", "ap", "delta_ap", "class_ap", "class_delta_ap")
            recorded[name][way] = {field: getattr(tide, field) for field in fields}
    EXPECTED.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
