"""The notes of `ioukit eval` about files that are valid and probably mistakes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ioukit import DatasetError, Evaluator, GroundTruth, evaluate
from support.command import run_here
from support.paths import DATA, DEMO, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import TypeAlias

    Change: TypeAlias = Callable[[dict[str, Any]], dict[str, Any] | None]

VAL2014 = DATA / "coco_val2014_100"
GT, DT = VAL2014 / "instances_val2014_100.json", VAL2014 / "instances_val2014_fakebbox100_results.json"
SIZES = {image["id"]: (image["width"], image["height"]) for image in load(GT)["images"]}


def notes(*arguments: str | Path) -> list[str]:
    command = run_here("eval", *arguments)
    assert command.code == 0, command.err
    return [line for line in command.err.splitlines() if line.startswith("note")]


def changed(tmp_path: Path, change: Change) -> Path:
    """The detections, each changed; those that become None are left out."""
    path = tmp_path / "dt.json"
    path.write_text(json.dumps([record for record in map(change, load(DT)) if record is not None]))
    return path


def corners(record: dict[str, Any]) -> dict[str, Any]:
    x, y, width, height = record["bbox"]
    return {**record, "bbox": [x, y, x + width, y + height]}


def fractions(record: dict[str, Any]) -> dict[str, Any]:
    (wide, high), (x, y, width, height) = SIZES[record["image_id"]], record["bbox"]
    return {**record, "bbox": [x / wide, y / high, width / wide, height / high]}


def moved(record: dict[str, Any]) -> dict[str, Any]:
    return {**record, "category_id": record["category_id"] + 1}


def of_some_images(record: dict[str, Any]) -> dict[str, Any] | None:
    return record if record["image_id"] % 3 else None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (corners, "hardly fit [x, y, width, height], and fit [x1, y1, x2, y2]: convert them, if that is their format"),
        (fractions, "all of 734 detections fit into an image of 1 by 1, and boxes should be in pixels: multiply x and"),
        (moved, "have it if -1 is added to all category ids: add -1 to the category ids"),
        (of_some_images, "images with objects have no detection, such as image "),
    ],
)
def test_what_looks_wrong_is_a_note(change: Change, says: str, tmp_path: Path) -> None:
    file = changed(tmp_path, change)
    found = notes(GT, file, "--on-invalid", "drop")  # COCO has no category 12
    (note,) = [line for line in found if "left out" not in line]
    assert note.startswith(f"note {file}: ")
    assert says in note
    quiet = run_here("eval", GT, file, "--on-invalid", "drop", "--quiet")
    assert (quiet.code, quiet.err) == (0, "")


@pytest.mark.parametrize("change", [corners, fractions, of_some_images])
def test_python_has_the_notes_of_the_command(change: Change, tmp_path: Path) -> None:
    """Also where an evaluator keeps no data; what gives high numbers is not doubted, as it is not read wrongly."""
    file = changed(tmp_path, change)
    found = evaluate(GT, file)
    low = found.summary["AP"] < 0.2
    assert [f"note {note}" for note in found.notes] == (notes(GT, file) if low else [])
    assert low == (change is not of_some_images)
    evaluator = Evaluator(box_format="xywh")
    assert found.detections is not None
    evaluator.update(found.detections, GroundTruth.from_coco(GT))
    computed = evaluator.compute()
    assert computed.detections is None
    assert bool(computed.notes) == low
    assert evaluate(GT, DT).notes == ()


def test_a_repair_for_the_command_is_named(tmp_path: Path) -> None:
    for change, repair in ((corners, "boxes=xyxy"), (fractions, "units=fractions"), (moved, "classes=-1")):
        file = changed(tmp_path, change)
        says = f"--repair {repair} in a command"
        (note,) = [line for line in notes(GT, file, "--on-invalid", "drop") if "left out" not in line]
        assert says in note
        assert run_here("eval", GT, file, "--repair", repair, "--quiet").code == 0


def test_python_names_the_check_of_unknown_ids(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"category_id: .*; ioukit\.checks\.check\(ground_truth, detections\) looks"):
        evaluate(GT, changed(tmp_path, moved))


def test_ground_truth_is_looked_at_as_well(tmp_path: Path) -> None:
    document = load(GT)
    document["annotations"] = [corners(record) for record in document["annotations"]]
    (tmp_path / "gt.json").write_text(json.dumps(document))
    (note,) = notes(tmp_path / "gt.json", DT)
    assert note.startswith(f"note {tmp_path / 'gt.json'}: ")
    assert "annotations hardly fit" in note


def test_no_note_about_files_that_are_right() -> None:
    assert notes(GT, DT) == []
    assert notes(DEMO / "gt.json", DEMO / "a.json") == []
