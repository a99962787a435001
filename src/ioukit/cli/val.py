"""`ioukit val`: evaluates a trained network."""

from pathlib import Path
from typing import Annotated

import typer

from ioukit.cli._data_files import input_files
from ioukit.cli._detector_data import (
    BatchOption,
    DeviceOption,
    ImagesOption,
    NetworkPath,
    OnBadOption,
    RectangularOption,
    SizeOption,
    SplitOption,
    check_split,
    read_split,
    say_data,
)
from ioukit.cli._errors import bad_input, bad_use
from ioukit.cli._output import AnswerOptions
from ioukit.cli._tables import evaluation_table


def val(
    network: NetworkPath,
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="data.yaml of YOLO folders, or a COCO annotation file; - is stdin.")
    ],
    *,
    images: ImagesOption = None,
    split: SplitOption = "val",
    size: SizeOption = None,
    rectangular: RectangularOption = False,
    batch: BatchOption = 8,
    device: DeviceOption = None,
    on_invalid: OnBadOption = "error",
    answer: AnswerOptions,
) -> None:
    """Evaluate a network with COCO's protocol, on images that it was not trained with.

    Examples:
      ioukit val run/best.safetensors shapes/data.yaml
      ioukit val run/best.safetensors shapes/data.yaml --size 256 --rectangular
      ioukit val run/best.safetensors val.json --images val/ --json | jq .summary.AP
    """
    if network.suffix.lower() == ".json":
        raise typer.BadParameter(
            f"expected a network, got {str(network)!r}; for files of detections, `ioukit eval GT DT`",
            param_hint="NETWORK",
        )
    talk = answer.talk()
    (source,) = input_files(data)
    with bad_use():
        import ioukit  # noqa: PLC0415
        from ioukit.torch.detector.checkpoint import load_model  # noqa: PLC0415 - PyTorch takes a second
        from ioukit.torch.detector.data import check_on_invalid  # noqa: PLC0415
        from ioukit.torch.detector.predict import detections_of  # noqa: PLC0415

        chosen = check_split(split)
        policy = check_on_invalid(on_invalid)
        answer.check([network, source])
        model = load_model(network, device, size)
    with bad_input():
        held_out = read_split(source, images, chosen, policy)
    with bad_use():
        if len(held_out.names) != model.config.num_classes:
            raise ValueError(f"{network} has {model.config.num_classes} classes, {data} has {len(held_out.names)}")
    say_data(talk, split, held_out)
    with bad_input(FloatingPointError):
        found = detections_of(model, held_out, batch=batch, rectangular=rectangular)
        ids = [record.image_id for record in held_out.records]
        evaluation = ioukit.evaluate(held_out.ground_truth, found, images=ids)
    answer.give(lambda: evaluation_table(evaluation), evaluation.to_json, talk)
