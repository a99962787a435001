"""Values of the losses on NumPy: from the literature, laws, arguments."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import ioukit
from ioukit import Boxes, losses
from ioukit.overlap._conformance import BOXES
from support.losses_cases import UPRIGHT, adversarial

DATA = Path(__file__).parents[1] / "data"
CASES = json.loads((DATA / "overlap" / "losses.json").read_text())
VARIANTS = CASES["variants"]
DEGENERATE = json.loads((DATA / "overlap" / "degenerate_peers.json").read_text())["cases"]
MEASURED: dict[str, Any] = {
    "mmdet.bbox_overlaps": (losses.iou_loss, "mmdet"),
    "ultralytics.bbox_iou CIoU": (losses.ciou_loss, "ultralytics"),
    "torchvision.giou_loss": (losses.giou_loss, "torchvision"),
    "torchvision.ciou_loss": (losses.ciou_loss, "torchvision"),
}

# The key of a value in the file, and what gives it: an overlap, of which the loss is 1 less, or a loss.
OVERLAPS: dict[str, Any] = {
    **{name: UPRIGHT[name] for name in ("iou", "giou", "diou", "ciou", "eiou")},
    "siou_theta4": losses.siou_loss,
    "nwd_C12.8": losses.nwd_loss,
    "mpdiou_img_640x640": lambda *pair: losses.mpdiou_loss(*pair, image_size=(640, 640)),
    "mpdiou_img_1280x720": lambda *pair: losses.mpdiou_loss(*pair, image_size=(1280, 720)),
    "inner_iou_ratio0.75": lambda *pair: losses.inner_iou_loss(*pair, ratio=0.75),
    "inner_iou_ratio1.25": lambda *pair: losses.inner_iou_loss(*pair, ratio=1.25),
    "focaler_iou_d0_u.95": losses.focaler_iou_loss,
    "shape_iou_scale0": losses.shape_iou_loss,
}
LOSSES: dict[str, Any] = {
    "wiou_v1_loss": losses.wiou_loss,
    "alpha_iou_loss_alpha3": losses.alpha_iou_loss,
    "iou_loss_linear": losses.iou_loss,
    "iou_loss_square": UPRIGHT["iou_square"],
    "iou_loss_log": UPRIGHT["iou_log"],
}
ANY: Any = losses  # to be called with what its types forbid
# A diagonal of the enclosing box is another definition of MPDIoU; the terms are parts of SIoU.
NOT_OURS = {"mpdiou_enclosing_variant", "siou_terms"}


def pairs(count: int = 200) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    low = rng.uniform(0, 10, (2, count, 2))
    boxes = np.concatenate([low, low + rng.uniform(0.5, 10, (2, count, 2))], axis=2)
    return boxes[0], boxes[1]


@pytest.mark.parametrize("case", VARIANTS, ids=lambda case: f"{case['pred']}-{case['target']}")
def test_values_of_the_literature(case: dict[str, Any]) -> None:
    values, pair = case["values"], (np.array(case["pred"], float), np.array(case["target"], float))
    assert set(values) == OVERLAPS.keys() | LOSSES.keys() | NOT_OURS
    for key, loss in OVERLAPS.items():
        assert_allclose(1 - loss(*pair), values[key], rtol=1e-12, atol=1e-12, err_msg=key)
    for key, loss in LOSSES.items():
        # -log 0 is null there; ours ends at IoU 1e-6
        expected = -np.log(1e-6) if values[key] is None else values[key]
        assert_allclose(loss(*pair), expected, rtol=1e-12, atol=1e-12, err_msg=key)


@pytest.mark.parametrize("case", CASES["upstream"], ids=lambda case: f"{case['source']}-{case['loss']}")
def test_values_that_other_libraries_assert(case: dict[str, Any]) -> None:
    loss = UPRIGHT[case["loss"]]
    pred, target, expected = (np.array(column, float) for column in zip(*case["rows"], strict=True))
    assert_allclose(loss(pred, target), expected, atol=case["atol"], rtol=0)
    if "batch" in case:
        batch = case["batch"]
        for reduction in ("sum", "mean"):
            found = loss(np.array(batch["pred"], float), np.array(batch["target"], float), reduction=reduction)
            assert_allclose(found, batch[reduction], atol=2 * case["atol"])


@pytest.mark.parametrize("name", UPRIGHT)
def test_array_libraries_agree(name: str) -> None:
    pred, target = pairs()
    found = UPRIGHT[name](strict.asarray(pred), strict.asarray(target))
    assert type(found) is type(strict.asarray(pred))
    assert_allclose(np.from_dlpack(found), UPRIGHT[name](pred, target), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["iou", "giou", "diou", "ciou", "eiou", "siou"])
def test_a_loss_is_one_less_the_overlap(name: str) -> None:
    pred = np.repeat(BOXES, len(BOXES), axis=0)
    target = np.tile(BOXES, (len(BOXES), 1))
    expected = 1 - getattr(ioukit, f"elementwise_{name}")(pred, target)
    assert_allclose(UPRIGHT[name](pred, target), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", UPRIGHT)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_are_finite_for_all_boxes(name: str, dtype: Any) -> None:
    pred, target = adversarial(100_000, dtype)
    found = UPRIGHT[name](pred, target)
    assert found.dtype == dtype
    assert np.isfinite(found).all()


@pytest.mark.parametrize("name", sorted(set(UPRIGHT) - {"iou_log", "focal_eiou"}))
def test_equal_boxes_lose_nothing_however_small(name: str) -> None:
    for side in (1e-8, 1e-4, 1.0, 1e5):
        box = np.array([[0, 0, side, 2 * side]])
        assert_allclose(UPRIGHT[name](box, box), 0, atol=1e-14)


def test_an_inverted_box_is_worse_than_an_empty_one() -> None:
    target = np.array([[0.0, 0.0, 4.0, 4.0]])
    empty, inverted = np.array([[2.0, 1.0, 2.0, 3.0]]), np.array([[2.5, 1.0, 1.5, 3.0]])
    for name in ("giou", "eiou", "mpdiou", "nwd"):
        assert UPRIGHT[name](inverted, target) > UPRIGHT[name](empty, target), name
    for name in ("iou", "diou", "ciou"):
        assert_allclose(UPRIGHT[name](inverted, target), UPRIGHT[name](empty, target))


@pytest.mark.parametrize("fmt", ["xywh", "cxcywh"])
def test_formats(fmt: Any) -> None:
    pred, target = pairs()
    sets = [Boxes(boxes, format="xyxy", dtype=np.float64).convert(fmt) for boxes in (pred, target)]
    expected = losses.ciou_loss(pred, target)
    assert_allclose(losses.ciou_loss(*(boxes.numpy() for boxes in sets), format=fmt), expected, rtol=1e-9)
    assert_allclose(losses.ciou_loss(*sets), expected, rtol=1e-9)


class TestReduction:
    def test_mean_and_sum(self) -> None:
        pred, target = pairs()
        each = losses.giou_loss(pred, target)
        assert_allclose(losses.giou_loss(pred, target, reduction="sum"), each.sum())
        assert_allclose(losses.giou_loss(pred, target, reduction="mean"), each.mean())

    def test_weights_divide_the_mean(self) -> None:
        pred, target = pairs(3)
        each, weight = losses.giou_loss(pred, target), np.array([1.0, 0.0, 3.0])
        assert_allclose(losses.giou_loss(pred, target, weight=weight), each * weight)
        assert_allclose(losses.giou_loss(pred, target, weight=weight, reduction="sum"), each @ weight)
        assert_allclose(losses.giou_loss(pred, target, weight=weight, reduction="mean"), each @ weight / 4)
        assert losses.giou_loss(pred, target, weight=np.zeros(3), reduction="mean") == 0

    def test_of_nothing(self) -> None:
        none = np.empty((0, 4), np.float32)
        for loss in UPRIGHT.values():
            assert loss(none, none).shape == (0,)
            assert loss(none, none, reduction="sum") == 0
            assert loss(none, none, reduction="mean") == 0

    def test_another_divisor(self) -> None:
        pred, target = pairs(3)
        each, weight = losses.giou_loss(pred, target), np.array([1.0, 0.0, 3.0])
        for divisor in (7, np.float64(7), np.array(7)):
            found = losses.giou_loss(pred, target, reduction="mean", avg_factor=divisor)
            assert_allclose(found, each.sum() / 7)
            found = losses.giou_loss(pred, target, weight=weight, reduction="mean", avg_factor=divisor)
            assert_allclose(found, each @ weight / 7)
        assert_allclose(losses.giou_loss(pred, target, reduction="mean", avg_factor=0), each.sum())
        single = [boxes.astype(np.float32) for boxes in (pred, target)]
        assert losses.giou_loss(*single, reduction="mean", avg_factor=np.float64(7)).dtype == np.float32

    def test_targets_broadcast(self) -> None:
        pred, target = pairs(6)
        pred = pred.reshape(2, 3, 4)
        for few in (target[:3], target[:1], target[0]):
            for loss in (losses.ciou_loss, losses.siou_loss):
                assert_array_equal(loss(pred, few), loss(pred, np.broadcast_to(few, pred.shape)))

    def test_leading_dimensions(self) -> None:
        pred, target = (boxes.reshape(2, 5, 20, 4) for boxes in pairs())
        assert losses.ciou_loss(pred, target).shape == (2, 5, 20)
        weight = np.arange(20.0)
        assert losses.ciou_loss(pred, target, weight=weight).shape == (2, 5, 20)


class TestDtypes:
    def test_half_precision_computes_in_single(self) -> None:
        big = np.array([[0, 0, 1000, 1000]], np.float16)  # whose area float16 cannot hold
        found = losses.iou_loss(big, np.array([[0, 0, 500, 1000]], np.float16))
        assert found.dtype == np.float32
        assert found == 0.5

    def test_integers_and_lists_compute_in_double(self) -> None:
        found = losses.iou_loss(np.array([[0, 0, 2, 2]]), [[0, 0, 1, 1]])
        assert found.dtype == np.float64
        assert found == 0.75


class TestErrors:
    pair = np.array([[0.0, 0, 1, 1]]), np.array([[0.0, 0, 1, 1]])

    def test_shapes(self) -> None:
        pred, target = pairs()
        with pytest.raises(ValueError, match=r"target must broadcast to pred, got shapes \(3, 4\) and \(200, 4\)"):
            losses.iou_loss(pred, target[:3])
        with pytest.raises(ValueError, match=r"target must broadcast to pred, got shapes \(200, 4\) and \(200, 1, 4\)"):
            losses.iou_loss(pred[:, None], target)  # never a table of all pairs
        with pytest.raises(ValueError, match="avg_factor is what reduction='mean' divides by, got reduction='sum'"):
            losses.iou_loss(pred, target, reduction="sum", avg_factor=3)
        with pytest.raises(ValueError, match=r"pred must have shape \(..., 4\), got \(200, 3\)"):
            losses.iou_loss(pred[:, :3], target)
        with pytest.raises(ValueError, match=r"weight must broadcast to the losses, got shapes \(3,\) and \(200,\)"):
            losses.iou_loss(pred, target, weight=np.ones(3))

    def test_libraries(self) -> None:
        with pytest.raises(TypeError, match="pred and target must come from one library, but pred is ndarray of numpy"):
            losses.iou_loss(self.pair[0], strict.asarray(self.pair[1]))

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda a, b: ANY.iou_loss(a, b, mode="cubic"), "unknown mode 'cubic'; choose from linear, log, square"),
            (lambda a, b: ANY.iou_loss(a, b, format="yxyx"), "unknown format 'yxyx'"),
            (lambda a, b: ANY.iou_loss(a, b, reduction="max"), "unknown reduction 'max'; choose from none, mean"),
            (lambda a, b: ANY.iou_loss(a, b, compat="keras"), "unknown compat='keras'; choose from torchvision"),
            (lambda a, b: ANY.iou_loss(a, b, compat="torchvision"), "torchvision has no iou loss; with compat"),
            (lambda a, b: ANY.siou_loss(a, b, compat="torchvision"), "torchvision has no siou loss; with compat"),
            (lambda a, b: ANY.siou_loss(a, b, neg_gamma=False), "neg_gamma=False is a rule of MMDetection"),
            (lambda a, b: ANY.focal_eiou_loss(a, b, gamma=0), "gamma must be positive and finite, got 0"),
            (lambda a, b: ANY.alpha_iou_loss(a, b, alpha=-1), "alpha must be positive and finite, got -1"),
            (lambda a, b: ANY.alpha_iou_loss(a, b, base="siou"), "unknown base 'siou'; choose from iou, giou"),
            (lambda a, b: ANY.inner_iou_loss(a, b, ratio=1, base="nwd"), "unknown base 'nwd'; choose from iou"),
            (lambda a, b: ANY.inner_iou_loss(a, b, ratio=0), "ratio must be above 0 and at most 4, got 0"),
            (lambda a, b: ANY.focaler_iou_loss(a, b, base="nwd"), "unknown base 'nwd'; choose from iou"),
            (lambda a, b: ANY.focaler_iou_loss(a, b, low=1), r"must satisfy 0 <= low < high <= 1, got 1 and 0.95"),
            (lambda a, b: ANY.shape_iou_loss(a, b, scale=-1), "scale must be finite and at least 0, got -1"),
            (lambda a, b: ANY.wiou_loss(a, b, version=4), "unknown version 4; choose from 1, 2, 3"),
            (lambda a, b: ANY.wiou_loss(a, b, version=2), "version 2 needs mean, the running mean of 1 - IoU"),
            (lambda a, b: ANY.mpdiou_loss(a, b, image_size=(0, 1)), "image_size must be"),
            (lambda a, b: ANY.nwd_loss(a, b, constant=0), "constant must be a length"),
        ],
    )
    def test_options(self, call: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            call(*self.pair)

    def test_boxes_that_are_checked(self) -> None:
        inverted = np.array([[0.0, 0, 1, 1], [2, 0, 1, 1]])
        good = np.array([[0.0, 0, 1, 1]] * 2)
        assert np.isfinite(losses.giou_loss(inverted, good)).all()
        with pytest.raises(ValueError, match=r"pred\[1\] is .*inverted"):
            losses.giou_loss(inverted, good, check=True)
        with pytest.raises(ValueError, match=r"target\[1\] is .*inverted"):
            losses.giou_loss(good, inverted, check=True)
        assert_array_equal(losses.giou_loss(good, good, check=True), 0)


@pytest.mark.parametrize(
    ("compat", "tiny"),
    # The measured CIoU, or for mmdet IoU, of equal squares of side 1e-4: 1 without an epsilon.
    [("ultralytics", 0.09089256), ("mmdet", 0.01)],
)
def test_conventions_keep_their_epsilon(compat: Any, tiny: float) -> None:
    box = np.array([[0.5, 0.5, 0.5001, 0.5001]])
    loss = losses.ciou_loss if compat == "ultralytics" else losses.iou_loss
    assert_allclose(1 - loss(box, box, compat=compat), tiny, rtol=1e-6)
    assert_allclose(loss(box, box), 0, atol=1e-12)


# In float32 on the CPU. The file has the boxes of side 1e-20 as points, so its values do not belong to its boxes.
@pytest.mark.parametrize("case", [c for c in DEGENERATE if c["id"] != "tiny_1e-20"], ids=lambda case: case["id"])
def test_conventions_have_the_measured_values(case: dict[str, Any]) -> None:
    pred, target = (np.array([case[key]], np.float32) for key in ("box1", "box2"))
    for key, (loss, compat) in MEASURED.items():
        value = case["measured"].get(f"{key}:f32")
        if isinstance(value, (int, float)) or value in ("nan", "inf"):
            expected = float(value) if key.endswith("loss") else 1 - float(value)
            with np.errstate(all="ignore"):
                found = loss(pred, target, compat=compat)[0]
            assert_allclose(found, expected, rtol=1e-6, atol=1e-6, err_msg=key)


def mmdet_iou(a: Any, b: Any) -> tuple[float, float]:
    """The IoU of its IoU loss, and that of its SIoU loss."""
    inter = max(min(a[2], b[2]) - max(a[0], b[0]), 0) * max(min(a[3], b[3]) - max(a[1], b[1]), 0)
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter
    return max(inter / max(union, 1e-6), 1e-6), inter / (union + 1e-6)


def mmdet_siou_loss(a: Any, b: Any, neg_gamma: bool, eps: float = 1e-6) -> float:
    width, height = max(a[2], b[2]) - min(a[0], b[0]), max(a[3], b[3]) - min(a[1], b[1])
    dx, dy = (b[0] + b[2] - a[0] - a[2]) / 2 + eps, (b[1] + b[3] - a[1] - a[3]) / 2 + eps
    sines = abs(dx) / math.hypot(dx, dy), abs(dy) / math.hypot(dx, dy)
    angle = math.cos(2 * math.asin(sines[1] if sines[0] > math.sqrt(0.5) else sines[0]) - math.pi / 2)
    gamma = (angle - 2) * (1 if neg_gamma else -1)
    distance = sum(1 - math.exp(gamma * (d / max(side, eps)) ** 2) for d, side in ((dx, width), (dy, height)))
    sides = ((a[2] - a[0], b[2] - b[0]), (a[3] - a[1] + eps, b[3] - b[1] + eps))
    shape = sum((1 - math.exp(-abs(one - other) / max(one, other))) ** 4 for one, other in sides)
    return 1 - min(max(mmdet_iou(a, b)[1] - (distance + shape) / 2, -1), 1)


def test_mmdet_raises_iou_in_every_mode_and_clamps_siou() -> None:
    rng = np.random.default_rng(4)
    near, far = pairs(), rng.uniform(0, 1000, (2, 200, 2))
    small = np.concatenate([far, far + 10.0 ** rng.uniform(-5, 3, (2, 200, 2))], axis=2)
    grid = np.sort(rng.integers(0, 4, (2, 300, 2, 2)), axis=2).reshape(2, 300, 4).astype(float)
    grid[:, :, 2] += grid[:, :, 0] == grid[:, :, 2]  # its widths have no epsilon
    for pred, target in (near, small, grid):
        raised = np.array([mmdet_iou(a, b)[0] for a, b in zip(pred.tolist(), target.tolist(), strict=True)])
        for mode, expected in (("linear", 1 - raised), ("square", 1 - raised**2), ("log", -np.log(raised))):
            found = losses.iou_loss(pred, target, mode=mode, compat="mmdet")  # type: ignore[arg-type]
            assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        for neg_gamma in (None, False, True):
            found = losses.siou_loss(pred, target, neg_gamma=neg_gamma, compat="mmdet")
            slow = [mmdet_siou_loss(a, b, bool(neg_gamma)) for a, b in zip(pred.tolist(), target.tolist(), strict=True)]
            assert_allclose(found, slow, rtol=1e-9, atol=1e-9)
    paper = losses.siou_loss(*near, neg_gamma=True, compat="mmdet")
    assert_allclose(paper, np.minimum(losses.siou_loss(*near), 2), atol=1e-5)
    assert_array_equal(losses.siou_loss(*near, neg_gamma=True), losses.siou_loss(*near))
    apart = np.array([[0.0, 0, 10, 10]]), np.array([[30.0, 0, 40, 10]])
    assert losses.iou_loss(*apart, compat="mmdet")[0] == 1 - 1e-6
    # The distance lowers the loss: a box that lies apart has none.
    assert losses.siou_loss(*apart, compat="mmdet")[0] == 0 < losses.siou_loss(*apart)[0]


def test_conventions_are_ours_where_no_epsilon_counts() -> None:
    pred, target = pairs()
    for compat in ("torchvision", "mmdet", "ultralytics"):
        for name in ("giou", "diou"):
            assert_allclose(UPRIGHT[name](pred, target, compat=compat), UPRIGHT[name](pred, target), atol=1e-5)
    ours, gated = losses.ciou_loss(pred, target), losses.ciou_loss(pred, target, compat="mmdet")
    gate = losses.iou_loss(pred, target) < 0.5
    assert_allclose(gated[gate], ours[gate], atol=1e-5)
    # Below IoU 0.5 the aspect term is not there, and the loss ends at 2.
    assert_allclose(gated[~gate], np.minimum(losses.diou_loss(pred, target)[~gate], 2), atol=1e-5)
    assert (ours[~gate] - gated[~gate]).max() > 0.01


def test_focaler_stretches_the_iou_of_any_loss() -> None:
    pred, target = pairs()
    iou = 1 - losses.iou_loss(pred, target)
    stretched = np.clip((iou - 0.2) / 0.6, 0, 1)
    for name in ("iou", "giou", "diou", "ciou", "eiou", "siou"):
        found = losses.focaler_iou_loss(pred, target, low=0.2, high=0.8, base=name)
        assert_allclose(found, UPRIGHT[name](pred, target) + iou - stretched, atol=1e-14)


def test_help_has_the_options_and_the_common_arguments() -> None:
    for name in losses.__all__:
        text = getattr(losses, name).__doc__
        assert "Args:" in text
        assert "    pred: " in text or name == "loss_and_gradient"
        for option in getattr(losses, name).__kwdefaults__ or {}:
            assert f"{option}: " in text, (name, option)
    assert "        ratio: The scale, above 0" in (losses.inner_iou_loss.__doc__ or "")
