"""A rule about rows that repeat an earlier one, such as those of a padded sampler."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit.checks.diagnosis.data_sets import first_of_each
from ioukit.checks.repairs.repair import Repair
from ioukit.checks.suspicion import Suspicion, examples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ioukit.checks.case import Case
    from ioukit.checks.repairs.repair import Side

__all__ = ["duplicates"]


def duplicates(case: Case) -> Iterator[Suspicion]:
    """Annotations with equal image, class and box; detections with an equal score, too."""
    sides: list[tuple[Side, str]] = [("ground_truth", "annotations")]
    if case.data.detections is not None:
        sides.append(("detections", "detections"))
    for side, name in sides:
        data = case.data.of(side)
        first = first_of_each(data)
        count = int((~first).sum())
        if not count:
            continue
        labels = data.image_labels()
        images, where = np.unique(labels, return_inverse=True)
        repeated, all_of = np.bincount(where[~first], minlength=len(images)), np.bincount(where)
        whole = images[(repeated > 0) & (2 * repeated >= all_of)]
        of_images = f"; {len(whole):,} images have all their {name} at least twice, as a padded sampler leaves them"
        yield Suspicion(
            f"repeated_{name}", "sure",
            f"{count:,} of {len(data):,} {name} repeat an earlier one{of_images if len(whole) > 1 else ''}",
            count, len(data), "leave them out", examples(images[repeated > 0].tolist()),
            tuple(images[repeated > 0].tolist()), Repair("duplicates", side=side), must_improve=False,
        )  # fmt: skip
