"""Settings of the audit: what is written, masked, cut and kept."""

from dataclasses import replace

from convengine.engine.turn.live_settings import boolean, declare, integer, one_of, text_list

FAMILY = "AUDIT"

FLUSH = declare(
    FAMILY,
    "FLUSH",
    one_of("TURN", "STEP"),
    "TURN",
    "Write a turn's events in its one commit (TURN), or those of each step at once (STEP), so that a crashed process "
    "leaves what it did.",
    mark="LR",
    label="When events are written",
)
LEVEL = declare(
    FAMILY,
    "LEVEL",
    one_of("ALL", "STANDARD", "ERROR_ONLY", "NONE"),
    "ALL",
    "ALL: every stage. STANDARD: without the entry and exit of steps. ERROR_ONLY: stages that tell an error, a failure "
    "or a rejection. NONE: only what is never filtered.",
    mark="LR",
    label="Recorded stages",
)
INCLUDE_STAGES = declare(
    FAMILY,
    "INCLUDE_STAGES",
    text_list(),
    (),
    "Only these stages are written, such as USER_INPUT, RULE_*; * stands for any characters.",
    mark="LR",
    label="Only these stages",
)
EXCLUDE_STAGES = declare(
    FAMILY,
    "EXCLUDE_STAGES",
    text_list(),
    (),
    "These stages are not written, such as STEP_*; * stands for any characters.",
    mark="LR",
    label="Not these stages",
)
INCLUDE_INTENTS = declare(
    FAMILY,
    "INCLUDE_INTENTS",
    text_list(codes=True),
    (),
    "Only events of these intents are written, such as BOOKING, REFUND, by the intent at that moment.",
    mark="LR",
    label="Only these intents",
)
EXCLUDE_INTENTS = declare(
    FAMILY,
    "EXCLUDE_INTENTS",
    text_list(codes=True),
    (),
    "Events of these intents are not written, such as SMALL_TALK, by the intent at that moment.",
    mark="LR",
    label="Not these intents",
)
PERSIST_META = declare(
    FAMILY,
    "PERSIST_META",
    boolean(),
    True,
    "Record the context of each event.",
    mark="LR",
    label="Record the context of events",
)
CACHE_INSPECTOR = declare(
    FAMILY,
    "CACHE_INSPECTOR",
    boolean(),
    False,
    "Record the data at the start of each turn. For testers.",
    label="Record the data at the start of turns",
)
REDACT_KEYS = declare(
    FAMILY,
    "REDACT_KEYS",
    text_list(),
    ("password", "token", "secret", "authorization", "card_number", "cvv"),
    "Values with these names are masked in the audit trail.",
    mark="LR",
    label="Masked names",
)
REDACT_PATTERNS = declare(
    FAMILY,
    "REDACT_PATTERNS",
    replace(text_list(lines=True), name="patterns"),
    (),
    (
        "Regular expressions for texts that must not be stored, one per line, such as \\b\\d{16}\\b. Any text that "
        "matches is replaced by *** in events, recordings, turn records, the log of model calls, and what a session "
        "was told, asks, sums up and notes."
    ),
    mark="LR",
    label="Masked texts",
)
MAX_TEXT_CHARS = declare(
    FAMILY,
    "MAX_TEXT_CHARS",
    integer(1),
    20_000,
    "Longer texts are shortened in the audit trail.",
    mark="LR",
    label="Maximum length of a text",
)
RETENTION_DAYS = declare(
    FAMILY,
    "RETENTION_DAYS",
    integer(0, 36_500),
    0,
    "Audit and turns older than this many days are deleted at night; 0 = kept.",
    mark="LR",
    label="Retention of turns (days)",
)
STEP_RETENTION_DAYS = declare(
    FAMILY,
    "STEP_RETENTION_DAYS",
    integer(0, 36_500),
    0,
    "Beginnings and ends of steps older than this many days are deleted at night; 0 = kept as long as other events.",
    mark="LR",
    label="Retention of step events (days)",
)
PROMPT_RETENTION_DAYS = declare(
    FAMILY,
    "PROMPT_RETENTION_DAYS",
    integer(0, 36_500),
    0,
    "Events with prompts and answers of models older than this many days are deleted at night; 0 = kept as long as "
    "other events.",
    mark="LR",
    label="Retention of prompts (days)",
)
FEEDBACK_RETENTION_DAYS = declare(
    FAMILY,
    "FEEDBACK_RETENTION_DAYS",
    integer(0, 36_500),
    0,
    "Feedback older than this many days is deleted at night; 0 = kept as long as its conversation.",
    mark="LR",
    label="Retention of feedback (days)",
)
ACCESS_RETENTION_DAYS = declare(
    FAMILY,
    "ACCESS_RETENTION_DAYS",
    integer(0, 36_500),
    0,
    "The access log is deleted after this many days. 0 means it is kept.",
    mark="LR",
    label="Retention of the access log (days)",
)
