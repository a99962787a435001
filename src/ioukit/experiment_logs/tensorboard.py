"""TensorBoard: scalars and images of a `SummaryWriter`, of PyTorch or of tensorboardX."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ioukit.experiment_logs.tracker import Channel, Tracker, is_of_class, renamed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ioukit.experiment_logs.figures import Picture


_REFUSED = r"[^-/\w.]"  # what tensorboardX replaces, too


class _Channel(Channel):
    def __init__(self, run: Any, step: int | None) -> None:
        self._writer, self._step = run, step
        self._notes: list[str] = []

    def names(self, names: Iterable[str]) -> dict[str, str]:
        """Tags have letters, digits and ``_ - . /``, so that both writers write the same."""
        return renamed(names, _allowed)

    def numbers(self, numbers: Mapping[str, float]) -> None:
        for name, value in numbers.items():
            self._writer.add_scalar(name, value, self._step)

    def figure(self, name: str, picture: Picture) -> None:
        self._writer.add_image(_allowed(name), picture.pixels, self._step, dataformats="HWC")

    def file(self, name: str, path: Path) -> None:
        """TensorBoard shows no pages: the file is copied into the folder of the writer."""
        folder = str(getattr(self._writer, "log_dir", None) or self._writer.logdir)
        if "://" in folder:
            raise OSError(f"{folder} is not a folder of this machine")
        end = "" if self._step is None else f"_step_{self._step}"
        target = Path(folder) / f"{re.sub('/', '_', _allowed(name))}{end}{path.suffix}"
        shutil.copyfile(path, target)
        self._notes.append(f"the report is in {target}")

    def close(self) -> None:
        self._writer.flush()

    def notes(self) -> list[str]:
        return self._notes


def _allowed(name: str) -> str:
    return re.sub(_REFUSED, "_", name).lstrip("/") or "_"


def _recognises(run: Any) -> bool:
    packages = ("torch.utils.tensorboard", "tensorboardX", "tensorboard")
    return any(is_of_class(run, package, "SummaryWriter") for package in packages)


TRACKER = Tracker("TensorBoard", "a SummaryWriter of torch.utils.tensorboard or tensorboardX", _recognises, _Channel)
