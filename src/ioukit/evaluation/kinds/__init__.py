"""Which regions can be evaluated? One file per kind of region, and the register of all kinds."""

from ioukit._boundary import BoxColumns, MaskColumns, PairColumns
from ioukit.evaluation.kinds.kind import Comparison, Kind, candidate_pairs, region_kind
from ioukit.evaluation.kinds.registry import REGION_KINDS, find_kind, register_kind

__all__ = [
    "REGION_KINDS",
    "BoxColumns",
    "Comparison",
    "Kind",
    "MaskColumns",
    "PairColumns",
    "candidate_pairs",
    "find_kind",
    "region_kind",
    "register_kind",
]
