"""SAM 3's concept measures: numbers that can be counted, the plain oracle, the authors' numbers, files, refusals."""

from __future__ import annotations

import copy
import dataclasses
import gzip
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - it sets the number of examples
from evaluation.plain_concepts import AmbiguousError, plain_concepts, random_concepts
from ioukit import DatasetError, Detections, GroundTruth
from ioukit.evaluation import ConceptEvaluation, evaluate_concepts
from support.paths import DATA, load

if TYPE_CHECKING:
    from pathlib import Path

RECORDED = load(DATA / "grounding" / "concepts.json")


def truth_of(boxes: dict[int, list[list[int]]], **options: Any) -> GroundTruth:
    rows = [(image, box) for image, given in boxes.items() for box in given]
    return GroundTruth.from_arrays(
        image_ids=np.array([image for image, _ in rows], np.int64),
        category_ids=[1] * len(rows),
        boxes=np.array([box for _, box in rows], np.float64).reshape(-1, 4),
        images=[*boxes],
        categories={1: "object"},
        **options,
    )


def found_of(boxes: dict[int, list[list[int]]], score: float = 1.0) -> Detections:
    rows = [(image, box) for image, given in boxes.items() for box in given]
    return Detections.from_arrays(
        image_ids=np.array([image for image, _ in rows], np.int64),
        category_ids=[1] * len(rows),
        boxes=np.array([box for _, box in rows], np.float64).reshape(-1, 4),
        scores=[score] * len(rows),
    )


A, B, FAR = [0, 0, 10, 10], [20, 0, 10, 10], [50, 50, 10, 10]


def test_numbers_that_can_be_counted() -> None:
    gt = truth_of({1: [A, B], 2: [A], 3: [], 4: []})
    dt = found_of({1: [A, [20, 0, 10, 6]], 2: [], 3: [FAR], 4: []})
    result = evaluate_concepts(gt, dt, iou_type="bbox")
    assert result.true_positives[:, 0].tolist() == [2, 0, 0, 0]
    assert result.true_positives[0].tolist() == [2, 2, 2, 1, 1, 1, 1, 1, 1, 1]  # IoU 1 and 0.6
    numbers = result.summary
    assert numbers["precision@0.5"] == pytest.approx(2 / 3, abs=1e-4)
    assert numbers["positive_micro_precision@0.5"] == pytest.approx(1, abs=1e-4)  # the wrong one is on a negative
    assert numbers["recall@0.5"] == pytest.approx(2 / 3, abs=1e-4)
    assert numbers["positive_macro_F1@0.75"] == pytest.approx(1 / 2, abs=2e-4)  # of image 1 alone
    assert [numbers["IL_recall"], numbers["IL_FPR"]] == pytest.approx([0.5, 0.5], abs=1e-5)
    assert numbers["IL_MCC"] == 0  # one image of each outcome
    assert result.counts == {
        "images": 4, "images_with_objects": 2, "objects": 3, "detections": 3, "images_left_out": 0,
    }  # fmt: skip


def test_the_pairs_have_the_highest_sum_and_not_the_best_first() -> None:
    # Greedily, the first detection takes the object with IoU 0.9, and the second one has none left.
    gt = truth_of({1: [[0, 0, 100, 10], [15, 0, 100, 10]]})
    dt = found_of({1: [[5, 0, 100, 10], [-20, 0, 100, 10]]})
    assert evaluate_concepts(gt, dt, iou_type="bbox").true_positives[0, 0] == 2


def test_which_annotator_counts() -> None:
    wide, narrow, none = truth_of({1: [A, B]}), truth_of({1: [A]}), truth_of({1: []})
    found = found_of({1: [A]})
    options: Any = {"iou_type": "bbox"}
    assert evaluate_concepts([wide, narrow, none], found, **options).annotator.tolist() == [1]
    assert evaluate_concepts([wide, narrow, none], found_of({}), **options).annotator.tolist() == [2]
    # Nothing fits: the first of equal ones, which makes a miss or a false detection on a negative image.
    wrong = found_of({1: [FAR]})
    assert evaluate_concepts([none, narrow], wrong, **options).num_objects.tolist() == [0]
    assert evaluate_concepts([narrow, none], wrong, **options).num_objects.tolist() == [1]


def test_crowds_and_low_scores_do_not_count() -> None:
    gt = truth_of({1: [A, B]}, crowd=[False, True])
    assert evaluate_concepts(gt, found_of({1: [A]}), iou_type="bbox").num_objects.tolist() == [1]
    low = found_of({1: [A]}, score=0.4)
    assert evaluate_concepts(gt, low, iou_type="bbox").num_detections.tolist() == [0]
    assert evaluate_concepts(gt, low, iou_type="bbox", score_threshold=0.4).num_detections.tolist() == [1]


def test_undefined_is_nan_and_null() -> None:
    result = evaluate_concepts(truth_of({1: []}), found_of({}), iou_type="bbox")
    assert math.isnan(result.summary["positive_macro_F1"])
    assert result.summary["cgF1"] == 0
    assert json.loads(result.to_json())["summary"]["positive_macro_F1@0.5"] is None
    assert "nan" in result.table()
    assert repr(result) == "ConceptEvaluation(cgF1=0.0000, positive_micro_F1=0.0000, IL_MCC=0.0000, 1 image)"


def test_a_note_says_where_cgf1_is_0_by_its_definition() -> None:
    zero = "so IL_MCC and cgF1 are 0 by their definition, whatever is found"
    every = evaluate_concepts(truth_of({1: [A], 2: [B]}), found_of({1: [A], 2: [B]}), iou_type="bbox")
    numbers = [every.summary[key] for key in ("cgF1", "IL_MCC", "IL_FPR", "precision")]
    assert numbers == [0, 0, 0, pytest.approx(2 / 2.0001, rel=1e-12)]
    assert every.notes == (f"ground truth: every image has its concept, {zero}",)
    none = evaluate_concepts(truth_of({1: [], 2: []}), found_of({2: [A]}), iou_type="bbox")
    assert none.summary["cgF1"] == 0
    assert none.summary["IL_FPR"] == pytest.approx(0.5)
    assert none.notes[-1] == f"ground truth: no image has its concept, {zero}"
    wrong = evaluate_concepts(truth_of({1: [A], 2: []}), found_of({2: [A]}), iou_type="bbox")
    assert math.copysign(1, wrong.summary["cgF1@0.5"]) == -1  # 0 times an MCC of -1
    assert wrong.table().splitlines()[1].split() == ["cgF1", "0.0", "0.0", "0.0"]
    both = evaluate_concepts(truth_of({1: [A], 2: []}), found_of({1: [A]}), iou_type="bbox")
    assert (round(both.summary["cgF1"], 3), both.notes) == (1, ())


@pytest.mark.parametrize("iou_type", ["segm", "bbox"])
@pytest.mark.parametrize("recorded", RECORDED)
def test_every_number_has_the_bits_of_the_authors(recorded: Any, iou_type: Any) -> None:
    result = evaluate_concepts(recorded["annotators"], recorded["results"], iou_type=iou_type)
    shown = {name: -1.0 if math.isnan(value) else value for name, value in result.summary.items()}
    assert shown == recorded["numbers"][iou_type]
    assert len(shown) == 26


@given(st.integers(0, 2**32), st.booleans(), st.sampled_from(["segm", "bbox"]))
def test_random_sets_against_the_definition(seed: int, fine: bool, iou_type: Any) -> None:
    annotators, results = random_concepts(seed, fine=fine)
    try:
        expected = plain_concepts(annotators, results, iou_type)
    except AmbiguousError:
        assume(False)
    result = evaluate_concepts(annotators, results, iou_type=iou_type)
    assert dict(result.summary) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("recorded", RECORDED[:3])
def test_files_and_other_orders_give_the_same(recorded: Any, tmp_path: Path) -> None:
    expected = evaluate_concepts(recorded["annotators"], recorded["results"])
    paths = []
    for number, annotator in enumerate(recorded["annotators"]):
        paths.append(tmp_path / f"gold_{number}.json")
        paths[-1].write_text(json.dumps(annotator))
    (tmp_path / "found.json").write_text(json.dumps(recorded["results"]))
    paths[0] = tmp_path / "gold_0.json.gz"
    paths[0].write_bytes(gzip.compress(json.dumps(recorded["annotators"][0]).encode()))
    read = evaluate_concepts(paths, tmp_path / "found.json")
    assert read.to_dict()["summary"] == expected.to_dict()["summary"]
    turned = copy.deepcopy(recorded["annotators"])
    for annotator in turned:
        annotator["images"].reverse()
    other = evaluate_concepts(turned, recorded["results"])
    assert other.image_ids.tolist() == expected.image_ids.tolist()[::-1]
    assert dict(other.summary) == pytest.approx(dict(expected.summary), abs=1e-14, nan_ok=True)


def test_images_that_were_not_marked_are_left_out() -> None:
    boxes: dict[int, list[list[int]]] = {1: [A], 2: [B], 3: []}
    first = truth_of(boxes, image_attributes={"is_instance_exhaustive": [1, 1, 0]})
    second = truth_of(boxes, image_attributes={"is_instance_exhaustive": [0, 1, 1]})
    result = evaluate_concepts([first, second], found_of({1: [A], 2: [B]}), iou_type="bbox")
    assert (result.image_ids.tolist(), result.num_left_out) == ([2], 2)
    assert "2 of 3 images left out: not all annotators marked all instances" in result.notes[0]
    assert isinstance(result, ConceptEvaluation)


def test_what_is_refused() -> None:
    gt, dt = truth_of({1: [A], 2: []}), found_of({1: [A]})
    options: Any = {"iou_type": "bbox"}
    with pytest.raises(ValueError, match="at least one annotator, got an empty list"):
        evaluate_concepts([], dt, **options)
    with pytest.raises(DatasetError, match="expected those of ground truth, only one has image 2"):
        evaluate_concepts([gt, truth_of({1: [A]})], dt, **options)
    with pytest.raises(DatasetError, match="found none of 2 images"):
        evaluate_concepts(truth_of({1: [A], 2: []}, image_attributes={"is_instance_exhaustive": [0, 0]}), dt, **options)
    with pytest.raises(ValueError, match=r"score_threshold: all scores are at most 1, got 50; did you mean 0\.5"):
        evaluate_concepts(gt, dt, score_threshold=50, **options)
    with pytest.raises(ValueError, match="score_threshold must be a number, got nan"):
        evaluate_concepts(gt, dt, score_threshold=math.nan, **options)
    with pytest.raises(DatasetError, match=r"have no scores, and those with a score of at least 0\.5 count"):
        evaluate_concepts(gt, dataclasses.replace(dt, scored=False), **options)
    names = GroundTruth.from_arrays(image_ids=["a"], category_ids=[1], boxes=[A])
    with pytest.raises(DatasetError, match="expected those of ground truth, only one has image '1'"):
        evaluate_concepts([gt, names], dt, **options)
    with pytest.raises(DatasetError, match="expected the id of an image"):
        evaluate_concepts(gt, found_of({7: [A]}), **options)
    with pytest.raises(DatasetError, match="iou_type='segm' needs"):
        evaluate_concepts(gt, dt)
    document = copy.deepcopy(RECORDED[0]["annotators"][0])
    document["images"][0]["is_instance_exhaustive"] = "yes"
    with pytest.raises(DatasetError, match=r"images\[0\].is_instance_exhaustive: expected 0 or 1, found 'yes'"):
        evaluate_concepts(document, [])
