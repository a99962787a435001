"""Evaluation on Ray: the same bits as in one process, for any parts and faults; clear errors; nothing left behind."""

from __future__ import annotations

import gc
import os
import pickle
import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import (
    COCO,
    DatasetError,
    Detections,
    Evaluation,
    GroundTruth,
    evaluate,
    nms,
    overlap_join,
    read_coco,
    scale,
)
from ioukit.evaluation.protocols import PROTOCOLS
from ioukit.scale.boxes.box_room import Room
from ioukit.statistics import replicate
from support import ray_faults
from support.paths import EXAMPLES
from support.same_columns import assert_same_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ray = pytest.importorskip("ray", reason="evaluation on Ray needs Ray: pip install 'ioukit[ray]'")
pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

VAL2017 = EXAMPLES / "coco_val2017_100"
ROOT = Path(__file__).parents[2]
Scene = tuple[GroundTruth, Detections]


@pytest.fixture(scope="module")
def real() -> Scene:
    return read_coco(VAL2017 / "ground_truth.json", VAL2017 / "yolact.json")


@pytest.fixture(scope="module")
def expected(real: Scene) -> Evaluation:
    return evaluate(*real, near=0.1)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What workers inherit: where the package and the faults are, and a folder of their own for temporary files."""
    with pytest.MonkeyPatch.context() as patch:
        paths = (ROOT / "src", ROOT / "tests", *filter(None, [os.environ.get("PYTHONPATH")]))
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, paths)))
        patch.setenv(ray_faults.FAULTS, str(tmp_path_factory.mktemp("faults")))
        short = tempfile.mkdtemp(prefix="r")  # names of Ray's sockets have at most 107 bytes
        patch.setenv("TMPDIR", short)
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "testing")  # for a store of this machine
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        patch.setenv("RAY_local_fs_capacity_threshold", "1")  # else it writes no objects to a disk with little space
        patch.setattr(tempfile, "tempdir", None)
        yield
    shutil.rmtree(short, ignore_errors=True)


OPTIONS: dict[str, Any] = {
    "include_dashboard": False,
    "log_to_driver": False,
    "logging_level": "ERROR",
    "runtime_env": {"worker_process_setup_hook": "support.ray_faults.install"},
}


@pytest.fixture(scope="module")
def cluster(environment: None) -> Iterator[None]:  # noqa: ARG001 - workers inherit it
    ray.init(num_cpus=2, object_store_memory=200_000_000, **OPTIONS)
    yield
    ray.shutdown()


@pytest.fixture(autouse=True)
def nothing_left(environment: None) -> Iterator[None]:  # noqa: ARG001 - its folders
    ray_faults.clear()
    yield
    assert not list(Path(tempfile.gettempdir()).glob("ioukit*"))


def assert_same(ours: Evaluation, expected: Evaluation) -> None:
    """Table, curves and numbers, bit for bit."""
    assert_same_columns(pickle.loads(pickle.dumps(ours.matches)), expected.matches)
    assert_same_columns(ours.curves, expected.curves)
    fields = ours.to_dict(), expected.to_dict()
    for each in fields:
        each.pop("notes")
    assert fields[0] == fields[1]


def test_ray_is_started_and_ended(real: Scene, expected: Evaluation, tmp_path: Path) -> None:
    ours = scale.evaluate(*real, near=0.1, threads=2, on="ray")
    assert not ray.is_initialized()
    assert_same(ours, expected)
    (folder,) = Path(tempfile.gettempdir()).glob("ioukit*")
    del ours
    gc.collect()
    assert not folder.exists()
    with pytest.raises(DatasetError, match="nowhere"):
        scale.evaluate(real[0], tmp_path / "nowhere", threads=2, on="ray")
    assert not ray.is_initialized()
    with pytest.raises(ConnectionError, match=r"expected a Ray cluster at the address '127\.0\.0\.1:9'"):
        scale.evaluate(*real, on="ray", address="127.0.0.1:9")
    with pytest.raises(ValueError, match="address and timeout need on='ray'"):
        scale.evaluate(*real, timeout=3)


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("parts", [1, 2, 8, 70])  # 70: more than one task merges
def test_any_parts_give_the_same_bits(real: Scene, expected: Evaluation, parts: int, tmp_path: Path) -> None:
    ours = scale.evaluate(*real, near=0.1, parts=parts, on="ray")
    assert_same(ours, expected)
    shared = scale.evaluate(*real, near=0.1, parts=parts, work=tmp_path / "work", on="ray")
    assert_same(shared, expected)
    assert_same(scale.evaluate(*real, near=0.1, work=tmp_path / "work"), expected)  # what Ray did is not done again
    assert not list((tmp_path / "work").rglob(".ioukit*"))


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    "protocol",
    [PROTOCOLS["voc2012"], PROTOCOLS["crowdhuman"], COCO.replace(class_agnostic=True)],
    ids=lambda rules: rules.name,
)
def test_other_rules(real: Scene, protocol: Any) -> None:
    chosen = real[0].categories.names[:3]
    ours = scale.evaluate(*real, protocol, parts=4, categories=chosen, on="ray")
    assert_same(ours, evaluate(*real, protocol, categories=chosen))


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    ("step", "fault"),
    [
        ("split_step", "kill"),
        ("split_step", "memory"),
        ("split_step", "twice"),
        ("match_step", "kill"),
        ("match_step", "memory"),
        ("match_in_files", "kill"),
        ("match_in_files", "twice"),
        ("draw_of_runs", "kill"),
        ("draw_of_runs", "twice"),
        ("draw_of_files", "kill"),
        ("conduct", "kill"),
    ],
)
def test_a_fault_changes_nothing(real: Scene, expected: Evaluation, step: str, fault: str, tmp_path: Path) -> None:
    work = tmp_path / "work" if step in ("draw_of_files", "match_in_files") else None
    ray_faults.plant(step.replace("match_in_files", "match_step"), fault, 1)
    ours = scale.evaluate(*real, near=0.1, parts=3, work=work, on="ray", timeout=60)
    assert ray_faults.planted_times() == 1
    assert_same(ours, expected)
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
def test_a_part_with_too_many_detections_is_cut(skewed: Scene, tmp_path: Path) -> None:
    """In tasks with little memory, as they are told. A task that is told to have much dies, so the limit is one."""
    expected = evaluate(*skewed, near=0.1)
    for work in (None, tmp_path / "work"):
        steps = "split_step count_step cut_step match_step draw_of_runs draw_of_files"
        ray_faults.plant(steps, "limit", 1000)
        ours = scale.evaluate(*skewed, near=0.1, memory="300MB", parts=2, work=work, on="ray", timeout=120)
        assert ray_faults.planted_times() > 8
        ray_faults.clear()
        assert_same(ours, expected)
        del ours  # and its rows in the object store
    tables = sorted((tmp_path / "work" / "tables").iterdir())
    assert len(tables) == 8  # of each image with many detections, and of those before and behind it in its part
    shutil.rmtree(tables[1])
    changed = {table: table.stat().st_mtime_ns for table in tables if table.exists()}
    again = scale.evaluate(*skewed, near=0.1, memory="2GB", work=tmp_path / "work", on="ray", timeout=120)
    assert {table: table.stat().st_mtime_ns for table in changed} == changed
    assert tables[1].exists()
    assert_same(again, expected)
    ray_faults.plant("match_step", "limit", 1000)
    with pytest.raises((MemoryError, ConnectionError), match=r"^part 0 of 1 \(images"):
        scale.evaluate(*skewed, near=0.1, memory="2GB", parts=1, on="ray", timeout=120)


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
        assert_same(ours, expected)
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
def test_time_limits(real: Scene) -> None:
    ray_faults.plant("match_step", "sleep", 2)
    start = time.monotonic()
    with pytest.raises(
        TimeoutError, match=r"^expected an end within timeout=3 s; not done: (part [01] of 2 \(images|piece)"
    ):
        scale.evaluate(*real, parts=2, on="ray", timeout=3)
    assert time.monotonic() - start < 20
    ray_faults.clear()
    assert scale.evaluate(*real, parts=2, on="ray", timeout=60).summary  # the cores are free again


@pytest.mark.usefixtures("cluster")
def test_no_rows_pass_through_this_process(real: Scene, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What arrives is as large for a tenth of the detections: curves and headers."""
    sizes: list[int] = []
    get = ray.get

    def counted(reference: Any, **options: Any) -> Any:
        value = get(reference, **options)
        sizes.append(len(pickle.dumps(value)))
        return value

    monkeypatch.setattr(ray, "get", counted)
    for step in (10, 1):
        detections = real[1].take(slice(None, None, step))
        scale.evaluate(real[0], detections, parts=2, work=tmp_path / str(step), on="ray", timeout=60)
    assert len(sizes) == 2
    assert sizes[0] == pytest.approx(sizes[1], abs=200)


@pytest.fixture(scope="module")
def files(real: Scene, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the annotations, and one with the detections in three Parquet files."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "detections").mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(real[1])), 3)):
        part = real[1].take(rows)
        x, y, width, height = part.boxes.T
        columns = {"image_id": part.image_ids, "category_id": part.category_ids, "score": part.scores}
        columns |= {"x": x, "y": y, "width": width, "height": height}
        pq.write_table(pa.table(columns), folder / "detections" / f"{number}.parquet", row_group_size=400)
    return folder


@pytest.mark.usefixtures("cluster")
def test_files_are_read_by_the_tasks(
    files: Path, expected: Evaluation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(files)
    ours = scale.evaluate(VAL2017 / "ground_truth.json", "detections", near=0.1, parts=3, on="ray", timeout=60)
    assert_same(ours, expected)
    spread = scale.evaluate(
        str(VAL2017 / "ground_truth.json"),
        [Path("detections") / f"{number}.parquet" for number in range(3)],
        near=0.1,
        parts=5,
        work=tmp_path / "work",
        on="ray",
        timeout=60,
    )
    assert_same(spread, expected)


@pytest.mark.usefixtures("cluster")
def test_a_file_that_is_missing_or_cut_is_named(files: Path, real: Scene, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(files / "detections", broken)
    whole = (broken / "1.parquet").read_bytes()
    (broken / "1.parquet").write_bytes(whole[: len(whole) // 3])
    with pytest.raises(DatasetError, match=r"broken/1\.parquet: expected a Parquet file"):
        scale.evaluate(real[0], broken, on="ray", timeout=60)
    (broken / "1.parquet").write_bytes(bytes([*whole[:400], *(255 - byte for byte in whole[400:900]), *whole[900:]]))
    with pytest.raises(DatasetError, match=r"broken/1\.parquet: row group 0"):
        scale.evaluate(real[0], broken, on="ray", timeout=60)
    with pytest.raises(DatasetError, match=r"nowhere: expected a file, a folder or a pattern"):
        scale.evaluate(real[0], tmp_path / "nowhere", on="ray", timeout=60)
    with pytest.raises(FileNotFoundError, match=r"no_truth\.json"):
        scale.evaluate(tmp_path / "no_truth.json", broken, on="ray", timeout=60)


@pytest.mark.usefixtures("cluster")
def test_an_image_that_is_not_listed_is_named(real: Scene, expected: Evaluation) -> None:
    gt = real[0].filter(images=real[0].images.ids[:50].tolist())
    with pytest.raises(DatasetError, match="image") as caught:
        scale.evaluate(gt, real[1], on="ray", timeout=60)
    with pytest.raises(DatasetError) as alone:
        scale.evaluate(gt, real[1])
    assert str(caught.value) == str(alone.value)
    assert expected.summary


@pytest.fixture(scope="module")
def bucket(files: Path) -> Iterator[str]:
    """The address of a bucket with the folder, on a server of this machine that speaks S3."""
    server = pytest.importorskip("moto.server", reason="a store to read from needs moto: pip install 'moto[server]'")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    query = f"scheme=http&endpoint_override={host}:{port}&region=us-east-1"
    fs = pytest.importorskip("pyarrow.fs")
    store, _ = fs.FileSystem.from_uri(f"s3://bucket?{query}&allow_bucket_creation=true")
    store.create_dir("bucket")
    fs.copy_files(str(files / "detections"), "bucket/detections", destination_filesystem=store)
    yield query
    running.stop()


@pytest.mark.usefixtures("cluster")
def test_detections_in_a_store(bucket: str, real: Scene, expected: Evaluation) -> None:
    ours = scale.evaluate(
        VAL2017 / "ground_truth.json", f"s3://bucket/detections?{bucket}", near=0.1, parts=3, on="ray", timeout=60
    )
    assert_same(ours, expected)
    with pytest.raises(DatasetError, match=r"s3://bucket/nothing.*found nothing there"):
        scale.evaluate(real[0], f"s3://bucket/nothing?{bucket}", on="ray", timeout=60)


@pytest.mark.usefixtures("cluster")
def test_replicates(expected: Evaluation) -> None:
    weights = np.random.default_rng(0).multinomial(100, [0.01] * 100, size=21)
    chosen: list[dict[str, Any]] = [{}, {"per_class": True, "measures": ["AP", "AR100"]}]
    for options in chosen:
        ours = scale.replicate(expected, weights, on="ray", timeout=60, **options)
        alone = replicate(expected.matches, weights, **options)
        assert_same_columns(ours, alone)
        assert_same_columns(scale.replicate(expected.matches, weights, **options), alone)
    assert scale.replicate(expected, weights[:0], on="ray").values.shape == (0, 12)
    with pytest.raises(ValueError, match="weights must have the shape"):
        scale.replicate(expected, weights[:, 1:], on="ray")
    with pytest.raises(ValueError, match="address and timeout need on='ray'"):
        scale.replicate(expected, weights, timeout=1)


@pytest.mark.usefixtures("cluster")
def test_joins_by_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("joining", "suppressing"):  # many cells
        room = Room(boxes=400, chunk=160, pairs=500, sample=2000)
        monkeypatch.setattr(f"ioukit.scale.boxes.{module}.room_of", lambda *_, room=room, **__: room)
    rng = np.random.default_rng(1)
    corners = rng.uniform(0, 300, (4000, 2))
    boxes = np.concatenate([corners, corners + rng.uniform(1, 20, (4000, 2))], axis=1)
    scores = rng.uniform(size=4000)
    with scale.RayMap(timeout=60) as run:
        chunks = [(boxes[:1500], scores[:1500]), (boxes[1500:], scores[1500:])]
        kept = scale.nms(chunks, iou_threshold=0.3, folder=tmp_path, map=run).read()
        pairs = list(scale.overlap_join([boxes], min_iou=0.3, folder=tmp_path, map=run, sort=True))
        assert list(run(abs, range(-40, 0))) == list(range(40, 0, -1))
        with pytest.raises(TypeError, match="bad operand"):
            list(run(abs, ["text"]))
    np.testing.assert_array_equal(kept, nms(boxes, scores, iou_threshold=0.3))
    found = overlap_join(boxes, boxes, min_iou=0.3)
    upper = found.rows < found.columns  # each pair once, as a set joined with itself gives it
    for name in ("rows", "columns", "values"):
        together = np.concatenate([getattr(pair, name) for pair in pairs])
        np.testing.assert_array_equal(together, getattr(found, name)[upper])
    assert not list(tmp_path.iterdir())
    assert ray.is_initialized()
    with pytest.raises(ValueError, match="within the with statement"):
        run(abs, [1])


@pytest.mark.slow
def test_a_node_that_leaves(environment: None, real: Scene, expected: Evaluation) -> None:  # noqa: ARG001 - inherited
    """Three nodes; the one that is at work goes while its tasks run. The last test: it ends the other cluster."""
    ray.shutdown()
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    nodes = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 10**8})
    try:
        leaving = [nodes.add_node(num_cpus=1, object_store_memory=10**8) for _ in range(2)]
        ray.init(address=nodes.address, **{**OPTIONS, "include_dashboard": None})
        ray_faults.plant("match_step", "wait", 3)
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(lambda: scale.evaluate(*real, near=0.1, parts=6, on="ray", timeout=90))
            end = time.monotonic() + 60
            while ray_faults.planted_times() < 3:
                assert time.monotonic() < end
                time.sleep(0.05)
            nodes.remove_node(leaving[0], allow_graceful=False)
            assert_same(future.result(), expected)
        while sum(node["Alive"] for node in ray.nodes()) > 2:  # the cluster notices it
            assert time.monotonic() < end + 30
            time.sleep(0.1)
    finally:
        ray.shutdown()
        nodes.shutdown()
