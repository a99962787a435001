"""`ioukit.view`: the viewer from Python."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from ioukit.datasets import GroundTruth
    from ioukit.evaluation import Evaluation
    from ioukit.viewer.running import Server

__all__ = ["Viewer", "view"]


class Viewer:
    """A running viewer. It ends with the program, or by :meth:`close`.

    Args:
        server: The server, which has started.
        query: What the page shows at first, as the query of an address.
    """

    def __init__(self, server: Server, query: str = "") -> None:
        self._server = server
        self._query = query

    @property
    def address(self) -> str:
        """The address to open. It has the token: who knows it sees the data."""
        return self._server.address(self._query)

    def wait(self) -> None:
        """Waits until Ctrl-C, then closes the viewer."""
        self._server.wait()

    def close(self) -> None:
        """Ends the server. A second call does nothing."""
        self._server.close()

    def __repr__(self) -> str:
        return f"Viewer at {self.address}"


def view(
    data: GroundTruth | Evaluation | Mapping[str, Evaluation],
    images: str | os.PathLike[str] | None = None,
    *,
    filter: Mapping[str, Any] | None = None,
    columns: Any = None,
    notes: str | os.PathLike[str] | None = None,
    issues: bool = False,
    browser: bool = True,
    host: str = "127.0.0.1",
    port: int = 8421,
) -> Viewer:
    """Look through a data set, its detections and models side by side in the browser. Needs the extra ``view``.

    In a script, the page is there until the program ends: call :meth:`Viewer.wait` at its end.

    Args:
        data: Ground truth, an evaluation with its data, or evaluations of up to three models on the same ground truth
            by their names.
        images: The folder of the photographs; outlines on empty sheets if ``None``.
        filter: What the page shows at first: values, or lists of values, by the keys of its address, such as
            ``{"outcome": "fp", "class": ["car", "bus"], "score": "0.5.."}``.
        columns: A table with a row per image: the path of a CSV or Parquet file, or a data frame.
        notes: The SQLite file of tags and notes; ``GT.view.db`` beside the file of the ground truth if ``None``. It is
            made by the first note.
        issues: Whether to look for labels that are probably wrong, see :func:`ioukit.labels.find_label_errors`.
        browser: Whether to open the browser.
        host: The address to listen at. With others than ``127.0.0.1``, other machines can reach the page.
        port: The port to listen at; the next free one if it is taken.

    Raises:
        ValueError: If an evaluation holds a match table alone, the evaluations do not belong together, there are more
            than three, ``images`` is not a folder, the filter is unknown, or the machine has no such address.
        DatasetError: If the table of columns cannot be read.
        ModuleNotFoundError: If a package of the extra is not installed.
        OSError: If no port is free.
    """
    # Servers need modules that `from ioukit import *` should not load.
    from ioukit.viewer.assembling import app_of, filter_query  # noqa: PLC0415
    from ioukit.viewer.running import Server, check_installed, open_browser  # noqa: PLC0415
    from ioukit.viewer.thumbnails import cache_folder  # noqa: PLC0415

    folder = None if images is None else Path(images)
    if folder is not None and not folder.is_dir():
        raise ValueError(f"images must be a folder, got {str(folder)!r}")
    check_installed()
    pairs = (filter or {}).items()
    query = filter_query((key, one) for key, value in pairs for one in (value if _is_list(value) else [value]))
    app, found = app_of(data, folder, columns=columns, notes=notes, issues=issues, cache=cache_folder())
    for note in found:
        warnings.warn(note, stacklevel=2)
    server = Server(app, host=host, port=port)
    server.start()
    if browser:
        open_browser(server.address(query, ticket=True))
    return Viewer(server, query)


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple, set))
