"""Pages to look at: one self-contained HTML file each."""

__all__: list[str] = []
