import pytest

from audit.record.prompts import MAX_TEXT, PromptRedaction
from convengine.engine.rules.patterns import compile_pattern
from tests.builders import make_config, make_snapshot

pytestmark = pytest.mark.dialects

KEYS = PromptRedaction(True, frozenset({"pin"}), ())


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("no pin here", "no pin here"),
        ('{"pin": 1, "a": 2}', '{"pin":"***","a":2}'),
        ('See {"pin": 1} and [{"PIN": 2}] and {"a": 1}.', 'See {"pin":"***"} and [{"PIN":"***"}] and {"a": 1}.'),
        ('{"broken": {"pin": 3}', '{"broken": {"pin":"***"}'),
        ("[" * 3000 + '"pin"', "[" * 3000 + '"pin"'),
    ],
)
def test_values_of_redacted_names_are_masked_wherever_a_document_stands(text: str, kept: str) -> None:
    assert KEYS.mask(text) == kept


def test_a_pattern_reaches_behind_what_rules_look_at() -> None:
    rules = PromptRedaction(True, frozenset(), (compile_pattern(r"\d{4}"),))

    assert rules.mask("é" * 10_000 + " 1234") == "é" * 10_000 + " ***"


def test_a_long_text_is_cut() -> None:
    assert len(KEYS.text("a" * (MAX_TEXT + 9))) == MAX_TEXT


def test_a_pattern_that_cannot_be_used_keeps_no_other_from_masking() -> None:
    snapshot = make_snapshot(make_config("LLM/REDACT_PATTERNS", "(?=x)\n\\d+"))

    assert PromptRedaction.of(snapshot).mask("x 12") == "x ***"
