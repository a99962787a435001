"""Label issues as something to filter by: the rows that `find_label_errors` accuses."""

from __future__ import annotations

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, evaluate
from ioukit.label_errors import LABEL_ERROR_KINDS, find_label_errors
from ioukit.viewer.answers.answering import answer
from ioukit.viewer.answers.collection import Collection
from ioukit.viewer.answers.filters import Filter
from ioukit.viewer.answers.issues import LEAST_SCORE, label_issues
from ioukit.viewer.answers.selecting import select
from support.evaluated_scenes import made

KINDS = [kind.key for kind in LABEL_ERROR_KINDS]


def test_each_suspicion_is_on_its_mark() -> None:
    first = made(images=60, seed=2)
    assert first.ground_truth is not None
    second = evaluate(first.ground_truth, made(images=60, seed=8).detections)  # type: ignore[arg-type]
    shown = Collection.of(first.ground_truth, {"a": first, "b": second}, issues=label_issues([first, second]))
    assert shown.issues is not None
    ids = np.zeros((2, len(KINDS)), object)
    for at, evaluation in enumerate((first, second)):
        rows = find_label_errors(evaluation).chosen(at_least=LEAST_SCORE).rows()
        for number, kind in enumerate(KINDS):
            of_kind = [row for row in rows if row.kind == kind]
            ids[at, number] = {row.annotation_id for row in of_kind if row.annotation_id is not None}
            if kind == "overlooked":
                bits = shown.issues.detections[at] >> number & 1
                scores = shown.models[at].table.detections.score[np.flatnonzero(bits)]
                assert sorted(scores.tolist()) == sorted(row.detection_score or 0 for row in of_kind)
    for number, kind in enumerate(KINDS):
        accused = shown.ground_truth.ids[shown.table.objects.row[(shown.issues.objects >> number & 1) == 1]]
        assert set(accused.tolist()) == ids[0, number] | ids[1, number]
        for model in ("a", "b"):
            chosen = Filter(issue=(kind,), model=model, at_score=0.0)
            selection = select(shown, chosen)
            facet = answer(shown, Filter(model=model, at_score=0.0)).facets["issue"][kind]
            assert facet == int(selection.objects.sum() + selection.detections.sum())
    assert answer(shown, Filter(at_score=0.0)).facets["issue"].keys() == set(KINDS)


def test_detections_beyond_the_cap_keep_their_rows() -> None:
    """A match table with near pairs may have other rows than the one of the numbers."""
    rng = np.random.default_rng(0)
    count = 400
    boxes = np.column_stack([rng.uniform(0, 900, (count, 2)), rng.uniform(20, 60, (count, 2))])
    gt = GroundTruth.from_arrays(image_ids=[1] * 120, category_ids=[1] * 120, boxes=boxes[:120])
    dt = Detections.from_arrays(
        image_ids=[1] * count, category_ids=[1] * count, boxes=boxes, scores=np.linspace(1, 0.1, count)
    )
    evaluation = evaluate(gt, dt)
    shown = Collection.of(gt, {"a": evaluation}, issues=label_issues([evaluation]))
    assert shown.issues is not None
    assert len(shown.issues.detections[0]) == len(shown.models[0].table.detections)
    assert len(shown.issues.objects) == len(shown.table.objects)
    answer(shown, Filter(issue=("overlooked",), at_score=0.0))


def test_an_unknown_kind_and_no_issues_are_said() -> None:
    evaluation = made(images=3)
    assert evaluation.ground_truth is not None
    shown = Collection.of(evaluation.ground_truth, {"a": evaluation})
    with pytest.raises(ValueError, match="issue needs labels that were checked: start with --issues"):
        answer(shown, Filter(issue=("swapped",)))
    assert answer(shown, Filter()).facets["issue"] is None
