"""Reads the reasons of label errors back, and recomputes what they say of overlaps, for every kind of region."""

from __future__ import annotations

import csv
import dataclasses
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, evaluate, pairwise_iou, pairwise_probiou
from ioukit.evaluation import match
from ioukit.evaluation.kinds.keypoints import COCO_SIGMAS
from ioukit.label_errors import LABEL_ERROR_KINDS, find_label_errors
from support import region_cases

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ioukit.label_errors import LabelErrors

_NUMBER = r"\d\.\d\d"
_OVERLAPS = re.compile(
    rf"overlaps the annotation with (?P<name>\D+?) (?P<own>{_NUMBER})\."
    rf"|overlaps this one with (?P<bounded>\D+?) at least (?P<least>{_NUMBER})\."
    rf"|and this one overlap one detection, with a mean (?P<meant>\D+?) of (?P<mean>{_NUMBER})\."
)
_MORE_NAMES = re.compile(r"No detection of \w+ has (\D+?) 0\.10 or more with it\.|Score times (\D+?) of the strongest")


def oks(gt: GroundTruth, dt: Detections) -> Any:
    """(G, D) COCO's object keypoint similarity, term by term."""
    found = np.zeros((len(gt), len(dt)))
    for place, object_ in enumerate(np.asarray(gt.regions["keypoints"])):
        for row, detection in enumerate(np.asarray(dt.regions["keypoints"])):
            seen = object_[:, 2] > 0
            squares = ((object_[seen, :2] - detection[seen, :2]) ** 2).sum(axis=1)
            spread = 2 * (2 * np.array(COCO_SIGMAS)[seen]) ** 2 * gt.areas[place]
            found[place, row] = np.exp(-squares / spread).mean()
    return found


def regions(name: str) -> Callable[[GroundTruth, Detections], Any]:
    return lambda gt, dt: pairwise_iou(gt.regions[name], dt.regions[name])


MEASURES: dict[str, tuple[str, Callable[[GroundTruth, Detections], Any]]] = {
    "segm": ("IoU", regions("Masks")),
    "keypoints": ("OKS", oks),
    "rotated": ("IoU", regions("RotatedBoxes")),
    "rotated-probiou": (
        "ProbIoU",
        lambda gt, dt: pairwise_probiou(gt.regions["RotatedBoxes"], dt.regions["RotatedBoxes"]),
    ),
    "polygon": ("IoU", regions("Polygons")),
}


def label_errors(kind: str) -> LabelErrors:
    """With a second annotation of some objects, and wrong classes: reasons of all kinds that name an overlap."""
    gt, dt = region_cases.KINDS[kind](2)
    rows = np.r_[np.arange(len(gt)), 1, 6, 11]
    twice = dataclasses.replace(gt.take(rows), ids=np.arange(1, len(rows) + 1))
    return find_label_errors(evaluate(twice, dt, iou_type=kind))


@pytest.mark.parametrize("kind", MEASURES)
def test_an_overlap_has_the_name_and_the_value_of_its_measure(kind: str, tmp_path: Path) -> None:
    name, measure = MEASURES[kind]
    errors = label_errors(kind)
    gt, dt = errors.evaluation.ground_truth, errors.evaluation.detections
    assert gt is not None
    assert dt is not None
    table, overlaps, said = errors.evaluation.near_matches(), measure(gt, dt), set()
    errors.write_csv(tmp_path / "labels.csv")
    with (tmp_path / "labels.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    for at, (row, line) in enumerate(zip(errors.rows(), lines, strict=True)):
        assert {*filter(None, sum(_MORE_NAMES.findall(row.reason), ()))} <= {name}
        found = _OVERLAPS.search(row.reason)
        if found is None:
            assert "overlaps" not in row.reason, row.reason
            continue
        said.add(row.kind)
        assert (found["name"] or found["bounded"] or found["meant"]) == name
        place = int(table.objects.row[errors.object[at]])
        if found["own"]:
            value = float(overlaps[place, table.detections.row[errors.detection[at]]])
            assert float(found["own"]) == pytest.approx(value, abs=0.0051)
            assert float(line["overlap"]) == pytest.approx(value, abs=1e-6)
            continue
        together = overlaps[place] + overlaps[int(table.objects.row[errors.other[at]])]
        same_image = dt.image_ids == gt.image_ids[place]
        highest = float(together[same_image].max())
        assert float(found["mean"] or found["least"]) == pytest.approx(
            highest / 2 if found["mean"] else highest - 1, abs=0.0051
        )
        assert bool(found["mean"]) == (name == "OKS")
    assert said >= {"badly_drawn", "doubled"}


def test_the_words_of_the_kinds_are_true_of_points_and_masks() -> None:
    for kind in LABEL_ERROR_KINDS:
        assert "box" not in f"{kind.title} {kind.change}".lower()


def test_the_boundary_iou_has_its_name() -> None:
    gt, dt = region_cases.masks(2)
    errors = find_label_errors(evaluate(gt, dt, iou_type="boundary"))
    table = match(gt, dt, iou_type="boundary", near=0.1)
    assert table.near is not None
    known = {
        (int(table.objects.row[place]), int(table.detections.row[row])): overlap
        for row, place, overlap in zip(table.near.detection, table.near.object, table.near.iou, strict=True)
    }
    found = 0
    rows = errors.evaluation.near_matches()
    for at, row in enumerate(errors.rows()):
        if row.kind in ("badly_drawn", "swapped"):
            said = re.search(rf"with boundary IoU ({_NUMBER})\.", row.reason)
            assert said
            key = int(rows.objects.row[errors.object[at]]), int(rows.detections.row[errors.detection[at]])
            assert float(said[1]) == pytest.approx(known[key], abs=0.0051)
            found += 1
    assert found
