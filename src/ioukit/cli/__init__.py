"""The command `ioukit`: results on stdout, other lines on stderr, one file per command."""

from ioukit.cli._app import main

__all__ = ["main"]
