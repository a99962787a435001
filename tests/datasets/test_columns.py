"""What the columns of a data set hold, and how they are built without a file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ioukit
from ioukit import Boxes, Boxes3D, DatasetError, Detections, GroundTruth, Masks, RotatedBoxes
from ioukit.datasets import IdLists
from ioukit.datasets.columns.lazy import Names

RLE = {"size": [4, 6], "counts": "03]0"}
POLYGON = [[0, 0, 4, 0, 4, 2]]
DOG = {"id": 10, "image_id": 7, "category_id": 2, "bbox": [0, 0, 4, 2], "area": 7.5, "iscrowd": 0}
CROWD = {"id": 11, "image_id": 3, "category_id": 1, "bbox": [1, 1, 2, 2], "area": 4, "iscrowd": True}
DATASET = {
    "images": [
        {"id": 7, "file_name": "b\u00e9.jpg", "width": 6, "height": 4},
        {"id": 3, "file_name": "lone \ud800 surrogate"},
        {"id": 5, "width": "wide"},
    ],
    "categories": [{"id": 2, "name": "dog"}, {"id": 1}],
    "annotations": [
        {**DOG, "segmentation": POLYGON},
        {**CROWD, "segmentation": RLE},
        {"id": 12, "image_id": 3, "category_id": 1, "bbox": [1, 1, 2.5, 2], "area": 5, "iscrowd": 0},
    ],
}
RESULTS = [
    {"image_id": 3, "category_id": 1, "bbox": [1, 1, 2, 2], "score": 0.5},
    {"image_id": 7, "category_id": 2, "bbox": [0, 0, 4, 2], "score": 0.25, "segmentation": RLE},
]


@pytest.fixture(params=["records", "file", "gzip"])
def sources(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Any, Any]:
    if request.param == "records":
        return DATASET, RESULTS
    paths = []
    for name, content in (("gt", DATASET), ("dt", RESULTS)):
        text = json.dumps(content).encode()
        paths.append(tmp_path / (f"{name}.json" if request.param == "file" else f"{name}.json.gz"))
        paths[-1].write_bytes(text if request.param == "file" else gzip.compress(text))
    return paths[0], paths[1]


def test_ground_truth_has_the_columns_of_its_source(sources: tuple[Any, Any]) -> None:
    gt = GroundTruth.from_coco(sources[0])
    assert gt.images.ids.tolist() == [3, 5, 7]
    np.testing.assert_array_equal(gt.images.sizes, [[np.nan, np.nan], [np.nan, np.nan], [6, 4]])
    assert list(gt.images.names) == ["lone \ud800 surrogate", "", "b\u00e9.jpg"]
    assert (gt.categories.ids.tolist(), gt.categories.names) == ([1, 2], ("1", "dog"))
    assert gt.ids.tolist() == [10, 11, 12]
    assert gt.image_ids.tolist() == [7, 3, 3]
    assert gt.category_ids.tolist() == [2, 1, 1]
    assert gt.boxes.tolist() == [[0, 0, 4, 2], [1, 1, 2, 2], [1, 1, 2.5, 2]]
    assert gt.areas.tolist() == [7.5, 4, 5]
    assert gt.crowd.tolist() == [False, True, False]
    assert gt.segmentations is not None
    assert list(gt.segmentations) == [POLYGON, RLE, None]
    assert gt.segmentations[1:] == [RLE, None]
    assert repr(gt) == "GroundTruth(3 annotations, 3 images, 2 categories)"


def test_detections_have_the_columns_of_their_source(sources: tuple[Any, Any]) -> None:
    dt = Detections.from_coco(sources[1])
    assert (dt.image_ids.tolist(), dt.category_ids.tolist()) == ([3, 7], [1, 2])
    assert (dt.boxes.tolist(), dt.scores.tolist()) == ([[1, 1, 2, 2], [0, 0, 4, 2]], [0.5, 0.25])
    assert dt.segmentations is not None
    assert list(dt.segmentations) == [None, RLE]


def test_columns_are_read_only(sources: tuple[Any, Any]) -> None:
    gt, dt = GroundTruth.from_coco(sources[0]), Detections.from_coco(sources[1])
    for column in (gt.ids, gt.boxes, gt.crowd, gt.images.ids, gt.categories.ids, dt.scores, dt.boxes):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1


def test_arrays_are_copied_not_frozen() -> None:
    scores = np.array([0.5])
    Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], scores=scores)
    scores[0] = 1


def test_an_array_of_seven_columns_is_what_the_rows_say() -> None:
    array = np.array([[3, 1, 1, 2, 2, 0.5, 1], [7, 0, 0, 4, 2, 0.25, 2]])
    dt, expected = Detections.from_coco(array), Detections.from_coco(RESULTS)
    for name in ("image_ids", "category_ids", "boxes", "scores"):
        np.testing.assert_array_equal(getattr(dt, name), getattr(expected, name))
    with pytest.raises(ValueError, match=r"shape \(N, 7\).*got \(2, 6\)"):
        Detections.from_coco(array[:, :6])
    with pytest.raises(ValueError, match=r"category ids \(column 6\) must be integers, got 1.5 in row 0"):
        Detections.from_coco(array * [1, 1, 1, 1, 1, 1, 1.5])


def test_boxes_bring_their_format() -> None:
    boxes = Boxes([[1, 1, 3, 3], [0, 0, 4, 2]], "xyxy")
    dt = Detections.from_arrays(image_ids=[3, 7], category_ids=[1, 2], boxes=boxes, scores=[0.5, 0.25])
    assert dt.boxes.tolist() == [[1, 1, 2, 2], [0, 0, 4, 2]]
    with pytest.raises(ValueError, match="normalized, expected pixels: denormalize"):
        Detections.from_arrays(
            image_ids=[3], category_ids=[1], boxes=Boxes([[0, 0, 1, 1]], normalized=True), scores=[1]
        )


def test_defaults_of_from_arrays() -> None:
    gt = GroundTruth.from_arrays(image_ids=[9, 4], category_ids=[2, 2], boxes=[[0, 0, 2, 3], [0, 0, 1, 1]])
    assert (gt.images.ids.tolist(), gt.categories.ids.tolist(), gt.categories.names) == ([4, 9], [2], ("2",))
    assert (gt.ids.tolist(), gt.areas.tolist(), gt.crowd.tolist()) == ([1, 2], [6, 1], [False, False])
    empty = GroundTruth.from_arrays(image_ids=[], category_ids=[], boxes=[], images=[1, 2], categories={5: "cat"})
    assert (len(empty), len(empty.images), empty.categories.names) == (0, 2, ("cat",))
    assert any("no image has an object" in note for note in empty.notes)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"boxes": [[0, 0, 1]]}, ValueError, r"boxes must have shape \(1, 4\), got \(1, 3\)"),
        ({"scores": [1, 2]}, ValueError, r"scores must have shape \(1,\), got \(2,\)"),
        ({"category_ids": [[1]]}, ValueError, r"category_ids must have shape \(1,\), got \(1, 1\)"),
        ({"image_ids": [None]}, TypeError, "image_ids must be integers, got dtype"),
        ({"image_ids": [0.5]}, ValueError, "image_ids must be integers, got 0.5 in row 0"),
        ({"image_ids": np.array([2**63], np.uint64)}, ValueError, "image_ids must fit 64 signed bits"),
        ({"scores": [np.nan]}, DatasetError, r"detections\[0\].score: expected a finite number, found nan"),
        (
            {"boxes": [[0, 0, -1, 1]]},
            DatasetError,
            r"detections\[0\].bbox: expected a width and a height of at least 0",
        ),
        ({"boxes": [[0, np.inf, 1, 1]]}, DatasetError, r"detections\[0\].bbox: expected finite numbers"),
        ({"boxes": [[0, 1e17, 1, 1]]}, DatasetError, r"expected coordinates of at most 2\*\*53 pixels"),
        ({"boxes": [["0", "0", "1", "1"]]}, TypeError, "boxes must be numbers, got dtype <U1"),
        ({"scores": ["0.5"]}, TypeError, "scores must be numbers, got dtype <U3"),
        ({"areas": [np.nan]}, DatasetError, r"detections\[0\].area: expected a finite number of at least 0, found nan"),
        ({"category_ids": [np.inf]}, ValueError, "category_ids must be integers, got inf in row 0"),
        ({"category_ids": [1e300]}, ValueError, "category_ids must fit 64 signed bits, got 1e[+]300"),
        ({"image_ids": [np.nan]}, ValueError, "image_ids must be integers, got nan in row 0"),
        ({"image_ids": [b"a"]}, TypeError, r"image_ids must be integers, got dtype \|S1"),
        (
            {"regions": [Boxes([[0, 0, 1, 1]]), Boxes([[0, 0, 1, 2]])]},
            ValueError,
            "regions must be of different kinds, got Boxes twice",
        ),
        ({"regions": [[0, 0, 1, 1]]}, TypeError, "regions must be sets of regions such as .*, got list"),
        ({"boxes": None}, DatasetError, "expected boxes, or a set of regions to take them from"),
        (
            {"boxes": None, "regions": Boxes([[0, 0, 1, 1]], normalized=True)},
            ValueError,
            "boxes are normalized, expected pixels",
        ),
        ({"segmentations": []}, ValueError, "segmentations must have 1 rows, got 0"),
        ({"keypoints": [[1, 2, 3]]}, ValueError, r"keypoints must have shape \(N, P, 3\), got \(1, 3\)"),
        ({"attributes": {"x": [1, 2]}}, ValueError, r"attributes\['x'\] must have 1 rows, got shape \(2,\)"),
        ({"attributes": {"x": 1}}, ValueError, r"attributes\['x'\] must have 1 rows, got shape \(\)"),
        ({"attributes": {"x": IdLists.of([[1], []])}}, ValueError, r"attributes\['x'\] must have 1 rows, got 2"),
    ],
)
def test_bad_arrays_are_refused(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    good: dict[str, Any] = {"image_ids": [1], "category_ids": [1], "boxes": [[0, 0, 1, 1]], "scores": [1]}
    Detections.from_arrays(**good)
    with pytest.raises(error, match=message):
        Detections.from_arrays(**{**good, **changes})


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"crowd": [2, 0]}, ValueError, "crowd must be bools, or 0 and 1, got 2 in row 0"),
        ({"crowd": [0, np.nan]}, ValueError, "crowd must be bools, or 0 and 1, got nan in row 1"),
        ({"flags": {"far": ["no", "no"]}}, TypeError, "far must be bools, got dtype <U2"),
        ({"areas": [-1, 1]}, DatasetError, r"annotations\[0\].area: expected a finite number of at least 0, found -1"),
        ({"ids": [5, 5]}, DatasetError, r"annotations\[1\].id: .*5 again"),
        ({"image_ids": [1, "b"]}, TypeError, "image_ids must be all integers or all strings, got strings and 1"),
        ({"images": ["a", "b"]}, TypeError, "images and image_ids must both be integers or both strings, got 'a', 1"),
        ({"images": [1, 1, 2]}, DatasetError, r"images\[1\].id: .*1 again"),
        ({"images": [1]}, DatasetError, r"annotations\[1\].image_id: expected the id of an image.*found 2"),
        ({"image_ids": ["a", "b"], "images": ["b", "a", "b"]}, DatasetError, "ids that differ, found 'b' twice"),
        ({"images": [2, 1], "sizes": [2, 1]}, ValueError, r"sizes must have shape \(2, 2\), got \(2,\)"),
        ({"images": [2, 1], "sizes": [[2, 1]]}, ValueError, r"sizes must have shape \(2, 2\), got \(1, 2\)"),
        ({"images": [2, 1], "names": ["a"]}, ValueError, "names must have 2 strings, got 1"),
        ({"images": [2, 1], "names": ["a", 5]}, TypeError, "names must be strings, got 5"),
        ({"images": [2, 1], "image_attributes": {"x": [1]}}, ValueError, r"image_attributes\['x'\] must have 2 rows"),
        ({"sizes": [[1, 1], [1, 1]]}, ValueError, "sizes needs the ids of images, whose order it has"),
        ({"names": ["a", "b"]}, ValueError, "names needs the ids of images"),
        ({"categories": ["cat"]}, TypeError, "categories must be integers, got dtype <U3"),
        ({"categories": {4: "cat"}}, DatasetError, r"annotations\[0\].category_id: expected the id of a category"),
        (
            {"categories": {1: "a"}, "category_attributes": {"x": []}},
            ValueError,
            r"category_attributes\['x'\] must have 1",
        ),
    ],
)
def test_bad_columns_of_ground_truth_are_refused(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    good: dict[str, Any] = {"image_ids": [1, 2], "category_ids": [1, 1], "boxes": [[0, 0, 1, 1]] * 2}
    GroundTruth.from_arrays(**good)
    with pytest.raises(error, match=message):
        GroundTruth.from_arrays(**{**good, **changes})


def test_ids_of_images_of_another_data_set_must_be_of_its_kind() -> None:
    row: dict[str, Any] = {"category_ids": [1], "boxes": [[0, 0, 1, 1]]}
    numbers, strings = (GroundTruth.from_arrays(**row, image_ids=ids).images for ids in ([7], ["7"]))
    with pytest.raises(TypeError, match="image ids of this data set are integers, got '7'"):
        GroundTruth.from_arrays(**row, image_ids=["7"], images=numbers)
    with pytest.raises(TypeError, match="image ids of this data set are strings, got 7"):
        GroundTruth.from_arrays(**row, image_ids=[7], images=strings)
    with pytest.raises(DatasetError, match=r"annotations\[0\].image_id: expected the id of an image .*, found '8'"):
        GroundTruth.from_arrays(**row, image_ids=["8"], images=strings)


def test_from_arrays_takes_all_that_a_file_can_say() -> None:
    rotated = RotatedBoxes([[5, 5, 4, 2, 30], [2, 2, 2, 2, 0]], unit="degrees", sense="clockwise")
    cars = Boxes3D([[5, 5, 0, 4, 2, 3, 0], [2, 2, 0, 2, 2, 2, 0]], z="bottom", unit="radians", sense="clockwise")
    masks = Masks.from_rle([{"size": [4, 6], "counts": [3, 2, 19]}, {"size": [4, 6], "counts": [0, 24]}])
    gt = GroundTruth.from_arrays(
        image_ids=np.array(["b.jpg", "a.jpg"], object),
        category_ids=np.array([2.0, 1.0]),
        regions=[masks, rotated, cars],
        crowd=[0, 1],
        ids=np.array([9, 4], np.uint8),
        images=["c.jpg", "b.jpg", "a.jpg"],
        sizes=np.array([[6, 4], [6, 4], [np.nan, np.nan]]),
        names=["x/c.jpg", "x/b.jpg", ""],
        categories={2: "dog", 1: "cat"},
        flags={"difficult": [True, False], "group_of": [False, True], "truncated": [1, 0]},
        segmentations=[POLYGON, None],
        keypoints=np.arange(12).reshape(2, 2, 3),
        attributes={"colour": ["red", "blue"], "speed": [[1, 2], [3, 4]], "mixed": np.array([None, 5])},
        image_attributes={"night": [True, False, True]},
        category_attributes={"frequency": ["r", "f"]},
        source="cars",
    )
    assert (gt.source, gt.ids.tolist(), gt.image_labels().tolist()) == ("cars", [9, 4], ["b.jpg", "a.jpg"])
    assert gt.images.labels.tolist() == ["a.jpg", "b.jpg", "c.jpg"]
    np.testing.assert_array_equal(gt.images.sizes, [[np.nan, np.nan], [6, 4], [6, 4]])
    assert list(gt.images.names) == ["", "x/b.jpg", "x/c.jpg"]
    assert gt.images.attributes["night"].tolist() == [True, False, True]
    assert (gt.categories.ids.tolist(), gt.categories.names) == ([1, 2], ("cat", "dog"))
    assert gt.categories.attributes["frequency"].tolist() == ["f", "r"]
    assert gt.crowd.tolist() == gt.flag("group_of").tolist() == [False, True]
    assert gt.flag("difficult").tolist() == gt.flag("truncated").tolist() == [True, False]
    assert gt.flag("occluded").tolist() == [False, False]
    assert (gt.regions["Masks"], gt.regions["RotatedBoxes"], gt.regions["Boxes3D"]) == (masks, rotated, cars)
    np.testing.assert_array_equal(gt.boxes, masks.to_boxes().convert("xywh").numpy())
    assert gt.areas.tolist() == masks.area.tolist()
    assert gt.segmentations == [POLYGON, None]
    assert gt.regions["keypoints"].tolist() == [[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10, 11]]]
    assert gt.attributes["speed"].tolist() == [[1, 2], [3, 4]]
    assert gt.attributes["mixed"].tolist() == ["None", "5"]
    dt = Detections.from_arrays(image_ids=["c.jpg", "a.jpg"], category_ids=[1, 2], scores=[1, 2], regions=[cars, masks])
    assert dt.areas is not None
    assert (dt.areas.tolist(), dt.image_labels().tolist()) == (cars.area.tolist(), ["c.jpg", "a.jpg"])
    np.testing.assert_array_equal(dt.boxes, cars.to_boxes().convert("xywh").numpy())
    other = GroundTruth.from_arrays(image_ids=["b.jpg"], category_ids=[1], boxes=[[0, 0, 1, 1]], images=gt.images)
    assert (other.image_labels().tolist(), len(other.images)) == (["b.jpg"], 3)


def test_a_notebook_shows_the_first_rows() -> None:
    count = 7
    names: dict[str, Any] = {
        "image_ids": ["<a>"] * count,
        "category_ids": [1] * count,
        "boxes": [[0, 0, 1, 1 / 3]] * count,
    }
    shown = GroundTruth.from_arrays(**names, categories={1: "<b>"}, crowd=[1] * count)._repr_html_()
    assert "<caption>GroundTruth: 7 annotations, 1 image, 1 category</caption>" in shown
    assert (
        shown.count(
            "&lt;a&gt;</td><td style='text-align:left'>&lt;b&gt;</td><td>0</td><td>0</td><td>1</td><td>0.333</td>"
        )
        == 5
    )
    assert "<th>crowd</th>" in shown
    assert "and 2 more" in shown
    shown = Detections.from_arrays(**names, scores=[0.5] * count)[:2]._repr_html_()
    assert "<caption>Detections: 2</caption>" in shown
    assert shown.count("<td>0.500</td></tr>") == 2
    assert "more" not in shown


def test_filters_are_lists_of_ids() -> None:
    gt, dt = GroundTruth.from_coco(DATASET), Detections.from_coco(RESULTS)
    assert gt.filter(images=[3], categories=["1"]).ids.tolist() == [11, 12]
    assert dt.filter(images=[3, 99], categories=[1, 99]).scores.tolist() == [0.5]
    for wanted, message in ((3, "expected a list of image ids, got 3"), (["a"], "are integers, got 'a'")):
        with pytest.raises(TypeError, match=message):
            gt.filter(images=wanted)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no image has the id 99"):
        gt.filter(images=[99])
    with pytest.raises(TypeError, match="image ids of these detections are integers, got 'a'"):
        dt.filter(images=["a"])
    with pytest.raises(TypeError, match=r"detections know their categories by id, not by name, got \['dog'\]"):
        dt.filter(categories=["dog"])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"score": "0.5"}, r"detections\[1\].score: expected a number, found '0.5'"),
        ({"score": True}, r"detections\[1\].score: expected a number, found True"),
        ({"score": None}, r"detections\[1\].score: expected a number, found None"),
        ({"image_id": 2**63}, r"detections\[1\].image_id: expected an integer, found 9223372036854775808"),
        ({"image_id": 1.5}, r"detections\[1\].image_id: expected an integer, found 1.5"),
        ({"bbox": [1, 2, 3]}, r"detections\[1\].bbox: expected 4 numbers \[x, y, width, height\], found \[1, 2, 3\]"),
        ({"bbox": "1234"}, r"detections\[1\].bbox: expected 4 numbers"),
    ],
)
def test_bad_records_are_refused_dropped_and_counted(record: dict[str, Any], message: str) -> None:
    records = [RESULTS[0], {**RESULTS[0], **record}, RESULTS[1]]
    with pytest.raises(DatasetError, match=message):
        Detections.from_coco(records)
    dt = Detections.from_coco(records, on_invalid="drop")
    assert (dt.dropped, dt.image_ids.tolist()) == (1, [3, 7])
    assert dt.segmentations is not None
    assert list(dt.segmentations) == [None, RLE]


@pytest.mark.parametrize(
    ("read", "source", "error", "message"),
    [
        (
            GroundTruth.from_coco,
            RESULTS,
            TypeError,
            "expected the path of a COCO file, .* got list; are the two swapped",
        ),
        (GroundTruth.from_coco, 7, TypeError, "expected the path of a COCO file, .* got int$"),
        (Detections.from_coco, DATASET, DatasetError, "expected a list of detections, found a mapping .*swapped"),
        (
            Detections.from_coco,
            7,
            TypeError,
            r"expected the path of a COCO results file, .* or an \(N, 7\) array, got int",
        ),
    ],
)
def test_what_is_no_data_set_is_refused(read: Any, source: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        read(source)


def test_detections_with_other_kinds_of_ids() -> None:
    row: dict[str, Any] = {"category_ids": [1], "boxes": [[0, 0, 1, 1]], "scores": [1]}
    numbers, strings = (Detections.from_arrays(**row, image_ids=ids) for ids in ([7], ["7"]))
    with pytest.raises(ValueError, match="image ids of some parts are strings, those of others are integers"):
        Detections.concat([numbers, strings])
    listed = GroundTruth.from_arrays(image_ids=["8"], category_ids=[1], boxes=[[0, 0, 1, 1]])
    with pytest.raises(DatasetError, match=r"detections\[0\].image_id: expected the id of an image .*, found '7'"):
        strings.image_ids_in(listed.images)


def test_ids_written_as_floats_are_taken() -> None:
    assert Detections.from_coco([{**RESULTS[0], "image_id": 3.0}]).image_ids.tolist() == [3]


def test_unknown_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown on_invalid 'ignore'; choose from error, drop, pycocotools"):
        ioukit.GroundTruth.from_coco(DATASET, on_invalid="ignore")  # type: ignore[arg-type]


def test_detections_that_nobody_lists_are_refused_or_dropped() -> None:
    gt = GroundTruth.from_coco(DATASET)
    dt = Detections.from_coco([*RESULTS, {**RESULTS[0], "image_id": 4}])
    for refuse in (lambda: dt.known_to(gt), lambda: ioukit.evaluate(gt, dt)):
        with pytest.raises(DatasetError, match=r"detections\[2\].image_id: expected the id of an image.*found 4"):
            refuse()
    known = dt.known_to(gt, on_invalid="drop")
    assert (len(known), known.dropped) == (2, 1)
    assert "1 invalid record left out" in known.notes[0]


def test_categories_are_found_by_name_or_id() -> None:
    categories = GroundTruth.from_coco(DATASET).categories
    assert categories.positions(["dog", 1]) == [1, 0]
    with pytest.raises(ValueError, match="no category has the name 'dogs'; did you mean 'dog'"):
        categories.positions(["dogs"])
    with pytest.raises(ValueError, match="no category has the id 7"):
        categories.positions([7])
    with pytest.raises(TypeError, match=r"expected a list of category ids or names, got 'dog'; write \['dog'\]"):
        categories.positions("dog")
    twins = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], categories={1: "a", 2: "a"})
    with pytest.raises(ValueError, match=r"2 categories have the name 'a'; choose by id: \[1, 2\]"):
        twins.categories.positions(["a"])


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["", ""],
        ["abc", "abd", "xyz"],
        ["a", "bb", ""],
        ["\u00e91", "\u00fc2"],
        ["\u65e5\u672c", "\u8a9e\u8a9e"],
        ["\ud800", "x"],
        ["a\0", "bc"],
    ],
)
def test_names_in_one_piece_are_those_that_were_packed(words: list[str]) -> None:
    names = Names.of(words)
    assert (list(names), names[:], names[::-1]) == (words, tuple(words), tuple(words[::-1]))
    expected = np.array(tuple(words), np.str_)
    assert names.array().dtype == expected.dtype
    np.testing.assert_array_equal(names.array(), expected)
    np.testing.assert_array_equal(names.take(slice(1, None)).array(), expected[1:])
