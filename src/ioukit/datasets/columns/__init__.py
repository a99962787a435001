"""The one form in which data sets are held: ground truth and detections as columns."""
