"""Training: `train` runs the epochs, judges each by COCO's numbers, and can go on where it was stopped.

Everything random follows from the seed, the epoch and the number of the image, and a checkpoint holds the weights,
their running mean, the optimizer and the count of steps: on a CPU, a run that was killed and resumed ends with the same
bits as one that was not.

With ``torchrun --nproc-per-node N`` each process takes its share of every batch, gradients are those of the whole
batch, and the first one judges and writes. Only activations are normalised by the images of a share alone.
"""

from __future__ import annotations

import csv
import json
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias

import torch
from torch import nn

from ioukit.evaluation import Evaluation, evaluate
from ioukit.torch.detector.batches import Augmentation, Batch, loader
from ioukit.torch.detector.checkpoint import load_state, save_model, save_state
from ioukit.torch.detector.data import Data
from ioukit.torch.detector.learning import Learning
from ioukit.torch.detector.model import YOLO, Config
from ioukit.torch.detector.predict import detections_of

__all__ = ["Epoch", "Settings", "Training", "train"]

OnStep: TypeAlias = Callable[[int, int, int, dict[str, float]], None]
"""Called with epoch, step, steps an epoch and the losses."""

STATE, LAST, BEST, LOG, SETTINGS = "state.pt", "last.safetensors", "best.safetensors", "log.csv", "settings.json"


@dataclass(frozen=True)
class Settings:
    """How to train.

    Attributes:
        epochs: How often every image is seen.
        batch: Images a step, over all processes.
        optimizer: ``"sgd"`` (with Nesterov's momentum 0.9) or ``"adamw"``.
        lr: The learning rate after the warm-up.
        final_lr: The last one, in parts of ``lr``; a cosine lies between.
        weight_decay: Of the kernels; shifts, scales and normalisations have none.
        warmup: Epochs in which the learning rate rises from 0.
        ema: Decay a step of the running mean of the weights, which is what is judged and kept. It starts lower.
        clip: The largest norm of the gradient.
        loss: The overlap that boxes learn by: a name of `ioukit.torch.detector.learning.BOX_LOSSES`.
        assigner: Which guesses learn which object: a name of `ioukit.torch.detector.learning.ASSIGNERS`; by default
            ``"yolov3"`` for the anchor head and ``"task_aligned"`` for the other.
        augmentation: What is changed at random.
        plain_epochs: The last epochs, without mosaics.
        amp: Convolutions in bfloat16 where the device is quicker with it: GPUs since Ampere, CPUs with AMX.
        seed: Of everything random.
        workers: Processes that read images.
        judge_every: Epochs between two evaluations; the last one always has one.
        save_steps: Steps between two states to resume from; each epoch ends with one anyway.
        device: Such as ``"cpu"`` or ``"cuda"``; by default CUDA if there is one.
    """

    epochs: int = 60
    batch: int = 16
    optimizer: Literal["sgd", "adamw"] = "adamw"
    lr: float = 2e-3
    final_lr: float = 0.02
    weight_decay: float = 0.02
    warmup: float = 2.0
    ema: float = 0.998
    clip: float = 10.0
    loss: str = "ciou"
    assigner: str | None = None
    augmentation: Augmentation = field(default_factory=Augmentation)
    plain_epochs: int = 5
    amp: bool = True
    seed: int = 1
    workers: int = 0
    judge_every: int = 1
    save_steps: int = 1000
    device: str | None = None

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "judge_every", "save_steps"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.optimizer not in ("sgd", "adamw"):
            raise ValueError(f"unknown optimizer {self.optimizer!r}; choose from sgd, adamw")


@dataclass(frozen=True)
class Epoch:
    """A line of the log.

    Attributes:
        epoch: Counted from 1.
        seconds: Since the training began, pauses left out.
        lr: At the end of the epoch.
        losses: Means over the epoch, by name; ``total`` is what was followed.
        summary: COCO's numbers, or nothing if the epoch was not judged.
    """

    epoch: int
    seconds: float
    lr: float
    losses: dict[str, float]
    summary: dict[str, float]

    def row(self) -> dict[str, float]:
        """All numbers in one."""
        return {"epoch": self.epoch, "seconds": round(self.seconds, 3), "lr": self.lr, **self.losses, **self.summary}


@dataclass(frozen=True)
class Training:
    """What a training leaves behind.

    Attributes:
        folder: With ``best.safetensors`` and ``last.safetensors`` (the running mean of the weights), ``state.pt`` (to
            resume), ``log.csv``, ``settings.json``.
        epochs: The log.
        evaluation: Of the last epoch, on the held-out images.
    """

    folder: Path
    epochs: tuple[Epoch, ...]
    evaluation: Evaluation


def train(
    training: Data,
    held_out: Data,
    config: Config,
    folder: str | os.PathLike[str],
    settings: Settings | None = None,
    *,
    resume: bool = False,
    start_from: YOLO | None = None,
    on_step: OnStep | None = None,
    on_epoch: Callable[[Epoch], None] | None = None,
) -> Training:
    """Trains a detector.

    Args:
        training: What it learns from, at least one batch.
        held_out: What it is judged by.
        config: The network.
        folder: Where the results go; it must be new unless ``resume``.
        settings: How to train.
        resume: Go on with the state in ``folder``, which must be of the same config and settings, but for ``epochs``'s
            sake none may differ: the learning rate depends on all of them.
        start_from: A network of the same config whose weights to begin with.
        on_step: Called after each step with epoch, step, steps an epoch and the losses.
        on_epoch: Called after each epoch.

    Raises:
        ValueError: If there is less than one batch, the folder is in use, or the state is of another training.
        FloatingPointError: If the loss is no longer finite: with the epoch and step. The last state stays as it is.
    """
    settings = settings or Settings()
    folder = Path(folder)
    with _processes(settings) as (rank, world):
        run = _Run(training, held_out, config, folder, settings, rank, world, start_from)
        run.begin(resume)
        return run.epochs(on_step, on_epoch)


class _Run:
    """One training while it lasts."""

    def __init__(
        self,
        training: Data,
        held_out: Data,
        config: Config,
        folder: Path,
        settings: Settings,
        rank: int,
        world: int,
        start_from: YOLO | None,
    ) -> None:
        if len(training) < settings.batch:
            raise ValueError(
                f"batch must be at most the {len(training)} images there are to learn from, got {settings.batch}"
            )
        self.training, self.held_out, self.folder, self.settings = training, held_out, folder, settings
        self.rank, self.world = rank, world
        self.device = torch.device(settings.device or ("cuda" if torch.cuda.is_available() else "cpu"))
        if self.device.type == "cuda" and world > 1:
            self.device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", rank)))
        torch.manual_seed(settings.seed)
        self.model = YOLO(config)
        if start_from is not None:
            self.model.load_state_dict(start_from.state_dict())
        self.model.to(self.device)
        self.mean = _RunningMean(self.model, settings.ema)
        self.half = settings.amp and _quick_in_bfloat16(self.device)
        self.learning = Learning(config, loss=settings.loss, assigner=settings.assigner)
        self.optimizer = _optimizer(self.model, settings)
        self.steps = len(training) // settings.batch
        self.epoch = self.step = 0  # the next to do
        self.seconds = 0.0
        self.sums: dict[str, float] = {}
        self.log: list[Epoch] = []
        self.best = -1.0

    def begin(self, resume: bool) -> None:
        said = {"config": self.model.config.to_dict(), "settings": asdict(self.settings), "names": self.training.names}
        said = json.loads(json.dumps(said))
        path = self.folder / SETTINGS
        if resume:
            if not (self.folder / STATE).is_file():
                raise ValueError(f"there is nothing to resume in {self.folder}: it has no {STATE}")
            kept = json.loads(path.read_text(encoding="utf-8"))
            differ = [name for part in said for name in _differences(part, kept.get(part), said[part])]
            if differ:
                raise ValueError(f"{self.folder} holds another training: {'; '.join(differ)}")
            self._restore(load_state(self.folder / STATE, self.device))
            return
        if self.folder.exists() and any(self.folder.iterdir()):
            raise ValueError(f"{self.folder} is not empty: name a new folder, or resume")
        if self.world > 1:
            torch.distributed.barrier()  # all have looked before the first one writes
        if self.rank == 0:
            self.folder.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")

    def epochs(
        self,
        on_step: OnStep | None,
        on_epoch: Callable[[Epoch], None] | None,
    ) -> Training:
        network: nn.Module = self.model
        if self.world > 1:
            network = nn.parallel.DistributedDataParallel(self.model)
        evaluation: Evaluation | None = None
        while self.epoch < self.settings.epochs:
            start = time.perf_counter()
            self._learn(network, on_step)
            last = self.epoch + 1 == self.settings.epochs
            evaluation = None
            if self.rank == 0 and (last or (self.epoch + 1) % self.settings.judge_every == 0):
                evaluation = self.judge()
            self.seconds += time.perf_counter() - start
            row = self._close_epoch(evaluation)
            if on_epoch is not None and self.rank == 0:
                on_epoch(row)
        if self.rank == 0 and evaluation is None:  # resumed when all was done
            evaluation = self.judge()
        assert evaluation is not None or self.rank
        return Training(self.folder, tuple(self.log), evaluation)  # type: ignore[arg-type]

    def _learn(self, network: nn.Module, on_step: OnStep | None) -> None:
        settings, augmentation = self.settings, self.settings.augmentation
        if self.epoch >= settings.epochs - settings.plain_epochs:
            augmentation = Augmentation(**{**asdict(augmentation), "mosaic": 0.0})
        batches = loader(
            self.training, self.model.config.image_size, batch=settings.batch, epoch=self.epoch, seed=settings.seed,
            augmentation=augmentation, start=self.step, workers=settings.workers, rank=self.rank, world=self.world,
        )  # fmt: skip
        network.train()
        for batch in batches:
            losses = self._one_step(network, Batch(*(part.to(self.device, non_blocking=True) for part in batch)))
            for name, value in losses.items():
                self.sums[name] = self.sums.get(name, 0.0) + value
            self.step += 1
            if on_step is not None and self.rank == 0:
                on_step(self.epoch + 1, self.step, self.steps, losses)
            if self.step % settings.save_steps == 0 and self.step < self.steps:
                self._save_state()

    def _one_step(self, network: nn.Module, batch: Batch) -> dict[str, float]:
        for group in self.optimizer.param_groups:
            group["lr"] = self._learning_rate()
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.half):
            outputs = network(batch.images.float() / 255)
        losses = self.learning(outputs, batch)  # in float32
        total = losses["total"]
        if not torch.isfinite(total):
            raise FloatingPointError(
                f"the loss is {total.item():g} in epoch {self.epoch + 1}, step {self.step + 1}: a lower learning rate "
                f"or a longer warm-up helps; {self.folder} keeps the last state"
            )
        self.optimizer.zero_grad(set_to_none=True)
        total.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        self.optimizer.step()
        self.mean.follow(self.model, self.epoch * self.steps + self.step + 1)
        return {name: float(value.detach()) for name, value in losses.items()}

    def _learning_rate(self) -> float:
        """Up from 0 along a line, down along a cosine."""
        settings = self.settings
        done = (self.epoch * self.steps + self.step + 1) / self.steps  # epochs
        if done < settings.warmup:
            return settings.lr * done / settings.warmup
        part = (done - settings.warmup) / max(settings.epochs - settings.warmup, 1e-9)
        cosine = (1 + math.cos(math.pi * min(part, 1.0))) / 2
        return settings.lr * (settings.final_lr + (1 - settings.final_lr) * cosine)

    def judge(self) -> Evaluation:
        """COCO's numbers of the running mean of the weights, on the held-out images."""
        found = detections_of(self.mean.model, self.held_out, batch=self.settings.batch)
        images = [record.image_id for record in self.held_out.records]
        return evaluate(self.held_out.ground_truth, found, images=images)

    def _agree(self) -> None:
        """Makes the sums of the losses means over the processes, which all of them then have."""
        if self.world > 1 and self.sums:
            sums = torch.tensor(list(self.sums.values()), dtype=torch.float64, device=self.device)
            torch.distributed.all_reduce(sums)
            self.sums = dict(zip(self.sums, (sums / self.world).tolist(), strict=True))

    def _close_epoch(self, evaluation: Evaluation | None) -> Epoch:
        self._agree()
        losses = {name: value / self.steps for name, value in self.sums.items()}
        summary = {} if evaluation is None else dict(evaluation.summary)
        self.step = self.steps - 1
        row = Epoch(self.epoch + 1, self.seconds, self._learning_rate(), losses, summary)
        self.log.append(row)
        self.epoch, self.step, self.sums = self.epoch + 1, 0, {}
        if self.rank == 0:
            save_model(self.mean.model, self.folder / LAST)
            ap = summary.get("AP", math.nan)
            if ap > self.best:
                self.best = ap
                save_model(self.mean.model, self.folder / BEST)
            _write_log(self.folder / LOG, self.log)
            _to_tensorboard(self.folder, row)
        self._save_state()
        return row

    def _save_state(self) -> None:
        self._agree()
        if self.rank == 0:
            state = {
                "model": self.model.state_dict(),
                "mean": self.mean.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "learning": self.learning.state_dict(),
                "progress": {
                    "epoch": self.epoch, "step": self.step, "seconds": self.seconds, "best": self.best,
                    "sums": self.sums, "log": [asdict(row) for row in self.log],
                },
            }  # fmt: skip
            save_state(state, self.folder / STATE)

    def _restore(self, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self.mean.model.load_state_dict(state["mean"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.learning.load_state_dict(state["learning"])
        progress = state["progress"]
        self.epoch, self.step, self.seconds = progress["epoch"], progress["step"], progress["seconds"]
        self.best, self.sums = progress["best"], progress["sums"]
        self.log = [Epoch(**row) for row in progress["log"]]


class _RunningMean:
    """The exponential mean of the weights: smoother than any single step, and better."""

    def __init__(self, model: YOLO, decay: float) -> None:
        self.model, self.decay = deepcopy(model).eval(), decay
        self.model.requires_grad_(False)

    @torch.no_grad()
    def follow(self, model: YOLO, steps: int) -> None:
        # The first steps are worth forgetting soon.
        decay = self.decay * (1 - math.exp(-steps / 200))
        for mean, value in zip(self.model.state_dict().values(), model.state_dict().values(), strict=True):
            if mean.dtype.is_floating_point:
                mean.lerp_(value, 1 - decay)
            else:
                mean.copy_(value)


def _quick_in_bfloat16(device: torch.device) -> bool:
    """Whether the device multiplies matrices of bfloat16, whose range is float32's: no loss needs scaling."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    # Without AMX there is only a conversion more.
    return device.type == "cpu" and bool(getattr(torch.cpu, "_is_amx_tile_supported", lambda: False)())


def _optimizer(model: YOLO, settings: Settings) -> torch.optim.Optimizer:
    kernels = [parameter for parameter in model.parameters() if parameter.ndim > 1]
    others = [parameter for parameter in model.parameters() if parameter.ndim <= 1]
    groups = [{"params": kernels, "weight_decay": settings.weight_decay}, {"params": others, "weight_decay": 0.0}]
    if settings.optimizer == "adamw":
        return torch.optim.AdamW(groups, lr=settings.lr)
    return torch.optim.SGD(groups, lr=settings.lr, momentum=0.9, nesterov=True)


def _differences(part: str, kept: Any, said: Any) -> Iterator[str]:
    if kept == said:
        return
    if isinstance(kept, dict) and isinstance(said, dict):
        for name in said:
            if kept.get(name) != said[name]:
                yield f"{part}.{name} was {kept.get(name)!r}, now {said[name]!r}"
    else:
        yield f"{part} was {kept!r}, now {said!r}"


def _write_log(path: Path, log: list[Epoch]) -> None:
    """One line an epoch; what an epoch lacks stays empty."""
    columns = list(dict.fromkeys(name for row in log for name in row.row()))
    beside = path.with_suffix(".tmp")
    with open(beside, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(row.row() for row in log)
    os.replace(beside, path)


def _to_tensorboard(folder: Path, row: Epoch) -> None:
    """An event file beside the log, if TensorBoard is installed."""
    if find_spec("tensorboard") is None:
        return
    from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 - an optional package, slow to import

    with SummaryWriter(str(folder / "tensorboard")) as writer:
        for name, value in row.row().items():
            if name != "epoch" and math.isfinite(value):
                writer.add_scalar(name, value, row.epoch)


@contextmanager
def _processes(settings: Settings) -> Iterator[tuple[int, int]]:
    """(rank, processes), as torchrun says; one alone without it. A group that the caller has made is used and left."""
    made = torch.distributed.is_available() and torch.distributed.is_initialized()
    world = torch.distributed.get_world_size() if made else int(os.environ.get("WORLD_SIZE", "1"))
    if settings.batch % world:
        raise ValueError(f"batch must be a multiple of the {world} processes, got {settings.batch}")
    if world == 1:
        yield 0, 1
        return
    if made:
        yield torch.distributed.get_rank(), world
        return
    on_cuda = torch.cuda.is_available() and torch.device(settings.device or "cuda").type == "cuda"
    if on_cuda:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    # The others wait while the first one judges.
    torch.distributed.init_process_group("nccl" if on_cuda else "gloo", timeout=timedelta(hours=2))
    try:
        yield torch.distributed.get_rank(), world
        torch.distributed.barrier()
    finally:
        torch.distributed.destroy_process_group()
