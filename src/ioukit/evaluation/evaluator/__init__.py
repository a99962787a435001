"""Evaluation batch by batch, for loops: what `update` takes, rows that grow, the class, processes that add up."""
