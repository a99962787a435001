"""Other names of classes, beside plain Python over lists of objects."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ioukit
from ioukit import Detections, GroundTruth, datasets
from ioukit.datasets import IdLists
from support.operation_cases import data_sets, objects, quick
from support.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

VAL2014 = DATA / "coco_val2014_100"


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
        ("m.YML", "cat: null\ndog: ~\nbus: 'null'\n", {"cat": None, "dog": None, "bus": "null"}),
        ("m.json", '{"cat": "pet", "dog": null, "bus": ""}', {"cat": "pet", "dog": None, "bus": None}),
        ("m.txt", "  # cat: pet\ndog: pet", {"dog": "pet"}),
        ("m.csv", 'cat,"a\nb"\n', {"cat": "a\nb"}),
    ],
)  # fmt: skip
def test_files_of_classes(name: str, text: str, expected: dict[str, Any], tmp_path: Any) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    assert datasets.read_class_map(tmp_path / name) == expected


OLD_NEW = "expected old: new (names with a colon can be in a .csv file)"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("m.txt", "cat pet", f"m.txt: line 1: {OLD_NEW}, found 'cat pet'"),
        ("m.txt", "cat: pet\na: b: c", f"m.txt: line 2: {OLD_NEW}, found 'a: b: c'"),
        ("m.txt", ": pet", "m.txt: line 1: expected the name of a class, found nothing"),
        ("m.txt", "cat: a\ncat: b", "m.txt: line 2: expected a class that differs from those before, found 'cat'"),
        ("m.txt", "", "m.txt: expected old and new names of classes, found none"),
        ("m.csv", "cat,pet\ndog", "m.csv: line 2: expected two cells, the old name and the new one, found 1"),
        ("m.csv", 'cat,"pet', "m.csv: line 1: expected CSV, found something else: unexpected end of data"),
        ("m.json", "[1]", "m.json: expected an object of old and new names, found [1]"),
        ("m.json", '{"cat": 1}', "m.json.cat: expected text, found 1"),
        ("m.json", '{"cat"', "m.json: line 1, column 7: expected JSON, found something else"),
        ("m.json", '{"cat": "a", "cat": "b"}', "m.json: expected a class that differs from those before, found 'cat'"),
        ("m.yaml", "- cat", "m.yaml: expected a mapping of old to new names, found something else"),
        ("m.yaml", "cat: [a]", "m.yaml: line 1: expected old: new, found a list or a mapping"),
        ("m.yaml", "cat: {", "m.yaml: expected YAML, found something else: while parsing a flow node"),
        ("m.yaml", "[" * 10_000, "m.yaml: expected YAML, found something else: maximum recursion depth exceeded"),
        ("m.yaml", "cat: a\ncat: b", "m.yaml: line 2: expected a class that differs from those before, found 'cat'"),
    ],
)
def test_bad_files_of_classes_are_refused(name: str, text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ioukit.DatasetError, match=f"^{re.escape(str(tmp_path / message))}"):
        datasets.read_class_map(tmp_path / name)


def test_detections_get_the_classes_of_their_ground_truth() -> None:
    categories = GroundTruth.from_arrays(
        image_ids=[], category_ids=[], boxes=[], images=[1], categories={1: "cat", 2: "dog", 3: "bus"}
    ).categories
    found = Detections.from_arrays(
        image_ids=[1] * 3, category_ids=[1, 2, 3], boxes=[[0, 0, 1, 1]] * 3, scores=[1] * 3, source="dt"
    )
    assert datasets.remap_detections(found, {"cat": "dog"}, categories).category_ids.tolist() == [2, 2, 3]
    numbers = {"pet": 8, "bus": 9}
    named = datasets.remap_detections(found, {"cat": "pet", "dog": "pet"}, categories, ids=numbers)
    assert named.category_ids.tolist() == [8, 8, 9]
    with pytest.raises(ValueError, match="the class 'cat' gets no name: drop=True"):
        datasets.remap_detections(found, {"cat": None}, categories)
    listed = dataclasses.replace(categories, ids=np.arange(7), names=tuple("abcdefg"), attributes={})
    with pytest.raises(ValueError, match=r"no new name is given for 6 of the classes: 'b', 'c', 'd', 'e', 'f'$"):
        datasets.remap_detections(found, {"a": "x"}, listed, unmapped="error")
    with pytest.raises(ValueError, match=r"^dt: no category has the id 2$"):
        datasets.remap_detections(found, {}, categories.take(np.array([0])))
