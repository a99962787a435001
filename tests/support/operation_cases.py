"""Small random data sets for merging, choosing and renaming, and what their objects are called."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from ioukit import GroundTruth

__all__ = ["data_sets", "objects", "quick"]

quick = settings(max_examples=150, derandomize=True, deadline=None)

CLASSES = ["cat", "dog", "Dog", "bus"]


@st.composite
def data_sets(draw: st.DrawFn, *, keyed: bool | None = None) -> GroundTruth:
    """A small data set, some of whose images have names that other data sets have, too."""
    keyed = draw(st.booleans()) if keyed is None else keyed
    names = draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4, unique=True))
    ids: list[Any] = names
    if not keyed:
        ids = draw(st.lists(st.integers(1, 6), min_size=len(names), max_size=len(names), unique=True))
    classes = draw(st.lists(st.sampled_from(CLASSES), min_size=1, max_size=3, unique=True))
    numbers = draw(st.lists(st.integers(1, 5), min_size=len(classes), max_size=len(classes), unique=True))
    count = draw(st.integers(0, 5))

    def rows(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=count, max_size=count))

    extra: dict[str, Any] = {}
    if draw(st.booleans()):
        extra["segmentations"] = rows(st.sampled_from([None, [[0, 0, 4, 0, 4, 4]]]))
    if draw(st.booleans()):
        extra["keypoints"] = np.array(rows(st.sampled_from([[[1, 2, 2], [0, 0, 0]]])), np.float64).reshape(-1, 2, 3)
    if draw(st.booleans()):
        extra["attributes"] = {"occlusion": rows(st.floats(0, 1)), "colour": rows(st.sampled_from(["red", "blue"]))}
    return GroundTruth.from_arrays(
        ids=draw(st.lists(st.integers(1, 9), min_size=count, max_size=count, unique=True)),
        image_ids=np.array(rows(st.sampled_from(ids)), np.str_ if keyed else np.int64),
        category_ids=rows(st.sampled_from(numbers)),
        boxes=np.array(rows(st.tuples(*[st.integers(0, 9)] * 4)), np.float64).reshape(-1, 4),
        flags={"crowd": rows(st.booleans()), "difficult": rows(st.booleans())},
        images=np.array(ids),
        names=[f"{name}.jpg" for name in names],
        sizes=[(640, 480)] * len(names),
        categories=dict(zip(numbers, classes, strict=True)),
        **extra,
    )


def objects(gt: GroundTruth) -> list[tuple[Any, ...]]:
    """Each object by what people call things: image, class, box and the rest, without ids."""
    names = dict(zip(gt.images.ids.tolist(), gt.images.names, strict=True))
    classes = dict(zip(gt.categories.ids.tolist(), gt.categories.names, strict=True))
    masks = [None] * len(gt) if gt.segmentations is None else list(gt.segmentations)
    return [
        (names[image], classes[number], *box, crowd, difficult, str(mask))
        for image, number, box, crowd, difficult, mask in zip(
            gt.image_ids.tolist(),
            gt.category_ids.tolist(),
            gt.boxes.tolist(),
            gt.crowd.tolist(),
            gt.flag("difficult").tolist(),
            masks,
            strict=True,
        )
    ]
