"""Programs that use `pycocotools.cocoeval` see the same with ioukit's."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("pycocotools", reason="pycocotools is not installed")

from parity.random_data import random_case
from support.cocoeval_runs import OURS, THEIRS, Library, random_run
from support.same_values import difference

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("first", range(0, 120, 10))
def test_random_programs_see_the_same(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 10):
        run = random_run(seed)
        ours, theirs = (run.seen(library, tmp_path) for library in (OURS, THEIRS))
        assert [what for what, _ in ours] == [what for what, _ in theirs], run
        for (what, value), (_, expected) in zip(ours, theirs, strict=True):
            assert difference(value, expected, what) is None, run


def test_boxes_from_a_file_are_compared_as_masks(tmp_path: Path) -> None:
    """The results have no masks, so their records are made, and with them those of the ground truth."""
    corners = [[10.0, 10.0, 100.0, 10.0, 100.0, 90.0], [0.0, 120.0, 60.0, 120.0, 60.0, 160.0, 0.0, 160.0]]
    objects = [
        {"id": 1 + place, "image_id": 1, "category_id": 1, "iscrowd": place, "area": 900.0, "segmentation": [corner]}
        for place, corner in enumerate(corners)
    ]
    truth = {
        "images": [{"id": 1, "width": 200, "height": 180}],
        "categories": [{"id": 1, "name": "thing"}],
        "annotations": [{**one, "bbox": [0.0, 0.0, 30.0, 30.0]} for one in objects],
    }
    boxes = ([10.0, 10.0, 90.0, 80.0], [0.0, 120.0, 60.0, 40.0])
    results = [{"image_id": 1, "category_id": 1, "bbox": box, "score": 0.5} for box in boxes]
    for name, data in (("gt", truth), ("dt", results)):
        (tmp_path / name).write_text(json.dumps(data))
    seen = []
    for library in (OURS, THEIRS):
        gt = library.coco.COCO(str(tmp_path / "gt"))
        run = library.cocoeval.COCOeval(gt, gt.loadRes(str(tmp_path / "dt")), "segm")
        run.evaluate()
        run.accumulate()
        run.summarize()
        seen.append([run.stats, run.evalImgs, gt.dataset["annotations"], run.cocoDt.dataset["annotations"]])
    assert difference(seen[0], seen[1]) is None


def test_groups_hold_records_of_their_own_image_when_results_need_those_of_the_ground_truth(tmp_path: Path) -> None:
    """The file lists the images in another order than `getAnnIds`."""
    box, corners = [10.0, 10.0, 40.0, 40.0], [[10.0, 10.0, 50.0, 10.0, 50.0, 50.0]]
    truth = {
        "images": [{"id": one, "width": 100, "height": 100} for one in (1, 2)],
        "categories": [{"id": 1, "name": "thing"}],
        "annotations": [
            {"id": 3 - image, "image_id": image, "category_id": 1, "iscrowd": 0, "area": 800.0, "segmentation": corners}
            | {"bbox": box}
            for image in (2, 1)
        ],
    }
    results = [{"image_id": image, "category_id": 1, "bbox": box, "score": 0.5} for image in (2, 1)]
    for name, data in (("gt", truth), ("dt", results)):
        (tmp_path / name).write_text(json.dumps(data))
    seen = []
    for library in (OURS, THEIRS):
        gt = library.coco.COCO(str(tmp_path / "gt"))
        run = library.cocoeval.COCOeval(gt, gt.loadRes(str(tmp_path / "dt")), "segm")
        run.evaluate()
        seen.append([list(groups.items()) for groups in (run._gts, run._dts)])
    assert difference(seen[0], seen[1]) is None


def _truth_and_results(library: Library, seed: int = 11) -> tuple[Any, Any]:
    case = random_case(seed)
    gt = library.coco.COCO()
    gt.dataset = copy.deepcopy(case.gt)
    gt.createIndex()
    return gt, gt.loadRes(copy.deepcopy(case.dt))


@pytest.mark.parametrize("kind", ["list", "array", "float32"])
@pytest.mark.parametrize("seed", [1, 6, 10, 11, 21])
def test_data_in_memory_need_no_dictionaries(seed: int, kind: str) -> None:
    """The engine reads records and arrays, also once a program has looked at images and categories."""
    seen = []
    for library in (OURS, THEIRS):
        gt, dt = _truth_and_results(library, seed)
        if kind != "list":
            rows = [[one["image_id"], *one["bbox"], one["score"], one["category_id"]] for one in random_case(seed).dt]
            dt = gt.loadRes(np.array(rows, kind.replace("array", "float64")))
        gt = copy.deepcopy(gt)
        evaluation = library.cocoeval.COCOeval(gt, dt, "bbox")
        found = [list(side.imgs) + list(side.cats) for side in (gt, dt)]
        for _ in range(2):
            evaluation.evaluate()
            evaluation.accumulate()
            evaluation.summarize()
            found += [*_arrays(evaluation), evaluation.evalImgs, evaluation.ious]
            if library is OURS:
                assert not {"anns", "imgToAnns", "catToImgs"} & (vars(gt).keys() | vars(dt).keys())
            evaluation.params.areaRng = [[100, 900], [0, 50]]
            evaluation.params.areaRngLbl = ["some", "small"]
            evaluation.params.imgIds = evaluation.params.imgIds[::2]
        evaluation._dts[evaluation.params.imgIds[0], 1][:1] = [{"score": 0}]
        for record in [*gt.dataset["annotations"], *dt.dataset["annotations"]]:
            record["category_id"] = 1
        evaluation.evaluate()
        seen.append([*found, evaluation.evalImgs, evaluation._gts, evaluation._dts, gt.dataset, dt.dataset, dt.anns])
    assert difference(seen[0], seen[1]) is None


@pytest.mark.parametrize("from_file", [True, False])
def test_records_that_an_evaluation_shows_may_be_changed(from_file: bool, tmp_path: Path) -> None:
    """Those of a file and of an array are made when `_dts` is asked for; the next evaluation reads them."""
    case = random_case(11)
    rows = np.array([[one["image_id"], *one["bbox"], one["score"], one["category_id"]] for one in case.dt])
    (tmp_path / "dt.json").write_text(json.dumps(case.dt))
    seen = []
    for library in (OURS, THEIRS):
        gt, _ = _truth_and_results(library)
        evaluation = library.cocoeval.COCOeval(gt, gt.loadRes(str(tmp_path / "dt.json") if from_file else rows), "bbox")
        evaluation.evaluate()
        for record in itertools.chain.from_iterable(evaluation._dts.values()):
            record["score"] = -record["score"]
        evaluation.evaluate()
        seen.append(evaluation.evalImgs)
    assert difference(seen[0], seen[1]) is None


def _arrays(evaluation: Any) -> list[Any]:
    return [evaluation.eval[name] for name in ("precision", "recall", "scores")] + [evaluation.stats]


def _in_batches(library: Library, seed: int) -> list[Any]:
    """As the reference training of torchvision evaluates: image by image, and all `evalImgs` put together."""
    gt, dt = _truth_and_results(library, seed)
    evaluation = library.cocoeval.COCOeval(gt, iouType="bbox")
    parts, ids = [], []
    for image in sorted(gt.getImgIds()):
        found = [record for record in dt.dataset["annotations"] if record["image_id"] == image]
        evaluation.cocoDt = gt.loadRes(copy.deepcopy(found)) if found else library.coco.COCO()
        evaluation.params.imgIds = [image]
        evaluation.evaluate()
        parts.append(np.asarray(evaluation.evalImgs).reshape(-1, len(evaluation.params.areaRng), 1))
        ids.append(image)
    evaluation.evalImgs = list(np.concatenate(parts, 2).flatten())
    evaluation.params.imgIds = ids
    evaluation._paramsEval = copy.deepcopy(evaluation.params)
    evaluation.accumulate()
    evaluation.summarize()
    return _arrays(evaluation)


@pytest.mark.parametrize("seed", [1, 6, 10, 11, 21])
def test_entries_of_several_batches_are_put_together(seed: int) -> None:
    assert random_case(seed).dt
    assert difference(_in_batches(OURS, seed), _in_batches(THEIRS, seed)) is None


def _with_halved_overlaps(library: Library) -> list[Any]:
    class Halved(library.cocoeval.COCOeval):  # type: ignore[misc, name-defined]
        def computeIoU(self, imgId: Any, catId: Any) -> Any:
            return np.array(super().computeIoU(imgId, catId)) * 0.7

    evaluation = Halved(*_truth_and_results(library), "bbox")
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    return _arrays(evaluation)


def test_a_subclass_may_change_a_step() -> None:
    ours, theirs = _with_halved_overlaps(OURS), _with_halved_overlaps(THEIRS)
    assert difference(ours, theirs) is None
    plain = OURS.cocoeval.COCOeval(*_truth_and_results(OURS), "bbox")
    plain.evaluate()
    plain.accumulate()
    plain.summarize()
    assert difference(_arrays(plain), ours) is not None


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_go_on_where_the_original_was(again: Any, tmp_path: Path) -> None:
    case = random_case(11)
    (tmp_path / "gt.json").write_text(json.dumps(case.gt))
    (tmp_path / "dt.json").write_text(json.dumps(case.dt))
    gt = OURS.coco.COCO(str(tmp_path / "gt.json"))
    evaluation = OURS.cocoeval.COCOeval(gt, gt.loadRes(str(tmp_path / "dt.json")), "bbox")
    evaluation.evaluate()
    other = again(evaluation)
    for one in (evaluation, other):
        one.accumulate()
        one.summarize()
    assert difference(_arrays(other), _arrays(evaluation)) is None
    assert difference(other.evalImgs, evaluation.evalImgs) is None
    assert other.cocoGt.imgs == gt.imgs


def test_accumulate_warns_when_it_takes_the_results_of_others() -> None:
    evaluation = OURS.cocoeval.COCOeval(*_truth_and_results(OURS), "bbox")
    evaluation.evaluate()
    other = copy.deepcopy(evaluation.params)
    other.areaRng = other.areaRng[2:]
    with pytest.warns(UserWarning, match=r"areaRng of p and of evaluate\(\) differ"):
        evaluation.accumulate(other)


def test_a_subclass_may_choose_annotations(tmp_path: Path) -> None:
    case = random_case(11)
    (tmp_path / "gt.json").write_text(json.dumps(case.gt))
    (tmp_path / "dt.json").write_text(json.dumps(case.dt))
    seen = []
    for library in (OURS, THEIRS):

        class Large(library.coco.COCO):  # type: ignore[misc, name-defined]
            def getAnnIds(self, *args: Any, **kwargs: Any) -> Any:
                return [one for one in super().getAnnIds(*args, **kwargs) if self.anns[one]["area"] > 500]

        gt = Large(str(tmp_path / "gt.json"))
        evaluation = library.cocoeval.COCOeval(gt, gt.loadRes(str(tmp_path / "dt.json")), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        seen.append(_arrays(evaluation))
    assert difference(seen[0], seen[1]) is None
    with_all = OURS.coco.COCO(str(tmp_path / "gt.json"))
    assert len(with_all.getAnnIds()) > len(gt.getAnnIds())


def test_the_objects_of_pycocotools_are_evaluated_too() -> None:
    seen = []
    for library in (OURS, THEIRS):
        evaluation = library.cocoeval.COCOeval(*_truth_and_results(THEIRS), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        seen.append(_arrays(evaluation))
    assert difference(seen[0], seen[1]) is None


def test_an_error_in_the_data_is_the_only_one(tmp_path: Path) -> None:
    case = random_case(11)
    (tmp_path / "gt.json").write_text(json.dumps(case.gt))
    gt = OURS.coco.COCO(str(tmp_path / "gt.json"))
    evaluation = OURS.cocoeval.COCOeval(gt, gt.loadRes(copy.deepcopy(case.dt)), "bbox")
    evaluation.evaluate()
    for record in gt.dataset["annotations"]:
        del record["iscrowd"]
    with pytest.raises(KeyError, match="iscrowd") as found:
        evaluation.evaluate()
    assert found.value.__context__ is None
    assert len(evaluation.evalImgs) == 0


def test_accumulate_refuses_caps_below_zero() -> None:
    evaluation = OURS.cocoeval.COCOeval(*_truth_and_results(OURS), "bbox")
    evaluation.params.maxDets = [-1, 10, 100]
    evaluation.evaluate()
    with pytest.raises(ValueError, match="maxDets must be at least 0, got -1"):
        evaluation.accumulate()


def test_accumulate_refuses_thresholds_that_were_not_evaluated() -> None:
    evaluation = OURS.cocoeval.COCOeval(*_truth_and_results(OURS), "bbox")
    evaluation.evaluate()
    evaluation.params.iouThrs = evaluation.params.iouThrs[:2]
    with pytest.raises(IndexError, match=r"evalImgs have 10 thresholds, but p\.iouThrs has 2"):
        evaluation.accumulate()


def test_accumulate_needs_an_evaluation(capsys: pytest.CaptureFixture[str]) -> None:
    evaluation = OURS.cocoeval.COCOeval(*_truth_and_results(OURS), "bbox")
    with pytest.raises(Exception, match=r"Please run accumulate\(\) first"):
        evaluation.summarize()
    with pytest.raises(AttributeError):
        evaluation.accumulate()
    assert "Please run evaluate() first" in capsys.readouterr().out


def test_other_kinds_of_regions_are_refused() -> None:
    with pytest.raises(Exception, match="iouType not supported"):
        OURS.cocoeval.Params("boundary")


def test_params_are_those_of_pycocotools() -> None:
    for kind in ("bbox", "segm", "keypoints"):
        ours, theirs = (vars(library.cocoeval.Params(kind)) for library in (OURS, THEIRS))
        assert difference(ours, theirs) is None
    params = OURS.cocoeval.Params("bbox")
    params.setKpParams()
    assert params.maxDets == [20]


def test_the_table_is_printed_by_str(capsys: pytest.CaptureFixture[str]) -> None:
    evaluation = OURS.cocoeval.COCOeval(*_truth_and_results(OURS), "bbox")
    evaluation.evaluate()
    evaluation.accumulate()
    capsys.readouterr()
    assert str(evaluation) == ""
    assert capsys.readouterr().out.count("Average") == 12
