"""Which runs were there? Evaluations in one file of SQLite, with everything that comparing them needs."""

from ioukit.ledger.inputs import InputFile
from ioukit.ledger.ledger import Ledger
from ioukit.ledger.run import Run

__all__ = ["InputFile", "Ledger", "Run"]
