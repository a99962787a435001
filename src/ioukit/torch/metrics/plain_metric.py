"""What a metric does besides its numbers, for installations without TorchMetrics."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["PlainMetric", "base_of_metrics", "gathered"]


def base_of_metrics() -> Any:
    """TorchMetrics' ``Metric`` if it is installed, else :class:`PlainMetric`."""
    try:
        from torchmetrics import Metric  # noqa: PLC0415 - it is optional, and takes a second to import
    except ModuleNotFoundError as error:
        if error.name != "torchmetrics":
            raise
        return PlainMetric
    return Metric


class PlainMetric(nn.Module):
    """A metric with states that are lists of tensors: the part of TorchMetrics' ``Metric`` that its users call.

    A subclass defines ``update`` and ``compute``, and adds its states with :meth:`add_state`.
    """

    def __init__(
        self,
        *,
        dist_sync_on_step: bool = False,
        process_group: Any = None,
        dist_sync_fn: Callable[..., Any] | None = None,
        distributed_available_fn: Callable[[], bool] | None = None,
        sync_on_compute: bool = True,
        compute_with_cache: bool = True,
        compute_on_cpu: bool = False,  # noqa: ARG002 - states are on the CPU
    ) -> None:
        """Take the options of TorchMetrics' ``Metric``; ``compute_on_cpu`` changes nothing."""
        super().__init__()
        self.dist_sync_on_step = dist_sync_on_step
        self.process_group = process_group
        self.dist_sync_fn = dist_sync_fn
        self.distributed_available_fn = distributed_available_fn or _in_a_group
        self.sync_on_compute = sync_on_compute
        self.compute_with_cache = compute_with_cache
        self._states: list[str] = []
        self._persistent = False
        self._device = torch.device("cpu")
        self._update_count = 0
        self._computed: Any = None
        self._is_synced = False
        self._cache: dict[str, list[Tensor]] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Count the updates and keep the results of a subclass."""
        super().__init_subclass__(**kwargs)
        if "update" in vars(cls):
            cls.update = _counted(cls.update)  # type: ignore[method-assign]
        if "compute" in vars(cls):
            cls.compute = _kept(cls.compute)  # type: ignore[method-assign]

    def add_state(self, name: str, default: list[Tensor], dist_reduce_fx: str | None = None) -> None:  # noqa: ARG002
        """Add a state: a list that ``update`` appends tensors to."""
        self._states.append(name)
        setattr(self, name, list(default))

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Take a batch."""
        raise NotImplementedError

    def compute(self) -> Any:
        """The result over all batches."""
        raise NotImplementedError

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Take a batch, and return the result over this batch alone."""
        if self._is_synced:
            raise RuntimeError("the metric is synchronised: call unsync() before the next batch")
        earlier, count = self.metric_state, self._update_count
        sync, self.sync_on_compute = self.sync_on_compute, self.dist_sync_on_step
        try:
            self.reset()
            self.update(*args, **kwargs)
            value = self.compute()
            earlier = {name: [*earlier[name], *batch] for name, batch in self.metric_state.items()}
            count += 1
        finally:
            for name, state in earlier.items():
                setattr(self, name, state)
            self._update_count, self.sync_on_compute, self._computed = count, sync, None
        return value

    @property
    def metric_state(self) -> dict[str, list[Tensor]]:
        """The states by name."""
        return {name: list(getattr(self, name)) for name in self._states}

    @property
    def update_called(self) -> bool:
        """Whether there was a batch since the last ``reset``."""
        return self._update_count > 0

    @property
    def update_count(self) -> int:
        """How many batches there were since the last ``reset``."""
        return self._update_count

    @property
    def device(self) -> torch.device:
        """The device that the metric was moved to."""
        return self._device

    def reset(self) -> None:
        """Forget all batches."""
        for name in self._states:
            setattr(self, name, [])
        self._update_count, self._computed, self._cache, self._is_synced = 0, None, None, False

    def clone(self) -> Any:
        """A copy."""
        import copy  # noqa: PLC0415 - rarely needed

        return copy.deepcopy(self)

    def merge_state(self, incoming_state: Mapping[str, Sequence[Tensor]] | PlainMetric) -> None:
        """Add the batches of another metric."""
        state = incoming_state.metric_state if isinstance(incoming_state, PlainMetric) else incoming_state
        for name in self._states:
            setattr(self, name, [*state[name], *getattr(self, name)])
        self._computed = None

    def persistent(self, mode: bool = False) -> None:
        """Whether ``state_dict`` holds the states."""
        self._persistent = mode

    def sync(self, dist_sync_fn: Callable[..., Any] | None = None, process_group: Any = None) -> None:
        """Replace the states by those of all processes, until :meth:`unsync`."""
        if self._is_synced:
            raise RuntimeError("the metric is synchronised already")
        if not self.distributed_available_fn():
            return
        self._cache = self.metric_state
        self._sync_dist(dist_sync_fn or self.dist_sync_fn or gathered, process_group or self.process_group)
        self._is_synced = True

    def unsync(self) -> None:
        """Bring back the states of this process."""
        if not self._is_synced or self._cache is None:
            raise RuntimeError("the metric is not synchronised")
        for name, state in self._cache.items():
            setattr(self, name, state)
        self._is_synced, self._cache = False, None

    def _sync_dist(self, dist_sync_fn: Callable[..., Any], process_group: Any = None) -> None:
        raise NotImplementedError

    def _plot(self, val: Any, ax: Any) -> Any:  # noqa: ARG002 - TorchMetrics draws
        raise ModuleNotFoundError("plot needs torchmetrics: pip install torchmetrics", name="torchmetrics")

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        """Note the device; the states stay where they are."""
        moved = super()._apply(fn, recurse)
        self._device = fn(torch.zeros(1, device=self._device)).device
        return moved

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        if self._persistent:
            destination |= {prefix + name: list(getattr(self, name)) for name in self._states}

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        for name in self._states:
            if prefix + name in state_dict:
                setattr(self, name, list(state_dict.pop(prefix + name)))
        self._computed = None
        super()._load_from_state_dict(state_dict, prefix, *args)


def _counted(update: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(update)
    def wrapped(self: PlainMetric, *args: Any, **kwargs: Any) -> None:
        self._computed = None
        self._update_count += 1
        with torch.no_grad():
            update(self, *args, **kwargs)

    return wrapped


def _kept(compute: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(compute)
    def wrapped(self: PlainMetric) -> Any:
        if not self.update_called:
            warnings.warn(
                f"compute of {type(self).__name__} was called before update: no image was evaluated", stacklevel=2
            )
        if self._computed is not None:
            return self._computed
        synced = self._is_synced
        if self.sync_on_compute and not synced:
            self.sync()
        try:
            value = _squeezed(compute(self))
        finally:
            if self._is_synced and not synced:
                self.unsync()
        if self.compute_with_cache:
            self._computed = value
        return value

    return wrapped


def _squeezed(value: Any) -> Any:
    """Tensors with one value without dimensions, as those of TorchMetrics."""
    if isinstance(value, Tensor):
        return value.squeeze() if value.numel() == 1 else value
    if isinstance(value, dict):
        return {key: _squeezed(each) for key, each in value.items()}
    return value


def _in_a_group() -> bool:
    """Whether this is one of several processes of ``torch.distributed``."""
    return bool(torch.distributed.is_available() and torch.distributed.is_initialized())


def gathered(state: Tensor, group: Any = None) -> list[Tensor]:
    """The tensor of each process, which may differ in length."""
    distributed = torch.distributed
    length = torch.tensor([len(state)], device=state.device)
    lengths = [torch.zeros_like(length) for _ in range(distributed.get_world_size(group))]
    distributed.all_gather(lengths, length, group=group)
    longest = int(max(each.item() for each in lengths))
    padded = torch.cat([state, state.new_zeros(longest - len(state))])
    everyone = [torch.zeros_like(padded) for _ in lengths]
    distributed.all_gather(everyone, padded, group=group)
    return [each[: int(own.item())] for each, own in zip(everyone, lengths, strict=True)]
