"""`ioukit val`: how good a trained network is."""

from pathlib import Path
from typing import Annotated

import typer

from ioukit.cli._class_table import class_table
from ioukit.cli._detector import bad_use, read_split, say_data
from ioukit.cli._output import print_result
from ioukit.cli._talk import Talk

__all__ = ["EXAMPLES", "val"]

EXAMPLES = """\b
Examples:
  ioukit val run/best.safetensors shapes/data.yaml
  ioukit val run/best.safetensors val.json --images val/ --json | jq .summary.AP
"""


def val(
    network: Annotated[Path, typer.Argument(metavar="NETWORK", help="What training wrote: best.safetensors.")],
    data: Annotated[Path, typer.Argument(metavar="DATA", help="data.yaml of YOLO folders, or a COCO annotation file.")],
    *,
    images: Annotated[Path | None, typer.Option(help="Folder of the images, for a COCO file.")] = None,
    split: Annotated[str, typer.Option(help="Of data.yaml: val or train.")] = "val",
    batch: Annotated[int, typer.Option(min=1, metavar="N", help="Images at once.")] = 8,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, ... [default: cuda if there is one]")] = None,
    on_invalid: Annotated[str, typer.Option(help="A bad image or box: error, or skip and count it.")] = "error",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the tables.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on stderr but errors.")] = False,
) -> None:
    """Judge a network by COCO's numbers, on images that it was not trained with."""
    talk = Talk(quiet=quiet)
    with bad_use():
        if split not in ("train", "val"):
            raise ValueError(f"unknown split {split!r}; choose from train, val")
        import ioukit  # noqa: PLC0415
        from ioukit.torch.detector.checkpoint import load_model  # noqa: PLC0415
        from ioukit.torch.detector.predict import detections_of  # noqa: PLC0415 - PyTorch takes a second

        model = load_model(network, device)
        held_out = read_split(data, images, split, on_invalid)  # type: ignore[arg-type]
        if len(held_out.names) != model.config.num_classes:
            raise ValueError(f"{network} knows {model.config.num_classes} classes, {data} has {len(held_out.names)}")
        say_data(talk, split, held_out)
        found = detections_of(model, held_out, batch=batch)
        ids = [record.image_id for record in held_out.records]
        evaluation = ioukit.evaluate(held_out.ground_truth, found, images=ids)
    if json:
        print_result(evaluation.to_json())
    else:
        table = class_table(evaluation.per_class, evaluation.protocol, every=False)
        print_result(f"{evaluation.table()}\n\n{table}")
