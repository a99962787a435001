"""Two processes that train one network, as torchrun starts them."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("torch", reason="the detector needs PyTorch: pip install 'ioukit[torch]'")
pytest.importorskip("safetensors", reason="the detector needs safetensors: pip install 'ioukit[torch]'")

import torch
from PIL import Image

from ioukit.datasets.shapes import CLASSES, draw_scene, make_shapes
from ioukit.torch.detector.batches import NO_AUGMENTATION
from ioukit.torch.detector.checkpoint import load_model
from ioukit.torch.detector.data import Data, read_yolo_data
from ioukit.torch.detector.model import Config
from ioukit.torch.detector.train import Settings, train

if TYPE_CHECKING:
    from pathlib import Path

if not torch.distributed.is_available():
    pytest.skip("this PyTorch knows no other process", allow_module_level=True)

pytestmark = pytest.mark.slow  # each process imports PyTorch anew

CONFIG = Config(num_classes=len(CLASSES), head="free", image_size=(64, 64), width=0.125, depth=0.1, names=CLASSES)
ANCHORS = replace(
    CONFIG, head="anchor",
    anchors=(((8, 8), (12, 12), (16, 16)), ((20, 20), (26, 26), (32, 32)), ((40, 40), (48, 48), (64, 64))),
)  # fmt: skip
SHORT = Settings(epochs=2, batch=4, warmup=0.5, plain_epochs=1, save_steps=1, device="cpu", loss="wiou")
# Plain gradient descent: AdamW divides by the size of the gradient, and makes a step of the rounding of a tiny one.
ALIKE = Settings(
    epochs=1, batch=4, optimizer="sgd", lr=1e-3, warmup=0, augmentation=NO_AUGMENTATION, plain_epochs=0, device="cpu"
)

# What each process does, one thing after the other. The second argument says up to which step.
PROGRAM = """
import hashlib, os, sys
from datetime import timedelta
from pathlib import Path

import torch

from test_distributed import ALIKE, ANCHORS, CONFIG, SHORT, of, settings_of
from ioukit.torch.detector import train as room
from ioukit.torch.detector.batches import NO_AUGMENTATION, loader
from ioukit.torch.detector.learning import Learning
from ioukit.torch.detector.model import YOLO

folder, task = Path(sys.argv[1]), sys.argv[2]
rank = int(os.environ["RANK"])


class Seen(room.Run):
    def begin(self, resume):
        super().begin(resume)
        Seen.last = self

room.Run = Seen


def run(data, name, settings, config=CONFIG, **options):
    done = room.train(of(folder / data, "train"), of(folder / data, "val"), config, folder / name, settings, **options)
    digest = hashlib.sha256(b"".join(one.detach().numpy().tobytes() for one in Seen.last.model.parameters()))
    (folder / f"{name}.{rank}").write_text(f"{digest.hexdigest()} {done.evaluation is not None}")


def gradient(config, **share):
    torch.manual_seed(0)
    model = YOLO(config).eval()  # where no image has a say in the normalisation of another
    data, options = of(folder / "shapes", "train"), {"batch": 4, "epoch": 0, "seed": 1, "augmentation": NO_AUGMENTATION}
    (batch, *_) = loader(data, config.image_size, **options, **share)
    Learning(config)(model(batch.images.float() / 255), batch)["total"].backward()
    return torch.cat([one.grad.flatten() for one in model.parameters() if one.grad is not None])


def compare_gradients(config, whole):
    mean = gradient(config, rank=rank, world=2)
    torch.distributed.all_reduce(mean)
    difference = (mean / 2 - whole).norm() / whole.norm()
    (folder / f"gradient-{config.head}.{rank}").write_text(str(float(difference)))


def die(epoch, step, steps, losses):
    if (epoch, step) == (2, 2):
        os._exit(9)  # no goodbye: nothing is written, nobody is told


if task == "run":
    alone = [(config, gradient(config)) for config in (CONFIG, ANCHORS)]  # before there is a group
    # Here, or torchrun's store would be asked for three groups of one name.
    torch.distributed.init_process_group("gloo", timeout=timedelta(seconds=60))
    try:
        room.train(
            of(folder / "shapes", "train"), of(folder / "shapes", "val"), CONFIG, folder / "none",
            settings_of(SHORT, batch=5),
        )
    except ValueError as error:
        (folder / f"error.{rank}").write_text(str(error))
    for config, whole in alone:
        compare_gradients(config, whole)
    run("alike", "alike-two", ALIKE, ANCHORS)
    try:
        run("alike", "alike-two", ALIKE, ANCHORS)
    except ValueError as error:
        (folder / f"used.{rank}").write_text(str(error))
    run("shapes", "whole", SHORT)
    run("shapes", "killed", SHORT, on_step=die)
else:
    run("shapes", "killed", SHORT, resume=True)
"""


def of(folder: Path, split: Literal["train", "val"]) -> Data:
    return read_yolo_data(folder / "data.yaml", split)


def settings_of(settings: Settings, **changes: object) -> Settings:
    return Settings(**{**settings.__dict__, **changes})


def _torchrun(folder: Path, task: str) -> tuple[int, str]:
    program = folder / "program.py"
    program.write_text(PROGRAM)
    here = os.path.dirname(__file__)
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([here, os.path.dirname(here), os.environ.get("PYTHONPATH", "")]),
    }
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", program]
    with open(folder / f"{task}.log", "w", encoding="utf-8") as log:
        started = subprocess.Popen([*map(str, command), str(folder), task], stdout=log, stderr=log, env=environment)
        try:
            code = started.wait(timeout=120)
        finally:
            started.terminate()  # which stops its processes too
            started.wait()
    return code, (folder / f"{task}.log").read_text()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes left: a whole run, one that was killed and resumed, and one of equal shares."""
    target = tmp_path_factory.mktemp("two")
    make_shapes(target / "shapes", images=10, seed=3, size=(64, 64), handwritten=False)
    _same_image_everywhere(target / "alike", 8)
    code, said = _torchrun(target, "run")
    assert code != 0, "it was to be killed"
    assert (target / "killed" / "state.pt").is_file(), said
    code, said = _torchrun(target, "resume")
    assert code == 0, said
    return target


def _same_image_everywhere(folder: Path, count: int) -> None:
    scene = draw_scene(5, seed=1, size=(64, 64), handwritten=False)
    for name in ("images", "labels"):
        (folder / name).mkdir(parents=True)
    for number in range(count):
        Image.fromarray(scene.pixels).save(folder / "images" / f"{number}.png")
        rows = [
            f"{label} {(x1 + x2) / 128} {(y1 + y2) / 128} {(x2 - x1) / 64} {(y2 - y1) / 64}"
            for label, (x1, y1, x2, y2) in zip(scene.labels, scene.boxes, strict=True)
        ]
        (folder / "labels" / f"{number}.txt").write_text("\n".join(rows))
    names = json.dumps(list(CLASSES))
    (folder / "data.yaml").write_text(f"train: images\nval: images\nnames: {names}\n")


def test_all_processes_have_the_weights_and_one_evaluates(folder: Path) -> None:
    for run in ("alike-two", "whole", "killed"):
        first, second = ((folder / f"{run}.{rank}").read_text().split() for rank in (0, 1))
        assert first[0] == second[0], run
        assert (first[1], second[1]) == ("True", "False")
    with open(folder / "whole" / "log.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["epoch"] for row in rows] == ["1", "2"]
    assert all(row["AP"] for row in rows)


def test_killed_and_resumed_ends_with_the_same_bits(folder: Path) -> None:
    assert (folder / "whole.1").read_text() == (folder / "killed.1").read_text()
    for name in ("last.safetensors", "best.safetensors"):
        a, b = (load_model(folder / run / name, "cpu").state_dict() for run in ("whole", "killed"))
        assert all(torch.equal(a[key], b[key]) for key in a), name
    logs = []
    for run in ("whole", "killed"):
        with open(folder / run / "log.csv", encoding="utf-8", newline="") as file:
            logs.append([{**row, "seconds": ""} for row in csv.DictReader(file)])
    assert logs[0] == logs[1]


def test_gradients_are_those_of_one_process(folder: Path) -> None:
    """Whatever images and objects fall to each: losses are divided by what there is in all processes."""
    for head in ("free", "anchor"):
        for rank in (0, 1):
            assert float((folder / f"gradient-{head}.{rank}").read_text()) < 1e-5, head


def test_equal_shares_learn_as_one_process_does(folder: Path, tmp_path: Path) -> None:
    """With one image everywhere, both shares have the means, variances and pairs of the whole batch.

    What is left is the rounding of sums in another order; running variances differ, being of fewer values each.
    """
    one = train(of(folder / "alike", "train"), of(folder / "alike", "val"), ANCHORS, tmp_path / "one", ALIKE)
    with open(folder / "alike-two" / "log.csv", encoding="utf-8", newline="") as file:
        (two,) = csv.DictReader(file)
    for name, value in one.epochs[0].losses.items():
        assert float(two[name]) == pytest.approx(value, rel=1e-4), name
    assert float(two["lr"]) == one.epochs[0].lr
    states = [torch.load(path / "state.pt", weights_only=True) for path in (tmp_path / "one", folder / "alike-two")]
    for name, value in states[0]["model"].items():
        if "running" not in name:
            assert_allclose(states[1]["model"][name].numpy(), value.numpy(), atol=2e-5, err_msg=name)
    moved = [np.abs(value.numpy()).max() for name, value in states[0]["optimizer"]["state"][0].items() if "mom" in name]
    assert moved[0] > 0


def test_wrong_use_is_said_by_all(folder: Path) -> None:
    for rank in (0, 1):
        assert (folder / f"error.{rank}").read_text() == "batch must be a multiple of the 2 processes, got 5"
        assert "is not empty: name a new folder, or resume" in (folder / f"used.{rank}").read_text()
    assert not (folder / "none").exists()
