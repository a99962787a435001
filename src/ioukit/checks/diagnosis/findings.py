"""`Diagnosis`: findings, each with a code, a severity, rows and a hint how to fix them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, get_args

import numpy as np

from ioukit._checks import agree, pluralize
from ioukit._notebook import Shown
from ioukit._plain_values import plain_value, plain_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Mask: TypeAlias = NDArray[np.bool_]


Code: TypeAlias = Literal[
    # Rows that are refused.
    "nan",
    "infinite",
    "too_large",
    "inverted",
    "bad_runs",
    # Regions without an area.
    "zero_size",
    "no_points",
    "too_few_points",
    "zero_area",
    "empty_mask",
    # The unit differs from the declared one.
    "mixed_units",
    "normalized_not_declared",
    "not_normalized",
    "degrees",
    "radians",
    # The meaning of the numbers differs from the declared one.
    "looks_like_xyxy",
    "looks_like_yxyx",
    "looks_like_xywh",
    "looks_like_cxcywh",
    "other_sense",
    "other_z",
    # Places and sizes.
    "negative",
    "partly_outside",
    "wholly_outside",
    "larger_than_image",
    "other_size",
    "full_mask",
    # Paths of polygons.
    "self_crossing",
    "repeated_points",
    "mixed_orientation",
    # Any kind of region.
    "duplicate",
    # Detections and the ground truth that they are compared with.
    "other_category_ids",
    "images_without_detections",
    "repeated_images",
    "swapped_sides",
]
"""The codes of findings; `diagnose` lists the codes of each kind of region."""
CODES: tuple[Code, ...] = get_args(Code)
Found = TypeVar("Found")
Severity: TypeAlias = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)

SHOWN_ROWS = 5


@dataclass(frozen=True)
class Finding:
    """One thing that looks wrong, and where."""

    code: Code
    """What was found, for programs."""
    severity: Severity
    """``"error"``: rows that `Boxes` or `Masks` refuse. ``"warning"``: probably a mistake. ``"note"``: worth a look."""
    message: str
    """What was found, for people."""
    hint: str
    """How it can be fixed."""
    rows: tuple[int, ...]
    """The rows of the regions concerned, ascending; none if the finding is not about regions."""

    @property
    def count(self) -> int:
        """The number of regions concerned."""
        return len(self.rows)

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain values for JSON, with its ``count``."""
        return {**plain_values(self), "count": self.count}

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.rows[:SHOWN_ROWS])) + (", ..." if self.count > SHOWN_ROWS else "")
        where = f" (row{'s' if self.count > 1 else ''} {shown})" if self.rows else ""
        return f"{self.severity:<8}{self.code}: {self.message}{where}\n{'':8}-> {self.hint}"


class Findings(Generic[Found], Shown):
    """What a diagnosis or a check found, in order: it can be pluralize and iterated over."""

    findings: tuple[Found, ...]

    def __iter__(self) -> Iterator[Found]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __bool__(self) -> bool:
        name = type(self).__name__
        raise TypeError(f"a {name} is neither true nor false: ask for .ok, or len() for the number of findings")


@dataclass(frozen=True)
class Diagnosis(Findings[Finding]):
    """All findings about a set of regions: iterate over it, print it, or ask whether it is `ok`."""

    findings: tuple[Finding, ...]
    """Errors first, then warnings, then notes."""
    num_boxes: int
    """The number of regions that were checked."""
    kind: str = "box"
    """The name of one such region, in the singular."""

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def __str__(self) -> str:
        found = pluralize(len(self), "finding") if self.findings else "nothing looks wrong"
        return "\n".join([f"{pluralize(self.num_boxes, self.kind)}: {found}", *map(str, self.findings)])

    def to_dict(self) -> dict[str, Any]:
        """The diagnosis as plain values for JSON."""
        return {"ok": self.ok, "num_boxes": self.num_boxes, "findings": plain_value(self.findings)}


class Collector:
    """Collects the findings of all rules about N regions of one kind."""

    def __init__(self, count: int, kind: str) -> None:
        self.count, self.kind = count, kind
        self._found: list[Finding] = []

    def add(self, code: Code, severity: Severity, rows: Mask, says: str, hint: str) -> None:
        """Adds a finding if a row of (N,) is true. The message is the number of regions, then ``says``."""
        number = int(rows.sum())
        self.state(code, severity, rows, f"{number} of {pluralize(self.count, self.kind)} {agree(number, says)}", hint)

    def state(self, code: Code, severity: Severity, rows: Mask | None, message: str, hint: str) -> None:
        """Adds a finding with this message if a row of (N,) is true, or if it is not about rows at all (None)."""
        if rows is None or rows.any():
            numbers = () if rows is None else tuple(np.flatnonzero(rows).tolist())
            self._found.append(Finding(code, severity, message, hint, numbers))

    def diagnosis(self) -> Diagnosis:
        """All findings, sorted by severity and then in the order of the rules."""
        found = sorted(self._found, key=lambda finding: SEVERITIES.index(finding.severity))
        return Diagnosis(tuple(found), self.count, self.kind)
