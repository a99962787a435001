"""A match table is enough: sums, copies, files and other processes say the same, to the last bit."""

from __future__ import annotations

import contextlib
import copy
import gc
import json
import os
import pickle
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ioukit
from ioukit import COCO, DatasetError, Detections, GroundTruth, MatchTable
from ioukit.evaluation import Evaluation, load_table, match, pack_table, save_table, unpack_table
from ioukit.evaluation.protocols import PROTOCOLS
from parity.random_data import random_case
from parity.random_lvis import random_lvis
from support.everything import assert_says_the_same, everything
from support.paths import DATA
from support.same_columns import arrays_of, assert_same_columns

if TYPE_CHECKING:
    from pathlib import Path

VAL2014 = DATA / "coco_val2014_100"
FILES = VAL2014 / "instances_val2014_100.json", VAL2014 / "instances_val2014_fakebbox100_results.json"


@pytest.fixture(scope="module")
def real() -> MatchTable:
    return match(*ioukit.read_coco(*FILES), near=0.1)


def _random(seed: int) -> tuple[GroundTruth, Detections, dict[str, Any]]:
    """Random data and rules; of every third set the images are called by names."""
    case, rng = random_case(seed), Random(seed)
    gt, dt = GroundTruth.from_coco(case.gt), Detections.from_coco(case.dt)
    options: dict[str, Any] = {
        "protocol": COCO.replace(**case.protocol).replace(
            choice=rng.choice(["best_free", "best_of_all"]),
            cap_scope=rng.choice(["image_and_category", "image", "category"]),
            integral=rng.choice(["recalls", "area"]),
        ),
        "near": rng.choice([None, 0.1, 0.05]),
    }
    if seed % 3 == 0:

        def named(ids: Any) -> list[str]:
            return [f"image {number:+04d}" for number in ids.tolist()]

        gt = GroundTruth.from_arrays(
            image_ids=named(gt.image_ids), category_ids=gt.category_ids, boxes=gt.boxes, areas=gt.areas,
            crowd=gt.crowd, images=named(gt.images.ids), categories=gt.categories,
        )  # fmt: skip
        dt = Detections.from_arrays(
            image_ids=named(dt.image_ids), category_ids=dt.category_ids, boxes=dt.boxes, scores=dt.scores
        )
    return gt, dt, options


@pytest.mark.parametrize("seed", range(0, 300, 2))
def test_any_split_of_the_images_says_the_same(seed: int) -> None:
    gt, dt, options = _random(seed)
    whole = match(gt, dt, **options)
    rng = Random(seed)
    parts: list[list[Any]] = [[] for _ in range(rng.choice([2, 3, 8]))]
    for image in gt.images.labels.tolist():
        rng.choice(parts).append(image)
    tables = [match(gt, dt, images=part, **options) for part in parts]
    assert_says_the_same(MatchTable.merge(tables), whole)
    rng.shuffle(tables)
    one_by_one = tables[0]
    for table in tables[1:]:
        one_by_one = one_by_one + table
    assert_says_the_same(one_by_one, whole)


@pytest.mark.parametrize("seed", range(1, 60, 3))
def test_a_file_and_a_copy_say_the_same(seed: int, tmp_path: Path) -> None:
    gt, dt, options = _random(seed)
    table = match(gt, dt, **options)
    path = tmp_path / "table.npz"
    for compress in (True, False):
        save_table(table, path, compress=compress)
        assert_says_the_same(load_table(path), table, rows_too=True)
    assert_says_the_same(pickle.loads(pickle.dumps(table)), table, rows_too=True)
    assert_says_the_same(copy.deepcopy(table), table, rows_too=True)


@pytest.mark.parametrize("seed", range(2, 60, 9))
@pytest.mark.parametrize("compress", [True, False])
def test_bytes_and_files_are_the_same(seed: int, compress: bool, tmp_path: Path) -> None:
    gt, dt, options = _random(seed)
    table = match(gt, dt, **options)
    packed = pack_table(table, compress=compress)
    assert packed == pack_table(unpack_table(packed), compress=compress)
    assert_says_the_same(unpack_table(packed), table, rows_too=True)
    save_table(table, tmp_path / "table.npz", compress=compress)
    assert_says_the_same(unpack_table((tmp_path / "table.npz").read_bytes()), table, rows_too=True)
    with pytest.raises(ioukit.DatasetError, match="partition 7: the match table is cut or damaged"):
        unpack_table(packed[:-30], "partition 7")
    with pytest.raises(ioukit.DatasetError, match="bytes: expected a match table"):
        unpack_table(b"")


class _Garbage:
    """Its end lets another thread go on, wherever the collector is run."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        sum(range(50))


def test_threads_read_at_once() -> None:
    """NumPy parses headers by `ast`, which Python 3.11 does not let threads do at once."""
    gt, dt, options = _random(2)
    packed = pack_table(match(gt, dt, **options))

    def read(_: int) -> None:
        for _ in range(20):
            _Garbage()
        unpack_table(packed)

    thresholds, interval = gc.get_threshold(), sys.getswitchinterval()
    try:
        gc.set_threshold(50)
        sys.setswitchinterval(1e-6)
        with ThreadPoolExecutor(5) as pool:
            list(pool.map(read, range(300)))
    finally:
        gc.set_threshold(*thresholds)
        sys.setswitchinterval(interval)


def test_a_sum_of_real_tables_from_files_says_the_same(real: MatchTable, tmp_path: Path) -> None:
    gt, dt = ioukit.read_coco(*FILES)
    parts = np.array_split(gt.images.ids, 7)
    for at, part in enumerate(parts):
        save_table(match(gt, dt, images=part, near=0.1), tmp_path / f"{at}.npz")
    merged = MatchTable.merge(load_table(path) for path in sorted(tmp_path.iterdir())[::-1])
    assert_says_the_same(merged, real)


def test_another_process_says_the_same(real: MatchTable, tmp_path: Path) -> None:
    path, answer = tmp_path / "table.npz", tmp_path / "answer"
    save_table(real, path)
    program = (
        "import pickle, sys; from ioukit.evaluation import load_table; from support.everything import everything\n"
        "pickle.dump(everything(load_table(sys.argv[1])), open(sys.argv[2], 'wb'))"
    )
    environment = {**os.environ, "PYTHONPATH": os.fspath(DATA.parent)}
    subprocess.run([sys.executable, "-c", program, path, answer], check=True, env=environment, timeout=60)
    assert_same_columns(pickle.loads(answer.read_bytes()), everything(real))


@pytest.mark.parametrize("seed", range(3))
def test_attributes_of_categories_are_kept(seed: int, tmp_path: Path) -> None:
    """Means over groups of categories need them, such as the AP of rare ones in LVIS."""
    truth, found = random_lvis(seed)
    table = match(GroundTruth.from_coco(truth, dialect="lvis"), Detections.from_coco(found), PROTOCOLS["lvis"])
    save_table(table, tmp_path / "table.npz")
    for again in (load_table(tmp_path / "table.npz"), unpack_table(pack_table(table))):
        assert again.categories.attributes["frequency"].tolist() == table.categories.attributes["frequency"].tolist()
        assert_says_the_same(again, table, rows_too=True)
        assert Evaluation.from_table(again).to_json() == Evaluation.from_table(table).to_json()


def test_the_data_is_not_needed(real: MatchTable) -> None:
    """With near pairs a table gives what the evaluation of the data gives."""
    alone, whole = Evaluation.from_table(real), ioukit.evaluate(*FILES)
    assert alone.to_json() == whole.to_json()
    assert_same_columns(alone.confusion(), whole.confusion(), but=("matches",))
    assert_same_columns(alone.error_kinds(), whole.error_kinds(), but=("matches",))
    bare = Evaluation.from_table(match(*ioukit.read_coco(*FILES)))
    with pytest.raises(ValueError, match=r"holds a match table alone, without the near pairs .* match with near=0.1"):
        bare.error_kinds()


def test_nothing_in_a_result_can_be_changed(real: MatchTable) -> None:
    halves = np.array_split(real.image_ids, 2)
    data = ioukit.read_coco(*FILES)
    merged = match(*data, images=halves[0], near=0.1) + match(*data, images=halves[1], near=0.1)
    evaluation = Evaluation.from_table(merged)
    sources = {
        "data": data,
        "table": real,
        "sum": merged,
        "pickle": pickle.loads(pickle.dumps(merged)),
        "copy": copy.deepcopy(evaluation),
        "everything": everything(merged),
    }
    arrays = arrays_of(sources)
    assert len(arrays) > 100
    for name, array in arrays:
        base: Any = array
        while isinstance(base, np.ndarray):
            assert not base.flags.writeable, f"{name} can be written"
            base = base.base
    with pytest.raises(AttributeError):
        merged.protocol = COCO  # type: ignore[misc]
    for mapping in (evaluation.summary, evaluation.counts, evaluation.per_class[0].summary, data[0].flags):
        with pytest.raises(TypeError):
            mapping["AP"] = 1  # type: ignore[index]


def test_an_image_in_two_tables_is_refused_or_left_out_and_counted(real: MatchTable) -> None:
    data = ioukit.read_coco(*FILES)
    ids = real.image_ids.tolist()
    padded = [match(*data, images=part, near=0.1) for part in (ids[:40], ids[40:], ids[38:42])]
    message = rf"image {ids[38]} is in two tables, at positions 0 and 2 of 3; .* duplicates='first'"
    with pytest.raises(ValueError, match=message):
        MatchTable.merge(padded)
    nothing = match(*data, images=[], near=0.1)
    with pytest.raises(ValueError, match=rf"image {ids[38]} is in two tables, at positions 1 and 4 of 7"):
        MatchTable.merge([nothing, padded[0], nothing, padded[1], padded[2], nothing, nothing])
    merged = MatchTable.merge(padded, duplicates="first")
    assert merged.repeated_images == 4
    assert_same_columns(merged, real, but=("row", "sources", "repeated_images"))
    assert "4 images that were in two tables count once" in Evaluation.from_table(merged).notes
    assert (merged + match(*data, images=[], near=0.1)).repeated_images == 4
    with pytest.raises(ValueError, match="unknown duplicates 'last'; choose from error, first"):
        MatchTable.merge(padded, duplicates="last")


def test_tables_that_differ_in_what_they_are_do_not_add_up() -> None:
    gt = GroundTruth.from_arrays(image_ids=[1, 2], category_ids=[1, 1], boxes=np.ones((2, 4)))
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=np.ones((1, 4)), scores=[0.5])
    table = match(gt, dt, images=[1])
    with pytest.raises(ValueError, match=r"different near pairs do not go together: near=None and near=0.1"):
        table + match(gt, dt, images=[2], near=0.1)
    masks = ioukit.Masks.from_arrays(np.ones((2, 3, 3), bool))
    other = GroundTruth.from_arrays(image_ids=[3, 4], category_ids=[1, 1], regions=masks)
    found = Detections.from_arrays(image_ids=[3, 4], category_ids=[1, 1], regions=masks, scores=[1, 1])
    with pytest.raises(ValueError, match="different regions do not add up: bbox, segm"):
        table + match(other, found, iou_type="segm")
    named = GroundTruth.from_arrays(image_ids=["a"], category_ids=[1], boxes=np.ones((1, 4)))
    nothing = Detections.from_arrays(image_ids=[], category_ids=[], boxes=np.ones((0, 4)), scores=[])
    with pytest.raises(ValueError, match="image ids of some tables are strings, those of others are integers"):
        table + match(named, nothing)


def test_the_time_of_a_sum_is_in_proportion_to_its_rows() -> None:
    """Five thousand workers with one image each; one table more than the other may not cost more than its rows."""

    def tables(count: int) -> list[MatchTable]:
        box = [[0.0, 0.0, 9.0, 9.0]]
        return [
            match(
                GroundTruth.from_arrays(image_ids=[at], category_ids=[1], boxes=box),
                Detections.from_arrays(image_ids=[at], category_ids=[1], boxes=box, scores=[at / count]),
            )
            for at in range(count)
        ]

    def seconds(parts: list[MatchTable]) -> float:
        times = []
        for _ in range(3):
            start = time.process_time()
            merged = MatchTable.merge(parts)
            times.append(time.process_time() - start)
        assert len(merged) == len(merged.objects) == len(parts)
        return min(times)

    parts = tables(5_000)
    few, many = seconds(parts[:500]), seconds(parts)
    assert many < 30 * few, f"{few:.3f} s for 500 tables, {many:.3f} s for 5,000"


def test_a_table_of_real_data_is_small(tmp_path: Path) -> None:
    table = match(*ioukit.read_coco(*FILES))
    path = tmp_path / "table.npz"
    save_table(table, path)
    assert path.stat().st_size < 40 * (len(table) + len(table.objects)) + 4096  # the header and the names of columns


def _archive(path: Path, changes: dict[str, Any]) -> None:
    with np.load(path, allow_pickle=False) as archive:
        columns = dict(archive)
    header = json.loads(bytes(columns["header"]).decode())
    for name, value in changes.items():
        if name in columns:
            columns[name] = value
        else:
            header[name] = value
    columns["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(path, **columns)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, r"expected a match table of version 1, found version 2, written by ioukit .*: update ioukit"),
        ({"format": "curves"}, "expected a match table, found an .npz of another kind"),
        ({"detections.score": np.zeros(3)}, "the columns of detections differ in length"),
        ({"detections.score": np.array(["a", "b"])}, "detections.score: expected float64, found <U1|expected float64"),
        ({"pairs.object": np.array([9])}, r"pairs.object: expected positions below 2, found 9"),
        ({"detections.row": np.array([7, 0])}, r"detections.row: expected rows below 2, found 7"),
        ({"detections.matched": np.zeros((2, 1, 1), np.uint8)}, r"detections.matched: expected shape \(2, 4, 2\)"),
        ({"images.detections": np.zeros(3, np.int64)}, "the columns of images or categories differ in length"),
        ({"iou_type": None, "sources": [1]}, "cut or damaged"),
        ({"protocol": {"name": "half"}}, "cut or damaged"),
    ],
)
def test_a_file_that_is_no_table_of_this_version_is_refused(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    gt = GroundTruth.from_arrays(image_ids=[1, 2], category_ids=[1, 1], boxes=np.ones((2, 4)))
    dt = Detections.from_arrays(image_ids=[1, 1], category_ids=[1, 1], boxes=np.ones((2, 4)), scores=[0.5, 0.4])
    path = tmp_path / "table.npz"
    save_table(match(gt, dt), path)
    load_table(path)
    _archive(path, changes)
    with pytest.raises(DatasetError, match=message) as error:
        load_table(path)
    assert str(path) in str(error.value)


def test_files_of_other_kinds_and_cut_ones_are_refused(real: MatchTable, tmp_path: Path) -> None:
    path = tmp_path / "table.npz"
    path.write_text("[]")
    with pytest.raises(DatasetError, match="found another kind of file"):
        load_table(path)
    np.savez(path, a=np.zeros(3))
    with pytest.raises(DatasetError, match=r"found an .npz without a header"):
        load_table(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.npy", pickle.dumps(print))
    with pytest.raises(DatasetError, match="cut or damaged"):
        load_table(path)
    save_table(real, path)
    content = path.read_bytes()
    for length in [5, 100, len(content) // 2, len(content) - 30, len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(DatasetError, match="cut or damaged"):
            load_table(path)
    for at in range(40, len(content) - 1, len(content) // 50):  # a byte that flips is found, or changes nothing
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x40]) + content[at + 1 :])
        with contextlib.suppress(DatasetError):
            assert_same_columns(load_table(path), real)
    with pytest.raises(FileNotFoundError):
        load_table(tmp_path / "none.npz")


@pytest.mark.parametrize(("field", "value"), [(6, 109), (8, 1)], ids=["later version", "password"])
def test_damage_that_looks_like_another_archive_is_refused(
    field: int, value: int, real: MatchTable, tmp_path: Path
) -> None:
    path = tmp_path / "table.npz"
    save_table(real, path)
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + field] = value  # of the first entry of the directory
    path.write_bytes(content)
    with pytest.raises(DatasetError, match="the match table is cut or damaged"):
        load_table(path)


def test_a_table_that_cannot_be_written_leaves_the_old_one(real: MatchTable, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        save_table(real, tmp_path / "nowhere" / "table.npz")
    assert not list(tmp_path.iterdir())
