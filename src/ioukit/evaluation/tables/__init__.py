"""Results as tables: columns with names, types and meanings, for data frames and files."""
