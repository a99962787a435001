"""The rules of other tools, by the name of the tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ioukit._near_names import unknown_name
from ioukit.evaluation.protocols import PROTOCOLS, Protocol


@dataclass(frozen=True)
class Tool:
    """What is known about the rules of another tool."""

    name: str
    """Its name for :func:`find_tool` and for ``ioukit eval --like``."""
    version: str
    """The version or the part of the tool whose rules these are."""
    protocols: Mapping[str, str]
    """The name of the protocol that the tool follows, for each kind of region that it evaluates."""
    changes: Callable[[], Mapping[str, Any]] = dict
    """Makes the fields of the protocol that the tool changes."""
    keys: tuple[tuple[str, str], ...] = ()
    """Names of the tool's numbers, each with its key in the summary here."""
    notes: tuple[str, ...] = ()
    """What else to know: options that change the rules, and differences that remain."""

    @property
    def is_known(self) -> bool:
        """Whether :data:`PROTOCOLS` has the rules of the tool."""
        return all(name in PROTOCOLS for name in self.protocols.values())

    def protocol(self, iou_type: str = "bbox") -> Protocol:
        """The rules of the tool for a kind of region.

        Raises:
            ValueError: If the tool does not evaluate this kind, or its rules are not known.
        """
        if not self.is_known:
            raise ValueError(f"the rules of {self.name} are not known yet; choose from {', '.join(_known())}")
        if iou_type not in self.protocols:
            raise ValueError(f"{self.name} does not evaluate {iou_type!r}, only {', '.join(self.protocols)}")
        protocol = PROTOCOLS[self.protocols[iou_type]]
        changes = self.changes()
        return protocol.replace(name=f"{protocol.name} as in {self.name}", **changes) if changes else protocol

    def text(self, iou_type: str = "bbox") -> str:
        """What the name of the tool stands for: its protocol, changed fields, names of numbers, and notes.

        Raises:
            ValueError: As :meth:`protocol`.
        """
        protocol, base = self.protocol(iou_type), self.protocols[iou_type]
        lines = [f"{self.name} {self.version}: protocol {base} ({PROTOCOLS[base].name})"]
        lines += [f"  with its own {', '.join(self.changes())}"] if self.changes() else []
        known = {measure.key for measure in protocol.measures}
        keys = [f"{theirs} is {ours}" for theirs, ours in self.keys if ours in known]
        lines += [f"  its {', '.join(keys)}"] if keys else []
        return "\n".join([*lines, *(f"  note {note}" for note in self.notes)])


def _torchmetrics_changes() -> dict[str, Any]:
    return {"iou_thresholds": _linspace32(0.5, 0.95, 10), "recall_thresholds": _linspace32(0.0, 1.0, 101)}


def _linspace32(start: float, stop: float, count: int) -> list[float]:
    """The numbers of ``torch.linspace`` in float32, with fused multiply-add: from both ends, rounded once."""
    first, last = float(np.float32(start)), float(np.float32(stop))
    step = float((np.float32(last) - np.float32(first)) / np.float32(count - 1))
    return [
        float(np.float32(first + step * at if at < count // 2 else last - step * (count - 1 - at)))
        for at in range(count)
    ]


_COCO_KINDS = {"bbox": "coco", "segm": "coco"}

_ALL = (
    Tool(
        "pycocotools",
        "2.0.11, COCOeval",
        {**_COCO_KINDS, "keypoints": "coco-keypoints"},
        keys=(("stats[0]", "AP"), ("stats[1]", "AP50"), ("stats[2]", "AP75"), ("stats[8]", "AR100")),
        notes=(
            "an annotation with the id 0 is never found by pycocotools; --on-invalid pycocotools does the same",
            "with other maxDets, pycocotools takes AP50, AP75 and the sizes at the third cap, and AP at 100",
        ),
    ),
    Tool(
        "faster-coco-eval",
        "1.8.0, COCOeval_faster",
        dict(_COCO_KINDS),
        notes=("it adds in another order, so its last bits differ",),
    ),
    Tool(
        "torchmetrics",
        "1.9.0, MeanAveragePrecision",
        dict(_COCO_KINDS),
        _torchmetrics_changes,
        keys=(("map", "AP"), ("map_50", "AP50"), ("map_75", "AP75"), ("mar_100", "AR100")),
        notes=(
            "its default thresholds are float32: recall 0.6 is 0.6000000238, which 3 of 5 objects do not reach",
            "so its numbers are not those of pycocotools, whichever backend it has",
            "boxes given as float32 corners lose bits before they are compared; numbers come back as float32",
            "the last bit of some recalls depends on the processor; these are those with fused multiply-add",
        ),
    ),
    Tool(
        "supervision",
        "0.31.2, metrics.MeanAveragePrecision",
        dict(_COCO_KINDS),
        keys=(("map50_95", "AP"), ("map50", "AP50"), ("map75", "AP75")),
        notes=(
            "it keeps precision as float32, so its numbers differ by less than 1e-7",
            'the area of an object is that of its box, or of its mask, unless data["area"] has the area of the file',
        ),
    ),
    Tool(
        "voc_eval",
        "of py-faster-rcnn, use_07_metric=False",
        {"bbox": "voc2012"},
        notes=("with use_07_metric=True it is the protocol voc2007",),
    ),
    Tool("lvis", "0.5.3, LVISEval", {"bbox": "lvis", "segm": "lvis"}),
    Tool(
        "dota_devkit",
        "dota_evaluation_task1.py for polygons, dota_evaluation_task2.py for boxes",
        {"bbox": "dota-task2", "polygon": "dota-task1", "rotated": "dota-task1"},
        notes=("the kit cuts the digits after the point off the corners of objects",),
    ),
    Tool(
        "tidecv",
        "1.0.1, TIDE.evaluate",
        {"bbox": "tide", "segm": "tide"},
        notes=("its numbers are in percent, and their last bits differ",),
    ),
    *(
        Tool(
            name,
            version,
            {"bbox": protocol},
            keys=(("metrics/mAP50(B)", "mAP50"), ("metrics/mAP50-95(B)", "mAP50-95")),
            notes=(
                "it compares boxes in float32: an IoU within 1e-7 of a threshold may match there, and not here",
                "its labels have no crowds; a COCO file has, and they count as objects here",
            ),
        )
        for name, version, protocol in (
            ("ultralytics", "8.4.190, val", "ultralytics"),
            ("ultralytics-8-3", "8.0 to 8.4.36, val", "ultralytics-8-3"),
        )
    ),
)

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in _ALL}
"""The tools by name. One whose :attr:`Tool.is_known` is false has a row, and no rules yet."""


def _known() -> list[str]:
    return [name for name, tool in TOOLS.items() if tool.is_known]


def find_tool(name: str) -> Tool:
    """The tool with a name, in upper or lower case, with ``-`` or ``_``.

    Raises:
        ValueError: If no tool has this name, or its rules are not known yet.

    Examples:
        >>> from ioukit.evaluation import find_tool
        >>> print(find_tool("voc_eval").text())
        voc_eval of py-faster-rcnn, use_07_metric=False: protocol voc2012 (VOC2012)
          note with use_07_metric=True it is the protocol voc2007
    """
    wanted = name.lower().replace("-", "_")
    found = [tool for key, tool in TOOLS.items() if key.replace("-", "_") == wanted]
    if not found:
        raise ValueError(unknown_name("tool", name, _known()))
    if not found[0].is_known:
        raise ValueError(f"the rules of {found[0].name} are not known yet; choose from {', '.join(_known())}")
    return found[0]
