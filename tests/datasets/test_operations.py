"""Merging, choosing and renaming, beside plain Python over lists of objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ioukit
from ioukit import Detections, GroundTruth, datasets
from ioukit.datasets import IdLists
from ioukit.regions import Masks
from support.paths import DATA

VAL2014 = DATA / "coco_val2014_100"
quick = settings(max_examples=150, derandomize=True, deadline=None)

CLASSES = ["cat", "dog", "Dog", "bus"]


@st.composite
def data_sets(draw: st.DrawFn, *, keyed: bool | None = None) -> GroundTruth:
    """A small data set, some of whose images have names that other data sets have, too."""
    keyed = draw(st.booleans()) if keyed is None else keyed
    names = draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4, unique=True))
    ids: list[Any] = names
    if not keyed:
        ids = draw(st.lists(st.integers(1, 6), min_size=len(names), max_size=len(names), unique=True))
    classes = draw(st.lists(st.sampled_from(CLASSES), min_size=1, max_size=3, unique=True))
    numbers = draw(st.lists(st.integers(1, 5), min_size=len(classes), max_size=len(classes), unique=True))
    count = draw(st.integers(0, 5))

    def rows(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=count, max_size=count))

    extra: dict[str, Any] = {}
    if draw(st.booleans()):
        extra["segmentations"] = rows(st.sampled_from([None, [[0, 0, 4, 0, 4, 4]]]))
    if draw(st.booleans()):
        extra["keypoints"] = np.array(rows(st.sampled_from([[[1, 2, 2], [0, 0, 0]]])), np.float64).reshape(-1, 2, 3)
    if draw(st.booleans()):
        extra["attributes"] = {"occlusion": rows(st.floats(0, 1)), "colour": rows(st.sampled_from(["red", "blue"]))}
    return GroundTruth.from_arrays(
        ids=draw(st.lists(st.integers(1, 9), min_size=count, max_size=count, unique=True)),
        image_ids=np.array(rows(st.sampled_from(ids)), np.str_ if keyed else np.int64),
        category_ids=rows(st.sampled_from(numbers)),
        boxes=np.array(rows(st.tuples(*[st.integers(0, 9)] * 4)), np.float64).reshape(-1, 4),
        flags={"crowd": rows(st.booleans()), "difficult": rows(st.booleans())},
        images=np.array(ids),
        names=[f"{name}.jpg" for name in names],
        sizes=[(640, 480)] * len(names),
        categories=dict(zip(numbers, classes, strict=True)),
        **extra,
    )


def objects(gt: GroundTruth) -> list[tuple[Any, ...]]:
    """Each object by what people call things: image, class, box and the rest, without ids."""
    names = dict(zip(gt.images.ids.tolist(), gt.images.names, strict=True))
    classes = dict(zip(gt.categories.ids.tolist(), gt.categories.names, strict=True))
    masks = [None] * len(gt) if gt.segmentations is None else list(gt.segmentations)
    return [
        (names[image], classes[number], *box, crowd, difficult, str(mask))
        for image, number, box, crowd, difficult, mask in zip(
            gt.image_ids.tolist(),
            gt.category_ids.tolist(),
            gt.boxes.tolist(),
            gt.crowd.tolist(),
            gt.flag("difficult").tolist(),
            masks,
            strict=True,
        )
    ]


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
    other = GroundTruth.from_arrays(image_ids=[9], category_ids=[int(lvis.categories.ids[0])], boxes=[[0, 0, 1, 1]],
                                    categories={int(lvis.categories.ids[0]): "new"}, images=[9])  # fmt: skip
    merged = datasets.merge([other, lvis])
    old = dict(zip(lvis.categories.ids.tolist(), lvis.categories.names, strict=True))
    new = dict(zip(merged.categories.ids.tolist(), merged.categories.names, strict=True))
    lists = merged.images.attributes["neg_category_ids"]
    for row, number in enumerate(merged.images.ids.tolist()):
        if number in lvis.images.ids:
            before = lvis.images.attributes["neg_category_ids"][int(np.searchsorted(lvis.images.ids, number))]
            assert [new[one] for one in lists[row]] == [old[one] for one in before]


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


# ---- subset


@quick
@given(gt=data_sets(), data=st.data())
def test_a_subset_has_the_objects_that_a_loop_chooses(gt: GroundTruth, data: st.DataObject) -> None:
    classes = data.draw(st.none() | st.lists(st.sampled_from(gt.categories.names), min_size=1, unique=True))
    images = data.draw(st.none() | st.lists(st.sampled_from(list(gt.images.names)), min_size=1, unique=True))
    sizes = data.draw(st.none() | st.just(["0:16", "30:81"]))
    drop = data.draw(st.booleans())
    found = datasets.subset(gt, classes=classes, images=images, sizes=sizes, drop_empty_images=drop)
    areas = [width * height for _, _, width, height in gt.boxes.tolist()]
    expected = [
        row
        for row, area in zip(objects(gt), areas, strict=True)
        if (classes is None or row[1] in classes)
        and (images is None or row[0] in images)
        and (sizes is None or area <= 16 or 30 <= area <= 81)
    ]
    assert objects(found) == expected
    named = [name for name in gt.images.names if images is None or name in images]
    assert list(found.images.names) == [name for name in named if not drop or name in {row[0] for row in expected}]
    assert set(found.ids.tolist()) <= set(gt.ids.tolist())
    dt = Detections.from_arrays(
        image_ids=gt.image_labels() if len(gt) else gt.images.labels[:0],
        category_ids=gt.category_ids,
        boxes=gt.boxes,
        scores=np.zeros(len(gt)),
    )
    kept = datasets.subset_detections(dt, found)
    assert kept.known_to(found).image_labels().tolist() == kept.image_labels().tolist()
    everything = [row for row in objects(gt) if row[1] in found.categories.names and row[0] in set(found.images.names)]
    assert len(kept) == len(everything)


def test_names_of_sizes_are_those_of_coco() -> None:
    gt = GroundTruth.from_coco(VAL2014 / "instances_val2014_100.json")
    for area_range in ioukit.COCO.area_ranges:
        if area_range.label == "all":
            continue
        expected = (gt.areas >= area_range.low) & (gt.areas <= area_range.high)
        assert len(datasets.subset(gt, sizes=[area_range.label])) == expected.sum()


def test_a_draw_depends_on_the_seed_alone() -> None:
    gt = GroundTruth.from_coco(VAL2014 / "instances_val2014_100.json")
    first = datasets.subset(gt, sample=0.3, seed=5)
    assert len(first.images) == 30
    assert datasets.subset(gt.take(np.arange(len(gt))[::-1]), sample=30, seed=5).images.ids.tolist() == (
        first.images.ids.tolist()
    )
    assert datasets.subset(gt, sample=30, seed=6).images.ids.tolist() != first.images.ids.tolist()
    assert len(datasets.subset(gt, sample=0, seed=5).images) == 0
    assert len(datasets.subset(gt, sample=1.0).images) == 100


def test_split_gives_each_image_to_one_part() -> None:
    gt = GroundTruth.from_coco(VAL2014 / "instances_val2014_100.json")
    parts = datasets.split(gt, {"train": 0.7, "val": 0.2, "test": 0.1}, seed=3)
    assert {name: len(part.images) for name, part in parts.items()} == {"train": 70, "val": 20, "test": 10}
    ids = np.concatenate([part.images.ids for part in parts.values()])
    assert sorted(ids.tolist()) == gt.images.ids.tolist()
    assert sum(map(len, parts.values())) == len(gt)
    for wrong in ({}, {"a": 0.5}, {"a": 1.5, "b": -0.5}, {"a": float("nan")}):
        with pytest.raises(ValueError, match="shares must be at least 0 and sum to 1, got "):
            datasets.split(gt, wrong)
    thirds = datasets.split(gt, {"a": 1 / 3, "b": 1 / 3, "c": 1 / 3})
    assert sorted(len(part.images) for part in thirds.values()) == [33, 33, 34]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"classes": ["preson"]}, "no category has the name 'preson'; did you mean 'person'"),
        ({"images": ["COCO_val2014_000000000042"]}, None),
        ({"images": ["nothing.jpg"]}, "no image has the id or the name 'nothing.jpg'"),
        ({"sizes": ["tiny"]}, "a size must be small, medium, large, or low:high"),
        ({"sizes": ["9:4"]}, "a size must be"),
        ({"sizes": ["nan:4"]}, "a size must be"),
        ({"sample": 101}, "a sample of 0 to 100 images"),
        ({"sample": 1.5}, "a share of the images"),
        ({"sample": float("nan")}, "sample must be"),
        ({"sample": 2, "seed": -1}, "seed"),
    ],
)
def test_wrong_choices_are_refused(options: dict[str, Any], message: str | None) -> None:
    gt = GroundTruth.from_coco(VAL2014 / "instances_val2014_100.json")
    if message is None:
        assert len(datasets.subset(gt, **options).images) == 1
        return
    with pytest.raises(ValueError, match=message):
        datasets.subset(gt, **options)


# ---- remap


@quick
@given(gt=data_sets(), data=st.data())
def test_classes_get_the_names_of_the_mapping(gt: GroundTruth, data: st.DataObject) -> None:
    targets = st.sampled_from(["cat", "vehicle", "animal", None])
    mapping = data.draw(st.dictionaries(st.sampled_from(gt.categories.names), targets))
    unmapped: Any = data.draw(st.sampled_from(["keep", "drop"]))
    found = datasets.remap(gt, mapping, unmapped=unmapped, drop=True)
    new = {name: mapping.get(name, name if unmapped == "keep" else None) for name in gt.categories.names}
    expected = [(row[0], new[row[1]], *row[2:]) for row in objects(gt) if new[row[1]] is not None]
    assert objects(found) == expected
    assert sorted(found.categories.names) == sorted({name for name in new.values() if name is not None})
    by_name = dict(zip(gt.categories.names, gt.categories.ids.tolist(), strict=True))
    for name, number in zip(found.categories.names, found.categories.ids.tolist(), strict=True):
        members = [old for old, target in new.items() if target == name]
        assert number == (by_name[name] if name in members else min(by_name[old] for old in members))
    dt = Detections.from_arrays(
        image_ids=gt.image_labels() if len(gt) else gt.images.labels[:0],
        category_ids=gt.category_ids,
        boxes=gt.boxes,
        scores=np.zeros(len(gt)),
    )
    mapped = datasets.remap_detections(dt, mapping, gt.categories, unmapped=unmapped, drop=True)
    assert mapped.category_ids.tolist() == found.category_ids.tolist()


def test_names_can_be_exchanged_and_ids_taken_from_elsewhere() -> None:
    gt = GroundTruth.from_arrays(
        image_ids=[1, 1], category_ids=[3, 7], boxes=[[0, 0, 1, 1]] * 2, categories={3: "cat", 7: "dog"}
    )
    swapped = datasets.remap(gt, {"cat": "dog", "dog": "cat"})
    assert (swapped.categories.names, swapped.category_ids.tolist()) == (("dog", "cat"), [3, 7])
    coco = datasets.remap(gt, {}, ids={"cat": 17, "dog": 18, "bus": 6})
    assert (coco.category_ids.tolist(), coco.categories.ids.tolist()) == ([17, 18], [17, 18])
    with pytest.raises(ValueError, match="no id is given for the new class 'dog'; did you mean 'dogs'"):
        datasets.remap(gt, {}, ids={"cat": 17, "dogs": 18})
    with pytest.raises(ValueError, match="ids must differ"):
        datasets.remap(gt, {}, ids={"cat": 17, "dog": 17})


def test_a_joined_class_is_absent_only_if_all_its_parts_are() -> None:
    gt = GroundTruth.from_arrays(
        image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], categories={1: "cat", 2: "dog", 3: "bus"}, images=[1, 2],
        image_attributes={
            "neg_category_ids": IdLists.of([[2, 3], [1, 2]]),
            "not_exhaustive_category_ids": IdLists.of([[1], [3]]),
        },
    )  # fmt: skip
    joined = datasets.remap(gt, {"cat": "animal", "dog": "animal"})
    assert joined.images.attributes["neg_category_ids"].tolist() == [[3], [1]]
    assert joined.images.attributes["not_exhaustive_category_ids"].tolist() == [[1], [3]]


@pytest.mark.parametrize(
    ("mapping", "options", "message"),
    [
        ({"cta": "pet"}, {}, "no class has the name 'cta'; did you mean 'cat'"),
        ({"Cat": "pet"}, {}, "did you mean 'cat'"),
        ({"cat": None}, {}, "the class 'cat' gets no name: drop=True, or --drop in a command, leaves out its objects"),
        ({"cat": " "}, {"drop": True}, "must get a name"),
        ({"cat": "pet"}, {"unmapped": "error"}, "no new name is given for 1 of the classes: 'dog'"),
        ({}, {"unmapped": "none"}, "unknown unmapped 'none'"),
    ],
)
def test_wrong_mappings_are_refused(mapping: dict[str, Any], options: dict[str, Any], message: str) -> None:
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], categories={1: "cat", 2: "dog"})
    with pytest.raises(ValueError, match=message):
        datasets.remap(gt, mapping, **options)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("m.txt", "# all\ncat: pet\r\n\ndog:\n", {"cat": "pet", "dog": None}),
        ("m.txt", "\ufefftraffic light: light", {"traffic light": "light"}),
        ("m.csv", "Old,New\ncat,pet\n\"a, b\",\"c: d\"\ndog,\n", {"cat": "pet", "a, b": "c: d", "dog": None}),
        ("m.csv", "cat,pet", {"cat": "pet"}),
        ("m.yaml", "cat: pet\n'dog':\n1: one\nno: yes\n", {"cat": "pet", "dog": None, "1": "one", "no": "yes"}),
    ],
)  # fmt: skip
def test_files_of_classes(name: str, text: str, expected: dict[str, Any], tmp_path: Any) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    assert datasets.read_class_map(tmp_path / name) == expected


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("m.txt", "cat pet", r"m\.txt: line 1: expected old: new"),
        ("m.txt", "cat: pet\na: b: c", r"m\.txt: line 2: expected old: new"),
        ("m.txt", ": pet", r"line 1: expected the name of a class"),
        ("m.txt", "cat: a\ncat: b", r"line 2: expected a class that differs"),
        ("m.txt", "", "expected old and new names of classes, found none"),
        ("m.csv", "cat,pet\ndog", r"m\.csv: line 2: expected two cells"),
        ("m.csv", 'cat,"pet', r"m\.csv: line 1: expected CSV"),
        ("m.yaml", "- cat", "expected a mapping"),
        ("m.yaml", "cat: [a]", r"m\.yaml: line 1: expected old: new"),
        ("m.yaml", "cat: {", "expected YAML"),
        ("m.yaml", "[" * 10_000, "expected YAML"),
        ("m.yaml", "cat: a\ncat: b", "line 2: expected a class that differs"),
    ],
)
def test_bad_files_of_classes_are_refused(name: str, text: str, message: str, tmp_path: Any) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ioukit.DatasetError, match=message):
        datasets.read_class_map(tmp_path / name)
