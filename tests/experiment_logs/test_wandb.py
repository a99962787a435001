"""Evaluations in Weights & Biases' offline mode: the records that it would send, read from its file."""

from __future__ import annotations

import json
import math
import struct
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.evaluated_scenes import coco, made

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ioukit import Evaluation

wandb = pytest.importorskip("wandb", reason="needs W&B: pip install 'ioukit[wandb]'")
pytest.importorskip("matplotlib", reason="figures need matplotlib")
pytest.importorskip("jinja2", reason="the report needs Jinja2")
pytest.importorskip("PIL", reason="W&B reads pictures with Pillow")
pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.filterwarnings("error::ioukit.experiment_logs.TrackerWarning"),
]

_BLOCK = 32 * 1024  # bytes; a record that does not fit is split: 1 whole, 2 first, 3 middle, 4 last


def records(path: Path) -> Iterator[Any]:
    """The records of a file of W&B: 7 bytes of header, then LevelDB's log of protocol buffers."""
    from wandb.proto.wandb_internal_pb2 import Record  # noqa: PLC0415 - it may not be installed

    data, at, parts = path.read_bytes(), 7, b""
    while at + 7 <= len(data):
        if _BLOCK - at % _BLOCK < 7:  # too little room for a header
            at += _BLOCK - at % _BLOCK
            continue
        _, length, kind = struct.unpack("<IHB", data[at : at + 7])
        if at + 7 + length > len(data):
            return  # it is being written
        parts += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):
            record = Record()
            record.ParseFromString(parts)
            parts = b""
            yield record


def history(found: list[Any]) -> list[dict[str, Any]]:
    """The rows of the run, one per step."""
    rows = []
    for record in found:
        if record.HasField("history"):
            row: dict[str, Any] = {}
            for item in record.history.item:
                name, *inner = item.nested_key
                (row.setdefault(name, {}) if inner else row)[inner[0] if inner else name] = json.loads(item.value_json)
            row["_step"] = record.history.step.num
            rows.append(row)
    return rows


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("WANDB_DATA_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_ARTIFACT_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("WANDB_SILENT", "true")
    with wandb.init(project="ioukit", dir=tmp_path, mode="offline") as run:
        yield run


def finished(run: Any) -> tuple[list[Any], Path]:
    folder = Path(run.dir).parent
    run.finish()
    (path,) = folder.glob("run-*.wandb")
    for _ in range(600):  # another process writes the file, and goes on after `finish` returned
        found = list(records(path))
        if any(one.HasField("exit") for one in found):
            return found, folder
        time.sleep(0.1)
    raise AssertionError(f"{path} has no end")


def defined(evaluation: Evaluation, prefix: str = "") -> dict[str, float]:
    return {f"{prefix}{name}": value for name, value in evaluation.metrics().items() if not math.isnan(value)}


def test_one_evaluation_is_one_row_with_the_numbers_to_the_last_bit(run: Any) -> None:
    evaluation, other = coco(), made()
    logged = evaluation.log_to(run, errors="raise")
    other.log_to(wandb, figures=False, report=False, errors="raise")
    found, folder = finished(run)
    first, second = history(found)
    numbers = {key: value for key, value in first.items() if isinstance(value, (int, float)) and key[0] != "_"}
    assert numbers == defined(evaluation) == dict(logged.numbers)
    assert {key: value for key, value in second.items() if key[0] != "_"} == defined(other)
    assert (first["_step"], second["_step"]) == (0, 1)
    pictures = {key: value["path"] for key, value in first.items() if isinstance(value, dict)}
    assert sorted(pictures) == sorted(logged.figures)
    assert len(pictures) == 7
    for path in pictures.values():
        assert (folder / "files" / path).read_bytes().startswith(b"\x89PNG")


def test_the_report_is_an_artifact(run: Any) -> None:
    evaluation = made()
    logged = evaluation.log_to(run, figures=False, step=4, prefix="val/", errors="raise")
    found, _ = finished(run)
    assert logged.files == ("val/report",)
    (artifact,) = (one.artifact for one in found if one.HasField("artifact"))
    assert artifact.name == f"{run.id}-val_report"
    assert artifact.type == "evaluation"
    assert json.loads(artifact.metadata) == {"step": 4}
    (entry,) = artifact.manifest.contents
    assert entry.path == "report.html"
    page = Path(entry.local_path).read_text(encoding="utf-8")
    assert f"{evaluation.summary['AP50']:.3f}" in page


def test_the_steps_of_a_training_share_their_rows(run: Any) -> None:
    epochs = {step: made(seed=step) for step in (10, 20)}
    for step, evaluation in epochs.items():
        run.log({"loss": 1 / step}, step=step)
        evaluation.log_to(run, step=step, prefix="val/", figures=["confusion"], report=False, errors="raise")
    rows = history(finished(run)[0])
    assert [row["_step"] for row in rows] == [10, 20]
    for row in rows:
        step = row["_step"]
        assert row["loss"] == 1 / step
        assert row["val/AP/dog"] == epochs[step].per_class["dog"].summary["AP"]
        assert row["val/confusion"]["_type"] == "image-file"


def test_without_a_run_it_says_what_to_call() -> None:
    from ioukit.experiment_logs import TrackerWarning  # noqa: PLC0415 - as a training would

    with pytest.warns(TrackerWarning, match=r"no run is active: call wandb\.init\(\) first"):
        made().log_to(wandb)
