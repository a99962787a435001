"""A YOLO to read and to train: see `model`, `train` and `predict`, in that order."""
