"""What all tests of metrics share."""

from support.torch_threads import one_thread_of_torch

__all__ = ["one_thread_of_torch"]
