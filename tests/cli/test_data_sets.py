"""`ioukit convert`, `merge`, `subset` and `remap`: files in, files out, and what is said about them."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest

from ioukit import datasets
from support.command import run_here
from support.paths import DATA, DEMO, load

if TYPE_CHECKING:
    from pathlib import Path

VAL2014 = DATA / "coco_val2014_100"
GT, DT = VAL2014 / "instances_val2014_100.json", VAL2014 / "instances_val2014_fakebbox100_results.json"
COMMANDS = ("convert", "merge", "subset", "remap")
posix = pytest.mark.skipif(os.name == "nt", reason="terminals and signals are those of POSIX")


def ran(*words: Any) -> str:
    """What a command that succeeds writes to stderr."""
    command = run_here(*map(str, words))
    assert command.code == 0, command.err
    assert command.out == ""
    return command.err


def refused(*words: Any) -> str:
    command = run_here(*map(str, words))
    assert (command.code, command.out) == (2, "")
    assert "Traceback" not in command.err
    return command.err


def test_convert_writes_a_file_and_says_what_is_lost(tmp_path: Path) -> None:
    said = ran("convert", GT, tmp_path / "labels", "--to", "padilla").splitlines()
    assert said[0].startswith(f"read  {GT}")
    assert said[0].endswith("100 images  839 objects  80 classes  coco")
    assert said[1] == "lost  segmentations of 839 objects"
    assert said[-1].startswith(f"wrote {tmp_path / 'labels'}")
    back = tmp_path / "back.json"
    ran("convert", tmp_path / "labels", back, "--to", "coco", "-q")
    gt, once = datasets.read(GT), datasets.read(back)
    assert len(once) == len(gt)
    assert sorted(once.boxes.tolist()) == sorted(gt.boxes.tolist())
    assert ran("convert", back, tmp_path / "again.json", "--to", "coco", "-q") == ""
    assert (tmp_path / "again.json").read_bytes() == back.read_bytes()


@pytest.mark.parametrize("name", ["dt.json", "dt.json.gz", "dt.jsonl", "dt.ndjson.gz"])
def test_convert_writes_detections(name: str, tmp_path: Path) -> None:
    ran("convert", DT, tmp_path / name, "--to", "coco", "--detections")
    assert datasets.read_detections(tmp_path / name).boxes.tolist() == datasets.read_detections(DT).boxes.tolist()
    ran("convert", DT, tmp_path / "texts", "--to", "padilla", "--ground-truth", GT)
    lines = [line for file in (tmp_path / "texts").glob("*.txt") for line in file.read_text().splitlines()]
    assert len(lines) == len(load(DT))


def test_the_summary_is_json(tmp_path: Path) -> None:
    command = run_here("convert", GT, tmp_path / "a.json", "--to", "lvis", "--json", "-q")
    summary = json.loads(command.out)
    assert (command.code, command.err) == (0, "")
    assert (summary["images"], summary["objects"], summary["classes"]) == (100, 839, 80)
    assert (summary["format"], summary["output"]) == ("lvis", str(tmp_path / "a.json"))
    assert any("crowd" in note for note in summary["lost"])


def test_merge_subset_and_remap(tmp_path: Path) -> None:
    one, two, both = (tmp_path / f"{name}.json" for name in ("one", "two", "both"))
    said = ran("subset", GT, one, "--classes", "person,car", "--drop-empty-images", "--sizes", "large,0:100")
    assert "2 classes" in said
    gt = datasets.read(one)
    assert gt.categories.names == ("person", "car")
    assert ((gt.areas >= 96**2) | (gt.areas <= 100)).all()
    ran("subset", GT, two, "--classes", "dog")
    assert "--duplicates in a command: join (one image" in refused("merge", one, two, both)
    assert not both.exists()
    said = ran("merge", one, two, both, "--duplicates", "join")
    assert "note " in said
    merged = datasets.read(both)
    assert len(merged) == len(gt) + len(datasets.read(two))
    assert merged.categories.names == ("person", "car", "dog")
    classes = tmp_path / "classes.csv"
    classes.write_text("old,new\nperson,being\ndog,being\ncar,\n")
    assert "or --drop in a command" in refused("remap", both, tmp_path / "no.json", "--classes", classes)
    ran("remap", both, tmp_path / "mapped.json", "--classes", classes, "--drop")
    assert datasets.read(tmp_path / "mapped.json").categories.names == ("being",)


def test_detections_follow(tmp_path: Path) -> None:
    part, found = tmp_path / "part.json", tmp_path / "found.json"
    ran("subset", GT, part, "--count", "10", "--seed", "4")
    ran("subset", DT, found, "--ground-truth", part)
    assert "expected the id of an image" in refused(
        "convert", DT, tmp_path / "x", "--to", "coco", "--ground-truth", part
    )
    gt, dt = datasets.read(part), datasets.read_detections(found)
    everything = datasets.read_detections(DT)
    assert len(dt) == len(everything.filter(images=gt.images.ids))
    classes = tmp_path / "classes.txt"
    classes.write_text("person: human\n")
    ran("remap", DT, tmp_path / "mapped.json", "--classes", classes, "--unmapped", "drop", "--ground-truth", GT)
    assert len(load(tmp_path / "mapped.json")) == int((everything.category_ids == 1).sum())
    ran("merge", found, found, tmp_path / "twice.json", "--detections")
    assert len(load(tmp_path / "twice.json")) == 2 * len(dt)


def test_images_from_a_file_and_ids_from_a_data_set(tmp_path: Path) -> None:
    gt = datasets.read(GT)
    (tmp_path / "names.txt").write_text("\n".join(gt.images.names[:3]) + "\n")
    ran("subset", GT, tmp_path / "a.json", "--images", f"@{tmp_path / 'names.txt'}", "--images", str(gt.images.ids[7]))
    assert datasets.read(tmp_path / "a.json").images.ids.tolist() == [
        *gt.images.ids[:3].tolist(),
        int(gt.images.ids[7]),
    ]
    (tmp_path / "classes.txt").write_text("dog: cat\n")
    ran("subset", GT, tmp_path / "b.json", "--classes", "dog")
    ran("remap", tmp_path / "b.json", tmp_path / "c.json", "--classes", tmp_path / "classes.txt", "--ids-from", GT)
    assert datasets.read(tmp_path / "c.json").categories.ids.tolist() == [17]


def test_an_output_that_exists_is_kept_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("mine")
    assert "--force replaces it" in refused("convert", GT, path, "--to", "coco")
    assert path.read_text() == "mine"
    ran("convert", GT, path, "--to", "coco", "--force")
    assert len(datasets.read(path)) == 839
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "photo.jpg").write_text("mine")
    assert "give OUT another name" in refused("convert", GT, tmp_path / "folder", "--to", "padilla", "--force")
    assert "is an input" in refused("convert", path, path, "--to", "coco", "--force")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("convert", GT, "OUT"), "Missing option '--to'"),
        (
            ("convert", GT, "OUT", "--to", "coc"),
            "unknown format 'coc'; did you mean 'coco' or 'voc'? Else choose from coco,",
        ),
        (
            ("convert", GT, "OUT", "--to", "labelme-xml"),
            "ground truth cannot be written in the format labelme-xml; --to takes coco",
        ),
        (("convert", DEMO / "gt.json", "OUT", "--to", "coco", "--format", "yolo"), "Error"),
        (("convert", GT, "OUT", "--to", "coco", "--option", "box"), "--option: expected NAME=VALUE, got 'box'"),
        (("convert", GT, "OUT", "--to", "coco", "--option", "box=vbox"), "the reader of coco has no option 'box'"),
        (("convert", "none.json", "OUT", "--to", "coco"), "none.json: there is no such file or folder"),
        (
            ("convert", DT, "OUT", "--to", "coco"),
            "expected ground truth, found detections: name their ground truth with --ground-truth",
        ),
        (("subset", DT, "OUT", "--count", "1"), "found detections"),
        (("convert", GT, "OUT", "--to", "coco", "--detections"), "expected an array of detections"),
        (("convert", GT, "OUT.jsonl", "--to", "coco"), "ground truth is one object"),
        (("convert", GT, "OUT", "--to", "coco", "--json=OUT"), "OUT is the file of --json, too"),
        (("convert", GT, "OUT", "--to", "coco", "--json=./OUT"), "OUT is the file of --json, too"),
        (("convert", GT, "none/OUT", "--to", "coco"), "there is no folder"),
        (("subset", GT, "OUT", "--classes", "persn"), "did you mean 'person'"),
        (("subset", GT, "OUT", "--images", "@none.txt"), "none.txt"),
        (("subset", GT, "OUT", "--count", "5", "--share", "0.5"), "--share"),
        (("subset", GT, "OUT", "--share", "2"), "from 0 to 1"),
        (
            ("subset", DT, "OUT", "--ground-truth", GT, "--sizes", "small"),
            "make the subset of the ground truth, and name it",
        ),
        (("remap", GT, "OUT", "--classes", "none.txt"), "none.txt: there is no such file"),
        (("merge", "OUT"), "Missing argument"),
    ],
)
def test_wrong_use_is_one_message(words: tuple[Any, ...], message: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in refused(*words)
    assert list(tmp_path.iterdir()) == []


def test_a_reader_of_another_format_takes_its_options(tmp_path: Path) -> None:
    line = {"ID": "a", "gtboxes": [{"tag": "person", "fbox": [0, 0, 9, 9], "vbox": [1, 1, 3, 3], "hbox": [0, 0, 2, 2]}]}
    (tmp_path / "a.odgt").write_text(json.dumps(line))
    ran("convert", tmp_path / "a.odgt", tmp_path / "a.json", "--to", "coco", "--option", "box=vbox")
    assert load(tmp_path / "a.json")["annotations"][0]["bbox"] == [1, 1, 3, 3]


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("target", "output"), [("coco", "out.json"), ("padilla", "out")])
def test_a_signal_leaves_nothing_behind(number: signal.Signals, target: str, output: str, tmp_path: Path) -> None:
    """The writer is stopped when it has begun to write."""
    module, name = ("coco_writing", "_records") if target == "coco" else ("padilla", "write_image_texts")
    program = "; ".join([
        "import signal, time",
        "signal.signal(signal.SIGINT, signal.default_int_handler)",  # background jobs inherit that it is ignored
        f"import ioukit.datasets.formats.{module} as writer",
        f"writer.{name} = lambda *a: print('ready', flush=True) or time.sleep(60)",
        "from ioukit.cli import main; main()",
    ])  # fmt: skip
    command = [sys.executable, "-c", program, "convert", str(GT), output, "--to", target]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert list(tmp_path.iterdir())
        time.sleep(0.1)
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (128 + number, "", "")
    assert list(tmp_path.iterdir()) == []


@posix
def test_a_terminal_sees_a_bar_for_long_work(tmp_path: Path) -> None:
    program = """
import time
from ioukit import datasets
from ioukit.cli import _streams, main
_streams._MOMENT, write = 0.01, datasets.write
datasets.write = lambda *data, **options: time.sleep(0.5) or write(*data, **options)
main()
"""
    terminal, stderr = os.openpty()
    subprocess.run(
        [sys.executable, "-c", program, "subset", GT, tmp_path / "a.json", "--classes", "person"],
        stderr=stderr,
        env={**os.environ, "TERM": "xterm-256color"},
        check=True,
    )
    seen = os.read(terminal, 100_000).decode()
    os.close(stderr)
    os.close(terminal)
    assert "writing" in seen
    assert "2/3" in seen
    assert "wrote" in seen


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_with_examples(command: str) -> None:
    shown = run_here(command, "--help")
    assert shown.code == 0
    assert f"ioukit {command} " in shown.out


def test_a_repair_is_written(tmp_path: Path) -> None:
    """What `ioukit check` suggests can be kept: boxes that a file has as corners, of either side."""
    gt, dt = datasets.GroundTruth.from_coco(GT), datasets.Detections.from_coco(DT)

    def corners(boxes: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.hstack([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]])

    spoilt = dataclasses.replace(dt, boxes=corners(dt.boxes))
    datasets.write(spoilt, tmp_path / "dt.json", "coco", ground_truth=gt)
    datasets.write(dataclasses.replace(gt, boxes=corners(gt.boxes)), tmp_path / "gt.json", "coco")
    to = ("--to", "coco", "--repair", "boxes=xyxy")
    done = run_here("convert", tmp_path / "dt.json", tmp_path / "dt_new.json", *to, "--ground-truth", GT)
    assert done.code == 0, done.err
    done = run_here("convert", tmp_path / "gt.json", tmp_path / "gt_new.json", *to)
    assert done.code == 0, done.err
    assert np.abs(datasets.read_detections(tmp_path / "dt_new.json").boxes - dt.boxes).max() < 1e-9
    assert np.abs(datasets.read(tmp_path / "gt_new.json").boxes - gt.boxes).max() < 1e-9
    assert "--ground-truth" in refused("convert", tmp_path / "dt.json", tmp_path / "no.json", *to, "--detections")
    assert not (tmp_path / "no.json").exists()


def test_flags_that_protocols_ask_for_are_named_when_they_are_written(tmp_path: Path) -> None:
    for name, text in (
        ("gt/gt_img_1", "0,0,40,0,40,20,0,20,word\n100,0,140,0,140,20,100,20,###\n"),
        ("dt/res_img_1", "0,0,40,0,40,20,0,20\n100,0,140,0,140,12,100,12\n60,60,80,60,80,80,60,80\n"),
    ):
        (tmp_path / name).parent.mkdir()
        (tmp_path / f"{name}.txt").write_text(text)
    gt, dt, made = tmp_path / "gt", tmp_path / "dt", tmp_path / "gt.json"
    done = run_here("convert", gt, made, "--to", "coco", "--json", tmp_path / "summary.json")
    assert done.code in (None, 0)
    note = f"{made}: flags of objects are attributes there (dont_care): a protocol that asks for them needs "
    note += "--gt-option attributes=true (attributes=True in Python)"
    assert f"note  {note}\n" in done.err
    assert note in json.loads((tmp_path / "summary.json").read_text())["notes"]
    numbers = [
        run_here("eval", *words, dt, "--protocol", "icdar2015").out.split("\n")[0]
        for words in ((gt,), (made, "--gt-option", "attributes=true"))
    ]
    assert numbers[0] == numbers[1]
