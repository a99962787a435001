"""Named sets of keypoints against pycocotools with the same sigmas, and sets of keypoints from files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ioukit
from ioukit.evaluation import COCO_KEYPOINTS, COCO_SIGMAS, Kind, find_keypoint_set, keypoints_kind
from ioukit.evaluation.kinds.registry import REGION_KINDS
from ioukit.evaluation.protocols import CROWDPOSE
from parity.random_keypoints import random_keypoint_case
from parity.reference import copied, run_pycocotools
from parity.same_bits import assert_same_bits, assert_same_evaluation
from support.command import run_here
from support.paths import write_coco

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

POINTS = {"crowdpose": 14, "wholebody": 133, "ap10k": 17}


@pytest.fixture(autouse=True)
def _no_kinds_left() -> Iterator[None]:
    known = set(REGION_KINDS)
    yield
    for name in set(REGION_KINDS) - known:
        del REGION_KINDS[name]


def sigmas_of(kind: Kind) -> list[float]:
    given: Any = kind.columns
    return list(given.keywords["sigmas"])


@pytest.mark.parametrize("name", POINTS)
def test_every_bit_is_that_of_pycocotools_with_these_sigmas(name: str) -> None:
    compared = 0
    sigmas = sigmas_of(find_keypoint_set(name))
    assert len(sigmas) == POINTS[name]
    for seed in range(40):
        gt, dt = random_keypoint_case(seed, POINTS[name])
        mine = copied(gt)
        if name == "crowdpose":
            for record, own in zip(gt["annotations"], mine["annotations"], strict=True):
                record["area"] = record["bbox"][3] * record["bbox"][2] * 0.53  # as xtcocotools does
                del own["area"]
        ours = ioukit.evaluate(mine, copied(dt), iou_type=f"keypoints-{name}")
        reference = run_pycocotools(gt, dt, iou_type="keypoints", sigmas=sigmas)
        if name == "crowdpose":
            assert ours.protocol is CROWDPOSE
            assert_same_bits(ours.precision, reference.precision[:, :, :, :1], f"seed {seed}: precision")
            assert_same_bits(ours.recall, reference.recall[:, :, :1], f"seed {seed}: recall")
            assert reference.stats is not None
            stats = [reference.stats[at] for at in (0, 1, 2, 5, 6, 7)]
            assert_same_bits(list(ours.summary.values()), stats, f"seed {seed}: the six numbers")
        else:
            assert ours.protocol is COCO_KEYPOINTS
            assert_same_evaluation(ours, reference)
        compared += int((ours.recall > 0).any())
    assert compared > 15


def test_the_sets_have_the_sigmas_that_were_published() -> None:
    coco = [round(sigma, 4) for sigma in COCO_SIGMAS]
    assert sigmas_of(find_keypoint_set("crowdpose")) == [*coco[5:], *coco[5:7]]
    wholebody = sigmas_of(find_keypoint_set("wholebody"))
    assert wholebody[:17] == coco
    assert wholebody[91:112] == wholebody[112:]
    assert (wholebody[17], wholebody[23], wholebody[90], wholebody[91]) == (0.068, 0.042, 0.008, 0.029)
    assert find_keypoint_set("COCO") is REGION_KINDS["keypoints"]
    assert find_keypoint_set("ap10k") is REGION_KINDS["keypoints-ap10k"]


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_a_file_of_sigmas_is_a_kind_of_its_own(tmp_path: Path, suffix: str) -> None:
    gt, dt = random_keypoint_case(1, 10)
    sigmas = [0.05, 0.1, 0.2, 0.05, 1] * 2
    file = tmp_path / f"ten.{suffix}"
    file.write_text(f"sigmas = {sigmas}" if suffix == "toml" else json.dumps({"sigmas": sigmas}))
    truth, found = write_coco(tmp_path, gt, dt)
    said = run_here("eval", truth, found, "--sigmas", file, "--json")
    assert json.loads(said.out)["settings"]["iou_type"] == "keypoints-ten"
    reference = run_pycocotools(gt, dt, iou_type="keypoints", sigmas=sigmas)
    assert reference.stats is not None
    numbers = [None if number == -1 else number for number in reference.stats]
    assert [*json.loads(said.out)["summary"].values()] == numbers
    assert reference.stats[0] > 0
    assert_same_evaluation(ioukit.evaluate(truth, found, iou_type=find_keypoint_set(str(file)).name), reference)


def test_a_file_may_take_the_area_from_the_box(tmp_path: Path) -> None:
    (tmp_path / "crowd.json").write_text(
        json.dumps({"sigmas": sigmas_of(find_keypoint_set("crowdpose")), "area_of_box": 0.53})
    )
    gt, dt = random_keypoint_case(7, 14)
    kind = find_keypoint_set(str(tmp_path / "crowd.json"))
    assert kind.title == "14 keypoints of crowd.json"
    own, named = (ioukit.evaluate(gt, dt, CROWDPOSE, iou_type=one) for one in (kind.name, "keypoints-crowdpose"))
    assert own.summary == named.summary
    np.testing.assert_array_equal(own.precision, named.precision)


def test_the_command_takes_names_and_protocols_of_sets(tmp_path: Path) -> None:
    gt, dt = random_keypoint_case(7, 14)
    paths = write_coco(tmp_path, gt, dt)
    for options in (["--sigmas", "crowdpose"], ["--iou-type", "keypoints", "--sigmas", "CrowdPose"],
                    ["--iou-type", "keypoints-crowdpose"], ["--protocol", "crowdpose"]):  # fmt: skip
        answer = json.loads(run_here("eval", *paths, *options, "--json").out)
        assert answer["settings"]["iou_type"] == "keypoints-crowdpose"
        assert [*answer["summary"]] == ["AP", "AP50", "AP75", "AR", "AR50", "AR75"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"sigmas": [0.1, 0]}', r"own\.json: sigmas must be positive numbers, one per keypoint, got \[0\.1, 0\]"),
        ('{"sigmas": []}', r"own\.json: sigmas must be positive numbers, one per keypoint, got \[\]"),
        (
            '{"sigmas": "coco"}',
            r"own\.json: sigmas: expected a list of positive numbers, one per keypoint, found 'coco'",
        ),
        (
            '{"sigmas": [true]}',
            r"own\.json: sigmas: expected a list of positive numbers, one per keypoint, found \[True\]",
        ),
        ("{}", r"own\.json: sigmas: expected a list of positive numbers, one per keypoint, found none"),
        ('{"sigmas": [1], "area_of_box": "x"}', r"own\.json: area_of_box: expected a number, found 'x'"),
        ('{"sigmas": [1], "area_of_box": 0}', r"own\.json: area_of_box must be a positive number, got 0"),
        ('{"sigmas": [1], "name": "x"}', r"own\.json: name: expected the fields sigmas and area_of_box alone"),
        ("[0.1]", r"own\.json: expected an object with the fields of a set of keypoints, found \[0\.1\]"),
        ("{", r"own\.json: expected JSON, found something else"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "own.json").write_text(content)
    with pytest.raises(ValueError, match=problem):
        find_keypoint_set(str(tmp_path / "own.json"))


def test_a_file_does_not_replace_a_named_set(tmp_path: Path) -> None:
    (tmp_path / "ap10k.json").write_text('{"sigmas": [0.1]}')
    with pytest.raises(ValueError, match="expected a name that no set of keypoints has, found 'ap10k'"):
        find_keypoint_set(str(tmp_path / "ap10k.json"))


def test_a_share_of_the_box_must_be_positive() -> None:
    with pytest.raises(ValueError, match="area_of_box must be a positive number, got -1"):
        keypoints_kind("hand", [0.1], area_of_box=-1)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            ["--sigmas", "crowdpos"],
            "unknown set of keypoints 'crowdpos'; did you mean 'crowdpose'? Else choose from coco,",
        ),
        (
            ["--sigmas", "ap10k", "--iou-type", "segm"],
            "sigmas are of keypoints, so --iou-type must be keypoints or left out, got segm",
        ),
    ],
)
def test_wrong_options_are_named(tmp_path: Path, options: list[str], problem: str) -> None:
    paths = write_coco(tmp_path, *random_keypoint_case(3))
    said = run_here("eval", *paths, *options)
    assert said.code == 2
    assert "--sigmas" in said.err
    assert problem in " ".join(said.err.split())


def test_another_number_of_keypoints_is_named(tmp_path: Path) -> None:
    paths = write_coco(tmp_path, *random_keypoint_case(3))
    said = run_here("eval", *paths, "--sigmas", "crowdpose")
    assert said.code == 2
    assert (
        "gt.json: annotations: expected 14 keypoints per record, which keypoints-crowdpose has, found 17; "
        "--sigmas NAME|FILE (find_keypoint_set) is for other sets"
    ) in " ".join(said.err.split())
