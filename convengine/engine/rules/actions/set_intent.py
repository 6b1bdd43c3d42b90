"""SET_INTENT: set the intent."""

from convengine.engine.rules.actions.action_builders import build_code_action
from convengine.engine.rules.stages import RULE_STEPS
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage

SET_INTENT = declare_stage(
    "SET_INTENT",
    Family.RULE,
    "A rule changed the intent.",
    steps=RULE_STEPS,
    keys="ruleId fromIntent toIntent state context",
    sentences=(SentenceTemplate("changed the intent from {fromIntent} to {toIntent}"),),
)

# The save check tests whether the intent exists.
ACTION = build_code_action(
    RuleAction.SET_INTENT,
    SET_INTENT,
    "intent",
    value="the intent to set",
    help="Changes the intent of the conversation.",
    any_refused="A conversation cannot have the intent ANY. Enter an intent.",
)
