"""`ioukit grounding`: are the regions found that words name?"""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ioukit._checks import pluralize
from ioukit._output import printable
from ioukit.cli._arguments import RULES, ThreadsOption, complete_kind
from ioukit.cli._data_files import GroundTruthPath, Reader, Source, input_files, open_source, with_attributes
from ioukit.cli._errors import bad_input, bad_use, bad_value
from ioukit.cli._output import AnswerOptions
from ioukit.cli._rules import kind_of, parse_list
from ioukit.cli._streams import Talk

if TYPE_CHECKING:
    from ioukit.datasets import GroundTruth


def grounding(
    ground_truth: GroundTruthPath,
    results: Annotated[
        Path,
        typer.Argument(metavar="RESULTS", help="What a model found; - is stdin. Boxes of expressions need no scores."),
    ],
    *,
    concepts: Annotated[
        bool, typer.Option("--concepts", help="All regions of a phrase per image, as SAM 3 is evaluated: cgF1.")
    ] = False,
    annotators: Annotated[
        list[Path] | None,
        typer.Option(
            "--annotators",
            metavar="FILE",
            help="With --concepts: ground truth of a further annotator; the best counts per image. Can be repeated.",
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LIST",
            help="Of expressions: numbers per value of a column of GT, or per combination: platform,data_type.",
        ),
    ] = None,
    iou_type: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            autocompletion=complete_kind,
            rich_help_panel=RULES,
            help="With --concepts: the kind of region, bbox or segm. [default: segm]",
        ),
    ] = None,
    score_threshold: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=RULES, help="With --concepts: the score from which detections count. [default: 0.5]"
        ),
    ] = None,
    threads: ThreadsOption = None,
    answer: AnswerOptions,
) -> None:
    """Evaluate regions that words name: one per expression, as in RefCOCO, or all of a concept, as in SA-Co.

    Of expressions: Acc@0.5, Acc@0.5:0.95, mean IoU, and how often the centre of the answer lies in the box. An image
    has one object, or the class of an object is its expression. With --by, a line per part, their mean, and all.

    Of concepts (--concepts): the numbers of SAM 3's program to the last bit. An image stands for a picture and a
    phrase.

    The table is in percent. In JSON, numbers are between 0 and 1, and null where undefined.

    Examples:
      ioukit grounding refcoco.csv answers.csv
      ioukit grounding screenspot.csv clicks.csv --by platform,data_type
      ioukit grounding gold_a.json found.json --concepts --annotators gold_b.json --annotators gold_c.json
      ioukit grounding gold_a.json found.json --concepts --iou-type bbox --json | jq .summary.cgF1
    """
    start, talk = time.perf_counter(), answer.talk()
    gt_path, dt_path, *further = input_files(ground_truth, results, *(annotators or ()))
    with bad_use():
        of_concepts = {"--annotators": annotators, "--iou-type": iou_type, "--score-threshold": score_threshold}
        for option, value in of_concepts.items():
            if value is not None and not concepts:
                raise typer.BadParameter("needs --concepts; expressions are of boxes", param_hint=option)
        if by and concepts:
            raise typer.BadParameter("is for expressions, without --concepts", param_hint="--by")
        answer.check([gt_path, dt_path, *further])
        kind = kind_of(iou_type or "segm")
    with bad_input(), talk.busy("comparing regions"):
        from ioukit import evaluation  # noqa: PLC0415 - `ioukit --help` waits for no evaluation

        found: Any
        if concepts:
            least = 0.5 if score_threshold is None else score_threshold
            with bad_use():  # the threshold, which only the scores can deny
                found = evaluation.evaluate_concepts(
                    [gt_path, *further], dt_path, iou_type=kind.name, score_threshold=least, threads=threads
                )
        else:
            found = evaluation.evaluate_expressions(_truth(gt_path, by, threads, talk), dt_path, threads=threads)
        with bad_value("--by"):
            shown = found.by(*parse_list(by)) if by else found
    for note in found.notes:
        talk.say(f"note {printable(note)}")
    named = ((name.split("_"), number) for name, number in found.counts.items())
    counts = "  ".join(" ".join([pluralize(number, noun[:-1]), *rest]) for (noun, *rest), number in named)
    answer.give(shown.table, shown.to_json, talk, done=f"done {counts}  {time.perf_counter() - start:.2f} s")


def _truth(path: Path, by: list[str] | None, threads: int | None, talk: Talk) -> "Path | GroundTruth":
    """The file, or what is in it with all columns if numbers by columns are asked for."""
    if not by:
        return path
    return open_source(with_attributes(Source(path))).read(Reader("error", threads, talk))
