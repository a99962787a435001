"""The command `ioukit`: results on stdout, other lines on stderr, one file per command."""

from ioukit.cli._start import main

__all__ = ["main"]
