"""The texts of ``--help``: commands by what they are for, options under headings, and examples, all as wide as fits.

Owns: the order of the headings, and which of them only ``--help-all`` shows. Does not own: what an option says, nor the
heading that it stands under (both are where it is made).
"""

import re
import textwrap
from typing import TYPE_CHECKING, Any

from ioukit.cli import _arguments as headings

if TYPE_CHECKING:
    from collections.abc import Mapping

ORDER = (
    "Options", headings.RESULTS, headings.RULES, headings.CHECKS, headings.RUNS, headings.IMAGES, headings.READING,
    headings.STATISTICS, headings.LARGE,
)  # fmt: skip
"""The headings of options: the most wanted first. Those without a heading are the command's own."""

_EXAMPLES = {
    "ioukit eval gt.json dt.json": "AP and its relatives",
    "ioukit eval gt.json dt.json --report page.html": "curves, classes, errors",
    "ioukit compare gt.json a.json b.json": "is B better than A?",
    "ioukit view gt.json dt.json --images photos/": "what is found or missed",
}


def write_commands(formatter: Any, groups: "Mapping[str, Mapping[str, str]]") -> None:
    """The help of all commands.

    Args:
        formatter: Gets the text.
        groups: What each command does, by what it is for and its name.
    """
    formatter.write_usage("ioukit", "COMMAND [ARGS]...")
    formatter.write_paragraph()
    with formatter.indentation():
        formatter.write_text("Measure how good an object detector is, and see why.")
    width = max(len(name) for group in groups.values() for name in group)
    for title, group in groups.items():
        with formatter.section(title):
            formatter.write_dl([(f"{name:{width}}", text) for name, text in group.items()])
    with formatter.section("Examples"):
        formatter.write_dl(list(_EXAMPLES.items()), col_max=50)
    formatter.write_paragraph()
    for text in (
        "`ioukit COMMAND --help` shows what a command takes, with more examples. The pages in docs/ of the repository "
        "explain each task; docs/index.md lists them. `ioukit --version` prints the version.",
        "Results go to stdout, all else to stderr. Exit codes: 0 success, 1 a check failed, 2 wrong use or bad input.",
    ):
        formatter.write_text(text)


def write_options(command: Any, ctx: Any, formatter: Any, *, every: bool) -> None:
    """The arguments and options of a command.

    Args:
        command: The command.
        ctx: The call of it.
        formatter: Gets the text.
        every: Show also what only large data needs.
    """
    under: dict[str, list[tuple[str, str]]] = {"Arguments": [], **{title: [] for title in ORDER}}
    for param in command.get_params(ctx):
        if (record := param.get_help_record(ctx)) is not None:
            argument = param.param_type_name == "argument"
            title = "Arguments" if argument else getattr(param, "rich_help_panel", None) or "Options"
            if record[0] == "-h, --help":  # the last option: Click appends it
                title = headings.RESULTS if under[headings.RESULTS] else title
            under[title].append(record)
    hidden = [] if every else under.pop(headings.LARGE)
    for title, records in under.items():
        if records:
            with formatter.section(title):
                formatter.write_dl(records, col_max=26)
    if hidden:
        formatter.write_paragraph()
        names = ", ".join(re.sub(r"^-\w, ", "", record[0]).split(" ")[0] for record in hidden)
        formatter.write_text(f"`{ctx.command_path} --help-all` also shows {names}.")


def write_examples(text: str | None, formatter: Any) -> None:
    """The examples of a command. A line that is too long goes on behind a backslash, as a shell reads it."""
    if not text:
        return
    with formatter.section("Examples"):
        for line in text.splitlines():
            # An option stays with its value, and quotes stay whole.
            words = re.findall(r"""(?:--?\w[\w-]* (?![-|>]))?(?:[^\s'"]|'[^']*'|"[^"]*")+""", line)
            lines = [""]
            for word in words:
                longer = f"{lines[-1]} {word}".lstrip()
                if lines[-1] and len(longer) > formatter.width - 6:
                    lines[-1] += " \\"
                    lines.append(f"    {word}")
                else:
                    lines[-1] = longer
            formatter.write(textwrap.indent("\n".join(lines), " " * formatter.current_indent) + "\n")
