"""What detectors return, as detections. No tool is imported; its objects are read by attribute."""
