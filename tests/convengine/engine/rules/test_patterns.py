import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convengine.engine.dialogue.settings import REGEX_AFFIRM
from convengine.engine.rules.patterns import (
    MAX_INPUT,
    PatternError,
    compile_pattern,
    find_double_backslash,
    get_pattern,
)
from tests.builders import make_config, make_session, make_snapshot, make_turn, payload, stages
from tests.examples import count_examples


def expect_pattern_error(text: str) -> PatternError:
    with pytest.raises(PatternError) as caught:
        compile_pattern(text)
    return caught.value


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("loan", "Please process the LOAN"),
        ("(?i)loan", "LOAN"),
        ("(?is)a.b", "A\nB"),
        (r"\bssn\b", "my SSN is 1"),
        (r"^\w+$", "größe"),
        (r"^\w+$", "заказ_42"),
        (r"^\w+$", "हिन्दी"),
        (r"^[\w-]+$", "naïve-été"),
        (r"^[.\w]+$", "a.é"),
        (r"^[^\W_]+$", "Überall1"),
        (r"^\W$", "!"),
        (r"^[\W\d]+$", "… 12"),
        (r"[[\w]]", "[é]"),
        (r"(?<name>\w+)@", "josé@x"),
        (r"\Qa.b(\E", "A.B("),
        (r"[](?i)]", "?"),
    ],
)
def test_it_finds(pattern: str, text: str) -> None:
    assert compile_pattern(pattern).occurs_in(text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\bssn\b", "lesson"),
        (r"\W", "é"),
        (r"[\W]", "ж"),
        (r"[^\W_]", "_"),
        (r"\w", "!?… ‿"[0:4]),
        ("a.b", "a\nb"),
        ("x", None),
    ],
)
def test_it_does_not_find(pattern: str, text: str | None) -> None:
    assert not compile_pattern(pattern).occurs_in(text)


def test_a_full_match_covers_the_whole_text() -> None:
    pattern = compile_pattern("yes|ok")
    assert pattern.fits("OK")
    assert not pattern.fits("ok then")
    assert not pattern.fits(None)


def test_groups_come_by_name_and_position_in_characters() -> None:
    match = compile_pattern(r"été (?<number>\d+)").search("un ÉTÉ 2024")
    assert match is not None
    assert match.groupdict() == {"number": "2024"}
    assert match.span(1) == (7, 11)


def test_a_search_in_null_finds_nothing() -> None:
    assert compile_pattern("x").search(None) is None


def test_case_counts_on_request() -> None:
    assert not compile_pattern("confirm", ignore_case=False).occurs_in("CONFIRM")


def test_only_the_first_4000_characters_are_looked_at() -> None:
    assert compile_pattern("b").occurs_in("a" * (MAX_INPUT - 1) + "b")
    assert not compile_pattern("b").occurs_in("a" * MAX_INPUT + "b")


def test_half_characters_do_no_harm() -> None:
    assert compile_pattern("b").occurs_in("a\ud800b")


def test_a_pattern_is_compiled_once() -> None:
    assert compile_pattern("once") is compile_pattern("once")


@pytest.mark.parametrize("pattern", ["a(?i)b", "(?i:a)", "ab(?s)", "(a)(?m)", r"\((?i)"])
def test_flags_stand_at_the_start_only(pattern: str) -> None:
    error = expect_pattern_error(pattern)
    assert error.code == "REGEX_FLAGS_POSITION"
    assert error.position == pattern.index("(?") + 1


@pytest.mark.parametrize(
    ("pattern", "position"),
    [
        ("(", 1),
        ("x(a(b)", 2),
        ("a**", 2),
        ("[z-a]", 2),
        ("a{2000}", 2),
        (r"\y", 1),
        (")", None),
        ("a" * 2001, 2001),
        ("\ud83d", None),
    ],
)
def test_a_broken_pattern_is_invalid(pattern: str, position: int | None) -> None:
    error = expect_pattern_error(pattern)
    assert error.code == "REGEX_INVALID"
    assert error.reason
    assert position is None or error.position == position


@pytest.mark.parametrize(
    ("pattern", "position"),
    [
        ("a(?=b)", 2),
        ("a(?!b)", 2),
        ("(?<=a)b", 1),
        ("(?<!a)b", 1),
        ("(?>a)b", 1),
        (r"(a)\1", 4),
        (r"(?<n>a)\k<n>", 8),
        (r"a\Z", 2),
        ("a++", 2),
        ("a(?#note)", 2),
        (r"\u00e9", 1),
        (r"[(?=]\R", 6),
    ],
)
def test_what_re2_does_not_take_is_refused_with_a_rewriting(pattern: str, position: int) -> None:
    error = expect_pattern_error(pattern)
    assert error.code == "REGEX_UNSUPPORTED"
    assert error.position == position
    assert error.reason
    assert error.hint


@pytest.mark.parametrize("pattern", [".{1,1000}", r"(?:\w{1,60}\s){1,16}", "(?:.{1,30}){1,30}"])
def test_a_pattern_that_unfolds_too_far_is_refused(pattern: str) -> None:
    assert expect_pattern_error(pattern).code == "REGEX_UNSUPPORTED"


def test_ordinary_repetitions_are_taken() -> None:
    for pattern in (r"\w{1,64}@", r"\p{L}{2,30}", ".{0,200}", r"\d{1,3}(?:[.,]\d{3}){0,5}"):
        assert compile_pattern(pattern)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+b", "(.*)*x", r"(?:\w+\s?)*!", "(a|a?)+b", "(?:a?){200}a{200}b"])
def test_catastrophic_patterns_cost_a_bounded_number_of_instructions(pattern: str) -> None:
    compiled = compile_pattern(pattern)
    assert not compiled.occurs_in("a" * 3990 + "\n")
    assert compiled.size < 4000


def test_errors_go_to_nobody_but_the_caller(capfd: pytest.CaptureFixture[str]) -> None:
    expect_pattern_error("(")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("pattern", "doubled"),
    [(r"\\b", r"\\b"), (r"\b", None), (r"a\\d+", r"\\d"), (r"\\server", r"\\s"), (r"\\n", None)],
)
def test_a_doubled_backslash_is_noticed(pattern: str, doubled: str | None) -> None:
    assert find_double_backslash(pattern) == doubled


@settings(max_examples=count_examples(300))
@given(st.text(alphabet=r"ab\w.[]()?*+{}12,|^$-:i<>=!Q", max_size=14), st.text(max_size=12))
def test_a_pattern_either_works_or_is_refused(pattern: str, text: str) -> None:
    with contextlib.suppress(PatternError):
        compiled = compile_pattern(pattern)
        assert compiled.fits(text) <= compiled.occurs_in(text)


def test_the_pattern_of_the_row_counts() -> None:
    turn = make_turn(make_snapshot(make_config("DialogueActStep/REGEX_AFFIRM", "aye")))

    assert get_pattern(make_session(), turn, REGEX_AFFIRM).fits("AYE")
    assert stages(turn) == []


def test_a_row_that_cannot_be_used_leaves_the_built_in_pattern_and_is_told_once() -> None:
    row = make_config("DialogueActStep/REGEX_AFFIRM", "([")
    turn = make_turn(make_snapshot(row))

    for _ in range(2):
        assert get_pattern(make_session(), turn, REGEX_AFFIRM).fits("yes")
    assert stages(turn) == ["CONFIG_ROW_INVALID"]
    event = payload(turn, "CONFIG_ROW_INVALID")
    assert (event["table"], event["rowId"]) == ("ce_config", row.config_id)
    assert event["reason"].startswith("DialogueActStep/REGEX_AFFIRM: missing ]")
    assert (event["field"], event["value"], bool(event["remedy"])) == ("config_value", "([", True)


def test_a_default_of_the_deployment_that_cannot_be_used_is_told_by_its_name() -> None:
    turn = make_turn(make_snapshot(defaults={("DIALOGUEACTSTEP", "REGEX_AFFIRM"): "(["}))

    assert get_pattern(make_session(), turn, REGEX_AFFIRM).fits("yes")
    assert payload(turn, "CONFIG_VALUE_INVALID")["configKey"] == "REGEX_AFFIRM"
