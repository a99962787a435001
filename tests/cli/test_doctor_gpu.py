"""`ioukit doctor --gpu`: fakes stand for machines with and without a GPU."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit.cli import _gpu
from ioukit.cli import doctor as command
from ioukit.overlap import _array_formulas
from support.command import run_here

if TYPE_CHECKING:
    from pathlib import Path

GIB = 2**30


def fake_torch(
    *, cuda: str | None = "13.2", hip: str | None = None, devices: int = 1, init: str = "", **more: Any
) -> Any:
    """A PyTorch with the functions that the doctor asks; ``init`` is the message with which CUDA fails to start."""

    def fail() -> None:
        if init:
            raise RuntimeError(init)

    properties = SimpleNamespace(name="NVIDIA T4", total_memory=16 * GIB, major=7, minor=5)
    functions = {
        "is_available": lambda: devices > 0,
        "device_count": lambda: devices,
        "get_device_properties": lambda number: properties,  # noqa: ARG005
        "get_arch_list": lambda: ["sm_75", "sm_90", "compute_90"],
        "init": fail,
    }
    return SimpleNamespace(
        __version__="2.9.0", version=SimpleNamespace(cuda=cuda, hip=hip), cuda=SimpleNamespace(**{**functions, **more})
    )


@pytest.fixture(name="machine")
def _machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Makes a machine of fakes: libraries by name (None: not installed), and what nvidia-smi prints."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def make(*, driver: str | None = None, problems: list[str] | None = None, **libraries: Any) -> _gpu.GPU:
        for name in ("torch", "jax", "cupy"):
            monkeypatch.setitem(sys.modules, name, libraries.get(name))
        monkeypatch.setenv("PATH", str(tmp_path))
        if driver is not None:
            program = tmp_path / "nvidia-smi"
            program.write_text(f"#!/bin/sh\necho '{driver}'\n", encoding="utf-8")
            program.chmod(0o755)
        monkeypatch.setattr(_gpu, "disagreements", lambda device: problems or [])  # noqa: ARG005
        return _gpu.find_gpu()

    return make


def test_a_gpu_that_can_be_used(machine: Any) -> None:
    gpu = machine(torch=fake_torch(devices=2), driver="580.65.06")
    assert gpu.usable
    assert (gpu.torch, gpu.built_for, gpu.driver) == ("2.9.0", "CUDA 13.2", "580.65.06")
    assert gpu.devices == (_gpu.Device("NVIDIA T4", 16 * GIB, "7.5"),) * 2
    text = _gpu.gpu_text(gpu)
    assert text[:2] == ["GPU: usable", "PyTorch 2.9.0, built for CUDA 13.2; NVIDIA driver 580.65.06"]
    assert text[3] == "cuda:1  NVIDIA T4, 16.0 GiB, compute capability 7.5: agrees with the CPU"
    assert text[4:] == ["JAX: is not installed", "CuPy: is not installed"]


def test_a_build_for_rocm(machine: Any) -> None:
    assert machine(torch=fake_torch(cuda=None, hip="6.4")).built_for == "ROCm 6.4"


@pytest.mark.parametrize(
    ("torch", "driver", "why"),
    [
        (None, None, "PyTorch is not installed; it comes with pip install 'ioukit[torch]'"),
        (fake_torch(cuda=None), "580.65", "PyTorch 2.9.0 is built for CPUs only: install a build for your GPU"),
        (fake_torch(devices=0, init="Found no NVIDIA driver\nmore"), None, "Found no NVIDIA driver"),
        (fake_torch(devices=0, init="The NVIDIA driver is too old (found 11040)"), "470.1", "driver is too old"),
        (fake_torch(devices=0), None, "there is no GPU"),
        (fake_torch(devices=0), "580.65", "PyTorch sees none, although there is the NVIDIA driver 580.65"),
    ],
)
def test_why_there_is_none(machine: Any, torch: Any, driver: str | None, why: str) -> None:
    gpu = machine(torch=torch, driver=driver)
    assert not gpu.usable
    assert gpu.devices == ()
    assert why in gpu.why_not
    assert "\n" not in gpu.why_not
    assert _gpu.gpu_text(gpu)[0] == f"GPU: cannot be used: {gpu.why_not}"


def test_all_gpus_are_hidden(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    torch = fake_torch(devices=0, init="No CUDA GPUs are available")
    assert machine(torch=torch).why_not == "the environment variable CUDA_VISIBLE_DEVICES hides all GPUs"


def test_an_old_gpu(machine: Any) -> None:
    old = SimpleNamespace(name="Tesla K80", total_memory=12 * GIB, major=3, minor=7)
    gpu = machine(torch=fake_torch(get_device_properties=lambda _: old), problems=["no kernel image is available"])
    assert not gpu.usable
    assert gpu.devices[0].problems == (
        "this PyTorch has no code for compute capability 3.7, only sm_75, sm_90, compute_90",
        "no kernel image is available",
    )
    text = _gpu.gpu_text(gpu)
    assert text[0] == "GPU: cannot be used: see below"
    assert text[2] == "cuda:0  Tesla K80, 12.0 GiB, compute capability 3.7: PROBLEMS"
    assert text[4] == "    no kernel image is available"


@pytest.mark.parametrize(
    ("capability", "built", "runs"),
    [
        ((7, 5), ["sm_75"], True),
        ((8, 9), ["sm_80"], True),  # the same major version
        ((8, 0), ["sm_86"], False),
        ((9, 0), ["sm_80"], False),
        ((12, 0), ["sm_80", "compute_90"], True),  # is translated
        ((9, 0), ["sm_100", "sm_120"], False),
        ((9, 0), ["sm_90a"], True),
        ((9, 1), ["sm_90a"], False),
        ((9, 0), [], False),
    ],
)
def test_which_code_runs(capability: tuple[int, int], built: list[str], runs: bool) -> None:
    assert _gpu._has_code(*capability, built) is runs


def test_a_failing_device_is_a_problem_of_its_own(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(torch=fake_torch())

    def out_of_memory(device: str) -> list[str]:
        raise RuntimeError(f"CUDA out of memory on {device}\nmore")

    monkeypatch.setattr(_gpu, "disagreements", out_of_memory)
    assert _gpu.find_gpu().devices[0].problems == ("CUDA out of memory on cuda:0",)


def test_other_libraries(machine: Any) -> None:
    cpu = SimpleNamespace(platform="cpu", id=0, device_kind="cpu")
    gpu = SimpleNamespace(platform="gpu", id=1, device_kind="NVIDIA T4")
    runtime = SimpleNamespace(getDeviceCount=lambda: 1, getDeviceProperties=lambda _: {"name": b"NVIDIA T4"})
    cupy = SimpleNamespace(__version__="14.0", cuda=SimpleNamespace(runtime=runtime))
    found = machine(jax=SimpleNamespace(__version__="0.9", devices=lambda: [cpu, gpu]), cupy=cupy)
    assert found.others == (
        _gpu.OtherLibrary("JAX", "0.9", ("gpu:1 NVIDIA T4",)),
        _gpu.OtherLibrary("CuPy", "14.0", ("NVIDIA T4",)),
    )
    assert _gpu.gpu_text(found)[2:] == ["JAX 0.9: gpu:1 NVIDIA T4", "CuPy 14.0: NVIDIA T4"]

    def none() -> int:
        raise RuntimeError("cudaErrorNoDevice")

    runtime.getDeviceCount = none
    found = machine(jax=SimpleNamespace(__version__="0.9", devices=lambda: [cpu]), cupy=cupy)
    assert [other.why_none for other in found.others] == ["only the CPU", "cudaErrorNoDevice"]


def test_the_command_shows_it_and_fails_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    device = _gpu.Device("NVIDIA T4", 16 * GIB, "7.5")
    good = _gpu.GPU("2.9.0", "CUDA 13.2", "580", (device,), ())
    monkeypatch.setattr(command, "agreements", list)
    monkeypatch.setattr(command, "_table", lambda *_: "the table")
    monkeypatch.setattr(command, "find_gpu", lambda: good)
    assert "gpu" not in json.loads(run_here("doctor", "--json").out)
    shown, document = run_here("doctor", "--gpu"), run_here("doctor", "--gpu", "--json")
    assert (shown.code, document.code) == (0, 0)
    assert shown.out.startswith("the table\n\nGPU: usable\nPyTorch 2.9.0")
    report = json.loads(document.out)["gpu"]
    assert report["usable"] is True
    assert report["devices"] == [{"name": "NVIDIA T4", "memory_bytes": 16 * GIB, "capability": "7.5", "problems": []}]
    monkeypatch.setattr(command, "find_gpu", lambda: _gpu.GPU("2.9.0", None, None, (), (), "built for CPUs"))
    shown, document = run_here("doctor", "--gpu"), run_here("doctor", "--gpu", "--json")
    assert (shown.code, document.code) == (1, 1)
    assert "GPU: cannot be used: built for CPUs" in shown.out
    assert json.loads(document.out)["gpu"]["why_not"] == "built for CPUs"


class TestDisagreements:
    """The comparison of a device with native code, on the CPU: PyTorch's formulas run there, too."""

    @pytest.fixture(autouse=True)
    def _torch(self) -> None:
        pytest.importorskip("torch", reason="torch is not installed")

    def test_there_is_none(self) -> None:
        assert _gpu.disagreements("cpu") == []

    def test_a_wrong_formula_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        formulas = dict(_array_formulas.FORMULAS)
        monkeypatch.setitem(_array_formulas.FORMULAS, "iou", lambda pairs: formulas["iou"](pairs) * 1.02)
        monkeypatch.setitem(_array_formulas.FORMULAS, "ciou", lambda pairs: formulas["ciou"](pairs) * np.nan)
        found = "\n".join(_gpu.disagreements("cpu"))
        assert "iou float32: " in found
        assert "nms: " in found
        assert "gradient of the CIoU loss: nan from native code" in found
