"""What all tests share."""

import gc


def pytest_collection_finish() -> None:
    """Keep the garbage collector from going through thousands of tests again and again, which took 4 % of the time."""
    gc.freeze()
