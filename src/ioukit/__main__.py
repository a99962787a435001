"""`python -m ioukit`: the same as the command `ioukit`."""

from ioukit.cli import main

main()
