"""Texts that are programs: patterns, paths, templates, JSON."""

import json
from dataclasses import replace

import pytest

import convengine.server.settings_catalogue  # noqa: F401  (completes the catalogue)
from config_admin.validation.programs import is_match, is_too_broad, matches_everything
from convengine.engine.turn.live_settings import CATALOGUE, Setting
from convengine.engine.turn.rows import Config
from tests.cases import for_each
from tests.config_admin.validation.shop import CANCELLED, CONFIRMATION, RULE, SCHEMA, codes, list_messages

MATCH = replace(RULE, rule_type="REGEX", match_pattern=r"\border\b")


def test_a_pattern_that_does_not_compile_is_refused_with_its_reason_and_position() -> None:
    assert list_messages(replace(MATCH, match_pattern="(order")) == [
        ("REGEX_INVALID", "This regular expression is not valid: missing ): (order at position 1.")
    ]


def test_a_pattern_that_re2_cannot_take_is_refused_with_the_rewriting() -> None:
    ((code, message),) = list_messages(replace(MATCH, match_pattern="a(?=b)"))
    assert code == "REGEX_UNSUPPORTED"
    assert message.startswith("This regular expression uses a feature that is not supported here: ")
    assert message.endswith("Leave the look-ahead out: ab finds the same texts as a(?=b).")


def test_flags_must_stand_at_the_start() -> None:
    assert list_messages(replace(MATCH, match_pattern="order(?i)")) == [
        (
            "REGEX_FLAGS_POSITION",
            "Flags such as (?i) are only allowed at the start. Matching ignores case anyway.",
        )
    ]
    assert list_messages(replace(MATCH, match_pattern="(?i)order")) == []


def test_doubled_backslashes_are_questioned() -> None:
    assert list_messages(replace(MATCH, match_pattern=r"\\border\\b")) == [
        (
            "REGEX_DOUBLE_BACKSLASH",
            r"\\b matches a backslash followed by b. Write one backslash: \b",
        )
    ]


@pytest.mark.parametrize("pattern", [r"\bécole", r"café\b"])
def test_a_word_boundary_beside_a_letter_that_it_does_not_know_is_questioned(pattern: str) -> None:
    assert codes(replace(MATCH, match_pattern=pattern)) == ["REGEX_BOUNDARY_ASCII"]
    assert "next to é." in list_messages(replace(MATCH, match_pattern=pattern))[0][1]


@pytest.mark.parametrize("pattern", [r"\border\b", r"é order\b", r"école"])
def test_other_patterns_are_left_in_peace(pattern: str) -> None:
    assert codes(replace(MATCH, match_pattern=pattern)) == []


def test_a_path_that_does_not_parse_is_refused_with_an_example() -> None:
    ((code, message),) = list_messages(replace(RULE, match_pattern="$.schemaComplete == true"))
    assert code == "JSONPATH_INVALID"
    assert message.startswith("This is not a valid JSON path: ")
    assert " at position " in message
    assert message.endswith(". Example: $[?(@.state == 'CONFIRM' && @.inputParams.ok == true)]")


def test_a_json_column_that_comes_as_text_must_be_json() -> None:
    assert list_messages(replace(SCHEMA, json_schema='{"type": "object",\n "properties": }')) == [
        ("JSON_INVALID", "This is not valid JSON: Expecting value at line 2, column 16.")
    ]
    assert list_messages(replace(SCHEMA, json_schema='{"type":"object","properties":{"a":{}},"required":["a"]}')) == []


def test_older_template_forms_are_told_with_what_becomes_of_them() -> None:
    text = " ".join(f"#{{state}}{n}" for n in range(7))

    assert list_messages(replace(CONFIRMATION, user_prompt=text)) == [
        (
            "TEMPLATE_OLDER_FORM",
            "Only Jinja2 is filled in. On saving, this is converted to Jinja2: "
            + "; ".join(["#{state} becomes {{ state }}"] * 5)
            + "; and 2 more.",
        )
    ]


def test_a_template_that_does_not_parse_is_refused() -> None:
    messages = list_messages(replace(CANCELLED, exact_text="Order {{ order"))
    assert [code for code, _ in messages] == ["TEMPLATE_INVALID"]
    assert messages[0][1] == "This template is not valid. Line 1, column 7: }} is missing."


def test_a_name_that_nothing_provides_fails_a_prompt_and_stays_empty_in_an_answer() -> None:
    problem = "colour (line 1, column 4) is neither a name that the engine provides nor a field of this intent's form."
    assert list_messages(replace(CONFIRMATION, user_prompt="{{ colour }}")) == [
        (
            "TEMPLATE_VAR_UNKNOWN",
            f"{problem} If no rule sets it, the turn fails with UNRESOLVED_PROMPT_VARIABLE.",
        )
    ]
    assert list_messages(replace(CANCELLED, exact_text="{{ colour }}")) == [
        ("TEMPLATE_VAR_UNKNOWN", f"{problem} If no rule sets it, nothing is shown in its place.")
    ]


@pytest.mark.parametrize(
    "name",
    ["user_input", "context.anything", "orderNumber", "missing_fields", "inputParams.x", "state", "previousTurn.x"],
)
def test_names_of_the_engine_and_fields_of_the_schema_are_known(name: str) -> None:
    assert codes(replace(CANCELLED, exact_text=f"{{{{ {name} }}}}")) == []


_AS_TEXT = ("prompt", "template", "regex", "json", "text")


@for_each("setting", CATALOGUE.values())
def test_every_shipped_text_pattern_and_prompt_would_pass_the_checks_of_a_row(setting: Setting[object]) -> None:
    default = setting.default
    if setting.kind.name not in _AS_TEXT or setting.name == "IntentResolutionStep/STICKY_INTENT":
        return
    text = json.dumps(default) if setting.kind.name == "json" else str(default)
    row = Config(config_id=70, config_type=setting.type, config_key=setting.key, config_value=text)
    assert list_messages(row) == []


@pytest.mark.parametrize("pattern", [".*", ".", "x?", "^", r"\w|\W", "(?i).+"])
def test_some_patterns_catch_everything(pattern: str) -> None:
    assert matches_everything("REGEX", pattern)
    assert matches_everything(" regex ", pattern)


@pytest.mark.parametrize(("kind", "pattern"), [("REGEX", "a"), ("REGEX", "("), ("CONTAINS", ".*"), ("REGEX", None)])
def test_others_do_not(kind: str, pattern: str | None) -> None:
    assert not matches_everything(kind, pattern)


def test_a_letter_that_counts_wherever_it_stands_is_broad() -> None:
    assert is_too_broad("REGEX", "[aeiou]")
    assert is_too_broad("STARTS_WITH", "b")
    assert not is_too_broad("REGEX", "^[yn]$")
    assert not is_too_broad("EXACT", "y")


def test_an_unusable_pattern_hits_nothing() -> None:
    assert not is_match("REGEX", "(", "anything")
    assert is_match("contains", "THING", "anything")


@pytest.mark.parametrize(
    ("text", "leftover"),
    [
        ("Your order ${orderNumber} is on its way.", "${orderNumber}"),
        ("Order [[${order", "[[${order"),
        ('<b th:if="open">Open</b>', "th:if="),
        ("{{ state }} for %s", "%s"),
    ],
)
def test_source_of_other_template_languages_is_questioned(text: str, leftover: str) -> None:
    ((code, message),) = list_messages(replace(CONFIRMATION, user_prompt=text))
    assert code == "TEMPLATE_SOURCE_LEFT"
    assert message.startswith(f"{leftover} belongs to another template language")


@pytest.mark.parametrize("text", ["It costs $5 {or so}, 100%.", "{{ state }} #1", "{# ${no} #}Use {braces}"])
def test_signs_of_ordinary_texts_are_no_source(text: str) -> None:
    assert list_messages(replace(CONFIRMATION, user_prompt=text)) == []
