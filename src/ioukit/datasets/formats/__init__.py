"""The files that data sets are read from: a registry, and one file per format."""
