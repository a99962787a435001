"""Options that say by which rules is evaluated, each with its name, type and help."""

from typing import Annotated, TypeAlias

import typer

from ioukit.evaluation.kinds import REGION_KINDS
from ioukit.evaluation.protocols import PROTOCOLS

__all__ = [
    "AreasOption",
    "ChangedProtocolOption",
    "ClassAgnosticOption",
    "FoundKindOption",
    "IouThresholdsOption",
    "KindOption",
    "MaxDetsOption",
    "ProtocolOption",
]

_KIND = f"What is compared: {', '.join(REGION_KINDS)}."
_RULES = f"The rules: {', '.join(PROTOCOLS)}, or a TOML file with your own."

KindOption: TypeAlias = Annotated[str, typer.Option("--iou-type", metavar="KIND", help=_KIND, show_default=True)]
FoundKindOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--iou-type",
        metavar="KIND",
        help=f"{_KIND} [default: bbox, or what the detections have instead of boxes]",
    ),
]
ProtocolOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--protocol", metavar="NAME|FILE", help=f"{_RULES} [default: by the kind of region]"),
]
ChangedProtocolOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--protocol",
        metavar="NAME|FILE",
        help=f"{_RULES} The options below change them. [default: by the kind of region]",
    ),
]
IouThresholdsOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--iou-thresholds",
        metavar="LIST",
        help="IoU thresholds: 0.5,0.75 or start:stop:step. [coco: 0.5:0.95:0.05]",
    ),
]
MaxDetsOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--max-dets", metavar="LIST", help="Best detections per image and class that count. [coco: 1,10,100]"),
]
AreasOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--areas", metavar="LIST", help="Area ranges in pixels, name:low:high. [coco: all, small, medium, large]"
    ),
]
ClassAgnosticOption: TypeAlias = Annotated[
    bool, typer.Option("--class-agnostic", help="Let a detection match an object of any class.")
]
