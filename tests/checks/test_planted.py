"""Faults that are planted in correct data are found, and correct data raise no alarm."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import evaluate, read_coco
from ioukit.checks import check, repaired
from ioukit.datasets import read, read_detections
from ioukit.evaluation.protocols import find_protocol
from support.paths import DATA, DEMO
from support.planted_faults import FAULTS, in_format, plant
from support.planted_scenes import DRAWN, drawn, first_images, real

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit import Detections, GroundTruth
    from ioukit.checks import Checked, Repair

MOVES = 0.01


@pytest.fixture(scope="module")
def sets() -> dict[str, tuple[GroundTruth, Detections]]:
    return {"val2014": first_images(real()["val2014"], 50), "one class": first_images(drawn("one class"), 60)}


def printed(repair: Repair, folder: Path) -> list[str]:
    """The words of a repair as a finding prints them, with the file of the images that the user writes."""
    texts = []
    link: Repair | None = repair
    while link is not None:
        file = folder / "images.txt"
        if link.images is not None:
            file.write_text("\n".join(map(str, link.images)))
        texts.append(str(dataclasses.replace(link, then=None)).replace("@FILE", f"@{file}"))
        link = link.then
    return texts


def gives_what_it_says(checked: Checked, wrong: tuple[GroundTruth, Detections], folder: Path) -> bool:
    """Whether each printed repair is accepted, after those that it is named with, and gives the number that is said."""
    known = {str(one.suspicion.repair): one.suspicion.repair for one in checked if one.suspicion.repair is not None}
    for finding in checked:
        if finding.harmful and finding.suspicion.repair is not None and not np.isnan(finding.after):
            data: Any = wrong
            for text in (*finding.together_with, str(finding.suspicion.repair)):
                data = repaired(data[0], data[1], printed(known[text], folder))
            gt, dt = data
            after = evaluate(gt, dt.known_to(gt, on_invalid="drop")).summary[finding.measure]
            np.testing.assert_allclose(after, finding.after, rtol=0, atol=1e-12, err_msg=finding.code)
    return True


def test_most_faults_that_move_ap_are_found(sets: dict[str, tuple[GroundTruth, Detections]], tmp_path: Path) -> None:
    """Every kind at one strength; all strengths and more data sets are in benchmarks/planted_faults.py."""
    missed, moving = [], 0
    for name, data in sets.items():
        right = check(*data).summary["AP"]
        for place, (kind, fault) in enumerate(FAULTS.items()):
            strength = place % 3 + 1
            wrong = plant(fault, data, fault.strengths[strength])
            if wrong is None:
                continue
            checked = check(*wrong)
            assert gives_what_it_says(checked, wrong, tmp_path)
            harmful = [finding for finding in checked if finding.harmful]
            refused = any(finding.suspicion.refused for finding in harmful)
            if refused or abs(checked.summary["AP"] - right) >= MOVES:
                moving += 1
                if not {finding.code for finding in harmful} & set(fault.codes):
                    missed.append((name, kind, strength))
    assert moving > 45, "the faults are not empty"
    assert len(missed) <= 0.05 * moving, missed


@pytest.mark.parametrize("name", DRAWN)
def test_correct_drawn_data_raise_no_alarm(name: str) -> None:
    checked = check(*drawn(name, seed=1))
    assert checked.ok, checked


@pytest.mark.parametrize(
    ("truth", "found"),
    [
        ("coco_val2014_100/instances_val2014_100.json", "coco_val2014_100/instances_val2014_fakebbox100_results.json"),
        (str(DEMO / "gt.json"), str(DEMO / "a.json")),
    ],
)
def test_correct_real_data_raise_no_alarm(truth: str, found: str) -> None:
    gt, dt = read_coco(DATA / truth, DATA / found)
    assert check(gt, dt).ok
    assert check(gt).ok


def test_other_correct_real_data_raise_no_alarm() -> None:
    """LVIS by its own protocol, the boxes of a network, and text files of two tools."""
    assert check(*real()["yolact"]).ok
    lvis = read(DATA / "lvis_10" / "gt.json"), read_detections(DATA / "lvis_10" / "dt.json")
    assert check(*lvis).ok
    assert check(*lvis, find_protocol("lvis")).ok
    people = read(DATA / "people_7_images" / "groundtruths")
    found = read_detections(DATA / "people_7_images" / "detections", ground_truth=people)
    assert check(people, found).ok
    assert check(people, found, find_protocol("voc2012")).ok


@pytest.mark.parametrize("kind", ["boxes-xyxy", "letterbox", "classes-shifted", "detections-twice", "nms-missing"])
def test_the_repair_gives_the_numbers_of_correct_data(kind: str) -> None:
    """What a finding says that AP would be is the AP of the data before the fault."""
    data = real()["val2014"]
    right = check(*data).summary["AP"]
    wrong = plant(FAULTS[kind], data, FAULTS[kind].strengths[4])
    assert wrong is not None
    finding = next(one for one in check(*wrong) if one.code in FAULTS[kind].codes and one.after > one.before)
    assert finding.harmful
    np.testing.assert_allclose(finding.after, right, atol=0.02 if kind == "nms-missing" else 1e-3)


@pytest.mark.parametrize("fmt", ["xyxy", "yxyx", "cxcywh"])
def test_rows_that_are_mixed_within_images_have_no_repair_that_is_refused(fmt: str, tmp_path: Path) -> None:
    """A third of the rows in another format: on some images, right boxes would have negative sides if read so."""
    gt, dt = real()["val2014"]
    rows = np.random.default_rng(0).random(len(gt)) < 1 / 3
    wrong = dataclasses.replace(gt, boxes=np.where(rows[:, None], in_format(gt.boxes, fmt), gt.boxes))
    checked = check(wrong, dt)
    assert not checked.ok
    assert gives_what_it_says(checked, (wrong, dt), tmp_path)
