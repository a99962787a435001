"""The register of commands, and how a function with groups of options becomes a command.

Owns: which commands there are, and `_expand_groups`, which gives Typer a parameter for every field of a group. Does not
own: what an option means (its group does), ``--json`` (`_output.py`), nor what runs before NumPy is imported
(`_start.py`).

An option has one long name, that of its parameter or field, in the plural where it takes a list. There are no aliases.
A group is a `NamedTuple` whose fields are annotated options. Typer knows no groups: it reads the signature of a
function, so the function that it gets has one parameter per option, and hands the groups on as values. A command is
imported when it is asked for. Tried and removed: to stop Python's collector during the imports made no difference that
could be measured.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NoReturn

import typer
import typer.exceptions
from typer.core import TyperGroup

import ioukit
from ioukit._register import Register
from ioukit.cli._errors import no_answer_about_a_path, one_line
from ioukit.cli._output import JsonCommand
from ioukit.cli._streams import standard_error, standard_output, stopped_by_signals

COMMANDS: Register[Callable[..., None]] = Register("command")
"""The function of each command, in the order of the help."""

for _name, _home in {
    "eval": "eval:eval_files",
    "compare": "compare:compare_files",
    "check": "check:check_files",
    "nms": "nms:filter_files",
    "operate": "operate:operate",
    "doctor": "doctor:doctor",
    "inspect": "inspect:inspect_data",
    "labels": "labels:find_labels",
    "make-shapes": "make_shapes:make_shapes",
    "panoptic": "panoptic:panoptic",
    "playground": "playground:playground",
    "predict": "predict:predict",
    "protocols": "protocols:compare_rules",
    "convert": "convert:convert",
    "merge": "merge:merge",
    "slices": "slices:slices",
    "subset": "subset:subset",
    "remap": "remap:remap",
    "runs": "runs:list_runs",
    "show": "show:show_run",
    "gate": "gate:check_gate",
    "train": "train:train",
    "val": "val:val",
    "view": "view:view",
}.items():
    COMMANDS.add(_name, f"ioukit.cli.{_home}")


class _Commands(TyperGroup):
    """All commands. What Typer itself says of a wrong word is one line for a terminal, as other errors are."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override] # as `JsonCommand.parse_args`
        try:
            return super().invoke(ctx)
        except typer.exceptions.TyperException as error:
            error.message = one_line(error.message)
            raise


def app_of(words: Sequence[str] = ()) -> typer.Typer:
    """The app for a command line: with the command that it names, or with all commands if it names none of them.

    A command waits only for its own options: to build those of all commands takes as long as a small evaluation.
    """
    app = typer.Typer(
        name="ioukit",
        cls=_Commands,
        no_args_is_help=True,
        add_completion=False,
        # Without colours, help and errors look the same in a terminal, a log and a pipe. Importing Rich takes longer
        # than evaluating a small data set.
        rich_markup_mode=None,
        # A traceback means a defect of ioukit. A bug report needs all of it, but Typer's display would shorten it.
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_ioukit)
    for name in words[:1] if words and words[0] in COMMANDS else COMMANDS:
        command = _expand_groups(COMMANDS[name])
        takes_json = "json" in command.__annotations__
        text, _, examples = (inspect.getdoc(command) or "").partition("\n\nExamples:\n")
        epilog = f"\b\nExamples:\n{examples}" if examples else None  # \b: keep the line breaks
        app.command(name, cls=JsonCommand if takes_json else None, help=text, epilog=epilog)(command)
    return app


def _expand_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command as Typer needs it: an argument that is a `NamedTuple` becomes an option for each of its fields."""
    parameters: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        group = parameter.annotation
        if hasattr(group, "_fields"):
            groups[parameter.name] = group
            options = inspect.signature(group).parameters.values()
            parameters += [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in options]
        else:
            parameters.append(parameter)
    if not groups:
        return command

    def with_groups(**options: Any) -> None:
        taken = {name: group(*map(options.pop, group._fields)) for name, group in groups.items()}
        command(**options, **taken)

    with_groups.__doc__ = command.__doc__
    with_groups.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    with_groups.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # as `inspect` reads it
    return with_groups


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ioukit {ioukit.__version__}")
        raise typer.Exit


def _ioukit(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Measure how good an object detector is.

    Results go to stdout, everything else to stderr. Exit codes: 0 success, 1 a check failed, 2 wrong use or bad input.
    """


def run(words: Sequence[str]) -> NoReturn:
    """Runs the command of a command line and exits."""
    with stopped_by_signals(), standard_error(), standard_output(), no_answer_about_a_path():
        app_of(words)(words, prog_name="ioukit")
    raise SystemExit(0)  # unreachable: a Typer app exits by itself
