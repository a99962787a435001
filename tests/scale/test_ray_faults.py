"""Evaluation on Ray when tasks fail, lack memory or are late: the same bits or a clear error; nothing left behind."""

from __future__ import annotations

import dataclasses
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ioukit import DatasetError, Detections, Evaluation, GroundTruth, evaluate, scale
from support import ray_faults
from support.same_columns import assert_same_evaluation

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ray = pytest.importorskip("ray", reason="evaluation on Ray needs Ray: pip install 'ioukit[ray]'")
pytestmark = [
    pytest.mark.usefixtures("nothing_left"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

Scene = tuple[GroundTruth, Detections]


@pytest.fixture(scope="module")
def skewed(real: Scene) -> Scene:
    """Nearly all of 600,000 detections are on four of 100 images."""
    gt, dt = real
    rng = np.random.default_rng(0)
    objects = np.flatnonzero(np.isin(gt.image_ids, gt.images.ids[[3, 4, 50, 97]]))
    chosen = rng.choice(objects, 600_000)
    many = Detections.from_arrays(
        image_ids=gt.image_ids[chosen],
        category_ids=gt.category_ids[chosen],
        boxes=gt.boxes[chosen] * rng.uniform(0.8, 1.2, (len(chosen), 4)),
        scores=rng.integers(0, 50_000, len(chosen)) / 50_000,
    )
    return gt, Detections.concat([dt, many])


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
@pytest.mark.usefixtures("cluster")
def test_little_memory_is_too_little_for_a_large_part(skewed: Scene) -> None:
    """So that the next test shows something. The first test: later, workers have memory that they do not use."""
    ray_faults.plant("match_step", "limit", 1000)
    with pytest.raises((MemoryError, ConnectionError), match=r"^part 0 of 1 \(images"):
        scale.evaluate(*skewed, near=0.1, memory="2GB", parts=1, on="ray", timeout=120)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
@pytest.mark.usefixtures("cluster")
def test_a_part_with_too_many_detections_is_cut(skewed: Scene, tmp_path: Path) -> None:
    """In tasks with little memory, as they are told."""
    expected = evaluate(*skewed, near=0.1)
    for work in (None, tmp_path / "work"):
        steps = "read_step match_step draw_step"
        ray_faults.plant(steps, "limit", 1000)
        ours = scale.evaluate(*skewed, near=0.1, memory="300MB", parts=2, work=work, on="ray", timeout=120)
        assert ray_faults.planted_times() > 6
        ray_faults.clear()
        assert_same_evaluation(ours, expected)
        del ours  # and its rows in the object store
    tables = sorted((tmp_path / "work" / "tables").iterdir())
    assert len(tables) == 2
    tables[1].unlink()
    changed = {table: table.stat().st_mtime_ns for table in tables if table.exists()}
    again = scale.evaluate(*skewed, near=0.1, memory="2GB", work=tmp_path / "work", on="ray", timeout=120)
    assert {table: table.stat().st_mtime_ns for table in changed} == changed
    assert tables[1].exists()
    assert_same_evaluation(again, expected)


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    ("step", "fault"),
    [
        ("read_step", "kill"),
        ("read_step", "memory"),
        ("read_step", "twice"),
        ("match_step", "kill"),
        ("match_step", "memory"),
        ("match_in_files", "kill"),
        ("match_in_files", "twice"),
        ("draw_step", "kill"),
        ("draw_step", "twice"),
        ("draw_of_files", "kill"),
        ("conduct", "kill"),
    ],
)
def test_a_fault_changes_nothing(real: Scene, expected: Evaluation, step: str, fault: str, tmp_path: Path) -> None:
    work = tmp_path / "work" if step in ("draw_of_files", "match_in_files") else None
    steps = {"match_in_files": "match_step", "draw_of_files": "draw_step"}
    ray_faults.plant(steps.get(step, step), fault, 1)
    ours = scale.evaluate(*real, near=0.1, parts=3, work=work, on="ray", timeout=60)
    assert ray_faults.planted_times() == 1
    assert_same_evaluation(ours, expected)
    assert work is None or not list(work.rglob(".ioukit*"))


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        ("memory", MemoryError, r"^part 0 of 1 \(images \d+ to \d+\): out of memory .*use more parts"),
        ("kill", ConnectionError, r"^part 0 of 1 \(images \d+ to \d+\): its worker died"),
    ],
)
def test_a_fault_that_stays_is_named(real: Scene, fault: str, error: type[Exception], message: str) -> None:
    ray_faults.plant("match_step", fault, 1000)
    with pytest.raises(error, match=message):
        scale.evaluate(*real, parts=1, on="ray", timeout=60)


@pytest.mark.usefixtures("cluster")
def test_another_version_on_a_node_is_refused(real: Scene) -> None:
    ray_faults.plant("call", "version", 1)
    with pytest.raises(ValueError, match=r"^expected ioukit 0\.0\.1 on all nodes of the cluster, .* on the node"):
        scale.evaluate(*real, on="ray", timeout=60)
    ray_faults.plant("call", "version", 1)
    with pytest.raises(ValueError, match=r"^expected ioukit 0\.0\.1 on all nodes"):
        scale.replicate(evaluate(*real), np.ones((2, 100), np.int64), on="ray", timeout=60)


@pytest.mark.usefixtures("cluster")
def test_a_file_that_changes_while_it_is_read(real: Scene, tmp_path: Path) -> None:
    columns = {"image_id": real[1].image_ids, "category_id": real[1].category_ids}
    columns |= dict(zip(("x", "y", "width", "height"), real[1].boxes.T, strict=True))
    path, other = tmp_path / "dt.parquet", tmp_path / "new"
    pq.write_table(pa.table({**columns, "score": real[1].scores}), path)
    pq.write_table(pa.table({**columns, "score": real[1].scores[::-1]}), other)
    ray_faults.plant("read_step", "wait", 1)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(lambda: scale.evaluate(real[0], path, parts=2, on="ray", timeout=60))
        end = time.monotonic() + 60
        while not ray_faults.planted_times():
            assert time.monotonic() < end
            time.sleep(0.05)
        other.replace(path)
        with pytest.raises(DatasetError, match=r"expected the file of .* at the start, but it is another file now"):
            future.result()


@pytest.mark.usefixtures("cluster")
def test_a_table_with_a_bit_that_flipped_is_made_again(real: Scene, tmp_path: Path) -> None:
    expected = evaluate(*real)
    assert_same_evaluation(scale.evaluate(*real, parts=2, work=tmp_path / "work", on="ray", timeout=60), expected)
    tables = sorted((tmp_path / "work" / "tables").iterdir())
    made = [table.stat().st_mtime_ns for table in tables]
    content = bytearray(tables[0].read_bytes())
    content[len(content) // 2] ^= 1
    tables[0].write_bytes(content)
    again = scale.evaluate(*real, parts=2, work=tmp_path / "work", on="ray", timeout=60)
    assert_same_evaluation(dataclasses.replace(again, notes_on_reading=expected.notes), expected)
    (note,) = set(again.notes) - set(expected.notes)
    assert note.startswith(f"{tables[0]}: the match table of this part is missing, cut or damaged: ")
    assert note.endswith("; it was made again")
    assert tables[0].stat().st_mtime_ns > made[0]
    assert tables[1].stat().st_mtime_ns == made[1]
    third = scale.evaluate(*real, parts=2, work=tmp_path / "work", on="ray", timeout=60)
    assert third.notes == expected.notes


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("rows", [3, 0])
def test_a_run_that_goes_on_knows_what_was_left_out(rows: int, tmp_path: Path) -> None:
    """Also if no row is read again."""
    gt = GroundTruth.from_arrays(image_ids=[1, 2], category_ids=[1, 1], boxes=[[0, 0, 4, 4], [9, 9, 4, 4]])
    records = [{"image_id": 2, "category_id": 1, "bbox": [9, 9, 4, 4], "score": 0.5}] * rows
    wrong = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 4, 4], "score": float("nan")}
    detections = Detections.from_coco([*records, wrong, wrong], on_invalid="drop")
    expected = evaluate(gt, detections)
    assert expected.dropped == 2
    for _ in range(2):
        ours = scale.evaluate(gt, detections, parts=2, work=tmp_path / "work", on="ray", timeout=60)
        assert_same_evaluation(ours, expected)
        assert (ours.dropped, ours.notes) == (expected.dropped, expected.notes)
    ours = scale.evaluate(gt, detections, parts=2)
    assert (ours.dropped, ours.notes) == (expected.dropped, expected.notes)


@pytest.mark.usefixtures("cluster")
def test_a_table_that_the_cluster_does_not_have(real: Scene) -> None:
    """The errors say what is wrong."""
    tables = vars(scale.evaluate(*real, parts=2, on="ray", timeout=60).matches)["_files"]
    (kept,) = {type(table) for table in tables}

    def raises(error: Exception) -> Any:
        raise error

    for error, kind, message in [
        (MemoryError("no room for it"), MemoryError, r"^no room for it$"),
        (ray.exceptions.ObjectLostError("ab", "", ""), ConnectionError, r"^the match table: it is lost on the Ray"),
        (ray.exceptions.OutOfDiskError("full"), OSError, r"the match table: the object store of a node of Ray is full"),
        (ValueError("something else"), ValueError, "^something else$"),
        (ValueError("objects whose owner is unknown"), ConnectionError, "is on another Ray cluster"),
    ]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ray, "get", lambda _, error=error: raises(error))
            with pytest.raises(kind, match=message):
                kept(*(getattr(tables[0], name) for name in ("header", "reference", "protocol"))).read()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ray, "is_initialized", lambda: False)
        with pytest.raises(ConnectionError, match=r"the connection to it has ended \(evaluate with work="):
            tables[0].read()


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    ("step", "late"), [("match_step", r"(part [01] of 2 \(images|piece)"), ("conduct", "the evaluation$")]
)
def test_time_limits(real: Scene, step: str, late: str) -> None:
    """Also if the task that starts all others does not answer."""
    ray_faults.plant(step, "sleep", 2)
    start = time.monotonic()
    with pytest.raises(TimeoutError, match=rf"^expected an end within timeout=3 s; not done: {late}"):
        scale.evaluate(*real, parts=2, on="ray", timeout=3)
    assert time.monotonic() - start < 8
    ray_faults.clear()
    assert scale.evaluate(*real, parts=2, on="ray", timeout=60).summary  # the cores are free again


@pytest.mark.slow
def test_a_node_that_leaves(environment: None, real: Scene, expected: Evaluation) -> None:  # noqa: ARG001 - inherited
    """Three nodes; the one that is at work goes while its tasks run. The last test: it ends the other cluster."""
    ray.shutdown()
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    nodes = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 10**8})
    try:
        # Before the others begin: of several nodes on one machine Ray 2.9 takes any, and that one may not leave.
        ray.init(address=nodes.address, **{**ray_faults.options(), "include_dashboard": None})
        leaving = [nodes.add_node(num_cpus=1, object_store_memory=10**8) for _ in range(2)]
        ray_faults.plant("match_step", "wait", 3)
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(lambda: scale.evaluate(*real, near=0.1, parts=6, on="ray", timeout=90))
            end = time.monotonic() + 60
            while ray_faults.planted_times() < 3:
                assert time.monotonic() < end
                time.sleep(0.05)
            nodes.remove_node(leaving[0], allow_graceful=False)
            assert_same_evaluation(future.result(), expected)
        while sum(node["Alive"] for node in ray.nodes()) > 2:  # the cluster notices it
            assert time.monotonic() < end + 30
            time.sleep(0.1)
    finally:
        ray.shutdown()
        nodes.shutdown()
