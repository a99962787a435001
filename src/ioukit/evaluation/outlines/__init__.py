"""What does a region look like? Outlines that figures and pages draw, one file per kind of region."""
