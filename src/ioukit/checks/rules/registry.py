"""The register of rules: each looks at a `Case` and yields what it suspects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from ioukit._register import Register, imported
from ioukit.checks.case import Case
from ioukit.checks.suspicion import Suspicion

Find: TypeAlias = Callable[[Case], Iterable[Suspicion]]


@dataclass(frozen=True)
class Rule:
    """A rule of the check."""

    name: str
    """Its name."""
    title: str
    """What it looks for, in one line."""
    find: Find | str
    """``find(case)`` yields suspicions; or the name ``"package.module:function"`` of the function. It changes nothing,
    and raises no error for valid data."""
    needs_detections: bool = True
    """Whether it is left out if only ground truth is checked."""

    def function(self) -> Find:
        """The function; its module is imported now."""
        found: Find = imported(self.find)
        return found


RULES: Register[Rule] = Register("rule")
"""The rules by name, in the order in which they are asked."""


def register_rule(rule: Rule) -> None:
    """Adds a rule, so that `check` and the command ask it.

    Raises:
        ValueError: If there is one of that name.
    """
    RULES.add(rule.name, rule)


_HERE = "ioukit.checks.rules"

for _rule in (
    Rule("box-numbers", "ground truth in another format, or in fractions", f"{_HERE}.boxes:of_ground_truth", False),
    Rule("box-readings", "boxes that match after another reading of their numbers", f"{_HERE}.boxes:readings"),
    Rule("frames", "boxes in the pixels of the network's image", f"{_HERE}.frames:frames"),
    Rule("places", "boxes that are turned, mirrored, resized or moved, or of other images", f"{_HERE}.places:places"),
    Rule("region-places", "other regions than boxes, at another place", f"{_HERE}.regions:lie_apart"),
    Rule("points", "keypoints that are moved, or in another order", f"{_HERE}.points:points"),
    Rule("angles", "rotated boxes whose angles are meant in another way, or lost", f"{_HERE}.regions:angles"),
    Rule("shapes", "masks that are the filled boxes", f"{_HERE}.regions:shapes"),
    Rule("beyond-image", "boxes beyond the image", f"{_HERE}.boxes:beyond_image", False),
    Rule("unknown-classes", "classes that the ground truth does not list", f"{_HERE}.classes:unknown"),
    Rule("class-ids", "class ids of another convention", f"{_HERE}.classes:other_ids"),
    Rule("class-names", "names of classes that differ by case or spelling", f"{_HERE}.classes:names", False),
    Rule("empty-classes", "classes without objects or detections", f"{_HERE}.classes:empty", False),
    Rule("unknown-images", "images that the ground truth does not list", f"{_HERE}.images:unknown"),
    Rule("images-of-one-side", "images without detections or annotations", f"{_HERE}.images:one_side"),
    Rule("duplicates", "rows that repeat an earlier one, also in another class", f"{_HERE}.repeats:duplicates", False),
    Rule("copies", "detections that were written for several classes or images", f"{_HERE}.repeats:copies"),
    Rule("suppression", "missing or repeated NMS", f"{_HERE}.repeats:suppression"),
    Rule("rounding", "boxes that were rounded", f"{_HERE}.rounding:rounded", False),
    Rule("scores", "scores that are equal, or no confidences", f"{_HERE}.scores:scores"),
    Rule(
        "labels", "annotations without size, doubled, copied, or missing for a class", f"{_HERE}.labels:labels", False
    ),
    Rule("cuts", "boxes that end where their objects go on", f"{_HERE}.cuts:cuts"),
    Rule("near-chance", "numbers that are hardly above 0", f"{_HERE}.scores:near_chance"),
    Rule("areas", "areas and boxes that are not those of the masks", f"{_HERE}.ground_truth:areas", False),
    Rule("crowds", "crowds that are not marked", f"{_HERE}.ground_truth:crowds", False),
    Rule("train-images", "images of the training set", f"{_HERE}.images:train_images", False),
):
    register_rule(_rule)
