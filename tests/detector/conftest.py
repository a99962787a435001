"""A small data set of drawn shapes, for the tests of the detector that only read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ioukit.datasets.shapes import CLASSES, make_shapes

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.torch.detector.data import Data


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """16 images to learn from and 4 others, of 64 x 64 pixels, in both formats. Copy it before you change a file."""
    target = tmp_path_factory.mktemp("data") / "shapes"
    make_shapes(target, images=20, seed=3, size=(64, 64), handwritten=False)
    return target


@pytest.fixture(scope="module")
def learn(folder: Path) -> Data:
    """The images to learn from."""
    from ioukit.torch.detector.data import read_yolo_data  # noqa: PLC0415 - the detector is optional

    return read_yolo_data(folder / "data.yaml", "train")


@pytest.fixture(scope="module")
def held_out(folder: Path) -> Data:
    """The images to evaluate on."""
    from ioukit.torch.detector.data import read_yolo_data  # noqa: PLC0415 - the detector is optional

    return read_yolo_data(folder / "data.yaml", "val")


@pytest.fixture(scope="session")
def few_images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """4 images to learn from and 4 others, of 64 x 64 pixels, in both formats. Copy it before you change a file."""
    target = tmp_path_factory.mktemp("data") / "shapes"
    make_shapes(target, images=8, val=0.5, seed=3, size=(64, 64), handwritten=False)
    return target


@pytest.fixture(scope="session")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The weights of a small network that has learned nothing."""
    import torch  # noqa: PLC0415 - the detector is optional

    from ioukit.torch.detector.checkpoint import save_model  # noqa: PLC0415
    from ioukit.torch.detector.model import YOLO, Config  # noqa: PLC0415

    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("network") / "net.safetensors"
    shape = Config(num_classes=len(CLASSES), image_size=(64, 64), width=0.125, depth=0.1, names=CLASSES)
    save_model(YOLO(shape), path)
    return path
