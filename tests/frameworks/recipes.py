"""The recipes and adapters of docs/frameworks.md, as the page shows them."""

from __future__ import annotations

import importlib.util
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ADAPTERS", "RECIPES", "assert_same", "is_installed", "run_adapter", "run_recipe"]

_BLOCK = re.compile(r"<!-- (recipe|adapter): ([\w -]+) -->\n```py\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_BLOCKS: list[tuple[str, str, str]] = _BLOCK.findall((ROOT / "docs" / "frameworks.md").read_text(encoding="utf-8"))

RECIPES: dict[str, str] = {name: code for kind, name, code in _BLOCKS if kind == "recipe"}
"""The code of each recipe, by the name of its framework."""

ADAPTERS: dict[str, str] = {name: code for kind, name, code in _BLOCKS if kind == "adapter"}
"""The code of each adapter, by the name of its project."""


def run_recipe(name: str, **names: Any) -> dict[str, Any]:
    """Runs the code of a recipe with names that it takes from its program; returns all names."""
    found = {"__name__": f"recipe_{name}", **names}
    exec(compile(RECIPES[name], f"<docs/frameworks.md: {name}>", "exec"), found)
    return found


def run_adapter(name: str) -> dict[str, Any]:
    """Runs the code of an adapter; returns all names."""
    found: dict[str, Any] = {"__name__": f"adapter_{name}"}
    exec(compile(ADAPTERS[name], f"<docs/frameworks.md: {name}>", "exec"), found)
    return found


def assert_same(summary: Mapping[str, Any], wanted: Mapping[str, float], prefix: str = "") -> None:
    """All numbers of the summary, to the last bit, in the names that the framework gives them."""
    assert wanted["AP"] > 0.05
    found = {key: float(summary[prefix + key]) for key in wanted}
    np.testing.assert_array_equal(list(found.values()), list(wanted.values()))


def is_installed(name: str) -> bool:
    """Whether a package can be imported."""
    return importlib.util.find_spec(name) is not None
