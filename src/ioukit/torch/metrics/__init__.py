"""Metrics for training loops in PyTorch."""
