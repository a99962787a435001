"""What a format of files is: how it is recognised, read and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ioukit.datasets.columns.detections import Detections
    from ioukit.datasets.columns.ground_truth import GroundTruth


@dataclass(frozen=True)
class PossibleReading:
    """A way to read a file whose numbers do not say how they are meant."""

    options: Mapping[str, str]
    """The arguments of the reader that name it."""
    models: tuple[str, ...]
    """The models that write so: the argument ``model`` with one of them names it, too."""
    detections: Detections | None
    """What it reads; ``None`` if it does not fit the data."""
    why_not: str = ""
    """Why it does not."""
    records: int = 0
    """How many records of the file have a region in this reading."""
    num_records: int = 0
    """The records of the file."""
    beyond: int = 0
    """How many regions reach beyond their image."""


@dataclass(frozen=True)
class Format:
    """A kind of file, or of folder, that a data set can be read from or written to."""

    name: str
    """The name for the argument ``format``."""
    title: str
    """One line about the format, for lists of formats."""
    recognises: Callable[[Path], bool]
    """Whether a path has this format, by its name or its first bytes. It must not raise an error."""
    read: Callable[..., GroundTruth] | None = None
    """Reads ground truth: ``read(path, on_invalid=..., threads=...)``; ``None`` if the format holds none. The commands
    offer its further arguments as options ``NAME=VALUE``; their annotations say what a value is."""
    read_detections: Callable[..., Detections] | None = None
    """Reads detections in the same way; ``None`` if the format holds none."""
    needs_ground_truth: bool = False
    """Whether ``read_detections`` takes ``ground_truth=``, because the files lack something: the sizes of images."""
    readings: Callable[..., Sequence[PossibleReading]] | None = None
    """If ``read_detections`` refuses files until the user says how their numbers are meant: what may be said. It takes
    the same arguments, and returns nothing if they say enough."""
    write: Callable[..., Sequence[str]] | None = None
    """Writes ground truth: ``write(ground_truth, path)``; ``None`` if nothing can be written. It returns a note about
    everything that the files do not hold. The path is new: a file to write, or an empty folder if :attr:`suffix` is
    empty. What it writes gets its final name when it is complete."""
    write_detections: Callable[..., Sequence[str]] | None = None
    """Writes detections in the same way: ``write_detections(detections, path, ground_truth=...)``. The ground truth
    has the names of classes and images, and the sizes of images."""
    suffix: str = ""
    """The end of the name of a file that is written, such as ``.json``; empty if a folder is written."""
    detections_suffix: str = ""
    """The same for detections."""
    fractions: bool = False
    """Whether the files hold boxes in fractions of the image, and writers take such boxes. Others get pixels."""
    scores_optional: bool = False
    """Whether files of detections may lack scores, and writers leave out those of detections that have none."""
    by_name: bool = False
    """Whether the writers take ``name=``, the name that the file will have: its end may say that it is packed."""
