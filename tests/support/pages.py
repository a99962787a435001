"""The programs and commands in pages of Markdown, and the output that the pages show for them."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from support.paths import DEMO, ROOT

__all__ = ["PAGES", "Example", "Programs", "commands", "examples"]

PAGES = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("**/*.md"))]

# Packages that an example may need, and that may not be installed.
_OPTIONAL = (
    "dask", "jax", "matplotlib", "pandas", "PIL", "polars", "pyarrow", "pyspark", "ray", "shapely", "torch",
    "torchmetrics", "torchvision",
)  # fmt: skip

# Warnings that other packages get from each other.
_NOT_OURS = (
    "ignore::DeprecationWarning:dask.dataframe.io.parquet.arrow",
    "ignore::FutureWarning:pyspark.sql.pandas.functions",
)

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# Each line of the input is a page: its folder, and its programs, which share their names. The line of the answer is
# what each program prints, or lacks. A page has a process of its own: a copy of this one, which has imported only slow
# packages of others. Where processes are not copied, as on Windows, the first page is the last.
_RUNNER = f"""
import contextlib, gc, io, json, os, sys, traceback, warnings
for slow in ("numpy", "matplotlib.backends.backend_agg"):
    with contextlib.suppress(ModuleNotFoundError):
        __import__(slow)
gc.freeze()  # else each copy looks for garbage in all of it, which takes longer than most pages

def run(programs):
    names, answers = {{"__name__": "__main__"}}, []
    for program in programs:
        printed, lacks, error = io.StringIO(), None, None
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(program, "<page>", "exec"), names)
        except ModuleNotFoundError as missing:
            lacks = missing.name if missing.name in {_OPTIONAL!r} else None
            error = None if lacks else traceback.format_exc()
        except Exception:
            error = traceback.format_exc()
        answers.append([printed.getvalue(), lacks, error])
    return answers

for line in sys.stdin:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads, which NumPy has and does not use yet
        child = os.fork() if hasattr(os, "fork") else 0
    if not child:
        folder, programs = json.loads(line)
        os.chdir(folder)
        print(json.dumps(run(programs)), flush=True)
        gc.freeze()
        break
    if os.waitpid(child, 0)[1]:
        sys.exit("the process of a page failed")
"""


@dataclass(frozen=True)
class Example:
    """A block of code on a page."""

    page: str
    line: int
    kind: str
    """``python`` (runs), ``py`` (compiles) or ``sh``."""
    code: str
    printed: str | None
    """The block of text after it, before the next code."""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def examples(page: str) -> list[Example]:
    """All examples of a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found: list[Example] = []
    answered = True
    for block in _BLOCK.finditer(text):
        if block[1] in ("python", "py", "sh"):
            found.append(Example(page, text.count("\n", 0, block.start()) + 2, block[1], block[2], None))
            answered = block[1] == "py"
        elif block[1] == "text" and not answered:
            last = found.pop()
            found.append(Example(last.page, last.line, last.kind, last.code, block[2]))
            answered = True
    return found


class Programs:
    """Runs the programs of pages."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(self, programs: list[str], folder: Path) -> list[tuple[str, str | None, str | None]]:
        """For each program its output, the module that it lacked, and its traceback; they share their names."""
        (folder / "examples").symlink_to(ROOT / "examples")
        shutil.copytree(DEMO, folder / "ioukit-demo")
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps([str(folder), programs]) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if not answer or not hasattr(os, "fork"):
            self.close()
        return [(printed, lacks, error) for printed, lacks, error in json.loads(answer)]

    def close(self) -> None:
        """Ends the process, which must have ended well."""
        process, self._process = self._process, None
        if process is not None:
            process.communicate()
            assert process.returncode == 0

    @staticmethod
    def _start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-W", "error", *(f"-W{one}" for one in (*_NOT_OURS, *sys.warnoptions)), "-c", _RUNNER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # Python drops options of -W that are in PYTHONWARNINGS, too.
            env={**os.environ, "MPLBACKEND": "agg", "PYTHONWARNINGS": ""},
        )


def commands(code: str) -> list[list[str]]:
    """The arguments of each line that calls ``ioukit``, up to a pipe or a redirection."""
    lines = code.replace("\\\n", " ").splitlines()
    words = [shlex.split(line, comments=True) for line in lines]
    found = [line[1:] for line in words if line and Path(line[0]).name == "ioukit"]
    return [line[: next((at for at, word in enumerate(line) if word in ("|", ">")), len(line))] for line in found]
