"""Where a page comes from: its input files, its time, the software that made it, and how to look at the data again."""

from __future__ import annotations

import datetime
import hashlib
import os
import platform
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import _core
from ioukit._checks import check_result
from ioukit._output import printable
from ioukit.evaluation.kinds import find_kind
from ioukit.evaluation.protocols import PROTOCOLS, find_protocol
from ioukit.report._texts import abbreviate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ioukit.datasets import Categories
    from ioukit.evaluation import Evaluation


_SAME_FOR_ALL = frozenset({"annotations", "data", "detections", "labels", "predictions"})
"""Names of folders that say what a folder holds, and not of whom: Ultralytics, KITTI's and MOTChallenge's tools."""


@dataclass(frozen=True)
class InputFile:
    """A file that the data of a page were read from."""

    role: str
    name: str
    """The name without the folder, which readers of the report need not know."""
    size: int
    """Bytes."""
    sha256: str
    """The hash of its bytes when the page was written, in hexadecimal digits."""


def input_file(role: str, path: Path) -> InputFile:
    """The name, the size and the hash of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return InputFile(role, abbreviate(path.name), path.stat().st_size, digest.hexdigest())


def input_files(paths: Iterable[tuple[str, Path]]) -> tuple[InputFile, ...]:
    """Those of the inputs that are files, by their roles; a folder has too many files to list."""
    return tuple(input_file(role, path) for role, path in paths if path.is_file())


def input_paths(evaluation: Evaluation) -> list[tuple[str, Path]]:
    """The files and folders that the evaluated data were read from; data from memory have none."""
    check_result(evaluation, "ground_truth", "ioukit.evaluate")
    sources = (("Ground truth", evaluation.ground_truth), ("Detections", evaluation.detections))
    named = [(role, Path(one.source)) for role, one in sources if one is not None and one.source]
    return [(role, path) for role, path in named if path.exists()]


def name_of(paths: Iterable[tuple[str, Path]], role: str, otherwise: str = "") -> str:
    """What a page calls the input with a role; ``otherwise`` if there is none."""
    return next((abbreviate(_name_of_input(path)) for one, path in paths if one == role), otherwise)


def _name_of_input(path: Path) -> str:
    """What a person would call an input: the name of a file, the last name of a folder's path that tells it apart.

    Tools write each model's files into a folder called ``labels`` or ``data``, so the folder around it has the name:
    that of ``runs/exp3/labels`` is ``exp3``. Only names that the user wrote are taken, because a page need not say in
    whose folder it was made; ``.`` has none, so it is called as its folder is.
    """
    names = [name for name in path.parts if name not in ("..", path.anchor)] or [Path(os.path.abspath(path)).name]
    if not path.is_dir():
        return names[-1]
    return next((name for name in reversed(names) if name.lower() not in _SAME_FOR_ALL), names[-1])


def made_with() -> tuple[tuple[str, str], ...]:
    """The versions of the software."""
    return (
        ("ioukit", _core.__version__),
        ("Python, NumPy", f"{platform.python_version()}, {np.__version__}"),
        ("System", f"{platform.system()} {platform.machine()}"),
    )


def time_text(created: datetime.datetime | None) -> str:
    """The time as a page shows it; now if ``None``."""
    now = created or datetime.datetime.now(datetime.timezone.utc)
    return f"{now:%Y-%m-%d %H:%M}" + (f" {now:%Z}" if now.tzinfo is not None else "")


def view_command(
    evaluations: Sequence[Evaluation], folder: str | os.PathLike[str] | None, *, names: Sequence[str] = ()
) -> dict[str, Any] | None:
    """The words of ``ioukit view`` up to the filters, for ``assets/shared/commands.js``, which adds filters to them.

    Args:
        evaluations: One or several, on the same ground truth.
        folder: The folder of the photographs.
        names: The names of the models, if the page has some.

    Returns:
        ``None`` if some of the data did not come from files, because the command could not read them.
    """
    sources = (evaluations[0].ground_truth, *(evaluation.detections for evaluation in evaluations))
    files = ["" if source is None else source.source for source in sources]
    if not all(file and Path(file).exists() for file in files):
        return None
    # Names with invisible characters could do something else in a shell than what they look like.
    if any(printable(one) != one for one in (*files, *names)):
        return None
    paths = [_from_here(file) for file in files]
    paths = [f"./{file}" if file.startswith("-") else file for file in paths]  # a word with a hyphen is an option
    words = ["ioukit", "view", *paths, *(word for name in names for word in ("--name", name))]
    if folder is not None and printable(os.fspath(folder)) == os.fspath(folder):
        words += ["--images", _from_here(os.fspath(folder))]
    return {"before": [*words, *_rules(evaluations[0])], "ids": _by_id(evaluations[0].matches.categories)}


def _from_here(path: str) -> str:
    """The path without the working directory, which says who wrote the page."""
    here = f"{os.getcwd()}{os.sep}"
    return path.removeprefix(here) if os.path.isabs(path) else path


def _by_id(categories: Categories) -> dict[str, str]:
    """The classes that filters must name by their ids, because the page shows other names or names are not unique."""
    count = Counter(categories.names)
    return {
        str(place): f"id:{number}"
        for place, (number, name) in enumerate(zip(categories.ids.tolist(), categories.names, strict=True))
        if count[name] > 1 or abbreviate(name) != name or not name or name == "background" or name.startswith("id:")
    }


def _rules(evaluation: Evaluation) -> list[str]:
    """The options that name the kind of region and the protocol, where they are not the usual ones.

    A protocol with changes of one's own has no name that the command knows; the viewer then follows the usual one.
    """
    kind, protocol = evaluation.matches.iou_type, evaluation.protocol
    words = [] if kind == "bbox" else ["--iou-type", kind]
    if protocol == find_kind(kind).protocol:
        return words
    for name in PROTOCOLS:
        try:
            known = find_protocol(name, kind)
        except ValueError:  # not for this kind
            continue
        if known == protocol:
            return [*words, "--protocol", name]
    return words
