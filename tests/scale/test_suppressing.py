"""`ioukit.scale.nms` compared with `nms` in memory."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from ioukit import nms, scale
from ioukit.scale.boxes import settling, suppressing
from ioukit.scale.boxes.box_records import order_keys, scores_of_keys
from ioukit.scale.boxes.box_room import Room
from support.far_boxes import box_sets, chunked, rooms

SMALL = Room(boxes=40, chunk=16, pairs=50, sample=200)


def suppressed(room: Room, chunks: Any, **options: Any) -> scale.Survivors:
    with mock.patch.object(suppressing, "room_of", return_value=room):
        return scale.nms(chunks, **options)


def chain(count: int) -> tuple[Any, Any]:
    """Boxes in a row, each overlaps the next one, with falling scores: each decides the next one."""
    low = np.stack([np.arange(count) * 0.4, np.zeros(count)], axis=1)
    return np.concatenate([low, low + 1], axis=1), np.linspace(1, 0, count)


@settings(deadline=None, max_examples=100)
@given(
    st.data(),
    box_sets(),
    st.sampled_from(
        [{"metric": m} for m in ("iou", "iom", "giou", "diou", "ciou", "ioa")] + [{"metric": "ioa", "of": "first"}]
    ),
    st.sampled_from([0, 0.1, 0.3, 0.5, 0.75, 0.9, 1.0]),
    st.sampled_from(["random", "few", "along x", "equal"]),
    rooms(),
)
def test_survivors_are_those_in_memory(
    data: st.DataObject, boxes: Any, metric: Any, threshold: float, ranking: str, room: Room
) -> None:
    rng = np.random.default_rng(len(boxes))
    count = len(boxes)
    scores = {
        "random": rng.normal(0, 1, count),
        "few": rng.integers(-2, 3, count) / 4,
        "along x": boxes[:, 0].astype(np.float64),
        "equal": np.full(count, -0.0),
    }[ranking].astype(data.draw(st.sampled_from([np.float32, np.float64])))
    classes = data.draw(st.integers(0, 3))
    labels = np.arange(count) % classes if classes else None
    options: dict[str, Any] = {
        **metric,
        "score_threshold": data.draw(st.sampled_from([None, 0.25])),
        "max_keep": data.draw(st.sampled_from([None, 0, 20])),
        "suppress": data.draw(st.sampled_from(["above", "at_or_above"])) if threshold else "above",
    }
    columns = (boxes, scores) if labels is None else (boxes, scores, labels)
    block, progress = data.draw(st.integers(1, 300)), data.draw(st.sampled_from([-1.0, 0.1]))
    with (
        mock.patch.object(settling, "_FIRST_BLOCK", block),
        mock.patch.object(suppressing, "_LEAST_PROGRESS", progress),
    ):
        found = suppressed(
            room, chunked(columns, data.draw(st.integers(1, 250))), iou_threshold=threshold, **options
        ).read()
    assert_array_equal(found, nms(boxes, scores, threshold, labels=labels, **options))


@pytest.mark.parametrize("progress", [-1.0, 0.1, 0.9])
def test_a_chain_over_all_cells_is_decided_in_rounds(progress: float) -> None:
    boxes, scores = chain(600)
    rounds = []

    def counted(function: Any, tasks: Any) -> Any:
        if function is settling.settle:
            rounds.append(len(tasks))
        return map(function, tasks)

    with mock.patch.object(suppressing, "_LEAST_PROGRESS", progress):
        found = suppressed(SMALL, [(boxes, scores)], iou_threshold=0.2, map=counted).read()
    assert_array_equal(found, nms(boxes, scores, 0.2))
    assert len(rounds) > 1
    assert rounds[0] > 5


def test_many_boxes_of_random_cells() -> None:
    rng = np.random.default_rng(0)
    low = rng.uniform(0, 700, (20_000, 2))
    boxes = np.concatenate([low, low + rng.uniform(5, 40, low.shape)], axis=1).astype(np.float32)
    scores = rng.random(20_000).round(3)
    room = Room(boxes=2500, chunk=1500, pairs=4000, sample=4000)
    found = suppressed(room, chunked((boxes, scores), 777), iou_threshold=0.4).read()
    assert_array_equal(found, nms(boxes, scores, 0.4))


def test_tasks_run_in_processes_and_twice(tmp_path: Path) -> None:
    boxes, scores = chain(300)
    wanted = nms(boxes, scores, 0.2)
    with ProcessPoolExecutor(2) as pool:
        found = suppressed(SMALL, [(boxes, scores)], iou_threshold=0.2, map=pool.map, folder=tmp_path, threads=1)
        assert_array_equal(found.read(), wanted)
    assert not list(tmp_path.iterdir())

    def twice(function: Any, tasks: Any) -> Any:
        tasks = list(tasks)
        return [function(task) for task in tasks] and [function(task) for task in tasks]

    assert_array_equal(suppressed(SMALL, [(boxes, scores)], iou_threshold=0.2, map=twice).read(), wanted)


def test_parquet_in_and_out(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    boxes, scores = chain(300)
    table = arrow.table({**dict(zip(("x1", "y1", "x2", "y2"), boxes.T, strict=True)), "score": scores})
    parquet.write_table(table, tmp_path / "boxes.parquet", row_group_size=70)
    wanted = nms(boxes, scores, 0.2)
    assert_array_equal(suppressed(SMALL, tmp_path / "boxes.parquet", iou_threshold=0.2).read(), wanted)
    out = tmp_path / "survivors.parquet"
    assert suppressed(SMALL, table, iou_threshold=0.2).write_parquet(out) == len(wanted)
    written = parquet.read_table(out)
    assert_array_equal(written["row"], wanted)
    assert_array_equal(written["score"], scores[wanted])


@pytest.mark.parametrize(
    ("chunks", "error", "message"),
    [
        ([([[0, 0, 1, 1]], [np.nan])], ValueError, r"scores of chunk 0 of chunks hold NaN, first at \[0\]"),
        ([([[0, 0, 1, 1]], [1, 2])], ValueError, r"scores of chunk 0 of chunks must have shape \(1,\)"),
        ([np.zeros((3, 4))], TypeError, r"chunk 0 of chunks must be a tuple \(boxes, scores\)"),
        ([([[3, 0, 1, 1]], [1])], ValueError, "inverted"),
        ([([[0, 0, 1, 1]], [1]), ([[0, 0, 1, 1]], [1], [2])], ValueError,
         "chunk 1 of chunks has labels: label all chunks, or none"),
        ([([[0, 0, 1, 1]], [1], [2]), ([[0, 0, 1, 1]], [1])], ValueError,
         "chunk 1 of chunks has no labels: label all chunks, or none"),
        ([([[0, 0, 1, 1]], [1], np.array([2**63], np.uint64))], ValueError,
         r"labels of chunk 0 of chunks hold 9223372036854775808, beyond 2\*\*63 - 1"),
    ],
)  # fmt: skip
def test_bad_chunks_are_named_and_nothing_is_left(chunks: Any, error: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=message):
        scale.nms(chunks, iou_threshold=0.5, folder=tmp_path).read()
    assert not list(tmp_path.iterdir())


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="iou_threshold must be at least 0"):
        scale.nms([], iou_threshold=-0.5, metric="giou")
    with pytest.raises(ValueError, match="iou_threshold must be within"):
        scale.nms([], iou_threshold=2)
    survivors = scale.nms([], iou_threshold=0.5)
    assert not len(survivors.read())
    with pytest.raises(ValueError, match="read before"):
        survivors.read()


def test_order_keys_follow_the_scores() -> None:
    scores = np.array([np.inf, 1e300, 1, 5e-324, 0.0, -5e-324, -1, -np.inf])
    keys = order_keys(scores)
    assert (np.diff(keys) > 0).all()
    assert_array_equal(scores_of_keys(keys), scores)
    assert order_keys(np.array([-0.0])) == order_keys(np.array([0.0]))
