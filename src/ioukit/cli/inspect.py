"""`ioukit inspect`: what a data set holds."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ioukit._output import aligned
from ioukit.cli._arguments import OnInvalid, OnInvalidOption, QuietOption, ReaderOptions, ThreadsOption
from ioukit.cli._class_table import shortened
from ioukit.cli._data_files import Source, read_ground_truth, size_of
from ioukit.cli._errors import bad_input, bad_output, bad_use
from ioukit.cli._json import JsonOutput, file_of, json_option
from ioukit.cli._output import print_result, printable
from ioukit.cli._report import check_report, write_inspection
from ioukit.cli._standard_input import input_files
from ioukit.cli._talk import Talk

if TYPE_CHECKING:
    from ioukit.inspection import Inspection

__all__ = ["EXAMPLES", "inspect_data"]

# A spinner for a tenth of a second would only flicker.
_LONG_WORK = 20_000_000  # bytes of input, or a folder of files, whose size is not known

EXAMPLES = """\b
Examples:
  ioukit inspect instances_val2017.json
  ioukit inspect data.yaml --split train --per-class
  ioukit inspect labels/ --json | jq '.classes[] | {name, count}'
  ioukit inspect gt.json --report data.html --images val2017/
"""


def inspect_data(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="Ground truth of any known format: a file or a folder; - is stdin.")
    ],
    *,
    json: Annotated[
        JsonOutput | None,
        json_option("Print one JSON object instead of the tables; with FILE, write it there and print the tables."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write one HTML page to look at: charts, classes, examples."),
    ] = None,
    images: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --report: folder of the images, to show examples.")
    ] = None,
    per_class: Annotated[
        bool, typer.Option("--per-class", help="Show every class, not the five with the most and the fewest objects.")
    ] = False,
    format: Annotated[
        str | None,
        typer.Option("--format", "--from", metavar="NAME", help="The format of the data. [default: found by looking]"),
    ] = None,
    split: Annotated[
        str | None, typer.Option(metavar="NAME", help="The split to read, of formats with splits. [yolo: val]")
    ] = None,
    options: ReaderOptions = None,
    on_invalid: OnInvalidOption = OnInvalid.ERROR,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Show what a data set holds: images, classes, sizes, shapes, positions and overlaps of the objects.

    A line gives the median and the values between which 90 % of the objects lie. Areas are those of the source, which
    are areas of masks in COCO's files. An overlap is the IoU of an object with its nearest neighbour on the image.
    """
    start = time.perf_counter()
    talk = Talk(quiet=quiet)
    sources = input_files(data)
    with bad_use():
        if json is not None:
            json.check(sources)
        check_report(report, images, sources, file_of(json))
    long = sources[0].is_dir() or size_of(sources) > _LONG_WORK
    source = Source(sources[0], format, options)
    gt, name = read_ground_truth(source, on_invalid.value, threads, talk, split=split, long=long)
    with bad_input(), talk.busy("measuring", long=long):
        from ioukit.inspection import inspect  # noqa: PLC0415 - `ioukit --help` loads no readers

        found = inspect(gt, format=name, threads=threads)
    for note in found.notes:
        talk.say(f"note {printable(note)}")
    if json is not None and json.path is not None:
        with bad_output():
            json.write(found.to_json(), talk)
    if report is not None:
        write_inspection(found, report, images, talk, long=long)
    talk.say(f"done {time.perf_counter() - start:.2f} s")
    if json is not None and json.path is None:
        json.write(found.to_json(), talk)
    else:
        tables = [found.table(), _class_table(found, every=per_class)] if len(gt.categories) else [found.table()]
        print_result("\n\n".join(tables))


def _class_table(found: "Inspection", *, every: bool) -> str:
    """The classes with their numbers of objects and images, the most frequent first."""
    ranked = sorted(found.to_dict()["classes"], key=lambda one: (-one["count"], one["id"]))
    rows = [["class", "objects", "share", "images", "median side"]]
    for one in shortened(ranked, [False] * len(ranked), every=every):
        if one is None:
            rows.append(["...", *[""] * 4])
            continue
        share = f"{100 * one['count'] / len(found):.1f} %" if len(found) else "-"
        side = "-" if one["median_side"] is None else f"{one['median_side']:.1f}"
        rows.append([printable(one["name"]), f"{one['count']:,}", share, f"{one['images']:,}", side])
    return aligned(rows)
