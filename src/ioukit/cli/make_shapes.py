"""`ioukit make-shapes`: a data set that needs no download."""

import time
from pathlib import Path
from typing import Annotated

import typer

from ioukit._checks import pluralize
from ioukit._output import printable
from ioukit.cli._errors import bad_input, bad_use
from ioukit.cli._output import QuietOption
from ioukit.cli._streams import Talk


def make_shapes(
    folder: Annotated[Path, typer.Argument(metavar="OUT", help="The folder to make: a new or an empty one.")],
    *,
    images: Annotated[int, typer.Option(min=1, metavar="N", help="How many images to draw.")] = 400,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Seed of the drawing: another seed draws another data set.")
    ] = 1,
    size: Annotated[str, typer.Option(metavar="PIXELS", help="Side of the images, or WIDTHxHEIGHT.")] = "416",
    val: Annotated[float, typer.Option(metavar="PART", help="The fraction of held-out images.")] = 0.2,
    to: Annotated[str, typer.Option(metavar="LIST", help="What to write: coco, yolo or both.")] = "coco,yolo",
    handwritten: Annotated[
        bool | None,
        typer.Option(
            "--handwritten/--typeset",
            help="Digits of scikit-learn or of a font. [default: handwritten, if scikit-learn is installed]",
        ),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Draw images of circles, ellipses, polygons, stars and digits, with exact boxes and masks.

    The same options draw the same images. The folder appears complete or not at all.

    Examples:
      ioukit make-shapes shapes --images 400 --seed 1
      ioukit make-shapes shapes --size 192 --val 0.25 --to yolo
    """
    from ioukit.datasets.shapes.writing import check_request  # noqa: PLC0415 - only this command needs it
    from ioukit.datasets.shapes.writing import make_shapes as draw  # noqa: PLC0415

    talk = Talk(quiet=quiet)
    start = time.perf_counter()
    sides = _sides(size)
    formats = [name.strip() for name in to.split(",")]
    with bad_use():
        check_request(folder, images=images, seed=seed, size=sides, val=val, formats=formats)
    with bad_input(), talk.busy(f"drawing {pluralize(images, 'image')}"):
        counts = draw(folder, images=images, seed=seed, size=sides, val=val, formats=formats, handwritten=handwritten)
    for split in ("train", "val"):
        talk.say(
            f"drew {split:5}  {pluralize(counts[split], 'image')}  {pluralize(counts[f'{split}_objects'], 'object')}"
        )
    talk.say(f"wrote {printable(str(folder))}  {time.perf_counter() - start:.2f} s")


def _sides(size: str) -> tuple[int, int]:
    parts = size.lower().split("x")
    if len(parts) not in (1, 2) or not all(part.strip().isdecimal() for part in parts):
        raise typer.BadParameter(f"expected PIXELS or WIDTHxHEIGHT, got {size!r}", param_hint="--size")
    return int(parts[0]), int(parts[-1])
