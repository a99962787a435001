"""How each kind of region that is no upright box is measured: one file per kind."""
