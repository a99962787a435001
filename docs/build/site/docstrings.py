"""Docstrings for the reference: as Python has them at run time, with their roles and tables turned into Markdown."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import griffe

_STUB = "The public names are in the stub ``__init__.pyi``."
_ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):`~?([\w.]+)`")
_TABLE = re.compile(r"^(=+(?: +=+)+)\n.*?\n\1\n(?:.*?\n\1$)?", re.MULTILINE | re.DOTALL)


class Docstrings(griffe.Extension):
    """Goes over a package once all of it is read."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Settle the docstrings of all that belongs to ioukit."""
        if pkg.path == "ioukit":
            _settle(pkg, pkg)


def _settle(thing: griffe.Object, package: griffe.Module) -> None:
    for name, path in thing.imports.items():
        if path == f"{thing.path}.{name}.{name}" and thing.members[name].is_module:
            # A function of the name of its module, which hides it from Griffe; in Python the function wins.
            _settle(thing.members[name], package)
            thing.members[name] = griffe.Alias(name, target=thing.members[name].members[name], parent=thing)
    if thing.is_module:
        _add_made_functions(thing)
    if thing.is_class and not thing.docstring and "of" in thing.keywords:
        thing.docstring = griffe.Docstring(_as_module(thing, package), parent=thing)
    if thing.docstring:
        if thing.is_function and any("documented" in str(mark.value) for mark in thing.decorators):
            # Completed when it is imported, from what many of them have in common.
            function = getattr(importlib.import_module(thing.module.path), thing.name)
            thing.docstring.value = inspect.cleandoc(function.__doc__)
        text = _ROLE.sub(lambda role: _link(role[1], thing, package), thing.docstring.value.replace(_STUB, ""))
        thing.docstring.value = _TABLE.sub(lambda table: f"```text\n{table[0]}\n```", text)
    for member in thing.members.values():
        if not member.is_alias:
            _settle(member, package)


def _add_made_functions(module: griffe.Module) -> None:
    """Put functions that a call of ``_function`` makes, such as ``pairwise_iou``, in the place of plain attributes."""
    attributes = [member for member in module.members.values() if not member.is_alias and member.is_attribute]
    made = [attribute.name for attribute in attributes if str(attribute.value).startswith("_function(")]
    if made:
        seen = griffe.inspect(module.path, filepath=None)
        for name in made:
            module.set_member(name, seen.members[name])


def _as_module(loss: griffe.Class, package: griffe.Module) -> str:
    """What `LossModule` makes the docstring of ``class GIoULoss(LossModule, of=losses.giou_loss)``, in brief."""
    function = package[str(loss.keywords["of"].canonical_path).removeprefix("ioukit.")]
    said = function.docstring.value.partition("\n\n")[0] if function.docstring else ""
    return f"[`{function.name}`][{function.canonical_path}] as a module, which takes the same options: {said}"


def _link(name: str, thing: griffe.Object, package: griffe.Module) -> str:
    """A reference to what a docstring names, as seen from where it stands; a word where there is no such thing."""
    candidates = [name, f"ioukit.{name}"]
    scope: griffe.Object | None = thing
    while scope is not None:
        candidates.append(f"{scope.path}.{name}")
        scope = scope.parent
    for candidate in candidates:
        try:
            found = package[candidate.removeprefix("ioukit.")]
        except (KeyError, griffe.AliasResolutionError):
            continue
        return f"[`{name.removeprefix('ioukit.')}`][{found.canonical_path}]"
    return f"`{name}`"
