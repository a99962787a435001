"""Reading the rules of a gate from a file."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import TYPE_CHECKING, Any

from ioukit._near_names import suggest
from ioukit._toml import toml_fields
from ioukit.runs.gate.rules import Rule, Rules

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["read_rules"]

_TEXTS = ("metric", "value", "in_doubt", "name")
_RULE = tuple(field.name for field in dataclasses.fields(Rule))
_RULES = tuple(field.name for field in dataclasses.fields(Rules) if field.name != "source")


def read_rules(path: str | os.PathLike[str]) -> Rules:
    r"""Read rules from a TOML file.

    The file has the fields of :class:`Rules`, and a table ``[[rules]]`` with the fields of :class:`Rule` for each rule.

    Args:
        path: The file.

    Raises:
        ValueError: If the file is not TOML, or a field is unknown or invalid; the message names the file and the rule.
        OSError: If the file cannot be read.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "gate.toml")
        ...     _ = file.write_text('certainty = 0.9\n[[rules]]\nmetric = "AP"\nmay_fall_by = 0.005')
        ...     print(read_rules(file).rules[0])
        AP may not fall by more than 0.005
    """
    source = os.fspath(path)
    with open(path, "rb") as file:
        content = file.read()
    try:
        given = toml_fields(content.decode())
    except ValueError as error:  # an encoding or TOML that is invalid
        raise ValueError(f"{source}: expected TOML, found something else: {error}") from None
    try:
        _check_names(given, _RULES, "")
        listed = given.pop("rules", [])
        if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
            raise ValueError("rules: expected tables [[rules]]")
        for name in ("replicates", "seed"):
            if name in given and (not isinstance(given[name], int) or isinstance(given[name], bool)):
                raise ValueError(f"{name}: expected a whole number, found {json.dumps(given[name], default=str)}")
        return Rules(rules=[_rule(one, f"rules[{at}]") for at, one in enumerate(listed)], source=source, **given)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None


def _rule(given: Mapping[str, Any], where: str) -> Rule:
    _check_names(given, _RULE, f"{where}.")
    for name, value in given.items():
        if name in _TEXTS and not isinstance(value, str):
            raise ValueError(f"{where}.{name}: expected text, found {json.dumps(value, default=str)}")
    classes = given.get("classes", "all")
    if classes != "all" and not (isinstance(classes, list) and all(isinstance(one, str) for one in classes)):
        found = json.dumps(classes, default=str)
        raise ValueError(f'{where}.classes: expected a list of names, or "all", found {found}')
    try:
        return Rule(**given)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _check_names(given: Mapping[str, Any], known: tuple[str, ...], prefix: str) -> None:
    """Refuses unknown fields."""
    for name in given:
        if name not in known:
            every = f"choose from {', '.join(known)}"
            raise ValueError(f"{prefix}{name}: there is no such field{suggest(name, known, every, 1)}")
