"""One box per expression: the definition, the numbers of lmms-eval, results without scores, refusals."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - it sets the number of examples
from ioukit import DatasetError, Detections, GroundTruth
from ioukit.datasets import read
from ioukit.evaluation import evaluate_expressions
from support.paths import DATA, load

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.evaluation import ExpressionEvaluation

CATS = {1: "left cat", 2: "right cat"}
THRESHOLDS = np.linspace(0.5, 0.95, 10).tolist()


def truth_of(boxes: Any, **options: Any) -> GroundTruth:
    count = len(boxes)
    return GroundTruth.from_arrays(
        **{"image_ids": np.arange(count), "category_ids": [1] * count, "boxes": boxes, **options}
    )


def evaluated(boxes: list[Any], results: list[Any]) -> ExpressionEvaluation:
    """An image per expression; ``None`` where there is no result."""
    rows = [row for row, box in enumerate(results) if box is not None]
    dt = Detections.from_arrays(
        image_ids=np.array(rows, np.int64),
        category_ids=[1] * len(rows),
        boxes=np.array([results[row] for row in rows], np.float64).reshape(-1, 4),
        scores=[1] * len(rows),
    )
    return evaluate_expressions(truth_of(boxes), dt)


def test_numbers_that_can_be_counted() -> None:
    found = evaluated([[0, 0, 10, 10]] * 4, [[0, 0, 10, 10], [0, 0, 10, 5], [5, 10, 0, 0], None])
    assert found.iou.tolist() == [1, 0.5, 0, 0]
    assert found.has_point.tolist() == [True, True, True, False]  # a click on the border counts
    assert found.has_result.tolist() == [True, True, True, False]
    expected = {"Acc@0.5": 0.5, "Acc@0.5:0.95": (0.5 + 9 * 0.25) / 10, "mIoU": 0.375, "point": 0.75}
    assert dict(found.summary) == pytest.approx(expected, abs=1e-15)
    assert found.accuracy(0.6) == 0.25
    assert json.loads(found.to_json())["counts"] == {"expressions": 4, "results": 3}
    assert found.table().splitlines()[0].split() == ["Acc@0.5", "50.0"]


SIDES = st.integers(0, 12)
BOXES = st.tuples(SIDES, SIDES, st.integers(1, 12), st.integers(1, 12))
RESULTS = st.one_of(st.none(), st.tuples(SIDES, SIDES, SIDES, SIDES))


@given(st.lists(st.tuples(BOXES, RESULTS), min_size=1, max_size=12))
def test_random_sets_against_the_definition(rows: list[Any]) -> None:
    found = evaluated([box for box, _ in rows], [result for _, result in rows])
    ious, hits = [], 0
    for (x, y, w, h), result in rows:
        a, b, c, d = result or (0, 0, 0, 0)
        both = max(min(x + w, a + c) - max(x, a), 0) * max(min(y + h, b + d) - max(y, b), 0)
        ious.append(Fraction(both, w * h + c * d - both))
        hits += result is not None and x <= Fraction(2 * a + c, 2) <= x + w and y <= Fraction(2 * b + d, 2) <= y + h
    shares = [sum(float(iou) >= threshold for iou in ious) / len(ious) for threshold in THRESHOLDS]
    assert found.summary["Acc@0.5"] == shares[0]
    assert found.summary["Acc@0.5:0.95"] == pytest.approx(sum(shares) / 10, abs=1e-15)
    assert found.summary["mIoU"] == pytest.approx(float(sum(ious) / len(ious)), abs=1e-15)
    assert found.summary["point"] == hits / len(ious)


@pytest.mark.parametrize("recorded", load(DATA / "grounding" / "expressions.json"))
def test_the_numbers_of_lmms_eval(recorded: Any) -> None:
    found, numbers = evaluated(recorded["boxes"], recorded["results"]), recorded["numbers"]
    for threshold in (0.1, 0.3, 0.5, 0.7, 0.9):
        assert found.accuracy(threshold) == numbers[f"ACC@{threshold}"]
    assert found.summary["point"] == numbers["Center_ACC"]
    assert found.summary["mIoU"] == pytest.approx(numbers["IoU"], abs=1e-15)


def test_the_class_is_the_expression_if_an_image_has_several() -> None:
    gt = truth_of([[0, 0, 10, 10], [20, 0, 10, 10]], image_ids=[7, 7], category_ids=[1, 2], categories=CATS)
    records = [{"image_id": 7, "category_id": 2, "bbox": [20, 0, 10, 10]}]
    assert evaluate_expressions(gt, records).iou.tolist() == [0, 1]


def test_the_highest_score_counts() -> None:
    gt = truth_of([[0, 0, 10, 10]])
    boxes = [[0, 0, 10, 5], [0, 0, 10, 10], [0, 0, 10, 9]]
    dt = Detections.from_arrays(image_ids=[0, 0, 0], category_ids=[1, 1, 1], boxes=boxes, scores=[0.2, 0.7, 0.7])
    assert evaluate_expressions(gt, dt).iou.tolist() == [1]


def test_files_without_scores(tmp_path: Path) -> None:
    head = "image,category,xmin,ymin,xmax,ymax\n"
    (tmp_path / "gt.csv").write_text(f"{head}a.jpg,left cat,0,0,10,10\na.jpg,right cat,20,0,30,10\n")
    (tmp_path / "found.csv").write_text(f"{head}a.jpg,right cat,20,0,30,8\n")
    assert evaluate_expressions(tmp_path / "gt.csv", tmp_path / "found.csv").iou.tolist() == [0, 0.8]
    (tmp_path / "scored.csv").write_text(f"score,{head}0.3,a.jpg,right cat,20,0,30,8\n")
    assert evaluate_expressions(tmp_path / "gt.csv", tmp_path / "scored.csv").iou.tolist() == [0, 0.8]
    (tmp_path / "found.json").write_text(json.dumps([{"image_id": 0, "category_id": 1, "bbox": [0, 0, 10, 8]}]))
    assert evaluate_expressions(truth_of([[0, 0, 10, 10]]), tmp_path / "found.json").iou.tolist() == [0.8]


def test_what_is_refused(tmp_path: Path) -> None:
    two = truth_of([[0, 0, 10, 10], [20, 0, 10, 10]], image_ids=[7, 7], category_ids=[1, 2], categories=CATS)
    record = {"image_id": 7, "category_id": 2, "bbox": [20, 0, 10, 10]}
    with pytest.raises(DatasetError, match="at least one object with its expression, found none"):
        evaluate_expressions(truth_of(np.zeros((0, 4))), [])
    with pytest.raises(DatasetError, match="per image and class, found several of image 7"):
        evaluate_expressions(truth_of([[0, 0, 1, 1]] * 2, image_ids=[7, 7], categories=CATS), [])
    with pytest.raises(
        DatasetError, match="without scores, expected one result per expression, found several of image 7"
    ):
        evaluate_expressions(two, [record, record])
    with pytest.raises(DatasetError, match=r"detections\[1\].score: expected a number, found no such key"):
        evaluate_expressions(two, [{**record, "score": 1.0}, record])
    three = truth_of([[0, 0, 1, 1]] * 3, image_ids=[7, 7, 8], category_ids=[1, 2, 1], categories=CATS)
    with pytest.raises(DatasetError, match="found image 8, class 2"):
        evaluate_expressions(three, [{**record, "image_id": 8}])
    with pytest.raises(DatasetError, match="found image 9, class 2"):
        evaluate_expressions(truth_of([[0, 0, 1, 1]]), [{**record, "image_id": 9}])
    (tmp_path / "found.csv").write_text("score,image,category,xmin,ymin,xmax,ymax\nhigh,7,right cat,20,0,30,8\n")
    with pytest.raises(DatasetError, match="high"):
        evaluate_expressions(two, tmp_path / "found.csv")
    (tmp_path / "found").mkdir()
    with pytest.raises(DatasetError, match="not a format that can be read"):
        evaluate_expressions(two, tmp_path / "found")


PLATFORMS, KINDS = ("mobile", "desktop", "web"), ("text", "icon")


@given(st.lists(st.tuples(BOXES, RESULTS, st.sampled_from(PLATFORMS), st.sampled_from(KINDS)), min_size=1, max_size=16))
def test_the_numbers_of_parts_against_plain_python(rows: list[Any]) -> None:
    count = len(rows)
    gt = truth_of(
        [row[0] for row in rows],
        images=np.arange(count),
        image_attributes={"platform": np.array([row[2] for row in rows])},
        attributes={"data_type": np.array([row[3] for row in rows])},
    )
    answered = [at for at, row in enumerate(rows) if row[1] is not None]
    dt = Detections.from_arrays(
        image_ids=np.array(answered, np.int64),
        category_ids=[1] * len(answered),
        boxes=np.array([rows[at][1] for at in answered], np.float64).reshape(-1, 4),
        scores=None,
    )
    found = evaluate_expressions(gt, dt).by("platform", "data_type")
    hits: dict[tuple[str, ...], list[bool]] = {}
    for (x, y, w, h), result, platform, kind in rows:
        a, b, c, d = result or (0, 0, 0, 0)
        hit = result is not None and 2 * x <= 2 * a + c <= 2 * (x + w) and 2 * y <= 2 * b + d <= 2 * (y + h)
        hits.setdefault((platform, kind), []).append(hit)
    assert found.parts.keys() == hits.keys()
    for key, part in found.parts.items():
        assert part.summary["point"] == sum(hits[key]) / len(hits[key])
        assert part.counts["expressions"] == len(hits[key])
        alone = evaluated(
            [row[0] for row in rows if row[2:] == key], [row[1] for row in rows if row[2:] == key]
        )  # fmt: skip
        assert dict(part.summary) == dict(alone.summary)
    assert found.mean["point"] == pytest.approx(
        sum(sum(one) / len(one) for one in hits.values()) / len(hits), abs=1e-15
    )
    assert found.whole.summary["point"] == sum(map(sum, hits.values())) / count
    values = [[list(dict.fromkeys(row[at] for row in rows)).index(key[at - 2]) for at in (2, 3)] for key in found.parts]
    assert values == sorted(values), "in the order in which the values appear"


def test_parts_of_a_coco_file(tmp_path: Path) -> None:
    path = tmp_path / "gt.json"
    boxes = [[0, 0, 10, 10], [0, 0, 10, 10], [0, 0, 10, 10]]
    record = {
        "images": [{"id": k, "platform": name} for k, name in ((1, "web"), (2, "mobile"), (3, "web"))],
        "categories": [{"id": 1, "name": "any"}],
        "annotations": [
            {"id": k, "image_id": k, "category_id": 1, "bbox": box, "attributes": {"data_type": kind} if kind else {}}
            for k, box, kind in zip((1, 2, 3), boxes, ("text", "icon", None), strict=True)
        ],
    }
    path.write_text(json.dumps(record))
    answers = [{"image_id": 1, "category_id": 1, "bbox": [5, 5, 0, 0]}]
    found = evaluate_expressions(read(path, attributes=True), answers)
    by_kind = found.by("data_type")
    assert {key: part.summary["point"] for key, part in by_kind.parts.items()} == {
        ("text",): 1,
        ("icon",): 0,
        ("-",): 0,
    }
    assert by_kind.table().splitlines()[-1].split() == ["all", "0.0", "0.0", "0.0", "33.3", "3"]
    assert by_kind.table().splitlines()[-2].split() == ["mean", "0.0", "0.0", "0.0", "33.3"]
    in_json = json.loads(by_kind.to_json())
    assert in_json["summary"]["point"] == 1 / 3
    assert in_json["parts"][0]["data_type"] == "text"
    assert in_json["parts"][0]["counts"] == {"expressions": 1, "results": 1}
    assert repr(by_kind) == "ExpressionsBy(data_type: 3 parts)"
    with pytest.raises(ValueError, match=r"no column 'data_typ'; there are .*did you mean 'data_type'"):
        found.by("data_typ")
    with pytest.raises(ValueError, match="expected the name of a column, one of "):
        found.by()
    with pytest.raises(ValueError, match="no column 'data_type'; there are crowd"):
        evaluate_expressions(path, answers).by("data_type")
