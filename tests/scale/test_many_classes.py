"""Many classes: what they take of memory and time, and what is refused for it."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ioukit import COCO, Detections, GroundTruth, Protocol, evaluate, scale
from ioukit.evaluation import match
from ioukit.evaluation.curves import bytes_of_curves, curves_of, most_steps
from ioukit.scale import planning
from ioukit.scale.memory import ANALYSES, Results
from ioukit.scale.stages import draw_together, groups_of
from ioukit.scale.table_files import Run, TableFile, write_table
from support.same_columns import assert_same_columns, assert_same_evaluation

pa = pytest.importorskip("pyarrow")

Scene = tuple[GroundTruth, Detections]


def scene(classes: int, images: int = 40, seed: int = 3) -> Scene:
    """Two objects per class, and four detections, one of which is right."""
    rng = np.random.default_rng(seed)
    category = np.repeat(np.arange(1, classes + 1), 2)
    boxes = np.concatenate([rng.random((len(category), 2)) * 400, 20 + rng.random((len(category), 2)) * 200], axis=1)
    image = rng.integers(0, images, len(category))
    gt = GroundTruth.from_arrays(
        image_ids=image,
        category_ids=category,
        boxes=boxes,
        images=np.arange(images),
        categories={number: f"class {number}" for number in range(1, classes + 1)},
    )
    dt = Detections.from_arrays(
        image_ids=np.tile(image, 2),
        category_ids=np.tile(category, 2),
        boxes=np.concatenate([boxes * (1 + rng.normal(0, 0.05, boxes.shape)), boxes[::-1]]),
        scores=rng.random(2 * len(category)).round(2),
    )
    return gt, dt


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that PyArrow opens to read them."""
    found: list[str] = []
    open_file = pa.OSFile

    def note(path: str, mode: str = "r", **options: Any) -> Any:
        if "r" in mode:
            found.append(path)
        return open_file(path, mode, **options)

    monkeypatch.setattr(pa, "OSFile", note)
    return found


def test_a_table_is_not_opened_again_for_its_header(tmp_path: Path) -> None:
    """The one that was written has it, as the one that is read would."""
    gt, dt = scene(30)
    written, found = write_table(match(gt, dt), tmp_path / "part", block_rows=7), TableFile(tmp_path / "part")
    assert vars(written).keys() == {"path", "header", "protocol"}
    assert written.protocol == found.protocol
    assert written.header.keys() == found.header.keys()
    for name, value in found.header.items():
        np.testing.assert_array_equal(written.header[name], value)


@pytest.mark.parametrize(("first", "end"), [(0, 120), (0, 0), (3, 5), (6, 8), (7, 14), (13, 50), (113, 120)])
def test_rows_between_blocks(first: int, end: int, tmp_path: Path) -> None:
    """They are cut from the blocks that hold them."""
    table = match(*scene(30))
    order = np.lexsort((-table.detections.score, table.detections.category))[first:end]
    run = Run.joined(write_table(table, tmp_path / "part", block_rows=7).rows(first, end))
    for name in Run._fields:
        np.testing.assert_array_equal(getattr(run, name), getattr(table.detections, name)[order], strict=True)


def test_files_are_opened_once_for_all_classes(opened: list[str], tmp_path: Path) -> None:
    """Not once per class: 1,203 classes in 200 parts would be 240,600 times."""
    gt, dt = scene(300)
    ours = scale.evaluate(gt, dt, parts=5, work=tmp_path / "work", threads=1)
    assert len(opened) == 2 * 5  # to match and to draw
    assert_same_evaluation(ours, evaluate(gt, dt))


def test_what_is_known_of_a_part_is_small(tmp_path: Path) -> None:
    """A header is there for every part: its classes are bytes, not objects of Python."""
    gt, dt = scene(5_000, images=50)
    write_table(match(gt, dt), tmp_path / "part")
    tracemalloc.start()
    table = TableFile(tmp_path / "part")
    assert len(table.header["num_objects"]) == 5_000
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 30 * 5_000
    assert_same_columns(table.read(), match(gt, dt))


def test_curves_are_written_once(tmp_path: Path) -> None:
    """Each group is let go when its curves are copied."""
    gt, dt = scene(2_000)
    table = match(gt, dt)
    write_table(table, tmp_path / "part")
    groups = groups_of(bytes_of_curves(COCO, table.num_objects), 500_000)
    assert len(groups) > 20
    draw_together(COCO, groups[0], [TableFile(tmp_path / "part")])  # what is loaded once
    tracemalloc.start()
    curves = curves_of(table, (draw_together(COCO, group, [TableFile(tmp_path / "part")]) for group in groups))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    whole = evaluate(gt, dt)
    assert_same_evaluation(whole, type(whole)(table, curves))
    assert peak < bytes_of_curves(COCO, table.num_objects).sum() + 3_000_000


@pytest.mark.parametrize(
    "protocol", [COCO, COCO.replace(integral="trapezoid"), COCO.replace(max_dets=(1, 2))], ids=["coco", "lines", "caps"]
)
def test_no_curves_are_larger_than_they_are_said_to_be(protocol: Protocol) -> None:
    gt, dt = scene(50)
    evaluation = evaluate(gt, dt, protocol)
    steps = evaluation.curves._steps.reached
    assert 0 < len(steps) <= most_steps(protocol, evaluation.matches.num_objects).sum()


def test_groups_of_categories() -> None:
    assert groups_of(np.array([3, 3, 3, 9, 1, 12]), 6) == [range(2), range(2, 3), range(3, 4), range(4, 5), range(5, 6)]
    assert groups_of(np.array([1, 2]), 6) == [range(2)]
    assert groups_of(np.zeros(0, np.int64), 6) == []


def test_results_that_do_not_fit_are_refused_before_the_work(tmp_path: Path) -> None:
    gt, dt = scene(5_000, images=50)
    size = Results.of(COCO, match(gt, dt).num_objects)
    assert size.curves + size.summary > 70_000_000
    with pytest.raises(
        ValueError,
        match=r"memory of 300 MB is too little: expected at least 3\d\d MB.*the results of 5,000 classes \d+ MB",
    ):
        scale.evaluate(gt, dt, memory="300MB", work=tmp_path / "work")
    assert not (tmp_path / "work").exists()
    few = gt.categories.ids[:10].tolist()
    assert scale.evaluate(gt, dt, memory="300MB", categories=few).counts["categories"] == 10


def test_analyses_that_do_not_fit_are_refused_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    gt, dt = scene(20)
    monkeypatch.setitem(ANALYSES, "errors", (0, 10_000_000, 0, 0))
    expected = "memory of 400 MB is too little for the errors, with the matches of all 80 detections at once"
    for call in (scale.evaluate, scale.plan):
        with pytest.raises(ValueError, match=f"{expected}: expected at least 9.. MB"):
            call(gt, dt, near=0.1, memory="400MB", analyses=["errors"])
    assert scale.evaluate(gt, dt, memory="400MB").counts["detections"] == 80
    with pytest.raises(ValueError, match="unknown analyses 'much'; choose from errors, intervals, log, report, tables"):
        scale.evaluate(gt, dt, analyses=["much"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="analyses must be a list of names, got 'errors'"):
        scale.evaluate(gt, dt, analyses="errors")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"the error kinds of analyses need .*: give near=0.1"):
        scale.evaluate(gt, dt, analyses=["errors"])


def test_a_protocol_that_needs_all_rows_is_refused_if_they_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    gt, dt = scene(20)
    monkeypatch.setattr("ioukit.scale.memory.PER_ROW_JOINED", 10_000_000)
    with pytest.raises(ValueError, match="too little for this protocol, with the matches of all 80 detections"):
        scale.evaluate(gt, dt, COCO.replace(cap_scope="category"), memory="400MB")


def test_a_plan_tells_rows_objects_parts_and_classes_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """What classes cost in a sample is not multiplied by the rows."""
    gt, dt = scene(30)

    def measured(objects: GroundTruth, sample: Any, *_: Any) -> tuple[float, float, float]:
        rows = sum(map(len, sample))
        return 2 + 0.01 * len(objects) + 0.5 * rows, 7, 1_000 + 10 * len(objects) + 30 * rows

    monkeypatch.setattr(planning, "_measured", measured)
    monkeypatch.setattr(planning, "_sample", lambda source: (0.0, [dt[:40]]))  # noqa: ARG005 - as it is called
    plan = scale.plan(gt, dt, parts=3, threads=1)
    assert plan.seconds == pytest.approx(7 + 3 * 2 + 0.01 * len(gt) + 0.5 * len(dt))
    assert plan.disk == pytest.approx(3 * 1_000 + 10 * len(gt) + 30 * len(dt), abs=1)


def test_a_plan_knows_the_analyses(monkeypatch: pytest.MonkeyPatch) -> None:
    gt, dt = scene(30)
    monkeypatch.setitem(ANALYSES, "report", (0, 5_000_000, 0, 0))
    assert scale.plan(gt, dt, near=0.1, analyses=["errors"]).memory < 200_000_000
    assert 600_000_000 < scale.plan(gt, dt, near=0.1, analyses=["report", "errors"]).memory < 800_000_000


def test_a_plan_knows_that_rows_are_not_in_the_order_of_the_images(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The statistics of a single file do not tell: the sample does, and such rows are written once more."""
    parquet = pytest.importorskip("pyarrow.parquet")
    gt, dt = scene(400, images=1_000)
    monkeypatch.setattr("ioukit.scale.in_order.LEAST_ROWS", 1)
    monkeypatch.setattr("ioukit.scale.memory.MOST_ROWS", 100)
    monkeypatch.setattr(planning, "SAMPLE_ROWS", 300)
    columns = dict(zip(("x", "y", "width", "height"), dt.boxes.T, strict=True))
    table = pa.table({"image_id": dt.image_ids, "category_id": dt.category_ids, **columns, "score": dt.scores})
    sizes = []
    for name, rows in (("sorted", np.argsort(dt.image_ids)), ("shuffled", np.arange(len(dt)))):
        parquet.write_table(table.take(rows), tmp_path / f"{name}.parquet")
        sizes.append(scale.plan(gt, tmp_path / f"{name}.parquet").disk)
    assert sizes[1] > 1.3 * sizes[0]
