"""GET_SESSION: copy the session facts into an input param."""

from convengine.engine.rules.actions.action_builders import build_copy_action
from convengine.engine.rules.stages import RULE_STEPS
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.facts import collect_session_facts
from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage

GET_SESSION = declare_stage(
    "GET_SESSION",
    Family.RULE,
    "A rule copied the session's facts into an input param.",
    steps=RULE_STEPS,
    keys="ruleId key session sessionInputParams",
    sentences=(SentenceTemplate("copied the session facts to {key}"),),
)

ACTION = build_copy_action(
    RuleAction.GET_SESSION,
    GET_SESSION,
    collect_session_facts,
    default="session",
    copied="the session facts",
    key="session",
    help="Copies the session facts into a parameter.",
)
