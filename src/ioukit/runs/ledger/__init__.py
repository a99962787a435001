"""Which runs were there? Evaluations in one file of SQLite, with everything that comparing them needs."""
