"""Losses as modules and with native code, and metrics of training loops."""

from ioukit.torch import losses as losses
from ioukit.torch.metrics.mean_average_precision import MeanAveragePrecision

__all__ = ["MeanAveragePrecision", "losses"]
