"""`ioukit compare`: is one model better than another, and what changed?"""

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ioukit._output import printable, terminal_width
from ioukit.cli._arguments import (
    CHECKS,
    RESULTS,
    RUNS,
    EnoughPermutationsOption,
    MarkdownOption,
    ModelNames,
    ResamplesOption,
    SeedOption,
    TestLevelOption,
    ThreadsOption,
)
from ioukit.cli._compared_models import LabelOptions, labelled_files, models_of_files, models_of_runs
from ioukit.cli._data_files import GroundTruthPath, ReadingOptions, input_files
from ioukit.cli._errors import bad_use
from ioukit.cli._ledger import is_ledger
from ioukit.cli._output import AnswerOptions, write_text
from ioukit.cli._report import ReportOptions
from ioukit.cli._rules import RuleOptions

if TYPE_CHECKING:
    from ioukit.cli._streams import Talk
    from ioukit.comparison import ModelComparison


# Long: the steps of a command, one after the other.
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
            rich_help_panel=RUNS,
            help="Compare runs that `ioukit eval --log FILE` has kept in this file, the ledger. The arguments are then "
            "two or more runs, such as main, B@2 or @7. The file may also be the first path.",
        ),
    ] = None,
    name: ModelNames = None,
    page: ReportOptions,
    markdown: MarkdownOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", rich_help_panel=RESULTS, help="Write the text to a file; print nothing."
        ),
    ] = None,
    per_class: Annotated[
        bool, typer.Option("--per-class", help="Show every class, not only those that differ significantly.")
    ] = False,
    fail_if_worse: Annotated[
        bool,
        typer.Option(
            "--fail-if-worse",
            rich_help_panel=CHECKS,
            help="Exit with 1 if the test shows that B is worse than A, with 2 if it cannot say: its number is "
            "undefined, or lower where there are too few images or permutations to show any difference.",
        ),
    ] = False,
    level: TestLevelOption = 0.95,
    replicates: ResamplesOption = 1000,
    permutations: EnoughPermutationsOption = None,
    seed: SeedOption = 0,
    labels: LabelOptions,
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
    answer: AnswerOptions,
) -> None:
    """Say whether one model is better than another, and what changed.

    All numbers with intervals (bootstrap over images) and p-values (permutation test), objects found and
    lost, and the difference split over classes, sizes, kinds of errors and images. Three or more models are ranked.

    Examples:
      ioukit compare gt.json a.json b.json
      ioukit compare gt.json main.json new.json --fail-if-worse
      ioukit compare gt.json a.json b.json --per-class --markdown "$GITHUB_STEP_SUMMARY"
      ioukit compare gt.json a.json b.json --report compared.html --images val2017/
      ioukit compare gt.json a.json b.json --clusters scenes.csv
      ioukit compare gt.json a.json b.json --strata cameras.csv:camera --replicates 10000
      ioukit compare gt.json a.json b.json --json | jq '.pairs[0].parts.images[:20]'
      ioukit compare gt.json a.json b.json c.json --name baseline --name wider --name longer
      ioukit compare runs.db main B
    """
    clock = time.perf_counter()
    talk = answer.talk()
    words = [ground_truth, first, *(others or [])]
    if log is None and is_ledger(ground_truth):
        log = words.pop(0)
    sources = input_files(*words) if log is None else [log]
    with bad_use():
        page.check(sources)
        written = {"--markdown": markdown, "--output": output, "--report": page.report}
        answer.check([*sources, *labelled_files(*labels)], written)
        if not 0 < level < 1:
            raise typer.BadParameter(f"must be between 0 and 1, got {level}", param_hint="--level")
    reader = reading.reader(threads, talk)
    if log is None:
        for path in dict.fromkeys(one for one in words[1:] if words[1:].count(one) > 1):
            talk.say(f"note {printable(str(path))} is compared with itself")
        models, found = models_of_files(sources, name, rules, reading, reader, labels, iou_threshold)
    else:
        models, found = models_of_runs(log, words, name, (rules, reading, page), labels, iou_threshold, threads)
    settings: dict[str, Any] = {"level": level, "replicates": replicates, "permutations": permutations, "seed": seed}
    settings |= {"iou_threshold": iou_threshold, "score_threshold": score_threshold, "threads": threads, **found}
    labels.say(found, talk)
    from ioukit.comparison import compare_models  # noqa: PLC0415 - `--help` does not need it

    with bad_use(), talk.busy(f"comparing: {replicates:,} replicates", tells=True):
        compared = compare_models(models, **settings)
    page.write("write_comparison", compared, compared.evaluations[0].ground_truth, talk)
    width = terminal_width() if output is None else 100
    text = "\n".join(map(printable, compared.text(per_class=per_class, width=width).splitlines()))
    if markdown is not None:
        write_text(markdown, compared.to_markdown(), talk)
    if output is not None:
        write_text(output, f"{text}\n", talk)
    done = f"done {time.perf_counter() - clock:.2f} s"
    answer.give((lambda: text) if output is None else None, compared.to_json, talk, done=done, verdict=True)
    if page.report is None:
        talk.suggest("--report", "compared.html")
    if fail_if_worse:
        _fail_if_worse(compared, talk)


def _fail_if_worse(compared: "ModelComparison", talk: "Talk") -> None:
    """Says what was decided, and ends with exit code 1 if a model is worse than the first; 2 if that cannot be told."""
    code = 0
    for pair in compared.pairs:
        a, b = map(printable, pair.names)
        key = pair.difference.key
        if math.isnan(pair.difference.difference):
            talk.say(f"undecided  {key} is undefined, so nothing is known of {b} and {a}")
            code = code or 2
        elif pair.outcome == "worse":
            talk.say(f"failed  {b} is worse than {a}: their {key} differs by more than chance")
            code = 1
        elif pair.shortage and pair.leans == "worse":
            talk.say(f"undecided  {key} of {b} is worse than that of {a}, and {pair.shortage}")
            code = code or 2
        elif pair.shortage:
            talk.say(f"passed  {key} of {b} is not worse than that of {a}; {pair.shortage}")
        else:
            shown = f"{b} is better than {a}" if pair.outcome else f"the test does not show that {b} is worse than {a}"
            talk.say(f"passed  {shown}")
    if code:
        raise typer.Exit(code)
