"""One number over many data sets: its definition, ranks, limits, and the difference of two models."""

from __future__ import annotations

import contextlib
import io
import json
import math
from typing import Any

import numpy as np
import pytest

import ioukit
from comparison.two_models import TwoModels, drawn
from ioukit.comparison import Suite, evaluate_suite
from ioukit.statistics import compare, intervals
from runs.two_models import pair

QUICK: dict[str, Any] = {"replicates": 60, "permutations": 60}


def suite(count: int = 3, names: str = "AB", **options: Any) -> Suite:
    """Sets of 80 images, on which B is worse than A."""
    models = {f"set {seed}": dict(zip("AB", pair(0.3, seed=seed), strict=True)) for seed in range(count)}
    return evaluate_suite({name: {of: one[of] for of in names} for name, one in models.items()}, **{**QUICK, **options})


def of_pycocotools(data: TwoModels) -> float:
    """AP of model A as pycocotools has it; NaN without objects, 0 without detections."""
    coco = pytest.importorskip("pycocotools.coco")
    cocoeval = pytest.importorskip("pycocotools.cocoeval")
    truth, found = data.truth, data.a
    keys = ("image_id", "category_id", "bbox")
    objects = zip(truth.image_ids.tolist(), truth.category_ids.tolist(), truth.boxes.tolist(), strict=True)
    annotations = [
        {**dict(zip(keys, row, strict=True)), "id": at + 1, "area": row[2][2] * row[2][3], "iscrowd": crowd}
        for at, (row, crowd) in enumerate(zip(objects, truth.crowd.tolist(), strict=True))
    ]
    rows = zip(found.image_ids.tolist(), found.category_ids.tolist(), found.boxes.tolist(), strict=True)
    results = [
        {**dict(zip(keys, row, strict=True)), "score": score}
        for row, score in zip(rows, found.scores.tolist(), strict=True)
    ]
    if not annotations:
        return math.nan
    if not results:
        return 0.0
    with contextlib.redirect_stdout(io.StringIO()):
        gt = coco.COCO()
        images = [{"id": number} for number in truth.images.ids.tolist()]
        categories = [{"id": number, "name": str(number)} for number in truth.categories.ids.tolist()]
        gt.dataset = {"images": images, "annotations": annotations, "categories": categories}
        gt.createIndex()
        evaluator = cocoeval.COCOeval(gt, gt.loadRes(results), "bbox")
        evaluator.evaluate()
        evaluator.accumulate()
        evaluator.summarize()
    return math.nan if evaluator.stats[0] == -1 else float(evaluator.stats[0])


def test_the_mean_is_that_of_pycocotools_on_each_set_without_undefined_ones() -> None:
    """The definition of lmms-eval's odinw13: the sum over the sets that are defined, divided by their number."""
    data = [drawn(seed) for seed in range(40)]
    values = [of_pycocotools(one) for one in data]
    found = evaluate_suite(
        {str(at): {"A": ioukit.evaluate(one.truth, one.a)} for at, one in enumerate(data)}, replicates=0
    )
    np.testing.assert_array_equal(found.values[:, 0], values)
    defined = [value for value in values if not math.isnan(value)]
    assert 0 < len(defined) < len(values)
    assert found.means[0] == pytest.approx(sum(defined) / len(defined), abs=1e-15)
    assert found.counted.sum() == len(defined)
    assert (found.intervals, found.differences, found.ranking) == ((), (), None)
    assert "AP is undefined, and so not counted, on " in found.text()


def test_equal_models_share_a_rank() -> None:
    a, b = pair(0.3)
    found = evaluate_suite({"x": {"A": a, "B": b, "C": a}, "y": {"A": b, "B": b, "C": a}}, replicates=0)
    assert found.ranks.tolist() == [[1.5, 3, 1.5], [2.5, 2.5, 1]]
    assert found.mean_ranks.tolist() == [2, 2.75, 1.25]
    assert [line.split()[-1] for line in found.text().split("\n\n")[0].splitlines()[1:]] == ["1", "0", "2"]


def test_a_lower_miss_rate_is_better() -> None:
    columns: dict[str, Any] = {"image_ids": [1, 2], "category_ids": [1, 1], "boxes": [[5, 5, 30, 60], [9, 9, 30, 60]]}
    truth = ioukit.GroundTruth.from_arrays(**columns, images=[1, 2], sizes=[[99, 99]] * 2)
    found = ioukit.Detections.from_arrays(**columns, scores=[0.9, 0.8])
    models = {name: ioukit.evaluate(truth, one, "crowdhuman") for name, one in (("A", found), ("B", found[:0]))}
    ranked = evaluate_suite({"x": models}, "MR-2", replicates=0)
    assert ranked.values[0, 0] < ranked.values[0, 1]
    assert ranked.ranks.tolist() == [[1, 2]]


def test_variances_of_sets_add_up() -> None:
    """Four sets of the same images have half the standard error of one, and the same bias."""
    one, four = pair(0.3)[0], suite(1, names="A").intervals[0]
    alone = intervals(one, "AP", replicates=400)["AP"]
    four = evaluate_suite({str(at): {"A": one} for at in range(4)}, replicates=400).intervals[0]
    assert four.key == "mean AP"
    assert four.value == pytest.approx(alone.value, abs=1e-15)
    assert four.standard_error == pytest.approx(alone.standard_error / 2, rel=0.1)
    assert four.bias == pytest.approx(alone.bias, rel=0.3)
    assert four.low < four.estimate < four.high


def test_one_set_is_a_comparison_of_two_models() -> None:
    a, b = pair(0.3)
    alone = compare(a, b, keys="AP", replicates=400, permutations=400)["AP"]
    found = evaluate_suite({"x": {"A": a, "B": b}}, replicates=400, permutations=400).differences[0]
    assert (found.a, found.b, found.difference) == (alone.a, alone.b, alone.difference)
    assert found.standard_error == pytest.approx(alone.standard_error, rel=0.15)
    assert found.detectable == pytest.approx(alone.detectable, rel=0.15)
    assert found.p_value == pytest.approx(alone.p_value, abs=0.05)


def test_exchanging_the_models_changes_signs_alone() -> None:
    ab, ba = suite().differences[0], suite(names="BA").differences[0]
    assert (ab.difference, ab.low, ab.high) == (-ba.difference, -ba.high, -ba.low)
    assert (ab.p_value, ab.standard_error) == (ba.p_value, ba.standard_error)


def test_more_sets_show_what_one_does_not() -> None:
    few, many = suite(1, seed=1), suite(6, seed=1)
    assert many.differences[0].standard_error < few.differences[0].standard_error
    assert many.differences[0].p_value == 1 / 61
    assert many.verdicts()[0].startswith("B is worse than A by ")
    assert many.num_images == 480


def test_a_model_is_not_better_than_itself() -> None:
    a = pair(0.3)[0]
    found = evaluate_suite({"x": {"A": a, "B": a}, "y": {"A": a, "B": a}}, **QUICK)
    assert (found.differences[0].difference, found.differences[0].p_value) == (0.0, 1.0)
    assert found.verdicts() == [f"A and B have the same mean AP, {a.summary['AP']:.3f}."]


def test_the_seed_decides_and_threads_do_not() -> None:
    first = suite(threads=1).to_json()
    assert suite(threads=2).to_json() == first
    assert suite(seed=1).to_json() != first


def test_three_models_are_ranked() -> None:
    a, b = pair(0.3)
    found = evaluate_suite({str(at): {"A": a, "B": b, "C": a} for at in range(3)}, replicates=60, permutations=120)
    assert found.ranking is not None
    assert found.ranking.key == "mean AP"
    assert dict(zip(found.ranking.names, found.ranking.letters, strict=True)) == {"A": "a", "C": "a", "B": "b"}
    assert found.verdicts()[0] == f"A and C have the best mean AP, {found.means[0]:.3f}; they are better than B."
    assert [len(row.split()) for row in found.text().split("\n\n")[1].splitlines()[1:]] == [8, 8, 8]
    assert len(found.differences) == 2


def test_as_data() -> None:
    found = suite(2)
    told = json.loads(found.to_json())
    assert [one["mean"] for one in told["models"]] == found.means.tolist()
    assert told["rows"] == found.rows()
    assert told["intervals"]["B"]["low"] == found.intervals[1].low
    assert told["differences"][0]["p_value"] == found.differences[0].p_value
    head, *lines = found.to_csv().splitlines()
    assert head == "set,model,images,value,rank"
    assert lines[1].split(",") == ["set 0", "B", "80", repr(found.values[0, 1].item()), "2.0"]
    assert repr(found).startswith("Suite(A mean AP=0.")
    assert found.notebook_rows()[1] == 4


def test_what_is_no_suite() -> None:
    a, b = pair(0.3)
    other = pair(0.3, seed=1)[0]
    for sets, message in (
        ({}, "at least one data set"),
        ({"x": {}}, "at least one model"),
        ({"x": {"A": a, "B": b}, "y": {"A": a}}, "the data set 'x' has the model 'B', and 'y' has not"),
        ({"x": {"A": a}, "y": {"A": a, "B": b}}, "the data set 'y' has the model 'B', and 'x' has not"),
        ({"x": {"A": a, "B": other}}, "data set 'x': "),
    ):
        with pytest.raises(ValueError, match=message):
            evaluate_suite(sets, **QUICK)
    with pytest.raises(TypeError, match=r"expected what ioukit\.evaluate returns, got"):
        evaluate_suite({"x": {"A": 1}})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="unknown number 'APX'; choose from AP, "):
        evaluate_suite({"x": {"A": a}}, "APX")
    voc = ioukit.evaluate(drawn(3).truth, drawn(3).a, "voc2012")
    with pytest.raises(ValueError, match="the same rules: 'x' by COCO of bbox, 'y' by VOC2012 of bbox"):
        evaluate_suite({"x": {"A": a}, "y": {"A": voc}}, **QUICK)
    nothing = ioukit.evaluate(drawn(3).truth[:0], drawn(3).a)
    with pytest.raises(ValueError, match="AP is undefined on all data sets"):
        evaluate_suite({"x": {"A": nothing}}, **QUICK)
    one = ioukit.GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]])
    alone = {"x": {"A": a}, "y": {"A": ioukit.evaluate(one, drawn(3).a[:0])}}
    with pytest.raises(ValueError, match="the data set 'y' has fewer than two images, which intervals and tests need"):
        evaluate_suite(alone, **QUICK)
    assert evaluate_suite(alone, replicates=0).values[1, 0] == 0
    with pytest.raises(ValueError, match="level must be above 0"):
        suite(1, level=1.5)
