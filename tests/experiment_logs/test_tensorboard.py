"""Evaluations in TensorBoard: real event files of both writers, read back by TensorBoard."""

from __future__ import annotations

import importlib
import io
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from support.evaluated_scenes import coco, made

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ioukit import Evaluation

accumulators = pytest.importorskip(
    "tensorboard.backend.event_processing.event_accumulator", reason="needs TensorBoard: pip install tensorboard"
)
pytest.importorskip("matplotlib", reason="figures need matplotlib")
pytest.importorskip("jinja2", reason="the report needs Jinja2")
image = pytest.importorskip("PIL.Image", reason="writers make pictures with Pillow")
pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.filterwarnings("error::ioukit.experiment_logs.TrackerWarning"),
]


@pytest.fixture(params=["torch.utils.tensorboard", "tensorboardX"])
def writer(request: pytest.FixtureRequest) -> Callable[[Path], Any]:
    if request.param.startswith("torch"):
        pytest.importorskip("torch", reason="needs PyTorch")
    else:
        pytest.importorskip("tensorboardX", reason="needs tensorboardX")
    writer: Any = importlib.import_module(request.param).SummaryWriter
    return lambda folder: writer(str(folder))


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return coco()


def read(folder: Path) -> Any:
    events = accumulators.EventAccumulator(str(folder), size_guidance={"scalars": 0, "images": 0})
    return events.Reload()


def test_event_files_have_the_numbers_and_figures(
    writer: Callable[[Path], Any], evaluation: Evaluation, tmp_path: Path
) -> None:
    events = tmp_path / "events"
    with writer(events) as open_writer:
        logged = evaluation.log_to(open_writer, step=7, prefix="val/", errors="raise")
    found = read(events)
    expected = {
        f"val/{name}".replace(" ", "_"): np.float32(value)  # TensorBoard keeps 32 bits
        for name, value in evaluation.metrics().items()
        if not math.isnan(value)
    }
    assert sorted(found.Tags()["scalars"]) == sorted(expected) == sorted(logged.numbers)
    for tag, value in expected.items():
        (point,) = found.Scalars(tag)
        assert (point.step, np.float32(point.value)) == (7, value), tag
    assert "val/AP50/traffic_light" in expected
    assert sorted(found.Tags()["images"]) == sorted(logged.figures)
    assert len(logged.figures) == 7
    for tag in logged.figures:
        (picture,) = found.Images(tag)
        assert picture.step == 7
        with image.open(io.BytesIO(picture.encoded_image_string)) as pixels:
            assert pixels.size == (picture.width, picture.height)
            shown = np.asarray(pixels.convert("RGB"))
        assert (shown == 255).all(axis=2).mean() > 0.3, "paper"
        assert (shown < 128).any(), "ink"
    (report,) = events.glob("*.html")
    assert report.name == "val_report_step_7.html"
    assert logged.notes == (f"the report is in {report}",)


def test_epochs_are_points_of_one_line(writer: Callable[[Path], Any], tmp_path: Path) -> None:
    epochs = [made(seed=seed) for seed in range(4)]
    with writer(tmp_path / "events") as open_writer:
        for step, evaluation in enumerate(epochs):
            evaluation.log_to(open_writer, step=step, figures=False, report=False)
    points = read(tmp_path / "events").Scalars("AP/cat")
    assert [(one.step, one.value) for one in points] == [
        (step, float(np.float32(one.per_class["cat"].summary["AP"]))) for step, one in enumerate(epochs)
    ]


def test_tags_that_become_equal_stay_apart(writer: Callable[[Path], Any], tmp_path: Path) -> None:
    evaluation = made(["a b", "a_b", "a:b", "/lead", "狗"], images=40)
    with writer(tmp_path / "events") as open_writer:
        logged = evaluation.log_to(open_writer, figures=False, report=False, per_class=["AP"], errors="raise")
    found = read(tmp_path / "events")
    assert sorted(found.Tags()["scalars"]) == sorted(logged.numbers)
    assert {"AP/a_b_2", "AP/a_b", "AP/a_b_3", "AP//lead", "AP/狗"} <= set(logged.numbers)
    assert found.Scalars("AP/a_b")[0].value == np.float32(evaluation.per_class["a_b"].summary["AP"])
    assert found.Scalars("AP/a_b_2")[0].value == np.float32(evaluation.per_class["a b"].summary["AP"])
