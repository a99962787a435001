"""The answers of the viewer are those of plain loops and of the library's own functions."""

from __future__ import annotations

import dataclasses
import functools
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - the profile
from ioukit import Detections, GroundTruth, evaluate
from ioukit.comparison import changes
from ioukit.evaluation import ERROR_KINDS, Evaluation, Outcome, error_kinds
from ioukit.viewer.answers.answering import answer
from ioukit.viewer.answers.collection import Collection, best_score
from ioukit.viewer.answers.conditions import Tagged
from ioukit.viewer.answers.filters import CHANGES, OUTCOMES, SORT_KEYS, Filter, Range
from ioukit.viewer.answers.selecting import select
from ioukit.viewer.answers.values import Value
from support import region_cases
from viewer.plain_answers import plain_answer
from viewer.shown_collections import COLLECTIONS, collection, tagged

if TYPE_CHECKING:
    from collections.abc import Sequence

Items = list[tuple[str, str]]

NUMBERS = st.sampled_from(["0", "0.1", "0.3", "0.5", "0.75", "0.9", "1"])


def ranges(numbers: st.SearchStrategy[str] = NUMBERS) -> st.SearchStrategy[str]:
    ends = st.lists(numbers, min_size=2, max_size=2).map(lambda both: sorted(both, key=float))
    return st.one_of(
        ends.map("..".join),
        numbers.map(lambda low: f"{low}.."),
        numbers.map(lambda high: f"..{high}"),
    )


@functools.cache  # to make it takes longer than to draw from it
def items(shown: Collection) -> st.SearchStrategy[Items]:
    """Filters of a collection, as keys and values."""
    sizes = ranges(st.sampled_from(["5", "32", "64.5", "96", "130"]))
    texts: dict[str, st.SearchStrategy[str]] = {
        "outcome": st.sampled_from(OUTCOMES),
        "error": st.sampled_from(ERROR_KINDS),
        "score": ranges(),
        "iou": ranges(),
        "size": sizes,
        "text": st.sampled_from(["0/", "bild", "Ä", "x", "..", "nowhere", "1"]),
        "at_score": NUMBERS,
        "at_iou": st.sampled_from([f"{one:.15g}" for one in shown.protocol.iou_thresholds]),
        "sort": st.sampled_from([*SORT_KEYS, *(f"column.{name}" for name in shown.values)]),
        "order": st.sampled_from(["asc", "desc"]),
        "tag": st.sampled_from(["odd", "a, b", "nobody", "unknown"]),
        "noted": st.sampled_from(["yes", "no"]),
    }
    if shown.class_keys:
        texts["class"] = st.sampled_from([*shown.class_keys, *(name for name in shown.categories.names if name)])
        texts["true"] = texts["predicted"] = st.sampled_from([*shown.class_keys, "background"])
    if shown.protocol.size_ranges:
        texts["area"] = st.sampled_from([label for label, *_ in shown.protocol.size_ranges])
    if shown.flags:
        texts["flag"] = st.sampled_from(shown.flags)
    if shown.issues is not None:
        texts["issue"] = st.sampled_from(shown.issues.kinds)
    if shown.models:
        texts["model"] = st.sampled_from([model.name for model in shown.models])
    if len(shown.models) > 1:
        texts["change"] = st.sampled_from(CHANGES)
    for name, value in shown.values.items():
        numbers = ranges(st.sampled_from(["-1", "0", "2", "5", "200"]))
        texts[f"column.{name}"] = numbers if value.texts is None else st.sampled_from([*value.texts, ""])
    single = ("at_score", "at_iou", "sort", "order", "noted", "model")
    one = st.sampled_from(sorted(texts)).flatmap(lambda key: st.tuples(st.just(key), texts[key]))
    return st.lists(one, max_size=5).map(
        lambda pairs: [
            pair for at, pair in enumerate(pairs) if pair[0] not in single or pair[0] not in dict(pairs[:at])
        ]
    )


def check(shown: Collection, wanted: Items, notes: Tagged) -> None:
    """Compare an answer with the plain one."""
    found = answer(shown, Filter.parse(wanted), notes)
    plain = plain_answer(shown, wanted, notes)
    assert found.order.tolist() == plain.order()
    chosen = plain.chosen()
    assert found.marks.tolist() == [sum(mark["image"] == at for mark in chosen) for at in plain.order()]
    for at, counts in enumerate(found.counts):
        assert counts.to_json() == plain.counts(at)
    for key, facet in found.facets.items():
        if facet is None or key in ("tag", "noted") or key.startswith("column."):
            continue
        listed = dict(enumerate(facet)) if key == "class" else facet
        some = list(listed)[:10] + list(listed)[-3:]
        assert {value: listed[value] for value in some} == {value: plain.facet(key, value) for value in some}, key
    check_facets_of_images(shown, found.facets, plain, notes)
    for key, histogram in found.histograms.items():
        assert histogram.counts.tolist() == plain.histogram(key, histogram.edges.tolist()), key
    selection = select(shown, Filter.parse(wanted), notes)
    for side, flags in (("object", selection.objects), ("detection", selection.detections)):
        assert np.flatnonzero(flags).tolist() == [mark["row"] for mark in chosen if mark["side"] == side]
    assert np.flatnonzero(selection.images).tolist() == sorted(plain.order())


def check_facets_of_images(shown: Collection, facets: Any, plain: Any, notes: Tagged) -> None:
    of_tag, of_noted = plain.images_without("tag"), plain.images_without("noted")
    assert facets["tag"] == {tag: len(set(of_tag) & set(rows.tolist())) for tag, rows in notes.tags.items()}
    yes = len(set(of_noted) & set(notes.noted.tolist()))
    assert facets["noted"] == {"yes": yes, "no": len(of_noted) - yes}
    for name, value in shown.values.items():
        if value.texts is None:
            continue
        key = f"column.{name}"
        if value.of == "image":
            rows = plain.images_without(key)
        else:
            rows = [mark["row"] for mark in plain.chosen(key) if mark["side"] == "object"]
        assert facets[key] == {
            text: sum(value.values[row] == at for row in rows) for at, text in enumerate(value.texts)
        }


@pytest.mark.parametrize("name", COLLECTIONS)
@given(data=st.data())
def test_answers_are_those_of_plain_loops(name: str, data: st.DataObject) -> None:
    shown = collection(name)
    check(shown, data.draw(items(shown)), tagged(shown))


@pytest.mark.parametrize("name", COLLECTIONS)
def test_the_answer_without_a_filter(name: str) -> None:
    shown = collection(name)
    for wanted in ([], [("at_score", "-1")], [("at_score", "2")]):
        check(shown, list(wanted), tagged(shown))


@pytest.mark.parametrize("kind", region_cases.KINDS)
def test_every_kind_of_region(kind: str) -> None:
    evaluation = region_cases.evaluated(kind)
    assert evaluation.ground_truth is not None
    shown = Collection.of(evaluation.ground_truth, {"a": evaluation, "b": region_cases.evaluated(kind)})
    for wanted in ([], [("outcome", "fp"), ("size", "10..")], [("change", "both")], [("error", "localisation")]):
        check(shown, list(wanted), Tagged())
    check(Collection.of(evaluation.ground_truth, {}, iou_type=kind, protocol=evaluation.protocol), [], Tagged())


@pytest.mark.parametrize("name", [name for name in COLLECTIONS if name not in ("no models", "no images")])
@pytest.mark.parametrize("score", [None, -1.0, 0.35])
def test_numbers_are_those_of_the_library(name: str, score: float | None) -> None:
    """With each model's own threshold, or with one for all."""
    shown = collection(name)
    for iou in dict.fromkeys([shown.protocol.main_iou, *shown.protocol.iou_thresholds[:9:4]]):
        wanted: Items = [("at_iou", f"{iou:.15g}")] + ([] if score is None else [("at_score", f"{score}")])
        found = answer(shown, Filter.parse(wanted))
        for model, counts, at_score in zip(shown.models, found.counts, found.at_scores, strict=True):
            evaluation = model.evaluation
            images = evaluation.per_image(iou_threshold=iou, score_threshold=at_score)
            sums = [images.true_positives.sum(), images.false_positives.sum(), images.false_negatives.sum()]
            assert [counts.tp, counts.fp, counts.fn] == sums
            became = evaluation.outcomes(iou_threshold=iou, score_threshold=at_score)
            ignored = (became.detections == Outcome.IGNORED).sum() + (became.objects == Outcome.IGNORED).sum()
            assert counts.ignored == ignored
            point = evaluation.score_curves(iou_threshold=iou).overall.at(at_score)
            np.testing.assert_equal(
                [counts.precision, counts.recall, counts.f1], [point.precision, point.recall, point.f1]
            )
            assert found.facets["outcome"]["detected"] == found.facets["outcome"]["tp"]
        if score == -1.0:
            first = shown.models[0].evaluation.error_kinds(iou_threshold=iou, background_threshold=min(0.1, iou))
            assert found.facets["error"] == dict(first.counts)
        if len(shown.models) > 1:
            check_changes(shown, found, iou, score)


def check_changes(shown: Collection, found: Any, iou: float, score: float | None) -> None:
    """The transitions are those of `ioukit compare`."""
    given = found.at_scores[:2] if score is None else score
    a, b = (model.evaluation for model in shown.models[:2])
    counts = changes(a, b, iou_threshold=iou, score_threshold=given).counts
    if score is None and iou == shown.protocol.main_iou and all(len(model.table) for model in shown.models):
        assert counts == changes(a, b).counts
    assert found.facets["change"] == {
        "won": counts["found"] + counts["right_class_now"],
        "lost": counts["lost"] + counts["other_class_now"],
        "both": counts["still_found"] + counts["better_placed"] + counts["worse_placed"],
        "neither": counts["still_missed"],
    }


@pytest.mark.parametrize("name", ["two models, hard names", "small caps", "lvis"])
def test_cells_are_those_of_the_confusion_matrix(name: str) -> None:
    shown = collection(name)
    evaluation, table = shown.models[0].evaluation, shown.models[0].table
    matrix = evaluation.confusion(iou_threshold=0.5, score_threshold=0.3)
    keys = [*shown.class_keys, "background"]
    checked = 0
    for true, predicted in zip(*np.nonzero(matrix.counts), strict=True):
        wanted = [("at_score", "0.3"), ("true", keys[true]), ("predicted", keys[predicted])]
        selection = select(shown, Filter.parse(wanted))
        entries = matrix.cell(int(true), int(predicted))
        assert selection.objects.sum() == (matrix.object[entries] >= 0).sum()
        # Detections beyond the protocol's cap are in the matrix, but they are no marks.
        detections = matrix.detection[entries][matrix.detection[entries] >= 0]
        within = table.is_within_cap()[detections]
        np.testing.assert_array_equal(np.flatnonzero(selection.detections), np.sort(detections[within]))
        if within.all():
            images = np.unique(matrix.image[entries])
            np.testing.assert_array_equal(np.flatnonzero(selection.images), images)
        checked += 1
    assert checked > 5


@given(st.data())
def test_errors_are_those_of_the_detections_with_such_scores(data: st.DataObject) -> None:
    without = ("no models", "kitti")  # what is left out of KITTI's detections changes what the others are
    shown = collection(data.draw(st.sampled_from([name for name in COLLECTIONS if name not in without])))
    model = data.draw(st.sampled_from(shown.models))
    given_scores = model.table.detections.score.tolist()
    score = data.draw(st.sampled_from([-1.0, 0.25, 2.0, *given_scores]))
    iou = data.draw(st.sampled_from(shown.protocol.iou_thresholds))
    truth, found = model.evaluation.ground_truth, model.evaluation.detections
    assert truth is not None
    assert found is not None
    near = evaluate(truth, found[found.scores >= score], shown.protocol).near_matches(min(0.1, iou))
    expected = error_kinds(near, iou_threshold=iou, background_threshold=min(0.1, iou))
    chosen = Filter(model=model.name, at_score=score, at_iou=iou)
    assert answer(shown, chosen).facets["error"] == expected.counts
    missed = select(shown, dataclasses.replace(chosen, error=("missed",)))
    np.testing.assert_array_equal(missed.objects, expected.missed)
    assert not missed.detections.any()


@given(st.data())
def test_the_first_score_threshold_is_the_one_of_the_report(data: st.DataObject) -> None:
    shown = collection(data.draw(st.sampled_from([name for name in COLLECTIONS if name != "no models"])))
    evaluation = data.draw(st.sampled_from([model.evaluation for model in shown.models]))
    images = evaluation.matches.image_ids.tolist()
    if images and evaluation.protocol.objects_choose is None:
        chosen = data.draw(st.lists(st.sampled_from(images), min_size=1, unique=True))
        assert evaluation.ground_truth is not None
        assert evaluation.detections is not None
        evaluation = evaluate(evaluation.ground_truth, evaluation.detections, evaluation.protocol, images=chosen)
    best = evaluation.score_curves().overall.best.score
    scores = evaluation.matches.detections.score
    assert best_score(evaluation.matches) == (min(scores, default=0.0) if np.isnan(best) else best)


def test_the_first_score_threshold_of_many_detections() -> None:
    """So many that only a part of them is sorted."""
    rng = np.random.default_rng(0)
    count = 30_000
    image = np.arange(300).repeat(100)
    truth = GroundTruth.from_arrays(image_ids=np.arange(300), category_ids=np.ones(300), boxes=[[0, 0, 9, 9]] * 300)
    for right in (0.002, 0.3):
        boxes = np.where(rng.random((count, 1)) < right, [[0, 0, 9, 9]], [[50, 0, 9, 9]])
        found = Detections.from_arrays(
            image_ids=image,
            category_ids=np.ones(count),
            boxes=boxes,
            scores=np.round(rng.random(count) + 0.3 * (boxes[:, 0] == 0), 3),
        )
        evaluation = evaluate(truth, found)
        assert best_score(evaluation.matches) == evaluation.score_curves().overall.best.score


@given(st.data())
def test_a_filter_comes_back_from_an_address(data: st.DataObject) -> None:
    shown = collection(data.draw(st.sampled_from(sorted(COLLECTIONS))))
    chosen = Filter.parse(data.draw(items(shown)))
    assert Filter.parse(chosen.items()) == chosen
    again = Filter.parse(parse_qsl(urlencode(chosen.items()), keep_blank_values=True))
    assert again == chosen
    assert hash(again) == hash(chosen)
    assert again.items() == chosen.items()


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_numbers_of_a_filter_come_back_to_the_last_bit(score: float, low: float, high: float) -> None:
    ends = Range(*sorted([low, high]))
    assume(ends.low < np.inf and ends.high > -np.inf)
    chosen = Filter(at_score=score, score=(ends,), size=(Range(score, score),))
    assert Filter.parse(chosen.items()) == chosen


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ([("colour", "red")], "no filter is called 'colour'; there are class, outcome"),
        ([("outcome", "wrong")], "outcome must be detected, tp, fp, fn or ignored, got 'wrong'"),
        ([("error", "typo")], "error must be classification, localisation"),
        ([("change", "x")], "change must be won, lost, both or neither, got 'x'"),
        ([("score", "high")], r"score must be a range such as 0.5..0.9, 0.5.. or ..0.9, got 'high'"),
        ([("score", "nan..1")], "score must be a range such as"),
        ([("iou", "0.9..0.5")], "iou must be a range from a lower to a higher number, got '0.9..0.5'"),
        ([("at_score", "inf")], "at_score must be a number, got 'inf'"),
        ([("at_score", "1"), ("at_score", "2")], "at_score must have one value, got '2', too"),
        ([("sort", "size")], "sort must be errors, fp"),
        ([("order", "up")], "order must be asc or desc"),
        ([("noted", "maybe")], "noted must be yes or no"),
        ([("models", "a")], "models must be two names with a comma between them"),
        ([("class", "persom")], "no class is called 'persom'; there are 'person'"),
        ([("true", "background"), ("predicted", "cat")], "no class is called 'cat'"),
        ([("area", "huge")], "there is no area range 'huge'; there are 'all', 'small', 'medium', 'large'"),
        ([("flag", "hidden")], "there is no flag 'hidden'; there are 'crowd', 'blurred'"),
        ([("issue", "odd")], "there is no issue 'odd'; there are 'overlooked'"),
        ([("model", "x")], "no model is called 'x'; there are 'a, b'"),
        ([("models", "x,y"), ("change", "won")], "no model is called 'x'"),
        ([("at_iou", "0.42")], "0.42"),
        ([("column.fog", "1")], "no column is called 'fog'; there are 'width'"),
        ([("column.width", "wide")], "column.width must be a range"),
        ([("column.camera", "right")], "there is no value of camera 'right'; there are '1..2', 'left'"),
        ([("sort", "column.fog")], "no column is called 'fog'"),
    ],
)
def test_what_is_unknown_is_named_with_what_is_known(wanted: Sequence[tuple[str, str]], words: str) -> None:
    with pytest.raises(ValueError, match=words.replace("..", r"\.\.")):
        answer(collection("two models, hard names"), Filter.parse(wanted))


def test_area_ranges_of_heights_are_no_areas() -> None:
    with pytest.raises(ValueError, match="there is no area range 'easy'; there are none"):
        answer(collection("kitti"), Filter.parse([("area", "easy")]))
    assert answer(collection("kitti"), Filter()).facets["area"] == {}


def test_changes_need_two_models() -> None:
    with pytest.raises(ValueError, match="change needs two models"):
        answer(collection("1,203 classes"), Filter.parse([("change", "won")]))


def test_models_of_changes_can_have_commas_in_their_names() -> None:
    shown = collection("three models, few classes")
    names = [model.name for model in shown.models]
    assert names[0] == "a, b"
    there = Filter(models=(names[0], names[2]), change=("won",))
    back = Filter(models=(names[2], names[0]), change=("lost",))
    assert Filter.parse(there.items()) == there
    first, second = answer(shown, there), answer(shown, back)
    assert first.facets["change"]["won"] == second.facets["change"]["lost"]
    a, _, c = (model.evaluation for model in shown.models)
    counts = changes(a, c, score_threshold=(first.at_scores[0], first.at_scores[2])).counts
    assert first.facets["change"]["won"] == counts["found"] + counts["right_class_now"]


def test_what_does_not_belong_together_is_refused() -> None:
    shown = collection("three models, few classes")
    named = {model.name: model.evaluation for model in shown.models}
    with pytest.raises(ValueError, match="at most 3 models can be shown, got 4"):
        Collection.of(shown.ground_truth, {**named, "d": shown.models[0].evaluation})
    other = collection("small caps")
    with pytest.raises(ValueError, match="the model 'a, b' was evaluated on other data: expected"):
        Collection.of(other.ground_truth, named)
    table = Evaluation.from_table(shown.models[0].table)
    with pytest.raises(ValueError, match="the evaluation of 'x' holds a match table alone"):
        Collection.of(shown.ground_truth, {"x": table})


def test_columns_of_images_and_objects_of_one_name_stay_apart() -> None:
    truth = collection("small caps").ground_truth
    sunny = Value.of_texts("weather", "image", ["sun"] * len(truth.images))
    shown = Collection.of(truth, {}, columns=[sunny, Value.of_numbers("width", "image", np.arange(len(truth.images)))])
    assert (shown.values["weather"].of, shown.values["weather (images)"].of) == ("object", "image")
    assert shown.values["width"].ends() == (0, len(truth.images) - 1)
    check(shown, [("column.weather (images)", "sun"), ("column.weather", "fog")], Tagged())


def test_tags_that_change_are_seen() -> None:
    shown = collection("two models, hard names")
    chosen = Filter.parse([("tag", "new")])
    assert answer(shown, chosen).to_json()["total"] == 0
    assert sorted(answer(shown, chosen, Tagged({"new": np.array([3, 4])})).order.tolist()) == [3, 4]
    assert answer(shown, Filter(), Tagged({"new": np.array([3, 4])})).facets["tag"] == {"new": 2}
    assert answer(shown, Filter(), Tagged({"new": np.array([3])})).facets["tag"] == {"new": 1}


@pytest.mark.parametrize("name", COLLECTIONS)
def test_json_has_no_nan(name: str) -> None:
    shown = collection(name)
    for chosen in (Filter(), Filter(classes=shown.class_keys[:1]), Filter(text=("nowhere",))):
        found = answer(shown, chosen)
        read = json.loads(json.dumps(found.to_json(), allow_nan=False))
        assert (read["total"], read["order"]) == (len(found.order), found.order.tolist())
