"""The rules of the check, one file per family."""
