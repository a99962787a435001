"""A local app to look through a data set."""

__all__: list[str] = []
