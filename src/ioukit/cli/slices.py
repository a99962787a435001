"""`ioukit slices`: where a detector is bad: numbers of parts of a data set, and a search for the worst."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import ioukit
from ioukit._output import aligned, printable, terminal_width
from ioukit.cli._arguments import (
    CsvOption,
    LevelOption,
    PermutationsOption,
    ReplicatesOption,
    SeedOption,
    ThreadsOption,
)
from ioukit.cli._data_files import (
    DetectionsPath,
    GroundTruthPath,
    ReadingOptions,
    input_files,
    with_attributes,
)
from ioukit.cli._errors import bad_input, bad_use, bad_value
from ioukit.cli._output import AnswerOptions, write_text
from ioukit.cli._rules import NamedRules, check_scored_alike, parse_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.cli._streams import Talk
    from ioukit.evaluation import Evaluation
    from ioukit.slices import SliceNumbers, WorstSlices


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
        Path | None, typer.Option(metavar="DT", help="Detections of a second model: where is it worse than the first?")
    ] = None,
    columns: Annotated[bool, typer.Option("--columns", help="List the columns and stop.")] = False,
    least_objects: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="With a search: skip slices with fewer objects. [default: 50]"),
    ] = None,
    clusters: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Column with the group of each image, such as its video; groups are drawn."
        ),
    ] = None,
    level: LevelOption = 0.95,
    replicates: ReplicatesOption = 200,
    permutations: PermutationsOption = 200,
    seed: SeedOption = 0,
    csv: CsvOption = None,
    named: NamedRules,
    reading: ReadingOptions,
    threads: ThreadsOption = None,
    answer: AnswerOptions,
) -> None:
    """Show where a detector is bad: numbers of slices of the images or of the objects, or the worst slices.

    Slices come from columns: those of a table (weather, camera), attributes of the data, and size, shape, crowding,
    occlusion, truncation and position, which are computed. A condition such as `weather == "rain" and speed > 30` is
    one slice. Differences have intervals; the search is corrected for the number of slices.

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
    start = time.perf_counter()
    talk = answer.talk()
    files = input_files(ground_truth, detections)
    inputs = [*files, *([than] if than else []), *(table or [])]
    with bad_use():
        answer.check(inputs, {"--csv": csv})
        named.found()
        with bad_value("--bins"):
            cut = _bins(bins or ())
        searches = (worst or not by) and not columns
        for option, given in (("--pairs", pairs), ("--least-objects", least_objects)):
            if given and not searches:
                raise ValueError(f"{option} needs --worst: it is an option of the search")
        if searches and not replicates:
            raise ValueError("the search needs intervals: --replicates must be at least 1")
        sources = list(map(with_attributes, reading.sources(files)))
    reader = reading.reader(threads, talk)
    gt, dt = reader.pair(sources)
    kind, rules = named.of_data(gt, dt, talk)
    models = [dt]
    if than is not None:
        second: Any = reader.side(sources[1]._replace(path=than), gt)
        with bad_input():
            models.append(second.known_to(gt, on_invalid=reading.on_invalid))
            check_scored_alike(named.protocol, models)
    with bad_input(), talk.busy("evaluating"):
        evaluations = [ioukit.evaluate(gt, one, rules, iou_type=kind.name, threads=threads) for one in models]
    tables: dict[str, Any] = {"tables": list(table or []), "image_column": image_column}
    with bad_use(), talk.busy("measuring slices", tells=True):
        if columns:
            _list_columns(evaluations[0], tables, answer, talk)
            return
        from ioukit.slices.scene import column_of_images  # noqa: PLC0415 - `ioukit --help` does not need it

        options: dict[str, Any] = {
            "b": evaluations[1] if than else None,
            "bins": cut,
            "level": level,
            "seed": seed,
            "clusters": None if clusters is None else column_of_images(evaluations[0], clusters, **tables),
            "threads": threads,
            **tables,
        }
        asked = parse_list(keys or ())
        search: dict[str, Any] = {"pairs": pairs, "least_objects": least_objects or 50, "permutations": permutations}
        options |= {"replicates": replicates, **(search if searches else {})}
        found = _measure(evaluations[0], by, asked, options, search=searches)
    for note in found.notes:
        talk.say(f"note {printable(note)}")
    if csv is not None:
        write_text(csv, found.to_csv(), talk)
    answer.give(
        lambda: found.table(width=terminal_width()),
        found.to_json,
        talk,
        done=f"done {time.perf_counter() - start:.2f} s",
    )
    if not searches:
        talk.suggest("--worst")


def _bins(words: "Sequence[str]") -> dict[str, Any]:
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


def _list_columns(evaluation: "Evaluation", tables: dict[str, Any], answer: AnswerOptions, talk: "Talk") -> None:
    from ioukit.slices import slice_columns  # noqa: PLC0415 - as above

    found = slice_columns(evaluation, **tables)
    rows = [["column", "of", "kind", "values", "missing", "meaning"]]
    rows += [
        [printable(one.name), one.level, one.kind, f"{one.values:,}", f"{one.missing:,}", one.meaning] for one in found
    ]
    answer.give(lambda: aligned(rows, left=(0, -1)), lambda: json.dumps([column.to_dict() for column in found]), talk)


def _measure(
    evaluation: "Evaluation", by: list[str] | None, keys: list[str], options: dict[str, Any], *, search: bool
) -> "SliceNumbers | WorstSlices":
    from ioukit.slices import slice_numbers, worst_slices  # noqa: PLC0415 - as above

    if not search:
        return slice_numbers(evaluation, by or [], keys=keys or None, **options)
    if len(keys) > 1:
        raise ValueError(f"the search is by one number, and --keys has {len(keys)}")
    return worst_slices(evaluation, by or None, key=keys[0] if keys else None, **options)
