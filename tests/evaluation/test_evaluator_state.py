"""The state of an `Evaluator` for checkpoints: a string and bytes, through NumPy, PyTorch and pickle."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import ioukit
from evaluation.loop_batches import batch_of, data_of_images, random_images
from evaluation.test_evaluator import assert_same
from evaluation.test_evaluator_regions import MASKED
from ioukit.evaluation import Evaluator

IMAGES = random_images(21, 14, classes=4)


def half(**settings: Any) -> Evaluator:
    evaluator = Evaluator(**settings)
    evaluator.update(*batch_of(IMAGES[:7]))
    return evaluator


def through_numpy(state: dict[str, Any]) -> Any:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **state)
    buffer.seek(0)
    return np.load(buffer, allow_pickle=False)


def through_torch(state: dict[str, Any]) -> Any:
    torch = pytest.importorskip("torch")
    buffer = io.BytesIO()
    torch.save(state, buffer)
    buffer.seek(0)
    return torch.load(buffer, weights_only=False)


def through_torch_as_tensors(state: dict[str, Any]) -> Any:
    torch = pytest.importorskip("torch")
    buffer = io.BytesIO()
    torch.save({**state, "table": torch.from_numpy(state["table"])}, buffer)
    buffer.seek(0)
    return torch.load(buffer, weights_only=True)


@pytest.mark.parametrize("through", [dict, through_numpy, through_torch, through_torch_as_tensors])
@pytest.mark.parametrize("computed", [False, True])
def test_a_state_goes_on_where_it_was(through: Any, computed: bool) -> None:
    evaluator = half(near=0.1)
    if computed:
        evaluator.compute()
    state = through(evaluator.state_dict())
    resumed = Evaluator(near=0.1)
    resumed.update(*batch_of(IMAGES[9:]))  # the state takes the place of these
    resumed.load_state_dict(state)
    assert_same(resumed.compute(), evaluator.compute())
    for one in (resumed, evaluator):
        one.update(*batch_of(IMAGES[7:]))
        assert_same(one.compute(), ioukit.evaluate(*data_of_images(IMAGES), near=0.1))
        numbers = one.compute().matches.objects.id
        assert sorted(numbers.tolist()) == list(range(1, len(numbers) + 1))


def test_values_are_a_string_and_bytes() -> None:
    state = half().state_dict()
    assert {name: type(value) for name, value in state.items()} == {"header": str, "table": np.ndarray}
    assert state["table"].dtype == np.uint8


def test_given_ids_are_remembered() -> None:
    evaluator = Evaluator()
    evaluator.update(*batch_of(IMAGES[:3]), image_ids=["c", "a", "b"])
    resumed = Evaluator()
    resumed.load_state_dict(evaluator.state_dict())
    with pytest.raises(ioukit.DatasetError, match="found 'a', which was in an earlier update"):
        resumed.update(*batch_of(IMAGES[3:4]), image_ids=["a"])
    assert len(resumed) == 3


def test_a_state_without_images() -> None:
    evaluator = half()
    evaluator.load_state_dict(through_numpy(Evaluator().state_dict()))
    assert len(evaluator) == 0
    with pytest.raises(ValueError, match="at least one image"):
        evaluator.compute()


def test_masks_and_data() -> None:
    evaluator = Evaluator(iou_type="segm", keep_data=True, categories=["cat", "dog", "cow"])
    evaluator.update([MASKED], [MASKED])
    resumed = Evaluator(iou_type="segm", keep_data=True, categories=["cat", "dog", "cow"])
    resumed.load_state_dict(evaluator.state_dict())
    assert evaluator.compute().ground_truth is not None
    assert resumed.compute().ground_truth is None  # the data is not part of the state
    resumed.update([MASKED], [MASKED])
    assert resumed.compute().counts["images"] == 2
    assert resumed.compute().ground_truth is None


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({}, "expected the state of an evaluator, with header and table, found "),
        ({"header": "{}"}, "found 'header'"),
        ({"header": "no json", "table": 1}, "found 'header', 'table'"),
        ({"model": 1}, "found 'model'"),
        (3, "found int"),
        ({"header": '{"format": "ioukit evaluator", "version": 9}'}, "expected a state of version 1, found version 9"),
    ],
)
def test_other_values_are_refused(state: Any, message: str) -> None:
    evaluator = half()
    with pytest.raises(ioukit.DatasetError, match=message):
        evaluator.load_state_dict(state)
    assert len(evaluator) == 7


def test_damaged_states_are_refused() -> None:
    evaluator, state = half(), half().state_dict()
    table = state["table"]
    for spoiled, message in [
        (table[: len(table) // 2], "state: table: the match table is cut or damaged"),
        (table[:0], "state: table: expected a match table"),
        (table.astype(np.int64), r"state: table: expected bytes \(uint8\), found dtype int64"),
        (None, "state: table: expected bytes"),
    ]:
        with pytest.raises(ioukit.DatasetError, match=message):
            evaluator.load_state_dict({**state, "table": spoiled})
    other = state["header"].replace('"images": 7', '"images": 8')
    with pytest.raises(ioukit.DatasetError, match="state: expected 8 images, found 7"):
        evaluator.load_state_dict({**state, "header": other})
    assert len(evaluator) == 7


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"near": 0.1}, "the state must have the same near, expected 0.1, got None"),
        ({"iou_type": "segm"}, "the state must have the same iou_type, expected 'segm', got 'bbox'"),
        ({"protocol": ioukit.COCO.replace(max_dets=(5,))}, "the state must have the same protocol"),
        ({"categories": ["cat", "dog"]}, "other categories than those that this evaluator was given"),
    ],
)
def test_other_settings_are_refused(settings: Any, message: str) -> None:
    evaluator = Evaluator(**settings)
    with pytest.raises(ValueError, match=message):
        evaluator.load_state_dict(half().state_dict())
    assert len(evaluator) == 0
