"""Evaluations in MLflow: a real database, read back by MLflow."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioukit.experiment_logs.tracker import renamed
from support.evaluated_scenes import coco, made
from support.report_cases import ATTACKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ioukit import Evaluation

mlflow = pytest.importorskip("mlflow", reason="needs MLflow: pip install 'ioukit[mlflow]'")
pytest.importorskip("sqlalchemy", reason="a database of MLflow needs SQLAlchemy")
pytest.importorskip("matplotlib", reason="figures need matplotlib")
pytest.importorskip("jinja2", reason="the report needs Jinja2")
# Warnings of MLflow and of what it imports are not about ioukit; one of ours still is an error.
pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.filterwarnings("error::ioukit.experiment_logs.TrackerWarning"),
]


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return coco()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{folder}/runs.db")
    client = mlflow.MlflowClient()
    experiment = client.create_experiment("ioukit", artifact_location=(folder / "artifacts").as_uri())
    mlflow.set_experiment(experiment_id=experiment)
    yield client
    os.environ.pop("MLFLOW_EXPERIMENT_ID", None)  # for processes, of other tests, too, which know no such experiment


def new_run(client: Any) -> str:
    run_id: str = client.create_run(client.get_experiment_by_name("ioukit").experiment_id).info.run_id
    return run_id


def paths(client: Any, run_id: str, folder: str = "") -> list[str]:
    found: list[str] = []
    for one in client.list_artifacts(run_id, folder):
        found += paths(client, run_id, one.path) if one.is_dir else [one.path]
    return sorted(found)


def defined(evaluation: Evaluation, **options: Any) -> dict[str, float]:
    return {name: value for name, value in evaluation.metrics(**options).items() if not math.isnan(value)}


def test_the_database_has_the_numbers_to_the_last_bit(client: Any, evaluation: Evaluation) -> None:
    run_id = new_run(client)
    logged = evaluation.log_to((client, run_id), figures=False, report=False)
    expected = defined(evaluation)
    assert client.get_run(run_id).data.metrics == expected == dict(logged.numbers)
    assert expected["AP"] == evaluation.summary["AP"]
    assert expected["AP50/person"] == evaluation.per_class["person"].summary["AP50"]
    assert set(logged.undefined) == set(evaluation.metrics()) - set(expected)
    assert "AP/airplane" in logged.undefined
    assert paths(client, run_id) == []


def test_figures_and_report_are_artifacts(client: Any, evaluation: Evaluation, tmp_path: Path) -> None:
    with mlflow.start_run() as run:
        logged = evaluation.log_to(run, per_class=False, errors="raise")
    names = ["ap_by_iou", "ap_by_size", "class_ap", "confusion", "error_kinds", "precision_recall", "score_curves"]
    assert paths(client, run.info.run_id) == sorted([*(f"ioukit/{name}.png" for name in names), "ioukit/report.html"])
    assert sorted(logged.figures) == names
    assert logged.files == ("report",)
    page = Path(client.download_artifacts(run.info.run_id, "ioukit/report.html", str(tmp_path)))
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert f"{evaluation.summary['AP']:.3f}" in text
    image = pytest.importorskip("PIL.Image", reason="reading pictures needs Pillow")
    with image.open(client.download_artifacts(run.info.run_id, "ioukit/confusion.png", str(tmp_path))) as picture:
        assert picture.size[0] > 500


def test_steps_and_the_prefix_keep_every_epoch(client: Any) -> None:
    epochs = [made(seed=seed) for seed in range(3)]
    with mlflow.start_run() as run:
        for step, evaluation in enumerate(epochs):
            evaluation.log_to(mlflow, step=step, prefix="val/", figures="precision_recall", report=False)
    history = client.get_metric_history(run.info.run_id, "val/AP/dog")
    assert [(one.step, one.value) for one in history] == [
        (step, one.per_class["dog"].summary["AP"]) for step, one in enumerate(epochs)
    ]
    assert paths(client, run.info.run_id) == [f"ioukit/val/step_{step}/precision_recall.png" for step in range(3)]


def test_the_module_starts_a_run_as_mlflow_does(client: Any) -> None:
    assert mlflow.active_run() is None
    try:
        made().log_to(mlflow, figures=False, report=False)
        active = mlflow.active_run()
        assert client.get_run(active.info.run_id).data.metrics["AP"] == made().summary["AP"]
    finally:
        mlflow.end_run()


def test_names_that_mlflow_refuses_are_changed_and_stay_apart(client: Any) -> None:
    names = [*ATTACKS, "a//b", "a/../b", "..", "/", "a@b", "a#b", "a_b", "a$b", "x" * 400, "x" * 401, "50%", "狗"]
    evaluation = made(names, images=60, seed=4)
    run_id = new_run(client)
    logged = evaluation.log_to((client, run_id), figures=False, report=False, per_class=["AP"], errors="raise")
    expected = list(defined(evaluation, per_class=["AP"]).values())
    assert list(logged.numbers.values()) == expected
    assert client.get_run(run_id).data.metrics == dict(logged.numbers)
    assert {"AP/a_b", "AP/狗", "AP/50_"} <= {*logged.numbers, *logged.undefined}


@given(st.lists(st.text("aB1狗/._-: @#\\\n\x00", max_size=300), unique=True, max_size=12))
def test_any_names_become_names_that_mlflow_takes(names: list[str]) -> None:
    from mlflow.utils.validation import _validate_metric_name  # noqa: PLC0415 - it may not be installed

    from ioukit.experiment_logs.mlflow import _LONGEST, _allowed  # noqa: PLC0415 - as above

    new = renamed([f"AP/{name}" for name in names], _allowed, longest=_LONGEST)
    assert len(set(new.values())) == len(names)
    for old, name in new.items():
        _validate_metric_name(name)
        assert len(name) <= _LONGEST
        if len(old) <= _LONGEST and _allowed(old) == old:
            assert name == old


def test_more_numbers_than_a_request_takes(client: Any) -> None:
    evaluation = made([f"class {k}" for k in range(700)], images=400)
    run_id = new_run(client)
    logged = evaluation.log_to((client, run_id), figures=False, report=False, per_class=list(evaluation.summary))
    assert len(logged.numbers) > 2000
    assert client.get_run(run_id).data.metrics == defined(evaluation, per_class=list(evaluation.summary))


def test_the_file_store_has_no_metric_below_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    client = mlflow.MlflowClient(tracking_uri=(tmp_path / "mlruns").as_uri())
    run_id = client.create_run("0").info.run_id
    evaluation = made(["cat", "cat/dog", "x"])
    evaluation.log_to((client, run_id), figures=False, report=False, per_class=["AP"], errors="raise")
    stored = client.get_run(run_id).data.metrics
    assert stored["AP.cat.dog"] == evaluation.per_class["cat/dog"].summary["AP"]
    assert stored["AP.cat"] == evaluation.per_class["cat"].summary["AP"]
    assert stored["counts/images"] == 9
    assert len(stored) == len(defined(evaluation, per_class=["AP"]))


def test_a_run_that_is_gone_ends_no_training(client: Any) -> None:
    from ioukit.experiment_logs import TrackerError, TrackerWarning  # noqa: PLC0415 - as a training would

    with pytest.warns(TrackerWarning, match="MLflow did not take the numbers: .*no_such_run"):
        logged = made().log_to((client, "no_such_run"))
    assert not logged.numbers
    assert not logged.figures
    assert len(logged.notes) == 1
    with pytest.raises(TrackerError, match="MLflow did not take the numbers") as caught:
        made().log_to((client, "no_such_run"), errors="raise")
    assert isinstance(caught.value.__cause__, mlflow.MlflowException)
