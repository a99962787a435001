"""The protocols by name, for commands and files."""

from __future__ import annotations

from ioukit.evaluation.protocols.coco import COCO, COCO_KEYPOINTS
from ioukit.evaluation.protocols.protocol import Protocol

__all__ = ["PROTOCOLS", "find_protocol", "register_protocol"]

PROTOCOLS: dict[str, Protocol] = {"coco": COCO, "coco-keypoints": COCO_KEYPOINTS}
"""The protocols by name, in lower case."""


def register_protocol(name: str, protocol: Protocol) -> None:
    """Add a protocol, so that commands accept its name.

    Raises:
        ValueError: If a protocol of that name exists already.
    """
    key = name.lower()
    if key in PROTOCOLS:
        raise ValueError(f"there is a protocol {key!r} already")
    PROTOCOLS[key] = protocol


def find_protocol(name: str) -> Protocol:
    """The protocol with a name, in upper or lower case.

    Raises:
        ValueError: If no protocol has this name.
    """
    if name.lower() not in PROTOCOLS:
        raise ValueError(f"unknown protocol {name!r}; choose from {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name.lower()]
