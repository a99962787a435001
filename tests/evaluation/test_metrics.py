"""The flat names of metrics, and what is required of them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioukit.evaluation import Requirement, RequirementResult, check_requirements
from ioukit.evaluation.class_results import ClassResult, class_labels
from support.evaluated_scenes import SCENES, coco, made


@pytest.mark.parametrize("name", SCENES)
def test_every_number_has_one_name(name: str) -> None:
    evaluation = SCENES[name]()
    metrics = evaluation.metrics(per_class=list(evaluation.summary))
    classes = len(evaluation.per_class)
    assert len(metrics) == len(evaluation.summary) * (1 + classes) + len(evaluation.counts)
    for key, value in evaluation.summary.items():
        assert metrics[key] is value
    for key, count in evaluation.counts.items():
        assert metrics[f"counts/{key}"] == count
    for key in evaluation.summary:
        shown = [value for metric, value in metrics.items() if metric.startswith(f"{key}/")]
        assert list(map(repr, shown)) == [repr(result.summary[key]) for result in evaluation.per_class]


def test_the_headline_of_each_class_is_the_default() -> None:
    evaluation = coco()
    metrics = evaluation.metrics()
    assert {name.partition("/")[0] for name in metrics if name.endswith("/traffic light")} == {
        "AP", "AP50", "AP75", "AR100",
    }  # fmt: skip
    assert metrics["AP75/traffic light"] == evaluation.per_class["traffic light"].summary["AP75"]
    assert list(evaluation.metrics(per_class=False)) == [
        *evaluation.summary,
        *(f"counts/{key}" for key in evaluation.counts),
    ]
    assert evaluation.metrics(per_class="APs").keys() == evaluation.metrics(per_class=["APs"]).keys()
    with pytest.raises(ValueError, match="unknown metric of per_class 'mAP'; choose from AP, AP50"):
        evaluation.metrics(per_class=["mAP"])


def result(number: int, name: str) -> ClassResult:
    return ClassResult(number, name, 0, 0, {})


@given(st.lists(st.text("a#12", max_size=4), max_size=8))
def test_labels_of_classes_differ_and_plain_names_stay(names: list[str]) -> None:
    labels = class_labels([result(number, name) for number, name in enumerate(names, 1)])
    assert len(set(labels)) == len(labels)
    for number, (name, label) in enumerate(zip(names, labels, strict=True), 1):
        assert label in (name, f"{name}#{number}")
        if name and names.count(name) == 1 and "#" not in name:
            others = {f"{other}#{at}" for at, other in enumerate(names, 1)}
            assert label == name or name in others


def test_labels_of_equal_and_empty_names() -> None:
    classes = [result(3, "cat"), result(5, "dog"), result(7, "cat"), result(9, ""), result(11, "cat#3")]
    assert class_labels(classes) == ["cat#3", "dog", "cat#7", "#9", "cat#3#11"]


def test_requirements_compare_to_the_last_bit() -> None:
    evaluation = coco()
    ap = evaluation.summary["AP"]
    above, below = math.nextafter(ap, 1), math.nextafter(ap, 0)
    wanted = [
        Requirement("AP", ap),
        Requirement("AP", below),
        Requirement("AP", above),
        Requirement("AP", ap, "at_most"),
        Requirement("AP", above, "at_most"),
        Requirement("AP", below, "at_most"),
        Requirement("AP/airplane", 0.0),  # undefined: there are no airplanes
        Requirement("AP/airplane", 1.0, "at_most"),
        Requirement("counts/images", 100),
    ]
    results = check_requirements(evaluation, wanted)
    assert [one.met for one in results] == [True, True, False, True, True, False, False, False, True]
    assert [one.requirement for one in results] == wanted
    assert str(results[6]) == "AP/airplane is undefined, required is at least 0.0"


def test_a_value_never_looks_like_the_threshold_that_it_misses() -> None:
    missed = RequirementResult(Requirement("AP", 0.4), 0.39999999)
    assert str(missed) == "AP is 0.39999999, required is at least 0.4"
    assert str(RequirementResult(Requirement("AP", 0.4), 0.4)) == "AP is 0.4000, required is at least 0.4"


@pytest.mark.parametrize(
    ("metric", "says"),
    [
        ("ap", r"there is no metric 'ap'; did you mean 'AP'\?"),
        ("AP50/catt", r"there is no metric 'AP50/catt'; did you mean 'AP50/cat'"),
        ("nonsense", r"there is no metric 'nonsense'; choose from AP, AP50, .*, or the same of a class, as in AP/NAME"),
    ],
)
def test_an_unknown_metric_is_refused_with_similar_names(metric: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        check_requirements(made(), [Requirement("AP", 0.1), Requirement(metric, 0.1)])


@pytest.mark.parametrize(
    ("requirements", "says"),
    [
        (Requirement("AP", 0.1), r"requirements must be a list, got one Requirement; write \[requirement\]"),
        ([Requirement("AP", 0.1), ("AP50", 0.1)], r"requirements\[1\] must be a Requirement, .*, got tuple"),
    ],
)
def test_requirements_are_a_list_of_requirements(requirements: Any, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        check_requirements(made(), requirements)


def test_a_requirement_has_a_number_and_a_kind() -> None:
    with pytest.raises(ValueError, match="the threshold of AP must be a number, got nan"):
        Requirement("AP", math.nan)
    with pytest.raises(ValueError, match="unknown kind 'above'; choose from at_least, at_most"):
        Requirement("AP", 0.1, "above")  # type: ignore[arg-type]
