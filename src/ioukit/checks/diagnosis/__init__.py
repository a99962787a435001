"""What looks wrong with regions or data sets, by the numbers alone."""
