"""May this model replace that one? Rules that compare a candidate with a baseline."""
