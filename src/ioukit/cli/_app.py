"""The register of commands, and how a function with groups of options becomes a command.

Owns: which commands there are and what the help says of each, and `_expand_groups`, which gives Typer a parameter for
every field of a group. Does not own: what an option means (its group does), how the words of a command are read and
its help is written (`_command.py`), nor what runs before NumPy is imported (`_start.py`).

An option has one long name, that of its parameter or field, in the plural where it takes a list. There are no aliases.
A group is a `NamedTuple` whose fields are annotated options. Typer knows no groups: it reads the signature of a
function, so the function that it gets has one parameter per option, and hands the groups on as values. A command is
imported when it is asked for: the help of all commands imports none. Tried and removed: to stop Python's collector
during the imports made no difference that could be measured.
"""

import inspect
import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

import ioukit
from ioukit._register import Register
from ioukit.cli._arguments import HEADINGS
from ioukit.cli._command import COMPLETE, Command, CommandError
from ioukit.cli._errors import no_answer_about_a_path, one_line
from ioukit.cli._streams import standard_error, standard_output, stopped_by_signals

# The texts fit into a line of 80 columns with the names before them.
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Evaluate": {
        "eval": ("eval:eval_files", "AP and the other numbers of COCO, or of another protocol"),
        "slices": ("slices:slices", "Where the detector is bad: in rain, on small objects, ..."),
        "protocols": ("protocols:compare_rules", "The number of each protocol, and why two of them differ"),
        "tracks": ("tracks:tracks", "Does a tracker keep its objects? HOTA, MOTA, IDF1"),
        "grounding": ("grounding:grounding", "Regions that words name: RefCOCO's accuracy, SAM 3's cgF1"),
        "nuscenes": ("nuscenes:nuscenes", "Boxes in space by centre distance: nuScenes' NDS, mAP, errors"),
        "panoptic": ("panoptic:panoptic", "Panoptic quality of COCO panoptic files"),
    },
    "Decide": {
        "compare": ("compare:compare_files", "Is B better than A, and what changed?"),
        "agree": ("agree:agree", "Do annotators of the same images agree?"),
        "suite": ("suite:evaluate_sets", "One number of each model over many data sets"),
        "gate": ("gate:check_gate", "May a model replace another one? For CI jobs"),
        "operate": ("operate:operate", "Find the score threshold that gives a wanted precision, ..."),
        "runs": ("runs:list_runs", "List the evaluations that `eval --log FILE` has kept"),
        "show": ("show:show_run", "Show one of these evaluations"),
    },
    "Data": {
        "check": ("check:check_files", "Find likely mistakes in files that can be read"),
        "inspect": ("inspect:inspect_data", "What a data set holds: classes, sizes, positions, ..."),
        "labels": ("labels:find_labels", "Find objects whose labels are likely wrong"),
        "convert": ("convert:convert", "Write a data set in another format"),
        "merge": ("merge:merge", "Make one data set of several"),
        "subset": ("subset:subset", "Write some classes, images or sizes of a data set"),
        "remap": ("remap:remap", "Rename and join classes"),
    },
    "Look": {
        "view": ("view:view", "Look through images, objects and detections in the browser"),
        "figures": ("figures:write_figures", "Figures and a LaTeX table for a paper"),
        "playground": ("playground:playground", "A page with two boxes to drag, their overlaps, and NMS"),
    },
    "Train": {
        "make-shapes": ("make_shapes:make_shapes", "Draw a data set of shapes and digits to train on"),
        "train": ("train:train", "Train a small YOLO"),
        "val": ("val:val", "Evaluate a trained network"),
        "predict": ("predict:predict", "Find objects in images"),
        "export": ("export:export", "Write a network as ONNX, for programs without PyTorch"),
    },
    "More": {
        "demo": ("demo:demo", "Six photographs and two models to try the commands on"),
        "nms": ("nms:filter_files", "Remove, soften or fuse overlapping detections of files"),
        "doctor": ("doctor:doctor", "Versions and libraries of this machine, and a self-test"),
        "completion": ("completion:completion", "Let the shell complete commands, options and their values"),
    },
}
"""The commands by what they are for: where the function of each is, and what the help says of it."""

COMMANDS: Register[Callable[..., None]] = Register("command")
"""The function of each command, in the order of the help."""

for _commands in GROUPS.values():
    for _name, (_home, _) in _commands.items():
        COMMANDS.add(_name, f"ioukit.cli.{_home}")


class _Commands(TyperGroup):
    """All commands, each built when it is asked for: a command waits only for its own options.

    What Typer itself says of a wrong word is one line for a terminal, as other errors are.
    """

    def list_commands(self, _: typer.Context) -> list[str]:  # type: ignore[override] # as `Command.parse_args`
        return [*COMMANDS]

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override] # as above
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            self.add_command(built(cmd_name))
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override] # as above
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            from ioukit.cli._mistakes import no_command  # noqa: PLC0415 - for a mistake

            ctx.fail(no_command(args, COMMANDS))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override] # as above
        try:
            return super().invoke(ctx)
        except CommandError as error:
            error.message = one_line(error.message)
            raise

    def format_help(self, _: typer.Context, formatter: Any) -> None:  # type: ignore[override] # as above
        from ioukit.cli._help import write_commands  # noqa: PLC0415 - for those who ask

        groups = {title: {name: text for name, (_, text) in group.items()} for title, group in GROUPS.items()}
        write_commands(formatter, groups)

    def shell_complete(self, _: typer.Context, incomplete: str) -> Any:  # type: ignore[override] # as above
        click = typer.BadParameter.__module__.rpartition(".")[0]  # or Typer's copy of it, since Typer 0.26
        item = import_module(f"{click}.shell_completion").CompletionItem
        texts = {name: text for group in GROUPS.values() for name, (_, text) in group.items()}
        return [item(name, help=text) for name, text in texts.items() if name.startswith(incomplete)]


def app_of() -> typer.Typer:
    """The app with all commands; none of them is imported."""
    app = typer.Typer(
        name="ioukit",
        cls=_Commands,
        add_completion=False,
        # Without colours, help and errors look the same in a terminal, a log and a pipe. Importing Rich takes longer
        # than evaluating a small data set.
        rich_markup_mode=None,
        # A traceback means a defect of ioukit. A bug report needs all of it, but Typer's display would shorten it.
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_ioukit)
    return app


@cache  # a mistake asks for all of them
def built(name: str) -> Any:
    """A command by its name."""
    function = _expand_groups(COMMANDS[name])
    text, _, examples = (inspect.getdoc(function) or "").partition("\n\nExamples:\n")
    info = CommandInfo(name, cls=Command, help=text, epilog=examples or None, callback=function)
    return get_command_from_info(info, pretty_exceptions_short=False, rich_markup_mode=None)


def _expand_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command as Typer needs it: an argument that is a `NamedTuple` becomes an option for each of its fields.

    An option that names no heading of the help gets that of its group.
    """
    parameters: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        group = parameter.annotation
        if hasattr(group, "_fields"):
            groups[parameter.name] = group
            for option in inspect.signature(group).parameters.values():
                about = option.annotation.__metadata__[0]
                about.rich_help_panel = about.rich_help_panel or HEADINGS[group.__name__]
                parameters.append(option.replace(kind=inspect.Parameter.KEYWORD_ONLY))
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
    """Measure how good an object detector is."""


def run(words: Sequence[str]) -> NoReturn:
    """Runs the command of a command line and exits. Without a command, and for `help`, it prints the help."""
    if not words or words[0] == "help":
        words = [*words[1:2], "--help"]
    if COMPLETE in os.environ:
        from typer.completion import completion_init  # type: ignore[attr-defined] # noqa: PLC0415 - for a shell

        completion_init()
    with stopped_by_signals(), standard_error(), standard_output(), no_answer_about_a_path():
        app_of()(words, prog_name="ioukit")
    raise SystemExit(0)  # unreachable: a Typer app exits by itself
