"""The exceptions that ioukit defines."""

from __future__ import annotations


class DatasetError(ValueError):
    """Raised for an invalid data set, from a file or from memory.

    The message names the source (a path or an argument), the record and the field. It says what was expected and what
    was found.
    """
