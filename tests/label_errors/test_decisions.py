"""Decisions about labels: read from a table, applied beside a plain version, and tasks for annotators."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest

from ioukit import DatasetError, Detections, GroundTruth, RotatedBoxes, evaluate
from ioukit.datasets import read, write
from ioukit.evaluation import Evaluation
from ioukit.label_errors import (
    DECISIONS,
    LabelErrors,
    annotation_tasks,
    apply_decisions,
    find_label_errors,
    read_decisions,
    write_label_studio,
)
from support.planted_labels import KINDS, plant, street

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ("image_id", "category_id", "box", "area")


@pytest.fixture(scope="module")
def errors() -> LabelErrors:
    truth, found = street(60, seed=4)
    planted = plant(truth, dict.fromkeys(KINDS, 0.03), 0).ground_truth
    attributes = {"track": np.arange(len(planted)), "note": np.array([f"n{k}" for k in range(len(planted))])}
    return find_label_errors(evaluate(replace(planted, attributes=attributes), found))


def records(gt: GroundTruth) -> dict[int, dict[str, Any]]:
    columns = (gt.ids, gt.image_labels(), gt.category_ids, gt.boxes, gt.areas)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {number: dict(zip(COLUMNS, values, strict=True)) for number, *values in rows}


def plainly(errors: LabelErrors, decisions: list[str]) -> dict[int, dict[str, Any]]:
    """What `apply_decisions` does, one label after the other, from the words of the labels alone."""
    truth = errors.evaluation.ground_truth
    assert truth is not None
    made = records(truth)
    classes = {name: number for number, name in zip(truth.categories.ids.tolist(), truth.categories.names, strict=True)}
    new = max(made) + 1
    for row, decision in zip(errors.rows(), decisions, strict=True):
        if decision != "yes":
            continue
        if row.kind == "overlooked":
            assert row.suggested_category is not None
            assert row.suggested_box is not None
            label, box = classes[row.suggested_category], list(row.suggested_box)
            made[new] = dict(zip(COLUMNS, (row.image_id, label, box, box[2] * box[3]), strict=True))
            new += 1
            continue
        assert row.annotation_id is not None
        if row.kind in ("doubled", "spurious"):
            del made[row.annotation_id]
        elif row.kind == "swapped":
            assert row.suggested_category is not None
            made[row.annotation_id]["category_id"] = classes[row.suggested_category]
        else:
            assert row.suggested_box is not None
            made[row.annotation_id] |= {
                "box": list(row.suggested_box),
                "area": row.suggested_box[2] * row.suggested_box[3],
            }
    return made


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_what_was_decided_is_changed_and_nothing_else(errors: LabelErrors, seed: int | None) -> None:
    rng = np.random.default_rng(seed)
    decided = np.full(len(errors), "yes") if seed is None else rng.choice(["", *DECISIONS], len(errors))
    truth = errors.evaluation.ground_truth
    assert truth is not None
    before = records(truth)
    made = apply_decisions(errors, decided.tolist())
    expected = plainly(errors, decided.tolist())
    assert {kind for kind, one in zip(errors.kinds, decided, strict=True) if one == "yes"} == set(KINDS)
    assert records(made) == expected
    assert made.ids.tolist() == list(expected)  # the order, too
    assert records(truth) == before
    # Objects that were there keep what they have; new ones have no value.
    old = made.ids <= truth.ids.max()
    places = {number: place for place, number in enumerate(truth.ids.tolist())}
    rows = [places[number] for number in made.ids[old].tolist()]
    for name in ("track", "note"):
        np.testing.assert_array_equal(made.attributes[name][old], truth.attributes[name][rows])
    assert np.isnan(made.attributes["track"][~old]).all()
    assert set(made.attributes["note"][~old].tolist()) <= {""}
    assert (made.images is truth.images, made.categories is truth.categories) == (True, True)


def test_nothing_decided_changes_nothing(errors: LabelErrors) -> None:
    truth = errors.evaluation.ground_truth
    made = apply_decisions(errors, ["no", "unsure"] + [""] * (len(errors) - 2))
    assert truth is not None
    assert records(made) == records(truth)
    for name, column in truth.attributes.items():
        np.testing.assert_array_equal(made.attributes[name], column)


@pytest.mark.parametrize("found_too", [True, False])
def test_masks_are_those_of_the_detections(found_too: bool, errors: LabelErrors) -> None:
    truth, found = errors.evaluation.ground_truth, errors.evaluation.detections
    assert truth is not None
    assert found is not None
    labelled = replace(truth, regions={"segmentations": [[[float(k)] * 6] for k in range(len(truth))]})
    if found_too:
        masks = [[[-float(k)] * 6] for k in range(len(found))]
        found = replace(found, regions={"segmentations": masks}, areas=np.arange(0.5, len(found)))
    drawn = find_label_errors(evaluate(labelled, found)).chosen(kinds=["overlooked", "badly_drawn"])[:200]
    made = apply_decisions(drawn, ["yes"] * len(drawn))
    rows = errors.evaluation.near_matches().detections.row[drawn.detection].tolist()
    before, new = {number: k for k, number in enumerate(truth.ids.tolist())}, iter(range(len(truth), len(made)))
    expected = [[[float(k)] * 6] if k < len(truth) else None for k in range(len(made))]
    areas = [*truth.areas.tolist(), *made.areas[len(truth) :].tolist()]
    for row, at in zip(drawn.rows(), rows, strict=True):
        place = next(new) if row.annotation_id is None else before[row.annotation_id]
        expected[place] = [[-float(at)] * 6] if found_too else None
        areas[place] = at + 0.5 if found_too else float(found.boxes[at, 2] * found.boxes[at, 3])
    assert list(made.segmentations or ()) == expected
    redrawn = drawn.kinds.count("badly_drawn")
    note = f"segmentations of {redrawn} badly drawn objects: the new box is that of a detection, which has none"
    assert (note in made.notes) is not found_too
    assert made.areas.tolist() == areas
    assert set(drawn.kinds) == {"overlooked", "badly_drawn"}


def test_boxes_alone_are_no_rotated_boxes() -> None:
    images, boxes = np.arange(50), np.tile([10.0, 10.0, 50.0, 50.0], (50, 1))
    found = Detections.from_arrays(
        image_ids=images, category_ids=images * 0, boxes=boxes, scores=np.linspace(0.5, 0.9, 50)
    )
    turned = RotatedBoxes([[35, 35, 50, 50, 0]] * 49, unit="degrees", sense="clockwise")
    truth = GroundTruth.from_arrays(image_ids=images[:49], category_ids=images[:49] * 0, regions=turned, images=images)
    errors = find_label_errors(evaluate(truth, found))
    assert errors.kinds[0] == "overlooked"
    with pytest.raises(DatasetError, match="expected RotatedBoxes, which objects of ground truth have, found boxes"):
        apply_decisions(errors, ["yes"] + [""] * (len(errors) - 1))


def test_what_cannot_be_applied(errors: LabelErrors) -> None:
    with pytest.raises(ValueError, match=r"expected \d+ decisions: yes, no, unsure or '', got \['yes'\]"):
        apply_decisions(errors, ["yes"])
    with pytest.raises(ValueError, match=r"or '', got \['maybe' "):
        apply_decisions(errors, ["maybe"] * len(errors))
    table = Evaluation.from_table(errors.evaluation.near_matches())
    with pytest.raises(ValueError, match="the evaluation does not hold its data"):
        annotation_tasks(find_label_errors(table))


def decided_table(errors: LabelErrors, path: Path, words: list[str]) -> list[list[str]]:
    """The table that a person filled in, as rows of cells; also written to the path."""
    errors.write_csv(path)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    made = [[*row, word] for row, word in zip(rows, ["decision", *words], strict=True)]
    save(path, made)
    return made


def save(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def test_a_table_is_read_back(errors: LabelErrors, tmp_path: Path) -> None:
    path = tmp_path / "decisions.csv"
    words = np.random.default_rng(0).choice(["", "yes", "N", " Unsure "], len(errors)).tolist()
    rows = decided_table(errors, path, words)
    expected = [{"N": "no", " Unsure ": "unsure"}.get(word, word) for word in words]
    assert read_decisions(errors, path).tolist() == expected
    # Rows in another order, some of them left out, numbers as a spreadsheet rounds them, and its mark of the encoding.
    rounded = [
        [f"{float(cell):.12g}" if "." in cell and cell[0].isdigit() and "jpg" not in cell else cell for cell in row]
        for row in rows[1:]
    ]
    save(path, [rows[0], *rounded[:10:-2]])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    kept = set(range(len(errors))[:10:-2])
    assert read_decisions(errors, path).tolist() == [word if at in kept else "" for at, word in enumerate(expected)]


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("annotation_id", "999999", "line 2: expected a label that is suspicious .*, found annotation 999999"),
        ("image_id", "none.jpg", "line 2: expected a label that is suspicious in these data, found annotation "),
        ("width", "1.5", "line 2: width: expected "),
        ("suggested_class", "dragon", "line 2: suggested_class: expected .* as in these data, found 'dragon'"),
        ("kind", "overlooked", "line 2: kind: expected "),
        ("x", "left", "line 2: x: expected "),
        ("decision", "maybe", "line 2: decision: expected yes, no, unsure or nothing, found 'maybe'"),
    ],
)  # fmt: skip
def test_a_table_of_other_data_is_refused(
    column: str, cell: str, message: str, errors: LabelErrors, tmp_path: Path
) -> None:
    path = tmp_path / "decisions.csv"
    some = errors.chosen(kinds=["swapped"])[:3]
    rows = decided_table(some, path, ["yes"] * 3)
    rows[1][rows[0].index(column)] = cell
    save(path, rows)
    with pytest.raises(DatasetError, match=message):
        read_decisions(errors, path)


def test_a_table_must_be_one(errors: LabelErrors, tmp_path: Path) -> None:
    path = tmp_path / "decisions.csv"
    rows = decided_table(errors[:3], path, ["yes"] * 3)
    save(path, [*rows, rows[2]])
    with pytest.raises(DatasetError, match=r"decisions\.csv: line 5: expected a label that differs .* that of line 3"):
        read_decisions(errors, path)
    errors.write_csv(path)
    with pytest.raises(DatasetError, match=r"line 1: expected a column decision, found .image_id, file_name"):
        read_decisions(errors, path)
    path.write_text("")
    with pytest.raises(DatasetError, match=r"line 1: expected a column"):
        read_decisions(errors, path)
    save(path, [rows[0], rows[1][:4]])
    with pytest.raises(DatasetError, match=r"line 2: kind: expected .* found ''"):
        read_decisions(errors, path)
    path.write_text(",".join(rows[0]) + '\n"open')
    with pytest.raises(DatasetError, match=r"line 1: expected CSV, found something else: unexpected end"):
        read_decisions(errors, path)


def test_tasks_are_the_images_in_doubt(errors: LabelErrors, tmp_path: Path) -> None:
    decided = np.full(len(errors), "", "U6")
    decided[:20] = "yes"
    corrected = apply_decisions(errors, decided)
    doubted = errors[20:100]
    tasks = annotation_tasks(doubted, corrected)
    rows = doubted.rows()
    assert set(tasks.images.labels.tolist()) == {row.image_id for row in rows}
    reasons = dict(zip(tasks.ids.tolist(), tasks.attributes["reason"].tolist(), strict=True))
    here = {
        number: one for number, one in records(corrected).items() if one["image_id"] in tasks.images.labels.tolist()
    }
    added = {number: one for number, one in records(tasks).items() if number not in here}
    assert {number: one for number, one in records(tasks).items() if number in here} == here
    assert len(added) == sum(row.kind == "overlooked" for row in rows) > 0
    boxes = [list(row.suggested_box or ()) for row in rows if row.kind == "overlooked"]
    assert [one["box"] for one in added.values()] == boxes
    told = {number for number, reason in reasons.items() if reason}
    assert told == {row.annotation_id for row in rows if row.annotation_id is not None} | set(added)
    for row in rows:
        if row.annotation_id is not None:
            assert row.reason in reasons[row.annotation_id]

    # CVAT: by the project's own reader, which reads back boxes, classes and the attribute.
    write(tasks, tmp_path / "tasks.xml", "cvat")
    back = read(tmp_path / "tasks.xml")
    assert back.attributes["reason"].tolist() == tasks.attributes["reason"][tasks_order(tasks)].tolist()
    np.testing.assert_allclose(back.boxes, tasks.boxes[tasks_order(tasks)], rtol=1e-12)

    # Label Studio: https://labelstud.io/guide/predictions, units of images in per cent.
    write_label_studio(tasks, tmp_path / "tasks.json")
    found = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
    assert [task["data"] for task in found] == [{"image": name} for name in tasks.images.names]
    names = dict(zip(tasks.categories.ids.tolist(), tasks.categories.names, strict=True))
    seen = 0
    for task in found:
        (prediction,) = task["predictions"]
        for region in prediction["result"]:
            place = tasks.ids.tolist().index(int(region["id"]))
            constant = {name: region[name] for name in ("type", "from_name", "to_name", "image_rotation")}
            assert constant == {
                "type": "rectanglelabels",
                "from_name": "label",
                "to_name": "image",
                "image_rotation": 0,
            }
            assert region["value"]["rectanglelabels"] == [names[int(tasks.category_ids[place])]]
            assert region["value"]["rotation"] == 0
            shares = [region["value"][name] / 100 for name in ("x", "y", "width", "height")]
            size = [region["original_width"], region["original_height"]] * 2
            np.testing.assert_allclose(np.multiply(shares, size), tasks.boxes[place])
            reason = reasons[int(region["id"])]
            assert region["meta"] == {"text": [reason] if reason else []}
            seen += 1
    assert seen == len(tasks)


def tasks_order(tasks: GroundTruth) -> npt.NDArray[np.intp]:
    """The rows by image, as files with one list per image have them."""
    return np.argsort(tasks.image_ids, kind="stable")


def test_tasks_of_label_studio_need_sizes(tmp_path: Path) -> None:
    images, boxes = np.arange(50), np.tile([10.0, 10.0, 50.0, 50.0], (50, 1))
    found = Detections.from_arrays(
        image_ids=images, category_ids=images * 0, boxes=boxes, scores=np.linspace(0.5, 0.9, 50)
    )
    truth = GroundTruth.from_arrays(
        image_ids=images[:49], category_ids=images[:49] * 0, boxes=boxes[:49], images=images, categories={0: "cat"}
    )
    tasks = annotation_tasks(find_label_errors(evaluate(truth, found))[:1])
    assert tasks.boxes.tolist() == [[10, 10, 50, 50]]
    with pytest.raises(DatasetError, match="image '49': expected a width and a height, found nan, nan"):
        write_label_studio(tasks, tmp_path / "tasks.json")
    assert not (tmp_path / "tasks.json").exists()
