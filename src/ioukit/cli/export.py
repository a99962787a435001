"""`ioukit export`: a network as an ONNX file."""

from pathlib import Path
from typing import Annotated

import typer

from ioukit._output import printable
from ioukit.cli._detector_data import NetworkPath, SizeOption
from ioukit.cli._errors import bad_input, bad_use
from ioukit.cli._output import QuietOption, check_files
from ioukit.cli._streams import Talk


def export(
    network: NetworkPath,
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The file. [default: NETWORK with .onnx at its end]"),
    ] = None,
    size: SizeOption = None,
    iou_threshold: Annotated[
        float, typer.Option(metavar="IOU", help="Of two boxes of a class with an IoU above this, keep the better.")
    ] = 0.5,
    max_dets: Annotated[int, typer.Option(min=1, metavar="N", help="The number of boxes per image.")] = 100,
    batch: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="The number of images per run. [default: any number]")
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Write a network with its decoding and NMS as ONNX, and check the file in onnxruntime against PyTorch.

    The file takes `images`: RGB as (B, 3, SIZE, SIZE) floats within 0 and 1. It gives `boxes` (B, N, 4) as
    x1 y1 x2 y2 in pixels of these images, `scores` (B, N), the highest first, and `labels` (B, N).

    Examples:
      ioukit export run/best.safetensors
      ioukit export run/best.safetensors -o detector.onnx --size 320 --max-dets 300
    """
    talk = Talk(quiet=quiet)
    with bad_use():
        target = network.with_suffix(".onnx") if output is None else output
        check_files({"--output": target}, [network])
        from ioukit.torch.detector.checkpoint import load_model  # noqa: PLC0415 - PyTorch takes a second
        from ioukit.torch.detector.export import export_onnx  # noqa: PLC0415

        model = load_model(network, "cpu", size)
    with bad_input(FloatingPointError), talk.busy("exporting"):
        found = export_onnx(model, target, batch=batch, max_detections=max_dets, iou_threshold=iou_threshold)
    talk.say(
        f"checked  {found.same} of {found.count} boxes are the same in onnxruntime and in PyTorch: coordinates differ "
        f"by at most {found.boxes:.2g} pixels, scores by {found.scores:.2g}"
    )
    talk.say(f"wrote {printable(str(target))}")
