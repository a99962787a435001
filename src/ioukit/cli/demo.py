"""`ioukit demo`: data to try the commands on, which need no download."""

import importlib.resources
import shlex
from pathlib import Path
from typing import Annotated

import typer

from ioukit._output import check_place, printable, write_whole
from ioukit.cli._data_files import ReadingOptions
from ioukit.cli._errors import bad_output, bad_use, bad_value, missing_extra
from ioukit.cli._output import QuietOption
from ioukit.cli._rules import RuleOptions
from ioukit.cli._streams import Talk, print_result

_COMMANDS = """\
ioukit eval gt.json a.json
ioukit eval gt.json a.json --report report.html --images photos
ioukit compare gt.json a.json b.json
ioukit view gt.json a.json b.json --images photos"""


def demo(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", help="The folder to write into. [default: ioukit-demo]")
    ] = None,
    *,
    show: Annotated[
        bool, typer.Option("--open", help="Also write the report and open it and `ioukit view` in the browser.")
    ] = False,
    quiet: QuietOption = False,
) -> None:
    """Write six photographs of COCO, their objects, and the made-up detections of two models.

    It prints four commands to try. Files that exist stay: one with another content is an error. LICENCES.md in the
    folder has the licences (CC BY) and the sources.

    Examples:
      ioukit demo
      ioukit demo try --open
    """
    talk = Talk(quiet=quiet)
    folder = folder or Path("ioukit-demo")
    with bad_use(), bad_value("FOLDER"):
        check_place(folder)
        missing = {path: content for path, content in _files(folder).items() if not _is_there(path, content)}
    if show:
        with missing_extra():
            from ioukit.viewer.server.running import check_installed  # noqa: PLC0415 - only this option needs it

            check_installed()
    with bad_output():
        (folder / "photos").mkdir(parents=True, exist_ok=True)
        for path, content in missing.items():
            write_whole(path, content)
    done = "wrote" if missing else "found"
    talk.say(f"{done} {printable(str(folder))}  six photographs and the detections of two models; try:")
    print_result(f"cd {shlex.quote(str(folder))}\n{_COMMANDS}")
    if show:
        _open(folder, talk)


def _files(folder: Path) -> dict[Path, bytes]:
    """What the folder gets: the files that are installed with the package."""
    source = importlib.resources.files("ioukit.cli") / "demo_files"
    return {
        folder / place / file.name: file.read_bytes()
        for place in ("", "photos")
        for file in (source / place).iterdir()
        if file.is_file()
    }


def _is_there(path: Path, content: bytes) -> bool:
    """Whether a file holds what would be written.

    Raises:
        ValueError: If it holds something else.
    """
    if not path.exists():
        return False
    if path.read_bytes() != content:
        raise ValueError(f"{path} exists and is another file: name another folder")
    return True


def _open(folder: Path, talk: Talk) -> None:
    """Writes the report, opens it, and serves the viewer until Ctrl-C."""
    from ioukit import evaluate  # noqa: PLC0415 - only this option needs them
    from ioukit.cli.view import view  # noqa: PLC0415
    from ioukit.viewer.server.running import open_browser  # noqa: PLC0415

    report, photos = folder / "report.html", folder / "photos"
    with bad_output():
        evaluate(folder / "gt.json", folder / "a.json").report(report, photos)
    talk.say(f"wrote {printable(str(report))}")
    open_browser(report.absolute().as_uri())
    models = [folder / "a.json", folder / "b.json"]
    view(folder / "gt.json", models, images=photos, rules=RuleOptions(), reading=ReadingOptions(), quiet=talk.is_quiet)
