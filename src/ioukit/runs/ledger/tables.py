"""Match tables as the bytes that a ledger keeps."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from ioukit.evaluation import MatchTable

__all__ = ["checked", "sha256_of", "stored_table", "table_of"]

_LEVEL = 1
"""Of zlib. Higher levels take three times as long, and save less than a tenth."""


def stored_table(table: MatchTable) -> tuple[bytes, str]:
    """The bytes of a match table, and their SHA-256."""
    from ioukit.evaluation.table_file import pack_table  # noqa: PLC0415 - loads NumPy, which listing does not need

    content = zlib.compress(pack_table(table, compress=False), _LEVEL)
    return content, sha256_of(content)


def table_of(content: bytes | None, sha256: str, source: str) -> MatchTable:
    """The match table of the bytes.

    Nothing in the bytes is executed: they are columns of numbers and text, see
    :func:`ioukit.evaluation.table_file.load_table`.

    Args:
        content: What :func:`stored_table` returned; ``None`` if it is missing.
        sha256: Their SHA-256.
        source: Their name in messages.

    Raises:
        DatasetError: If the bytes are not those that were stored.
    """
    from ioukit.evaluation.table_file import unpack_table  # noqa: PLC0415 - as above

    try:
        packed = zlib.decompress(checked(content, sha256, source))
    except zlib.error as error:
        raise DatasetError(f"{source}: the match table is damaged: {error}") from None
    return unpack_table(packed, source)


def checked(content: bytes | None, sha256: str, source: str) -> bytes:
    """The bytes, if they are those that were stored; else raises as :func:`table_of`."""
    if not isinstance(content, bytes):
        raise DatasetError(f"{source}: the match table is missing: the ledger is damaged")
    if sha256_of(content) != sha256:
        raise DatasetError(f"{source}: the match table is damaged: its SHA-256 is not the one that was stored")
    return content


def sha256_of(content: bytes) -> str:
    """The SHA-256 of the bytes, as hexadecimal digits."""
    import hashlib  # noqa: PLC0415 - listing runs does not need it

    return hashlib.sha256(content).hexdigest()
