"""`ioukit.view`: the viewer from Python."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from ioukit.datasets import GroundTruth
from ioukit.viewer.app import App
from ioukit.viewer.collection import Collection
from ioukit.viewer.columns import user_columns
from ioukit.viewer.filters import Filter
from ioukit.viewer.notebooks import FRAMES, frame, in_notebook, is_elsewhere, static_frame
from ioukit.viewer.notes import Notes, notes_file
from ioukit.viewer.noting import Noting
from ioukit.viewer.page import static_page
from ioukit.viewer.photographs import Photographs
from ioukit.viewer.running import HOST, PORT, Server, check_installed, open_browser
from ioukit.viewer.sharing import share_server, shared_server
from ioukit.viewer.views import Views

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ioukit.evaluation import Evaluation, Protocol

__all__ = ["Viewer", "app_of", "filter_query", "view"]

MOST_MODELS = 3


class Viewer:
    """A viewer: a page of a server within this program, which runs until :meth:`close` or the end of the program.

    A notebook shows it as the page in a frame, or as a cut-out of some images if there is no server.

    Args:
        app: What is served.
        server: The server, which has started; ``None`` for a cut-out alone.
        pairs: What the page shows at first: keys and values of a filter.
    """

    def __init__(self, app: App, server: Server | None, pairs: list[tuple[str, str]]) -> None:
        self._app = app
        self._server = server
        self._pairs = pairs

    @property
    def address(self) -> str | None:
        """The address to open. It has the token: who knows it sees the data. ``None`` without a server."""
        return None if self._server is None else self._server.address(urlencode(self._pairs))

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
        return static_page(self._app.views.cut_out(self._pairs, images))

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        running = self._server is not None and self._server.is_running
        return f"Viewer at {self.address}" if running else "Viewer without a server"

    def _repr_html_(self) -> str:
        if self._server is None or not self._server.is_running:
            return static_frame(self.to_html())
        query = urlencode(self._pairs)
        return frame(self._server.frame_address(query), self._server.address(query))


def view(
    data: GroundTruth | Evaluation | Mapping[str, Evaluation],
    images: str | os.PathLike[str] | None = None,
    *,
    filter: Mapping[str, Any] | None = None,
    columns: Any = None,
    notes: str | os.PathLike[str] | None = None,
    issues: bool = False,
    browser: bool | None = None,
    static: bool | None = None,
    host: str = HOST,
    port: int = PORT,
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
        columns: A table with a row per image: the path of a CSV or Parquet file, or a data frame.
        notes: The SQLite file of tags and notes; ``GT.view.db`` beside the file of the ground truth if ``None``. It is
            made by the first note.
        issues: Whether to look for labels that are probably wrong, see :func:`ioukit.labels.find_label_errors`.
        browser: Whether to open the browser; by default unless in a notebook.
        static: Whether to start no server and to show a cut-out, a page with the first images of the filter; by default
            in a notebook whose browser cannot reach this machine, such as Colab, Kaggle, a JupyterHub or over SSH.
        host: The address to listen at. With others than ``127.0.0.1``, other machines can reach the page.
        port: The port to listen at; the next free one if it is taken.

    Raises:
        ValueError: If an evaluation holds a match table alone, the evaluations do not belong together, there are more
            than three, ``images`` is not a folder, the filter is unknown, or the machine has no such address.
        DatasetError: If the table of columns cannot be read.
        ModuleNotFoundError: If a package of the extra is not installed.
        OSError: If no port is free.
    """
    folder = None if images is None else Path(images)
    if folder is not None and not folder.is_dir():
        raise ValueError(f"images must be a folder, got {str(folder)!r}")
    check_installed()
    pairs = _filter_pairs((key, one) for key, value in (filter or {}).items() for one in _listed(value))
    key = _key(data, folder, columns, notes, issues, host, port)
    server = shared_server(key)
    if server is None:
        app, found = app_of(data, folder, columns=columns, notes=notes, issues=issues)
        for note in found:
            warnings.warn(note, stacklevel=2)
        if (in_notebook() and is_elsewhere()) if static is None else static:
            return Viewer(app, None, pairs)
        server = Server(app, host=host, port=port, frames=FRAMES)
        server.start()
        share_server(key, server)
    elif static:
        return Viewer(server.app, None, pairs)
    if browser or (browser is None and not in_notebook()):
        open_browser(server.address(urlencode(pairs), ticket=True))
    return Viewer(server.app, server, pairs)


def app_of(
    data: GroundTruth | Evaluation | Mapping[str, Evaluation],
    folder: Path | None = None,
    *,
    columns: Any = None,
    notes: str | os.PathLike[str] | None = None,
    issues: bool = False,
    iou_type: str = "bbox",
    protocol: Protocol | None = None,
    threads: int | None = None,
) -> tuple[App, tuple[str, ...]]:
    """What :func:`view` serves, and notes about the columns that a user should know.

    Args:
        data: As for :func:`view`.
        folder: The folder of the photographs.
        columns: As for :func:`view`.
        notes: As for :func:`view`.
        issues: As for :func:`view`.
        iou_type: The kind of region of ground truth alone.
        protocol: The rules of ground truth alone; those of the kind if ``None``.
        threads: How many threads; all cores if ``None``.

    Raises:
        ValueError, DatasetError: As :func:`view`.
    """
    truth, models = _sides(data)
    if len(models) > MOST_MODELS:
        raise ValueError(f"at most {MOST_MODELS} models can be shown, got {len(models)}")
    ids = next(iter(models.values())).matches.image_ids if models else None
    further = None if columns is None else user_columns(columns, truth, ids)
    suspicions = None
    if issues and models:
        from ioukit.viewer.issues import label_issues  # noqa: PLC0415 - for those who look for wrong labels

        suspicions = label_issues(list(models.values()), threads=threads)
    collection = Collection.of(
        truth,
        models,
        folder=folder,
        columns=() if further is None else further.values,
        issues=suspicions,
        iou_type=iou_type,
        protocol=protocol,
    )
    rows = collection.image_rows
    photographs = Photographs(folder, truth.images.names.take(rows), truth.images.sizes[rows])
    noting = Noting(collection, Notes(notes_file(truth.source) if notes is None else notes))
    return App(Views(collection, photographs, noting), photographs), () if further is None else further.notes


def filter_query(pairs: Iterable[tuple[str, Any]]) -> str:
    """The keys and values of a filter as the query of an address.

    Raises:
        ValueError: If a key or a value is unknown.
    """
    return urlencode(_filter_pairs(pairs))


def _filter_pairs(pairs: Iterable[tuple[str, Any]]) -> list[tuple[str, str]]:
    return Filter.parse([(key, str(value)) for key, value in pairs]).items()


def _listed(value: Any) -> Iterable[Any]:
    return value if isinstance(value, (list, tuple, set)) else [value]


def _key(data: Any, folder: Path | None, columns: Any, *rest: Any) -> tuple[Any, ...] | None:
    """What is equal for data that one server can show; ``None`` if that is not known.

    The server keeps the data, so that their ids stay theirs.
    """
    if not (columns is None or isinstance(columns, str | os.PathLike)):
        return None
    named = data.items() if isinstance(data, Mapping) else [("", data)]
    return (*((name, id(one)) for name, one in named), folder, columns, *rest)


def _sides(data: Any) -> tuple[GroundTruth, dict[str, Evaluation]]:
    """The ground truth, and the evaluations by the names of the models."""
    if isinstance(data, GroundTruth):
        return data, {}
    models = dict(data) if isinstance(data, Mapping) else {_name(data): data}
    if not models:
        raise ValueError("expected at least one model, got none: give the ground truth to look at it alone")
    truth = next(iter(models.values())).ground_truth
    if truth is None or any(one.detections is None for one in models.values()):
        raise ValueError("an evaluation holds a match table alone, without its data: keep the data to look at them")
    return truth, models


def _name(evaluation: Evaluation) -> str:
    source = "" if evaluation.detections is None else evaluation.detections.source
    return Path(source).stem or "detections"
