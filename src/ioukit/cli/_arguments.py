"""Arguments and options that several commands have, each with its name, type and help."""

from enum import Enum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = [
    "ChosenClasses",
    "DetectionsPath",
    "GroundTruthPath",
    "OnInvalid",
    "OnInvalidOption",
    "QuietOption",
    "RepairOption",
    "ThreadsOption",
]


class OnInvalid(str, Enum):
    """What to do with a record that breaks the rules of the format."""

    ERROR = "error"
    DROP = "drop"
    PYCOCOTOOLS = "pycocotools"


GroundTruthPath: TypeAlias = Annotated[
    Path, typer.Argument(metavar="GT", help="Ground truth: a COCO file, or data of another known format; - is stdin.")
]
DetectionsPath: TypeAlias = Annotated[
    Path, typer.Argument(metavar="DT", help="Detections: COCO results, or data of another known format; - is stdin.")
]
ChosenClasses: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--classes", metavar="LIST", help="Evaluate only these classes, given by name or id."),
]
OnInvalidOption: TypeAlias = Annotated[
    OnInvalid,
    typer.Option(help="A bad record: stop at it, drop and count it, or do as pycocotools does.", show_choices=True),
]
ThreadsOption: TypeAlias = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Threads to use; the numbers are the same. [default: all]")
]
QuietOption: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors on stderr.")]
RepairOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--repair",
        metavar="[gt:]NAME[=VALUE]",
        help="Read the data in another way, as `ioukit check` suggests: boxes=xyxy, gt:boxes=cxcywh, units=fractions, "
        "classes=-1, images=stem, duplicates and others. Can be repeated.",
    ),
]
