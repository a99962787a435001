"""The log of a training: a row per epoch, as CSV and for TensorBoard."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ioukit._output import write_whole


@dataclass(frozen=True)
class Epoch:
    """One row of the log.

    Attributes:
        epoch: The number of the epoch, from 1 on.
        seconds: Time since the training began, without pauses.
        lr: The learning rate at the end of the epoch.
        losses: Means over the epoch, by name; ``total`` is the loss that was minimised.
        summary: COCO's numbers; empty if the epoch was not evaluated.
    """

    epoch: int
    seconds: float
    lr: float
    losses: dict[str, float]
    summary: dict[str, float]

    def row(self) -> dict[str, float]:
        """All numbers by name."""
        return {"epoch": self.epoch, "seconds": round(self.seconds, 3), "lr": self.lr, **self.losses, **self.summary}


def write_log(path: Path, log: list[Epoch]) -> None:
    """Writes a CSV file with one line per epoch; missing numbers are empty."""
    columns = list(dict.fromkeys(name for row in log for name in row.row()))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    writer.writerows(row.row() for row in log)
    write_whole(path, text.getvalue())


def to_tensorboard(folder: Path, row: Epoch) -> None:
    """Adds the finite numbers of an epoch to the event files in ``folder/tensorboard``, if TensorBoard is installed."""
    if find_spec("tensorboard") is None:
        return
    from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 - an optional package, slow to import

    with SummaryWriter(str(folder / "tensorboard")) as writer:
        for name, value in row.row().items():
            if name != "epoch" and math.isfinite(value):
                writer.add_scalar(name, value, row.epoch)
