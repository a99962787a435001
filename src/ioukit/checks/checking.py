"""`check`: asks all rules, and verifies what they suspect by an evaluation of the repaired data."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ioukit._checks import pluralize
from ioukit._output import fitted, terminal_width
from ioukit.checks.case import Case
from ioukit.checks.diagnosis.findings import Findings
from ioukit.checks.repairs.repair import Data
from ioukit.checks.suspicion import SURENESS
from ioukit.checks.verifying import VerifiedSuspicion, explained, in_words, options
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation import Protocol

# A cause without a repair has no number of its own.
EXPLAINED = {"detections_of_other_images": ("images_without_annotations", "images_without_detections")}


@dataclass(frozen=True)
class Checked(Findings[VerifiedSuspicion]):
    """What `check` found: iterate over it, print it, or ask whether it is `ok`."""

    findings: tuple[VerifiedSuspicion, ...]
    """The most harmful first, then notes."""
    num_images: int
    """The images that the ground truth lists."""
    num_annotations: int
    """Its annotations."""
    num_detections: int | None
    """The detections; None if only ground truth was checked."""
    summary: Mapping[str, float]
    """The numbers of the data as they are, without detections that `evaluate` refuses; empty without detections."""
    repairs: tuple[str, ...] = ()
    """The repairs of all findings that are not notes, in the order in which they work together: `repaired` and
    ``--repair`` take them. A repair of some of the images ends with ``@FILE``."""

    @property
    def ok(self) -> bool:
        """Whether nothing was found that may move numbers. Notes do not count."""
        return not any(finding.harmful for finding in self.findings)

    def __str__(self) -> str:
        harmful = sum(finding.harmful for finding in self.findings)
        notes = len(self.findings) - harmful
        total = f"{pluralize(self.num_images, 'image')}, {pluralize(self.num_annotations, 'annotation')}"
        if self.num_detections is not None:
            total += f", {pluralize(self.num_detections, 'detection')}"
        found = f"{pluralize(harmful, 'finding') if harmful else 'no finding'}, {pluralize(notes, 'note')}"
        found = found if notes else pluralize(harmful, "finding") if harmful else "nothing looks wrong"
        paragraphs = [fitted(f"{total}: {found}", terminal_width()), *map(str, self.findings[:harmful])]
        if len(self.repairs) > 1:
            paragraphs.append(f"All repairs together, in the order that works:\n  {options(self.repairs)}")
        # The notes are all of the same data, those after the repairs of all guesses.
        if notes and (repaired := self.findings[-1].together_with):
            paragraphs.append(f"The notes are about the data with {in_words(repaired)}.")
        return "\n\n".join([*paragraphs, *(note.text(others=False) for note in self.findings[harmful:])])

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values for JSON."""
        return {
            "ok": self.ok,
            "images": self.num_images,
            "annotations": self.num_annotations,
            "detections": self.num_detections,
            "summary": {key: None if math.isnan(value) else value for key, value in self.summary.items()},
            "findings": [finding.to_dict() for finding in self.findings],
            "repairs": list(self.repairs),
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

    All rules in `ioukit.checks.RULES` are asked. If a suspicion has a repair, the repaired data are evaluated: a
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
    if detections is not None:
        with contextlib.suppress(DatasetError):  # else the rules say why
            detections = detections.meeting(ground_truth)
    case = Case(
        Data(ground_truth, detections), protocol, iou_type=iou_type, train=train, folders=(images, train_images),
        threads=threads,
    )  # fmt: skip
    summary = case.summary if detections is not None and len(detections) else {}
    found = explained(case, summary)
    findings = sorted(found, key=lambda one: (not one.harmful, -_size(one, found), SURENESS.index(one.suspicion.sure)))
    counts = len(ground_truth.images), len(ground_truth), None if detections is None else len(detections)
    repairs = [str(one.suspicion.repair) for one in found if one.harmful and one.suspicion.repair is not None]
    return Checked(tuple(findings), *counts, summary, tuple(" ".join(repairs).split()))


def _size(finding: VerifiedSuspicion, found: list[VerifiedSuspicion]) -> float:
    """How harmful a finding is: a refusal more than any number, and a cause as much as what it explains."""
    moved = 0.0 if math.isnan(finding.gain) else abs(finding.gain)
    explained = (_size(one, found) for one in found if one.code in EXPLAINED.get(finding.code, ()))
    return max([moved + 2.0 * finding.suspicion.refused, *explained])
