"""The rules of an evaluation, as data."""
