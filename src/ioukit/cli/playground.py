"""`ioukit playground`: a page to drag boxes on."""

from pathlib import Path
from typing import Annotated

import typer

from ioukit.cli._output import check_output, printable, write_whole
from ioukit.cli._talk import Talk

__all__ = ["playground"]


def playground(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write, whole or not at all.")] = Path(
        "iou_playground.html"
    ),
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on stderr but errors.")] = False,
) -> None:
    """Write a page with two boxes to drag, every overlap of them, and NMS step by step.

    One HTML file that needs no network: open it in a browser.
    """
    from ioukit.report import playground_page  # noqa: PLC0415 - nothing else needs it

    talk = Talk(quiet=quiet)
    try:
        check_output(output, [])
        write_whole(output, playground_page())
    except (ValueError, OSError, ModuleNotFoundError) as error:
        typer.echo(f"Error: {printable(str(error))}", err=True)
        raise typer.Exit(2) from None
    talk.say(f"wrote {printable(str(output))}: open it in a browser")
