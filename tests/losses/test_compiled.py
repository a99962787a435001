"""`ioukit.torch.compiled` computes what the plain functions compute."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import ioukit
from ioukit.overlap._conformance import BOXES
from ioukit.overlap.variants import VARIANTS
from support.compiler import needs_compiler
from support.losses_cases import ROTATED, UPRIGHT, adversarial, adversarial_rotated

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'ioukit[torch]'")

from ioukit.torch import compiled, compiling, losses  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.filterwarnings("ignore")  # the compiler's own


@pytest.fixture(autouse=True)
def _works() -> Iterator[None]:
    """Forgets the programs of the test."""
    needs_compiler(backend="eager")
    yield
    torch._dynamo.reset()


@pytest.fixture(name="traced")
def _traced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are traced as one graph and run by PyTorch's operations: no code is generated, which takes long."""
    monkeypatch.setattr(compiling, "_compile", partial(torch.compile, dynamic=True, fullgraph=True, backend="eager"))


def measured(function: Callable[..., Any], *boxes: Any, **options: Any) -> Any:
    """The overlaps by PyTorch's operations: with a gradient, native code is not used."""
    return function(*(torch.tensor(one, requires_grad=True) for one in boxes), **options).detach()


def differentiated(loss: Callable[..., Any], pred: Any, target: Any) -> list[Any]:
    """The losses, and their gradients in both boxes."""
    leaves = [torch.tensor(one, requires_grad=True) for one in (pred, target)]
    values = loss(*leaves)
    return [values.detach(), *torch.autograd.grad(values.sum(), leaves)]


@pytest.mark.usefixtures("traced")
class TestTraced:
    @pytest.mark.parametrize("row", VARIANTS, ids=lambda row: row.name)
    def test_overlaps(self, row: Any) -> None:
        for family in ("pairwise", "elementwise"):
            function = getattr(ioukit, f"{family}_{row.name}")
            program = compiled(function)
            assert program.__name__ == function.__name__
            for boxes in (BOXES.astype(np.float32), BOXES.astype(np.float32)[3:]):
                expected = measured(function, boxes, boxes[::-1].copy(), **row.option_values)
                found = program(torch.tensor(boxes), torch.tensor(boxes[::-1].copy()), **row.option_values)
                assert_array_equal(found, expected, strict=True)

    @pytest.mark.parametrize("name", [*UPRIGHT, "probiou"])
    def test_losses_and_their_gradients(self, name: str) -> None:
        loss = UPRIGHT.get(name) or ROTATED[name]
        made = adversarial if name in UPRIGHT else adversarial_rotated
        options = loss.keywords if isinstance(loss, partial) else {}
        plain = loss.func if isinstance(loss, partial) else loss
        program = partial(compiled(plain), **options)
        for count in (200, 40):
            pred, target = made(count, np.float64)
            for found, expected in zip(
                differentiated(program, pred, target), differentiated(loss, pred, target), strict=True
            ):
                scale = np.maximum(1, np.abs(expected.numpy()))
                assert_allclose(found / scale, expected / scale, rtol=0, atol=1e-9)

    def test_a_module(self) -> None:
        pred, target = adversarial(50, np.float64)
        expected = differentiated(losses.CIoULoss(), pred, target)
        for one, other in zip(differentiated(compiled(losses.CIoULoss()), pred, target), expected, strict=True):
            assert_allclose(one, other, atol=1e-9)

    @settings(max_examples=40, deadline=None)  # the first example of a kind compiles
    @given(
        seed=st.integers(0, 2**32 - 1), count=st.integers(2, 1500), threshold=st.sampled_from([0.1, 0.5]),
        labelled=st.booleans(), max_keep=st.sampled_from([None, 7]), coarse=st.booleans(),
    )  # fmt: skip
    def test_nms(
        self, seed: int, count: int, threshold: float, labelled: bool, max_keep: int | None, coarse: bool
    ) -> None:
        rng = np.random.default_rng(seed)
        low = rng.uniform(0, 150, (count, 2))
        boxes = np.concatenate([low, low + rng.uniform(0, 40, (count, 2))], axis=1)
        boxes = (boxes.round() if coarse else boxes).astype(np.float32)  # rounded: overlaps at the threshold
        scores = rng.uniform(0, 1, count).round(1).astype(np.float32)
        options: dict[str, Any] = {"iou_threshold": threshold, "max_keep": max_keep}
        labels: dict[str, Any] = {"labels": rng.integers(0, 3, count)} if labelled else {}
        there: dict[str, Any] = {name: torch.tensor(values) for name, values in labels.items()}
        keep = compiled(ioukit.nms)(torch.tensor(boxes), torch.tensor(scores), **options, **there)
        assert_array_equal(keep, ioukit.nms(boxes, scores, **options, **labels))


@pytest.mark.slow
class TestGenerated:
    """By the code that the compiler generates, on the CPU; so far no test has run that for GPUs."""

    @pytest.fixture(autouse=True)
    def _generates(self) -> None:
        needs_compiler()

    def test_overlaps_of_any_size_from_one_program(self) -> None:
        program = compiled(ioukit.pairwise_giou)
        counters = torch._dynamo.utils.counters
        counters.clear()
        boxes = BOXES.astype(np.float32)
        for rows in (9, 4, 12):
            found = program(torch.tensor(boxes[:rows]), torch.tensor(boxes))
            assert_array_equal(found, measured(ioukit.pairwise_giou, boxes[:rows], boxes))
        assert counters["stats"]["unique_graphs"] == 1
        assert not counters["graph_break"]

    def test_a_loss(self) -> None:
        pred, target = adversarial(300, np.float32)
        expected = differentiated(losses.diou_loss, pred, target)
        for one, other in zip(differentiated(compiled(losses.diou_loss), pred, target), expected, strict=True):
            scale = np.maximum(1, np.abs(other.numpy()))
            assert_allclose(one / scale, other / scale, rtol=0, atol=1e-5)

    def test_survivors_at_the_threshold(self) -> None:
        """IoU 0.1, 0.2 and 0.3 as float32 numbers are not above these thresholds."""
        program: Any = compiled(ioukit.nms)
        scores = torch.tensor([0.9, 0.8])
        for tenths in (1, 2, 3):
            boxes = torch.tensor([[0.0, 0, 10, 10], [0, 0, tenths, 10]])
            assert ioukit.pairwise_iou(boxes, boxes)[0, 1] == np.float32(tenths / 10)
            for suppress, kept in (("above", [0, 1]), ("at_or_above", [0])):
                assert program(boxes, scores, tenths / 10, suppress=suppress).tolist() == kept


class TestRefused:
    @pytest.mark.parametrize(
        "function",
        [torch.sin, ioukit.soft_nms, ioukit.overlap_join, torch.nn.Linear(1, 1), 3],
    )
    def test_other_functions(self, function: Any) -> None:
        with pytest.raises(TypeError, match=r"compiled takes a function pairwise_<name> .*, got"):
            compiled(function)

    def test_other_arrays(self) -> None:
        boxes = torch.tensor(BOXES)
        for program in (compiled(ioukit.pairwise_iou), compiled(losses.iou_loss)):
            with pytest.raises(TypeError, match=r"of the compiled .* must be a tensor, got ndarray"):
                program(boxes, BOXES)
        with pytest.raises(TypeError, match="boxes2 of the compiled elementwise_iou must be a tensor, got list"):
            compiled(ioukit.elementwise_iou)(boxes, boxes2=BOXES.tolist())
        with pytest.raises(TypeError, match="scores of the compiled nms must be a tensor, got ndarray"):
            compiled(ioukit.nms)(boxes, np.ones(15), 0.5)

    @pytest.mark.parametrize("key", ["check", "out", "max_bytes", "threads"])
    def test_options_without_a_meaning(self, key: str) -> None:
        boxes = torch.tensor(BOXES)
        program: Any = compiled(ioukit.pairwise_iou)
        with pytest.raises(TypeError, match=f"the compiled pairwise_iou takes no {key}"):
            program(boxes, boxes, **{key: None})
