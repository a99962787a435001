"""Mistakes that a new user makes in Python: each is answered with what there is, or what to do next."""

from __future__ import annotations

import json
import warnings
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import ioukit
from support.paths import EXAMPLES

FOLDER = EXAMPLES / "coco_val2017_100"


@cache
def names() -> dict[str, Any]:
    gt, dt = ioukit.read_coco(FOLDER / "ground_truth.json", FOLDER / "yolact.json")
    boxes = np.array([[0.0, 0.0, 10.0, 10.0], [1.0, 1.0, 5.0, 5.0]])
    ev = ioukit.evaluate(gt, dt)
    return {"ioukit": ioukit, "gt": gt, "dt": dt, "ev": ev, "path": str(FOLDER), "boxes": boxes, "scores": boxes[:, 2]}


@pytest.mark.parametrize(
    ("program", "answer"),
    [
        ('ev.summary["map"]', "no number 'map'; did you mean 'AP'"),
        ('ev.summary["AP@50"]', "no number 'AP@50'; did you mean 'AP50'"),
        ('ev.per_class[0].summary["mAP"]', "no number 'mAP'; did you mean 'AP'"),
        ("ev.mAP", "'Evaluation' object has no attribute 'mAP'; did you mean 'summary"),
        ('ev["AP"]', r"an evaluation is no mapping: write summary\['AP'\]"),
        ('ev.per_class["persn"]', "no category has the name 'persn'; did you mean 'person'"),
        ('ev.interval("ap")', "the protocol COCO has no number 'ap'; did you mean 'AP'"),
        ('ev.interval("AP50/persn")', "did you mean 'AP50/person'"),
        ("ev.plot()", "did you mean 'figure'"),
        ('ev.save("report.html")', "did you mean 'report'"),
        ("ev.confusion_matrix()", "did you mean 'confusion'"),
        ("ev.precision_recall()", r"did you mean 'figure\(\"precision_recall\"\)'"),
        ("ev.error_kind()", "did you mean 'error_kinds'"),
        ('ev.figure("confusion_matrix")', "unknown figure 'confusion_matrix'; did you mean 'confusion'"),
        (
            "ioukit.COCO.replace(iou_threshold=0.5)",
            "a protocol has no field iou_threshold; did you mean 'iou_thresholds'",
        ),
        ("ioukit.COCO.replace(max_detections=300)", "no field max_detections; did you mean 'max_dets'"),
        ('ioukit.evaluate(gt, dt, "voc2021")', "unknown protocol 'voc2021'; did you mean 'voc2012'"),
        ('ioukit.evaluate(gt, dt, iou_type="boxes")', "unknown iou_type 'boxes'; did you mean 'bbox'"),
        ("ioukit.evaluate(dt, gt)", "got Detections: the ground truth comes first"),
        ("ioukit.evaluate(gt, ev)", "detections must be Detections, a path, .* got Evaluation"),
        ("ioukit.evaluate([1, 2, 3], dt)", "GroundTruth.from_arrays takes arrays"),
        ('ioukit.evaluate(gt, dt, categories="person")', r"write \['person'\]"),
        ('ioukit.evaluate(gt, dt, categories=["persn"])', "did you mean 'person'"),
        ("ioukit.comparison.compare_models(gt, dt)", "expected what ioukit.evaluate returns, got GroundTruth"),
        ("ioukit.statistics.compare(gt, dt)", "expected what ioukit.evaluate returns, got GroundTruth"),
        ("ev.compare(gt)", "expected what ioukit.evaluate returns, got GroundTruth"),
        ("ioukit.plots.score_curves_figure(ev.curves)", r"what evaluation.score_curves\(\) returns, got Curves"),
        ("ioukit.plots.confusion_figure(ev.curves)", r"expected what evaluation.confusion\(\) returns, got Curves"),
        ("ioukit.plots.error_kinds_figure(ev.curves)", r"expected what evaluation.error_kinds\(\) returns, got Curves"),
        ("ioukit.plots.reliability_figure(ev.curves)", r"expected what calibration_errors\(evaluation\) returns"),
        ("ioukit.plots.miss_rate_figure(ev.curves)", r"expected what miss_rate_curves\(evaluation\) returns"),
        ("ioukit.plots.slices_figure(ev)", r"expected what slice_numbers\(...\) returns"),
        ("ioukit.plots.precision_recall_figure(ev.summary)", "expected what ioukit.evaluate returns"),
        ("ioukit.plots.precision_recall(ev)", "did you mean 'precision_recall_figure'"),
        ('ioukit.report.write_report(ev.summary, "x.html")', "expected what ioukit.evaluate returns, got Summary"),
        ('ioukit.report.write_report("x.html", ev)', "expected what ioukit.evaluate returns, got str"),
        ("ioukit.view(dt)", "expected what ioukit.evaluate returns, got Detections"),
        ("ioukit.mAP(gt, dt)", "did you mean 'evaluate'"),
        ("ioukit.box_iou(boxes, boxes)", "did you mean 'pairwise_iou'"),
        ("ioukit.pairwise_ious(boxes, boxes)", "did you mean 'pairwise_iou'"),
        ("ioukit.compare(ev, ev)", r"write a.compare\(b\) of two evaluations, or ioukit.statistics.compare"),
        ('ev.per_class["1"]', r"no category has the name '1'; the category with the id 1 is per_class\['person'\]"),
        ("ev.per_class[90]", r"a number is a position, of 80, got 90; the category with the id 90 is per_class"),
        ("ioukit.nms(boxes, 0.5)", r"nms\(\) lacks an argument: write nms\(boxes, scores, 0.5\)"),
        ("ioukit.nms(boxes, scores, iou_thres=0.5)", "argument 'iou_thres'; did you mean 'iou_threshold'"),
        ("ioukit.nms(boxes, 0.5, 0.5)", "scores must be an array with a number per box, got 0.5"),
        ("ioukit.soft_nms(boxes, 0.5)", "scores must be an array with a number per box, got 0.5"),
        (
            'ioukit.evaluate(gt, dt, "bbox")',
            "unknown protocol 'bbox': it is a kind of region, so write iou_type='bbox'",
        ),
        ("ioukit.Evaluator().add([], [])", "'Evaluator' object has no attribute 'add'; did you mean 'update'"),
        ("ioukit.Evaluator().result()", "did you mean 'compute'"),
        (
            "ioukit.evaluate(gt, dt, categories=[0])",
            r"no category has the id 0; there are 1 \(person\), 2 \(bicycle\),",
        ),
        (
            'ioukit.evaluation.check_requirements(ev, [ioukit.evaluation.Requirement("AP50/person", 40)])',
            r"AP50/person is within \[0, 1\], got 40; did you mean 0.4",
        ),
        ("ioukit.COCOeval", "did you mean 'compat.pycocotools.cocoeval.COCOeval'"),
        ("ioukit.batched_nms", "did you mean 'nms'"),
        ("ev.summary.AP", "'Summary' object has no attribute 'AP'; did you mean 'summary\\[\"AP\"\\]'"),
        ("ev.per_class[0].summary.AP50", "did you mean 'summary"),
        ('ev["map"]', r"write summary\['AP'\]"),
        ('ioukit.evaluate(gt, dt, iouType="bbox")', "unexpected keyword argument 'iouType'; did you mean 'iou_type'"),
        ('ioukit.evaluate(gt, dt, classes=["person"])', "did you mean 'categories'"),
        (
            "ioukit.evaluate(gt, dt, iou_thresholds=[0.5])",
            r"rules belong to the protocol: protocol=ioukit.COCO.replace\(",
        ),
        ("ioukit.Evaluator(max_dets=100)", r"rules belong to the protocol: protocol=ioukit.COCO.replace\("),
        ("ioukit.evaluate(gt, dt, colour=1)", "it takes ground_truth, detections, protocol, iou_type, "),
        ("ioukit.evaluate(preds=[], target=[])", r"go to ioukit.Evaluator\(\).update\(predictions, targets\)"),
        (
            'ioukit.evaluate([{"boxes": [], "labels": []}], [])',
            r"go to ioukit.Evaluator\(\).update\(predictions, targets",
        ),
        ('ioukit.evaluate(gt, [{"boxes": [], "labels": []}])', r"a dict per object, got one with 'boxes': .*Evaluator"),
        ("ioukit.evaluate(gt, '[{\"image_id\": 1}]')", r"got JSON text: write the path, or json.loads\(text\)"),
        ("ioukit.evaluate(gt, ev)", "an evaluation is a result already; its data are evaluation.detections"),
        ('ioukit.Boxes(boxes, format="coco")', "unknown format 'coco'; .* write 'xywh'"),
        ('ioukit.Boxes(boxes, "voc")', "unknown format 'voc'; .* write 'xyxy'"),
        ('ioukit.Boxes(boxes, "xywhn")', "write 'cxcywh', and normalized=True for Boxes"),
        ("ioukit.Boxes(boxes * float('nan'))", r"leave such rows out, as boxes\[np.isfinite\(boxes\)"),
        ("ioukit.nms(scores, boxes, 0.5)", "are these scores"),
        ('ioukit.COCO.replace(iou_thresholds="0.5")', r"must be a list of numbers, got '0.5': write \[0.5\]"),
        ("ioukit.COCO.replace(iou_thresholds=[50])", "did you mean 0.5"),
        (
            'ioukit.Evaluator().update([{"boxes": boxes, "scores": scores, "labels": ["a", "b"]}], '
            '[{"boxes": boxes, "labels": ["a", "b"]}])',
            r"names need Evaluator\(categories=\[...\]\)",
        ),
        ("ioukit.write_report(ev, path)", "it is ioukit.report.write_report"),
        ("ioukit.nms(boxes, 0.5, scores)", "iou_threshold must be a number, got ndarray"),
        ("ioukit.nms(boxes, scores, 50)", r"iou_threshold must be within \[0, 1\] .* did you mean 0.5"),
        ('ioukit.pairwise_iou(boxes, boxes, format="yolo")', "choose from xyxy, xywh, cxcywh"),
        ("ioukit.GroundTruth(path)", "GroundTruth needs categories: ioukit.datasets.read reads files"),
        ("ioukit.Detections(boxes, scores)", "Detections.from_arrays takes arrays"),
        ('ev.figure("pr_curve")', "did you mean 'precision_recall'"),
        (
            'ev.figure("worst_images", "x.pdf")',
            r"images must be a folder, got 'x.pdf'; figure\('worst_images'\).savefig",
        ),
        ('ioukit.evaluate(gt, dt, "coco2017")', "did you mean 'coco'"),
        ('ioukit.evaluate(gt, dt, repair="boxes=xyxy")', r"ioukit.checks.repaired\(ground_truth, detections, \['boxes"),
        ("ioukit.Evaluator()([], [])", r"write update\(predictions, targets\), and compute\(\) at the end"),
        ('ioukit.Evaluator(["cat", "dog"])', r"got list: the names of classes are categories=\[...\]"),
        (
            'ioukit.Evaluator(categories=["cat"]).update([{"boxes": boxes, "scores": scores, "labels": [1, 1]}], '
            '[{"boxes": boxes, "labels": [1, 1]}])',
            r"expected the id of a category: 0 to 0, found 1; for labels from 1, give categories=\{1: 'cat', ...\}",
        ),
        ("ioukit.pairwise_iou(boxes[0], boxes)", r"got \(4,\): write \[\[x1, y1, x2, y2\]\] for one box"),
        ("ioukit.GroundTruth.from_arrays(image_ids=[1], labels=[1], boxes=boxes)", "did you mean 'category_ids'"),
        ("ioukit.Detections.from_arrays(image_ids=[1], class_ids=[1], boxes=boxes)", "did you mean 'category_ids'"),
        (
            'ioukit.Detections.from_coco([{"image_id": 1, "class": 1, "bbox": [1, 2, 3, 4], "score": 1}])',
            "rename 'class'",
        ),
        ("gt.classes", "did you mean 'categories'"),
        ("dt.labels", "did you mean 'category_ids'"),
        ("dt.score", "did you mean 'scores'"),
        (
            "ioukit.Evaluator(gt)",
            "protocol must be a Protocol, such as ioukit.COCO, or the name of one, got GroundTruth",
        ),
    ],
)
def test_a_mistake_is_answered(program: str, answer: str) -> None:
    with pytest.raises((AttributeError, LookupError, TypeError, ValueError), match=answer):
        eval(program, names())  # each is one line of this file


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("COCOeval", "; did you mean 'compat.pycocotools.cocoeval.COCOeval'"),
        ("MeanAveragePrecision", "; it is ioukit.torch.MeanAveragePrecision"),
        ("nothing_like_that", r" \("),
    ],
)
def test_an_import_of_another_name_is_answered(name: str, answer: str) -> None:
    with pytest.raises(ImportError, match=f"cannot import name '{name}' from 'ioukit'.*{answer}"):
        exec(f"from ioukit import {name}")
    assert not hasattr(ioukit, name)


def test_records_in_another_format_are_no_silent_zero() -> None:
    truth, found = (json.loads((FOLDER / name).read_text()) for name in ("ground_truth.json", "yolact.json"))
    with warnings.catch_warnings(record=True) as nothing:
        right = ioukit.evaluate(truth, found).summary["AP"]
    assert not nothing
    for record in found:
        x, y, width, height = record["bbox"]
        record["bbox"] = [x, y, x + width, y + height]
    with pytest.warns(UserWarning, match=r"and fit \[x1, y1, x2, y2\]: convert them") as caught:
        assert ioukit.evaluate(truth, found).summary["AP"] < right / 5
    assert [warning.filename for warning in caught] == [__file__]


def test_an_error_inside_of_a_call_is_no_mistake_of_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise TypeError("match() got an unexpected keyword argument 'near'")

    monkeypatch.setattr("ioukit.evaluation.matching.match", broken)
    with pytest.raises(TypeError, match=r"argument 'near'$"):
        ioukit.evaluate(names()["gt"], names()["dt"])


def test_a_property_that_fails_says_its_own_reason() -> None:
    class Broken(type(names()["ev"])):  # type: ignore[misc]
        @property
        def broken(self) -> Any:
            return None.missing  # type: ignore[attr-defined]

    ev = names()["ev"]
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'missing'"):
        _ = Broken(ev.matches, ev.curves).broken


def test_what_python_asks_for_itself_gets_a_short_answer() -> None:
    for owner in (names()["ev"], ioukit):
        with pytest.raises(AttributeError, match=r"has no attribute '_mAP'$"):
            _ = owner._mAP


def test_help_begins_with_an_example_and_fits_a_screen() -> None:
    text = str(ioukit.__doc__)
    assert len(text.splitlines()) <= 24
    assert text.index("import ioukit") < 120
    for name in ("evaluate", "view", "pairwise_iou", "nms"):
        assert f"ioukit.{name}(" in text
        assert callable(getattr(ioukit, name))


@pytest.mark.parametrize("package", [ioukit, ioukit.plots, ioukit.statistics])
def test_dir_has_the_public_names_and_no_module_that_is_not_public(package: Any) -> None:
    """Also after modules were loaded."""
    assert callable(ioukit.plots.precision_recall_figure)
    shown = {name for name in dir(package) if not name.startswith("__")}
    assert not {name for name in shown if name.startswith("_")}
    modules = {name for name in shown - {"torch"} if isinstance(getattr(package, name), ModuleType)}
    assert shown - modules - {"torch"} == set(package.__all__) - modules - {"__version__"}
    assert not modules or package is ioukit
