"""The results that were asked for last."""

from __future__ import annotations

import threading

from ioukit.viewer.answers.collection import Recent


def test_the_last_results_are_kept() -> None:
    made: list[str] = []
    kept = Recent[str, int](2)

    def of(key: str) -> int:
        return kept.of(key, lambda: made.append(key) or len(made))  # type: ignore[func-returns-value]

    assert [of(key) for key in "abacab"] == [1, 2, 1, 3, 1, 4]
    assert made == ["a", "b", "c", "b"]


def test_threads_that_make_one_result_at_once_get_the_same() -> None:
    kept = Recent[str, object](1)
    both, found = threading.Barrier(2), list[object]()

    def make() -> object:
        both.wait(10)
        return object()

    threads = [threading.Thread(target=lambda: found.append(kept.of("a", make))) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(10)
    assert len(found) == 2
    assert found[0] is found[1]


def test_a_result_can_need_another() -> None:
    kept = Recent[int, int](1)

    def factorial(number: int) -> int:
        return kept.of(number, lambda: number * factorial(number - 1) if number else 1)

    assert factorial(5) == 120
