"""`ioukit view`: look through a data set, its detections and models side by side, in the browser."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import parse_qsl

import typer

from ioukit._output import printable
from ioukit.cli._arguments import ModelNames, ThreadsOption
from ioukit.cli._compared_models import model_names, models_of_files
from ioukit.cli._data_files import GroundTruthPath, Reader, ReadingOptions, input_files, with_attributes
from ioukit.cli._errors import bad_input, bad_use, bad_value, check_folder, missing_extra
from ioukit.cli._ledger import about_runs, is_ledger
from ioukit.cli._output import QuietOption
from ioukit.cli._report import say_found
from ioukit.cli._rules import RuleOptions
from ioukit.cli._streams import Talk, print_result
from ioukit.datasets import GroundTruth

if TYPE_CHECKING:
    from ioukit.viewer.server.pages import Pages

_DISAGREEMENTS = ("outcome=fp", "outcome=fn", "sort=f1", "order=asc")
"""What a page of two annotators shows at first: the images on which they differ, those with the lowest F1 first."""
_NEAR = 0.1  # matched at once, which takes less memory than matching again


# Long: the signature is the command line, a line or more per option.
def view(
    ground_truth: GroundTruthPath,
    detections: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[DT ...]", help="Detections of up to three models: COCO results, or another format."),
    ] = None,
    *,
    images: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the photographs. [default: outlines on empty sheets]")
    ] = None,
    name: ModelNames = None,
    filter: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Open with this filter, as in the address of the page: outcome=fp, class=person or score=0.7.. for "
            "example. Can be repeated.",
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV or Parquet file with a row per image (id or file name): its columns can be filtered and sorted.",
        ),
    ] = None,
    notes: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="SQLite file of tags and notes. [default: beside the ground truth]"),
    ] = None,
    issues: Annotated[
        bool, typer.Option("--issues", help="Also look for labels that are probably wrong, as `ioukit labels` does.")
    ] = False,
    annotators: Annotated[
        bool,
        typer.Option("--annotators", help="Two files are of two annotators, as for `ioukit agree`: none is the truth."),
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="Port; the next one if it is taken.", show_default=True)
    ] = 8421,
    host: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Address to listen at; others can reach the app if it is not this.", show_default=True
        ),
    ] = "127.0.0.1",
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the browser, or only print the address.")
    ] = True,
    rules: RuleOptions,
    reading: ReadingOptions,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Look through images, objects and detections in the browser.

    The page comes from this machine and is for you alone: its address has a secret token. Ctrl-C ends it. Of a ledger,
    it shows the runs as they are now, and compares two of them.

    Examples:
      ioukit view instances_val2017.json --images val2017/
      ioukit view gt.json dt.json --images val2017/
      ioukit view gt.json a.json b.json --images val2017/ --filter change=lost --filter class=person
      ioukit view gt.json dt.json --filter outcome=fp --filter class=bicycle --filter score=0.7..
      ioukit view gt.json dt.json --table scenes.csv --notes review.db
      ioukit view labels/ boxes.csv --no-browser --port 9000
      ioukit view ann.json bob.json --annotators --images val2017/
      ioukit view runs.db
    """
    clock = time.perf_counter()
    talk = Talk(quiet=quiet)
    if is_ledger(ground_truth):
        about_files: dict[str, Any] = {
            "--images": images,
            "--name": name,
            "--filter": filter,
            "--table": table,
            "--notes": notes,
        }
        about_files |= {"--issues": issues or None, "--annotators": annotators or None, "DT": detections}
        for option, value in about_files.items():
            if value is not None:
                raise typer.BadParameter(f"is about a data set, and {ground_truth} is a ledger", param_hint=option)
        _serve(_pages_of(ground_truth, threads), "", host, port, talk, clock, browser=browser)
        return
    sources = input_files(ground_truth, *(detections or []))
    with bad_use():
        if filter and (more := [str(one) for one in sources[1:] if "=" in str(one) and not one.exists()]):
            raise typer.BadParameter(f"repeat it: --filter {filter[-1]} --filter {more[0]}", param_hint="--filter")
        check_folder("--images", images)
        if annotators:
            _check_annotators(sources, rules, issues=issues)
        wanted = _query(filter or (_DISAGREEMENTS if annotators else ()))
    with missing_extra():
        # Imported before the data are read, so that a missing package is said at once.
        from ioukit.viewer.server.running import check_installed  # noqa: PLC0415 - only this command needs it

        check_installed()
    from ioukit.viewer.answers.collection import MOST_MODELS  # noqa: PLC0415 - `--help` does not need it

    with bad_use():
        if len(sources) > 1 + MOST_MODELS:
            raise typer.BadParameter(f"at most {MOST_MODELS} models can be shown, got {len(sources) - 1}")
    options: dict[str, Any] = {"table": table, "notes": notes, "issues": issues, "threads": threads}
    reader = reading.reader(threads, talk)
    shown: Any
    if annotators:
        shown, options["annotators"] = _annotators_of_files(sources, name, rules, reading, reader)
    elif len(sources) > 1:
        shown, _ = models_of_files(sources, name, rules, reading, reader, least=1, attributes=True, near=_NEAR)
    else:
        source = reading.sources(sources)[0]
        with bad_input():
            source = with_attributes(source)
        shown, _ = reader.ground_truth(source)
        with bad_use():
            kind = rules.kind()
            options |= {"iou_type": kind.name, "protocol": rules.protocol_of(kind)}
    with bad_use(), talk.busy("preparing"):
        from ioukit.viewer.images.thumbnails import cache_folder  # noqa: PLC0415 - as above
        from ioukit.viewer.server.building import app_of  # noqa: PLC0415 - `--help` does not need it

        app, found = app_of(shown, images, cache=cache_folder(), **options)
    with bad_use(), bad_value("--filter"):
        app.views.check(parse_qsl(wanted, keep_blank_values=True))
    say_found(shown if isinstance(shown, GroundTruth) else next(iter(shown.values())).ground_truth, images, talk)
    for note in found:
        talk.say(f"note {printable(note)}")
    _serve(app, wanted, host, port, talk, clock, browser=browser)


def _check_annotators(sources: Sequence[Path], rules: RuleOptions, *, issues: bool) -> None:
    """Refuse what two annotators cannot have: more or fewer files, other rules, suspicions about labels.

    Raises:
        typer.BadParameter: If there is any.
    """
    if len(sources) != 2:
        raise typer.BadParameter(f"expected the files of two annotators, got {len(sources)}", param_hint="--annotators")
    given = {option: value for option, value in rules._asdict().items() if option != "iou_type"} | {"issues": issues}
    for option, value in given.items():
        if value not in (None, False):
            raise typer.BadParameter(
                "does not go with --annotators, whose rules are those of `ioukit agree`",
                param_hint=f"--{option.replace('_', '-')}",
            )


def _annotators_of_files(
    sources: Sequence[Path], names: list[str] | None, rules: RuleOptions, reading: ReadingOptions, reader: Reader
) -> Any:
    """The evaluation of the second annotator on the first one by its name, and the names of both."""
    with bad_use():
        known, kind = model_names(names, sources), rules.kind()
    sides: Any = {
        one: reader.side(reading.sources([path])[0], None, alone=True) for one, path in zip(known, sources, strict=True)
    }
    with bad_input(), bad_use(), reader.talk.busy("comparing annotations"):
        from ioukit.comparison.agreement import evaluate_annotators  # noqa: PLC0415 - `--help` does not need it

        found, notes = evaluate_annotators(sides, iou_type=kind.name, near=_NEAR, threads=reader.threads)
    for note in notes:
        reader.talk.say(f"note {printable(note)}")
    return {known[1]: found}, tuple(known)


def _pages_of(log: Path, threads: int | None) -> "Pages":
    """The pages of a ledger: its runs, read anew whenever the page is opened, and the comparison of two of them."""
    with missing_extra():
        from ioukit.viewer.server.running import check_installed  # noqa: PLC0415 - only this command needs it

        check_installed()
    from ioukit.comparison import compare_models  # noqa: PLC0415 - `--help` does not need it
    from ioukit.report.comparison_page import comparison_data  # noqa: PLC0415 - as above
    from ioukit.runs import Ledger  # noqa: PLC0415 - as above
    from ioukit.runs.ledger.runs_page import runs_page  # noqa: PLC0415 - as above
    from ioukit.viewer.server.pages import Pages  # noqa: PLC0415 - as above

    ledger = Ledger(log)
    with about_runs():
        ledger.runs(on_damaged="skip")  # said at once if it is no ledger

    def runs(_: Any) -> Any:
        notes = [f"Left out: {why}" for why in ledger.damaged()]
        return runs_page(ledger.runs(on_damaged="skip"), str(log), notes=notes, compare="compare")

    def comparison(pairs: Any) -> Any:
        asked = [dict(pairs).get(side, "") for side in "ab"]
        if not all(map(str.isdecimal, asked)) or len(set(asked)) < 2:
            raise ValueError("expected the ids of two different runs, as in compare?a=1&b=2")
        try:
            chosen = [ledger.run(int(one)) for one in asked]
        except LookupError as error:
            raise ValueError(str(error)) from None
        found = {run.reference: ledger.evaluation(run, threads=threads) for run in chosen}
        compared = compare_models(found, threads=threads)
        return comparison_data(compared, images=None, title=None, photographs=0, created=None)

    return Pages({"/": runs, "/compare": comparison})


def _serve(app: Any, wanted: str, host: str, port: int, talk: Talk, clock: float, *, browser: bool) -> None:
    """Serves until Ctrl-C."""
    from ioukit.viewer.server.running import Server, open_browser  # noqa: PLC0415 - `--help` does not need it

    with bad_use():
        server = Server(app, host=host, port=port)
    if port not in (0, server.port):
        talk.say(f"port {port} is taken: using {server.port}")
    if not server.is_local:
        talk.say(
            "note other machines can reach this address; who has the token sees the data, and nothing is encrypted"
        )
    talk.say(f"ready {time.perf_counter() - clock:.2f} s; Ctrl-C ends it")
    with server.ended_by_signals():
        print_result(server.address(wanted))
        if browser and not open_browser(server.address(wanted, ticket=True)):
            talk.say("no browser was found: open the address above")
        server.run()
    talk.say("ended")


def _query(words: Sequence[str]) -> str:
    """The filter as the query of an address.

    Raises:
        typer.BadParameter: If a word is not KEY=VALUE, or a key or value is unknown.
    """
    from ioukit.viewer.server.building import filter_query  # noqa: PLC0415 - `--help` does not need it

    with bad_value("--filter"):
        for word in words:
            if "=" not in word:
                raise ValueError(f"expected KEY=VALUE, such as outcome=fp, got {printable(word)!r}")
        return filter_query(word.partition("=")[::2] for word in words)
