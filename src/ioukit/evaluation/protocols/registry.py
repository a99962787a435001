"""The protocols by name, for commands and files. Each is loaded at its first use."""

from __future__ import annotations

from ioukit._register import Register
from ioukit.evaluation.protocols.protocol import Protocol

PROTOCOLS: Register[Protocol] = Register("protocol")
"""The protocols by name, in lower case."""

for _name, _home in {
    "coco": "coco:COCO",
    "coco-keypoints": "coco:COCO_KEYPOINTS",
    "crowdpose": "crowdpose:CROWDPOSE",
    "voc2007": "voc:VOC2007",
    "voc2012": "voc:VOC2012",
    "dota-task1": "voc:DOTA_TASK1",
    "dota-task2": "voc:DOTA_TASK2",
    "tide": "tide:TIDE",
    "lvis": "lvis:LVIS",
    "lvis-fixed": "lvis:LVIS_FIXED",
    "crowdhuman": "pedestrians:CROWDHUMAN",
    "caltech": "pedestrians:CALTECH",
    "wider-face": "pedestrians:WIDER_FACE",
    "froc": "froc:FROC",
    "froc-centre": "froc:FROC_CENTRE",
    "icdar2015": "icdar:ICDAR2015",
    "kitti": "kitti:KITTI",
    "kitti-r11": "kitti:KITTI_R11",
    "kitti-aos": "kitti:KITTI_AOS",
    "open-images": "open_images:OPEN_IMAGES",
    "open-images-challenge": "open_images:OPEN_IMAGES_CHALLENGE",
    "ultralytics": "ultralytics:ULTRALYTICS",
    "ultralytics-8-3": "ultralytics:ULTRALYTICS_8_3",
    "unranked": "unranked:UNRANKED",
    "unranked-greedy": "unranked:UNRANKED_GREEDY",
}.items():
    PROTOCOLS.add(_name, f"ioukit.evaluation.protocols.{_home}")


def register_protocol(name: str, protocol: Protocol) -> None:
    """Add a protocol, so that commands accept its name.

    Raises:
        ValueError: If a protocol of that name exists already.
    """
    PROTOCOLS.add(name.lower(), protocol)


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
    from ioukit.evaluation.kinds.registry import REGION_KINDS  # noqa: PLC0415 - kinds know their protocols

    if key in REGION_KINDS and key not in PROTOCOLS:
        raise ValueError(f"unknown protocol {name!r}: it is a kind of region, so write iou_type={name!r}")
    if key == "nuscenes" and key not in PROTOCOLS:
        raise ValueError(
            f"unknown protocol {name!r}: its boxes match by distance, not by overlap, so write `ioukit nuscenes GT DT` "
            "or evaluation.evaluate_distances(...)"
        )
    return PROTOCOLS.find(key)


def protocol_of(given: Protocol | str, iou_type: str | None = None) -> Protocol:
    """A protocol, given by itself or by its name as in :func:`find_protocol`.

    Raises:
        ValueError: If no protocol has this name.
        TypeError: If it is neither.
    """
    if isinstance(given, str):
        return find_protocol(given, iou_type)
    if not isinstance(given, Protocol):
        got = type(given).__name__
        hint = ": the names of classes are categories=[...]" if isinstance(given, list | tuple) else ""
        raise TypeError(f"protocol must be a Protocol, such as ioukit.COCO, or the name of one, got {got}{hint}")
    return given
