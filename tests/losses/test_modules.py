"""The losses of PyTorch as modules, and the terms of the YOLO family."""

from __future__ import annotations

import copy
import io
import multiprocessing
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from numpy.testing import assert_allclose

from support.losses_cases import smooth_pairs

if TYPE_CHECKING:
    from pathlib import Path

torch = pytest.importorskip("torch", reason="torch is not installed")
losses = pytest.importorskip("ioukit.torch.losses")


def smooth() -> tuple[Any, Any]:
    """Pairs away from kinks."""
    pred, target = smooth_pairs()
    return torch.tensor(pred), torch.tensor(target)


class TestModules:
    def test_every_function_has_a_module(self) -> None:
        modules = {getattr(losses, name) for name in losses.__all__ if name.endswith("Loss")}
        functions = {getattr(losses, name) for name in losses.__all__ if name.islower()}
        assert {getattr(module, "function", losses.wiou_loss) for module in modules} == functions

    ALL = (
        *(losses.IoULoss, losses.GIoULoss, losses.DIoULoss, losses.CIoULoss, losses.EIoULoss, losses.FocalEIoULoss),
        *(losses.SIoULoss, losses.AlphaIoULoss, losses.FocalerIoULoss, losses.ShapeIoULoss, losses.NWDLoss),
        losses.WIoULoss,
    )

    @pytest.mark.parametrize("kind", ALL)
    def test_all(self, kind: Any) -> None:
        pred, target = smooth()
        module = kind().eval()
        loss = module(pred, target)
        assert loss.shape == ()
        assert_allclose(kind(reduction="none").eval()(pred, target).mean().item(), loss.item())
        weight = torch.rand(len(pred))
        assert_allclose(
            kind(reduction="none").eval()(pred, target, weight).sum(),
            kind(reduction="sum").eval()(pred, target, weight).item(),
        )
        other = kind().eval()
        other.load_state_dict(module.state_dict())
        assert_allclose(other(pred, target).item(), loss.item())
        assert_allclose(pickle.loads(pickle.dumps(module))(pred, target).item(), loss.item())
        assert "reduction='mean'" in repr(module)
        assert kind.__doc__

    def test_functions_and_options(self) -> None:
        pred, target = smooth()
        found = losses.InnerIoULoss(ratio=0.7, base="ciou", reduction="sum")(pred, target)
        assert_allclose(found.item(), losses.inner_iou_loss(pred, target, ratio=0.7, base="ciou").sum().item())
        turned = [torch.cat([x, x[:, :1]], dim=1) for x in (pred, target)]
        for kind, function in (
            (losses.RotatedIoULoss, losses.rotated_iou_loss),
            (losses.ProbIoULoss, losses.probiou_loss),
            (losses.KFIoULoss, losses.kfiou_loss),
            (losses.GWDLoss, losses.gwd_loss),
            (losses.KLDLoss, losses.kld_loss),
        ):
            assert_allclose(kind()(*turned).item(), function(*turned).mean().item())

    def test_errors(self) -> None:
        with pytest.raises(TypeError, match="GIoULoss has no option ratio; there are check, compat, format"):
            losses.GIoULoss(ratio=2)
        with pytest.raises(TypeError, match="MPDIoULoss needs the option image_size; there are"):
            losses.MPDIoULoss()
        with pytest.raises(ValueError, match="unknown reduction 'max'"):
            losses.GIoULoss(reduction="max")
        with pytest.raises(ValueError, match="unknown version 4"):
            losses.WIoULoss(4)
        with pytest.raises(ValueError, match=r"momentum must be within \[0, 1\], got 2"):
            losses.WIoULoss(momentum=2)


class TestWIoU:
    def test_running_mean(self) -> None:
        pred, target = smooth()
        module = losses.WIoULoss(3, momentum=0.25, reduction="none")
        mean = losses.iou_loss(pred, target).mean().item()
        found = module(pred, target)
        expected = 1 + 0.25 * (mean - 1)
        assert_allclose(module.running_mean.item(), expected)
        assert_allclose(found, losses.wiou_loss(pred, target, version=3, mean=expected))
        module(pred[:0], target[:0])
        assert_allclose(module.running_mean.item(), expected)
        module.eval()(pred[:3], target[:3])
        assert_allclose(module.running_mean.item(), expected)

    def test_is_saved_with_the_model(self) -> None:
        pred, target = smooth()
        module = losses.WIoULoss(2)
        module(pred, target)
        file = io.BytesIO()
        torch.save(module.state_dict(), file)
        file.seek(0)
        other = losses.WIoULoss(2)
        other.load_state_dict(torch.load(file))
        assert other.running_mean == module.running_mean != 1
        assert copy.deepcopy(module).running_mean == module.running_mean

    def test_weights_by_hand(self) -> None:
        pred, target = smooth()
        odd = losses.iou_loss(pred, target) / 0.5
        first = losses.wiou_loss(pred, target)
        assert_allclose(losses.wiou_loss(pred, target, version=2, mean=0.5), odd**0.5 * first)
        weight = odd / (2.7 * 1.7 ** (odd - 2.7))
        assert_allclose(losses.wiou_loss(pred, target, version=3, mean=torch.tensor(0.5)), weight * first)

    def test_processes_share_the_mean(self, tmp_path: Path) -> None:
        if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
            pytest.skip("torch.distributed has no gloo here")
        from support.wiou_process import move_mean  # noqa: PLC0415 - it imports PyTorch

        pred, target = smooth_pairs()
        context = multiprocessing.get_context("spawn")
        pipes = [context.Pipe(duplex=False) for _ in range(2)]
        workers = [
            context.Process(
                target=move_mean, args=(rank, 2, str(tmp_path / "store"), pred[part], target[part], pipe[1])
            )
            for rank, (part, pipe) in enumerate(zip((slice(0, 10), slice(10, 40)), pipes, strict=True))
        ]
        for worker in workers:
            worker.start()
        try:
            assert all(receiving.poll(120) for receiving, _ in pipes), "a process has sent nothing"
            found = [receiving.recv() for receiving, _ in pipes]
        finally:
            for worker in workers:
                worker.kill()  # it has nothing more to do, and the end of Gloo may hang in PyTorch 2.7
                worker.join()
        assert found[0] == found[1]
        assert_allclose(found[0], 1 + 0.5 * (losses.iou_loss(pred, target).mean() - 1))


class TestYolo:
    def test_boxes_of_assigned_cells(self) -> None:
        pred, target = smooth()
        assigned = torch.arange(40) % 3 == 0
        target[~assigned] = torch.nan
        leaf = pred.clone().requires_grad_()
        loss = losses.yolo_box_loss(leaf, target, assigned)
        loss.backward()
        assert_allclose(loss.item(), 5 * losses.ciou_loss(pred[assigned], target[assigned]).mean().item())
        assert (leaf.grad[~assigned] == 0).all()
        assert (leaf.grad[assigned] != 0).any(dim=1).all()
        each = losses.yolo_box_loss(pred, target, assigned, reduction="none", lambda_coord=1.0)
        assert_allclose(each[assigned], losses.ciou_loss(pred[assigned], target[assigned]))
        assert (each[~assigned] == 0).all()
        module = losses.YOLOBoxLoss(lambda_coord=1.0, reduction="sum")
        assert_allclose(module(pred, target, assigned).item(), each.sum().item(), rtol=1e-6)
        assert repr(module) == "YOLOBoxLoss(reduction='sum', lambda_coord=1.0)"
        none = losses.yolo_box_loss(leaf, target, torch.zeros(40, dtype=torch.bool))
        assert none == 0
        none.backward()
        with pytest.raises(ValueError, match=r"assigned must be bool of shape \(40,\), got torch.float32 of \(3,\)"):
            losses.yolo_box_loss(pred, target, torch.zeros(3))

    def test_objectness(self) -> None:
        logits = torch.tensor([0.0, 2.0, -1.0], requires_grad=True)
        targets = torch.tensor([0.5, 1.0, -0.3], requires_grad=True)
        chance = torch.sigmoid(logits.detach())
        expected = -(torch.tensor([0.5, 1, 0]) * chance.log() + torch.tensor([0.5, 0, 1]) * (1 - chance).log())
        loss = losses.objectness_loss(logits, targets, reduction="none")
        assert_allclose(loss.detach(), expected, rtol=1e-6)
        loss.sum().backward()
        assert targets.grad is None
        assert losses.ObjectnessLoss()(logits.half(), targets).dtype == torch.float32
        with pytest.raises(ValueError, match=r"one shape, got \(3,\) and \(2,\)"):
            losses.objectness_loss(logits, targets[:2])

    def test_distribution_focal_loss(self) -> None:
        logits = torch.randn(5, 4, 8, dtype=torch.float64, requires_grad=True)
        target = torch.tensor([0.0, 2.25, 7.0, 9.0], dtype=torch.float64).expand(5, 4)
        chances = logits.detach().log_softmax(-1)
        expected = -(
            chances[:, 0, 0] + 0.75 * chances[:, 1, 2] + 0.25 * chances[:, 1, 3] + chances[:, 2, 7] + chances[:, 3, 7]
        )
        assert_allclose(losses.dfl_loss(logits, target, reduction="none").detach(), expected / 4)
        assert torch.autograd.gradcheck(lambda x: losses.dfl_loss(x, target), (logits,))
        # Ultralytics clamps to 6.99, in the last two sides alone.
        clamped = 0.01 * (chances[:, 2, 6] - chances[:, 2, 7] + chances[:, 3, 6] - chances[:, 3, 7])
        found = losses.dfl_loss(logits, target, reduction="none", compat="ultralytics").detach()
        assert_allclose(found, (expected - clamped) / 4)
        assert target.max() == 9
        assert losses.dfl_loss(logits[:0], target[:0]) == 0
        with pytest.raises(ValueError, match="unknown compat='mmdet'; dfl_loss has ultralytics"):
            losses.dfl_loss(logits, target, compat="mmdet")
        with pytest.raises(ValueError, match=r"pred must have shape \(..., 4, bins\) with 2 or more bins"):
            losses.dfl_loss(logits[:, :3], target)
        with pytest.raises(ValueError, match=r"target must have shape \(5, 4\), got \(5,\)"):
            losses.DFLLoss()(logits, target[:, 0])
