"""The loss functions in PyTorch: gradients, native code against formulas, transformations, other libraries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ioukit import _core
from ioukit.losses import _pairs
from ioukit.overlap._conformance import BOXES
from support.compiler import needs_compiler
from support.losses_cases import ROTATED, UPRIGHT, adversarial, adversarial_rotated, smooth_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

torch = pytest.importorskip("torch", reason="torch is not installed")
losses = pytest.importorskip("ioukit.torch.losses")

GRADIENTS = json.loads((Path(__file__).parents[1] / "data" / "overlap" / "losses.json").read_text())["gradients"]
FUSED = (
    *("iou", "giou", "diou", "ciou", "eiou", "siou", "mpdiou"),
    *("alpha_iou", "alpha_giou", "alpha_diou", "alpha_ciou", "wiou_1", "wiou_2", "wiou_3"),
)
# Their weights are constants, which a difference quotient does not know.
WEIGHTED = {
    "ciou",
    "focal_eiou",
    "wiou_1",
    "wiou_2",
    "wiou_3",
    "alpha_ciou",
    "alpha_half",
    "inner_ciou",
    "focaler_ciou",
}


@pytest.fixture(name="plain")
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch's own operations alone."""
    monkeypatch.delitem(_pairs.FUSED, "torch")


def smooth(count: int = 40) -> tuple[Any, Any]:
    """Pairs away from kinks, with a gradient."""
    pred, target = smooth_pairs(count)
    return torch.tensor(pred, requires_grad=True), torch.tensor(target, requires_grad=True)


def gradients(loss: Any, pred: Any, target: Any) -> tuple[Any, Any]:
    first, second = (torch.as_tensor(x).detach().clone().requires_grad_() for x in (pred, target))
    loss(first, second, reduction="sum").backward()
    return first.grad, second.grad


class TestGradients:
    @pytest.mark.parametrize("name", sorted(UPRIGHT.keys() - WEIGHTED))
    def test_difference_quotients(self, name: str) -> None:
        assert torch.autograd.gradcheck(UPRIGHT[name], smooth(), atol=1e-6, rtol=1e-4)

    @pytest.mark.parametrize("name", sorted(WEIGHTED))
    def test_difference_quotients_of_constant_weights(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """The weights are recorded once and then given, so that the quotient sees them as constants too."""
        from ioukit.losses import upright  # noqa: PLC0415
        from ioukit.overlap import _array_formulas  # noqa: PLC0415

        monkeypatch.delitem(_pairs.FUSED, "torch")
        seen: list[Any] = []
        known: Iterator[Any] | None = None

        def constant(array: Any) -> Any:
            if known is None:
                seen.append(array.detach().clone())
            return seen[-1] if known is None else next(known)

        for module in (upright, _array_formulas):
            monkeypatch.setattr(module, "constant", constant)
        pred, target = smooth()
        UPRIGHT[name](pred, target)
        assert seen

        def loss(a: Any, b: Any) -> Any:
            nonlocal known
            known = iter(seen)
            return UPRIGHT[name](a, b)

        assert torch.autograd.gradcheck(loss, (pred, target), atol=1e-6, rtol=1e-4)

    @pytest.mark.parametrize("name", ROTATED)
    def test_difference_quotients_of_rotated_boxes(self, name: str) -> None:
        rng = np.random.default_rng(3)
        pair = [
            torch.tensor(
                np.concatenate(
                    [rng.uniform(3, 7, (40, 2)), rng.uniform(1, 6, (40, 2)), rng.uniform(-3, 3, (40, 1))], 1
                ),
                requires_grad=True,
            )
            for _ in "ab"
        ]
        assert torch.autograd.gradcheck(ROTATED[name], pair, atol=1e-6, rtol=1e-4)

    @pytest.mark.parametrize("case", GRADIENTS, ids=lambda case: f"{case['pred']}-{case['target']}")
    @pytest.mark.parametrize(("name", "key"), [("giou", "giou"), ("ciou", "ciou_alpha_detached"), ("eiou", "eiou")])
    def test_closed_forms(self, case: dict[str, Any], name: str, key: str) -> None:
        """Where edges tie, halves are both sides' rule; where boxes touch, the file clips and ours shares nothing."""
        pred = torch.tensor(case["pred"], dtype=torch.float64, requires_grad=True)
        loss = UPRIGHT[name](pred, torch.tensor(case["target"], dtype=torch.float64))
        loss.backward()
        assert_allclose(loss.item(), case[f"exact_{key}_loss"], rtol=1e-12, atol=1e-14)
        if "touching" in case.get("nondifferentiable", "") and name != "giou":
            assert_allclose(pred.grad, case[f"torchvision_{name}_grad"] if name == "ciou" else pred.grad, atol=1e-9)
            assert abs(pred.grad[2] - case[f"exact_{key}_grad"][2]) > 0.04
        else:
            assert_allclose(pred.grad, case[f"exact_{key}_grad"], rtol=1e-12, atol=1e-14)

    @pytest.mark.parametrize("name", [*UPRIGHT, *ROTATED])
    @pytest.mark.parametrize("kind", ["float32", "float64", "bfloat16", "float16"])
    def test_finite_for_all_boxes(self, name: str, kind: str) -> None:
        dtype, is_rotated = getattr(torch, kind), name in ROTATED
        pairs = (adversarial_rotated if is_rotated else adversarial)(
            20_000 if kind.endswith("16") else 100_000, np.float64
        )
        pred, target = (torch.tensor(x).clamp(-6e4, 6e4).to(dtype) for x in pairs)
        loss = (ROTATED if is_rotated else UPRIGHT)[name]
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=kind.endswith("16")):
            first, second = pred.requires_grad_(), target.requires_grad_()
            each = loss(first, second)
            assert each.dtype == (torch.float32 if dtype.itemsize == 2 else dtype)
            slopes = torch.autograd.grad(each.sum(), [first, second])
        assert torch.isfinite(each).all()
        if kind == "float16":  # ends at 65504: slopes of small boxes are beyond, though the float32 ones are not
            first, second = (x.detach().float().requires_grad_() for x in (pred, target))
            slopes = torch.autograd.grad(loss(first, second).sum(), [first, second])
        assert all(torch.isfinite(slope).all() for slope in slopes)

    @pytest.mark.parametrize("name", ["iou", "diou", "ciou", "siou"])
    def test_a_rare_infinity_hides_in_no_sum(self, name: str) -> None:
        boxes = torch.tensor(BOXES)
        for other in boxes:
            slopes = gradients(UPRIGHT[name], boxes, other.expand(15, 4))
            assert all(torch.isfinite(slope).all() for slope in slopes)


class TestFused:
    @pytest.mark.parametrize("name", FUSED)
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_is_the_gradient_of_the_formulas(self, name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        pred, target = adversarial(20_000, dtype)
        grid = np.repeat(BOXES, 15, axis=0), np.tile(BOXES, (15, 1))
        pred, target = (np.concatenate(x).astype(dtype) for x in zip((pred, target), grid, strict=True))
        values = UPRIGHT[name](torch.tensor(pred), torch.tensor(target))
        fused = gradients(UPRIGHT[name], pred, target)
        monkeypatch.delitem(_pairs.FUSED, "torch")
        expected = UPRIGHT[name](torch.tensor(pred), torch.tensor(target))
        eps = np.finfo(dtype).eps
        # MPDIoU of boxes beside the image is large.
        assert_allclose(values, expected, rtol=8 * eps if name == "mpdiou" else 0, atol=16 * eps)
        sides = np.abs(np.concatenate([pred[:, 2:] - pred[:, :2], target[:, 2:] - target[:, :2]], axis=1))
        if name == "alpha_giou":  # of two points, which have no sides, the slope is of the order of 1 / hull
            both = np.stack([pred[:, :2], pred[:, 2:], target[:, :2], target[:, 2:]])
            sides = np.concatenate([sides, both.max(axis=0) - both.min(axis=0)], axis=1)
        scale = 1 / np.where(sides > 0, sides, 1).min(axis=1)
        for slope, other in zip(fused, gradients(UPRIGHT[name], pred, target), strict=True):
            # A slope is of the order of 1 / side; sums of such terms may cancel.
            within = np.abs(other.numpy()).max(axis=1) + scale + 1
            assert (np.abs((slope - other).numpy()) <= 64 * eps * within[:, None]).all()

    def test_is_used_where_it_can_be(self, monkeypatch: pytest.MonkeyPatch) -> None:
        calls: list[str] = []
        kernel = _core.loss_gradient

        def counted(name: str, *arguments: Any) -> None:
            calls.append(name)
            kernel(name, *arguments)  # the number of its parameters is checked there

        monkeypatch.setattr(_core, "loss_gradient", counted)
        pred = torch.tensor(BOXES, requires_grad=True)
        target = torch.tensor(BOXES[::-1].copy())
        for _ in range(2):
            losses.ciou_loss(pred, target, reduction="sum").backward()
        losses.giou_loss(pred.T.contiguous().T, target, format="xywh")
        assert calls == ["ciou", "ciou", "giou"]
        with torch.no_grad():
            losses.iou_loss(pred, target)
        assert calls[3:] == ["iou"]
        losses.siou_loss(pred, target)
        losses.WIoULoss(3)(pred, target)
        assert calls[4:] == ["siou", "iou", "wiou_3"]
        losses.iou_loss(pred, target, mode="square")
        losses.nwd_loss(pred, target)
        losses.ciou_loss(pred, target, compat="torchvision")
        assert len(calls) == 7

    def test_gradient_of_the_gradient(self) -> None:
        pred, target = smooth(10)
        for name in ("giou", "diou", "eiou", "siou"):
            assert torch.autograd.gradgradcheck(UPRIGHT[name], (pred, target), atol=1e-5, rtol=1e-3)

    def test_target_alone(self) -> None:
        pred, target = (x.detach() for x in smooth())
        target.requires_grad_()
        losses.eiou_loss(pred, target, reduction="sum").backward()
        assert_allclose(target.grad, gradients(losses.eiou_loss, pred, target.detach())[1])

    def test_a_part_of_the_gradient(self) -> None:
        pred, target = (x.detach() for x in smooth())
        half = pred[:, 2:].clone().requires_grad_()
        losses.ciou_loss(torch.cat([pred[:, :2], half], dim=1), target, reduction="sum").backward()
        assert torch.equal(half.grad, gradients(losses.ciou_loss, pred, target)[0][:, 2:])

    def test_same_bits_again_and_by_any_number_of_threads(self) -> None:
        pair = adversarial(30_000, np.float32)
        found, before = [], torch.get_num_threads()
        for threads in (1, 2, 1):
            torch.set_num_threads(threads)
            found.append(gradients(losses.ciou_loss, *pair)[0])
        torch.set_num_threads(before)
        assert torch.equal(found[0], found[1])
        assert torch.equal(found[0], found[2])


class TestTransformations:
    @pytest.mark.filterwarnings("ignore::FutureWarning:torch")
    @pytest.mark.parametrize("name", [*FUSED, "siou", "shape", "rotated_iou", "probiou"])
    def test_functions_of_functions(self, name: str) -> None:
        loss = {**UPRIGHT, **ROTATED}[name]
        pred, target = (x.detach() for x in smooth(6))
        if name in ROTATED:
            pred, target = (torch.cat([x, x[:, :1]], dim=1) for x in (pred, target))
        expected, _ = gradients(loss, pred, target)
        assert_allclose(torch.func.grad(lambda a: loss(a, target).sum())(pred), expected, rtol=1e-10, atol=1e-12)
        assert_allclose(torch.func.vmap(loss)(pred, target), loss(pred, target), rtol=1e-10, atol=1e-12)
        _, slope = torch.func.jvp(lambda a: loss(a, target).sum(), (pred,), (torch.ones_like(pred),))
        assert_allclose(slope, expected.sum(), rtol=1e-8, atol=1e-10)
        each = torch.func.vmap(torch.func.grad(loss))(pred, target)
        assert_allclose(each, expected, rtol=1e-10, atol=1e-12)

    @pytest.mark.filterwarnings("ignore")  # the compiler's own
    def test_compile(self) -> None:
        """One graph without breaks, which is what depends on us; the code it becomes takes a minute to compile."""
        needs_compiler(backend="aot_eager")
        pred, target = (x.detach().float() for x in smooth())
        module = losses.WIoULoss(3).train()

        def total(a: Any, b: Any) -> Any:
            rotated = [torch.cat([x, x[:, :1]], dim=1) for x in (a, b)]
            return (
                losses.ciou_loss(a, b, reduction="mean")
                + losses.siou_loss(a, b, reduction="sum")
                + losses.rotated_iou_loss(*rotated, reduction="mean")
                + losses.yolo_box_loss(a, b, a[:, 0] > 3)
                + module(a, b)
            )

        expected = gradients(lambda a, b, reduction: total(a, b), pred, target)[0]  # noqa: ARG005
        module.running_mean.fill_(1)
        compiled = torch.compile(total, fullgraph=True, backend="aot_eager")
        found = gradients(lambda a, b, reduction: compiled(a, b), pred, target)[0]  # noqa: ARG005
        assert_allclose(found, expected, rtol=1e-4, atol=1e-5)

    def test_formulas_without_native_code(self, plain: None) -> None:  # noqa: ARG002
        pred, target = smooth()
        assert torch.autograd.gradcheck(losses.giou_loss, (pred, target), atol=1e-6, rtol=1e-4)
        assert torch.autograd.gradgradcheck(losses.diou_loss, (pred[:5], target[:5]), atol=1e-5, rtol=1e-3)


class TestOtherLibraries:
    @pytest.mark.parametrize("name", ["giou", "diou", "ciou"])
    def test_torchvision(self, name: str) -> None:
        ops = pytest.importorskip("torchvision", reason="torchvision is not installed").ops
        long = {"giou": "generalized", "diou": "distance", "ciou": "complete"}[name]
        theirs = getattr(ops, f"{long}_box_iou_loss")
        rng = np.random.default_rng(0)
        for scale in (1e-4, 1.0, 600.0):  # where its epsilon counts, and where not
            low = rng.uniform(0, 1, (2, 2000, 2))
            pred, target = torch.tensor(np.concatenate([low, low + rng.uniform(0.01, 1, low.shape)], 2) * scale)
            ours, grads = UPRIGHT[name](pred, target, compat="torchvision"), gradients(theirs, pred, target)
            assert_allclose(ours, theirs(pred, target), atol=1e-12)
            found = gradients(lambda a, b, **k: UPRIGHT[name](a, b, compat="torchvision", **k), pred, target)
            for one, other in zip(found, grads, strict=True):
                assert_allclose(one, other, rtol=1e-8, atol=1e-10)
            if scale > 1:
                assert_allclose(UPRIGHT[name](pred, target), theirs(pred, target), atol=1e-6)

    def test_torchvision_has_nan_where_ours_has_a_gradient(self) -> None:
        ops = pytest.importorskip("torchvision", reason="torchvision is not installed").ops
        flat, target = torch.tensor([[0.0, 2, 4, 2]]), torch.tensor([[0.0, 0, 4, 4]])
        assert torch.isnan(gradients(ops.complete_box_iou_loss, flat, target)[0]).all()
        ours, _ = gradients(losses.ciou_loss, flat, target)
        assert torch.isfinite(ours).all()
        assert ours.abs().sum() > 0

    @pytest.mark.parametrize(
        ("name", "compat"),
        [(name, "mmdet") for name in ("iou", "giou", "diou", "ciou", "siou")]
        + [(name, "ultralytics") for name in ("iou", "giou", "diou", "ciou")],  # which has no SIoU loss
    )
    def test_conventions_have_their_gradient(self, compat: str, name: str) -> None:
        pred, target = smooth()
        if name == "ciou":
            first, _ = gradients(lambda a, b, **k: UPRIGHT[name](a, b, compat=compat, **k), pred, target)
            assert torch.isfinite(first).all()
        else:
            assert torch.autograd.gradcheck(lambda a, b: UPRIGHT[name](a, b, compat=compat), (pred, target), atol=1e-5)


@pytest.mark.parametrize("name", [*UPRIGHT, *ROTATED])
def test_the_mean_of_nothing_has_a_gradient(name: str) -> None:
    none = torch.empty((0, 5 if name in ROTATED else 4), requires_grad=True)
    loss = {**UPRIGHT, **ROTATED}[name](none, none.detach(), reduction="mean")
    assert loss == 0
    loss.backward()
    assert none.grad.shape == none.shape


def test_broadcast_targets_and_another_divisor() -> None:
    """By native code and by formulas: a target of many boxes gets the sum of their gradients."""
    pred, target = (x.detach() for x in smooth(6))
    few = target[:1].clone().requires_grad_()
    for loss in (losses.ciou_loss, losses.siou_loss):
        few.grad = None
        loss(pred, few, reduction="mean", avg_factor=torch.tensor(3.0)).backward()
        _, each = gradients(loss, pred, target[:1].expand(6, 4))
        assert_allclose(few.grad[0], each.sum(dim=0) / 3)
    assert_allclose(losses.CIoULoss()(pred, few, avg_factor=2).item(), losses.ciou_loss(pred, few).sum().item() / 2)


def test_integers_beside_floats() -> None:
    pred = torch.tensor([[0.0, 0, 2, 2]], requires_grad=True)
    loss = losses.iou_loss(pred, torch.tensor([[0, 0, 1, 1]]))
    assert loss.item() == 0.75
    loss.backward()
    assert torch.isfinite(pred.grad).all()
