"""Training and prediction: small, quick, and to the same bits."""

from __future__ import annotations

import csv
import json
import os
import shutil
import sys
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytest.importorskip("torch", reason="the detector needs PyTorch: pip install 'ioukit[torch]'")
pytest.importorskip("safetensors", reason="the detector needs safetensors: pip install 'ioukit[torch]'")
pytest.importorskip("yaml", reason="the detector needs PyYAML: pip install 'ioukit[torch]'")

import torch
from PIL import Image

from ioukit import DatasetError
from ioukit.datasets.shapes import CLASSES, make_shapes
from ioukit.torch.detector.batches import NO_AUGMENTATION, Augmentation, Samples, collate, loader
from ioukit.torch.detector.checkpoint import load_model, save_model, save_state
from ioukit.torch.detector.data import Data, read_coco_data, read_yolo_data
from ioukit.torch.detector.decoding import decode, priors
from ioukit.torch.detector.drawing import draw
from ioukit.torch.detector.learning import ASSIGNERS, BOX_LOSSES, Learning
from ioukit.torch.detector.log import to_tensorboard
from ioukit.torch.detector.model import YOLO, Config
from ioukit.torch.detector.predict import detections_of, predict, to_coco
from ioukit.torch.detector.train import Epoch, Settings, train
from support.command import run_here

if TYPE_CHECKING:
    from pathlib import Path

ANCHORS = (
    ((8.0, 8.0), (12.0, 12.0), (16.0, 16.0)), ((20.0, 20.0), (26.0, 26.0), (32.0, 32.0)),
    ((40.0, 40.0), (48.0, 48.0), (64.0, 64.0)),
)  # fmt: skip


def config(head: str = "anchor") -> Config:
    return Config(
        num_classes=len(CLASSES), head=head, image_size=(64, 64), width=0.125, depth=0.1, anchors=ANCHORS,  # type: ignore[arg-type]
        names=CLASSES,
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("data") / "shapes"
    make_shapes(target, images=20, seed=3, size=(64, 64), handwritten=False)
    return target


@pytest.fixture(scope="module")
def learn(folder: Path) -> Data:
    return read_yolo_data(folder / "data.yaml", "train")


@pytest.fixture(scope="module")
def held_out(folder: Path) -> Data:
    return read_yolo_data(folder / "data.yaml", "val")


class TestData:
    def test_both_formats_say_the_same(self, folder: Path, learn: Data) -> None:
        coco = read_coco_data(folder / "annotations" / "train.json", folder / "images" / "train")
        assert coco.names == learn.names == CLASSES
        assert len(coco) == len(learn) == 16
        for a, b in zip(coco.records, learn.records, strict=True):
            assert a.path.name == b.path.name
            assert a.size == b.size == (64, 64)
            assert_array_equal(a.labels, b.labels)
            assert_allclose(a.boxes, b.boxes, atol=1e-4)

    @pytest.mark.filterwarnings("ignore:os.fork")  # of JAX, if another test has imported it
    def test_a_sample_depends_on_seed_epoch_and_number_alone(self, learn: Data) -> None:
        def batches(start: int = 0, workers: int = 0) -> list[Any]:
            return list(loader(learn, (64, 64), batch=4, epoch=2, seed=5, start=start, workers=workers))

        every = batches()
        assert len(every) == 4
        for again in (batches(), batches(workers=1)):
            for a, b in zip(every, again, strict=True):
                assert all(torch.equal(x, y) for x, y in zip(a, b, strict=True))
        for a, b in zip(every[2:], batches(start=2), strict=True):
            assert torch.equal(a.images, b.images)

    def test_boxes_stay_on_what_they_mark(self, tmp_path: Path) -> None:
        """Bright rectangles on black: after any augmentation, their boxes are where it is bright."""
        (tmp_path / "images").mkdir()
        (tmp_path / "labels").mkdir()
        rng = np.random.default_rng(0)
        for number in range(6):
            pixels = np.zeros((80, 100, 3), np.uint8)
            x1, y1 = rng.integers(5, 40, 2)
            w, h = rng.integers(20, 35, 2)
            pixels[y1 : y1 + h, x1 : x1 + w] = 255
            Image.fromarray(pixels).save(tmp_path / "images" / f"{number}.png")
            numbers = [(x1 + w / 2) / 100, (y1 + h / 2) / 80, w / 100, h / 80]
            (tmp_path / "labels" / f"{number}.txt").write_text(" ".join(map(str, [0, *numbers])))
        (tmp_path / "data.yaml").write_text("train: images\nval: images\nnames: [bright]\n")
        data = read_yolo_data(tmp_path / "data.yaml", "train")
        strong = Augmentation(mosaic=0.5, flip=0.5, scale=0.3, shift=0.1, hue=0, saturation=0, brightness=0)
        for epoch in range(6):
            for batch in loader(data, (96, 96), batch=2, epoch=epoch, seed=1, augmentation=strong):
                for image in range(2):
                    bright = batch.images[image].float().mean(dim=0).numpy() > 200
                    marked = np.zeros((96, 96), bool)
                    for x1, y1, x2, y2 in batch.boxes[batch.image == image].round().int().tolist():
                        marked[y1:y2, x1:x2] = True
                        inner = bright[y1 + 1 : y2 - 1, x1 + 1 : x2 - 1]
                        assert not inner.size or inner.mean() > 0.9
                    assert (bright & ~marked).sum() < 0.1 * max(bright.sum(), 60)

    @pytest.mark.parametrize(
        ("line", "kind", "message"),
        [
            ("9 0.5 0.5 0.1 0.1", "label out of range", "class 9 is not one of 0 to 6"),
            ("0 0.5 0.5 0.1", "bad line", "expected class cx cy w h"),
            ("0 0.5 nan 0.1 0.1", "bad line", "expected class cx cy w h"),
            ("0 0.9 0.5 0.4 0.1", "box outside", "has no area or reaches out of the image"),
            ("0 0.5 0.5 0 0.1", "box outside", "has no area or reaches out of the image"),
        ],
    )
    def test_bad_lines(self, line: str, kind: str, message: str, folder: Path, tmp_path: Path) -> None:
        copy = _copy(folder, tmp_path)
        label = copy / "labels" / "train" / "000003.txt"
        good = label.read_text()
        label.write_text(f"{good}{line}\n")
        with pytest.raises(DatasetError, match=rf"000003\.txt: line {good.count(chr(10)) + 1}: .*{message}"):
            read_yolo_data(copy / "data.yaml", "train")
        data = read_yolo_data(copy / "data.yaml", "train", on_invalid="skip")
        assert data.problems == {kind: 1}
        assert len(data) == 16

    def test_bad_images(self, folder: Path, tmp_path: Path) -> None:
        copy = _copy(folder, tmp_path)
        broken = copy / "images" / "train" / "000002.png"
        broken.write_bytes(broken.read_bytes()[:400])
        with pytest.raises(DatasetError, match=r"000002\.png cannot be read as an image"):
            read_yolo_data(copy / "data.yaml", "train")
        data = read_yolo_data(copy / "data.yaml", "train", on_invalid="skip")
        assert data.problems == {"corrupt image": 1}
        assert len(data) == 15
        broken.unlink()
        with pytest.raises(DatasetError, match=r"there is no image .*000002\.png"):
            read_coco_data(copy / "annotations" / "train.json", copy / "images" / "train")
        coco = read_coco_data(copy / "annotations" / "train.json", copy / "images" / "train", on_invalid="skip")
        assert coco.problems == {"missing image": 1}

    def test_an_image_without_objects_is_background(self, folder: Path, tmp_path: Path) -> None:
        copy = _copy(folder, tmp_path)
        (copy / "labels" / "train" / "000001.txt").write_text("")
        (copy / "labels" / "train" / "000004.txt").unlink()
        data = read_yolo_data(copy / "data.yaml", "train")
        assert data.problems == {"background": 2}
        assert len(data.records[1].labels) == 0

    def test_file_names_do_not_lead_out_of_the_folder(self, folder: Path, tmp_path: Path) -> None:
        path = tmp_path / "train.json"
        data = json.loads((folder / "annotations" / "train.json").read_text())
        data["images"][0]["file_name"] = "../val/000016.png"
        path.write_text(json.dumps(data))
        with pytest.raises(DatasetError, match=r"file_name '\.\./val/000016\.png' is not in"):
            read_coco_data(path, folder / "images" / "train")


def _copy(folder: Path, tmp_path: Path) -> Path:
    return shutil.copytree(folder, tmp_path / "copy")


class TestLearning:
    @pytest.mark.parametrize("head", ["anchor", "free"])
    def test_perfect_predictions_cost_little(self, head: str, learn: Data) -> None:
        """Boxes that are exactly right have no box loss, and decode to themselves."""
        batch = collate([_sample(learn, number) for number in range(4)])
        model = YOLO(config(head))
        losses = Learning(model.config)(model(batch.images.float() / 255), batch)
        assert set(losses) >= {"total", "box", "classes"}
        assert losses["total"].item() == pytest.approx(
            sum(value.item() for name, value in losses.items() if name != "total"), rel=1e-5
        )

    @pytest.mark.parametrize("loss", BOX_LOSSES)
    def test_every_loss_learns(self, loss: str, learn: Data) -> None:
        _learns(config(), learn, loss=loss)

    @pytest.mark.parametrize("assigner", ASSIGNERS)
    def test_every_assigner_learns(self, assigner: str, learn: Data) -> None:
        _learns(config(), learn, assigner=assigner)
        if not assigner.startswith("yolo"):
            _learns(config("free"), learn, assigner=assigner)

    def test_wrong_names(self) -> None:
        with pytest.raises(ValueError, match="unknown loss 'l2'; choose from iou"):
            Learning(config(), loss="l2")
        with pytest.raises(ValueError, match="unknown assigner 'best'; choose from atss"):
            Learning(config(), assigner="best")
        with pytest.raises(ValueError, match="needs anchors, which the anchor-free head has not"):
            Learning(config("free"), assigner="yolov3")

    def test_a_batch_without_objects(self, learn: Data) -> None:
        sample = _sample(learn, 0)
        empty = collate([sample._replace(boxes=sample.boxes[:0], labels=sample.labels[:0])] * 2)
        for head in ("anchor", "free"):
            model = YOLO(config(head))
            losses = Learning(model.config)(model(empty.images.float() / 255), empty)
            losses["total"].backward()
            assert torch.isfinite(losses["total"])
            assert losses["box"].item() == 0


def _sample(data: Data, number: int) -> Any:
    return Samples(data, (64, 64), NO_AUGMENTATION, 0)[0, number]


def _learns(shape: Config, data: Data, **choices: Any) -> None:
    torch.manual_seed(0)
    batch = collate([_sample(data, number) for number in range(4)])
    model, learning = YOLO(shape), Learning(shape, **choices)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    totals = []
    for _ in range(12):
        total = learning(model(batch.images.float() / 255), batch)["total"]
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        totals.append(total.item())
    assert np.isfinite(totals).all()
    assert totals[-1] < 0.8 * totals[0]


class TestDecoding:
    def test_priors_are_in_the_order_of_the_maps(self) -> None:
        known = priors(config())
        assert known.levels == (3 * 64, 3 * 16, 3 * 4)
        assert known.anchors[0].tolist() == [0, 0, 8, 8]
        assert known.anchors[64].tolist() == [-2, -2, 10, 10]  # the second anchor of the first cell
        assert known.cells[:2].tolist() == [[0, 0], [1, 0]]
        assert known.points[-1].tolist() == [48, 48]

    @pytest.mark.parametrize("head", ["anchor", "free"])
    def test_shapes(self, head: str) -> None:
        model = YOLO(config(head)).eval()
        predictions = decode(model(torch.rand(2, 3, 64, 64)), model.config)
        count = 3 * 84 if head == "anchor" else 84
        assert predictions.boxes.shape == (2, count, 4)
        assert predictions.scores.shape == (2, count, len(CLASSES))
        assert (predictions.boxes[..., 2:] >= predictions.boxes[..., :2]).all()
        assert predictions.needs_nms == (head == "anchor")


SHORT = Settings(epochs=3, batch=4, lr=2e-3, warmup=0.5, plain_epochs=1, judge_every=2)


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
        with pytest.raises(ValueError, match="batch must be at most the 16 images there are to learn from, got 32"):
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


@pytest.fixture(scope="module")
def model() -> YOLO:
    torch.manual_seed(0)
    made = YOLO(config())
    made.eval()
    return made


class TestPrediction:
    def test_results_are_in_the_pixels_of_each_image(self, model: YOLO, folder: Path) -> None:
        wide = np.zeros((50, 200, 3), np.uint8)
        results = list(predict(model, [wide, folder / "images" / "val"], score_threshold=0.0, batch=3))
        assert len(results) == 5
        first = results[0]
        assert first.size == (200, 50)
        assert len(first.boxes) == 100
        assert (first.boxes.conf[:-1] >= first.boxes.conf[1:]).all()
        assert first.boxes.xyxy.min() >= 0
        assert (first.boxes.xyxy.max(axis=0) <= [200, 50, 200, 50]).all()
        assert_allclose(first.boxes.xywh[:, 2:], first.boxes.cxcywh[:, 2:])
        assert_allclose(first.boxes.cxcywh[:, :2], first.boxes.xyxy.reshape(-1, 2, 2).mean(axis=1), atol=1e-3)
        assert draw(first).shape == wide.shape
        records = to_coco(results, range(1, 6), range(1, 8))
        assert len(records) == sum(len(result.boxes) for result in results)
        assert records[0]["image_id"] == 1

    def test_batches_change_nothing(self, model: YOLO, folder: Path) -> None:
        one, four = (
            list(predict(model, folder / "images" / "val", score_threshold=0.0, batch=batch)) for batch in (1, 4)
        )
        for a, b in zip(one, four, strict=True):
            assert_allclose(a.boxes.conf, b.boxes.conf, atol=1e-5)

    def test_saved_and_loaded_finds_the_same(self, model: YOLO, held_out: Data, tmp_path: Path) -> None:
        save_model(model, tmp_path / "model.safetensors")
        again = load_model(tmp_path / "model.safetensors")
        assert again.config == model.config
        a, b = (detections_of(one, held_out) for one in (model, again))
        assert_array_equal(a.scores, b.scores)
        assert_array_equal(a.boxes, b.boxes)

    def test_bad_input(self, model: YOLO, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match="there is no file"):
            list(predict(model, tmp_path / "none.png"))
        with pytest.raises(FileNotFoundError, match="there is no image in"):
            list(predict(model, tmp_path))
        with pytest.raises(ValueError, match=r"an image must be \(H, W, 3\) of uint8 in RGB"):
            list(predict(model, np.zeros((4, 4, 4), np.uint8)))
        (tmp_path / "wrong.safetensors").write_bytes(b"no")
        with pytest.raises(ValueError, match="is not a safetensors file"):
            load_model(tmp_path / "wrong.safetensors")


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

        judged = run_here("val", run / "best.safetensors", folder / "data.yaml", "--json", "--device", "cpu")
        assert judged.code in (0, None), judged.err
        with open(run / "log.csv", encoding="utf-8", newline="") as file:
            best = max(float(row["AP"]) for row in csv.DictReader(file))
        assert json.loads(judged.out)["summary"]["AP"] == pytest.approx(best)

        found = run_here(
            "predict", run / "best.safetensors", folder / "images" / "val", "--score", "0",
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
            (["--images", "there"], "says where its images are"),
            (["--batch", "64"], "batch must be at most the 16 images"),
            (["--resume"], "there is nothing to resume"),
        ],
    )
    def test_wrong_options(self, options: list[str], message: str, folder: Path, tmp_path: Path) -> None:
        result = run_here("train", folder / "data.yaml", "-o", tmp_path / "run", *options)
        assert result.code == 2
        assert message in result.err
        assert "Traceback" not in result.err
