"""Which rules `ioukit eval` follows: a protocol by name or from a file, changed by options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ioukit.cli._errors import bad_value
from ioukit.cli._options import parse_areas, parse_max_dets, parse_thresholds
from ioukit.evaluation.protocols import PROTOCOLS, find_protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from ioukit.evaluation import Kind, Protocol

__all__ = ["chosen_protocol"]


def chosen_protocol(
    name: str | None,
    kind: Kind,
    *,
    iou_thresholds: list[str] | None,
    max_dets: list[str] | None,
    areas: list[str] | None,
    class_agnostic: bool,
) -> Protocol:
    """The protocol with this name or file, or the default of the kind of region, changed by the given options.

    Raises:
        typer.BadParameter: If there is no such protocol, or the value of an option is wrong. It names the option.
        OSError: If the file of the protocol cannot be read.
    """
    with bad_value("--protocol"):
        protocol = kind.protocol if name is None else _found(name)
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


def _found(name: str) -> Protocol:
    if name.lower() in PROTOCOLS or not name.lower().endswith((".toml", ".json")):
        return find_protocol(name)
    from ioukit.evaluation.protocols import read_protocol  # noqa: PLC0415 - for those who give a file

    return read_protocol(name)
