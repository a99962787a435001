"""What can I open? Pages to look at: one self-contained HTML file each.

The names are those of the stub beside this file.
"""

from ioukit._exports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
