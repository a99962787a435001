"""Intervals of the numbers of an evaluation: the bootstrap written out in full, same bits for threads and batches."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioukit import Detections, GroundTruth, evaluate
from ioukit.evaluation import COCO, Evaluation, Measure
from ioukit.statistics import (
    bootstrap_weights,
    interval_from_replicates,
    intervals,
    leave_one_out_weights,
    repeat_images,
    resampling,
)
from support.evaluated_scenes import made
from support.other_protocols import OTHER, evaluated
from support.two_models import pair

OWN = COCO.replace(max_dets=[1, 2, 5], area_ranges={"all": (0, 1e10), "low": (0, 2500)})


def by_hand(evaluation: Evaluation, key: str, category: str | None, weights: np.ndarray[Any, Any]) -> list[float]:
    """A number of every data set, each written out."""
    found = []
    for row in weights:
        one = Evaluation.from_table(repeat_images(evaluation.matches, row))
        found.append(one.summary[key] if category is None else one.per_class[category].summary[key])
    return found


@settings(deadline=None, max_examples=12)
@given(st.integers(0, 10**6), st.sampled_from([COCO, OWN]), st.sampled_from(["plain", "clusters", "strata"]))
def test_an_interval_is_the_bootstrap_written_out(seed: int, protocol: Any, groups: str) -> None:
    evaluation, _ = pair(seed, protocol)
    ids = evaluation.matches.image_ids
    label = (np.arange(12) // 3).tolist()
    options: dict[str, Any] = {} if groups == "plain" else {groups: label}
    found = evaluation.intervals(["AP", "AP50/cat", "AP/owl"], replicates=20, seed=seed, level=0.8, **options)
    weights = bootstrap_weights(ids, 20, seed=seed, **options)
    left = leave_one_out_weights(ids, clusters=options.get("clusters"))
    parts = [np.arange(3 * k, 3 * k + 3) for k in range(4)] if groups == "strata" else []
    for key, (name, category) in {"AP": ("AP", None), "AP50/cat": ("AP50", "cat"), "AP/owl": ("AP", "owl")}.items():
        value = evaluation.summary[name] if category is None else evaluation.per_class[category].summary[name]
        expected = interval_from_replicates(
            value,
            by_hand(evaluation, name, category, weights),
            key=key,
            level=0.8,
            left_out=by_hand(evaluation, name, category, left),
            groups=parts,
            vanished=found[key].vanished,
        )
        assert repr(found[key].to_dict()) == repr(expected.to_dict())


def test_threads_and_batches_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluation = made(images=20, seed=4)
    options: dict[str, Any] = {"keys": ["AP", "APs", "AP/cat"], "replicates": 25}
    plain = repr({key: one.to_dict() for key, one in evaluation.intervals(**options).items()})
    for threads, size in [(1, 1), (2, 1 << 26), (3, 300), (2, 3000)]:
        monkeypatch.setattr(resampling, "_BYTES", size)
        found = evaluation.intervals(**options, threads=threads)
        assert repr({key: one.to_dict() for key, one in found.items()}) == plain


def test_every_number_of_a_protocol_has_an_interval() -> None:
    for evaluation in [made(images=8, seed=2), *map(evaluated, OTHER)]:
        found = evaluation.intervals(replicates=8, method="percentile")
        protocol = evaluation.protocol
        assert list(found) == [measure.key for measure in protocol.measures if protocol.defines(measure)]
        for key, one in found.items():
            assert one.value == pytest.approx(evaluation.summary[key], nan_ok=True)
            assert one.key == key
            assert one.replicates == 8
            assert math.isnan(one.value) or one.low <= one.high
            assert one.half_width == pytest.approx((one.high - one.low) / 2, nan_ok=True)


def test_more_replicates_keep_the_first_ones() -> None:
    evaluation = made(images=15, seed=1)
    low = [evaluation.interval("AP", replicates=count, method="percentile", level=0.5).low for count in (40, 41)]
    weights = bootstrap_weights(evaluation.matches.image_ids, 41)
    expected = np.quantile(by_hand(evaluation, "AP", None, weights), 0.25)
    assert low[1] == pytest.approx(expected)
    assert low[0] != low[1]


def test_clusters_widen_the_interval() -> None:
    """Copies of images tell nothing new; with clusters, the interval is that of the images without copies."""
    evaluation = made(images=20, seed=8)
    copies = Evaluation.from_table(repeat_images(evaluation.matches, np.full(20, 4)))
    scene = np.repeat(np.arange(20), 4)
    alone, wrong = evaluation.interval("AP", replicates=100), copies.interval("AP", replicates=100)
    right = copies.interval("AP", replicates=100, clusters=scene)
    assert right.standard_error == pytest.approx(alone.standard_error, rel=0.05)
    assert wrong.standard_error < 0.7 * right.standard_error


def test_what_vanished_is_told() -> None:
    """The owls of one image are absent from a replicate with probability (1 - 1/n)^n."""
    boxes = [[0, 0, 100, 100]] * 11
    truth = GroundTruth.from_arrays(
        image_ids=[*range(10), 3], category_ids=[1] * 10 + [2], boxes=boxes, categories={1: "cat", 2: "owl", 3: "fox"}
    )
    found = Detections.from_arrays(
        image_ids=[*range(10), 3], category_ids=[1] * 10 + [2], boxes=boxes, scores=[0.5] * 11
    )
    evaluation = evaluate(truth, found)
    number = evaluation.interval("AP", replicates=500, method="percentile")
    expected = 0.9**10
    assert list(number.vanished) == ["owl"]
    assert abs(number.vanished["owl"] - expected) < 5 * math.sqrt(expected * (1 - expected) / 500)
    assert number.undefined == 0
    of_owl = evaluation.interval("AP/owl", replicates=500)
    assert of_owl.undefined == number.vanished["owl"]
    assert of_owl.vanished == {}
    assert of_owl.method == "percentile"  # without its only image, the number is undefined
    assert evaluation.interval("APs", replicates=9).vanished == {}
    assert list(evaluation.interval("APl", replicates=500).vanished) == ["owl"]


def test_what_vanished_is_told_by_groups_of_categories() -> None:
    """AP of rare categories lacks the rare ones alone, with the shares that the weights give."""
    boxes = [[0, 0, 100, 100]] * 12
    category, image = [1] * 10 + [2, 3], [*range(10), 3, 4]
    names = {1: "cat", 2: "owl", 3: "fox"}
    truth = GroundTruth.from_arrays(image_ids=image, category_ids=category, boxes=boxes, categories=names)
    frequency = {"frequency": np.array(["f", "r", "c"])}
    truth = dataclasses.replace(truth, categories=dataclasses.replace(truth.categories, attributes=frequency))
    found = Detections.from_arrays(image_ids=image, category_ids=category, boxes=boxes, scores=[0.5] * 12)
    measures = tuple(Measure(f"AP{group}", group=group or None) for group in ("", "r", "c", "f"))
    evaluation = evaluate(truth, found, COCO.replace(category_groups="frequency", summary=measures))
    weights = bootstrap_weights(evaluation.matches.image_ids, 200)
    gone = {"owl": float((weights[:, 3] == 0).mean()), "fox": float((weights[:, 4] == 0).mean())}
    number = evaluation.intervals(["AP", "APr", "APc", "APf"], replicates=200)
    assert number["AP"].vanished == gone
    assert number["APr"].vanished == {"owl": gone["owl"]}
    assert number["APc"].vanished == {"fox": gone["fox"]}
    assert number["APf"].vanished == {}
    assert number["APr"].undefined == gone["owl"]
    assert repr(number["APf"]).startswith("Interval(APf=1.0000, 95 % from 1.0000 to 1.0000)")


def test_an_undefined_number_has_an_undefined_interval() -> None:
    evaluation = made(objects=False)
    found = evaluation.interval("AP", replicates=5)
    assert math.isnan(found.low)
    assert found.undefined == 1
    assert found.to_dict()["high"] is None


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"keys": "AP5"}, ValueError, "the protocol COCO has no number 'AP5'; did you mean 'AP"),
        ({"keys": ["AP/person "]}, ValueError, "did you mean 'AP/person'"),
        ({"keys": ["?"]}, ValueError, "has no number '\\?'; there are AP, AP50"),
        ({"level": 95}, ValueError, "level must be above 0 and below 1, got 95"),
        ({"level": math.nan}, ValueError, "level must be a number, got nan"),
        ({"method": "normal"}, ValueError, "unknown method 'normal'; choose from percentile, bca"),
        ({"replicates": 0}, ValueError, "replicates must be at least 1"),
        ({"clusters": [0] * 9}, ValueError, "there is 1 cluster; at least two clusters are needed"),
    ],
)
def test_what_has_no_interval_is_refused(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        intervals(made(), **{"replicates": 3, **arguments})


@pytest.mark.parametrize("images", [0, 1])
def test_one_image_has_no_interval(images: int) -> None:
    names = ("cat", "dog") if images else ()
    with pytest.raises(ValueError, match=rf"there is {images} images?; at least two images are needed"):
        made(names, images=images, seed=3).interval("AP")
