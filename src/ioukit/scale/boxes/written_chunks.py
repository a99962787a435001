"""Results that come in chunks, written as one Parquet file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ioukit._optional import import_extra
from ioukit._output import whole_file

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["write_table"]


def write_table(
    path: str | os.PathLike[str], columns: Mapping[str, np.dtype[Any]], chunks: Iterable[tuple[NDArray[Any], ...]]
) -> int:
    """Writes chunks of columns as a Parquet file, which appears complete or not at all.

    Args:
        path: The file.
        columns: The names and dtypes of the columns.
        chunks: One array per column each.

    Returns:
        The number of rows.
    """
    arrow = import_extra("pyarrow", extra="tables", needed_by="write_parquet of ioukit.scale")
    parquet = import_extra("pyarrow.parquet", extra="tables", needed_by="write_parquet of ioukit.scale")
    schema = arrow.schema([(name, arrow.from_numpy_dtype(dtype)) for name, dtype in columns.items()])
    rows = 0
    with whole_file(Path(path)) as unfinished, parquet.ParquetWriter(unfinished, schema) as writer:
        for chunk in chunks:
            rows += len(chunk[0])
            writer.write_table(arrow.table([arrow.array(column) for column in chunk], schema=schema))
    return rows
