"""Where the steps of an evaluation in parts run, other than in this process."""
