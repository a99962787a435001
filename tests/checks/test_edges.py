"""Boxes that begin or end elsewhere, or with a margin: the shift, the side, and what looks so and is right."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, evaluate
from ioukit.checks import check, repaired
from ioukit.checks.repairs.boxes import with_edges
from support.planted_scenes import drawn, first_images, real

if TYPE_CHECKING:
    from ioukit.checks import Checked

Pair = tuple[GroundTruth, Detections]

SHIFTS = {
    "begin later": (1, 1, 0, 0),
    "begin earlier": (-1, -1, 0, 0),
    "begin further left": (-1, 0, 0, 0),
    "end later": (0, 0, 1, 1),
    "end earlier": (0, 0, -1, -1),
    "too large": (-1, -1, 1, 1),
    "too small": (1, 1, -1, -1),
    "too wide": (-1, 0, 1, 0),
    "too low": (0, 1, 0, -1),
}
CODES = {"begin": "begin_elsewhere", "end": "end_elsewhere", "too": "begin_and_end_elsewhere"}


@pytest.fixture(scope="module")
def sets() -> dict[str, Pair]:
    few = {"aerial": first_images(drawn("aerial"), 12), "documents": first_images(drawn("documents"), 30)}
    return {**{name: first_images(pair, 50) for name, pair in real().items()}, **few, "one class": drawn("one class")}


def shifted(data: Any, pixels: Any) -> Any:
    """The areas stay: they are those of the right boxes."""
    return dataclasses.replace(data, boxes=with_edges(data.boxes, np.asarray(pixels, np.float64)))


def harmful(checked: Checked) -> list[str]:
    return [one.code for one in checked if one.harmful]


def edges_of(repair: str) -> list[float]:
    return [float(part) for part in repair.split("=")[1].split(",")]


@pytest.mark.parametrize("kind", SHIFTS)
@pytest.mark.parametrize(("name", "pixels"), [("yolact", 10), ("val2014", 5), ("aerial", 2), ("documents", 20)])
def test_edges_of_detections_elsewhere_are_found_and_put_back(
    sets: dict[str, Pair], kind: str, name: str, pixels: int
) -> None:
    gt, dt = sets[name]
    shift = pixels * np.array(SHIFTS[kind], np.float64)
    wrong = shifted(dt, shift)
    right = evaluate(gt, shifted(wrong, -shift)).summary["AP"]  # what became too small to have a side is lost
    checked = check(gt, wrong)
    (finding,) = (one for one in checked if one.harmful)
    assert finding.code == f"detections_{CODES[kind.split(maxsplit=1)[0]]}"
    (repair,) = checked.repairs
    assert edges_of(repair) == pytest.approx(-shift, abs=max(1, pixels / 8))
    assert finding.after == pytest.approx(right, abs=0.02)
    said = finding.suspicion.message
    assert ("which makes them" in said) is (kind.startswith("too"))
    assert ("which makes them smaller" in said) is (kind in ("too large", "too wide"))


@pytest.mark.parametrize("kind", ["begin earlier", "end later", "end earlier", "too large", "too small"])
@pytest.mark.parametrize(("name", "pixels"), [("yolact", 20), ("aerial", 5), ("one class", 20)])
def test_areas_that_are_right_tell_that_the_ground_truth_is_wrong(
    sets: dict[str, Pair], kind: str, name: str, pixels: int
) -> None:
    gt, dt = sets[name]
    checked = check(shifted(gt, pixels * np.array(SHIFTS[kind])), dt)
    assert harmful(checked)[0] == f"ground_truth_{CODES[kind.split(maxsplit=1)[0]]}"
    assert checked.repairs[0].startswith("gt:edges=")
    assert "It may as well be" not in checked.findings[0].suspicion.message


@pytest.mark.parametrize("side", ["ground_truth", "detections"])
@pytest.mark.parametrize("kind", ["begin earlier", "end later", "too small"])
def test_masks_tell_the_side(sets: dict[str, Pair], kind: str, side: str) -> None:
    gt, dt = sets["val2014"]
    pixels = 10 * np.array(SHIFTS[kind])
    checked = check(*((shifted(gt, pixels), dt) if side == "ground_truth" else (gt, shifted(dt, pixels))))
    # Objects of less than 20 pixels lost their sizes, so their boxes do not become those of their masks again.
    others = ["boxes_not_of_masks"] if (side, kind) == ("ground_truth", "too small") else []
    assert harmful(checked) == [f"{side}_{CODES[kind.split(maxsplit=1)[0]]}", *others]


@pytest.mark.parametrize("side", ["ground_truth", "detections"])
@pytest.mark.parametrize("kind", ["begin later", "too large"])
def test_borders_of_images_tell_the_side(sets: dict[str, Pair], kind: str, side: str) -> None:
    """Areas that a tool computed from the wrong boxes say nothing."""
    gt, dt = sets["documents"]
    # Blocks of pages reach the borders; those of this set are drawn inside.
    at_border = np.arange(len(gt)) % 8 == 0
    start = np.where(at_border[:, None], 0.0, gt.boxes[:, :2])
    gt = dataclasses.replace(gt, boxes=np.hstack([start, gt.boxes[:, 2:] + gt.boxes[:, :2] - start]))
    near = gt.boxes + np.random.default_rng(0).normal(0, 0.04, gt.boxes.shape) * np.tile(gt.boxes[:, 2:], 2)
    near[:, :2] = np.where(at_border[:, None], 0.0, near[:, :2])
    dt = Detections.from_arrays(
        image_ids=gt.image_ids, category_ids=gt.category_ids, boxes=near, scores=np.linspace(0.3, 0.9, len(gt))
    )
    assert check(gt, dt).ok
    pixels = 12 * np.array(SHIFTS[kind])
    if side == "ground_truth":
        gt = shifted(gt, pixels)
        gt = dataclasses.replace(gt, areas=gt.boxes[:, 2] * gt.boxes[:, 3])
    else:
        dt = shifted(dt, pixels)
    assert harmful(check(gt, dt))[0] == f"{side}_{CODES[kind.split(maxsplit=1)[0]]}"


@pytest.mark.parametrize("side", ["ground_truth", "detections"])
def test_a_side_that_nothing_tells_is_said_to_be_either(sets: dict[str, Pair], side: str) -> None:
    gt, dt = sets["one class"]
    gt = dataclasses.replace(gt, images=dataclasses.replace(gt.images, sizes=np.full_like(gt.images.sizes, np.nan)))
    pixels = 25 * np.array(SHIFTS["end later"])
    if side == "ground_truth":
        gt = shifted(gt, pixels)
        gt = dataclasses.replace(gt, areas=gt.boxes[:, 2] * gt.boxes[:, 3])
    else:
        dt = shifted(dt, pixels)
    finding = next(iter(check(gt, dt)))
    assert finding.code == "detections_end_elsewhere"
    assert finding.suspicion.message.endswith(
        ". It may as well be the boxes of the ground truth that are at another place"
    )


@pytest.mark.parametrize("factor", [0.8, 0.9, 0.95, 1.05, 1.1, 1.2])
@pytest.mark.parametrize("name", ["yolact", "val2014", "aerial", "documents", "one class"])
def test_a_detector_that_is_loose_or_tight_is_no_fault(sets: dict[str, Pair], name: str, factor: float) -> None:
    gt, dt = sets[name]
    sides = dt.boxes[:, 2:] * factor
    loose = np.hstack([dt.boxes[:, :2] + (dt.boxes[:, 2:] - sides) / 2, sides])
    checked = check(gt, dataclasses.replace(dt, boxes=loose))
    assert not [code for code in harmful(checked) if not code.endswith("beyond_image")]


@pytest.mark.parametrize("step", [8, 16, 32])
@pytest.mark.parametrize("name", ["yolact", "aerial", "documents"])
def test_what_is_rounded_outwards_to_a_step_is_no_margin(sets: dict[str, Pair], name: str, step: int) -> None:
    gt, dt = sets[name]
    low = step * np.floor(dt.boxes[:, :2] / step)
    high = step * np.ceil((dt.boxes[:, :2] + dt.boxes[:, 2:]) / step)
    checked = check(gt, dataclasses.replace(dt, boxes=np.hstack([low, high - low])))
    assert "detections_rounded" in harmful(checked)
    assert not checked.repairs or "edges" not in " ".join(checked.repairs)


@pytest.mark.parametrize("how", ["hflip", "vflip"])
@pytest.mark.parametrize("side", ["detections", "ground_truth"])
def test_mirrored_boxes_may_be_those_of_either_side(how: str, side: str) -> None:
    gt, dt = real()["yolact"]
    changed, found = repaired(gt, dt, [f"gt:turn={how}" if side == "ground_truth" else f"turn={how}"])
    (finding,) = [one for one in check(changed, found) if one.code.endswith(how)]
    assert finding.code == f"detections_{how}"
    assert "It may as well be the boxes of the ground truth that are at another place" in finding.suspicion.message
