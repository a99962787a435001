"""The network has the published shape."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch", reason="the detector needs PyTorch: pip install 'ioukit[torch]'")

import torch

from ioukit.torch.detector.model import YOLO, Config, Darknet53, Residual


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


def _stage(channels: int, blocks: int, side: int) -> list[tuple[int, int, int, int]]:
    """A row of the paper's table 1: a convolution of stride 2, then blocks of 1 x 1 and 3 x 3."""
    return [(channels, 3, 2, side), *[(channels // 2, 1, 1, side), (channels, 3, 1, side)] * blocks]


def _scale(channels: int, side: int) -> list[tuple[int, int, int, int]]:
    """Layers 75 to 81, 87 to 93 and 99 to 105 of yolov3.cfg."""
    return [*[(channels, 1, 1, side), (2 * channels, 3, 1, side)] * 3, (255, 1, 1, side)]


# Filters, kernel, stride and side of the output of each convolution at 416 x 416, in the order in which they run: table
# 1 of the paper without its classifier, and from layer 75 on what Darknet prints for yolov3.cfg.
PUBLISHED = [
    (32, 3, 1, 416),
    *_stage(64, 1, 208), *_stage(128, 2, 104), *_stage(256, 8, 52), *_stage(512, 8, 26), *_stage(1024, 4, 13),
    *_scale(512, 13)[:5], (256, 1, 1, 13), *_scale(256, 26)[:5], (128, 1, 1, 26), *_scale(128, 52)[:5],
]  # fmt: skip
HEADS = [_scale(128, 52)[5:], _scale(256, 26)[5:], _scale(512, 13)[5:]]


class TestEveryLayer:
    def test_the_table_has_the_published_numbers(self) -> None:
        rows = [*PUBLISHED, *(row for head in HEADS for row in head)]
        assert len(rows) == 75
        assert len(PUBLISHED) - 17 == 52  # of Darknet-53; the neck has 17, the heads two each
        assert sum(3 * side * side for side in (13, 26, 52)) == 10_647

    def test_outputs(self, yolov3: YOLO) -> None:
        """Ours runs the heads last, finest first; Darknet runs each where its scale ends."""
        found: list[tuple[int, int, int, int]] = []

        def keep(layer: torch.nn.Conv2d, _: object, out: torch.Tensor) -> None:
            assert out.shape[2] == out.shape[3]
            found.append((out.shape[1], layer.kernel_size[0], layer.stride[0], out.shape[3]))

        layers = [part for part in yolov3.modules() if isinstance(part, torch.nn.Conv2d)]
        hooks = [layer.register_forward_hook(keep) for layer in layers]
        yolov3(torch.zeros(1, 3, 416, 416, device="meta"))
        for hook in hooks:
            hook.remove()
        assert found == [*PUBLISHED, *(row for head in HEADS for row in head)]

    def test_parameters(self, yolov3: YOLO) -> None:
        """Each layer's: its kernel, and two numbers a channel of the normalisation, or one bias."""
        # What a layer reads is what the one before it gave, but for the routes: 256 + 512 and 128 + 256 channels.
        inputs = [3, *(row[0] for row in PUBLISHED[:-1])]
        inputs[PUBLISHED.index((256, 1, 1, 13)) + 1] = 768
        inputs[PUBLISHED.index((128, 1, 1, 26)) + 1] = 384
        counts = [
            read * filters * kernel**2 + 2 * filters
            for read, (filters, kernel, _, _) in zip(inputs, PUBLISHED, strict=True)
        ]
        for read, head in zip((128, 256, 512), HEADS, strict=True):
            counts += [read * head[0][0] * 9 + 2 * head[0][0], head[0][0] * 255 + 255]
        assert sum(counts[:52]) == 40_584_928
        assert sum(counts) == 61_949_149
        pairs: list[int] = []
        for part in yolov3.modules():
            if isinstance(part, torch.nn.Conv2d):
                pairs.append(parameters(part))
            elif isinstance(part, torch.nn.BatchNorm2d):
                pairs[-1] += parameters(part)
        assert sorted(pairs) == sorted(counts)

    def test_residual_blocks(self, yolov3: YOLO) -> None:
        blocks = [sum(isinstance(part, Residual) for part in stage) for stage in yolov3.backbone.stages]
        assert blocks == [1, 2, 8, 8, 4]


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
            ({"names": ("a",)}, "names must be one per class, got 1 for 80"),
            ({"anchors": (((1, 2),),)}, "anchors must be 3 lists of one length"),
        ],
    )
    def test_wrong_values(self, wrong: dict[str, object], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            Config(**wrong)  # type: ignore[arg-type]
