"""Records as plain Python values, which JSON can hold: what most methods ``to_dict`` return."""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Mapping
from typing import Any


def plain_values(record: Any) -> dict[str, Any]:
    """The fields of a dataclass by name, without private ones, each as `plain_value` has it."""
    names = [field.name for field in dataclasses.fields(record) if not field.name.startswith("_")]
    return {name: plain_value(getattr(record, name)) for name in names}


def plain_value(value: Any) -> Any:
    """A value without types of ioukit: ``None`` for NaN, dicts for mappings and records, lists for tuples."""
    if isinstance(value, numbers.Real):
        return None if math.isnan(value) else value
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "_asdict"):
        return plain_value(value._asdict())
    if isinstance(value, Mapping):
        return {key: plain_value(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [plain_value(one) for one in value]
    return value
