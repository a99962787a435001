"""The exceptions that ioukit defines."""

from __future__ import annotations


class DatasetError(ValueError):
    """Raised for an invalid data set, from a file or from memory.

    The message names the source (a path or an argument), the record and the field. It says what was expected and what
    was found.
    """

    def __init__(self, message: str) -> None:
        """Take the message. Names in files may have characters that control a terminal: they become escapes."""
        if not message.isprintable():
            from ioukit._output import printable  # noqa: PLC0415 - few messages need it

            message = printable(message)
        super().__init__(message)
