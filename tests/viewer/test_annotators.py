"""Two annotators in the viewer: what it counts is what `agree` counts, whoever is named first."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from comparison.test_agreement import data_of, drawn
from ioukit import GroundTruth
from ioukit.comparison import agree
from ioukit.comparison.agreement import evaluate_annotators
from ioukit.datasets import write
from ioukit.viewer.server.building import app_of
from support.command import run_here
from support.viewing import Client
from viewer.test_running import running

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.viewer.server.views import Views


def two_annotators(seed: int) -> dict[str, GroundTruth]:
    first, second = map(data_of, drawn(np.random.default_rng(seed), 2))
    return {"ann": first, "bob": second}


def views_of(given: dict[str, GroundTruth]) -> Views:
    evaluation, _ = evaluate_annotators(given)
    first, second = given
    app, _ = app_of({second: evaluation}, annotators=(first, second))
    return app.views


@pytest.mark.parametrize("seed", range(8))
def test_pairs_and_f1_are_those_of_the_agreement(seed: int) -> None:
    given = two_annotators(seed)
    views = views_of(given)
    other_way = views_of(dict(reversed(given.items())))
    for iou in (0.5, 0.75, 0.9):
        found = agree(given, iou_threshold=iou)
        for shown in (views, other_way):
            counts = shown.answer([("at_iou", repr(iou))])["counts"][0]
            np.testing.assert_allclose(counts["f1"], found.pairs[0].numbers["F1"].value, rtol=1e-12)
            assert 2 * counts["tp"] + counts["fp"] + counts["fn"] == sum(map(len, given.values()))
        # The images on which they differ, those with the lowest F1 first.
        items = [("outcome", "fp"), ("outcome", "fn"), ("sort", "f1"), ("order", "asc"), ("at_iou", repr(iou))]
        differ = [at for at in np.argsort(found.by_image, kind="stable").tolist() if found.by_image[at] < 1]
        assert views.answer(items)["order"] == differ


def test_nobody_is_the_truth_and_nothing_is_explained_as_if() -> None:
    views = views_of(two_annotators(3))
    data = views.data()
    assert (data["title"], data["annotators"], data["ranks"]) == ("ann and bob", ("ann", "bob"), False)
    marks = [mark for at in range(data["images"]) for mark in views.image(at, [])["marks"]]
    assert len(marks) > 4
    assert {mark["why"] for mark in marks} == {""}
    assert any(mark["partner"] is not None for mark in marks)


def test_ids_are_those_of_the_first_one_and_images_of_one_alone_are_left_out() -> None:
    def of(ids: list[int], names: list[str]) -> GroundTruth:
        boxes: Any = [[0, 0, 9, 9]] * len(ids)
        return GroundTruth.from_arrays(
            image_ids=ids, category_ids=[1] * len(ids), boxes=boxes, images=ids, names=names, categories={1: "car"}
        )

    first, second = of([5, 9, 30], ["x.jpg", "y.jpg", "z.jpg"]), of([1, 2, 5], ["y.jpg", "z.jpg", "w.jpg"])
    evaluation, notes = evaluate_annotators({"ann": first, "bob": second})
    assert evaluation.matches.image_ids.tolist() == [9, 30]
    assert evaluation.ground_truth is not None
    assert evaluation.ground_truth.ids.tolist() == first.ids[1:].tolist()
    (note,) = notes
    assert note.startswith("2 images with 2 regions left out, which not all annotators have: ")
    assert evaluation.summary["F"] == 1.0


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_the_command_opens_where_they_differ(tmp_path: Path) -> None:
    paths = []
    for name, data in two_annotators(5).items():
        paths.append(tmp_path / f"{name}.json")
        write(data, paths[-1], "coco")
    with running(*paths, "--annotators", "--port", "0", cache=tmp_path) as (process, address):
        pairs = parse_qsl(urlsplit(address).query)[1:]
        assert pairs == [("outcome", "fp"), ("outcome", "fn"), ("sort", "f1"), ("order", "asc")]
        data = Client(address).ask("/api/data").json
        assert (data["annotators"], data["models"]) == (["ann", "bob"], ["bob"])
        assert data["notes"] == "ann.view.db"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{ann}"], "Invalid value for --annotators: expected the files of two annotators, got 1"),
        (["{ann}", "{bob}", "{bob}"], "Invalid value for --annotators: expected the files of two annotators, got 3"),
        (["{ann}", "{bob}", "--protocol", "voc2012"], "--protocol: does not go with --annotators"),
        (["{ann}", "{bob}", "--issues"], "--issues: does not go with --annotators"),
        (["{ann}", "{bob}", "--filter", "score=0.5.."], "score cannot be used: the protocol 'Unranked' does not read"),
    ],
)
def test_what_does_not_go_with_annotators_is_said(words: list[str], said: str, tmp_path: Path) -> None:
    for name, data in two_annotators(5).items():
        write(data, tmp_path / f"{name}.json", "coco")
    named = [word.format(ann=tmp_path / "ann.json", bob=tmp_path / "bob.json") for word in words]
    done = run_here("view", *named, "--annotators", "--no-browser")
    assert done.code == 2
    assert said in " ".join(done.err.split())
