"""`ioukit eval`: its tables, its JSON, and what its options change."""

from __future__ import annotations

import json
import math
import os
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ioukit
from support.command import run_fresh, run_here
from support.paths import DATA, load, write_coco

if TYPE_CHECKING:
    from pathlib import Path

VAL2014 = DATA / "coco_val2014_100"
GT, DT = VAL2014 / "instances_val2014_100.json", VAL2014 / "instances_val2014_fakebbox100_results.json"
STATS = load(VAL2014 / "expected.json")["bbox"]["stats"]


@pytest.fixture(scope="module")
def result() -> ioukit.Evaluation:
    return ioukit.evaluate(*ioukit.read_coco(GT, DT))


# ---- The tables.


def test_stdout_is_the_coco_table_then_classes_and_nothing_else(result: ioukit.Evaluation) -> None:
    command = run_here("eval", GT, DT)
    assert command.code == 0
    table, classes = command.out.split("\n\n")
    assert table == result.table().rstrip("\n")
    assert [float(line.rpartition("=")[2]) for line in table.splitlines()] == [round(v, 3) for v in STATS.values()]
    lines = classes.splitlines()
    assert lines[0].split() == ["class", "AP", "AP50", "AP75", "AR100", "objects", "detections"]
    assert len(lines) == 1 + 5 + 1 + 5
    assert lines[6].strip() == "..."
    ranked = sorted((c.summary["AP"] for c in result.per_class if not math.isnan(c.summary["AP"])), reverse=True)
    shown = [float(re.split(r"  +", line)[1]) for line in lines[1:6] + lines[7:]]
    assert shown == [round(ap, 3) for ap in ranked[:5] + ranked[-5:]]


def test_per_class_shows_every_class(result: ioukit.Evaluation) -> None:
    lines = run_here("eval", GT, DT, "--per-class").out.split("\n\n")[1].splitlines()[1:]
    rows = {cells[0]: cells[1:] for cells in (re.split(r"  +", line) for line in lines)}
    assert len(rows) == len(result.per_class) == 80
    for c in result.per_class:
        ap = c.summary["AP"]
        assert rows[c.name][0] == ("-" if math.isnan(ap) else f"{ap:.3f}")
        assert rows[c.name][-2:] == [f"{c.num_ground_truth:,}", f"{c.num_detections:,}"]


def test_the_classes_count_ignored_detections_and_no_ignored_objects(tmp_path: Path) -> None:
    boxes = [[0, 0, 50, 50], [90, 90, 50, 50], [200, 0, 9, 9]]
    shared = {"image_id": 1, "category_id": 1}
    objects = [{**shared, "id": k, "bbox": box, "area": 99, "iscrowd": k} for k, box in enumerate(boxes[:2])]
    truth = {"images": [{"id": 1}], "categories": [{"id": 1, "name": "cat"}], "annotations": objects}
    found = [{**shared, "bbox": box, "score": 0.9} for box in boxes]
    paths = write_coco(tmp_path, json.dumps(truth).encode(), json.dumps(found).encode())
    row = run_here("eval", *paths).out.split("\n\n")[1].splitlines()[1]
    assert row.split()[-2:] == ["1", "3"]


def test_intervals_are_those_of_python(result: ioukit.Evaluation, tmp_path: Path) -> None:
    command = run_here("eval", GT, DT, "--intervals", "--json", tmp_path / "numbers.json")
    assert command.code == 0
    found = result.intervals(["AP", "AP50", "AP75", "AR100"])
    told = " ".join(command.out.split("\n\n")[1].split())
    assert told == " ".join(one.sentence() for one in found.values())
    assert load(tmp_path / "numbers.json")["intervals"] == {key: one.to_dict() for key, one in found.items()}


def test_one_image_has_no_interval(tmp_path: Path) -> None:
    gt, dt = load(GT), load(DT)
    image = gt["images"][0]["id"]
    for file, data in (("gt", {**gt, "images": gt["images"][:1]}), ("dt", dt)):
        rows = data["annotations"] if file == "gt" else data
        rows = [row for row in rows if row["image_id"] == image]
        (tmp_path / f"{file}.json").write_text(json.dumps({**data, "annotations": rows} if file == "gt" else rows))
    command = run_here("eval", tmp_path / "gt.json", tmp_path / "dt.json", "--intervals")
    assert (command.code, command.out) == (2, "")
    assert "there is 1 image; at least two images are needed" in command.err


def test_talk_goes_to_stderr_and_quiet_silences_it() -> None:
    loud, quiet = run_here("eval", GT, DT), run_here("eval", GT, DT, "--quiet")
    assert re.search(r"read \S*instances_val2014_100\.json +coco  100 images  839 boxes", loud.err)
    assert re.search(r"read \S*_results\.json +coco  734 detections  \d+\.\d\d s", loud.err)
    assert (quiet.code, quiet.err) == (0, "")
    assert quiet.out == loud.out


def test_class_names_cannot_steer_a_terminal(tmp_path: Path) -> None:
    name = "\x1b[31mred\x1b[0m\r\nAP 1.0 \ud800 naïve 猫"
    gt = {
        "images": [{"id": 1}],
        "categories": [{"id": 1, "name": name}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9], "area": 81, "iscrowd": 0},
        ],
    }
    files = write_coco(tmp_path, gt, [])
    # An old console that knows ASCII alone must not end the command either.
    for encoding in ("utf-8", "ascii"):
        command = run_fresh("eval", *files, env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"})
        assert command.code == 0
        assert "\x1b" not in command.out
        assert r"\x1b[31mred\x1b[0m\r\nAP 1.0 \ud800" in command.out


# ---- JSON.


def test_json_is_one_object_on_stdout(result: ioukit.Evaluation) -> None:
    for command in (run_here("eval", GT, DT, "--json"), run_here("eval", "--json", GT, DT)):
        assert command.code == 0
        document = json.loads(command.out)
        assert document == json.loads(result.to_json())
        assert {key: document["summary"][key] for key in STATS} == STATS
        assert "read " in command.err


def test_undefined_is_null(tmp_path: Path) -> None:
    files = write_coco(tmp_path, {"images": [{"id": 1}], "categories": [], "annotations": []}, [])

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    document = json.loads(run_here("eval", *files, "--json").out, parse_constant=refuse)
    assert set(document["summary"].values()) == {None}


def test_json_file_is_written_and_the_tables_are_printed(tmp_path: Path, result: ioukit.Evaluation) -> None:
    file = tmp_path / "result.json"
    for way in range(2):
        command = run_here("eval", *((GT, DT, "--json", file), (f"--json={file}", GT, DT))[way])
        assert command.code == 0
        assert command.out.startswith(" Average Precision  (AP)")
        assert json.loads(file.read_bytes()) == json.loads(result.to_json())
        assert [path.name for path in tmp_path.iterdir()] == ["result.json"]
        file.unlink()


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    run_here("eval", GT, DT, "--json", tmp_path / "result.json")
    (tmp_path / "other").touch()
    assert (tmp_path / "result.json").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_nothing_is_left_of_a_file_that_could_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "result.json"
    file.write_text("the old content")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ioukit.cli._output.os.fsync", full)
    command = run_here("eval", GT, DT, "--json", file)
    assert (command.code, command.out) == (2, "")
    assert ".json: the disk is full\n" in command.err
    assert file.read_text() == "the old content"
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


def test_inputs_are_never_overwritten(tmp_path: Path) -> None:
    gt, dt = write_coco(tmp_path, GT.read_bytes(), DT.read_bytes())
    (tmp_path / "link.json").symlink_to(dt)
    (tmp_path / "hard.json").hardlink_to(gt)
    for file in (gt, dt, tmp_path / "link.json", tmp_path / "hard.json"):
        command = run_here("eval", gt, dt, "--json", file)
        assert command.code == 2
        assert "is an input and would be overwritten" in command.err
    assert (gt.read_bytes(), dt.read_bytes()) == (GT.read_bytes(), DT.read_bytes())


def folder_of_texts(folder: Path, line: str) -> Path:
    folder.mkdir()
    (folder / "1.txt").write_text(line)
    return folder


@pytest.mark.parametrize("option", ["--report", "--json", "--markdown", "--junit"])
def test_files_of_an_input_folder_are_never_overwritten(option: str, tmp_path: Path) -> None:
    gt, dt = folder_of_texts(tmp_path / "gt", "cat 0 0 9 9\n"), folder_of_texts(tmp_path / "dt", "cat 0.5 0 0 9 9\n")
    elsewhere = tmp_path / "notes.json"
    elsewhere.write_text("[]")
    (gt / "link.json").symlink_to(elsewhere)
    (dt / "more").mkdir()
    inner = folder_of_texts(dt / "more" / "inside", "").joinpath("1.txt")
    for folder, file in ((gt, gt / "1.txt"), (dt, dt / "1.txt"), (gt, gt / "link.json"), (dt, inner)):
        if option == "--report":  # no page may be called so
            file = file.rename(file.with_suffix(".xml"))  # noqa: PLW2901 - the same file
        before = file.read_bytes()
        command = run_here("eval", gt, dt, option, file, "--at-least", "AP=0")
        assert command.code == 2
        assert f"{file} is in the input {folder} and would be overwritten" in " ".join(command.err.split())
        assert file.read_bytes() == before


def test_results_in_an_input_folder_are_written_again(tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="pages need Jinja2: pip install 'ioukit[report]'")
    gt, dt = folder_of_texts(tmp_path / "gt", "cat 0 0 9 9\n"), folder_of_texts(tmp_path / "dt", "cat 0.5 0 0 9 9\n")
    files = {f"--{name}": dt / f"of.{end}" for name, end in (("report", "html"), ("json", "json"), ("log", "db"))}
    words = [word for pair in files.items() for word in pair] + ["--name", "first"]
    for _ in range(2):
        assert run_here("eval", gt, dt, *words).code in (None, 0)
    assert all(file.stat().st_size for file in files.values())


@pytest.mark.parametrize("file", ["", "none/result.json"])
def test_a_place_that_takes_no_file_is_refused_before_the_work(file: str, tmp_path: Path) -> None:
    command = run_here("eval", "nowhere.json", "nowhere.json", "--json", tmp_path / file)
    assert command.code == 2
    assert "folder" in command.err
    assert "nowhere" not in command.err


def test_links_and_devices_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "target.json").touch()
    (tmp_path / "link.json").symlink_to(tmp_path / "target.json")
    assert run_here("eval", GT, DT, "--json", tmp_path / "link.json").code == 0
    assert (tmp_path / "link.json").is_symlink()
    assert load(tmp_path / "target.json")["summary"]
    if os.path.exists("/dev/null"):
        assert run_here("eval", GT, DT, "--json", "/dev/null").code == 0
        assert not os.path.isfile("/dev/null")


# ---- Options reach the evaluation.


@pytest.mark.parametrize(
    ("options", "protocol", "subset"),
    [
        (["--iou-thresholds", "0.5,0.75"], {"iou_thresholds": [0.5, 0.75]}, {}),
        (["--iou-thresholds", "0.5", "--iou-thresholds", "0.9"], {"iou_thresholds": [0.5, 0.9]}, {}),
        (["--iou-thresholds", "0.3:0.9:0.3"], {"iou_thresholds": np.linspace(0.3, 0.9, 3).tolist()}, {}),
        (["--max-dets", "1,3,5"], {"max_dets": [1, 3, 5]}, {}),
        (
            ["--areas", "small:0:256,large:256:inf"],
            {"area_ranges": {"all": (0, 1e10), "small": (0, 256), "large": (256, 1e10)}},
            {},
        ),
        (["--class-agnostic"], {"class_agnostic": True}, {}),
        (["--classes", "person,3"], {}, {"categories": [1, 3]}),
        (["--threads", "1"], {}, {}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options(options: list[str], protocol: dict[str, Any], subset: dict[str, Any]) -> None:
    command = run_here("eval", GT, DT, "--json", *options)
    assert command.code == 0, command.err
    expected = ioukit.evaluate(*ioukit.read_coco(GT, DT), ioukit.COCO.replace(**protocol), **subset)
    assert json.loads(command.out) == json.loads(expected.to_json())
    if options[0] not in ("--threads",):
        assert json.loads(command.out) != json.loads(run_here("eval", GT, DT, "--json").out)


def test_on_invalid(tmp_path: Path) -> None:
    """Two annotations of one id in two images, both found: which of them count decides AP."""
    case = next(c for c in load(DATA / "coco_quirks" / "cases.json")["cases"] if c["name"] == "dup_gt_ids_two_images")
    files = write_coco(tmp_path, case["gt"], case["dt"])
    default, drop, as_pycocotools = (
        run_here("eval", *files, "--json", *options)
        for options in ([], ["--on-invalid", "drop"], ["--on-invalid", "pycocotools"])
    )
    assert default.code == 2
    assert "annotations[1].id" in default.err
    assert json.loads(drop.out)["summary"]["AP"] == 0.9999999999999998
    assert "gt.json: 1 invalid record left out\n" in drop.err
    assert json.loads(as_pycocotools.out)["summary"]["AP"] == case["expected"]["stats"][0] == 0.2524752475247525


# ---- Bad use.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["eval"], "Missing argument 'GT'"),
        (["eval", GT], "Missing argument 'DT'"),
        (["eval", GT, DT, "out.json"], "expected GT DT, got out.json, too; ioukit compare GT A B"),
        (["eval", "--json", GT, DT, "out.json"], "expected GT DT, got out.json, too"),
        (["eval", GT, DT, "--json", "a.json", "b.json"], "expected GT DT, got b.json, too"),
        (["eval", GT, DT, "--json="], "Invalid value for --json: expected a file, or - for standard output"),
        (["eval", GT, DT, "--bogus"], "--bogus"),
        (["evaluate", GT, DT], "evaluate"),
        (["eval", GT, DT, "--on-invalid", "ignore"], "'ignore' is not one of"),
        (["eval", GT, DT, "--threads", "0"], "--threads"),
        (
            ["eval", GT, DT, "--protocol", "coca"],
            "Invalid value for --protocol: unknown protocol 'coca'; did you mean 'coco'? Else choose",
        ),
        (
            ["eval", GT, DT, "--iou-type", "box"],
            "Invalid value for --iou-type: unknown iou_type 'box'; did you mean",
        ),
        (["eval", "-", "-"], "- (standard input) stands for one file, got it twice"),
        (
            ["eval", GT, DT, "--areas", "tiny"],
            "Invalid value for --areas: expected name:low:high in square pixels, such as small:0:1024, got 'tiny'",
        ),
        (["eval", GT, DT, "--areas", "tiny:9:1"], "area range 'tiny' must go from a lower to a higher number, got 9"),
        (["eval", GT, DT, "--areas", "tiny:0:1,tiny:1:2"], "labels of area_ranges must differ"),
        (["eval", GT, DT, "--max-dets", "x"], "Invalid value for --max-dets: a cap must be a whole number, got 'x'"),
        (["eval", GT, DT, "--max-dets", "0"], "max_dets must be positive integers, got 0"),
        (["eval", GT, DT, "--iou-thresholds", "x"], "Invalid value for --iou-thresholds: an IoU threshold must be"),
        (["eval", GT, DT, "--iou-thresholds", "50"], "iou_thresholds must lie within (0, 1], got 50.0"),
        (["eval", GT, DT, "--classes", "persn"], "Invalid value for --classes: no category has the name 'persn'; did"),
        (["eval", GT, DT, "--classes", "12"], "Invalid value for --classes: no category has the id 12"),
    ],
    ids=lambda value: " ".join(map(str, value[-2:])) if isinstance(value, list) else "",
)
def test_bad_use(arguments: list[str | Path], message: str) -> None:
    command = run_here(*arguments)
    assert (command.code, command.out) == (2, "")
    assert message in command.err
    assert "Traceback" not in command.err


def test_help_tells_a_newcomer_how_to_begin() -> None:
    top, page = run_here("--help"), run_here("eval", "-h")
    assert (top.code, page.code) == (0, 0)
    assert re.search(r"eval +AP and the other numbers", top.out)
    assert "ioukit eval instances_val2017.json detections.json\n" in page.out
    for option in (
        "--json [FILE]",
        "--per-class",
        "--errors",
        "--iou-type",
        "--protocol",
        "--iou-thresholds",
        "--max-dets",
        "--areas",
        "--classes",
        "--on-invalid",
    ):
        assert option in page.out


def test_version() -> None:
    assert run_here("--version").out == f"ioukit {ioukit.__version__}\n"
