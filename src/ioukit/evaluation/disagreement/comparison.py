"""One data set under many protocols."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ioukit._checks import check_threads
from ioukit._notebook import Shown
from ioukit._plain_values import plain_value
from ioukit.errors import DatasetError
from ioukit.evaluation.disagreement.tables import lines_of, number
from ioukit.evaluation.evaluating import DetectionsLike, GroundTruthLike, detections_of, evaluate, ground_truth_of
from ioukit.evaluation.kinds.registry import find_kind
from ioukit.evaluation.protocols import PROTOCOLS, Protocol
from ioukit.evaluation.protocols.registry import protocol_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from ioukit.typing import IouType, ProtocolName


@dataclass(frozen=True, eq=False)
class ProtocolResult(Shown):
    """The numbers of the data under one protocol."""

    name: str
    """The name under which the protocol was given, or under which it is in :data:`PROTOCOLS`."""
    protocol: Protocol
    """The rules."""
    key: str
    """The key of the main measure."""
    value: float
    """The number of the main measure; NaN where it is undefined."""
    summary: Mapping[str, float]
    """All numbers of the protocol by their keys."""


@dataclass(frozen=True, eq=False)
class ProtocolComparison(Shown):
    """The result of :func:`compare_protocols`: ``comparison["coco"]`` is the result of one protocol."""

    iou_type: str
    """The kind of region that was compared."""
    results: tuple[ProtocolResult, ...]
    """One result for each protocol that applies."""
    not_applied: Mapping[str, str]
    """Why each other protocol does not apply, by its name."""

    def __getitem__(self, name: str) -> ProtocolResult:
        for result in self.results:
            if result.name == name:
                return result
        reason = self.not_applied.get(name)
        raise KeyError(f"no protocol {name!r} was compared" if reason is None else f"{name} does not apply: {reason}")

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """One row per protocol."""
        found = [{"protocol": one.name, "measure": one.key, "number": one.value} for one in self.results]
        return found, len(found)

    def __repr__(self) -> str:
        numbers = "".join(f", {result.name}={number(result.value)}" for result in self.results)
        return f"ProtocolComparison({self.iou_type!r}{numbers})"

    def table(self) -> str:
        """One line for each protocol: its main number and its reference; then the protocols that do not apply."""
        rows = [("protocol", "measure", "number", "reference")]
        rows += [(one.name, one.key, number(one.value), one.protocol.reference or "-") for one in self.results]
        lines = [lines_of(rows, left=(0, 1, 3))]
        if self.not_applied:
            lines += ["", "do not apply:"]
            lines += [f"  {name}: {reason}" for name, reason in self.not_applied.items()]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The comparison in plain Python values, ``None`` where a number is undefined."""
        return {
            "iou_type": self.iou_type,
            "protocols": [
                {
                    "name": result.name,
                    "protocol": result.protocol.name,
                    "key": result.key,
                    "value": plain_value(result.value),
                    "reference": result.protocol.reference,
                    "summary": plain_value(result.summary),
                }
                for result in self.results
            ],
            "not_applied": dict(self.not_applied),
        }


def compare_protocols(
    ground_truth: GroundTruthLike,
    detections: DetectionsLike,
    protocols: Iterable[Protocol | ProtocolName] | None = None,
    *,
    iou_type: IouType = "bbox",
    categories: Sequence[int | str] | None = None,
    images: Sequence[int | str] | npt.NDArray[Any] | None = None,
    threads: int | None = None,
) -> ProtocolComparison:
    """Evaluate one data set under many protocols.

    A protocol does not apply if the data lacks what it needs, such as LVIS's lists of categories for each image, or if
    it does not allow the chosen categories or images. Of the registered protocols, those whose reference evaluates
    other kinds of regions do not apply either, see :attr:`Protocol.meant_for`. Protocols that are given are evaluated
    for every kind.

    Args:
        ground_truth: The objects, as for :func:`ioukit.evaluate`.
        detections: The detections, as for :func:`ioukit.evaluate`.
        protocols: Protocols, or their names; all of :data:`ioukit.evaluation.protocols.PROTOCOLS` if ``None``.
        iou_type: The kind of region that is compared, see :func:`ioukit.evaluation.match`.
        categories: Ids or names of the categories to evaluate; all if ``None``.
        images: Ids of the images to evaluate; all if ``None``.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        DatasetError: If the data is invalid, or no protocol applies.
        ValueError: If a protocol or ``iou_type`` is unknown, two protocols have the same name, or ``categories`` or
            ``images`` has one that the ground truth does not list.

    Examples:
        >>> from ioukit import Detections, GroundTruth
        >>> from ioukit.evaluation import compare_protocols
        >>> ground_truth = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 10, 10]])
        >>> detections = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 10, 8]], scores=[0.9])
        >>> compare_protocols(ground_truth, detections, ["coco", "voc2012", "lvis"])
        ProtocolComparison('bbox', coco=0.7000, voc2012=1.0000)
    """
    kind = find_kind(iou_type)
    chosen: dict[str, Protocol] = dict(PROTOCOLS) if protocols is None else {}
    for given in () if protocols is None else protocols:
        protocol = protocol_of(given)
        name = given.lower() if isinstance(given, str) else given.name
        if name in chosen:
            raise ValueError(f"two protocols have the name {name!r}: give one of them another name")
        chosen[name] = protocol
    if not chosen:
        raise ValueError("protocols must name at least one protocol")
    lists = [protocol for protocol in chosen.values() if protocol.needs_lists_of_lvis]
    gt = ground_truth_of(ground_truth, lists[0] if protocols is not None and lists else None, threads)
    dt = detections_of(detections, gt, threads)
    check_threads(threads)
    if categories is not None:
        gt.categories.positions(categories)
    if images is not None:
        gt.images.positions(images)

    results, reasons = [], {}
    for name, protocol in chosen.items():
        meant_for = protocol.meant_for
        if protocols is None and meant_for and iou_type not in meant_for and protocol is not kind.protocol:
            reasons[name] = f"it is for {', '.join(meant_for)}, not for {iou_type}"
            continue
        try:
            evaluation = evaluate(
                gt, dt, protocol, iou_type=iou_type, categories=categories, images=images, threads=threads
            )
        except ValueError as error:  # a DatasetError, or a selection that the protocol does not allow
            reasons[name] = str(error)
            continue
        key = protocol.main_measure.key
        results.append(ProtocolResult(name, protocol, key, evaluation.summary[key], evaluation.summary))
    if not results:
        every = dict.fromkeys(reasons.values())
        whole = next(iter(every)) if len(every) == 1 else "; ".join(f"{name}: {why}" for name, why in reasons.items())
        raise DatasetError(f"no protocol applies: {whole}")
    return ProtocolComparison(iou_type, tuple(results), reasons)
