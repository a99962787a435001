"""Rules of protocols in which objects choose among the detections, such as KITTI's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ioukit._checks import check_number


class ObjectLimit(NamedTuple):
    """Objects with a high value of an attribute are ignored."""

    attribute: str
    """The attribute of the ground truth, ``"occluded"`` for example."""
    at_most: tuple[float, ...]
    """(A,) for each area range of the protocol, the highest value of an object that counts."""


@dataclass(frozen=True)
class ObjectChoice:
    """How objects choose among the detections.

    An object chooses the free detection with the highest overlap, in the order of the ground truth. It chooses again at
    each score threshold, among the detections with at least that score. The area ranges of the protocol are ranges of
    the heights of upright boxes. An object outside of a range is ignored there; a detection outside of it is chosen
    only if there is no other. The objects of an :class:`IgnoreRule` with ``over_detection`` are areas: they choose
    nothing, and a detection that lies in one by more than the IoU threshold is not counted as wrong.
    """

    iou_thresholds: tuple[tuple[str, float], ...]
    """The IoU threshold of each category that is evaluated, with its name. The protocol has all of these thresholds."""
    neighbours: tuple[tuple[str, str], ...] = ()
    """Pairs of names: the detections of the first category may match an object of the second. Such a match counts
    neither as right nor as wrong."""
    limits: tuple[ObjectLimit, ...] = ()
    """Which objects are ignored in which area range."""
    steps: int = 40
    """The number of steps of recall from 0 to 1. Each has a score threshold: the score of the true positive whose
    recall is closest, where objects choose the detection with the highest score."""
    orientation: str = ""
    """The attribute of objects and detections with their angles in radians, for measures of the quantity ``"AOS"``;
    empty if the protocol reads no angles."""

    def __post_init__(self) -> None:
        """Check and freeze every field."""
        set_field = object.__setattr__  # the class is frozen; this is the way to set a field in __post_init__
        set_field(self, "iou_thresholds", tuple((str(name), float(iou)) for name, iou in _pairs(self.iou_thresholds)))
        set_field(self, "neighbours", tuple((str(name), str(other)) for name, other in _pairs(self.neighbours)))
        limits = (ObjectLimit(**limit) if isinstance(limit, Mapping) else ObjectLimit(*limit) for limit in self.limits)
        set_field(self, "limits", tuple(ObjectLimit(str(name), tuple(map(float, most))) for name, most in limits))
        if not self.iou_thresholds:
            raise ValueError("iou_thresholds must name at least one category")
        for field in ("iou_thresholds", "neighbours"):
            firsts = [pair[0] for pair in getattr(self, field)]
            if len(set(firsts)) < len(firsts):
                raise ValueError(f"{field} must name each category once, got {firsts}")
        others = [pair[1] for pair in self.neighbours]
        if len(set(others)) < len(others):
            raise ValueError(f"a category can be the neighbour of one other category, got {others}")
        if isinstance(self.steps, bool) or not isinstance(self.steps, int) or not 1 <= self.steps <= 10_000:
            raise ValueError(f"steps must be an integer from 1 to 10,000, got {self.steps!r}")
        if not isinstance(self.orientation, str):
            raise ValueError(f"orientation must be the name of an attribute, got {self.orientation!r}")

    def check(self, rules: Mapping[str, Any]) -> None:
        """Refuse rules of a protocol that do not fit.

        Args:
            rules: The fields of the protocol.

        Raises:
            ValueError: If the protocol lacks a threshold, a limit has another number of values than the protocol has
                area ranges, or a rule of the protocol needs detections that choose.
        """
        for name, iou in self.iou_thresholds:
            check_number(iou=iou)
            if not any(abs(iou - listed) <= _SAME_THRESHOLD for listed in rules["iou_thresholds"]):
                have = ", ".join(map(str, rules["iou_thresholds"]))
                raise ValueError(
                    f"{name} has the IoU threshold {iou}, which iou_thresholds must list; there are {have}"
                )
        for limit in self.limits:
            if len(limit.at_most) != len(rules["area_ranges"]):
                raise ValueError(
                    f"the limit of {limit.attribute!r} must have a value for each of the {len(rules['area_ranges'])} "
                    f"area ranges, got {list(limit.at_most)}"
                )
        for name, accepted in _ACCEPTED.items():
            if rules[name] not in accepted:
                raise ValueError(
                    f"where objects choose, {name} must be {' or '.join(map(repr, accepted))}, got {rules[name]!r}"
                )

    def threshold_of(self, name: str) -> float | None:
        """The IoU threshold of a category; ``None`` if it is not evaluated."""
        return dict(self.iou_thresholds).get(name)

    def neighbour_of(self, name: str) -> str | None:
        """The category of which this category is the neighbour."""
        return {other: first for first, other in self.neighbours}.get(name)

    def to_dict(self) -> dict[str, Any]:
        """The fields in plain Python values, as the class takes them."""
        return {
            "iou_thresholds": dict(self.iou_thresholds),
            "neighbours": dict(self.neighbours),
            "limits": [{"attribute": limit.attribute, "at_most": list(limit.at_most)} for limit in self.limits],
            "steps": self.steps,
            "orientation": self.orientation,
        }


_SAME_THRESHOLD = 1e-9  # as for Protocol.find_iou

_ACCEPTED: dict[str, tuple[Any, ...]] = {
    "threshold": ("more_than",),
    "cap_scope": ("image_and_category", "image"),
    "class_agnostic": (False,),
    "integral": ("recalls", "points"),
    "verified": ("all",),
    "without_area": ("counted",),
}
"""The values of the protocol's fields that objects that choose can follow."""


def _pairs(given: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> Iterable[tuple[str, Any]]:
    return given.items() if isinstance(given, Mapping) else given
