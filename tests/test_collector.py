"""The collector of cycles is off within a block, and afterwards as it was before."""

from __future__ import annotations

import gc

import pytest

from ioukit._collector import collector_off


def _fail_within() -> None:
    with collector_off():
        with collector_off():
            pass
        assert not gc.isenabled()
        raise ZeroDivisionError


@pytest.mark.parametrize("was_on", [True, False])
def test_the_switch_is_left_as_it_was(was_on: bool) -> None:
    (gc.enable if was_on else gc.disable)()
    try:
        with pytest.raises(ZeroDivisionError):
            _fail_within()
        assert gc.isenabled() == was_on
    finally:
        gc.enable()
