"""Boxes at another place, of other images, rounded, doubled, cut or copied: planted in real data and found."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, evaluate, pairwise_ioa, pairwise_iou
from ioukit.checks import RULES, Case, Checked, Data, check, repaired
from ioukit.checks.repairs.boxes import unit_scales
from ioukit.evaluation.protocols import LVIS
from support.planted_faults import in_format
from support.planted_scenes import drawn, first_images, real

if TYPE_CHECKING:
    from collections.abc import Callable

    Boxes = np.ndarray[Any, np.dtype[np.float64]]

TRUTH, FOUND = first_images(real()["yolact"], 60)
RIGHT = evaluate(TRUTH, FOUND).summary["AP"]


def sizes_of(data: GroundTruth | Detections) -> Boxes:
    return TRUTH.images.sizes[TRUTH.images.positions(data.image_ids)]


def with_boxes(data: Any, boxes: Boxes, chosen: np.ndarray[Any, Any] | None = None) -> Any:
    """Other boxes, on some images or on all."""
    rows = np.ones(len(data), np.bool_) if chosen is None else np.isin(data.image_ids, chosen)
    return dataclasses.replace(data, boxes=np.where(rows[:, None], boxes, data.boxes))


def half_of_the_images() -> np.ndarray[Any, Any]:
    return TRUTH.images.ids[::2]


def codes(found: Checked) -> set[str]:
    return {finding.code for finding in found if finding.harmful}


def suspected(truth: GroundTruth, found: Detections, rule: str) -> dict[str, str]:
    """The messages of what a rule suspects, by code. No repair is tried, as here it is the rule that counts."""
    case = Case(Data(truth, found))
    return {one.code: one.message for one in RULES[rule].function()(case) if one.sure != "possible"}


def hflip(boxes: Boxes, sizes: Boxes) -> Boxes:
    return np.column_stack([sizes[:, 0] - boxes[:, 0] - boxes[:, 2], boxes[:, 1:]])


def vflip(boxes: Boxes, sizes: Boxes) -> Boxes:
    return np.column_stack([boxes[:, 0], sizes[:, 1] - boxes[:, 1] - boxes[:, 3], boxes[:, 2:]])


def clockwise(boxes: Boxes, sizes: Boxes) -> Boxes:
    """A pixel (x, y) goes to (height - y, x)."""
    x, y, width, height = boxes.T
    return np.column_stack([sizes[:, 1] - y - height, x, height, width])


def counterclockwise(boxes: Boxes, sizes: Boxes) -> Boxes:
    """A pixel (x, y) goes to (y, width - x)."""
    x, y, width, height = boxes.T
    return np.column_stack([y, sizes[:, 0] - x - width, height, width])


@pytest.mark.parametrize(
    ("code", "repair", "changed"),
    [
        ("hflip", "turn=hflip", hflip),
        ("vflip", "turn=vflip", vflip),
        ("rot90", "turn=rot90", clockwise),
        ("rot180", "turn=rot180", lambda boxes, sizes: hflip(vflip(boxes, sizes), sizes)),
        ("rot270", "turn=rot270", counterclockwise),
        ("other_sides", "sides=2", lambda boxes, _: np.hstack([boxes[:, :2] + boxes[:, 2:] / 4, boxes[:, 2:] / 2])),
        ("are_yxhw", "boxes=yxhw", lambda boxes, _: boxes[:, [1, 0, 3, 2]]),
        ("are_yxwh", "boxes=yxwh", lambda boxes, _: boxes[:, [1, 0, 2, 3]]),
        ("are_xxyy", "boxes=xxyy", lambda boxes, _: np.column_stack(
            [boxes[:, 0], boxes[:, 0] + boxes[:, 2], boxes[:, 1], boxes[:, 1] + boxes[:, 3]]
        )),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("side", "part"), [("detections", "all"), ("ground_truth", "half")])
def test_boxes_at_another_place_are_found_and_put_back(
    code: str, repair: str, changed: Callable[[Boxes, Boxes], Boxes], side: str, part: str
) -> None:
    data: Any = FOUND if side == "detections" else TRUTH
    chosen = None if part == "all" else half_of_the_images()
    wrong = with_boxes(data, changed(data.boxes, sizes_of(data)), chosen)
    truth, found = (TRUTH, wrong) if side == "detections" else (wrong, FOUND)
    result = check(truth, found)
    # Either side can be the one that is read or placed otherwise.
    names = {f"{one}_{code}" for one in ("detections", "ground_truth")}
    finding = next(one for one in result if one.code in names and one.harmful)
    assert finding.after == pytest.approx(RIGHT, abs=0.02)
    if part == "all":
        prefix = "gt:" if side == "ground_truth" else ""
        gt, dt = repaired(truth, found, [f"{prefix}{repair}"])
        assert dt is not None
        assert evaluate(gt, dt).summary["AP"] == pytest.approx(RIGHT, abs=1e-9)


def test_exchanged_width_and_height_are_found() -> None:
    """On all images: on some of them, boxes that are nearly squares do not tell."""
    wrong = with_boxes(FOUND, FOUND.boxes[:, [0, 1, 3, 2]])
    found = next(iter(check(TRUTH, wrong)))
    assert found.code == "detections_are_xyhw"
    gt, dt = repaired(TRUTH, wrong, ["boxes=xyhw"])
    assert dt is not None
    assert evaluate(gt, dt).summary["AP"] == pytest.approx(RIGHT, abs=1e-9)


@pytest.mark.parametrize("order", [[1, 0, 2, 3], [1, 0, 3, 2]])
@pytest.mark.parametrize("side", ["detections", "ground_truth"])
def test_the_side_whose_boxes_reach_beyond_their_images_is_the_one_with_exchanged_axes(
    side: str, order: list[int]
) -> None:
    data: Any = FOUND if side == "detections" else TRUTH
    wrong = with_boxes(data, data.boxes[:, order])
    found = next(iter(check(*((TRUTH, wrong) if side == "detections" else (wrong, FOUND)))))
    assert found.code == f"{side}_are_{''.join('xywh'[at] for at in order)}"


@pytest.mark.parametrize("order", [[1, 0, 2, 3], [1, 0, 3, 2]])
def test_what_squares_do_not_tell_is_said(order: list[int]) -> None:
    """If all boxes are squares, nothing tells whether width and height are exchanged, too."""
    truth, found = (
        with_boxes(data, np.column_stack([data.boxes[:, :2], side, side]))
        for data in (TRUTH, FOUND)
        for side in [np.sqrt(data.boxes[:, 2] * data.boxes[:, 3])]
    )
    said = next(iter(check(truth, with_boxes(found, found.boxes[:, order]))))
    assert said.code == "detections_are_yxhw"
    assert "Read as [y, x, width, height], they match about as well" in said.suspicion.message


@pytest.mark.parametrize("fmt", ["yxyx", "yxhw", "yxwh", "xyhw", "xxyy"])
@pytest.mark.parametrize(("side", "part"), [("detections", "all"), ("ground_truth", "all"), ("detections", "half")])
def test_fractions_in_another_order_are_found(fmt: str, side: str, part: str) -> None:
    """As TensorFlow writes them: fractions of the height come first."""
    data: Any = FOUND if side == "detections" else TRUTH
    x, y, width, height = (data.boxes / np.tile(sizes_of(data), 2)).T
    columns = {
        "yxyx": (y, x, y + height, x + width),
        "yxhw": (y, x, height, width),
        "yxwh": (y, x, width, height),
        "xyhw": (x, y, height, width),
        "xxyy": (x, x + width, y, y + height),
    }[fmt]
    wrong = with_boxes(data, np.column_stack(columns), None if part == "all" else half_of_the_images())
    checked = check(*((TRUTH, wrong) if side == "detections" else (wrong, FOUND)))
    (finding,) = (one for one in checked if one.harmful)
    assert finding.code == f"{side}_are_fractions_{fmt}"
    assert finding.after == pytest.approx(RIGHT, abs=1e-4)  # the last bits of boxes decide between equal overlaps
    prefix, file = "gt:" if side == "ground_truth" else "", "" if part == "all" else "@FILE"
    assert checked.repairs == (f"{prefix}boxes={fmt}{file}", f"{prefix}units=fractions{file}")


@pytest.mark.parametrize("share", [0.15, 0.5, 1.0])
def test_detections_of_other_images_are_found(share: float) -> None:
    rng = np.random.default_rng(3)
    ids = TRUTH.images.ids
    moved = rng.permutation(len(ids))[: int(share * len(ids))]
    to = ids.copy()
    to[moved] = ids[np.roll(moved, 1)]
    where = TRUTH.images.positions(FOUND.image_ids)
    found = check(TRUTH, dataclasses.replace(FOUND, image_ids=to[where]))
    assert "detections_of_other_images" in codes(found)
    (finding,) = (one for one in found if one.code == "detections_of_other_images")
    named = set(finding.suspicion.images)
    assert len(named & set(ids[moved].tolist())) >= 0.9 * len(named)
    # The exchange goes round, so the reverse of each example is false.
    filed = dict(zip(ids.tolist(), to.tolist(), strict=True))
    said = [re.fullmatch(r"those of (\d+) are under (\d+)", one) for one in finding.suspicion.examples]
    assert len(said) > 2
    for one in said:
        assert one is not None
        assert filed[int(one[1])] == int(one[2])


def test_images_without_annotations_can_have_the_detections_of_others() -> None:
    """Every second image has no objects, and those with two are filed under the one after it."""
    rng = np.random.default_rng(0)
    ids, with_two = np.arange(1, 81), np.repeat(np.arange(1, 81, 2), 2)
    sides = rng.uniform(30, 90, (len(with_two), 2))
    boxes = np.hstack([rng.uniform(0, 512 - sides), sides])
    shared: dict[str, Any] = {"category_ids": np.ones_like(with_two), "boxes": boxes}
    truth = GroundTruth.from_arrays(image_ids=with_two, images=ids, sizes=[[512, 512]] * 80, **shared)
    after = np.where(with_two < 20, with_two + 1, with_two)
    # Images without any detections are not looked at.
    found = Detections.from_arrays(image_ids=after, scores=rng.uniform(0.5, 1, len(after)), **shared)
    stray = Detections.from_arrays(
        image_ids=np.repeat(np.arange(1, 20, 2), 2),
        category_ids=[1] * 20,
        boxes=[[500, 500, 9, 9]] * 20,
        scores=[0.1] * 20,
    )
    checked = check(truth, Detections.concat([found, stray]))
    (finding,) = (one for one in checked if one.code == "detections_of_other_images")
    assert finding.suspicion.examples[:2] == ("those of 1 are under 2", "those of 3 are under 4")
    assert finding.suspicion.images == tuple(range(1, 20, 2))


@pytest.mark.parametrize("name", ["aerial", "crowd"])
def test_two_exchanged_images_are_named(name: str) -> None:
    truth, found = drawn(name)
    one, two = truth.images.ids[[4, 9]]
    to = {one: two, two: one}
    wrong = dataclasses.replace(found, image_ids=np.array([to.get(image, image) for image in found.image_ids]))
    (finding,) = (one for one in check(truth, wrong) if one.harmful)
    first, second = truth.images.labels[[4, 9]].tolist()
    assert finding.suspicion.images == (first, second)
    assert finding.suspicion.examples == (
        f"those of {first} are under {second}",
        f"those of {second} are under {first}",
    )
    assert finding.suspicion.message.startswith(f"on 2 of {len(truth.images)} images that were looked at")


def test_the_offset_of_tiles_is_found() -> None:
    """Tiles of 320 pixels, whose boxes count from the corner of the tile."""
    corner = 320 * np.floor((FOUND.boxes[:, :2] + FOUND.boxes[:, 2:] / 2) / 320)
    moved = with_boxes(FOUND, FOUND.boxes - np.hstack([corner, np.zeros_like(corner)]))
    assert any("moved" in code for code in suspected(TRUTH, moved, "places"))


@pytest.mark.parametrize("seed", range(6))
def test_a_small_offset_of_all_boxes_is_no_resize(seed: int) -> None:
    """Moved by a quarter of a side, most boxes still overlap their objects, and a resize puts some of them back."""
    rng = np.random.default_rng(seed)
    image = np.repeat(np.arange(40), 3)
    sides = rng.uniform(20, 70, (len(image), 2))
    boxes = np.hstack([rng.uniform(0, 512 - sides), sides])
    truth = GroundTruth.from_arrays(
        image_ids=image, category_ids=np.ones_like(image), boxes=boxes, images=np.arange(40), sizes=[[512, 512]] * 40
    )
    near = boxes + rng.normal(0, 0.06, boxes.shape) * np.tile(sides, 2)
    found = Detections.from_arrays(
        image_ids=image,
        category_ids=np.ones_like(image),
        boxes=near + np.array([10, -5, 0, 0]),
        scores=rng.random(len(image)),
    )
    finding = next(iter(check(truth, found)))
    assert finding.code == "detections_moved"
    assert "ground_truth_moved" not in suspected(truth, found, "places"), "the same said of the other side"
    x, y = map(float, str(finding.suspicion.repair).removeprefix("moved=").split(","))
    assert [x, y] == pytest.approx([-10, 5], abs=1)


@pytest.mark.parametrize(("name", "part"), [("one class", 0.25), ("documents", 0.15)])
def test_an_offset_is_found_where_all_boxes_still_overlap(name: str, part: float) -> None:
    truth, found = drawn(name)
    offset = np.round(part * np.median(truth.boxes[:, 2:]) * np.array([1, -0.5, 0, 0]))
    assert codes(check(truth, found)) == set()
    assert codes(check(truth, with_boxes(found, found.boxes + offset))) == {"detections_moved"}


def test_what_has_nothing_to_do_with_the_objects_is_never_right() -> None:
    rng = np.random.default_rng(0)
    boxes = np.column_stack([rng.uniform(0, 400, (len(FOUND), 2)), rng.uniform(10, 120, (len(FOUND), 2))])
    found = check(TRUTH, with_boxes(FOUND, boxes))
    assert {"detections_off_objects", "near_chance"} <= codes(found)
    assert "nothing looks wrong" not in str(found)


def test_scores_of_other_boxes_of_the_image_are_found() -> None:
    rng = np.random.default_rng(1)
    truth, found = real()["yolact"]
    scores = found.scores.copy()
    for image in np.unique(found.image_ids)[:70].tolist():
        rows = np.flatnonzero(found.image_ids == image)
        scores[rows] = scores[rng.permutation(rows)]
    assert "scores_not_of_their_boxes" in suspected(truth, dataclasses.replace(found, scores=scores), "scores")


def test_rounded_boxes_are_found() -> None:
    size = np.tile(sizes_of(TRUTH), 2)
    corners = np.hstack([TRUTH.boxes[:, :2], TRUTH.boxes[:, :2] + TRUTH.boxes[:, 2:]])
    hundredths = np.round(corners / size, 2) * size
    hundredths[:, 2:] -= hundredths[:, :2]
    suspicions = suspected(with_boxes(TRUTH, hundredths), FOUND, "rounding")
    assert "multiples of 1 % of the image" in suspicions["ground_truth_rounded"]
    corners = np.hstack([FOUND.boxes[:, :2], FOUND.boxes[:, :2] + FOUND.boxes[:, 2:]])
    of_stride = 16 * np.round(corners / 16)
    of_stride[:, 2:] -= of_stride[:, :2]
    assert "multiples of 16 pixels" in suspected(TRUTH, with_boxes(FOUND, of_stride), "rounding")["detections_rounded"]
    of_stride = 8 * np.round(corners / 8)
    of_stride[:, 2:] -= of_stride[:, :2]
    assert "multiples of 8 pixels" in suspected(TRUTH, with_boxes(FOUND, of_stride), "rounding")["detections_rounded"]
    whole = with_boxes(TRUTH, np.round(TRUTH.boxes)), with_boxes(FOUND, np.round(FOUND.boxes))
    assert not suspected(*whole, "rounding")
    enlarged = with_boxes(whole[0], 8 * whole[0].boxes), with_boxes(whole[1], 8 * whole[1].boxes)
    assert not suspected(*enlarged, "rounding"), "a step of 8 is a pixel of the image before it was enlarged"


def test_annotations_without_size_are_found() -> None:
    boxes = TRUTH.boxes.copy()
    boxes[::20, 2] = 0
    assert "annotations_without_size" in suspected(with_boxes(TRUTH, boxes), FOUND, "labels")
    boxes = TRUTH.boxes.copy()
    boxes[0, 2] = 0
    assert "annotations_without_size" not in suspected(with_boxes(TRUTH, boxes), FOUND, "labels")


def test_doubled_annotations_are_found() -> None:
    rng = np.random.default_rng(2)
    again = TRUTH.take(np.flatnonzero(rng.random(len(TRUTH)) < 0.2))
    moved = again.boxes + 0.03 * rng.normal(size=again.boxes.shape) * np.tile(again.boxes[:, 2:], 2)
    rows = np.r_[np.arange(len(TRUTH)), np.flatnonzero(np.isin(TRUTH.ids, again.ids))]
    both = TRUTH.take(rows)
    doubled = dataclasses.replace(both, ids=np.arange(len(both)), boxes=np.concatenate([TRUTH.boxes, moved]))
    assert "annotations_doubled" in suspected(doubled, FOUND, "labels")


def test_annotations_that_were_cut_at_another_size_are_found() -> None:
    ends = np.minimum(TRUTH.boxes[:, :2] + TRUTH.boxes[:, 2:], 320)
    starts = np.minimum(TRUTH.boxes[:, :2], 310)
    assert "annotations_cut" in suspected(with_boxes(TRUTH, np.hstack([starts, ends - starts])), FOUND, "cuts")


def test_detections_that_were_cut_at_the_other_side_of_their_image_are_found() -> None:
    limits = sizes_of(FOUND)[:, ::-1]
    ends = np.minimum(FOUND.boxes[:, :2] + FOUND.boxes[:, 2:], limits)
    starts = np.minimum(FOUND.boxes[:, :2], ends)
    found = with_boxes(FOUND, np.hstack([starts, ends - starts]), half_of_the_images())
    assert "detections_cut" in suspected(TRUTH, found, "cuts")


@pytest.mark.parametrize("parts", [2, 3])
def test_detections_of_tiles_that_were_not_merged_are_found(parts: int) -> None:
    """Each box that crosses the border of a tile is two boxes, on a third of the images."""
    border = sizes_of(FOUND)[:, 0] / parts
    left, right = FOUND.boxes[:, 0], FOUND.boxes[:, 0] + FOUND.boxes[:, 2]
    chosen = np.isin(FOUND.image_ids, TRUTH.images.ids[::3])
    split = chosen & (left < border) & (border < right)
    first, second = FOUND.boxes.copy(), FOUND.boxes[split].copy()
    first[split, 2] = (border - left)[split]
    second[:, 0], second[:, 2] = border[split], (right - border)[split]
    found = Detections.concat([with_boxes(FOUND, first), with_boxes(FOUND[split], second)])
    assert "detections_cut" in suspected(TRUTH, found, "cuts")


@pytest.mark.parametrize(("share", "found"), [(0.4, True), (0.0, False)])
def test_objects_that_are_marked_as_crowds_are_found(share: float, found: bool) -> None:
    rng = np.random.default_rng(5)
    truth = GroundTruth.from_arrays(
        image_ids=TRUTH.image_ids,
        category_ids=TRUTH.category_ids,
        boxes=TRUTH.boxes,
        crowd=rng.random(len(TRUTH)) < share,
        images=TRUTH.images.ids,
        sizes=TRUTH.images.sizes,
        categories=dict(zip(TRUTH.categories.ids.tolist(), TRUTH.categories.names, strict=True)),
    )
    assert ("crowds_are_objects" in suspected(truth, FOUND, "crowds")) == found


@pytest.mark.parametrize("share", [0.2, 0.6])
def test_annotations_that_are_detections_are_found(share: float) -> None:
    rng = np.random.default_rng(0)
    chosen = rng.choice(TRUTH.images.ids, int(share * len(TRUTH.images)), replace=False)
    sure = FOUND[np.isin(FOUND.image_ids, chosen) & (FOUND.scores > 0.4)]
    others = TRUTH.take(~np.isin(TRUTH.image_ids, chosen))
    truth = GroundTruth.from_arrays(
        image_ids=[*others.image_ids, *sure.image_ids],
        category_ids=[*others.category_ids, *sure.category_ids],
        boxes=np.concatenate([others.boxes, sure.boxes]),
        images=TRUTH.images.ids,
        sizes=TRUTH.images.sizes,
        categories=dict(zip(TRUTH.categories.ids.tolist(), TRUTH.categories.names, strict=True)),
    )
    result = check(truth, FOUND)
    (finding,) = (one for one in result if one.code == "annotations_are_detections")
    assert finding.harmful
    assert set(finding.suspicion.images) <= set(chosen.tolist())


def test_annotations_of_tiny_objects_are_no_copies() -> None:
    """Of an object of four pixels, a detection that is right is within half a pixel."""
    rng = np.random.default_rng(0)
    sizes = rng.uniform(4, 8, (len(TRUTH), 2))
    tiny = with_boxes(TRUTH, np.hstack([TRUTH.boxes[:, :2], sizes]))
    found = Detections.from_arrays(
        image_ids=TRUTH.image_ids,
        category_ids=TRUTH.category_ids,
        boxes=tiny.boxes + rng.uniform(-0.4, 0.4, (len(TRUTH), 4)),
        scores=rng.random(len(TRUTH)),
    )
    assert "annotations_are_detections" not in suspected(tiny, found, "labels")


def test_one_annotation_per_class_and_image_is_found() -> None:
    _, first = np.unique(np.stack([TRUTH.image_ids, TRUTH.category_ids]), axis=1, return_index=True)
    assert "one_annotation_per_class" in suspected(TRUTH.take(np.sort(first)), FOUND, "labels")


def test_boxes_of_several_classes_and_images_are_found() -> None:
    """A box is also that of the class, or of the image, that comes next in the list."""
    chosen = FOUND[np.isin(FOUND.image_ids, TRUTH.images.ids[::4])]
    for column, listed in (("category_ids", TRUTH.categories.ids), ("image_ids", TRUTH.images.ids)):
        following = dict(zip(listed.tolist(), np.roll(listed, -1).tolist(), strict=True))
        others = np.array([following[number] for number in getattr(chosen, column).tolist()])
        moved: dict[str, Any] = {column: others}
        both = Detections.concat([FOUND, dataclasses.replace(chosen, **moved)])
        (code,) = suspected(TRUTH, both, "copies")
        assert code == f"detections_of_several_{'classes' if column == 'category_ids' else 'images'}"
        again = np.arange(len(TRUTH)).repeat(2)  # of objects that do so, too, it is right
        truth = dataclasses.replace(TRUTH.take(again), ids=np.arange(len(again)))
        ids = getattr(truth, column).copy()
        ids[1::2] = [following[number] for number in ids[1::2].tolist()]
        twice: dict[str, Any] = {column: ids}
        assert not suspected(dataclasses.replace(truth, **twice), both, "copies")
    assert not suspected(TRUTH, FOUND, "copies")


def test_scores_that_are_not_those_of_single_boxes_are_found() -> None:
    some = np.isin(FOUND.image_ids, TRUTH.images.ids[::4])
    where = np.unique(FOUND.image_ids, return_inverse=True)[1].reshape(-1)
    shares = FOUND.scores / np.bincount(where, FOUND.scores)[where]
    add_up = dataclasses.replace(FOUND, scores=np.where(some, shares, FOUND.scores))
    assert "scores_add_up" in suspected(TRUTH, add_up, "scores")
    last: dict[Any, float] = {}
    for *key, score in zip(FOUND.image_ids.tolist(), FOUND.category_ids.tolist(), FOUND.scores.tolist(), strict=True):
        last[tuple(key)] = score
    keys = zip(FOUND.image_ids.tolist(), FOUND.category_ids.tolist(), strict=True)
    of_class = dataclasses.replace(FOUND, scores=np.where(some, [last[key] for key in keys], FOUND.scores))
    assert "scores_of_classes_equal" in suspected(TRUTH, of_class, "scores")
    rounded = dataclasses.replace(FOUND, scores=np.round(FOUND.scores, 2))
    for right in (FOUND, rounded):
        assert not {"scores_add_up", "scores_of_classes_equal"} & suspected(TRUTH, right, "scores").keys()


def test_annotations_of_whole_images_are_found() -> None:
    sizes = TRUTH.images.sizes
    first = [TRUTH.category_ids[TRUTH.image_ids == image][:1] for image in TRUTH.images.ids.tolist()]
    listed = np.array([at for at, kinds in enumerate(first) if len(kinds)])
    tagged = GroundTruth.from_arrays(
        image_ids=[*TRUTH.image_ids, *TRUTH.images.ids[listed]],
        category_ids=[*TRUTH.category_ids, *(first[at][0] for at in listed.tolist())],
        boxes=np.concatenate([TRUTH.boxes, np.hstack([np.zeros_like(sizes), sizes])[listed]]),
        images=TRUTH.images.ids,
        sizes=sizes,
        categories=dict(zip(TRUTH.categories.ids.tolist(), TRUTH.categories.names, strict=True)),
    )
    assert "annotations_of_whole_images" in suspected(tagged, FOUND, "labels")
    assert "annotations_of_whole_images" not in suspected(TRUTH, FOUND, "labels")


@pytest.mark.parametrize("name", ["aerial", "crowd", "documents"])
def test_a_class_that_is_annotated_on_half_of_the_images_is_found(name: str) -> None:
    truth, found = drawn(name)
    label = int(np.bincount(truth.category_ids).argmax())
    kept = (truth.category_ids != label) | np.isin(truth.image_ids, truth.images.ids[::2])
    merged = truth.take(kept)
    message = suspected(merged, found, "labels")["classes_annotated_on_some_images"]
    numbers = re.search(
        r"of (\d+) annotated images that have no (.+), (\d+) have .* of at least ([\d.]+) .*; of (\d+) .*, (\d+) ha",
        message,
    )
    assert numbers is not None
    without, title, have, score, on, also = numbers.groups()
    assert title == truth.categories.names[int(truth.categories.positions([label])[0])]
    # Image by image: whether a detection of this class, with such a score, lies on no annotation.
    counts = {True: [0, 0], False: [0, 0]}
    for image in np.unique(merged.image_ids).tolist():
        objects = merged.image_ids == image
        ours = (found.image_ids == image) & (found.category_ids == label) & (found.scores >= float(score))
        overlaps = pairwise_iou(found.boxes[ours], merged.boxes[objects], format="xywh")
        inside = pairwise_ioa(found.boxes[ours], merged.boxes[objects], of="first", format="xywh")
        inside[:, ~merged.crowd[objects]] = 0
        there = label in merged.category_ids[objects]
        counts[there][0] += 1
        counts[there][1] += bool(((overlaps < 0.1) & (inside < 0.5)).all(axis=1).any())
    assert counts == {False: [int(without), int(have)], True: [int(on), int(also)]}
    assert "classes_annotated_on_some_images" not in suspected(truth, found, "labels")
    # What lies in a region that is not looked at is not missing.
    whole = np.hstack([np.zeros((len(truth), 2)), truth.images.sizes[truth.images.positions(truth.image_ids)]])
    ignored = dataclasses.replace(
        truth,
        boxes=np.where(kept[:, None], truth.boxes, whole),
        category_ids=np.where(kept, truth.category_ids, truth.categories.ids[truth.categories.ids != label][0]),
        flags={"crowd": truth.crowd | ~kept},
    )
    assert "classes_annotated_on_some_images" not in suspected(ignored, found, "labels")
    # LVIS's images say which classes were looked for.
    case = Case(Data(merged, found), LVIS)
    assert "classes_annotated_on_some_images" not in {one.code for one in RULES["labels"].function()(case)}


def test_classes_that_collapsed_on_some_images_are_found() -> None:
    rows = np.isin(FOUND.image_ids, TRUTH.images.ids[::5])
    one = dataclasses.replace(FOUND, category_ids=np.where(rows, 1, FOUND.category_ids))
    (finding,) = (each for each in check(TRUTH, one) if each.code == "classes_collapsed")
    assert finding.harmful
    assert "mostly 'person'" in finding.suspicion.message


def test_a_threshold_that_was_left_in_is_a_note() -> None:
    result = check(TRUTH, FOUND[FOUND.scores >= 0.3])
    (finding,) = (one for one in result if one.code == "threshold_left_in")
    assert not finding.harmful
    assert finding.suspicion.message.startswith("no score is below 0.3")


def test_a_perfect_detector_needs_no_order() -> None:
    scores = np.ones(len(TRUTH))
    perfect = Detections.from_arrays(
        image_ids=TRUTH.image_ids, category_ids=TRUTH.category_ids, boxes=TRUTH.boxes, scores=scores
    )
    assert check(TRUTH, perfect).ok


@pytest.mark.parametrize("parked", [True, False])
def test_a_car_that_is_parked_before_a_fixed_camera_is_one_coincidence(*, parked: bool) -> None:
    rng, images = np.random.default_rng(0), np.arange(60)
    cars = np.column_stack([rng.uniform(0, 500, (240, 2)), rng.uniform(30, 60, (240, 2))])
    missed = np.column_stack([rng.uniform([700, 400], [900, 600], (60, 2)), rng.uniform(40, 60, (60, 2))])
    missed = np.repeat(missed[:1], 60, axis=0) if parked else missed
    truth = GroundTruth.from_arrays(
        image_ids=np.append(np.repeat(images, 4), images), category_ids=np.ones(300), boxes=np.append(cars, missed, 0)
    )
    found = Detections.from_arrays(
        image_ids=truth.image_ids,
        category_ids=truth.category_ids,
        boxes=np.append(cars + rng.normal(0, 1, cars.shape), np.add(missed, [0, -300, 0, 0]), 0),
        scores=rng.random(300),
    )
    assert ("detections_partly_moved" in suspected(truth, found, "places")) is not parked


def in_rows(columns: int, rows: int, images: int) -> tuple[GroundTruth, Detections]:
    """Objects at a pitch of 60 pixels. Some places are free, some objects are missed, some free places detected."""
    rng = np.random.default_rng(0)
    grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2)
    begin = 40 + rng.normal(0, 8, (images, 2))
    taken = rng.random((images, len(grid))) < 0.7
    boxes = np.full((images, len(grid), 4), 44.0)
    boxes[:, :, :2] = begin[:, None] + 60 * grid
    seen = rng.random(taken.shape) < np.where(taken, 0.6, 0.2)
    image = np.repeat(np.arange(images), len(grid)).reshape(taken.shape)
    truth = GroundTruth.from_arrays(
        image_ids=image[taken],
        category_ids=np.ones(taken.sum()),
        boxes=boxes[taken],
        images=np.arange(images),
        sizes=np.full((images, 2), (800, 560)),
    )
    found = Detections.from_arrays(
        image_ids=image[seen],
        category_ids=np.ones(seen.sum()),
        boxes=boxes[seen] + rng.normal(0, 1.5, (seen.sum(), 4)),
        scores=rng.random(seen.sum()),
    )
    return truth, found


@pytest.mark.parametrize("moved", [True, False])
@pytest.mark.parametrize(("columns", "rows", "images"), [(12, 8, 70), (8, 1, 200)])
def test_rows_at_a_pitch_are_not_moved_by_it(columns: int, rows: int, images: int, *, moved: bool) -> None:
    """An object that is missed has neighbours in all directions. Of many objects, not all are looked at."""
    truth, found = in_rows(columns, rows, images)
    some = np.arange(0, images, 5)
    wrong = with_boxes(found, np.add(found.boxes, [31, -22, 0, 0]), some if moved else np.arange(0))
    case = Case(Data(truth, wrong))
    assert ("detections_moved" in {one.code for one in RULES["places"].function()(case)}) is moved
    if not moved:
        assert not suspected(truth, wrong, "places")


def test_a_goal_before_a_fixed_camera_is_not_cut() -> None:
    rng, images = np.random.default_rng(0), np.arange(100)
    goals = np.tile([[150.0, 400, 90, 190], [1680, 400, 90, 190]], (100, 1))
    players = np.column_stack(
        [rng.uniform(100, 1700, (1000, 1)), rng.uniform(200, 800, (1000, 1)), np.full((1000, 2), 80)]
    )
    truth = GroundTruth.from_arrays(
        image_ids=np.append(np.repeat(images, 2), np.repeat(images, 10)),
        category_ids=np.ones(1200),
        boxes=np.append(goals, players, axis=0),
        images=images,
        sizes=np.full((100, 2), (1920, 1080)),
    )
    loose = truth.boxes * [1, 1, 1.12, 1.12]
    found = Detections.from_arrays(
        image_ids=truth.image_ids, category_ids=truth.category_ids, boxes=loose, scores=rng.random(1200)
    )
    assert not suspected(truth, found, "cuts")


@pytest.mark.parametrize("lost", [0, 150])
def test_two_labels_on_one_box_are_missed_together(lost: int) -> None:
    """A car that is a vehicle, too: the detector misses both or none, so an image with both is often empty."""
    rng = np.random.default_rng(0)
    image = np.repeat(np.arange(400), 1 + rng.poisson(1, 400))
    boxes = np.column_stack([rng.uniform(0, 500, (len(image), 2)), rng.uniform(30, 90, (len(image), 2))])
    truth = GroundTruth.from_arrays(
        image_ids=np.tile(image, 2), category_ids=np.repeat([1, 2], len(image)), boxes=np.tile(boxes, (2, 1))
    )
    rows = np.flatnonzero((rng.random(len(image)) < 0.8) & (image >= lost))
    found = Detections.from_arrays(
        image_ids=np.tile(image[rows], 2),
        category_ids=np.repeat([1, 2], len(rows)),
        boxes=np.tile(boxes[rows], (2, 1)),
        scores=rng.random(2 * len(rows)),
    )
    assert ("images_without_detections" in suspected(truth, found, "images-of-one-side")) is bool(lost)


class TestFormatAndFrame:
    """Boxes in another format, in the pixels of the network's image: each of the two faults hides the other."""

    @staticmethod
    def in_network(boxes: Boxes, sizes: Boxes, mode: str, size: float) -> Boxes:
        scale, shift = unit_scales(np.ones_like(sizes) if mode == "factor" else sizes, mode)
        return np.hstack([(boxes[:, :2] * scale + shift) * size, boxes[:, 2:] * scale * size])

    @pytest.mark.parametrize("mode", ["letterbox:640", "stretch:640x640", "factor:0.5", "stretch:1000x1000"])
    @pytest.mark.parametrize("fmt", ["xyxy", "yxyx", "cxcywh"])
    @pytest.mark.parametrize("name", ["yolact", "one class", "documents"])
    def test_both_are_mended(self, mode: str, fmt: str, name: str) -> None:
        truth, found = (TRUTH, FOUND) if name == "yolact" else drawn(name)
        sizes = truth.images.sizes[truth.images.positions(found.image_ids)]
        how, _, size = mode.partition(":")
        boxes = self.in_network(found.boxes, sizes, how, float(size.split("x")[0]))
        wrong = dataclasses.replace(found, boxes=in_format(boxes, fmt))
        checked = check(truth, wrong)
        mended: Any = repaired(truth, wrong, checked.repairs)
        right = evaluate(truth, found).summary["AP"]
        assert evaluate(*mended).summary["AP"] == pytest.approx(right, abs=0.02), checked.repairs
        assert not [one.code for one in checked if one.harmful and one.code.startswith("ground_truth")]
        (said,) = [one.suspicion.message for one in checked if one.code == "other_image_size"]
        assert f" if they are {fmt} and in the pixels of " in said
