"""The arguments of the mean average precision, and the rules that follow from them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch

from ioukit.evaluation.protocols import COCO, Protocol

_BOX_FORMATS = ("xyxy", "xywh", "cxcywh")
_KINDS = ("segm", "bbox")
_AVERAGES = ("macro", "micro")
BACKENDS = ("pycocotools", "faster_coco_eval")


class Task(NamedTuple):
    """One way to match the same images."""

    kind: str
    """What is compared: ``"bbox"`` or ``"segm"``."""
    protocol: Protocol
    """The rules."""
    one_class: bool
    """Whether all labels count as label 0."""
    near: float | None
    """The IoU from which pairs are listed, for the table of IoUs; ``None`` if it is not asked for."""


def checked_kinds(iou_type: str | Sequence[str]) -> tuple[str, ...]:
    """The kinds of regions as a tuple.

    Raises:
        ValueError: If one of them is unknown.
    """
    kinds = (iou_type,) if isinstance(iou_type, str) else tuple(iou_type)
    if not kinds or any(kind not in _KINDS for kind in kinds):
        raise ValueError(f"Expected argument `iou_type` to be one of {_KINDS} or a tuple of, but got {kinds}")
    return kinds


@dataclass(frozen=True)
class Arguments:
    """The arguments of the metric, checked."""

    box_format: str
    kinds: tuple[str, ...]
    iou_thresholds: tuple[float, ...]
    rec_thresholds: tuple[float, ...]
    max_detection_thresholds: tuple[int, ...]
    class_metrics: bool
    extended_summary: bool
    average: str
    backend: str

    @classmethod
    def checked(
        cls, *, iou_type: Any, iou_thresholds: Any, rec_thresholds: Any, max_detection_thresholds: Any, **others: Any
    ) -> Arguments:
        """Take the arguments of a user.

        Raises:
            ValueError: In the words of TorchMetrics, because tests of programs compare them; in the words of
                :class:`~ioukit.evaluation.Protocol` for thresholds out of range.
        """
        for name, choices in (("box_format", _BOX_FORMATS), ("average", _AVERAGES), ("backend", BACKENDS)):
            if others[name] not in choices:
                raise ValueError(f"Expected argument `{name}` to be one of {choices} but got {others[name]}")
        for name, values in {"iou_thresholds": iou_thresholds, "rec_thresholds": rec_thresholds}.items():
            if values is not None and not isinstance(values, list):
                raise ValueError(f"Expected argument `{name}` to either be `None` or a list of floats but got {values}")
        caps = max_detection_thresholds
        if caps is not None and not isinstance(caps, list):
            raise ValueError(
                f"Expected argument `max_detection_thresholds` to either be `None` or a list of ints but got {caps}"
            )
        if caps is not None and len(caps) != 3:
            raise ValueError(
                f"When providing a list of max detection thresholds it should have length 3. Got value {len(caps)}"
            )
        for name in ("class_metrics", "extended_summary"):
            if not isinstance(others[name], bool):
                raise ValueError(f"Expected argument `{name}` to be a boolean")
        checked = cls(
            kinds=checked_kinds(iou_type),
            # Rounded to float32, as in TorchMetrics: a match at IoU 0.9 and a recall of 0.1 depend on it.
            iou_thresholds=tuple(iou_thresholds or torch.linspace(0.5, 0.95, 10, dtype=torch.float32).tolist()),
            rec_thresholds=tuple(rec_thresholds or torch.linspace(0.0, 1.0, 101, dtype=torch.float32).tolist()),
            max_detection_thresholds=tuple(sorted(caps or [1, 10, 100])),
            **others,
        )
        _ = checked.tasks  # makes the protocols, which check the thresholds
        return checked

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """What to match: the table of the numbers for each kind, then that of the numbers of classes if it differs."""
        near = float(np.finfo(np.float64).tiny) if self.extended_summary else None
        micro = self.average == "micro"
        protocol = COCO.replace(
            iou_thresholds=sorted(set(self.iou_thresholds)),
            recall_thresholds=sorted(set(self.rec_thresholds)),
            max_dets=sorted(set(self.max_detection_thresholds)),
        )
        tasks = [Task(kind, protocol, micro, near) for kind in self.kinds]
        if micro and self.class_metrics:
            tasks += [Task(kind, protocol, False, None) for kind in self.kinds]
        return tuple(tasks)

    @cached_property
    def digest(self) -> str:
        """Letters that differ for arguments that match differently."""
        text = json.dumps([[task.kind, task.protocol.to_dict(), task.one_class, task.near] for task in self.tasks])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def cap_of_map(self) -> int | None:
        """The cap at which ``map`` is taken; ``None`` if it is undefined.

        pycocotools takes it at 100 detections alone, faster-coco-eval at the last cap.
        """
        caps = self.max_detection_thresholds
        if self.backend == "pycocotools":
            return 100 if 100 in caps else None
        return caps[-1]
