"""Training: `train` runs the epochs, evaluates them with COCO's protocol, and can resume a stopped training.

All random numbers follow from the seed, the epoch and the number of the image. A saved state holds the weights, their
running mean, the optimizer and the number of steps. So on a CPU, a training that was killed and resumed ends with the
same bits as one that was never stopped.

``torchrun --nproc-per-node N`` starts N processes. Each takes its share of every batch, the gradients are those of the
whole batch, and process 0 evaluates and writes files. One thing differs from a single process: batch normalisation sees
the images of its own share only.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import torch
from torch import nn

from ioukit._checks import check_choice
from ioukit._output import write_whole
from ioukit.evaluation import Evaluation, evaluate
from ioukit.torch.detector.batches import Augmentation, Batch, loader
from ioukit.torch.detector.checkpoint import load_state, save_model, save_state
from ioukit.torch.detector.data import Data
from ioukit.torch.detector.devices import Processes, choose_device, fast_in_bfloat16, processes
from ioukit.torch.detector.learning import Learning, all_finite
from ioukit.torch.detector.log import Epoch, to_tensorboard, write_log
from ioukit.torch.detector.model import YOLO, Config
from ioukit.torch.detector.predict import detections_of

__all__ = ["Epoch", "Run", "Settings", "Training", "check_folder", "prepared", "train"]

OnStep: TypeAlias = Callable[[int, int, int, dict[str, float]], None]
"""Called with the epoch, the step, the steps per epoch and the losses of the step."""

OnEpoch: TypeAlias = Callable[[Epoch], None]

STATE, LAST, BEST, LOG, SETTINGS = "state.pt", "last.safetensors", "best.safetensors", "log.csv", "settings.json"


@dataclass(frozen=True)
class Settings:
    """How to train.

    Attributes:
        epochs: How often every image is seen.
        batch: Images per step, over all processes.
        optimizer: ``"sgd"`` (with Nesterov momentum of 0.9) or ``"adamw"``.
        lr: The learning rate after the warm-up.
        final_lr: The learning rate at the end, as a fraction of ``lr``; a cosine leads from one to the other.
        weight_decay: Weight decay of the convolution kernels; biases and normalisation layers have none.
        warmup: Epochs in which the learning rate rises from 0; at most a tenth of all epochs.
        ema: Decay per step of the running mean of the weights. The running mean is what is evaluated and saved. The
            decay starts lower, so that the first weights are soon forgotten.
        clip: The largest norm of the gradient.
        loss: The loss of the boxes: a name of `ioukit.torch.detector.learning.BOX_LOSSES`.
        assigner: The rule that assigns objects to predictions: a name of
            `ioukit.torch.detector.learning.ASSIGNERS`; by default ``"yolov3"`` for the anchor head and
            ``"task_aligned"`` for the anchor-free head.
        augmentation: The random changes of the images.
        plain_epochs: How many epochs at the end use no mosaics, and images of one size.
        multi_scale: Whether every ten steps have images of another size: 0.75 to 1.5 times that of the network.
        amp: Whether convolutions run in bfloat16 on devices where that is faster: GPUs since Ampere, CPUs with
            AMX or AVX512_BF16.
        seed: Seed of everything random.
        workers: Number of processes that read images.
        evaluate_every: Epochs between two evaluations; the last epoch is always evaluated.
        save_steps: Steps between two saved states to resume from; the end of each epoch also saves one.
        device: A PyTorch device such as ``"cpu"`` or ``"cuda"``; by default CUDA if there is one.

    Raises:
        ValueError: If a count is below 1, or the optimizer is unknown.
    """

    epochs: int = 60
    batch: int = 16
    optimizer: Literal["sgd", "adamw"] = "adamw"
    lr: float = 2e-3
    final_lr: float = 0.02
    weight_decay: float = 0.02
    warmup: float = 0.5
    ema: float = 0.998
    clip: float = 10.0
    loss: str = "ciou"
    assigner: str | None = None
    augmentation: Augmentation = field(default_factory=Augmentation)
    plain_epochs: int = 5
    multi_scale: bool = False
    amp: bool = True
    seed: int = 1
    workers: int = 0
    evaluate_every: int = 1
    save_steps: int = 1000
    device: str | None = None

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "evaluate_every", "save_steps"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.optimizer not in ("sgd", "adamw"):
            raise ValueError(f"unknown optimizer {self.optimizer!r}; choose from sgd, adamw")


NUMBERS = {
    "final_lr": (0, 1), "weight_decay": (0, 1), "warmup": (0, 1000), "ema": (0, 1), "clip": (0, 1e6),
    "plain_epochs": (0, 1000), "amp": (0, 1), "save_steps": (1, 1e9), "flip": (0, 1), "scale": (0, 4), "shift": (0, 1),
    "hue": (0, 0.5), "saturation": (0, 4), "brightness": (0, 4),
}  # fmt: skip
"""Settings that `with_numbers` changes, those of the augmentation included, each with its least and largest value.

The kind of a number is that of the default.
"""


def with_numbers(settings: Settings, words: Iterable[str]) -> Settings:
    """The settings with other numbers.

    Args:
        settings: The settings.
        words: Each ``NAME=NUMBER``, with a name of `NUMBERS`; the last word about a name counts.

    Raises:
        ValueError: If a name is unknown, or a number is out of its range.
    """
    for word in words:
        name, _, text = word.partition("=")
        check_choice("setting", name, tuple(NUMBERS))
        low, high = NUMBERS[name]
        of_images = hasattr(settings.augmentation, name)
        kind = type(getattr(Augmentation if of_images else Settings, name))  # float, int or bool
        try:
            number = float(text) if kind is float else int(text)
        except ValueError:
            number = math.nan
        if not low <= number <= high:
            expected = "NUMBER" if kind is float else "WHOLE NUMBER"
            raise ValueError(f"expected {name}={expected} from {low:g} to {high:g}, got {word!r}")
        change: Any = {name: kind(number)}
        if of_images:
            change = {"augmentation": replace(settings.augmentation, **change)}
        settings = replace(settings, **change)
    return settings


@dataclass(frozen=True)
class Training:
    """The result of a training.

    Attributes:
        folder: Holds ``best.safetensors`` and ``last.safetensors`` (the running mean of the weights), ``state.pt`` (to
            resume), ``log.csv`` and ``settings.json``.
        epochs: The log.
        evaluation: The evaluation of the last epoch on the held-out images.
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
    on_epoch: OnEpoch | None = None,
) -> Training:
    """Trains a detector.

    Args:
        training: The images and boxes to learn from, at least one batch.
        held_out: The images and boxes to evaluate on.
        config: The shape of the network.
        folder: Where the results go. It must be new or empty, except with ``resume``.
        settings: How to train.
        resume: Continue from the state in ``folder``. Config, settings and class names must be the same as before. This
            includes ``epochs``, because the learning rate of each step depends on it.
        start_from: A network of the same shape, whose weights are the initial weights.
        on_step: Called after each step with the epoch, the step, the steps per epoch and the losses.
        on_epoch: Called after each epoch.

    Raises:
        ValueError: If there is less than one batch, the folder is in use, the state is of another training, or a
            network, a device or a name does not fit. All of that is checked before the first step.
        FloatingPointError: If the loss is not finite. It names the epoch and the step. The last saved state is kept.
        OSError: If a file cannot be written.
    """
    with prepared(training, held_out, config, folder, settings, resume=resume, start_from=start_from) as run:
        return run.epochs(on_step, on_epoch)


@contextmanager
def prepared(
    training: Data,
    held_out: Data,
    config: Config,
    folder: str | os.PathLike[str],
    settings: Settings | None = None,
    *,
    resume: bool = False,
    start_from: YOLO | None = None,
) -> Iterator[Run]:
    """A training whose arguments are checked and that is ready for `Run.epochs`; see `train`.

    After this, a ``ValueError`` is not about an argument.
    """
    settings = settings or Settings()
    with processes(batch=settings.batch, device=settings.device) as group:
        run = Run(training, held_out, config, Path(folder), settings, group, start_from)
        run.begin(resume)
        yield run


def check_folder(folder: Path, *, resume: bool) -> None:
    """Raises `ValueError` if a new training cannot start, or an old one cannot resume, in the folder."""
    if resume:
        if not (folder / STATE).is_file():
            raise ValueError(f"there is nothing to resume in {folder}: it has no {STATE}")
    elif folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file, expected a folder")
    elif folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty: name a new folder, or resume")


class Run:
    """One training: the weights, the optimizer, the log, and the next step."""

    def __init__(
        self,
        training: Data,
        held_out: Data,
        config: Config,
        folder: Path,
        settings: Settings,
        group: Processes,
        start_from: YOLO | None,
    ) -> None:
        if len(training) < settings.batch:
            raise ValueError(
                f"batch must be at most {len(training)}, the number of training images, got {settings.batch}"
            )
        self.training, self.held_out, self.folder, self.settings = training, held_out, folder, settings
        self.group, self.first = group, group.rank == 0
        self.device = choose_device(settings.device)
        if self.device.type == "cuda" and group.count > 1:
            self.device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", group.rank)))
        torch.manual_seed(settings.seed)
        self.model = YOLO(config)
        if start_from is not None:
            _start_from(start_from, self.model)
        self.model.to(self.device)
        self.mean = _RunningMean(self.model, settings.ema)
        self.half = settings.amp and fast_in_bfloat16(self.device)
        self.learning = Learning(config, loss=settings.loss, assigner=settings.assigner)
        self.optimizer = _make_optimizer(self.model, settings)
        self.steps = len(training) // settings.batch  # per epoch
        self.epoch = self.step = 0  # the numbers of finished epochs, and of finished steps of the current epoch
        self.seconds = 0.0
        self.sums: dict[str, float] = {}
        self.log: list[Epoch] = []
        self.best = -1.0

    def begin(self, resume: bool) -> None:
        """Makes the folder, or loads the state in it.

        Raises:
            ValueError: If the folder is in use, has no state, or has that of another training.
        """
        asked = {"config": self.model.config.to_dict(), "settings": asdict(self.settings), "names": self.training.names}
        asked = json.loads(json.dumps(asked))
        path = self.folder / SETTINGS
        check_folder(self.folder, resume=resume)
        if resume:
            kept = json.loads(path.read_text(encoding="utf-8"))
            differ = [name for part in asked for name in _differences(part, kept.get(part), asked[part])]
            if differ:
                raise ValueError(f"{self.folder} holds another training: {'; '.join(differ)}")
            self._restore(load_state(self.folder / STATE, self.device))
            return
        if self.group.count > 1:
            torch.distributed.barrier()  # every process has checked the folder before process 0 writes to it
        if self.first:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps(asked, indent=2) + "\n")

    def epochs(self, on_step: OnStep | None = None, on_epoch: OnEpoch | None = None) -> Training:
        """Trains until the last epoch is done; the arguments and errors are those of `train`."""
        network: nn.Module = self.model
        if self.group.count > 1:
            network = nn.parallel.DistributedDataParallel(self.model)
        evaluation: Evaluation | None = None
        while self.epoch < self.settings.epochs:
            start = time.perf_counter()
            self._learn(network, on_step)
            last = self.epoch + 1 == self.settings.epochs
            wanted = self.first and (last or (self.epoch + 1) % self.settings.evaluate_every == 0)
            evaluation = self.evaluate() if wanted else None
            self.seconds += time.perf_counter() - start
            row = self._close_epoch(evaluation)
            if on_epoch is not None and self.first:
                on_epoch(row)
        if self.first and evaluation is None:  # resumed after the last epoch
            evaluation = self.evaluate()
        assert evaluation is not None or not self.first
        return Training(self.folder, tuple(self.log), evaluation)  # type: ignore[arg-type]

    def evaluate(self) -> Evaluation:
        """The evaluation of the running mean of the weights on the held-out images, with COCO's protocol."""
        found = detections_of(self.mean.model, self.held_out, batch=self.settings.batch)
        return evaluate(self.held_out.ground_truth, found, images=[one.image_id for one in self.held_out.records])

    def _learn(self, network: nn.Module, on_step: OnStep | None) -> None:
        """Runs the remaining steps of one epoch."""
        settings, augmentation = self.settings, self.settings.augmentation
        plain = self.epoch >= settings.epochs - settings.plain_epochs
        if plain:
            augmentation = replace(augmentation, mosaic=0.0)
        batches = loader(
            self.training, self.model.config.image_size, batch=settings.batch, epoch=self.epoch, seed=settings.seed,
            augmentation=augmentation, start=self.step, workers=settings.workers, rank=self.group.rank,
            world=self.group.count, multi_scale=settings.multi_scale and not plain,
        )  # fmt: skip
        network.train()
        for batch in batches:
            losses = self._one_step(network, Batch(*(part.to(self.device, non_blocking=True) for part in batch)))
            for name, value in losses.items():
                self.sums[name] = self.sums.get(name, 0.0) + value
            self.step += 1
            if on_step is not None and self.first:
                on_step(self.epoch + 1, self.step, self.steps, losses)
            if self.step % settings.save_steps == 0 and self.step < self.steps:
                self._save_state()

    def _one_step(self, network: nn.Module, batch: Batch) -> dict[str, float]:
        for group in self.optimizer.param_groups:
            group["lr"] = self._learning_rate()
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.half):
            outputs = network(batch.images.float() / 255)
        # Assigners refuse outputs that are not finite; their loss would not be finite either.
        losses = self.learning(outputs, batch) if all_finite(outputs) else {"total": torch.tensor(math.nan)}
        total = losses["total"]  # in float32
        if not torch.isfinite(total):
            raise FloatingPointError(
                f"the loss is {total.item():g} in epoch {self.epoch + 1}, step {self.step + 1}: try a lower learning "
                f"rate or a longer warm-up; {self.folder} keeps the last saved state"
            )
        self.optimizer.zero_grad(set_to_none=True)
        total.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        self.optimizer.step()
        self.mean.follow(self.model, self.epoch * self.steps + self.step + 1)
        return {name: float(value.detach()) for name, value in losses.items()}

    def _learning_rate(self) -> float:
        """The learning rate of the next step: it rises linearly, then falls along a cosine."""
        settings, done = self.settings, (self.epoch * self.steps + self.step + 1) / self.steps  # epochs
        warmup = min(settings.warmup, settings.epochs / 10)  # a short training must reach its learning rate, too
        if done < warmup:
            return settings.lr * done / warmup
        part = (done - warmup) / (settings.epochs - warmup)
        cosine = (1 + math.cos(math.pi * min(part, 1.0))) / 2
        return settings.lr * (settings.final_lr + (1 - settings.final_lr) * cosine)

    def _close_epoch(self, evaluation: Evaluation | None) -> Epoch:
        self._share_sums()
        losses = {name: value / self.steps for name, value in self.sums.items()}
        summary = {} if evaluation is None else dict(evaluation.summary)
        self.step = self.steps - 1
        row = Epoch(self.epoch + 1, self.seconds, self._learning_rate(), losses, summary)
        self.log.append(row)
        self.epoch, self.step, self.sums = self.epoch + 1, 0, {}
        if self.first:
            save_model(self.mean.model, self.folder / LAST)
            main = next(iter(summary.values()), math.nan)  # the first measure of a protocol is its main one
            if main > self.best:
                self.best = main
                save_model(self.mean.model, self.folder / BEST)
            write_log(self.folder / LOG, self.log)
            to_tensorboard(self.folder, row)
        self._save_state()
        return row

    def _share_sums(self) -> None:
        """Replaces the sums of the losses by their means over all processes."""
        if self.group.count > 1 and self.sums:
            sums = torch.tensor(list(self.sums.values()), dtype=torch.float64, device=self.device)
            torch.distributed.all_reduce(sums)
            self.sums = dict(zip(self.sums, (sums / self.group.count).tolist(), strict=True))

    def _save_state(self) -> None:
        self._share_sums()
        if self.first:
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


def _make_optimizer(model: YOLO, settings: Settings) -> torch.optim.Optimizer:
    """The optimizer of the settings; only the convolution kernels have weight decay."""
    kernels = [parameter for parameter in model.parameters() if parameter.ndim > 1]
    others = [parameter for parameter in model.parameters() if parameter.ndim <= 1]
    groups = [{"params": kernels, "weight_decay": settings.weight_decay}, {"params": others, "weight_decay": 0.0}]
    if settings.optimizer == "adamw":
        return torch.optim.AdamW(groups, lr=settings.lr)
    return torch.optim.SGD(groups, lr=settings.lr, momentum=0.9, nesterov=True)


class _RunningMean:
    """The exponential mean of the weights. It changes more smoothly than the weights, and evaluates better."""

    def __init__(self, model: YOLO, decay: float) -> None:
        self.model, self.decay = deepcopy(model).eval(), decay
        self.model.requires_grad_(False)

    @torch.no_grad()
    def follow(self, model: YOLO, steps: int) -> None:
        """Updates the mean with the weights after ``steps`` steps."""
        # The first weights are bad; a low decay at the start forgets them soon.
        decay = self.decay * (1 - math.exp(-steps / 200))
        for mean, value in zip(self.model.state_dict().values(), model.state_dict().values(), strict=True):
            if mean.dtype.is_floating_point:
                mean.lerp_(value, 1 - decay)
            else:
                mean.copy_(value)


def _start_from(given: YOLO, model: YOLO) -> None:
    """Copies the weights of one network into another of the same shape."""
    try:
        model.load_state_dict(given.state_dict())
    except RuntimeError:
        theirs, own = vars(given.config), vars(model.config)
        shapes = [name for name in own if name not in ("names", "image_size")]
        differ = [f"{name} {theirs[name]!r}, not {own[name]!r}" for name in shapes if theirs[name] != own[name]]
        raise ValueError(f"start_from is a network of another shape: it has {'; '.join(differ)}") from None


def _differences(part: str, kept: Any, asked: Any) -> Iterator[str]:
    """Texts about the differences between the saved and the new values."""
    if kept == asked:
        return
    if isinstance(kept, dict) and isinstance(asked, dict):
        for name in asked:
            if kept.get(name) != asked[name]:
                yield f"{part}.{name} was {kept.get(name)!r}, now {asked[name]!r}"
    else:
        yield f"{part} was {kept!r}, now {asked!r}"
