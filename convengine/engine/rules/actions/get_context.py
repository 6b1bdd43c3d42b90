"""GET_CONTEXT: copy the whole context into an input param."""

from convengine.engine.rules.actions.action_builders import build_copy_action
from convengine.engine.rules.stages import RULE_STEPS
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage

GET_CONTEXT = declare_stage(
    "GET_CONTEXT",
    Family.RULE,
    "A rule copied the context into an input param.",
    steps=RULE_STEPS,
    keys="ruleId key intent state context sessionInputParams",
    sentences=(SentenceTemplate("copied the context to {key}"),),
)

ACTION = build_copy_action(
    RuleAction.GET_CONTEXT,
    GET_CONTEXT,
    lambda session: dict(session.context),
    default="context",
    copied="the context",
    key="context",
    help="Copies the whole context into a parameter.",
)
