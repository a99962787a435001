"""What is done with whole data sets: several become one, one becomes a part, classes get other names."""
