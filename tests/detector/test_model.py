"""The network has the published shape."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch", reason="the detector needs PyTorch: pip install 'ioukit[torch]'")

import torch

from ioukit.torch.detector.model import YOLO, Config, Darknet53


def parameters(model: torch.nn.Module) -> int:
    return sum(one.numel() for one in model.parameters())


@pytest.fixture(scope="module")
def yolov3() -> YOLO:
    with torch.device("meta"):
        return YOLO()


class TestPublishedNumbers:
    def test_darknet53(self, yolov3: YOLO) -> None:
        # darknet53.conv.74 has 162,482,580 bytes: a header of 20, and the statistics of the batch normalisation.
        statistics = sum(value.numel() for name, value in yolov3.backbone.named_buffers() if "num" not in name)
        assert parameters(yolov3.backbone) == 40_584_928
        assert 4 * (40_584_928 + statistics) + 20 == 162_482_580
        assert sum(isinstance(part, torch.nn.Conv2d) for part in yolov3.backbone.modules()) == 52

    def test_yolov3(self, yolov3: YOLO) -> None:
        assert parameters(yolov3) == 61_949_149
        assert [scale[-1].out_channels for scale in yolov3.head.scales] == [255, 255, 255]

    def test_maps_at_416(self, yolov3: YOLO) -> None:
        out = yolov3(torch.zeros(2, 3, 416, 416, device="meta"))
        assert [tuple(one.shape) for one in out.maps] == [
            (2, 3, 52, 52, 85), (2, 3, 26, 26, 85), (2, 3, 13, 13, 85),
        ]  # fmt: skip
        assert out.flat().shape == (2, 10_647, 85)

    def test_outputs_of_the_stages(self, yolov3: YOLO) -> None:
        shapes = [tuple(one.shape) for one in yolov3.backbone(torch.zeros(1, 3, 416, 416, device="meta"))]
        assert shapes == [(1, 256, 52, 52), (1, 512, 26, 26), (1, 1024, 13, 13)]


class TestScaled:
    def test_anchor_free_maps(self) -> None:
        model = YOLO(Config(num_classes=7, head="free", width=0.25, depth=0.34, image_size=(96, 64), bins=8))
        many, one = model(torch.rand(2, 3, 64, 96))
        places = 8 * 12 + 4 * 6 + 2 * 3
        for maps in (many, one):
            assert maps.distances.shape == (2, places, 4, 8)
            assert maps.classes.shape == (2, places, 7)

    def test_the_second_branch_changes_no_feature(self) -> None:
        model = YOLO(Config(num_classes=2, head="free", width=0.125, depth=0.1))
        _, one = model(torch.rand(1, 3, 64, 64))
        (one.classes.sum() + one.distances.sum()).backward()
        assert all(parameter.grad is None for parameter in [*model.backbone.parameters(), *model.neck.parameters()])
        assert all(parameter.grad is not None for parameter in model.head.one_to_one.parameters())

    def test_width_and_depth(self) -> None:
        small = Darknet53(0.25, 0.34)
        assert small.channels == (64, 128, 256)
        assert parameters(small) == 1_037_976


class TestConfig:
    def test_survives_json(self) -> None:
        config = Config(num_classes=2, names=("a", "b"), width=0.5)
        assert Config.from_dict(json.loads(json.dumps(config.to_dict()))) == config

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"num_classes": 0}, "num_classes must be at least 1, got 0"),
            ({"head": "both"}, "unknown head 'both'; choose from anchor, free"),
            ({"image_size": (416, 400)}, r"image_size must be multiples of 32, got \(416, 400\)"),
            ({"names": ("a",)}, "names must be one a class, got 1 for 80"),
            ({"anchors": (((1, 2),),)}, "anchors must be 3 lists of one length"),
        ],
    )
    def test_wrong_values(self, wrong: dict[str, object], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            Config(**wrong)  # type: ignore[arg-type]
