import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from convengine.engine.rules import text_bank as module
from convengine.engine.rules.patterns import compile_pattern
from convengine.engine.rules.text_bank import TextBank, get_bank, matches_single
from convengine.engine.text.compare import blank, norm
from tests.examples import count_examples


def hits(kind: str | None, pattern: str | None, text: str | None, **options: bool) -> bool:
    return bool(TextBank([(1, kind, pattern)], **options).hits(text))


@pytest.mark.parametrize(
    ("kind", "pattern", "text", "expected"),
    [
        pytest.param("REGEX", r"\bssn\b", "my SSN is 1", True, id="POL_V1"),
        pytest.param("REGEX", r"\bssn\b", "lesson", False, id="POL_V2"),
        pytest.param("CONTAINS", "bomb", "BOMBastic", True, id="POL_V3_contains_is_by_characters"),
        pytest.param("STARTS_WITH", "sudo", "please sudo", False, id="POL_V4"),
        pytest.param("EXACT", "quit", " Quit ", True, id="POL_V5"),
        pytest.param("EXACT", "quit", "quit now", False, id="POL_V6"),
        pytest.param("REGEX", "([", "([", False, id="POL_V8"),
        pytest.param("REGEX", ".*", None, False, id="POL_V9"),
        pytest.param("CONTAINS", "bomb", "b\u200bomb", True, id="POL_V12"),
        ("starts_with", "Sudo  it", "sudo it now", True),
        ("CONTAINS", "don't", "I DON’T know", True),
        ("CONTAINS", "a.c", "abc", False),
        ("CONTAINS", "a.c", "xA.Cx", True),
        ("CONTAINS", " ", "a b", False),
        ("CONTAINS", None, "a b", False),
        ("REGEX", " ", "a b", False),
        ("REGEX", ".*", "  ", False),
        ("LLM", "is rude", "you fool", False),
        (None, "x", "x", False),
    ],
)
def test_a_row_holds_by_its_type(kind: str | None, pattern: str | None, text: str | None, expected: bool) -> None:
    assert hits(kind, pattern, text) is expected


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        pytest.param(" go ahead ", "  Go Ahead ", True, id="P2_7_6_V2"),
        ("any", "whatever", True),
        ("ANY", "", True),
        ("ANY", None, False),
        ("go  ahead", "go ahead", False),
        ("STRASSE", "straße", True),
    ],
)
def test_a_rules_exact_compares_trimmed_texts(pattern: str, text: str | None, expected: bool) -> None:
    assert hits("RULE_EXACT", pattern, text, blank_texts=True) is expected


def test_policies_test_the_normal_form_as_well() -> None:
    assert hits("REGEX", "bomb", "b\u200bｏmb", normalised=True)
    assert not hits("REGEX", "bomb", "b\u200bｏmb")


def test_unusable_rows_are_named_with_their_reason() -> None:
    bank = TextBank([("a", "REGEX", "("), ("b", "FUZZY", "x"), ("c", "REGEX", "x"), ("d", "CONTAINS", " ")])
    assert set(bank.invalid) == {"a", "b"}
    assert "missing )" in bank.invalid["a"].reason
    assert [bank.invalid[key].field for key in "ab"] == ["pattern", "rule_type"]
    assert "FUZZY" in bank.invalid["b"].reason
    assert bank.hits("x") == {"c"}


def test_only_the_first_4000_characters_meet_a_regex_but_all_of_them_a_literal() -> None:
    text = "a" * 5000 + "bomb"
    assert not hits("REGEX", "bomb", text)
    assert hits("CONTAINS", "bomb", text)


def test_an_empty_bank_answers() -> None:
    assert TextBank([]).hits("x") == frozenset()


def test_a_bank_is_built_once_for_the_same_rows() -> None:
    assert get_bank(((1, "REGEX", "a"),)) is get_bank(((1, "REGEX", "a"),))


def test_a_set_that_does_not_fit_is_tried_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MEMORY", (1024,))
    bank = TextBank([(n, "REGEX", f"word{n}x") for n in range(50)])
    assert isinstance(bank._regex_finder, module._SequentialSearch)
    assert bank.hits("a word7x") == {7}


def test_a_set_that_runs_out_of_memory_while_matching_is_tried_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    bank = TextBank([(n, "REGEX", f"word{n}") for n in range(3)])
    finder = bank._regex_finder
    assert isinstance(finder, module._Automaton)

    class Exhausted:
        def Match(self, text: bytes) -> None:
            return None

    monkeypatch.setattr(finder, "_set", Exhausted())
    assert bank.hits("word1") == {1}


def test_a_thousand_patterns_are_one_question_to_re2(monkeypatch: pytest.MonkeyPatch) -> None:
    bank = TextBank([(n, "REGEX", rf"\bitem{n}\b") for n in range(1000)])
    matched_texts = []
    original = re2.Set.Match
    monkeypatch.setattr(re2.Set, "Match", lambda self, text: matched_texts.append(text) or original(self, text))
    assert bank.hits("show item77 please") == {77}
    assert len(matched_texts) == 1


WORDS = st.sampled_from(["a", "b", "ab", "Ab c", "a.c", "é", "É", " ", "", "ﬁ", "b\u200b", "'", "’"])
TEXTS = st.lists(WORDS, max_size=5).map("".join)
KINDS = st.sampled_from(["REGEX", "CONTAINS", "STARTS_WITH", "EXACT", "RULE_EXACT", "NONE"])


def matches(kind: str, pattern: str, text: str) -> bool:
    if blank(pattern) or not norm(pattern):
        return False
    return {
        "REGEX": lambda: compile_pattern(pattern).occurs_in(text),
        "CONTAINS": lambda: norm(pattern) in norm(text),
        "STARTS_WITH": lambda: norm(text).startswith(norm(pattern)),
        "EXACT": lambda: norm(text) == norm(pattern),
        "RULE_EXACT": lambda: text.strip().casefold() == pattern.strip().casefold(),
        "NONE": lambda: False,
    }[kind]()


@settings(max_examples=count_examples(200))
@given(st.lists(st.tuples(KINDS, TEXTS), max_size=8), TEXTS)
def test_many_at_once_say_what_each_says_alone(rows: list[tuple[str, str]], text: str) -> None:
    bank = TextBank([(n, kind, pattern) for n, (kind, pattern) in enumerate(rows)], blank_texts=True)
    assert bank.hits(text) == {n for n, (kind, pattern) in enumerate(rows) if matches(kind, pattern, text)}


@given(
    st.sampled_from(["REGEX", "contains", "STARTS_WITH", "EXACT", "RULE_EXACT", "OTHER"]),
    st.one_of(st.none(), st.text("aB .*(’'\u200bé", max_size=4), st.just("ANY")),
    st.one_of(st.none(), st.text("aB .*(’'\u200bÉ", max_size=6)),
)
def test_one_row_is_judged_alike_with_a_bank_and_without(kind: str, pattern: str | None, text: str | None) -> None:
    assert matches_single(kind, pattern, text) is hits(kind, pattern, text)
