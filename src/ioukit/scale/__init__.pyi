"""What if it does not fit? Evaluation of data larger than memory, and over many machines."""

from ioukit.scale.evaluating import evaluate

__all__ = ["evaluate"]
