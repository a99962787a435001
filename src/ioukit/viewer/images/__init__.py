"""What is drawn and said of an image, and its photograph."""
