"""Changes of ground truth and detections that mend a finding."""
