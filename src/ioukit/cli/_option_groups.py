"""Options that come together, declared once. A command takes the group as one argument, which `_app.py` expands."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ioukit.cli._arguments import (
    ChosenClasses,
    DetectionsFormat,
    DetectionsOptions,
    GroundTruthFormat,
    GroundTruthOptions,
    OnInvalid,
    OnInvalidOption,
)
from ioukit.cli._chosen_protocol import chosen_protocol
from ioukit.cli._data_files import Source
from ioukit.cli._errors import bad_value
from ioukit.cli._rule_options import (
    AreasOption,
    ChangedProtocolOption,
    ClassAgnosticOption,
    FoundKindOption,
    IouThresholdsOption,
    MaxDetsOption,
)
from ioukit.evaluation.kinds import find_kind

if TYPE_CHECKING:
    from ioukit.cli._talk import Talk
    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation import Kind, Protocol, Tool

__all__ = ["ReadingOptions", "RuleOptions"]


class ReadingOptions(NamedTuple):
    """How ground truth and detections are read."""

    gt_format: GroundTruthFormat = None
    dt_format: DetectionsFormat = None
    gt_option: GroundTruthOptions = None
    dt_option: DetectionsOptions = None
    on_invalid: OnInvalidOption = OnInvalid.ERROR

    def sources(self, paths: Sequence[Path]) -> list[Source]:
        """Ground truth and detections, or the first of them, with what the options say about each."""
        sides = [("gt", self.gt_format, self.gt_option), ("dt", self.dt_format, self.dt_option)]
        return [
            Source(path, name, words, f"--{side}-format", f"--{side}-option")
            for path, (side, name, words) in zip(paths, sides, strict=False)
        ]


class RuleOptions(NamedTuple):
    """What is evaluated, and by which rules."""

    iou_type: FoundKindOption = None
    protocol: ChangedProtocolOption = None
    iou_thresholds: IouThresholdsOption = None
    max_dets: MaxDetsOption = None
    areas: AreasOption = None
    classes: ChosenClasses = None
    class_agnostic: ClassAgnosticOption = False

    def kind(self) -> "Kind":
        """The kind of region that ``--iou-type`` names; boxes if it is not given.

        Raises:
            typer.BadParameter: If there is no such kind.
        """
        with bad_value("--iou-type"):
            return find_kind(self.iou_type or "bbox")

    def changes(self) -> dict[str, Any]:
        """The options that change a protocol, as `chosen_protocol` takes them."""
        return {name: getattr(self, name) for name in ("iou_thresholds", "max_dets", "areas", "class_agnostic")}

    def protocol_of(self, kind: "Kind", tool: "Tool | None" = None) -> "Protocol":
        """The protocol for a kind of region: the named one, that of a tool, or the default of the kind, then changed.

        Raises:
            typer.BadParameter: If there is no such protocol, or the value of an option is wrong.
            OSError: If the file of the protocol cannot be read.
        """
        return chosen_protocol(self.protocol, kind, tool, **self.changes())

    def of_data(
        self, gt: "GroundTruth", dt: "Detections", talk: "Talk", tool: "Tool | None" = None
    ) -> "tuple[Kind, Protocol]":
        """The kind of region, found in data that have more than boxes if it is not given, and its protocol.

        A line says why another kind than boxes was chosen.
        """
        kind = self.kind()
        protocol = self.protocol_of(kind, tool)
        if self.iou_type is not None or not dt.regions:
            return kind, protocol
        from ioukit.cli._iou_type import chosen_iou_type  # noqa: PLC0415 - files of boxes need no choice

        name, why = chosen_iou_type(gt, dt, protocol)
        if why:
            talk.say(why)
        kind = find_kind(name)
        return kind, self.protocol_of(kind, tool)
