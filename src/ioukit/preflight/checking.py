"""`check`: asks all rules, and verifies what they suspect by an evaluation of the repaired data."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ioukit.errors import DatasetError
from ioukit.preflight.case import Case
from ioukit.preflight.repairs.repair import Data, Repair
from ioukit.preflight.rules.registry import RULES
from ioukit.preflight.suspicion import SURENESS, Suspicion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation import Protocol

__all__ = ["Checked", "Finding", "check"]

_NAN = float("nan")


@dataclass(frozen=True)
class Finding:
    """A suspicion, and what the repaired data give."""

    suspicion: Suspicion
    """What looks wrong."""
    harmful: bool
    """Whether it may move numbers; a note otherwise."""
    measure: str = ""
    """The number that is compared: the protocol's first one, or the one that moves most if the first one does not."""
    before: float = _NAN
    """This number as the data are; NaN if it was not computed."""
    after: float = _NAN
    """This number after the repair."""
    together_with: tuple[str, ...] = ()
    """Other repairs that both numbers are computed with, because this repair shows no effect without them."""

    @property
    def code(self) -> str:
        """What was found, for programs."""
        return self.suspicion.code

    @property
    def gain(self) -> float:
        """How much the number moves; NaN if it was not computed."""
        return self.after - self.before

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain values for JSON; an undefined number is None."""
        given = {
            field.name: getattr(self.suspicion, field.name)
            for field in dataclasses.fields(Suspicion)
            if field.name not in ("repair", "least_gain", "must_improve")
        }
        repair = self.suspicion.repair
        return {
            **{name: list(value) if isinstance(value, tuple) else value for name, value in given.items()},
            "harmful": self.harmful,
            "repair": None if repair is None else str(repair).split(" "),
            "measure": self.measure or None,
            "before": None if math.isnan(self.before) else self.before,
            "after": None if math.isnan(self.after) else self.after,
            "together_with": list(self.together_with),
        }

    def __str__(self) -> str:
        suspicion = self.suspicion
        lines = [f"{suspicion.sure if self.harmful else 'note'}: {suspicion.code}", f"  {suspicion.message}."]
        if suspicion.examples:
            more = ", ..." if suspicion.count > len(suspicion.examples) else ""
            lines.append(f"  Such as: {'; '.join(suspicion.examples)}{more}")
        if not math.isnan(self.after):
            others = f" (with {' and '.join(self.together_with)})" if self.together_with else ""
            lines.append(f"  {self.measure} is {self.after:.3f} instead of {self.before:.3f} if so{others}.")
        elif suspicion.refused:
            lines.append("  `evaluate` refuses the data because of this.")
        lines.append(f"  -> {suspicion.hint}")
        if suspicion.repair is not None and self.harmful:
            lines.append("     " + " ".join(f"--repair '{word}'" for word in str(suspicion.repair).split(" ")))
        return "\n".join(lines)


@dataclass(frozen=True)
class Checked:
    """What `check` found: iterate over it, print it, or ask whether it is `ok`."""

    findings: tuple[Finding, ...]
    """The most harmful first, then notes."""
    num_images: int
    """The images that the ground truth lists."""
    num_annotations: int
    """Its annotations."""
    num_detections: int | None
    """The detections; None if only ground truth was checked."""
    summary: Mapping[str, float]
    """The numbers of the data as they are; empty without detections. Detections that `evaluate` refuses do not count."""

    @property
    def ok(self) -> bool:
        """Whether nothing was found that may move numbers. Notes do not count."""
        return not any(finding.harmful for finding in self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __bool__(self) -> bool:
        raise TypeError("the result of a check is neither true nor false: ask for .ok, or len() for the findings")

    def __str__(self) -> str:
        harmful = sum(finding.harmful for finding in self.findings)
        notes = len(self.findings) - harmful
        total = f"{self.num_images:,} images, {self.num_annotations:,} annotations"
        if self.num_detections is not None:
            total += f", {self.num_detections:,} detections"
        found = "nothing looks wrong" if not harmful else f"{harmful} finding{'s' if harmful > 1 else ''}"
        more = f", {notes} note{'s' if notes > 1 else ''}" if notes else ""
        return "\n\n".join([f"{total}: {found}{more}", *map(str, self.findings)])

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values for JSON."""
        return {
            "ok": self.ok,
            "images": self.num_images,
            "annotations": self.num_annotations,
            "detections": self.num_detections,
            "summary": {key: None if math.isnan(value) else value for key, value in self.summary.items()},
            "findings": [finding.to_dict() for finding in self.findings],
        }


def check(
    ground_truth: GroundTruth,
    detections: Detections | None = None,
    protocol: Protocol | None = None,
    *,
    iou_type: str = "bbox",
    train: GroundTruth | None = None,
    images: str | None = None,
    train_images: str | None = None,
    threads: int | None = None,
) -> Checked:
    """What is plausible but wrong with data: readings, ids, repetitions and gaps that move numbers. It changes nothing.

    All rules in `ioukit.preflight.RULES` are asked. If a suspicion has a repair, the repaired data are evaluated: a
    guess whose repair does not raise the first number of the protocol is left out, or becomes a note.

    A finding is `harmful` if it is ``"sure"`` or ``"likely"`` and its repair moves a number of the protocol by 0.001
    (guesses: by the rule's own, larger bound), or it has no repair, or `evaluate` refuses the data because of it. A
    ``"possible"`` one is harmful only if its repair raises the first number by the bound of the rule.

    Args:
        ground_truth: The objects.
        detections: The detections; they may be of images and classes that the ground truth does not list.
        protocol: The rules of the evaluation; ``None`` for those of the kind of region.
        iou_type: What is compared, as for `ioukit.evaluate`.
        train: Ground truth of the images that the detector was trained on, to find its images in the test set.
        images: The folder of the images. With ``train_images``, files of both folders are compared by their bytes.
        train_images: The folder of the images of ``train``.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        TypeError: If the data are no `GroundTruth` and `Detections`.
        DatasetError: If the data cannot be evaluated, such as without the regions of ``iou_type``.

    Examples:
        >>> from ioukit import Detections, GroundTruth
        >>> boxes = [[x, y, 30, 20] for x in range(100, 500, 80) for y in range(80, 400, 60)]
        >>> gt = GroundTruth.from_arrays(image_ids=[1] * 30, category_ids=[1] * 30, boxes=boxes, images=[1],
        ...                              sizes=[[640, 480]])
        >>> corners = [[x, y, x + w, y + h] for x, y, w, h in boxes]
        >>> scores = [0.5 + row / 100 for row in range(30)]
        >>> dt = Detections.from_arrays(image_ids=[1] * 30, category_ids=[1] * 30, boxes=corners, scores=scores)
        >>> [(finding.code, round(finding.before, 2), round(finding.after, 2)) for finding in check(gt, dt)]
        [('detections_are_xyxy', 0.0, 1.0)]
    """
    from ioukit.datasets import Detections, GroundTruth  # noqa: PLC0415 - for the check of the types

    for name, given, kind in (("ground_truth", ground_truth, GroundTruth), ("detections", detections, Detections)):
        if not isinstance(given, kind) and (name == "ground_truth" or given is not None):
            raise TypeError(f"{name} must be {kind.__name__}, got {type(given).__name__}")
    case = Case(
        Data(ground_truth, detections), protocol, iou_type=iou_type, train=train, folders=(images, train_images),
        threads=threads,
    )  # fmt: skip
    suspicions = [
        suspicion
        for rule in RULES.values()
        if detections is not None or not rule.needs_detections
        for suspicion in rule.function()(case)
    ]
    summary = case.summary if detections is not None and len(detections) else {}
    findings = _Verified(case, suspicions, summary).findings()
    return Checked(
        tuple(findings), len(ground_truth.images), len(ground_truth), None if detections is None else len(detections),
        summary,
    )  # fmt: skip


class _Verified:
    """Suspicions that are compared with the numbers of the repaired data."""

    def __init__(self, case: Case, suspicions: list[Suspicion], summary: Mapping[str, float]) -> None:
        self.case, self.suspicions, self.summary = case, suspicions, summary
        self._numbers: dict[tuple[Repair, ...], Mapping[str, float] | None] = {(): summary}

    def findings(self) -> list[Finding]:
        """All findings: the most harmful first, then notes."""
        found: list[Finding] = []
        unsettled: list[Suspicion] = []
        for suspicion in self.suspicions:
            finding = self._alone(suspicion)
            if finding is not None:
                found.append(finding)
            else:
                unsettled.append(suspicion)
        # A repair without an effect of its own may have one together with others: classes after boxes.
        unsettled = self._with_others(unsettled, found)
        found += [Finding(suspicion, harmful=False) for suspicion in unsettled if not suspicion.must_improve]
        found = _without_weaker(found)
        return sorted(found, key=lambda one: (not one.harmful, -_size(one), SURENESS.index(one.suspicion.sure)))

    def _alone(self, suspicion: Suspicion) -> Finding | None:
        """The finding for a suspicion; ``None`` if its repair shows too little effect."""
        if suspicion.repair is None or not self.summary:
            return Finding(suspicion, harmful=suspicion.sure != "possible" or suspicion.refused)
        return self._judged(suspicion, (), self.summary)

    def _judged(
        self, suspicion: Suspicion, others: tuple[Repair, ...], before: Mapping[str, float]
    ) -> Finding | None:
        assert suspicion.repair is not None
        after = self._after(*others, suspicion.repair)
        if after is None:
            return Finding(dataclasses.replace(suspicion, repair=None), harmful=suspicion.refused)
        main = next(iter(before))
        moved = {key: _difference(before[key], after.get(key, _NAN)) for key in before}
        measure = main
        if abs(moved[main]) < suspicion.least_gain and not suspicion.must_improve:
            measure = max(moved, key=lambda key: abs(moved[key]))
        enough = moved[measure] if suspicion.must_improve else abs(moved[measure])
        if enough < suspicion.least_gain and not suspicion.refused:
            return None
        harmful = suspicion.sure != "possible" or suspicion.must_improve or measure == main
        sure = "likely" if suspicion.sure == "possible" and harmful else suspicion.sure
        names = tuple(str(repair) for repair in others)
        suspicion = dataclasses.replace(suspicion, sure=sure)
        return Finding(suspicion, harmful, measure, before[measure], after[measure], names)

    def _with_others(self, unsettled: list[Suspicion], found: list[Finding]) -> list[Suspicion]:
        """Judges suspicions again together with other repairs; returns those that still show no effect."""
        helpful = [
            one.suspicion.repair for one in found if one.harmful and one.suspicion.must_improve and one.suspicion.repair
        ]
        still: list[Suspicion] = []
        for suspicion in unsettled:
            partners = helpful or [
                other.repair for other in unsettled if other is not suspicion and other.must_improve and other.repair
            ]
            judged = None
            for partner in partners:
                before = self._after(partner)
                judged = None if before is None else self._judged(suspicion, (partner,), before)
                if judged is not None and judged.harmful:
                    break
                judged = None
            if judged is None:
                still.append(suspicion)
            else:
                found.append(judged)
        return still

    def _after(self, *repairs: Repair) -> Mapping[str, float] | None:
        """The numbers after repairs; ``None`` if the data lack what a repair needs."""
        if repairs not in self._numbers:
            try:
                self._numbers[repairs] = self.case.numbers(*repairs)
            except (ValueError, DatasetError):
                self._numbers[repairs] = None
        return self._numbers[repairs]


def _difference(before: float, after: float) -> float:
    """How much a number moves; 0 if it is undefined before or after."""
    return 0.0 if math.isnan(before) or math.isnan(after) else after - before


def _size(finding: Finding) -> float:
    """How harmful a finding is: a refusal more than any number."""
    moved = 0.0 if math.isnan(finding.gain) else abs(finding.gain)
    return moved + 2.0 * finding.suspicion.refused


def _without_weaker(found: list[Finding]) -> list[Finding]:
    """Of several readings of the boxes of one side, the one with the largest effect."""
    best: dict[str, Finding] = {}
    others: list[Finding] = []
    for finding in found:
        repair = finding.suspicion.repair
        if repair is None or repair.name not in ("boxes", "units", "network"):
            others.append(finding)
        elif repair.side not in best or _size(finding) > _size(best[repair.side]):
            best[repair.side] = finding
    return [*others, *best.values()]
