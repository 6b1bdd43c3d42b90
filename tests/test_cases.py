"""What walks through many cases in one test."""

import inspect

import pytest

from tests.cases import for_each


def test_every_case_is_checked_and_all_that_fail_are_listed() -> None:
    seen = []

    @for_each("number, word", [(1, "a"), (2, "b"), (3, "c")])
    def check(number: int, word: str, tmp_path: str) -> None:
        seen.append((number, word, tmp_path))
        assert number == 2, "is not two"

    assert list(inspect.signature(check).parameters) == ["tmp_path"]
    with pytest.raises(AssertionError, match=r"(?s)2 of 3 cases\n\(1, 'a'\): AssertionError: is not two.*\n\(3, 'c'\)"):
        check(tmp_path="there")
    assert seen == [(1, "a", "there"), (2, "b", "there"), (3, "c", "there")]


def test_no_cases_prove_nothing() -> None:
    @for_each("number", [])
    def check(number: int) -> None:
        pass

    with pytest.raises(AssertionError, match="has no cases"):
        check()
