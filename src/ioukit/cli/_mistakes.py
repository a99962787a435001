"""What to do next, for words that a command does not take: an unknown command or option, one path too many.

Owns: the words that people have for options, and the sentences that a wrong order is answered with. Does not own: wrong
values (`ioukit._near_names` has the near ones; who reads a value refuses it).
"""

import os
import shlex
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from ioukit._near_names import did_you_mean, near_names, suggest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_COMMANDS = {
    "evaluate": "eval", "evaluation": "eval", "score": "eval", "metrics": "eval", "map": "eval", "coco": "eval",
    "ap": "eval", "diff": "compare", "versus": "compare", "validate": "check", "lint": "check", "verify": "check",
    "stats": "inspect", "info": "inspect", "describe": "inspect", "visualize": "view", "browse": "view", "ui": "view",
    "app": "view", "errors": "eval --errors", "tide": "eval --errors", "report": "eval --report", "plot": "figures",
    "plots": "figures", "draw": "figures", "filter": "nms", "fuse": "nms", "wbf": "nms", "ensemble": "nms",
    "threshold": "operate", "calibrate": "operate", "split": "subset", "sample": "subset", "join": "merge",
    "export": "convert", "rename": "remap", "list": "runs", "log": "runs", "detect": "predict", "infer": "predict",
    "env": "doctor", "version": "--version", "pq": "panoptic", "hota": "tracks", "mota": "tracks",
    "tracking": "tracks", "trackeval": "tracks", "shapes": "make-shapes", "completions": "completion",
    "kappa": "agree", "annotators": "agree", "agreement": "agree",
    "refcoco": "grounding", "cgf1": "grounding --concepts", "sam3": "grounding --concepts",
}  # fmt: skip

_OPTIONS = {
    "--score-threshold": ("conf", "confidence", "conf-thres", "conf-threshold", "score", "score-thr", "min-score"),
    "--iou-thresholds": ("iou", "iou-threshold", "iou-thr", "iou-thres", "iou-thrs", "ious", "thresholds", "threshold"),
    "--iou-threshold": ("iou", "iou-thresholds", "iou-thr", "iou-thres", "nms-threshold", "threshold"),
    "--max-dets": ("max-det", "max-detections", "maxdets", "max-per-image", "topk", "top-k"),
    "--iou-type": ("type", "task", "kind", "kinds", "region"),
    "--protocol": ("rules", "dataset", "style", "benchmark"),
    "--classes": ("class", "category", "categories", "cat", "cats", "cat-ids"),
    "--class-agnostic": ("agnostic", "single-cls", "no-classes", "ignore-classes"),
    "--areas": ("area", "area-range", "area-ranges", "area-rng", "sizes", "size"),
    "--report": ("html", "page", "output", "out", "o", "save"),
    "--json": ("output", "out", "o", "save", "output-format", "save-json", "out-json"),
    "--output": ("out", "save", "save-to", "to-file"),
    "--images": ("image-dir", "images-dir", "image-folder", "img-dir", "img", "photos", "image-root"),
    "--threads": ("workers", "jobs", "j", "num-workers", "n-jobs", "cores"),
    "--quiet": ("silent", "no-verbose"),
    "--to": ("output-format", "target", "out-format", "format"),
    "--format": ("input-format", "from", "source-format"),
    "--gt-format": ("format", "from", "input-format"),
    "--dt-format": ("format", "from", "input-format"),
    "--intervals": ("ci", "bootstrap", "confidence-intervals", "confidence"),
    "--replicates": ("bootstrap", "n-boot", "samples", "resamples"),
    "--fail-if-worse": ("fail-on-worse", "fail-if-lower", "fail-on-regression", "gate", "strict"),
    "--at-least": ("fail-under", "min", "minimum", "require"),
    "--log": ("db", "ledger", "database", "runs"),
    "--name": ("names", "label", "model", "models", "run"),
    "--per-class": ("classwise", "all-classes", "verbose"),
    "--seed": ("random-state", "random-seed"),
    "--csv": ("table", "save-csv"),
    "--rule": ("precision", "recall", "f1", "cost", "fppi", "target"),
}
"""What else people type for an option."""

_ELSEWHERE = {
    "--score-threshold": "; AP needs all scores: ioukit nms DT -o KEPT --score-threshold 0.25 leaves out others"
}

_SAID = dict.fromkeys(
    ("metric", "metrics"), "; all numbers are printed: --json has them for programs, and --at-least AP50=0.5 checks one"
)
"""What to say about a word that stands for no option."""

_SAID_BY = {
    "figures": dict.fromkeys(("format", "formats", "ext", "dpi", "to"), "; each figure is written as PDF and as SVG"),
}
"""The same of words that stand for an option of other commands."""

_PATHS = (
    "gt",
    "dt",
    "ground-truth",
    "ann",
    "anns",
    "res",
    "detections",
    "pred",
    "preds",
    "predictions",
    "results",
    "annotations",
    "a",
    "b",
)

_OUTPUTS = ("o", "output", "out", "save", "save-to", "to-file")
"""What else people type before the path of what is written, where it stands alone."""

_TOO_MANY = {
    "eval": "ioukit compare GT A B compares models",
    "labels": "give the detections of one model; ioukit compare GT A B compares models",
    "slices": "ioukit slices GT A --than B shows where B is worse than A",
    "operate": "ioukit compare GT A B compares models",
    "protocols": "ioukit compare GT A B compares models",
    "check": "--train PATH names the ground truth of the training set",
    "inspect": "ioukit eval GT DT evaluates detections, and ioukit check GT DT looks for mistakes",
    "convert": "the format is given with --to; ioukit merge makes one data set of several",
    "subset": "ioukit subset IN OUT --classes person keeps classes",
    "remap": "the names are given with --classes FILE",
    "gate": "ioukit gate GT BASELINE CANDIDATE takes three files",
}
"""What to do with more paths than a command takes."""


def no_command(words: "Sequence[str]", known: "Iterable[str]") -> str:
    """What to say about a command line that begins with no command."""
    name = words[0]
    if os.path.exists(name) or "/" in name or name.lower().endswith((".json", ".txt", ".csv", ".yaml", ".db")):
        does = {1: "inspect shows what it holds", 2: "eval evaluates"}.get(len(words), "compare compares")
        command, _, rest = does.partition(" ")
        return f"a command comes first, got {name!r}: {shlex.join(['ioukit', command, *words])} {rest}"
    meant = [_COMMANDS[name.lower()]] if name.lower() in _COMMANDS else near_names(name, [*known, "--version"])
    return f"no such command: {name!r}{did_you_mean(meant) or '; ioukit --help lists all'}"


def explain(error: Any, command: Any, ctx: Any, words: "Sequence[str]") -> None:
    """Puts into an error of Typer what to do next.

    Args:
        error: The error.
        command: The command that was called.
        ctx: Its call.
        words: What stands behind the command.
    """
    kind = type(error).__name__  # Typer names only some of these classes
    if kind == "NoSuchOption":
        error.message, error.possibilities = f"{error.message}{_of_option(error.option_name, command, ctx)}", None
    elif kind == "MissingParameter":
        lines = map(str.strip, (command.epilog or "").splitlines())
        example = next((line for line in lines if line.startswith(f"{ctx.command_path} ")), "")
        error.message = f"For example: {example}" if example else ""
    elif kind == "BadOptionUsage":
        option = next((one for one in command.get_params(ctx) if error.option_name in one.opts), None)
        error.message = error.message.rstrip(".") + (f": {option.make_metavar(ctx)}" if option else "")
    elif kind == "BadParameter":
        choices = getattr(getattr(error.param, "type", None), "choices", None)
        given = error.message.split("'")[1] if choices and "'" in error.message else ""
        unit = "; the width is in inches" if getattr(error.param, "metavar", None) == "INCHES" else ""
        error.message = error.message.rstrip(".") + suggest(given, choices or ()) + unit
    elif error.message.startswith("Got unexpected extra"):
        names = " ".join(one.make_metavar(ctx) for one in command.params if one.param_type_name == "argument")
        extra = error.message[error.message.rindex("(") + 1 : error.message.rindex(")")]
        hint = _of_list(extra.split(" "), command, words) or _TOO_MANY.get(command.name, "")
        error.message = (
            f"expected {names or 'no paths'}, got {shlex.quote(extra) if ' ' not in extra else extra}, too"
            f"{hint and f'; {hint}'}"
        )


def _of_list(extra: "Sequence[str]", command: Any, words: "Sequence[str]") -> str:
    """How to give an option several values, if what is too much stands behind the value of one; else nothing."""
    at = words.index(extra[0]) if extra[0] in words else 0
    option = next((one for one in command.params if at > 1 and words[at - 2] in one.opts), None)
    values = [words[at - 1], *takewhile(lambda word: not word.startswith("-"), words[at:])] if option else []
    if option is None or not set(values[1:]) <= {*extra}:
        return ""
    name = words[at - 2]
    if option.metavar == "LIST":
        return f"write {name} {shlex.quote(','.join(values))}"
    return f"repeat it: {' '.join(f'{name} {shlex.quote(value)}' for value in values)}" if option.multiple else ""


def _of_option(option: str, command: Any, ctx: Any) -> str:
    """The end of a message about an unknown option."""
    known = [name for one in command.get_params(ctx) for name in one.opts if name.startswith("--")] + ["--help-all"]
    word = option.lstrip("-").lower().replace("_", "-")
    meant = [name for name, words in _OPTIONS.items() if word in words]
    said = {**_SAID_BY.get(command.name, {}), **(_SAID if "--at-least" in known else {})}
    if word in said:
        return said[word]
    writes = any(one.metavar == "OUT" for one in command.params if one.param_type_name == "argument")
    here = [name for name in meant if name in known]
    if here and not (writes and word in _OUTPUTS):
        return did_you_mean(here)
    if word in _PATHS or (writes and word in _OUTPUTS):
        return f"; paths stand alone: {ctx.get_usage().removeprefix('Usage: ')}"
    commands = (
        {}
        if ctx.parent is None
        else {name: ctx.parent.command.get_command(ctx, name) for name in ctx.parent.command.list_commands(ctx)}
    )
    for wanted in (option, *meant):
        have = [name for name, other in commands.items() if any(wanted in one.opts for one in other.params)]
        if have:
            what = "it" if wanted == option else wanted
            return f"; {what} is an option of {', '.join(have)}{_ELSEWHERE.get(wanted, '')}"
    if near := near_names(word, [name.removeprefix("--") for name in known]):
        return did_you_mean([f"--{name}" for name in near])
    return f"; {ctx.command_path} --help lists them"
