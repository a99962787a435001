"""Can a GPU be used, and does it compute what the CPU computes? For `ioukit doctor --gpu`."""

from __future__ import annotations

import importlib
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ioukit.overlap import elementwise_ciou
from ioukit.overlap._conformance import Backend, compare

_DRIVER_SECONDS = 20  # nvidia-smi waits for the driver; on a healthy machine it takes less than one


@dataclass(frozen=True)
class Device:
    """A GPU that PyTorch sees."""

    name: str
    memory_bytes: int
    capability: str
    """The version of its instruction set, such as ``"9.0"``."""
    problems: tuple[str, ...] = ()
    """Why it cannot be used, or what it computes differently from the CPU."""


@dataclass(frozen=True)
class OtherLibrary:
    """JAX or CuPy."""

    name: str
    version: str | None
    """None if it is not installed."""
    devices: tuple[str, ...]
    why_none: str | None = None
    """Why it has no GPU."""


@dataclass(frozen=True)
class GPU:
    """What `ioukit doctor --gpu` reports."""

    torch: str | None
    """The version of PyTorch; None if it is not installed."""
    built_for: str | None
    """What PyTorch was built for, such as ``"CUDA 13.2"``; None for a build for CPUs."""
    driver: str | None
    """The version of NVIDIA's driver, if its program ``nvidia-smi`` tells it."""
    devices: tuple[Device, ...]
    others: tuple[OtherLibrary, ...]
    why_not: str | None = None
    """Why PyTorch cannot use a GPU; None if it can use at least one."""

    @property
    def usable(self) -> bool:
        """Whether PyTorch can use every GPU that it sees, and sees at least one."""
        return self.why_not is None and all(not device.problems for device in self.devices)


def find_gpu() -> GPU:
    """What PyTorch, JAX and CuPy say about GPUs, and whether PyTorch's compute what the CPU computes."""
    driver = _driver()
    others = (_other("JAX", _jax_devices, "only the CPU"), _other("CuPy", _cupy_devices, "sees no GPU"))
    torch = _imported("torch")
    if isinstance(torch, str):
        return GPU(None, None, driver, (), others, f"PyTorch {torch}; it comes with pip install 'ioukit[torch]'")
    version, built_for = str(torch.__version__), _built_for(torch)
    if built_for is None:
        why = f"PyTorch {version} is built for CPUs only: install a build for your GPU, see https://pytorch.org"
        return GPU(version, None, driver, (), others, why)
    if not torch.cuda.is_available() or torch.cuda.device_count() == 0:
        return GPU(version, built_for, driver, (), others, _why_none(torch, driver))
    devices = tuple(_device(torch, number) for number in range(torch.cuda.device_count()))
    return GPU(version, built_for, driver, devices, others)


def disagreements(device: str) -> list[str]:
    """What PyTorch computes on a device otherwise than native code: overlaps, survivors, gradients of a loss."""
    from ioukit.losses import loss_and_gradient  # noqa: PLC0415
    from ioukit.postprocess import _array_api, nms  # noqa: PLC0415
    from ioukit.postprocess._inputs import device_set  # noqa: PLC0415
    from ioukit.postprocess._options import limits_of, rule_of  # noqa: PLC0415

    torch: Any = importlib.import_module("torch")
    backend = Backend(device, "torch", lambda torch, values: torch.asarray(values, device=device))
    found = list(compare(backend).problems)
    rng = np.random.default_rng(0)
    low = rng.uniform(0, 200, (2000, 2))
    boxes = np.concatenate([low, low + rng.uniform(5, 50, (2000, 2))], axis=1).astype(np.float32)
    scores = rng.uniform(0, 1, 2000).round(2).astype(np.float32)  # with many ties
    there = torch.tensor(boxes, device=device)
    given = device_set(there, torch.tensor(scores, device=device), format=None, check=False)
    keep = _array_api.survivors(given, rule_of("iou", None, 0.5, "above"), limits_of(None, None))
    expected = nms(boxes, scores, 0.5)
    if keep.tolist() != expected.tolist():
        found.append(f"nms: {len(keep)} boxes survive, or others than the {len(expected)} of native code")
    pred = there[:1000].clone().requires_grad_()
    (1 - elementwise_ciou(pred, there[1000:], check=False)).sum().backward()
    _, slope = loss_and_gradient("ciou", boxes[:1000], boxes[1000:])
    assert pred.grad is not None
    worst = float(np.abs(pred.grad.cpu().numpy() - slope).max())
    if not worst <= 1e-4:  # NaN, too; the sum of some sixty roundings of numbers up to 1
        found.append(f"gradient of the CIoU loss: {worst:.2g} from native code")
    return found


def gpu_text(gpu: GPU) -> list[str]:
    """The report as lines for a terminal."""
    found = "usable" if gpu.usable else f"cannot be used: {gpu.why_not or 'see below'}"
    torch = "not installed" if gpu.torch is None else f"{gpu.torch}, built for {gpu.built_for or 'CPUs'}"
    lines = [f"GPU: {found}", f"PyTorch {torch}; NVIDIA driver {gpu.driver or 'not found'}"]
    for number, device in enumerate(gpu.devices):
        state = "PROBLEMS" if device.problems else "agrees with the CPU"
        memory = f"{device.memory_bytes / 2**30:.1f} GiB"
        lines.append(f"cuda:{number}  {device.name}, {memory}, compute capability {device.capability}: {state}")
        lines += [f"    {problem}" for problem in device.problems]
    for other in gpu.others:
        lines.append(f"{other.name} {other.version or ''}".rstrip() + f": {other.why_none or ', '.join(other.devices)}")
    return lines


def _device(torch: Any, number: int) -> Device:
    properties = torch.cuda.get_device_properties(number)
    major, minor = properties.major, properties.minor
    problems: list[str] = []
    try:
        problems = disagreements(f"cuda:{number}")
    except Exception as error:
        problems = [_one_line(error)]
    built = list(torch.cuda.get_arch_list())
    if torch.version.cuda is not None and problems and not _has_code(major, minor, built):
        problems.insert(0, f"this PyTorch has no code for compute capability {major}.{minor}, only {', '.join(built)}")
    return Device(properties.name, int(properties.total_memory), f"{major}.{minor}", tuple(problems))


def _has_code(major: int, minor: int, built: list[str]) -> bool:
    """Whether one of the architectures, such as ``sm_90`` and ``compute_120``, runs on a compute capability.

    Machine code runs on later devices of the same major version; ``compute`` code is translated for all later ones.
    Suffixes such as in ``sm_90a`` mean this one device.
    """
    for name in built:
        kind, _, digits = name.partition("_")
        if not digits.isdigit():
            if digits[:-1].isdigit() and divmod(int(digits[:-1]), 10) == (major, minor):
                return True
            continue
        version = divmod(int(digits), 10)
        if kind == "compute" and version <= (major, minor):
            return True
        if kind == "sm" and version[0] == major and version[1] <= minor:
            return True
    return False


def _built_for(torch: Any) -> str | None:
    if torch.version.cuda is not None:
        return f"CUDA {torch.version.cuda}"
    hip = getattr(torch.version, "hip", None)
    return None if hip is None else f"ROCm {hip}"


def _why_none(torch: Any, driver: str | None) -> str:
    """Why a PyTorch for GPUs sees none."""
    if os.environ.get("CUDA_VISIBLE_DEVICES", "0").strip() in ("", "-1", "NoDevFiles"):
        return "the environment variable CUDA_VISIBLE_DEVICES hides all GPUs"
    try:
        torch.cuda.init()
    except Exception as error:
        return _one_line(error)
    return "there is no GPU" if driver is None else f"PyTorch sees none, although there is the NVIDIA driver {driver}"


def _driver() -> str | None:
    """The version of NVIDIA's driver."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_DRIVER_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.split()
    return lines[0] if done.returncode == 0 and lines else None


def _jax_devices(jax: Any) -> list[str]:
    return [f"{one.platform}:{one.id} {one.device_kind}" for one in jax.devices() if one.platform != "cpu"]


def _cupy_devices(cupy: Any) -> list[str]:
    runtime = cupy.cuda.runtime
    names = [runtime.getDeviceProperties(number)["name"] for number in range(runtime.getDeviceCount())]
    return [name.decode() if isinstance(name, bytes) else str(name) for name in names]


def _other(name: str, devices: Callable[[Any], list[str]], why_none: str) -> OtherLibrary:
    """What a library says about its GPUs; `why_none` if it names none."""
    found = _imported(name.lower())
    if isinstance(found, str):
        return OtherLibrary(name, None, (), found)
    try:
        seen = tuple(devices(found))
    except Exception as error:
        return OtherLibrary(name, str(found.__version__), (), _one_line(error))
    return OtherLibrary(name, str(found.__version__), seen, None if seen else why_none)


def _imported(name: str) -> Any | str:
    """The module, or why it cannot be imported."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        return "is not installed" if error.name == name else f"is broken: {_one_line(error)}"
    except (ImportError, OSError, RuntimeError) as error:  # a library of CUDA that is missing, for example
        return f"is broken: {_one_line(error)}"


def _one_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
