"""`ioukit predict`: boxes in images."""

import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from ioukit.cli._detector import bad_use
from ioukit.cli._output import check_output, print_result, printable, write_whole
from ioukit.cli._talk import Talk

__all__ = ["EXAMPLES", "predict"]

EXAMPLES = """\b
Examples:
  ioukit predict run/best.safetensors photo.jpg
  ioukit predict run/best.safetensors photos/ --draw drawn/ --score 0.4
  ioukit predict run/best.safetensors photos/ --json detections.json
"""


def predict(
    network: Annotated[Path, typer.Argument(metavar="NETWORK", help="What training wrote: best.safetensors.")],
    images: Annotated[list[Path], typer.Argument(metavar="IMAGES...", help="Files, or folders of images.")],
    *,
    draw: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Draw the boxes on copies of the images here.")
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write COCO results: image_id counts the images from 1, category_id classes."
        ),
    ] = None,
    score: Annotated[float, typer.Option(help="Leave out boxes of lower scores.")] = 0.25,
    iou: Annotated[float, typer.Option(help="Of two boxes of a class with a larger IoU, keep the better.")] = 0.5,
    max_dets: Annotated[int, typer.Option(min=1, metavar="N", help="Boxes an image, at most.")] = 100,
    batch: Annotated[int, typer.Option(min=1, metavar="N", help="Images at once.")] = 8,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, ... [default: cuda if there is one]")] = None,
    on_invalid: Annotated[str, typer.Option(help="An image that is none: error, or skip and name it.")] = "error",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on stderr but errors.")] = False,
) -> None:
    """Find objects in images: a line per box on stdout, and drawings or COCO results where they are asked for.

    A line is: image, class, score, and the corners x1 y1 x2 y2 in pixels, separated by tabs.
    """
    talk = Talk(quiet=quiet)
    with bad_use():
        if json is not None:
            check_output(json, images)
        from ioukit.torch.detector import predict as prediction  # noqa: PLC0415 - PyTorch takes a second
        from ioukit.torch.detector.checkpoint import load_model  # noqa: PLC0415

        model = load_model(network, device)

        files = [file for path in images for file in prediction.images_in(path)]
        if draw is not None:
            draw.mkdir(parents=True, exist_ok=True)
        results, left = [], list(enumerate(files, start=1))
        numbers = []
        for result in prediction.predict(
            model, files, score_threshold=score, iou_threshold=iou, max_detections=max_dets, batch=batch,
            on_invalid=on_invalid,  # type: ignore[arg-type]
        ):  # fmt: skip
            number, file = left.pop(0)
            while str(file) != result.image:
                talk.say(f"note skipped {printable(str(file))}: it cannot be read as an image")
                number, file = left.pop(0)
            numbers.append(number)
            results.append(result)
            for box, confidence, label in zip(
                result.boxes.xyxy.tolist(), result.boxes.conf.tolist(), result.boxes.cls.tolist(), strict=True
            ):
                name = result.names[label] if result.names else str(label)
                corners = "\t".join(f"{number:.1f}" for number in box)
                print_result(f"{printable(str(result.image))}\t{printable(name)}\t{confidence:.3f}\t{corners}")
            if draw is not None:
                _save(prediction.draw(result), draw / f"{Path(str(result.image)).stem}.png")
        for _, file in left:
            talk.say(f"note skipped {printable(str(file))}: it cannot be read as an image")
        if json is not None:
            records = prediction.to_coco(results, numbers, range(1, model.config.num_classes + 1))
            write_whole(json, json_module.dumps(records) + "\n")
            talk.say(f"wrote {json}")
    talk.say(f"found {sum(len(result.boxes) for result in results):,} boxes in {len(results):,} images")


def _save(pixels: Any, path: Path) -> None:
    from PIL import Image  # noqa: PLC0415 - an extra

    Image.fromarray(pixels).save(path)
