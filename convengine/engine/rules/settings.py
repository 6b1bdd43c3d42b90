"""Settings of the rule engine."""

from convengine.engine.turn.live_settings import boolean, declare, integer, one_of

FAMILY = "RulesStep"

MAX_PASSES = declare(
    FAMILY,
    "MAX_PASSES",
    integer(1, 20),
    5,
    "Maximum number of passes through the rules of a phase while they change the intent or state.",
    mark="LR",
    label="Maximum passes of a phase",
)
GENERAL_MAY_UNDO = declare(
    "Rules",
    "GENERAL_MAY_UNDO",
    boolean(),
    True,
    "Off: a rule does not change an intent or state that a rule with a narrower scope set in the same turn, unless it "
    "is marked to override specific rules.",
)
AUDIT_NO_MATCH = declare(
    FAMILY,
    "AUDIT_NO_MATCH",
    one_of("EACH", "SUMMARY", "OFF"),
    "SUMMARY",
    "What is recorded about rules that did not match: one event per rule, one per pass, or nothing.",
    mark="LR",
    label="Record rules that did not match",
)
