"""Names of files for the images of a data set, for formats that have a file for each image."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ioukit.datasets.formats.text_files import abbreviate
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from ioukit.datasets.columns.ground_truth import GroundTruth

__all__ = ["image_file_names"]


def image_file_names(ground_truth: GroundTruth) -> list[str]:
    """The name of the file of each image: that of the data set, or the id of the image if it has none.

    Raises:
        DatasetError: If a name leads out of the folder or cannot be that of a file, or two differ by the suffix alone.
    """
    names = []
    stems: dict[str, str] = {}
    images = ground_truth.images
    for given, label in zip(images.names, images.labels.tolist(), strict=True):
        name = (given or str(label)).replace("\\", "/")
        where = f"{ground_truth.source}: image {label!r}"
        parts = name.split("/")
        if not all(parts) or set(parts) & {".", ".."} or ":" in parts[0] or not name.isprintable():
            raise DatasetError(f"{where}: expected the name of a file inside a folder, found {abbreviate(name)}")
        stem = os.path.splitext(name)[0]
        if stem in stems:
            raise DatasetError(
                f"{where}: expected names that differ but for the suffix, found {name} and {stems[stem]}"
            )
        stems[stem] = name
        names.append(name)
    return names
