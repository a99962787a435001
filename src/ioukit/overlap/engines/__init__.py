"""How regions other than upright boxes overlap: the register of engines, and the engines of the built-in kinds."""
