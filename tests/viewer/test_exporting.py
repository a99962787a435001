"""Downloads: what is in them equals what is shown, and no name is a formula or leaves its folder."""

from __future__ import annotations

import csv
import gc
import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ioukit import Detections, Evaluation, GroundTruth, evaluate
from ioukit.datasets import read
from ioukit.viewer.answers.answering import answer
from ioukit.viewer.answers.collection import Collection
from ioukit.viewer.answers.filters import Filter
from ioukit.viewer.answers.issues import label_issues
from ioukit.viewer.answers.selecting import select
from ioukit.viewer.marking import exporting
from ioukit.viewer.marking.exporting import COLUMNS, export
from ioukit.viewer.marking.noted_marks import Noting
from ioukit.viewer.marking.notes import Notes
from support.evaluated_scenes import made

ALL = Filter()


def collection(evaluation: Evaluation | None = None, *, images: int = 12) -> Collection:
    evaluation = evaluation or made(images=images)
    assert evaluation.ground_truth is not None
    other = evaluate(evaluation.ground_truth, made(images=images, seed=5).detections)  # type: ignore[arg-type]
    return Collection.of(evaluation.ground_truth, {"a": evaluation, "=b": other})


@pytest.fixture
def noting(tmp_path: Path) -> Noting:
    return Noting(collection(), Notes(tmp_path / "val.view.db"))


def content(noting: Noting, chosen: Filter, form: str, of: str = "filtered") -> str:
    return b"".join(export(noting.collection, noting, chosen, form, of).chunks).decode()


def rows_of(noting: Noting, chosen: Filter = ALL, of: str = "filtered") -> list[dict[str, str]]:
    rows = list(csv.DictReader(io.StringIO(content(noting, chosen, "csv", of)), strict=True))
    assert all(tuple(row) == COLUMNS and None not in row.values() for row in rows)
    return rows


FILTERS = [
    ALL,
    Filter(outcome=("fp",)),
    Filter(outcome=("fn",), classes=("cat",)),
    Filter(at_score=0.3, at_iou=0.75, outcome=("tp", "detected")),
    Filter(model="=b", outcome=("fp",), at_score=0.0),
    Filter(text=("1.png",)),
    Filter(change=("won",)),
    Filter(text=("no such image",)),
]


@pytest.mark.parametrize("chosen", FILTERS)
def test_a_csv_has_the_marks_that_are_shown(noting: Noting, chosen: Filter) -> None:
    shown = noting.collection
    rows, selection = rows_of(noting, chosen), select(shown, chosen)
    assert len(rows) == int(selection.objects.sum() + selection.detections.sum())
    at = shown.model_at(chosen.model)
    of_model, model = selection.of_model, shown.models[at]
    found = answer(shown, chosen)
    per_image = dict(zip(shown.table.image_ids[found.order].tolist(), found.marks.tolist(), strict=True))
    for image, count in per_image.items():
        assert sum(row["image_id"] == str(image) for row in rows) == count
    objects = [row for row in rows if row["mark"] == "object"]
    truth = shown.ground_truth
    for row, place in zip(objects, np.flatnonzero(selection.objects).tolist(), strict=True):
        number = int(shown.table.objects.row[place])
        assert int(row["annotation_id"]) == truth.ids[number]
        assert [float(row[name]) for name in ("x", "y", "width", "height")] == truth.boxes[number].tolist()
        assert row["file_name"] == f"{row['image_id']}.png"
    detections = [row for row in rows if row["mark"] == "detection"]
    data = model.evaluation.detections
    assert data is not None
    for row, place in zip(detections, np.flatnonzero(selection.detections).tolist(), strict=True):
        number = int(model.table.detections.row[place])
        assert float(row["score"]) == data.scores[number]
        assert row["annotation_id"] == ""
        assert row["class"] == shown.categories.names[of_model.detections.category[place]]
        assert float(row["iou"]) == pytest.approx(of_model.detections.iou[place], rel=1e-6, abs=1e-7)
    assert {row["model"] for row in rows} <= {"'=b" if model.name == "=b" else model.name}
    if chosen.outcome:
        assert {row["outcome"] for row in rows} <= set(chosen.outcome)


@pytest.mark.parametrize("chosen", FILTERS)
def test_ids_and_coco_have_the_images_that_are_shown(noting: Noting, chosen: Filter, tmp_path: Path) -> None:
    shown = noting.collection
    ids = sorted(shown.table.image_ids[answer(shown, chosen).order].tolist())
    assert [int(line) for line in content(noting, chosen, "ids").splitlines()] == ids
    path = tmp_path / "part.json"
    path.write_text(content(noting, chosen, "coco"))
    part = GroundTruth.from_coco(path)
    assert part.images.ids.tolist() == ids
    assert part.categories.ids.tolist() == shown.ground_truth.categories.ids.tolist()
    kept = np.isin(shown.ground_truth.image_ids, ids)
    assert sorted(part.ids.tolist()) == sorted(shown.ground_truth.ids[kept].tolist())
    order = np.argsort(part.ids)
    np.testing.assert_array_equal(part.boxes[order], shown.ground_truth.boxes[kept])
    assert part.images.names[:] == tuple(f"{number}.png" for number in ids)


def test_what_is_tagged_is_written_whatever_the_filter(noting: Noting) -> None:
    shown = noting.collection
    row = int(shown.table.objects.row[shown.objects_of(2)][0])
    found = int(shown.models[1].table.detections.row[shown.models[1].detections_of(5)][0])
    noting.write({"at": 0, "tags": ["night", "rain"], "note": ""})
    noting.write({"at": 2, "side": 0, "row": row, "tags": ["=1+1"], "note": '-2, "x"\nsecond line'})
    noting.write({"at": 5, "side": 2, "row": found, "tags": ["t"], "note": ""})
    rows = rows_of(noting, Filter(classes=("dog",), outcome=("fn",)), "tagged")
    assert [(one["image_id"], one["mark"], one["model"]) for one in rows] == [
        ("1", "image", ""),
        ("3", "object", "a"),
        ("6", "detection", "'=b"),
    ]
    assert (rows[0]["tags"], rows[0]["image_tags"]) == ("night;rain", "night;rain")
    assert (rows[1]["tags"], rows[1]["note"]) == ("'=1+1", '\'-2, "x"\nsecond line')
    assert rows[1]["annotation_id"] == str(shown.ground_truth.ids[row])
    assert rows[2]["tags"] == "t"
    assert content(noting, Filter(classes=("dog",)), "ids", "tagged") == "1\n3\n6\n"
    assert [image["id"] for image in json.loads(content(noting, ALL, "coco", "tagged"))["images"]] == [1, 3, 6]
    tagged = rows_of(noting, Filter(tag=("night",)))
    assert {(one["image_id"], one["image_tags"], one["tags"]) for one in tagged} == {("1", "night;rain", "")}
    marked = [one for one in rows_of(noting, Filter(tag=("=1+1",))) if one["tags"]]
    assert [one["annotation_id"] for one in marked] == [str(shown.ground_truth.ids[row])]


def test_nothing_is_tagged(noting: Noting) -> None:
    assert content(noting, ALL, "ids", "tagged") == ""
    assert rows_of(noting, ALL, "tagged") == []
    assert json.loads(content(noting, ALL, "coco", "tagged"))["images"] == []


def named(source: str = "val.json", ids: Any = ("=1", "two\nlines", "-3")) -> Noting:
    """Names that are formulas, and ids that are strings."""
    gt = GroundTruth.from_arrays(
        image_ids=list(ids),
        category_ids=[1, 2, 1],
        boxes=[[0, 0, 9, 9]] * 3,
        names=["=cmd()", "../../a\x1b[2J.png", "+c.png"],
        images=sorted(ids),
        categories={1: "=SUM(A1)", 2: "@x"},
        source=source,
    )
    dt = Detections.from_arrays(image_ids=list(ids), category_ids=[1, 1, 2], boxes=[[0, 0, 9, 8]] * 3, scores=[0.5] * 3)
    return Noting(Collection.of(gt, {"+m": evaluate(gt, dt)}), Notes(None))


def test_no_text_is_a_formula() -> None:
    rows = rows_of(named())
    texts = [text for row in rows for name, text in row.items() if name in ("image_id", "file_name", "model", "class")]
    assert not [text for text in texts if text.lstrip()[:1] in "=+-@"]
    assert {row["image_id"] for row in rows} == {"'=1", "two\\nlines", "'-3"}
    assert not any("\x1b" in text for text in texts)
    assert content(named(), ALL, "ids").splitlines() == ["-3", "=1", "two\\nlines"]


def test_ids_that_are_strings_become_file_names_of_coco_where_there_is_none() -> None:
    images = json.loads(content(named(ids=("a", "b", "c")), ALL, "coco"))["images"]
    assert [image["id"] for image in images] == [1, 2, 3]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("/data/val.json", "val-filtered"),
        ("C:\\data\\val set.json.gz", "val-set-filtered"),
        ("labels/", "labels-filtered"),
        ("../..", "images-filtered"),
        ('a"\r\nX: b.json', "a-X-b-filtered"),
        ("データ.json", "images-filtered"),
        ("x" * 300 + ".json", "x" * 80 + "-filtered"),
        ("ground truth", "ground-truth-filtered"),
    ],
)
def test_names_are_safe(source: str, name: str) -> None:
    noting = named(source)
    for form, suffix in (("csv", ".csv"), ("coco", ".json"), ("ids", ".txt")):
        assert export(noting.collection, noting, ALL, form).name == name + suffix


def test_unknown_forms_and_filters_are_refused_before_anything_is_sent(noting: Noting) -> None:
    for form, of, chosen, message in (
        ("xlsx", "filtered", ALL, "unknown as 'xlsx'; choose from csv, coco, ids"),
        ("csv", "all", ALL, "unknown of 'all'; choose from filtered, tagged"),
        ("csv", "filtered", Filter(classes=("cow",)), "no class is called 'cow'"),
    ):
        with pytest.raises(ValueError, match=message):
            export(noting.collection, noting, chosen, form, of)


def test_other_regions_and_ground_truth_alone_are_written(tmp_path: Path) -> None:
    truth = made(images=3).ground_truth
    assert truth is not None
    noting = Noting(Collection.of(truth, {}), Notes(None))
    rows = rows_of(noting)
    assert len(rows) == len(truth)
    assert {row["mark"] for row in rows} == {"object"}
    path = tmp_path / "part.json"
    path.write_text(content(noting, ALL, "coco"))
    assert len(read(path)) == len(truth)


def test_issues_are_written() -> None:
    evaluation = made(images=40, seed=3)
    assert evaluation.ground_truth is not None
    issues = label_issues([evaluation])
    shown = Collection.of(evaluation.ground_truth, {"a": evaluation}, issues=issues)
    noting = Noting(shown, Notes(None))
    rows = rows_of(noting, Filter(at_score=0.0))
    assert sum(bool(row["issues"]) for row in rows if row["mark"] == "object") == np.count_nonzero(issues.objects)
    for kind in issues.kinds:
        chosen = rows_of(noting, Filter(at_score=0.0, issue=(kind,)))
        assert sum(kind in row["issues"].split(";") for row in rows) == len(chosen)


def test_a_large_file_is_sent_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "_IMAGES_AT_ONCE", 32)
    evaluation = made(images=600)
    noting = Noting(collection(evaluation, images=600), Notes(None))
    tracemalloc.start()
    found = export(noting.collection, noting, ALL, "csv")
    sizes = [len(chunk) for chunk in found.chunks]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(sizes) > 10
    assert max(sizes) < sum(sizes) / 5
    assert peak < sum(sizes) * 3


def test_the_folder_of_a_coco_file_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    noting = Noting(collection(), Notes(None))
    read, left, failed = (export(noting.collection, noting, ALL, "coco").chunks for _ in range(3))
    assert json.loads(b"".join(read))["images"]
    assert not list(tmp_path.iterdir())
    assert next(left)
    assert len(list(tmp_path.iterdir())) == 1
    del left
    gc.collect()
    assert not list(tmp_path.iterdir())

    def full(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(exporting, "write", full)
    with pytest.raises(OSError, match="full"):
        next(failed)
    assert not list(tmp_path.iterdir())
