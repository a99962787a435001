"""Thresholds are those that trying all of them finds; numbers on other images are those of a plain loop."""

from __future__ import annotations

import json
import math
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from ioukit import Detections, Evaluation, GroundTruth, MatchTable, evaluate
from ioukit.evaluation import COCO
from ioukit.evaluation.protocols import PROTOCOLS
from ioukit.operating import (
    FalsePositivesPerImage,
    FBeta,
    LeastCost,
    PrecisionAtLeast,
    RecallAtLeast,
    Rule,
    ThresholdChoice,
    choose_thresholds,
    find_rule,
)
from ioukit.operating.splitting import halves, parts
from ioukit.operating.sweeps import HOW, chosen_thresholds, scene_of
from ioukit.postprocess import OperatingPoints, PlattMap
from ioukit.statistics import bootstrap_weights, repeat_images
from ioukit.statistics.resampling import image_groups
from ioukit.statistics.student import t_quantile
from operating.plain_choice import counted, plain_threshold, random_scene

RULES: tuple[Rule, ...] = (
    FBeta(1),
    FBeta(2),
    FBeta(0.5),
    FBeta(0),
    PrecisionAtLeast(0.5),
    PrecisionAtLeast(0.9),
    PrecisionAtLeast(1),
    RecallAtLeast(0.3),
    RecallAtLeast(0.8),
    RecallAtLeast(1),
    LeastCost(1, 5),
    LeastCost(3, 1),
    LeastCost(0, 1),
    LeastCost(1, 1, {1: (4, 0.5)}),
    FalsePositivesPerImage(0),
    FalsePositivesPerImage(0.5),
    FalsePositivesPerImage(2),
)
some_rule = st.sampled_from(RULES)
seeds = st.integers(0, 10_000)


def costs(rule: Rule, classes: int) -> dict[int, tuple[float, float]]:
    if not isinstance(rule, LeastCost):
        return {}
    return {k: rule.classes.get(k, (rule.false_positive, rule.missed)) for k in range(classes)}


def quickly(evaluated: Any, rule: Rule | str, **options: Any) -> ThresholdChoice:
    return choose_thresholds(evaluated, rule, **{"replicates": 0, "splits": 0, **options})


@given(seeds, some_rule, st.integers(1, 2))
def test_a_threshold_is_the_best_of_all(seed: int, rule: Rule, digits: int) -> None:
    evaluation = random_scene(seed, digits=digits)
    data = counted(evaluation.matches)
    every = list(range(data.images))
    each = costs(rule, 3)
    pooled = plain_threshold(data, rule, category=None, images=every, costs=each)
    shared = quickly(evaluation, rule)
    expected = pooled if data.objects else (pooled[0], "no objects")
    assert_array_equal([shared.overall.threshold], [expected[0]])
    assert shared.overall.how == expected[1]
    assert all(one.threshold == shared.overall.threshold or math.isnan(pooled[0]) for one in shared.classes)
    for at, one in enumerate(quickly(evaluation, rule, per_class=True).classes):
        if not any(label == at for _, label in data.objects):
            assert one.how == "no objects"
            assert_array_equal([one.threshold], [pooled[0]])
            continue
        mine = plain_threshold(data, rule, category=at, images=every, costs=each)
        assert_array_equal([one.threshold], [mine[0]], err_msg=one.name)
        assert one.how == mine[1]


@given(seeds, st.floats(0, 50))
def test_best_f_beta_is_that_of_the_score_curves(seed: int, beta: float) -> None:
    evaluation = random_scene(seed, digits=2)
    curves = evaluation.score_curves()
    choice = quickly(evaluation, FBeta(beta), per_class=True)
    for curve, one in zip(curves.per_class, choice.classes, strict=True):
        if not curve.num_ground_truth:
            continue
        best = curve.best_point(beta)
        assert_array_equal([one.threshold], [best.score])
        assert one.chosen.true_positives == best.true_positives
        assert_array_equal([one.chosen.precision, one.chosen.recall], [best.precision, best.recall])
        assert_array_equal([one.chosen.f_beta], [best.f_beta(beta)])


@given(seeds, some_rule, st.booleans())
def test_weights_choose_as_the_written_out_data_does(seed: int, rule: Rule, per_class: bool) -> None:
    evaluation = random_scene(seed)
    scene = scene_of(evaluation.matches, None, None)
    weights = np.random.default_rng(seed).integers(0, 4, (3, scene.num_images))
    thresholds, states = chosen_thresholds(scene, rule, weights, per_class=per_class)
    for row, found, how in zip(weights, thresholds, states, strict=True):
        written = quickly(repeat_images(evaluation.matches, row), rule, per_class=per_class)
        points = written.classes if per_class else (*written.classes, written.overall)
        assert_array_equal(found[: len(points)], [one.threshold for one in points])
        assert [HOW[one] for one in how[: len(points)]] == [one.how for one in points]


@given(seeds, some_rule, st.booleans(), st.booleans())
def test_numbers_on_other_images_are_those_of_a_plain_loop(
    seed: int, rule: Rule, per_class: bool, clustered: bool
) -> None:
    evaluation = random_scene(seed, images=7)
    data, table = counted(evaluation.matches), evaluation.matches
    clusters = [0, 0, 1, 2, 2, 2, 3] if clustered else None
    choice = quickly(evaluation, rule, per_class=per_class, splits=3, seed=seed, clusters=clusters)
    first = halves(image_groups(table.image_ids, None, clusters), 3, seed)
    tp, fp = np.zeros(3), np.zeros(3)
    for split in first:
        for side in (True, False):
            images = np.flatnonzero(split == side).tolist()
            pooled = plain_threshold(data, rule, category=None, images=images, costs=costs(rule, 3))[0]
            thresholds = [pooled] * 3
            if per_class:
                for k in range(3):
                    if any(label == k and image in images for image, label in data.objects):
                        found = plain_threshold(data, rule, category=k, images=images, costs=costs(rule, 3))
                        thresholds[k] = found[0]
            for score, image, label, right in data.detections:
                if image not in images and score >= thresholds[label]:
                    (tp if right else fp)[label] += 1 / 3
    objects = np.bincount([label for _, label in data.objects], minlength=3)
    for one, right, wrong, total in zip(
        (*choice.classes, choice.overall), (*tp, tp.sum()), (*fp, fp.sum()), (*objects, objects.sum()), strict=True
    ):
        shown = one.held_out
        assert (shown.true_positives, shown.false_positives) == pytest.approx((right, wrong), abs=1e-9)
        assert shown.false_negatives == pytest.approx(total - right, abs=1e-9)
        assert shown.false_positives_per_image == pytest.approx(wrong / 7, abs=1e-9)
        if right + wrong > 1e-9:
            assert shown.precision == pytest.approx(right / (right + wrong))
        assert one.num_ground_truth == total
    if isinstance(rule, LeastCost):
        each = costs(rule, 3)
        cost = sum(each[k][0] * fp[k] + each[k][1] * (objects[k] - tp[k]) for k in range(3)) / 7
        assert choice.overall.held_out.cost_per_image == pytest.approx(cost, abs=1e-9)
    else:
        assert math.isnan(choice.overall.held_out.cost_per_image)


def test_intervals_are_the_bootstrap_written_out() -> None:
    evaluation = random_scene(5, images=12, digits=3)
    choice = choose_thresholds(evaluation, "f1", replicates=40, splits=2, seed=3)
    weights = bootstrap_weights(evaluation.matches.image_ids, 40, seed=3)
    drawn = [quickly(repeat_images(evaluation.matches, row), "f1").overall.threshold for row in weights]
    assert choice.overall.interval.low == np.quantile(drawn, 0.025)
    assert choice.overall.interval.high == pytest.approx(np.quantile(drawn, 0.975))
    shown = choice.overall.held_out
    assert set(shown.intervals) == {"precision", "recall", "f_beta", "false_positives_per_image"}
    assert shown.intervals["recall"].low < shown.recall < shown.intervals["recall"].high
    same = choice.overall.chosen
    assert set(same.intervals) == set(shown.intervals)
    assert same.intervals["recall"].value == same.recall
    again = choose_thresholds(evaluation, "f1", replicates=40, splits=2, seed=3)
    assert again.to_dict() == choice.to_dict()
    other = choose_thresholds(evaluation, "f1", replicates=40, splits=2, seed=4)
    assert other.to_dict() != choice.to_dict()
    costly = choose_thresholds(evaluation, "cost=1:2", replicates=5)
    assert "cost_per_image" in costly.overall.held_out.intervals


def perfect(images: int) -> Evaluation:
    """One object per image, found exactly."""
    boxes = [[0, 0, 20, 20]] * images
    ids, scores = list(range(images)), np.linspace(0.5, 0.9, images)
    gt = GroundTruth.from_arrays(image_ids=ids, category_ids=[1] * images, boxes=boxes)
    return evaluate(gt, Detections.from_arrays(image_ids=ids, category_ids=[1] * images, boxes=boxes, scores=scores))


def test_a_perfect_detector_on_few_images_is_not_certain() -> None:
    """The limits are those of Clopper and Pearson, and of the rule of three."""
    choice = choose_thresholds(perfect(10), replicates=200).overall
    found = choice.chosen.intervals
    for name in ("precision", "recall", "f_beta"):
        assert (found[name].low, found[name].high) == pytest.approx((0.025 ** (1 / 10), 1))
    none = found["false_positives_per_image"]
    assert (none.low, none.high) == pytest.approx((0, -math.log(0.025) / 10))
    assert all(one.warnings == ("there are 10 images",) for one in (*found.values(), choice.interval))
    assert choice.interval.low < choice.interval.high
    many = choose_thresholds(perfect(30), replicates=200, clusters=np.arange(30) // 2).overall.chosen.intervals
    assert many["recall"].low == pytest.approx(0.025 ** (1 / 15)), "as of the 15 clusters"
    assert many["recall"].warnings == ("there are 15 clusters",)


@pytest.mark.parametrize("clusters", [None, [7] * 12])
def test_one_image_or_cluster_has_no_intervals(clusters: list[int] | None) -> None:
    evaluation = perfect(1) if clusters is None else random_scene(5, images=12)
    choice = choose_thresholds(evaluation, clusters=clusters, replicates=50).overall
    noun = "image" if clusters is None else "cluster"
    for one in (choice.interval, *choice.chosen.intervals.values()):
        assert math.isnan(one.low)
        assert math.isnan(one.standard_error)
        assert one.warnings == (f"there is 1 {noun}",)
    assert choice.held_out.intervals == {}


def test_intervals_leave_out_one_cluster_at_a_time() -> None:
    """Of 40 images in 20 clusters, by the definition of the jackknife and of the limits of a number per image."""
    evaluation, cluster = random_scene(8, images=40, digits=4), np.arange(40) // 2
    choice = choose_thresholds(evaluation, "cost=1:2", clusters=cluster, replicates=2).overall
    data = counted(evaluation.matches)
    kept = [(image, right) for score, image, _, right in data.detections if score >= choice.threshold]
    fp = np.bincount([cluster[image] for image, right in kept if not right], minlength=20)
    tp = np.bincount([cluster[image] for image, right in kept if right], minlength=20)
    objects = np.bincount([cluster[image] for image, _ in data.objects], minlength=20)
    for name, of_each, total, per_image in (
        ("recall", tp, objects, False),
        ("precision", tp, tp + fp, False),
        ("false_positives_per_image", fp, np.full(20, 2), True),
        ("cost_per_image", fp + 2 * (objects - tp), np.full(20, 2), True),
    ):
        top, bottom = of_each[total > 0], total[total > 0]
        one, value, count = choice.chosen.intervals[name], top.sum() / bottom.sum(), len(top)
        left = (top.sum() - top) / (bottom.sum() - bottom)
        squares = (left - left.mean()) ** 2
        assert one.standard_error == pytest.approx(math.sqrt((1 - 1 / count) * squares.sum()))
        df = 2 * squares.sum() ** 2 / ((squares**2).sum() - squares.sum() ** 2 / count)
        half = t_quantile(0.975, min(max(df, 1), count - 1)) * one.standard_error
        for limit in (one.low, one.high):  # from here, the value is one half-width away
            spread = limit / value * (1 if per_image else (1 - limit) / (1 - value))
            assert abs(limit - value) == pytest.approx(half * math.sqrt(spread), rel=1e-4)
        assert one.warnings == (() if count == 20 else (f"what counts is on {count} clusters",))


def test_intervals_on_other_images_hold_how_thresholds_differ() -> None:
    evaluation = random_scene(3, images=40, digits=4)
    for rule, differ in (("recall=0.6", False), ("fppi=0", True)):
        shown = choose_thresholds(evaluation, rule, replicates=2).overall.held_out.intervals
        unsteady = ("the thresholds of halves of the images differ much",) if differ else ()
        assert {one.warnings for one in shown.values()} == {unsteady}, rule


def test_numbers_on_the_images_of_the_choice_are_optimistic() -> None:
    """F1 of 40 scenes: what was chosen on an image set looks better there than on other images."""
    gaps = []
    for seed in range(40):
        choice = quickly(random_scene(seed, images=20, digits=3), "f1", per_class=True, splits=4)
        gaps.append(choice.overall.chosen.f_beta - choice.overall.held_out.f_beta)
    assert np.mean(gaps) > 0.03
    assert np.mean(np.array(gaps) > 0) > 0.95


def test_halves_keep_clusters_whole() -> None:
    groups = image_groups(np.arange(9), None, [0, 0, 0, 1, 1, 2, 3, 4, 4])
    first = halves(groups, 50, seed=1)
    for cluster in range(5):
        mine = first[:, groups.cluster == cluster]
        assert (mine == mine[:, :1]).all()
    chosen = np.array([len(np.unique(groups.cluster[row])) for row in first])
    assert (chosen == 2).all()
    assert 0.2 < first[:, 0].mean() < 0.6
    assert len({row.tobytes() for row in first}) > 5
    part = parts(groups, 3, seed=1)
    assert sorted(np.bincount(np.unique(np.stack([groups.cluster, part]), axis=1)[1]).tolist()) == [1, 2, 2]


def test_what_cannot_be_reached_is_said() -> None:
    """One class has only wrong detections, one is found once below a wrong one, one is perfect."""
    boxes = [[40.0 * k, 0, 20, 20] for k in range(3)]
    gt = GroundTruth.from_arrays(
        image_ids=[1, 1, 2],
        category_ids=[1, 2, 3],
        boxes=boxes,
        images=[1, 2],
        categories={1: "a", 2: "b", 3: "c", 4: "d"},
    )
    dt = Detections.from_arrays(
        image_ids=[1, 1, 1, 2, 2],
        category_ids=[1, 2, 2, 3, 4],
        boxes=np.array([[200, 0, 9, 9], [200, 0, 9, 9], boxes[1], boxes[2], boxes[0]]),
        scores=[0.9, 0.8, 0.7, 0.6, 0.5],
    )
    choice = quickly(evaluate(gt, dt), "precision=0.9", per_class=True)
    assert [one.how for one in choice.classes] == ["not reached", "not reached", "chosen", "no objects"]
    assert [one.name for one in choice.not_reached] == ["a", "b"]
    assert_array_equal([one.threshold for one in choice.classes], [math.nan, math.nan, 0.6, math.nan])
    recall = quickly(evaluate(gt, dt), "recall=0.99", per_class=True)
    assert [one.how for one in recall.classes] == ["not reached", "chosen", "chosen", "no objects"]
    assert_array_equal([one.threshold for one in recall.classes[:3]], [math.nan, 0.7, 0.6])
    shared = quickly(evaluate(gt, dt), "precision=0.9")
    assert (shared.overall.how, [one.how for one in shared.not_reached]) == ("not reached", ["not reached"])


def test_ties_count_as_one() -> None:
    box = [0, 0, 20, 20]
    gt = GroundTruth.from_arrays(image_ids=[1, 2], category_ids=[1, 1], boxes=[box, box])
    dt = Detections.from_arrays(
        image_ids=[1, 2, 2], category_ids=[1, 1, 1], boxes=[box, box, [50, 0, 9, 9]], scores=[0.5, 0.5, 0.5]
    )
    choice = quickly(evaluate(gt, dt), "precision=0.9")
    assert choice.overall.how == "not reached", "the two right ones cannot be kept without the wrong one"
    assert quickly(evaluate(gt, dt), "precision=0.6").overall.threshold == 0.5


@pytest.mark.parametrize("scene", ["no detections", "no objects", "neither", "one image", "no images", "no classes"])
@pytest.mark.parametrize("rule", RULES[:16:3], ids=lambda rule: rule.text)
def test_scenes_with_nothing_in_them(scene: str, rule: Rule) -> None:
    from support.evaluated_scenes import SCENES  # noqa: PLC0415 - reads a large example

    if isinstance(rule, LeastCost):
        rule = LeastCost(rule.false_positive, rule.missed)
    evaluation = SCENES[scene]()
    for per_class in (False, True):
        choice = choose_thresholds(evaluation, rule, per_class=per_class, replicates=3, splits=2)
        json.dumps(choice.to_dict(), allow_nan=False)
        points = choice.operating_points()
        assert len(points) == len(evaluation.matches.categories)
        if scene in ("no detections", "neither", "no images"):
            assert np.isnan(points.thresholds).all()
    assert "ThresholdChoice(" in repr(choice)


def test_operating_points_keep_what_was_counted() -> None:
    evaluation = random_scene(2, images=20, digits=3)
    choice = choose_thresholds(evaluation, "f-beta=0.5", per_class=True, replicates=5, splits=1, seed=9)
    points = choice.operating_points([PlattMap(1, 0)])
    assert isinstance(points, OperatingPoints)
    assert points.rule == "f-beta=0.5"
    assert points.names == evaluation.matches.categories.names
    assert points.chosen_on["images"] == 20
    assert points.chosen_on["seed"] == 9
    assert points.chosen_on["ground_truth"] == evaluation.ground_truth.source  # type: ignore[union-attr]
    dt = evaluation.detections
    assert dt is not None
    kept = evaluate(evaluation.ground_truth, dt[points.apply(dt.scores, dt.category_ids).keep])  # type: ignore[arg-type]
    point = kept.score_curves().overall.at(-math.inf)
    shown = choice.overall.chosen
    assert (point.true_positives, point.false_positives) == (shown.true_positives, shown.false_positives)
    from_table = choose_thresholds(evaluation.matches, "f1", replicates=0)
    assert "ground_truth" not in from_table.settings
    assert from_table.operating_points().maps == ()
    with pytest.raises(ValueError, match="maps must be none, one, or one per class"):
        choice.operating_points([PlattMap(1, 0)] * 2)


def test_a_class_agnostic_protocol_has_one_threshold() -> None:
    scene = random_scene(4, images=8)
    assert scene.ground_truth is not None
    assert scene.detections is not None
    evaluation = evaluate(scene.ground_truth, scene.detections, COCO.replace(class_agnostic=True))
    for per_class in (False, True):
        choice = choose_thresholds(evaluation, "f1", per_class=per_class, replicates=3)
        assert [one.name for one in choice.classes] == ["all categories"]
        points = choice.operating_points()
        assert len(points) == 3
        assert (points.thresholds == (choice.classes if per_class else [choice.overall])[0].threshold).all()


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("f1", FBeta(1)),
        ("F2", FBeta(2)),
        ("f0.5", FBeta(0.5)),
        ("f-beta=3", FBeta(3)),
        ("precision=0.9", PrecisionAtLeast(0.9)),
        ("recall=1", RecallAtLeast(1)),
        ("cost=1:5", LeastCost(1, 5)),
        ("fppi=0.1", FalsePositivesPerImage(0.1)),
    ],
)
def test_rules_have_names(text: str, rule: Rule) -> None:
    assert find_rule(text) == rule
    assert find_rule(rule) is rule
    assert find_rule(rule.text) == rule


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: find_rule("best"), ValueError, r"unknown rule 'best'; expected one of f1, f-beta=2"),
        (lambda: find_rule("precision"), ValueError, "unknown rule 'precision'"),
        (lambda: find_rule("precision=high"), ValueError, "needs a number, got 'high'"),
        (lambda: find_rule("precision=1.2"), ValueError, "precision must be above 0 and at most 1, got 1.2"),
        (lambda: find_rule("precision=nan"), ValueError, "precision must be a number, got nan"),
        (lambda: find_rule("recall=0"), ValueError, "recall must be above 0 and at most 1, got 0.0"),
        (lambda: find_rule("f-beta=-1"), ValueError, "beta must be within"),
        (lambda: find_rule("cost=1"), ValueError, "unknown rule 'cost=1'"),
        (lambda: find_rule("cost=0:0"), ValueError, "must be at least 0, finite, and not both 0"),
        (lambda: find_rule("cost=1:inf"), ValueError, "must be at least 0, finite"),
        (lambda: find_rule("fppi=-1"), ValueError, "must be at least 0 and finite, got -1.0"),
        (lambda: find_rule(cast("Any", 3)), TypeError, "rule must be a rule or its name, got int"),
        (lambda: LeastCost(1, 1, {"a": cast("Any", 3)}), ValueError, "the costs of class 'a' must be a pair"),
        (lambda: quickly(random_scene(1), LeastCost(1, 1, {"cow": (1, 2)})), ValueError, "no category has the name"),
        (lambda: quickly([], "f1"), TypeError, "expected an Evaluation or a MatchTable, got list"),
        (lambda: quickly(random_scene(1), "f1", iou_threshold=0.3), ValueError, "no IoU threshold 0.3"),
        (lambda: quickly(random_scene(1), "f1", area_range="tiny"), ValueError, "no area range 'tiny'"),
        (lambda: quickly(random_scene(1), "f1", splits=-1), ValueError, "splits must be at least 0"),
        (lambda: quickly(random_scene(1), "f1", replicates=1.5), TypeError, "replicates must be a whole number"),
        (lambda: quickly(random_scene(1), "f1", level=1), ValueError, "level must be above 0 and below 1"),
        (lambda: quickly(random_scene(1), "f1", seed=-1), ValueError, "seed must be at least 0"),
        (lambda: quickly(random_scene(1), "f1", clusters=[1]), ValueError, "clusters must have a label for each"),
    ],
)  # fmt: skip
def test_wrong_arguments(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_a_protocol_in_which_objects_choose_is_refused() -> None:
    gt = GroundTruth.from_arrays(
        image_ids=[1],
        category_ids=[1],
        boxes=[[0, 0, 50, 50]],
        categories={1: "Car"},
        attributes={"occluded": np.array([0]), "truncated": np.array([0.0])},
    )
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 50, 50]], scores=[0.9])
    evaluation = evaluate(gt, dt, PROTOCOLS["kitti"])
    assert isinstance(evaluation.matches, MatchTable)
    with pytest.raises(ValueError, match="objects choose among the detections at every score threshold"):
        choose_thresholds(evaluation)
