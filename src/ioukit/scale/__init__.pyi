"""What if it does not fit? Evaluation of data larger than memory, and over many machines."""

from ioukit.scale.evaluating import evaluate
from ioukit.scale.planning import Plan, plan

__all__ = ["Plan", "evaluate", "plan"]
