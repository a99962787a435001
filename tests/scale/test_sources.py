"""Detections read piece by piece are those that are read at once."""

from __future__ import annotations

import csv
import functools
import gzip
import json
import pickle
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ioukit import DatasetError, evaluate, scale
from ioukit.datasets import Detections, GroundTruth, read_detections
from ioukit.scale import open_detections
from ioukit.scale.sources.places import FilePlace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ioukit.scale import DetectionSource

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
FREE = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)


def truth(*, images: int = 9, names: bool = False, files: bool = False) -> GroundTruth:
    ids: Any = [f"p/{at}.jpg" for at in range(images)] if names else np.arange(images) * 3 + 1
    return GroundTruth.from_arrays(
        image_ids=ids[:1],
        category_ids=[1],
        boxes=[[0, 0, 1, 1]],
        images=ids,
        sizes=np.full((images, 2), [40, 20]),
        names=[f"photo_{at:03d}.jpg" for at in range(images)] if files else None,
        categories={1: "cat", 5: "dog"},
    )


def rows_of(rng: np.random.Generator, count: int, gt: GroundTruth, *, by_name: bool = False) -> dict[str, Any]:
    at = rng.integers(0, len(gt.images), count)
    image = np.array(list(gt.images.names))[at] if by_name else gt.images.labels[at]
    return {
        ("image_id" if image.dtype.kind == "i" else "file_name"): image,
        "category_id": rng.choice([1, 5], count),
        "x": rng.random(count),
        "y": rng.random(count),
        "width": rng.random(count),
        "height": rng.random(count),
        "score": rng.integers(0, 5, count) / 4,
    }


def all_of(source: DetectionSource) -> Detections:
    """All batches, of pieces that were pickled."""
    pieces = pickle.loads(pickle.dumps(source.pieces))
    batches = [batch for piece in pieces for batch in piece.read()]
    assert all(batches[at].dropped or len(batches[at]) for at in range(len(batches)))
    return Detections.concat(batches) if batches else Detections.from_coco([])


def assert_same(found: Detections, expected: Detections) -> None:
    assert found.image_labels().tolist() == expected.image_labels().tolist()
    assert found.category_ids.tolist() == expected.category_ids.tolist()
    np.testing.assert_array_equal(found.boxes, expected.boxes)
    np.testing.assert_array_equal(found.scores, expected.scores)
    np.testing.assert_array_equal(found.areas_or_those_of_boxes(), expected.areas_or_those_of_boxes())
    assert found.dropped == expected.dropped


@FREE
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 60),
    st.integers(1, 30),
    st.integers(1, 30),
    st.sampled_from(["ids", "names", "files"]),
)
def test_parquet_in_batches(tmp_path: Path, seed: int, count: int, group: int, batch: int, by: str) -> None:
    gt = truth(names=by == "names", files=by == "files")
    rows = rows_of(np.random.default_rng(seed), count, gt, by_name=by == "files")
    path = tmp_path / "dt.parquet"
    pq.write_table(pa.table(rows), path, row_group_size=group)
    source = open_detections(path, gt, piece_rows=20, batch_rows=batch)
    assert source.rows == count
    assert_same(all_of(source), read_detections(path, ground_truth=gt))


def test_detections_in_memory() -> None:
    rng = np.random.default_rng(3)
    dt = Detections.from_arrays(
        image_ids=rng.integers(0, 5, 50),
        category_ids=np.ones(50, int),
        boxes=rng.random((50, 4)),
        scores=rng.random(50),
    )
    source = open_detections(dt, truth(), piece_rows=20)
    assert [piece.rows for piece in source.pieces] == [20, 20, 10]
    assert_same(all_of(source), dt)
    assert len(pickle.dumps(source.pieces[2])) < 4000


def test_folders_of_parquet(tmp_path: Path) -> None:
    gt, rng = truth(), np.random.default_rng(5)
    tables = [rows_of(rng, 11, gt) for _ in range(4)]
    for at, rows in enumerate(tables):
        place = tmp_path / f"category_id={(1, 5)[at % 2]}" / f"part-{at}.parquet"
        place.parent.mkdir(exist_ok=True)
        pq.write_table(pa.table({name: column for name, column in rows.items() if name != "category_id"}), place)
    (tmp_path / "_SUCCESS").touch()
    found = all_of(open_detections(tmp_path, gt))
    assert found.category_ids.tolist() == [1] * 22 + [5] * 22
    scores = np.concatenate([tables[at]["score"] for at in (0, 2, 1, 3)])
    assert found.scores.tolist() == scores.tolist()
    assert_same(all_of(open_detections(str(tmp_path / "*" / "*.parquet"), gt)), found)
    assert_same(all_of(open_detections(tmp_path.as_uri(), gt)), found)
    assert_same(all_of(open_detections(f"{tmp_path.as_uri()}/**/*.parquet", gt)), found)


def test_heads_of_many_files_are_read_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store takes its time for each answer."""
    gt, rng = truth(), np.random.default_rng(7)
    tables = [rows_of(rng, 11, gt) for _ in range(9)]
    for at, rows in enumerate(tables):
        pq.write_table(pa.table(rows), tmp_path / f"{at}.parquet")
    together, meeting = 4, threading.Barrier(4)
    opened, left = FilePlace.open, iter(range(2 * together + 1))

    def open_slowly(self: FilePlace) -> Any:
        if next(left):  # the first file alone says which columns are read
            meeting.wait(timeout=30)
        return opened(self)

    monkeypatch.setattr(FilePlace, "open", open_slowly)
    with_heads = open_detections([tmp_path / f"{at}.parquet" for at in range(9)], gt)
    monkeypatch.undo()
    scores = np.concatenate([rows["score"] for rows in tables])
    assert all_of(with_heads).scores.tolist() == scores.tolist()
    pq.write_table(pa.table({"image_id": [1]}), tmp_path / "3.parquet")
    with pytest.raises(
        DatasetError, match=r"3\.parquet: expected a column category_id, as .* has it, found the columns"
    ):
        open_detections(tmp_path, gt)


def test_faults_of_parquet(tmp_path: Path) -> None:
    gt, rng = truth(), np.random.default_rng(7)
    rows = rows_of(rng, 30, gt)
    good = tmp_path / "a.parquet"
    pq.write_table(pa.table(rows), good, row_group_size=10)
    with pytest.raises(DatasetError, match="nothing there"):
        open_detections(tmp_path / "missing.parquet", gt)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DatasetError, match="found none"):
        open_detections(tmp_path / "empty", gt)
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(good.read_bytes()[:-9])
    with pytest.raises(DatasetError, match=r"cut\.parquet: expected a Parquet file"):
        open_detections(cut, gt)
    cut.write_bytes(b"")
    with pytest.raises(DatasetError, match=r"cut\.parquet: expected a Parquet file"):
        open_detections(tmp_path, gt)
    pq.write_table(pa.table({**rows, "image_id": rows["image_id"].astype(str)}), cut)
    with pytest.raises(DatasetError, match=r"cut\.parquet: expected a column image_id of integers.*found one of text"):
        open_detections(tmp_path, gt)
    pq.write_table(pa.table({name: column for name, column in rows.items() if name != "score"}), cut)
    with pytest.raises(DatasetError, match=r"cut\.parquet: expected a column score, as .*found the columns"):
        open_detections(tmp_path, gt)
    assert not any(batch.scored for batch in open_detections(cut, gt).batches())
    named = {"det_score" if name == "score" else name: column for name, column in rows.items()}
    pq.write_table(pa.table(named), cut)
    with pytest.raises(DatasetError, match=r"expected a column of scores, .*, found the columns image_id, "):
        open_detections(cut, gt)
    rows["score"][23] = np.nan
    pq.write_table(pa.table(rows), cut, row_group_size=10)
    with pytest.raises(DatasetError, match=r"cut\.parquet: row 23, score: expected a number") as found:
        all_of(open_detections(cut, gt))
    with pytest.raises(DatasetError) as expected:
        read_detections(cut, ground_truth=gt)
    assert str(found.value) == str(expected.value)
    source = open_detections(cut, gt)
    damaged = bytearray(cut.read_bytes())
    damaged[len(damaged) // 3 : len(damaged) // 2] = bytes(len(damaged) // 2 - len(damaged) // 3)
    cut.write_bytes(damaged)
    with pytest.raises(DatasetError, match=r"cut\.parquet: row group \d: expected a Parquet file"):
        all_of(source)
    cut.unlink()
    with pytest.raises(DatasetError, match=r"cut\.parquet: cannot be read"):
        all_of(source)


RECORD = st.fixed_dictionaries(
    {
        "image_id": st.integers(0, 50),
        "category_id": st.integers(0, 9),
        "bbox": st.lists(st.floats(0, 1e6), min_size=4, max_size=4),
        "score": st.floats(0, 1),
    },
    optional={
        "name": st.text(st.sampled_from('"\\{}[],:\n\u00e9 '), max_size=12),
        "more": st.recursive(st.none(), lambda one: st.lists(one, max_size=2), max_leaves=3),
    },
)


@FREE
@given(
    st.lists(RECORD, max_size=25),
    st.integers(1, 9),
    st.sampled_from(["json", "jsonl", "json.gz", "ndjson.gz"]),
    st.sampled_from([None, 1]),
    st.integers(1, 6),
)
def test_coco_results_in_parts(
    tmp_path: Path, records: list[dict[str, Any]], rows: int, kind: str, indent: int | None, batch: int
) -> None:
    if kind.startswith("json."):
        text = json.dumps(records, indent=indent)
    elif kind == "json":
        text = json.dumps(records, indent=indent, ensure_ascii=False)
    else:
        text = "".join(f"{json.dumps(record)}\n" for record in records)
    path = tmp_path / f"dt.{kind}"
    path.write_bytes(gzip.compress(text.encode()) if kind.endswith("gz") else text.encode())
    source = open_detections(path, truth(), piece_rows=rows, batch_rows=batch)
    assert source.rows == (None if kind.endswith("gz") and records else len(records)) or kind.endswith("gz")
    expected = Detections.from_coco(path)
    found = all_of(source)
    assert len(found) == len(expected)
    if len(expected):
        assert_same(found, expected)


def read_in_parts(path: Path, on_invalid: Any) -> Detections:
    return all_of(open_detections(path, truth(), piece_rows=3, on_invalid=on_invalid))


def outcome(read: Callable[[], Detections]) -> str:
    """The rows, or the message of the error."""
    try:
        dt = read()
    except DatasetError as error:
        return str(error)
    return str((dt.image_ids.tolist(), dt.boxes.tolist(), dt.scores.tolist(), dt.dropped))


@FREE
@given(st.integers(0, 11), st.sampled_from(["json", "json.gz", "jsonl"]), st.sampled_from(range(6)))
def test_errors_of_coco_results_are_those_of_the_whole(tmp_path: Path, at: int, kind: str, fault: int) -> None:
    good = {"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}
    texts = [json.dumps(good)] * 12
    texts[at] = (
        json.dumps({**good, "bbox": [1, 2, -3, 4]}),
        json.dumps({**good, "score": "high"}),
        json.dumps({**good, "bbox": None, "segmentation": {"size": [2, 2], "counts": "04"}}),
        texts[at][:-9],
        texts[at].replace("0.5", "0..5"),
        "7",
    )[fault]
    text = "\n".join(texts) if kind == "jsonl" else f"[{', '.join(texts)}]"
    path = tmp_path / f"dt.{kind}"
    path.write_bytes(gzip.compress(text.encode()) if kind.endswith("gz") else text.encode())
    for on_invalid in ("error", "drop", "pycocotools"):
        whole = outcome(functools.partial(Detections.from_coco, path, on_invalid=on_invalid))
        parts = outcome(functools.partial(read_in_parts, path, on_invalid))
        assert parts == whole


def test_results_that_have_masks_alone(tmp_path: Path) -> None:
    mask = {"size": [4, 5], "counts": [3, 2, 15]}
    records = [{"image_id": at, "category_id": 1, "score": 0.5, "segmentation": mask} for at in range(9)]
    path = tmp_path / "dt.json"
    path.write_text(json.dumps(records))
    expected = Detections.from_coco(path)
    assert_same(all_of(open_detections(path, truth(), piece_rows=3)), expected)
    records[4] = {**records[4], "bbox": [1, 1, 1, 1]}
    path.write_text(json.dumps(records))
    assert_same(all_of(open_detections(path, truth(), piece_rows=3)), Detections.from_coco(path))


def test_results_that_are_cut_after_they_were_opened(tmp_path: Path) -> None:
    path = tmp_path / "dt.json"
    record = {"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}
    path.write_text(json.dumps([record] * 20))
    source = open_detections(path, truth(), piece_rows=4)
    path.write_text(path.read_text()[:800])
    with pytest.raises(DatasetError, match=r"dt\.json: detections\[\d+\].*: not valid JSON at byte 800"):
        all_of(source)
    with pytest.raises(ValueError, match="are for tables"):
        open_detections(path, truth(), boxes="xyxy")
    path.write_text('{"images": []}')
    with pytest.raises(DatasetError, match=r"dt\.json: expected an array of detections"):
        open_detections(path, truth())
    packed = tmp_path / "dt.json.gz"
    packed.write_bytes(gzip.compress(b"[]")[:-3])
    with pytest.raises(DatasetError, match=r"dt\.json\.gz: the gzip file ends too early"):
        all_of(open_detections(packed, truth()))
    packed.write_bytes(b"[]")
    with pytest.raises(DatasetError, match=r"dt\.json\.gz: expected a gzip file, as the name says, found none"):
        all_of(open_detections(packed, truth()))


FIELD = st.one_of(
    st.integers(0, 999).map(str),
    st.floats(0, 1e6).map(repr),
    st.sampled_from(["", " 7 ", "1e2", "1_0", "nan", "x", "-3"]),
)
TEXT = st.text(st.sampled_from('ab",\n\r \u00e97'), max_size=6)


@FREE
@given(st.data(), st.integers(0, 20), st.integers(1, 4), st.integers(1, 5), st.sampled_from(["csv", "tsv"]))
def test_csv_in_parts(tmp_path: Path, data: st.DataObject, count: int, rows: int, batch: int, kind: str) -> None:
    gt = truth(files=data.draw(st.booleans()))
    names = ["note", "image_id", "category_id", "x", "y", "width", "height", "score"]
    images = [*map(str, gt.images.ids.tolist()), *(["photo_001.jpg"] if any(gt.images.names) else [])]
    odd = st.just("1") if data.draw(st.booleans()) else FIELD
    lines = [
        [
            data.draw(TEXT),
            data.draw(st.sampled_from(images)),
            data.draw(st.sampled_from("15")),
            *(data.draw(odd) for _ in range(5)),
        ]
        for _ in range(count)
    ]
    path = tmp_path / f"dt.{kind}"
    with path.open("w", newline="", encoding=data.draw(st.sampled_from(["utf-8", "utf-8-sig"]))) as file:
        end = data.draw(st.sampled_from(["\n", "\r\n"]))
        writer = csv.writer(file, lineterminator=end, delimiter="\t" if kind == "tsv" else ",")
        writer.writerow(names)
        for line in lines:
            writer.writerow(line)
            file.write(end * data.draw(st.integers(0, 1)))
    expected = outcome(lambda: read_detections(path, kind.replace("tsv", "csv"), ground_truth=gt, on_invalid="drop"))
    found = outcome(lambda: all_of(open_detections(path, gt, piece_rows=rows, batch_rows=batch, on_invalid="drop")))
    assert found == (expected if count else found)
    found = outcome(lambda: all_of(open_detections(path, gt, piece_rows=rows)))
    expected = outcome(lambda: read_detections(path, "csv", ground_truth=gt))
    # The whole is checked column by column, parts one after the other: another fault may be the first.
    assert found == expected or ("expected" in found) == ("expected" in expected) or not count


@FREE
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 30), st.integers(1, 30), st.sampled_from(["f", "s"])
)
def test_arrow_in_batches(tmp_path: Path, seed: int, count: int, group: int, batch: int, kind: str) -> None:
    gt = truth()
    rows = rows_of(np.random.default_rng(seed), count, gt)
    rows["category"] = np.array(["cat", "dog"])[rows.pop("category_id") // 5]
    table = pa.table({**rows, "note": ["x"] * count})
    path = tmp_path / "dt.arrow"
    with path.open("wb") as file:
        new = pa.ipc.new_file if kind == "f" else pa.ipc.new_stream
        with new(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=group)
    found = all_of(open_detections(path, gt, batch_rows=batch))
    expected = read_detections(path, ground_truth=gt)
    assert_same(found, expected)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    with pytest.raises(DatasetError, match=r"dt\.arrow: expected an Arrow file"):
        all_of(open_detections(path, gt))


def test_numbers_that_can_be_ids_and_names(tmp_path: Path) -> None:
    gt = GroundTruth.from_arrays(
        image_ids=[1],
        category_ids=[1],
        boxes=[[0, 0, 1, 1]],
        images=[1, 2, 3],
        names=["2.jpg", "1.jpg", "c.jpg"],
        categories={1: "7", 7: "1"},
    )
    for last in ("3", "c.jpg"):
        rows = {"image_id": ["1", "2", "1", last], "label": ["7", "1", "7", "1"], "bbox": [[0.0, 0, 1, 1]] * 4}
        path = tmp_path / "dt.parquet"
        pq.write_table(pa.table({**rows, "score": [0.5, 0.4, 0.3, 0.2]}), path, row_group_size=1)
        expected = read_detections(path, ground_truth=gt, boxes="xywh")
        assert expected.image_ids.tolist() == ([1, 2, 1, 3] if last == "3" else [2, 1, 2, 3])
        assert_same(all_of(open_detections(path, gt, boxes="xywh", piece_rows=1)), expected)


def test_an_opened_source_is_evaluated(tmp_path: Path) -> None:
    """Columns of other names, and other boxes, are said where the files are opened."""
    gt = truth()
    rows = rows_of(np.random.default_rng(3), 500, gt)
    rows |= {name: 10 * rows[name] for name in ("x", "y", "width", "height")}
    columns = {
        "frame": rows["image_id"], "sure": rows["score"], "category_id": rows["category_id"], "x1": rows["x"],
        "y1": rows["y"], "x2": rows["x"] + rows["width"], "y2": rows["y"] + rows["height"],
    }  # fmt: skip
    pq.write_table(pa.table(columns), tmp_path / "dt.parquet", row_group_size=100)
    names: dict[str, Any] = {"image_id": "frame", "score": "sure", "box": ["x1", "y1", "x2", "y2"]}
    opened = open_detections(tmp_path / "dt.parquet", gt, columns=names, boxes="xyxy", piece_rows=100)
    expected = evaluate(gt, all_of(opened))
    assert scale.evaluate(gt, opened, memory="400MB", parts=3).to_json() == expected.to_json()
    assert scale.plan(gt, opened).detections == 500
    with pytest.raises(ValueError, match="opened with other images or classes: open them with those to evaluate"):
        scale.evaluate(truth(images=10), opened)
    with pytest.raises(
        TypeError, match=r"ground_truth must be GroundTruth, got str: ioukit\.datasets\.read reads a file"
    ):
        open_detections(tmp_path / "dt.parquet", "gt.json")  # type: ignore[arg-type]


def test_kinds_of_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("image_id,label,x,y,w,h,score\n1,cat,0,0,1,1,0.5\n")
    (tmp_path / "b.json").write_text("[]")
    with pytest.raises(DatasetError, match=r"b\.json: expected CSV, as .*a\.csv is, found COCO results"):
        open_detections(tmp_path, truth())
    (tmp_path / "b.json").rename(tmp_path / "b.csv")
    with pytest.raises(
        DatasetError, match=r"b\.csv: expected a column image_id, as .*a\.csv has it, found the columns"
    ):
        open_detections(tmp_path, truth())
    (tmp_path / "b.csv").write_text("image_id,label,x,y,w,h,score\n4,dog,0,0,1,1,1\n")
    assert all_of(open_detections(tmp_path, truth())).image_ids.tolist() == [1, 4]
    remote = all_of(open_detections(tmp_path.as_uri(), truth()))
    assert (remote.image_ids.tolist(), remote.category_ids.tolist()) == ([1, 4], [1, 5])
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    assert all_of(open_detections(tmp_path, truth())).image_ids.tolist() == [1, 4, 1]
    (tmp_path / "other").write_text("x")
    with pytest.raises(DatasetError, match="expected a file of detections, named"):
        open_detections(tmp_path / "other", truth())
    with pytest.raises(DatasetError, match=r"an address that PyArrow or fsspec can read|cannot be read"):
        open_detections("nowhere://bucket/file.parquet", truth())
    with pytest.raises(TypeError, match="expected a path, a list of paths or Detections"):
        open_detections(7, truth())  # type: ignore[arg-type]


def test_files_in_a_store() -> None:
    fsspec = pytest.importorskip("fsspec")
    gt, rows = truth(), rows_of(np.random.default_rng(1), 40, truth())
    store = fsspec.filesystem("memory")
    for at, place in enumerate(("a=1", "a=2")):
        with store.open(f"/results/{place}/part.parquet", "wb") as file:
            pq.write_table(pa.table({name: column[at::2] for name, column in rows.items()}), file, row_group_size=6)
    with store.open("/dt.json", "wb") as file:
        file.write(b'[{"image_id": 4, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 0.5}]')
    source = open_detections("memory://results", gt, piece_rows=12)
    assert len(source.pieces) == 4
    scores = [*rows["score"][::2], *rows["score"][1::2]]
    assert all_of(source).scores.tolist() == scores
    assert all_of(open_detections("memory://results/*/part.parquet", gt)).scores.tolist() == scores
    assert all_of(open_detections("memory://dt.json", gt)).image_ids.tolist() == [4]
    store.rm("/results/a=2/part.parquet")
    with pytest.raises(DatasetError, match=r"a=2/part\.parquet: cannot be read"):
        all_of(source)
    with pytest.raises(DatasetError, match="memory://missing: expected a file or a folder, found nothing there"):
        open_detections("memory://missing", gt)


def test_requests_of_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store is asked as often as there are row groups, and a little more for each piece; one client does it."""
    arrow_fs = pytest.importorskip("pyarrow.fs")
    asked: list[tuple[str, int, int]] = []
    clients: list[str] = []

    class CountedFile:
        closed = False

        def __init__(self, path: str) -> None:
            self._file = open(path, "rb")  # noqa: SIM115 - PyArrow closes it

        def read(self, count: int = -1) -> bytes:
            start = self._file.tell()
            found = self._file.read(count)
            asked.append((self._file.name, start, len(found)))
            return found

        def __getattr__(self, name: str) -> Any:
            return getattr(self._file, name)

    class CountedStore(arrow_fs.FileSystemHandler):  # type: ignore[misc, name-defined]
        def get_type_name(self) -> str:
            return "counted"

        def normalize_path(self, path: str) -> str:
            return path

        def get_file_info(self, paths: list[str]) -> Any:
            return arrow_fs.LocalFileSystem().get_file_info(paths)

        def get_file_info_selector(self, selector: Any) -> Any:
            return arrow_fs.LocalFileSystem().get_file_info(selector)

        def open_input_file(self, path: str) -> Any:
            return pa.PythonFile(CountedFile(path), mode="r")

        def _nothing(self, *_: Any) -> None:
            raise NotImplementedError

        create_dir = delete_dir = delete_dir_contents = delete_root_dir_contents = delete_file = _nothing
        move = copy_file = open_input_stream = open_output_stream = open_append_stream = _nothing

    def from_uri(address: str) -> tuple[Any, str]:
        clients.append(address)
        return arrow_fs.PyFileSystem(CountedStore()), address.removeprefix("counted://").partition("?")[0]

    gt, rng = truth(), np.random.default_rng(7)
    for name in ("a", "b"):
        pq.write_table(pa.table(rows_of(rng, 100, gt)), tmp_path / f"{name}.parquet", row_group_size=5)
    monkeypatch.setattr(arrow_fs, "FileSystem", SimpleNamespace(from_uri=from_uri))
    source = open_detections(f"counted://{tmp_path}", gt, piece_rows=50)
    assert (len(source.pieces), len({*clients})) == (4, len(clients)) == (4, 1)
    asked.clear()
    found = all_of(source)
    assert len(clients) == 1
    assert_same(found, all_of(open_detections(tmp_path, gt)))
    assert len(asked) <= 1.2 * 40
    assert open_detections(f"counted://{tmp_path}/b*.parquet?region=x", gt).rows == 100
    assert clients[1:] == [f"counted://{tmp_path}?region=x"]  # what follows a ? is for the store
