"""`ioukit slices`: where a detector is bad: numbers of parts of a data set, and a search for the worst."""

from __future__ import annotations

import json as json_module
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import ioukit
from ioukit.cli._arguments import (
    DetectionsPath,
    GroundTruthPath,
    QuietOption,
    ThreadsOption,
)
from ioukit.cli._chosen_protocol import chosen_protocol
from ioukit.cli._data_files import read_data, read_side, size_of, with_attributes
from ioukit.cli._errors import bad_input, bad_output, bad_use, bad_value
from ioukit.cli._json import JsonOutput, file_of, json_option
from ioukit.cli._option_groups import ReadingOptions
from ioukit.cli._output import print_result, printable, write_whole
from ioukit.cli._result_files import check_outputs
from ioukit.cli._rule_options import KindOption, ProtocolOption
from ioukit.cli._standard_input import input_files
from ioukit.cli._talk import Talk
from ioukit.evaluation.kinds import find_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.evaluation import Evaluation
    from ioukit.slices import SliceNumbers, WorstSlices

__all__ = ["EXAMPLES", "slices"]

_LONG_WORK = 100_000  # bytes of input; the search takes longer than reading

EXAMPLES = """\b
Examples:
  ioukit slices gt.json dt.json --table scenes.csv
  ioukit slices gt.json dt.json --by size --by truncation
  ioukit slices gt.json dt.json --table scenes.csv --by weather --by 'weather == "rain" and speed > 30'
  ioukit slices gt.json dt.json --by 'area < 32 ** 2 or covered > 0.5' --keys AP50,AR100
  ioukit slices gt.json dt.json --table scenes.csv --by speed --bins speed=0,30,60,130 --csv slices.csv
  ioukit slices gt.json a.json --than b.json --table scenes.csv --by weather
  ioukit slices gt.json dt.json --table scenes.csv --worst --pairs --clusters video
  ioukit slices gt.json dt.json --table scenes.csv --columns
"""


# Long: its signature is the command line, a line or more per option.
def slices(
    ground_truth: GroundTruthPath,
    detections: DetectionsPath,
    *,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN|CONDITION", help="A column: each value is a slice; or a condition: one slice. Repeatable."
        ),
    ] = None,
    table: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="A table with a row per image: CSV, JSON lines, Parquet or Arrow. Repeatable."
        ),
    ] = None,
    image_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Its column with the id or file name of the image. [default: by name]"),
    ] = None,
    bins: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=EDGES", help="How to cut numbers: speed=0,30,60 are edges, speed=5 is how many ranges."
        ),
    ] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option(metavar="LIST", help="The numbers: AP,AP50,AR100,AP/person. [default: headline numbers]"),
    ] = None,
    worst: Annotated[
        bool, typer.Option("--worst", help="Search for the worst slices. Without --by, this is the default.")
    ] = False,
    pairs: Annotated[bool, typer.Option("--pairs", help="With a search: also slices by two columns.")] = False,
    than: Annotated[
        Path | None,
        typer.Option(metavar="DT", help="Detections of a second model: where is it worse than the first?"),
    ] = None,
    columns: Annotated[bool, typer.Option("--columns", help="List the columns and stop.")] = False,
    least_objects: Annotated[
        int, typer.Option(min=1, metavar="N", help="With a search: skip slices with fewer objects.")
    ] = 50,
    clusters: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Column with the group of each image, such as its video; groups are drawn."
        ),
    ] = None,
    level: Annotated[float, typer.Option(metavar="P", help="Certainty of intervals and of the search.")] = 0.95,
    replicates: Annotated[
        int, typer.Option(min=0, metavar="N", help="Replicates of the bootstrap; 0 for no intervals.")
    ] = 200,
    permutations: Annotated[int, typer.Option(min=1, metavar="N", help="Permutations of the search.")] = 200,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the random numbers.")] = 0,
    json: Annotated[
        JsonOutput | None,
        json_option("Print one JSON object instead of the table; with FILE, write it there and print the table."),
    ] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the rows as CSV.")] = None,
    iou_type: KindOption = "bbox",
    protocol: ProtocolOption = None,
    reading: ReadingOptions,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Show where a detector is bad: numbers of slices of the images or of the objects, or the worst slices.

    Slices come from columns: those of a table (weather, camera), attributes of the data, and size, shape, crowding,
    occlusion, truncation and position, which are computed. A condition such as `weather == "rain" and speed > 30` is
    one slice. Differences have intervals; the search is corrected for the number of slices.
    """
    start = time.perf_counter()
    talk = Talk(quiet=quiet)
    files = input_files(ground_truth, detections)
    inputs = [*files, *([than] if than else []), *(table or [])]
    with bad_use():
        check_outputs({"--json": file_of(json), "--csv": csv}, inputs)
        with bad_value("--iou-type"):
            kind = find_kind(iou_type)
        rules = chosen_protocol(protocol, kind)
        with bad_value("--bins"):
            cut = _bins(bins or ())
        _check(by, worst=worst, pairs=pairs, columns=columns, replicates=replicates)
        sources = list(map(with_attributes, reading.sources(files)))
    long = size_of(inputs) > _LONG_WORK
    gt, dt = read_data(sources, reading.on_invalid.value, threads, talk, long=long)
    models = [dt]
    if than is not None:
        second = read_side(sources[1]._replace(path=than), gt, reading.on_invalid.value, threads, talk, long=long)
        assert isinstance(second, ioukit.Detections)
        with bad_input():
            models.append(second.known_to(gt, on_invalid=reading.on_invalid.value))
    with bad_input(), talk.busy("evaluating", long=long):
        evaluations = [ioukit.evaluate(gt, one, rules, iou_type=kind.name, threads=threads) for one in models]
    tables = {"tables": list(table or []), "image_column": image_column}
    with bad_use(), talk.busy("measuring slices", long=long):
        if columns:
            _list_columns(evaluations[0], tables, json, talk)
            return
        options: dict[str, Any] = {
            "b": evaluations[1] if than else None,
            "bins": cut,
            "level": level,
            "seed": seed,
            "clusters": _clusters(evaluations[0], clusters, tables),
            "threads": threads,
            **tables,
        }
        asked = [one for each in keys or () for one in each.split(",")]
        search: dict[str, Any] = {"pairs": pairs, "least_objects": least_objects, "permutations": permutations}
        options |= {"replicates": replicates, **(search if worst or not by else {})}
        found = _measured(evaluations[0], by, asked, options, search=worst or not by)
    for note in found.notes:
        talk.say(f"note {printable(note)}")
    if csv is not None:
        with bad_output():
            write_whole(csv, found.to_csv())
        talk.say(f"wrote {printable(str(csv))}")
    if json is not None and json.path is not None:
        with bad_output():
            json.write(found.to_json(), talk)
    talk.say(f"done {time.perf_counter() - start:.2f} s")
    if json is not None and json.path is None:
        json.write(found.to_json(), talk)
    else:
        print_result(found.table())


def _check(by: list[str] | None, *, worst: bool, pairs: bool, columns: bool, replicates: int) -> None:
    """Refuses options that do not go together."""
    searches = (worst or not by) and not columns
    if pairs and not searches:
        raise ValueError("--pairs needs --worst: it is an option of the search")
    if searches and not replicates:
        raise ValueError("the search needs intervals: --replicates must be at least 1")


def _bins(words: Sequence[str]) -> dict[str, Any]:
    """Edges, or numbers of ranges, by column."""
    found: dict[str, Any] = {}
    for word in words:
        name, sign, text = word.rpartition("=")
        try:
            numbers = [float(one) for one in text.split(",")]
        except ValueError:
            numbers = []
        if not sign or not name or not numbers:
            raise ValueError(f"expected COLUMN=EDGES, such as speed=0,30,60, got {word!r}")
        if len(numbers) == 1 and not numbers[0].is_integer():
            raise ValueError(f"one number is how many ranges there are, got {text!r}")
        found[name] = int(numbers[0]) if len(numbers) == 1 else numbers
    return found


def _clusters(evaluation: Evaluation, name: str | None, tables: dict[str, Any]) -> list[Any] | None:
    if name is None:
        return None
    from ioukit.slices.scene import column_of_images  # noqa: PLC0415 - as above

    return column_of_images(evaluation, name, **tables)


def _list_columns(evaluation: Evaluation, tables: dict[str, Any], json: JsonOutput | None, talk: Talk) -> None:
    from ioukit._output import aligned  # noqa: PLC0415 - as above
    from ioukit.slices import slice_columns  # noqa: PLC0415 - as above

    found = slice_columns(evaluation, **tables)
    if json is not None:
        json.write(json_module.dumps([column.to_dict() for column in found]), talk)
    if json is None or json.path is not None:
        rows = [["column", "of", "kind", "values", "missing", "meaning"]]
        rows += [
            [printable(one.name), one.level, one.kind, f"{one.values:,}", f"{one.missing:,}", one.meaning]
            for one in found
        ]
        width = max(len(row[-1]) for row in rows)
        print_result(aligned([[*row[:-1], row[-1].ljust(width)] for row in rows]))  # the last column is text


def _measured(
    evaluation: Evaluation, by: list[str] | None, keys: list[str], options: dict[str, Any], *, search: bool
) -> SliceNumbers | WorstSlices:
    from ioukit.slices import slice_numbers, worst_slices  # noqa: PLC0415 - as above

    if not search:
        return slice_numbers(evaluation, by or [], keys=keys or None, **options)
    if len(keys) > 1:
        raise ValueError(f"the search is by one number, and --keys has {len(keys)}")
    return worst_slices(evaluation, by or None, key=keys[0] if keys else None, **options)
