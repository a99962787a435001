"""Where are the errors? Analyses of match tables."""
