"""The shape of the network from the options of `ioukit train` and the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ioukit.torch.detector.data import Data
    from ioukit.torch.detector.model import Config

__all__ = ["ANCHORS", "NetworkShape"]

ANCHORS = ("fit", "coco")


@dataclass(frozen=True)
class NetworkShape:
    """The options that decide the shape of a network.

    Raises:
        ValueError: If `anchors` is not one of `ANCHORS`.
    """

    size: int
    head: str
    width: float
    depth: float
    anchors: str

    def __post_init__(self) -> None:
        if self.anchors not in ANCHORS:
            raise ValueError(f"unknown anchors {self.anchors!r}; choose from {', '.join(ANCHORS)}")

    def config(self, data: Data, *, seed: int) -> Config:
        """The config for the classes of a data set and, with ``--anchors fit``, for its boxes.

        Raises:
            ValueError: If an option is out of its range, or there are too few boxes to fit anchors to.
        """
        import numpy as np  # noqa: PLC0415

        from ioukit.anchors import fit_anchors  # noqa: PLC0415
        from ioukit.torch.detector.model import COCO_ANCHORS, Config  # noqa: PLC0415

        anchors: Any = tuple(
            tuple((w * self.size / 416, h * self.size / 416) for w, h in scale) for scale in COCO_ANCHORS
        )
        if self.anchors == "fit" and self.head == "anchor":
            sides = [
                (record.boxes[:, 2:] - record.boxes[:, :2]) * (self.size / max(record.size)) for record in data.records
            ]
            fitted = fit_anchors(np.concatenate(sides), 9, seed=seed).anchors
            rows = [tuple(row) for row in np.round(fitted, 2).tolist()]
            anchors = (tuple(rows[:3]), tuple(rows[3:6]), tuple(rows[6:]))
        return Config(
            num_classes=len(data.names), head=self.head, image_size=(self.size, self.size), width=self.width,  # type: ignore[arg-type]
            depth=self.depth, anchors=anchors, names=data.names,
        )  # fmt: skip
