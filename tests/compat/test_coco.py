"""`COCO` has the methods, the dictionaries and the side effects of pycocotools."""

from __future__ import annotations

import copy
import json
import os
import pickle
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("pycocotools", reason="pycocotools is not installed")

from parity.random_data import random_case
from parity.random_masks import random_mask_case
from support.cocoeval_runs import OURS, THEIRS, Library
from support.same_values import difference

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_DICTIONARIES = ("dataset", "anns", "cats", "imgs", "imgToAnns", "catToImgs")

TRUTH: dict[str, Any] = {
    "info": {"year": 2026, "version": "1"},
    "images": [{"id": number, "width": 9, "height": 6} for number in (7, 2, 5)],
    "categories": [
        {"id": 3, "name": "cat", "supercategory": "animal", "skeleton": [[1, 2]]},
        {"id": 1, "name": "car", "supercategory": "vehicle"},
    ],
    "annotations": [
        {"id": 4, "image_id": 7, "category_id": 3, "bbox": [1, 1, 3, 2], "area": 6.0, "iscrowd": 0,
         "segmentation": [[1, 1, 4, 1, 4, 3, 1, 3]]},
        {"id": 9, "image_id": 2, "category_id": 1, "bbox": [0, 0, 4, 4], "area": 16.0, "iscrowd": 1,
         "segmentation": {"size": [6, 9], "counts": [0, 4, 50]}},
        {"id": 1, "image_id": 7, "category_id": 1, "bbox": [2, 2, 5, 3], "area": 15.0, "iscrowd": 0,
         "segmentation": [[2, 2, 7, 2, 7, 5]]},
    ],
}  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "gt.json").write_text(json.dumps(TRUTH))
    return str(tmp_path / "gt.json")


CALLS: list[Callable[[Any], Any]] = [
    lambda coco: coco.getAnnIds(),
    lambda coco: coco.getAnnIds(imgIds=7),
    lambda coco: coco.getAnnIds(imgIds=[2, 7, 99]),
    lambda coco: coco.getAnnIds(imgIds=[7], catIds=[1]),
    lambda coco: coco.getAnnIds(catIds=3),
    lambda coco: coco.getAnnIds(areaRng=[6, 16]),
    lambda coco: coco.getAnnIds(imgIds=np.array([7, 2]), catIds={1}, areaRng=[0, 1e9], iscrowd=False),
    lambda coco: coco.getAnnIds(iscrowd=True),
    lambda coco: coco.getCatIds(),
    lambda coco: coco.getCatIds(catNms="cat"),
    lambda coco: coco.getCatIds(catNms=["car", "cat"]),
    lambda coco: coco.getCatIds(supNms=["animal"], catIds=[1, 3]),
    lambda coco: coco.getCatIds(catIds=1),
    lambda coco: coco.getImgIds(),
    lambda coco: sorted(coco.getImgIds(catIds=1)),
    lambda coco: coco.getImgIds(imgIds=[7, 2], catIds=[3]),
    lambda coco: coco.getImgIds(imgIds=5),
    lambda coco: coco.loadAnns([9, 4]),
    lambda coco: coco.loadAnns(1),
    lambda coco: coco.loadAnns(),
    lambda coco: coco.loadCats(coco.getCatIds()),
    lambda coco: coco.loadCats(3),
    lambda coco: coco.loadImgs([2]),
    lambda coco: coco.loadImgs(2),
    lambda coco: coco.loadImgs(2.5),
    lambda coco: [coco.annToRLE(record) for record in coco.loadAnns(coco.getAnnIds())],
    lambda coco: [coco.annToMask(record) for record in coco.loadAnns(coco.getAnnIds())],
    lambda coco: coco.showAnns([]),
    lambda coco: coco.showAnns([{"caption": "a cat"}]),
    lambda coco: coco.info(),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_methods_return_and_print_the_same(number: int, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    seen = []
    for library in (OURS, THEIRS):
        coco = library.coco.COCO(path)
        capsys.readouterr()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of pycocotools' masks
            seen.append((CALLS[number](coco), capsys.readouterr().out))
    assert difference(seen[0], seen[1]) is None


@pytest.mark.parametrize("name", _DICTIONARIES)
def test_dictionaries_are_made_on_demand(name: str, path: str) -> None:
    ours, theirs = OURS.coco.COCO(path), THEIRS.coco.COCO(path)
    assert name not in vars(ours)
    assert difference(getattr(ours, name), getattr(theirs, name)) is None
    for each in _DICTIONARIES:
        assert difference(getattr(ours, each), getattr(theirs, each)) is None
    assert ours.anns[4] is ours.dataset["annotations"][0] is ours.imgToAnns[7][0]
    assert ours.imgToAnns[1234] == []  # a defaultdict
    with pytest.raises(AttributeError, match="'COCO' object has no attribute 'annotations'"):
        _ = ours.annotations


def test_dictionaries_are_those_of_the_file_when_it_was_read(path: str) -> None:
    coco = OURS.coco.COCO(path)
    os.remove(path)
    assert coco.dataset == TRUTH


@pytest.mark.parametrize("again", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_are_independent(again: Callable[[Any], Any], path: str) -> None:
    for touched in (False, True):
        coco = OURS.coco.COCO(path)
        if touched:
            coco.anns[4]["area"] = 5
        other = again(coco)
        other.anns[4]["area"] = 1
        assert coco.anns[4]["area"] == (5 if touched else 6)


@pytest.mark.parametrize("of_lists", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12])
def test_results_are_completed_in_place(seed: int, of_lists: bool, tmp_path: Path) -> None:
    gt, dt = random_mask_case(seed)
    if not any("bbox" in record for record in dt):
        with_box = random_case(seed)
        gt, dt = with_box.gt, with_box.dt
    assert dt
    (tmp_path / "gt.json").write_text(json.dumps(gt))
    (tmp_path / "dt.json").write_text(json.dumps(dt))
    seen = []
    for library in (OURS, THEIRS):
        given: Any = copy.deepcopy(dt) if of_lists else str(tmp_path / "dt.json")
        res = library.coco.COCO(str(tmp_path / "gt.json")).loadRes(given)
        assert isinstance(res, library.coco.COCO)
        seen.append((given, [getattr(res, name) for name in _DICTIONARIES]))
    assert difference(seen[0], seen[1]) is None


@pytest.mark.parametrize(
    "results",
    [
        [{"image_id": 7, "caption": "a"}, {"image_id": 7, "caption": "b"}],
        [{"image_id": 7, "category_id": 1, "keypoints": [1, 2, 2, 5, 7, 1], "score": 0.5}],
        [{"image_id": 7, "category_id": 1, "segmentation": {"size": [6, 9], "counts": "04b1"}, "score": 0.5}],
        [{"image_id": 7, "category_id": 1, "bbox": [], "segmentation": {"size": [6, 9], "counts": "04b1"}, "score": 1}],
        [{"image_id": 7, "category_id": 1, "bbox": [1.5, 2, 3, 4], "score": 0.5, "segmentation": "kept"}],
        [{"image_id": 7, "category_id": 1, "score": 0.5}],
        [],
        [{"image_id": 99, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 0.5}],
        {"image_id": 7},
        [{"category_id": 1}],
        [{"image_id": 7, "category_id": 1, "bbox": [1, 2], "score": 0.5}],
    ],
)
def test_every_kind_of_results(results: Any, path: str) -> None:
    seen: list[Any] = []
    for library in (OURS, THEIRS):
        given = copy.deepcopy(results)
        try:
            res = library.coco.COCO(path).loadRes(given)
            seen.append((given, res.dataset, res.anns))
        except (AssertionError, IndexError, KeyError, ValueError) as error:
            # Unpacking too few numbers is a ValueError, pycocotools' look-up an IndexError.
            kinds = {"ValueError": "IndexError"}
            seen.append(kinds.get(type(error).__name__, type(error).__name__))
    assert difference(seen[0], seen[1]) is None


def test_arrays_are_results(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    array = np.array([[7, 1, 2, 3, 4, 0.5, 1], [2, 0, 0, 1, 1, 0.25, 3]])
    seen = []
    for library in (OURS, THEIRS):
        coco = library.coco.COCO(path)
        capsys.readouterr()
        res = coco.loadRes(array)
        out = capsys.readouterr().out.replace("t=0.01s", "t=0.00s")
        seen.append((coco.loadNumpyAnnotations(array), res.dataset, out))
        capsys.readouterr()
        with pytest.raises(AssertionError):
            coco.loadRes(array[:, :6])
    assert difference(seen[0], seen[1]) is None


def in_memory(library: Library, truth: dict[str, Any] = TRUTH) -> Any:
    coco = library.coco.COCO()
    coco.dataset = copy.deepcopy(truth)
    coco.createIndex()
    return coco


ROWS = [[7, 1, 2, 3, 4, 0.5, 1], [2, 0, 0, 1, 1, 0.25, 3], [7.9, 1.1, 2.3, 3.7, 4.9, 1, 3]]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "object"])
@pytest.mark.parametrize("name", [*_DICTIONARIES, "loadAnns"])
def test_arrays_become_records_when_one_is_asked_for(name: str, dtype: str) -> None:
    seen = []
    for library in (OURS, THEIRS):
        array = np.array(ROWS, dtype)
        res = in_memory(library).loadRes(array)
        array[:] = 0  # the records are those of the array that was given
        if name != "loadAnns":
            getattr(res, name)
        seen.append([res.loadAnns([1, 3]), *(getattr(res, each) for each in _DICTIONARIES)])
        assert res.anns[1] is res.dataset["annotations"][0] is res.imgToAnns[7][0]
        assert res.imgs[7] is res.dataset["images"][0]
    assert difference(seen[0], seen[1]) is None


@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((0, 7)),
        np.zeros((1, 8)),
        np.zeros(7),
        np.array([[7, 0, 0, np.inf, 1, 1, 1]]),
        np.array([[np.nan, 0, 0, 1, 1, 1, 1]]),
        np.array([[99.0, 0, 0, 1, 1, 1, 1]]),
        np.array([[7, 1e308, 0, 1e308, 1e308, 1, 1]]),
    ],
)
def test_odd_arrays_do_what_they_do_in_pycocotools(rows: Any, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[Any] = []
    for library in (OURS, THEIRS):
        coco = in_memory(library)
        capsys.readouterr()
        with np.errstate(all="ignore"):
            try:
                seen.append(coco.loadRes(rows).dataset)
            except (AssertionError, IndexError, ValueError) as error:
                seen.append(type(error).__name__)
        seen[-1] = seen[-1], capsys.readouterr().out.replace("t=0.01s", "t=0.00s")
    assert difference(seen[0], seen[1]) is None


def test_a_ground_truth_without_categories_has_no_results_with_boxes() -> None:
    for library in (OURS, THEIRS):
        coco = in_memory(library, {**TRUTH, "annotations": []})
        del coco.dataset["categories"]
        for results in (np.array(ROWS), [{"image_id": 7, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 0.5}]):
            with pytest.raises(KeyError, match="categories"):
                coco.loadRes(results)


def test_loading_of_arrays_may_be_replaced() -> None:
    class Own(OURS.coco.COCO):  # type: ignore[misc, name-defined]
        def loadNumpyAnnotations(self, data: Any) -> Any:
            return super().loadNumpyAnnotations(data)[:1]

    own = Own()
    own.dataset = copy.deepcopy(TRUTH)
    own.createIndex()
    assert len(own.loadRes(np.array(ROWS)).anns) == 1


def change_ids(records: list[Any]) -> None:
    for record in records:
        record["id"] += 100
        record["image_id"], record["category_id"] = 5, 8


INDEXED: dict[str, Callable[[list[Any]], Any]] = {
    "nothing": lambda _: None,
    "ids": change_ids,
    "the list": lambda records: records.pop(),
    "an id twice": lambda _: None,
    "an id that is no integer": lambda _: None,
}


@pytest.mark.parametrize("name", _DICTIONARIES)
@pytest.mark.parametrize("changed", INDEXED)
def test_dictionaries_are_those_of_the_last_index(changed: str, name: str) -> None:
    seen = []
    for library in (OURS, THEIRS):
        truth = copy.deepcopy(TRUTH)
        if "an id" in changed:
            truth["annotations"][2]["id"] = 4 if changed == "an id twice" else "a"
        coco = in_memory(library, truth)
        INDEXED[changed](coco.dataset["annotations"])
        getattr(coco, name)
        found = [getattr(coco, each) for each in _DICTIONARIES]
        coco.dataset["annotations"].append(copy.deepcopy(TRUTH["annotations"][0]))
        coco.createIndex()
        seen.append([*found, *(getattr(coco, each) for each in _DICTIONARIES)])
        assert coco.imgToAnns[7][-1] is coco.dataset["annotations"][-1] is coco.anns[4]
    assert difference(seen[0], seen[1]) is None


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_of_records_are_those_of_pycocotools(again: Callable[[Any], Any]) -> None:
    seen = []
    for library in (OURS, THEIRS):
        coco = in_memory(library)
        other = again(coco)
        assert (other.anns[4] is coco.anns[4]) == (again is copy.copy)
        assert other.anns[4] is other.dataset["annotations"][0]
        seen.append([getattr(other, each) for each in _DICTIONARIES])
    assert difference(seen[0], seen[1]) is None


def test_results_of_another_set_are_named(path: str) -> None:
    wrong = [{"image_id": 99, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 0.5}]
    with pytest.raises(AssertionError, match=r"do not correspond to current coco set: .* 1 images .* such as 99"):
        OURS.coco.COCO(path).loadRes(wrong)
    with pytest.raises(IndexError, match="no results"):
        OURS.coco.COCO(path).loadRes([])


@pytest.mark.parametrize("text", ["[]", "{", "", '{"images": NaN}', "\ufeff{}"])
def test_files_that_pycocotools_refuses_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "gt.json").write_text(text)
    kinds = [_keys_or_error(library, str(tmp_path / "gt.json")) for library in (OURS, THEIRS)]
    assert kinds[0] == kinds[1]
    with pytest.raises(FileNotFoundError):
        OURS.coco.COCO(str(tmp_path / "none.json"))


def _keys_or_error(library: Any, path: str) -> list[str]:
    try:
        return sorted(library.coco.COCO(path).dataset)
    except (AssertionError, ValueError, TypeError) as error:
        return [type(error).__name__]


def test_results_may_be_more_than_pycocotools_reads(path: str, tmp_path: Path) -> None:
    record = {"image_id": 7, "category_id": 1, "score": 0.5, "segmentation": {"size": [6, 9], "counts": [0, 4, 50]}}
    (tmp_path / "dt.json").write_text(json.dumps([record]))
    coco = OURS.coco.COCO(path)
    for results in (tmp_path / "dt.json", [copy.deepcopy(record)]):
        (found,) = coco.loadRes(results).dataset["annotations"]
        assert found["area"] == 4
        assert list(found["bbox"]) == [0, 0, 1, 4]


def test_a_subclass_may_index_in_its_own_way(path: str) -> None:
    class Own(OURS.coco.COCO):  # type: ignore[misc, name-defined]
        def createIndex(self) -> None:
            super().createIndex()
            self.count = len(self.anns)

    assert Own(path).count == 3


def test_nothing_is_downloaded(path: str) -> None:
    with pytest.raises(NotImplementedError, match="downloads no images"):
        OURS.coco.COCO(path).download("folder")


def test_what_is_an_array() -> None:
    values: list[Any] = [[], (), {}, "text", 3, None, np.zeros(2), range(3)]
    for value in values:
        assert OURS.coco._isArrayLike(value) == THEIRS.coco._isArrayLike(value)


def test_the_same_is_drawn(path: str) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415 - needs the backend

    seen = []
    for library in (OURS, THEIRS):
        coco = library.coco.COCO(path)
        records = coco.loadAnns(coco.getAnnIds())
        records[0]["keypoints"] = [1, 1, 2, 3, 2, 1]
        np.random.seed(3)  # noqa: NPY002 - showAnns takes its colours from here
        figure, axes = pyplot.subplots()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of pycocotools' masks
            coco.showAnns(records, draw_bbox=True)
        figure.canvas.draw()
        seen.append(np.asarray(figure.canvas.buffer_rgba()).copy())  # type: ignore[attr-defined]
        assert len(axes.collections) == 2
        pyplot.close(figure)
    assert (seen[0] == seen[1]).all()
    assert len(np.unique(seen[0])) > 10
    with pytest.raises(Exception, match="datasetType not supported"):
        OURS.coco.COCO(path).showAnns([{}])
