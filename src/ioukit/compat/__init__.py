"""Names and signatures of other libraries, thin, on top of everything."""
