"""Where a network runs: the device, its number format, and the processes that train together."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch


@dataclass(frozen=True)
class Processes:
    """The processes that train one network.

    Attributes:
        rank: The number of this process, from 0 on. Process 0 evaluates and writes files.
        count: How many processes there are.
    """

    rank: int = 0
    count: int = 1


def choose_device(name: str | torch.device | None = None) -> torch.device:
    """The device with this name; by default CUDA if it is available, otherwise the CPU.

    Raises:
        ValueError: If this PyTorch does not know the device, or this machine does not have it.
    """
    name = name or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:  # a PyTorch that was built without CUDA asserts
        reason = str(error).partition("\n")[0]
        raise ValueError(f"the device {str(name)!r} cannot be used: {reason}") from None
    return device


def fast_in_bfloat16(device: torch.device) -> bool:
    """Whether the device multiplies matrices faster in bfloat16 than in float32.

    bfloat16 has the range of float32, so the loss needs no scaling.
    """
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    # A CPU without such instructions would convert to float32 and back. Older versions of PyTorch do not ask for all.
    asked = ("_is_amx_tile_supported", "_is_avx512_bf16_supported")
    return device.type == "cpu" and any(getattr(torch.cpu, name, lambda: False)() for name in asked)


@contextmanager
def processes(*, batch: int, device: str | None) -> Iterator[Processes]:
    """The processes that torchrun started, connected for the block; without torchrun only this process.

    A process group that exists already is used and stays.

    Args:
        batch: Images per step, over all processes.
        device: Where they train, see `choose_device`.

    Raises:
        ValueError: If the batch is not a multiple of the number of processes.
    """
    exists = torch.distributed.is_available() and torch.distributed.is_initialized()
    count = torch.distributed.get_world_size() if exists else int(os.environ.get("WORLD_SIZE", "1"))
    if batch % count:
        raise ValueError(f"batch must be a multiple of the {count} processes, got {batch}")
    if count == 1:
        yield Processes()
        return
    if exists:
        yield Processes(torch.distributed.get_rank(), count)
        return
    on_cuda = torch.cuda.is_available() and torch.device(device or "cuda").type == "cuda"
    if on_cuda:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    # The other processes wait while process 0 evaluates, which may take long.
    torch.distributed.init_process_group("nccl" if on_cuda else "gloo", timeout=timedelta(hours=2))
    try:
        yield Processes(torch.distributed.get_rank(), count)
        torch.distributed.barrier()
    finally:
        torch.distributed.destroy_process_group()
