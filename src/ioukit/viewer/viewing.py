"""`ioukit.view`: the viewer from Python."""

from __future__ import annotations

import html
import os
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from ioukit.datasets import GroundTruth
    from ioukit.evaluation import Evaluation
    from ioukit.viewer.server.app import App
    from ioukit.viewer.server.running import Server


FRAMES = (
    *(f"{scheme}://{host}:*" for scheme in ("http", "https") for host in ("localhost", "127.0.0.1")),
    *("vscode-webview:", "vscode-file:"),
)
"""The pages that may hold the viewer in a frame: notebooks on this machine."""

_HEIGHT = 760
_ELSEWHERE = (
    *("COLAB_RELEASE_TAG", "KAGGLE_KERNEL_RUN_TYPE", "JUPYTERHUB_USER", "BINDER_SERVICE_HOST", "CODESPACES"),
    *("DATABRICKS_RUNTIME_VERSION", "SAGEMAKER_INTERNAL_IMAGE_URI", "SSH_CONNECTION"),
)
"""Environment variables of kernels that run on another machine than the browser."""


class Viewer:
    """A viewer: a page of a server within this program, which runs until :meth:`close` or the end of the program.

    A notebook shows it as the page in a frame, or as a cut-out of some images if there is no server.

    Args:
        app: What is served.
        server: The server, which has started; ``None`` for a cut-out alone.
        query: What the page shows at first, as the query of an address.
    """

    def __init__(self, app: App, server: Server[App] | None, query: str = "") -> None:
        self._app, self._server, self._query = app, server, query

    @property
    def address(self) -> str:
        """The address to open. It has the token: who knows it sees the data. Empty without a server."""
        return "" if self._server is None else self._server.address(self._query)

    def wait(self) -> None:
        """Waits until Ctrl-C, then closes the viewer. Returns at once if there is no server."""
        if self._server is not None:
            self._server.wait()

    def close(self) -> None:
        """Ends the server, also for other viewers of the same data. A second call does nothing."""
        if self._server is not None:
            self._server.close()

    def to_html(self, images: int = 24) -> str:
        """A cut-out: one page with the first images of the filter and all that it needs, for a file or a mail.

        Args:
            images: How many images at most. Each adds a photograph of up to 640 pixels.
        """
        from ioukit.viewer.server.views import static_page  # noqa: PLC0415 - as in `view`

        return static_page(self._app.views.cut_out(_pairs(self._query), images))

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        running = self._server is not None and self._server.is_running
        return f"Viewer at {self.address}" if running else "Viewer without a server"

    def _repr_html_(self) -> str:
        if self._server is None or not self._server.is_running:
            return _static_frame(self.to_html())
        return _frame(self._server.frame_address(self._query), self._server.address(self._query))


def view(
    data: GroundTruth | Evaluation | Mapping[str, Evaluation],
    images: str | os.PathLike[str] | None = None,
    *,
    filter: Mapping[str, Any] | None = None,
    table: Any = None,
    notes: str | os.PathLike[str] | None = None,
    issues: bool = False,
    browser: bool | None = None,
    static: bool | None = None,
    host: str = "127.0.0.1",
    port: int = 8421,
) -> Viewer:
    """Look through a data set, its detections and models side by side in the browser. Needs the extra ``view``.

    In a notebook, the viewer is shown in a frame if it is the last line of a cell. The same data have one server, which
    is started once. In a script, the page is there until the program ends: call :meth:`Viewer.wait` at its end.

    Args:
        data: Ground truth, an evaluation with its data, or evaluations of up to three models on the same ground truth
            by their names.
        images: The folder of the photographs; outlines on empty sheets if ``None``.
        filter: What the page shows at first: values, or lists of values, by the keys of its address, such as
            ``{"outcome": "fp", "class": ["car", "bus"], "score": "0.5.."}``.
        table: A table with a row per image: the path of a CSV or Parquet file, or a data frame.
        notes: The SQLite file of tags and notes; ``GT.view.db`` beside the file of the ground truth if ``None``. It is
            made by the first note.
        issues: Whether to look for labels that are probably wrong, see :func:`ioukit.label_errors.find_label_errors`.
        browser: Whether to open the browser; by default unless in a notebook.
        static: Whether to start no server and to show a cut-out, a page with the first images of the filter; by default
            in a notebook whose browser cannot reach this machine, such as Colab, Kaggle, a JupyterHub or over SSH.
        host: The address to listen at. With others than ``127.0.0.1``, other machines can reach the page.
        port: The port to listen at; the next free one if it is taken.

    Raises:
        ValueError: If an evaluation holds a match table alone, the evaluations do not belong together, there are more
            than three, ``images`` is not a folder, the filter is unknown, or the machine has no such address.
        DatasetError: If the table cannot be read.
        ModuleNotFoundError: If a package of the extra is not installed.
        OSError: If no port is free.
    """
    # Servers need modules that `from ioukit import *` should not load.
    from ioukit.viewer.images.thumbnails import cache_folder  # noqa: PLC0415
    from ioukit.viewer.server.building import app_of, filter_query  # noqa: PLC0415
    from ioukit.viewer.server.running import (  # noqa: PLC0415
        Server,
        check_installed,
        open_browser,
        share_server,
        shared_server,
    )

    folder = None if images is None else Path(images)
    if folder is not None and not folder.is_dir():
        raise ValueError(f"images must be a folder, got {str(folder)!r}")
    check_installed()
    pairs = (filter or {}).items()
    query = filter_query((key, one) for key, value in pairs for one in (value if _is_list(value) else [value]))
    key = _key(data, folder, table, notes, issues, host, port)
    server = shared_server(key)
    if server is None:
        app, found = app_of(data, folder, table=table, notes=notes, issues=issues, cache=cache_folder())
        for note in found:
            warnings.warn(note, stacklevel=2)
        app.views.check(_pairs(query))
        if (_in_notebook() and _is_elsewhere()) if static is None else static:
            return Viewer(app, None, query)
        server = Server(app, host=host, port=port, frames=FRAMES)
        server.start()
        share_server(key, server)
    else:
        server.app.views.check(_pairs(query))
        if static:
            return Viewer(server.app, None, query)
    if browser or (browser is None and not _in_notebook()):
        open_browser(server.address(query, ticket=True))
    return Viewer(server.app, server, query)


def _pairs(query: str) -> list[tuple[str, str]]:
    """The keys and values of a filter."""
    return parse_qsl(query, keep_blank_values=True)


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple, set))


def _key(data: Any, folder: Path | None, table: Any, *rest: Any) -> tuple[Any, ...] | None:
    """What is equal for data that one server can show; ``None`` if that is not known.

    The server keeps the data, so that their ids stay theirs.
    """
    if not (table is None or isinstance(table, str | os.PathLike)):
        return None
    named = data.items() if isinstance(data, Mapping) else [("", data)]
    return (*((name, id(one)) for name, one in named), folder, table, *rest)


def _in_notebook() -> bool:
    """Whether this is the kernel of a notebook, which shows what the last line of a cell returns."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    return hasattr(shell, "kernel")


def _is_elsewhere() -> bool:
    """Whether the browser likely runs on another machine, from which this one cannot be reached."""
    return any(os.environ.get(name) for name in _ELSEWHERE)


def _frame(address: str, plain: str) -> str:
    """The page of a server in a frame, as HTML of a notebook.

    Args:
        address: The address for the frame.
        plain: The address for a page of its own.
    """
    words = (
        "This frame is empty if the notebook runs on another machine, or if the viewer has ended: run the cell again, "
        "or pass <code>static=True</code>."
    )
    return (
        f'<iframe src="{html.escape(address)}" width="100%" height="{_HEIGHT}" title="ioukit view" allowfullscreen '
        'style="border: 1px solid #8886; border-radius: 6px"></iframe>'
        f'<p style="font-size: 85%; margin: 4px 0"><a href="{html.escape(plain)}" target="_blank" rel="noopener">Open '
        f"in a page of its own</a>. {words}</p>"
    )


def _static_frame(page: str) -> str:
    """A page without a server in a frame. It can run its own script, and reach neither the notebook nor a server."""
    plain = html.escape(page).encode("ascii", "xmlcharrefreplace").decode()  # whatever the notebook is stored as
    return (
        f'<iframe srcdoc="{plain}" width="100%" height="{_HEIGHT}" title="ioukit view" '
        'sandbox="allow-scripts" style="border: 1px solid #8886; border-radius: 6px"></iframe>'
    )
