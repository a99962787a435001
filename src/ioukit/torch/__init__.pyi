"""Losses as modules and with native code, the formulas as few kernels, and metrics."""

from ioukit.torch import losses as losses
from ioukit.torch.compiling import compiled
from ioukit.torch.metrics.mean_average_precision import MeanAveragePrecision

__all__ = ["MeanAveragePrecision", "compiled", "losses"]
