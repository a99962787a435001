"""`Evaluator` with tensors on a GPU, and `sync` over NCCL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import ioukit
from evaluation.loop_batches import batch_of, data_of_images, random_images
from evaluation.sync_process import digest
from evaluation.test_evaluator import assert_same
from ioukit.evaluation import Evaluator

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.gpu


@pytest.fixture
def torch() -> Any:
    module = pytest.importorskip("torch")
    if not module.cuda.is_available():
        pytest.skip("no CUDA device")
    return module


@pytest.mark.parametrize("seed", range(6))
def test_tensors_on_a_gpu(torch: Any, seed: int) -> None:
    images = random_images(seed, 20)
    evaluator = Evaluator()
    for start in (0, 7):
        predictions, targets = batch_of(images[start : start + 7 + start])
        there = [{name: torch.as_tensor(value).cuda() for name, value in one.items()} for one in predictions]
        evaluator.update(there, targets)  # the targets stay where the loader has them
    assert_same(evaluator.compute(), ioukit.evaluate(*data_of_images(images)))
    mixed = [{**there[0], "labels": there[0]["labels"].cpu()}]
    with pytest.raises(ioukit.DatasetError, match="predictions: expected tensors on one device, found boxes on cuda:0"):
        evaluator.update(mixed, targets[:1])


def test_sync_over_nccl(torch: Any, tmp_path: Path) -> None:
    distributed = torch.distributed
    if not distributed.is_nccl_available():
        pytest.skip("no NCCL")
    evaluator = Evaluator()
    evaluator.update(*batch_of(random_images(1, 9)))
    before = digest(evaluator.compute())
    distributed.init_process_group("nccl", init_method=f"file://{tmp_path / 'meeting'}", rank=0, world_size=1)
    try:
        evaluator.sync()
    finally:
        distributed.destroy_process_group()
    assert digest(evaluator.compute()) == before
