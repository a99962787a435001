"""Regions that words name: one per expression, or all of a concept. Beside the match table: nothing is ranked."""
