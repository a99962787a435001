"""`ioukit eval` without --iou-type: the files decide where they leave no doubt, and the command says so."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import COCO, Detections, GroundTruth, RotatedBoxes, read_coco
from ioukit.cli._rules import chosen_iou_type
from support import region_cases
from support.command import run_fresh, run_here
from support.paths import DATA, write_coco

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

VAL2014 = DATA / "coco_val2014_100"
GT, DT = VAL2014 / "instances_val2014_100.json", VAL2014 / "instances_val2014_fakebbox100_results.json"


def members(side: GroundTruth | Detections, only: Sequence[str]) -> list[dict[str, Any]]:
    """COCO's records of one side, with some of their members."""
    records = []
    for row in range(len(side)):
        record: dict[str, Any] = {"image_id": int(side.image_ids[row]), "category_id": int(side.category_ids[row])}
        if "Masks" in side.regions:
            record["segmentation"] = side.regions["Masks"][row].to_rle()[0]
        if "keypoints" in side.regions:
            record["keypoints"] = side.regions["keypoints"][row].ravel().tolist()
        record["bbox"] = side.boxes[row].tolist()
        records.append({name: value for name, value in record.items() if name in ("image_id", "category_id", *only)})
    return records


def files(folder: Path, kind: str, found_has: Sequence[str], truth_has: Sequence[str] | None = None) -> list[Path]:
    """A ground truth of COCO and results that have some members."""
    truth, found = region_cases.KINDS[kind]()
    own = "segmentation" if kind == "segm" else "keypoints"
    annotations = [
        {**record, "id": row + 1, "area": float(truth.areas[row]), "iscrowd": 0}
        for row, record in enumerate(members(truth, ["bbox", own] if truth_has is None else truth_has))
    ]
    images = [{"id": k, "width": region_cases.WIDTH, "height": region_cases.HEIGHT} for k in (1, 2, 3)]
    categories = [{"id": number, "name": name} for number, name in region_cases.NAMES.items()]
    data = {"images": images, "categories": categories, "annotations": annotations}
    results = [
        {**record, "score": score}
        for record, score in zip(members(found, found_has), found.scores.tolist(), strict=True)
    ]
    return list(write_coco(folder, data, results))


def said(outcome: Any) -> list[str]:
    return [line for line in outcome.err.splitlines() if line.startswith("iou type")]


@pytest.mark.parametrize(
    ("kind", "has", "expected", "line"),
    [
        ("segm", ["segmentation"], "segm", "the detections have masks and no boxes"),
        ("keypoints", ["keypoints"], "keypoints", "the detections have keypoints and no boxes"),
        (
            "segm",
            ["bbox", "segmentation"],
            "bbox",
            "the detections have boxes and masks; --iou-type segm compares the masks",
        ),
        (
            "keypoints",
            ["bbox", "keypoints"],
            "bbox",
            "the detections have boxes and keypoints; --iou-type keypoints compares the keypoints",
        ),
        ("segm", ["bbox"], "bbox", ""),
    ],
)
def test_the_files_decide(tmp_path: Path, kind: str, has: list[str], expected: str, line: str) -> None:
    paths = files(tmp_path, kind, has)
    outcome = run_here("eval", *paths, "--json")
    assert outcome.code == 0
    assert said(outcome) == ([f"iou type: {expected} ({line})"] if line else [])
    chosen = run_here("eval", *paths, "--json", "--iou-type", expected)
    assert (said(chosen), chosen.out) == ([], outcome.out)
    assert json.loads(outcome.out)["settings"]["iou_type"] == expected
    assert said(run_here("eval", *paths, "--quiet")) == []


def test_a_ground_truth_without_masks_leaves_the_boxes(tmp_path: Path) -> None:
    outcome = run_here("eval", *files(tmp_path, "segm", ["segmentation"], ["bbox"]), "--json")
    assert said(outcome) == [
        "iou type: bbox (the boxes around the masks; the ground truth has no masks that can be read)"
    ]
    assert json.loads(outcome.out)["settings"]["iou_type"] == "bbox"
    assert said(run_here("eval", *files(tmp_path, "segm", ["segmentation", "bbox"], ["bbox"]))) == []


def test_the_option_decides_first(tmp_path: Path) -> None:
    outcome = run_here("eval", *files(tmp_path, "segm", ["segmentation"]), "--json", "--iou-type", "bbox")
    assert said(outcome) == []
    assert json.loads(outcome.out)["settings"]["iou_type"] == "bbox"


def test_a_protocol_of_one_kind_decides(tmp_path: Path) -> None:
    paths = files(tmp_path, "keypoints", ["bbox", "keypoints"])
    outcome = run_here("eval", *paths, "--json", "--protocol", "coco-keypoints")
    assert said(outcome) == ["iou type: keypoints (the protocol COCO keypoints compares keypoints)"]
    assert outcome.out == run_here("eval", *paths, "--json", "--iou-type", "keypoints").out
    assert json.loads(run_here("eval", *paths, "--json", "--protocol", "coco").out)["settings"]["iou_type"] == "bbox"


def test_keypoints_follow_their_protocol_with_the_changes_of_options(tmp_path: Path) -> None:
    paths = files(tmp_path, "keypoints", ["keypoints"])
    found = json.loads(run_here("eval", *paths, "--json", "--iou-thresholds", "0.5,0.75").out)["settings"]
    assert (found["protocol"], found["max_dets"]) == ("COCO keypoints", [20])
    assert found["iou_thresholds"] == [0.5, 0.75]


def test_files_of_boxes_load_nothing_for_this() -> None:
    code = (
        "import sys; from ioukit.cli import main; "
        "sys.argv = ['ioukit', 'eval', *sys.argv[1:]]\ntry: main()\nexcept SystemExit: pass\n"
        "print(sorted(name for name in sys.modules if 'iou_type' in name or 'outlines' in name or 'skeletons' in name))"
    )
    import subprocess  # noqa: PLC0415 - for this test alone

    done = subprocess.run(
        [sys.executable, "-c", code, str(GT), str(DT), "-q"], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_columns_from_memory() -> None:
    truth, found = region_cases.rotated_boxes()
    assert chosen_iou_type(truth, found, COCO) == (
        "rotated",
        "iou type: rotated (the detections have rotated boxes and no boxes)",
    )
    kind, line = chosen_iou_type(*region_cases.boxes_in_space(), COCO)
    assert (kind, line) == ("bbox", "iou type: bbox (the boxes around the 3-D boxes; --iou-type chooses another kind)")
    with_boxes = Detections.from_arrays(
        image_ids=[1],
        category_ids=[1],
        scores=[1],
        boxes=[[0, 0, 9, 9]],
        areas=[3],
        regions=RotatedBoxes([[5, 5, 8, 2, 30]], unit="degrees", sense="clockwise"),
    )
    assert chosen_iou_type(truth, with_boxes, COCO)[0] == "bbox"


def test_the_first_record_decides_as_in_pycocotools(tmp_path: Path) -> None:
    paths = files(tmp_path, "segm", ["segmentation"])
    records = json.loads(paths[1].read_text())
    for record in records[1:]:
        record["bbox"] = [1, 2, 30, 40]
    paths[1].write_text(json.dumps(records))
    assert json.loads(run_here("eval", *paths, "--json").out)["settings"]["iou_type"] == "segm"
    _, found = read_coco(*paths)
    assert np.unique(found.boxes[1:]).tolist() == [1, 2, 30, 40]


def test_help_says_the_default() -> None:
    assert "[default: bbox, or what the" in " ".join(run_fresh("eval", "--help").out.split())


@pytest.mark.parametrize(
    "words",
    [
        ["eval"],
        ["compare", "{dt}", "--replicates=2", "--permutations=1", "--name=A", "--name=B"],
        ["check"],
        ["labels"],
        ["slices", "--by=size", "--replicates=2"],
        ["operate", "--replicates=2"],
        ["gate", "{dt}"],
    ],
    ids=lambda words: words[0],
)
def test_all_commands_choose_alike(words: list[str], tmp_path: Path) -> None:
    """What has masks and no boxes is compared by masks, whichever command reads it; a given kind is taken."""
    gt, dt = files(tmp_path, "segm", ["segmentation"])
    command, *others = [word.format(dt=dt) for word in words]
    done = run_here(command, gt, dt, *others)
    assert said(done) == ["iou type: segm (the detections have masks and no boxes)"], done.err
    assert said(run_here(command, gt, dt, *others, "--iou-type", "bbox")) == []
