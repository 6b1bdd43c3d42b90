"""SET_STATE: set the state. It works as SET_INTENT does: see `action_builders`."""

from convengine.engine.rules.actions.action_builders import build_code_action
from convengine.engine.rules.stages import RULE_STEPS
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage

SET_STATE = declare_stage(
    "SET_STATE",
    Family.RULE,
    "A rule changed the state.",
    steps=RULE_STEPS,
    keys="ruleId fromState toState intent context",
    sentences=(SentenceTemplate("changed the state from {fromState} to {toState}"),),
)

ACTION = build_code_action(
    RuleAction.SET_STATE,
    SET_STATE,
    "state",
    value="the state to move to",
    help="Changes the state of the conversation.",
    any_refused="A conversation cannot be in state ANY. Enter the state to move to.",
)
