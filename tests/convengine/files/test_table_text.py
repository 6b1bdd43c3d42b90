import time

import pytest

from convengine.files import Unreadable
from convengine.files.table_text import decode, read_table

DELIMITERS = (",", ";", "\t")


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("a,b\n1,2\n", [["a", "b"], ["1", "2"]]),
        ("a;b\n1,5;2\n", [["a", "b"], ["1,5", "2"]]),
        ("a\tb\n1, 2; 3\t4\n", [["a", "b"], ["1, 2; 3", "4"]]),
        ('"a, or b";c\n"x;y";z\n', [["a, or b", "c"], ["x;y", "z"]]),
        ("alone\n", [["alone"]]),
    ],
)
def test_the_delimiter_that_makes_regular_lines_is_found(text: str, cells: list[list[str]]) -> None:
    assert [line for _, line in read_table(text, DELIMITERS)] == cells


def test_a_line_has_the_number_of_its_end() -> None:
    assert read_table('a,b\n"1\n2",3\n', DELIMITERS) == [(1, ["a", "b"]), (3, ["1\n2", "3"])]


@pytest.mark.parametrize("first", ['"a"' * 14_000, '",";' * 10_000, "'\"" * 20_000, '""""' * 10_000 + ";"])
def test_many_quotes_take_no_time(first: str) -> None:
    began = time.process_time()
    try:
        read_table(f"{first}\nx,y\n", DELIMITERS)
    except Unreadable as problem:
        assert "not valid CSV" in str(problem)  # noqa: PT017 - both are fine, if they come soon

    assert time.process_time() - began < 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_text_is_read_by_its_byte_order_mark(encoding: str) -> None:
    assert decode("öl, wein".encode(encoding)) == "öl, wein"


@pytest.mark.parametrize(
    ("data", "problem"), [(b"\xd6l", "not UTF-8 text"), (b"a\n\0", "NUL"), (b"\xff\xfe\x00", "UTF-8")]
)
def test_what_is_no_text_is_refused(data: bytes, problem: str) -> None:
    with pytest.raises(Unreadable, match=problem):
        decode(data)
