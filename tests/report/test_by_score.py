"""What a report shows at each position of its score threshold is what the library says at that threshold."""

from __future__ import annotations

import json
import math
import shlex
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ioukit import COCO, Detections, GroundTruth, evaluate
from ioukit.evaluation import ERROR_KINDS, Evaluation, Outcome, score_curves
from ioukit.operating import calibration_errors
from ioukit.report import _by_score, _images
from ioukit.report._by_score import ErrorPositions, MarkPositions
from ioukit.report.report_page import report_data
from support import region_cases
from support.report_cases import CASES, attacked, coco, drawn
from support.report_marks import kinds_at, matrix_at, rows_at, up_to

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'ioukit[report]'")

EVERY = [*CASES, "masks", "tied scores"]


def made(case: str) -> Evaluation:
    if case == "masks":
        return region_cases.evaluated("segm")
    if case != "tied scores":
        return CASES[case]()
    base = drawn(300, ["cat", "dog", "bird"], seed=3)
    assert base.ground_truth is not None
    assert base.detections is not None
    few = base.detections
    tied = Detections.from_arrays(
        image_ids=few.image_ids, category_ids=few.category_ids, boxes=few.boxes, scores=few.scores.round(1)
    )
    return evaluate(base.ground_truth, tied)


def some(scores: list[float]) -> list[int]:
    """Positions to look at."""
    return sorted({0, len(scores) - 1, *np.linspace(0, len(scores) - 1, 9).astype(int).tolist()})


@pytest.mark.parametrize("case", EVERY)
def test_the_matrix_is_the_confusion_matrix_at_every_threshold(case: str) -> None:
    evaluation = made(case)
    shown = report_data(evaluation).drawn
    for position in some(shown["scores"]):
        expected = evaluation.confusion(score_threshold=shown["scores"][position]).counts
        if shown["matrix"] is None:
            assert not expected.any()
        else:
            assert (matrix_at(shown["matrix"], position) == expected).all(), position


@pytest.mark.parametrize("case", EVERY)
def test_sizes_are_those_of_the_outcomes(case: str) -> None:
    evaluation = made(case)
    shown = report_data(evaluation).drawn
    for position in some(shown["scores"]):
        for row, area in zip(shown["sizes"], COCO.area_labels, strict=True):
            became = evaluation.outcomes(area_range=area, score_threshold=shown["scores"][position])
            right, wrong = (
                int((became.detections == kind).sum()) for kind in (Outcome.TRUE_POSITIVE, Outcome.FALSE_POSITIVE)
            )
            assert (up_to(row["tp"], position), up_to(row["fp"], position)) == (right, wrong)
            assert row["n"] - right == int((became.objects == Outcome.FALSE_NEGATIVE).sum())


@pytest.mark.parametrize("case", ["three classes", "80 classes", "crowds", "masks", "tied scores"])
def test_errors_are_those_of_the_detections_with_such_scores(case: str) -> None:
    evaluation = made(case)
    assert evaluation.ground_truth is not None
    found = evaluation.detections
    assert found is not None
    shown = report_data(evaluation).drawn
    errors = shown["errors"]
    assert errors["kinds"] == list(ERROR_KINDS)
    for position in some(shown["scores"]):
        kept = found[found.scores >= shown["scores"][position]]
        expected = evaluate(evaluation.ground_truth, kept, iou_type=evaluation.matches.iou_type).error_kinds().counts
        counts = [up_to(steps, position) for steps in errors["new"]]
        counts.append(errors["objects"] - up_to(errors["gone"], position))
        assert dict(zip(ERROR_KINDS, counts, strict=True)) == expected, position


@pytest.mark.parametrize("case", EVERY)
def test_regions_are_what_the_outcomes_say(case: str) -> None:
    evaluation = made(case)
    shown = report_data(evaluation).drawn
    names = {f"image {k}": at for at, k in enumerate(evaluation.matches.image_ids.tolist())}
    truth = evaluation.ground_truth
    assert truth is not None
    names |= {name: at for at, name in enumerate(truth.images.names) if name}
    for position in some(shown["scores"])[::3]:
        results = evaluation.per_image(score_threshold=shown["scores"][position])
        for image in shown["images"]:
            if "boxes" not in image or image["name"] not in names:
                continue
            kinds, at = kinds_at(image, position), names[image["name"]]
            expected = results.true_positives[at], results.false_positives[at], results.false_negatives[at]
            assert tuple(int((kinds == kind).sum()) for kind in (1, 2, 3)) == expected


def test_marks_lead_from_detections_to_their_objects() -> None:
    evaluation = made("three classes")
    shown = report_data(evaluation).drawn
    lowest, background = len(shown["scores"]) - 1, len(shown["names"])
    counts = np.zeros((background + 1, background + 1), np.int64)
    for image in shown["images"]:
        boxes, marks = rows_at(image)
        for row, mark in zip(boxes.tolist(), marks, strict=True):
            if row[0] in (0, 3, 4):
                counts[row[1], background] += mark[1] > lowest
                continue
            _, true, pair, error, partner, iou, pair_iou = mark
            counts[background if true == -1 else true, row[1]] += true != -2
            if pair >= 0:
                assert boxes[pair, 1] == true
                assert overlap(boxes[pair], row) == pytest.approx(pair_iou / 100, abs=0.02)
            if partner >= 0:
                assert overlap(boxes[partner], row) == pytest.approx(iou / 100, abs=0.02)
            assert (error >= 0) == (row[0] == 2)
            if row[0] == 1:
                assert boxes[partner, 1] == row[1]
    assert sum("boxes" in image for image in shown["images"]) == len(evaluation.matches.image_ids)
    assert (counts == matrix_at(shown["matrix"], lowest)).all()


def overlap(one: object, two: object) -> float:
    (x1, y1, w1, h1), (x2, y2, w2, h2) = (np.asarray(row, np.float64)[3:] for row in (one, two))
    across = max(0.0, min(x1 + w1, x2 + w2) - max(x1, x2))
    inside = across * max(0.0, min(y1 + h1, y2 + h2) - max(y1, y2))
    return float(inside / (w1 * h1 + w2 * h2 - inside))


def test_histograms_count_every_detection_once() -> None:
    evaluation = coco()
    shown = report_data(evaluation).drawn
    curves, lowest = score_curves(evaluation.matches), len(shown["scores"]) - 1
    for row, curve in zip(shown["scoreBins"]["rows"], (curves.overall, *curves.per_class), strict=True):
        last = (int(curve.true_positives[-1]), int(curve.false_positives[-1])) if len(curve.scores) else (0, 0)
        assert (sum(row["tp"]), sum(row["fp"])) == last
    bins = shown["iouBins"]
    for position in (0, 40, lowest):
        point = curves.overall.at(shown["scores"][position])
        assert sum(up_to(steps, position) for steps in bins["tp"]) == point.true_positives
        assert sum(up_to(steps, position) for steps in bins["fp"]) == point.false_positives
    below = [edge < 0.5 for edge in bins["edges"][:-1]]
    assert not any(sum(steps) for steps, low in zip(bins["tp"], below, strict=True) if low)
    became = evaluation.outcomes()
    expected = np.histogram(became.match_iou[became.detections == Outcome.TRUE_POSITIVE], bins["edges"])[0]
    assert [sum(steps) for steps in bins["tp"]] == expected.tolist()


def test_reliability_is_that_of_the_room_for_operating() -> None:
    evaluation = coco()
    shown = report_data(evaluation).drawn["reliability"]
    expected = calibration_errors(evaluation.matches, bins=len(shown["counts"]), replicates=0)
    assert shown["dece"] == pytest.approx(expected.d_ece, abs=1e-5)
    assert shown["counts"] == expected.reliability.counts.tolist()
    for key, values in (("score", expected.reliability.mean_scores), ("precision", expected.reliability.precision)):
        assert [math.nan if value is None else value for value in shown[key]] == pytest.approx(
            values.tolist(), abs=1e-5, nan_ok=True
        )
    assert "reliability" in report_data(CASES["all wrong"]()).missing


def test_a_threshold_of_ones_own_is_a_position() -> None:
    evaluation = drawn(200, ["cat", "dog"])
    for threshold in (0.0, 0.12345, 2.0, -3.0):
        shown = report_data(evaluation, score_threshold=threshold).drawn
        assert shown["scores"][shown["start"]] == threshold
        point = score_curves(evaluation.matches).overall.at(threshold)
        assert up_to(shown["curves"]["rows"][0]["tp"], shown["start"]) == point.true_positives
    for threshold in (math.inf, -math.inf):
        json.dumps(report_data(evaluation, score_threshold=threshold).drawn, allow_nan=False)


def test_a_full_page_says_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluation = coco()
    whole = report_data(evaluation)
    assert whole.bounds == {}
    assert sum("boxes" in image for image in whole.drawn["images"]) == 100
    monkeypatch.setattr(_by_score, "_MOST_STEPS", 900)
    monkeypatch.setattr(_by_score, "_MOST_ENTRIES", 200)
    monkeypatch.setattr(_images, "_MOST_NUMBERS", 30_000)
    data = report_data(evaluation)
    matrix, images = data.drawn["matrix"], data.drawn["images"]
    assert data.drawn["start"] <= matrix["floor"] < len(data.drawn["scores"]) - 1
    assert sum(len(cell.get("steps", [])) for cell in matrix["cells"]) <= 2 * 900
    expected = evaluation.confusion(score_threshold=data.drawn["scores"][matrix["floor"]]).counts
    assert (matrix_at(matrix, matrix["floor"]) == expected).all()
    assert "Below a score threshold of" in data.bounds["matrix"]
    held = sum("boxes" in image for image in images)
    assert 24 <= held < 100
    assert f"The page holds {held} of 100 images" in data.bounds["images"]
    assert all(len(cell["images"]) <= 2 * 3 for cell in matrix["cells"])


def test_the_worst_images_of_every_threshold_come_before_others() -> None:
    evaluation = coco()
    shown = report_data(evaluation, worst=5).drawn
    named = [image["name"] for image in shown["images"]]
    truth = evaluation.ground_truth
    assert truth is not None
    assert shown["worst"] == list(range(5))
    for position in (0, len(shown["scores"]) - 1):
        results = evaluation.per_image(score_threshold=shown["scores"][position])
        assert {truth.images.names[at] for at in results.worst(5)} <= set(named[:120])
    assert len(shown["random"]) == 10


def test_the_command_opens_the_files_of_the_page(tmp_path: Path) -> None:
    assert report_data(drawn(5, ["a"])).drawn["view"] is None  # data from memory
    view = report_data(coco(), images=tmp_path).drawn["view"]
    words = view["before"]
    assert words[:2] == ["ioukit", "view"]
    assert [word.rpartition("/")[2] for word in words[2:4]] == ["ground_truth.json", "yolact.json"]
    assert words[4:] == ["--images", str(tmp_path)]
    odd = report_data(attacked(tmp_path)).drawn["view"]["before"]
    assert shlex.split(shlex.join(odd)) == odd
    masks = region_cases.evaluated("segm")
    assert report_data(masks).drawn["view"] is None


def test_marks_are_those_of_the_table() -> None:
    evaluation = coco()
    near = evaluation.near_matches(0.1)
    scores = np.array([0.9, 0.5, 0.1])
    marks = MarkPositions(near, scores, 0.5)
    found = ErrorPositions(marks, background=0.1, threads=1)
    for position, score in enumerate(scores.tolist()):
        became = evaluation.outcomes(score_threshold=score)
        assert int((marks.found <= position).sum()) == int((became.objects == Outcome.TRUE_POSITIVE).sum())
        matrix = evaluation.confusion(score_threshold=score)
        missed = (found.paired > position).sum()
        assert int(missed) == int(matrix.counts[:, -1].sum())


def test_an_empty_ground_truth_shows_the_false_positives() -> None:
    truth = GroundTruth.from_arrays(
        image_ids=[], category_ids=[], boxes=np.zeros((0, 4)), images=[1, 2], categories={1: "cat"}
    )
    found = Detections.from_arrays(image_ids=[1, 2], category_ids=[1, 1], boxes=[[0, 0, 5, 5]] * 2, scores=[0.9, 0.5])
    shown = report_data(evaluate(truth, found)).drawn
    assert shown["curves"] is None
    assert len(shown["scores"]) == 2
    assert [matrix_at(shown["matrix"], position)[1, 0] for position in (0, 1)] == [1, 2]
