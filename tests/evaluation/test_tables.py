"""Results as tables: every value against plain Python, through frames and files, under all protocols and kinds."""

from __future__ import annotations

import csv
import importlib.util
import json
import math
import re
import runpy
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - the profile
from evaluation.plain_kitti import random_images, write_images
from evaluation.plain_open_images import random_open_images
from evaluation.plain_rules import plain_matching
from evaluation.plain_tables import plain_tables
from evaluation.test_disagreement import federated
from evaluation.test_kinds import KINDS, scene
from evaluation.test_pedestrians import crowd
from evaluation.test_rules import protocols, scenes
from evaluation.test_wider_face import album
from ioukit import COCO, Detections, Evaluation, GroundTruth, evaluate
from ioukit.datasets import read_detections, read_kitti, read_kitti_detections
from ioukit.evaluation import TABLES, MatchTable, Measure, match, write_tables
from ioukit.evaluation.protocols import (
    CROWDHUMAN,
    KITTI,
    OPEN_IMAGES,
    OPEN_IMAGES_CHALLENGE,
    PROTOCOLS,
    WIDER_FACE,
)
from ioukit.evaluation.tables.columns import ResultColumn, Source
from parity.random_data import random_case
from parity.random_keypoints import random_keypoint_case
from support.evaluated_scenes import SCENES, coco, made
from support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Row = dict[str, Any]

# A curve has 101 points, and a category 120 curves: too many rows to write plainly for eighty categories.
SMALL_SCENES = {name: scene_of for name, scene_of in SCENES.items() if name != "eighty classes"}
HAS_ARROW = importlib.util.find_spec("pyarrow") is not None
needs_arrow = pytest.mark.skipif(not HAS_ARROW, reason="needs PyArrow: pip install 'ioukit[tables]'")


# ---- What each way out of an evaluation gives, as rows of Python values with None for missing ones.


def rows_of_values(evaluation: Evaluation, name: str, **point: Any) -> list[Row]:
    """Without any package: what frames and files are made from."""
    source = Source(
        evaluation,
        point.get("iou_threshold"),
        point.get("area_range"),
        point.get("score_threshold", -math.inf),
    )
    columns: dict[str, list[Any]] = {}
    for key, values in TABLES[name].values(source).items():
        column = values.array.tolist() if values.words is None else values.objects().tolist()
        if values.words is None:
            absent = np.isnan(values.array) if values.valid is None and values.array.dtype.kind == "f" else None
            absent = absent if values.valid is None else ~values.valid
            for at in [] if absent is None else np.flatnonzero(absent).tolist():
                column[at] = None
        columns[key] = column
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def rows_of_arrow(evaluation: Evaluation, name: str, **point: Any) -> list[Row]:
    rows: list[Row] = evaluation.to_arrow(name, **point).to_pylist()
    return rows


def rows_of_pandas(evaluation: Evaluation, name: str, **point: Any) -> list[Row]:
    frame = evaluation.to_pandas(name, **point)
    absent = frame.isna().to_numpy()
    columns = [frame[column].tolist() for column in frame.columns]
    rows = zip(*columns, strict=True)
    return [
        {
            key: None if absent[at, place] else value
            for place, (key, value) in enumerate(zip(frame.columns, row, strict=True))
        }
        for at, row in enumerate(rows)
    ]


def rows_of_polars(evaluation: Evaluation, name: str, **point: Any) -> list[Row]:
    rows: list[Row] = evaluation.to_polars(name, **point).to_dicts()
    return rows


def rows_of_csv(path: Path) -> list[Row]:
    """The rows of a file, each value read by the documented type of its column."""
    table = TABLES[path.stem]
    with path.open(encoding="utf-8", newline="") as file:
        read = list(csv.reader(file, strict=True))
    return [
        {name: _read(table.column(name), field) for name, field in zip(read[0], row, strict=True)} for row in read[1:]
    ]


def _read(column: ResultColumn, field: str) -> Any:
    if field == "":
        return None
    if column.type == "integer":
        return int(field)
    if column.type == "number":
        return float(field)
    if column.type == "flag":
        return {"true": True, "false": False}[field]
    return int(field) if column.type == "id" and re.fullmatch(r"-?\d+", field) else field


WAYS: dict[str, tuple[str, Callable[..., list[Row]]]] = {
    "arrow": ("pyarrow", rows_of_arrow),
    "pandas": ("pandas", rows_of_pandas),
    "polars": ("polars", rows_of_polars),
}


def same(ours: list[Row], expected: list[Row]) -> None:
    """To the last bit, with the types of Python, and the columns in order."""
    assert len(ours) == len(expected)
    for mine, its in zip(ours, expected, strict=True):
        assert repr(mine) == repr(its)


# ---- Values.


@given(scenes(), protocols(), st.sampled_from([-math.inf, 0.5]), st.booleans())
def test_every_value_is_that_of_plain_python(
    data: tuple[GroundTruth, Detections], protocol: Any, score_threshold: float, last: bool
) -> None:
    evaluation = evaluate(*data, protocol)
    point: Row = {"score_threshold": score_threshold}
    if last:
        point |= {"iou_threshold": protocol.iou_thresholds[-1], "area_range": protocol.area_labels[-1]}
    for name, expected in plain_tables(evaluation, **point).items():
        same(rows_of_values(evaluation, name, **point), expected)


@pytest.mark.parametrize("way", WAYS)
def test_every_frame_has_these_values(way: str) -> None:
    package, rows_of = WAYS[way]
    pytest.importorskip(package)
    for scene_name in ("hard names", "no detections", "no objects", "no images", "no classes"):
        evaluation = SCENES[scene_name]()
        for each in (evaluation, Evaluation.from_table(evaluation.matches)):
            for name, expected in plain_tables(each).items():
                same(rows_of(each, name), expected)
    point = {"iou_threshold": 0.75, "area_range": "large", "score_threshold": 0.4}
    evaluation = made()
    for name, expected in plain_tables(evaluation, **point).items():
        same(rows_of(evaluation, name, **point), expected)


@given(scenes(), protocols())
def test_outcomes_are_those_of_the_plain_rules(data: tuple[GroundTruth, Detections], protocol: Any) -> None:
    """Matches found by plain Python, not by the match table."""
    gt, dt = data
    if protocol.cap_scope == "category":  # where the cap is applied when curves are drawn
        protocol = protocol.replace(cap_scope="image")
    evaluation = evaluate(gt, dt, protocol)
    for threshold in protocol.iou_thresholds:
        for area in protocol.area_ranges:
            plain = plain_matching(gt, dt, protocol, threshold, area, protocol.max_dets[-1])
            rows = rows_of_values(evaluation, "per_detection", iou_threshold=threshold, area_range=area.label)
            assert {row["detection_row"] for row in rows} == set(plain.counted)
            for row in rows:
                number = row["detection_row"]
                outcome = "true_positive" if number in plain.matched else "false_positive"
                assert row["outcome"] == ("ignored" if number in plain.ignored else outcome)
                assert row["matched_object_row"] == plain.matched.get(number)


def _kitti(folder: Path, iou_type: str) -> Evaluation:
    folder.mkdir()
    labels, results = write_images(folder, [image for seed in range(4) for image in random_images(seed)])
    gt = read_kitti(labels)
    return evaluate(gt, read_kitti_detections(results, ground_truth=gt), KITTI, iou_type=iou_type)


def _keypoints(seed: int) -> Evaluation:
    truth, found = random_keypoint_case(seed)
    return evaluate(truth, found, iou_type="keypoints")


def evaluations(folder: Path) -> dict[str, Evaluation]:
    """Every protocol and kind of region, each with data that it is meant for."""
    found = {f"KITTI {kind}": _kitti(folder / kind, kind) for kind in ("bbox", "bev")}
    for seed in range(2, 4):
        found[f"Open Images {seed}"] = evaluate(*random_open_images(seed), OPEN_IMAGES)
        found[f"challenge {seed}"] = evaluate(*random_open_images(seed), OPEN_IMAGES_CHALLENGE)
        found[f"WIDER FACE {seed}"] = evaluate(*album(seed)[:2], WIDER_FACE)
        found[f"CrowdHuman {seed}"] = evaluate(*crowd(seed)[0], CROWDHUMAN)
        found[f"keypoints {seed}"] = _keypoints(seed)
        found |= {f"{kind} {seed}": evaluate(*scene(kind, seed), iou_type=kind) for kind in KINDS}
    for name in ("coco", "voc2007", "voc2012", "dota-task2", "tide", "lvis", "lvis-fixed", "ultralytics"):
        found[name] = evaluate(*federated(), PROTOCOLS[name])
    found["class-agnostic"] = evaluate(*federated(), COCO.replace(class_agnostic=True))
    found["near pairs"] = evaluate(*federated(), COCO.replace(max_dets=[1]), near=0.1)
    return found


def test_all_protocols_and_kinds(tmp_path: Path) -> None:
    found = evaluations(tmp_path)
    assert any(row["group"] == "f" for row in rows_of_values(found["lvis"], "per_class"))
    for label, evaluation in found.items():
        protocol = evaluation.protocol
        point = {"iou_threshold": protocol.iou_thresholds[-1], "area_range": protocol.area_labels[-1]}
        for chosen in ({}, point, {"score_threshold": 0.6}):
            for name, expected in plain_tables(evaluation, **chosen).items():
                ours = rows_of_values(evaluation, name, **chosen)
                assert repr(ours) == repr(expected), (label, name, chosen)
    assert found["keypoints 3"].matches.iou_type == "keypoints"
    agnostic = rows_of_values(found["class-agnostic"], "per_class")
    assert [(row["category_id"], row["category"]) for row in agnostic] == [(-1, "all categories")]
    unbounded = rows_of_values(found["KITTI bbox"], "summary")
    assert {row["max_dets"] for row in unbounded} == {None}


def test_random_coco_sets_are_read_back_with_the_same_bits(tmp_path: Path) -> None:
    """Names of categories and images are plain here; names that are not are in the scenes."""
    for seed in range(12):
        case = random_case(seed)
        evaluation = evaluate(case.gt, case.dt, COCO.replace(**case.protocol), **case.subset)
        tables = plain_tables(evaluation)
        for path in write_tables(evaluation, tmp_path / f"{seed}"):
            same(rows_of_csv(path), tables[path.stem])


def test_counts_of_all_tables_agree() -> None:
    evaluation = coco()
    for point in ({}, {"score_threshold": 0.3}, {"iou_threshold": 0.75, "area_range": "small"}):
        outcome = [row["outcome"] for row in rows_of_values(evaluation, "per_detection", **point)]
        missed = [row["outcome"] for row in rows_of_values(evaluation, "per_object", **point)].count("false_negative")
        counts = [outcome.count("true_positive"), outcome.count("false_positive"), missed]
        for name in ("per_class", "per_image"):
            rows = rows_of_values(evaluation, name, **point)
            sums = [sum(row[key] for row in rows) for key in ("true_positives", "false_positives", "false_negatives")]
            assert sums == counts, name


# ---- Tables without data, and sums.


def test_without_data_only_the_columns_that_need_it_are_missing() -> None:
    evaluation = made()
    alone = Evaluation.from_table(evaluation.matches)
    for name, table in TABLES.items():
        whole, rows = rows_of_values(evaluation, name), rows_of_values(alone, name)
        for mine, its in zip(rows, whole, strict=True):
            for key, value in mine.items():
                assert value == (None if table.column(key).needs_data else its[key]), (name, key)


def test_rows_of_a_sum_lead_to_one_detection_and_one_object() -> None:
    """Ids of annotations may repeat in a sum, rows do not."""
    parts = []
    for image in range(1, 7):
        gt = GroundTruth.from_arrays(image_ids=[image] * 2, category_ids=[1, 1], boxes=[[0, 0, 9, 9], [20, 0, 9, 9]])
        dt = Detections.from_arrays(image_ids=[image], category_ids=[1], boxes=[[20, 0, 9, 8]], scores=[0.1 * image])
        parts.append(match(gt, dt))
    evaluation = Evaluation.from_table(MatchTable.merge(parts))
    objects = {row["object_row"]: row for row in rows_of_values(evaluation, "per_object")}
    assert sorted(objects) == list(range(12))
    for row in rows_of_values(evaluation, "per_detection"):
        found = objects[row["matched_object_row"]]
        assert found["object_id"] == row["matched_object_id"] == 2
        assert (found["matched_detection_row"], found["matched_score"]) == (row["detection_row"], row["score"])
        assert found["image_id"] == row["image_id"]


def test_data_that_was_not_matched_is_refused() -> None:
    evaluation = made()
    assert evaluation.detections is not None
    other = Evaluation(
        evaluation.matches,
        evaluation.curves,
        ground_truth=evaluation.ground_truth,
        detections=evaluation.detections[:3],
    )
    with pytest.raises(ValueError, match=r"expected the detections that was matched, with \d+ rows, got 3 rows"):
        rows_of_values(other, "per_detection")


# ---- Files.


@pytest.mark.parametrize("name", SMALL_SCENES)
def test_csv_files_are_read_back_with_the_same_bits(name: str, tmp_path: Path) -> None:
    evaluation = SMALL_SCENES[name]()
    paths = write_tables(evaluation, tmp_path / "tables")
    assert [path.name for path in paths] == [f"{table}.csv" for table in TABLES]
    tables = plain_tables(evaluation)
    for path in paths:
        same(rows_of_csv(path), tables[path.stem])


def test_a_table_of_too_many_points_is_written_only_if_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ioukit.evaluation.tables.files.MOST_POINTS", 100)
    names = [path.stem for path in write_tables(made(["a"]), tmp_path / "tables")]
    assert names == [name for name in TABLES if name != "curves"]
    (path,) = write_tables(made(["a"]), tmp_path / "curves", tables=["curves"])
    assert len(path.read_text().splitlines()) > 100


def test_no_name_of_a_csv_file_is_a_formula(tmp_path: Path) -> None:
    evaluation = made(["=1+1", "'quoted", '@"x"'])
    (path,) = write_tables(evaluation, tmp_path / "tables", tables=["per_class"])
    assert [row["category"] for row in rows_of_csv(path)] == ["'=1+1", "''quoted", '\'@"x"']
    assert [row["category"] for row in rows_of_values(evaluation, "per_class")] == ["=1+1", "'quoted", '@"x"']


@needs_arrow
@pytest.mark.parametrize("name", SMALL_SCENES)
def test_parquet_files_are_read_back_with_the_same_bits(name: str, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    evaluation = SMALL_SCENES[name]()
    tables = plain_tables(evaluation, score_threshold=0.25)
    for path in write_tables(evaluation, tmp_path / "tables", format="parquet", score_threshold=0.25):
        read, table = parquet.read_table(path), evaluation.to_arrow(path.stem, score_threshold=0.25)
        assert read.equals(table)
        assert read.schema.equals(table.schema, check_metadata=True)
        same(read.to_pylist(), tables[path.stem])


@needs_arrow
def test_a_schema_holds_types_meanings_and_settings(tmp_path: Path) -> None:
    kinds = {"integer": "int64", "number": "double", "text": "large_string", "flag": "bool"}
    for label, evaluation in evaluations(tmp_path).items():
        ids = "large_string" if evaluation.matches.image_ids.dtype.kind == "U" else "int64"
        for name, table in TABLES.items():
            schema = evaluation.to_arrow(name).schema
            for field in schema:
                column = table.column(field.name)
                assert str(field.type) == kinds.get(column.type, ids), (label, field)
                assert field.metadata[b"meaning"].decode() == column.meaning
    settings = json.loads(made().to_arrow("per_image", iou_threshold=0.75).schema.metadata[b"ioukit"])
    assert (settings["table"], settings["iou_threshold"], settings["area_range"]) == ("per_image", 0.75, "all")
    assert settings["score_threshold"] is None


def test_an_empty_name_is_not_a_missing_one(tmp_path: Path) -> None:
    (path,) = write_tables(made(["", "b"]), tmp_path / "tables", tables=["per_class"])
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[1].startswith('1,"",')


def test_names_that_no_file_can_hold_are_escaped(tmp_path: Path) -> None:
    (path,) = write_tables(made(["\ud800 cat"]), tmp_path / "tables", tables=["per_class"])
    assert path.read_text(encoding="utf-8").splitlines()[1].startswith(r"1,\ud800 cat,")


def test_ids_that_are_text_stay_text(tmp_path: Path) -> None:
    gt = GroundTruth.from_arrays(image_ids=["007", "a,b"], category_ids=[1, 1], boxes=[[0, 0, 9, 9]] * 2)
    dt = Detections.from_arrays(image_ids=["a,b"], category_ids=[1], boxes=[[0, 0, 9, 9]], scores=[0.5])
    (path,) = write_tables(evaluate(gt, dt), tmp_path / "tables", tables=["per_image"])
    assert [line.rpartition(",,,,")[0] for line in path.read_text().splitlines()[1:]] == ["007", '"a,b"']


def test_the_files_of_detections_are_detections(tmp_path: Path) -> None:
    """ioukit reads them as it reads every other table."""
    evaluation = coco()
    (path,) = write_tables(evaluation, tmp_path / "tables", tables=["per_detection"])
    assert evaluation.ground_truth is not None
    again = evaluate(evaluation.ground_truth, read_detections(path, ground_truth=evaluation.ground_truth))
    assert dict(again.summary) == dict(evaluation.summary)


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Source) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(vars(TABLES["per_object"]), "values", broken)
    with pytest.raises(OSError, match="No space left on device"):
        write_tables(made(), tmp_path / "deep" / "tables")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=r"full exists: expected a new or an empty folder"):
        write_tables(made(), tmp_path / "full")
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine.txt"]


# ---- Names and refusals.


def test_a_measure_with_the_name_of_a_column_is_told_apart() -> None:
    own = COCO.replace(summary=(Measure("recall", "AR"), Measure("AP")))
    evaluation = evaluate(*federated(), own)
    first = rows_of_values(evaluation, "per_class")[0]
    assert first["measure_recall"] == evaluation.per_class[0].summary["recall"]
    assert list(first)[2:4] == ["measure_recall", "AP"]
    assert 0 <= first["recall"] <= 1


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ({"iou_threshold": 0.42}, r"no IoU threshold 0\.42; there are 0\.5, .*, 0\.85, 0\.9, 0\.95$"),
        ({"area_range": "tiny"}, "no area range 'tiny'; there are all, small"),
        ({"score_threshold": math.nan}, "score_threshold must be a number, got nan"),
    ],
)
@pytest.mark.parametrize("name", TABLES)
def test_points_that_the_protocol_lacks_are_refused(name: str, point: Row, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rows_of_values(made(), name, **point)


def test_unknown_tables_and_formats_are_refused(tmp_path: Path) -> None:
    for wanted in ("to_arrow", "to_pandas", "to_polars"):
        package = wanted.removeprefix("to_").replace("arrow", "pyarrow")
        if importlib.util.find_spec(package) is not None:
            with pytest.raises(ValueError, match="unknown table 'classes'; choose from summary, per_class, "):
                getattr(made(), wanted)("classes")
    with pytest.raises(ValueError, match="unknown table 'classes'"):
        write_tables(made(), tmp_path / "tables", tables=["classes"])
    with pytest.raises(TypeError, match=r"expected a list of names of tables, got 'curves'; write \['curves'\]"):
        write_tables(made(), tmp_path / "tables", tables="curves")
    with pytest.raises(ValueError, match="unknown format 'xlsx'; choose from csv, parquet"):
        write_tables(made(), tmp_path / "tables", format="xlsx")  # type: ignore[arg-type]
    assert not (tmp_path / "tables").exists()


@pytest.mark.parametrize(
    ("method", "package", "extra"),
    [("to_arrow", "pyarrow", "tables"), ("to_pandas", "pandas", "pandas"), ("to_polars", "polars", "polars")],
)
def test_a_missing_package_is_named_with_its_extra(
    method: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=rf"{method} needs {package}: pip install 'ioukit\[{extra}\]'"):
        getattr(made(), method)()


def test_the_page_lists_the_columns_of_the_register(monkeypatch: pytest.MonkeyPatch) -> None:
    script = ROOT / "docs" / "build" / "list_columns.py"
    monkeypatch.syspath_prepend(script.parent)
    page = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")
    assert page == runpy.run_path(str(script))["page"](), f"run python {script.name}"
    sections = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", page, re.DOTALL | re.MULTILINE))
    assert list(sections) == list(TABLES)
    for name, table in TABLES.items():
        listed = re.findall(r"^\| `(.+?)` \| (\w+)(.*?) \| (.*) \|$", sections[name], re.MULTILINE)
        assert [(one[0], one[1], one[3]) for one in listed] == [
            (one.name, one.type, one.meaning) for one in table.columns
        ]
        assert [one[2].endswith("or missing") for one in listed] == [one.optional for one in table.columns]
        assert table.rows in sections[name]


def test_a_long_name_of_a_class_is_cut_in_files(tmp_path: Path) -> None:
    """It would be in every row: a name of a megabyte made tables of gigabytes."""
    name = "x" * 1_000_000
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]], categories={1: name})
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]], scores=[0.5])
    files = write_tables(evaluate(gt, dt), tmp_path / "tables")
    assert sum(file.stat().st_size for file in files) < 20e6
    rows = list(csv.DictReader((tmp_path / "tables" / "per_class.csv").read_text().splitlines()))
    assert [row["category"] for row in rows] == ["x" * 997 + "..."]
