"""`ioukit eval --scores-missing`: one score for detections without scores, and how far their order moves AP.

Owns the option and when it is refused. Does not own the ranges (`evaluation/analysis/orders.py`).
"""

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from ioukit.cli._errors import bad_use, bad_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ioukit.cli._streams import Talk
    from ioukit.datasets import Detections
    from ioukit.evaluation import Evaluation, OrderRange, Protocol

_OPTION = "--scores-missing"


class OrderOptions(NamedTuple):
    """Whether detections without scores are ranked."""

    scores_missing: Annotated[
        float | None,
        typer.Option(
            metavar="SCORE",
            help="For detections without scores: give all of them this score, and show AP with the range in which it "
            "lies whatever their order; JSON: `orders`.",
        ),
    ] = None

    def check(self, protocol: "Protocol") -> None:
        """Refuses a protocol for which the range is not known.

        Raises:
            typer.BadParameter: If it is one, and the option is given.
        """
        if self.scores_missing is not None and protocol.why_no_order_range:
            raise typer.BadParameter(protocol.why_no_order_range, param_hint=_OPTION)

    def filled(self, dt: "Detections") -> "Detections":
        """The detections, with the score if it is given.

        Raises:
            typer.BadParameter: If they have scores, or this is no finite number.
        """
        if self.scores_missing is None:
            return dt
        with bad_value(_OPTION):
            return dt.with_equal_scores(self.scores_missing)

    def ranges(self, evaluation: "Evaluation", talk: "Talk", threads: int | None) -> "Mapping[str, OrderRange]":
        """The range of each AP over all orders; none if the option is not given."""
        if self.scores_missing is None:
            return {}
        with bad_use(), talk.busy("comparing orders"):
            return evaluation.order_ranges(threads=threads)
