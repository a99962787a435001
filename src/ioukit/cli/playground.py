"""`ioukit playground`: a page to drag boxes on."""

from pathlib import Path
from typing import Annotated

import typer

from ioukit._output import printable, write_whole
from ioukit.cli._errors import bad_output
from ioukit.cli._output import QuietOption, check_files
from ioukit.cli._streams import Talk


def playground(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="The file to write. [default: iou_playground.html]")
    ] = None,
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The same, as an option.")
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Write a page with two boxes to drag, all their overlap measures, and NMS step by step.

    The page is one HTML file and needs no network. Open it in a browser.
    """
    from ioukit.report import playground_page  # noqa: PLC0415 - only this command needs it

    talk = Talk(quiet=quiet)
    if file is not None and output is not None:
        raise typer.BadParameter(f"the file is given already: {file}", param_hint="--output")
    output = file or output or Path("iou_playground.html")
    check_files({"--output": output}, [])
    with bad_output():
        write_whole(output, playground_page())
    talk.say(f"wrote {printable(str(output))}: open it in a browser")
