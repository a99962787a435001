"""Masks as detectors return them: pixels, probabilities or records of RLE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ioukit.datasets.formats.text_files import abbreviate, refuse
from ioukit.datasets.predictions.prediction import array_of
from ioukit.regions.masks import Masks

__all__ = ["masks_of"]


def masks_of(value: Any, where: str, *, threshold: float = 0.5) -> Masks:
    """The masks of one image.

    Args:
        value: :class:`~ioukit.Masks`, N records of RLE, or (N, H, W) or (N, 1, H, W) pixels of any library: bools,
            integers, of which 0 is outside, or probabilities.
        where: Their place in messages.
        threshold: A pixel belongs to a mask if its probability is above this number.

    Raises:
        DatasetError: If they are something else.
    """
    if isinstance(value, Masks):
        return value
    if isinstance(value, Sequence) and all(isinstance(one, Mapping) for one in value):
        try:
            return Masks.from_rle(value)
        except (ValueError, TypeError, KeyError) as error:
            refuse(where, "records of RLE", str(error))
    pixels = array_of(value, where)
    if pixels.ndim == 4 and pixels.shape[1] == 1:
        pixels = pixels[:, 0]
    if pixels.size == 0 and (pixels.ndim < 3 or len(pixels) == 0):
        return Masks.from_rle([])
    if pixels.ndim != 3 or pixels.dtype.kind not in "biuf":
        refuse(where, "pixels of shape (N, H, W)", f"shape {pixels.shape} of dtype {pixels.dtype}")
    if pixels.dtype.kind == "f":
        if np.isnan(pixels).any():
            refuse(where, "probabilities", abbreviate("NaN"))
        pixels = pixels > threshold
    elif pixels.dtype not in (np.bool_, np.uint8):
        pixels = pixels != 0
    return Masks.from_arrays(pixels)
