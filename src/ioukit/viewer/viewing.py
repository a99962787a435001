"""`ioukit.view`: the viewer from Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ioukit.datasets import GroundTruth
from ioukit.viewer.app import App
from ioukit.viewer.collection import Collection
from ioukit.viewer.photographs import Photographs
from ioukit.viewer.running import HOST, PORT, Server
from ioukit.viewer.views import Views

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from ioukit.evaluation import Evaluation

__all__ = ["server_of", "view"]


def view(
    data: GroundTruth | Evaluation | Mapping[str, Evaluation],
    images: str | os.PathLike[str] | None = None,
    *,
    host: str = HOST,
    port: int = PORT,
) -> Server:
    """Look through a data set and its detections in the browser.

    Args:
        data: Ground truth, an evaluation of it, or evaluations of up to three models on the same ground truth by their
            names.
        images: The folder of the photographs; outlines on sheets of the right size if ``None``.
        host: The address to listen at. Others than ``127.0.0.1`` let other machines reach it.
        port: The port to listen at; the next free one if it is taken.
    """
    return server_of(data, None if images is None else Path(images), host=host, port=port)


def server_of(data: Any, images: Path | None, *, host: str, port: int) -> Server:
    """The server of what :func:`view` shows; it listens, and does not answer yet."""
    truth, models = _sides(data)
    collection = Collection.of(truth, models, folder=images)
    names = truth.images.names.take(collection.image_rows)
    photographs = Photographs(images, names, truth.images.sizes[collection.image_rows])
    return Server(App(Views(collection, photographs), photographs), host=host, port=port)


def _sides(data: Any) -> tuple[GroundTruth, dict[str, Evaluation]]:
    if isinstance(data, GroundTruth):
        return data, {}
    models = dict(data) if hasattr(data, "items") else {"detections": data}
    truth = next(iter(models.values())).ground_truth
    if truth is None:
        raise ValueError("these evaluations hold match tables alone: keep the data")
    return truth, models
