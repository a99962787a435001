"""The images of an evaluator as bytes: for checkpoints, and for the other processes of a training.

Owns: what is kept and sent, and the sum of what all processes send. Does not own: the bytes of a match table
(evaluation/table_file.py), when a process sends (evaluator.py).
Processes exchange match tables, not boxes: a table is smaller, and each image is matched once. A process that fails
sends its message in the place of a table, because the others would wait for it otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ioukit._arrays import on_host
from ioukit._optional import import_extra
from ioukit.errors import DatasetError
from ioukit.evaluation.evaluator.matched import numbered_on
from ioukit.evaluation.table import MatchTable
from ioukit.evaluation.table_file import pack_table, unpack_table

_FORMAT = "ioukit evaluator"
_VERSION = 1
_FAILED, _STATE = b"failed\n", b"state\n"

Gather = Callable[[bytes], Sequence[bytes]]
"""Sends bytes to all processes, and returns those of all of them, in the same order everywhere."""


@dataclass(frozen=True)
class State:
    """The images of an evaluator."""

    table: MatchTable | None
    """Their matches; ``None`` if there is no image."""
    running: bool
    """Whether the images are numbered in order."""
    numbered: bool
    """Whether the evaluator numbered the objects."""


def packed_state(state: State) -> dict[str, Any]:
    """The state as a string, ``header``, and bytes, ``table``."""
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "images": 0 if state.table is None else len(state.table.image_ids),
        "running": state.running,
        "numbered": state.numbered,
    }
    packed = b"" if state.table is None else pack_table(state.table, compress=False)
    return {"header": json.dumps(header), "table": np.frombuffer(packed, np.uint8).copy()}


def unpacked_state(state: Mapping[str, Any], source: str) -> State:
    """The state in what :func:`packed_state` returned, also after it was saved by NumPy or PyTorch.

    Raises:
        DatasetError: If it is something else, is damaged, or comes from a later version.
    """
    try:
        header = json.loads(str(np.asarray(state["header"])[()]))
        known = header["format"] == _FORMAT
    except (KeyError, TypeError, ValueError, IndexError):
        known = False
    if not known:
        found = ", ".join(map(repr, state)) if isinstance(state, Mapping) else type(state).__name__
        raise DatasetError(f"{source}: expected the state of an evaluator, with header and table, found {found}")
    if header["version"] > _VERSION:
        raise DatasetError(f"{source}: expected a state of version {_VERSION}, found version {header['version']}")
    table = None
    if header["images"]:
        packed = np.asarray(on_host(state.get("table"), "table", "has no values that can be read"))
        if packed.dtype != np.uint8:
            raise DatasetError(f"{source}: table: expected bytes (uint8), found dtype {packed.dtype}")
        table = unpack_table(packed.tobytes(), f"{source}: table")
        if len(table.image_ids) != header["images"]:
            raise DatasetError(f"{source}: expected {header['images']:,} images, found {len(table.image_ids):,}")
    return State(table, bool(header["running"]), bool(header["numbered"]))


def state_message(state: State) -> bytes:
    """What a process sends: its state."""
    packed = packed_state(state)
    return b"".join((_STATE, packed["header"].encode(), b"\n", packed["table"].tobytes()))


def failure_message(error: BaseException) -> bytes:
    """What a process sends if it failed: why."""
    return _FAILED + json.dumps(f"{type(error).__name__}: {error}").encode()


def checked_messages(messages: Any, own: bytes) -> Sequence[bytes]:
    """What a function of the user returned.

    Raises:
        TypeError: If it is no list of bytes.
        ValueError: If the message of this process is not among them.
    """
    if not isinstance(messages, list | tuple):
        raise TypeError(f"gather must return a list with the bytes of every process, got {type(messages).__name__}")
    listed = [bytes(one) if isinstance(one, bytes | bytearray | memoryview) else None for one in messages]
    if None in listed:
        raise TypeError("gather must return a list with the bytes of every process, got other values")
    if own not in listed:
        raise ValueError("gather must return the bytes of every process, but those of this process are missing")
    return [one for one in listed if one is not None]


def common_table(messages: Sequence[bytes]) -> MatchTable | None:
    """The sum of the tables of all processes; ``None`` if none of them has an image.

    An image of several processes counts once. If images are numbered, those of later processes are numbered on.

    Raises:
        RuntimeError: If a process failed; the message says which one, and why.
        ValueError: If the tables do not add up, or only some processes were given ids of images.
    """
    states = [_read(message, rank) for rank, message in enumerate(messages)]
    filled = [(state, state.table) for state in states if state.table is not None]
    if not filled:
        return None
    if len({state.running for state, _ in filled}) > 1:
        raise ValueError("sync: some processes were given ids of images, others were not: give ids to all, or to none")
    images = objects = 0
    shifted = []
    numbered = all(state.numbered for state, _ in filled)
    for state, table in filled:
        shifted.append(numbered_on(table, images, objects if numbered else 0))
        images += len(table.image_ids) if state.running else 0
        objects += table.sources[0]
    return MatchTable.merge(shifted, duplicates="first", categories="union")


def _read(message: bytes, rank: int) -> State:
    kind, _, rest = bytes(message).partition(b"\n")
    if kind + b"\n" == _FAILED:
        raise RuntimeError(f"sync: process {rank} failed: {json.loads(rest)}")
    header, _, table = rest.partition(b"\n")
    if kind + b"\n" != _STATE:
        raise DatasetError(f"sync: expected the bytes that process {rank} sent, found others")
    return unpacked_state({"header": header.decode(), "table": np.frombuffer(table, np.uint8)}, f"sync: process {rank}")


def gather_by_torch(message: bytes, group: Any) -> list[bytes]:
    """The messages of all processes of a group of ``torch.distributed``, by its own means: tensors of bytes.

    Without an initialised default group, this process is alone.

    Raises:
        ModuleNotFoundError: If PyTorch is not installed.
        ValueError: If this process does not belong to the group.
    """
    distributed = import_extra("torch.distributed", extra="torch", needed_by="Evaluator.sync without gather=")
    if not distributed.is_available() or not distributed.is_initialized():
        return [message]
    torch = import_extra("torch", extra="torch", needed_by="Evaluator.sync")
    count = distributed.get_world_size(group)
    if distributed.get_rank(group) < 0:
        raise ValueError("sync: this process does not belong to the group")
    device = _device_of(torch, distributed, group)
    own = torch.frombuffer(bytearray(message), dtype=torch.uint8).to(device)
    sizes = [torch.zeros(1, dtype=torch.int64, device=device) for _ in range(count)]
    distributed.all_gather(sizes, torch.tensor([len(message)], dtype=torch.int64, device=device), group=group)
    lengths = [int(size) for size in sizes]
    padded = torch.zeros(max(lengths), dtype=torch.uint8, device=device)
    padded[: len(message)] = own
    received = [torch.empty_like(padded) for _ in range(count)]
    distributed.all_gather(received, padded, group=group)
    return [one[:length].cpu().numpy().tobytes() for one, length in zip(received, lengths, strict=True)]


def _device_of(torch: Any, distributed: Any, group: Any) -> Any:
    """The device on which a group exchanges tensors: the host if it can, as gloo, else the current GPU, as NCCL."""
    config = str(distributed.get_backend_config(group))  # such as "cpu:gloo,cuda:nccl"
    kinds = [one.partition(":")[0] for one in config.split(",")]
    if "cpu" in kinds:
        return torch.device("cpu")
    return torch.device(kinds[0], getattr(torch, kinds[0]).current_device())
