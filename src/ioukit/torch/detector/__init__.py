"""A small YOLO detector to read and to train. Start with `model`, `train` and `predict`."""
