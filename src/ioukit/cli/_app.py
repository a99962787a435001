"""All commands, and the options that they share."""

from typing import Annotated, NoReturn

import typer

import ioukit
from ioukit.cli._json import JsonCommand
from ioukit.cli._output import standard_output
from ioukit.cli._signals import stopped_by_signals
from ioukit.cli.check import EXAMPLES as CHECK_EXAMPLES
from ioukit.cli.check import check_files
from ioukit.cli.convert import EXAMPLES as CONVERT_EXAMPLES
from ioukit.cli.convert import convert
from ioukit.cli.doctor import doctor
from ioukit.cli.eval import EXAMPLES, eval_files
from ioukit.cli.inspect import EXAMPLES as INSPECT_EXAMPLES
from ioukit.cli.inspect import inspect_data
from ioukit.cli.make_shapes import EXAMPLES as SHAPES_EXAMPLES
from ioukit.cli.make_shapes import make_shapes
from ioukit.cli.merge import EXAMPLES as MERGE_EXAMPLES
from ioukit.cli.merge import merge
from ioukit.cli.nms import EXAMPLES as NMS_EXAMPLES
from ioukit.cli.nms import filter_files
from ioukit.cli.panoptic import EXAMPLES as PANOPTIC_EXAMPLES
from ioukit.cli.panoptic import panoptic
from ioukit.cli.playground import playground
from ioukit.cli.predict import EXAMPLES as PREDICT_EXAMPLES
from ioukit.cli.predict import predict
from ioukit.cli.protocols import EXAMPLES as PROTOCOLS_EXAMPLES
from ioukit.cli.protocols import compare_rules
from ioukit.cli.remap import EXAMPLES as REMAP_EXAMPLES
from ioukit.cli.remap import remap
from ioukit.cli.subset import EXAMPLES as SUBSET_EXAMPLES
from ioukit.cli.subset import subset
from ioukit.cli.train import EXAMPLES as TRAIN_EXAMPLES
from ioukit.cli.train import train
from ioukit.cli.val import EXAMPLES as VAL_EXAMPLES
from ioukit.cli.val import val

__all__ = ["main"]

app = typer.Typer(
    name="ioukit",
    no_args_is_help=True,
    add_completion=False,
    # Without colours, help and errors look the same in a terminal, a log and a pipe. Importing Rich takes longer than
    # evaluating a small data set.
    rich_markup_mode=None,
    # A traceback means a defect of ioukit. A bug report needs all of it, but Typer's display would shorten it.
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("eval", cls=JsonCommand, epilog=EXAMPLES)(eval_files)
app.command("check", cls=JsonCommand, epilog=CHECK_EXAMPLES)(check_files)
app.command("nms", cls=JsonCommand, epilog=NMS_EXAMPLES)(filter_files)
app.command("doctor", cls=JsonCommand)(doctor)
app.command("inspect", cls=JsonCommand, epilog=INSPECT_EXAMPLES)(inspect_data)
app.command("make-shapes", epilog=SHAPES_EXAMPLES)(make_shapes)
app.command("panoptic", cls=JsonCommand, epilog=PANOPTIC_EXAMPLES)(panoptic)
app.command("playground")(playground)
app.command("predict", cls=JsonCommand, epilog=PREDICT_EXAMPLES)(predict)
app.command("protocols", cls=JsonCommand, epilog=PROTOCOLS_EXAMPLES)(compare_rules)
app.command("convert", cls=JsonCommand, epilog=CONVERT_EXAMPLES)(convert)
app.command("merge", cls=JsonCommand, epilog=MERGE_EXAMPLES)(merge)
app.command("subset", cls=JsonCommand, epilog=SUBSET_EXAMPLES)(subset)
app.command("remap", cls=JsonCommand, epilog=REMAP_EXAMPLES)(remap)
app.command("train", epilog=TRAIN_EXAMPLES)(train)
app.command("val", cls=JsonCommand, epilog=VAL_EXAMPLES)(val)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ioukit {ioukit.__version__}")
        raise typer.Exit


@app.callback()
def _ioukit(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Measure how good an object detector is.

    Results go to stdout, everything else to stderr. Exit codes: 0 success, 1 a check failed, 2 wrong use or bad input.
    """


def main() -> NoReturn:
    """Runs the command that `sys.argv` names and exits."""
    with stopped_by_signals(), standard_output():
        app(prog_name="ioukit")
    raise SystemExit(0)  # unreachable: a Typer app exits by itself
