"""How good is a segmentation of whole images? Every pixel belongs to one segment or one class."""
