"""`motmetrics.io`: files of MOTChallenge as data frames, and summaries as text."""

from __future__ import annotations

from enum import Enum
from typing import Any

from ioukit._optional import import_extra

__all__ = ["Format", "load_motchallenge", "loadtxt", "motchallenge_metric_names", "render_summary"]

_COLUMNS = ("FrameId", "Id", "X", "Y", "Width", "Height", "Confidence", "ClassId", "Visibility", "unused")

motchallenge_metric_names = {
    "idf1": "IDF1",
    "idp": "IDP",
    "idr": "IDR",
    "recall": "Rcll",
    "precision": "Prcn",
    "num_unique_objects": "GT",
    "mostly_tracked": "MT",
    "partially_tracked": "PT",
    "mostly_lost": "ML",
    "num_false_positives": "FP",
    "num_misses": "FN",
    "num_switches": "IDs",
    "num_fragmentations": "FM",
    "mota": "MOTA",
    "motp": "MOTP",
    "num_transfer": "IDt",
    "num_ascend": "IDa",
    "num_migrate": "IDm",
}
"""MOTChallenge's names of the metrics."""


class Format(Enum):
    """The formats that `loadtxt` reads; both are lines of numbers."""

    MOT16 = "mot16"
    """MOTChallenge 2016 and later."""
    MOT15_2D = "mot15-2D"
    """MOTChallenge 2015."""


def load_motchallenge(fname: Any, *, sep: str = r"\s+|\t+|,", min_confidence: float = -1) -> Any:
    """A file of MOTChallenge as a data frame, with an index of ``FrameId`` and ``Id``.

    Its columns are X, Y, Width, Height, Confidence, ClassId and Visibility. X and Y begin at 0; in the file, at 1.

    Args:
        fname: The path, or an open file.
        sep: What stands between numbers: a regular expression.
        min_confidence: Rows with less are left out. Ground truth needs 1, since rows with 0 do not count there.
    """
    pandas = import_extra("pandas", extra="pandas", needed_by="io.loadtxt")
    frame = pandas.read_csv(
        fname, sep=sep, skipinitialspace=True, header=None, names=_COLUMNS, index_col=[0, 1], engine="python"
    ).drop(columns="unused")
    frame[["X", "Y"]] -= 1
    return frame[frame["Confidence"] >= min_confidence]


def loadtxt(fname: Any, fmt: Format | str = Format.MOT15_2D, **kwargs: Any) -> Any:
    """A file as a data frame, see `load_motchallenge`.

    Args:
        fname: The path, or an open file.
        fmt: The format, or its name.
        **kwargs: As for `load_motchallenge`.

    Raises:
        ValueError: If the format is unknown.
    """
    Format(fmt)
    return load_motchallenge(fname, **kwargs)


def render_summary(summary: Any, formatters: Any = None, namemap: Any = None, buf: Any = None) -> Any:
    """A summary as text.

    Args:
        summary: A data frame of metrics, from `metrics.MetricsHost.compute`.
        formatters: Functions from values to text by metric, such as ``MetricsHost.formatters``.
        namemap: The names to show by metric, such as :data:`motchallenge_metric_names`.
        buf: Where to write it. If ``None``, it is returned.
    """
    if namemap is not None:
        summary = summary.rename(columns=namemap)
        formatters = formatters and {namemap.get(name, name): each for name, each in formatters.items()}
    return summary.to_string(buf=buf, formatters=formatters)
