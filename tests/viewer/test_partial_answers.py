"""What is not defined under a filter, and what is said of names that are not there."""

from __future__ import annotations

import pytest

from ioukit.viewer import Filter, answer
from viewer.shown_collections import collection


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
        assert sent["fn"] == 0
        assert [sent[name] for name in ("fp", "precision", "recall", "f1")] == [None] * 4
        other = found.counts[1 - finder].to_json()
        assert (other["tp"], other["fn"], other["fp"]) == (0, sent["tp"], None)
    for wanted in (("flag", "blurred"), ("column.occluded", "0..")):
        sent = answer(shown, Filter.parse([wanted])).counts[0].to_json()
        assert sent["tp"] == sent["found"]
        assert [sent[name] for name in ("fp", "precision", "f1")] == [None] * 3
