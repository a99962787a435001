"""The builder of data sets that are read record by record, and the finder of images."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioukit import DatasetError
from ioukit.datasets import GroundTruth
from ioukit.datasets.columns.image_names import ImageFinder
from ioukit.datasets.formats.objects import UNKNOWN_SIZE, Objects
from ioukit.datasets.formats.text_files import refuse
from support.data_sets import ALL_COLUMNS as ALL
from support.data_sets import HALVES, assert_came_back, assert_detections_came_back, detections_of, ground_truths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.datasets import Detections


def rebuilt(gt: GroundTruth) -> GroundTruth:
    """The data set, given to the builder object by object."""
    objects = Objects("again", "error")
    places = {}
    for label, name, size in zip(gt.images.labels.tolist(), gt.images.names, gt.images.sizes.tolist(), strict=True):
        places[label] = objects.image(name, "here", size=(size[0], size[1]))
    classes = dict(zip(gt.categories.ids.tolist(), gt.categories.names, strict=True))
    for row, label in enumerate(gt.image_labels().tolist()):
        regions: dict[str, Any] = {}
        if gt.segmentations is not None and gt.segmentations[row] is not None:
            regions["segmentations"] = gt.segmentations[row]
        if "keypoints" in gt.regions:
            regions["keypoints"] = gt.regions["keypoints"][row].tolist()
        if "RotatedBoxes" in gt.regions:
            regions["rotated"] = gt.regions["RotatedBoxes"].numpy()[row].tolist()
        objects.add(
            places[label],
            classes[int(gt.category_ids[row])],
            gt.boxes[row].tolist(),
            flags={name: bool(column[row]) for name, column in gt.flags.items()},
            attributes={name: column[row].item() for name, column in gt.attributes.items()},
            regions=regions,
        )
    return objects.ground_truth({name: number for number, name in classes.items()})


@given(
    ground_truths(
        flags=("crowd", "difficult"),
        attributes={"depth": st.floats(0, 9), "note": st.sampled_from(["", "x", "ü"])},
        polygons=True,
        keypoints=3,
        sizes=None,
    )
    | ground_truths(rotated=True, coordinates=HALVES)
)
def test_what_is_added_comes_back(gt: GroundTruth) -> None:
    assert_came_back(gt, rebuilt(gt), ALL, [])


@given(st.data())
def test_detections_come_back(data: st.DataObject) -> None:
    gt = data.draw(ground_truths())
    dt: Detections = data.draw(detections_of(gt, attributes={"depth": st.floats(0, 9)}))
    finder, objects = ImageFinder(gt), Objects("again", "error")
    names = dict(zip(gt.images.labels.tolist(), gt.images.names, strict=True))
    classes = dict(zip(gt.categories.ids.tolist(), gt.categories.names, strict=True))
    for row, label in enumerate(dt.image_labels().tolist()):
        key = str(finder.labels[finder.position(names[label], "here")])
        image = objects.image(key, "here", again=True)
        objects.add(
            image,
            classes[int(dt.category_ids[row])],
            dt.boxes[row].tolist(),
            score=float(dt.scores[row]),
            attributes={"depth": float(dt.attributes["depth"][row])},
        )
    assert_detections_came_back(dt, objects.detections(gt), gt, ALL)


def test_classes_have_ids_in_the_order_of_their_names() -> None:
    objects = Objects("here", "error")
    image = objects.image("a.jpg", "line 1")
    for name in ("dog", "cat", "dog", "Ünder"):
        objects.add(image, name, [0, 0, 1, 1])
    gt = objects.ground_truth()
    assert (gt.categories.names, gt.category_ids.tolist()) == (("cat", "dog", "Ünder"), [2, 1, 2, 3])
    with pytest.raises(DatasetError, match="here: expected one of the 1 classes, found 'cat'"):
        objects.ground_truth({"dog": 4})


def test_images() -> None:
    objects = Objects("here", "error")
    assert objects.image("b", "line 1", name="b.jpg") == 0
    assert objects.image("a", "line 2", size=(3, 4)) == 1
    assert objects.image("b", "line 3", size=(5, 6), again=True) == 0
    assert objects.image("b", "line 4", size=UNKNOWN_SIZE, again=True) == 0
    with pytest.raises(DatasetError, match="line 5: expected an image that differs from those before, found 'a'"):
        objects.image("a", "line 5")
    with pytest.raises(DatasetError, match="line 6: expected the size 5 x 6, as before, found 6 x 5"):
        objects.image("b", "line 6", size=(6, 5), again=True)
    for key in ("", "a\0b", "\ud800"):
        with pytest.raises(DatasetError, match="line 7: expected the name of an image, found "):
            objects.image(key, "line 7")
    gt = objects.ground_truth()
    assert gt.images.labels.tolist() == ["a", "b"]
    assert gt.images.sizes.tolist() == [[3, 4], [5, 6]]
    assert list(gt.images.names) == ["a", "b.jpg"]


def test_values_that_objects_lack() -> None:
    objects = Objects("here", "error")
    image = objects.image("a", "line 1")
    objects.add(image, "cat", [0, 0, 1, 1], flags={"crowd": True}, attributes={"depth": 2.0})
    objects.add(image, "cat", [0, 0, 1, 1], attributes={"note": "x"}, regions={"keypoints": [[1, 2, 2]]})
    objects.add(image, "cat", [0, 0, 1, 1], regions={"segmentations": [[0, 0, 1, 0, 1, 1]]})
    gt = objects.ground_truth()
    assert gt.crowd.tolist() == [True, False, False]
    assert gt.attributes["depth"][0] == 2
    assert np.isnan(gt.attributes["depth"][1:]).all()
    assert gt.attributes["note"].tolist() == ["", "x", ""]
    assert gt.regions["keypoints"].tolist() == [[[0, 0, 0]], [[1, 2, 2]], [[0, 0, 0]]]
    assert list(gt.segmentations or []) == [None, None, [[0, 0, 1, 0, 1, 1]]]
    objects.add(image, "cat", [0, 0, 1, 1], regions={"rotated": [1, 1, 2, 2, 0]})
    with pytest.raises(DatasetError, match="here: object 0: expected a rotated box, as others have"):
        objects.ground_truth()


def test_areas_ids_and_attributes_of_images() -> None:
    objects = Objects("here", "error")
    first = objects.image("a", "line 1", attributes={"date": "today"})
    second = objects.image("b", "line 2", attributes={"date": "then", "speed": 2.0})
    objects.image("c", "line 3")
    objects.add(first, "cat", [0, 0, 2, 3])
    objects.add(second, "cat", [0, 0, 2, 3], area=5.0)
    objects.attribute("colour", ["red", "blue"])
    objects.ids = [7, 9]
    gt = objects.ground_truth({"cat": 4})
    assert (gt.areas.tolist(), gt.ids.tolist(), gt.category_ids.tolist()) == ([6, 5], [7, 9], [4, 4])
    assert gt.category_ids.dtype == np.int64
    assert gt.attributes["colour"].tolist() == ["red", "blue"]
    assert gt.images.attributes["date"].tolist() == ["today", "then", ""]
    np.testing.assert_array_equal(gt.images.attributes["speed"], [np.nan, 2, np.nan])
    assert Objects("here", "error").ground_truth({"cat": 4}).category_ids.dtype == np.int64


def test_areas_and_source_of_detections() -> None:
    objects = Objects("there", "error")
    image = objects.image("a", "line 1")
    objects.add(image, "cat", [0, 0, 2, 3], score=0.5, area=5.0)
    gt = objects.ground_truth()
    dt = objects.detections(gt)
    assert (dt.areas is None or dt.areas.tolist(), dt.source) == ([5], "there")


def test_rotated_boxes_of_whole_numbers() -> None:
    objects = Objects("here", "error")
    objects.add(objects.image("a", "line 1"), "cat", [0, 0, 2, 2], regions={"rotated": [1, 1, 2, 2, 0]})
    assert objects.ground_truth().regions["RotatedBoxes"].numpy().tolist() == [[1, 1, 2, 2, 0]]


@pytest.mark.parametrize("name", ["\ud800", "a\0", ""])
def test_names_of_classes_can_be_written(name: str) -> None:
    objects = Objects("here", "error")
    with pytest.raises(DatasetError, match="here: expected the name of a class, found "):
        objects.add(objects.image("a", "line 1"), name, [0, 0, 1, 1])


def test_a_bad_record_stops_or_is_left_out() -> None:
    def read(objects: Objects) -> Any:
        image = objects.image("a", "line 1")
        for line in range(1, 5):
            with objects.record("bad line"):
                if line % 2:
                    refuse(f"here: line {line}", "an even line", str(line))
                objects.add(image, "cat", [0, 0, 1, line])
        return objects.ground_truth()

    with pytest.raises(DatasetError, match=r"^here: line 1: expected an even line, found 1$"):
        read(Objects("here", "error"))
    with pytest.raises(DatasetError, match=r"^here: line 1"):
        read(Objects("here", "pycocotools"))
    gt = read(Objects("here", "drop"))
    assert (gt.boxes[:, 3].tolist(), gt.dropped) == ([2, 4], 2)
    words = [f"here: line {line}: expected an even line, found {line}" for line in (1, 3, 5)]
    assert gt.notes == (f"here: left out 2 x bad line: {'; '.join(words[:2])}",)
    objects = Objects("here", "drop")
    for message in [*words, *words]:
        objects.problems.meet("bad line", message)
    assert objects.ground_truth().notes[0] == f"here: left out 6 x bad line: {'; '.join(words)}; ..."
    with pytest.raises(ValueError, match="unknown on_invalid 'ignore'"):
        Objects("here", "ignore")  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError), Objects("here", "drop").record("bad line"):
        _ = 1 / 0


def test_numbers_are_checked_at_the_end() -> None:
    objects = Objects("here", "error")
    objects.add(objects.image("a", "line 1"), "cat", [0, 0, -1, math.inf])
    with pytest.raises(DatasetError, match=r"here: annotations\[0\]\.bbox"):
        objects.ground_truth()


def album(labels: Any, names: list[str]) -> GroundTruth:
    return GroundTruth.from_arrays(image_ids=labels[:0], category_ids=[], boxes=[], images=labels, names=names)


def position(gt: GroundTruth, name: str, *, is_id: bool = False, also: Sequence[str] = ()) -> int:
    """What a finder of its own says: one finder refuses several names of one image."""
    found = ImageFinder(gt)
    found.also_named(also)
    return found.position(name, "here", is_id=is_id)


def test_images_are_found_by_name_id_and_stem() -> None:
    gt = album(np.array([7, 3, 5]), ["a/x.jpg", "b/y.png", "b/z.png"])
    # Images are in the order of their ids.
    for name, at in (("a/x.jpg", 2), ("x", 2), ("z.txt", 1), ("3", 0), ("folder/5.txt", 1), ("a\\y.jpg", 0)):
        assert position(gt, name) == at, name
    for name in ("w", "", "b"):
        with pytest.raises(DatasetError, match=r"^here: expected an image of ground truth, found "):
            position(gt, name)


def test_a_stem_may_have_dots() -> None:
    gt = album(np.array(["one", "two", "z"]), ["a.jpg", "a.b.jpg", "a.b.c.jpg"])
    for name, at in (("a", 0), ("a.b", 1), ("a.b.c", 2), ("x/a.b", 1), ("a.b.txt", 1), ("a.txt", 0), ("x/z", 2)):
        assert position(gt, name) == at, name


def test_a_stem_of_two_images_finds_neither() -> None:
    gt = album(np.array(["one", "two"]), ["a/x.jpg", "b/x.jpg"])
    assert position(gt, "b/x.jpg") == 1
    assert position(gt, "two") == 1
    assert position(gt, "/data/images/b/x.jpg") == 1
    assert position(gt, "C:\\data\\a\\x.jpg") == 0
    with pytest.raises(DatasetError, match=r"^here: expected the name of one image of ground truth, found 'x', which"):
        position(gt, "x")


@given(ground_truths())
def test_every_image_is_found_by_its_name(gt: GroundTruth) -> None:
    for at, (label, name) in enumerate(zip(gt.images.labels.tolist(), gt.images.names, strict=True)):
        assert position(gt, name) == at
        assert position(gt, str(label), is_id=True) == at
        assert position(gt, name.rpartition(".")[0]) == at


def test_the_stem_of_a_file_comes_before_the_id_of_another_image() -> None:
    gt = album(np.array([1, 2, 3]), ["3.jpg", "1.jpg", "2.jpg"])
    assert [position(gt, name) for name in ("1", "2", "3")] == [1, 2, 0]
    assert [position(gt, name, is_id=True) for name in ("1", "2", "3")] == [0, 1, 2]


def test_two_names_never_meet_one_image() -> None:
    found = ImageFinder(album(np.array([7, 8]), ["a.jpg", "b.jpg"]))
    assert [found.position(name, "here") for name in ("a.jpg", "b", "a.jpg")] == [0, 1, 0]
    refusal = r"^there: expected names of different images, found 'x/a\.png' and 'a\.jpg', which are both 7$"
    with pytest.raises(DatasetError, match=refusal):
        found.position("x/a.png", "there")
    exact = ImageFinder(album(np.array([7, 8]), ["a.jpg", "b.jpg"]))
    assert [exact.position(name, "here") for name in ("7", "a.jpg")] == [0, 0], "an id and the very name of its file"


def test_a_path_of_windows_in_a_ground_truth() -> None:
    gt = album(np.array([7, 8]), ["a\\x.jpg", "b\\x.jpg"])
    for name in ("b\\x.jpg", "b/x.png", "b/x"):
        assert position(gt, name) == 1


def test_a_path_from_the_root_is_no_name() -> None:
    gt = album(np.array([7, 8]), ["/x.jpg", "b/x.jpg"])
    assert position(gt, "/data//b/x.jpg") == 1
    assert position(gt, "/x.jpg") == 0


def test_an_id_that_is_the_name_of_another_image_has_two_meanings() -> None:
    for names in (["2", "b"], ["2.jpg", "b"], ["a/2.jpg", "b"], ["b", "a/2.jpg", "c/2.jpg"]):
        assert ImageFinder(album(np.arange(1, len(names) + 1), names)).has_two_meanings(), names
    assert not ImageFinder(album(np.array([1, 2]), ["1.jpg", "x/2.png"])).has_two_meanings()


def test_other_names_come_after_the_names_of_files() -> None:
    gt, also = album(np.array([1, 2]), ["one.jpg", "two.jpg"]), ["first", "one.jpg"]
    assert [position(gt, name, also=also) for name in ("first", "one.jpg", "two.jpg")] == [0, 0, 1]
