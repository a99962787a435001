"""Which images and marks a filter chooses, and what is counted of them."""
