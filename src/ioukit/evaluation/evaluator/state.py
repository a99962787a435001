"""An evaluator as a string and an array of bytes, for checkpoints."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ioukit._arrays import on_host
from ioukit.errors import DatasetError
from ioukit.evaluation.table import MatchTable
from ioukit.evaluation.table_file import pack_table, unpack_table

__all__ = ["State", "packed_state", "unpacked_state"]

_FORMAT = "ioukit evaluator"
_VERSION = 1


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
