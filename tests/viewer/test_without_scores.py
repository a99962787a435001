"""Where the protocol reads no scores, the viewer counts all detections and refuses what needs scores."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - the profile
from ioukit.viewer.answers.answering import answer
from ioukit.viewer.answers.filters import Filter
from ioukit.viewer.answers.numbers import numbers
from ioukit.viewer.server.building import app_of
from support.report_cases import unscored
from viewer.shown_collections import tagged, unranked
from viewer.test_answering import check, items

if TYPE_CHECKING:
    from ioukit.viewer.server.views import Views

WITH_SCORES = (("score", "0.5.."), ("at_score", "0.5"), ("at_score", "0"), ("sort", "score"))


def needs_scores(pair: tuple[str, str]) -> bool:
    return pair[0] in ("score", "at_score") or pair == ("sort", "score")


def views_of(data: Any) -> Views:
    app, _ = app_of(data)
    return app.views


@given(data=st.data())
def test_answers_are_those_of_plain_loops(data: st.DataObject) -> None:
    shown = unranked()
    wanted = [pair for pair in data.draw(items(shown)) if not needs_scores(pair)]
    check(shown, wanted, tagged(shown))


def test_all_detections_count_at_each_iou_threshold() -> None:
    evaluation = unscored()
    views = views_of(evaluation)
    for iou in evaluation.protocol.iou_thresholds:
        counts = views.answer([("at_iou", repr(iou))])["counts"][0]
        images = evaluation.per_image(iou_threshold=iou)
        for key, column in (("tp", "true_positives"), ("fp", "false_positives"), ("fn", "false_negatives")):
            assert counts[key] == getattr(images, column).sum()
        assert counts["tp"] + counts["fp"] == len(evaluation.detections or ())
    counts = views.answer([])["counts"][0]
    shares = [counts[key] for key in ("precision", "recall", "f1")]
    np.testing.assert_allclose(shares, [evaluation.summary[key] for key in ("P50_micro", "R50_micro", "F50_micro")])


def test_numbers_are_those_of_the_evaluation_and_there_is_no_curve() -> None:
    evaluation = unscored()
    found = views_of(evaluation).numbers([])
    (model,) = found["models"]
    assert model["measures"] == {key: evaluation.summary[key] for key in ("F50", "P50", "R50")}
    assert model["curve"] is None
    assert found["errors"] == evaluation.error_kinds().counts
    assert sum(count for *_, count in found["cells"]) == evaluation.confusion(score_threshold=0.0).counts.sum()


@pytest.mark.parametrize("pair", WITH_SCORES)
def test_what_needs_scores_is_refused(pair: tuple[str, str]) -> None:
    views, shown = views_of(unscored()), unranked()
    said = rf"{'sort=score' if pair[0] == 'sort' else pair[0]} cannot be used: the protocol 'Unranked' does not read"
    for ask in (views.check, views.answer, views.numbers, lambda pairs: views.image(0, pairs)):
        with pytest.raises(ValueError, match=said):
            ask([pair])
    with pytest.raises(ValueError, match=said):
        answer(shown, Filter.parse([pair]))
    with pytest.raises(ValueError, match=said):
        numbers(shown, Filter.parse([pair]))


def test_no_answer_has_a_score() -> None:
    views = views_of(unscored())
    data = views.data()
    assert not data["ranks"]
    assert data["default"] == {"at_score": None, "at_scores": None, "at_iou": 0.5}
    assert "score" not in views.answer([])["histograms"]
    marks = [mark for at in range(data["images"]) for mark in views.image(at, [])["marks"]]
    assert marks
    assert {mark["score"] for mark in marks} == {None}
    assert not [mark["why"] for mark in marks if "score" in mark["why"]]
    lines = b"".join(views.export("csv", "filtered", []).chunks).decode().splitlines()
    assert {row["score"] for row in csv.DictReader(lines)} == {""}


def test_other_protocols_have_scores() -> None:
    from support.report_cases import drawn  # noqa: PLC0415 - beside what it is compared with

    views = views_of(drawn(20, ["car"], images=5))
    assert views.data()["ranks"]
    assert "score" in views.answer([("at_score", "0.5")])["histograms"]
