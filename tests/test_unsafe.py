"""What nobody may do in Rust without a word: ``unsafe``, vectors that abort, and calls that nothing can end.

Every ``unsafe`` stands in a table with the tests that reach its edge.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

SIMD = "crates/core/src/simd/tests.rs"
VECTORS = (
    f"{SIMD}::loads_and_stores_end_with_the_memory",
    f"{SIMD}::boxes_end_with_the_memory",
    f"{SIMD}::ranks_end_with_the_memory",
    f"{SIMD}::memory_that_is_too_short_is_refused",
)
ARRAYS = "tests/test_native_arrays.py"
UNSAFE: dict[str, tuple[int, tuple[str, ...]]] = {
    # The last vector of a line, at any place, streamed or not.
    "crates/core/src/overlap/kernel.rs": (
        1,
        ("crates/core/src/overlap/tests.rs::streamed_results_are_the_same_wherever_a_part_begins",),
    ),
    # A vector that begins at the last box, or behind it.
    "crates/core/src/overlap/columns.rs": (
        1,
        ("crates/core/src/overlap/tests.rs::a_vector_may_begin_behind_the_last_box",),
    ),
    # Sets of every size beside that of a vector.
    "crates/core/src/join/index.rs": (1, ("crates/core/src/join/tests.rs::sets_of_every_size_have_all_their_pairs",)),
    # An instruction that every machine has, on a whole block by its type; the last block is filled up.
    "crates/core/src/json/plain_numbers.rs": (
        1,
        ("crates/core/src/json/plain_numbers/tests.rs::passes_over_good_numbers_and_no_others",),
    ),
    "crates/core/src/formats/csv/rows.rs": (
        1,
        ("crates/core/src/formats/csv/tests.rs::fields_end_at_every_place_of_a_block",),
    ),
    # Exactly as much memory as a vector has, aligned to it or not, and one number less.
    "crates/core/src/number.rs": (5, VECTORS),
    # No items, items of every kind, and more than there is memory for.
    "crates/core/src/memory.rs": (5, ("crates/core/src/memory/tests.rs::zeros_are_zeros_of_every_type",)),
    # Memory that is asked for, given back and asked for again while the system refuses all.
    "crates/core/src/spare.rs": (
        12,
        (
            "crates/core/src/spare/tests.rs::parts_do_not_overlap_and_come_back",
            "crates/core/tests/out_of_memory.rs::a_call_ends_wherever_memory_ends",
        ),
    ),
    "crates/core/src/simd/mod.rs": (3, (f"{SIMD}::asking_for_items_changes_none_and_ends_with_the_memory",)),
    "crates/core/src/simd/portable.rs": (6, VECTORS),
    "crates/core/src/simd/x86.rs": (16, VECTORS),
    "crates/core/src/simd/x86/columns.rs": (27, VECTORS),
    # Arrays without items, views, arrays of other layouts, types and libraries, and results that outlive their makers.
    "crates/python/src/arrays.rs": (
        22,
        (
            f"{ARRAYS}::test_an_array_of_another_layout_is_refused",
            f"{ARRAYS}::test_an_array_that_must_not_be_written_is_not_filled",
            f"{ARRAYS}::test_an_array_to_fill_shares_no_memory_with_another",
            f"{ARRAYS}::test_only_the_items_of_a_view_are_written",
            f"{ARRAYS}::test_empty_arrays",
            f"{ARRAYS}::test_arrays_of_other_libraries_are_read",
            f"{ARRAYS}::test_another_interface_is_refused",
            f"{ARRAYS}::test_bytes_that_are_no_bools_are_refused",
            f"{ARRAYS}::test_results_keep_their_memory",
            f"{ARRAYS}::test_results_in_memory_of_numpy",
        ),
    ),
}
"""For each file, how often it says ``unsafe``, and the tests."""

COMMENT_OR_TEXT = re.compile(r"""//[^\n]*|'(?:[^'\\]|\\.)'|"(?:[^"\\]|\\.)*\"""")


def unsafe_in(text: str) -> int:
    """How often the code says ``unsafe``: comments, strings and the names of lints do not count."""
    return len(re.findall(r"\bunsafe\b", COMMENT_OR_TEXT.sub("", text)))


def sources() -> dict[str, str]:
    """The Rust files without those that hold only tests, and without the tests at the end of a file."""
    paths = [path for path in sorted((ROOT / "crates").rglob("*.rs")) if {"tests", "tests.rs"}.isdisjoint(path.parts)]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    return {path: text.partition("#[cfg(test)]\nmod tests {")[0] for path, text in texts.items()}


def test_the_table_has_every_unsafe() -> None:
    """A new one fails here until the table names a test that reaches its edge."""
    found = {path: count for path, text in sources().items() if (count := unsafe_in(text))}
    assert found == {path: count for path, (count, _) in UNSAFE.items()}


def test_only_code_counts() -> None:
    text = 'b\'"\'; unsafe { a() } // unsafe\nlet b = "unsafe \\" unsafe"; unsafe fn c() {}\n#![a(unsafe_op)]'
    assert unsafe_in(text) == 2


@pytest.mark.parametrize("path", UNSAFE)
def test_the_tests_of_the_table_exist(path: str) -> None:
    for test in UNSAFE[path][1]:
        file, name = test.split("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        marked = rf"#\[test\]\n(?:#\[[^\n]*\]\n)*fn {name}\(" if file.endswith(".rs") else rf"^def {name}\("
        assert re.search(marked, text, re.MULTILINE), f"{file} has no test {name}"


def code_of(text: str) -> str:
    return COMMENT_OR_TEXT.sub("", text.partition("#[cfg(test)]")[0])


def test_vectors_of_the_core_end_the_call_where_memory_ends() -> None:
    """A file that forgets to import them gets those of the standard library, which abort the process."""
    core = {path: code_of(text) for path, text in sources().items() if path.startswith("crates/core/src/")}
    own = {"crates/core/src/memory.rs"}
    uses = {path for path, code in core.items() if re.search(r"\bVec\b|\bvec!", code)} - own
    imports = {path for path, code in core.items() if re.search(r"use crate::memory::[^;]*\b(Vec|vec)\b", code)}
    assert len(uses) > 50
    assert uses <= imports


def test_all_calls_of_the_core_can_be_ended() -> None:
    """Only one file lets Python's other threads run: it turns the early ends of calls into exceptions."""
    found = {path for path, text in sources().items() if re.search(r"\.\s*detach\(", code_of(text))}
    assert found == {"crates/python/src/detached.rs"}
