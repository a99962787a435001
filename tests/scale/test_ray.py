"""Evaluation on Ray: the same bits as in one process, for any parts and files; clear errors; nothing is left behind."""

from __future__ import annotations

import dataclasses
import gc
import json
import pickle
import shutil
import tempfile
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
    scale,
)
from ioukit.evaluation.protocols import PROTOCOLS
from ioukit.statistics import replicate
from support import ray_faults
from support.paths import EXAMPLES
from support.same_columns import assert_same_columns, assert_same_evaluation

if TYPE_CHECKING:
    from collections.abc import Iterator

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ray = pytest.importorskip("ray", reason="evaluation on Ray needs Ray: pip install 'ioukit[ray]'")
pytestmark = [
    pytest.mark.usefixtures("nothing_left"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

VAL2017 = EXAMPLES / "coco_val2017_100"
Scene = tuple[GroundTruth, Detections]


def test_ray_is_started_and_ended(real: Scene, expected: Evaluation, tmp_path: Path) -> None:
    ours = scale.evaluate(*real, near=0.1, threads=2, on="ray")
    assert not ray.is_initialized()
    assert_same_evaluation(ours, expected)
    (folder,) = Path(tempfile.gettempdir()).glob("ioukit*")
    del ours
    gc.collect()
    assert not folder.exists()
    with pytest.raises(DatasetError, match="nowhere"):
        scale.evaluate(real[0], tmp_path / "nowhere", threads=2, on="ray")
    assert not ray.is_initialized()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ray, "init", lambda **options: pytest.fail(f"the address is {options['address']}"))
        with pytest.raises(pytest.fail.Exception, match="the address is local"):  # None may be that of another program
            scale.evaluate(*real, threads=2, on="ray")
    with pytest.raises(ConnectionError, match=r"expected a Ray cluster at the address '127\.0\.0\.1:9'"):
        scale.evaluate(*real, on="ray", address="127.0.0.1:9")
    with pytest.raises(ValueError, match="address and timeout need on='ray'"):
        scale.evaluate(*real, timeout=3)


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("parts", [1, 2, 8, 70])  # 70: more than one task merges
def test_any_parts_give_the_same_bits(real: Scene, expected: Evaluation, parts: int, tmp_path: Path) -> None:
    ours = scale.evaluate(*real, near=0.1, parts=parts, on="ray")
    assert_same_evaluation(ours, expected)
    shared = scale.evaluate(*real, near=0.1, parts=parts, work=tmp_path / "work", on="ray")
    assert_same_evaluation(shared, expected)
    assert_same_evaluation(
        scale.evaluate(*real, near=0.1, work=tmp_path / "work"), expected
    )  # what Ray did is not done again
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
    assert_same_evaluation(ours, evaluate(*real, protocol, categories=chosen))


@pytest.mark.usefixtures("cluster")
def test_no_rows_pass_through_this_process(real: Scene, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What arrives is as large for ten times the detections, if they do not change the curves: curves and headers."""
    sizes: list[int] = []
    get = ray.get

    def counted(reference: Any, **options: Any) -> Any:
        value = get(reference, **options)
        sizes.append(len(pickle.dumps(value)))
        return value

    monkeypatch.setattr(ray, "get", counted)
    # They come after all others and find nothing.
    wrong = dataclasses.replace(
        real[1], scores=real[1].scores * 1e-9, boxes=np.full(real[1].boxes.shape, 1e-3), areas=None
    )
    for times in (1, 10):
        detections = Detections.concat([real[1], *[wrong] * (times - 1)])
        scale.evaluate(real[0], detections, parts=2, work=tmp_path / str(times), on="ray", timeout=60)
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
    assert_same_evaluation(ours, expected)
    spread = scale.evaluate(
        str(VAL2017 / "ground_truth.json"),
        [Path("detections") / f"{number}.parquet" for number in range(3)],
        near=0.1,
        parts=5,
        work=tmp_path / "work",
        on="ray",
        timeout=60,
    )
    assert_same_evaluation(spread, expected)


Sorted = tuple[GroundTruth, Path]


@pytest.fixture(scope="module")
def sorted_files(real: Scene, tmp_path_factory: pytest.TempPathFactory) -> Sorted:
    """Two files in the order of the images, each with 110,000 rows; both have one of the images."""
    gt, folder, rng = real[0], tmp_path_factory.mktemp("sorted"), np.random.default_rng(0)
    chosen = np.sort(np.searchsorted(gt.images.ids, gt.image_ids))[np.sort(rng.integers(0, len(gt), 220_000))]
    objects = rng.integers(0, len(gt), len(chosen))
    x, y, width, height = gt.boxes[objects].T
    columns = {"image_id": gt.images.ids[chosen], "category_id": gt.category_ids[objects], "score": rng.random(220_000)}
    columns |= {"x": x, "y": y, "width": width, "height": height}
    for number in range(2):
        rows = slice(110_000 * number, 110_000 * (number + 1))
        table = pa.table({name: column[rows] for name, column in columns.items()})
        pq.write_table(table, folder / f"{number}.parquet", row_group_size=55_000)
    return gt, folder


def expected_of(gt: GroundTruth, folder: Path) -> Evaluation:
    return evaluate(gt, Detections.concat(list(scale.open_detections(folder, gt).batches())))


@pytest.mark.usefixtures("cluster")
def test_files_in_order_are_matched_where_they_are_read(sorted_files: Sorted, tmp_path: Path) -> None:
    expected, work = expected_of(*sorted_files), tmp_path / "work"
    for memory in ("2GB", "300MB"):  # the second one is not enough for a file at once
        assert_same_evaluation(scale.evaluate(*sorted_files, memory=memory, on="ray", timeout=60), expected)
    ray_faults.plant("read_step", "kill", 1)
    assert_same_evaluation(scale.evaluate(*sorted_files, memory="300MB", work=work, on="ray", timeout=60), expected)
    tables = sorted((work / "by_piece" / "tables").iterdir())
    assert len(tables) == 3  # of each file, and of the image that both have
    assert not (work / "tables").exists()
    made = [table.stat().st_mtime_ns for table in tables]
    tables[0].unlink()
    ray_faults.plant("match_step", "kill", 1)
    assert_same_evaluation(scale.evaluate(*sorted_files, work=work, on="ray", timeout=60), expected)
    assert ray_faults.planted_times() == 0
    assert [table.stat().st_mtime_ns for table in tables[1:]] == made[1:]
    assert tables[0].exists()
    tables[1].unlink()
    assert_same_evaluation(scale.evaluate(*sorted_files, work=work, on="ray", timeout=60), expected)
    assert tables[2].stat().st_mtime_ns == made[2]


@pytest.mark.usefixtures("cluster")
def test_files_whose_rows_are_elsewhere_are_split(sorted_files: Sorted, tmp_path: Path) -> None:
    """A row without a box moves the numbers of those behind it, which statistics do not say."""
    shutil.copytree(sorted_files[1], tmp_path / "detections")
    table = pq.read_table(tmp_path / "detections" / "0.parquet").to_pydict()
    for name in ("x", "y", "width", "height"):
        table[name][7] = float("nan")
    pq.write_table(pa.table(table), tmp_path / "detections" / "0.parquet", row_group_size=55_000)
    gt, given = sorted_files[0], tmp_path / "detections"
    expected = expected_of(gt, given)
    for work in (None, tmp_path / "work"):
        ours = scale.evaluate(gt, given, parts=None, memory="300MB", work=work, on="ray", timeout=60)
        assert ours.matches.sources[1] == 219_999
        assert_same_evaluation(ours, expected)
    assert not json.loads((tmp_path / "work" / "ioukit-job.json").read_text())["by_piece"]
    assert (tmp_path / "work" / "tables").exists()


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
    with pytest.raises(FileNotFoundError, match=r"the ground truth is not there: .*no_truth\.json"):
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
    assert_same_evaluation(ours, expected)
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
