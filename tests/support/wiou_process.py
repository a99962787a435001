"""A process of a distributed training that moves the running mean of Wise-IoU.

A spawned process imports the module of the function that it runs. It finds `support`, because the folder of the tests
is on the inherited path. It does not find the test files, because pytest imports them under other names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ioukit.torch.losses import WIoULoss

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from ioukit.typing import FloatArray

__all__ = ["move_mean"]


def move_mean(rank: int, processes: int, store: str, pred: FloatArray, target: FloatArray, result: Connection) -> None:
    """Moves the mean by this process's part of the boxes and sends it.

    Args:
        rank: The number of this process.
        processes: How many there are.
        store: A file that does not exist yet, through which they find each other.
        pred: (N, 4) predicted boxes of this process.
        target: (N, 4).
        result: The end of a pipe for the mean. A queue would send it from a thread of its own, which waits for ever if
            Gloo's end hangs.
    """
    torch.distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=processes)
    loss = WIoULoss(momentum=0.5)
    loss(torch.from_numpy(pred), torch.from_numpy(target))
    result.send(loss.running_mean.item())
    torch.distributed.destroy_process_group()
