"""`ioukit check`, and the option --repair."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from support.command import run_here
from support.paths import DATA, load, write_coco

if TYPE_CHECKING:
    from pathlib import Path

VAL2014 = DATA / "coco_val2014_100"
GT, DT = VAL2014 / "instances_val2014_100.json", VAL2014 / "instances_val2014_fakebbox100_results.json"


def corners(record: dict[str, Any]) -> dict[str, Any]:
    x, y, width, height = record["bbox"]
    return {**record, "bbox": [x, y, x + width, y + height]}


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "corners.json"
    path.write_text(json.dumps([corners(record) for record in load(DT)]))
    return path


def test_nothing_is_found() -> None:
    for arguments in ((GT, DT), (GT,)):
        command = run_here("check", *arguments)
        assert command.code == 0, command.err
        assert ": no finding, " in command.out
        assert command.err.startswith(f"read {GT}  coco  839 boxes")


def test_a_finding(wrong: Path) -> None:
    command = run_here("check", GT, wrong, "--quiet")
    assert (command.code, command.err) == (1, "")
    assert "AP is 0.505 instead of 0.032 if so." in command.out
    assert "--repair 'boxes=xyxy'" in command.out
    assert len(load(wrong)) == 734, "nothing is changed"


def test_the_repair_mends_it_in_both_commands(wrong: Path) -> None:
    assert run_here("check", GT, wrong, "--repair", "boxes=xyxy").code == 0
    evaluated = run_here("eval", GT, wrong, "--repair", "boxes=xyxy", "--json", "-")
    assert evaluated.code == 0
    assert json.loads(evaluated.out)["summary"]["AP"] == pytest.approx(0.5045806987249628, abs=1e-9)


def test_eval_names_the_check(wrong: Path) -> None:
    (hint,) = [line for line in run_here("eval", GT, wrong).err.splitlines() if line.startswith("hint ")]
    assert hint == f"hint ioukit check {GT} {wrong}  tells what the numbers would be"
    assert "hint" not in run_here("eval", GT, DT).err


def test_json(wrong: Path, tmp_path: Path) -> None:
    command = run_here("check", GT, wrong, "--json")
    assert command.code == 1
    found = json.loads(command.out)
    assert (found["ok"], found["findings"][0]["code"]) == (False, "detections_are_xyxy")
    written = run_here("check", GT, wrong, "--json", tmp_path / "found.json")
    assert load(tmp_path / "found.json") == found
    assert "detections_are_xyxy" in written.out


def test_data_that_eval_refuses(tmp_path: Path) -> None:
    """Unknown images and classes are findings, with exit code 1 and not 2."""
    records = [{**record, "image_id": f"val/{record['image_id']:012d}.jpg"} for record in load(DT)]
    paths = write_coco(tmp_path, load(GT), [*records, {**load(DT)[0], "image_id": "unknown"}])
    assert run_here("eval", *paths).code == 2
    command = run_here("check", *paths)
    assert command.code == 1, command.err
    assert "image_ids_match_by_stem" in command.out
    assert run_here("eval", *paths, "--repair", "images=stem", "--quiet").code == 0


def test_ids_are_the_numbers_in_the_names_of_label_files(tmp_path: Path) -> None:
    """One finding, whose repair `eval` accepts: what a repair has placed is not taken for ids of a file again."""
    labels = tmp_path / "labels"
    labels.mkdir()
    (labels / "sizes.csv").write_text("name,width,height\n" + "".join(f"img_{at}.jpg,100,100\n" for at in (1, 2, 3)))
    for at in (1, 2, 3):
        (labels / f"img_{at}.txt").write_text("0 0.5 0.5 0.2 0.2\n")
    records = [{"image_id": at, "category_id": 0, "bbox": [40, 40, 20, 20], "score": 0.9} for at in (1, 2, 3)]
    results = tmp_path / "dt.json"
    results.write_text(json.dumps(records))
    found = json.loads(run_here("check", labels, results, "--json").out)
    (finding,) = found["findings"]
    assert (finding["code"], found["repairs"]) == ("image_ids_match_by_stem", ["images=stem"])
    assert (finding["before"], finding["after"]) == (0, 1)
    assert finding["examples"][0] == "1 is 'img_1.jpg'"
    evaluated = run_here("eval", labels, results, "--repair", "images=stem", "--json", "-")
    assert json.loads(evaluated.out)["summary"]["AP"] == 1, evaluated.err
    assert run_here("check", labels, results, "--repair", "images=stem").code == 0


def test_names_of_images_in_the_place_of_ids(tmp_path: Path) -> None:
    """Ultralytics writes such results: they meet the images by name, and nothing is wrong."""
    records = [{**record, "image_id": f"val/{record['image_id']:012d}.jpg"} for record in load(DT)]
    paths = write_coco(tmp_path, load(GT), records)
    named, plain = (json.loads(run_here("eval", *files, "--json", "-").out) for files in (paths, (GT, DT)))
    assert named["summary"] == plain["summary"]
    assert "image_ids" not in run_here("check", *paths).out


def test_kinds_and_protocols() -> None:
    assert run_here("check", GT, DT, "--protocol", "voc2012", "--quiet").code == 0
    assert "mAP" in run_here("check", GT, DT, "--protocol", "voc2012", "--json").out
    command = run_here("check", GT, DT, "--iou-type", "segm")
    assert command.code == 2
    assert "segmentation" in command.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--repair", "box=xyxy"), "unknown repair 'box'; expected NAME or NAME=VALUE such as boxes=xyxy"),
        (("--repair", "boxes=xyxy@missing.txt"), "missing.txt"),
        (("--repair", "gt:nms=0.5"), "changes detections only"),
        (("--images", "."), "needs --train, --images and --train-images"),
        (("--iou-type", "x"), "unknown"),
    ],
)
def test_wrong_use(arguments: tuple[str, ...], says: str) -> None:
    command = run_here("check", GT, DT, *arguments)
    assert command.code == 2
    assert says in command.err
    assert "Traceback" not in command.err
    assert command.out == ""


def test_an_unknown_repair_is_refused_before_anything_is_read() -> None:
    command = run_here("check", "none.json", "--repair", "box=xyxy")
    assert command.code == 2
    assert "unknown repair 'box'" in command.err


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "cut.json").write_text('{"images": [')
    for arguments in ((tmp_path / "cut.json",), (GT, tmp_path / "cut.json"), (GT, tmp_path / "none.json")):
        command = run_here("check", *arguments)
        assert (command.code, command.out) == (2, "")
        assert command.err.splitlines()[-1].startswith("Error: ")


def test_training_set() -> None:
    command = run_here("check", GT, "--train", GT, "--quiet")
    assert command.code == 1
    assert "100 of 100 images have the name of an image of the training set" in command.out


def test_the_line_with_all_repairs_runs_in_eval(tmp_path: Path) -> None:
    """NMS of boxes that are still fractions would find no overlap: the order matters, and the line is not broken."""
    sizes = {image["id"]: (image["width"], image["height"]) for image in load(GT)["images"]}
    found = []
    for record in load(DT):
        (x, y, width, height), (wide, high) = record["bbox"], sizes[record["image_id"]]
        box = [(x + width / 2) / wide, (y + height / 2) / high, width / wide, height / high]
        found += 2 * [{**record, "category_id": record["category_id"] - 1, "bbox": box}]
    path = tmp_path / "found.json"
    path.write_text(json.dumps(found))
    checked = run_here("check", GT, path, "--quiet")
    lines = checked.out.splitlines()
    options = lines[lines.index("All repairs together, in the order that works:") + 1]
    assert len(options) > 80
    command = run_here("eval", GT, path, *shlex.split(options), "--quiet", "--json")
    best = max(float(number) for number in re.findall(r"AP is ([\d.]+) instead of", checked.out))
    assert json.loads(command.out)["summary"]["AP"] == pytest.approx(best, abs=5e-4)


def test_detections_alone_are_refused_as_such() -> None:
    """Nothing is exchanged, as there is one file only."""
    assert f"{DT}: detections, not ground truth: ioukit eval GT {DT} compares" in run_here("check", DT).err
    assert "are the two files swapped?" in run_here("check", DT, GT).err


def test_all_faults_of_a_folder_are_counted(tmp_path: Path) -> None:
    for name in ("gt", "dt"):
        (tmp_path / name).mkdir()
    for number in range(1, 8):
        (tmp_path / "gt" / f"{number}.txt").write_text("cat 0 0 90 90\n")
        (tmp_path / "dt" / f"{number}.txt").write_text(f"cat 0.5 0 0 {'wide' if number > 2 else 9} 9\n")
    command = run_here("check", tmp_path / "gt", tmp_path / "dt", "--dt-format", "padilla")
    assert command.code == 2
    file = tmp_path / "dt" / "3.txt"
    error = f"Error: {file}: line 1, width: expected a number, found 'wide'; the first of 5 invalid records, which"
    assert f"{error} --on-invalid drop leaves out\n" in command.err
    shown = [f"{tmp_path / 'dt'}/{number}.txt: line 1, width: expected a number, found 'wide'" for number in (3, 4, 5)]
    assert f"note with --on-invalid drop: {tmp_path / 'dt'}: left out 5 x bad line: {'; '.join(shown)}; ...\n" in (
        command.err
    )
    quiet = run_here("check", tmp_path / "gt", tmp_path / "dt", "--dt-format", "padilla", "--quiet")
    assert quiet.err.startswith(error)
    left = run_here("check", tmp_path / "gt", tmp_path / "dt", "--dt-format", "padilla", "--on-invalid", "drop")
    assert left.code in (0, 1)


def test_a_single_fault_is_not_counted(tmp_path: Path) -> None:
    records = load(DT)
    for wrong in (1, 3):
        for record in records[:wrong]:
            record["score"] = "high"
        (tmp_path / "dt.json").write_text(json.dumps(records))
        command = run_here("check", GT, tmp_path / "dt.json")
        assert command.code == 2
        assert "detections[0].score: expected a number" in command.err
        assert ("the first of 3 invalid records" in command.err) == (wrong == 3)


def test_detections_alone_are_not_counted_as_invalid(tmp_path: Path) -> None:
    (tmp_path / "dt.json").write_text(json.dumps(load(DT)[:3]))
    command = run_here("check", tmp_path / "dt.json")
    assert "detections, not ground truth" in command.err
    assert "invalid record" not in command.err
