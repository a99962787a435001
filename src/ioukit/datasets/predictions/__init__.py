"""What detectors return, as detections: one file per tool. No tool is imported; its objects are read by attribute."""
