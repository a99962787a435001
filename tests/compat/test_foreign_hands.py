"""Programs that replace methods of pycocotools and lvis, or pickle their objects, see the same with ioukit."""

from __future__ import annotations

import contextlib
import copy
import importlib
import io
import json
import pickle
import pickletools
import sys
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pytest

pytest.importorskip("pycocotools", reason="pycocotools is not installed")

import ioukit
from ioukit.compat.lvis import LVIS, LVISEval
from parity.random_data import random_case
from parity.random_lvis import random_lvis
from support.cocoeval_runs import OURS, THEIRS, Library
from support.same_values import difference

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


pytestmark = pytest.mark.filterwarnings("ignore:modules that imported pycocotools:UserWarning")  # the tests have it


def loaded(library: Library, folder: Path, seed: int = 11) -> tuple[Any, Any]:
    """Ground truth and results from files, which ioukit reads into columns."""
    case = random_case(seed)
    for name, data in (("gt", case.gt), ("dt", case.dt)):
        (folder / name).write_text(json.dumps(data))
    gt = library.coco.COCO(str(folder / "gt"))
    return gt, gt.loadRes(str(folder / "dt"))


def evaluated(evaluation: Any) -> list[Any]:
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    arrays = [evaluation.eval[name] for name in ("counts", "precision", "recall", "scores")]
    return [*arrays, evaluation.stats, evaluation.evalImgs, evaluation.ious]


def seen(library: Library, folder: Path, place: Callable[[Library], Any], name: str, change: Any) -> list[Any]:
    """What a program sees that replaces an attribute of a class or module, and the calls of it."""
    owner = place(library)
    original, calls = getattr(owner, name), []

    def replaced(*arguments: Any, **named: Any) -> Any:
        first = 0 if isinstance(owner, type(sys)) else 1
        calls.append(copy.deepcopy([arguments[first:], named]))
        return change(original(*arguments, **named))

    with contextlib.redirect_stdout(io.StringIO()), mock.patch.object(owner, name, replaced):
        found = evaluated(library.cocoeval.COCOeval(*loaded(library, folder), "bbox"))
    return [*found, calls]


def half(found: Any) -> Any:
    return np.array(found) * 0.5


def every_second(found: list[Any]) -> list[Any]:
    return found[::2]


def same(found: Any) -> Any:
    return found


REPLACED: dict[str, tuple[Callable[[Library], Any], str, Any]] = {
    "computeIoU": (lambda library: library.cocoeval.COCOeval, "computeIoU", half),
    "evaluateImg": (lambda library: library.cocoeval.COCOeval, "evaluateImg", lambda _: None),
    "_prepare": (lambda library: library.cocoeval.COCOeval, "_prepare", same),
    "loadAnns": (lambda library: library.coco.COCO, "loadAnns", every_second),
    "getAnnIds": (lambda library: library.coco.COCO, "getAnnIds", every_second),
    "getCatIds": (lambda library: library.coco.COCO, "getCatIds", every_second),
    "createIndex": (lambda library: library.coco.COCO, "createIndex", same),
    "mask.iou": (lambda library: library.cocoeval.maskUtils, "iou", half),
}


@pytest.mark.parametrize("case", REPLACED)
def test_methods_that_are_replaced_in_place_are_called(case: str, tmp_path: Path) -> None:
    ours, theirs = (seen(library, tmp_path, *REPLACED[case]) for library in (OURS, THEIRS))
    assert theirs[-1], "it was called"
    assert difference(ours, theirs) is None


def test_the_engine_evaluates_again_when_a_patch_ends(tmp_path: Path) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        plain = evaluated(OURS.cocoeval.COCOeval(*loaded(OURS, tmp_path), "bbox"))
        with mock.patch.object(OURS.cocoeval.COCOeval, "computeIoU", return_value=[]):
            evaluation = OURS.cocoeval.COCOeval(*loaded(OURS, tmp_path), "bbox")
            assert evaluated(evaluation)[4][0] == 0
        assert difference(evaluated(evaluation), plain) is None
    assert evaluation._source is not None


def test_a_method_of_one_object_is_called(tmp_path: Path) -> None:
    found = []
    for library in (OURS, THEIRS):
        with contextlib.redirect_stdout(io.StringIO()):
            evaluation = library.cocoeval.COCOeval(*loaded(library, tmp_path), "bbox")
            evaluation.computeIoU = lambda *_: []
            found.append(evaluated(evaluation))
    assert difference(found[0], found[1]) is None
    assert found[0][4][0] == 0


def test_parameters_that_are_missing_are_missed_at_the_same_step(tmp_path: Path) -> None:
    for name in ("areaRng", "maxDets"):
        found = []
        for library in (OURS, THEIRS):
            with contextlib.redirect_stdout(io.StringIO()):
                evaluation = library.cocoeval.COCOeval(*loaded(library, tmp_path), "bbox")
                delattr(evaluation.params, name)
                with pytest.raises(AttributeError, match=name):
                    evaluation.evaluate()
            found.append([evaluation.ious, evaluation._gts, evaluation._dts, evaluation.evalImgs])
        assert difference(found[0], found[1]) is None


class Proxy:
    """Stands in front of another object, with methods of its own."""

    def __init__(self, behind: Any, **own: Any) -> None:
        vars(self).update(own, behind=behind)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.behind, name)


@pytest.mark.parametrize("sides", ["gt", "dt", "gt dt"])
@pytest.mark.parametrize("name", ["getAnnIds", "getImgIds", "getCatIds", "loadAnns"])
def test_methods_of_an_object_in_front_are_called(name: str, sides: str, tmp_path: Path) -> None:
    found = []
    for library in (OURS, THEIRS):
        with contextlib.redirect_stdout(io.StringIO()):
            both = dict(zip(("gt", "dt"), loaded(library, tmp_path), strict=True))
            for side in sides.split():
                original = getattr(both[side], name)
                halved = {name: lambda *a, original=original, **k: every_second(original(*a, **k))}
                both[side] = Proxy(both[side], **halved)
            try:
                found.append(evaluated(library.cocoeval.COCOeval(both["gt"], both["dt"], "bbox")))
            except KeyError as error:  # of a group that an override left out
                found.append([type(error)])
    assert difference(found[0], found[1]) is None


def test_methods_of_mocks_that_wrap_are_called(tmp_path: Path) -> None:
    found = []
    for library in (OURS, THEIRS):
        with contextlib.redirect_stdout(io.StringIO()):
            gt, dt = loaded(library, tmp_path)
            truth = mock.Mock(wraps=gt)
            truth.getCatIds.return_value = gt.getCatIds()[:1]
            arrays = evaluated(library.cocoeval.COCOeval(truth, dt, "bbox"))
            results = mock.Mock(wraps=gt, dataset=gt.dataset, imgs=gt.imgs)
            results.getImgIds.return_value = []
            with pytest.raises(AssertionError):
                library.coco.COCO.loadRes(results, str(tmp_path / "dt"))
        found.append([arrays, [call[0] for call in truth.mock_calls]])
    assert difference(found[0], found[1]) is None


@pytest.mark.parametrize("from_file", [True, False])
def test_groups_are_those_of_the_evaluation(from_file: bool, tmp_path: Path) -> None:
    """Records that change afterwards stay where they were, as does what a method lists that is replaced afterwards."""
    found = []
    for library in (OURS, THEIRS):
        with contextlib.redirect_stdout(io.StringIO()):
            gt, dt = loaded(library, tmp_path)
            if not from_file:
                dt = gt.loadRes(json.loads((tmp_path / "dt").read_text()))
            evaluation = library.cocoeval.COCOeval(gt, dt, "bbox")
            evaluation.evaluate()
        for side in (gt, dt):
            first, last = side.dataset["annotations"][0], side.dataset["annotations"][-1]
            first["image_id"], first["category_id"] = last["image_id"], last["category_id"]
        with mock.patch.object(library.coco.COCO, "loadAnns", return_value=[]):
            found.append([dict(evaluation._gts), dict(evaluation._dts)])
    assert difference(found[0], found[1]) is None


def test_results_that_change_before_the_evaluation_are_found_as_they_were_loaded(tmp_path: Path) -> None:
    found = []
    for library in (OURS, THEIRS):
        with contextlib.redirect_stdout(io.StringIO()):
            gt, _ = loaded(library, tmp_path)
            results = json.loads((tmp_path / "dt").read_text())
            dt = gt.loadRes(results)
            results[0]["image_id"] = next(
                one["image_id"] for one in results if one["image_id"] != results[0]["image_id"]
            )
            evaluation = library.cocoeval.COCOeval(gt, dt, "bbox")
            evaluation.params.imgIds = [results[0]["image_id"]]
            found.append([*evaluated(evaluation), dt.imgToAnns])
    assert difference(found[0], found[1]) is None


def globals_of(text: bytes) -> set[str]:
    """The classes and functions that a pickle names."""
    found, strings = set(), ["", ""]
    for opcode, argument, _ in pickletools.genops(text):
        if opcode.name == "GLOBAL":
            found.add(str(argument))
        elif opcode.name == "STACK_GLOBAL":
            found.add(" ".join(strings[-2:]))
        elif isinstance(argument, str):
            strings.append(argument)
    return found


def test_what_is_pickled_under_the_patch_needs_no_ioukit(tmp_path: Path) -> None:
    pickles = []
    with contextlib.redirect_stdout(io.StringIO()):
        for library in (OURS, THEIRS):
            evaluation = library.cocoeval.COCOeval(*loaded(library, tmp_path), "bbox")
            stats = evaluated(evaluation)[4]
            with ioukit.patched() if library is OURS else contextlib.nullcontext():
                pickles.append([pickle.dumps(one, protocol=2) for one in (evaluation.eval, evaluation)])
    ours, theirs = pickles
    assert [globals_of(one) for one in ours] == [globals_of(one) for one in theirs]
    read = pickle.loads(ours[1])
    assert type(read) is THEIRS.cocoeval.COCOeval
    assert type(pickle.loads(ours[0])["params"]) is THEIRS.cocoeval.Params
    with contextlib.redirect_stdout(io.StringIO()):
        assert difference(evaluated(read)[4], stats) is None
        with ioukit.patched():
            again = pickle.loads(theirs[1])
        assert type(again) is OURS.cocoeval.COCOeval
        assert difference(evaluated(again)[4], stats) is None
    assert OURS.cocoeval.COCOeval.__module__ == "ioukit.compat.pycocotools.cocoeval", "the patch has ended"


def test_a_reloaded_module_stays_patched_and_fast(tmp_path: Path) -> None:
    module = OURS.cocoeval
    before = dict(vars(module))
    with ioukit.patched(), contextlib.redirect_stdout(io.StringIO()):
        old = module.COCOeval(*loaded(OURS, tmp_path), "bbox")
        importlib.reload(module)
        new = module.COCOeval(*loaded(OURS, tmp_path), "bbox")
        assert new.__module__ == old.__module__ == "pycocotools.cocoeval"
        assert difference(evaluated(new), evaluated(old)) is None
        assert new._source is not None
        assert old._source is not None
    for name, value in before.items():
        setattr(module, name, value)


ODD: dict[str, tuple[Any, list[int]]] = {
    "annotation ids beyond 2**63": (lambda gt, _: gt["annotations"][0].update(id=2**63 + 4096), [1, 10, 100]),
    "one score is true": (lambda _, dt: dt[0].update(score=True), [1, 10, 100]),
    "all scores within a cap of 1 are true": (lambda _, dt: [one.update(score=True) for one in dt[:-1]], [1, 10, 100]),
    "all scores are true": (lambda _, dt: [one.update(score=True) for one in dt], [1, 10, 100]),
    "caps with 0": (lambda *_: None, [0, 10, 100]),
    "caps of 0": (lambda *_: None, [0]),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_values_do_what_they_do_in_pycocotools(case: str) -> None:
    change, caps = ODD[case]
    found: list[Any] = []
    for library in (OURS, THEIRS):
        data = random_case(11)
        truth, results = copy.deepcopy((data.gt, data.dt))
        change(truth, results)
        with contextlib.redirect_stdout(io.StringIO()):
            gt = library.coco.COCO()
            gt.dataset = truth
            gt.createIndex()
            evaluation = library.cocoeval.COCOeval(gt, gt.loadRes(results), "bbox")
            evaluation.params.maxDets = caps
            evaluation.evaluate()
            try:
                evaluation.accumulate()
            except TypeError:
                found.append("TypeError")
                continue
        found.append([evaluation.eval[name] for name in ("precision", "recall", "scores")] + [evaluation.evalImgs])
    assert difference(found[0], found[1]) is None
    assert (found[0] == "TypeError") == ("all scores" in case)


def lvis_of(folder: Path) -> LVISEval:
    gt, dt = random_lvis(4)
    (folder / "gt").write_text(json.dumps(gt))
    return LVISEval(LVIS(str(folder / "gt")), dt, "bbox")


@pytest.mark.parametrize("name", ["compute_iou", "evaluate_img", "_get_gt_dt"])
def test_methods_of_lvis_that_are_replaced_are_called(name: str, tmp_path: Path) -> None:
    plain = lvis_of(tmp_path)
    plain.run()
    nothing: Any = {"compute_iou": [], "evaluate_img": None, "_get_gt_dt": ([], [])}[name]
    with mock.patch.object(LVISEval, name, return_value=nothing):
        run = lvis_of(tmp_path)
        run.run()
    assert run.results["AP"] == (0 if name == "compute_iou" else -1) < plain.results["AP"]


def test_prepare_of_lvis_may_be_overridden_as_there(tmp_path: Path) -> None:
    class Prepared(LVISEval):
        def _prepare(self) -> None:
            assert super()._prepare() is None

    plain = lvis_of(tmp_path)
    plain.run()
    run = Prepared(plain.lvis_gt, plain.lvis_dt, "bbox")
    run.run()
    assert dict(run.results) == dict(plain.results)


def test_what_lvis_has_grouped_before_a_replaced_method_fails_is_there(tmp_path: Path) -> None:
    run = lvis_of(tmp_path)
    with mock.patch.object(LVIS, "load_imgs", return_value=None), pytest.raises(TypeError):
        run.evaluate()
    assert run._gts
    assert not run._dts


def test_a_copy_of_results_asks_nothing_of_the_ground_truth(tmp_path: Path) -> None:
    for library in (OURS, THEIRS):
        gt, dt = loaded(library, tmp_path)
        state = mock.Mock(side_effect=AssertionError("asked"))
        truth: Any = type("Truth", (library.coco.COCO,), {"__getstate__": state, "__deepcopy__": state})
        gt.__class__ = truth
        other = copy.deepcopy(dt)
        assert other.dataset == dt.dataset
        assert other.dataset["images"] is not dt.dataset["images"]
