"""Numbers that can be counted, numbers of TrackEval that were recorded, results, and what is refused."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pytest

from ioukit import Boxes, Detections, GroundTruth, RotatedBoxes, TrackEvaluation, evaluate_tracks
from ioukit.datasets import Images
from ioukit.errors import DatasetError
from support.random_tracks import TrackSet, columns_of, random_track_set

if TYPE_CHECKING:
    from collections.abc import Sequence

Region: TypeAlias = tuple[Any, int, list[float]]
"""The image, the track, and the box."""
BOX = [0.0, 0.0, 10.0, 10.0]
FAR = [50.0, 0.0, 10.0, 10.0]


def truth(*regions: Region, **options: Any) -> GroundTruth:
    """Objects of class 1."""
    images, tracks, boxes = map(list, zip(*regions, strict=True))
    ones = [1] * len(images)
    attributes = {"track_id": tracks}
    return GroundTruth.from_arrays(
        **{"image_ids": images, "category_ids": ones, "boxes": boxes, "attributes": attributes, **options}
    )


def results(*regions: Region, **options: Any) -> Detections:
    """Detections of class 1."""
    images, tracks, boxes = map(list, zip(*regions, strict=True))
    ones = [1] * len(images)
    arrays = {"image_ids": images, "category_ids": ones, "boxes": boxes, "scores": ones}
    return Detections.from_arrays(**{**arrays, "attributes": {"track_id": tracks}, **options})


TEN = (
    truth(*((f"walk/{frame}", 1, BOX) for frame in range(1, 6))),
    results(*((f"walk/{frame}", 7 if frame < 4 else 8, BOX if frame < 5 else FAR) for frame in range(1, 6))),
)
"""Ten boxes: an object in five frames. Track 7 follows it in three of them, track 8 in one, and is elsewhere in one."""


def test_numbers_that_can_be_counted() -> None:
    numbers = evaluate_tracks(*TEN).summary
    assert [numbers[key] for key in ("TP", "FN", "FP", "IDSW", "Frag", "MT", "PT", "ML")] == [4, 1, 1, 1, 0, 0, 1, 0]
    assert numbers["MOTA"] == (4 - 1 - 1) / 5
    assert [numbers[key] for key in ("IDTP", "IDFN", "IDFP", "IDF1")] == [3, 2, 2, 3 / 5]
    assert numbers["DetA"] == pytest.approx(4 / 6, abs=1e-15)
    assert numbers["AssA"] == pytest.approx((3 * 3 / 5 + 1 * 1 / 6) / 4, abs=1e-15)
    assert numbers["HOTA"] == pytest.approx(math.sqrt(4 / 6 * (3 * 3 / 5 + 1 / 6) / 4), abs=1e-15)
    assert (numbers["LocA"], numbers["Frames"], numbers["GT_IDs"], numbers["IDs"]) == (1.0, 5, 1, 2)


def test_a_gap_is_a_fragment() -> None:
    found = results(("walk/1", 7, BOX), ("walk/2", 7, FAR), ("walk/3", 7, BOX), ("walk/4", 7, BOX), ("walk/5", 7, BOX))
    numbers = evaluate_tracks(TEN[0], found).summary
    assert (numbers["Frag"], numbers["IDSW"], numbers["MT"]) == (1, 0, 0)  # 4 of 5 frames are not more than 80 %


def grid_set() -> TrackSet:
    """A set with two sequences and classes on a grid, from a formula, so that it never changes."""
    state = 12345
    sides: tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]] = ([], [])
    for sequence in range(2):
        for frame in range(12):
            for number in range(22):
                state = (state * 1103515245 + 12345) % 2**31
                dice = state >> 8
                x, y = 4 * (number % 6) + frame // 4, 5 * (number // 6)
                if dice % 7:
                    sides[0].append((sequence, frame, number % 2, number, x, y, 5, 4))
                if dice // 7 % 6:
                    track = number + 100 * (dice // 42 % 9 == 0) + 2**61 * (number % 3)
                    sides[1].append((sequence, frame, number % 2, track, x + dice // 378 % 3, y, 4, 4 + dice % 2))
    return TrackSet({"a": 12, "b": 13}, {0: "car", 1: "van"}, columns_of(sides[0]), columns_of(sides[1]))


RECORDED: dict[str, dict[str, str]] = {
    "summary": {
        "HOTA": "0x1.b1b9d9b54533dp-2",
        "DetA": "0x1.cdeb3c1cb59f3p-2",
        "AssA": "0x1.99e6b108217e2p-2",
        "AssRe": "0x1.dda3d72a67eb4p-2",
        "AssPr": "0x1.403608e804a54p-1",
        "LocA": "0x1.7ccc898cc669ep-1",
        "OWTA": "0x1.e0e92251b2c36p-2",
        "HOTA(0)": "0x1.4c7635b0f71d1p-1",
        "MOTA": "0x1.4ad4ad4ad4ad5p-2",
        "MOTP": "0x1.5d8c749ac41b9p-1",
        "MODA": "0x1.cf9cf9cf9cf9dp-2",
        "sMOTA": "0x1.939939939939bp-4",
        "TP": "0x1.4200000000000p+8",
        "FN": "0x1.0a00000000000p+7",
        "FP": "0x1.d000000000000p+6",
        "IDSW": "0x1.d800000000000p+5",
        "Frag": "0x1.8400000000000p+6",
        "MT": "0x1.8000000000000p+3",
        "PT": "0x1.0000000000000p+5",
        "ML": "0x0.0p+0",
        "IDF1": "0x1.3feda7218a76bp-1",
        "IDP": "0x1.46231188c4623p-1",
        "IDR": "0x1.39f39f39f39f4p-1",
    },
    "class_average": {
        "HOTA": "0x1.b19951b8a1a47p-2",
        "DetA": "0x1.cdeae0795724dp-2",
        "AssA": "0x1.99c92dfd98140p-2",
        "AssRe": "0x1.dd7dd681ed098p-2",
        "AssPr": "0x1.4039fe5c1715ep-1",
        "LocA": "0x1.7ccb736dd3300p-1",
        "OWTA": "0x1.e0bca203583afp-2",
        "HOTA(0)": "0x1.4c5d7a8c8c0a4p-1",
        "MOTA": "0x1.4a3403f5641cap-2",
        "MOTP": "0x1.5d8ac449a91b8p-1",
        "MODA": "0x1.cf596c810c8c7p-2",
        "sMOTA": "0x1.90b8e6d22841ap-4",
        "TP": "0x1.4200000000000p+8",
        "FN": "0x1.0a00000000000p+7",
        "FP": "0x1.d000000000000p+6",
        "IDSW": "0x1.d800000000000p+5",
        "Frag": "0x1.8400000000000p+6",
        "MT": "0x1.8000000000000p+3",
        "PT": "0x1.0000000000000p+5",
        "ML": "0x0.0p+0",
        "IDF1": "0x1.3fe1c1b48e574p-1",
        "IDP": "0x1.46680a4010668p-1",
        "IDR": "0x1.39c8f9dd3e6d2p-1",
    },
    "car": {
        "HOTA": "0x1.a7c848c5d13a8p-2",
        "DetA": "0x1.caf3a626b99a5p-2",
        "AssA": "0x1.8a582cb7ddef1p-2",
        "AssRe": "0x1.d02005228d3c0p-2",
        "AssPr": "0x1.3ca4c5e08914cp-1",
        "LocA": "0x1.7c25ee221c708p-1",
        "OWTA": "0x1.da473948f47b6p-2",
        "HOTA(0)": "0x1.44f7448871f4bp-1",
        "MOTA": "0x1.2a79afa42953dp-2",
        "MOTP": "0x1.5c7ae147ae148p-1",
        "MODA": "0x1.c2024bc44e101p-2",
        "sMOTA": "0x1.fe9f57045cc20p-5",
        "TP": "0x1.4000000000000p+7",
        "FN": "0x1.f800000000000p+5",
        "FP": "0x1.f000000000000p+5",
        "IDSW": "0x1.0800000000000p+5",
        "Frag": "0x1.8000000000000p+5",
        "MT": "0x1.8000000000000p+2",
        "PT": "0x1.0000000000000p+4",
        "ML": "0x0.0p+0",
        "IDF1": "0x1.320ca7fb65d32p-1",
        "IDP": "0x1.32bd1dfb632bdp-1",
        "IDR": "0x1.315cfc8e598aep-1",
    },
    "b": {
        "HOTA": "0x1.ab81e86cfbb14p-2",
        "DetA": "0x1.c99e67daf12c3p-2",
        "AssA": "0x1.91d2fb851f4b3p-2",
        "AssRe": "0x1.c73facd21fe71p-2",
        "AssPr": "0x1.45ed47061daa6p-1",
        "LocA": "0x1.7a040aa2d8cf0p-1",
        "OWTA": "0x1.d329765ba796dp-2",
        "HOTA(0)": "0x1.4c569a9c53562p-1",
        "MOTA": "0x1.408e78356d141p-2",
        "MOTP": "0x1.58bf258bf258cp-1",
        "MODA": "0x1.e9bd37a6f4deap-2",
        "sMOTA": "0x1.5f6cc80d0f493p-4",
        "TP": "0x1.4000000000000p+6",
        "FN": "0x1.1800000000000p+5",
        "FP": "0x1.9000000000000p+4",
        "IDSW": "0x1.3000000000000p+4",
        "Frag": "0x1.7000000000000p+4",
        "MT": "0x1.8000000000000p+1",
        "PT": "0x1.0000000000000p+3",
        "ML": "0x0.0p+0",
        "IDF1": "0x1.3c8253c8253c8p-1",
        "IDP": "0x1.4b94b94b94b95p-1",
        "IDR": "0x1.2ebf7187ca92fp-1",
    },
}
"""Numbers of TrackEval 1.3.0 for `grid_set`, in hexadecimal."""


@pytest.mark.parametrize("part", ["summary", "class_average", "car", "b"])
def test_recorded_numbers_of_trackeval(part: str) -> None:
    given = grid_set()
    found = evaluate_tracks(given.ground_truth(), given.detections())
    numbers = {
        "summary": found.summary,
        "class_average": found.class_average,
        "car": found.per_class["car"].summary,
        "b": found.per_class["van"].sequences["b"],
    }[part]
    assert {key: float(numbers[key]).hex() for key in RECORDED[part]} == RECORDED[part]


def test_the_order_of_rows_and_threads_do_not_matter() -> None:
    given = random_track_set(21)
    first = evaluate_tracks(given.ground_truth(), given.detections())
    gt, dt = given.ground_truth(), given.detections()
    # Sequences and frames in another order; rows of a frame stay in order, as equal costs are settled by it.
    gt = gt.take(np.argsort(-given.objects.frames, kind="stable"))
    dt = dt.take(np.argsort(-given.found.frames, kind="stable"))
    assert evaluate_tracks(gt, dt, threads=1).to_dict() == first.to_dict()


def test_results() -> None:
    given = grid_set()
    found = evaluate_tracks(given.ground_truth(), given.detections())
    assert repr(found).startswith("TrackEvaluation(HOTA=0.")
    assert repr(found).endswith("2 sequences, 2 classes)")
    assert repr(found.per_class["car"]).startswith("TrackClass('car', HOTA=")
    assert repr(found.summary).startswith("TrackNumbers(HOTA=")
    made = json.loads(found.to_json())
    assert [*made] == [
        "summary",
        "class_average",
        "sequences",
        "classes",
        "costs",
        "protocol",
        "main",
        "notes",
        "version",
    ]
    assert made["summary"] == dict(found.summary)
    costs = found.costs[found.costs.cost > 0]
    assert 0 < len(costs) < len(found.costs)
    of_rows = {
        "of": ["object" if is_object else "track" for is_object in costs.is_object],
        "sequence": [costs.sequence_names[at] for at in costs.sequence],
        "class": [costs.class_names[at] for at in costs.category],
        **{name: getattr(costs, name).tolist() for name in ("track", "cost", "frames", "alone", "changes")},
    }
    assert made["costs"] == [dict(zip(of_rows, row, strict=True)) for row in zip(*of_rows.values(), strict=True)]
    assert made["sequences"]["b"] == dict(found.sequences["b"])
    assert [one["name"] for one in made["classes"]] == ["car", "van"]
    assert made["classes"][1]["sequences"]["a"]["HOTA"] == found.per_class["van"].sequences["a"]["HOTA"]
    assert found.summary["TP"] == sum(one["TP"] for one in found.sequences.values())
    assert found.summary["Frames"] == sum(one["Frames"] for one in found.sequences.values()) == 2 * 25
    assert found.summary.curves["HOTA"].shape == (19,)
    assert not found.summary.curves["HOTA"].flags.writeable
    assert found.table().splitlines()[-1].split()[:2] == ["all", f"{100 * found.summary['HOTA']:.3f}"]
    assert [line.split()[0] for line in found.class_table().splitlines()] == ["class", "car", "van", "all", "class"]
    assert max(map(len, found.table(width=40).splitlines()[:-1])) <= 40
    assert "<table" in found._repr_html_()
    assert pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()
    with pytest.raises(KeyError, match="'MOTa' is no number of tracks; did you mean 'MOTA'"):
        found.summary["MOTa"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.notes = ()  # type: ignore[misc]


def test_one_class_is_the_summary() -> None:
    found = evaluate_tracks(*TEN)
    assert dict(found.summary) == dict(found.per_class[0].summary) == dict(found.sequences["walk"])


def test_classes_are_chosen() -> None:
    given = grid_set()
    every = evaluate_tracks(given.ground_truth(), given.detections())
    van = evaluate_tracks(given.ground_truth(), given.detections(), categories=["van"])
    assert [one.name for one in van.per_class] == ["van"]
    assert dict(van.summary) == dict(every.per_class["van"].summary)
    # A class without objects and detections is evaluated if it is named.
    named = given._replace(names={**given.names, 5: "bus"})
    both = evaluate_tracks(named.ground_truth(), named.detections(), categories=["bus", "van"])
    assert [one.name for one in both.per_class] == ["van", "bus"]
    assert both.per_class["bus"].summary["HOTA"] == 0
    assert both.class_average["MOTA"] == van.summary["MOTA"] / 2
    assert len(evaluate_tracks(named.ground_truth(), named.detections()).per_class) == 2
    with pytest.raises(ValueError, match="no category has the name 'bicycle'"):
        evaluate_tracks(given.ground_truth(), given.detections(), categories=["bicycle"])


def test_a_side_may_be_empty() -> None:
    gt = TEN[0]
    nothing = Detections.from_arrays(
        image_ids=np.array([], np.str_), category_ids=[], boxes=np.zeros((0, 4)), scores=[]
    )
    numbers = evaluate_tracks(gt, nothing).summary
    assert [numbers[key] for key in ("HOTA", "MOTA", "IDF1", "FN", "ML", "MLR", "LocA")] == [0, 0, 0, 5, 1, 1, 1]
    none = gt.take(np.zeros(0, np.int64))
    numbers = evaluate_tracks(none, TEN[1], categories=[1]).summary
    assert [numbers[key] for key in ("HOTA", "FP", "IDFP", "IDs")] == [0, 5, 5, 2]
    with pytest.raises(DatasetError, match="expected objects with tracks, found no object and no detection"):
        evaluate_tracks(none, nothing)


def test_other_kinds_of_regions() -> None:
    with pytest.raises(ValueError, match="unknown iou_type 'boxes'"):
        evaluate_tracks(*TEN, iou_type="boxes")
    given = grid_set()
    sides: list[Any] = [given.ground_truth(), given.detections()]
    turned = []
    for side in sides:
        boxes = np.column_stack([side.boxes[:, :2] + side.boxes[:, 2:] / 2, side.boxes[:, 2:], np.zeros(len(side))])
        regions = {"RotatedBoxes": RotatedBoxes(boxes, unit="radians", sense="clockwise")}
        turned.append(dataclasses.replace(side, regions=regions))
    found, upright = evaluate_tracks(*turned, iou_type="rotated"), evaluate_tracks(*sides)
    assert found.summary["TP"] == upright.summary["TP"]
    assert found.summary["HOTA"] == pytest.approx(upright.summary["HOTA"], abs=0.01)


def test_corners_of_boxes_as_regions_are_exact() -> None:
    corners = [[[0.2, 0, 0.9, 1]], [[0.3, 0, 1.0, 1]]]
    boxes = [Boxes(np.array(one), "xyxy") for one in corners]
    common = 0.9 - 0.3
    expected = common / ((0.9 - 0.2) + (1.0 - 0.3) - common)

    def overlap(columns: list[dict[str, Any]]) -> float:
        (gt_columns, dt_columns), region = columns, ("a/1", 1, BOX)
        return evaluate_tracks(truth(region, **gt_columns), results(region, **dt_columns)).summary["MOTP"]

    assert overlap([{"boxes": None, "regions": one} for one in boxes]) == expected
    rounded = overlap([{"boxes": one} for one in boxes])  # 0.2 + (0.9 - 0.2) is less than 0.9
    assert rounded != expected
    assert rounded == pytest.approx(expected, abs=1e-15)


def test_flags_are_noted() -> None:
    gt = dataclasses.replace(TEN[0], flags={"ignore": np.array([True, False, True, False, False])})
    found = evaluate_tracks(gt, TEN[1])
    assert found.notes == (
        "ground truth: 2 objects with the flag ignore: nothing is left out, so they count as objects to track; "
        "a protocol such as 'mot17' (--protocol) leaves out what its benchmark does",
    )
    assert dict(found.summary) == dict(evaluate_tracks(*TEN).summary)


def test_ids_may_be_text() -> None:
    gt, dt = TEN
    names = {"track_id": np.array(["b", "b", "b", "a", "a"])}
    assert evaluate_tracks(gt, dataclasses.replace(dt, attributes=names)).summary["IDSW"] == 1
    other = dataclasses.replace(dt, attributes={"instance_id": dt.attributes["track_id"]})
    assert evaluate_tracks(gt, other).to_dict() == evaluate_tracks(gt, dt).to_dict()


NO_ID = r": expected the id of a track, a whole number of at least 0 and below 2\*\*(53|63), found "


@pytest.mark.parametrize(
    ("tracks", "message"),
    [
        ([7, 7, -1, 8, 8], rf"detections\[2\]\.track_id{NO_ID}none"),
        ([7, 7, 7, np.nan, 8], rf"detections\[3\]\.track_id{NO_ID}none"),
        ([7, 7, 7, 8.5, 8], rf"detections\[3\]\.track_id{NO_ID}8\.5"),
        ([7, -2, 7, 8, 8], rf"detections\[1\]\.track_id{NO_ID}-2"),
        ([7, 1e30, 7, 8, 8], rf"detections\[1\]\.track_id{NO_ID}1e\+30"),
        ([7, 2.0**53, 7, 8, 8], rf"detections\[1\]\.track_id{NO_ID}9\.0072e\+15"),  # or 2**53 + 1
        (["a", "", "a", "a", "a"], rf"detections\[1\]\.track_id{NO_ID}none"),
        ([-1] * 5, "detections: expected track ids in the attribute track_id, found only -1"),
    ],
)
def test_ids_that_are_none(tracks: list[Any], message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        evaluate_tracks(TEN[0], dataclasses.replace(TEN[1], attributes={"track_id": np.array(tracks)}))


def test_sides_without_ids_are_refused() -> None:
    gt, dt = TEN
    with pytest.raises(DatasetError, match="ground truth: annotations: expected track ids in the attribute track_id"):
        evaluate_tracks(dataclasses.replace(gt, attributes={}), dt)
    with pytest.raises(DatasetError, match=r"detections: detections: expected track ids .*, found none; in COCO"):
        evaluate_tracks(gt, dataclasses.replace(dt, attributes={}))


def test_a_track_twice_in_a_frame_is_refused() -> None:
    again = results(("walk/1", 7, BOX), ("walk/2", 7, BOX), ("walk/2", 7, FAR))
    with pytest.raises(DatasetError, match=r"detections\[2\]: .* found track 7 again in image 'walk/2' of .*'walk'"):
        evaluate_tracks(TEN[0], again)
    once = dataclasses.replace(again, category_ids=np.array([1, 1, 2]))
    gt = dataclasses.replace(TEN[0], categories=truth(("walk/1", 1, BOX), categories={1: "a", 2: "b"}).categories)
    assert len(evaluate_tracks(gt, once).per_class) == 2  # each class for itself


def test_unknown_images_and_classes_are_refused() -> None:
    with pytest.raises(DatasetError, match=r"'run/77'"):
        evaluate_tracks(TEN[0], results(("run/77", 7, BOX), ("walk/2", 7, BOX)))
    with pytest.raises(DatasetError, match=r"detections\[0\]\.category_id: .*found 3"):
        evaluate_tracks(TEN[0], results(("walk/1", 7, BOX), category_ids=[3]))


def names_of(gt: GroundTruth) -> list[str]:
    """The names of the sequences."""
    return [*evaluate_tracks(gt, results((gt.images.labels[0].item(), 1, BOX))).sequences]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["1.jpg", "2.jpg"], ["sequence"]),
        (["MOT17-02/img1/000001.jpg", "MOT17-04/img1/000001.jpg"], ["MOT17-02", "MOT17-04"]),
        (["train/a/1.jpg", "train/b/1.jpg"], ["a", "b"]),
        (["train/a/1.jpg", "train/a/2.jpg"], ["a"]),
        (["a/img1/1.jpg"], ["a"]),
        (["img1/1.jpg"], ["sequence"]),
        (["day\\b\\1.jpg", "night\\a\\1.jpg"], ["day/b", "night/a"]),
        (["1.jpg", "b/1.jpg"], ["b", "sequence"]),
    ],
)
def test_sequences_by_folder(files: list[str], expected: list[str]) -> None:
    ids = np.arange(len(files)) + 1
    gt = truth(*((number, 1, BOX) for number in ids.tolist()), images=ids, names=files)
    assert names_of(gt) == expected


def frames_with(numbers: Sequence[Any] | None, names: Sequence[str], **attributes: Any) -> GroundTruth:
    """An object in each image."""
    ids = np.arange(len(names)) + 1
    given = {**({} if numbers is None else {"frame_index": np.array(numbers)}), **attributes}
    return truth(*((number, 1, BOX) for number in ids.tolist()), images=ids, names=names, image_attributes=given)


@pytest.mark.parametrize(
    ("numbers", "names", "switches"),
    [
        (None, ["f9.jpg", "f10.jpg", "f11.jpg"], 1),  # by name, and numbers count as numbers
        (None, ["9.jpg", "010.jpg", "11.jpg"], 1),
        (None, ["f10.jpg", "f9.jpg", "f11.jpg"], 2),
        ([0, 1, 2], ["c", "b", "a"], 1),
        ([1, 0, 2], ["a", "b", "c"], 2),
        ([1.0, 0.0, 2.0], ["a", "b", "c"], 2),
    ],
)
def test_frames_are_in_order(numbers: list[int] | None, names: list[str], switches: int) -> None:
    gt = frames_with(numbers, names)
    found = results((1, 5, BOX), (2, 6, BOX), (3, 6, BOX))  # the switches in the order 1, 2, 3, else 2, 1, 3
    assert evaluate_tracks(gt, found).summary["IDSW"] == switches


def test_sequences_by_attribute() -> None:
    gt = frames_with([0, 0, 1], ["x/1", "y/1", "z/1"], video_id=np.array([2.0, 10.0, 10.0]))
    assert names_of(gt) == ["10", "2"]
    with pytest.raises(DatasetError, match=r"images of sequence '10': expected a frame_index .*, found 0 twice"):
        names_of(frames_with([0, 0, 0], ["x", "y", "z"], video_id=np.array([2, 10, 10])))
    with pytest.raises(DatasetError, match="image 2: expected a video_id, as other images have, found none"):
        names_of(frames_with([0, 0, 0], ["x", "y", "z"], video_id=np.array([2, np.nan, 10])))
    assert isinstance(gt.images, Images)


def test_the_result_is_exported() -> None:
    assert isinstance(evaluate_tracks(*TEN), TrackEvaluation)


def test_a_sequence_without_detections_is_noted() -> None:
    given = grid_set()
    gt, dt = given.ground_truth(), given.detections()
    first = evaluate_tracks(gt, dt).sequence_names[0]
    left = dt[~np.char.startswith(dt.image_labels().astype(np.str_), f"{first}/")]
    assert evaluate_tracks(gt, left).notes == (f"detections: no detection in 1 sequence with objects: {first}",)
    assert evaluate_tracks(gt, dt).notes == ()
