"""`ioukit convert`: writes a data set, or detections, in another format."""

from pathlib import Path
from typing import Annotated

import typer

from ioukit.cli._arguments import OnInvalid, OnInvalidOption, QuietOption, ReaderOptions, ThreadsOption
from ioukit.cli._data_sets import (
    DetectionsOption,
    ForceOption,
    FromOption,
    Job,
    OutputPath,
    TruthOption,
    convert_data,
)
from ioukit.cli._json import JsonOutput, json_option
from ioukit.cli._talk import Talk

__all__ = ["EXAMPLES", "convert"]

EXAMPLES = """\b
Examples:
  ioukit convert instances.json labels --to padilla
  ioukit convert labels.odgt labels.json --to coco --option box=vbox
  ioukit convert results.json results.jsonl --to coco --detections
"""


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="The data: any known format; - is stdin.")],
    output: OutputPath,
    *,
    target_format: Annotated[str, typer.Option("--to", metavar="FORMAT", help="Format to write.")],
    source_format: FromOption = None,
    truth: TruthOption = None,
    detections: DetectionsOption = False,
    options: ReaderOptions = None,
    force: ForceOption = False,
    on_invalid: OnInvalidOption = OnInvalid.ERROR,
    json: Annotated[
        JsonOutput | None, json_option("Print a summary as one JSON object; with FILE, write it there.")
    ] = None,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Write a data set in another format, and tell what that format cannot hold.

    Boxes keep all digits that the format can hold. Lines that begin with "lost" name data that the files do not hold.
    """
    job = Job.of(
        [source],
        output,
        (source_format, target_format),
        truth=truth,
        detections=detections,
        options=options,
        force=force,
        on_invalid=on_invalid.value,
        threads=threads,
        json=json,
    )
    convert_data(job, Talk(quiet=quiet), lambda read, _: read[0])
