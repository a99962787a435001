"""`ioukit compare`: is one model better than another, and what changed?"""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ioukit.cli._arguments import GroundTruthPath, QuietOption, ThreadsOption
from ioukit.cli._compared_models import models_of_files, models_of_runs
from ioukit.cli._data_files import size_of
from ioukit.cli._errors import bad_output, bad_use
from ioukit.cli._json import JsonOutput, file_of, json_option
from ioukit.cli._option_groups import ReadingOptions, RuleOptions
from ioukit.cli._output import print_result, printable, write_markdown, write_whole
from ioukit.cli._report import check_report, write_comparison
from ioukit.cli._result_files import check_outputs
from ioukit.cli._standard_input import input_files
from ioukit.cli._talk import Talk

if TYPE_CHECKING:
    from ioukit.comparison import ModelComparison

__all__ = ["EXAMPLES", "compare_files"]

# A spinner for a tenth of a second would only flicker.
_LONG_WORK = 1_000_000  # bytes of input, which are evaluated thousands of times

EXAMPLES = """\b
Examples:
  ioukit compare gt.json a.json b.json
  ioukit compare gt.json a.json b.json --per-class --markdown "$GITHUB_STEP_SUMMARY"
  ioukit compare gt.json a.json b.json --report compared.html --images val2017/
  ioukit compare gt.json a.json b.json --clusters scenes.csv
  ioukit compare gt.json a.json b.json --strata cameras.csv:camera --replicates 10000
  ioukit compare gt.json a.json b.json --json | jq '.pairs[0].parts.images[:20]'
  ioukit compare gt.json a.json b.json c.json --name baseline --name wider --name longer
  ioukit compare --log runs.db main B
"""


# Long: the signature is the command line, a line or more per option.
def compare_files(
    ground_truth: GroundTruthPath,
    first: Annotated[Path, typer.Argument(metavar="A", help="Detections of the first model.")],
    others: Annotated[
        list[Path] | None,
        typer.Argument(metavar="B [C ...]", help="Detections of the models to compare with the first."),
    ] = None,
    *,
    log: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Compare runs of this ledger, without files of data: the arguments are then two or more runs, such as "
            "main, B@2 or @7.",
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Name of a model, once per model in order. [default: names of the files]"),
    ] = None,
    json: Annotated[
        JsonOutput | None,
        json_option("Print one JSON object instead of the text; with FILE, write it there and print the text."),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write the comparison as Markdown; the file of $GITHUB_STEP_SUMMARY is appended to.",
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write an HTML page: the numbers, what changed, A and B side by side."),
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="With --report: folder of the images, to show those that changed most."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the text to a file; print nothing.")
    ] = None,
    per_class: Annotated[
        bool, typer.Option("--per-class", help="Show every class, not only those that differ significantly.")
    ] = False,
    level: Annotated[float, typer.Option(metavar="P", help="Probability of the intervals.", show_default=True)] = 0.95,
    replicates: Annotated[
        int, typer.Option(min=2, metavar="N", help="Replicates of the bootstrap.", show_default=True)
    ] = 1000,
    permutations: Annotated[
        int, typer.Option(min=1, metavar="N", help="Permutations of the test.", show_default=True)
    ] = 1000,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Seed; the same one gives the same numbers.", show_default=True)
    ] = 0,
    strata: Annotated[
        str | None,
        typer.Option(
            metavar="CSV|NAME",
            help="Label of each image; replicates keep the number of images of each. A CSV file (image id or file "
            "name, label), FILE.csv:COLUMN, or an attribute of the images.",
        ),
    ] = None,
    clusters: Annotated[
        str | None,
        typer.Option(metavar="CSV|NAME", help="In the same way: images of one scene or video, drawn together."),
    ] = None,
    iou_threshold: Annotated[
        float | None,
        typer.Option(metavar="IOU", help="At which IoU threshold objects count as found or lost. [coco: 0.5]"),
    ] = None,
    score_threshold: Annotated[
        float | None,
        typer.Option(
            metavar="SCORE", help="At which score detections count as found. [default: that of each model's best F1]"
        ),
    ] = None,
    rules: RuleOptions,
    reading: ReadingOptions,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Say whether one model is better than another, and what changed.

    All numbers with intervals (bootstrap over images) and p-values (permutation test), objects found and lost, and the
    difference split over classes, sizes, kinds of errors and images. Three or more models are ranked.
    """
    clock = time.perf_counter()
    talk = Talk(quiet=quiet)
    words = [ground_truth, first, *(others or [])]
    sources = input_files(*words) if log is None else [log]
    from ioukit.cli._image_labels import label_files  # noqa: PLC0415 - `--help` does not need it

    with bad_use():
        check_report(report, images, sources, file_of(json))
        check_outputs(
            {"--json": file_of(json), "--markdown": markdown, "--output": output, "--report": report},
            [*sources, *label_files(strata, clusters)],
        )
        if not 0 < level < 1:
            raise typer.BadParameter(f"must be between 0 and 1, got {level}", param_hint="--level")
    settings: dict[str, Any] = {"level": level, "replicates": replicates, "permutations": permutations, "seed": seed}
    settings |= {"iou_threshold": iou_threshold, "score_threshold": score_threshold, "threads": threads}
    long = size_of(sources) > _LONG_WORK
    labels = {"strata": strata, "clusters": clusters}
    if log is None:
        models, found = models_of_files(sources, name, rules, reading, labels, iou_threshold, talk, threads, long=long)
    else:
        models, found = models_of_runs(log, words, name, rules, reading, labels, iou_threshold, images, threads)
    settings |= found
    from ioukit._checks import pluralize  # noqa: PLC0415 - loads NumPy

    for option, of_images in found.items():
        groups = sorted({printable(str(label)) for label in of_images.values()})
        example = f", such as {groups[0]}" if groups else ""  # shows that the wrong column was read
        talk.say(f"note --{option}: {pluralize(len(groups), 'group')} of images{example}")
    from ioukit.comparison import compare_models  # noqa: PLC0415 - `--help` does not need it

    with bad_use(), talk.busy(f"comparing: {replicates:,} replicates, {permutations:,} permutations", long=long):
        compared = compare_models(models, **settings)
    if report is not None:
        write_comparison(compared, report, images, talk, long=long)
    talk.say(f"done {time.perf_counter() - clock:.2f} s")
    _write(compared, talk, json=json, markdown=markdown, output=output, per_class=per_class)


def _write(
    compared: "ModelComparison",
    talk: Talk,
    *,
    json: JsonOutput | None,
    markdown: Path | None,
    output: Path | None,
    per_class: bool,
) -> None:
    """Writes the files that the options ask for, and prints the text or the JSON."""
    text = "\n".join(map(printable, compared.text(per_class=per_class).splitlines()))
    with bad_output():
        if json is not None and json.path is not None:
            json.write(compared.to_json(), talk)
        if markdown is not None:
            write_markdown(markdown, compared.to_markdown())
            talk.say(f"wrote {printable(str(markdown))}")
        if output is not None:
            write_whole(output, f"{text}\n")
            talk.say(f"wrote {printable(str(output))}")
    if json is not None and json.path is None:
        json.write(compared.to_json(), talk)
    elif output is None:
        print_result(text)
