"""Save checks of settings."""

from dataclasses import replace

import pytest

from convengine.engine.turn import rows
from tests.config_admin.validation.shop import CONFIG, codes, list_messages


def row(name: str, value: str) -> rows.Config:
    family, key = name.split("/")
    return rows.Config(config_id=50, config_type=family, config_key=key, config_value=value)


def test_family_and_key_are_there() -> None:
    assert codes(replace(CONFIG, config_type="", config_key=" ")) == ["FIELD_REQUIRED"] * 2


def test_a_setting_has_one_row_ignoring_case() -> None:
    assert list_messages(row("intentresolutionstep/sticky_intent", "true")) == [
        ("DUPLICATE", "intentresolutionstep / sticky_intent already has a value (row 1). Change that row.")
    ]
    assert codes(
        row("LLM/TURN_BUDGET_MS", "1"),
        rows.Config(config_id=8, config_type="LLM", config_key="MAX_MS_PER_TURN", config_value="2"),
    ) == ["DUPLICATE"]
    assert codes(row("Session/RESUME_MODE.whatsapp", "offer_resume"), row("Session/RESUME_MODE", "new_session")) == []


@pytest.mark.parametrize(
    ("name", "value", "code", "message"),
    [
        (
            "ActionLifecycleStep/TTL_TURNS",
            "1001",
            "OUT_OF_RANGE",
            "“Expiry after turns” must be a whole number from 0 to 1000.",
        ),
        (
            "ActionLifecycleStep/TTL_TURNS",
            "three",
            "OUT_OF_RANGE",
            "“Expiry after turns” must be a whole number from 0 to 1000.",
        ),
        (
            "ActionLifecycleStep/TTL_TURNS",
            "",
            "OUT_OF_RANGE",
            "“Expiry after turns” must be a whole number from 0 to 1000.",
        ),
        (
            "AgentIntentResolver/MIN_CONFIDENCE",
            "1.1",
            "OUT_OF_RANGE",
            "“Minimum confidence” must be a number from 0 to 1.",
        ),
        (
            "AgentIntentResolver/MIN_CONFIDENCE",
            "NaN",
            "OUT_OF_RANGE",
            "“Minimum confidence” must be a number from 0 to 1.",
        ),
        ("MemoryStep/ENABLED", "maybe", "CHOICE_UNKNOWN", "“Keep a running summary” must be true or false."),
        (
            "DialogueActStep/RESOLUTE",
            "GUESS",
            "CHOICE_UNKNOWN",
            "“Recognition by patterns or model” must be one of AUTO, REGEX_ONLY, REGEX_THEN_LLM, LLM_ONLY.",
        ),
        (
            "DialogueActStep/SCHEMA_PROMPT",
            "{",
            "JSON_INVALID",
            "This is not valid JSON: Expecting property name enclosed in double quotes at line 1, column 2.",
        ),
        (
            "DialogueActStep/SCHEMA_PROMPT",
            "[]",
            "SHAPE_INVALID",
            "“Schema of the model's answer” must be a JSON object.",
        ),
        (
            "InteractionPolicyStep/MATRIX",
            '{"AFFIRM": ""}',
            "SHAPE_INVALID",
            "AFFIRM must have the form PENDING_ACTION:AFFIRM.",
        ),
        (
            "InteractionPolicyStep/MATRIX",
            '{"NONE:AFFIRM": "RUN"}',
            "CHOICE_UNKNOWN",
            '"RUN" is not a decision. Choose one of EXECUTE_PENDING_ACTION, REJECT_PENDING_ACTION, '
            "FILL_PENDING_SLOT, RECLASSIFY_INTENT.",
        ),
        ("McpToolStep/ALLOWED_NEXT", '{"a": "b"}', "SHAPE_INVALID", "a must be a list of tool codes."),
        (
            "LLM/MODEL",
            "huge",
            "NOT_REGISTERED",
            "There is no model huge. Allowed: large, small. "
            "Declare it in CE_LLM_ALLOWED_MODELS (the manual's chapter Deployment).",
        ),
        (
            "Phrases/EMBEDDING_MODEL",
            "smal",
            "NOT_REGISTERED",
            "There is no model smal. Did you mean small? Allowed: small, vectors. "
            "Declare it in CE_LLM_ALLOWED_MODELS (the manual's chapter Deployment).",
        ),
        (
            "ResetResolvedIntentStep/RESET_INTENT_CODES",
            "FAX",
            "RESET_CODES_UNKNOWN",
            "The intent FAX does not exist. Did you mean FAQ?",
        ),
        ("Channel/INTENTS.shop", "FAQ, FAX", "INTENT_UNKNOWN", "The intent FAX does not exist. Did you mean FAQ?"),
        (
            "AgentIntentResolver/MIN_CONFIDENC",
            "1",
            "CONFIG_KEY_UNKNOWN",
            "Nothing reads AgentIntentResolver / MIN_CONFIDENC. Did you mean AgentIntentResolver / MIN_CONFIDENCE?",
        ),
        (
            "ResponseResolutionStep/FALLBACK_ENABLED",
            "true",
            "CONFIG_KEY_UNKNOWN",
            "Nothing reads ResponseResolutionStep / FALLBACK_ENABLED. Use ResponseResolutionStep / ON_MISSING instead.",
        ),
        (
            "DialogueActStep/QUERY_REWRITE_SCHEMA_JSON",
            "{}",
            "CONFIG_KEY_RENAMED",
            "QUERY_REWRITE_SCHEMA_JSON is an older name. It is stored as QUERY_REWRITE_SCHEMA_PROMPT.",
        ),
        (
            "MemoryStep/ENABLED.whatsapp",
            "true",
            "CONFIG_KEY_UNKNOWN",
            "“Keep a running summary” has one value for everything. Remove the qualifier .WHATSAPP.",
        ),
        (
            "LLM/TEMPERATURE.RESPONSE",
            "1",
            "CONFIG_KEY_UNKNOWN",
            "No model call has the purpose RESPONSE. Did you mean RESPONSE_TEXT?",
        ),
    ],
)
def test_a_value_fits_its_setting(name: str, value: str, code: str, message: str) -> None:
    assert list_messages(row(name, value)) == [(code, message)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ActionLifecycleStep/TTL_TURNS", " 0 "),
        ("AgentIntentResolver/MIN_CONFIDENCE", "1"),
        ("memorystep/enabled", "Off"),
        ("DialogueActStep/RESOLUTE", "regex_only"),
        ("DialogueActStep/REGEX_AFFIRM", "yes|si"),
        ("DialogueActStep/REGEX_AFFIRM", " "),
        ("DialogueActStep/SYSTEM_PROMPT", "Classify {{ user_input }}"),
        ("GuardrailStep/SENSITIVE_PATTERNS", "close.*account\ndelete"),
        ("InteractionPolicyStep/MATRIX", '{"PENDING_ACTION:QUESTION": "reclassify_intent", "NONE:RESET": ""}'),
        ("McpToolStep/ALLOWED_NEXT", '{"__START__": ["a"], "a": ["*"]}'),
        ("LLM/MODEL.RESPONSE_TEXT", "small"),
        ("ResetResolvedIntentStep/RESET_INTENT_CODES", "faq"),
        ("Session/RESUME_MODE.whatsapp", "offer_resume"),
        ("AUDIT/REDACT_KEYS", "password,token"),
        ("LLM/MAX_TOKENS_PER_TURN", "5000"),
    ],
)
def test_good_values_are_left_in_peace(name: str, value: str) -> None:
    assert list_messages(row(name, value)) == []


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("DialogueActStep/REGEX_AFFIRM", "yes(", "REGEX_INVALID"),
        ("GuardrailStep/SENSITIVE_PATTERNS", "ok\na(?=b)", "REGEX_UNSUPPORTED"),
        ("DialogueActStep/SYSTEM_PROMPT", "{{ user_input", "TEMPLATE_INVALID"),
        ("Session/FRESH_START_TEXT", "{{ colour }}", "TEMPLATE_VAR_UNKNOWN"),
    ],
)
def test_programs_in_settings_are_checked_as_anywhere(name: str, value: str, code: str) -> None:
    assert codes(row(name, value)) == [code]


@pytest.mark.parametrize(
    "value", ['["password", "pin"]', "card*", "$.card", "/context/card", "{pin}", "pin; cvv", "'pin'", r"\d{16}"]
)
def test_masked_names_that_would_mask_nothing_are_refused_with_the_name_and_the_remedy(value: str) -> None:
    (code, message), *_ = list_messages(row("AUDIT/REDACT_KEYS", value))

    assert code == "SHAPE_INVALID"
    assert message.startswith(f"“Masked names” cannot read “{value.split(',')[0]}”")
    assert "such as password, card_number" in message


def test_masked_names_may_have_blanks_dots_and_letters_of_any_language() -> None:
    assert list_messages(row("AUDIT/REDACT_KEYS", "card number, x.y-z, größe, client's name")) == []


@pytest.mark.parametrize("name", ["AUDIT/REDACT_PATTERNS", "LLM/REDACT_PATTERNS"])
@pytest.mark.parametrize(
    ("value", "code", "words"),
    [
        ("ok\n[0-9", "REGEX_INVALID", "line “[0-9”: This regular expression is not valid"),
        (r"(?=\d)", "REGEX_UNSUPPORTED", "Leave the look-ahead out"),
        ("ok\n\\d*", "REGEX_INVALID", r"“\d*” also matches an empty text"),
    ],
)
def test_masked_texts_that_cannot_be_read_are_refused_with_the_line(
    name: str, value: str, code: str, words: str
) -> None:
    ((stored, message),) = list_messages(row(name, value))

    assert stored == code
    assert words in message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("McpHttpApi/API_KEY", "abc"),
        ("Mail/SMTP_PASSWORD", "abc"),
        ("Mail/ACCESS_TOKEN", "abc"),
        ("ResponseResolutionStep/FALLBACK_TEXT", "-----BEGIN RSA PRIVATE KEY-----"),
        ("ResponseResolutionStep/FALLBACK_TEXT", "Bearer abcdefghijklmnop1234"),
        ("ResponseResolutionStep/FALLBACK_TEXT", "https://me:secret@example.org"),
    ],
)
def test_secrets_are_no_settings(name: str, value: str) -> None:
    assert list_messages(row(name, value)) == [
        ("SECRET_IN_CONFIG", "Do not store secrets here. Put them into the environment of the deployment.")
    ]
