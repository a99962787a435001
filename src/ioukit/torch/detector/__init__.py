"""A small YOLO detector, written to be read and trained: begin with `model`, `train` and `predict`."""
