"""Merging, beside plain Python over lists of objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ioukit
from ioukit import Detections, GroundTruth, datasets
from ioukit.datasets import IdLists
from ioukit.regions import Masks
from support.operation_cases import data_sets, objects, quick
from support.paths import DATA

VAL2014 = DATA / "coco_val2014_100"


@quick
@given(parts=st.lists(data_sets(), min_size=1, max_size=3), how=st.sampled_from(["join", "first", "keep"]))
def test_merging_loses_no_object_and_adds_none(parts: list[GroundTruth], how: Any) -> None:
    merged = datasets.merge(parts, duplicates=how)
    seen: set[str] = set()
    expected, images = [], []
    for gt in parts:
        keyed = all(part.images.keys is not None for part in parts)
        known = [key if keyed else name for key, name in zip(gt.images.labels.tolist(), gt.images.names, strict=True)]
        by_name = dict(zip(gt.images.names, known, strict=True))
        new = {name for name in gt.images.names if by_name[name] not in seen}
        expected += [row for row in objects(gt) if how != "first" or row[0] in new]
        images += [name for name in gt.images.names if how == "keep" or name in new]
        seen |= set(known)
    assert objects(merged) == expected
    assert sorted(merged.images.names) == sorted(images)
    assert len(set(merged.ids.tolist())) == len(merged)
    assert sorted(merged.categories.names) == sorted({name for gt in parts for name in gt.categories.names})
    for name in merged.attributes:
        assert len(merged.attributes[name]) == len(merged)
    assert (merged.images.keys is not None) == all(gt.images.keys is not None for gt in parts)
    if len(parts) == 1:
        assert merged.ids.tolist() == parts[0].ids.tolist()
        assert merged.image_labels().tolist() == parts[0].image_labels().tolist()


@quick
@given(parts=st.lists(data_sets(), min_size=2, max_size=3), how=st.sampled_from(["join", "first", "keep"]))
def test_detections_follow_their_images_and_classes(parts: list[GroundTruth], how: Any) -> None:
    """The objects as detections, merged: those of images that stay are where the objects are."""
    found = [
        Detections.from_arrays(
            image_ids=gt.image_labels() if len(gt) else gt.images.labels[:0],
            category_ids=gt.category_ids,
            boxes=gt.boxes,
            scores=np.arange(len(gt)) / 8,
        )
        for gt in parts
    ]
    merged = datasets.merge(parts, duplicates=how)
    detections = datasets.merge_detections(found, parts, duplicates=how)
    assert detections.image_labels().tolist() == merged.image_labels().tolist()
    assert detections.category_ids.tolist() == merged.category_ids.tolist()
    assert detections.boxes.tolist() == merged.boxes.tolist()


def test_an_image_in_two_data_sets_is_an_error_unless_told() -> None:
    gt = GroundTruth.from_coco(VAL2014 / "instances_val2014_100.json")
    name = gt.images.names[0]
    with pytest.raises(ValueError, match=rf"the image '{name}' is in .*instances_val2014_100\.json and in"):
        datasets.merge([gt, gt])
    assert len(datasets.merge([gt, gt], duplicates="first")) == len(gt)
    joined = datasets.merge([gt, gt], duplicates="join")
    assert (len(joined), len(joined.images), joined.images.ids.tolist()) == (2 * len(gt), 100, gt.images.ids.tolist())
    assert any("100 images are one image" in note for note in joined.notes)
    kept = datasets.merge([gt, gt], duplicates="keep")
    assert (len(kept.images), kept.segmentations[839]) == (200, kept.segmentations[0])  # type: ignore[index]


def test_two_sizes_are_two_images() -> None:
    one, other = (
        GroundTruth.from_arrays(
            image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], images=[1], names=["a"], sizes=[size]
        )
        for size in ((640, 480), (480, 640))
    )
    with pytest.raises(ValueError, match=r"'a' has two sizes.*640 x 480 and 480 x 640"):
        datasets.merge([one, other], duplicates="join")


def test_classes_by_id_must_have_one_name() -> None:
    one, other = (
        GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], categories={1: name})
        for name in ("cat", "dog")
    )
    with pytest.raises(ValueError, match="the class 1 is 'cat' in one data set and 'dog' in another"):
        datasets.merge([one, other], classes="by-id")
    assert datasets.merge([one, one], classes="by-id").categories.names == ("cat",)


def test_classes_that_differ_by_case_are_noted() -> None:
    one, other = (
        GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], categories={1: name})
        for name in ("traffic light", "Traffic_Light")
    )
    merged = datasets.merge([one, other])
    assert len(merged.categories) == 2
    assert any("differ only by case or spaces" in note for note in merged.notes)


def test_columns_that_cannot_be_filled_are_noted() -> None:
    common: dict[str, Any] = {"image_ids": [1], "category_ids": [1], "boxes": [[0, 0, 2, 2]]}
    masks = Masks.from_boxes(ioukit.Boxes([[0, 0, 2, 2]]), height=4, width=4)
    one = GroundTruth.from_arrays(**common, regions=masks, attributes={"lane": [3], "depth": [2.5]})
    two = GroundTruth.from_arrays(**common, keypoints=np.ones((1, 2, 3)))
    merged = datasets.merge([one, two])
    assert sorted(merged.regions) == ["keypoints"]
    assert np.isnan(merged.regions["keypoints"][0]).all()
    assert list(merged.attributes) == ["depth"]
    assert np.isnan(merged.attributes["depth"][1])
    assert [note.partition(" is ")[0].partition(" are ")[0] for note in merged.notes] == ["attribute lane", "Masks"]
    three = GroundTruth.from_arrays(**common, keypoints=np.ones((1, 5, 3)))
    assert "keypoints" not in datasets.merge([two, three]).regions


def test_lists_of_classes_follow() -> None:
    lvis = datasets.read_lvis(DATA / "lvis_10" / "gt.json")
    lists = lvis.images.attributes["neg_category_ids"]
    taken = lists[0][0]
    other = GroundTruth.from_arrays(
        image_ids=[9], category_ids=[taken], boxes=[[0, 0, 1, 1]], categories={taken: "new"}, images=[9]
    )
    merged = datasets.merge([other, lvis])
    old = dict(zip(lvis.categories.ids.tolist(), lvis.categories.names, strict=True))
    new = dict(zip(merged.categories.ids.tolist(), merged.categories.names, strict=True))
    assert new[taken] == "new"
    assert merged.images.ids.tolist()[1:] == lvis.images.ids.tolist()
    for after, before in zip(merged.images.attributes["neg_category_ids"].tolist()[1:], lists.tolist(), strict=True):
        assert [new[number] for number in after] == [old[number] for number in before]


def test_lists_of_classes_may_name_others() -> None:
    """LVIS lists classes that a part of its data set does not have."""
    parts = [
        GroundTruth.from_arrays(
            image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], categories={1: name}, images=[1], names=[name],
            image_attributes={"neg_category_ids": IdLists.of([[1, 7]])},
        )
        for name in ("cat", "dog")
    ]  # fmt: skip
    assert datasets.merge(parts).images.attributes["neg_category_ids"].tolist() == [[1, 7], [2, 7]]


def test_masks_of_files_stay_in_their_files() -> None:
    gt = GroundTruth.from_coco(VAL2014 / "instances_val2014_100.json")
    other = GroundTruth.from_arrays(image_ids=[9], category_ids=[1], boxes=[[0, 0, 1, 1]], images=[9])
    merged = datasets.merge([other, gt])
    assert merged.segmentations is not None
    assert gt.segmentations is not None
    assert merged.segmentations[0] is None
    assert list(merged.segmentations)[1:] == list(gt.segmentations)
    assert type(merged.segmentations) is type(gt.segmentations)


def test_ids_at_the_end_of_64_bits_stay_apart() -> None:
    last = 2**63 - 1
    gt = GroundTruth.from_arrays(ids=[last], image_ids=[last], category_ids=[1], boxes=[[0, 0, 1, 1]])
    merged = datasets.merge([gt, gt, gt])
    assert sorted(merged.ids.tolist()) == [1, 2, last]
    assert sorted(merged.images.ids.tolist()) == [1, 2, last]


def small(**columns: Any) -> GroundTruth:
    common: dict[str, Any] = {"image_ids": [1], "category_ids": [1], "boxes": [[0, 0, 1, 1]], "categories": {1: "cat"}}
    return GroundTruth.from_arrays(**{**common, **columns})


@pytest.mark.parametrize(
    ("first", "second"),
    [([True], ["x"]), ([True], [2.5]), ([1.0], ["x"]), ([[1.0, 2.0]], [1.0]), ([1], None), ([True], None)],
)
def test_attributes_of_two_kinds_are_left_out(first: Any, second: Any) -> None:
    with_second = {} if second is None else {"attributes": {"kind": np.array(second)}}
    for parts in ([first, with_second], [with_second, first]):
        sets = [small(**({"attributes": {"kind": np.array(first)}} if part is first else part)) for part in parts]
        merged = datasets.merge(sets)
        assert merged.attributes == {}
        assert merged.notes == ("attribute kind is left out: it is not in all data sets, or not of one kind",)


def test_attributes_of_images_and_classes_are_filled_or_noted() -> None:
    merged = datasets.merge([
        small(images=[1], image_attributes={"date": np.array(["today"]), "frame": [3]}),
        small(categories={1: "dog"}, category_attributes={"frequency": np.array(["r"]), "rank": [2]}),
    ])  # fmt: skip
    assert merged.images.attributes["date"].tolist() == ["today", ""]
    assert merged.categories.attributes["frequency"].tolist() == ["", "r"]
    left_out = "is left out: it is not in all data sets, or not of one kind"
    assert set(merged.notes) == {
        f"attribute frame of the images {left_out}",
        f"attribute rank of the classes {left_out}",
    }


def test_an_attribute_of_a_data_set_without_objects() -> None:
    none = small(image_ids=[], category_ids=[], boxes=[], images=[5], attributes={"depth": np.zeros(0)})
    assert datasets.merge([none, small(attributes={"depth": [2.5]})]).attributes["depth"].tolist() == [2.5]
    merged = datasets.merge([none, small()])
    assert merged.attributes == {}
    assert merged.notes[-1] == "attribute depth is left out: it is not in all data sets, or not of one kind"
    assert datasets.merge([none, none]).attributes["depth"].tolist() == []
    assert datasets.merge([none, small(image_ids=[], category_ids=[], boxes=[], images=[6])]).attributes == {}


def test_skeletons_of_unequal_lengths_are_filled() -> None:
    parts = [
        small(category_attributes={"skeleton": np.array([edges])}, categories={1: name})
        for name, edges in (("cat", [[1, 2], [2, 3]]), ("dog", [[1, 3]]))
    ]
    merged = datasets.merge(parts)
    assert merged.categories.attributes["skeleton"].tolist() == [[[1, 2], [2, 3]], [[1, 3], [0, 0]]]


def test_names_of_images_stay() -> None:
    merged = datasets.merge([small(images=[1], names=["a.jpg"]), small(images=[1], names=["b.jpg"])])
    assert (merged.images.ids.tolist(), list(merged.images.names)) == ([1, 2], ["a.jpg", "b.jpg"])
    words = datasets.merge([small(), small(image_ids=["a"], images=["a"], names=[""])])
    assert list(words.images.names) == ["", "a"]


def test_wrong_options_of_a_merge_are_refused() -> None:
    found = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], scores=[1])
    with pytest.raises(ValueError, match="expected detections for 2 data sets, got 1"):
        datasets.merge_detections([found], [small(), small()])
    with pytest.raises(ValueError, match="unknown classes 'by-colour'"):
        datasets.merge([small()], classes="by-colour")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown duplicates 'both'"):
        datasets.merge([small()], duplicates="both")  # type: ignore[arg-type]
    twice = [small(images=[1], names=["a"])] * 2
    for merging in (datasets.merge, lambda parts: datasets.merge_detections([found] * 2, parts)):
        with pytest.raises(ValueError, match=r"the image 'a' is in .*--duplicates in a command: join \(one image with"):
            merging(twice)


def test_notes_say_what_became_of_images_and_classes() -> None:
    twice = [small(images=[1], names=["a"])] * 2
    for how, what in (
        ("join", "are one image with that"),
        ("first", "are left out with their objects: they are those"),
    ):
        merged = datasets.merge(twice, duplicates=how)  # type: ignore[arg-type]
        assert merged.notes == (f"1 images {what} of an earlier data set with the same name",)
    alike = datasets.merge([small(categories={1: "stop sign"}), small(categories={1: "Stop-Sign"})])
    assert alike.notes == ("the classes 'stop sign' and 'Stop-Sign' differ only by case or spaces: remap joins them",)


def test_bad_keypoints_are_named_by_their_file() -> None:
    columns: dict[str, Any] = {"image_ids": [1], "category_ids": [1], "boxes": [[0, 0, 1, 1]], "scores": [1]}
    found = [Detections.from_arrays(**columns, keypoints=np.ones((1, count, 3))) for count in (2, 3)]
    merged = datasets.merge_detections(found, [small(), small()])
    assert merged.regions == {}
    assert merged.notes == ("keypoints are left out: they are not in all data sets, or not of one kind",)
