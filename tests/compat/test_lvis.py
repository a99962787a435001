"""lvis 0.5.3 and what stands in for it: the same arrays, dictionaries, numbers and lines."""

from __future__ import annotations

import contextlib
import copy
import importlib
import io
import json
import logging
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ioukit
from ioukit.compat.lvis import LVIS, LVISEval, LVISResults
from ioukit.compat.lvis.eval import Params
from ioukit.evaluation.protocols import LVIS as LVIS_PROTOCOL
from parity.plain_lvis import plain_lvis
from parity.random_lvis import random_lvis
from support.paths import DATA
from support.same_values import difference

if TYPE_CHECKING:
    from pathlib import Path

Record = dict[str, Any]

_QUIET = logging.getLogger("lvis")


class StepByStep(LVISEval):
    """A subclass that changes a step, so that each image is evaluated alone."""

    def evaluate_img(self, img_id: Any, cat_id: Any, area_rng: Any) -> Record | None:
        return super().evaluate_img(img_id, cat_id, area_rng)


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_QUIET, "disabled", True)
    for name in ("lvis", "results", "eval"):
        monkeypatch.setattr(logging.getLogger(f"lvis.{name}"), "disabled", True)


def files(folder: Path, gt: Record, dt: list[Record]) -> tuple[str, str]:
    for name, data in (("gt", gt), ("dt", dt)):
        (folder / f"{name}.json").write_text(json.dumps(data))
    return str(folder / "gt.json"), str(folder / "dt.json")


def seen(classes: tuple[Any, Any, Any], seed: int, folder: Path) -> list[Any]:
    """What a program that draws its choices from a seed sees."""
    truth_of, results_of, evaluation_of = classes
    rng = Random(f"run {seed}")
    gt, dt = random_lvis(seed, masks=seed % 3 == 0)
    gt_file, dt_file = files(folder, gt, dt)
    found: list[Any] = []
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        truth = truth_of(gt_file)
        results = results_of(truth, rng.choice([dt_file, copy.deepcopy(dt)]), rng.choice([300, 300, 5, -1]))
        iou_type = rng.choice(["bbox", "segm"]) if "segmentation" in dt[0] else "bbox"
        run = evaluation_of(rng.choice([truth, gt_file]), results, iou_type)
        for name, change in _CHANGES.items():
            if rng.random() < 0.2:
                setattr(run.params, name, change(rng, getattr(run.params, name)))
        run.evaluate()
        if rng.random() < 0.5:
            found += [copy.deepcopy(run.eval_imgs), copy.deepcopy(run.ious)]
        run.accumulate()
        run.summarize()
        run.print_results()
    arrays = {key: value for key, value in run.eval.items() if key not in ("params", "date")}
    groups = [{key: group for key, group in groups.items() if group} for groups in (run._gts, run._dts)]
    found += [arrays, dict(run.get_results()), run.eval_imgs, run.ious, *groups, run.img_nel, run.freq_groups]
    found += [run.lvis_gt.dataset["annotations"], run.lvis_dt.dataset["annotations"], results.get_top_results(1, 0.3)]
    found += [truth.get_ann_ids(cat_ids=run.params.cat_ids, area_rng=[1, 900]), truth.load_cats(None)]
    found += [dict(truth.cat_img_map), truth.get_img_ids(), truth.load_imgs(truth.get_img_ids()[:1])]
    if "segmentation" in dt[0]:
        found += [truth.ann_to_mask(ann) for ann in truth.load_anns()]
    return [*found, printed.getvalue()]


_CHANGES: dict[str, Any] = {
    "img_ids": lambda rng, ids: rng.sample(ids, max(1, len(ids) // 2)),
    "cat_ids": lambda rng, ids: rng.sample(ids, max(1, len(ids) // 2)),
    "iou_thrs": lambda rng, _: np.array(rng.choice([[0.5, 0.75], [0.75, 0.5, 0.3]])),
    "rec_thrs": lambda _, __: np.linspace(0, 1, 11),
    "max_dets": lambda _, __: 100,
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of lvis and pycocotools
def test_a_program_sees_what_it_sees_with_lvis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lvis", reason="compares with lvis")
    monkeypatch.setattr(np, "float", float, raising=False)  # which lvis 0.5.3 needs
    names = (("lvis.lvis", "LVIS"), ("lvis.results", "LVISResults"), ("lvis.eval", "LVISEval"))
    theirs = tuple(getattr(importlib.import_module(module), name) for module, name in names)
    for seed in range(60):
        assert (
            difference(
                seen((LVIS, LVISResults, LVISEval), seed, tmp_path), seen(theirs, seed, tmp_path), f"seed {seed}"
            )
            is None
        )


def test_all_at_once_is_image_by_image(tmp_path: Path) -> None:
    for seed in range(0, 120, 3):
        ours = seen((LVIS, LVISResults, LVISEval), seed, tmp_path)
        assert difference(ours, seen((LVIS, LVISResults, StepByStep), seed, tmp_path), f"seed {seed}") is None


@pytest.mark.parametrize("iou_type", ["bbox", "segm"])
def test_has_the_bits_of_the_plain_arithmetic(iou_type: str, tmp_path: Path) -> None:
    for seed in range(0, 120, 4):
        gt, dt = random_lvis(seed, masks=iou_type == "segm")
        run = LVISEval(*files(tmp_path, gt, dt), iou_type)
        run.run()
        plain = plain_lvis(gt, dt, iou_type)
        np.testing.assert_array_equal(run.eval["precision"], plain.precision)
        np.testing.assert_array_equal(run.eval["recall"], plain.recall)
        assert list(run.get_results().items()) == list(plain.numbers.items())


def test_real_images_have_the_numbers_of_the_protocol(capsys: pytest.CaptureFixture[str]) -> None:
    gt, dt = (str(DATA / "lvis_10" / name) for name in ("gt.json", "dt.json"))
    run = LVISEval(gt, dt, "bbox")
    run.run()
    run.print_results()
    evaluation = ioukit.evaluate(gt, dt, LVIS_PROTOCOL)
    assert capsys.readouterr().out == evaluation.table().rstrip("\n") + "\n"
    assert {key: float(value) for key, value in run.results.items()} == dict(evaluation.summary)


def test_all_categories_as_one(tmp_path: Path) -> None:
    """lvis 0.5.3 looks for a category -1 then, and finds nothing."""
    for seed in range(0, 60, 3):
        gt, dt = random_lvis(seed)
        run = LVISEval(*files(tmp_path, gt, dt), "bbox")
        run.params.use_cats = 0
        run.run()
        alone = StepByStep(*files(tmp_path, gt, dt), "bbox")
        alone.params.use_cats = 0
        alone.run()
        assert difference(dict(run.results), dict(alone.results)) is None
        assert difference(run.eval["precision"], alone.eval["precision"]) is None
        assert run.results["APr"] == run.results["APf"] == -1
        assert run.eval["counts"][2] == 1


def test_a_second_evaluation_starts_anew(tmp_path: Path) -> None:
    run = LVISEval(*files(tmp_path, *random_lvis(4)), "bbox")
    run.run()
    first, results = copy.deepcopy(run.eval), dict(run.results)
    run.run()
    for key in ("precision", "recall", "dt_pointers"):
        assert difference(run.eval[key], first[key]) is None
    assert dict(run.results) == results


def test_changed_outcomes_of_images_count(tmp_path: Path) -> None:
    run = LVISEval(*files(tmp_path, *random_lvis(4)), "bbox")
    run.evaluate()
    for entry in run.eval_imgs:
        if entry is not None:
            entry["dt_matches"][:] = 0
            entry["dt_ignore"][:] = False
    run.accumulate()
    assert run.eval["recall"].max() == 0


def test_an_id_of_0_is_no_match_as_in_lvis(tmp_path: Path) -> None:
    gt, dt = random_lvis(8)
    gt["annotations"] = [
        {
            "id": 0,
            "image_id": dt[0]["image_id"],
            "category_id": dt[0]["category_id"],
            "bbox": [0, 0, 9, 9],
            "area": 81.0,
        }
    ]
    dt = [{**dt[0], "bbox": [0, 0, 9, 9]}]
    run = LVISEval(*files(tmp_path, gt, dt), "bbox")
    run.run()
    assert run.results["AP"] == 0


def test_params() -> None:
    params = Params("segm")
    assert (params.max_dets, params.use_cats, params.iou_type) == (300, 1, "segm")
    assert params.area_rng_lbl == ["all", "small", "medium", "large"]
    np.testing.assert_array_equal(params.iou_thrs, LVIS_PROTOCOL.iou_thresholds)


def test_wrong_use(tmp_path: Path) -> None:
    gt, dt = random_lvis(4)
    gt_file, dt_file = files(tmp_path, gt, dt)
    with pytest.raises(ValueError, match="iou_type: keypoints is not supported"):
        LVISEval(gt_file, dt_file, "keypoints")
    with pytest.raises(TypeError, match="of lvis_gt"):
        LVISEval(1, dt_file)
    with pytest.raises(TypeError, match="of lvis_dt"):
        LVISEval(gt_file, 1)
    with pytest.raises(TypeError, match="of lvis_gt"):
        LVISResults(1, dt)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="results is not a list"):
        LVISResults(gt_file, {})
    with pytest.raises(AssertionError, match=r"do not correspond to current LVIS set\. They have 1 images"):
        LVISResults(gt_file, [{**dt[0], "image_id": 12345}])
    with pytest.raises(IndexError):
        LVISResults(gt_file, [])
    with pytest.raises(AssertionError, match="not supported"):
        LVIS(dt_file)
    with pytest.raises(NotImplementedError, match="downloads no images"):
        LVIS(gt_file).download("folder")
    run = LVISEval(gt_file, dt_file, "bbox")
    with pytest.raises(RuntimeError, match="accumulate"):
        run.summarize()
    with pytest.raises(TypeError, match="call evaluate"):
        run.accumulate()
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = run.nonsense
    for image in gt["images"]:
        del image["neg_category_ids"]
    with pytest.raises(ioukit.DatasetError, match="'neg_category_ids', a list of ids of categories"):
        LVISEval(*files(tmp_path, gt, dt), "bbox").run()


def test_a_warning_for_lists_goes_to_the_logger_of_lvis(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    gt, dt = random_lvis(4)
    monkeypatch.setattr(logging.getLogger("lvis.results"), "disabled", False)
    LVISResults(files(tmp_path, gt, dt)[0], dt)
    assert [record.name for record in caplog.records] == ["lvis.results"]
    assert "Assuming user provided the results in correct format." in caplog.text
