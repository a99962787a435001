"""Evaluation in parts: the same table, curves and numbers as in one piece, whatever the parts; and its folder."""

from __future__ import annotations

import dataclasses
import itertools
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - the profile
from evaluation.test_rules import protocols, scenes
from ioukit import (
    COCO,
    DatasetError,
    Detections,
    Evaluation,
    GroundTruth,
    MatchTable,
    Protocol,
    evaluate,
    read_coco,
    scale,
)
from ioukit.comparison import compare_models
from ioukit.evaluation import TABLES, match
from ioukit.report import write_report
from ioukit.scale import stages
from ioukit.scale.memory import Budget
from ioukit.scale.merging import merged
from ioukit.scale.parts import edges_of_ranges
from ioukit.scale.sources.source import fewer_batches
from ioukit.scale.table_files import Run, TableFile, write_table
from support.paths import DATA
from support.same_columns import assert_same_columns, assert_same_evaluation

pa = pytest.importorskip("pyarrow")

VAL2014 = DATA / "coco_val2014_100"
Scene = tuple[GroundTruth, Detections]


@pytest.fixture(scope="module")
def real() -> Scene:
    return read_coco(VAL2014 / "instances_val2014_100.json", VAL2014 / "instances_val2014_fakebbox100_results.json")


@settings(max_examples=60)
@given(
    scenes(),
    protocols(),
    st.integers(1, 4),
    st.sampled_from([None, 0.1]),
    st.integers(1, 9),
    st.sampled_from([1, 1_000, 100_000, 10**9]),
)
def test_any_parts_give_the_same_bits(
    data: Scene, protocol: Protocol, parts: int, near: float | None, batch_rows: int, drawn: int
) -> None:
    """Curves are drawn from the merged rows of one category, or from those of several categories at once."""
    expected = evaluate(*data, protocol, near=near)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("ioukit.scale.memory.MOST_ROWS", batch_rows)
        patch.setattr("ioukit.scale.memory.LEAST_BLOCK", batch_rows)
        patch.setattr("ioukit.scale.memory.MOST_BLOCK", batch_rows)
        patch.setattr("ioukit.scale.engines.local.LEAST_GROUP", drawn)
        patch.setattr(Budget, "drawing", lambda *_: (2, drawn))
        ours = scale.evaluate(*data, protocol, near=near, parts=parts, work=Path(folder) / "w", threads=2)
        assert_same_columns(ours.score_curves(), expected.score_curves())
        if near and near <= protocol.main_iou:
            assert_same_columns(ours.error_kinds(), expected.error_kinds())
            assert_same_columns(ours.error_kinds(max_dets_per_image=2), expected.error_kinds(max_dets_per_image=2))
        assert_same_evaluation(ours, expected)
        again = scale.evaluate(*data, protocol, near=near, parts=1, work=Path(folder) / "w", threads=1)
        assert_same_evaluation(again, expected)


@pytest.mark.parametrize("parts", [1, 3, 100])
def test_real_data(real: Scene, parts: int) -> None:
    expected = evaluate(*real, near=0.1)
    ours = scale.evaluate(*real, parts=parts, near=0.1)
    assert type(ours.matches) is not MatchTable
    assert dict(ours.summary) == dict(expected.summary)
    assert ours.counts == expected.counts
    assert_same_evaluation(ours, expected)
    assert ours.confusion().counts.tolist() == expected.confusion().counts.tolist()
    assert_same_columns(ours.error_kinds(), expected.error_kinds(), but=["table", "matches"])
    assert_same_columns(ours.interval("AP", replicates=50), expected.interval("AP", replicates=50))


def test_a_part_with_too_many_detections_is_cut(real: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most of the detections are on a few images."""
    gt, dt = real
    often = Detections.concat([dt, *[dt[dt.image_ids == image] for image in gt.images.ids[[3, 30, 50, 97]]] * 30])
    small = Budget(batch_rows=400, piece_rows=400, part_rows=500, most_rows=300, threads=2, free=10**6, classes=80)
    monkeypatch.setattr("ioukit.scale.requests.budget_of", lambda *_: small)
    ours = scale.evaluate(gt, often, parts=3, work=tmp_path / "work")
    tables = [TableFile(path) for path in (tmp_path / "work" / "tables").iterdir()]
    assert len(tables) > 6
    assert max(table.header["totals"]["detections"] for table in tables) < len(often) / 2  # one image has a third
    assert_same_evaluation(ours, evaluate(gt, often))


def test_small_row_groups_of_a_piece_are_split_together(real: Scene, tmp_path: Path) -> None:
    """Else each part would be read in as many pieces. Those that are large enough stay apart."""
    pq = pytest.importorskip("pyarrow.parquet")
    gt, dt = real
    rows = dt[np.random.default_rng(0).permutation(len(dt))]
    columns = dict(zip(("x", "y", "width", "height"), rows.boxes.T, strict=True))
    table = pa.table({"image_id": rows.image_ids, "category_id": rows.category_ids, **columns, "score": rows.scores})
    pq.write_table(table, tmp_path / "dt.parquet", row_group_size=50)
    ours = scale.evaluate(gt, tmp_path / "dt.parquet", parts=3, work=tmp_path / "work")
    assert len(list((tmp_path / "work" / "pieces").glob("*.arrow"))) == 1 < len(dt) / 50
    assert_same_evaluation(ours, evaluate(gt, rows))
    batches = [rows[at : at + 50] for at in range(0, len(rows), 50)]
    for most, sizes in ((10, [50, 50, 50]), (100, [100, 50]), (120, [100, 50]), (1_000, [150]), (250, [150])):
        joined = list(fewer_batches(iter(batches[:3]), most))
        assert [len(batch) for batch in joined] == sizes
        assert_same_columns(Detections.concat(joined), rows[:150])


def test_a_part_is_cut_by_its_detections() -> None:
    """Ranges have as many images as fit; images are never cut."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        counts = rng.integers(0, 5, 50) ** rng.integers(1, 6)
        most = int(rng.integers(1, 2 * max(1, counts.sum())))
        edges = edges_of_ranges(counts, most)
        assert (edges[0], edges[-1]) == (0, 50)
        for first, end in itertools.pairwise(edges):
            inside = counts[first:end]
            assert inside.sum() <= most or len(inside) == 1
            if end < 50:
                assert inside.sum() + counts[end] > most  # no more images would fit


def test_the_sign_of_zero_stays() -> None:
    boxes = [[0, 0, 4, 4], [9, 9, 4, 4]]
    gt = GroundTruth.from_arrays(image_ids=[1, 2], category_ids=[1, 1], boxes=boxes)
    dt = Detections.from_arrays(image_ids=[1, 2], category_ids=[1, 1], boxes=boxes, scores=[-0.0, 0.0])
    assert_same_evaluation(scale.evaluate(gt, dt, parts=2), evaluate(gt, dt))


def test_numbers_need_no_rows(real: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = scale.evaluate(*real, parts=3)
    monkeypatch.setattr(TableFile, "read", lambda _: pytest.fail("rows were read"))
    assert ours.summary["AP"] == evaluate(*real).summary["AP"]
    assert len(ours.per_class) == 80
    assert ours.to_json()
    assert ours.table()
    assert "3 parts" in repr(ours.matches)


def test_analyses_are_added_up(real: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of all parts are never in memory together; if they are, they are not read again."""
    ours, expected = scale.evaluate(*real, parts=7, near=0.1), evaluate(*real)
    with monkeypatch.context() as patch:
        patch.setattr("ioukit.scale.stored_table.joined", lambda *_: pytest.fail("all rows were read"))
        assert_same_columns(ours.confusion(), expected.confusion())
        assert_same_columns(
            ours.confusion(iou_threshold=0.7, max_dets=3), expected.confusion(iou_threshold=0.7, max_dets=3)
        )
        with pytest.raises(ValueError, match=r"without the near pairs that this needs: match with near=0\.05"):
            ours.confusion(iou_threshold=0.05)
        assert_same_columns(ours.error_kinds(), expected.error_kinds())
        others: Any = {"iou_threshold": 0.75, "area_range": "small", "background_threshold": 0.2}
        assert_same_columns(ours.error_kinds(**others), expected.error_kinds(**others))
        with pytest.raises(ValueError, match=r"without the near pairs that this needs: match with near=0\.05"):
            ours.error_kinds(background_threshold=0.05)
        assert_same_columns(ours.score_curves(), expected.score_curves())
    assert len(ours.matches.detections) == len(real[1])
    monkeypatch.setattr(TableFile, "read", lambda _: pytest.fail("rows were read twice"))
    for name in ("confusion", "error_kinds", "score_curves"):
        assert_same_columns(getattr(ours, name)(), getattr(expected, name)())


def test_temporary_files_go_with_the_evaluation(real: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ours = scale.evaluate(*real, parts=3)
    assert len(list(tmp_path.iterdir())) == 1
    del ours
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(stages, "match", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        scale.evaluate(*real, parts=3)
    assert not list(tmp_path.iterdir())


class TestWorkFolder:
    def test_goes_on_where_it_stopped(self, real: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        work, done = tmp_path / "work", []

        def third_fails(*given: Any, **options: Any) -> MatchTable:
            done.append(1)
            if len(done) == 3:
                raise OSError(28, "No space left on device")
            return match(*given, **options)

        monkeypatch.setattr(stages, "match", third_fails)
        with pytest.raises(OSError, match="No space left"):
            scale.evaluate(*real, parts=5, work=work, threads=1)
        monkeypatch.setattr(stages, "split", lambda *_: pytest.fail("split again"))
        ours = scale.evaluate(*real, parts=2, work=work, threads=1)  # it keeps its five parts
        assert len(done) == 3 + 3
        assert_same_evaluation(ours, evaluate(*real))

    def test_belongs_to_one_run(self, real: Scene, tmp_path: Path) -> None:
        scale.evaluate(*real, parts=2, work=tmp_path / "work")
        with pytest.raises(DatasetError, match="found that of a run with another protocol"):
            scale.evaluate(*real, COCO.replace(max_dets=[1]), parts=2, work=tmp_path / "work")
        with pytest.raises(DatasetError, match="found that of a run with other detections"):
            scale.evaluate(real[0], real[1][:5], parts=2, work=tmp_path / "work")
        renamed = dataclasses.replace(real[0].categories, attributes={"frequency": np.array(["r"] * 80)})
        with pytest.raises(DatasetError, match="found that of a run with another ground truth"):
            scale.evaluate(dataclasses.replace(real[0], categories=renamed), real[1], work=tmp_path / "work")
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "notes.txt").write_text("mine")
        with pytest.raises(DatasetError, match="expected an empty folder or one of an earlier run"):
            scale.evaluate(*real, work=tmp_path / "other")
        assert [path.name for path in (tmp_path / "other").iterdir()] == ["notes.txt"]
        with pytest.raises(DatasetError, match="expected a folder, found a file"):
            scale.evaluate(*real, work=tmp_path / "other" / "notes.txt")

    @pytest.mark.parametrize(
        "damaged",
        [
            lambda text: text[:-10],
            lambda _: "",
            lambda _: "[]",
            lambda text: text.replace('"parts": 2', '"parts": 0'),
            lambda text: text.replace('"parts": 2', '"parts": "2"'),
            lambda text: text.replace('"by_piece"', '"by_pieces"'),
        ],
    )
    def test_a_damaged_description_of_a_run_is_named(self, real: Scene, tmp_path: Path, damaged: Any) -> None:
        scale.evaluate(*real, parts=2, work=tmp_path / "work")
        file = tmp_path / "work" / "ioukit-job.json"
        whole = file.read_text()
        assert damaged(whole) != whole
        file.write_text(damaged(whole))
        with pytest.raises(DatasetError, match=r"ioukit-job\.json: cut or damaged: "):
            scale.evaluate(*real, parts=2, work=tmp_path / "work")
        file.write_text(whole)
        assert_same_evaluation(scale.evaluate(*real, work=tmp_path / "work"), evaluate(*real))

    def test_what_a_killed_process_left_is_removed(self, real: Scene, tmp_path: Path) -> None:
        (tmp_path / "lock").touch()  # it was killed before it described its run
        for folder in (tmp_path, tmp_path / "tables" / ".ioukit-1"):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / ".ioukit-half.tmp").write_bytes(b"half")
        with pytest.raises(DatasetError, match="expected an empty folder"):
            scale.evaluate(*real, work=tmp_path)
        (tmp_path / "tables" / ".ioukit-1" / ".ioukit-half.tmp").rename(tmp_path / ".ioukit-other.tmp")
        (tmp_path / "tables" / ".ioukit-1").rmdir()
        (tmp_path / "tables").rmdir()
        assert_same_evaluation(scale.evaluate(*real, parts=2, work=tmp_path), evaluate(*real))
        assert not list(tmp_path.rglob(".ioukit-*"))

    @pytest.mark.parametrize("damage", ["cut", "flipped"])
    @pytest.mark.parametrize("place", ["runs", "detections", "pairs", "arrays", "header"])
    def test_a_damaged_part_is_made_again(self, real: Scene, tmp_path: Path, place: str, damage: str) -> None:
        before = scale.evaluate(*real, parts=2, work=tmp_path / "work")
        file = tmp_path / "work" / "tables" / "000000050-000000100"
        header = TableFile(file).header
        at = header["size"] + 9 if place == "header" else header["offsets"][place][0] + 9
        content = bytearray(file.read_bytes())
        content[at] ^= 16
        file.write_bytes(content if damage == "flipped" else content[:at])
        message = "000000050-000000100: the match table of this part is missing, cut or damaged"
        if place != "header":  # read already
            with pytest.raises(DatasetError, match=message):
                before.matches.pairs  # noqa: B018 - reads all rows
        again = scale.evaluate(*real, parts=2, work=tmp_path / "work")
        (note,) = set(again.notes) - set(before.notes)
        assert message in note
        assert note.endswith("it was made again")
        assert_same_evaluation(again, evaluate(*real))
        assert scale.evaluate(*real, parts=2, work=tmp_path / "work").notes == before.notes


@pytest.mark.parametrize("place", ["tables", "pieces"])
def test_a_bit_that_flipped_is_found_when_a_run_goes_on(real: Scene, tmp_path: Path, place: str) -> None:
    work = tmp_path / "work"
    scale.evaluate(*real, parts=3, work=work)
    chosen = np.random.default_rng(0)
    files = [path for path in (work / place).rglob("*") if path.is_file()]
    assert len(files) > 1
    for file in files:
        whole = file.read_bytes()
        content = bytearray(whole)
        content[int(chosen.integers(len(content)))] ^= 1 << int(chosen.integers(8))
        file.write_bytes(content)
        (note,) = set(scale.evaluate(*real, work=work).notes)
        assert "missing, cut or damaged" in note
        assert file.read_bytes() == whole
    assert_same_evaluation(scale.evaluate(*real, work=work), evaluate(*real))


def test_a_ground_truth_that_is_missing_is_named(real: Scene) -> None:
    with pytest.raises(FileNotFoundError, match=r"the ground truth is not there: 'no_truth\.json'"):
        scale.evaluate("no_truth.json", real[1])


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        ("2 bananas", "memory must be a number of bytes"),
        (0, "memory must be"),
        ("1MB", "1 MB is too little"),
    ],
)
def test_memory_that_is_none(real: Scene, memory: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scale.evaluate(*real, memory=memory)


@given(
    st.lists(
        st.lists(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=3), max_size=4), max_size=7
    ),
    st.sampled_from([2, 128]),
)
def test_a_merge_is_a_stable_sort(runs: list[list[list[float]]], fan_in: int) -> None:
    """Runs in blocks, each in falling order; also more than are merged at once. Ranks tell where a row comes from."""
    count, blocks = 0, []
    for run in runs:
        scores = sorted((score for block in run for score in block), reverse=True)
        of_run = []
        for block in run:
            chosen, scores = scores[: len(block)], scores[len(block) :]
            sets = np.zeros((len(chosen), 1, 1), np.uint8)
            of_run.append(Run(np.arange(count, count + len(chosen), dtype=np.uint32), np.array(chosen), sets, sets))
            count += len(chosen)
        blocks.append(of_run)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ioukit.scale.merging.FAN_IN", fan_in)
        slabs = list(merged([iter(run) for run in blocks]))
    ranks = [rank for slab in slabs for rank in slab.rank[np.argsort(-slab.score, kind="stable")].tolist()]
    scores = [score for run in blocks for block in run for score in block.score.tolist()]
    assert ranks == np.argsort(-np.array(scores), kind="stable").tolist()
    for before, after in itertools.pairwise(slabs):
        assert before.score.min() > after.score.max()


def test_a_table_in_files_is_the_table(real: Scene, tmp_path: Path) -> None:
    table = evaluate(*real, near=0.1).matches
    write_table(table, tmp_path / "part")
    assert_same_columns(TableFile(tmp_path / "part").read(), table)


def test_every_analysis_works_on_the_tables_of_parts(real: Scene, tmp_path: Path) -> None:
    """Compared with the same table in memory, without its data, as parts have none."""
    gt, dt = real
    worse = dt[dt.scores > 0.3]
    whole = [Evaluation.from_table(evaluate(gt, one, near=0.1).matches) for one in (dt, worse)]
    parts = [scale.evaluate(gt, one, parts=4, near=0.1) for one in (dt, worse)]
    for ours, expected in zip(parts, whole, strict=True):
        for name in ("outcomes", "per_image", "score_curves", "lrp_errors"):
            assert_same_columns(getattr(ours, name)(), getattr(expected, name)(), but=["table", "matches"])
        assert_same_columns(ours.metrics(), expected.metrics())
        for table in TABLES:
            assert ours.to_arrow(table).equals(expected.to_arrow(table))
    models = [compare_models({"a": a, "b": b}, replicates=50, permutations=50) for a, b in (parts, whole)]
    assert json.dumps(models[0].to_dict()) == json.dumps(models[1].to_dict())
    pytest.importorskip("jinja2")
    for name, evaluation in (("parts", parts[0]), ("whole", whole[0])):
        write_report(evaluation, tmp_path / f"{name}.html")
    pages = [(tmp_path / f"{name}.html").read_text(encoding="utf-8") for name in ("parts", "whole")]
    assert pages[0] == pages[1]


@pytest.mark.parametrize("in_order", [False, True])
def test_a_file_that_changes_while_it_is_read_ends_the_run(
    real: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, in_order: bool
) -> None:
    """Else its pieces would be of two files, and the number of neither."""
    pq = pytest.importorskip("pyarrow.parquet")
    gt, dt = real
    dt = dt[np.argsort(dt.image_ids, kind="stable")] if in_order else dt
    boxes = {name: dt.boxes[:, at] for at, name in enumerate(("x", "y", "width", "height"))}
    columns = {"image_id": dt.image_ids, "category_id": dt.category_ids, **boxes}
    path, other = tmp_path / "dt.parquet", tmp_path / "new"
    pq.write_table(pa.table({**columns, "score": dt.scores}), path, row_group_size=100)
    pq.write_table(pa.table({**columns, "score": dt.scores[::-1]}), other, row_group_size=100)
    read = stages.split

    def split(*arguments: Any, **options: Any) -> Any:
        if other.exists():
            other.replace(path)
        return read(*arguments, **options)

    monkeypatch.setattr("ioukit.scale.engines.local.split", split)
    with pytest.raises(DatasetError, match=r"expected the file of .* at the start, but it is another file now"):
        scale.evaluate(gt, path, parts=2, threads=1)


def test_a_folder_is_no_address(real: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for work in ("s3://bucket/work", Path("gs://bucket/work")):
        with pytest.raises(ValueError, match="is an address, expected a folder of this machine"):
            scale.evaluate(*real, work=work)
    assert not list(tmp_path.iterdir())
