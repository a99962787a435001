"""The protocols by name, for commands and files. Each is loaded at its first use."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, MutableMapping

from ioukit.evaluation.protocols.protocol import Protocol

__all__ = ["PROTOCOLS", "check_protocol", "find_protocol", "register_protocol"]


class _Protocols(MutableMapping[str, Protocol]):
    """Protocols by name: in lower case, in the order in which they were added."""

    def __init__(self, **homes: str) -> None:
        # A protocol, or its module and its name there.
        self._entries: dict[str, Protocol | str] = {key.replace("_", "-"): home for key, home in homes.items()}

    def __getitem__(self, key: str) -> Protocol:
        entry = self._entries[key]
        if isinstance(entry, str):
            module, name = entry.split(":")
            entry = self._entries[key] = getattr(importlib.import_module(f"ioukit.evaluation.protocols.{module}"), name)
        return entry

    def __setitem__(self, key: str, protocol: Protocol) -> None:
        self._entries[key] = protocol

    def __delitem__(self, key: str) -> None:
        del self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


PROTOCOLS: MutableMapping[str, Protocol] = _Protocols(
    coco="coco:COCO",
    coco_keypoints="coco:COCO_KEYPOINTS",
    voc2007="voc:VOC2007",
    voc2012="voc:VOC2012",
    dota_task1="voc:DOTA_TASK1",
    dota_task2="voc:DOTA_TASK2",
    tide="tide:TIDE",
    lvis="lvis:LVIS",
    lvis_fixed="lvis:LVIS_FIXED",
    crowdhuman="pedestrians:CROWDHUMAN",
    caltech="pedestrians:CALTECH",
    wider_face="pedestrians:WIDER_FACE",
    kitti="kitti:KITTI",
    kitti_r11="kitti:KITTI_R11",
    open_images="open_images:OPEN_IMAGES",
    open_images_challenge="open_images:OPEN_IMAGES_CHALLENGE",
    ultralytics="ultralytics:ULTRALYTICS",
    ultralytics_8_3="ultralytics:ULTRALYTICS_8_3",
)
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


def find_protocol(name: str, iou_type: str | None = None) -> Protocol:
    """The protocol with a name, in upper or lower case.

    Args:
        name: The name.
        iou_type: What is compared. If the protocol is not meant for it, and one whose name goes on behind a hyphen is,
            that one is returned: ``"coco"`` for keypoints is ``"coco-keypoints"``, and ``"dota"`` for polygons is
            ``"dota-task1"``.

    Raises:
        ValueError: If no protocol has this name.

    Examples:
        >>> from ioukit.evaluation.protocols import find_protocol
        >>> find_protocol("dota", "polygon").name
        'DOTA task 1'
    """
    key = name.lower()
    if iou_type is not None and not (key in PROTOCOLS and iou_type in PROTOCOLS[key].meant_for):
        others = (PROTOCOLS[other] for other in PROTOCOLS if other.startswith(f"{key}-"))
        meant = [other for other in others if iou_type in other.meant_for]
        if len(meant) == 1:
            return meant[0]
    if key not in PROTOCOLS:
        raise ValueError(f"unknown protocol {name!r}; choose from {', '.join(PROTOCOLS)}")
    return PROTOCOLS[key]


def check_protocol(protocol: object) -> None:
    """Raises :class:`TypeError` for what is no protocol, such as the name of one."""
    if isinstance(protocol, Protocol):
        return
    got = type(protocol).__name__
    if isinstance(protocol, str):
        got = f"{protocol!r}: for a protocol by its name, call find_protocol of ioukit.evaluation.protocols"
    raise TypeError(f"protocol must be a Protocol, such as ioukit.COCO, got {got}")
