"""The ledger of runs: options that name one, the run that an evaluation adds to it, and runs as text.

Owns: `LedgerOption` and `LogOptions`, and how runs are shown. Does not own: the file and its runs (`ioukit.runs`).
They are imported when a ledger is opened: a plain evaluation does not wait for SQLite.
"""

import contextlib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import typer

from ioukit._output import printable
from ioukit._words_and_colours import percent
from ioukit.cli._data_files import STANDARD_INPUT
from ioukit.cli._errors import bad_input, bad_output, bad_use, bad_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ioukit.cli._streams import Talk
    from ioukit.evaluation import Evaluation
    from ioukit.runs import Ledger, Run
    from ioukit.statistics import Interval


LedgerOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--log", metavar="FILE", help="The ledger, made by `ioukit eval --log`, if it is not the first path."),
]


def is_ledger(path: Path) -> bool:
    """Whether a file is a data base, which no data set is."""
    try:
        with open(path, "rb") as file:
            return file.read(15) == b"SQLite format 3"
    except OSError:
        return path.suffix.lower() in (".db", ".sqlite")


def ledger_and_runs(log: Path | None, words: "Sequence[str]", least: int = 0, most: int = 0) -> tuple[Path, list[str]]:
    """The ledger that ``--log`` or the first word names, and the words that name runs.

    Args:
        log: What ``--log`` says.
        words: The arguments.
        least: How many runs are named at least.
        most: How many at most.

    Raises:
        typer.BadParameter: If no ledger is named, or more or fewer runs.
    """
    ledger, *runs = ([] if log is None else [str(log)]) + list(words) or [""]
    if not ledger:
        raise typer.BadParameter("name the ledger, which `ioukit eval --log` has made", param_hint="--log")
    if not least <= len(runs) <= most:
        wanted = "a run of it" if least else f"at most {most} runs of it" if most else "no run"
        raise typer.BadParameter(f"expected a ledger and {wanted}, got {' '.join([ledger, *runs])!r}")
    return Path(ledger), runs


class LogOptions(NamedTuple):
    """The run that an evaluation adds to a ledger."""

    log: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also keep the evaluation, as a run, in this file: the ledger. `ioukit runs` lists its runs, "
            "`compare` compares them.",
        ),
    ] = None
    name: Annotated[str | None, typer.Option(metavar="TEXT", help="With --log: the name of the run.")] = None
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[=TEXT]", help="With --log: text to find the run by: lr=1e-3. Can be repeated."),
    ] = None
    value: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=NUMBER", help="With --log: a number of your own: latency=12.3. Can be repeated."),
    ] = None

    def prepared(self) -> "RunLog | None":
        """The run before its evaluation; ``None`` if no option is given.

        Raises:
            typer.BadParameter: If one of the options is wrong. It names the option.
            typer.Exit: If the ledger cannot be written or is no ledger, after a message.
        """
        if self.log is None:
            given = {"--name": self.name, "--tag": self.tag, "--value": self.value}
            for option, value in given.items():
                if value:
                    raise typer.BadParameter("needs --log: the ledger that keeps the run", param_hint=option)
            return None
        from ioukit.runs import Ledger  # noqa: PLC0415 - only ledgers need it
        from ioukit.runs.ledger.names import check_name, check_tags, check_values  # noqa: PLC0415 - as above

        if self.name is None:
            raise typer.BadParameter("needs --name: the name of the run in the ledger", param_hint="--log")
        ledger = Ledger(self.log)
        with bad_value("--name"):
            name = check_name(self.name)
        with bad_value("--tag"):
            tags = check_tags(_pairs(self.tag or ()))
        with bad_value("--value"):
            values = check_values({key: _number(key, text) for key, text in _pairs(self.value or ()).items()})
        with bad_use():
            ledger.check_writable()
        return RunLog(ledger, {"name": name, "tags": tags, "values": values})


class RunLog(NamedTuple):
    """A run that an evaluation will add to a ledger."""

    ledger: "Ledger"
    about: "Mapping[str, Any]"
    """Its name, tags and values, as arguments of `Ledger.add`."""

    def check(self, evaluation: "Evaluation") -> None:
        """Refuses values that have the name of a number of the evaluation, before anything is written.

        Raises:
            typer.BadParameter: If there is one.
        """
        from ioukit.runs.ledger.names import check_values  # noqa: PLC0415 - only ledgers need it

        with bad_value("--value"):
            check_values(self.about["values"], evaluation.summary)

    def add(
        self,
        evaluation: "Evaluation",
        intervals: "Mapping[str, Interval]",
        inputs: "Sequence[Path]",
        options: "Mapping[str, Any]",
        talk: "Talk",
        threads: int | None,
    ) -> None:
        """Adds the run, and says how it is referred to.

        Raises:
            typer.Exit: If that fails, after a message.
        """
        roles = dict(zip(("ground_truth", "detections"), inputs, strict=True))
        with bad_input(), bad_output():
            run = self.ledger.add(
                evaluation,
                **self.about,
                intervals=intervals,
                options={key: value for key, value in options.items() if value not in (None, False)},
                inputs={role: path for role, path in roles.items() if path != STANDARD_INPUT},
                threads=threads,
            )
        talk.say(f"logged {printable(run.reference)} (id {run.id}) in {printable(self.ledger.path)}")


def parse_tags(words: "Iterable[str]") -> dict[str, str | None]:
    """Tags to look for, from ``lr=1e-3``, or ``lr`` for any text."""
    split = [word.partition("=") for word in words]
    return {key: text if sign else None for key, sign, text in split}


def _pairs(words: "Sequence[str]") -> dict[str, str]:
    """What ``lr=1e-3`` gives; a name alone has an empty text."""
    found: dict[str, str] = {}
    for word in words:
        key, _, text = word.partition("=")
        if found.setdefault(key, text) != text:
            raise ValueError(f"{key!r} is given twice: {found[key]!r} and {text!r}")
    return found


def _number(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{key!r} must have a number, as in latency=12.3, got {text!r}") from None


@contextlib.contextmanager
def about_runs() -> "Iterator[None]":
    """Turns errors about a ledger and its runs into one line and exit code 2."""
    with bad_use():
        try:
            yield
        except LookupError as error:
            raise ValueError(str(error)) from None


def describe_run(run: "Run") -> str:
    """A few lines about a run: everything but its numbers."""
    rows = [
        ("run", f"{printable(run.reference)}, id {run.id}, {printable(run.created)}"),
        ("tags", pairs_text(run.tags)),
        ("values", pairs_text(run.values)),
        ("protocol", f"{printable(run.protocol)}, {printable(run.iou_type)}"),
        ("options", pairs_text(run.options)),
        *(
            (printable(one.role.replace("_", " ")), printable(f"{one.name}  {one.sha256 or 'not hashed'}"))
            for one in run.inputs
        ),
        *(
            ("interval", printable(f"{key} on endlessly many images: {percent(level)} from {low:.3f} to {high:.3f}"))
            for key, (low, high, level) in run.intervals.items()
        ),
        ("versions", ", ".join(f"{printable(key)} {printable(text)}" for key, text in run.versions.items())),
        *(("note", printable(note)) for note in run.notes),
    ]
    width = max(len(name) for name, text in rows if text)
    return "\n".join(f"{name:{width}}  {text}" for name, text in rows if text)


def pairs_text(pairs: "Mapping[str, object]") -> str:
    """Names and what they have, as ``lr=1e-3, latency=12.3``."""
    return ", ".join(printable(f"{name}={text}" if text != "" else name) for name, text in pairs.items())


def number_text(value: float) -> str:
    """A number with four decimals; a dash if it is undefined."""
    return "-" if math.isnan(value) else f"{value:.4f}" if abs(value) < 1000 else f"{value:,.1f}"
