"""Joins and NMS of boxes larger than memory: cut into cells, each of which is a task."""
