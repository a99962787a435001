"""`ioukit agree`: do annotators of the same images agree?"""

import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ioukit._output import printable
from ioukit.cli._arguments import LevelOption, ThreadsOption
from ioukit.cli._compared_models import model_names
from ioukit.cli._data_files import Reader, Source, input_files
from ioukit.cli._errors import bad_input, bad_output, bad_use
from ioukit.cli._output import AnswerOptions
from ioukit.cli._report import ReportOptions
from ioukit.cli._rules import KindOption, kind_of


def agree(
    files: Annotated[
        list[Path], typer.Argument(metavar="A B...", help="The annotations of each annotator: any known format.")
    ],
    *,
    names: Annotated[
        list[str] | None,
        typer.Option("--name", metavar="NAME", help="Name of an annotator, in order. [default: that of the file]"),
    ] = None,
    iou_threshold: Annotated[
        float, typer.Option(metavar="IOU", help="The least IoU of regions that are one object.")
    ] = 0.5,
    iou_type: KindOption = "bbox",
    level: LevelOption = 0.95,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Also write what they agree on, as a file of COCO (.json)."
        ),
    ] = None,
    consensus: Annotated[
        Literal["union", "intersection", "majority"] | None,
        typer.Option(
            help="With --output: the objects of any, of all, or of most of the annotators. [default: majority]"
        ),
    ] = None,
    page: ReportOptions,
    threads: ThreadsOption = None,
    answer: AnswerOptions,
) -> None:
    """Compare two or more annotations of the same images: none of them is the truth.

    Regions are paired one to one, the most pairs first. F1 counts pairs of one class; mean IoU, Cohen's kappa and
    Krippendorff's alpha are of pairs of any class. Limits in brackets are for endlessly many images of this kind.

    Examples:
      ioukit agree ann.json bob.json
      ioukit agree ann.json bob.json eve.json --output majority.json
      ioukit agree ann/ bob/ --iou-type segm --json | jq .alpha.value
      ioukit agree ann.json bob.json --report agreement.html --images photos/
      ioukit view ann.json bob.json --annotators
    """
    start, talk = time.perf_counter(), answer.talk()
    sources = input_files(*files)
    with bad_use():
        if len(files) < 2:
            raise typer.BadParameter(f"expected the annotations of at least two annotators, got {len(files)}")
        page.check(sources)
        answer.check(sources, {"--output": output, "--report": page.report})
        if output is not None and output.suffix != ".json":
            raise typer.BadParameter(f"expected a name that ends with .json, got {output.name}", param_hint="--output")
        if consensus is not None and output is None:
            raise typer.BadParameter("needs --output, the file to write", param_hint="--consensus")
        kind = kind_of(iou_type)
        known = model_names(names, files)
    for path in dict.fromkeys(one for one in files if files.count(one) > 1):
        talk.say(f"note {printable(str(path))} is compared with itself")
    reader = Reader("error", threads, talk)
    annotations: dict[str, Any] = {
        name: reader.side(Source(path), None, alone=True) for name, path in zip(known, sources, strict=True)
    }
    with bad_input(), bad_use(), talk.busy("comparing annotations"):
        from ioukit import comparison, datasets  # noqa: PLC0415 - `ioukit --help` waits for no evaluation

        found = comparison.agree(
            annotations, iou_threshold=iou_threshold, iou_type=kind.name, level=level, threads=threads
        )
    said = {note for one in annotations.values() for note in one.notes}
    for note in (one for one in found.notes if one not in said):
        talk.say(f"note {printable(note)}")
    if output is not None:
        with bad_output():
            datasets.write(found.consensus(consensus or "majority"), output, "coco")
        talk.say(f"wrote {printable(str(output))}")
    page.write("write_agreement", found, found.annotations, talk)
    done = f"done {len(found.objects):,} objects of {len(known)} annotators  {time.perf_counter() - start:.2f} s"
    answer.give(found.table, found.to_json, talk, done=done)
