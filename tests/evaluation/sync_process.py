"""One of the processes of `test_evaluator_sync.py`: runs all cases in groups of 1, 2 and 4, and writes what it got."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.loop_batches import Image, batch_of, random_images
from ioukit import Evaluator

if TYPE_CHECKING:
    from collections.abc import Callable

    from ioukit import Evaluation

__all__ = ["CASES", "IMAGES", "digest", "filled", "loop_images"]

IMAGES = 21
SIZES = (1, 2, 4)


def loop_images() -> list[Image]:
    return random_images(11, IMAGES, classes=4)


def digest(evaluation: Evaluation) -> str:
    """All bits of the curves and of the match table, but for positions in the data."""
    found = hashlib.sha256()
    table = evaluation.matches
    for array in (evaluation.precision, evaluation.recall, evaluation.scores, table.image_ids, table.categories.ids):
        found.update(np.ascontiguousarray(array).tobytes())
    for rows in (table.detections, table.objects, table.pairs):
        for name in rows.column_names():
            if name not in ("row", "id") and (column := getattr(rows, name)) is not None:
                found.update(np.ascontiguousarray(column).tobytes())
    found.update(json.dumps(dict(evaluation.summary)).encode())
    return found.hexdigest()


def filled(images: list[Image], ids: list[int] | None, **settings: Any) -> Evaluator:
    """An evaluator with some images, in batches of three."""
    evaluator = Evaluator(**settings)
    for start in range(0, len(images), 3):
        named = None if ids is None else ids[start : start + 3]
        evaluator.update(*batch_of(images[start : start + 3]), image_ids=named)
    return evaluator


def share_of(rank: int, size: int) -> list[int]:
    """As a DistributedSampler: the first images come again, so that all processes have as many."""
    every = list(range(IMAGES))
    every += every[: -len(every) % size]
    return every[rank::size]


def padded(rank: int, size: int, group: Any) -> Any:
    share = share_of(rank, size)
    evaluator = filled([loop_images()[place] for place in share], [50 - place for place in share], near=0.1)
    evaluator.sync(group)
    first = digest(evaluator.compute())
    evaluator.sync(group)  # adds up anew
    assert digest(evaluator.compute()) == first
    assert len(evaluator) == IMAGES
    return first, list(evaluator.compute().notes)


def numbered(rank: int, size: int, group: Any) -> Any:
    """The last process has no image if there are several."""
    parts = max(size - 1, 1)
    share = [] if rank >= parts else list(range(IMAGES))[rank * IMAGES // parts : (rank + 1) * IMAGES // parts]
    evaluator = filled([loop_images()[place] for place in share], None)
    with evaluator.synced(group):
        pass
    table = evaluator.compute().matches
    assert sorted(table.objects.id.tolist()) == list(range(1, len(table.objects) + 1))
    return digest(evaluator.compute())


def other_categories(rank: int, size: int, group: Any) -> Any:
    """The processes see different categories."""
    images = [(found, there) for place, (found, there) in enumerate(moved_labels()) if place % size == rank]
    evaluator = filled(images, [place for place in range(IMAGES) if place % size == rank])
    evaluator.sync(group)
    return digest(evaluator.compute())


def moved_labels() -> list[Image]:
    return [
        (
            {**found, "labels": found["labels"] + 10 * (place % 4)},
            {**there, "labels": there["labels"] + 10 * (place % 4)},
        )
        for place, (found, there) in enumerate(loop_images())
    ]


def failed_loop(rank: int, size: int, group: Any) -> Any:
    """The last process refuses a batch."""
    evaluator = filled(loop_images()[rank : rank + 2], [rank, 100 + rank])
    message = "nothing"
    try:
        with evaluator.synced(group):
            if rank == size - 1:
                evaluator.update(
                    [{"boxes": [[5, 5, 1, 1]], "scores": [1], "labels": [1]}], [{"boxes": [], "labels": []}]
                )
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
    assert len(evaluator) == 2  # its own images alone
    return message


def failed_matching(rank: int, size: int, group: Any) -> Any:
    """The last process fails while it matches; after that, the group still works."""
    evaluator = filled(loop_images()[rank : rank + 1], [rank])
    if rank == size - 1:
        state = evaluator._images.state
        evaluator._images.state = failing  # type: ignore[method-assign]
    message = "nothing"
    try:
        evaluator.sync(group)
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
    if rank == size - 1:
        evaluator._images.state = state  # type: ignore[method-assign]
    evaluator.sync(group)
    assert len(evaluator) == size
    return message


def failing() -> Any:
    raise MemoryError("no room")


def going_on(rank: int, size: int, group: Any) -> Any:
    """Images come after a sync, then another sync."""
    share = list(range(IMAGES))[rank::size]
    some, rest = share[:2], share[2:]
    evaluator = filled([loop_images()[place] for place in some], some)
    evaluator.sync(group)
    assert len(evaluator) == min(2 * size, IMAGES)
    evaluator.compute()
    evaluator.update(*batch_of([loop_images()[place] for place in rest]), image_ids=rest)
    assert len(evaluator) == len(share)
    evaluator.sync(group)
    return digest(evaluator.compute())


def some_with_ids(rank: int, size: int, group: Any) -> Any:  # noqa: ARG001 - as the other cases
    evaluator = filled(loop_images()[rank : rank + 1], [rank] if rank else None)
    try:
        evaluator.sync(group)
    except ValueError as error:
        return str(error)
    return len(evaluator)


def nobody_has_images(rank: int, size: int, group: Any) -> Any:  # noqa: ARG001 - as the other cases
    evaluator = filled([], None)
    evaluator.sync(group)
    try:
        evaluator.compute()
    except ValueError as error:
        return str(error)
    return "computed"


CASES: dict[str, Callable[[int, int, Any], Any]] = {
    case.__name__: case
    for case in (
        *(padded, numbered, other_categories, failed_loop, failed_matching),
        *(going_on, some_with_ids, nobody_has_images),
    )
}


def main(rank: int, world: int, folder: Path) -> None:
    """Run all cases."""
    from torch import distributed  # noqa: PLC0415 - the parent of the processes runs without it

    distributed.init_process_group(
        "gloo", init_method=f"file://{folder / 'meeting'}", rank=rank, world_size=world, timeout=timedelta(seconds=60)
    )
    groups = {size: distributed.new_group(list(range(size))) for size in SIZES}
    results: dict[str, Any] = {}
    for size, group in groups.items():
        if rank < size:
            chosen = None if size == world else group
            for name, case in CASES.items():
                results[f"{name} {size}"] = case(rank, size, chosen)
    (folder / f"{rank}.json").write_text(json.dumps(results), encoding="utf-8")
    distributed.barrier()
    if rank == world - 1:
        os._exit(0)  # dies before it comes to sync
    evaluator = filled(loop_images()[rank : rank + 1], [rank])
    try:
        evaluator.sync()
        results["dead"] = "added up"
    except RuntimeError as error:
        results["dead"] = f"{type(error).__name__}: {error}"
    assert len(evaluator) == 1
    (folder / f"{rank}.json").write_text(json.dumps(results), encoding="utf-8")
    os._exit(0)  # the group cannot be taken down without the process that died


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
