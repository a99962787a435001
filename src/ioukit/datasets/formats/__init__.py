"""Formats of data sets: a registry, and one file per format."""
