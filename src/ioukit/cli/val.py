"""`ioukit val`: evaluates a trained network."""

from pathlib import Path
from typing import Annotated

import typer

from ioukit.cli._arguments import QuietOption
from ioukit.cli._class_table import class_table
from ioukit.cli._errors import bad_input, bad_use
from ioukit.cli._image_data import read_split, say_data
from ioukit.cli._json import JsonOutput, json_option
from ioukit.cli._output import print_result
from ioukit.cli._standard_input import input_files
from ioukit.cli._talk import Talk

__all__ = ["EXAMPLES", "val"]

EXAMPLES = """\b
Examples:
  ioukit val run/best.safetensors shapes/data.yaml
  ioukit val run/best.safetensors val.json --images val/ --json | jq .summary.AP
"""


def val(
    network: Annotated[Path, typer.Argument(metavar="NETWORK", help="The network, such as best.safetensors.")],
    data: Annotated[
        Path,
        typer.Argument(metavar="DATA", help="data.yaml of YOLO folders, or a COCO annotation file; - is stdin."),
    ],
    *,
    images: Annotated[Path | None, typer.Option(help="Folder of the images, for a COCO file.")] = None,
    split: Annotated[str, typer.Option(help="Split of data.yaml: val or train.")] = "val",
    batch: Annotated[int, typer.Option(min=1, metavar="N", help="Images per step.")] = 8,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, ... [default: cuda if there is one]")] = None,
    on_invalid: Annotated[str, typer.Option(help="A bad image or box: error, or skip and count it.")] = "error",
    json: Annotated[
        JsonOutput | None,
        json_option("Print one JSON object instead of the tables; with FILE, write it there and print the tables."),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Evaluate a network with COCO's protocol, on images that it was not trained with."""
    talk = Talk(quiet=quiet)
    (source,) = input_files(data)
    with bad_use():
        import ioukit  # noqa: PLC0415
        from ioukit.torch.detector.checkpoint import load_model  # noqa: PLC0415 - PyTorch takes a second
        from ioukit.torch.detector.data import check_on_invalid  # noqa: PLC0415
        from ioukit.torch.detector.predict import detections_of  # noqa: PLC0415

        if split not in ("train", "val"):
            raise ValueError(f"unknown split {split!r}; choose from train, val")
        policy = check_on_invalid(on_invalid)
        if json is not None:
            json.check([network, source])
        model = load_model(network, device)
    with bad_input():
        held_out = read_split(source, images, split, policy)  # type: ignore[arg-type]
    with bad_use():
        if len(held_out.names) != model.config.num_classes:
            raise ValueError(f"{network} has {model.config.num_classes} classes, {data} has {len(held_out.names)}")
    say_data(talk, split, held_out)
    with bad_input(FloatingPointError):
        found = detections_of(model, held_out, batch=batch)
        ids = [record.image_id for record in held_out.records]
        evaluation = ioukit.evaluate(held_out.ground_truth, found, images=ids)
        if json is not None:
            json.write(evaluation.to_json(), talk)
    if json is None or json.path is not None:
        table = class_table(evaluation.per_class, evaluation.protocol, every=False)
        print_result(f"{evaluation.table()}\n\n{table}")
