"""The exceptions that ioukit raises of its own."""

from __future__ import annotations

__all__ = ["DatasetError"]


class DatasetError(ValueError):
    """A data set, from a file or from memory, is not what it should be.

    The message names the source (a path or a parameter), the record and the field, what was expected and what came.
    """
