"""The collector of cycles is off within a block, and afterwards as it was before."""

from __future__ import annotations

import gc
import weakref

import pytest

from ioukit._collector import collector_off, made_to_last


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


class Cycle:
    """Garbage as soon as nobody else has it."""

    def __init__(self) -> None:
        self.itself = self


def test_what_is_made_to_last_is_old_and_garbage_is_not() -> None:
    gc.collect()
    garbage = weakref.ref(Cycle())
    with made_to_last(20_000):
        assert not gc.isenabled()
        assert garbage() is None
        made: list[list[int]] = [[] for _ in range(100)]
    assert gc.isenabled()
    old = {id(one) for one in gc.get_objects(generation=2)}
    assert {id(one) for one in made} <= old
    assert gc.get_freeze_count() == 0


def test_what_a_program_has_frozen_stays_frozen() -> None:
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with made_to_last(20_000):
            made: list[list[int]] = [[]]
        assert gc.get_freeze_count() == frozen
        assert id(made[0]) in {id(one) for one in gc.get_objects(generation=0)}
    finally:
        gc.unfreeze()


@pytest.mark.parametrize(("count", "on"), [(10, True), (20_000, False)])
def test_few_objects_stay_new_and_the_collector_as_it_was(count: int, on: bool) -> None:
    if not on:
        gc.disable()
    try:
        with made_to_last(count):
            made: list[list[int]] = [[]]
        assert gc.isenabled() == on
        assert id(made[0]) in {id(one) for one in gc.get_objects(generation=0)}
    finally:
        gc.enable()
