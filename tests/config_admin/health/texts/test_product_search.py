from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config_admin.health.texts.product_search import Automaton, automaton, search
from convengine.engine.rules.patterns import Pattern, PatternError, compile_pattern
from tests.examples import count_examples


def _automaton(pattern: str, **options: bool) -> Automaton:
    return automaton(compile_pattern(pattern).source, **options)


@pytest.mark.parametrize(
    ("wanted", "unwanted"),
    [
        ((r"\bcancel\b.*\border\b", r"\bpay\b.*\bbill\b"), ()),
        ((r"^\w+$", r"\d"), ()),
        (("cancel",), (r"\bcancel\b",)),
        (("^a{3,5}$", "a{5}$"), ()),
        (("(?m)^yes$", "no"), ()),
        (("straße", "ÄRGER"), (r"\s",)),
        ((r"order \d{6}", r"\d{6}.$"), ()),
        ((r"\x{e9}t\x{e9}", r"\B.\z"), ()),
        ((r"[^a-z\s]{2}", "(?:ab|cd)+"), ("[0-9]",)),
        ((r"\Qa+b\E", r"\p{Lu}"), ()),
    ],
)
def test_a_text_is_found_that_RE2_finds_all_wanted_patterns_in_and_no_other(
    wanted: tuple[str, ...], unwanted: tuple[str, ...]
) -> None:
    text = search([_automaton(pattern) for pattern in wanted], [_automaton(pattern) for pattern in unwanted]).text

    assert text is not None
    assert all(compile_pattern(pattern).occurs_in(text) for pattern in wanted)
    assert not any(compile_pattern(pattern).occurs_in(text) for pattern in unwanted)


@pytest.mark.parametrize(
    ("wanted", "unwanted"),
    [
        ((r"^\d+$", "[a-z]"), ()),
        ((r"order \d{6}", "^.{0,9}$"), ()),
        (("^yes$", "no"), ()),
        ((r"\bcancel\b",), ("cancel",)),
        ((r"a\bb",), ()),
        ((r"^a", r"\Bx"), (".x", "xa", "x$", "x.")),
        (("é",), (r"\w",)),
    ],
)
def test_that_there_is_no_text_is_proven(wanted: tuple[str, ...], unwanted: tuple[str, ...]) -> None:
    result = search(
        [_automaton(pattern) for pattern in wanted], [_automaton(pattern) for pattern in unwanted], complete=True
    )

    assert result == (None, True)


def test_a_text_that_nobody_types_keeps_a_proof_from_being_made() -> None:
    result = search(
        [_automaton("K")], [_automaton("[k-l]", ignore_case=False), _automaton("K", ignore_case=False)], complete=True
    )

    assert result.text == "\u212a"


def test_a_search_that_grows_too_large_says_nothing() -> None:
    assert search([_automaton("a.{12}b"), _automaton("^c{40}$")], limit=30) == (None, False)


def test_a_pattern_for_the_whole_text_must_cover_it() -> None:
    assert search([_automaton("yes", whole=True), _automaton("s.")], complete=True).exhausted
    assert search([_automaton("yes|yesterday", whole=True), _automaton("s.")]).text == "yesterday"


_PIECES = st.sampled_from(["a", "b", " ", "B", ".", "[ab]", "[^a]", r"\b", r"\B", "^", "$", r"\w", r"\s", r"\d", "1"])
_PATTERNS = st.recursive(
    _PIECES,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("|".join).map("(?:{})".format),
        st.tuples(inner.map("(?:{})".format), st.sampled_from(["*", "+", "?", "{2}", "{1,2}"])).map("".join),
    ),
    max_leaves=5,
)
_TEXTS = ["".join(chars) for length in range(4) for chars in product("ab 1", repeat=length)]


def _compile_or_none(pattern: str) -> Pattern | None:
    try:
        return compile_pattern(pattern)
    except PatternError:
        return None


@settings(max_examples=count_examples(300))
@given(_PATTERNS, _PATTERNS, st.one_of(st.none(), _PATTERNS))
def test_the_search_finds_a_text_whenever_trying_all_short_ones_does(first: str, other: str, not_: str | None) -> None:
    wanted = [pattern for pattern in (_compile_or_none(first), _compile_or_none(other)) if pattern]
    unwanted = [pattern for pattern in (_compile_or_none(not_ or "a{9}"),) if pattern]

    result = search(
        [automaton(each.source) for each in wanted], [automaton(each.source) for each in unwanted], complete=True
    )

    def serves(text: str) -> bool:
        return all(each.occurs_in(text) for each in wanted) and not any(each.occurs_in(text) for each in unwanted)

    assert result.text is None or serves(result.text)
    assert result.text is not None or not any(map(serves, _TEXTS))


def test_no_boundary_stands_between_the_bytes_of_a_character_too() -> None:
    result = search([_automaton("a"), _automaton(r"(?:\w){2}")], [_automaton(r"\B")], complete=True)

    assert result.text is None
