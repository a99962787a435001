"""`ioukit completion`: a script that lets a shell complete what is typed."""

from typing import Annotated, Literal

import typer
from typer.completion import get_completion_script  # type: ignore[attr-defined] # as in `_app.py`

from ioukit.cli._command import COMPLETE
from ioukit.cli._streams import print_result


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print a script that lets a shell complete commands, options, protocols, formats and files.

    Put the line of your shell into the file that it reads when it starts: ~/.bashrc, ~/.zshrc or
    ~/.config/fish/config.fish.

    Examples:
      eval "$(ioukit completion bash)"
      eval "$(ioukit completion zsh)"
      ioukit completion fish | source
    """
    print_result(get_completion_script(prog_name="ioukit", complete_var=COMPLETE, shell=shell))
