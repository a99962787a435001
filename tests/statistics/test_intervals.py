"""Intervals of the numbers of an evaluation: each data set written out in full, same bits for threads and batches."""

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
    compare,
    intervals,
    repeat_images,
    resampling,
)
from ioukit.statistics.estimating import interval_of_ratio
from ioukit.statistics.evidence import Estimate
from ioukit.statistics.resampling import ImageGroups, image_groups
from ioukit.statistics.student import t_quantile
from support.evaluated_scenes import made
from support.other_protocols import OTHER, evaluated
from support.two_models import ground_truth, model, pair

OWN = COCO.replace(max_dets=[1, 2, 5], area_ranges={"all": (0, 1e10), "low": (0, 2500)})


def by_hand(evaluation: Evaluation, key: str, category: str | None, weights: np.ndarray[Any, Any]) -> list[float]:
    """A number of every data set, each written out."""
    found = []
    for row in weights:
        one = Evaluation.from_table(repeat_images(evaluation.matches, row))
        found.append(one.summary[key] if category is None else one.per_class[category].summary[key])
    return found


def of_classes(evaluation: Evaluation, measure: Measure, weights: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """(B, K) the number of each class in every data set, each written out."""
    rows = []
    for row in weights:
        one = Evaluation.from_table(repeat_images(evaluation.matches, row))
        rows.append([each.summary[measure.key] for each in one.per_class])
    return np.array(rows)


def images_with(evaluation: Evaluation, category: int, area: str) -> set[int]:
    """The images with objects of a class that count."""
    table = evaluation.matches
    counted = ~table.ignores(area) & (table.evaluated_category(table.objects.category) == category)
    return set(table.objects.image[counted].tolist())


def plain_bias(evaluation: Evaluation, key: str, groups: ImageGroups, seed: int) -> tuple[float, float]:
    """``b`` and its error, in loops over classes and parts."""
    (measure,) = (one for one in evaluation.protocol.measures if one.key == key)
    if measure.quantity != "AP":
        return 0.0, 0.0
    weights, cuts = groups.parts(seed, 1)  # 20 replicates are as many as the parts of one cut, about
    drawn, area = of_classes(evaluation, measure, weights), evaluation.protocol.area_of(measure)
    rises, shapes = [], []
    for category, one in enumerate(evaluation.per_class):
        images, rise, shape = images_with(evaluation, category, area), 0.0, 0.0
        clusters = {int(groups.cluster[image]) for image in images}
        for cut in (2, 4, 8):
            if len(clusters) < max(4, cut):
                continue
            parts, curve = [], []
            for row, value in zip(weights[cuts == cut], drawn[cuts == cut, category].tolist(), strict=True):
                if not math.isnan(value):
                    parts.append(value)
                    inside = {int(groups.cluster[image]) for image in images if row[image]}
                    curve.append((len(inside) + 1) ** -0.7)
            if parts:
                rise += sum(parts) / len(parts) - one.summary[key]
                shape += sum(curve) / len(curve) - (len(clusters) + 1) ** -0.7
        rises.append(rise)
        shapes.append(shape)
    total = sum(shapes)
    if not total:
        return 0.0, 0.0
    factor = sum(rises) / total
    error = math.sqrt(sum((rise - factor * shape) ** 2 for rise, shape in zip(rises, shapes, strict=True))) / total
    if sum(shape > 0 for shape in shapes) < 3:
        factor = max(factor, 0)
        error = max(error, factor / 2)
    return factor, math.hypot(error, factor / 4)


@settings(deadline=None, max_examples=12)
@given(st.integers(0, 10**6), st.sampled_from([COCO, OWN]), st.sampled_from(["plain", "clusters", "strata"]))
def test_an_interval_is_that_of_data_sets_written_out(seed: int, protocol: Any, kind: str) -> None:
    """The bias from parts, the variance of the bootstrap, and degrees of freedom from the jackknife, in plain loops."""
    evaluation, _ = pair(seed, protocol, images=20)
    ids = evaluation.matches.image_ids
    options: dict[str, Any] = {} if kind == "plain" else {kind: (np.arange(20) // 4).tolist()}
    found = evaluation.intervals(
        ["AP", "AR2" if protocol is OWN else "AR1"], replicates=20, seed=seed, level=0.8, **options
    )
    groups = image_groups(ids, options.get("strata"), options.get("clusters"))
    drawn, left = bootstrap_weights(ids, 20, seed=seed, **options), groups.left_out(seed, 20)
    most = groups.num_clusters - len(groups.strata)
    for key, one in found.items():
        value = evaluation.summary[key]
        bootstrap = np.nanvar(by_hand(evaluation, key, None, drawn), ddof=1) * groups.num_clusters / most
        without = np.array(by_hand(evaluation, key, None, left.weights(0, len(left.stratum))))
        jackknife = doubt = squares = cubes = 0.0
        for stratum in set(left.stratum.tolist()):
            part = without[left.stratum == stratum]
            apart = np.nan_to_num(part - np.nanmean(part)) ** 2
            squares += apart.sum()
            cubes += (np.nan_to_num(np.nanmean(part) - part) ** 3).sum()
            share = (len(part) - 1) / len(part)
            jackknife += share * apart.sum()
            doubt += share**2 * ((apart**2).sum() - apart.sum() ** 2 / len(part))
        error = math.sqrt(1.2 * bootstrap)
        assert one.standard_error == pytest.approx(error)
        carriers = {int(groups.cluster[i]) for at in range(3) for i in images_with(evaluation, at, "all")}
        df = min(max(2 * jackknife**2 / doubt, 1.0) if doubt > 0 else most, most, len(carriers) - 1)
        factor, uncertain = plain_bias(evaluation, key, groups, seed)
        counts = [len({groups.cluster[i] for i in images_with(evaluation, at, "all")}) for at in range(3)]
        shape = np.mean([(count + 1) ** -0.7 for count in counts if count])
        once, twice, absent = counts.count(1), counts.count(2), counts.count(0)
        unseen = min(absent, once * (once - 1) / (2 * (twice + 1)))
        defined = [each.summary[key] for each in evaluation.per_class if not math.isnan(each.summary[key])]
        gone = 0.0
        if unseen and len(defined) > 1:
            share = unseen / (unseen + len(defined))
            gone = share**2 * np.var(defined, ddof=1) * (1 / unseen + 1 / len(defined))
        bias = min(factor * shape, value)
        whole = math.sqrt(error**2 + (uncertain * shape) ** 2 + gone)
        assert one.bias == pytest.approx(bias, abs=1e-12)
        low, high = limits_of_share(value - bias, t_quantile(0.9, df) * whole, value)
        if cubes < 0 < whole:
            low += cubes / squares**1.5 * error**3 / whole**2 * (1 + 2 * t_quantile(0.9, df) ** 2) / 6
        assert (one.low, one.high) == pytest.approx((max(low, 0), high))
        assert one.low <= one.estimate <= one.high
        again = math.sqrt(2) * t_quantile(0.9, df) * error
        assert one.another_set == pytest.approx(limits_of_share(value, again, value))


def limits_of_share(centre: float, half: float, value: float) -> tuple[float, float]:
    """The true numbers from which ``centre`` is one half-width away, where half-widths go by ``x (1 - x)``."""

    def outside(x: float) -> bool:
        return abs(centre - x) > half * math.sqrt(x * (1 - x) / (value * (1 - value)))

    def edge(inner: float, outer: float) -> float:
        for _ in range(60):
            middle = (inner + outer) / 2
            inner, outer = (inner, middle) if outside(middle) else (middle, outer)
        return inner

    return edge(centre, 0.0), edge(centre, 1.0)


@settings(max_examples=300)
@given(*[st.floats(1e-3, 0.999)] * 2, st.floats(1e-4, 0.5))
def test_limits_of_a_number_are_wider_towards_the_middle(value: float, share: float, error: float) -> None:
    centre = value * share
    low, high = Estimate(value, value - centre, error, 0.0, 20.0, ()).limits(0.95)
    half = t_quantile(0.975, 20.0) * error
    assert (low, high) == pytest.approx(limits_of_share(centre, half, value), abs=1e-9)
    assert 0 <= low <= centre <= high <= 1
    if centre < 0.5 - 1e-6:
        assert high - centre > centre - low


@pytest.mark.parametrize(("clusters", "share", "rate"), [(20, 0.8, 1.0), (20, 0.97, 0.05), (40, 0.5, 0.3)])
def test_intervals_of_ratios_hold_as_often_as_they_say(clusters: int, share: float, rate: float) -> None:
    """Of clusters with different numbers of objects, shares that are found, and rates of false positives."""
    rng, groups, held = np.random.default_rng(3), image_groups(np.arange(clusters), None, None), []
    for _ in range(400):
        objects = rng.poisson(3, clusters).astype(float)
        found = rng.binomial(objects.astype(int), rng.beta(8 * share, 8 * (1 - share), clusters)).astype(float)
        wrong = rng.poisson(rate * rng.gamma(2, 1 / 2, clusters)).astype(float)
        one = interval_of_ratio("recall", found, objects, groups, 0.95)
        other = interval_of_ratio("fp", wrong, np.ones(clusters), groups, 0.95, unit=1.0)
        assert one.low < one.high
        assert other.low < other.high
        held.append((one.low <= share <= one.high, other.low <= rate <= other.high))
    assert (np.mean(held, axis=0) > 0.92).all()
    assert (np.mean(held, axis=0) <= 0.995).all()


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_limits_of_a_number_at_an_end_are_cut_there(value: float) -> None:
    """There, the value tells no variance."""
    low, high = Estimate(value, 0.0, 0.25, 0.0, 1e9, ()).limits(0.95)
    half = 1.959963984540054 * 0.25
    assert (low, high) == pytest.approx((max(0.0, value - half), min(1.0, value + half)))


def test_a_number_of_a_class_has_the_bias_of_its_images() -> None:
    evaluation = made(("cat", "dog", "owl"), images=30, seed=5)
    found = evaluation.intervals(["AP", "AP/cat", "AP/dog", "AP/owl"], replicates=40)
    factors = [
        found[f"AP/{name}"].bias * (len(images_with(evaluation, at, "all")) + 1) ** 0.7
        for at, name in enumerate(("cat", "dog", "owl"))
    ]
    assert factors == pytest.approx([factors[0]] * 3)
    assert found["AP"].bias == pytest.approx(np.mean([found[f"AP/{name}"].bias for name in ("cat", "dog", "owl")]))


@pytest.mark.parametrize("images", [16, 40])
def test_the_strip_that_crowdhuman_leaves_out_is_its_bias(images: int) -> None:
    """All objects are found, one of each class per image: AP is 1 - 1 / objects, and 1 on endlessly many images."""
    image, kind = np.repeat(np.arange(images), 4), np.tile(np.arange(4), images)
    rows: dict[str, Any] = {"image_ids": image, "category_ids": kind, "boxes": [[5.0, 5.0, 20.0, 30.0]] * len(image)}
    truth = GroundTruth.from_arrays(**rows, images=list(range(images)), sizes=[[90, 90]] * images)
    scores = np.random.default_rng(images).random(len(image))
    evaluation = evaluate(truth, Detections.from_arrays(**rows, scores=scores), "crowdhuman")
    found = evaluation.intervals("AP", replicates=200)["AP"]  # with more of them, the bias is the same
    assert found.value == pytest.approx(1 - 1 / images)
    assert found.value - found.bias == pytest.approx(1, abs=0.002)


def test_threads_and_batches_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluation = made(images=20, seed=4)
    options: dict[str, Any] = {"keys": ["AP", "APs", "AP/cat"], "replicates": 25}
    plain = repr({key: one.to_dict() for key, one in evaluation.intervals(**options).items()})
    for threads, size in [(1, 1), (2, 1 << 26), (3, 300), (2, 3000)]:
        monkeypatch.setattr(resampling, "_BYTES", size)
        found = evaluation.intervals(**options, threads=threads)
        assert repr({key: one.to_dict() for key, one in found.items()}) == plain


def test_an_interval_does_not_depend_on_what_else_is_asked() -> None:
    """To the last bit: the page of a report and a single call show the same."""
    evaluation = made(("cat", "dog", "owl"), images=30, seed=5)
    together = evaluation.intervals(replicates=40)
    for key, one in together.items():
        assert repr(evaluation.intervals(key, replicates=40)[key].to_dict()) == repr(one.to_dict())


def test_every_number_of_a_protocol_has_an_interval() -> None:
    for evaluation in [made(images=8, seed=2), *map(evaluated, OTHER)]:
        found = evaluation.intervals(replicates=8)
        protocol = evaluation.protocol
        assert list(found) == [measure.key for measure in protocol.measures if protocol.defines(measure)]
        for key, one in found.items():
            assert one.value == pytest.approx(evaluation.summary[key], nan_ok=True)
            assert one.key == key
            assert one.replicates == 8
            assert math.isnan(one.low) or one.low <= one.high
            assert one.half_width == pytest.approx((one.high - one.low) / 2, nan_ok=True)


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
    number = evaluation.interval("AP", replicates=500)
    expected = 0.9**10
    assert list(number.vanished) == ["owl"]
    assert abs(number.vanished["owl"] - expected) < 5 * math.sqrt(expected * (1 - expected) / 500)
    assert number.undefined == 0
    of_owl = evaluation.interval("AP/owl", replicates=500)
    assert of_owl.undefined == number.vanished["owl"]
    assert of_owl.vanished == {}
    assert of_owl.warnings == (
        "the class is on 1 image",
        "the bias is estimated from only 1 class",
        "the number is close to 1",
    )
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
    assert repr(number["APf"]).startswith("Interval(APf=1.0000, 95 % from 1.0000 to 1.0000; doubtful: ")


def test_a_bias_that_no_class_tells_is_said() -> None:
    """Of classes on three images each, parts tell nothing: AP keeps its bias, and the interval says so."""
    evaluation = made(("cat", "dog", "owl"), images=30, seed=5)
    few = Evaluation.from_table(repeat_images(evaluation.matches, np.arange(30) < 3))
    found = few.intervals(["AP", "AR100"], replicates=20)
    assert found["AP"].bias == 0
    assert "the bias is unknown, as every class is on few images" in found["AP"].warnings
    assert not any("bias" in warning for warning in found["AR100"].warnings)


def test_classes_on_few_images_are_counted_in_a_warning() -> None:
    """AP of such a class has a bias that the others do not tell."""
    evaluation = made([f"class {number}" for number in range(60)], images=60, seed=1)
    truth = evaluation.ground_truth
    assert truth is not None
    pairs = np.unique(np.column_stack([truth.category_ids, truth.image_ids])[~truth.crowd], axis=0)
    on = np.unique(pairs[:, 0], return_counts=True)[1]
    found = evaluation.intervals(["AP", "AR100", "AP/class 3"], replicates=20)
    said = f"{np.mean(on < 4):.0%} of classes are on 1 to 3 images".replace("%", " %")
    assert 0.25 < np.mean(on < 4) < 1
    assert said in found["AP"].warnings
    assert not any("of classes" in text for key in ("AR100", "AP/class 3") for text in found[key].warnings)
    few = made(images=60).interval("AP", replicates=20)
    assert not any("of classes" in text for text in few.warnings)


@pytest.mark.parametrize(("hits", "end"), [(3, "0"), (20, None), (38, "1")])
def test_a_number_close_to_an_end_is_told(hits: int, end: str | None) -> None:
    boxes = np.tile([0.0, 0, 100, 100], (40, 1))
    truth = GroundTruth.from_arrays(image_ids=np.arange(40), category_ids=np.ones(40), boxes=boxes)
    found = Detections.from_arrays(
        image_ids=np.arange(hits), category_ids=np.ones(hits), boxes=boxes[:hits], scores=np.linspace(1, 0.5, hits)
    )
    warnings = evaluate(truth, found).interval("AP", replicates=20).warnings
    assert [text for text in warnings if "close to" in text] == (
        [] if end is None else [f"the number is close to {end}"]
    )


@pytest.mark.parametrize(("herd", "said"), [(4, None), (5, "one image has 11 % of the objects that count")])
def test_an_image_with_many_of_the_objects_is_told(herd: int, said: str | None) -> None:
    """Of 44 or 45 objects on 41 images, one has 4 or 5."""
    image = [0] * herd + list(range(1, 41))
    truth = GroundTruth.from_arrays(
        image_ids=image, category_ids=np.arange(len(image)) % 2, boxes=np.tile([0.0, 0, 50, 50], (len(image), 1))
    )
    found = Detections.from_arrays(
        image_ids=image,
        category_ids=np.arange(len(image)) % 2,
        boxes=truth.boxes,
        scores=np.linspace(1, 0.5, len(image)),
    )
    evaluation = evaluate(truth, found[::2])
    for one in (evaluation.interval("AP", replicates=20), compare(evaluation, evaluate(truth, found), keys="AP")["AP"]):
        assert [text for text in one.warnings if "has" in text and "objects" in text] == ([said] if said else [])
    scene = np.maximum(np.arange(41) // 2, 3)  # eight images in the first scene, two in the others
    assert len(np.unique(scene)) < 20
    texts = evaluation.interval("AP", replicates=20, clusters=scene).warnings
    assert not any("one cluster has" in text for text in texts)  # said already: there are few clusters
    per_image = np.r_[np.zeros(7), np.arange(1, 35)]
    texts = evaluation.interval("AP", replicates=20, clusters=per_image).warnings
    assert any(text.startswith("one cluster has") for text in texts)


def test_a_number_that_no_image_changes_says_that_its_error_is_unknown() -> None:
    truth = ground_truth(3)
    found = model(truth, 3)
    nothing = evaluate(truth, found[:0]).interval("AP", replicates=20)
    assert (nothing.low, nothing.high) == (0, 0)
    assert "no image changes the number, so its error is unknown" in nothing.warnings
    perfect = Detections.from_arrays(
        image_ids=truth.image_ids, category_ids=truth.category_ids, boxes=truth.boxes, scores=np.ones(len(truth))
    )
    one = compare(evaluate(truth, perfect), evaluate(truth, found[:0]), keys="AP", replicates=20, permutations=20)["AP"]
    assert one.difference == -1
    assert "no image changes the number, so its error is unknown" in one.warnings
    same = compare(evaluate(truth, found), evaluate(truth, found), keys="AP", replicates=20, permutations=20)["AP"]
    assert not any("no image" in warning for warning in same.warnings)
    assert not any("no image" in warning for warning in evaluate(truth, found).interval("AP", replicates=20).warnings)


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
