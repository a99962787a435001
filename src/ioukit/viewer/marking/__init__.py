"""Tags and notes, and downloads."""
