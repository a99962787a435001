"""What a check says is recomputed: rows are counted by plain loops, and repairs are done and evaluated."""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, evaluate
from ioukit.checks import Checked, Repair, check
from ioukit.checks.repairs.repair import repaired
from ioukit.checks.verifying import VerifiedSuspicion
from ioukit.errors import DatasetError
from support.planted_faults import FAULTS, plant
from support.planted_scenes import drawn

if TYPE_CHECKING:
    from collections.abc import Callable

IF_SO = re.compile(r"(\S+) (?:stays|is ([\d.]+|nan) instead of) ([\d.]+|nan) if so(?: \(with (.*)\))?\.")
HEAD = re.compile(r"([\d,]+) images?, ([\d,]+) annotations?, ([\d,]+) detections?: (.*)")


def rows_of(side: GroundTruth | Detections, *more: Any) -> list[tuple[Any, ...]]:
    """Image, class, box and what else makes a row."""
    return [*zip(side.image_labels().tolist(), side.category_ids.tolist(), *side.boxes.T.tolist(), *more, strict=True)]


def of_repeats(side: GroundTruth | Detections) -> tuple[list[int], set[Any], int]:
    """How many rows repeat an earlier one, of how many; their images; and how many images have all rows twice."""
    rows = rows_of(side, *([] if isinstance(side, GroundTruth) else [side.scores.tolist()]))
    times = Counter(rows)
    repeated = {row[0] for row, count in times.items() if count > 1}
    whole = repeated - {row[0] for row, count in times.items() if count == 1}
    again = Counter(row[0] for row in rows)
    again.subtract(row[0] for row in times)
    padded = sum(again[image] >= 3 for image in whole) > 1
    return [len(rows) - len(times), len(rows), *([len(whole)] if padded else [])], repeated, len(whole)


def beyond(side: GroundTruth | Detections, gt: GroundTruth) -> tuple[list[int], set[Any]]:
    sizes = dict(zip(gt.images.labels.tolist(), gt.images.sizes.tolist(), strict=True))
    found = []
    for image, (x, y, w, h) in zip(side.image_labels().tolist(), side.boxes.tolist(), strict=True):
        for low, side_of_box, size in ((x, w, sizes[image][0]), (y, h, sizes[image][1])):
            over = max(-low, low + side_of_box - size)
            if over > 0.02 * size or (over > 0.25 * side_of_box and over > 1):
                found.append(image)
                break
    return [len(found), len(side), 2, 25], set(found)


def silent_images(gt: GroundTruth, dt: Detections) -> tuple[list[int], set[Any]]:
    with_objects = set(gt.image_labels()[~gt.crowd].tolist())
    silent = with_objects - set(dt.image_labels().tolist())
    return [len(silent), len(with_objects)], silent


def unannotated(gt: GroundTruth, dt: Detections, message: str) -> tuple[list[float], set[Any]]:
    level = float(message.rsplit("at least ", 1)[1].rstrip(")"))
    bare = set(gt.images.labels.tolist()) - set(gt.image_labels().tolist())
    confident = {
        one for one, score in zip(dt.image_labels().tolist(), dt.scores.tolist(), strict=True) if score >= level
    }
    return [len(bare & confident), len(bare), level], bare & confident


def names_of(gt: GroundTruth, ids: set[int]) -> set[str]:
    return {name for number, name in zip(gt.categories.ids.tolist(), gt.categories.names, strict=True) if number in ids}


def bare_classes(gt: GroundTruth) -> tuple[list[int], set[Any]]:
    bare = set(gt.categories.ids.tolist()) - set(gt.category_ids[~gt.crowd].tolist())
    return [len(bare), len(gt.categories)], names_of(gt, bare)


def names_alike(gt: GroundTruth, message: str) -> tuple[list[int], None]:
    """How many objects the two classes have."""
    ids = {name: number for number, name in zip(gt.categories.ids.tolist(), gt.categories.names, strict=True)}
    counts = Counter(gt.category_ids.tolist())
    return [counts[ids[name]] for name in re.findall("'(.*?)'", message)], None


def equal_scores(dt: Detections, message: str) -> tuple[list[float], set[Any] | None]:
    if message.startswith("all scores of an image"):
        return [], None
    ((value, count),) = Counter(dt.scores.tolist()).most_common(1)
    images = {one for one, score in zip(dt.image_labels().tolist(), dt.scores.tolist(), strict=True) if score == value}
    return [count, len(dt), value], images


def two_units(dt: Detections) -> tuple[list[float], set[Any]]:
    labels = dt.image_labels().tolist()
    beyond = {one for one, score in zip(labels, dt.scores.tolist(), strict=True) if not 0 <= score <= 1}
    return [len(beyond), len(set(labels)), 0, 1], beyond


def odd_areas(gt: GroundTruth) -> tuple[list[int], set[Any]]:
    images = []
    for image, (_, _, w, h), area in zip(gt.image_labels().tolist(), gt.boxes.tolist(), gt.areas.tolist(), strict=True):
        if (w * h > 0 and area > 1.01 * w * h + 1) or (w * h > 5 and area < 0.05 * w * h):
            images.append(image)
    return [len(images), len(gt)], set(images)


def recounted(
    code: str, gt: GroundTruth, dt: Detections, said: VerifiedSuspicion
) -> tuple[list[float], set[str] | None]:
    """The numbers of the message in their order, and all that can be an example; empty if the code is not known."""
    known: set[int] = set(gt.categories.ids.tolist())
    listed = set(gt.images.labels.tolist())
    plain: dict[str, Callable[[], tuple[Any, ...]]] = {
        "repeated_annotations": lambda: of_repeats(gt),
        "repeated_detections": lambda: of_repeats(dt),
        "ground_truth_beyond_image": lambda: beyond(gt, gt),
        "detections_beyond_image": lambda: beyond(dt, gt),
        "images_without_detections": lambda: silent_images(gt, dt),
        "images_without_annotations": lambda: unannotated(gt, dt, said.suspicion.message),
        "classes_without_objects": lambda: bare_classes(gt),
        "class_names_alike": lambda: names_alike(gt, said.suspicion.message),
        "scores_often_equal": lambda: equal_scores(dt, said.suspicion.message),
        "scores_of_two_units": lambda: two_units(dt),
        "areas_not_of_boxes": lambda: odd_areas(gt),
        "classes_only_in_detections": lambda: (
            [sum(one not in known for one in dt.category_ids.tolist()), len(dt)],
            {one for one in dt.category_ids.tolist() if one not in known},
        ),
        "images_only_in_detections": lambda: (
            [sum(one not in listed for one in dt.image_labels().tolist()), len(dt),
             len(set(dt.image_labels().tolist()) - listed)],
            set(dt.image_labels().tolist()) - listed,
        ),
        "scores_all_equal": lambda: ([len(dt), float(dt.scores[0])], set(dt.image_labels().tolist())),
        "annotations_without_size": lambda: (
            [sum(min(w, h) <= 0 and not crowd for (_, _, w, h), crowd in zip(gt.boxes.tolist(), gt.crowd, strict=True)),
             len(gt)],
            None,
        ),
    }  # fmt: skip
    if code not in plain:
        return [], None
    numbers, possible, *_ = plain[code]()
    return numbers, None if possible is None else {str(one) for one in possible}


def check_message(said: VerifiedSuspicion, gt: GroundTruth, dt: Detections) -> bool:
    """The numbers and examples of a finding; whether they are known to this test."""
    suspicion = said.suspicion
    numbers, possible = recounted(said.code, gt, dt, said)
    printed = [float(one.replace(",", "")) for one in re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", suspicion.message)]
    assert printed[: len(numbers)] == numbers, suspicion.message
    assert suspicion.count <= suspicion.total
    if possible is not None:
        assert set(suspicion.examples) <= possible
        shown = "; ".join(suspicion.examples[:5]) + (", ... " if len(possible) > 5 else " ")
        assert f"Such as: {' '.join(shown.split())} " in " ".join(str(said).split()), str(said)
    return bool(numbers)


def steps_of(repair: Repair | None) -> list[Repair]:
    """The single repairs of a chain."""
    return [] if repair is None else [dataclasses.replace(repair, then=None), *steps_of(repair.then)]


def check_if_so(said: VerifiedSuspicion, checked: Checked, gt: GroundTruth, dt: Detections) -> None:
    """The numbers after the repair, and before it, are those of the data after the named repairs."""
    match = IF_SO.search(" ".join(str(said).split()))
    assert bool(match) == (not math.isnan(said.after))
    if match is None:
        return
    steps = {str(step): step for one in checked for step in steps_of(one.suspicion.repair)}
    named = re.split(", | and ", match[4] or "") if not said.after_repairs else " ".join(said.together_with).split(" ")
    others = [steps[name] for name in named if name]
    own = said.suspicion.repair
    assert own is not None
    words = " ".join(f"--repair '{one}'" for one in str(own).split(" "))
    assert (words in " ".join(str(said).split())) == said.harmful
    if "@FILE" not in str(own):  # what is printed is what the option reads
        assert Repair.chain(map(Repair.parse, str(own).split(" "))) == own
    for text, done in ((match[3], others), (match[2] or match[3], [*others, own])):
        try:
            truth, found = repaired(gt, dt, done)
            assert found is not None
            value = evaluate(truth, found).summary[match[1]]
        except DatasetError:
            continue  # detections of unknown images or classes, or boxes with a negative side, are refused
        assert abs(float(text) - value) <= 5e-4 + 1e-9 or math.isnan(value), str(said)


@pytest.mark.parametrize(("name", "images", "fewest"), [("one class", 15, 4), ("documents", 12, 8)])
def test_every_finding_is_true(name: str, images: int, fewest: int) -> None:
    gt, dt = drawn(name, seed=2)
    kept = gt.images.ids[:images]
    data = gt.filter(images=kept), dt.filter(images=kept)
    recounts: Counter[str] = Counter()
    for place, (kind, fault) in enumerate(FAULTS.items()):
        wrong = plant(fault, data, fault.strengths[place % 5], seed=place)
        if wrong is None:
            continue
        checked = check(*wrong)
        head = HEAD.fullmatch(str(checked).splitlines()[0])
        assert head, kind
        counts = len(wrong[0].images), len(wrong[0]), len(wrong[1])
        assert [int(one.replace(",", "")) for one in head.groups()[:3]] == [*counts]
        harmful = sum(one.harmful for one in checked)
        notes = len(checked) - harmful
        assert head[4].startswith(
            f"{harmful} finding" if harmful else "no finding, " if notes else "nothing looks wrong"
        )
        assert (", " in head[4]) == bool(notes)
        assert checked.ok == (harmful == 0)
        for said in checked:
            assert str(said).startswith(f"{said.suspicion.sure if said.harmful else 'note'}: {said.code}\n")
            check_if_so(said, checked, *wrong)
            if not said.together_with:  # else the words are about the data after other repairs, and say so
                recounts[said.code] += check_message(said, *wrong)
            else:
                *first, last = " ".join(said.together_with).split(" ")
                words = f"{', '.join(first)} and {last}" if first else last
                text = " ".join(str(said).split())
                assert f"with {words}" in text
                assert (f"{said.code} in the data with {words}, {said.suspicion.message}" in text) == said.after_repairs
                # Notes are of the same data, which is said once, before them.
                about = f"The notes are about the data with {words}."
                assert said.harmful or " ".join(str(checked).split()).count(about) == 1
    assert len(+recounts) >= fewest, recounts


def test_images_whose_rows_all_repeat_are_counted() -> None:
    """Three equal rows and one of its own are no image that has all rows twice."""
    box, own, third = [10.0, 10, 40, 40], [70.0, 70, 20, 20], [30.0, 60, 20, 20]

    def said(images: list[int], boxes: list[list[float]]) -> str:
        gt = GroundTruth.from_arrays(
            image_ids=images,
            category_ids=[1] * len(images),
            boxes=boxes,
            images=[1, 2, 3],
            sizes=[[100, 100]] * 3,
        )
        (finding,) = (one for one in check(gt) if one.code == "repeated_annotations")
        assert "Such as: 1; 2; 3\n" in str(finding)
        return finding.suspicion.message

    several = said([1] * 4 + [2] * 6 + [3] * 6, [box, box, box, own, *[box, own, third] * 4])
    assert "8 of 16 annotations repeat an earlier one; 2 images have all their annotations" in several
    few = said([1] * 4 + [2] * 4 + [3] * 2, [box, box, box, own, *[box, own] * 2, box, box])
    assert few == "5 of 10 annotations repeat an earlier one", "two rows are all repeated by chance, too"


def test_a_limit_of_nms_is_rounded_up() -> None:
    """No two detections overlap by more than what is printed, and more objects do."""
    width = 100 * (1 - 0.2549) / (1 + 0.2549)  # two boxes of 100 shifted by this have IoU 0.2549
    shifts = [0.0, width]
    count = 15
    boxes = [[300.0 * at + shift, 0.0, 100.0, 100.0] for at in range(count) for shift in shifts]
    closer = [[300.0 * at + shift, 0.0, 100.0, 100.0] for at in range(count) for shift in (0.0, 30.0)]
    columns: dict[str, Any] = {"image_ids": [1] * 2 * count, "category_ids": [1] * 2 * count}
    gt = GroundTruth.from_arrays(**columns, boxes=closer, images=[1], sizes=[[5000, 100]])
    dt = Detections.from_arrays(**columns, boxes=boxes, scores=np.linspace(0.1, 0.9, 2 * count))
    (finding,) = (one for one in check(gt, dt) if one.code == "nms_too_strict")
    assert (
        "overlap by more than 0.26, but 15 of 30 objects (50.0 %) overlap an earlier one" in finding.suspicion.message
    )
