"""Arguments and options that several commands have, each with its name, type and help."""

from enum import Enum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = [
    "ChosenClasses",
    "DetectionsFormat",
    "DetectionsOptions",
    "DetectionsPath",
    "GroundTruthFormat",
    "GroundTruthOptions",
    "GroundTruthPath",
    "OnInvalid",
    "OnInvalidOption",
    "QuietOption",
    "ReaderOptions",
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
GroundTruthFormat: TypeAlias = Annotated[
    str | None, typer.Option("--gt-format", metavar="NAME", help="Format of the ground truth. [default: found]")
]
DetectionsFormat: TypeAlias = Annotated[
    str | None, typer.Option("--dt-format", metavar="NAME", help="Format of the detections. [default: found]")
]
ReaderOptions: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="An argument of the reader of the format: split=train, names=cat,dog or names=@FILE. Can be repeated.",
    ),
]
GroundTruthOptions: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--gt-option",
        metavar="NAME=VALUE",
        help="An argument of the reader of the ground truth, such as split=train. Can be repeated.",
    ),
]
DetectionsOptions: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--dt-option",
        metavar="NAME=VALUE",
        help="An argument of the reader of the detections: boxes=xyxy, names=cat,dog or names=@FILE. Can be repeated.",
    ),
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
