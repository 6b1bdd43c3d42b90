"""The catalogue of live settings against the list of it."""

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import convengine.server.settings_catalogue  # noqa: F401  (completes the catalogue)
from convengine.engine.dialogue import settings as dialogue
from convengine.engine.dialogue.settings import REGEX_RETRY
from convengine.engine.llm import settings as llm
from convengine.engine.rules.patterns import compile_pattern
from convengine.engine.steps.responses import settings as response
from convengine.engine.text.compare import match_text
from convengine.engine.turn import rows
from convengine.engine.turn.live_settings import ALIASES, CATALOGUE, Setting, UnreadableSetting, read
from convengine.engine.turn.snapshot import Snapshot, Table
from tests.cases import for_each

#: Each setting with its mark, kind and default. A change of this file is reviewed: bots that run may notice it.
#: `CE_WRITE_MANUAL=true` writes it anew.
LIST = Path(__file__).with_name("settings_catalogue.txt")
WRITES = os.environ.get("CE_WRITE_MANUAL") == "true"
#: Longer defaults are prompts and patterns, which have tests of their own.
_LONGEST = 160
SETTINGS = tuple(CATALOGUE.values())


def setting(name: str) -> Setting[Any]:
    family, key = name.upper().split("/")
    return CATALOGUE[family, key]


def describe(declared: Setting[Any]) -> str:
    default = json.dumps(declared.default, default=str)
    shown = default if len(default) <= _LONGEST else "…"
    return f"{declared.name} {declared.mark} {declared.kind.name} {shown}"


def test_the_settings_are_those_of_the_list() -> None:
    described = "".join(f"{line}\n" for line in sorted(map(describe, SETTINGS)))
    if WRITES:
        LIST.write_text(described, "utf-8")
    assert described == LIST.read_text("utf-8")


@pytest.mark.parametrize("name", ["ResponseResolutionStep/FALLBACK_ENABLED", "ResetConversationStep/ACK_TEXT"])
def test_what_only_imports_read_and_what_is_not_built_is_no_setting(name: str) -> None:
    family, key = name.upper().split("/")
    assert (family, key) not in CATALOGUE


def test_older_names_lead_to_a_setting() -> None:
    assert ALIASES["LLM", "TURN_BUDGET_MS"] == "MAX_MS_PER_TURN"
    for (family, _), key in ALIASES.items():
        assert (family, key) in CATALOGUE


@for_each("declared", SETTINGS)
def test_a_default_is_a_value_that_a_row_could_give(declared: Setting[Any]) -> None:
    for default in (declared.default, *declared.qualified_defaults.values()):
        if declared.kind.name in ("int", "decimal") and default is not None:
            assert declared.kind.minimum <= default <= declared.kind.maximum
        if declared.kind.values and default is not None:
            assert declared.kind.read(default) == default


@for_each("declared", SETTINGS)
def test_a_setting_is_explained_to_an_analyst(declared: Setting[Any]) -> None:
    assert len(declared.help) > 15
    assert declared.help[0].isupper()
    assert declared.mark in ("L", "LR")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("ActionLifecycleStep/TTL_TURNS", "5000", 1000),
        ("MemoryStep/ENABLED", "Off", False),
        ("Session/RESUME_MODE", "OFFER_RESUME", "offer_resume"),
        ("ResetResolvedIntentStep/RESET_INTENT_CODES", " start_over, ,reset_session", ("START_OVER", "RESET_SESSION")),
        ("GuardrailStep/SENSITIVE_PATTERNS", "a{1,2}\n\nb", ("a{1,2}", "b")),
        ("McpToolStep/ALLOWED_NEXT", '{"a": ["b"]}', {"a": ["b"]}),
    ],
)
def test_values_are_read_as_their_kind(name: str, text: str, value: Any) -> None:
    assert setting(name).kind.read(text) == value


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("ActionLifecycleStep/TTL_TURNS", "many", "must be a whole number from 0 to 1000."),
        ("LLM/TEMPERATURE", "warm", "must be a number from 0 to 2."),
        ("MemoryStep/ENABLED", "perhaps", "must be true or false."),
        ("AUDIT/FLUSH", "NEVER", "must be one of TURN, STEP."),
        ("McpToolStep/ALLOWED_NEXT", "[]", "must be a JSON object."),
    ],
)
def test_values_of_another_kind_are_refused(name: str, text: str, problem: str) -> None:
    with pytest.raises(UnreadableSetting, match=re.escape(problem)):
        setting(name).kind.read(text)


@pytest.mark.parametrize(("purpose", "value"), [("SCHEMA_EXTRACTION", 0.0), ("mcp_plan", 0.0), ("RESPONSE_TEXT", 0.3)])
def test_the_default_temperature_depends_on_the_purpose(purpose: str, value: float) -> None:
    assert read(Snapshot(1, {}), llm.TEMPERATURE, purpose).value == value


def test_a_row_for_all_purposes_wins_over_the_default_of_one() -> None:
    row = rows.Config(config_id=1, config_type="LLM", config_key="TEMPERATURE", config_value="1")
    snapshot = Snapshot(1, {"ce_config": Table("ce_config", [row])})
    assert read(snapshot, llm.TEMPERATURE, "MCP_PLAN").value == 1


def test_a_missing_answer_is_an_error_unless_switched_over() -> None:
    row = rows.Config(
        config_id=1, config_type="ResponseResolutionStep", config_key="ON_MISSING", config_value="fallback"
    )
    assert read(Snapshot(1, {}), response.ON_MISSING).value == "ERROR"
    assert read(Snapshot(1, {"ce_config": Table("ce_config", [row])}), response.ON_MISSING).value == "FALLBACK"


@pytest.mark.parametrize(
    ("declared", "text", "fits"),
    [
        (dialogue.REGEX_AFFIRM, "  YES! ", True),
        (dialogue.REGEX_AFFIRM, "Yes, go ahead.", True),
        (dialogue.REGEX_AFFIRM, "That’s right", True),
        (dialogue.REGEX_AFFIRM, "yes?", False),
        (dialogue.REGEX_AFFIRM, "yes but wait", False),
        (dialogue.REGEX_NEGATE, "don’t", True),
        (dialogue.REGEX_NEGATE, "no, cancel it", True),
        (dialogue.REGEX_NEGATE, "Never mind.", True),
        (dialogue.REGEX_NEGATE, "cancel my order", False),
        (dialogue.REGEX_EDIT, "change it please", True),
        (dialogue.REGEX_EDIT, "please update my details", True),
        (dialogue.REGEX_EDIT, "change amount to 350000", False),
        (dialogue.REGEX_EDIT, "change flow", False),
        (dialogue.REGEX_RESET, "/reset", True),
        (dialogue.REGEX_RESET, "start over please", True),
        (dialogue.REGEX_RESET, "reset my password", False),
        (dialogue.REGEX_GREETING, "Good morning team", True),
        (dialogue.REGEX_GREETING, "hi, where is my order?", False),
        (REGEX_RETRY, "try again!", True),
        (REGEX_RETRY, "once more", True),
        (REGEX_RETRY, "again and again", False),
    ],
)
def test_shipped_patterns_tell_the_acts_apart(declared: Setting[str], text: str, fits: bool) -> None:
    assert compile_pattern(declared.default).fits(match_text(text)) is fits


def test_settings_of_a_type_have_labels_that_differ() -> None:
    labels = Counter((setting.type, setting.label) for setting in CATALOGUE.values())
    assert all(label for _, label in labels)
    assert [name for name, count in labels.items() if count > 1] == []
