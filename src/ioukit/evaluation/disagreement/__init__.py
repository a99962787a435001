"""Why do two tools give two numbers? One data set under many protocols, and the walk from one number to another."""
