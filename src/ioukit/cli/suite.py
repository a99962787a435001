"""`ioukit suite`: one number over many data sets, from a file that names data sets and models.

Owns: the file and its errors. Does not own: what is measured (`ioukit.comparison`).
"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

import ioukit
from ioukit._checks import pluralize
from ioukit._near_names import suggest
from ioukit._output import printable, terminal_width
from ioukit._toml import check_fields, read_toml
from ioukit.cli._arguments import (
    RUNS,
    CsvOption,
    EnoughPermutationsOption,
    ReplicatesOption,
    SeedOption,
    TestLevelOption,
    ThreadsOption,
)
from ioukit.cli._data_files import ReadingOptions
from ioukit.cli._errors import bad_input, bad_output, bad_use, end_command
from ioukit.cli._output import AnswerOptions, write_text
from ioukit.cli._report import ReportOption, ReportOptions
from ioukit.cli._rules import NamedRules

if TYPE_CHECKING:
    from ioukit.cli._data_files import Reader
    from ioukit.evaluation import Evaluation

_SET = "{set}"


# Long: its signature is the command line, a line or more per option.
def evaluate_sets(
    suite: Annotated[Path, typer.Argument(metavar="SUITE", help="Data sets and models, in TOML.")],
    *,
    log: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=RUNS,
            help="Also keep each evaluation, as a run, in this file: the ledger. Runs have the names of the models, "
            "and the tags suite and set.",
        ),
    ] = None,
    level: TestLevelOption = 0.95,
    replicates: ReplicatesOption = 1000,
    permutations: EnoughPermutationsOption = None,
    seed: SeedOption = 0,
    csv: CsvOption = None,
    report: ReportOption = None,
    named: NamedRules,
    reading: ReadingOptions,
    threads: ThreadsOption = None,
    answer: AnswerOptions,
) -> None:
    """Give one number of each model over many data sets: the mean of AP, as for ODinW and RF100-VL.

    The mean has an interval, made by drawing images within each data set. Models are ranked, and the first one is
    compared with each of the others. The file names the ground truth of each data set, and the detections of each
    model; {set} stands for the name of the data set, and paths begin at the folder of the file.

    Examples:
      ioukit suite suite.toml
      ioukit suite suite.toml --json | jq '.models[].mean'
      ioukit suite suite.toml --csv sets.csv --replicates 0
      ioukit suite suite.toml --log runs.db
      ioukit suite suite.toml --report page.html
    """
    start = time.perf_counter()
    talk = answer.talk()
    with bad_use():
        asked = read_suite(suite)
        read = [suite, *asked.sets.values(), *(file for files in asked.models.values() for file in files.values())]
        page = ReportOptions(report)
        page.check(read)
        answer.check(read, {"--csv": csv, "--log": log, "--report": report})
        if not 0 < level < 1:
            raise typer.BadParameter(f"must be between 0 and 1, got {level}", param_hint="--level")
        named.found()
        if log is not None:
            from ioukit.runs import Ledger  # noqa: PLC0415 - only ledgers need it
            from ioukit.runs.ledger.names import check_name  # noqa: PLC0415 - as above

            ledger = Ledger(log)
            ledger.check_writable()
            try:
                for name in (*asked.models, *asked.sets):
                    check_name(name)
            except ValueError as error:
                raise ValueError(f"{suite}: {error}") from None
    reader = reading.reader(threads, talk)
    sets = {name: _evaluated(suite, asked, name, named, reading, reader) for name in asked.sets}
    from ioukit.comparison import evaluate_suite  # noqa: PLC0415 - `ioukit --help` does not need it

    options: dict[str, Any] = {"level": level, "replicates": replicates, "permutations": permutations, "seed": seed}
    with bad_use(), talk.busy(f"comparing on {pluralize(len(sets), 'data set')}", tells=True):
        found = evaluate_suite(sets, asked.measure, threads=threads, **options)
    if csv is not None:
        write_text(csv, found.to_csv(), talk)
    if log is not None:
        with bad_input(), bad_output(), talk.busy("adding the runs"):
            for name, models in sets.items():
                for model, one in models.items():
                    ledger.add(one, name=model, tags={"suite": suite.stem, "set": name}, threads=threads)
        talk.say(f"logged {pluralize(len(sets) * len(asked.models), 'run')} in {printable(str(log))}")
    page.write("write_suite", found, None, talk)
    answer.give(
        lambda: "\n".join(map(printable, found.text(width=terminal_width()).splitlines())),
        found.to_json,
        talk,
        done=f"done {time.perf_counter() - start:.2f} s",
        verdict=bool(found.differences),
    )


class SuiteFile(NamedTuple):
    """Data sets and models of a file."""

    measure: str | None
    """The key of the number; the main one of the protocol if ``None``."""
    sets: Mapping[str, Path]
    """The ground truth of each data set."""
    models: Mapping[str, Mapping[str, Path]]
    """The detections of each model on each data set."""


def read_suite(path: Path) -> SuiteFile:
    """Data sets and models of a TOML file, all of whose files exist.

    Raises:
        ValueError: If it is not TOML, a field is unknown, missing or of another kind, or a file is missing; the message
            names file and field.
        OSError: If the file cannot be read.
    """
    given = read_toml(path)
    try:
        check_fields(given, ("measure", "sets", "models"))
        measure = given.get("measure")
        if not isinstance(measure, str | None):
            raise ValueError(f'measure: expected a text, such as "AP", found {measure!r}')
        sets = {name: path.parent / text for name, text in _texts(given, "sets", 'a = "a/test.json"').items()}
        for name, file in sets.items():
            if not file.exists():
                raise ValueError(f"sets.{name}: there is no file {file}")
        models = {}
        for model, text in _texts(given, "models", f'base = "base/{_SET}.json"').items():
            if _SET not in text and len(sets) > 1:
                raise ValueError(f"models.{model}: expected a path with {_SET}, the name of a data set, found {text!r}")
            models[model] = {name: path.parent / text.replace(_SET, name) for name in sets}
            for name, file in models[model].items():
                if not file.exists():
                    raise ValueError(f"models.{model}: no detections on the data set {name!r}: there is no file {file}")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return SuiteFile(measure, sets, models)


def _texts(given: Mapping[str, Any], name: str, example: str) -> dict[str, str]:
    """The table of texts with this name, which is not empty."""
    table = given.get(name)
    if not isinstance(table, dict) or not table:
        raise ValueError(f"{name}: expected a table [{name}] with a line such as {example}, found {table!r}")
    for key, text in table.items():
        if not isinstance(text, str):
            raise ValueError(f"{name}.{key}: expected a path as text, found {text!r}")
    return table


def _evaluated(
    suite: Path, asked: SuiteFile, name: str, named: NamedRules, reading: ReadingOptions, reader: "Reader"
) -> "dict[str, Evaluation]":
    """The evaluation of each model on a data set, whose ground truth is read once."""
    gt, found = None, {}
    for model, files in asked.models.items():
        gt, dt = reader.pair(reading.sources([asked.sets[name], files[name]]), known=gt)
        kind, protocol = named.of_data(gt, dt, reader.talk)
        keys = [one.key for one in protocol.measures]
        if asked.measure is not None and asked.measure not in keys:
            hint = suggest(asked.measure, keys, f"there are {', '.join(keys)}")
            end_command(f"{suite}: measure: the protocol {protocol.name} has no number {asked.measure!r}{hint}")
        with bad_input(), reader.talk.busy("evaluating"):
            found[model] = ioukit.evaluate(gt, dt, protocol, iou_type=kind.name, threads=reader.threads)
    return found
