from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from convengine.engine.rules.conditions import json_path
from convengine.engine.rules.conditions.json_path import MAX_LENGTH, MAX_NESTING, parse_path
from convengine.engine.rules.conditions.nodes import PathError


def test_threads_may_parse_at_once() -> None:
    texts = [f"$.a{n}[?(@.b == 'x{n}' && !(@.c in [{n}, 'y']))]" for n in range(200)]
    alone = [parse_path(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(parse_path, texts))

    assert together == alone


def test_a_broken_text_leaves_the_parser_sound() -> None:
    for broken in ("$['x", '$[?(@.a == "', "$[?(@.a", "$.a['b'"):
        with pytest.raises(PathError):
            parse_path(broken)
        assert parse_path("$.a['b']")


def test_length_and_nesting_are_bounded() -> None:
    parse_path("$." + "a" * (MAX_LENGTH - 2))
    with pytest.raises(PathError, match="longer"):
        parse_path("$." + "a" * (MAX_LENGTH - 1))
    depth = MAX_NESTING - 1
    parse_path("$[?" + "(" * depth + "@.a" + ")" * depth + "]")
    with pytest.raises(PathError, match="nested"):
        parse_path("$[?" + "(" * (depth + 1) + "@.a" + ")" * (depth + 1) + "]")


def test_the_grammar_is_made_in_memory() -> None:
    parse_path("$.a")

    assert list(Path(json_path.__file__).parent.glob("parser*")) == []


def test_making_the_grammar_says_nothing(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    from convengine.engine.rules.conditions.json_path import DialectParser

    DialectParser()

    assert caplog.records == []
    assert capfd.readouterr().err == ""
