"""Parts by tasks of Dask, Spark, Ray or processes: any partition, tasks that run twice, workers that are killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ioukit
from evaluation.sync_process import digest
from ioukit.evaluation import Evaluation, MatchTable, match, pack_table, unpack_table
from support.pages import examples
from support.paths import IMPORTED_FROM, ROOT, program
from support.random_tracks import random_track_set

FOLDER = ROOT / "examples" / "coco_val2017_100"


def data() -> tuple[ioukit.GroundTruth, ioukit.Detections]:
    return ioukit.read_coco(FOLDER / "ground_truth.json", FOLDER / "yolact.json")


def part_of(images: list[int]) -> bytes:
    """What a task returns."""
    return pack_table(match(*data(), images=images, near=0.1, threads=1))


def merged(packed: list[bytes]) -> bytes:
    return pack_table(MatchTable.merge(map(unpack_table, packed)))


def whole() -> str:
    return digest(Evaluation.from_table(match(*data(), near=0.1)))


def digest_of(packed: bytes) -> str:
    return digest(Evaluation.from_table(unpack_table(packed)))


def parts(owners: np.ndarray[Any, Any]) -> list[list[int]]:
    ids = data()[0].images.ids
    return [ids[owners == part].tolist() for part in range(int(owners.max()) + 1)]


def tree(dask: Any, tasks: list[Any], width: int) -> Any:
    while len(tasks) > 1:
        tasks = [dask.delayed(merged)(tasks[at : at + width]) for at in range(0, len(tasks), width)]
    return tasks[0]


@given(st.integers(1, 12), st.integers(2, 5), st.integers(0, 2**32 - 1))
@settings(max_examples=10, deadline=None)
def test_dask_gives_the_same_bits_for_any_partition(count: int, width: int, seed: int) -> None:
    dask = pytest.importorskip("dask", reason="this program needs Dask: pip install dask")
    rng = np.random.default_rng(seed)
    tasks = [dask.delayed(part_of)(images) for images in parts(rng.integers(0, count, 100))]
    rng.shuffle(tasks)
    assert digest_of(tree(dask, tasks, width).compute(scheduler="threads")) == whole()


def test_an_image_in_two_partitions_is_named() -> None:
    dask = pytest.importorskip("dask", reason="this program needs Dask: pip install dask")
    images = parts(np.arange(100) // 25)
    images[3].append(images[1][0])
    task = tree(dask, [dask.delayed(part_of)(each) for each in images], 8)
    with pytest.raises(ValueError, match=rf"image {images[1][0]} is in two tables, at positions 1 and 3 of 4"):
        task.compute(scheduler="threads")


def dies_once(images: list[int], flag: str) -> bytes:
    """The first process that comes here kills itself."""
    try:
        Path(flag).touch(exist_ok=False)
    except FileExistsError:
        return part_of(images)
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
@pytest.mark.filterwarnings("ignore")  # those of Dask about a process that ended
def test_dask_goes_on_when_a_worker_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)  # workers import this file by its name, tests.scale....
    dask = pytest.importorskip("dask", reason="this program needs Dask: pip install dask")
    distributed = pytest.importorskip("distributed", reason="this program needs pip install distributed")
    with (
        dask.config.set({"distributed.worker.daemon": False}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path), silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        tasks = [dask.delayed(part_of)(images) for images in parts(np.arange(100) % 6)[:5]]
        tasks.append(dask.delayed(dies_once)(parts(np.arange(100) % 6)[5], str(tmp_path / "died")))
        started = time.monotonic()
        packed = client.compute(tree(dask, tasks, 3)).result(timeout=90)
        assert time.monotonic() - started < 90
    assert (tmp_path / "died").exists()
    assert digest_of(packed) == whole()


@pytest.mark.filterwarnings("ignore")  # those of Spark about its own packages
def test_spark_repeats_a_task_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = pytest.importorskip("pyspark.sql", reason="this program needs Spark: pip install pyspark")
    arrow = pytest.importorskip("pyarrow")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    folder, flag = str(FOLDER), str(tmp_path / "failed")

    def packed_parts(batches: Any) -> Any:
        batches = list(batches)
        images = [image for batch in batches for image in batch["image"].to_pylist()]
        if not images:
            return
        if 885 in images:
            try:
                open(flag, "xb").close()
            except FileExistsError:
                pass
            else:
                raise OSError("the first attempt fails")
        truth, found = ioukit.read_coco(f"{folder}/ground_truth.json", f"{folder}/yolact.json")
        table = match(truth, found, images=images, near=0.1, threads=1)
        yield arrow.RecordBatch.from_pydict({"table": [pack_table(table)]})

    spark = (
        sql.SparkSession.builder.master("local[2,3]")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    try:
        rows = spark.createDataFrame([(image,) for image in data()[0].images.ids.tolist()], "image long")
        found = rows.repartition(7, "image").mapInArrow(packed_parts, "table binary").collect()
    finally:
        spark.stop()
    assert os.path.exists(flag)
    assert digest_of(merged([bytes(row["table"]) for row in found])) == whole()


def test_processes_evaluate_a_sequence_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program of the page, with its functions in a file that the processes import."""
    blocks = [one for one in examples("docs/cluster.md") if "gt/gt.txt" in one.code or "evaluate_sequence" in one.code]
    files, functions, _, processes = blocks
    monkeypatch.chdir(tmp_path)
    head = "import numpy as np\nimport ioukit\n"
    Path("videos.py").write_text(head + files.code)
    program(tmp_path / "videos.py")
    Path("sequences.py").write_text(head + functions.code.partition("\ntracks = ")[0])
    Path("main.py").write_text(processes.code)
    path = os.pathsep.join([str(IMPORTED_FROM), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    ran = subprocess.run([sys.executable, "main.py"], capture_output=True, text=True, check=True, env=environment)
    assert ran.stdout == f"{(functions.printed or '').splitlines()[0]}\n"

    Path("videos/bridge/gt/gt.txt").write_text("no numbers\n")  # a task does not look at other sequences
    shutil.rmtree("videos/square")
    assert len(program(tmp_path / "sequences.py").evaluate_sequence("alley")) == 30


@pytest.mark.usefixtures("cluster")
# As in test_ray.py: Ray's own, and what JAX says about a fork where another test has used it.
@pytest.mark.filterwarnings("ignore::FutureWarning:ray")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ray_evaluates_a_sequence_per_task(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    given, flag = random_track_set(10), str(tmp_path / "died")

    def evaluated(place: int) -> ioukit.TrackEvaluator:
        if place == 1:
            try:
                open(flag, "xb").close()
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        evaluator = ioukit.TrackEvaluator(categories=given.names)
        frames = given.frames_of(given.found, place), given.frames_of(given.objects, place)
        evaluator.update(*frames, sequence=list(given.lengths)[place])
        return evaluator

    waiting = [ray.remote(evaluated).remote(place) for place in range(len(given.lengths))]
    merged = ioukit.TrackEvaluator(categories=given.names)
    while waiting:  # in the order in which they arrive
        arrived, waiting = ray.wait(waiting, timeout=100)
        merged.merge(ray.get(arrived[0]))
    assert os.path.exists(flag)
    found, whole = merged.compute(), ioukit.evaluate_tracks(given.ground_truth(), given.detections())
    of_found, of_whole = ({**one.to_dict(), "notes": []} for one in (found, whole))  # notes name other sources
    assert json.dumps(of_found) == json.dumps(of_whole)
