"""Settings of the steps between the act and the intent: policy, correction, actions, guardrail (settings 2.2-2.6)."""

from dataclasses import replace

from convengine.domain.enums import PolicyDecision
from convengine.domain.settings import (
    boolean,
    declare,
    integer,
    json_value,
    prompt,
    regex,
    template,
    text,
    text_list,
)

POLICY_FAMILY = "InteractionPolicyStep"
LIFECYCLE_FAMILY = "ActionLifecycleStep"
DISAMBIGUATION_FAMILY = "DisambiguationStep"
GUARDRAIL_FAMILY = "GuardrailStep"

#: What may be pending when a message comes; the left side of a matrix key.
SUBJECTS = ("PENDING_ACTION", "PENDING_SLOT", "NONE")
#: What the interaction policy may decide; the values of the matrix.
DECISIONS = tuple(decision.value for decision in PolicyDecision)

MATRIX = declare(
    POLICY_FAMILY,
    "MATRIX",
    json_value(),
    {
        "PENDING_ACTION:AFFIRM": "EXECUTE_PENDING_ACTION",
        "PENDING_ACTION:NEGATE": "REJECT_PENDING_ACTION",
        "PENDING_SLOT:EDIT": "FILL_PENDING_SLOT",
        "PENDING_SLOT:QUESTION": "FILL_PENDING_SLOT",
        "PENDING_SLOT:NEGATE": "FILL_PENDING_SLOT",
        "PENDING_SLOT:AFFIRM": "FILL_PENDING_SLOT",
    },
    "What happens for each pair of what is pending and what the user does. It is merged over the default; an empty "
    "value removes an entry. To switch a behaviour off, its switch below must go as well.",
)
EXECUTE_PENDING_ON_AFFIRM = declare(
    POLICY_FAMILY, "EXECUTE_PENDING_ON_AFFIRM", boolean(), True, "A yes runs the action that is pending."
)
REJECT_PENDING_ON_NEGATE = declare(
    POLICY_FAMILY, "REJECT_PENDING_ON_NEGATE", boolean(), True, "A no rejects the action that is pending."
)
FILL_PENDING_SLOT_ON_NON_NEW_REQUEST = declare(
    POLICY_FAMILY,
    "FILL_PENDING_SLOT_ON_NON_NEW_REQUEST",
    boolean(),
    True,
    "While a single value is asked for, a message that is no new request and no greeting is taken as that value.",
)
REQUIRE_RESOLVED_INTENT_AND_STATE = declare(
    POLICY_FAMILY,
    "REQUIRE_RESOLVED_INTENT_AND_STATE",
    boolean(),
    True,
    "Off: the decisions above apply even while intent or state is UNKNOWN.",
)

REGEX_RETRY = declare(
    "CorrectionStep",
    "REGEX_RETRY",
    regex(),
    "(?:retry|try again|please retry|retry please|again|once more|try once more)[.!? ]*",
    "A message that is wholly this pattern repeats the last work, where the state's template allows a retry.",
)

ACTION_LIFECYCLE_ENABLED = declare(
    LIFECYCLE_FAMILY, "ENABLED", boolean(), True, "Off: actions are not recorded as open, and never expire."
)
TTL_TURNS = declare(
    LIFECYCLE_FAMILY, "TTL_TURNS", integer(0, 1000), 3, "An open action expires after this many turns; 0 = no limit."
)
TTL_MINUTES = declare(
    LIFECYCLE_FAMILY,
    "TTL_MINUTES",
    integer(0, 100_000),
    30,
    "An open action expires after this many minutes; 0 = no limit.",
)

DISAMBIGUATION_ENABLED = declare(
    DISAMBIGUATION_FAMILY,
    "ENABLED",
    boolean(),
    True,
    "Off: when a yes could mean several actions, none runs and nothing is asked.",
)
MAX_OPTIONS = declare(
    DISAMBIGUATION_FAMILY, "MAX_OPTIONS", integer(1, 20), 5, "How many actions the question offers at most."
)
QUESTION_TEMPLATE = declare(
    DISAMBIGUATION_FAMILY,
    "QUESTION_TEMPLATE",
    template(),
    "More than one action fits here. Which one do you mean: {{ options }}?",
    "The question when a yes could mean several actions.",
)
ENABLE_LLM = declare(
    DISAMBIGUATION_FAMILY, "ENABLE_LLM", boolean(), False, "Let the model word that question from the template's facts."
)
MAX_ASKS = declare(
    DISAMBIGUATION_FAMILY, "MAX_ASKS", integer(1, 10), 2, "How often the question is asked before it is dropped."
)
LLM_SYSTEM_PROMPT = declare(
    DISAMBIGUATION_FAMILY,
    "LLM_SYSTEM_PROMPT",
    prompt(),
    "You write one short, friendly question that asks which of several actions the user means. Name every option by "
    "its key exactly as given. Add nothing else.",
    "Instruction to the model for wording the question.",
)
LLM_USER_PROMPT = declare(
    DISAMBIGUATION_FAMILY,
    "LLM_USER_PROMPT",
    prompt(),
    "Topic: {{ intent }}, {{ state }}\nThe {{ candidate_count }} options: {{ options }}\nTheir keys: {{ action_keys }}",
    "What the model is shown for wording the question.",
)

GUARDRAIL_ENABLED = declare(
    GUARDRAIL_FAMILY, "ENABLED", boolean(), True, "Off: nothing is checked for sensitivity.", mark="LR"
)
SANITIZE_INPUT = declare(
    GUARDRAIL_FAMILY,
    "SANITIZE_INPUT",
    boolean(),
    True,
    "Publish a cleaned copy of the message (one line, single blanks) as sanitized_user_text.",
)
REQUIRE_APPROVAL_FOR_SENSITIVE_ACTIONS = declare(
    GUARDRAIL_FAMILY,
    "REQUIRE_APPROVAL_FOR_SENSITIVE_ACTIONS",
    boolean(),
    False,
    "Hold tools and actions of a sensitive message back until the request carries an approval.",
    mark="LR",
)
APPROVAL_GATE_FAIL_CLOSED = declare(
    GUARDRAIL_FAMILY,
    "APPROVAL_GATE_FAIL_CLOSED",
    boolean(),
    False,
    "A pattern that cannot be used counts as a hit (true) or as no hit (false).",
    mark="LR",
)
SENSITIVE_PATTERNS = declare(
    GUARDRAIL_FAMILY,
    "SENSITIVE_PATTERNS",
    replace(text_list(lines=True), name="patterns"),
    (),
    "What is sensitive: regular expressions, one a line, looked for in the message and in the action or tool about to "
    "run.",
)
DENY_RESPONSE = declare(
    GUARDRAIL_FAMILY,
    "DENY_RESPONSE",
    text(),
    "",
    "The answer when approval is missing; blank: the normal answer of the state.",
)
