"""The catalogue of live settings against the lists of the specification."""

import re
from collections import Counter
from typing import Any

import pytest

import convengine.server.settings_catalogue  # noqa: F401  (completes the catalogue)
from convengine.engine.dialogue import settings as dialogue
from convengine.engine.llm import settings as llm
from convengine.engine.rules.patterns import compile_pattern
from convengine.engine.steps.correction import settings
from convengine.engine.steps.responses import settings as response
from convengine.engine.text.compare import match_text
from convengine.engine.turn import rows
from convengine.engine.turn.live_settings import ALIASES, CATALOGUE, Setting, Unreadable, read
from convengine.engine.turn.snapshot import Snapshot, Table
from tests.cases import for_each

#: Stands for a text of our own: the specification asks for one and leaves the words to us.
OWN = object()

#: Type/key, mark, kind, default, as the specification lists them.
LISTED: tuple[tuple[str, str, str, Any], ...] = (
    # 2.1
    ("DialogueActStep/RESOLUTE", "L", "enum", "AUTO"),
    ("DialogueActStep/LLM_THRESHOLD", "L", "decimal", 0.90),
    ("DialogueActStep/QUERY_REWRITE_ENABLED", "L", "bool", True),
    ("DialogueActStep/REGEX_AFFIRM", "L", "regex", OWN),
    ("DialogueActStep/REGEX_NEGATE", "L", "regex", OWN),
    ("DialogueActStep/REGEX_EDIT", "L", "regex", OWN),
    ("DialogueActStep/REGEX_RESET", "L", "regex", OWN),
    ("DialogueActStep/REGEX_GREETING", "L", "regex", OWN),
    ("DialogueActStep/RESET_ACT_RESETS", "L", "bool", True),
    ("DialogueActStep/LLM_MIN_CONFIDENCE", "L", "decimal", 0.0),
    ("DialogueActStep/ANSWER_MAX_CHARS", "L", "int", 80),
    ("DialogueActStep/SYSTEM_PROMPT", "L", "prompt", OWN),
    ("DialogueActStep/USER_PROMPT", "L", "prompt", OWN),
    ("DialogueActStep/SCHEMA_PROMPT", "L", "json", OWN),
    ("DialogueActStep/QUERY_REWRITE_SYSTEM_PROMPT", "L", "prompt", OWN),
    ("DialogueActStep/QUERY_REWRITE_USER_PROMPT", "L", "prompt", OWN),
    ("DialogueActStep/QUERY_REWRITE_SCHEMA_PROMPT", "L", "json", OWN),
    # 2.2
    (
        "InteractionPolicyStep/MATRIX",
        "L",
        "json",
        {
            "PENDING_ACTION:AFFIRM": "EXECUTE_PENDING_ACTION",
            "PENDING_ACTION:NEGATE": "REJECT_PENDING_ACTION",
            "PENDING_SLOT:EDIT": "FILL_PENDING_SLOT",
            "PENDING_SLOT:QUESTION": "FILL_PENDING_SLOT",
            "PENDING_SLOT:NEGATE": "FILL_PENDING_SLOT",
            "PENDING_SLOT:AFFIRM": "FILL_PENDING_SLOT",
        },
    ),
    ("InteractionPolicyStep/EXECUTE_PENDING_ON_AFFIRM", "L", "bool", True),
    ("InteractionPolicyStep/REJECT_PENDING_ON_NEGATE", "L", "bool", True),
    ("InteractionPolicyStep/FILL_PENDING_SLOT_ON_NON_NEW_REQUEST", "L", "bool", True),
    ("InteractionPolicyStep/REQUIRE_RESOLVED_INTENT_AND_STATE", "L", "bool", True),
    # 2.3, 2.4, 2.5
    ("CorrectionStep/REGEX_RETRY", "L", "regex", OWN),
    ("ActionLifecycleStep/ENABLED", "L", "bool", True),
    ("ActionLifecycleStep/TTL_TURNS", "L", "int", 3),
    ("ActionLifecycleStep/TTL_MINUTES", "L", "int", 30),
    ("DisambiguationStep/ENABLED", "L", "bool", True),
    ("DisambiguationStep/MAX_OPTIONS", "L", "int", 5),
    ("DisambiguationStep/QUESTION_TEMPLATE", "L", "template", OWN),
    ("DisambiguationStep/ENABLE_LLM", "L", "bool", False),
    ("DisambiguationStep/MAX_ASKS", "L", "int", 2),
    ("DisambiguationStep/LLM_SYSTEM_PROMPT", "L", "prompt", OWN),
    ("DisambiguationStep/LLM_USER_PROMPT", "L", "prompt", OWN),
    # 2.6
    ("GuardrailStep/ENABLED", "LR", "bool", True),
    ("GuardrailStep/SANITIZE_INPUT", "L", "bool", True),
    ("GuardrailStep/REQUIRE_APPROVAL_FOR_SENSITIVE_ACTIONS", "LR", "bool", False),
    ("GuardrailStep/APPROVAL_GATE_FAIL_CLOSED", "LR", "bool", False),
    ("GuardrailStep/SENSITIVE_PATTERNS", "L", "patterns", ()),
    ("GuardrailStep/DENY_RESPONSE", "L", "text", ""),
    # 2.7
    ("IntentResolutionStep/STICKY_INTENT", "L", "bool", True),
    (
        "IntentResolutionStep/SWITCH_PHRASES",
        "L",
        "list",
        ("^switch to ", "switch intent", "change intent", "change flow", "change mode"),
    ),
    (
        "IntentResolutionStep/FORCE_PARAM_KEYS",
        "L",
        "list",
        ("force_intent_resolution", "resolve_intent", "switch_intent", "switch_flow", "switch_mode"),
    ),
    ("AgentIntentResolver/MIN_CONFIDENCE", "L", "decimal", 0.55),
    ("AgentIntentResolver/COLLISION_GAP_THRESHOLD", "L", "decimal", 0.1),
    ("AgentIntentResolver/COLLISION_MIN_CONFIDENCE", "L", "decimal", 0.3),
    ("AgentIntentResolver/FAIL_TURN_ON_LLM_ERROR", "L", "bool", False),
    ("AgentIntentResolver/RESET_STATE_ON_SAME_INTENT", "L", "bool", False),
    ("ClassifierIntentResolver/USE_STANDALONE_QUERY", "L", "bool", False),
    ("ClassifierIntentResolver/COLLISION_BY_PRIORITY", "L", "bool", False),
    ("ClassifierIntentResolver/OVERRIDE_STATE_ON_SAME_INTENT", "L", "bool", False),
    ("AgentIntentResolver/SYSTEM_PROMPT", "L", "prompt", OWN),
    ("AgentIntentResolver/USER_PROMPT", "L", "prompt", OWN),
    ("AgentIntentCollisionResolver/SYSTEM_PROMPT", "L", "prompt", OWN),
    ("AgentIntentCollisionResolver/USER_PROMPT", "L", "prompt", OWN),
    ("AgentIntentCollisionResolver/DERIVATION_HINT", "L", "prompt", OWN),
    ("ResetResolvedIntentStep/RESET_INTENT_CODES", "L", "codes", ("RESET_SESSION",)),
    ("ResetConversationStep/TEXT_COMMANDS", "L", "list", ("reset", "restart", "/reset", "/restart")),
    ("ResetConversationStep/RESET_ALLOW_PUNCTUATION", "L", "bool", False),
    # 2.8
    ("PolicyEnforcementStep/ENABLE_LLM", "LR", "bool", False),
    ("PolicyEnforcementStep/LLM_MIN_CONFIDENCE", "LR", "decimal", 0.7),
    ("PolicyEnforcementStep/LLM_FAIL_MODE", "LR", "enum", "OPEN"),
    ("PolicyEnforcementStep/DEFAULT_RESPONSE", "L", "text", OWN),
    ("POLICY/BLOCK_IS_TERMINAL", "LR", "bool", False),
    # 2.9
    ("CONVERSATION_HISTORY/MAX_TURNS", "L", "int", 20),
    ("ResponseResolutionStep/HISTORY_TURNS", "L", "int", 10),
    ("SchemaExtractionStep/CLEAR_MCP_ON_FRESH_VALUES", "L", "bool", True),
    ("AddContainerDataStep/ENABLED", "L", "bool", True),
    ("AddContainerDataStep/TIMEOUT_MS", "L", "int", 3000),
    ("AddContainerDataStep/MAX_BYTES", "L", "int", 65_536),
    ("AddContainerDataStep/REDACT_PARAMS", "L", "list", ()),
    ("PendingActionStep/TIMEOUT_MS", "L", "int", 10_000),
    ("SchemaExtractionStep/ON_LLM_ERROR", "L", "enum", "FAIL"),
    ("RulesStep/MAX_PASSES", "LR", "int", 5),
    ("RulesStep/AUDIT_NO_MATCH", "LR", "enum", "SUMMARY"),
    ("ResponseResolutionStep/FALLBACK_TEXT", "L", "text", OWN),
    ("ResponseResolutionStep/MODEL_UNAVAILABLE_TEXT", "L", "text", OWN),
    ("HandOverStep/HAS_DESK", "L", "bool", False),
    ("HandOverStep/WITH_PERSON_TEXT", "L", "text", OWN),
    ("ResponseResolutionStep/ALLOW_LLM_STATE_OVERRIDE", "LR", "bool", False),
    ("StateGraphStep/ENABLED", "L", "bool", True),
    ("StateGraphStep/ON_VIOLATION", "L", "enum", "AUDIT_ONLY"),
    ("MemoryStep/ENABLED", "L", "bool", True),
    ("MemoryStep/SUMMARY_MAX_CHARS", "L", "int", 1200),
    ("MemoryStep/RECENT_TURNS_FOR_SUMMARY", "L", "int", 3),
    ("MemoryStep/SUMMARY_MODE", "L", "enum", "TEMPLATE"),
    ("MemoryStep/LLM_EVERY_TURNS", "L", "int", 5),
    ("MemoryStep/SYSTEM_PROMPT", "L", "prompt", OWN),
    ("MemoryStep/USER_PROMPT", "L", "prompt", OWN),
    ("PersistConversationStep/MAX_CONTEXT_BYTES", "LR", "int", 262_144),
    # 2.10
    ("ToolOrchestrationStep/ENABLED", "L", "bool", True),
    ("ToolOrchestrationStep/ALLOW_GROUP_ONLY", "LR", "bool", False),
    ("McpToolStep/ON_TOOL_ERROR", "L", "enum", "STOP"),
    ("McpToolStep/TURN_BUDGET_MS", "L", "int", 20_000),
    ("McpToolStep/MCP_TOOL_MAX_LOOPS", "L", "int", 5),
    ("McpToolStep/MCP_TOOL_CALL_DELAY_MS", "L", "int", 0),
    ("McpToolStep/MCP_TOOL_CALL_DELAY_AFTER_CALLS", "L", "int", 4),
    ("McpToolStep/MCP_TOOL_CALL_DELAY_AFTER_MS", "L", "int", 2000),
    ("McpToolStep/MCP_FALLBACK_UNSAFE_STEP", "L", "text", OWN),
    ("McpToolStep/MCP_FALLBACK_TOOL_ERROR", "L", "text", OWN),
    ("McpToolStep/MCP_FALLBACK_PLAN", "L", "text", OWN),
    ("McpToolStep/MCP_FALLBACK_GUARDRAIL", "L", "text", OWN),
    ("McpToolStep/MCP_FALLBACK_POLICY", "L", "text", OWN),
    ("McpPlanner/SYSTEM_PROMPT", "L", "prompt", OWN),
    ("McpPlanner/USER_PROMPT", "L", "prompt", OWN),
    ("McpPlanner/MCP_PLANNER_MAX_OBS_CHARS", "L", "int", 6000),
    ("McpPlanner/MCP_PLANNER_MAX_OBSERVATIONS_COUNT", "L", "int", None),
    ("McpToolStep/GUARDRAIL_ENABLED", "LR", "bool", False),
    ("McpToolStep/GUARDRAIL_FAIL_CLOSED", "LR", "bool", False),
    ("McpToolStep/ALLOWED_NEXT", "LR", "json", {}),
    ("McpHttpApi/CONNECT_TIMEOUT_MS", "L", "int", 2000),
    ("McpHttpApi/READ_TIMEOUT_MS", "L", "int", 5000),
    ("McpHttpApi/MAX_ATTEMPTS", "L", "int", 2),
    ("McpHttpApi/INITIAL_BACKOFF_MS", "L", "int", 200),
    ("McpHttpApi/MAX_BACKOFF_MS", "L", "int", 2000),
    ("McpHttpApi/BACKOFF_MULTIPLIER", "L", "decimal", 2.0),
    ("McpHttpApi/RETRY_STATUS_CODES", "L", "list", ("429", "502", "503", "504")),
    ("McpHttpApi/RETRY_ON_IO_EXCEPTION", "L", "bool", True),
    ("McpHttpApi/CIRCUIT_BREAKER_ENABLED", "L", "bool", True),
    ("McpHttpApi/CIRCUIT_FAILURE_THRESHOLD", "L", "int", 5),
    ("McpHttpApi/CIRCUIT_OPEN_MS", "L", "int", 30_000),
    ("McpDbExecutor/SQL_AUTO_REPAIR_ENABLED", "LR", "bool", False),
    ("McpDbExecutor/SQL_AUTO_REPAIR_MAX_RETRIES", "LR", "int", 3),
    ("McpDbExecutor/DB_SQL_PREFLIGHT_SYSTEM_PROMPT", "LR", "prompt", OWN),
    ("McpDbExecutor/DB_SQL_PREFLIGHT_USER_PROMPT", "LR", "prompt", OWN),
    ("McpDbExecutor/DB_SQL_PREFLIGHT_SCHEMA_JSON", "LR", "json", OWN),
    ("McpDbExecutor/PREFLIGHT_ENABLED", "LR", "bool", True),
    ("McpDbExecutor/PREFLIGHT_STRICT_SCHEMA", "LR", "bool", True),
    ("McpDbExecutor/PREFLIGHT_COERCE_NUMERIC", "LR", "bool", True),
    ("McpDbExecutor/PREFLIGHT_VALUE_MAPPINGS", "L", "json", {}),
    ("McpDbExecutor/STATEMENT_TIMEOUT_MS", "LR", "int", 5000),
    ("DocumentRetrieval/COLLECTIONS", "LR", "list", ()),
    ("McpDbExecutor/CONNECTION", "LR", "text", ""),
    # 2.11
    ("AUDIT/LEVEL", "LR", "enum", "ALL"),
    ("AUDIT/INCLUDE_STAGES", "LR", "list", ()),
    ("AUDIT/EXCLUDE_STAGES", "LR", "list", ()),
    ("AUDIT/INCLUDE_INTENTS", "LR", "codes", ()),
    ("AUDIT/EXCLUDE_INTENTS", "LR", "codes", ()),
    ("AUDIT/PERSIST_META", "LR", "bool", True),
    ("AUDIT/CACHE_INSPECTOR", "L", "bool", False),
    (
        "AUDIT/REDACT_KEYS",
        "LR",
        "list",
        ("password", "token", "secret", "authorization", "card_number", "cvv"),
    ),
    ("AUDIT/MAX_TEXT_CHARS", "LR", "int", 20_000),
    ("AUDIT/RETENTION_DAYS", "LR", "int", 0),
    ("AUDIT/STEP_RETENTION_DAYS", "LR", "int", 0),
    ("AUDIT/PROMPT_RETENTION_DAYS", "LR", "int", 0),
    ("AUDIT/FEEDBACK_RETENTION_DAYS", "LR", "int", 0),
    ("AUDIT/ACCESS_RETENTION_DAYS", "LR", "int", 0),
    ("AUDIT/REDACT_PATTERNS", "LR", "patterns", ()),
    # turns and resets
    ("Session/TIMEOUT_MINUTES", "L", "int", 30),
    ("Session/IDLE_TIMEOUT_HOURS", "L", "int", 24),
    ("Session/STALE_TIMEOUT_DAYS", "L", "int", 7),
    ("Session/RESUME_MODE", "L", "enum", "new_session"),
    ("Session/RESET_PHRASES", "L", "list", OWN),
    ("Session/FRESH_START_TEXT", "L", "template", "Starting fresh. How can I help you?"),
    ("Session/RESUME_TEXT_AWAITING_USER", "L", "template", OWN),
    ("Session/RESUME_TEXT_PENDING_COMPLETE", "L", "template", OWN),
    ("Session/RESUME_TEXT_RUNNING", "L", "template", OWN),
    ("Session/CLOSING_PHRASES", "L", "list", OWN),
    ("Session/ABANDON_PHRASES", "L", "list", OWN),
    ("Session/CLASSIFY_WITH_LLM", "L", "bool", False),
    ("Session/ENABLE_DRIFT_CLASSIFIER", "L", "bool", False),
    ("Session/DRIFT_MIN_CONFIDENCE", "L", "decimal", 0.80),
    ("Session/ON_CONCURRENT_TURN", "L", "enum", "wait"),
    ("Session/LEASE_WAIT_SECONDS", "L", "int", 10),
    ("Session/LEASE_SECONDS", "LR", "int", 15),
    ("Session/EXPLAINABILITY_TURNS", "L", "int", 50),
    ("Session/ALLOW_CLIENT_CONVERSATION_IDS", "LR", "bool", True),
    # 2.13
    ("LLM/MODEL", "LR", "text", ""),
    ("LLM/TEMPERATURE", "L", "decimal", 0.3),
    ("LLM/TIMEOUT_SECONDS", "LR", "int", 20),
    ("LLM/MAX_ATTEMPTS", "LR", "int", 2),
    ("LLM/MAX_CALLS_PER_TURN", "LR", "int", 12),
    ("LLM/LOG_PROMPTS", "LR", "bool", True),
    ("LLM/LOG_RETENTION_DAYS", "LR", "int", 30),
    ("LLM/REDACT_PATTERNS", "LR", "patterns", ()),
    ("Verbose/ENABLED", "L", "bool", True),
    ("Verbose/GENERIC_ERROR", "L", "template", OWN),
    # others
    ("AUDIT/FLUSH", "LR", "enum", "TURN"),
    ("SchemaExtractionStep/EXTRACTOR", "L", "enum", None),
    ("ResponseResolutionStep/ON_MISSING", "L", "enum", "ERROR"),
    ("Session/CLOSING_TEXT", "L", "template", OWN),
    ("Session/ABANDON_TEXT", "L", "template", OWN),
    ("Session/UNCLEAR_TEXT", "L", "template", OWN),
    ("McpToolStep/ON_PLANNER_ERROR", "L", "enum", "FALLBACK"),
    ("McpToolStep/OBSERVATION_MAX_BYTES", "L", "int", 32_768),
    ("McpToolStep/OBSERVATIONS_MAX_BYTES", "L", "int", 131_072),
    ("ToolOrchestrationStep/RESULT_MAX_BYTES", "L", "int", 65_536),
    ("Session/STALE_TEXT", "L", "template", ""),
    # issue 4: rows of examples
    # phrases as people type them
    ("Classifier/ORDER", "L", "list", ("EXACT+STARTS_WITH+REGEX+CONTAINS", "PHRASE")),
    ("Phrases/SYNONYMS", "L", "json", []),
    ("Phrases/MIN_CONFIDENCE", "L", "decimal", 0.5),
    ("Phrases/MARGIN", "L", "decimal", 0.05),
    ("Phrases/MIN_NEAR", "L", "decimal", 0.1),
    ("Phrases/EMBEDDING_MODEL", "LR", "text", ""),
    ("LLM/MAX_MS_PER_TURN", "LR", "int", 30_000),
    ("LLM/MAX_TOKENS_PER_TURN", "LR", "int", 0),
    ("LLM/MAX_COST_PER_CONVERSATION", "LR", "decimal", 0.0),
    ("Session/SUMMARY_WITH_LLM", "L", "bool", False),
    ("Session/UNITS_PROMPT", "L", "prompt", ""),
    # dialogue 1, 2, 3, 7
    ("Session/TIME_ZONE", "L", "time zone", "UTC"),
    ("Session/LOCALE", "L", "text", ""),
    ("Rules/GENERAL_MAY_UNDO", "L", "bool", True),
    ("SchemaExtractionStep/BARE_ANSWER", "L", "enum", "ASKED"),
    ("Form/ASK", "L", "enum", "ONE"),
    ("Form/COUNTRY", "L", "country", ""),
    ("Form/ECHO", "L", "enum", "DOUBTFUL"),
    ("Form/MAX_MISSES", "L", "int", 3),
    ("Form/HAND_OVER_TEXT", "L", "template", ""),
    ("Form/RETURN_TEXT", "L", "template", ""),
    ("Form/ON_LEAVE", "L", "enum", "LEAVE"),
    # drafts 1
    ("Releases/MODE", "LR", "enum", "LIVE"),
    ("Releases/GATE", "LR", "list", ()),
    ("Releases/APPROVALS", "LR", "int", 0),
    ("Releases/RUNNING", "L", "enum", "NEXT_TURN"),
)
SETTINGS = tuple(CATALOGUE.values())


def setting(name: str) -> Setting[Any]:
    family, key = name.upper().split("/")
    return CATALOGUE[family, key]


@for_each("name, mark, kind, default", LISTED)
def test_every_listed_setting_is_declared(name: str, mark: str, kind: str, default: Any) -> None:
    declared = setting(name)
    assert (declared.name, declared.mark, declared.kind.name) == (name, mark, kind)
    assert declared.default if default is OWN else declared.default == default


def test_nothing_is_declared_that_is_not_listed() -> None:
    assert {setting.name for setting in SETTINGS} == {name for name, *_ in LISTED}


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
    with pytest.raises(Unreadable, match=re.escape(problem)):
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
        (settings.REGEX_RETRY, "try again!", True),
        (settings.REGEX_RETRY, "once more", True),
        (settings.REGEX_RETRY, "again and again", False),
    ],
)
def test_shipped_patterns_tell_the_acts_apart(declared: Setting[str], text: str, fits: bool) -> None:
    assert compile_pattern(declared.default).fits(match_text(text)) is fits


def test_settings_of_a_type_have_labels_that_differ() -> None:
    labels = Counter((setting.type, setting.label) for setting in CATALOGUE.values())
    assert all(label for _, label in labels)
    assert [name for name, count in labels.items() if count > 1] == []
