"""`ioukit figures`: figures and a table of one or more models for a paper."""

import io
import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ioukit._checks import check_choice
from ioukit._output import check_place, printable, write_whole
from ioukit.cli._arguments import (
    EnoughPermutationsOption,
    ModelNames,
    ResamplesOption,
    SeedOption,
    TestLevelOption,
    ThreadsOption,
)
from ioukit.cli._compared_models import LabelOptions, labelled_files, models_of_files
from ioukit.cli._data_files import GroundTruthPath, ReadingOptions, input_files
from ioukit.cli._errors import bad_output, bad_use, bad_value, missing_extra
from ioukit.cli._output import AnswerOptions
from ioukit.cli._rules import RuleOptions, parse_list

if TYPE_CHECKING:
    from ioukit.cli._streams import Talk
    from ioukit.comparison import ModelComparison

_FILES = (".pdf", ".svg", ".png", ".eps", ".tex")
_NEAR = 0.1  # the confusions and the kinds of errors need these pairs, too


# Long: its signature is the command line, a line or more per option.
def write_figures(
    ground_truth: GroundTruthPath,
    detections: Annotated[
        list[Path], typer.Argument(metavar="DT [DT ...]", help="Detections of up to six models, the first one as base.")
    ],
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to write into; files in it are replaced.")
    ] = Path("figures"),
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="LIST", help="Only these figures, such as precision_recall,confusion. [default: all]"),
    ] = None,
    width: Annotated[
        float,
        typer.Option(min=2.0, max=20.0, metavar="INCHES", help="How wide, in inches: 3.3 is a column, 6.9 a page."),
    ] = 3.3,
    name: ModelNames = None,
    level: TestLevelOption = 0.95,
    replicates: ResamplesOption = 1000,
    permutations: EnoughPermutationsOption = None,
    seed: SeedOption = 0,
    labels: LabelOptions,
    rules: RuleOptions,
    reading: ReadingOptions,
    threads: ThreadsOption = None,
    answer: AnswerOptions,
) -> None:
    """Write figures for a paper as PDF and SVG, and the numbers with their intervals as a LaTeX table.

    Precision over recall, AP by class, by IoU threshold and by size, scores, kinds of errors, confusions; of several
    models also their differences with intervals. Letters have 8 points, fonts are TrueType, and table.tex needs the
    package booktabs.

    Examples:
      ioukit figures gt.json a.json -o figures
      ioukit figures gt.json a.json b.json --name Baseline --name Ours -o figures
      ioukit figures gt.json a.json b.json --only differences,class_ap --width 6.9
    """
    clock = time.perf_counter()
    talk = answer.talk()
    sources = input_files(ground_truth, *detections)
    with missing_extra():
        from ioukit.plots import PAPER_FIGURES, paper_figures  # noqa: PLC0415 - `ioukit --help` does not need it
        from ioukit.plots._reading import MOST_MODELS  # noqa: PLC0415 - as above
    chosen = parse_list(only or ())
    with bad_use():
        if len(detections) > MOST_MODELS:
            raise typer.BadParameter(f"expected at most {MOST_MODELS} models, got {len(detections)}", param_hint="DT")
        answer.check([*sources, *labelled_files(*labels)])
        with bad_value("--output"):
            if output.suffix.lower() in _FILES and not output.is_dir():
                raise ValueError(f"expected a folder, which gets a PDF and an SVG of each figure, got {str(output)!r}")
            check_place(output)
        with bad_value("--only"):
            for one in chosen:
                check_choice("figure", one, PAPER_FIGURES)
    reader = reading.reader(threads, talk)
    models, found = models_of_files(sources, name, rules, reading, reader, labels, least=1, near=_NEAR)
    options: dict[str, Any] = {"level": level, "replicates": replicates, "seed": seed, "threads": threads, **found}
    labels.say(found, talk)
    with bad_use(), missing_extra():
        comparison: ModelComparison | None = None
        if len(models) > 1 and (not chosen or "differences" in chosen):
            from ioukit.comparison import compare_models  # noqa: PLC0415 - as above

            with talk.busy(f"comparing: {replicates:,} replicates", tells=True):
                comparison = compare_models(models, per_class=False, permutations=permutations, **options)
        from ioukit.report import latex_table  # noqa: PLC0415 - as above

        with talk.busy(f"intervals: {replicates:,} replicates", tells=True):
            files = {"table.tex": f"{latex_table(models, **options)}\n".encode()}
        with talk.busy("drawing"):
            figures = paper_figures(models, chosen or None, width=width, comparison=comparison, threads=threads)
            files |= _files(figures, talk)
    with bad_output():
        output.mkdir(parents=True, exist_ok=True)
        for file, content in files.items():
            write_whole(output / file, content)
    talk.say(f"wrote {printable(str(output))}: {', '.join(map(printable, files))}")
    table = files["table.tex"].decode()
    summary = {"output": str(output), "files": list(files), "table": table}
    done = f"done {time.perf_counter() - clock:.2f} s"
    # The table is for a program, so no line is broken.
    answer.give(lambda: table.rstrip("\n"), lambda: json.dumps(summary), talk, done=done, fit=False)


def _files(figures: dict[str, Any], talk: "Talk") -> dict[str, bytes]:
    """The figures as PDF and SVG, by names of files; says which there are not."""
    files: dict[str, bytes] = {}
    for stem, figure in figures.items():
        if isinstance(figure, str):
            talk.say(f"note  no figure {printable(stem)}: {figure}")
            continue
        safe = re.sub(r"[^\w.-]+", "_", stem)
        if f"{safe}.pdf" in files:  # names of models that differ in such signs alone
            safe += f"_{len(files)}"
        for kind in ("pdf", "svg"):
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind)
            files[f"{safe}.{kind}"] = buffer.getvalue()
    return files
