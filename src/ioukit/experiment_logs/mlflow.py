"""MLflow: metrics of a run, and figures and files as its artifacts."""

from __future__ import annotations

import contextlib
import re
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ioukit._optional import import_extra
from ioukit.experiment_logs.tracker import Channel, Tracker, is_module, is_of_class, renamed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ioukit.experiment_logs.figures import Picture


_REFUSED = r"[^/\w.\- ]"  # a colon, too, which MLflow refuses on Windows
_LONGEST = 250  # characters of a name
_MOST = 1000  # metrics of one request


class _Channel(Channel):
    def __init__(self, run: Any, step: int | None) -> None:
        self._client, self._run_id = _client_and_id(run)
        self._step = step

    def names(self, names: Iterable[str]) -> dict[str, str]:
        """Names are paths of letters, digits, spaces and ``_ - .``; the file store has no metric below another one."""
        new = renamed(names, _allowed, longest=_LONGEST)
        if not _is_file_store(str(self._client.tracking_uri)):
            return new
        known = set(new.values())
        flat = renamed(known, lambda name: name.replace("/", ".") if _is_below(name, known) else name)
        return {name: flat[path] for name, path in new.items()}

    def numbers(self, numbers: Mapping[str, float]) -> None:
        from mlflow.entities import Metric  # noqa: PLC0415 - whoever has a run has it

        now = int(time.time() * 1000)
        metrics = [Metric(name, value, now, self._step or 0) for name, value in numbers.items()]
        for start in range(0, len(metrics), _MOST):
            self._client.log_batch(self._run_id, metrics=metrics[start : start + _MOST])

    def figure(self, name: str, picture: Picture) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{_allowed(name.rpartition('/')[2])}.png"
            path.write_bytes(picture.png)
            self.file(name, path)

    def file(self, name: str, path: Path) -> None:
        folders = ["ioukit", *_allowed(name).split("/")[:-1]]
        if self._step is not None:
            folders.append(f"step_{self._step}")
        self._client.log_artifact(self._run_id, str(path), "/".join(folders))


def _allowed(name: str) -> str:
    parts = re.sub(_REFUSED, "_", name).split("/")
    return "/".join("_" if part in ("", ".", "..") else part for part in parts)


def _is_below(name: str, known: set[str]) -> bool:
    parts = name.split("/")
    return any("/".join(parts[:count]) in known for count in range(1, len(parts)))


def _is_file_store(uri: str) -> bool:
    return uri.startswith("file:") or ("://" not in uri and not uri.startswith(("databricks", "uc")))


def _recognises(run: Any) -> bool:
    if isinstance(run, tuple):
        return len(run) == 2 and is_of_class(run[0], "mlflow", "MlflowClient") and isinstance(run[1], str)
    return is_module(run, "mlflow") or is_of_class(run, "mlflow", "Run")


def _client_and_id(run: Any) -> tuple[Any, str]:
    if isinstance(run, tuple):
        return run
    mlflow = import_extra("mlflow", extra="mlflow", needed_by="log_to")
    if is_module(run, "mlflow"):
        run = mlflow.active_run() or mlflow.start_run()  # as mlflow.log_metric does
    return mlflow.MlflowClient(), run.info.run_id


@contextlib.contextmanager
def _started(address: str) -> Iterator[Any]:
    mlflow = import_extra("mlflow", extra="mlflow", needed_by="--log-to mlflow")
    if address:
        mlflow.set_tracking_uri(address)
    with mlflow.start_run() as run:
        yield run


TRACKER = Tracker(
    "MLflow",
    "the module mlflow, an mlflow.ActiveRun, or (MlflowClient(), run_id)",
    _recognises,
    _Channel,
    scheme="mlflow",
    started=_started,
)
