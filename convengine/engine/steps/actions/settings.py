"""Settings of confirmed actions and of the guardrail."""

from dataclasses import replace

from convengine.engine.turn.live_settings import boolean, declare, integer, text, text_list

ACTION_TIMEOUT_MS = declare(
    "PendingActionStep",
    "TIMEOUT_MS",
    integer(100, 300_000),
    10_000,
    "Timeout for the task of a confirmed action (milliseconds).",
    qualifier="action key",
    label="Timeout of a task (ms)",
)
GUARDRAIL_FAMILY = "GuardrailStep"

GUARDRAIL_ENABLED = declare(
    GUARDRAIL_FAMILY,
    "ENABLED",
    boolean(),
    True,
    "If off, messages and actions are not checked.",
    mark="LR",
    label="Check messages and actions",
)
SANITIZE_INPUT = declare(
    GUARDRAIL_FAMILY,
    "SANITIZE_INPUT",
    boolean(),
    True,
    "Publish a cleaned copy of the message (one line, single blanks) as sanitized_user_text.",
    label="Publish a cleaned message",
)
REQUIRE_APPROVAL_FOR_SENSITIVE_ACTIONS = declare(
    GUARDRAIL_FAMILY,
    "REQUIRE_APPROVAL_FOR_SENSITIVE_ACTIONS",
    boolean(),
    False,
    "Block tools and actions of a sensitive message until the request has an approval.",
    mark="LR",
    label="Approval for sensitive actions",
)
APPROVAL_GATE_FAIL_CLOSED = declare(
    GUARDRAIL_FAMILY,
    "APPROVAL_GATE_FAIL_CLOSED",
    boolean(),
    False,
    "An invalid pattern counts as a match (true) or as no match (false).",
    mark="LR",
    label="An invalid pattern counts as a match",
)
SENSITIVE_PATTERNS = declare(
    GUARDRAIL_FAMILY,
    "SENSITIVE_PATTERNS",
    replace(text_list(lines=True), name="patterns"),
    (),
    (
        "Regular expressions for sensitive content, one per line, such as \\biban\\b. They are searched in the message "
        "and in the action or tool."
    ),
)
DENY_RESPONSE = declare(
    GUARDRAIL_FAMILY,
    "DENY_RESPONSE",
    text(),
    "",
    "The answer if the approval is missing. If empty, the normal answer of the state.",
    label="Answer without approval",
)
