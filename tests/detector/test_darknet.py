"""Darknet's files: the published sizes, and the numbers where they belong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("torch", reason="the detector needs PyTorch: pip install 'ioukit[torch]'")

import torch

from ioukit.torch.detector.darknet import DarknetNetwork, _MaxPool, load_backbone_and_heads, load_weights, read_cfg
from ioukit.torch.detector.model import YOLO, Config
from support.darknet_files import tiny_cfg, write_weights, yolov3_cfg
from support.plain_darknet import run_plainly, write_plausible_weights

if TYPE_CHECKING:
    from pathlib import Path

    from torch import nn


def network(tmp_path: Path, text: str) -> DarknetNetwork:
    path = tmp_path / "net.cfg"
    path.write_text(text)
    return DarknetNetwork(read_cfg(path))


def numbers(model: nn.Module) -> int:
    """How many float32 numbers a .weights file of it holds."""
    kept = [value for name, value in model.state_dict().items() if "num_batches" not in name]
    return sum(value.numel() for value in kept)


class TestPublishedSizes:
    # yolov3.weights has 248,007,048 bytes, yolov3-tiny.weights 35,434,956, both with a header of 20.
    @pytest.mark.parametrize(("cfg", "size"), [(yolov3_cfg, 248_007_048), (tiny_cfg, 35_434_956)])
    def test_files(self, cfg: object, size: int, tmp_path: Path) -> None:
        with torch.device("meta"):
            assert 4 * numbers(network(tmp_path, cfg())) + 20 == size  # type: ignore[operator]


@pytest.mark.parametrize("version", [(0, 1), (0, 2)])
def test_numbers_stand_in_the_order_of_the_layers(version: tuple[int, int], tmp_path: Path) -> None:
    net = network(tmp_path, tiny_cfg(width=0.25, classes=2, size=64))
    written = write_weights(tmp_path / "net.weights", numbers(net), version=version)
    load_weights(net, tmp_path / "net.weights")
    first = net.layers[0]
    assert torch.equal(first[1].bias, torch.from_numpy(written[:4].copy()))
    assert torch.equal(first[1].weight, torch.from_numpy(written[4:8].copy()))
    assert torch.equal(first[1].running_mean, torch.from_numpy(written[8:12].copy()))
    assert torch.equal(first[1].running_var, torch.from_numpy(written[12:16].copy()))
    assert torch.equal(first[0].weight.flatten(), torch.from_numpy(written[16 : 16 + 108].copy()))
    last = net.layers[-2][0]
    assert torch.equal(last.weight.flatten(), torch.from_numpy(written[-last.weight.numel() :].copy()))


def test_both_spellings_of_yolov3_compute_the_same(tmp_path: Path) -> None:
    net = network(tmp_path, yolov3_cfg(width=0.25, classes=3, size=64)).eval()
    model = YOLO(Config(num_classes=3, width=0.25, image_size=(64, 64))).eval()
    write_weights(tmp_path / "net.weights", numbers(net))
    load_weights(net, tmp_path / "net.weights")
    load_backbone_and_heads(model, tmp_path / "net.weights")
    image = torch.rand(2, 3, 64, 96)
    with torch.no_grad():
        ours, theirs = model(image), net(image)
    assert [one.shape for one in ours.maps] == [(2, 3, 8, 12, 8), (2, 3, 4, 6, 8), (2, 3, 2, 3, 8)]
    for a, b in zip(ours.maps, theirs.maps, strict=True):
        torch.testing.assert_close(a, b)
    assert net.strides == (8, 16, 32)
    assert net.anchors == model.config.anchors


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(yolov3_cfg(width=0.125, classes=2, size=96), id="yolov3"),
        pytest.param(tiny_cfg(width=0.25, classes=3, size=96), id="tiny"),
    ],
)
def test_values_are_those_of_a_plain_reading(text: str, tmp_path: Path) -> None:
    write_plausible_weights(text, tmp_path / "net.weights")
    image = torch.rand(2, 3, 96, 64, generator=torch.Generator().manual_seed(1))
    expected = run_plainly(text, tmp_path / "net.weights", image)
    net = network(tmp_path, text).eval()
    load_weights(net, tmp_path / "net.weights")
    with torch.no_grad():
        maps = net(image).maps
    assert len(maps) == len(expected)
    for ours, plain in zip(maps, reversed(expected), strict=True):  # a .cfg has the coarsest first
        batch, anchors, rows, columns, values = ours.shape
        split = plain.view(batch, anchors, values, rows, columns).permute(0, 1, 3, 4, 2)
        assert 0.01 < split.std() < 1e3
        torch.testing.assert_close(ours, split, rtol=1e-4, atol=1e-4)


def test_tiny_has_two_scales(tmp_path: Path) -> None:
    net = network(tmp_path, tiny_cfg(width=0.25, classes=3, size=64)).eval()
    with torch.no_grad():
        maps = net(torch.rand(1, 3, 64, 64)).maps
    assert [one.shape for one in maps] == [(1, 3, 4, 4, 8), (1, 3, 2, 2, 8)]
    assert net.strides == (16, 32)
    assert net.anchors[1] == ((81, 82), (135, 169), (344, 319))


class TestBadFiles:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "expected \\[net\\] first, got nothing"),
            ("[convolutional]\nfilters=3", r"expected \[net\] first, got \[convolutional\]"),
            ("width=3", "line 1: expected \\[block\\] or name=value, got 'width=3'"),
            ("[net]\nnonsense", "line 2: expected \\[block\\] or name=value"),
            ("[net]\n[crop]", r"line 2: unknown layer \[crop\]; known are convolutional"),
            ("[net]\n[convolutional]\nsize=3", r"line 2: \[convolutional\] lacks filters"),
            ("[net]\n[convolutional]\nfilters=many", "filters must be whole numbers, got 'many'"),
            ("[net]\n[convolutional]\nfilters=8\nactivation=mish", "unknown activation 'mish'"),
            ("[net]\n[route]\nlayers=-2", r"line 2: \[route\] reads layer \[-2\], but there are only 0 before it"),
            ("[net]\n[yolo]\nanchors=1,2\nclasses=1", r"line 2: \[yolo\] needs 6 channels, the layer before has 3"),
            ("[net]\n[maxpool]", "no \\[yolo\\] layer"),
        ],
    )
    def test_cfg(self, text: str, message: str, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=message):
            network(tmp_path, text)

    @pytest.mark.parametrize("change", [-1, 1])
    def test_weights_of_another_network_change_nothing(self, change: int, tmp_path: Path) -> None:
        net = network(tmp_path, tiny_cfg(width=0.25, classes=2, size=64))
        before = {name: value.clone() for name, value in net.state_dict().items()}
        write_weights(tmp_path / "net.weights", numbers(net) + change)
        with pytest.raises(ValueError, match=r"net\.weights holds [\d,]+ numbers, expected [\d,]+ for this network"):
            load_weights(net, tmp_path / "net.weights")
        assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())

    def test_broken_weights(self, tmp_path: Path) -> None:
        net = network(tmp_path, tiny_cfg(width=0.25, classes=2, size=64))
        path = tmp_path / "net.weights"
        path.write_bytes(b"short")
        with pytest.raises(ValueError, match="has 5 bytes, expected a header of at least 16"):
            load_weights(net, path)
        write_weights(path, 3)
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(ValueError, match="does not hold whole float32 numbers"):
            load_weights(net, path)

    def test_weights_are_for_the_anchor_head(self, tmp_path: Path) -> None:
        model = YOLO(Config(head="free", width=0.25))
        with pytest.raises(ValueError, match="for the anchor head"):
            load_backbone_and_heads(model, tmp_path / "none.weights")


def test_maxpool_of_stride_one_keeps_the_size() -> None:
    x = torch.arange(9.0).view(1, 1, 3, 3)
    assert _MaxPool(2, 1)(x).flatten().tolist() == [4, 5, 5, 7, 8, 8, 7, 8, 8]
    assert np.array_equal(_MaxPool(2, 2)(torch.arange(16.0).view(1, 1, 4, 4)).flatten().numpy(), [5, 7, 13, 15])
