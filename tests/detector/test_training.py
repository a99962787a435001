"""Training: stopped and resumed it ends with the same bits, and it leaves behind what it says."""

from __future__ import annotations

import csv
import json
import os
import sys
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch", reason="the detector needs PyTorch: pip install 'ioukit[torch]'")
pytest.importorskip("safetensors", reason="the detector needs safetensors: pip install 'ioukit[torch]'")
pytest.importorskip("yaml", reason="the detector needs PyYAML: pip install 'ioukit[torch]'")
import torch

from ioukit.torch.detector.checkpoint import load_model, save_state
from ioukit.torch.detector.data import Data
from ioukit.torch.detector.log import to_tensorboard
from ioukit.torch.detector.model import YOLO
from ioukit.torch.detector.train import Epoch, Settings, train
from support.command import run_here
from support.small_detector import config

if TYPE_CHECKING:
    from pathlib import Path

SHORT = Settings(epochs=3, batch=4, lr=2e-3, warmup=0.5, plain_epochs=1, evaluate_every=2)


class TestTraining:
    @pytest.mark.parametrize("head", ["anchor", "free"])
    def test_stopped_and_resumed_ends_with_the_same_bits(
        self, head: str, learn: Data, held_out: Data, tmp_path: Path
    ) -> None:
        settings = Settings(**{**SHORT.__dict__, "save_steps": 3})
        whole = train(learn, held_out, config(head), tmp_path / "whole", settings)

        def stop(*where: Any) -> None:
            if where[:2] == (2, 4):  # one step after a state was kept
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            train(learn, held_out, config(head), tmp_path / "stopped", settings, on_step=stop)
        resumed = train(learn, held_out, config(head), tmp_path / "stopped", settings, resume=True)
        for name in ("last.safetensors", "best.safetensors"):
            a, b = (load_model(tmp_path / run / name).state_dict() for run in ("whole", "stopped"))
            assert all(torch.equal(a[key], b[key]) for key in a), name
        for a, b in zip(whole.epochs, resumed.epochs, strict=True):
            assert a.losses == b.losses
        assert whole.evaluation.summary == pytest.approx(resumed.evaluation.summary, nan_ok=True)

    def test_what_it_leaves_behind(self, learn: Data, held_out: Data, tmp_path: Path) -> None:
        seen: list[int] = []
        done = train(
            learn, held_out, config(), tmp_path / "run", SHORT, on_epoch=lambda epoch: seen.append(epoch.epoch)
        )
        assert seen == [1, 2, 3]
        names = {path.name for path in (tmp_path / "run").iterdir()} - {"tensorboard"}
        assert (tmp_path / "run" / "tensorboard").is_dir() == (find_spec("tensorboard") is not None)
        assert names == {"best.safetensors", "last.safetensors", "state.pt", "log.csv", "settings.json"}
        with open(tmp_path / "run" / "log.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [row["epoch"] for row in rows] == ["1", "2", "3"]
        assert [bool(row["AP"]) for row in rows] == [False, True, True]
        assert float(rows[2]["AP"]) == pytest.approx(done.evaluation.summary["AP"], nan_ok=True)
        assert json.loads((tmp_path / "run" / "settings.json").read_text())["settings"]["epochs"] == 3
        with pytest.raises(ValueError, match="is not empty: name a new folder, or resume"):
            train(learn, held_out, config(), tmp_path / "run", SHORT)
        other = Settings(**{**SHORT.__dict__, "lr": 1.0})
        with pytest.raises(ValueError, match=r"holds another training: settings\.lr was 0\.002, now 1\.0"):
            train(learn, held_out, config(), tmp_path / "run", other, resume=True)

    def test_tensorboard_gets_every_finite_number(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        written: list[tuple[str, float, int]] = []

        class SummaryWriter:
            def __init__(self, folder: str) -> None:
                assert folder == str(tmp_path / "tensorboard")

            def __enter__(self) -> SummaryWriter:
                return self

            def __exit__(self, *_: object) -> None:
                pass

            def add_scalar(self, name: str, value: float, step: int) -> None:
                written.append((name, value, step))

        module = ModuleType("torch.utils.tensorboard")
        module.SummaryWriter = SummaryWriter  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
        row = Epoch(3, 1.5, 0.25, {"total": 2.0}, {"AP": 0.5, "APl": float("nan")})
        monkeypatch.setattr("ioukit.torch.detector.log.find_spec", lambda _: None)
        to_tensorboard(tmp_path, row)
        assert written == []
        monkeypatch.setattr("ioukit.torch.detector.log.find_spec", lambda _: object())
        to_tensorboard(tmp_path, row)
        assert written == [("seconds", 1.5, 3), ("lr", 0.25, 3), ("total", 2.0, 3), ("AP", 0.5, 3)]

    def test_tensorboard_reads_what_was_written(self, tmp_path: Path) -> None:
        events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
        for number in (1, 2):
            to_tensorboard(tmp_path, Epoch(number, 1.0, 0.5, {"total": 2.0 / number}, {}))
        read = events.EventAccumulator(str(tmp_path / "tensorboard")).Reload()
        assert set(read.Tags()["scalars"]) == {"seconds", "lr", "total"}
        assert [(event.step, event.value) for event in read.Scalars("total")] == [(1, 2.0), (2, 1.0)]

    def test_wrong_use(self, learn: Data, held_out: Data, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="batch must be at most 16, the number of training images, got 32"):
            train(learn, held_out, config(), tmp_path / "run", Settings(batch=32))
        with pytest.raises(ValueError, match="there is nothing to resume"):
            train(learn, held_out, config(), tmp_path / "run", SHORT, resume=True)
        with pytest.raises(ValueError, match="epochs must be at least 1, got 0"):
            Settings(epochs=0)
        with pytest.raises(ValueError, match="the device 'abacus' cannot be used: "):
            train(learn, held_out, config(), tmp_path / "run", Settings(batch=4, device="abacus"))
        with pytest.raises(ValueError, match="another shape: it has head 'free', not 'anchor'"):
            train(learn, held_out, config(), tmp_path / "run", SHORT, start_from=YOLO(config("free")))
        assert not (tmp_path / "run").exists()
        (tmp_path / "file").touch()
        with pytest.raises(ValueError, match="file is a file, expected a folder"):
            train(learn, held_out, config(), tmp_path / "file", SHORT)

    @pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")
    def test_files_have_the_permissions_of_any_new_file(self, learn: Data, held_out: Data, tmp_path: Path) -> None:
        train(learn, held_out, config(), tmp_path / "run", Settings(epochs=1, batch=16))
        (tmp_path / "plain").touch()
        modes = {path.name: path.stat().st_mode for path in (tmp_path / "run").iterdir() if path.is_file()}
        assert modes == dict.fromkeys(modes, (tmp_path / "plain").stat().st_mode)

    def test_a_state_that_cannot_be_written_is_an_error_about_the_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "state.pt").write_text("the old state")

        def full(_: object, file: Path) -> None:
            file.write_text("half")
            raise RuntimeError("unexpected pos 576 vs 534")

        monkeypatch.setattr("torch.save", full)
        with pytest.raises(OSError, match=r"state\.pt cannot be written: unexpected pos 576"):
            save_state({}, tmp_path / "state.pt")
        assert (tmp_path / "state.pt").read_text() == "the old state"
        assert [path.name for path in tmp_path.iterdir()] == ["state.pt"]

    def test_a_loss_that_is_not_finite_stops(self, learn: Data, held_out: Data, tmp_path: Path) -> None:
        with pytest.raises(FloatingPointError, match=r"the loss is (nan|inf) in epoch 1, step \d"):
            train(
                learn, held_out, config(), tmp_path / "run", Settings(epochs=3, batch=4, lr=1e18, warmup=0, clip=1e30)
            )


class TestCommands:
    def test_train_val_and_predict(self, folder: Path, tmp_path: Path) -> None:
        run = tmp_path / "run"
        trained = run_here(
            "train", folder / "data.yaml", "-o", run, "--epochs", "2", "--batch", "8", "--size", "64",
            "--width", "0.125", "--depth", "0.1", "--device", "cpu",
        )  # fmt: skip
        assert trained.code in (0, None), trained.err
        assert trained.out == ""
        assert "read train  16 images  64 objects  7 classes" in trained.err
        assert "epoch 2/2" in trained.err

        evaluated = run_here("val", run / "best.safetensors", folder / "data.yaml", "--json", "--device", "cpu")
        assert evaluated.code in (0, None), evaluated.err
        with open(run / "log.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        best = max(float(row["AP"]) for row in rows)
        assert float(rows[1]["lr"]) < float(rows[0]["lr"]) / 2  # after two epochs, it has risen and fallen
        assert json.loads(evaluated.out)["summary"]["AP"] == pytest.approx(best)

        found = run_here(
            "predict", run / "best.safetensors", folder / "images" / "val", "--score-threshold", "0",
            "--json", tmp_path / "dt.json", "--draw", tmp_path / "drawn", "--device", "cpu",
        )  # fmt: skip
        assert found.code in (0, None), found.err
        records = json.loads((tmp_path / "dt.json").read_text())
        assert len(found.out.splitlines()) == len(records) == 400
        assert {record["image_id"] for record in records} == {1, 2, 3, 4}
        assert len(list((tmp_path / "drawn").iterdir())) == 4

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--loss", "l2"], "unknown loss 'l2'; choose from"),
            (["--size", "100"], "image_size must be multiples of 32"),
            (["--anchors", "none"], "unknown anchors 'none'; choose from fit, coco"),
            (["--head", "both"], "unknown head 'both'; choose from anchor, free"),
            (["--images", "there"], "names the folders of its images"),
            (["--batch", "64"], "batch must be at most 16"),
            (["--resume"], "there is nothing to resume"),
        ],
    )
    def test_wrong_options(self, options: list[str], message: str, folder: Path, tmp_path: Path) -> None:
        result = run_here("train", folder / "data.yaml", "-o", tmp_path / "run", *options)
        assert result.code == 2
        assert message in result.err
        assert "Traceback" not in result.err
