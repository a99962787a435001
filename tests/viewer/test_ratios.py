"""Counts of filters that decide some of them, that separate objects and detections, and that two threads ask for."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, evaluate
from ioukit.viewer.answers import answering
from ioukit.viewer.answers.answering import Counts, answer
from ioukit.viewer.answers.collection import Collection
from ioukit.viewer.answers.filters import Filter
from ioukit.viewer.answers.selecting import Selection
from ioukit.viewer.answers.values import Value
from viewer.shown_collections import collection

Items = list[tuple[str, str]]


@pytest.mark.parametrize(
    ("wanted", "nothing"),
    [
        ([("score", "0.4..")], {"recall", "f1"}),
        ([("change", "won")], {"precision", "recall", "f1"}),
        ([("flag", "crowd")], {"precision", "f1"}),
        ([("predicted", "id:1")], {"recall", "f1"}),
        ([("true", "id:1")], {"precision", "f1"}),
        ([("class", "id:1")], set()),
    ],
)
def test_orders_and_counts_leave_out_the_same_ratios(wanted: Items, nothing: set[str]) -> None:
    """What the filter decides says nothing of a model: all models have none, and no image comes first for it."""
    shown = collection("two models, hard names")
    number = shown.categories.ids.tolist()[0]
    wanted = [(key, text.replace("id:1", f"id:{number}")) for key, text in wanted]
    for counts in answer(shown, Filter.parse(wanted)).counts:
        assert {name for name in ("precision", "recall", "f1") if counts.to_json()[name] is None} >= nothing
    for name in nothing:
        order = answer(shown, Filter.parse([*wanted, ("sort", name)])).order.tolist()
        assert order == sorted(order)


def test_orders_by_f1_are_those_of_the_counts() -> None:
    """A range of sizes takes an object of the first image away from its detection."""
    boxes = [[0, 0, 10, 10], [50, 0, 40, 40], [0, 50, 40, 40]], [[50 * at, 0, 40, 40] for at in range(4)]
    found = [[0, 0, 12, 12], [50, 0, 40, 40]], [*boxes[1][:3], [0, 300, 40, 40]]
    truth = GroundTruth.from_arrays(image_ids=[0] * 3 + [1] * 4, category_ids=[1] * 7, boxes=[*boxes[0], *boxes[1]])
    detections = Detections.from_arrays(
        image_ids=[0] * 2 + [1] * 4, category_ids=[1] * 6, boxes=[*found[0], *found[1]], scores=[0.9] * 6
    )
    shown = Collection.of(truth, {"a": evaluate(truth, detections)})
    wanted = [("size", "11.."), ("sort", "f1")]
    first, second = (
        answer(Collection.of(one, {"a": evaluate(one, other)}), Filter.parse(wanted)).counts[0]
        for one, other in ((truth[truth.image_ids == at], detections[detections.image_ids == at]) for at in (0, 1))
    )
    assert (first.tp, first.found, first.fp, first.fn) == (2, 1, 0, 1)
    assert (first.f1, second.f1) == (2 / 3, 3 / 4)
    assert answer(shown, Filter.parse(wanted)).order.tolist() == [1, 0]


def test_many_conditions_on_marks_are_refused_in_words() -> None:
    plain = collection("two models, hard names")
    objects = len(plain.table.objects)
    columns = [Value.of_numbers(f"c{at}", "object", np.zeros(objects)) for at in range(64)]
    shown = Collection.of(plain.ground_truth, {model.name: model.evaluation for model in plain.models}, columns=columns)
    wanted = [(f"column.c{at}", "0..") for at in range(64)]
    assert answer(shown, Filter.parse(wanted[:63])).order.size
    with pytest.raises(ValueError, match="at most 63 conditions on marks can be given, got 64"):
        answer(shown, Filter.parse(wanted))


def test_two_threads_ask_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one asks while the first one counts."""
    plain = collection("two models, hard names")
    models = {model.name: model.evaluation for model in plain.models}
    shown = Collection.of(plain.ground_truth, models)
    expected, counts = answer(Collection.of(plain.ground_truth, models), Filter()).to_json(), answering._counts
    answers: list[Any] = []
    asking = threading.local()

    def slow(selection: Selection, model: int) -> Counts:
        if not getattr(asking, "second", False):
            asked = threading.Thread(target=ask)
            asked.start()
            asked.join()
        return counts(selection, model)

    def ask() -> None:
        asking.second = True
        answers.append(answer(shown, Filter()).to_json())

    monkeypatch.setattr(answering, "_counts", slow)
    answers.append(answer(shown, Filter()).to_json())
    assert answers == [expected] * 3
