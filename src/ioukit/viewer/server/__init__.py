"""The server of the page, and what stands before it."""
