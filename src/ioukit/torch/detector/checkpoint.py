"""Files that keep a network: safetensors with the weights and the config, and the state of a training."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from ioukit._optional import import_extra
from ioukit._output import whole_file, write_whole
from ioukit.torch.detector.devices import choose_device
from ioukit.torch.detector.model import YOLO, Config

FORMAT = "ioukit-yolo-1"


def save_model(model: YOLO, path: str | os.PathLike[str]) -> None:
    """Writes the weights and the config as safetensors; the file appears complete or not at all.

    Raises:
        OSError: If the file cannot be written.
    """
    safetensors = import_extra("safetensors.torch", extra="torch", needed_by="checkpoints")
    metadata = {"format": FORMAT, "config": json.dumps(model.config.to_dict())}
    weights = {name: value.detach().cpu().contiguous() for name, value in model.state_dict().items()}
    write_whole(path, safetensors.save(weights, metadata))


def load_model(
    path: str | os.PathLike[str],
    device: str | torch.device | None = None,
    image_size: tuple[int, int] | int | None = None,
) -> YOLO:
    """The network of a file that `save_model` wrote, ready to predict.

    Args:
        path: The file.
        device: Where it runs, by default on CUDA if there is one.
        image_size: (width, height) of the images that it takes, or the side of a square; by default the size that it
            has learned from.

    Raises:
        ValueError: If the file is of another kind, the device cannot be used, or a side is not a multiple of 32.
        OSError: If the file cannot be read.
    """
    safetensors = import_extra("safetensors", extra="torch", needed_by="checkpoints")
    device = choose_device(device)
    if not Path(path).is_file():
        raise FileNotFoundError(errno.ENOENT, "there is no file", os.fspath(path))
    try:
        with safetensors.safe_open(path, framework="pt", device=str(device)) as file:
            metadata = file.metadata() or {}
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dictionary
    except safetensors.SafetensorError as error:
        raise ValueError(f"{path} is not a safetensors file: {error}") from None
    if metadata.get("format") != FORMAT:
        raise ValueError(f"{path} is not a network of ioukit: expected format {FORMAT}, got {metadata.get('format')!r}")
    config = Config.from_dict(json.loads(metadata["config"]))
    if image_size is not None:
        size = (image_size, image_size) if isinstance(image_size, int) else image_size
        config = replace(config, image_size=size)
    model = YOLO(config)
    model.load_state_dict(weights)
    model.to(device).eval()
    return model


def save_state(state: dict[str, Any], path: Path) -> None:
    """Writes the state from which a training resumes; the file appears complete or not at all.

    Raises:
        OSError: If the file cannot be written.
    """
    with whole_file(path) as unfinished:
        try:
            torch.save(state, unfinished)
        except RuntimeError as error:  # PyTorch raises this error if the disk is full
            raise OSError(f"{path} cannot be written: {error}") from None


def load_state(path: Path, device: torch.device) -> dict[str, Any]:
    """The state that `save_state` wrote. No code from the file is executed."""
    state: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
    return state
