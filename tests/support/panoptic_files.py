"""Panoptic data as COCO's files: JSON and a folder of PNG."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["colours", "write_panoptic"]


def colours(ids: Any) -> Any:
    """(H, W, 3) uint8 of (H, W) ids."""
    return np.stack([ids % 256, ids // 256 % 256, ids // 65536], axis=-1).astype(np.uint8)


def write_panoptic(path: Path, data: dict[Any, Any], categories: list[dict[str, Any]] | None = None) -> Path:
    """Writes ``{image_id: (ids, segments_info)}``; the PNG files go into the folder of the same name."""
    pil = pytest.importorskip("PIL.Image", reason="PNG files need Pillow: pip install 'ioukit[shapes]'")
    folder = path.with_suffix("")
    folder.mkdir()
    document: dict[str, Any] = {"images": [], "annotations": []}
    if categories is not None:
        document["categories"] = categories
    for image, (ids, segments) in data.items():
        pil.fromarray(colours(np.asarray(ids))).save(folder / f"{image}.png")
        height, width = np.shape(ids)
        document["images"].append({"id": image, "file_name": f"{image}.jpg", "height": height, "width": width})
        document["annotations"].append({"image_id": image, "file_name": f"{image}.png", "segments_info": segments})
    path.write_text(json.dumps(document), encoding="utf-8")
    return path
