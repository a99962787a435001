"""`ioukit playground`: a page to drag boxes on."""

from pathlib import Path
from typing import Annotated

import typer

from ioukit._output import printable, write_whole
from ioukit.cli._errors import bad_output
from ioukit.cli._output import QuietOption, check_files
from ioukit.cli._streams import Talk


def playground(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path("iou_playground.html"),
    quiet: QuietOption = False,
) -> None:
    """Write a page with two boxes to drag, all their overlap measures, and NMS step by step.

    The page is one HTML file and needs no network. Open it in a browser.
    """
    from ioukit.report import playground_page  # noqa: PLC0415 - only this command needs it

    talk = Talk(quiet=quiet)
    check_files({"--output": output}, [])
    with bad_output():
        write_whole(output, playground_page())
    talk.say(f"wrote {printable(str(output))}: open it in a browser")
