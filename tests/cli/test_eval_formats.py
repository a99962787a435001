"""`ioukit eval`, `check` and `inspect` of all formats: their names and the options of their readers, per side."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, evaluate
from ioukit.datasets import FORMATS, read, read_detections, write
from support.command import run_here

if TYPE_CHECKING:
    from collections.abc import Sequence

DATA = Path(__file__).parents[1] / "data"
PEOPLE, CATS, SMALL = DATA / "people_7_images", DATA / "toy_cats", DATA / "formats_small"
GT = DATA / "coco_val2014_100" / "instances_val2014_100.json"
DT = GT.with_name("instances_val2014_fakebbox100_results.json")
NAMES = f"names=@{CATS / 'voc.names'}"


def evaluated(*words: Any) -> tuple[dict[str, Any], str]:
    """The numbers of the evaluation, and what the command says."""
    command = run_here("eval", *map(str, words), "--json")
    assert command.code == 0, command.err
    return json.loads(command.out)["summary"], command.err


def refused(*words: Any) -> str:
    """The one line that refuses options."""
    command = run_here(*map(str, words))
    assert (command.code, command.out) == (2, "")
    (line,) = command.err.splitlines()
    return line.removeprefix("Error: ")


def pair(classes: Sequence[str], names: Sequence[str]) -> tuple[GroundTruth, Detections]:
    """Four objects per image at whole pixels, and detections that are shifted by at most two."""
    rng = np.random.default_rng(7)
    rows = 4 * len(names)
    images = np.repeat(np.arange(1, len(names) + 1), 4)
    boxes = np.column_stack([rng.integers(5, 60, (rows, 2)), rng.integers(8, 30, (rows, 2))]).astype(float)
    gt = GroundTruth.from_arrays(
        image_ids=images,
        category_ids=rng.integers(1, len(classes) + 1, rows),
        boxes=boxes,
        images=np.arange(1, len(names) + 1),
        sizes=[[100, 100]] * len(names),
        names=names,
        categories=dict(enumerate(classes, 1)),
    )
    dt = Detections.from_arrays(
        image_ids=images,
        category_ids=gt.category_ids,
        boxes=boxes + rng.integers(-2, 3, boxes.shape),
        scores=rng.permutation(np.arange(1, rows + 1)) / 100,
    )
    return gt, dt


def test_the_folders_of_object_detection_metrics() -> None:
    expected = json.loads((PEOPLE / "expected.json").read_text())["computed"]["values"]["voc"]["0.5"]
    summary, said = evaluated(PEOPLE / "groundtruths", PEOPLE / "detections", "--protocol", "voc2007")
    assert summary["mAP"] == pytest.approx(expected["eleven_point"]["mAP"], abs=1e-15)
    assert re.search(r"read \S*groundtruths +padilla  7 images  15 boxes\n", said)
    assert re.search(r"read \S*detections +padilla  24 detections  \d", said)


@pytest.mark.parametrize(
    ("folder", "options"),
    [
        ("dets_classname_abs_xywh", []),
        ("dets_classname_abs_xyx2y2", ["boxes=xyxy"]),
        ("dets_classname_rel_xcycwh", ["boxes=fractions"]),
        ("dets_classid_abs_xywh", [NAMES]),
        ("dets_classid_abs_xyx2y2", ["boxes=xyxy", NAMES]),
        ("dets_classid_rel_xcycwh", ["boxes=fractions", NAMES]),
    ],
)
def test_every_text_layout_of_the_toy_cats(folder: str, options: list[str]) -> None:
    """Fractions were rounded less than pixels, so that their AP differs in the third digit."""
    expected = json.loads((CATS / "expected.json").read_text())["computed"]["values"]["coco"]
    given = [word for option in options for word in ("--dt-option", option)]
    named = ["--dt-format", "padilla"] if "classid_rel" in folder else []
    summary, said = evaluated(CATS / "gts_vocpascal_format", CATS / folder, *named, *given)
    assert f"{folder}  padilla  12 detections" in said
    assert summary["AP50"] == pytest.approx(expected["AP50"], abs=1e-12)
    assert summary["AP"] == pytest.approx(expected["AP"], abs=0.01 if "rel" in folder else 1e-12)


@pytest.mark.parametrize(
    ("name", "classes", "names"),
    [
        ("coco", ["cat", "dog"], ["a.jpg", "b.jpg"]),
        ("voc", ["cat", "dog"], ["a.jpg", "b.jpg"]),
        ("yolo", ["cat", "dog"], ["a.jpg", "b.jpg"]),
        ("dota", ["plane", "ship"], ["P1.png", "P2.png"]),
        ("kitti", ["Car", "Pedestrian"], ["000001.png", "000002.png"]),
        ("mot", ["pedestrian"], ["000001.jpg", "000002.jpg"]),
        ("wider-face", ["face"], ["0--Parade/a.jpg", "1--Handshaking/b.jpg"]),
        ("csv", ["cat", "dog"], ["a.jpg", "b.jpg"]),
        ("padilla", ["cat", "dog"], ["a.jpg", "b.jpg"]),
        ("open-images", ["cat", "dog"], ["a.jpg", "b.jpg"]),
        ("createml", ["cat", "dog"], ["a.jpg", "b.jpg"]),
        ("scalabel", ["cat", "dog"], ["a.jpg", "b.jpg"]),
        ("crowdhuman", ["person"], ["a.jpg", "b.jpg"]),
    ],
)
def test_what_a_format_holds_is_evaluated(name: str, classes: list[str], names: list[str], tmp_path: Path) -> None:
    gt, dt = pair(classes, names)
    known = FORMATS[name]
    truth, found = tmp_path / f"gt{known.suffix}", tmp_path / f"dt{known.detections_suffix}"
    write(gt, truth, name)
    write(dt, found, name, ground_truth=gt)
    expected = evaluate(gt, dt).summary
    assert 0.2 < expected["AP"] < 0.9
    for options in ([], ["--gt-format", name, "--dt-format", name]):
        summary, said = evaluated(truth, found, "--iou-type", "bbox", *options)
        assert summary["AP"] == pytest.approx(expected["AP"], abs=1e-9)
        assert re.search(rf"read \S*gt\S* +{name}  2 images  8 boxes\n", said)
        assert re.search(rf"read \S*dt\S* +{name}  8 detections  \d", said)


def test_a_table_with_one_column_of_boxes(tmp_path: Path) -> None:
    gt, dt = tmp_path / "gt.csv", tmp_path / "dt.csv"
    gt.write_text('image,label,bbox\na.jpg,cat,"[10, 20, 40, 60]"\n')
    dt.write_text('photo,label,bbox,sure\na.jpg,cat,"[10, 20, 30, 40]",0.5\n')
    columns = ["columns=image:photo,score:sure", 'columns={"image": "photo", "score": "sure"}']
    for option in columns:
        words = ["--gt-option", "boxes=xyxy", "--dt-format", "csv", "--dt-option", "boxes=xywh", "--dt-option", option]
        assert evaluated(gt, dt, *words)[0]["AP"] == pytest.approx(1)
    assert "bbox" in refused("eval", gt, dt, "--dt-format", "csv", "-q")
    unknown = refused(
        "eval", gt, dt, "--dt-format", "csv", "--gt-option", "boxes=xyxy", "--gt-option", "columns=photo:image"
    )
    assert unknown.startswith("Invalid value for --gt-option: ")
    assert "photo" in unknown
    dt.write_text("image,label,l,t,r,b,score\na.jpg,cat,10,20,40,60,0.5\n")
    words = ["--gt-option", "boxes=xyxy", "--dt-format", "csv", "--dt-option", "boxes=xyxy"]
    corners = 'columns={"box": ["l", "t", "r", "b"]}'
    assert evaluated(gt, dt, *words, "--dt-option", corners)[0]["AP"] == pytest.approx(1)
    dt.write_text('a.jpg,cat,"[0.1, 0.2, 0.3, 0.4]",0.5\n')
    gt.write_text('image,label,bbox,image_width,image_height\na.jpg,cat,"[10, 20, 40, 60]",100,100\n')
    given = ["boxes=xywh", "normalized=true", "header=image,label,bbox,score"]
    words = [
        "--gt-option",
        "boxes=xyxy",
        "--dt-format",
        "csv",
        *(word for option in given for word in ("--dt-option", option)),
    ]
    assert evaluated(gt, dt, *words)[0]["AP"] == pytest.approx(1)
    assert run_here("inspect", gt, "--option", "boxes=xyxy", "--json").code == 0
    checked = run_here("check", gt, dt, *words, "--json")
    assert checked.code in (0, 1)
    assert "dt.csv  csv  1 detections" in checked.err


def test_the_hint_reads_the_files_in_the_same_way() -> None:
    words = ["--dt-format", "padilla", "--dt-option", NAMES]
    said = evaluated(CATS / "gts_vocpascal_format", CATS / "dets_classid_abs_xyx2y2", *words)[1]
    (hint,) = [line for line in said.splitlines() if line.startswith("hint ")]
    command, _, rest = hint.removeprefix("hint ioukit ").partition("  ")
    assert rest == "tells what the numbers would be"
    assert shlex.split(command)[3:] == words
    checked = run_here(*shlex.split(command))
    assert (checked.code, "xyxy" in checked.out) == (1, True)


def test_check_reads_another_split_for_training() -> None:
    data = str(SMALL / "yolo_ultralytics")
    same = run_here("check", data, "--train", data)
    assert (same.code, "train_images_by_name" in same.out) == (1, True)
    other = run_here("check", data, "--train", data, "--train-option", "split=train")
    assert (other.code, "train_images" in other.out) == (0, False)
    assert len(re.findall(r"read \S*yolo_ultralytics  yolo  2 boxes", other.err)) == 2
    assert "needs --train" in run_here("check", data, "--train-option", "split=val").err
    assert "needs DT" in run_here("check", data, "--dt-option", "task=pose").err
    assert "needs DT" in run_here("check", data, "--dt-format", "yolo").err


def test_inspect_takes_a_format_and_options() -> None:
    data = str(SMALL / "yolo_ultralytics")
    for words in (["--split", "train"], ["--option", "split=train"], ["--format", "yolo", "--option", "split=train"]):
        found = run_here("inspect", data, *words, "--json")
        assert (found.code, json.loads(found.out)["images"]) == (0, 2)
    found = run_here("inspect", data, "--json")
    assert (found.code, json.loads(found.out)["images"]) == (0, 1)
    assert re.search("note .*val: there is no folder .*valid/images'; .*val/images is read", found.err)


def test_convert_takes_values_of_all_kinds(tmp_path: Path) -> None:
    table = tmp_path / "in.csv"
    table.write_text('a.jpg,cat,"[0.1, 0.2, 0.3, 0.4]",200,100\n')
    options = ["boxes=xywh", "normalized=yes", "header=image,label,bbox,image_width,image_height"]
    words = [word for option in options for word in ("--option", option)]
    done = run_here("convert", str(table), str(tmp_path / "out.json"), "--to", "coco", "--format", "csv", *words)
    assert done.code == 0, done.err
    assert read(tmp_path / "out.json").boxes.tolist() == [pytest.approx([20, 20, 60, 40])]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--gt-format", "coc"],
            "Invalid value for --gt-format: unknown format 'coc'; did you mean 'coco' or 'voc'? Else choose",
        ),
        (
            ["--dt-format", "coc"],
            "Invalid value for --dt-format: unknown format 'coc'; did you mean 'coco' or 'voc'? Else choose",
        ),
        (
            ["--gt-option", "attribute=1"],
            "Invalid value for --gt-option: the reader of coco has no option 'attribute'; it has dialect, attributes, "
            "images; did you mean 'attributes'?",
        ),
        (
            ["--dt-option", "threads=1"],
            "Invalid value for --dt-option: the reader of coco has no option 'threads'; it has attributes",
        ),
        (
            ["--dt-format", "createml", "--dt-option", "a=1"],
            "Invalid value for --dt-option: the reader of createml has no option 'a'; it has none",
        ),
        (["--gt-option", "attributes"], "Invalid value for --gt-option: expected NAME=VALUE, got 'attributes'"),
        (
            ["--gt-option", "attributes=maybe"],
            "Invalid value for --gt-option: attributes: expected true or false, got 'maybe'",
        ),
        (
            ["--gt-option", "attributes=yes", "--gt-option", "attributes=no"],
            "Invalid value for --gt-option: attributes is given twice",
        ),
        (
            ["--dt-format", "mot", "--dt-option", "first_pixel=one"],
            "Invalid value for --dt-option: first_pixel: expected a whole number, got 'one'",
        ),
        (
            ["--dt-format", "csv", "--dt-option", "boxes=yxyx"],
            "Invalid value for --dt-option: boxes: expected one of xyxy, xywh, cxcywh, got 'yxyx'",
        ),
        (
            ["--dt-format", "padilla", "--dt-option", "names=cat,,dog"],
            "Invalid value for --dt-option: names: expected names with commas between them, or @FILE with a name per "
            "line, got 'cat,,dog'",
        ),
        (
            ["--dt-format", "padilla", "--dt-option", "names=@none.txt"],
            "none.txt: there is no such file or folder",
        ),
        (
            ["--dt-format", "csv", "--dt-option", "columns=box"],
            "Invalid value for --dt-option: columns: expected key:name,key:name or a JSON object, got 'box'",
        ),
        (
            ["--dt-format", "csv", "--dt-option", 'columns={"box": 5}'],
            "Invalid value for --dt-option: columns: expected names, or lists of names, as values, got 5",
        ),
        (
            ["--dt-format", "csv", "--dt-option", 'columns={"box"'],
            "Invalid value for --dt-option: columns: expected a JSON object, got '{\"box\"'",
        ),
    ],
)
def test_wrong_options_are_one_line(words: list[str], message: str) -> None:
    for command in ("eval", "check"):
        assert refused(command, GT, DT, "-q", *words).startswith(message)


def test_a_missing_option_of_convert_is_one_line(tmp_path: Path) -> None:
    line = refused("convert", GT, tmp_path / "out.json", "--to", "coco", "--option", "box=vbox")
    assert (
        line == "Invalid value for --option: the reader of coco has no option 'box'; it has dialect, attributes, images"
    )


def test_options_are_no_work_for_those_who_give_none() -> None:
    program = (
        f"import sys; sys.argv = ['ioukit', 'eval', {str(GT)!r}, {str(DT)!r}]\nfrom ioukit.cli import main\ntry:\n"
        "    main()\nexcept SystemExit as stop:\n    assert not stop.code\n"
        "print(sorted(m for m in sys.modules if m.startswith('ioukit.datasets.formats') or 'reader_options' in m))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1]
    assert "reader_options" not in loaded
    assert not [name for name in ("yolo", "voc", "padilla", "text_files", "tables") if f"formats.{name}'" in loaded]


def test_the_commands_and_python_read_the_same() -> None:
    gt = read(CATS / "gts_vocpascal_format")
    dt = read_detections(CATS / "dets_classid_abs_xyx2y2", "padilla", ground_truth=gt, boxes="xyxy", names=_names())
    words = ["--dt-option", "boxes=xyxy", "--dt-option", NAMES]
    summary = evaluated(CATS / "gts_vocpascal_format", CATS / "dets_classid_abs_xyx2y2", *words)[0]
    assert summary["AP"] == evaluate(gt, dt).summary["AP"]


def _names() -> list[str]:
    return (CATS / "voc.names").read_text().split()
