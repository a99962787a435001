"""What looks wrong with masks, and with COCO's records that may not be valid masks?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import _core
from ioukit.checks.diagnosis._common_rules import check_image_size, duplicates, repeated_keys
from ioukit.checks.diagnosis.findings import Collector
from ioukit.regions._mask_input import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.checks.diagnosis.findings import Diagnosis, Mask
    from ioukit.regions._mask_input import Parts
    from ioukit.regions.masks import Masks


def diagnose_masks(masks: Masks, *, image_size: tuple[float, float] | None = None) -> Diagnosis:
    """Findings about masks.

    - ``other_size``: the size is not that of the image, if that is known.
    - ``empty_mask``: no pixel is foreground. ``full_mask``: all pixels are.
    - ``duplicate``: size and pixels equal those of an earlier mask.

    Args:
        masks: The masks.
        image_size: (width, height) in pixels, if all masks are from images of one size.
    """
    check_image_size(image_size)
    found = Collector(len(masks), "mask")
    _collect(found, masks._parts, np.ones(len(masks), np.bool_), image_size)
    return found.diagnosis()


def diagnose_records(records: Sequence[Any], image_size: tuple[float, float] | None) -> Diagnosis:
    """Findings about COCO's records: ``bad_runs`` for records that `Masks.from_rle` refuses, and those of masks."""
    check_image_size(image_size)
    found = Collector(len(records), "mask")
    readable, parts, first = np.ones(len(records), np.bool_), [], ""
    for row, record in enumerate(records):
        try:
            parts.append(_core.masks_from_rle([record], "records"))
        except (ValueError, TypeError, KeyError) as error:  # noqa: PERF203 - each record has its own error
            first = first or str(error.args[0]).partition("records[0]")[2].lstrip(": ")
            readable[row] = False
    hint = "drop them, or fix the program that wrote them: Masks refuse them"
    found.add("bad_runs", "error", ~readable, f"cannot be read; the first: {first}", hint)
    _collect(found, joined(parts), readable, image_size)
    return found.diagnosis()


def _collect(found: Collector, parts: Parts, readable: Mask, image_size: tuple[float, float] | None) -> None:
    """Adds the findings about the masks of the readable rows."""
    runs, offsets, sizes = parts

    def rows(which: Mask) -> Mask:
        among_all = np.zeros(found.count, np.bool_)
        among_all[readable] = which
        return among_all

    pixels = sizes.astype(np.int64).prod(axis=1)
    area = _core.mask_areas(*parts)
    if image_size is not None:
        width, height = image_size
        other = (sizes != np.array([height, width])).any(axis=1)
        says = f"are not {height:g} x {width:g} (height x width), the size of the image"
        hint = "resize the masks, or check whether height and width are swapped"
        found.add("other_size", "warning", rows(other), says, hint)
    hint = "drop them: IoU with them is 0 (Masks.drop_empty)"
    found.add("empty_mask", "warning", rows(area == 0), "have no pixel", hint)
    hint = "check whether foreground and background are swapped, or the image was cropped to the object"
    found.add("full_mask", "warning", rows((area == pixels) & (pixels > 0)), "cover their whole image", hint)
    keys = [(sizes[at].tobytes(), runs[offsets[at] : offsets[at + 1]].tobytes()) for at in range(len(sizes))]
    duplicates(found, rows(repeated_keys(keys)))
