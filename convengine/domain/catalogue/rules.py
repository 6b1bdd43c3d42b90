"""Settings of the rule engine (settings 2.9, pipeline-2 7.5)."""

from convengine.domain.settings import declare, integer, one_of

FAMILY = "RulesStep"

MAX_PASSES = declare(
    FAMILY,
    "MAX_PASSES",
    integer(1, 20),
    5,
    "How often the rules of a phase are looked at again while they change intent or state.",
    mark="LR",
)
AUDIT_NO_MATCH = declare(
    FAMILY,
    "AUDIT_NO_MATCH",
    one_of("EACH", "SUMMARY", "OFF"),
    "SUMMARY",
    "What is written of rules that did not hold: one event for each rule, one for each pass, or nothing.",
    mark="LR",
)
