"""What is not defined under a filter, and what is said of names that are not there."""

from __future__ import annotations

import numpy as np
import pytest

from ioukit.viewer.answers.answering import answer
from ioukit.viewer.answers.filters import Filter
from viewer.shown_collections import collection


def test_a_range_of_scores_leaves_recall_undefined() -> None:
    """Missed objects have no score, so that all of them fail; a recall of 1 would mislead."""
    shown = collection("two models, hard names")
    plain, ranged = (answer(shown, Filter.parse(items)).counts[0] for items in ([], [("score", "0.4..")]))
    assert plain.fn > 0
    assert plain.recall < 1
    assert ranged.tp + ranged.fp > 0
    assert ranged.precision == ranged.tp / (ranged.tp + ranged.fp)
    assert np.isnan([ranged.recall, ranged.f1]).all()
    sent = ranged.to_json()
    assert [sent[name] for name in ("fn", "recall", "f1")] == [None] * 3


def test_of_many_names_some_are_named_and_the_others_counted() -> None:
    shown = collection("1,203 classes")
    with pytest.raises(ValueError, match=r"there are 'class 0', .*'class 7' and 1,195 more$"):
        answer(shown, Filter(classes=("nothing",)))
    with pytest.raises(ValueError, match=r"there are 'person' and 8 more$"):
        answer(collection("two models, hard names"), Filter(classes=("persom",)))


def test_conditions_on_objects_alone_leave_precision_undefined() -> None:
    """No detection passes them, so that no precision can be counted; objects that are found are no zero."""
    shown = collection("two models, hard names")
    for change, finder in (("lost", 0), ("won", 1)):
        found = answer(shown, Filter(change=(change,)))
        assert found.facets["change"][change] > 0
        sent = found.counts[finder].to_json()
        assert sent["tp"] == sent["found"] == found.facets["change"][change]
        other = found.counts[1 - finder].to_json()
        assert (sent["fn"], other["tp"], other["fn"]) == (0, 0, sent["tp"])
        for counts in (sent, other):  # a recall of 1 and of 0 says what was asked for, and nothing of the models
            assert [counts[name] for name in ("fp", "precision", "recall", "f1")] == [None] * 4
    for wanted in (("flag", "blurred"), ("column.occluded", "0..")):
        sent = answer(shown, Filter.parse([wanted])).counts[0].to_json()
        assert sent["tp"] == sent["found"]
        assert [sent[name] for name in ("fp", "precision", "f1")] == [None] * 3
