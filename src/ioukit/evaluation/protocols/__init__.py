"""The rules of an evaluation, as data: one file per protocol.

The public names are in the stub ``__init__.pyi``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit._exports import attach

# A protocol names the rule of its measures: all rules must be known before the first protocol is made, or read.
from ioukit.evaluation.protocols import coco as _coco  # noqa: F401
from ioukit.evaluation.protocols.protocol import register_measure_rule

if TYPE_CHECKING:
    from ioukit.evaluation.protocols.measures import Measure
    from ioukit.evaluation.protocols.protocol import Protocol


def _lvis_measures(protocol: Protocol) -> tuple[Measure, ...]:
    from ioukit.evaluation.protocols.lvis import lvis_measures  # noqa: PLC0415 - COCO needs no LVIS

    return lvis_measures(protocol)


def _kitti_measures(protocol: Protocol) -> tuple[Measure, ...]:
    from ioukit.evaluation.protocols.kitti import kitti_measures  # noqa: PLC0415 - as above

    return kitti_measures(protocol)


def _unranked_measures(protocol: Protocol) -> tuple[Measure, ...]:
    from ioukit.evaluation.protocols.unranked import unranked_measures  # noqa: PLC0415 - as above

    return unranked_measures(protocol)


register_measure_rule("lvis", _lvis_measures)
register_measure_rule("kitti", _kitti_measures)
register_measure_rule("unranked", _unranked_measures)

__getattr__, __dir__, __all__ = attach(__name__, __file__)
