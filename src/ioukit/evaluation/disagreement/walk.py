"""The walk from the number of one protocol to that of another, one rule at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ioukit._notebook import Shown
from ioukit._plain_values import plain_value
from ioukit.evaluation.curves import Curves, accumulate
from ioukit.evaluation.disagreement.moves import ClassMove, ImageMove, class_moves, image_moves
from ioukit.evaluation.disagreement.one_number import measure_of, rules_of_number
from ioukit.evaluation.disagreement.rules import RULES, Rule
from ioukit.evaluation.disagreement.tables import lines_of, number, signed
from ioukit.evaluation.evaluating import DetectionsLike, GroundTruthLike, detections_of, ground_truth_of
from ioukit.evaluation.matching import match
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.protocols.registry import protocol_of
from ioukit.evaluation.summary import value_of
from ioukit.evaluation.table import MatchTable

if TYPE_CHECKING:
    import numpy.typing as npt

    from ioukit.typing import IouType, ProtocolName


_SHOWN = 5e-5  # a smaller share is 0.0000 in the table


@dataclass(frozen=True, eq=False)
class RuleStep:
    """One step of a walk: a rule changes, and with it the number."""

    rule: str
    """What the rule is about, in plain words. A step has several rules if one of them alone would contradict others."""
    fields: tuple[str, ...]
    """The fields of :class:`Protocol` that change: one, or a few that mean something only together."""
    old: str
    """The old value of the rule, in plain words."""
    new: str
    """The new value of the rule, in plain words."""
    before: float
    """The number by the rules before the step; NaN where it is undefined."""
    after: float
    """The number by the rules after the step."""
    protocol: Protocol
    """The rules after the step. The number is its main measure."""
    classes: tuple[ClassMove, ...]
    """The classes that move, those that move most first. Their shares add up to :attr:`difference`."""
    images: tuple[ImageMove, ...]
    """The images on which detections or objects get another outcome, those with most of them first. Rules about the
    curve and the mean change no outcome."""

    @property
    def difference(self) -> float:
        """``after - before``."""
        return self.after - self.before

    def to_dict(self, *, most: int | None = None) -> dict[str, Any]:
        """The step in plain Python values, ``None`` where a number is undefined.

        Args:
            most: At most so many classes and images; all if ``None``.
        """
        return {
            "rule": self.rule,
            "fields": list(self.fields),
            "old": self.old,
            "new": self.new,
            "before": plain_value(self.before),
            "after": plain_value(self.after),
            "difference": plain_value(self.difference),
            "classes": [
                {**move._asdict(), "before": plain_value(move.before), "after": plain_value(move.after)}
                for move in self.classes[:most]
            ],
            "images": [move._asdict() for move in self.images[:most]],
        }


@dataclass(frozen=True, eq=False)
class ProtocolDifference(Shown):
    """The result of :func:`explain_difference`."""

    start: Protocol
    """The protocol of the first number."""
    end: Protocol
    """The protocol of the last number."""
    start_key: str
    """The key of the first number in the summary of its protocol."""
    end_key: str
    """The key of the last number."""
    iou_type: str
    """The kind of region that was compared."""
    start_value: float
    """The first number."""
    end_value: float
    """The last number."""
    steps: tuple[RuleStep, ...]
    """One step for each rule that differs, in the order of the walk. Each begins with the number at which the step
    before it ends."""

    @property
    def difference(self) -> float:
        """``end_value - start_value``."""
        return self.end_value - self.start_value

    def __repr__(self) -> str:
        return (
            f"ProtocolDifference({self.start.name} {self.start_key}={number(self.start_value)}, "
            f"{self.end.name} {self.end_key}={number(self.end_value)}, {len(self.steps)} rules differ)"
        )

    def table(self, *, zeros: bool = True, most: int = 3) -> str:
        """The walk as text: the number after each step, its difference, and what moves most.

        Args:
            zeros: Whether to show steps that change the number by less than 0.00005, or not at all.
            most: How many classes and images to show for each step. A class has its share of the difference in
                brackets, an image its number of changed outcomes.
        """
        shown = [step for step in self.steps if zeros or not abs(step.difference) < _SHOWN]
        rows = [("number", "change", "rule")]
        rows.append((number(self.start_value), "", f"{self.start.name}, {self.start_key}"))
        for step in shown:
            rows.append((number(step.after), signed(step.difference), f"{step.rule}: {step.old} -> {step.new}"))
            rows += [("", "", f"  {line}") for line in _moves(step, most)]
        rows.append((number(self.end_value), signed(self.difference), f"{self.end.name}, {self.end_key}"))
        return lines_of(rows, left=(2,))

    def to_dict(self, *, most: int | None = None) -> dict[str, Any]:
        """The walk in plain Python values, ``None`` where a number is undefined.

        Args:
            most: At most so many classes and images of each step; all if ``None``.
        """
        return {
            "iou_type": self.iou_type,
            "start": {"protocol": self.start.name, "key": self.start_key, "value": plain_value(self.start_value)},
            "end": {"protocol": self.end.name, "key": self.end_key, "value": plain_value(self.end_value)},
            "difference": plain_value(self.difference),
            "steps": [step.to_dict(most=most) for step in self.steps],
        }


def _moves(step: RuleStep, most: int) -> list[str]:
    classes = [move for move in step.classes[:most] if abs(move.share) >= _SHOWN]
    said = []
    if classes:
        values = [(move, f"{number(move.before)} -> {number(move.after)}") for move in classes]
        parts = (f"{move.name} {both} ({signed(move.share)})" for move, both in values)
        said.append(f"classes: {', '.join(parts)}")
    if step.images[:most]:
        parts = (f"{move.image_id} ({move.changed:.4g} outcomes)" for move in step.images[:most])
        said.append(f"images: {', '.join(parts)}")
    return said


def explain_difference(
    ground_truth: GroundTruthLike,
    detections: DetectionsLike,
    start: Protocol | ProtocolName,
    end: Protocol | ProtocolName,
    *,
    start_key: str | None = None,
    end_key: str | None = None,
    iou_type: IouType = "bbox",
    categories: Sequence[int | str] | None = None,
    images: Sequence[int | str] | npt.NDArray[Any] | None = None,
    threads: int | None = None,
) -> ProtocolDifference:
    """Walk from the number of one protocol to that of another, one rule at a time.

    The walk starts with the rules of ``start``. Each step takes one rule of ``end`` and computes the number again. The
    first number is that of ``evaluate(..., start)`` and the last one is that of ``evaluate(..., end)``, both to the
    last bit.

    The order of the steps is fixed: IoU thresholds, classes together or not, which object a detection takes, an IoU
    equal to the threshold, objects with the same IoU, pixels of a box, ignored objects, classes that were looked for,
    areas of 0, the area range, the cap, rules without words of their own, the integral, the denominator of precision,
    the mean, and the measure. The number at each end does not depend on this order, but the difference of a step does:
    with a lower IoU threshold, for example, another cap changes AP by more. So a difference means "this rule, after
    those above".

    Args:
        ground_truth: The objects, as for :func:`ioukit.evaluate`.
        detections: The detections, as for :func:`ioukit.evaluate`.
        start: The protocol of the first number, or its name in :data:`ioukit.evaluation.protocols.PROTOCOLS`.
        end: The protocol of the last number, or its name.
        start_key: The key of the first number in the summary of its protocol, ``"AP50"`` for example; the main measure
            if ``None``.
        end_key: The key of the last number.
        iou_type: The kind of region that is compared, see :func:`ioukit.evaluation.match`.
        categories: Ids or names of the categories to evaluate; all if ``None``.
        images: Ids of the images to evaluate; all if ``None``.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        DatasetError: If the data lacks what one of the protocols needs.
        ValueError: If a protocol or measure does not exist, or the measure is undefined in its protocol.

    Examples:
        >>> from ioukit import COCO, Detections, GroundTruth
        >>> from ioukit.evaluation import explain_difference
        >>> ground_truth = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 10, 10]])
        >>> detections = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 10, 5]], scores=[0.9])
        >>> print(explain_difference(ground_truth, detections, COCO, "voc2012", start_key="AP50").table(zeros=False))
        number   change  rule
        1.0000           COCO, AP50
        0.0000  -1.0000  IoU equal to the threshold: a match -> no match
                           classes: 1 1.0000 -> 0.0000 (-1.0000)
                           images: 1 (2 outcomes)
        1.0000  +1.0000  pixels of a box: width x height -> (width + 1) x (height + 1)
                           classes: 1 0.0000 -> 1.0000 (+1.0000)
                           images: 1 (2 outcomes)
        1.0000   +1e-16  VOC2012, mAP
    """
    first, last = protocol_of(start), protocol_of(end)
    keys = measure_of(first, start_key).key, measure_of(last, end_key).key
    gt = ground_truth_of(ground_truth, last if last.needs_lists_of_lvis else first, threads)
    dt = detections_of(detections, gt, threads)

    def matched(protocol: Protocol) -> MatchTable:
        return match(gt, dt, protocol, iou_type=iou_type, categories=categories, images=images, threads=threads)

    rules = rules_of_number(first, keys[0])
    table = matched(rules)
    curves = accumulate(table, threads=threads)
    start_value = before = _value(curves)
    steps = []
    for changed, new_rules in _changes(rules, rules_of_number(last, keys[1])):
        rematches = any(rule.rematches for rule in changed)
        # The rules of the curve and the mean change no match, so the table is used again. The Jaccard index needs more.
        again = rematches or new_rules.main_measure.quantity == "JI"
        new_table = matched(new_rules) if again else dataclasses.replace(table, protocol=new_rules)
        new_curves = accumulate(new_table, threads=threads)
        after = _value(new_curves)
        steps.append(
            RuleStep(
                rule=", ".join(rule.title for rule in changed),
                fields=tuple(field for rule in changed for field in rule.fields),
                old="; ".join(rule.words(rules) for rule in changed),
                new="; ".join(_other_words(rule.words(rules), rule.words(new_rules)) for rule in changed),
                before=before,
                after=after,
                protocol=new_rules,
                classes=class_moves(curves, new_curves),
                images=image_moves(table, new_table) if rematches else (),
            )
        )
        rules, table, curves, before = new_rules, new_table, new_curves, after
    return ProtocolDifference(first, last, *keys, iou_type, start_value, before, tuple(steps))


def _changes(rules: Protocol, wanted: Protocol) -> Iterator[tuple[list[Rule], Protocol]]:
    """The rules that differ, one at a time, each with the protocol after its change.

    A rule that contradicts those that have not changed yet, or leaves the number undefined, waits. It changes together
    with the first one that makes it possible.
    """
    waiting: list[Rule] = []
    for rule in [rule for rule in RULES if rule.value(rules) != rule.value(wanted)]:
        for together in ([*waiting, rule], [rule]):
            try:
                after = rules.replace(**{name: getattr(wanted, name) for each in together for name in each.fields})
            except ValueError:
                continue
            if not after.defines(after.main_measure):
                continue
            yield together, after
            rules, waiting = after, [each for each in waiting if each not in together]
            break
        else:
            waiting.append(rule)


def _value(curves: Curves) -> float:
    return value_of(curves, curves.protocol.main_measure)


def _other_words(old: str, new: str) -> str:
    """The words for a new value; thresholds that differ in the last bits have the same words."""
    return f"{new}, with slightly other values" if old == new else new
