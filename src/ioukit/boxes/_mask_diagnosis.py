"""What looks wrong with masks? The answer names rows and a way to mend them, and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import _core
from ioukit._checks import check_positive
from ioukit.boxes.diagnosis import Diagnosis, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ioukit.boxes._mask_input import Parts
    from ioukit.boxes.diagnosis import Code, Severity
    from ioukit.boxes.masks import Masks

__all__ = ["diagnose_masks", "diagnose_records"]


def diagnose_masks(masks: Masks, image_size: tuple[float, float] | None) -> Diagnosis:
    """Of masks that are some."""
    rows = np.arange(len(masks))
    return Diagnosis(tuple(_findings(masks._parts, rows, len(masks), image_size)), len(masks), "mask")


def diagnose_records(records: Sequence[Any], image_size: tuple[float, float] | None) -> Diagnosis:
    """Of COCO's records, which may be no masks."""
    good, bad, parts, first = [], [], [], ""
    for row, record in enumerate(records):
        try:
            parts.append(_core.masks_from_rle([record], "records"))
            good.append(row)
        except (ValueError, TypeError, KeyError) as error:  # noqa: PERF203 - of each its own
            first = first or str(error.args[0]).partition("records[0]")[2].lstrip(": ")
            bad.append(row)
    found = []
    if bad:
        says = f"{len(bad)} of {_masks(len(records))} cannot be read; of the first: {first}"
        found.append(
            Finding("bad_runs", "error", says, "drop them, or see what wrote them: Masks refuse them", tuple(bad))
        )
    from ioukit.boxes._mask_input import joined  # noqa: PLC0415 - it reads boxes, which read this room's diagnosis

    found += _findings(joined(parts), np.array(good, np.int64), len(records), image_size)
    return Diagnosis(tuple(found), len(records), "mask")


def _findings(
    parts: Parts, rows: NDArray[np.int64], total: int, image_size: tuple[float, float] | None
) -> Iterator[Finding]:
    """Warnings, then notes; ``rows`` says where the masks stood among ``total``."""
    runs, offsets, sizes = parts

    def finding(code: Code, severity: Severity, where: NDArray[np.bool_], says: str, hint: str) -> Iterator[Finding]:
        if where.any():
            message = f"{int(where.sum())} of {_masks(total)} {says}"
            yield Finding(code, severity, message, hint, tuple(rows[where].tolist()))

    pixels = sizes.astype(np.int64).prod(axis=1)
    area = _core.mask_areas(*parts)
    if image_size is not None:
        width, height = image_size
        check_positive(width=width, height=height)
        other = (sizes != np.array([height, width])).any(axis=1)
        says = f"are not {height:g} x {width:g} (height x width), the size of the image"
        hint = "resize the pixels, or check whether height and width are swapped"
        yield from finding("other_size", "warning", other, says, hint)
    hint = "drop them: IoU with them is 0 (masks[~masks.is_empty])"
    yield from finding("empty_mask", "warning", area == 0, "have no pixel", hint)
    hint = "see whether foreground and background are swapped, or a crop left only the object"
    yield from finding("full_mask", "warning", (area == pixels) & (pixels > 0), "cover their whole image", hint)
    seen: set[tuple[bytes, bytes]] = set()
    again = np.zeros(len(sizes), np.bool_)
    for index in range(len(sizes)):
        key = (sizes[index].tobytes(), runs[offsets[index] : offsets[index + 1]].tobytes())
        again[index] = key in seen
        seen.add(key)
    hint = "drop them if they are of one image, class and score"
    yield from finding("duplicate", "note", again, "repeat an earlier one", hint)


def _masks(count: int) -> str:
    return f"{count:,} mask" if count == 1 else f"{count:,} masks"
