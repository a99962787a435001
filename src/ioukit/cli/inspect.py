"""`ioukit inspect`: what a data set holds."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ioukit._output import printable
from ioukit._words_and_colours import percent
from ioukit.cli._arguments import ThreadsOption, complete_format
from ioukit.cli._data_files import OnInvalidOption, Reader, ReaderOptions, Source, input_files
from ioukit.cli._errors import bad_input, bad_use
from ioukit.cli._output import AnswerOptions
from ioukit.cli._report import ReportOptions
from ioukit.cli._tables import ranked_table

if TYPE_CHECKING:
    from ioukit.inspection import Inspection


def inspect_data(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="Ground truth of any known format: a file or a folder; - is stdin.")
    ],
    *,
    page: ReportOptions,
    per_class: Annotated[
        bool, typer.Option("--per-class", help="Show every class, not the five with the most and the fewest objects.")
    ] = False,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", autocompletion=complete_format, help="The format of the data. [default: found by looking]"
        ),
    ] = None,
    split: Annotated[
        str | None, typer.Option(metavar="NAME", help="The split to read, of formats with splits. [yolo: val]")
    ] = None,
    options: ReaderOptions = None,
    on_invalid: OnInvalidOption = "error",
    threads: ThreadsOption = None,
    answer: AnswerOptions,
) -> None:
    """Show what a data set holds: images, classes, sizes, shapes, positions and overlaps of the objects.

    A line gives the median and the values between which 90 % of the objects lie. Areas are those of the source, which
    are areas of masks in COCO's files. An overlap is the IoU of an object with its nearest neighbour on the image.

    Examples:
      ioukit inspect instances_val2017.json
      ioukit inspect data.yaml --split train --per-class
      ioukit inspect labels/ --json | jq '.classes[] | {name, count}'
      ioukit inspect gt.json --report data.html --images val2017/
    """
    start = time.perf_counter()
    talk = answer.talk()
    sources = input_files(data)
    with bad_use():
        page.check(sources)
        answer.check(sources, {"--report": page.report})
    reader = Reader(on_invalid, threads, talk)
    gt, name = reader.ground_truth(Source(sources[0], format, options), split=split)
    with bad_input(), talk.busy("measuring"):
        from ioukit.inspection import inspect  # noqa: PLC0415 - `ioukit --help` loads no readers

        found = inspect(gt, format=name, threads=threads)
    for note in found.notes:
        talk.say(f"note {printable(note)}")
    page.write("write_inspection", found, found.ground_truth, talk)
    tables = [found.table(), *([_class_table(found, every=per_class)] if len(gt.categories) else [])]
    done = f"done {time.perf_counter() - start:.2f} s"
    answer.give(lambda: "\n\n".join(tables), found.to_json, talk, done=done)


def _class_table(found: "Inspection", *, every: bool) -> str:
    """The classes with their numbers of objects and images, the most frequent first."""
    ranked = sorted(found.to_dict()["classes"], key=lambda one: (-one["count"], one["id"]))

    def cells(one: dict[str, Any]) -> list[str]:
        share = percent(one["count"] / len(found), 1) if len(found) else "-"
        side = "-" if one["median_side"] is None else f"{one['median_side']:.1f}"
        return [printable(one["name"]), f"{one['count']:,}", share, f"{one['images']:,}", side]

    return ranked_table([["class", "objects", "share", "images", "median side"]], ranked, cells, every=every)
