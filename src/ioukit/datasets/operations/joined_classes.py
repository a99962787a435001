"""The classes of several data sets as one list."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from ioukit._columns import concat_columns
from ioukit.datasets.columns.images import Categories
from ioukit.datasets.operations.columns_in_common import filled_attributes

__all__ = ["Classes", "merged_categories"]

Classes: TypeAlias = Literal["by-name", "by-id"]
"""Which classes of two data sets are the same one."""


def merged_categories(
    listed: Sequence[Categories], classes: Classes, notes: list[str]
) -> tuple[Categories, list[dict[int, int]]]:
    """All classes, each once, and for each data set the new ids of its classes by their old ones.

    A class keeps its id, unless another class of an earlier data set has it: then it gets the next free one.

    Raises:
        ValueError: If one id has two names and classes are joined by id, or one name has two ids in one data set and
            they are joined by name.
    """
    names: dict[int, str] = {}  # of the new classes by id
    by_name: dict[str, int] = {}
    maps: list[dict[int, int]] = []
    added: list[Categories] = []
    for categories in listed:
        if classes == "by-name" and len(set(categories.names)) < len(categories):
            twice = next(name for name in categories.names if categories.names.count(name) > 1)
            raise ValueError(f"two classes of a data set have the name {twice!r}: join classes by id")
        new: dict[int, int] = {}
        rows = []
        for row, (old, name) in enumerate(zip(categories.ids.tolist(), categories.names, strict=True)):
            number = by_name.get(name) if classes == "by-name" else old if old in names else None
            if number is None:
                number = old if old not in names else max([*names, *categories.ids.tolist()]) + 1
                rows.append(row)
                names[number] = name
                by_name.setdefault(name, number)
            elif names[number] != name:
                raise ValueError(f"the class {number} is {names[number]!r} in one data set and {name!r} in another")
            new[old] = number
        maps.append(new)
        own = categories.take(np.array(rows, np.intp))
        added.append(dataclasses.replace(own, ids=np.array([new[old] for old in own.ids.tolist()], np.int64)))
    _note_case(list(by_name), notes)
    columns = filled_attributes([(one.attributes, len(one)) for one in added], "attribute {} of the classes", notes)
    filled = [attributes for attributes, one in zip(columns, added, strict=True) if len(one)] or columns[:1]
    joined = Categories(
        np.concatenate([one.ids for one in added]),
        tuple(name for one in added for name in one.names),
        concat_columns(filled, "attributes"),
    )
    return joined.take(np.argsort(joined.ids)), maps


def _note_case(names: Sequence[str], notes: list[str]) -> None:
    """A note about classes that are probably one."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault("".join(name.casefold().replace("_", " ").replace("-", " ").split()), []).append(name)
    notes += [
        f"the classes {' and '.join(map(repr, group))} differ only by case or spaces: remap joins them"
        for group in alike.values()
        if len(group) > 1
    ]
