"""`log_to`: which tracker it finds, what it sends, and what it does if a part fails."""

from __future__ import annotations

import importlib.abc
import math
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ioukit
from ioukit.experiment_logs import FIGURES, Channel, Picture, Tracker, TrackerError, TrackerWarning, register_tracker
from ioukit.experiment_logs.registry import TRACKERS, find_tracker
from ioukit.experiment_logs.tracker import renamed
from support.evaluated_scenes import SCENES, coco, made
from support.other_protocols import OTHER, evaluated
from support.paths import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


class Notebook:
    """A tracker from outside, with all that it was given."""

    def __init__(self, fails: str = "") -> None:
        self.fails = fails
        self.calls: list[str] = []
        self.kept: dict[str, Any] = {}


class NotebookChannel(Channel):
    def __init__(self, run: Notebook, step: int | None) -> None:
        self.run = run
        self.take("open", step)

    def take(self, what: str, value: object) -> None:
        self.run.calls.append(what)
        if what == self.run.fails:
            raise ConnectionError("no route to the server")
        self.run.kept[what] = value

    def numbers(self, numbers: Mapping[str, float]) -> None:
        self.take("numbers", dict(numbers))

    def figure(self, name: str, picture: Picture) -> None:
        self.take(name, picture.pixels)

    def file(self, name: str, path: Path) -> None:
        self.take(name, path.read_text(encoding="utf-8"))

    def close(self) -> None:
        self.take("close", None)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    before = [*TRACKERS]
    register_tracker(Tracker("Notebook", "a Notebook", lambda run: isinstance(run, Notebook), NotebookChannel))
    yield
    TRACKERS[:] = before


def test_a_tracker_from_outside_gets_everything() -> None:
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    pytest.importorskip("jinja2", reason="the report needs Jinja2")
    evaluation, run = made(), Notebook()
    logged = evaluation.log_to(run, step=np.int64(3), prefix="val/")
    names = [f"val/{name}" for name in FIGURES if name != "worst_images"]
    assert run.calls == ["open", "numbers", *names, "val/report", "close"]
    assert run.kept["open"] == 3
    assert type(run.kept["open"]) is int
    defined = {f"val/{name}": value for name, value in evaluation.metrics().items() if not math.isnan(value)}
    assert run.kept["numbers"] == defined == dict(logged.numbers)
    assert {*logged.numbers, *logged.undefined} == {f"val/{name}" for name in evaluation.metrics()}
    assert logged.figures == tuple(names)
    assert (
        repr(logged) == f"Logged(Notebook: {len(defined)} numbers, {30 - len(defined)} undefined, 7 figures, 1 files)"
    )


def test_a_tracker_of_the_same_name_is_replaced() -> None:
    count = len(TRACKERS)
    register_tracker(Tracker("Notebook", "a list", lambda run: isinstance(run, list), NotebookChannel))
    assert len(TRACKERS) == count
    assert find_tracker([]).takes == "a list"


@pytest.mark.parametrize("run", [None, 3, "runs.txt", b"runs.jsonl", {}, ioukit])
def test_what_is_no_run_is_refused_with_the_trackers(run: object) -> None:
    with pytest.raises(TypeError, match=r"expected a run of .*MLflow \(the module mlflow.*JSON lines .*; found "):
        made().log_to(run)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"errors": "ignore"}, ValueError, "unknown errors 'ignore'; choose from raise, warn"),
        ({"figures": ["roc"]}, ValueError, "unknown figure 'roc'; choose from precision_recall, "),
        ({"figures": "roc"}, ValueError, "unknown figure 'roc'"),
        ({"per_class": ["mAP"]}, ValueError, "unknown metric of per_class 'mAP'"),
        ({"images": "no such folder"}, ValueError, "images must be a folder, got 'no such folder'"),
        ({"prefix": 3}, TypeError, "prefix must be a text, got int"),
        ({"step": 1.5}, TypeError, "step must be a whole number or None, got 1.5"),
    ],
)
def test_wrong_arguments_send_nothing(options: dict[str, Any], error: type[Exception], says: str) -> None:
    run = Notebook()
    with pytest.raises(error, match=says):
        made().log_to(run, **options)
    assert run.calls == []


@pytest.mark.parametrize("fails", ["open", "numbers", "confusion", "report", "close"])
def test_after_an_error_of_the_tracker_nothing_more_is_sent(fails: str) -> None:
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    pytest.importorskip("jinja2", reason="the report needs Jinja2")
    run = Notebook(fails)
    with pytest.warns(TrackerWarning, match="Notebook did not take .*: ConnectionError: no route") as caught:
        logged = made().log_to(run, figures=["class_ap", "confusion", "ap_by_iou"])
    assert caught[0].filename == __file__, "the warning is at the line of the caller"
    assert len(caught) == len(logged.notes) == 1
    whole = ["open", "numbers", "class_ap", "confusion", "ap_by_iou", "report", "close"]
    expected = whole[: whole.index(fails) + 1]
    assert run.calls == (expected if fails in ("open", "close") else [*expected, "close"])
    assert bool(logged.numbers) == (fails not in ("open", "numbers"))
    assert logged.figures == tuple(name for name in expected[2:5] if name != fails)
    with pytest.raises(TrackerError, match="no route to the server") as error:
        made().log_to(Notebook(fails), figures=["class_ap", "confusion", "ap_by_iou"], errors="raise")
    assert isinstance(error.value.__cause__, ConnectionError)


def test_a_table_alone_lacks_some_figures_and_says_so() -> None:
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    evaluation = ioukit.Evaluation.from_table(made().matches)
    run = Notebook()
    logged = evaluation.log_to(run, figures=FIGURES, report=False, errors="raise")
    assert logged.figures == ("precision_recall", "score_curves", "class_ap", "ap_by_iou", "ap_by_size")
    assert logged.notes == (
        "the figure confusion is left out: the evaluation holds neither its data nor near pairs",
        "the figure error_kinds is left out: the evaluation holds neither its data nor near pairs",
        "the figure worst_images is left out: the evaluation does not hold its data",
    )


@pytest.mark.parametrize(
    "name", ["hard names", "no detections", "no objects", "neither", "no images", "no classes", *OTHER]
)
def test_every_evaluation_can_be_sent_whole(name: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    pytest.importorskip("jinja2", reason="the report needs Jinja2")
    evaluation = SCENES[name]() if name in SCENES else evaluated(name)
    run = Notebook()
    logged = evaluation.log_to(run, images=tmp_path, errors="raise")
    assert logged.figures == FIGURES
    assert logged.files == ("report",)
    assert not logged.notes
    for figure in FIGURES:
        pixels = run.kept[figure]
        assert pixels.dtype == np.uint8
        assert pixels.shape[2] == 3
        assert min(pixels.shape[:2]) > 200


def test_many_classes_make_figures_of_a_bearable_size() -> None:
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    evaluation = made([f"class {k}" for k in range(300)], images=200)
    run = Notebook()
    evaluation.log_to(run, figures=["class_ap", "confusion"], report=False, errors="raise")
    assert run.kept["class_ap"].shape[0] < 2600
    assert max(run.kept["confusion"].shape) < 2200


class _Missing(importlib.abc.MetaPathFinder):
    """As if a package were not installed."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, name: str, *_: object) -> None:
        if name == self.package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.mark.parametrize(("package", "part"), [("matplotlib", "figures"), ("jinja2", "report")])
def test_without_a_package_the_rest_is_sent(package: str, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [_Missing(package), *sys.meta_path])
    run = Notebook()
    with pytest.warns(TrackerWarning, match=rf"needs {package}: pip install 'ioukit\[") as caught:
        logged = made().log_to(run, figures=part == "figures", report=part == "report")
    assert len(caught) == 1
    assert run.kept["numbers"] == dict(logged.numbers)
    assert not logged.figures
    assert not logged.files
    # What nobody asked for is no error, what somebody asked for is one.
    with pytest.warns(TrackerWarning):
        made().log_to(Notebook(), figures=None if part == "figures" else False, report=None, errors="raise")
    with pytest.raises(ModuleNotFoundError, match=package):
        made().log_to(Notebook(), figures=part == "figures", report=part == "report", errors="raise")


def test_nothing_of_a_tracker_is_imported_to_recognise_a_run(tmp_path: Path) -> None:
    folder = f"{EXAMPLES}/coco_val2017_100"
    program = f"""
import sys, ioukit
evaluation = ioukit.evaluate(*ioukit.read_coco("{folder}/ground_truth.json", "{folder}/yolact.json"))
evaluation.log_to({str(tmp_path / "runs.jsonl")!r})
heavy = {{"clearml", "jinja2", "matplotlib", "mlflow", "tensorboard", "tensorboardX", "torch", "wandb"}}
print(sorted(heavy & set(sys.modules)))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_renamed_names_stay_apart_and_allowed_ones_stay() -> None:
    new = renamed(
        ["a b", "a_b", "a:b", "x" * 30, "x" * 31], lambda name: name.replace(" ", "_").replace(":", "_"), longest=25
    )
    assert list(new.values())[:3] == ["a_b_2", "a_b", "a_b_3"]
    assert len(set(new.values())) == 5
    assert max(map(len, new.values())) <= 25


def test_the_numbers_of_a_real_detector_are_those_of_the_summary() -> None:
    run = Notebook()
    evaluation = coco()
    evaluation.log_to(run, figures=False, report=False)
    assert {name: run.kept["numbers"][name] for name in evaluation.summary} == dict(evaluation.summary)
