"""Which rules a command follows: a protocol by name or from a file, or those of a tool, changed by options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from ioukit.cli._errors import bad_value
from ioukit.cli._options import parse_areas, parse_max_dets, parse_thresholds
from ioukit.evaluation.protocols import PROTOCOLS, find_protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from ioukit.evaluation import Kind, Protocol, Tool

__all__ = ["chosen_protocol", "chosen_tool", "named_number"]


def chosen_tool(like: str | None, protocol: str | None) -> Tool | None:
    """The tool that `--like` names, if any.

    Raises:
        typer.BadParameter: If there is no such tool, or `--protocol` is given, too.
    """
    if like is None:
        return None
    if protocol is not None:
        raise typer.BadParameter("it names the rules, so --protocol cannot be given, too", param_hint="--like")
    from ioukit.evaluation import find_tool  # noqa: PLC0415 - for those who name a tool

    with bad_value("--like"):
        return find_tool(like)


def chosen_protocol(
    name: str | None,
    kind: Kind,
    tool: Tool | None = None,
    *,
    iou_thresholds: list[str] | None = None,
    max_dets: list[str] | None = None,
    areas: list[str] | None = None,
    class_agnostic: bool = False,
) -> Protocol:
    """The protocol with this name or file, of this tool, or the default of the kind of region, changed by options.

    Raises:
        typer.BadParameter: If there is no such protocol, or the value of an option is wrong. It names the option.
        OSError: If the file of the protocol cannot be read.
    """
    with bad_value("--protocol" if tool is None else "--like"):
        named = kind.protocol if name is None else _found(name, kind)
        protocol = named if tool is None else tool.protocol(kind.name)
    changes: dict[str, Any] = {"class_agnostic": True} if class_agnostic else {}
    options: list[tuple[str, str, list[str] | None, Callable[[list[str]], Any]]] = [
        ("--iou-thresholds", "iou_thresholds", iou_thresholds, parse_thresholds),
        ("--max-dets", "max_dets", max_dets, parse_max_dets),
        ("--areas", "area_ranges", areas, parse_areas),
    ]
    for option, field, values, parse in options:
        if values is not None:
            with bad_value(option):
                changes[field] = parse(values)
    with bad_value(None):
        return protocol.replace(**changes)


def _found(name: str, kind: Kind) -> Protocol:
    if name.lower() in PROTOCOLS or not name.lower().endswith((".toml", ".json")):
        return find_protocol(name, kind.name)
    from ioukit.evaluation.protocols import read_protocol  # noqa: PLC0415 - for those who give a file

    return read_protocol(name)


def named_number(text: str, kind: Kind) -> tuple[Protocol, str | None]:
    """The protocol and the key of a measure, from `NAME`, `FILE` or `TOOL`, each with or without `:KEY` behind it.

    Raises:
        ValueError: If there is no such protocol or tool, or the file has an error.
        OSError: If the file cannot be read.
    """
    name, colon, key = text.rpartition(":")
    if not colon or not key or "/" in key or "\\" in key:  # a drive of Windows is no name
        name, key = text, ""
    if name.lower() in PROTOCOLS or name.lower().endswith((".toml", ".json")):
        return _found(name, kind), key or None
    from ioukit.evaluation import TOOLS, find_tool  # noqa: PLC0415 - for those who name a tool

    if not any(name.lower().replace("-", "_") == tool.replace("-", "_") for tool in TOOLS):
        tools = ", ".join(name for name, tool in TOOLS.items() if tool.is_known)
        raise ValueError(f"unknown protocol {name!r}; choose from {', '.join(PROTOCOLS)}, a TOML file, or {tools}")
    return find_tool(name).protocol(kind.name), key or None
